"""Where an export goes: written beside its target under another name and moved when whole, so that no half file has its name."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

from graphmem.errors import ExportError, InvalidInput


@contextmanager
def file_target(path: Path, overwrite: bool) -> Iterator[Path]:
    """The path to write to; what is there after the block is moved to `path`, and nothing is left if the block fails.

    Raises `InvalidInput` if `path` exists and `overwrite` is not set, and `ExportError` if it cannot be written.
    """
    part = _part(path, overwrite)
    try:
        with _told(path):
            yield part
            _move(part, path, overwrite)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def folder_target(path: Path, overwrite: bool) -> Iterator[Path]:
    """As `file_target`, for a folder: the block writes into the folder given; `overwrite` replaces the whole folder,
    which is moved aside first and is there again if that fails."""
    part = _part(path, overwrite)
    former = part.with_suffix(".former")
    try:
        with _told(path):
            part.mkdir()
            yield part
            if overwrite and (path.exists() or path.is_symlink()):
                path.rename(former)
            try:
                part.rename(path)
            except OSError:
                if former.exists() or former.is_symlink():
                    former.rename(path)
                raise
        shutil.rmtree(former, ignore_errors=True) if former.is_dir() and not former.is_symlink() else former.unlink(missing_ok=True)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _part(path: Path, overwrite: bool) -> Path:
    if not path.parent.is_dir():
        raise InvalidInput("path", str(path), f"its folder {str(path.parent)!r} does not exist; make it first")
    if not overwrite and (path.exists() or path.is_symlink()):
        raise InvalidInput("path", str(path), "exists already; give another path, or overwrite=True to replace it")
    if path.name in ("", ".."):
        raise InvalidInput("path", str(path), "is the present folder or one around it; give a file or folder of its own")
    return path.with_name(f".graphmem-{token_hex(8)}.part")


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ExportError(f"{path}: cannot be written ({error.strerror or error}); nothing is left there") from error


def _move(part: Path, path: Path, overwrite: bool) -> None:
    if overwrite:
        part.replace(path)
        return
    try:
        path.hardlink_to(part)  # unlike a rename, it never replaces what somebody else put there meanwhile
    except FileExistsError:
        raise InvalidInput("path", str(path), "was made by somebody else meanwhile; give another path") from None
    except OSError:
        part.rename(path)  # a file system without links
