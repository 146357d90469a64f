"""What the store on Neo4j costs: searching, and recording messages, in graphs of several sizes.

    python benchmarks/neo4j.py                                  all parts at 100, 1,000 and 20,000 entities
    python benchmarks/neo4j.py --parts search --sizes 2000
    python benchmarks/neo4j.py --peer /path/to/python           beside Graphiti, in an environment of its own
    python benchmarks/neo4j.py --sizes 2000 --uri bolt://… --password …     on a server of yours, whose database must be empty

Each size has a server of its own from Maven's jars, which takes the graph by `graphmem.copy`. Where a peer is named, it then does
the same on the same server and graph, with the same vectors: first the questions of both, in turn, then the messages of both.

Times that pass are those of one client, the median of some questions or messages; vectors of questions are at hand, and each was
asked before. CPU seconds are those of the client and of the server together, so that other work on the machine counts little.
What graphmem's scripted model and its embedder take counts as its own; the peer's is left out. What is promised is a ratio
within one run.
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
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import mean, median
from typing import IO, Any, cast

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parent.parent)  # the folder of this file would hide the driver, which has its name

import graphmem
from benchmarks.graphs import GROUP, Graph, name
from benchmarks.measure import Figure, process_seconds, table
from benchmarks.neo4j_messages import MESSAGES, WARM, Cost, On, own_costs, peer_script
from benchmarks.search_speed import FILTERS, NOW, Remembered, questions
from graphmem.stores.neo4j import Neo4jStore
from graphmem.testing import FixedClock, ScriptedModel
from graphmem.testing.neo4j import NEWEST, RELEASES, server

PEER = Path(__file__).resolve().parent / "neo4j_peer.py"
SIZES = (100, 1_000, 20_000)
PARTS = ("isolation", "search", "messages")
# All of the largest graph, so that no engine is measured by what its server reads from the disc.
SETTINGS = {"server.memory.pagecache.size": "2g"}
HEAP = "2g"
ASKED = 12
REPEATS = 5
WAYS: tuple[dict[str, Any], ...] = (
    {},
    {"kinds": ("fact", "entity", "episode", "community"), "depth": 6},
    {"history": True},
    {"limit": 100, "pagerank": True},
    *({"filters": filters} for filters in FILTERS.values()),
)
LONE = "a small group"
GROWTH = 1.3


class Bench:
    """A server with a graph of one size, and what is measured on it."""

    def __init__(self, on: On, graph: Graph, peer: str | None, release: str = NEWEST) -> None:
        self._on, self._graph, self._peer, self._release = on, graph, peer, release
        self._size = f"{graph.entities:,} entities, {graph.facts:,} facts"
        self._within = "<= 0.1" if graph.entities >= max(SIZES) else "<= 1"

    def run(self, parts: Sequence[str]) -> tuple[list[Figure], dict[str, float]]:
        """The figures, and those that are compared between sizes."""
        began = time.perf_counter()
        graphmem.copy(self._graph.path, self._on.uri, auth=self._on.auth, group=GROUP, progress=False)
        found = [Figure(f"copying the graph to the server, {self._size}", time.perf_counter() - began, "s")]
        if "isolation" in parts:
            found += self._isolation()
        compared: dict[str, float] = {}
        for part, measure in (("search", self._search), ("messages", self._messages)):
            if part in parts:
                figures, compared[part] = measure()
                found += figures
        return found, compared

    def _isolation(self) -> list[Figure]:
        """A search in a group of ten facts, on a server of its own and on the large one, turn by turn."""
        with server(self._release, heap=HEAP, settings=SETTINGS) as running, ExitStack() as stack:
            ends = On(running.uri, running.auth, running.process.pid), self._on
            memories = [stack.enter_context(_opened(on, LONE)) for on in ends]
            for memory in memories:
                for n in range(10):
                    memory.add_facts([{"source": name(n), "relation": "knows", "target": name(n + 1)}], reference_time="2024-01-01")
            asked = [[_searching(memory, f"Whom does {name(n)} know?") for n in range(ASKED)] for memory in memories]
            for _ in range(REPEATS):
                for actions in asked:
                    _timed(actions)  # until both servers have compiled what this takes
            rounds = [[_timed(actions) for actions in asked] for _ in range(REPEATS)]
        alone, beside = (min(taken) for taken in zip(*rounds, strict=True))
        return [
            Figure("a search in a group of ten facts, alone on a server", 1000 * alone, "ms"),
            Figure(f"beside {self._graph.facts:,} facts of another group, by alone", beside / alone, "x", "<= 2"),
        ]

    def _search(self) -> tuple[list[Figure], float]:
        asked = questions(self._graph)[:ASKED]
        with _opened(self._on) as memory:
            trips = [_trips(memory, question, **more) for more in WAYS for question in asked[:3]]
            asks: list[Round] = [partial(self._asked, memory, asked), partial(self._asked, memory, asked, kinds=("fact",))]
            with self._beside() as beside:
                if beside is not None:
                    asks += [partial(self._told, beside, asked, whole=True), partial(self._told, beside, asked, whole=False)]
                (all_three, facts, *others) = _in_turn(asks)
        found = [
            Figure(f"round trips of a search, at most, whatever is asked, {self._size}", max(trips), "", "<= 3"),
            *all_three.figures(f"a search for facts, entities and episodes, {self._size}"),
            *facts.figures(f"a search for facts alone, {self._size}"),
        ]
        if others:
            whole, plain = others
            found += [
                *plain.figures(f"Graphiti's plain search, which finds facts, {self._size}"),
                *whole.figures(f"Graphiti's search for facts, entities and episodes, {self._size}"),
                *facts.by(plain, f"a search for facts by Graphiti's, {self._size}", self._within),
                *all_three.by(whole, f"a search for all three by Graphiti's, {self._size}", self._within),
                *all_three.by(plain, f"a search for all three by Graphiti's plain one, {self._size}", None),
            ]
        return found, all_three.passed

    def _asked(self, memory: graphmem.Memory, asked: Sequence[str], **more: Any) -> Spent:
        there, client, passed = process_seconds(self._on.pid), time.process_time(), []
        for question in asked:
            passed.append(_seconds(_searching(memory, question, **more)))
        return Spent(passed, (time.process_time() - client + process_seconds(self._on.pid) - there) / len(asked))

    def _told(self, beside: Beside, asked: Sequence[str], *, whole: bool) -> Spent:
        there = process_seconds(self._on.pid)
        told = beside.ask({"questions": asked, "whole": whole})
        return Spent(told["passed"], (told["client"] + process_seconds(self._on.pid) - there) / len(asked))

    def _messages(self) -> tuple[list[Figure], float]:
        rounds = own_costs(self._graph, self._on)
        costs, warmest = rounds[0], mean(c.both for c in rounds[-1])
        passed, own = median(c.passed for c in costs), mean(c.both for c in costs)
        found = [
            Figure(f"statements of a message at most, {self._size}", max(c.statements for c in costs), "", "<= 6"),
            Figure(f"a message, time passed, {self._size}", 1000 * passed, "ms"),
            Figure(f"messages a second, one after another in one group, {self._size}", 1 / mean(c.passed for c in costs)),
            Figure(f"a message, CPU of client and server, {self._size}", 1000 * own, "ms"),
            Figure(f"of which the client, {self._size}", 1000 * mean(c.client for c in costs), "ms"),
            Figure(f"CPU of client and server {MESSAGES * (len(rounds) - 1)} messages later, {self._size}", 1000 * warmest, "ms"),
        ]
        if self._peer is not None:
            job = {"messages": peer_script(self._graph), "server": self._on.pid, "warm": WARM, "count": MESSAGES}
            with self._beside() as beside:
                others = [Cost(**row) for row in beside.ask(job)] if beside is not None else []
            other, theirs = median(c.passed for c in others), mean(c.both for c in others)
            found += [
                Figure(f"statements of a message by Graphiti, mean, {self._size}", mean(c.statements for c in others)),
                Figure(f"a message by Graphiti, time passed, {self._size}", 1000 * other, "ms"),
                Figure(f"a message by Graphiti, CPU of client and server, {self._size}", 1000 * theirs, "ms"),
                Figure(f"a message by Graphiti's, time passed, {self._size}", passed / other, "x", self._within),
                Figure(f"a message by Graphiti's, CPU, {self._size}", own / theirs, "x", self._within),
            ]
        return found, warmest

    @contextmanager
    def _beside(self) -> Iterator[Beside | None]:
        """The peer over the same nodes and relationships, if one is named."""
        if self._peer is None:
            yield None
            return
        with tempfile.TemporaryFile("w+") as failures:
            line = [str(self._peer), str(PEER)]
            with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=failures, text=True) as process:
                yield Beside(process, self._on, failures)


@dataclass(frozen=True)
class Spent:
    """Seconds that passed, by question; those that client and server computed, by question on average."""

    taken: Sequence[float]
    both: float

    @property
    def passed(self) -> float:
        """The median question."""
        return median(self.taken)

    def figures(self, name: str) -> list[Figure]:
        """Time passed, and CPU."""
        return [Figure(name, 1000 * self.passed, "ms"), Figure(f"{name}, CPU of client and server", 1000 * self.both, "ms")]

    def by(self, other: Spent, name: str, within: str | None) -> list[Figure]:
        """What it is of the other's."""
        return [Figure(name, self.passed / other.passed, "x", within), Figure(f"{name}, CPU", self.both / other.both, "x", within)]


