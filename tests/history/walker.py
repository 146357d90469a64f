"""A walk through the public methods of a memory in one file: `python walker.py FILE SEED STEPS`; it prints a line for each step."""

from __future__ import annotations

import sys
from random import Random

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.model import EpisodeRecord
from graphmem.stores.histories import entity_histories, episode_histories, fact_histories
from graphmem.testing import ONTOLOGY, FixedClock, ScriptedModel
from graphmem.testing.walks import Walk


def opened(where: str, clock: FixedClock, **how: object) -> graphmem.Memory:
    """A memory of the walks' relations, without a model."""
    parts = {"model": ScriptedModel({}), "embedder": HashingEmbedder(dimension=32), "ontology": ONTOLOGY, "clock": clock}
    return graphmem.open(where, **parts, **how)  # type: ignore[arg-type]


def walked(memory: graphmem.Memory, clock: FixedClock, seed: int, length: int) -> Walk:
    """A walk in a group of its own, checked after every step."""
    walk = Walk(memory, clock, Random(seed), f"walk {seed}")
    for _ in range(length):
        walk.step()
        walk.check(2)
    return walk


def rows(memory: graphmem.Memory, group: str) -> list[object]:
    """Everything that was ever kept of a group, with its indexed words and vectors."""
    with memory._scope.store.read() as reader:
        records = [e for e in reader.log(group) if isinstance(e, EpisodeRecord)]
        found: list[object] = list(reader.log(group))
        for part in (episode_histories(reader, group, records), entity_histories(reader, group, "", 9999)):  # type: ignore[arg-type]
            found += part
        return [*found, *fact_histories(reader, group, "", 9999), reader.community_history(group)]  # type: ignore[arg-type]


if __name__ == "__main__":
    clock = FixedClock("2026-01-01T00:00:00Z")
    with opened(sys.argv[1], clock) as memory:
        walk = Walk(memory, clock, Random(int(sys.argv[2])))
        for _ in range(int(sys.argv[3])):
            print(walk.step(), flush=True)
