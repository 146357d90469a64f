"""What importing costs: CPU of a process that imports graphmem, over one that does nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from statistics import median

from benchmarks.measure import Figure

PROGRAMS = {
    "import graphmem": "import graphmem",
    "everything public": "from graphmem import *",
    "the command's help": "import sys; from graphmem.cli import main; sys.exit(main(['--help']))",
}


def figures(repeats: int = 7) -> list[Figure]:
    """CPU seconds over a bare Python, medians."""
    bare = _seconds("pass", repeats)
    reaches = {"import graphmem": "<= 0.2"}
    found = [Figure("a bare Python", bare, "s")]
    return found + [
        Figure(f"{what}, over a bare Python", _seconds(p, repeats) - bare, "s", reaches.get(what)) for what, p in PROGRAMS.items()
    ]


def _seconds(program: str, repeats: int) -> float:
    """Median CPU seconds of a process that runs the program, the system's part included."""
    root = Path(__file__).resolve().parent.parent
    taken = []
    for _ in range(repeats + 1):
        before = os.times()
        subprocess.run([sys.executable, "-c", program], cwd=root, check=True, stdout=subprocess.DEVNULL)
        after = os.times()
        taken.append(after.children_user + after.children_system - before.children_user - before.children_system)
    return median(taken[1:])
