"""How well partitions agree, and how good a memory's layer is beside one found anew."""

from __future__ import annotations

from collections.abc import Sequence
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
    """A grown layer beside a rebuild: modularity of both, NMI between them, and the most NMI between that rebuild and one of
    another seed.
    """

    modularity: float
    rebuilt: float
    agreement: float
    between_seeds: float


def grown(mem: graphmem.Memory, seeds: int = 5) -> Grown:
    """Of the coarsest level, on the graph of now; the rebuild is the first of some seeds, the others tell how near seeds come."""
    with mem._scope.store.read() as reader:
        graph = linked(reader, "main", mem._scope.point()).graph
        homes = stored(reader, "main", AsOf()).homes[0]
    names = {c: n for n, c in enumerate(sorted(set(homes.values())))}
    labels = [names[homes[node]] for node in graph.nodes]
    found = [detect(graph, Leiden(), (1.0,), seed)[0] for seed in range(seeds)]
    apart = [nmi(found[0], other) for other in found[1:]]
    return Grown(modularity(graph, labels), modularity(graph, found[0]), nmi(labels, found[0]), max(apart))
