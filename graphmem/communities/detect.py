"""Finding communities: three algorithms behind one interface, and levels that nest.

Louvain: Blondel et al., "Fast unfolding of communities in large networks" (2008), as python-louvain has it. Leiden: Traag, Waltman,
van Eck, "From Louvain to Leiden" (2019), as graspologic-native has it. Label propagation: Raghavan, Albert, Kumara (2007), as
networkx has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np

from graphmem.communities.graph import Graph, Ints
from graphmem.errors import InvalidInput, MissingExtra

INSTALL_LEIDEN = "pip install 'graphmem[communities]'"
SMALLEST_SPLIT = 10
"""A community of fewer entities is not split on the next level."""
_HIGHEST = 1e6
_LEIDEN_ROUNDS = 4
_LOUVAIN_RUNS = 3
_MANY_EDGES = 20_000


class Detector(Protocol):
    """Finds communities. Any algorithm will do, also one that runs elsewhere; `graph` comes in canonical order."""

    name: str

    def partition(self, graph: Graph, resolution: float, seed: int) -> Sequence[int]:
        """A label, 0 or more, for each node of a graph with at least one edge. Equal calls give equal answers."""
        ...


class Leiden:
    """Modularity by the Leiden algorithm, small graphs in so many rounds; the quickest of the three, the default where installed."""

    name = "leiden"

    def __init__(self, rounds: int = _LEIDEN_ROUNDS) -> None:
        self._rounds = rounds

    def partition(self, graph: Graph, resolution: float, seed: int) -> Sequence[int]:
        """See `Detector`."""
        import graspologic_native

        ends, others = np.concatenate((graph.source, graph.target)), np.concatenate((graph.target, graph.source))
        order = np.lexsort((others, ends))
        counts = np.bincount(ends, minlength=len(graph.nodes))
        starts = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        weights = np.concatenate((graph.weight, graph.weight))[order]
        _, found = graspologic_native.leiden_csr(
            starts,
            others[order].astype(np.int32),
            np.ascontiguousarray(weights),
            len(graph.nodes),
            resolution=resolution,
            iterations=self._rounds if len(graph.source) < _MANY_EDGES else 1,
            seed=seed,
        )
        return [found[n] for n in range(len(graph.nodes))]


class Louvain:
    """Modularity by the Louvain method; of small graphs the best of so many runs."""

    name = "louvain"

    def __init__(self, runs: int = _LOUVAIN_RUNS) -> None:
        self._runs = runs

    def partition(self, graph: Graph, resolution: float, seed: int) -> Sequence[int]:
        """See `Detector`."""
        linked = _networkx(graph)
        runs = self._runs if len(graph.source) < _MANY_EDGES else 1
        states = np.random.SeedSequence(seed).generate_state(runs)
        found = [_louvain(linked, resolution, int(state)) for state in states]
        return max(found, key=lambda labels: modularity(graph, labels, resolution))


class LabelPropagation:
    """Each entity takes the label that weighs most among its neighbours, until none changes. It knows no resolution."""

    name = "label_propagation"

    def partition(self, graph: Graph, resolution: float, seed: int) -> Sequence[int]:
        """See `Detector`."""
        import networkx as nx

        return _labels(nx.community.asyn_lpa_communities(_networkx(graph), weight="weight", seed=seed), len(graph.nodes))


ALGORITHMS: dict[str, Callable[[], Detector]] = {d.name: d for d in (Leiden, Louvain, LabelPropagation)}
"""What makes the algorithm of each name. One of your own is put here before it is named, in every process that builds by it or
replays a log that did: a log holds the name alone.
"""


def default_algorithm() -> str:
    """Leiden where graspologic-native is installed, else Louvain."""
    return Leiden.name if find_spec("graspologic_native") is not None else Louvain.name


def detector(algorithm: str) -> Detector:
    """The algorithm of that name.

    Raises `InvalidInput` for an unknown name, `MissingExtra` where Leiden is not installed.
    """
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
        names = ", ".join(map(repr, ALGORITHMS))
        raise InvalidInput(
            "algorithm", algorithm, f"must be the name of one: {names}, or what graphmem.communities.detect.ALGORITHMS is given"
        )
    if algorithm == Leiden.name and find_spec("graspologic_native") is None:
        raise MissingExtra(f"algorithm='leiden' needs graspologic-native: {INSTALL_LEIDEN}; 'louvain' needs nothing more")
    return ALGORITHMS[algorithm]()


def resolutions(given: object) -> tuple[float, ...]:
    """A resolution for each level, coarsest first, as numbers; raises `InvalidInput` unless all are above 0, a million at most."""
    rows = (given,) if isinstance(given, int | float) else tuple(given) if isinstance(given, list | tuple) else ()
    if not rows or not all(isinstance(r, int | float) and not isinstance(r, bool) and 0 < r <= _HIGHEST for r in rows):
        raise InvalidInput("resolution", given, "must be a number above 0, 1e6 at most, or one a level; higher means smaller communities")
    return tuple(float(r) for r in rows)


def detect(graph: Graph, algorithm: Detector, resolution: Sequence[float] = (1.0,), seed: int = 0) -> list[list[int]]:
    """Labels of the nodes on each level, the coarsest first: 0 is the largest community, then by size and first node.

    The first level is found in the whole graph, at the first resolution. Each further one splits the communities above it, each
    by itself at that level's resolution, so levels nest; small ones stay whole. A node without edges is a community of its own.

    >>> two = Graph.of([(a, b, 1) for t in ("abc", "xyz") for a in t for b in t if a < b] + [("c", "x", 1)])
    >>> detect(two, detector("louvain"))
    [[0, 0, 0, 1, 1, 1]]
    """
    levels = [_ranked(_partition(graph, algorithm, resolution[0], seed))]
    if isinstance(algorithm, Louvain):
        algorithm = Louvain(runs=1)  # of the many parts, each once
    elif isinstance(algorithm, Leiden) and len(graph.source) >= _MANY_EDGES:
        algorithm = Leiden(rounds=1)
    for level in resolution[1:]:
        labels = np.empty(len(graph.nodes), np.int64)
        used = 0
        for held, part in graph.split(levels[-1]):
            own = _partition(part, algorithm, level, seed) if len(held) >= SMALLEST_SPLIT else np.zeros(len(held), np.int64)
            labels[held] = own + used
            used += int(own.max()) + 1
        levels.append(_ranked(labels))
    return [labels.tolist() for labels in levels]


def modularity(graph: Graph, labels: Sequence[int], resolution: float = 1.0) -> float:
    """Newman's modularity of a partition; 0 for a graph without edges.

    >>> modularity(Graph.of([("a", "b", 1), ("c", "d", 1)]), [0, 0, 1, 1])
    0.5
    """
    total = graph.total
    if not total:
        return 0.0
    label = np.asarray(labels, np.int64)
    inside = float(graph.weight[label[graph.source] == label[graph.target]].sum())
    shares = np.bincount(label, graph.degrees()) / (2 * total)
    return inside / total - resolution * float((shares**2).sum())


def _partition(graph: Graph, algorithm: Detector, resolution: float, seed: int) -> Ints:
    """Labels of all nodes; those without an edge get one each, and are kept from the algorithm."""
    labels = np.arange(len(graph.nodes), dtype=np.int64)
    linked = np.unique(np.concatenate((graph.source, graph.target)))
    if not len(linked):
        return labels
    inner = graph
    if len(linked) < len(labels):
        place = np.searchsorted(linked, (graph.source, graph.target))
        inner = Graph(tuple(graph.nodes[n] for n in linked), place[0], place[1], graph.weight)
    found = np.asarray(algorithm.partition(inner, resolution, seed), np.int64)
    if found.shape != (len(linked),) or int(found.min()) < 0:
        raise InvalidInput("algorithm", algorithm.name, f"must label each of {len(linked)} nodes with a number of 0 or more")
    labels[linked] = found + len(graph.nodes)
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def _ranked(labels: Ints) -> Ints:
    """The same partition under labels by size, the largest first, then by first node."""
    if not len(labels):
        return labels
    _, first, inverse, sizes = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    order = np.lexsort((first, -sizes))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank[inverse]


def _louvain(linked: Any, resolution: float, seed: int) -> list[int]:
    """One run. At another resolution than 1 it is networkx's: there python-louvain stops by another measure than it moves by."""
    if resolution == 1.0:
        import community

        labels = community.best_partition(linked, random_state=seed)
        return [labels[n] for n in range(len(linked))]
    import networkx as nx

    return _labels(nx.community.louvain_communities(linked, resolution=resolution, seed=seed), len(linked))


def _labels(sets: Iterable[set[int]], count: int) -> list[int]:
    labels = [0] * count
    for label, members in enumerate(sets):
        for n in members:
            labels[n] = label
    return labels


@cache
def _adjacency() -> Any:
    """A graph of networkx whose neighbours are read as they are kept: python-louvain asks for them by far the most."""
    import networkx as nx

    class Adjacency(nx.Graph):  # type: ignore[misc]
        def __getitem__(self, node: int) -> Any:
            return self._adj[node]

    return Adjacency


def _networkx(graph: Graph) -> Any:
    """The graph as networkx has it, nodes and edges in order."""
    linked = _adjacency()()
    linked.add_nodes_from(range(len(graph.nodes)))
    linked.add_weighted_edges_from(zip(graph.source.tolist(), graph.target.tolist(), graph.weight.tolist(), strict=True))
    return linked
