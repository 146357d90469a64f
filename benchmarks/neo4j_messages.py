"""Recording messages on a Neo4j server: what graphmem takes for each, and the same messages as a script for a peer.

The messages are those of the embedded engine's benchmark: somebody met somebody known and somebody new.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import count, islice
from typing import Any, NamedTuple

import graphmem
from benchmarks.engine import says, text
from benchmarks.graphs import EMBEDDER, START, Graph, name
from benchmarks.measure import process_seconds
from graphmem.llm.base import Ask
from graphmem.statements import Statement
from graphmem.stores.neo4j import Neo4jStore
from graphmem.testing import FixedClock, ScriptedModel

MESSAGES = 60
WARM = 200  # the server compiles its plans, and Java compiles the server
ROUNDS = 12  # at most, until a round takes no less than the one before: Java goes on compiling for a while
STEADY = 0.97


class On(NamedTuple):
    """A server, and its process if it is one of this machine."""

    uri: str
    auth: tuple[str, str]
    pid: int | None


class Cost(NamedTuple):
    """One message: its statements, CPU seconds of the client and of both, seconds that passed."""

    statements: int
    client: float
    both: float
    passed: float


def messages(graph: Graph, first: int = 0) -> Iterator[tuple[str, str, datetime]]:
    """Who says what, and when, without end. Others of `first` tell of other new people, and later."""
    begun = START + timedelta(days=2000, minutes=graph.facts)
    for number in count(first):
        yield name(number * 331 % graph.entities), text(number + graph.entities, graph), begun + timedelta(seconds=number + 1)


def own_costs(graph: Graph, on: On) -> list[list[Cost]]:
    """Messages written into the graph as it is, in rounds, until they cost no less any more; those that warm up first are left out."""
    model = ScriptedModel({"extract": says, "resolve": {"matches": []}, "judge": {"judgements": []}})
    clock = FixedClock(START + timedelta(days=2000, minutes=graph.facts))
    rounds: list[list[Cost]] = []
    with graphmem.open(on.uri, auth=on.auth, model=model, embedder=EMBEDDER, clock=clock) as memory:
        store = memory._scope.store
        assert isinstance(store, Neo4jStore)

        def written(actor: str, said: str, at: datetime) -> Cost:
            clock.advance(seconds=1)
            return _cost(store, on, lambda: memory.add_message(actor, said, reference_time=at))

        told = messages(graph)
        for message in islice(told, WARM):
            written(*message)
        while len(rounds) < 2 or (len(rounds) < ROUNDS and _both(rounds[-1]) < STEADY * _both(rounds[-2])):
            rounds.append([written(*message) for message in islice(told, MESSAGES)])
    return rounds


def _both(costs: Sequence[Cost]) -> float:
    return sum(c.both for c in costs)


def _cost(store: Neo4jStore, on: On, write: Callable[[], object]) -> Cost:
    statements: list[Statement] = []
    client, there, began = time.process_time(), process_seconds(on.pid), time.perf_counter()
    with store.trace(statements.append):
        write()
    client = time.process_time() - client
    return Cost(len(statements), client, client + process_seconds(on.pid) - there, time.perf_counter() - began)


def peer_script(graph: Graph) -> list[dict[str, Any]]:
    """Messages about people who are new once more, with what is to be found in each: names, and facts between them."""
    later = islice(messages(graph, WARM + ROUNDS * MESSAGES), WARM + MESSAGES)
    return [{"actor": actor, "text": said, "at": at.isoformat(), **_found(actor, said)} for actor, said, at in later]


def _found(actor: str, said: str) -> dict[str, Any]:
    told: Any = says(Ask("extract", 1, {"actor": actor, "text": said}))
    names = [entity["name"] for entity in told["entities"]]
    facts = [{**fact, "source": names[fact["source"]], "target": names[fact["target"]]} for fact in told["facts"]]
    return {"entities": told["entities"], "facts": facts}
