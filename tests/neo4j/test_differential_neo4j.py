"""The same random writes to the dictionary store and to Neo4j give the same reads, at every instant on both axes."""

from __future__ import annotations

import importlib.util
from itertools import cycle, islice
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from graphmem.model import AsOf
from graphmem.stores.base import Found, Kind
from graphmem.stores.memory import MemoryStore
from graphmem.stores.neo4j import Neo4jStore

pytestmark = pytest.mark.neo4j("2026.08", "5.26")


def _shared() -> ModuleType:
    """The steps that the embedded stores are compared by."""
    spec = importlib.util.spec_from_file_location("differential", Path(__file__).parents[1] / "stores" / "test_differential.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


steps_of = _shared()


def rounded(seen: object) -> object:
    """Scores to nine digits: sums are added up in another order."""
    if isinstance(seen, Found):
        return (seen.id, round(seen.score, 9), seen.piece)
    return [rounded(s) for s in seen] if isinstance(seen, list) else seen


def compare(opened: Neo4jStore, steps: list[tuple[int, int, int, int, int]], kinds: int) -> None:
    """Searches for so many kinds after every write, for each in turn; everything at the end."""
    with opened._connection.session() as session:
        session.run("MATCH (n) WHERE NOT n:GraphmemStore AND NOT n:GraphmemTests DETACH DELETE n").consume()
    memory = MemoryStore()
    for n, step in enumerate(steps, 1):
        steps_of.apply(memory, n, step)
        steps_of.apply(opened, n, step)
        with memory.read() as expected, opened.read() as found:
            for kind in islice(cycle(Kind), n, n + kinds):
                searched = [rounded(r.text_search(kind, ["red", "x"], steps_of.GROUPS, AsOf(), 5)) for r in (expected, found)]
                assert searched[0] == searched[1]
    with memory.read() as expected, opened.read() as found:
        said = [rounded(r) for r in steps_of.everything(expected, len(steps))]
        assert [rounded(r) for r in steps_of.everything(found, len(steps))] == said
        assert [v for v in found.verify() if v.kind not in ("citation", "key")] == []


STEPS = st.lists(st.tuples(*[st.integers(0, 23)] * 5), min_size=25, max_size=25)
in_turns = settings(deadline=None, suppress_health_check=[*HealthCheck])


@settings(in_turns, max_examples=8, phases=(Phase.generate,))
@given(steps=STEPS)
def test_both_stores_say_the_same(opened: Neo4jStore, steps: list[tuple[int, int, int, int, int]]) -> None:
    """200 steps."""
    compare(opened, steps, 1)


@pytest.mark.slow
@settings(in_turns, max_examples=80)
@given(steps=STEPS)
def test_both_stores_say_the_same_for_long(opened: Neo4jStore, steps: list[tuple[int, int, int, int, int]]) -> None:
    """2,000 steps."""
    compare(opened, steps, len(Kind))
