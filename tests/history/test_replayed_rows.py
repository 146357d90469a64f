"""A replay gives row for row what it replays, though it reads and writes many entries at once; stopped, it says so and goes on."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from walker import opened, rows, walked

import graphmem
from graphmem.errors import InvalidInput, UnfinishedCopy
from graphmem.ingest import replaying
from graphmem.stores.histories import FactHistory
from graphmem.testing import FixedClock

REPLAYER = Path(__file__).with_name("replayer.py")
WALKS = range(300, 308)
START, LATER = "2026-01-01T00:00:00Z", "2030-01-01T00:00:00Z"


def groups(seeds: range) -> list[str]:
    """Those of the walks."""
    return [f"walk {seed}" for seed in seeds]


def grown(where: Path | str, seeds: range, length: int, clock: FixedClock) -> graphmem.Memory:
    """Random walks: adds in any order, corrections, merges, forgets, erasures and what takes them back."""
    memory = opened(str(where), clock)
    for seed in seeds:
        walked(memory, clock, seed, length)
    return memory


@pytest.fixture(scope="module")
def walks() -> Iterator[graphmem.Memory]:
    """Eight walks that only tests of this file read."""
    with grown(":memory:", WALKS, 25, FixedClock(START)) as memory:
        yield memory


@pytest.mark.parametrize(("kind", "batch"), [("memory", 500), ("file", 3), ("file", 500)])
def test_every_row_is_as_it_was(kind: str, batch: int, walks: graphmem.Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Facts on both axes, citations, mentions, entities, words and vectors, however many entries are folded together."""
    monkeypatch.setattr(replaying, "BATCH", batch)
    with opened(":memory:" if kind == "memory" else str(tmp_path / "b.db"), FixedClock(LATER)) as other:
        walks.replay(other, group=groups(WALKS))
        assert other.verify() == []
        for group in groups(WALKS):
            assert rows(other, group) == rows(walks, group)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(4000, 4400, 20))
def test_every_row_of_long_walks_is_as_it_was(first: int, tmp_path: Path) -> None:
    """20,000 steps, from a file into a file."""
    with grown(tmp_path / "a.db", range(first, first + 20), 50, FixedClock(START)) as memory:
        names = groups(range(first, first + 20))
        with opened(str(tmp_path / "b.db"), FixedClock(LATER)) as other:
            memory.replay(other, group=names)
            for group in names:
                assert rows(other, group) == rows(memory, group)


def test_a_sentence_that_is_dated_twice_at_once_keeps_its_vector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a fact that was there before, by two episodes that are folded together."""
    monkeypatch.setattr(replaying, "BATCH", 2)
    with opened(":memory:", FixedClock(START)) as memory, opened(str(tmp_path / "b.db"), FixedClock(LATER)) as other:
        for place, since in (("Acme", "2020"), ("Globex", "2024"), ("Initech", "2022")):
            memory.add_facts([{"source": "Mira", "relation": "works_at", "target": place, "valid_at": since}])
        memory.replay(other)
        assert [len(row.versions) for row in rows(other, "main") if isinstance(row, FactHistory)].count(3) == 1
        assert rows(other, "main") == rows(memory, "main")


@pytest.fixture
def told(tmp_path: Path) -> Iterator[graphmem.Memory]:
    """A file of forty episodes about six people and two operations."""
    with opened(str(tmp_path / "a.db"), clock := FixedClock(START)) as memory:
        for n in range(40):
            clock.advance(days=1)
            memory.add_facts([{"source": f"P{n % 6}", "relation": "knows", "target": f"P{(n + 1 + n // 6) % 7}"}])
            if n in (9, 25):
                memory.forget(episode=memory.episodes()[n // 2])
        yield memory


def test_a_replay_that_is_stopped_says_so_and_goes_on(told: graphmem.Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its target is taken for whole by nobody before it is; another memory's log does not go on in it."""
    monkeypatch.setattr(replaying, "BATCH", 8)
    into = tmp_path / "b.db"

    def stop(done: int, _: int | None) -> None:
        if done >= 16:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        told.replay(into, progress=stop)
    with pytest.raises(UnfinishedCopy, match=r"the beginning of a replay of .*a\.db.* `graphmem replay` again goes on"):
        opened(str(into), FixedClock(LATER))
    with opened(":memory:", FixedClock(LATER)) as other:
        other.add_facts([{"source": "A", "relation": "knows", "target": "B"}])
        with pytest.raises(InvalidInput, match="holds something else at position"):
            other.replay(into)
    assert told.replay(into).entries == 43
    with opened(str(into), FixedClock(LATER)) as again:
        assert rows(again, "main") == rows(told, "main")
        assert again.verify() == []
    with pytest.raises(InvalidInput, match="holds something of this group already"):
        told.replay(into)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_a_replay_that_is_killed_goes_on_to_the_same_end(seed: int, told: graphmem.Memory, tmp_path: Path) -> None:
    """Kill -9 at random points, again and again."""
    random, into = Random(seed), tmp_path / "b.db"
    for _ in range(6):
        process = subprocess.Popen([sys.executable, str(REPLAYER), str(tmp_path / "a.db"), str(into)], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        for _ in range(random.randrange(12)):
            process.stdout.readline()
        time.sleep(random.random() * 0.02)
        process.kill()
        process.communicate(timeout=60)
        try:
            with opened(str(into), FixedClock(LATER)) as other:
                if other.stats()["log"]:
                    break
        except UnfinishedCopy:
            continue
    else:
        told.replay(into)
    with opened(str(into), FixedClock(LATER)) as other:
        assert rows(other, "main") == rows(told, "main")
        assert other.verify() == []
