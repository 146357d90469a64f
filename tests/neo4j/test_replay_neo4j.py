"""A log that is folded again on a server, and from a server: the same rows as in dictionaries, in a few journeys."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from neo4j import GraphDatabase
from neo4j_servers import Place

from graphmem.errors import StoreCorrupt
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


CHANGES = (
    ("MATCH (n:GraphmemEpisode {seq: 2}) SET n.source = 'elsewhere'", 2),
    ("MATCH (n:GraphmemMention {seq: 3}) SET n.span_start = 1, n.span_end = 2", 3),
    ("MATCH (n:GraphmemAssertion {seq: 3}) SET n.attributes = '{\"a\":1}'", 3),
    ("MATCH (n:GraphmemOperation {seq: 4}) SET n.author = 'eve'", 4),
)


@pytest.mark.neo4j("2026.08")
def test_a_line_that_was_changed_on_a_server_is_refused(emptied: Place) -> None:
    """What is kept of an episode, of what was found in it and of an operation, also where nothing believed hangs on it: the first
    of those that were changed.
    """
    with (
        opened(emptied.uri, FixedClock(START), auth=emptied.auth) as server,
        opened(":memory:", FixedClock(LATER)) as other,
        GraphDatabase.driver(emptied.uri, auth=emptied.auth) as driver,
    ):
        for target in ("Acme", "Globex"):
            server.add_facts([{"source": "Mira", "relation": "works_at", "target": target}])
        server.forget(fact=server.facts()[0], author="ana")
        assert server.replay(other).entries == 4  # the ontology first
        assert server.verify() == []
        for change, line in reversed(CHANGES):
            assert driver.execute_query(change).summary.counters.properties_set
            with opened(":memory:", FixedClock(LATER)) as again, pytest.raises(StoreCorrupt, match=f"changed at line {line}: it is not"):
                server.replay(again)
        assert sorted((v.kind, v.detail[:6]) for v in server.verify()) == [("line", f"line {n}") for n in (2, 3, 4)]
