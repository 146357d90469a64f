"""Expansion over facts equals a plain breadth-first search."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphmem.model import AsOf
from graphmem.search.expand import episodes_of, expand, page_rank

if TYPE_CHECKING:
    from tests.search.conftest import World

NOW = datetime(2024, 7, 1, tzinfo=UTC)
EDGES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda e: e[0] != e[1]), max_size=20)


def _oracle(edges: list[tuple[int, int]], seeds: set[int], depth: int) -> dict[str, int]:
    """Hops to everything within reach."""
    hops = dict.fromkeys(seeds, 0)
    queue = deque(seeds)
    while queue:
        here = queue.popleft()
        if hops[here] == depth:
            continue
        for a, b in edges:
            for near, far in ((a, b), (b, a)):
                if near == here and far not in hops:
                    hops[far] = hops[here] + 1
                    queue.append(far)
    return {f"e{n}": hop for n, hop in hops.items()}


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(EDGES, st.sets(st.integers(0, 9), min_size=1, max_size=3), st.integers(0, 4))
def test_without_a_limit_it_reaches_what_breadth_first_search_reaches(
    new_world: Callable[[], World], edges: list[tuple[int, int]], seeds: set[int], depth: int
) -> None:
    """The same entities at the same hops, every path a way over facts."""
    world = new_world()
    for n in range(10):
        world.entity(f"e{n}")
    for a, b in edges:
        world.fact(f"e{a}", "KNOWS", f"e{b}")
    found = expand(world.read(), [f"e{n}" for n in sorted(seeds)], ("main",), AsOf(NOW), depth)
    assert {h.entity: h.hop for h in found.hops} == _oracle(edges, seeds, depth)
    joined = {frozenset((f"e{a}", f"e{b}")) for a, b in edges}
    for hop in found.hops:
        path = found.path(hop.entity)
        assert len(path) == hop.hop + 1
        assert all(frozenset(pair) in joined for pair in pairwise(path))


def test_a_limit_keeps_the_nearest(town: World) -> None:
    """The search stops when so many entities are known."""
    found = expand(town.read(), ["Mira"], ("main",), AsOf(NOW), 3, limit=2)
    assert len(found.hops) == 2
    assert found.hops[0].entity == "Mira"


def test_page_rank_is_a_distribution_that_favours_the_seed(town: World) -> None:
    """Masses sum to one; what is nearer has more."""
    found = expand(town.read(), ["Mira"], ("main",), AsOf(NOW), 2)
    mass = page_rank(town.read(), found, ("main",), AsOf(NOW))
    assert abs(sum(mass.values()) - 1) < 1e-6
    assert mass["Mira"] > mass["Beatriz Nogueira"] > mass["Globex"] > 0


def test_page_rank_of_an_entity_without_facts_stays_with_it(world: World) -> None:
    """No fact, no loss of mass."""
    world.entity("Alone")
    assert page_rank(world.read(), expand(world.read(), ["Alone"], ("main",), AsOf(NOW), 2), ("main",), AsOf(NOW)) == {"Alone": 1.0}


def test_episodes_of_a_rare_entity_come_before_those_of_a_frequent_one(town: World) -> None:
    """A mention by many episodes says little about each."""
    rows = episodes_of(town.read(), {"Mira": 1.0, "Globex": 1.0}, ("main",), AsOf(NOW))
    assert rows[0][2] == "Globex"
