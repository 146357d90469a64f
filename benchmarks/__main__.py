"""`python -m benchmarks`: every figure, printed, and written to docs/benchmarks.md and, as JSON, to build/benchmarks.json.

    python -m benchmarks                    all parts
    python -m benchmarks startup search     some of them; of the others the page keeps what it has

Times are CPU seconds of the process, and what is promised is a ratio within one run, so that a busy or slow machine changes
little. Evidence recall has a program of its own, `benchmarks/recall.py`, since it needs public data sets.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks import communities, differences, duplicates, engine, exporting, history, offline, search_speed, startup
from benchmarks.graphs import Graph
from benchmarks.measure import Figure, table

ROOT = Path(__file__).resolve().parent.parent
PAGE, JSON = ROOT / "docs" / "benchmarks.md", ROOT / "build" / "benchmarks.json"
HEAD = """# Benchmarks

`make bench` measures these and writes this page.
Times are CPU seconds of one process; what has a limit is a ratio within one run, or a bound that every machine should keep.

"""
# After this line the page is written by hand.
MACHINE = "Measured with Python "


class Run:
    """One run: a folder, and the large graph in it, which is built once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._graph: Graph | None = None

    @property
    def graph(self) -> Graph:
        """The graph, as large as it has grown so far."""
        self._graph = self._graph or Graph(self._folder / "graph.db")
        return self._graph

    def startup(self) -> list[Figure]:
        """Importing."""
        return startup.figures()

    def engine(self) -> list[Figure]:
        """Recording a message."""
        return engine.figures(self.graph)

    def search(self) -> list[Figure]:
        """Searching a large memory."""
        self.graph.grow(engine.SIZES[-1])
        return search_speed.figures(self.graph)

    def communities(self) -> list[Figure]:
        """Communities of a large memory."""
        return communities.figures(self._folder)

    def duplicates(self) -> list[Figure]:
        """Proposing duplicates."""
        return duplicates.figures(self._folder)

    def offline(self) -> list[Figure]:
        """Ingesting text on this machine."""
        return offline.figures()

    def export(self) -> list[Figure]:
        """Taking a large memory elsewhere."""
        self.graph.grow(engine.SIZES[-1])
        return exporting.figures(self.graph)

    def history(self) -> list[Figure]:
        """Taking back what was told, telling what changed, and folding the log again."""
        self.graph.grow(engine.SIZES[-1])
        return [*history.figures(self.graph), *differences.figures(self._folder)]


PARTS = (Run.startup, Run.engine, Run.search, Run.communities, Run.offline, Run.export, Run.duplicates, Run.history)
NAMES = [part.__name__ for part in PARTS]


def main(wanted: Sequence[str]) -> int:
    """Measure the parts; returns how many figures are out of reach."""
    measured: dict[str, list[Figure]] = {}
    with tempfile.TemporaryDirectory() as folder:
        run = Run(Path(folder))
        for part in PARTS:
            if not wanted or part.__name__ in wanted:
                measured[part.__name__] = part(run)
                print(section(part, measured), flush=True)
                keep(measured)
    missed = [f.name for rows in measured.values() for f in rows if f.reached is False]
    if missed:
        print("out of reach:", *missed, sep="\n  ")
    return len(missed)


def keep(measured: Mapping[str, list[Figure]]) -> None:
    """Put what was measured on the page and beside it, and leave the rest of both as it is."""
    rows = json.loads(JSON.read_text("utf-8")) if JSON.exists() else {}
    JSON.parent.mkdir(exist_ok=True)
    JSON.write_text(json.dumps(rows | {p: [asdict(f) for f in found] for p, found in measured.items()}, indent=1), "utf-8")
    tables, _, by_hand = PAGE.read_text("utf-8").partition(MACHINE)
    before = {f"## {part}".partition("\n")[0]: f"## {part}".strip() + "\n" for part in tables.split("\n## ")[1:]}
    sections = [section(p, measured) if p.__name__ in measured else before.get(f"## {title(p)}", "") for p in PARTS]
    machine = f"{platform.python_version()} on {platform.system()} {platform.machine()}, {os.cpu_count()} processors."
    by_hand = by_hand.partition("\n")[2]
    PAGE.write_text(HEAD + "\n".join(s for s in sections if s) + f"\n{MACHINE}{machine}\n{by_hand}", "utf-8")


def title(part: Callable[[Run], list[Figure]]) -> str:
    """What a part is called on the page."""
    return str(part.__doc__).rstrip(".")


def section(part: Callable[[Run], list[Figure]], figures: Mapping[str, list[Figure]]) -> str:
    """A part's table under its title."""
    return table(title(part), figures[part.__name__])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"only these: {', '.join(NAMES)}")
    raise SystemExit(1 if main(parser.parse_args().parts) else 0)