Round = Callable[[], Spent]


class Beside:
    """The peer's process, which is asked line by line."""

    def __init__(self, process: subprocess.Popen[str], on: On, failures: IO[str]) -> None:
        self._process, self._on, self._failures = process, on, failures

    def ask(self, asked: dict[str, Any]) -> Any:
        """What it answers."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"uri": self._on.uri, "auth": self._on.auth, "group": GROUP, **asked}) + "\n")
        self._process.stdin.flush()
        if not (line := self._process.stdout.readline()):
            self._failures.seek(0)
            raise SystemExit(f"the peer failed:\n{self._failures.read()[-3000:]}")
        return json.loads(line)


def _in_turn(asks: Sequence[Round]) -> list[Spent]:
    """Of each the least of some rounds, question by question, after one that warms the server; they take turns."""
    for ask in asks:
        ask()
    rounds = [[ask() for ask in asks] for _ in range(REPEATS)]
    return [
        Spent([min(taken) for taken in zip(*(s.taken for s in spent), strict=True)], min(s.both for s in spent))
        for spent in zip(*rounds, strict=True)
    ]


def _opened(on: On, group: str = GROUP) -> graphmem.Memory:
    return graphmem.open(on.uri, auth=on.auth, group=group, model=ScriptedModel(), embedder=Remembered(), clock=FixedClock(NOW))


def _searching(memory: graphmem.Memory, question: str, **more: Any) -> Callable[[], object]:
    return lambda: memory.search(question, **more)


def _timed(actions: Sequence[Callable[[], object]]) -> float:
    """Median seconds of the actions, each done once before and then the fastest of some times."""
    for action in actions:
        action()
    return median(min(_seconds(action) for _ in range(REPEATS)) for action in actions)


def _seconds(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def _trips(memory: graphmem.Memory, question: str, **more: Any) -> int:
    """How many statements a search takes."""
    seen: list[Any] = []
    with cast(Neo4jStore, memory._scope.store).trace(seen.append):
        memory.search(question, **more)
    return len(seen)


@contextmanager
def served(uri: str | None, auth: tuple[str, str], release: str) -> Iterator[On]:
    """The server named, whose database must be empty, or one from Maven's jars."""
    if uri is None:
        with server(release, heap=HEAP, settings=SETTINGS) as running:
            yield On(running.uri, running.auth, running.process.pid)
        return
    from neo4j import GraphDatabase

    with GraphDatabase.driver(uri, auth=auth) as driver, driver.session() as session:
        if session.run("MATCH (n) WHERE NOT n:GraphmemStore RETURN count(n) AS n").single(strict=True)["n"]:
            raise SystemExit(f"the database at {uri} is not empty; name one that is")
    yield On(uri, auth, None)


