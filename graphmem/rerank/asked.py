"""What a reranker is told: the question, and what can be looked up about the hits at the point in time that was searched."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from graphmem.embed.base import Vectors
from graphmem.errors import NotFound
from graphmem.model import AsOf, CommunityVersion, EntityMatch, FactVersion
from graphmem.search.hits import Hit
from graphmem.stores.base import Kind, Reader

_REACHED = 5_000


@dataclass(frozen=True, slots=True)
class Asked:
    """The search whose hits are put in another order: its question with its vector, its reader, groups and point in time."""

    query: str
    vector: Vectors = field(repr=False)
    reader: Reader = field(repr=False)
    groups: tuple[str, ...]
    at: AsOf

    def vectors(self, hits: Sequence[Hit]) -> list[Vectors]:
        """The unit vectors of each hit, a row a piece; an array without rows where nothing is stored."""
        held: dict[tuple[Kind, str], Vectors] = {}
        for kind, ids in _by_kind(hits).items():
            held.update(((kind, i), rows) for i, rows in self.reader.vectors(kind, ids).items())
        none = np.zeros((0, self.vector.size), dtype=np.float32)
        return [held.get((hit.kind, hit.id), none) for hit in hits]

    def hops(self, entity: str, hits: Sequence[Hit], most: int) -> list[int | None]:
        """How many facts lie between the entity (a name or id) and each hit; None: more than `most`, or none leads there.

        An entity is where it is, a fact where its nearer end is, an episode where the nearest entity is that it mentions, a community
        where the nearest is that it is named after. Of entities that share the name each counts as the centre. Raises `NotFound`
        if there is none.
        """
        hop = self._hops(self._named(entity), most)
        mentioned = self._mentioned([hit.id for hit in hits if hit.kind is Kind.EPISODE])
        found: list[int | None] = []
        for hit in hits:
            match hit.item:
                case FactVersion(source=source, target=target):
                    around: Sequence[str] = (source, target)
                case CommunityVersion(central=central):
                    around = central
                case _:
                    around = mentioned.get(hit.id, ()) if hit.kind is Kind.EPISODE else (hit.id,)
            found.append(min((hop[e] for e in around if e in hop), default=None))
        return found

    def episodes(self, hits: Sequence[Hit]) -> list[int]:
        """How many visible episodes mention each entity, or are cited by each fact or community; an episode counts as one."""
        entities = [hit.id for hit in hits if hit.kind is Kind.ENTITY]
        mentions = self.reader.mentions(self.groups, self.at, entities=entities) if entities else []
        counted = Counter(entity for entity, _ in {(m.entity, m.mention.episode) for m in mentions})
        return [counted[hit.id] if hit.kind is Kind.ENTITY else 1 if hit.kind is Kind.EPISODE else len(hit.citations) for hit in hits]

    def _named(self, entity: str) -> list[str]:
        by_id = self.reader.entities(self.groups, self.at, EntityMatch(ids=(entity,)))
        found = by_id or self.reader.entities(self.groups, self.at, EntityMatch(names=(entity,)))
        if not found:
            raise NotFound(f"no entity is called {entity!r} at this point, so nothing is near it")
        return [e.id for e in found]

    def _hops(self, centre: Sequence[str], most: int) -> dict[str, int]:
        reached = self.reader.neighbours(centre, self.groups, self.at, hops=most, limit=_REACHED)
        return {hop.entity: hop.hop for hop in reached}

    def _mentioned(self, episodes: Sequence[str]) -> dict[str, list[str]]:
        """Episode → the entities it mentions."""
        found: dict[str, list[str]] = defaultdict(list)
        for version in self.reader.mentions(self.groups, self.at, episodes=episodes) if episodes else []:
            found[version.mention.episode].append(version.entity)
        return found


def _by_kind(hits: Sequence[Hit]) -> dict[Kind, list[str]]:
    ids: dict[Kind, list[str]] = defaultdict(list)
    for hit in hits:
        ids[hit.kind].append(hit.id)
    return ids
