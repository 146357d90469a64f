"""How many items a listing gives at most, on every verb that lists."""

from __future__ import annotations

from collections.abc import Callable

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
