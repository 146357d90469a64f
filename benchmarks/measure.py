"""Figures and how they are taken: CPU time of this process, as ratios within one run, so that machines can be compared."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number: what it is, its unit, and what it should stay within ("<= 4"); None: nothing is promised."""

    name: str
    value: float
    unit: str = ""
    reach: str | None = None

    @property
    def reached(self) -> bool | None:
        """Whether the figure is within reach; None where nothing is promised."""
        if self.reach is None:
            return None
        relation, limit = self.reach.split()
        return self.value <= float(limit) if relation == "<=" else self.value >= float(limit)

    def row(self) -> str:
        """A line of a Markdown table."""
        mark = {None: "", True: "yes", False: "**no**"}[self.reached]
        return f"| {self.name} | {self.value:.3g} {self.unit} | {self.reach or ''} | {mark} |"


class Stopwatch:
    """Adds up CPU seconds.

    >>> watch = Stopwatch()
    >>> with watch.running():
    ...     _ = sum(range(1000))
    >>> watch.seconds > 0
    True
    """

    def __init__(self) -> None:
        self.seconds = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Counts what happens inside."""
        began = time.process_time()
        try:
            yield
        finally:
            self.seconds += time.process_time() - began

    def around(self, function: Callable[..., object]) -> Callable[..., object]:
        """The function, with its time counted here."""

        def counted(*args: object, **more: object) -> object:
            with self.running():
                return function(*args, **more)

        return counted


def cpu(action: Callable[[], object], repeats: int = 1) -> float:
    """Median CPU seconds of the action."""
    taken = []
    for _ in range(repeats):
        began = time.process_time()
        action()
        taken.append(time.process_time() - began)
    return median(taken)


def process_seconds(pid: int | None) -> float:
    """CPU seconds that a process of this machine has taken, in steps of a hundredth, on Linux; NaN of no process."""
    if pid is None:
        return float("nan")
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def table(title: str, figures: Sequence[Figure]) -> str:
    """A section of the report."""
    head = f"## {title}\n\n| figure | measured | within | reached |\n|---|---|---|---|\n"
    return head + "\n".join(f.row() for f in figures) + "\n"
