"""Communities of one state, in plain Python."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from graphmem.errors import StoreError
from graphmem.interval import FIRST, Interval
from graphmem.model import AsOf, CommunityMatch, CommunityVersion, MemberVersion, Ties
from graphmem.stores.codec import decode_mapping, encode_mapping
from graphmem.stores.matching import believed, community_matches, fact_passes
from graphmem.stores.memory.state import Group, State


class CommunityReads:
    """The part of a reader that speaks of communities."""

    state: State

    def communities(self, groups: Sequence[str], at: AsOf, match: CommunityMatch | None = None) -> list[CommunityVersion]:
        held = [v for g in _named(self.state, groups) for v in g.communities.values()]
        found = [v for v in held if believed(v.system, at.system) and community_matches(v, match)]
        return sorted(found, key=lambda v: (v.level, v.id))

    def members(
        self,
        groups: Sequence[str],
        at: AsOf,
        *,
        communities: Sequence[str] | None = None,
        entities: Sequence[str] | None = None,
        level: int | None = None,
    ) -> list[MemberVersion]:
        found = [
            m
            for g in _named(self.state, groups)
            for m in g.members
            if believed(m.system, at.system)
            and (communities is None or m.community in communities)
            and (entities is None or m.entity in entities)
            and (level is None or m.level == level)
        ]
        return sorted(found, key=lambda m: (m.level, m.community, m.entity))

    def community_sizes(
        self,
        groups: Sequence[str],
        at: AsOf,
        *,
        communities: Sequence[str] | None = None,
        level: int | None = None,
        limit: int | None = None,
    ) -> list[tuple[str, int]]:
        counted = Counter(m.community for m in self.members(groups, at, communities=communities, level=level))
        return sorted(counted.items(), key=lambda c: (-c[1], c[0]))[:limit]

    def community_history(self, group: str) -> tuple[list[CommunityVersion], list[MemberVersion]]:
        held = self.state.groups.get(group) or Group()
        versions = sorted(held.communities.values(), key=lambda v: (v.system.start or FIRST, v.uuid))
        return versions, sorted(held.members, key=lambda m: (m.system.start or FIRST, m.level, m.entity))

    def community_versions(self, group: str, uuids: Sequence[str]) -> list[CommunityVersion]:
        held = (self.state.groups.get(group) or Group()).communities
        return sorted((held[u] for u in set(uuids) if u in held), key=lambda v: (v.system.start or FIRST, v.uuid))

    def ties(self, group: str, at: AsOf, entities: Sequence[str] | None = None) -> Ties:
        held = self.state.groups.get(group) or Group()
        cited: dict[tuple[str, datetime | None], set[str]] = defaultdict(set)
        for c in held.citations:
            if believed(c.system, at.system):
                cited[c.fact_id, c.valid_at].add(c.episode)
        return Ties.of(
            (v.uuid, v.source, v.target, v.valid.start, max(len(cited[v.fact_id, v.valid.start]), 1))
            for v in held.facts.values()
            if fact_passes(v, at) and (entities is None or v.source in entities or v.target in entities)
        )


def change_communities(held: Group, ended: Sequence[str], added: Sequence[CommunityVersion], at: datetime) -> list[str]:
    """See `CommunityWrites`; gives the versions of which nothing is left."""
    gone = []
    for uuid in ended:
        version = held.communities.get(uuid)
        if version is not None and version.system.end is None:
            closed = _closed(version.system, at)
            if closed is None:
                del held.communities[uuid]
                gone.append(uuid)
            else:
                held.communities[uuid] = replace(version, system=closed)
    for version in added:
        if version.uuid in held.communities:
            raise StoreError(f"community version {version.uuid} exists already")
        attributes = decode_mapping(encode_mapping(version.attributes))
        held.communities[version.uuid] = replace(version, attributes=attributes, system=Interval(at))
    return gone


def change_members(held: Group, ended: Sequence[MemberVersion], added: Sequence[MemberVersion], at: datetime) -> None:
    """See `CommunityWrites`."""
    gone = {(m.level, m.entity) for m in ended}
    kept = []
    for member in held.members:
        if member.system.end is not None or (member.level, member.entity) not in gone:
            kept.append(member)
        elif (closed := _closed(member.system, at)) is not None:
            kept.append(member._replace(system=closed))
    known = {v.id for v in held.entities.values()}
    if missing := sorted({m.entity for m in added} - known):
        raise StoreError(f"a member needs its entity: there is no {missing[0]}")
    held.members = kept + [m._replace(system=Interval(at)) for m in added]


def _named(state: State, groups: Sequence[str]) -> list[Group]:
    return [state.groups[g] for g in dict.fromkeys(groups) if g in state.groups]


def _closed(system: Interval, at: datetime) -> Interval | None:
    """The interval ended at `at`; None when nothing is left of it."""
    return Interval(system.start, at) if system.start is None or system.start < at else None
