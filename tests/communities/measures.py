"""How well partitions agree, and how good a memory's layer is beside one found anew."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from statistics import mean
from typing import NamedTuple

import numpy as np

import graphmem
from graphmem.communities.detect import Leiden, detect, modularity
from graphmem.communities.layer import stored
from graphmem.communities.linked import linked
from graphmem.model import AsOf


def nmi(one: Sequence[int], other: Sequence[int]) -> float:
    """Normalised mutual information of two partitions, by arithmetic mean."""
    both: dict[tuple[int, int], int] = {}
    for pair in zip(one, other, strict=True):
        both[pair] = both.get(pair, 0) + 1
    joint = np.array(list(both.values())) / len(one)
    shares = [np.bincount(side)[np.bincount(side) > 0] / len(side) for side in (one, other)]
    entropies = [float(-(p * np.log(p)).sum()) for p in (*shares, joint)]
    mean = (entropies[0] + entropies[1]) / 2
    return (entropies[0] + entropies[1] - entropies[2]) / mean if mean else 1.0


class Grown(NamedTuple):
    """A grown layer beside a rebuild: modularity of both, NMI between them, NMI to rebuilds of other seeds, by mean, and between two
    rebuilds, by mean of all pairs.
    """

    modularity: float
    rebuilt: float
    agreement: float
    to_others: float
    between_seeds: float


def grown(mem: graphmem.Memory, seeds: int = 5) -> Grown:
    """Of the coarsest level, on the graph of now; the rebuild is of the first seed, by which the layer was found."""
    with mem._scope.store.read() as reader:
        graph = linked(reader, "main", mem._scope.point()).graph
        homes = stored(reader, "main", AsOf()).homes[0]
    names = {c: n for n, c in enumerate(sorted(set(homes.values())))}
    labels = [names[homes[node]] for node in graph.nodes]
    found = [detect(graph, Leiden(), (1.0,), seed)[0] for seed in range(seeds)]
    agreed = [nmi(labels, other) for other in found]
    pairs = [nmi(one, other) for one, other in combinations(found, 2)]
    return Grown(modularity(graph, labels), modularity(graph, found[0]), agreed[0], mean(agreed[1:]), mean(pairs))
