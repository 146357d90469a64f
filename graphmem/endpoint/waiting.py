"""How long to wait before another try: as long as the endpoint asks, or longer; else longer each time."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from threading import Event

from graphmem.runtime import Clock, SystemClock

_AGAIN = re.compile(
    r"(?:try again|retry) (?:in|after) ((?:\d+(?:\.\d+)?\s*(?:ms|milliseconds?|h|m|s|minutes?|min|seconds?|sec|hours?)\s*)+)", re.I
)
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]+)", re.I)
_UNITS = {"ms": 0.001, "mi": 60.0, "m": 60.0, "s": 1.0, "h": 3600.0}


@dataclass(frozen=True, slots=True)
class Waiting:
    """How waits are made: `longest` seconds at most, however long the endpoint asks; the first one `first` seconds.

    `sleep`, `jitter` (a number from 0 to 1) and `clock` (for a Retry-After that is a date) are injected by tests.
    """

    longest: float = 60.0
    first: float = 0.5
    sleep: Callable[[float], object] | None = None
    jitter: Callable[[], float] = field(default_factory=lambda: random.Random().random)
    clock: Clock = field(default_factory=SystemClock)

    def seconds(self, attempt: int, asked: float | None) -> float:
        """The wait before try number `attempt` + 1; `asked` is what the endpoint asks for.

        Chance adds up to a quarter to that: all those that were told the same would come at once. Where it was too short, the
        next wait is at least as long as the one before would have been without a word.

        >>> most = Waiting(jitter=lambda: 1.0)
        >>> most.seconds(3, None), most.seconds(1, 7.2), most.seconds(1, 3600.0), most.seconds(1, 0.0), most.seconds(3, 0.0)
        (2.0, 9.0, 60.0, 0.0, 1.0)
        """
        if asked is None:
            return self._grown(attempt)
        least = self._grown(attempt - 1) if attempt > 1 else 0.0
        return max(least, min(asked * (1.0 + self.jitter() / 4), self.longest))

    def _grown(self, attempt: int) -> float:
        grown = min(self.first * 2.0 ** min(attempt - 1, 30), self.longest)
        return grown * (0.5 + self.jitter() / 2)

    def pause(self, seconds: float, stop: Event) -> None:
        """Wait, but no longer than until `stop` is set."""
        if self.sleep is not None:
            self.sleep(seconds)
        else:
            stop.wait(seconds)


def asked_wait(headers: Mapping[str, str], body: str, now: datetime) -> float | None:
    """The seconds an endpoint asks to wait: its headers `retry-after-ms` and `retry-after`, else "try again in 1.2s".

    A date counts from the answer's own `date`, so that a clock that is off does not matter; without one, from `now`.

    >>> asked_wait({"retry-after": "3"}, "", datetime(2026, 1, 1, tzinfo=UTC))
    3.0
    """
    wait = _number(headers.get("retry-after-ms"), 0.001)
    if wait is None:
        wait = _number(headers.get("retry-after"), 1.0)
    if wait is None and (until := _date(headers.get("retry-after"))) is not None:
        wait = max(0.0, (until - (_date(headers.get("date")) or now)).total_seconds())
    if wait is None and (said := _AGAIN.search(body[:4000])):
        wait = sum(float(number) * _unit(unit) for number, unit in _PART.findall(said[1]))
    return wait


def _unit(word: str) -> float:
    word = word.lower()
    if word.startswith("millis"):
        return 0.001
    return _UNITS[word[:2] if word[:2] in _UNITS else word[0]]


def _number(text: str | None, unit: float) -> float | None:
    try:
        value = float(text or "") * unit
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _date(text: str | None) -> datetime | None:
    try:
        found = parsedate_to_datetime(text) if text else None
    except (ValueError, OverflowError, TypeError):
        return None
    return found.replace(tzinfo=UTC) if found is not None and found.tzinfo is None else found
