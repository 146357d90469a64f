"""Random walks through the public methods on a server: what the oracle says, and what dictionaries come to."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from neo4j_servers import Place

from graphmem.testing import FixedClock

sys.path.append(str(Path(__file__).parents[1] / "history"))
from walker import opened, walked

START = "2026-01-01T00:00:00Z"


@pytest.mark.neo4j("2026.08")
@pytest.mark.parametrize(
    ("seeds", "length"),
    [
        pytest.param(range(8), 25, id="200 steps"),
        pytest.param(range(100, 150), 40, id="2,000 steps", marks=pytest.mark.slow),
    ],
)
def test_a_server_under_random_use_comes_to_what_dictionaries_do(seeds: range, length: int, emptied: Place) -> None:
    """Every step is checked against the oracle, and at the end both hashes."""
    clock = FixedClock(START)
    with opened(emptied.uri, clock, auth=emptied.auth) as server:
        for seed in seeds:
            clock.set(FixedClock(START).now())
            there = walked(server, clock, seed, length)
            here = FixedClock(START)
            with opened(":memory:", here) as memory:
                walk = walked(memory, here, seed, length)
                assert (server.state_hash(group=there.group), server.history_hash(group=there.group)) == (
                    memory.state_hash(group=walk.group),
                    memory.history_hash(group=walk.group),
                )
        assert server.verify() == []
