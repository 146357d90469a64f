"""What recording one message costs on a Neo4j server, at graphs of two sizes: statements, and CPU time of both processes.

    python benchmarks/neo4j_episodes.py [--sizes 1000 20000] [--release 2026.08]

A server is started for each size from Maven's jars. The messages are those of the embedded engine's benchmark: somebody met somebody
known and somebody new. CPU seconds are those of this process and of the server together, so that other work counts little.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from statistics import mean, median
from typing import NamedTuple

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import graphmem
from benchmarks.engine import says, text
from benchmarks.graphs import EMBEDDER, GROUP, START, Graph, name
from benchmarks.measure import Figure, table
from graphmem.stores.neo4j import Neo4jStore
from graphmem.testing import FixedClock, ScriptedModel
from graphmem.testing.neo4j import NEWEST, RELEASES, Server, server

SIZES = (1_000, 20_000)
MESSAGES = 60
WARM = 200  # the server compiles its plans, and Java compiles the server
GROWTH = 1.3


class Cost(NamedTuple):
    """One message: statements by name, CPU seconds of the client and of both, seconds that passed."""

    statements: Counter[str]
    client: float
    both: float
    passed: float


def measured(graph: Graph, running: Server) -> list[Cost]:
    """Messages written into the graph as it is; those that warm up are left out."""
    model = ScriptedModel({"extract": says, "resolve": {"matches": []}, "judge": {"judgements": []}})
    clock = FixedClock(START + timedelta(days=2000, minutes=graph.facts))
    costs: list[Cost] = []
    with graphmem.open(running.uri, auth=running.auth, model=model, embedder=EMBEDDER, clock=clock) as memory:
        store = memory._scope.store
        assert isinstance(store, Neo4jStore)
        for number in range(-WARM, MESSAGES):
            clock.advance(seconds=1)
            actor = name((number + WARM) * 331 % graph.entities)
            said = text(number + graph.entities, graph)
            costs.append(_cost(store, running, lambda: memory.add_message(actor, said, reference_time=clock.now())))  # noqa: B023
    return costs[WARM:]


def _cost(store: Neo4jStore, running: Server, write: Callable[[], object]) -> Cost:
    statements: Counter[str] = Counter()
    client, both, began = time.process_time(), server_seconds(running), time.perf_counter()
    with store.trace(lambda statement: statements.update([statement.name])):
        write()
    client = time.process_time() - client
    return Cost(statements, client, client + server_seconds(running) - both, time.perf_counter() - began)


def server_seconds(running: Server) -> float:
    """CPU seconds that the server's process has taken, in steps of a hundredth."""
    fields = Path(f"/proc/{running.process.pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def figures(sizes: Sequence[int], release: str) -> list[Figure]:
    """Figures at every size, and how much the largest costs by the smallest."""
    found: list[Figure] = []
    means: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        graph = Graph(Path(folder) / "graph.db")
        for entities in sizes:
            graph.grow(entities)
            with server(release, heap="1500m") as running:
                graphmem.copy(graph.path, running.uri, auth=running.auth, group=GROUP, progress=False)
                costs = measured(graph, running)
            size = f"{entities:,} entities, {graph.facts:,} facts"
            means.append(mean(c.both for c in costs))
            found += [
                Figure(f"statements of a message at most, {size}", max(c.statements.total() for c in costs), "", "<= 6"),
                Figure(f"a message, CPU of client and server, {size}", 1000 * means[-1], "ms"),
                Figure(f"of which the client, {size}", 1000 * mean(c.client for c in costs), "ms"),
                Figure(f"a message, time passed, median, {size}", 1000 * median(c.passed for c in costs), "ms"),
            ]
    return [*found, Figure("growth of a message's CPU, largest by smallest graph", means[-1] / means[0], "x", f"<= {GROWTH}")]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--release", choices=sorted(RELEASES), default=NEWEST)
    given = parser.parse_args()
    print(table(f"Recording a message on Neo4j {RELEASES[given.release].version}", figures(given.sizes, given.release)))
