"""Reads of versions: facts, citations, entities, mentions and visible episodes at a point on both axes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from heapq import merge
from itertools import islice
from operator import itemgetter
from typing import Any, TypeVar, cast

from graphmem.model import (
    AsOf,
    CitationVersion,
    EntityMatch,
    EntityVersion,
    Episode,
    EpisodeMatch,
    FactMatch,
    FactVersion,
    MentionVersion,
)
from graphmem.stores.codec import OPEN_END, OPEN_START, end_micros, from_micros, raw_text, start_micros
from graphmem.stores.matching import entity_matches, episode_matches, fact_matches, with_name_keys
from graphmem.stores.sqlite import rows
from graphmem.stores.sqlite.kept import ordered
from graphmem.stores.sqlite.log import LogReads
from graphmem.stores.sqlite.session import Value, id_list, instants, row_list

Version = TypeVar("Version")
_NOW = AsOf()
# The condition that finds fewest rows comes first: it becomes the index that is read; the others are checked row by row.
_FACT_INDEXES = ("uuids", "fact_ids", "sources", "targets", "entities", "relations")
_FACT_STATEMENTS = {
    "uuids": "facts_by_uuid",
    "fact_ids": "facts_by_fact_id",
    "sources": "facts_by_source",
    "targets": "facts_by_target",
    "entities": "facts_by_entity",
    "relations": "facts_by_relation",
}
# Conditions that a statement checks on the columns of its index, before it reads a row.
_FACT_NARROWED = {"sources": ("targets", "relations"), "targets": ("relations",), "entities": ("relations",)}
_EPISODE_STATEMENTS = {
    "ids": "episodes_by_id",
    "keys": "episodes_by_key",
    "entities": "episodes_by_entity",
    "sessions": "episodes_by_session",
}


class GraphReads(LogReads):
    """The graph's part of a reader."""

    def _scope(self, groups: Sequence[str]) -> tuple[str, dict[int, str]]:
        """The groups as a parameter, and their names by row number."""
        known = self._known_groups(groups)
        return row_list(known.values()), {n: name for name, n in known.items()}

    def facts(self, groups: Sequence[str], at: AsOf, match: FactMatch | None = None, limit: int | None = None) -> list[FactVersion]:
        grps, named = self._scope(groups)
        chosen = next((f for f in _FACT_INDEXES if match is not None and getattr(match, f) is not None), None)
        params: dict[str, Value] = {"grps": grps, **instants(at)}
        if match is not None and chosen is not None:
            params["ids"] = id_list(getattr(match, chosen))
            params |= {f: None if getattr(match, f) is None else id_list(getattr(match, f)) for f in _FACT_NARROWED.get(chosen, ())}
            rest = replace(match, **{chosen: None})
            match = None if rest == FactMatch() else match
        found = self.session.each(_FACT_STATEMENTS[chosen] if chosen else "facts_in_groups", **params)
        return _first(limit, (rows.fact(r, named) for r in found), lambda v: fact_matches(v, match))

    def fact_versions(self, group: str, uuids: Sequence[str] | None = None, *, facts: Sequence[str] | None = None) -> list[FactVersion]:
        grp = self._group_row(group)
        if uuids is not None:
            found = self.session.rows("facts_ever_by_uuid", grp=grp, ids=id_list(uuids))
        elif facts is not None:
            found = self.session.rows("facts_ever_by_fact_id", grp=grp, ids=id_list(facts))
        else:
            found = self.session.rows("facts_ever", grp=grp)
        return [rows.fact(r, {grp: group}) for r in found]

    def scan_facts(self, group: str) -> Iterator[FactVersion]:
        grp = self._group_row(group)
        return (rows.fact(r, {grp: group}) for r in self.session.each("facts_ever", grp=grp))

    def citations(
        self, groups: Sequence[str], at: AsOf, *, facts: Sequence[str] | None = None, episodes: Sequence[str] | None = None
    ) -> list[CitationVersion]:
        grps, _ = self._scope(groups)
        system = instants(at)["system"]
        if facts is not None:
            found = self.session.rows("citations_by_fact", ids=id_list(facts), grps=grps, system=system)
        elif episodes is not None:
            found = self.session.rows("citations_by_episode", ids=id_list(episodes), grps=grps, system=system)
        else:
            found = self.session.rows("citations_all", grps=grps, system=system)
        citations = [rows.citation(r) for r in found]
        return citations if facts is None or episodes is None else [c for c in citations if c.episode in episodes]

    def cited_now(self, group: str) -> list[tuple[str, datetime | None, str]]:
        found: list[Any] = self.session.rows("cited_now", grp=self._group_row(group), open_end=OPEN_END)
        return [(raw_text(fact), None if at == OPEN_START else from_micros(at), raw_text(by)) for fact, at, by in found]

    def mentioned_now(self, group: str) -> list[tuple[str, int, str, str]]:
        found: list[Any] = self.session.rows("mentioned_now", grp=self._group_row(group), open_end=OPEN_END)
        return [(raw_text(episode), n, raw_text(entity), raw_text(name)) for episode, n, entity, name in found]

    def entities(self, groups: Sequence[str], at: AsOf, match: EntityMatch | None = None, limit: int | None = None) -> list[EntityVersion]:
        grps, named = self._scope(groups)
        keyed = with_name_keys(match)
        system = instants(at)["system"]
        if keyed is not None and keyed.ids is not None and at.system is None:
            return self._open_entities(groups, keyed, limit)
        if keyed is not None and keyed.ids is not None:
            found = self.session.each("entities_by_id", ids=id_list(keyed.ids), grps=grps, system=system)
            keyed = None if keyed.names is None and keyed.types is None else keyed
        elif keyed is not None and keyed.names is not None:
            found = self.session.each("entities_by_name", ids=id_list(keyed.names), grps=grps, system=system)
        else:
            found = self.session.each("entities_in_groups", grps=grps, system=system)
        return _first(limit, (rows.entity(r, named) for r in found), lambda v: entity_matches(v, keyed))

    def _open_entities(self, groups: Sequence[str], match: EntityMatch, limit: int | None) -> list[EntityVersion]:
        """Entities by id at the last instant."""
        ids = dict.fromkeys(match.ids or ())
        found = [known for i in ids if (known := self.kept.entities.get(i)) is not None]
        if unknown := [i for i in ids if i not in self.kept.entities]:
            grps, named = self._scope(groups)
            read = self.session.rows("entities_by_id", ids=id_list(unknown), grps=grps, system=instants(_NOW)["system"])
            new = [ordered(rows.entity(r, named)) for r in read]
            self.kept.keep(new)
            found += new
        found.sort(key=itemgetter(0))
        rest = None if match.names is None and match.types is None else match
        return _first(limit, (v for _, v in found), lambda v: v.group in groups and (rest is None or entity_matches(v, rest)))

    def entity_versions(self, group: str, ids: Sequence[str]) -> list[EntityVersion]:
        grp = self._group_row(group)
        return [rows.entity(r, {grp: group}) for r in self.session.rows("entities_ever", ids=id_list(ids), grp=grp)]

    def mentions(
        self,
        groups: Sequence[str],
        at: AsOf,
        *,
        episodes: Sequence[str] | None = None,
        entities: Sequence[str] | None = None,
        limit: int | None = None,
    ) -> list[MentionVersion]:
        grps, _ = self._scope(groups)
        params: dict[str, Value] = {"grps": grps, "system": instants(at)["system"], "limit": -1 if limit is None else limit}
        if episodes is not None and entities is not None:
            found = self.session.rows("mentions_by_both", ids=id_list(entities), episodes=id_list(episodes), **params)
        elif episodes is not None:
            found = self.session.rows("mentions_by_episode", ids=id_list(episodes), **params)
        elif entities is not None:
            found = self.session.rows("mentions_by_entity", ids=id_list(entities), **params)
        else:
            found = self.session.rows("mentions_all", **params)
        return [rows.mention_version(r) for r in found]

    def mentioned(self, groups: Sequence[str], at: AsOf, entities: Sequence[str], limit: int) -> list[tuple[str, str]]:
        grps, _ = self._scope(groups)
        found = self.session.rows("mentioned", ids=id_list(entities), grps=grps, system=instants(at)["system"], limit=limit)
        return [(rows.same_text(episode), rows.same_text(entity)) for episode, entity in found]

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
        grps, named = self._scope(groups)
        params: dict[str, Value] = {"system": instants(at)["system"], "bodies": int(bodies)}
        chosen = next((f for f in _EPISODE_STATEMENTS if match is not None and getattr(match, f) is not None), None)
        if chosen is None:
            found = self._episodes_in_order(named, match, params, newest_first)
        else:
            by_index = self.session.rows(_EPISODE_STATEMENTS[chosen], ids=id_list(getattr(match, chosen)), grps=grps, **params)
            found = (rows.episode(r, named[cast(int, r[2])]) for r in (reversed(by_index) if newest_first else by_index))
        mentioning = None
        if match is not None and match.entities is not None and chosen != "entities":
            mentioning = {m.mention.episode for m in self.mentions(groups, at, entities=match.entities)}
        return _first(limit, found, lambda e: episode_matches(e, match) and (mentioning is None or e.id in mentioning))

    def _episodes_in_order(
        self, named: Mapping[int, str], match: EpisodeMatch | None, params: dict[str, Value], newest_first: bool
    ) -> Iterator[Episode]:
        """Episodes of all groups along the index of reference times, read only as far as they are taken."""
        reference = None if match is None else match.reference
        stretch: dict[str, Value] = {
            "first": start_micros(None if reference is None else reference.start),
            "last": end_micros(None if reference is None else reference.end),
        }
        statement = "episodes_newest_first" if newest_first else "episodes_in_order"
        streams = [self._stream(statement, n, name, params | stretch) for n, name in named.items()]
        return merge(*streams, key=lambda e: (e.reference_time, e.seq, e.id), reverse=newest_first)

    def _stream(self, statement: str, grp: int, name: str, params: Mapping[str, Value]) -> Iterator[Episode]:
        for row in self.session.each(statement, grp=grp, **params):
            yield rows.episode(row, name)

    def around(self, groups: Sequence[str], at: AsOf, episodes: Sequence[str]) -> dict[str, tuple[str | None, str | None]]:
        grps, _ = self._scope(groups)
        found: Sequence[Any] = self.session.rows("episodes_around", ids=id_list(episodes), grps=grps, system=instants(at)["system"])
        texts = ([None if t is None else rows.same_text(t) for t in r] for r in found)
        return {cast(str, episode): (before, after) for episode, before, after in texts}

    def counts(self, groups: Sequence[str], at: AsOf) -> dict[str, int]:
        grps, _ = self._scope(groups)
        row = cast(tuple[int, int, int, int], self.session.row("counts", grps=grps, **instants(at)))
        return dict(zip(("episodes", "entities", "facts", "mentions"), row, strict=True))

    def count_fact_versions(self, group: str) -> int:
        (count,) = cast(tuple[int], self.session.row("count_facts_ever", grp=self._group_row(group)))
        return count


def _first(limit: int | None, versions: Iterable[Version], passes: Callable[[Version], bool]) -> list[Version]:
    """The first that pass, reading no further than needed."""
    return list(islice((v for v in versions if passes(v)), limit))
