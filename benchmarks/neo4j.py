"""What the store on Neo4j costs: round trips and times of a search, beside another engine on the same server and graph.

    python benchmarks/neo4j.py                                  all parts, on a server from Maven's jars
    python benchmarks/neo4j.py search growth --entities 2000
    python benchmarks/neo4j.py --uri bolt://… --password …      on a server of yours, whose database must be empty
    python benchmarks/neo4j.py search --peer /path/to/python    beside Graphiti, in an environment of its own

Times are wall times of one client, the median of some questions, each asked before so that the server has its plan; vectors of
questions are at hand. What is promised is a ratio within one run.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, cast

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parent.parent)  # the folder of this file would hide the driver, which has its name

import graphmem
from benchmarks.graphs import GROUP, Graph, name
from benchmarks.measure import Figure, table
from benchmarks.search_speed import NOW, Remembered, questions
from graphmem.stores.neo4j import Neo4jStore
from graphmem.testing import FixedClock, ScriptedModel
from graphmem.testing.neo4j import NEWEST, RELEASES, server

PEER = Path(__file__).resolve().parent / "neo4j_peer.py"
SMALL = 100
LARGE = 20_000
ASKED = 12
LONE = "a small group"


@dataclass
class Bench:
    """A server, and the graph that grows on it."""

    uri: str
    auth: tuple[str, str]
    file: Path
    entities: int
    peer: str | None
    graph: Graph = field(init=False)

    def __post_init__(self) -> None:
        self.graph = Graph(self.file)

    def opened(self, group: str = GROUP) -> graphmem.Memory:
        """The memory on the server."""
        return graphmem.open(self.uri, auth=self.auth, group=group, model=ScriptedModel(), embedder=Remembered(), clock=FixedClock(NOW))

    def grow(self, entities: int) -> None:
        """The graph on the server has so many entities."""
        if self.graph.entities < entities:
            self.graph.grow(entities)
            graphmem.copy(self.file, self.uri, auth=self.auth, group=GROUP, progress=False)

    # -- parts

    def search(self) -> list[Figure]:
        """Searching: round trips and time, in a small graph and in a large one."""
        found: list[Figure] = []
        taken: list[float] = []
        for entities in (SMALL, self.entities):
            self.grow(entities)
            size = f"{entities} entities, {self.graph.facts} facts"
            asked = questions(self.graph)[:ASKED]
            with self.opened() as memory:
                trips = [_trips(memory, question) for question in asked]
                taken.append(_timed([_searching(memory, q) for q in asked]))
            found += [
                Figure(f"round trips of a search, at most, {size}", max(trips), "", "<= 3"),
                Figure(f"a search, {size}", 1000 * taken[-1], "ms"),
            ]
            if self.peer is not None:
                other = self._beside(asked)
                reach = "<= 1" if entities == SMALL else "<= 0.1"
                found += [
                    Figure(f"the same questions by Graphiti, {size}", 1000 * other, "ms"),
                    Figure(f"a search by one of Graphiti's, {size}", taken[-1] / other, "x", reach),
                ]
        return found

    def growth(self) -> list[Figure]:
        """A search in the large graph by one at a twentieth of it."""
        sizes = (max(self.entities // 20, SMALL), self.entities)
        taken = []
        for entities in sizes:
            self.grow(entities)
            with self.opened() as memory:
                taken.append(_timed([_searching(memory, q) for q in questions(self.graph)[:ASKED]]))
        return [Figure(f"a search at {sizes[1]} entities by one at {sizes[0]}", taken[1] / taken[0], "x")]

    def isolation(self) -> list[Figure]:
        """A group of ten facts alone on the server, and beside the large graph."""
        with self.opened(LONE) as memory:
            for n in range(10):
                memory.add_facts([{"source": name(n), "relation": "knows", "target": name(n + 1)}], reference_time="2024-01-01")
            asked = [f"Whom does {name(n)} know?" for n in range(ASKED)]
            alone = _timed([_searching(memory, q) for q in asked])
        self.grow(self.entities)
        with self.opened(LONE) as memory:
            beside = _timed([_searching(memory, q) for q in asked])
        return [
            Figure("a search in a group of ten facts, alone", 1000 * alone, "ms"),
            Figure(f"beside {self.graph.facts} facts of another group, by alone", beside / alone, "x", "<= 2"),
        ]

    def _beside(self, asked: Sequence[str]) -> float:
        """Seconds that Graphiti takes for a question over the same nodes and relationships."""
        vectors = Remembered().embed(asked)
        job = {"uri": self.uri, "auth": self.auth, "group": GROUP, "questions": asked, "vectors": [v.tolist() for v in vectors]}
        done = subprocess.run([str(self.peer), str(PEER)], input=json.dumps(job), capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"the peer failed:\n{done.stderr[-3000:]}")
        return median(cast(list[float], json.loads(done.stdout.splitlines()[-1])))


# Isolation comes first: its group must be alone at the beginning.
PARTS: tuple[Callable[[Bench], list[Figure]], ...] = (Bench.isolation, Bench.search, Bench.growth)


def _searching(memory: graphmem.Memory, question: str) -> Callable[[], object]:
    return lambda: memory.search(question)


def _timed(actions: Sequence[Callable[[], object]], repeats: int = 5) -> float:
    """Median seconds of the actions, each done once before and then the fastest of some times."""
    for action in actions:
        action()
    return median(min(_seconds(action) for _ in range(repeats)) for action in actions)


def _seconds(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def _trips(memory: graphmem.Memory, question: str) -> int:
    """How many statements a search takes."""
    seen: list[Any] = []
    with cast(Neo4jStore, memory._scope.store).trace(seen.append):
        memory.search(question)
    return len(seen)


@contextmanager
def served(uri: str | None, auth: tuple[str, str], release: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """The server named, whose database must be empty, or one from Maven's jars."""
    with ExitStack() as stack:
        if uri is None:
            running = stack.enter_context(server(release, heap="2g"))
            yield running.uri, running.auth
            return
        from neo4j import GraphDatabase

        with GraphDatabase.driver(uri, auth=auth) as driver, driver.session() as session:
            if session.run("MATCH (n) WHERE NOT n:GraphmemStore RETURN count(n) AS n").single(strict=True)["n"]:
                raise SystemExit(f"the database at {uri} is not empty; name one that is")
        yield uri, auth


def main(wanted: Sequence[str] | None = None) -> int:
    """Measure the parts; returns how many figures are out of reach."""
    names = [part.__name__ for part in PARTS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"only these: {', '.join(names)}")
    parser.add_argument("--uri")
    parser.add_argument("--user", default="neo4j")
    parser.add_argument("--password", default="")
    parser.add_argument("--release", choices=sorted(RELEASES), default=NEWEST)
    parser.add_argument("--entities", type=int, default=LARGE)
    parser.add_argument("--peer", metavar="PYTHON", help="of an environment with graphiti-core")
    given = parser.parse_args(wanted)
    missed = 0
    with tempfile.TemporaryDirectory() as folder, served(given.uri, (given.user, given.password), given.release) as (uri, auth):
        bench = Bench(uri, auth, Path(folder) / "graph.db", given.entities, given.peer)
        for part in PARTS:
            if not given.parts or part.__name__ in given.parts:
                figures = part(bench)
                print(table(str(part.__doc__).rstrip("."), figures), flush=True)
                missed += sum(f.reached is False for f in figures)
    return missed


if __name__ == "__main__":
    raise SystemExit(1 if main() else 0)
