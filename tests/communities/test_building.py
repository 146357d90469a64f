"""Building beside other writers: found without the lock, brought up to date under it."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from circles import START, TRIANGLES, knows

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.memory import Memory
from graphmem.testing import FixedClock, ScriptedModel


def test_others_write_while_communities_are_found(mem: Memory, clock: FixedClock, tmp_path: Path) -> None:
    """An episode goes through at each step; who came with it has a place, who went with it is gone, and a replay says the same."""
    mem.add_facts(knows(*TRIANGLES))
    gone = mem.add_facts(knows(("Gus", "Ada"), ("Gus", "Ben")))
    clock.advance(hours=1)
    seen: list[tuple[int, int | None]] = []

    def meanwhile(done: int, total: int | None) -> None:
        seen.append((done, total))
        clock.advance(minutes=1)
        match done:
            case 1:
                mem.add_facts(knows(("Dan", "Xi"), ("Dan", "Yan"), ("Eve", "Fay")))
            case 2:
                mem.forget(episode=gone)

    mem.build_communities(progress=meanwhile)
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert [sorted(m.name for m in c.members) for c in mem.communities()] == [
        ["Dan", "Xi", "Yan", "Zoe"],
        ["Ada", "Ben", "Cleo"],
        ["Eve", "Fay"],
    ]
    assert mem.verify() == []
    mem.export(tmp_path / "log.jsonl")
    with graphmem.open(model=ScriptedModel({}), embedder=HashingEmbedder(), clock=clock) as again:
        again.load(tmp_path / "log.jsonl")
        assert again.history_hash() == mem.history_hash()


@pytest.mark.parametrize("communities", ["manual", "incremental"])
def test_a_second_process_writes_during_a_build(communities: str, tmp_path: Path) -> None:
    """The lock of the group is free while a layer is found: another handle's episode is committed before the layer is."""
    where, clock = tmp_path / "memory.db", FixedClock(START)

    def opened() -> Memory:
        return graphmem.open(where, model=ScriptedModel({}), embedder=HashingEmbedder(), clock=clock, communities=communities)

    with opened() as mem, opened() as other:
        mem.add_facts(knows(*TRIANGLES))
        written = threading.Event()

        def write() -> None:
            other.add_facts(knows(("Dan", "Ada")))
            written.set()

        def meanwhile(done: int, total: int | None) -> None:
            if done == 1:
                threading.Thread(target=write).start()
                assert written.wait(20)

        built = mem.build_communities(progress=meanwhile)
        assert other.facts("Dan")[0].created_at < built.created_at
        assert mem.community_of("Dan").id == mem.community_of("Ada").id
        assert mem.verify() == []


def test_two_builds_at_once_are_one_after_the_other(mem: Memory, clock: FixedClock) -> None:
    """The second finds nothing to change in what the first has written meanwhile."""
    mem.add_facts(knows(*TRIANGLES))

    def meanwhile(done: int, total: int | None) -> None:
        if done == 2:
            assert mem.build_communities().counts() == {"added": 2}

    assert mem.build_communities(progress=meanwhile).counts() == {}
    assert len(mem.communities()) == 2


def test_a_build_that_is_stopped_leaves_the_old_layer(mem: Memory) -> None:
    """Whatever the progress raises, before anything is written."""
    mem.add_facts(knows(*TRIANGLES))
    mem.build_communities()
    before = mem.history_hash()
    mem_log = mem.stats()["log"]

    def stop(done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mem.build_communities(progress=stop)
    assert (mem.history_hash(), mem.stats()["log"]) == (before, mem_log)