def _growth(part: str, sizes: Sequence[int], taken: Sequence[float]) -> Figure:
    what = "a search, time passed" if part == "search" else "a message, CPU of client and server, once it costs no less any more"
    reach = f"<= {GROWTH}" if tuple(sizes) == SIZES[1:] and part == "messages" else None
    return Figure(f"{what}: {sizes[1]:,} entities by {sizes[0]:,}", taken[1] / taken[0], "x", reach)


def main(wanted: Sequence[str] | None = None) -> int:
    """Measure the parts; returns how many figures are out of reach."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="in entities, ascending")
    parser.add_argument("--uri")
    parser.add_argument("--user", default="neo4j")
    parser.add_argument("--password", default="")
    parser.add_argument("--release", choices=sorted(RELEASES), default=NEWEST)
    parser.add_argument("--peer", metavar="PYTHON", help="of an environment with graphiti-core")
    given = parser.parse_args(wanted)
    if given.uri is not None and len(given.sizes) > 1:
        parser.error("a server of yours takes one size: name it with --sizes")
    missed, taken = 0, dict[str, list[float]]()
    with tempfile.TemporaryDirectory() as folder:
        graph = Graph(Path(folder) / "graph.db")
        for entities in given.sizes:
            graph.grow(entities)
            with served(given.uri, (given.user, given.password), given.release) as on:
                figures, compared = Bench(on, graph, given.peer, given.release).run(given.parts)
            print(table(f"{entities:,} entities on Neo4j {given.uri or RELEASES[given.release].version}", figures), flush=True)
            missed += sum(f.reached is False for f in figures)
            for part, seconds in compared.items():
                taken.setdefault(part, []).append(seconds)
    if len(given.sizes) > 1:
        growth = [_growth(part, given.sizes[-2:], seconds[-2:]) for part, seconds in taken.items()]
        print(table("Growth", growth))
        missed += sum(f.reached is False for f in growth)
    return missed


if __name__ == "__main__":
    raise SystemExit(1 if main() else 0)
