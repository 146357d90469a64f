"""One bar for long work: on a terminal or in a notebook, gone when done; nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module

from graphmem.errors import InvalidInput

Progress = Callable[[int, int | None], None]
"""Called with (done, total) after each step; `total` is None where it is not known."""

WORTH_A_BAR = 10
_IN_A_NOTEBOOK = "ipykernel"


@contextmanager
def reporting(progress: Progress | bool | None, total: int | None, doing: str) -> Iterator[Progress]:
    """What to call after each step: the caller's `progress`; a bar (True, or None where somebody looks on); or nothing (False).

    Raises `InvalidInput` for anything else.
    """
    if callable(progress):
        yield progress
    elif not isinstance(progress, bool | None):
        raise InvalidInput("progress", progress, "must be True, False, None, or what is called with (done, total)")
    elif progress or (progress is None and _is_watched() and (total is None or total >= WORTH_A_BAR)):
        yield from _notebook_bar(total, doing) if _IN_A_NOTEBOOK in sys.modules else _bar(total, doing)
    else:
        yield lambda done, total: None


def _is_watched() -> bool:
    return sys.stderr.isatty() or _IN_A_NOTEBOOK in sys.modules


def _bar(total: int | None, doing: str) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(doing, total=total)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _notebook_bar(total: int | None, doing: str) -> Iterator[Progress]:
    """HTML that every frontend shows: a notebook need not have the widgets that other bars ask for."""
    frontend = import_module("IPython.display")

    def shown(done: int, total: int | None) -> object:
        meter = f'<progress max="{total}" value="{done}"></progress> {done} of {total}' if total else f"<progress></progress> {done}"
        return frontend.HTML(f"{doing} {meter}")

    handle = frontend.display(shown(0, total), display_id=True)
    try:
        yield lambda done, total: handle.update(shown(done, total))
    finally:
        handle.update(frontend.HTML(""))
