"""Where nodes are drawn: what belongs together lies together, the same for any order of rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphmem.communities.detect import default_algorithm, detect, detector
from graphmem.communities.graph import Graph
from graphmem.communities.results import CommunityItem

if TYPE_CHECKING:
    import networkx as nx

_SEED = 7
_ROUNDS = 60
_ROUNDS_FROM_NEAR = 10
_FEW = 120
_MANY = 500
_WIDE = 1.9  # pages are wider than high


def positions(graph: Graph, communities: Sequence[int]) -> NDArray[np.float64]:
    """A point for each node, a row each, in a square of side 2 around the origin; `communities` has that of each node.

    Component by component: the springs of Kamada and Kawai (1989) for small ones, those of Fruchterman and Reingold (1991) for
    others, both as networkx has them. Large ones begin with each node near where its community lies among the others, which takes
    a sixth of the rounds. Components are packed in rows, the largest on top.
    """
    import networkx as nx

    linked = nx.Graph()
    linked.add_nodes_from(range(len(graph.nodes)))
    linked.add_weighted_edges_from(zip(graph.source.tolist(), graph.target.tolist(), np.sqrt(graph.weight).tolist(), strict=True))
    parts = sorted((sorted(part) for part in nx.connected_components(linked)), key=lambda part: (-len(part), part[0]))
    places = np.zeros((len(graph.nodes), 2))
    for part, (x, y, side) in zip(parts, _packed([len(part) for part in parts]), strict=True):
        places[part] = _springs(linked.subgraph(part), part, communities) * side * 0.42 + (x + side / 2, -(y + side / 2))
    return _centred(places)


def _springs(part: nx.Graph[int], nodes: Sequence[int], communities: Sequence[int]) -> NDArray[np.float64]:
    import networkx as nx

    if len(nodes) == 1:
        return np.zeros((1, 2))
    if len(nodes) <= _FEW:
        drawn = nx.kamada_kawai_layout(part, weight=None, pos=nx.circular_layout(part))
    else:
        start, rounds = (None, _ROUNDS) if len(nodes) <= _MANY else (_near(part, nodes, communities), _ROUNDS_FROM_NEAR)
        drawn = nx.spring_layout(part, pos=start, seed=_SEED, iterations=rounds, k=2.2 / math.sqrt(len(nodes)), method="force")
    placed = np.array([drawn[n] for n in nodes], np.float64)
    placed -= placed.mean(axis=0)
    placed /= np.abs(placed).max() or 1.0
    return placed


def _near(part: nx.Graph[int], nodes: Sequence[int], communities: Sequence[int]) -> dict[int, NDArray[np.float64]]:
    """Each node around the place of its community, further out the more members that has."""
    import networkx as nx

    members = Counter(communities[n] for n in nodes)
    between: Counter[tuple[int, int]] = Counter()
    for a, b in part.edges():
        one, other = sorted((communities[a], communities[b]))
        between[one, other] += one != other
    whole = nx.Graph()
    whole.add_nodes_from(sorted(members))
    whole.add_weighted_edges_from((one, other, weight) for (one, other), weight in sorted(between.items()) if weight)
    centres = nx.spring_layout(whole, seed=_SEED, method="force")
    around = np.random.default_rng(_SEED).normal(size=(len(nodes), 2)) / 2
    return {n: centres[c] + around[row] * math.sqrt(members[c] / len(nodes)) for row, n in enumerate(nodes) for c in (communities[n],)}


def _packed(sizes: Sequence[int]) -> list[tuple[float, float, float]]:
    """A square for each size, as (left, bottom, side), in rows of about the width of the whole."""
    sides = [(size + 1) ** 0.62 for size in sizes]
    width = max(math.sqrt(sum(side * side for side in sides)) * _WIDE**0.5, max(sides, default=1.0))
    placed, x, y, height = [], 0.0, 0.0, 0.0
    for side in sides:
        if x and x + side > width:
            x, y, height = 0.0, y + height, 0.0
        placed.append((x, y, side))
        x, height = x + side, max(height, side)
    return placed


def _centred(places: NDArray[np.float64]) -> NDArray[np.float64]:
    if not len(places):
        return places
    low, high = places.min(axis=0), places.max(axis=0)
    places -= (low + high) / 2
    places /= float(max(high - low)) / 2 or 1.0
    return places


def grouped(graph: Graph) -> list[int]:
    """The community of each node by its edges alone, the largest 0."""
    return detect(graph, detector(default_algorithm()), (1.0,), seed=0)[0] if len(graph.nodes) else []


def at_home(graph: Graph, homes: Mapping[str, CommunityItem]) -> tuple[list[int], list[str]]:
    """The community of each node in the memory's own layer, the largest 0 and -1 for none, and the names of these communities."""
    ranked = sorted({home.id: home for home in homes.values()}.values(), key=lambda home: (-home.size, home.name, home.id))
    place = {home.id: n for n, home in enumerate(ranked)}
    return [place[homes[node].id] if node in homes else -1 for node in graph.nodes], [home.name for home in ranked]
