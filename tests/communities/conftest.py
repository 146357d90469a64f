"""Memories to find communities in: without a model, on a clock that the tests move."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from circles import START

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.memory import Memory
from graphmem.testing import FixedClock, ScriptedModel


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(START)


@pytest.fixture(params=["memory", "sqlite"])
def mem(request: pytest.FixtureRequest, tmp_path: Path, clock: FixedClock) -> Iterator[Memory]:
    """An empty memory on a store that needs no server; consistent at the end."""
    where = ":memory:" if request.param == "memory" else tmp_path / "memory.db"
    with graphmem.open(where, model=ScriptedModel({}), embedder=HashingEmbedder(), clock=clock) as opened:
        yield opened
        assert opened.verify() == []
