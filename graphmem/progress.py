"""One bar for long work: on a terminal or in a notebook, gone when done; nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[int, int | None], None]
"""Called with (done, total) after each step; `total` is None where it is not known."""

WORTH_A_BAR = 10


@contextmanager
def reporting(progress: Progress | bool | None, total: int | None, doing: str) -> Iterator[Progress]:
    """What to call after each step: the caller's `progress`; a bar (True, or None where somebody looks on); or nothing (False)."""
    if callable(progress):
        yield progress
    elif progress or (progress is None and _is_watched() and (total is None or total >= WORTH_A_BAR)):
        yield from _bar(total, doing)
    else:
        yield lambda done, total: None


def _is_watched() -> bool:
    return sys.stderr.isatty() or "ipykernel" in sys.modules


def _bar(total: int | None, doing: str) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(doing, total=total)
        yield lambda done, total: bar.update(task, completed=done, total=total)
