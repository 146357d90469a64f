"""Time as values: intervals that cannot be wrong, and dates that know how precise they are."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum

from graphmem.errors import InvalidInput
from graphmem.runtime import MICROSECOND

FIRST = datetime(1, 1, 1, tzinfo=UTC)
LAST = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)


def instant(value: datetime, argument: str = "instant") -> datetime:
    """`value` in UTC; raises `InvalidInput` for one without an offset."""
    if value.tzinfo is UTC:
        return value
    if value.tzinfo is None or value.utcoffset() is None:
        raise InvalidInput(argument, value, "needs an offset, for instance +00:00")
    try:
        return value.astimezone(UTC)
    except OverflowError:
        return LAST if value.year > 5000 else FIRST


@dataclass(frozen=True, slots=True, order=False)
class Interval:
    """A stretch of time `[start, end)`, half-open, UTC; `None` is open: as start "beginning unknown", as end "no end known".

    Raises `InvalidInput` for instants without an offset and for an end that is not after its start.

    >>> year = Interval(datetime(2022, 1, 1, tzinfo=UTC), datetime(2023, 1, 1, tzinfo=UTC))
    >>> datetime(2022, 6, 1, tzinfo=UTC) in year, year.end in year
    (True, False)
    """

    start: datetime | None = None
    end: datetime | None = None

    def __post_init__(self) -> None:
        if self.start is not None and self.start.tzinfo is not UTC:
            object.__setattr__(self, "start", instant(self.start, "start"))
        if self.end is not None and self.end.tzinfo is not UTC:
            object.__setattr__(self, "end", instant(self.end, "end"))
        if self.start is not None and self.end is not None and self.end <= self.start:
            raise InvalidInput("end", self.end.isoformat(), f"must be after start {self.start.isoformat()}")

    def __contains__(self, moment: object) -> bool:
        if not isinstance(moment, datetime):
            return False
        return (self.start is None or self.start <= moment) and (self.end is None or moment < self.end)

    def overlaps(self, other: Interval) -> bool:
        """Whether the two share an instant."""
        return (self.start is None or other.end is None or self.start < other.end) and (
            other.start is None or self.end is None or other.start < self.end
        )

    def intersect(self, other: Interval) -> Interval | None:
        """What the two share, or None."""
        if not self.overlaps(other):
            return None
        starts = [s for s in (self.start, other.start) if s is not None]
        ends = [e for e in (self.end, other.end) if e is not None]
        return Interval(max(starts, default=None), min(ends, default=None))

    def minus(self, other: Interval) -> list[Interval]:
        """What is left of this one without the other: 0, 1 or 2 intervals, in order of time."""
        if not self.overlaps(other):
            return [self]
        left: list[Interval] = []
        if other.start is not None and (self.start is None or self.start < other.start):
            left.append(Interval(self.start, other.start))
        if other.end is not None and (self.end is None or other.end < self.end):
            left.append(Interval(other.end, self.end))
        return left


ALWAYS = Interval()


class Precision(StrEnum):
    """How exactly a date was given, coarse to fine."""

    YEAR = "year"
    MONTH = "month"
    DAY = "day"
    INSTANT = "instant"


class Origin(StrEnum):
    """Where a date comes from."""

    STATED = "stated"
    RESOLVED = "resolved"
    REFERENCE = "reference"
    USER = "user"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class DateUnit:
    """A unit of time that a text names, `[first, last)` in UTC ("2019", "May 2024"); an instant has `first == last`."""

    first: datetime
    last: datetime
    precision: Precision
    origin: Origin = Origin.STATED

    def __post_init__(self) -> None:
        if self.first.tzinfo is not UTC:
            object.__setattr__(self, "first", instant(self.first, "first"))
        if self.last.tzinfo is not UTC:
            object.__setattr__(self, "last", instant(self.last, "last"))
        if self.last < self.first:
            raise InvalidInput("last", self.last.isoformat(), f"must not be before {self.first.isoformat()}")

    @classmethod
    def at(cls, moment: datetime, origin: Origin = Origin.STATED) -> DateUnit:
        """A single instant."""
        return cls(moment, moment, Precision.INSTANT, origin)

    @classmethod
    def of(
        cls, year: int, month: int | None = None, day: int | None = None, *, zone: tzinfo = UTC, origin: Origin = Origin.STATED
    ) -> DateUnit:
        """A year, month or day of the calendar in `zone`; raises ValueError for a date that does not exist.

        >>> DateUnit.of(2019).last.isoformat()
        '2020-01-01T00:00:00+00:00'
        """
        first = datetime(year, month or 1, day or 1, tzinfo=zone)
        if day is not None:
            following, precision = first + timedelta(days=1), Precision.DAY
        elif month is not None:
            following, precision = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=zone), Precision.MONTH
        else:
            following, precision = datetime(year + 1, 1, 1, tzinfo=zone), Precision.YEAR
        return cls(first, following, precision, origin)


def printed(moment: datetime | None, precision: Precision, zone: tzinfo = UTC, *, is_end: bool = False) -> str:
    """A bound as it was given: "2019", "2024-05", "2024-05-14" or a full instant; "" for an open one.

    An end is exclusive in the store; `is_end` prints the last unit that it includes. A year or month prints as it was
    given also when that was in another zone than `zone`; so does a day as start.

    >>> from datetime import timezone
    >>> printed(DateUnit.of(2019, zone=timezone(timedelta(hours=9))).first, Precision.YEAR)
    '2019'
    """
    if moment is None:
        return ""
    if precision is Precision.INSTANT:
        return in_zone(moment, zone).isoformat()
    # Units begin at a midnight of their own zone, 12 hours behind to 14 ahead of UTC; an end may also be any instant in its unit.
    if is_end:
        within = -MICROSECOND if precision is Precision.DAY else -timedelta(hours=12) - MICROSECOND
    else:
        within = timedelta(hours=14) - (MICROSECOND if precision is Precision.DAY else timedelta(0))
    day = _moved(moment, within, zone).date().isoformat()
    return day[: {Precision.YEAR: 4, Precision.MONTH: 7}.get(precision)]


def day_of(moment: datetime, zone: tzinfo = UTC, *, is_end: bool = False) -> str:
    """The date of an instant in `zone`; of an end, the last day that it includes."""
    return _moved(moment, -MICROSECOND if is_end else timedelta(0), zone).date().isoformat()


def in_zone(moment: datetime, zone: tzinfo) -> datetime:
    """`moment` on the clocks of `zone`; where the calendar ends, as it is.

    >>> from datetime import timezone
    >>> in_zone(LAST, timezone(timedelta(hours=9))).isoformat()
    '9999-12-31T23:59:59.999999+00:00'
    """
    return _moved(moment, timedelta(0), zone)


def _moved(moment: datetime, by: timedelta, zone: tzinfo) -> datetime:
    """`moment + by` in `zone`; where the calendar ends, `moment` as it is."""
    try:
        return (moment + by).astimezone(zone)
    except OverflowError:
        return moment
