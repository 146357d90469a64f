"""Instants as people give them: datetimes or ISO 8601, read in the memory's zone where they name none."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, date, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from graphmem.errors import InvalidInput
from graphmem.interval import Interval, instant
from graphmem.model import Warn

Instant = datetime | date | str


def zone_of(name: str, argument: str = "timezone") -> tzinfo:
    """The time zone of that IANA name, or of an offset such as "+09:00"; raises `InvalidInput` for an unknown one."""
    allowed = "must be an IANA time zone, for instance 'Europe/Lisbon'"
    if not isinstance(name, str):
        raise InvalidInput(argument, name, allowed)
    if name.upper() in ("UTC", "Z"):
        return UTC
    if name.removeprefix("UTC").startswith(("+", "-")):
        with suppress(ValueError):
            return datetime.strptime(name.removeprefix("UTC"), "%z").tzinfo or UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise InvalidInput(argument, name, allowed) from error


def read_instant(value: Instant, zone: tzinfo, argument: str) -> tuple[datetime, Warn | None]:
    """An instant in UTC, and a warning if it named no offset and was read in `zone`.

    A bare date is its first instant in `zone`, without a warning. Raises `InvalidInput` for anything else.

    >>> read_instant("2024-04-02", UTC, "reference_time")[0].isoformat()
    '2024-04-02T00:00:00+00:00'
    """
    local, warning = read_local(value, zone, argument)
    return instant(local, argument), warning


def read_local(value: Instant, zone: tzinfo, argument: str) -> tuple[datetime, Warn | None]:
    """As `read_instant`, keeping the offset that was given."""
    allowed = "must be a datetime or ISO 8601, for instance '2024-04-02T09:00Z' or '2024-04-02'"
    bare = False
    if isinstance(value, str):
        text = value.strip()
        bare = len(text) <= 10 and "T" not in text
        try:
            read = datetime.fromisoformat(_completed(text) if bare else text)
        except ValueError as error:
            raise InvalidInput(argument, value, allowed) from error
    elif isinstance(value, datetime):
        read = value
    elif isinstance(value, date):
        read, bare = datetime(value.year, value.month, value.day, tzinfo=zone), True
    else:
        raise InvalidInput(argument, value, allowed)
    if read.tzinfo is not None and read.utcoffset() is not None:
        return read, None
    warning = None if bare else Warn("naive_instant", str(value), f"{argument} names no offset; read in {zone}")
    return read.replace(tzinfo=zone), warning


def _completed(text: str) -> str:
    """A year or a month stands for its first day."""
    if len(text) == 4 and text.isdigit():
        return f"{text}-01-01"
    if len(text) == 7 and text[4] == "-":
        return f"{text}-01"
    return text


def read_stretch(since: Instant | None, until: Instant | None, zone: tzinfo) -> Interval | None:
    """[since, until) as instants, either end open; None if both are left out. Raises `InvalidInput` unless `until` is after `since`."""
    first = read_instant(since, zone, "since")[0] if since is not None else None
    last = read_instant(until, zone, "until")[0] if until is not None else None
    if first is not None and last is not None and last <= first:
        raise InvalidInput("until", until, f"must be after since={since!r}")
    return Interval(first, last) if first is not None or last is not None else None
