"""C36: one memory written and read by several threads at once."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from worker import episodes, newcomer, open_memory

import graphmem


@pytest.fixture(params=["local", "remote"])
def memory(request: pytest.FixtureRequest, store: str, tmp_path: Path) -> Iterator[graphmem.Memory]:
    """A memory on each kind of store, with a model that answers at once or one that has to be waited for."""
    where = ":memory:" if store == "memory" else str(tmp_path / "threads.db")
    with open_memory(where, local=request.param == "local") as memory:
        yield memory
        assert memory.verify() == []


def test_twenty_threads_that_name_one_new_person_make_one(memory: graphmem.Memory) -> None:
    """One entity, twenty episodes, all facts, no two at one system instant."""
    with ThreadPoolExecutor(20) as pool:
        results = list(pool.map(lambda row: memory.add_many([row])[0], newcomer("A", 20)))
    assert [r.created for r in results] == [True] * 20
    assert [e.name for e in memory.entities("NelaOrr")] == ["NelaOrr"]
    assert len(memory.entity("NelaOrr").episodes()) == 20
    assert len({r.created_at for r in results}) == 20
    assert len(memory.facts("NelaOrr", history=True)) == 20


def test_the_same_episode_from_many_threads_is_one(memory: graphmem.Memory) -> None:
    """One of them records it, the others change nothing."""
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda row: memory.add_many([row])[0], newcomer("A", 1) * 16))
    assert sum(r.created for r in results) == 1
    assert len({r.id for r in results}) == 1
    assert memory.counts()["episodes"] == 1


def test_readers_beside_writers_see_whole_episodes(memory: graphmem.Memory) -> None:
    """Each search and count is of one snapshot; the end is that of one writer alone."""

    def read(_: int) -> bool:
        counts = memory.counts()
        hits = memory.search("works at AFirm3", limit=5)
        return counts["mentions"] >= 2 * counts["episodes"] and len(hits) <= 5

    with ThreadPoolExecutor(4) as pool:
        reads = pool.map(read, range(20))
        for row in episodes("A", 20):
            memory.add_many([row])
        assert all(reads)
    with open_memory(":memory:") as alone:
        alone.add_many(episodes("A", 20))
        assert memory.state_hash() == alone.state_hash()
