"""Reads of versions: facts, citations, entities, mentions and visible episodes at a point on both axes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any

from graphmem import names
from graphmem.interval import FIRST
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
from graphmem.stores.codec import OPEN_END, OPEN_START, end_micros, raw_or_none, raw_text, safe_text, start_micros
from graphmem.stores.matching import episode_matches, fact_matches
from graphmem.stores.neo4j import rows
from graphmem.stores.neo4j.log import LogReads
from graphmem.stores.neo4j.session import Row, ids
from graphmem.stores.neo4j.tokens import index_key

ALL = 2**31 - 1
"""No limit."""
# The condition that finds fewest rows comes first: it becomes the index that is read; the others are checked row by row.
_PAGE = 1_000
# Sessions of fewer turns are read as a whole where at least a sixth of so many are asked for.
WHOLE_SESSION = 48
_FACT_STATEMENTS = {
    "fact_ids": "facts_by_fact_id",
    "sources": "facts_by_source",
    "targets": "facts_by_target",
    "entities": "facts_by_entity",
    "relations": "facts_by_relation",
}
_EPISODE_STATEMENTS = {
    "keys": "episodes_by_key",
    "entities": "episodes_by_entity",
    "sessions": "episodes_by_session",
}


def fact_match(match: FactMatch | None) -> dict[str, Any]:
    """The conditions as parameters; those not given are null."""
    match = match or FactMatch()
    overlaps = match.valid_overlaps
    named = ("uuids", "fact_ids", "sources", "targets", "entities", "relations")
    return {
        **{name: ids(getattr(match, name)) for name in named},
        "overlaps_start": OPEN_START if overlaps is None else start_micros(overlaps.start),
        "overlaps_end": OPEN_END if overlaps is None else end_micros(overlaps.end),
    }


def entity_match(match: EntityMatch | None) -> dict[str, Any]:
    """The conditions as parameters; those not given are null."""
    match = match or EntityMatch()
    keys = None if match.names is None else sorted({index_key(names.key(n)) for n in match.names})
    return {"ids": ids(match.ids), "types": ids(match.types), "keys": keys}


def episode_match(match: EpisodeMatch | None) -> dict[str, Any]:
    """The conditions as parameters; those not given are null."""
    match = match or EpisodeMatch()
    named = ("ids", "keys", "kinds", "sessions", "actors", "sources", "entities")
    reference = match.reference
    return {
        **{name: ids(getattr(match, name)) for name in named},
        "first": OPEN_START if reference is None else start_micros(reference.start),
        "last": OPEN_END if reference is None else end_micros(reference.end),
    }


def episodes_ask(
    scopes: list[dict[str, Any]], match: EpisodeMatch | None, limit: int | None, *, newest_first: bool, bodies: bool
) -> tuple[str, dict[str, Any]]:
    """The statement that reads episodes, and its parameters."""
    params = episode_match(match)
    whole = "episodes_newest_first" if newest_first else "episodes_in_order"
    chosen = next((s for name, s in _EPISODE_STATEMENTS.items() if params[name] is not None), whole)
    if chosen != whole:
        params["newest_first"] = newest_first
    if chosen == "episodes_by_key":
        params["key_indexes"] = [index_key(k) for k in (match.keys if match is not None else None) or ()]
    elif chosen == "episodes_by_session":
        params["session_indexes"] = [index_key(s) for s in (match.sessions if match is not None else None) or ()]
    return chosen, {"scopes": scopes, "bodies": bodies, "limit": ALL if limit is None else limit, **params}


def fact_order(version: FactVersion) -> tuple[datetime, datetime, str]:
    """Valid start, unknown first; created_at; uuid."""
    return version.valid.start or FIRST, version.system.start or FIRST, version.uuid


class GraphReads(LogReads):
    """The graph's part of a reader."""

    def _found(self, name: str, **params: Any) -> list[Row]:
        """What a statement has collected in one row: the driver takes many rows far more slowly than one long one."""
        found: list[Row] = self.run.rows(name, **params)[0]["found"]
        return found

    def _by_id(self, name: str, where: Hashable, wanted: Sequence[str], own: Callable[[Row], str], **params: Any) -> list[Row]:
        """The rows of a statement that takes ids, in the order of these; those that are at hand are not read again.

        `where` tells apart what else the statement is asked; `own` gives the id of a row.
        """
        known = self._at_hand(name, where)
        asked = dict.fromkeys(ids(wanted) or ())
        if unknown := [i for i in asked if i not in known]:
            self._keep(known, unknown, self._found(name, ids=unknown, **params), own)
        return [row for i in asked for row in known[i]]

    def _at_hand(self, name: str, where: Hashable) -> dict[str, list[Row]]:
        """Rows by id, to be added to: kept where nothing that is read can change."""
        return {}

    @staticmethod
    def _keep(known: dict[str, list[Row]], asked: Sequence[str], found: Sequence[Row], own: Callable[[Row], str]) -> None:
        known.update((i, []) for i in asked)
        for row in found:
            known[own(row)].append(row)

    def _pin_of(self, row: Row) -> int:
        """The last commit that this reader sees of the row's group."""
        return self._pin(raw_text(row["group_id"]))

    def facts(self, groups: Sequence[str], at: AsOf, match: FactMatch | None = None, limit: int | None = None) -> list[FactVersion]:
        scopes = self._scopes(groups, at)
        if not scopes:
            return []
        if match is not None and match.uuids is not None:
            found = self._by_id("facts_by_uuid", (tuple(groups), at), match.uuids, itemgetter("uuid"), scopes=scopes)
            named = (rows.fact(row, self._pin_of(row)) for row in found)
            return sorted((v for v in named if fact_matches(v, match)), key=fact_order)[:limit]
        params = fact_match(match)
        chosen = next((s for name, s in _FACT_STATEMENTS.items() if params[name] is not None), "facts_in_groups")
        if chosen == "facts_by_relation":
            params["relation_indexes"] = [index_key(r) for r in (match.relations if match is not None else None) or ()]
        found = self._found(chosen, scopes=scopes, limit=ALL if limit is None else limit, **params)
        versions = [rows.fact(row, self._pin_of(row)) for row in found]
        return sorted(versions, key=fact_order)

    def fact_versions(self, group: str, uuids: Sequence[str] | None = None, *, facts: Sequence[str] | None = None) -> list[FactVersion]:
        pin = self._pin(group)
        if uuids is not None:
            found = self._by_ids("facts_ever_by_uuid", group, uuids)
        elif facts is not None:
            found = self._by_ids("facts_ever_by_fact_id", group, facts)
        else:
            found = self.run.rows("facts_ever", group=safe_text(group), pin=pin)
        return [rows.fact(row["fact"], pin) for row in found]

    def scan_facts(self, group: str) -> Iterator[FactVersion]:
        (row,) = self.run.rows("fact_uuids_ever", group=safe_text(group), pin=self._pin(group))
        uuids = [raw_text(i) for i in row["ids"]]
        pages = (uuids[start : start + _PAGE] for start in range(0, len(uuids), _PAGE))
        return (version for page in pages for version in self.fact_versions(group, page))

    def citations(
        self, groups: Sequence[str], at: AsOf, *, facts: Sequence[str] | None = None, episodes: Sequence[str] | None = None
    ) -> list[CitationVersion]:
        scopes = self._scopes(groups, at)
        if not scopes:
            return []
        if facts is not None:
            found = self._found("citations_by_fact", scopes=scopes, ids=ids(facts))
        elif episodes is not None:
            found = self._found("citations_by_episode", scopes=scopes, ids=ids(episodes))
        else:
            found = self._found("citations_all", scopes=scopes)
        citations = [rows.citation(row, self._pin_of(row)) for row in found]
        if facts is not None and episodes is not None:
            citations = [c for c in citations if c.episode in episodes]
        return sorted(citations, key=lambda c: (c.fact_id, c.valid_at or FIRST, c.episode, c.by))

    def sources(self, groups: Sequence[str], at: AsOf, facts: Sequence[str]) -> dict[str, tuple[str, ...]]:
        scopes = self._scopes(groups, at)
        if not scopes or not facts:
            return {}
        found = self._by_id("sources", (tuple(groups), at.system), facts, itemgetter(0), scopes=scopes)
        return {raw_text(uuid): tuple(sorted(map(raw_text, episodes))) for uuid, episodes in found}

    def entities(self, groups: Sequence[str], at: AsOf, match: EntityMatch | None = None, limit: int | None = None) -> list[EntityVersion]:
        scopes = self._scopes(groups, at)
        if not scopes:
            return []
        params, most = entity_match(match), ALL if limit is None else limit
        keys = params.pop("keys")
        if keys is not None:
            found = self._found("entities_by_name", scopes=scopes, keys=keys, limit=most, **params)
        elif match is not None and match.ids is not None:
            found = self._by_id("entities_by_id", (tuple(groups), at.system), match.ids, itemgetter("id"), scopes=scopes)
            found = [row for row in found if params["types"] is None or row["type"] in params["types"]]
        else:
            found = self._found("entities_in_groups", scopes=scopes, limit=most, **params)
        versions = [rows.entity(row, self._pin_of(row)) for row in found]
        return sorted(versions, key=lambda v: (names.key(v.name), v.id))[:limit]

    def entity_versions(self, group: str, ids: Sequence[str]) -> list[EntityVersion]:
        pin = self._pin(group)
        return [rows.entity(row["entity"], pin) for row in self._by_ids("entities_ever", group, ids)]

    def mentions(
        self,
        groups: Sequence[str],
        at: AsOf,
        *,
        episodes: Sequence[str] | None = None,
        entities: Sequence[str] | None = None,
        limit: int | None = None,
    ) -> list[MentionVersion]:
        scopes = self._scopes(groups, at)
        if not scopes:
            return []
        most = ALL if limit is None else limit
        if episodes is not None:
            found = self._found("mentions_by_episode", scopes=scopes, episodes=ids(episodes), entities=ids(entities), limit=most)
        elif entities is not None:
            found = self._found("mentions_by_entity", scopes=scopes, entities=ids(entities), limit=most)
        else:
            found = self._found("mentions_all", scopes=scopes, limit=most)
        return [rows.mention_version(row, self._pin_of(row["mention"])) for row in found]

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
        scopes = self._scopes(groups, at)
        if not scopes:
            return []
        if match is not None and match.ids is not None and match.entities is None:
            found = self._episodes_by_id((tuple(groups), at.system), scopes, match.ids, bodies=bodies)
            episodes = [e for row in found if episode_matches(e := rows.episode(row), match)]
        else:
            statement, params = episodes_ask(scopes, match, limit, newest_first=newest_first, bodies=bodies)
            episodes = [rows.episode(row) for row in self._found(statement, **params)]
        return sorted(episodes, key=lambda e: (e.reference_time, e.seq, e.id), reverse=newest_first)[:limit]

    def _episodes_by_id(self, where: tuple[Hashable, ...], scopes: Sequence[Row], wanted: Sequence[str], *, bodies: bool) -> list[Row]:
        whole = self._at_hand("episodes_by_id", (*where, True))
        if not bodies and wanted and all(i in whole for i in ids(wanted) or ()):
            return [{**row, "body": ""} for row in self._episodes_by_id(where, scopes, wanted, bodies=True)]
        return self._by_id("episodes_by_id", (*where, bodies), wanted, itemgetter("id"), scopes=scopes, bodies=bodies)

    def around(self, groups: Sequence[str], at: AsOf, episodes: Sequence[str]) -> dict[str, tuple[str | None, str | None]]:
        scopes = self._scopes(groups, at)
        if not scopes or not episodes:
            return {}
        found = self._by_id("around", (tuple(groups), at.system), episodes, itemgetter(0), scopes=scopes, closest=[], most=WHOLE_SESSION)
        return {raw_text(i): (raw_or_none(before), raw_or_none(after)) for i, before, after in found}

    def counts(self, groups: Sequence[str], at: AsOf) -> dict[str, int]:
        kinds = ("episodes", "entities", "facts", "mentions")
        scopes = self._scopes(groups, at)
        row = self.run.rows("counts", scopes=scopes)[0] if scopes else dict.fromkeys(kinds, 0)
        return {kind: row[kind] for kind in kinds}

    def count_fact_versions(self, group: str) -> int:
        (row,) = self.run.rows("count_facts_ever", group=safe_text(group), pin=self._pin(group))
        return int(row["count"])
