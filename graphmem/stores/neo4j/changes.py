"""What began and ended, by when."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from graphmem.interval import FIRST
from graphmem.model import AsOf, CitationVersion, EntityVersion, FactMatch, FactVersion, LogEntry
from graphmem.stores.changes import Stretch
from graphmem.stores.codec import OPEN_END, OPEN_START, raw_text, safe_text, to_micros
from graphmem.stores.matching import fact_matches
from graphmem.stores.neo4j import rows
from graphmem.stores.neo4j.graph import GraphReads, fact_order
from graphmem.stores.neo4j.session import Row
from graphmem.stores.neo4j.session import ids as named


class ChangeReads(GraphReads):
    """The part of a reader that speaks of change."""

    def facts_changed(self, group: str, stretch: Stretch, match: FactMatch | None = None) -> list[FactVersion]:
        match = match or FactMatch()
        narrowest = "facts_changed_by_entity" if match.entities is not None else "facts_changed"
        chosen = "facts_changed_by_fact" if match.fact_ids is not None else narrowest
        found = self._in_stretch(chosen, group, stretch, **_conditions(match))
        pin = self._pin(group)
        return [v for row in found if fact_matches(v := rows.fact(row, pin), match)]

    def facts_turning(self, group: str, system: datetime | None, stretch: Stretch, match: FactMatch | None = None) -> list[FactVersion]:
        scopes = self._scopes([group], AsOf(None, system))
        if not scopes:
            return []
        match = match or FactMatch()
        found = self._found("facts_turning", scopes=scopes, **_bounds(stretch), **_conditions(match))
        pin = self._pin(group)
        return sorted((v for row in found if fact_matches(v := rows.fact(row, pin), match)), key=fact_order)

    def citations_changed(self, group: str, stretch: Stretch, facts: Sequence[str] | None = None) -> list[CitationVersion]:
        statement, params = ("citations_changed", {}) if facts is None else ("citations_changed_by_fact", {"ids": named(facts)})
        pin = self._pin(group)
        found = [rows.citation(row, pin) for row in self._in_stretch(statement, group, stretch, **params)]
        return sorted(found, key=lambda c: (c.fact_id, c.valid_at or FIRST, c.episode, c.by, c.system.start or FIRST))

    def entities_changed(self, group: str, stretch: Stretch, ids: Sequence[str] | None = None) -> list[EntityVersion]:
        statement, params = ("entities_changed", {}) if ids is None else ("entities_changed_by_id", {"ids": named(ids)})
        pin = self._pin(group)
        found = [rows.entity(row, pin) for row in self._in_stretch(statement, group, stretch, **params)]
        return sorted(found, key=lambda v: (v.id, v.system.start or FIRST))

    def _in_stretch(self, statement: str, group: str, stretch: Stretch, **params: Any) -> list[Row]:
        return self._found(statement, group=safe_text(group), pin=self._pin(group), **_bounds(stretch), **params)

    def entries_at(self, group: str, instants: Sequence[datetime]) -> list[LogEntry]:
        stamps = sorted({to_micros(i) for i in instants})
        (found,) = self.run.rows("entries_written", group=safe_text(group), pin=self._pin(group), instants=stamps)
        entries: list[LogEntry] = list(self.records(group, [raw_text(i) for i in found["episodes"]]))
        if found["operations"]:
            entries += self.operations(group, ids=[raw_text(i) for i in found["operations"]])
        return sorted(entries, key=lambda entry: entry.seq)


def _conditions(match: FactMatch) -> dict[str, Any]:
    return {name: named(getattr(match, name)) for name in ("entities", "fact_ids", "relations")}


def _bounds(stretch: Stretch) -> dict[str, int]:
    """The parameters `since` and `until`; rows that are open at that side lie outside."""
    since, until = stretch
    return {"since": OPEN_START if since is None else to_micros(since), "until": OPEN_END - 1 if until is None else to_micros(until)}
