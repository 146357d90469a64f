"""A process that exports the same target again and again until it is killed: `python exporter.py MEMORY TARGET FORMAT`.

It prints a line before each export.
"""

from __future__ import annotations

import sys
from pathlib import Path

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.testing import FixedClock, ScriptedModel

NOW = "2026-01-15T12:00:00Z"


def opened(where: Path) -> graphmem.Memory:
    """The memory, on a clock that stands still: an export of it is the same every time."""
    return graphmem.open(where, model=ScriptedModel({}), embedder=HashingEmbedder(32), clock=FixedClock(NOW))


def main(memory: str, target: str, kind: str) -> None:
    """Export until killed."""
    with opened(Path(memory)) as source:
        while True:
            print("next", flush=True)
            source.export(target, format=kind, overwrite=True, progress=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
