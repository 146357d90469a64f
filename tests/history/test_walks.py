"""Random walks through the public methods: what is believed is what the oracle says, at every point of both axes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from walker import opened, walked

from graphmem.testing import FixedClock
from graphmem.testing.walks import Walk

WALKER = Path(__file__).with_name("walker.py")
START = "2026-01-01T00:00:00Z"


def walk_all(where: str, seeds: range, length: int) -> list[Walk]:
    """Walks side by side in one file, each in its group; afterwards the file is sound."""
    clock = FixedClock(START)
    with opened(where, clock) as memory:
        walks = [walked(memory, clock, seed, length) for seed in seeds]
        assert memory.verify() == []
    return walks


def test_a_file_under_random_use_is_what_the_oracle_says(tmp_path: Path) -> None:
    """2,000 steps of eighty walks; most calls do something."""
    walks = walk_all(str(tmp_path / "walks.db"), range(80), 25)
    assert sum(w.steps for w in walks) == 2000
    assert sum(w.refused for w in walks) < 0.3 * 2000


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 3000, 50))
def test_files_under_long_random_use_are_what_the_oracle_says(first: int, tmp_path: Path) -> None:
    """100,000 steps of two thousand walks."""
    walk_all(str(tmp_path / "walks.db"), range(first, first + 50), 50)


@pytest.mark.parametrize("seed", range(4))
def test_dictionaries_and_a_file_come_to_the_same(seed: int, tmp_path: Path) -> None:
    """The same walk, told to both."""
    hashes = set()
    for where in (":memory:", str(tmp_path / "walk.db")):
        clock = FixedClock(START)
        with opened(where, clock) as memory:
            walk = walked(memory, clock, seed, 30)
            hashes.add((memory.state_hash(group=walk.group), memory.history_hash(group=walk.group)))
    assert len(hashes) == 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_a_walk_that_is_killed_and_goes_on_is_what_the_oracle_says(seed: int, tmp_path: Path) -> None:
    """Kill -9 at random steps, five times over; every step that was told is kept whole or not at all."""
    where, rng = str(tmp_path / "walk.db"), Random(seed)
    for part in range(5):
        process = subprocess.Popen([sys.executable, str(WALKER), where, str(100 * seed + part), "1000"], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        for _ in range(rng.randint(1, 12)):
            assert process.stdout.readline()
        process.kill()
        process.communicate()
        clock = FixedClock(START)
        with opened(where, clock) as memory:
            assert memory.verify() == []
            Walk(memory, clock, rng).check(6)
