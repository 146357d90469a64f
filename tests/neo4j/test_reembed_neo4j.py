"""Another embedder for a memory on a server: the same as if it had been written with it, and safe to stop."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.errors import EmbedderMismatch
from graphmem.ingest import reembed as engine
from graphmem.stores.base import Kind
from graphmem.stores.neo4j import Neo4jStore
from graphmem.testing import FixedClock, ScriptedModel

pytestmark = [pytest.mark.neo4j("2026.08", "5.26"), pytest.mark.slow]
WORKER = Path(__file__).parents[1] / "system" / "reembedder.py"
OLD, NEW = HashingEmbedder(64), HashingEmbedder(96)
ROUNDS = [pytest.param(range(1), id="1 round"), pytest.param(range(1, 31), id="30 rounds", marks=pytest.mark.slow)]
PEOPLE = ("Mira", "Bob", "Nela", "Tom")


def opened(place: Any, embedder: HashingEmbedder = OLD) -> graphmem.Memory:
    """The memory on the server, with this embedder."""
    clock = FixedClock("2026-01-15T12:00:00Z")
    return graphmem.open(place.uri, auth=place.auth, model=ScriptedModel({}), embedder=embedder, clock=clock)


def told(place: Any) -> None:
    """A memory of two groups, some of it ended and forgotten."""
    with opened(place) as memory:
        for group, count in (("main", 10), ("other", 2)):
            for n in range(count):
                row = {"source": PEOPLE[n % 4], "relation": "WORKS_AT", "target": f"Firm{n}", "valid_at": str(2000 + n)}
                memory.add_facts([row], key=str(n), group=group)
        memory.forget(episode=memory.episodes()[3].id)


def in_use(place: Any) -> dict[str, list[list[float]]]:
    """Every vector, by what it is of."""
    store, held = Neo4jStore.open(place.uri, place.auth), {}
    with store.read() as reader:
        for group in reader.groups():
            owners = reader.vector_owners(group, staged=False) + reader.vector_owners(group, staged=True)
            for kind in Kind:
                rows = reader.vectors(kind, [o for k, o in owners if k is kind])
                held |= {f"{kind} {owner}": found.round(3).tolist() for owner, found in rows.items()}
        assert reader.verify() == []
    store.close()
    return held


class Stopped(Exception):
    """Raised by a progress function, as Ctrl-C would be."""


def stop_at(count: int) -> Callable[[int, int | None], None]:
    """Stops once so many items are done."""

    def progress(done: int, total: int | None) -> None:
        if done >= count:
            raise Stopped

    return progress


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a small memory takes many of them."""
    monkeypatch.setattr(engine, "BATCH", 8)


def test_a_server_takes_another_embedder(emptied: Any) -> None:
    """Stopped half-way the old vectors serve; afterwards only the new ones do, and no belief has changed."""
    told(emptied)
    before = in_use(emptied)
    with opened(emptied) as memory:
        hashes = memory.state_hash(), memory.history_hash()
    with pytest.raises(Stopped):
        graphmem.reembed(emptied.uri, auth=emptied.auth, embedder=NEW, progress=stop_at(20))
    assert in_use(emptied) == before
    old = opened(emptied)
    done = graphmem.reembed(emptied.uri, auth=emptied.auth, embedder=NEW, progress=False)
    assert done.resumed > 0
    assert done.items == len(before)
    after = in_use(emptied)
    assert after.keys() == before.keys()
    assert {len(row) for rows in after.values() for row in rows} == {96}
    for attempt in (lambda: old.search("Firm3"), lambda: opened(emptied)):
        with pytest.raises(EmbedderMismatch, match="hashing/96"):
            attempt()
    old.close()
    with opened(emptied, NEW) as memory:
        assert (memory.state_hash(), memory.history_hash()) == hashes
        assert memory.search("Mira works at Firm8", kinds=["fact"], limit=1)[0].text
        assert memory.verify() == []


@pytest.mark.parametrize("rounds", ROUNDS)
def test_killed_at_any_point_the_old_or_the_new_vectors_serve(emptied: Any, rounds: range) -> None:
    """Kill -9, again and again: never a mixture, and it goes on."""
    for seed in rounds:
        random = Random(seed)
        store = Neo4jStore.open(emptied.uri, emptied.auth)
        with store._connection.session() as session:
            session.run("MATCH (n) WHERE NOT n:GraphmemStore AND NOT n:GraphmemTests DETACH DELETE n").consume()
        store.close()
        told(emptied)
        old = in_use(emptied)
        turned = {owner: [row[::-1] for row in rows] for owner, rows in old.items()}
        for _ in range(3):
            command = [sys.executable, str(WORKER), emptied.uri, "0.01", *emptied.auth]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            assert process.stdout is not None
            for _ in range(1 + random.randrange(14)):
                process.stdout.readline()
            time.sleep(random.random() * 0.1)
            process.kill()
            process.communicate(timeout=60)
            found = in_use(emptied)
            assert found in (old, turned)
            if found != old:
                break
        graphmem.reembed(emptied.uri, auth=emptied.auth, embedder=NEW, progress=False)
        assert {len(row) for rows in in_use(emptied).values() for row in rows} == {96}
