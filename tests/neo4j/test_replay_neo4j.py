"""A log that is folded again on a server, and from a server: the same rows as in dictionaries, in a few journeys."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from neo4j_servers import Place

from graphmem.testing import FixedClock

sys.path.append(str(Path(__file__).parents[1] / "history"))
from walker import opened, rows, walked

START, LATER = "2026-01-01T00:00:00Z", "2030-01-01T00:00:00Z"


@pytest.mark.slow
@pytest.mark.neo4j("2026.08")
def test_a_server_takes_and_gives_a_log_row_for_row(emptied: Place) -> None:
    """Facts on both axes, citations, mentions, entities, words and vectors; there and back."""
    clock, seeds = FixedClock(START), range(4)
    with (
        opened(":memory:", clock) as memory,
        opened(emptied.uri, FixedClock(LATER), auth=emptied.auth) as server,
        opened(":memory:", FixedClock(LATER)) as back,
    ):
        for seed in seeds:
            walked(memory, clock, seed, 25)
        names = [f"walk {seed}" for seed in seeds]
        memory.replay(server, group=names)
        server.replay(back, group=names)
        assert server.verify() == []
        for name in names:
            assert rows(server, name) == rows(memory, name)
            assert rows(back, name) == rows(memory, name)
