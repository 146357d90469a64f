"""The graph that communities are found in: entities that are no values, joined by the facts that hold at a point."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

import numpy as np

from graphmem.communities.graph import Floats, Graph, Ints
from graphmem.model import VALUE_TYPE, AsOf, EntityMatch, Tie
from graphmem.stores.base import Reader

_DAY = 86_400.0


@dataclass(frozen=True, eq=False)
class Linked:
    """The graph, the names of the entities in it by id, and the facts between them by uuid, as columns: the fact version, the places
    of its two ends among the nodes, and how many episodes it cites, at least one.
    """

    graph: Graph
    names: Mapping[str, str]
    facts: Sequence[str]
    ends: Ints
    cited: Floats

    @classmethod
    def of(cls, names: Mapping[str, str], ties: Iterable[Tie]) -> Linked:
        """The entities named, and what binds any two of them."""
        return _Columns.of(ties).between(names)

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
    found = _Columns.of(reader.ties(group, at, around), at.valid, half_life)
    named = {*found.sources, *found.targets}
    match = None if around is None else EntityMatch(ids=tuple(sorted(named)))
    entities = (e for e in reader.entities([group], AsOf(None, at.system), match) if e.type != VALUE_TYPE and e.id in named)
    return found.between({e.id: e.name for e in entities})


class _Columns(NamedTuple):
    """Ties as columns: a hundred thousand of them as objects would cost more than all that is done with them."""

    facts: list[str]
    sources: list[str]
    targets: list[str]
    cited: list[int]
    shares: list[float]

    @classmethod
    def of(cls, ties: Iterable[Tie], now: datetime | None = None, half_life: float | None = None) -> _Columns:
        columns = cls([], [], [], [], [])
        for fact, source, target, since, citations in ties:
            columns.facts.append(fact)
            columns.sources.append(source)
            columns.targets.append(target)
            columns.cited.append(citations)
            if half_life is not None and now is not None:
                columns.shares.append(_share(since, now, half_life))
        return columns

    def between(self, names: Mapping[str, str]) -> Linked:
        nodes = tuple(sorted(names))
        place = {node: n for n, node in enumerate(nodes)}
        count = len(self.facts)
        ends = np.empty((count, 2), np.int64)
        for side, ids in enumerate((self.sources, self.targets)):
            ends[:, side] = np.fromiter((place.get(e, -1) for e in ids), np.int64, count)
        order = np.array(sorted(range(count), key=self.facts.__getitem__), np.int64)
        order = order[(ends[order] >= 0).all(axis=1)]
        ends, cited = ends[order], np.array(self.cited, np.float64)[order]
        graph = Graph.between(nodes, ends, cited * np.array(self.shares)[order] if self.shares else cited)
        return Linked(graph, names, [self.facts[n] for n in order.tolist()], ends, cited)


def _share(since: datetime | None, now: datetime, half_life: float) -> float:
    """How much of its weight is left of a fact that began so long ago."""
    age = half_life if since is None else max((now - since).total_seconds() / _DAY, 0.0)
    return float(0.5 ** (age / half_life))
