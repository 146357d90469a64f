"""Which of a chat's dates is the day: no line says it, but all of them together may."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from graphmem.errors import InvalidInput


class Date(NamedTuple):
    """A date as it is written: its line, its text, its three numbers, and whether points stand between them."""

    line: int
    text: str
    first: int
    middle: int
    last: int
    points: bool


@dataclass(frozen=True)
class Days:
    """The order of a chat's dates."""

    dayfirst: bool

    @property
    def order(self) -> str:
        return "day first" if self.dayfirst else "month first"

    def of(self, date: Date) -> tuple[int, int, int]:
        """Year, month and day."""
        if date.first > 31:
            return date.first + (2000 if date.first < 100 else 0), date.middle, date.last
        year = date.last + (2000 if date.last < 100 else 0)
        return (year, date.middle, date.first) if self.dayfirst else (year, date.first, date.middle)


def days_of(dates: Sequence[Date], place: str, wanted: bool | None) -> Days:
    """The order that all dates allow, or that was asked for.

    Raises `InvalidInput` naming the line that contradicts, or one that both orders allow where nothing decides.
    """
    doubtful = [d for d in dates if d.first <= 31]
    begins_with_day = next((d for d in doubtful if d.first > 12), None)
    begins_with_month = next((d for d in doubtful if d.middle > 12), None)
    if begins_with_day and begins_with_month:
        allowed = f"begins with the day, but line {begins_with_month.line} with the month; split the file there"
        raise InvalidInput(f"{place}:{begins_with_day.line}", begins_with_day.text, allowed)
    if wanted is not None:
        against = begins_with_month if wanted else begins_with_day
        if against:
            option = "--month-first (dayfirst=False)" if wanted else "--day-first (dayfirst=True)"
            raise InvalidInput(f"{place}:{against.line}", against.text, f"can only be read {option}")
        return Days(wanted)
    if begins_with_day or begins_with_month:
        return Days(begins_with_day is not None)
    return Days(True) if any(d.points for d in doubtful) else _by_course(doubtful, place)


def _by_course(dates: Sequence[Date], place: str) -> Days:
    """A chat runs forward in time, but for late deliveries: of two orders, its own is the one in which it runs back less often."""
    back = {way: _times_back([Days(way).of(d) for d in dates]) for way in (True, False)}
    if back[True] != back[False]:
        return Days(back[True] < back[False])
    differing = next((d for d in dates if d.first != d.middle), None)
    if differing is None:
        return Days(True)
    allowed = "may begin with the day or the month, and no line decides it; say --day-first or --month-first (dayfirst=True or False)"
    raise InvalidInput(f"{place}:{differing.line}", differing.text, allowed)


def _times_back(days: Sequence[tuple[int, int, int]]) -> int:
    return sum(one > other for one, other in pairwise(days))
