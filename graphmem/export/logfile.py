"""The whole log as JSON Lines: what was said and done, with every decision, in order; `load` folds it again to the same beliefs.

The first line says what the file is, then comes a line an entry, then one that closes the file. Every line carries a digest of itself and
of all before it, so that a line that was changed, lost or added is found.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

from graphmem.errors import LogFileError
from graphmem.export.selection import Cut
from graphmem.model import Assertion, AssertionKind, Episode, EpisodeKind, EpisodeRecord, LogEntry, Mention, Operation, OperationKind, Span
from graphmem.shown import Record
from graphmem.stores.codec import decode_mapping, decode_unit
from graphmem.stores.lines import json_line

FORMAT = "graphmem log"
M = TypeVar("M", Assertion, Episode, Mention, Operation)
VERSION = 1


@dataclass(frozen=True, slots=True)
class Loaded(Record):
    """What a log's file brought: how many entries it has, and how many of them were new here."""

    path: Path
    entries: int
    new: int

    def __repr__(self) -> str:
        return f"<loaded {str(self.path)!r}: {self.entries:,} entries, {self.new:,} new>"

    def to_dict(self) -> dict[str, object]:
        return {"path": str(self.path), "entries": self.entries, "new": self.new}


def write_log(cut: Cut, path: Path) -> None:
    """The logs of the cut's groups, whole, whatever its point and selection."""
    with path.open("w", encoding="ascii", newline="\n") as out:
        chain = _Chain()
        out.write(chain.line(_json({"format": FORMAT, "version": VERSION, "groups": list(cut.groups)})))
        for group in cut.groups:
            for entry in cut.tally.of("entries", cut.reader.log(group)):
                out.write(chain.line(json_line(entry)))
        out.write(chain.line(_json({"entries": cut.tally.counts["entries"]})))


def read_log(path: Path) -> Iterator[LogEntry]:
    """The entries in order. Raises `LogFileError` where the file is not as it was written, naming the line, before the first
    entry is given.
    """
    deque(_lines(path), maxlen=0)
    for number, body in _lines(path):
        if number > 1:
            row = _decoded(body)
            if "entries" not in row:
                yield _entry(row, path, number)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Number and JSON of each line, checked."""
    chain, number, body = _Chain(), 0, ""
    try:
        with path.open(encoding="ascii", newline="\n") as lines:
            for number, line in enumerate(lines, 1):
                body = chain.read(line, path, number)
                if number == 1:
                    _check_head(_decoded(body), path)
                yield number, body
    except UnicodeDecodeError as error:
        raise LogFileError(f"{path}: is no log of graphmem (byte {error.start} is not ASCII)") from error
    except OSError as error:
        raise LogFileError(f"{path}: cannot be read ({error.strerror or error})") from error
    if not number:
        raise LogFileError(f"{path}: is no log of graphmem; it is empty")
    if body != _json({"entries": number - 2}):
        raise LogFileError(f"{path}: ends before its last line, after line {number}; it was cut off, get it whole")


class _Chain:
    """Digests of lines, each over the line and the digest before."""

    def __init__(self) -> None:
        self._before = b""

    def line(self, body: str) -> str:
        """The line of a JSON object, with its digest."""
        return f'{body[:-1]},"digest":"{self._next(body)}"}}\n'

    def read(self, line: str, path: Path, number: int) -> str:
        """The JSON of a line; raises `LogFileError` if it is not what was written."""
        body, found, rest = line.rpartition(',"digest":"')
        if not found or rest != f'{self._next(body + "}")}"}}\n':
            what = "is no log of graphmem" if number == 1 else f"line {number} was changed, lost or added since it was written"
            raise LogFileError(f"{path}: {what}; get the file as `export` wrote it")
        return body + "}"

    def _next(self, body: str) -> str:
        digest = blake2b(self._before + body.encode("ascii"), digest_size=12)
        self._before = digest.digest()
        return digest.hexdigest()


def _decoded(body: str) -> dict[str, Any]:
    row = json.loads(body)
    assert isinstance(row, dict)
    return row


def _json(row: Mapping[str, object]) -> str:
    return json.dumps(row, separators=(",", ":"))


def _check_head(row: Mapping[str, Any], path: Path) -> None:
    if row.get("format") != FORMAT:
        raise LogFileError(f"{path}: is no log of graphmem")
    if row["version"] > VERSION:
        raise LogFileError(f"{path}: was written by a newer graphmem (format {row['version']}; this one reads {VERSION}); upgrade graphmem")


# ------------------------------------------------------------------------------------------------ entries as rows

_MOMENTS = ("reference_time", "created_at")
_UNITS = ("start", "end")
_NESTED = ("attributes", "values")


def _entry(row: Mapping[str, Any], path: Path, number: int) -> LogEntry:
    try:
        if "operation" in row:
            return _made(Operation, row["operation"], OperationKind)
        return EpisodeRecord(
            _made(Episode, row["episode"], EpisodeKind),
            tuple(_made(Assertion, a, AssertionKind) for a in row.get("assertions", ())),
            tuple(_made(Mention, m) for m in row.get("mentions", ())),
            tuple((one, other) for one, other in row.get("links", ())),
            tuple(row.get("search_text", ())),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise LogFileError(
            f"{path}: line {number} is not an entry that this version of graphmem reads ({error}); upgrade graphmem"
        ) from error


def _made(made: type[M], row: Mapping[str, Any], kind: type[StrEnum] | None = None) -> M:
    values: dict[str, Any] = dict(row)
    for name in values:
        if name in _MOMENTS:
            values[name] = datetime.fromisoformat(values[name])
        elif name in _UNITS:
            values[name] = decode_unit(values[name])
        elif name in _NESTED:
            values[name] = decode_mapping(values[name])
        elif name == "span":
            values[name] = Span(*values[name])
        elif name in ("targets", "excludes"):
            values[name] = tuple(values[name])
        elif name == "kind" and kind is not None:
            values[name] = kind(values[name])
    return made(**values)
