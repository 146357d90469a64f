"""Expansion: from entities over facts to entities, hop by hop, reading no more edges than the limit needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, cast

from graphmem.model import VALUE_TYPE, AsOf, FactMatch
from graphmem.stores.base import Hop
from graphmem.stores.codec import raw_text
from graphmem.stores.sqlite.graph import GraphReads
from graphmem.stores.sqlite.session import id_list, instants

_NO_CAP = -1


class _Edge(NamedTuple):
    """An edge seen from an entity of the frontier; `order` is newest valid start first, then uuid."""

    order: tuple[int, str]
    entity: str
    forward: int
    other: str


class ExpandReads(GraphReads):
    """The expanding part of a reader."""

    def neighbours(
        self,
        seeds: Sequence[str],
        groups: Sequence[str],
        at: AsOf,
        *,
        hops: int,
        limit: int | None = None,
        match: FactMatch | None = None,
    ) -> list[Hop]:
        if not groups:
            return []
        found = {s: Hop(s, 0, None, None) for s in seeds}
        frontier = list(found)
        for hop in range(1, hops + 1):
            wanted = None if limit is None else limit - len(found)
            if not frontier or (wanted is not None and wanted <= 0):
                break
            reached = self._reach(frontier, found, hop, wanted, (groups, at, match))
            found.update((r.entity, r) for r in reached)
            frontier = self._crossable([r.entity for r in reached], groups, at) if hop < hops else []
        return list(found.values())[:limit]

    def _reach(
        self, frontier: list[str], found: dict[str, Hop], hop: int, wanted: int | None, scope: tuple[Sequence[str], AsOf, FactMatch | None]
    ) -> list[Hop]:
        """The next entities in order of discovery, at most `wanted`.

        With a cap on the edges of each entity, the order is known only up to the newest of the last edges of those that
        reached their cap; where that does not give enough, the cap is raised.
        """
        cap = _NO_CAP if wanted is None or scope[2] is not None else max(16, 2 * wanted)
        while True:
            edges, known_to = self._edges(frontier, cap, scope)
            reached: dict[str, Hop] = {}
            for edge in edges:
                if known_to is not None and edge.order > known_to:
                    break
                if edge.other not in found and edge.other not in reached:
                    reached[edge.other] = Hop(edge.other, hop, edge.order[1], edge.entity)
            enough = wanted is not None and len(reached) >= wanted
            if enough or known_to is None:
                return list(reached.values())[:wanted]
            cap *= 8

    def _edges(
        self, frontier: list[str], cap: int, scope: tuple[Sequence[str], AsOf, FactMatch | None]
    ) -> tuple[list[_Edge], tuple[int, str] | None]:
        """Edges in order, and how far the order is complete (None: to the end)."""
        groups, at, match = scope
        grps, _ = self._scope(groups)
        rows = cast(
            list[tuple[str, int, int, str, str, int]],
            self.session.rows("edges_of", ids=id_list(frontier), grps=grps, cap=cap, **instants(at)),
        )
        edges = [_Edge((-valid_at, raw_text(uuid)), raw_text(e), forward, raw_text(other)) for e, forward, valid_at, uuid, other, _ in rows]
        if match is not None:
            passing = {v.uuid for v in self.facts(groups, at, _only(match, {e.order[1] for e in edges}))}
            edges = [e for e in edges if e.order[1] in passing]
        edges.sort()
        known_to: tuple[int, str] | None = None
        if cap != _NO_CAP:
            counted: dict[tuple[str, int], int] = {}
            for edge in edges:
                side = (edge.entity, edge.forward)
                counted[side] = counted.get(side, 0) + 1
                if counted[side] == cap:
                    known_to = edge.order
                    break
        return edges, known_to

    def _crossable(self, entities: list[str], groups: Sequence[str], at: AsOf) -> list[str]:
        grps, _ = self._scope(groups)
        system = instants(at)["system"]
        values = {
            raw_text(cast(str, i))
            for (i,) in self.session.rows("value_ids", ids=id_list(entities), grps=grps, system=system, type=VALUE_TYPE)
        }
        return [e for e in entities if e not in values]


def _only(match: FactMatch, uuids: set[str]) -> FactMatch:
    return replace(match, uuids=tuple(uuids if match.uuids is None else uuids & set(match.uuids)))
