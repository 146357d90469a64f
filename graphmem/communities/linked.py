"""The graph that communities are found in: entities that are no values, joined by the facts that hold at a point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter

from graphmem.communities.graph import Graph
from graphmem.model import VALUE_TYPE, AsOf, EntityMatch, EntityVersion, Tie
from graphmem.stores.base import Reader

_DAY = 86_400.0


@dataclass(frozen=True)
class Linked:
    """The graph, the entities in it, and the facts between them, by uuid."""

    graph: Graph
    entities: Mapping[str, EntityVersion]
    ties: Sequence[Tie]


def linked(reader: Reader, group: str, at: AsOf, half_life: float | None = None, around: Sequence[str] | None = None) -> Linked:
    """What holds and is believed at the point; `around` some entities, or in the whole group.

    Every entity with a fact is a node, also where its facts lead to values only. A fact weighs as many episodes as it cites, at
    least one; with `half_life` half as much for each such number of days since it began, a fact of unknown beginning as
    one of that age.
    """
    ties = sorted(reader.ties(group, at, around), key=itemgetter(0))
    ends = {t.source for t in ties} | {t.target for t in ties}
    match = None if around is None else EntityMatch(ids=tuple(sorted(ends)))
    entities = {e.id: e for e in reader.entities([group], AsOf(None, at.system), match) if e.type != VALUE_TYPE and e.id in ends}
    inner = [t for t in ties if t.source in entities and t.target in entities]
    graph = Graph.of([(t.source, t.target, weight(t, at.valid, half_life)) for t in inner], entities)
    return Linked(graph, entities, inner)


def weight(tie: Tie, now: datetime | None, half_life: float | None) -> float:
    """What a fact weighs at `now`."""
    cited = float(max(tie.citations, 1))
    if half_life is None or now is None:
        return cited
    age = half_life if tie.since is None else max((now - tie.since).total_seconds() / _DAY, 0.0)
    return cited * float(0.5 ** (age / half_life))
