"""Running the code of a page of documentation: `python tests/system/pages.py README.md` writes the output it prints into it.

Blocks of `python` run in order in one namespace, in an empty folder, with a clock that stands still. A block of `text`
right after one is what it prints. In a block of `console`, lines after `$ graphmem …` are what that prints.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from graphmem import opening
from graphmem.runtime import FixedClock

NOW = "2025-07-01T12:00:00Z"
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass
class Block:
    """A fenced block: its language, text, and where the text stands in the page."""

    language: str
    text: str
    start: int
    end: int


@dataclass
class Outcome:
    """What was run, what the page says that it prints (None: nothing is said), what it printed, and where the page says so."""

    code: str
    shown: str | None
    printed: str
    start: int = 0
    end: int = 0


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    return [Block(m[1], m[2], m.start(2), m.end(2)) for m in _BLOCK.finditer(page)]


def run(page: str) -> Iterator[Outcome]:
    """Run the page's blocks in an empty folder; an error in one of them is raised as it is."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    found = blocks(page)
    with _standing_still(), tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for block, following in zip(found, [*found[1:], None], strict=False):
            if block.language == "python":
                said = (
                    following
                    if following and following.language == "text" and not page[block.end + 4 : following.start - 8].strip()
                    else None
                )
                printed = _printed(lambda code=block.text: exec(compile(code, "<page>", "exec"), namespace))
                yield Outcome(block.text, said.text if said else None, printed, said.start if said else 0, said.end if said else 0)
            elif block.language == "console":
                yield from _console(block)


def _console(block: Block) -> Iterator[Outcome]:
    from graphmem.cli import main

    parts = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
    position = block.start + len(parts[0])
    for part in parts[1:]:
        line, _, shown = part.partition("\n")
        words = shlex.split(line, comments=True)
        start = position + len("$ ") + len(line) + 1
        position += len("$ ") + len(part)
        if words[0] == "graphmem":
            yield Outcome(line, shown, _printed(lambda arguments=words[1:]: main(arguments)), start, start + len(shown))


def _printed(action: object) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        action()  # type: ignore[operator]
    return out.getvalue()


@contextlib.contextmanager
def _standing_still() -> Iterator[None]:
    """Memories that are opened without a clock live at one instant; terminals are 100 columns wide and know no colour."""
    real, environment = opening.SystemClock, dict(os.environ)
    os.environ.update(COLUMNS="100", NO_COLOR="1", TERM="dumb")
    opening.SystemClock = lambda: FixedClock(NOW)  # type: ignore[assignment,misc]
    try:
        yield
    finally:
        opening.SystemClock = real  # type: ignore[misc]
        os.environ.clear()
        os.environ.update(environment)


def written(page: str) -> str:
    """The page with what its blocks print."""
    for outcome in sorted(run(page), key=lambda o: -o.start):
        if outcome.shown is not None:
            page = page[: outcome.start] + outcome.printed + page[outcome.end :]
    return page


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path(name)
        path.write_text(written(path.read_text("utf-8")), "utf-8")
