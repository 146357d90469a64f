"""Files, folders, exports and standard input as episodes, each with the place it is from and a key that finds it again."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from graphmem import importers
from graphmem.errors import InvalidInput
from graphmem.importers import Item, Options
from graphmem.instants import read_instant, zone_of
from graphmem.progress import reporting
from graphmem.runtime import digest

SUFFIXES = (".txt", ".md", ".json", ".jsonl")
PLAIN = "files"
STANDARD_INPUT = "-"
OTHER_NAMES = {"id": "key", "at": "reference_time"}


@dataclass
class Found:
    """The episodes of the paths given, the formats of the exports among them, and what was left out of those, counted."""

    items: list[Item] = field(default_factory=list)
    formats: dict[str, None] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Given:
    """What counts where an episode does not say it itself; without `at` it is the time a file was last changed."""

    at: str | None = None
    session: str | None = None

    def to(self, items: Sequence[Item], file: Path | None) -> list[Item]:
        at = self.at
        if at is None and file is not None:
            at = datetime.fromtimestamp(file.stat().st_mtime, UTC).replace(microsecond=0).isoformat()
        return [_with_defaults(i, reference_time=at, session=self.session) for i in items]


def read(paths: Sequence[str | Path], given: Given, options: Options, stdin: BinaryIO, progress: bool | None = False) -> Found:
    """The episodes of all these in the order given: files of a folder by name, messages of an export oldest first.

    All are read before any is recorded. Raises `InvalidInput` naming the file, and the line or message in it.
    """
    if options.format not in (None, PLAIN, *importers.FORMATS):
        raise InvalidInput("--format", options.format, f"must be {', '.join(importers.FORMATS)} or {PLAIN}")
    found = Found()
    for path in paths:
        if str(path) == STANDARD_INPUT:
            found.items += given.to(_lines(stdin.read(), "standard input", stream=True), None)
            continue
        exported = _exports(Path(path), given, options, found, progress)
        for file in [] if exported is None else _files(Path(path), exported):
            found.items += given.to(_read_file(file), file)
    return found


def _exports(path: Path, given: Given, options: Options, found: Found, progress: bool | None) -> frozenset[Path] | None:
    """Take the exports of a path; the files that belong to them, or None if there is nothing else to read in it."""
    if options.format == PLAIN:
        return frozenset()
    reading = importers.find(path, options, required=options.format is not None)
    if reading is None:
        return frozenset()
    items: list[Item] = []
    with reporting(progress, None, f"looking through {path.name}") as report:
        for item in reading:
            items.append(item)
            report(len(items), None)
    items = given.to(items, path)
    zone = zone_of(options.timezone)
    found.items += sorted(items, key=lambda i: read_instant(i.row["reference_time"], zone, f"{i.place}: reference_time")[0])  # type: ignore[arg-type]
    found.formats |= dict.fromkeys(reading.formats)
    found.left_out += reading.left_out
    return frozenset(path / name for name in reading.files) if path.is_dir() and options.format is None else None


@contextmanager
def located(items: Sequence[Item]) -> Iterator[None]:
    """Errors about `episodes[n]` name the place of that item instead."""
    try:
        yield
    except InvalidInput as error:
        at = re.match(r"episodes\[(\d+)\]\.?", error.argument)
        if at is None:
            raise
        raise InvalidInput(f"{items[int(at[1])].place}: {error.argument[at.end() :]}", error.value, error.allowed) from None


def _with_defaults(item: Item, **defaults: str | None) -> Item:
    missing = {k: v for k, v in defaults.items() if v is not None and item.row.get(k) is None}
    return replace(item, row={**item.row, **missing})


def _files(path: Path, exported: frozenset[Path]) -> list[Path]:
    if path.is_dir():
        inside = sorted(p for p in path.rglob("*") if p.suffix.lower() in SUFFIXES and p.is_file() and p not in exported)
        return [p for p in inside if not any(part.startswith(".") for part in p.relative_to(path).parts)]
    if not path.exists():
        raise InvalidInput("PATH", str(path), "no such file or folder")
    if path.suffix.lower() not in SUFFIXES:
        raise InvalidInput(
            "PATH", str(path), f"must end in {', '.join(SUFFIXES)}, or be a chat export; `graphmem add - < FILE` reads any text"
        )
    return [path]


def _read_file(file: Path) -> list[Item]:
    raw = _bytes(file)
    if file.suffix.lower() == ".jsonl":
        return _lines(raw, str(file), stream=False)
    text = _decoded(raw, str(file))
    if not text.strip():
        return []
    body = {"kind": "json", "value": text} if file.suffix.lower() == ".json" else {"kind": "text", "text": text}
    return [Item(str(file), {**body, "source": file.name, "key": f"{_location(file)}@{_mark(text)}"})]


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise InvalidInput("PATH", str(file), f"cannot be read ({error.strerror})") from None


def _decoded(raw: bytes, place: str) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(place, raw[error.start : error.end], f"must be UTF-8; is not at byte {error.start}") from None


def _lines(raw: bytes, place: str, *, stream: bool) -> list[Item]:
    """One item a line. Lines end at line feeds only: JSON may hold every other separator.

    A row's own `id` is its key within its file; two streams may use one id for different things, so there the content
    counts too. Rows without an id are known by their content, and by how often the file has had it before.
    """
    location = "stdin" if stream else _location(Path(place))
    before: Counter[str] = Counter()
    items: list[Item] = []
    for n, text in enumerate(_decoded(raw, place).split("\n"), start=1):
        if not text.strip():
            continue
        row = _row(text, f"{place}:{n}")
        mark = _mark(text.strip())
        key = row.get("key")
        if key is None or stream:
            key = f"{key}@{mark}" if key is not None else f"{mark}-{before[mark]}"
        before[mark] += 1
        items.append(Item(f"{place}:{n}", {**row, "key": f"{location}#{key}"}))
    return items


def _row(text: str, place: str) -> dict[str, object]:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(place, text.strip(), f"must be a JSON object ({error})") from None
    if not isinstance(value, dict):
        raise InvalidInput(place, value, "must be a JSON object with a text")
    row: dict[str, object] = {OTHER_NAMES.get(str(name), str(name)): v for name, v in value.items() if v is not None}
    if isinstance(row.get("key"), int):
        row["key"] = str(row["key"])
    return row


def _location(file: Path) -> str:
    return file.resolve().as_posix()


def _mark(text: str) -> str:
    return digest(text).hex()[:16]
