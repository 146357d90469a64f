"""Time as values: half-open intervals that cannot be wrong, and dates with their precision."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.errors import InvalidInput
from graphmem.interval import ALWAYS, DateUnit, Interval, Precision, printed

DAY = datetime(2024, 1, 1, tzinfo=UTC)
hours = st.integers(0, 12).map(lambda n: DAY + timedelta(hours=n))
bounds = st.none() | hours


@st.composite
def intervals(draw: st.DrawFn) -> Interval:
    """Intervals over a few hours, open ones too."""
    start, end = draw(bounds), draw(bounds)
    if start is not None and end is not None:
        start, end = min(start, end), max(start, end) + timedelta(hours=1)
    return Interval(start, end)


POINTS = [DAY + timedelta(minutes=30 * n) for n in range(-2, 30)]


def test_an_interval_holds_its_start_and_not_its_end() -> None:
    """Half-open: a microsecond before the end is the last inside."""
    hour = Interval(DAY, DAY + timedelta(hours=1))
    assert DAY in hour
    assert hour.end not in hour
    assert DAY + timedelta(hours=1) - timedelta(microseconds=1) in hour
    assert "2024" not in hour


def test_an_open_interval_has_no_edge() -> None:
    """None is beginning unknown, or no end known."""
    assert datetime.min.replace(tzinfo=UTC) in Interval(None, DAY)
    assert datetime.max.replace(tzinfo=UTC) in Interval(DAY, None)
    assert DAY in ALWAYS


@pytest.mark.parametrize("end", [DAY, DAY - timedelta(seconds=1)])
def test_an_empty_or_inverted_interval_cannot_be_made(end: datetime) -> None:
    """The error names the end."""
    with pytest.raises(InvalidInput, match="must be after start"):
        Interval(DAY, end)


def test_a_naive_instant_is_rejected() -> None:
    """As start, as end, and in a date unit."""
    naive = datetime(2024, 1, 1)
    for make in (lambda: Interval(naive), lambda: Interval(None, naive), lambda: DateUnit.at(naive)):
        with pytest.raises(InvalidInput, match="needs an offset"):
            make()


def test_instants_of_any_zone_become_utc() -> None:
    """Equal instants make equal intervals."""
    tokyo = Interval(datetime(2025, 5, 14, 0, 30, tzinfo=timezone(timedelta(hours=9))))
    assert tokyo == Interval(datetime(2025, 5, 13, 15, 30, tzinfo=UTC))
    assert tokyo.start is not None
    assert tokyo.start.tzinfo is UTC


@pytest.mark.parametrize(("fold", "hour"), [(0, 5), (1, 6)])
def test_the_hour_that_comes_twice_is_told_apart(fold: int, hour: int) -> None:
    """01:30 on the night the clocks go back, first and second time."""
    local = datetime(2025, 11, 2, 1, 30, tzinfo=ZoneInfo("America/New_York"), fold=fold)
    assert Interval(local).start == datetime(2025, 11, 2, hour, 30, tzinfo=UTC)


def test_instants_at_the_ends_of_time_do_not_overflow() -> None:
    """An offset that leads out of the calendar stops at its edge."""
    first = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))
    last = datetime(9999, 12, 31, 23, 59, 59, tzinfo=timezone(-timedelta(hours=12)))
    assert Interval(first, last) == Interval(datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC))


@given(intervals(), intervals())
def test_minus_leaves_exactly_the_rest(one: Interval, other: Interval) -> None:
    """Point by point; the pieces are in order and apart."""
    left = one.minus(other)
    assert len(left) <= 2
    for point in POINTS:
        assert any(point in piece for piece in left) == (point in one and point not in other)
    if len(left) == 2:
        assert left[0].end is not None
        assert left[1].start is not None
        assert left[0].end < left[1].start


@given(intervals(), intervals())
def test_intersection_and_overlap_agree_point_by_point(one: Interval, other: Interval) -> None:
    """Touching intervals share nothing."""
    shared = one.intersect(other)
    assert one.overlaps(other) == other.overlaps(one) == (shared is not None)
    for point in POINTS:
        assert (shared is not None and point in shared) == (point in one and point in other)


def test_a_date_unit_runs_from_its_first_instant_to_the_first_after_it() -> None:
    """Years, months over the turn of the year, and leap days."""
    assert DateUnit.of(2019).last == datetime(2020, 1, 1, tzinfo=UTC)
    assert DateUnit.of(2019, 12).last == datetime(2020, 1, 1, tzinfo=UTC)
    assert DateUnit.of(2024, 2, 29).last == datetime(2024, 3, 1, tzinfo=UTC)
    assert [DateUnit.of(2019).precision, DateUnit.of(2019, 1).precision, DateUnit.of(2019, 1, 1).precision] == ["year", "month", "day"]


def test_an_instant_is_a_unit_without_length() -> None:
    """First and last are the same moment."""
    moment = DateUnit.at(DAY)
    assert (moment.first, moment.last, moment.precision) == (DAY, DAY, Precision.INSTANT)


def test_a_day_is_as_long_as_its_zone_makes_it() -> None:
    """23 hours when the clocks go forward, 25 when they go back."""
    berlin = ZoneInfo("Europe/Berlin")
    spring, autumn = DateUnit.of(2024, 3, 31, zone=berlin), DateUnit.of(2024, 10, 27, zone=berlin)
    assert spring.first == datetime(2024, 3, 30, 23, tzinfo=UTC)
    assert spring.last - spring.first == timedelta(hours=23)
    assert autumn.last - autumn.first == timedelta(hours=25)


@pytest.mark.parametrize("date", [(2023, 13, 1), (2024, 2, 30), (0, 1, 1), (10000, 1, 1)])
def test_a_date_that_does_not_exist_is_rejected(date: tuple[int, int, int]) -> None:
    """No date becomes another one."""
    with pytest.raises(ValueError):
        DateUnit.of(*date)


def test_an_inverted_date_unit_is_rejected() -> None:
    """Its last instant may not come first."""
    with pytest.raises(InvalidInput, match="must not be before"):
        DateUnit(DAY, DAY - timedelta(days=1), Precision.DAY)


@pytest.mark.parametrize(
    ("unit", "text"),
    [
        (DateUnit.of(2021), "2021"),
        (DateUnit.of(2021, 8), "2021-08"),
        (DateUnit.of(2021, 8, 9), "2021-08-09"),
        (DateUnit.at(DAY), DAY.isoformat()),
    ],
)
def test_bounds_print_as_they_were_given(unit: DateUnit, text: str) -> None:
    """As a start and as an exclusive end; an open bound prints nothing."""
    assert printed(unit.first, unit.precision) == text
    assert printed(unit.last, unit.precision, is_end=True) == text
    assert printed(None, Precision.INSTANT) == ""


def test_bounds_print_in_the_zone_they_were_given_in() -> None:
    """A month in Tokyo stays that month there."""
    tokyo = ZoneInfo("Asia/Tokyo")
    may = DateUnit.of(2025, 5, zone=tokyo)
    assert printed(may.first, may.precision, tokyo) == printed(may.last, may.precision, tokyo, is_end=True) == "2025-05"
