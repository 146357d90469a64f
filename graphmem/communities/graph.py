"""A weighted graph in one canonical order, so that what is found in it does not depend on the order of rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Graph:
    """An undirected graph without parallel edges and loops: nodes in an order of theirs; edges (i < j) sorted, weights above 0."""

    nodes: tuple[str, ...]
    source: Ints
    target: Ints
    weight: Floats

    @classmethod
    def of(cls, edges: Iterable[tuple[str, str, float]], nodes: Iterable[str] = ()) -> Graph:
        """The graph of these edges, parallel ones summed, loops left out, and of `nodes`, which need no edge.

        >>> graph = Graph.of([("b", "a", 1), ("a", "b", 2), ("c", "c", 1)], ["d"])
        >>> graph.nodes, graph.weight.tolist()
        (('a', 'b', 'c', 'd'), [3.0])
        """
        ends: list[str] = []
        weights: list[float] = []
        for one, other, weight in edges:
            ends += (one, other)
            weights.append(weight)
        named = tuple(sorted({*nodes, *ends}))
        place = {node: n for n, node in enumerate(named)}
        pairs = np.fromiter(map(place.__getitem__, ends), np.int64, len(ends)).reshape(-1, 2)
        return cls.between(named, pairs, np.array(weights, np.float64))

    @classmethod
    def between(cls, nodes: tuple[str, ...], pairs: Ints, weights: Floats) -> Graph:
        """The graph of edges between places of `nodes`, which are in order: a row of `pairs` for each; as in `of`."""
        proper = (pairs[:, 0] != pairs[:, 1]) & (weights > 0)
        return cls(nodes, *_merged(pairs[proper].min(axis=1), pairs[proper].max(axis=1), weights[proper]))

    @property
    def total(self) -> float:
        """The weight of all edges."""
        return float(self.weight.sum())

    def degrees(self) -> Floats:
        """The weight at each node."""
        ends = np.concatenate((self.source, self.target))
        return np.bincount(ends, np.concatenate((self.weight, self.weight)), len(self.nodes)).astype(np.float64)

    def within(self, nodes: Collection[str]) -> Graph:
        """The graph between these nodes."""
        kept = np.array([node in nodes for node in self.nodes], bool)
        inside = kept[self.source] & kept[self.target] if len(self.source) else np.zeros(0, bool)
        place = np.cumsum(kept) - 1
        named = tuple(node for node in self.nodes if node in nodes)
        return Graph(named, place[self.source[inside]], place[self.target[inside]], self.weight[inside])

    def split(self, labels: Sequence[int] | Ints) -> list[tuple[Ints, Graph]]:
        """Of each label, in order: the positions of its nodes, and the graph between them."""
        label = np.asarray(labels, np.int64)
        inside = np.flatnonzero(label[self.source] == label[self.target])
        edges = inside[np.argsort(label[self.source[inside]], kind="stable")]
        nodes = np.argsort(label, kind="stable")
        count = int(label.max()) + 1 if len(label) else 0
        node_cuts = np.searchsorted(label[nodes], np.arange(count + 1))
        edge_cuts = np.searchsorted(label[self.source[edges]], np.arange(count + 1))
        place = np.empty(len(label), np.int64)
        parts = []
        for one in range(count):
            held, within = nodes[node_cuts[one] : node_cuts[one + 1]], edges[edge_cuts[one] : edge_cuts[one + 1]]
            place[held] = np.arange(len(held))
            part = Graph(tuple(self.nodes[n] for n in held), place[self.source[within]], place[self.target[within]], self.weight[within])
            parts.append((held, part))
        return parts


def _merged(low: Ints, high: Ints, weight: Floats) -> tuple[Ints, Ints, Floats]:
    """Edges in order, those of one pair summed in order of weight: sums of floats depend on their order."""
    order = np.lexsort((weight, high, low))
    low, high, weight = low[order], high[order], weight[order]
    first = np.flatnonzero(np.concatenate(([True], (low[1:] != low[:-1]) | (high[1:] != high[:-1])))) if len(low) else low
    return low[first], high[first], np.add.reduceat(weight, first) if len(first) else weight
