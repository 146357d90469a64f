"""Random walks through the public methods: what is believed is what the oracle says, at every point of both axes."""

from __future__ import annotations

from pathlib import Path
from random import Random

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.testing import ONTOLOGY, FixedClock, ScriptedModel
from graphmem.testing.walks import Walk

LENGTH = 40


def opened(where: str, clock: FixedClock) -> graphmem.Memory:
    return graphmem.open(where, model=ScriptedModel({}), embedder=HashingEmbedder(dimension=32), ontology=ONTOLOGY, clock=clock)


def walked(memory: graphmem.Memory, clock: FixedClock, seed: int, length: int = LENGTH) -> Walk:
    """A walk in a group of its own, checked after every step."""
    walk = Walk(memory, clock, Random(seed), f"walk {seed}")
    for _ in range(length):
        walk.step()
        walk.check(2)
    return walk


def test_a_file_under_random_use_is_what_the_oracle_says(tmp_path: Path) -> None:
    """2,000 steps of fifty walks."""
    clock = FixedClock("2026-01-01T00:00:00Z")
    with opened(str(tmp_path / "walks.db"), clock) as memory:
        walks = [walked(memory, clock, seed) for seed in range(50)]
        assert memory.verify() == []
    assert sum(w.refused for w in walks) < 0.5 * sum(w.steps for w in walks)
