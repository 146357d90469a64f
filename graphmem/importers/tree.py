"""The files of a folder, of a zip or a file alone, read as text: never unpacked to disk, never more than is reasonable."""

from __future__ import annotations

import codecs
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from graphmem.errors import InvalidInput

CHUNK = 1 << 20
HEAD = 1 << 16
FREE = 1 << 26
RATIO = 100
"""A zip may give 64 MiB whatever its size, and beyond that a hundred times its size: chats shrink to a tenth or so."""
MAX_FILES = 500_000

_KNOWN_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""The others unpack without a bound on what one read gives."""


class Tree:
    """Files by their names, which are relative and have slashes; hidden ones are left out.

    Raises `InvalidInput` where `path` is not there or cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path, self._given = path, 0
        self._zip: zipfile.ZipFile | None = None
        try:
            if path.is_dir():
                self.names = sorted(p.relative_to(path).as_posix() for p in path.rglob("*") if p.is_file())
            elif not path.exists():
                raise InvalidInput("PATH", str(path), "no such file or folder")
            elif zipfile.is_zipfile(path):
                self._zip = zipfile.ZipFile(path)
                self._infos = {i.filename: i for i in self._zip.infolist() if not i.is_dir()}
                self.names = sorted(self._infos)
            elif path.suffix.lower() == ".zip":
                raise InvalidInput("PATH", str(path), "is no whole zip; download or copy it again")
            else:
                self.names = [path.name]
        except (OSError, zipfile.BadZipFile, NotImplementedError) as error:
            raise InvalidInput("PATH", str(path), f"cannot be read ({error})") from None
        if self._zip is not None and len(self.names) > MAX_FILES:
            raise InvalidInput("PATH", str(path), f"holds {len(self.names)} files; at most {MAX_FILES} are read")
        if self._zip is not None or path.is_dir():
            self.names = [n for n in self.names if not any(p.startswith(".") or p == "__MACOSX" for p in PurePosixPath(n).parts)]

    @property
    def is_zip(self) -> bool:
        return self._zip is not None

    @property
    def is_file(self) -> bool:
        """Whether it is a file alone, so that its name says less about it."""
        return self._zip is None and not self.path.is_dir()

    def place(self, name: str) -> str:
        """Where that file is, for messages."""
        return str(self.path) if self.is_file else f"{self.path}/{name[:200]}"

    def head(self, name: str) -> str:
        """The beginning of a file's text; empty for what is no text."""
        try:
            return next(self.text(name, HEAD), "")
        except InvalidInput:
            return ""

    def text(self, name: str, size: int = CHUNK) -> Iterator[str]:
        """The file's text in pieces: UTF-8 or UTF-16, with or without a byte order mark; `InvalidInput` names the byte that is neither."""
        read = 0
        decoder: codecs.IncrementalDecoder = codecs.getincrementaldecoder("utf-8")()
        for chunk in self._chunks(name, size):
            if read == 0:
                decoder = codecs.getincrementaldecoder(_encoding(chunk))()
            yield self._decoded(decoder, chunk, name, read)
            read += len(chunk)
        yield self._decoded(decoder, b"", name, read)

    def _decoded(self, decoder: codecs.IncrementalDecoder, chunk: bytes, name: str, read: int) -> str:
        waiting = len(decoder.getstate()[0])
        try:
            return decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            at, wrong = read - waiting + error.start, error.object[error.start : error.end]
            allowed = f"must be UTF-8 or UTF-16; is not at byte {at}; save the file as UTF-8, or export it again"
            raise InvalidInput(self.place(name), wrong, allowed) from None

    def _chunks(self, name: str, size: int) -> Iterator[bytes]:
        try:
            with self._open(name) as file:
                while chunk := file.read(size):
                    self._count(len(chunk), name)
                    yield chunk
        except (OSError, zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise InvalidInput(self.place(name), None, f"cannot be read ({error}); copy or export it again") from None

    def _open(self, name: str) -> IO[bytes]:
        if self._zip is None:
            return (self.path if self.is_file else self.path / name).open("rb")
        info = self._infos[name]
        if info.flag_bits & 1:
            raise InvalidInput(self.place(name), None, "is encrypted; unpack the zip and give the folder")
        if info.compress_type not in _KNOWN_METHODS:
            raise InvalidInput(self.place(name), None, "is compressed in an unusual way; unpack the zip and give the folder")
        return self._zip.open(info)

    def _count(self, size: int, name: str) -> None:
        self._given += size
        if self._zip is not None and self._given > max(FREE, RATIO * self.path.stat().st_size):
            allowed = f"the zip unpacks to more than {RATIO} times its size; if you trust it, unpack it and give the folder"
            raise InvalidInput(self.place(name), None, allowed)


def _encoding(start: bytes) -> str:
    if start.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if len(start) >= 2 and 0 in start[:2] and start[0] != start[1]:
        return "utf-16-le" if start[1] == 0 else "utf-16-be"
    return "utf-8"
