"""How many items a listing gives at most, on every verb that lists."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import graphmem
from graphmem import Memory
from graphmem.embed.hashing import HashingEmbedder
from graphmem.errors import InvalidInput
from graphmem.testing import FixedClock, ScriptedModel

LISTINGS: dict[str, Callable[[Memory, object], object]] = {
    "facts": lambda mem, limit: mem.facts(limit=limit),
    "timeline": lambda mem, limit: mem.timeline(limit=limit),
    "entities": lambda mem, limit: mem.entities(limit=limit),
    "neighbours": lambda mem, limit: mem.neighbours("Ada", limit=limit),
    "episodes": lambda mem, limit: mem.episodes(limit=limit),
    "communities": lambda mem, limit: mem.communities(limit=limit),
    "operations": lambda mem, limit: mem.operations(limit=limit, episodes=True),
}


@pytest.fixture
def mem() -> Memory:
    found = graphmem.open(model=ScriptedModel({}), embedder=HashingEmbedder(), clock=FixedClock("2024-01-01T09:00Z"))
    found.add_facts([{"source": "Ada", "relation": "knows", "target": other} for other in ("Ben", "Cleo")])
    found.build_communities()
    return found


@pytest.mark.parametrize("verb", LISTINGS)
def test_a_limit_that_is_no_count_is_refused(mem: Memory, verb: str) -> None:
    """None is all and 0 nothing; less than nothing does not quietly leave the last ones out."""
    for wrong in (-1, "two", True):
        with pytest.raises(InvalidInput, match=r"limit=.*must be an integer of 0 or more"):
            LISTINGS[verb](mem, wrong)
    assert LISTINGS[verb](mem, None) == LISTINGS[verb](mem, 100)
    assert not LISTINGS[verb](mem, 0)


@pytest.mark.parametrize("verb", LISTINGS)
def test_a_limit_beyond_what_can_be_counted_is_all(mem: Memory, verb: str) -> None:
    """No store is asked to count to a number that it has no room for."""
    assert LISTINGS[verb](mem, 10**30) == LISTINGS[verb](mem, None)


@pytest.mark.parametrize("file", [":memory:", "m.db"])
def test_a_bound_beyond_what_can_be_counted_is_none_in_any_store(file: str, tmp_path: Path) -> None:
    """SQLite counts to 2**63; and nobody goes on where there is nothing further away."""
    where = file if file == ":memory:" else tmp_path / file
    with graphmem.open(where, model=ScriptedModel({}), embedder=HashingEmbedder()) as mem:
        mem.add_facts([{"source": "Ada", "relation": "knows", "target": other} for other in ("Ben", "Cleo")])
        mem.build_communities()
        for listing in LISTINGS.values():
            assert listing(mem, 10**30) == listing(mem, None)
        assert len(mem.search("Ada", limit=10**30, depth=10**30)) == len(mem.search("Ada", limit=100, depth=5))
        assert str(mem.context("Ada", limit=10**30, max_tokens=10**30)) == str(mem.context("Ada", limit=100, max_tokens=5000))
        assert len(mem.neighbours("Ada", hops=10**30)) == 2
        assert mem.to_networkx(entity="Ada", hops=10**30).number_of_nodes() == 3
