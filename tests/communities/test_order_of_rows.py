"""Equal facts give equal communities, in whatever order their rows come to a memory, though the ids of entities and facts differ."""

from __future__ import annotations

import random
from collections.abc import Callable

import networkx as nx
import pytest

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.testing import FixedClock, ScriptedModel

SHUFFLES = 20
ALGORITHMS = ("leiden", "louvain", "label_propagation")
GRAPHS: dict[str, Callable[[], nx.Graph]] = {
    "karate": nx.karate_club_graph,
    "planted": lambda: nx.planted_partition_graph(3, 8, 0.6, 0.12, seed=3),
    "Davis": nx.davis_southern_women_graph,
}


def shuffled(which: str, seed: int) -> list[dict[str, object]]:
    """A row for each edge, by a relation or two, in an order of that seed."""
    edges = [(f"{a}", f"{b}") for a, b in GRAPHS[which]().edges()]
    rows: list[dict[str, object]] = [{"source": a, "relation": "knows", "target": b} for a, b in edges]
    rows += [{"source": a, "relation": "helps", "target": b, "valid_at": "2023"} for a, b in edges[::5]]
    random.Random(seed).shuffle(rows)
    return rows


def opened(**settings: str) -> graphmem.Memory:
    return graphmem.open(":memory:", clock=FixedClock("2024-01-01T09:00Z"), model=ScriptedModel({}), embedder=HashingEmbedder(), **settings)


def layer(mem: graphmem.Memory) -> list[tuple[object, ...]]:
    """Every community of every level, in order, without its id: members, the level above, name and summary."""
    every = mem.communities(level=None, min_size=1, limit=None)
    names = {c.id: c.name for c in every}
    return [(c.level, c.name, c.summary, tuple(m.name for m in c.members), names.get(c.parent or "")) for c in every]


@pytest.mark.parametrize("which", GRAPHS)
def test_equal_facts_give_equal_communities_in_whatever_order_rows_come(which: str) -> None:
    """Twenty shuffles of the rows, one layer by each algorithm: the same members, names and summaries on every level."""
    found = []
    for seed in range(SHUFFLES):
        mem = opened()
        mem.add_facts(shuffled(which, seed))
        layers = {}
        for algorithm in ALGORITHMS:
            mem.build_communities(algorithm=algorithm, half_life=90 if which == "Davis" else None)
            layers[algorithm] = layer(mem)
        found.append(layers)
    assert found == [found[0]] * SHUFFLES
    assert all(len(found[0][optimiser]) > 1 for optimiser in ("leiden", "louvain"))


@pytest.mark.parametrize("which", ["karate", "Davis"])
def test_a_layer_that_grows_does_not_depend_on_the_order_of_an_episodes_rows(which: str) -> None:
    """Two episodes, each in five orders: the layer that grew with them is the same."""
    found = []
    for seed in range(5):
        mem = opened(communities="incremental")
        rows = sorted(shuffled(which, 0), key=lambda r: (str(r["source"]), str(r["target"]), str(r["relation"])))
        for part in (rows[: len(rows) // 2], rows[len(rows) // 2 :]):
            random.Random(seed).shuffle(part)
            mem.add_facts(part)
        found.append(layer(mem))
    assert found == [found[0]] * len(found)
