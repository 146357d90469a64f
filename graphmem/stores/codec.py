"""How values are written down: instants as integers, open ends as sentinels, nested attributes as JSON that loses nothing."""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, date, datetime, timedelta
from enum import Enum
from functools import lru_cache
from typing import cast

from graphmem.errors import InvalidInput
from graphmem.interval import DateUnit, Interval, Origin, Precision
from graphmem.model import EMPTY

OPEN_START = -(2**62)
OPEN_END = 2**62
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_COMPACT = json.JSONEncoder(separators=(",", ":"))


def to_micros(moment: datetime) -> int:
    """Microseconds since 1970, UTC; every datetime fits.

    >>> from_micros(to_micros(datetime.max.replace(tzinfo=UTC))) == datetime.max.replace(tzinfo=UTC)
    True
    """
    return (moment - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    """The instant, in UTC."""
    return _EPOCH + timedelta(microseconds=micros)


def start_micros(moment: datetime | None) -> int:
    """A start; an open one lies before every instant."""
    return OPEN_START if moment is None else to_micros(moment)


def end_micros(moment: datetime | None) -> int:
    """An end; an open one lies after every instant."""
    return OPEN_END if moment is None else to_micros(moment)


@lru_cache(maxsize=16384)
def interval(start: int, end: int) -> Interval:
    """The interval between two stored integers."""
    return Interval(None if start == OPEN_START else from_micros(start), None if end == OPEN_END else from_micros(end))


# ------------------------------------------------------------------------------------------------ nested values


def encode(value: object) -> str:
    """One line of ASCII JSON from which `decode` gives an equal value back.

    Beyond JSON: bytes, datetimes, dates, date units, intervals, tuples and integers of any size; numbers that are not
    finite become null, sets sorted lists, enums their values, keys of mappings strings.
    Raises `InvalidInput` for anything else and for values nested beyond Python's recursion limit.

    >>> decode(encode({"raw": b"\\x00", "big": 10**30, "pair": (1, 2)}))
    {'raw': b'\\x00', 'big': 1000000000000000000000000000000, 'pair': (1, 2)}
    """
    try:
        return _COMPACT.encode(_tagged(value))
    except RecursionError:
        raise InvalidInput("attributes", "...", "nested too deeply to be stored") from None


def decode(text: str) -> object:
    """The value that `encode` wrote."""
    return _untagged(json.loads(text))


def encode_mapping(value: Mapping[str, object]) -> str:
    """`encode` of a mapping; short for an empty one."""
    return encode(value) if value else "{}"


def decode_mapping(text: str) -> Mapping[str, object]:
    """The mapping that `encode_mapping` wrote."""
    return EMPTY if text == "{}" else cast(Mapping[str, object], decode(text))


def encode_unit(unit: DateUnit | None) -> str | None:
    """A date unit as JSON text, None for none."""
    if unit is None:
        return None
    # As `encode` would write it, which takes ten times as long.
    return f'{{"$unit":[{to_micros(unit.first)},{to_micros(unit.last)},"{unit.precision.value}","{unit.origin.value}"]}}'


def decode_unit(text: str | None) -> DateUnit | None:
    """The date unit that `encode_unit` wrote."""
    return None if text is None else cast(DateUnit, decode(text))


def _tagged(value: object) -> object:
    match value:
        case Enum():
            return _tagged(value.value)
        case None | bool() | str() | int():
            return value
        case float():
            return value if math.isfinite(value) else None
        case bytes() | bytearray():
            return {"$bytes": base64.b64encode(value).decode("ascii")}
        case datetime():
            return {"$datetime": value.isoformat()}
        case date():
            return {"$date": value.isoformat()}
        case DateUnit():
            return {"$unit": [to_micros(value.first), to_micros(value.last), value.precision.value, value.origin.value]}
        case Interval():
            return {"$interval": [start_micros(value.start), end_micros(value.end)]}
        case tuple():
            return {"$tuple": [_tagged(v) for v in value]}
        case AbstractSet():
            return sorted((_tagged(v) for v in value), key=json.dumps)
        case Mapping():
            entries = {str(k.value if isinstance(k, Enum) else k): _tagged(v) for k, v in value.items()}
            return {"$map": list(entries.items())} if any(k.startswith("$") for k in entries) else entries
        case Sequence():
            return [_tagged(v) for v in value]
    if hasattr(value, "tolist"):
        return _tagged(value.tolist())
    raise InvalidInput("attributes", value, "holds a value that cannot be stored; use JSON values, bytes or datetimes")


def _untagged(value: object) -> object:
    if isinstance(value, list):
        return [_untagged(v) for v in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((tag, inner),) = value.items()
        match tag:
            case "$bytes":
                return base64.b64decode(inner)
            case "$datetime":
                return datetime.fromisoformat(inner)
            case "$date":
                return date.fromisoformat(inner)
            case "$unit":
                return DateUnit(from_micros(inner[0]), from_micros(inner[1]), Precision(inner[2]), Origin(inner[3]))
            case "$interval":
                return interval(inner[0], inner[1])
            case "$tuple":
                return tuple(_untagged(v) for v in inner)
            case "$map":
                return {k: _untagged(v) for k, v in inner}
    return {k: _untagged(v) for k, v in value.items()}


# ------------------------------------------------------------------------------------------------ text

_UNSAFE = re.compile("[\x00\x1a\ud800-\udfff]")
_ESCAPED = re.compile("\x1a([0-9a-f]{4})")


def safe_text(text: str) -> str:
    """Text that every engine keeps whole: NUL and lone surrogates are written as an escape that `raw_text` undoes."""
    if text.isascii() and "\x00" not in text and "\x1a" not in text:  # most are, and this is told in a third of the time
        return text
    return _UNSAFE.sub(lambda m: f"\x1a{ord(m[0]):04x}", text) if _UNSAFE.search(text) else text


def raw_text(text: str) -> str:
    """The text that was given to `safe_text`.

    >>> raw_text(safe_text("a\\x00\\ud800b")) == "a\\x00\\ud800b"
    True
    """
    return _ESCAPED.sub(lambda m: chr(int(m[1], 16)), text) if "\x1a" in text else text


def raw_texts(listed: Sequence[str]) -> Sequence[str]:
    """As `raw_text`, for many at once."""
    return [raw_text(text) for text in listed] if "\x1a" in "".join(listed) else listed


def safe_or_none(text: str | None) -> str | None:
    """As `safe_text`; None for none."""
    return None if text is None else safe_text(text)


def raw_or_none(text: str | None) -> str | None:
    """As `raw_text`; None for none."""
    return None if text is None else raw_text(text)


def text_list(listed: Sequence[str]) -> str:
    """Texts as JSON in ASCII, which keeps every character."""
    return json.dumps(list(listed)) if listed else "[]"


def texts(listed: str) -> tuple[str, ...]:
    """The texts of a `text_list`."""
    return () if listed == "[]" else tuple(json.loads(listed))


def from_micros_or_none(micros: int | None) -> datetime | None:
    """As `from_micros`; None for none."""
    return None if micros is None else from_micros(micros)


def to_micros_or_none(moment: datetime | None) -> int | None:
    """As `to_micros`; None for none."""
    return None if moment is None else to_micros(moment)
