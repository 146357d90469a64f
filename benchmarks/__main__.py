"""`python -m benchmarks`: every figure, printed, and written to docs/benchmarks.md and, as JSON, to build/benchmarks.json.

    python -m benchmarks                    all parts
    python -m benchmarks startup search     some of them; the others' figures are kept

Times are CPU seconds of the process, and what is promised is a ratio within one run, so that a busy or slow machine changes
little. Evidence recall has a program of its own, `benchmarks/recall.py`, since it needs public data sets.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.measure import Figure, table

ROOT = Path(__file__).resolve().parent.parent
PAGE, JSON = ROOT / "docs" / "benchmarks.md", ROOT / "build" / "benchmarks.json"
HEAD = """# Benchmarks

`make bench` measures these and writes this page.
Times are CPU seconds of one process; what has a limit is a ratio within one run, or a bound that every machine should keep.

"""


def startup(_: Path) -> list[Figure]:
    """Importing."""
    from benchmarks.startup import figures

    return figures()


def offline(_: Path) -> list[Figure]:
    """Ingesting text."""
    from benchmarks.offline import figures

    return figures()


def engine(folder: Path) -> list[Figure]:
    """Recording a message."""
    from benchmarks.engine import figures
    from benchmarks.graphs import Graph

    return figures(Graph(folder / "engine.db"))


def search(folder: Path) -> list[Figure]:
    """Searching a large memory."""
    from benchmarks.graphs import Graph
    from benchmarks.search_speed import figures

    graph = Graph(folder / "search.db")
    graph.grow(20_000)
    return figures(graph)


PARTS: dict[str, Callable[[Path], list[Figure]]] = {"startup": startup, "engine": engine, "search": search, "offline": offline}
TITLES = {
    "startup": "Importing",
    "engine": "Recording a message",
    "search": "Searching a large memory",
    "offline": "Ingesting text on this machine",
}


def main(wanted: Sequence[str]) -> int:
    """Measure the parts; returns how many figures are out of reach."""
    kept: dict[str, list[Figure]] = {}
    if JSON.exists():
        kept = {part: [Figure(**row) for row in rows] for part, rows in json.loads(JSON.read_text("utf-8")).items() if part in PARTS}
    for part in wanted or PARTS:
        with tempfile.TemporaryDirectory() as folder:
            kept[part] = PARTS[part](Path(folder))
            print(table(TITLES[part], kept[part]), flush=True)
        JSON.parent.mkdir(exist_ok=True)
        JSON.write_text(json.dumps({p: [asdict(f) for f in rows] for p, rows in kept.items()}, indent=1), "utf-8")
    sections = [table(TITLES[part], kept[part]) for part in PARTS if part in kept]
    machine = (
        f"Measured with Python {platform.python_version()} on {platform.system()} {platform.machine()}, {os.cpu_count()} processors.\n"
    )
    PAGE.write_text(HEAD + "\n".join(sections) + "\n" + machine, "utf-8")
    missed = [f.name for rows in kept.values() for f in rows if f.reached is False]
    if missed:
        print("out of reach:", *missed, sep="\n  ")
    return len(missed)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"only these: {', '.join(PARTS)}")
    raise SystemExit(1 if main(parser.parse_args().parts) else 0)
