"""Reads of one state: the contract in plain Python."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import cast

import numpy as np
from numpy.typing import NDArray

from graphmem import names
from graphmem.embed.base import Vectors
from graphmem.interval import FIRST
from graphmem.model import (
    VALUE_TYPE,
    AsOf,
    Assertion,
    CitationVersion,
    EntityMatch,
    EntityVersion,
    Episode,
    EpisodeMatch,
    EpisodeRecord,
    FactKey,
    FactMatch,
    FactVersion,
    Head,
    LogEntry,
    Mention,
    MentionVersion,
    Operation,
    Violation,
)
from graphmem.stores import bm25
from graphmem.stores.base import Found, Hop, Kind, SearchFilter
from graphmem.stores.codec import decode
from graphmem.stores.matching import believed, entity_matches, episode_matches, fact_matches, fact_passes, with_name_keys
from graphmem.stores.memory.changes import ChangeReads
from graphmem.stores.memory.communities import CommunityReads
from graphmem.stores.memory.state import Group, State


class MemoryReader(CommunityReads, ChangeReads):
    """Reads of one state; the contract in plain Python."""

    def __init__(self, state: State) -> None:
        self.state = state

    def _group(self, group: str) -> Group:
        return self.state.groups.get(group) or Group()

    def _groups(self, groups: Sequence[str]) -> list[Group]:
        return [self.state.groups[g] for g in dict.fromkeys(groups) if g in self.state.groups]

    # -- the log

    def head(self, group: str) -> Head:
        return self._group(group).head

    def groups(self) -> list[str]:
        return sorted(g for g, held in self.state.groups.items() if held.head.seq)

    def log(self, group: str, after: int = 0) -> Iterator[LogEntry]:
        held = self._group(group)
        entries: list[LogEntry] = [*held.records.values(), *held.operations.values()]
        yield from sorted((e for e in entries if e.seq > after), key=lambda e: e.seq)

    def episode_by_key(self, group: str, key: str) -> EpisodeRecord | None:
        return next((r for r in self._group(group).records.values() if r.episode.key == key), None)

    def records(self, group: str, episodes: Sequence[str]) -> list[EpisodeRecord]:
        held = self._group(group).records
        return sorted((held[e] for e in set(episodes) if e in held), key=lambda r: r.seq)

    def heads(self, group: str, episodes: Sequence[str]) -> list[Episode]:
        return [replace(r.episode, body="") for r in self.records(group, episodes)]

    def operations(self, group: str, *, ids: Sequence[str] | None = None, targets: Sequence[str] | None = None) -> list[Operation]:
        found = [
            o
            for o in self._group(group).operations.values()
            if (ids is None and targets is None)
            or (ids is not None and o.id in ids)
            or (targets is not None and not set(targets).isdisjoint(o.targets))
        ]
        return sorted(found, key=lambda o: o.seq)

    def assertions(
        self,
        group: str,
        *,
        ids: Sequence[str] | None = None,
        facts: Sequence[str] | None = None,
        episodes: Sequence[str] | None = None,
        entities: Sequence[str] | None = None,
        deciding: Sequence[str] | None = None,
    ) -> list[Assertion]:
        held = self._group(group)
        wanted = set(next((v for v in (ids, facts, episodes, entities, deciding) if v is not None), ()))
        if ids is not None:
            found = [held.assertions[i] for i in wanted if i in held.assertions]
        else:

            def named(a: Assertion) -> Iterable[str | None]:
                pair = held.keys.get(a.id)
                if facts is not None:
                    return (pair[0] if pair else None,)
                if entities is not None:
                    return (a.source, a.target, *((pair[1].source, pair[1].target) if pair else ()))
                if episodes is not None:
                    return (a.episode,)
                return a.decided

            found = [(seq, a) for seq, a in held.assertions.values() if not wanted.isdisjoint(named(a))]
        return [a for _, a in sorted(found, key=lambda f: (f[0], f[1].position, f[1].id))]

    def keys(
        self, group: str, *, facts: Sequence[str] | None = None, slots: Sequence[tuple[str, str, str]] | None = None
    ) -> dict[str, FactKey]:
        known = dict(sorted(pair for pair in self._group(group).keys.values() if pair is not None))
        wanted = set(facts or ())
        ends = {"source": ("source",), "target": ("target",), "either": ("source", "target")}
        sides = {(end, relation, entity) for side, relation, entity in slots or () for end in ends[side]}
        return {
            fact: key
            for fact, key in known.items()
            if fact in wanted or ("source", key.relation, key.source) in sides or ("target", key.relation, key.target) in sides
        }

    def fact_ids(self, group: str, assertions: Sequence[str]) -> dict[str, str | None]:
        held = self._group(group).keys
        return {a: pair[0] if pair else None for a in assertions if a in held for pair in (held[a],)}

    def links(self, group: str, entities: Sequence[str]) -> list[tuple[str, str, str]]:
        wanted = set(entities)
        records = sorted(self._group(group).records.values(), key=lambda r: r.seq)
        return [(r.episode.id, one, other) for r in records for one, other in r.links if one in wanted or other in wanted]

    def answer(self, key: str) -> tuple[object, Mapping[str, object]] | None:
        kept = self.state.answers.get(key)
        if kept is None:
            return None
        value, note = cast(tuple[object, Mapping[str, object]], decode(kept))
        return value, note

    def meta(self, name: str) -> str | None:
        return self.state.metas.get(name)

    # -- the graph

    def facts(self, groups: Sequence[str], at: AsOf, match: FactMatch | None = None, limit: int | None = None) -> list[FactVersion]:
        found = [v for g in self._groups(groups) for v in g.facts.values() if fact_passes(v, at) and fact_matches(v, match)]
        return sorted(found, key=_fact_order)[:limit]

    def fact_versions(self, group: str, uuids: Sequence[str] | None = None, *, facts: Sequence[str] | None = None) -> list[FactVersion]:
        held = self._group(group).facts
        found = held.values() if uuids is None else [held[u] for u in set(uuids) if u in held]
        if uuids is None and facts is not None:
            wanted = set(facts)
            found = [v for v in found if v.fact_id in wanted]
        return sorted(found, key=lambda v: (v.system.start or FIRST, v.uuid))

    def scan_facts(self, group: str) -> Iterator[FactVersion]:
        return iter(self.fact_versions(group))

    def citations(
        self, groups: Sequence[str], at: AsOf, *, facts: Sequence[str] | None = None, episodes: Sequence[str] | None = None
    ) -> list[CitationVersion]:
        found = [
            c
            for g in self._groups(groups)
            for c in g.citations
            if believed(c.system, at.system) and (facts is None or c.fact_id in facts) and (episodes is None or c.episode in episodes)
        ]
        return sorted(found, key=lambda c: (c.fact_id, c.valid_at or FIRST, c.episode, c.by))

    def sources(self, groups: Sequence[str], at: AsOf, facts: Sequence[str]) -> dict[str, tuple[str, ...]]:
        asked = [v for g in self._groups(groups) for v in g.facts.values() if v.uuid in facts]
        cited: dict[tuple[str, datetime | None], dict[str, None]] = defaultdict(dict)
        for c in self.citations(groups, at, facts=[v.fact_id for v in asked]):
            cited[c.fact_id, c.valid_at][c.episode] = None
        return {v.uuid: tuple(cited[v.fact_id, v.valid.start]) for v in asked if (v.fact_id, v.valid.start) in cited}

    def entities(self, groups: Sequence[str], at: AsOf, match: EntityMatch | None = None, limit: int | None = None) -> list[EntityVersion]:
        keyed = with_name_keys(match)
        found = [v for g in self._groups(groups) for v in g.entities.values() if believed(v.system, at.system) and entity_matches(v, keyed)]
        return sorted(found, key=lambda v: (names.key(v.name), v.id))[:limit]

    def entity_versions(self, group: str, ids: Sequence[str]) -> list[EntityVersion]:
        return sorted((v for v in self._group(group).entities.values() if v.id in ids), key=lambda v: (v.id, v.system.start or FIRST))

    def mentions(
        self,
        groups: Sequence[str],
        at: AsOf,
        *,
        episodes: Sequence[str] | None = None,
        entities: Sequence[str] | None = None,
        limit: int | None = None,
    ) -> list[MentionVersion]:
        found = [
            (g.records[m.mention.episode].episode.reference_time, m)
            for g in self._groups(groups)
            for m in g.mentions
            if believed(m.system, at.system)
            and (episodes is None or m.mention.episode in episodes)
            and (entities is None or m.entity in entities)
        ]
        found.sort(key=lambda f: (f[1].mention.episode, f[1].mention.position, f[1].entity))
        found.sort(key=lambda f: f[0], reverse=True)
        return [m for _, m in found][:limit]

    def mention_records(self, group: str, entities: Sequence[str]) -> list[Mention]:
        records = sorted(self._group(group).records.values(), key=lambda r: r.seq)
        return [m for r in records for m in sorted(r.mentions, key=lambda m: m.position) if m.entity in entities]

    def episodes(
        self,
        groups: Sequence[str],
        at: AsOf,
        match: EpisodeMatch | None = None,
        limit: int | None = None,
        *,
        newest_first: bool = False,
        bodies: bool = True,
    ) -> list[Episode]:
        found = [e for g in self._groups(groups) for e in _visible(g, at) if episode_matches(e, match)]
        if match is not None and match.entities is not None:
            mentioning = {m.mention.episode for m in self.mentions(groups, at, entities=match.entities)}
            found = [e for e in found if e.id in mentioning]
        found = sorted(found, key=_episode_order, reverse=newest_first)[:limit]
        return found if bodies else [replace(e, body="") for e in found]

    def around(self, groups: Sequence[str], at: AsOf, episodes: Sequence[str]) -> dict[str, tuple[str | None, str | None]]:
        sessions: dict[tuple[str, str], list[str]] = defaultdict(list)
        for episode in self.episodes(groups, at, bodies=False):
            if episode.session is not None:
                sessions[episode.group, episode.session].append(episode.id)
        return {
            episode: (row[n - 1] if n else None, row[n + 1] if n + 1 < len(row) else None)
            for row in sessions.values()
            for n, episode in enumerate(row)
            if episode in episodes
        }

    def counts(self, groups: Sequence[str], at: AsOf) -> dict[str, int]:
        return {
            "episodes": len(self.episodes(groups, at)),
            "entities": len(self.entities(groups, at)),
            "facts": len(self.facts(groups, at)),
            "mentions": len(self.mentions(groups, at)),
        }

    def count_fact_versions(self, group: str) -> int:
        return len(self._group(group).facts)

    # -- search

    def text_search(
        self, kind: Kind, terms: Sequence[str], groups: Sequence[str], at: AsOf, limit: int, match: SearchFilter | None = None
    ) -> list[Found]:
        rows = {owner: text.split() for (k, owner), text in self._all_words() if k is kind}
        mean = sum(map(len, rows.values())) / len(rows) if rows else 0.0
        scores: dict[str, float] = defaultdict(float)
        for term in dict.fromkeys(terms):
            frequencies = {owner: held.count(term) for owner, held in rows.items() if term in held}
            rarity = bm25.rarity(len(rows), len(frequencies))
            for owner, frequency in frequencies.items():
                scores[owner] += rarity * bm25.weight(float(frequency), float(len(rows[owner])), mean)
        passing = self._passing(kind, groups, at, match)
        return sorted((Found(o, s) for o, s in scores.items() if o in passing), key=lambda f: (-f.score, f.id))[:limit]

    def vector_search(
        self, kind: Kind, vector: Vectors, groups: Sequence[str], at: AsOf, limit: int, match: SearchFilter | None = None
    ) -> list[Found]:
        query = np.asarray(vector, dtype=np.float32).reshape(-1)
        length = float(np.linalg.norm(query))
        if not length:
            return []
        query /= np.float32(length)
        passing = self._passing(kind, groups, at, match)
        found = []
        for (k, owner), pieces in self._all_vectors():
            if k is kind and owner in passing:
                scores = {n: float(row.astype(np.float32) @ query) for n, row in pieces.items()}
                best = max(scores, key=lambda n: (scores[n], -n))
                found.append(Found(owner, scores[best], best))
        return sorted(found, key=lambda f: (-f.score, f.id))[:limit]

    def _all_words(self) -> Iterator[tuple[tuple[Kind, str], str]]:
        for group in self.state.groups.values():
            yield from group.words.items()

    def _all_vectors(self) -> Iterator[tuple[tuple[Kind, str], dict[int, NDArray[np.float16]]]]:
        for group in self.state.groups.values():
            yield from group.vectors.items()

    def _passing(self, kind: Kind, groups: Sequence[str], at: AsOf, match: SearchFilter | None) -> set[str]:
        match = match or SearchFilter()
        if kind is Kind.FACT:
            return {v.uuid for v in self.facts(groups, at, match.facts)}
        if kind is Kind.ENTITY:
            return {v.id for v in self.entities(groups, at, match.entities)}
        if kind is Kind.COMMUNITY:
            return {v.uuid for v in self.communities(groups, at)} if not match.attributes else set()
        return {e.id for e in self.episodes(groups, at, match.episodes)}

    def vectors(self, kind: Kind, owners: Sequence[str]) -> dict[str, Vectors]:
        held = dict(self._all_vectors())
        rows = {o: held[kind, o] for o in owners if (kind, o) in held}
        return {o: np.stack([pieces[n] for n in sorted(pieces)]).astype(np.float32) for o, pieces in rows.items()}

    def similarities(self, kind: Kind, vector: Vectors, owners: Sequence[str]) -> dict[str, float]:
        query = np.asarray(vector, dtype=np.float32).reshape(-1)
        length = float(np.linalg.norm(query))
        return {o: float((rows @ query).max()) / length for o, rows in self.vectors(kind, owners).items()} if length else {}

    def vector_owners(self, group: str, *, staged: bool) -> list[tuple[Kind, str]]:
        held = self._group(group)
        return sorted(owner for owner in held.vectors if (owner in held.staged) == staged)

    def words(self, kind: Kind, owners: Sequence[str]) -> dict[str, str]:
        held = dict(self._all_words())
        return {o: held[kind, o] for o in owners if (kind, o) in held}

    def word_statistics(self, kind: Kind, terms: Sequence[str]) -> tuple[int, float, dict[str, int]]:
        rows = [text.split() for (k, _), text in self._all_words() if k is kind]
        mean = sum(map(len, rows)) / len(rows) if rows else 0.0
        return len(rows), mean, {t: sum(t in row for row in rows) for t in terms}

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
        edges = sorted(self.facts(groups, at, match), key=lambda v: v.uuid)
        edges.sort(key=lambda v: (v.valid.start is not None, v.valid.start or FIRST), reverse=True)
        values = {v.id for v in self.entities(groups, at, EntityMatch(types=(VALUE_TYPE,)))}
        found = {s: Hop(s, 0, None, None) for s in seeds}
        frontier = set(found)
        for hop in range(1, hops + 1):
            if not frontier:
                break
            reached: dict[str, Hop] = {}
            for edge in edges:
                for here, there in ((edge.source, edge.target), (edge.target, edge.source)):
                    if here in frontier and there not in found and there not in reached:
                        reached[there] = Hop(there, hop, edge.uuid, here)
            found |= reached
            frontier = reached.keys() - values
        return list(found.values())[:limit]

    def verify(self) -> list[Violation]:
        return [v for name, group in self.state.groups.items() for v in _violations(name, group)]


def _fact_order(version: FactVersion) -> tuple[datetime, datetime, str]:
    return version.valid.start or FIRST, version.system.start or FIRST, version.uuid


def _episode_order(episode: Episode) -> tuple[datetime, int, str]:
    return episode.reference_time, episode.seq, episode.id


def _visible(group: Group, at: AsOf) -> list[Episode]:
    return [group.records[e].episode for e, shown in group.visible.items() if any(believed(s, at.system) for s in shown)]


def _violations(name: str, group: Group) -> Iterator[Violation]:
    for assertion in group.keys:
        if assertion not in group.assertions:
            yield Violation("key", assertion, f"a key row of {name!r} without its assertion")
    for mention in group.mentions:
        if mention.mention.episode not in group.records:
            yield Violation("mention", mention.mention.episode, "a mention without its episode")
    facts = {v.fact_id for v in group.facts.values()}
    for citation in group.citations:
        if citation.fact_id not in facts or citation.episode not in group.records:
            yield Violation("citation", citation.fact_id, f"cites {citation.episode}: fact or episode is missing")
    known = {(v.level, v.id) for v in group.communities.values()}
    for member in group.members:
        if (member.level, member.community) not in known:
            yield Violation("community", member.community, f"holds {member.entity} on level {member.level}, and is not there")
    for kind, owner in (*group.words, *group.vectors):
        if not group.owns(kind, owner):
            yield Violation("index", owner, f"an index row of a {kind} that does not exist")
