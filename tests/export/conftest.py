"""Memories to take elsewhere: a small one with both axes at work, and one whose names are hostile."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hostile import HOSTILE

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.memory import Memory
from graphmem.testing import FixedClock, ScriptedModel


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock("2024-01-01T09:00Z")


@pytest.fixture
def memory(clock: FixedClock) -> Iterator[Memory]:
    """Mira moves twice, learnt late; an episode is forgotten and a value ends."""
    mem = graphmem.open(model=ScriptedModel({}), embedder=HashingEmbedder(), clock=clock)
    told = [
        ("2024-01-01T09:00Z", {"source": "Mira", "relation": "lives_in", "target": "Porto", "valid_at": "2022"}),
        ("2024-01-02T09:00Z", {"source": "Mira", "relation": "works_at", "target": "Acme", "valid_at": "2021-05", "invalid_at": "2023-02"}),
        ("2024-02-01T09:00Z", {"source": "Mira", "relation": "lives_in", "target": "Lisbon", "valid_at": "2023-07-14"}),
        ("2024-03-01T09:00Z", {"source": "Ivo", "relation": "knows", "target": "Mira"}),
        ("2024-03-02T09:00Z", {"source": "Ivo", "relation": "works_at", "target": "Acme", "valid_at": "2023-12"}),
        ("2024-04-01T09:00Z", {"source": "Mira", "relation": "lives_in", "target": "Braga", "valid_at": "2024-03-20"}),
    ]
    results = []
    for when, row in told:
        clock.set(datetime.fromisoformat(when))
        results.append(mem.add_facts([row], reference_time=when))
    clock.set(datetime(2024, 5, 1, 9, tzinfo=UTC))
    mem.forget(episode=results[4])
    clock.set(datetime(2024, 6, 1, 9, tzinfo=UTC))
    yield mem
    mem.close()


@pytest.fixture
def hostile(clock: FixedClock) -> Iterator[Memory]:
    """Every hostile name as an entity, in facts and in texts."""
    mem = graphmem.open(model=ScriptedModel({}), embedder=HashingEmbedder(), clock=clock)
    rows = [
        {"source": name, "relation": "knows", "target": "Mira", "text": f"{name} knows Mira", "attributes": {"note": name}}
        for name in HOSTILE
    ]
    mem.add_facts([*rows, {"source": "Mira", "relation": "wrote", "target": "a book", "text": "t" * 5_000}])
    yield mem
    mem.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where exports go, with nothing else in it."""
    made = tmp_path / "out"
    made.mkdir()
    return made
