"""The graph that communities are found in: entities that are no values, joined by the facts that hold at a point."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from graphmem.communities.graph import Floats, Graph, Ints
from graphmem.interval import FIRST
from graphmem.model import VALUE_TYPE, AsOf, EntityMatch, Ties
from graphmem.stores.base import Reader

_DAY = 86_400.0


@dataclass(frozen=True, eq=False)
class Linked:
    """The graph, the names of the entities in it by id, and the facts between them, as columns: the fact version, the places
    of its two ends among the nodes, and how many episodes it cites, at least one.

    Nodes come by name, facts by their ends and beginning, not by ids: those are made of the episode, and so of the order of its rows.
    """

    graph: Graph
    names: Mapping[str, str]
    facts: Sequence[str]
    ends: Ints
    cited: Floats

    @classmethod
    def of(cls, names: Mapping[str, str], ties: Ties, shares: Floats | None = None) -> Linked:
        """The entities named, and what binds any two of them; `shares` are of each weight, what is left of it."""
        nodes = tuple(sorted(names, key=lambda e: (names[e], e)))
        place = {node: n for n, node in enumerate(nodes)}
        count = len(ties.facts)
        ends = np.empty((count, 2), np.int64)
        for side, ids in enumerate((ties.sources, ties.targets)):
            ends[:, side] = np.fromiter((place.get(e, -1) for e in ids), np.int64, count)
        begins = [s or FIRST for s in ties.since]
        rows = sorted(zip(ends[:, 0].tolist(), ends[:, 1].tolist(), begins, ties.facts, range(count), strict=True))
        order = np.array([row[-1] for row in rows], np.int64)
        order = order[(ends[order] >= 0).all(axis=1)]
        ends, cited = ends[order], np.array(ties.citations, np.float64)[order]
        graph = Graph.between(nodes, ends, cited if shares is None else cited * shares[order])
        return cls(graph, names, [ties.facts[n] for n in order.tolist()], ends, cited)

    def within(self, entities: Collection[str]) -> Linked:
        """The part between these entities."""
        kept = np.array([node in entities for node in self.graph.nodes], bool)
        inside = np.flatnonzero(kept[self.ends].all(axis=1))
        ends = (np.cumsum(kept) - 1)[self.ends[inside]]
        left = {e: name for e, name in self.names.items() if e in entities}
        return Linked(self.graph.within(left), left, [self.facts[n] for n in inside.tolist()], ends, self.cited[inside])


def linked(reader: Reader, group: str, at: AsOf, half_life: float | None = None, around: Sequence[str] | None = None) -> Linked:
    """What holds and is believed at the point; `around` some entities, or in the whole group.

    Every entity with a fact is a node, also where its facts lead to values only. A fact weighs as many episodes as it cites;
    with `half_life` half as much for each such number of days since it began, a fact of unknown beginning as one of that age.
    """
    ties = reader.ties(group, at, around)
    named = {*ties.sources, *ties.targets}
    match = None if around is None else EntityMatch(ids=tuple(sorted(named)))
    entities = (e for e in reader.entities([group], AsOf(None, at.system), match) if e.type != VALUE_TYPE and e.id in named)
    shares = None if half_life is None or at.valid is None else np.array([_share(s, at.valid, half_life) for s in ties.since], np.float64)
    return Linked.of({e.id: e.name for e in entities}, ties, shares)


def _share(since: datetime | None, now: datetime, half_life: float) -> float:
    """How much of its weight is left of a fact that began so long ago."""
    age = half_life if since is None else max((now - since).total_seconds() / _DAY, 0.0)
    return float(0.5 ** (age / half_life))
