"""Date expressions and date strings, against a reference time in a zone."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from graphmem.dates import find_dates, parse_unit, unit_text
from graphmem.interval import Origin, Precision

WEDNESDAY = datetime(2025, 5, 14, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("last Friday", "2025-05-09"),
        ("next Friday", "2025-05-23"),
        ("this Friday", "2025-05-16"),
        ("last week", "2025-05-05/2025-05-11"),
        ("two weekends ago", "2025-05-03/2025-05-04"),
        ("last summer", "2024-06/2024-08"),
        ("next week Monday", "2025-05-19"),
        ("since March", "2025-03"),
        ("in May 2023", "2023-05"),
        ("on 12 May", "2025-05-12"),
        ("in Q1 2024", "2024-01/2024-03"),
        ("2024年5月14日", "2024-05-14"),
        ("late 2022", "2022"),
        ("the week of May 12", "2025-05-12/2025-05-18"),
        ("28 June in 2020", "2020-06-28"),
    ],
)
def test_rules_read_what_the_words_mean(text: str, unit: str) -> None:
    """Weeks, weekends, seasons, weekdays and missing years resolve against the reference day."""
    [found] = find_dates(f"It was {text}.", WEDNESDAY, UTC)
    assert unit_text(found.unit, UTC) == unit


@pytest.mark.local
@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("yesterday", "2025-05-13"),
        ("the day before yesterday", "2025-05-12"),
        ("three months ago", "2025-02"),
        ("two years ago", "2023"),
        ("14 May 2024", "2024-05-14"),
        ("May 14th, 2023", "2023-05-14"),
        ("in three days", "2025-05-17"),
    ],
)
def test_plain_distances_and_full_dates_are_read_by_the_library(text: str, unit: str) -> None:
    """Distances get the size of their unit as precision."""
    [found] = find_dates(f"It was {text}.", WEDNESDAY, UTC)
    assert unit_text(found.unit, UTC) == unit


@pytest.mark.parametrize(
    "text", ["may I go", "march on", "I sat there", "7,000 years ago", "44 BC", "in 12024", "31 June 2024", "version 1.5.2", ""]
)
def test_what_is_no_date_is_not_found(text: str) -> None:
    """Words and numbers that only look like dates are left alone, and nothing overflows."""
    assert find_dates(text, WEDNESDAY, UTC) == []


@pytest.mark.parametrize(
    ("text", "role", "first", "last"),
    [
        ("from 2019 to 2021", "since", "2019", "2021"),
        ("June to August 2020", "since", "2020-06", "2020-08"),
        ("between March and June", "since", "2025-03", "2025-06"),
    ],
)
def test_a_range_has_two_ends(text: str, role: str, first: str, last: str) -> None:
    """The first end takes the year that only the last one gives."""
    [found] = find_dates(f"It ran {text}.", WEDNESDAY, UTC)
    assert found.until is not None
    assert (found.role, unit_text(found.unit, UTC), unit_text(found.until, UTC)) == (role, first, last)


def test_a_date_with_an_open_direction_offers_the_coming_one() -> None:
    """A bare weekday is the nearest past one, with the coming one ahead."""
    [found] = find_dates("on Friday", WEDNESDAY, UTC)
    assert found.ahead is not None
    assert (unit_text(found.unit, UTC), unit_text(found.ahead, UTC)) == ("2025-05-09", "2025-05-16")


def test_words_resolve_in_the_zone_of_the_memory() -> None:
    """The reference day is the day in the zone."""
    late = datetime(2025, 5, 13, 16, tzinfo=UTC)
    [found] = find_dates("on Friday", late, ZoneInfo("Asia/Tokyo"))
    assert unit_text(found.unit, ZoneInfo("Asia/Tokyo")) == "2025-05-09"
    assert found.unit.first == datetime(2025, 5, 8, 15, tzinfo=UTC)


@pytest.mark.parametrize(
    ("raw", "text", "precision"),
    [
        ("2022", "2022", Precision.YEAR),
        (2022, "2022", Precision.YEAR),
        ("2022-05", "2022-05", Precision.MONTH),
        ("2022-05-14", "2022-05-14", Precision.DAY),
        ("2022-05-14T10:00", "2022-05-14T10:00:00+00:00", Precision.INSTANT),
        ("2024-05-14T10:00:00+09:00", "2024-05-14T01:00:00+00:00", Precision.INSTANT),
        ("9999-12-31T23:59:59+00:00", "9999-12-31T23:59:59+00:00", Precision.INSTANT),
        ("2024-05-13/2024-05-19", "2024-05-13/2024-05-19", Precision.DAY),
        ("12-30", "2024-12-30", Precision.DAY),
        ("last Friday", "2025-05-09", Precision.DAY),
    ],
)
def test_date_strings_keep_their_precision(raw: object, text: str, precision: Precision) -> None:
    """What a model or caller gives is read as precisely as it was given, and written back the same."""
    unit = parse_unit(raw, WEDNESDAY, UTC)
    assert unit is not None
    assert (unit_text(unit, UTC), unit.precision) == (text, precision)


@pytest.mark.parametrize(
    "raw",
    [
        *("2023-13-45", "2024-02-30", "None", "", "soon", "0000-01-01", "10000-01-01", "2022-09-14T25:61:00Z", "now", "99"),
        *(20220914, 2.5, True, None, {"y": 2023}, "7,000 years ago", "44 BC", "9999-12-31", "x" * 1000),
    ],
)
def test_impossible_dates_are_none(raw: object) -> None:
    """Nothing falls back to today, 1900 or 1970."""
    assert parse_unit(raw, WEDNESDAY, UTC) is None


def test_an_instant_without_an_offset_is_read_in_the_zone() -> None:
    """The zone gives the offset."""
    unit = parse_unit("2025-05-14T00:30:00", WEDNESDAY, ZoneInfo("Asia/Tokyo"))
    assert unit is not None
    assert unit.first == datetime(2025, 5, 13, 15, 30, tzinfo=UTC)


def test_the_earliest_instant_does_not_overflow() -> None:
    """An instant before year 1 in UTC is the earliest one there is."""
    unit = parse_unit("0001-01-01T00:00:00+14:00", WEDNESDAY, UTC, Origin.USER)
    assert unit is not None
    assert (unit.first.year, unit.origin) == (1, Origin.USER)
