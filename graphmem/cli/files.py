"""Files, folders and standard input as episodes, each with the place it is from and a key that finds it again."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from graphmem.errors import InvalidInput
from graphmem.instants import Instant, read_instant, zone_of
from graphmem.runtime import MICROSECOND, digest

SUFFIXES = (".txt", ".md", ".json", ".jsonl")
STANDARD_INPUT = "-"
OTHER_NAMES = {"id": "key", "at": "reference_time"}


@dataclass(frozen=True)
class Item:
    """An episode as `Memory.add_many` takes it, and the place it is from: a file, or a file and a line."""

    place: str
    row: Mapping[str, object]


def read(paths: Sequence[str | Path], *, at: str | None, session: str | None, stdin: BinaryIO) -> list[Item]:
    """The episodes of all these, in the order given, files of a folder by name; all are read before any is recorded.

    `at` and `session` count where an episode has none of its own; without `at` it is the time a file was last changed.
    Raises `InvalidInput` naming the file and line.
    """
    items: list[Item] = []
    for path in paths:
        if str(path) == STANDARD_INPUT:
            found = _lines(stdin.read(), "standard input", stream=True)
            items += [_with_defaults(i, reference_time=at, session=session) for i in found]
            continue
        for file in _files(Path(path)):
            changed = datetime.fromtimestamp(file.stat().st_mtime, UTC).replace(microsecond=0).isoformat()
            items += [_with_defaults(i, reference_time=at or changed, session=session) for i in _read_file(file)]
    return items


def in_order_of_time(items: Sequence[Item], timezone: str) -> list[Item]:
    """By reference time, each recorded at that instant, or a microsecond after the one before where that is not later."""
    zone = zone_of(timezone)
    timed: list[tuple[datetime, Item]] = []
    for item in items:
        if item.row.get("reference_time") is None:
            raise InvalidInput(f"{item.place}: reference_time", None, "an archive needs the time of every episode")
        given: Instant = item.row["reference_time"]  # type: ignore[assignment]
        timed.append((read_instant(given, zone, f"{item.place}: reference_time")[0], item))
    timed.sort(key=lambda pair: pair[0])
    ordered: list[Item] = []
    last: datetime | None = None
    for instant, item in timed:
        last = instant if last is None or instant > last else last + MICROSECOND
        ordered.append(replace(item, row={**item.row, "recorded_at": last}))
    return ordered


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


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        inside = sorted(p for p in path.rglob("*") if p.suffix.lower() in SUFFIXES and p.is_file())
        return [p for p in inside if not any(part.startswith(".") for part in p.relative_to(path).parts)]
    if not path.exists():
        raise InvalidInput("PATH", str(path), "no such file or folder")
    if path.suffix.lower() not in SUFFIXES:
        raise InvalidInput("PATH", str(path), f"must end in {', '.join(SUFFIXES)}; `graphmem add - < FILE` reads any text")
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
