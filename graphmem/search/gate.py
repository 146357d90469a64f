"""Filters: what stores apply inside the search, and what is checked on the items found before any limit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from graphmem.model import AsOf, EntityMatch, EntityVersion, Episode, EpisodeMatch, FactMatch, FactVersion
from graphmem.search.hits import Filters
from graphmem.stores.base import Claim, Found, Lean, Reader, SearchFilter, Strict, Turn
from graphmem.stores.matching import has_attributes


def pushed_down(filters: Filters) -> SearchFilter:
    """The part of `filters` that stores apply themselves, or as far as they can."""
    said = (filters.sessions, filters.actors, filters.sources, filters.reference)
    episodes = EpisodeMatch(sessions=filters.sessions, actors=filters.actors, sources=filters.sources, reference=filters.reference)
    asked = episodes if any(condition is not None for condition in said) else None
    return SearchFilter(
        facts=FactMatch(relations=filters.relations, valid_overlaps=filters.valid)
        if filters.relations is not None or filters.valid
        else None,
        entities=EntityMatch(types=filters.types) if filters.types is not None else None,
        episodes=asked,
        cited=asked,
        ends=filters.types,
        attributes=filters.attributes,
    )


@dataclass(frozen=True, slots=True)
class Gate:
    """Checks found items against the filters that stores do not apply, in a few batched reads."""

    reader: Reader
    groups: tuple[str, ...]
    at: AsOf
    filters: Filters

    def facts(self, ids: Sequence[str]) -> list[FactVersion]:
        """Those of the fact versions that pass, in the order given."""
        found = {f.uuid: f for f in self.reader.facts(self.groups, self.at, FactMatch(uuids=tuple(ids)))} if ids else {}
        return self.passing([found[i] for i in ids if i in found])

    def passing(self, facts: Sequence[FactVersion]) -> list[FactVersion]:
        """Those of the fact versions read that pass what stores do not apply."""
        having = [f for f in facts if has_attributes(f.attributes, self.filters.attributes)]
        if not isinstance(self.reader, Strict):
            return self._said_by(self._typed(having))
        joined = self._joined(self.reader, [f.uuid for f in having])
        return [f for f in having if f.uuid in joined]

    def claims(self, ids: Sequence[str]) -> dict[str, Claim | FactVersion]:
        """By uuid, those of the fact versions that pass: no more of them than ranking asks for, if the reader can tell it apart."""
        reader, joined = self.reader, set(ids)
        if not isinstance(reader, Lean) or (self.checks_facts and (self.checks_others or not isinstance(reader, Strict))):
            return {f.uuid: f for f in self.facts(ids)}
        if isinstance(reader, Strict):
            joined = self._joined(reader, ids)
        found = reader.claims(self.groups, self.at, ids) if ids else {}
        return {i: found[i] for i in ids if i in found and i in joined}

    def entities(self, ids: Sequence[str]) -> list[EntityVersion]:
        """Those of the entities that pass, in the order given."""
        match = EntityMatch(ids=tuple(ids), types=self.filters.types)
        found = {e.id: e for e in self.reader.entities(self.groups, self.at, match)} if ids else {}
        return [found[i] for i in ids if i in found and has_attributes(found[i].attributes, self.filters.attributes)]

    def episodes(self, ids: Sequence[str]) -> list[Episode]:
        """Those of the episodes that pass, in the order given."""
        match = pushed_down(self.filters).episodes or EpisodeMatch()
        narrowed = EpisodeMatch(tuple(ids), None, None, match.sessions, match.actors, match.sources, None, match.reference)
        found = {e.id: e for e in self.reader.episodes(self.groups, self.at, narrowed)} if ids else {}
        return [found[i] for i in ids if i in found and has_attributes(found[i].attributes, self.filters.attributes)]

    def turns(self, ids: Sequence[str]) -> dict[str, Turn | Episode]:
        """By id, those of the episodes that pass: no more of them than ranking asks for, if the reader can tell it apart."""
        if isinstance(self.reader, Lean) and not self.checks_others and pushed_down(self.filters).episodes is None:
            return {**self.reader.turns(self.groups, self.at, ids)} if ids else {}
        return {e.id: e for e in self.episodes(ids)}

    def _joined(self, reader: Strict, ids: Sequence[str]) -> set[str]:
        match = pushed_down(self.filters)
        return set(ids) if match.cited is None and match.ends is None else reader.joined(self.groups, self.at, ids, match)

    def _typed(self, facts: list[FactVersion]) -> list[FactVersion]:
        if self.filters.types is None or not facts:
            return facts
        ends = tuple({end for f in facts for end in (f.source, f.target)})
        fitting = {e.id for e in self.reader.entities(self.groups, self.at, EntityMatch(ids=ends, types=self.filters.types))}
        return [f for f in facts if f.source in fitting or f.target in fitting]

    def _said_by(self, facts: list[FactVersion]) -> list[FactVersion]:
        """Facts that cite an episode of the sessions, actors, sources and reference times asked for."""
        match = pushed_down(self.filters).episodes
        if match is None or not facts:
            return facts
        cited = self.reader.citations(self.groups, self.at, facts=tuple({f.fact_id for f in facts}))
        narrowed = EpisodeMatch(
            tuple({c.episode for c in cited}), None, None, match.sessions, match.actors, match.sources, None, match.reference
        )
        visible = {e.id for e in self.reader.episodes(self.groups, self.at, narrowed, bodies=False)}
        passing = {(c.fact_id, c.valid_at) for c in cited if c.episode in visible}
        return [f for f in facts if (f.fact_id, f.valid.start) in passing]

    @property
    def checks_facts(self) -> bool:
        """Whether a fact that a store lets through may still fail here."""
        return bool(self.filters.attributes) or self.filters.types is not None or pushed_down(self.filters).episodes is not None

    @property
    def checks_others(self) -> bool:
        """Likewise an entity or an episode."""
        return bool(self.filters.attributes)


def enough(
    found: Sequence[Found], fetch: Callable[[int], Sequence[Found]], passing: Callable[[Sequence[str]], set[str]], want: int
) -> tuple[Found, ...]:
    """`want` items that pass: of the first `want` found, then fetching four times as many each round until there are enough or no more."""
    limit = want
    while True:
        kept_ids = passing([f.id for f in found])
        kept = [f for f in found if f.id in kept_ids]
        if len(kept) >= want or len(found) < limit:
            return tuple(kept[:want])
        limit *= 4
        found = fetch(limit)
