"""Communities in a search: by words, by meaning and, for a broad question, by size; and what they bring up of entities and facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from graphmem.model import CommunityMatch, CommunityVersion, EntityVersion
from graphmem.search.fuse import fuse
from graphmem.search.legs import Leg, Scope
from graphmem.search.question import Question, is_general
from graphmem.stores.base import Found

LARGEST = 12
_SMALLEST = 2
_WEIGHTS = {"text": 1.0, "vector": 0.7}
_BROAD_WEIGHTS = {**_WEIGHTS, "size": 1.0}
# "What is all of it about?" has no word and no meaning of its own that could lead to one part of it rather than another.
_BARE_WEIGHTS = {"text": 0.0, "vector": 0.0, "size": 1.0}
_LEADING = 6
_FACTS_OF_EACH = 3
_NOT_BROAD = "the question asks for no overview"


def is_broad(question: Question, named: Sequence[EntityVersion]) -> bool:
    """Whether it asks what all of it is about: it names no time, and nobody and nothing in particular."""
    return question.wants_overview and all(map(is_general, (*(e.name for e in named), *question.speakers)))


@dataclass(frozen=True)
class Circles:
    """The communities that a question leads to, best first, none of which lies in another; `hidden` are those that others stand for."""

    legs: tuple[Leg, ...] = ()
    fused: Sequence[tuple[str, float]] = ()
    versions: Mapping[str, CommunityVersion] = field(default_factory=dict)
    broad: bool = False
    hidden: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, scope: Scope, text: Leg, near: Leg, limit: int, *, broad: bool, bare: bool) -> Circles:
        """What the legs found, with the largest of the coarsest level if the question is broad; at most `limit` communities.

        Where a broad question is `bare`, of everything, only their size counts, as long as there are so many.
        """
        sizes = scope.reader.community_sizes(scope.groups, scope.at, level=0, limit=LARGEST) if broad else []
        largest = _largest(scope, sizes)
        leg = Leg("size", tuple(Found(largest[i].uuid, float(n)) for i, n in sizes if i in largest and n >= _SMALLEST))
        legs = (text, near, leg if broad else Leg("size", abstained=_NOT_BROAD))
        ids = tuple(dict.fromkeys(i for leg in (text, near) for i in leg.ids))
        known = scope.reader.communities(scope.groups, scope.at, CommunityMatch(uuids=ids)) if ids else []
        versions = {v.uuid: v for v in (*largest.values(), *known)}
        fused = fuse({leg.name: leg.ids for leg in legs}, _BARE_WEIGHTS if bare else _BROAD_WEIGHTS if broad else _WEIGHTS)
        kept, hidden = _apart(fused, versions)
        return cls(legs, tuple(kept[:limit]), versions, broad, hidden)

    @classmethod
    def barred(cls, why: str) -> Circles:
        """None, whatever the question is."""
        return cls(tuple(Leg(name, abstained=why) for name in _BROAD_WEIGHTS))

    @property
    def ids(self) -> list[str]:
        """The ids of the communities, whatever the level."""
        return list(dict.fromkeys(self.versions[uuid].id for uuid, _ in self.fused))

    @property
    def told(self) -> list[str]:
        """The facts that they tell of."""
        return list(dict.fromkeys(fact for uuid, _ in self.fused for fact in self.versions[uuid].facts))

    @property
    def named(self) -> list[str]:
        """The entities that they are named after."""
        return list(dict.fromkeys(entity for uuid, _ in self.fused for entity in self.versions[uuid].central))

    def sizes(self, scope: Scope) -> dict[str, int]:
        """By id, how many belong to those that more than one entity belongs to."""
        found = scope.reader.community_sizes(scope.groups, scope.at, communities=self.ids) if self.fused else []
        return {community: size for community, size in found if size >= _SMALLEST}

    def leading(self) -> Iterator[tuple[int, CommunityVersion]]:
        """The first of them, with their ranks, where the question is broad: what is central in these counts as found."""
        if self.broad:
            for rank, (uuid, _) in enumerate(self.fused[:_LEADING], 1):
                yield rank, self.versions[uuid]

    def facts(self) -> Leg:
        """What the leading communities tell of."""
        return self._brought([(uuid, rank) for rank, v in self.leading() for uuid in v.facts[:_FACTS_OF_EACH]])

    def entities(self) -> Leg:
        """Whom the leading communities are named after."""
        return self._brought([(entity, rank) for rank, v in self.leading() for entity in v.central])

    def _brought(self, found: Sequence[tuple[str, int]]) -> Leg:
        best: dict[str, int] = {}
        for i, rank in found:
            best.setdefault(i, rank)
        return Leg("community", tuple(Found(i, 1 / rank) for i, rank in best.items()), "" if best else _NOT_BROAD)


def _largest(scope: Scope, sizes: Sequence[tuple[str, int]]) -> dict[str, CommunityVersion]:
    if not sizes:
        return {}
    match = CommunityMatch(ids=tuple(i for i, _ in sizes), levels=(0,))
    return {v.id: v for v in scope.reader.communities(scope.groups, scope.at, match)}


def _apart(fused: Sequence[tuple[str, float]], versions: Mapping[str, CommunityVersion]) -> tuple[list[tuple[str, float]], dict[str, str]]:
    """Of communities that lie in each other the best, where they say the same the coarsest; and which one stands for each other one."""
    coarsest: dict[tuple[str, str], str] = {}
    above: dict[str, str] = {}
    for v in sorted(versions.values(), key=lambda v: (v.level, v.uuid)):
        coarsest.setdefault((v.group, v.text), v.uuid)
        if v.parent is not None:
            above[v.id] = v.parent
    kept: list[tuple[str, float]] = []
    holding: dict[str, str] = {}  # a community, and all that it lies in → the one kept
    hidden: dict[str, str] = {}
    for uuid, score in fused:
        if uuid not in versions:
            continue
        best = coarsest[versions[uuid].group, versions[uuid].text]
        line = [versions[best].id]
        while line[-1] in above:
            line.append(above[line[-1]])
        taken = holding.get(line[0]) or next((k for i in line[1:] for k, _ in kept if versions[k].id == i), None)
        if taken is None:
            kept.append((best, score))
            holding.update((i, best) for i in line if i not in holding)
            taken = best
        hidden.update((i, taken) for i in (uuid, best) if i != taken)
    return kept, hidden
