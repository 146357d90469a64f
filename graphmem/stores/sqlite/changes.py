"""What began and ended, by when."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from graphmem.model import AsOf, CitationVersion, EntityVersion, FactMatch, FactVersion, LogEntry
from graphmem.stores.changes import Stretch
from graphmem.stores.codec import OPEN_END, OPEN_START, to_micros
from graphmem.stores.matching import fact_matches
from graphmem.stores.sqlite import rows
from graphmem.stores.sqlite.graph import GraphReads
from graphmem.stores.sqlite.session import Value, id_list, instants, row_list


class ChangeReads(GraphReads):
    """The part of a reader that speaks of change."""

    def facts_changed(self, group: str, stretch: Stretch, match: FactMatch | None = None) -> list[FactVersion]:
        match = match or FactMatch()
        narrowest = "facts_changed_by_entity" if match.entities is not None else "facts_changed"
        chosen = "facts_changed_by_fact" if match.fact_ids is not None else narrowest
        ids = {name: _ids(getattr(match, name)) for name in ("entities", "fact_ids", "relations")}
        return self._facts_in(chosen, group, match, **ids, **_bounds(stretch))

    def facts_turning(self, group: str, system: datetime | None, stretch: Stretch, match: FactMatch | None = None) -> list[FactVersion]:
        match = match or FactMatch()
        ids = {name: _ids(getattr(match, name)) for name in ("entities", "relations")}
        at = instants(AsOf(system=system))["system"]
        return self._facts_in("facts_turning", group, match, system=at, **ids, **_bounds(stretch))

    def _facts_in(self, statement: str, group: str, match: FactMatch, **params: Value) -> list[FactVersion]:
        grp = self._group_row(group)
        found = (rows.fact(r, {grp: group}) for r in self.session.each(statement, grp=grp, **params))
        return [v for v in found if fact_matches(v, match)]

    def citations_changed(self, group: str, stretch: Stretch, facts: Sequence[str] | None = None) -> list[CitationVersion]:
        return [rows.citation(r) for r in self._in_stretch("citations_changed", "citations_changed_by_fact", group, stretch, facts)]

    def entities_changed(self, group: str, stretch: Stretch, ids: Sequence[str] | None = None) -> list[EntityVersion]:
        grp = self._group_row(group)
        return [rows.entity(r, {grp: group}) for r in self._in_stretch("entities_changed", "entities_changed_by_id", group, stretch, ids)]

    def _in_stretch(self, of_all: str, by_id: str, group: str, stretch: Stretch, ids: Sequence[str] | None) -> list[Any]:
        grp, bounds = self._group_row(group), _bounds(stretch)
        return (
            self.session.rows(of_all, grp=grp, **bounds) if ids is None else self.session.rows(by_id, grp=grp, ids=id_list(ids), **bounds)
        )

    def entries_at(self, group: str, instants: Sequence[datetime]) -> list[LogEntry]:
        params: dict[str, Value] = {"grp": self._group_row(group), "instants": row_list(map(to_micros, instants))}
        episodes = [rows.same_text(i) for (i,) in self.session.rows("episodes_written", **params)]
        operations = [rows.operation(r, group) for r in self.session.rows("operations_written", **params)]
        return sorted([*self.records(group, episodes), *operations], key=lambda entry: entry.seq)


def _ids(wanted: Sequence[str] | None) -> str | None:
    return None if wanted is None else id_list(wanted)


def _bounds(stretch: Stretch) -> dict[str, Value]:
    """The parameters `since` and `until`; rows that are open at that side lie outside."""
    since, until = stretch
    return {"since": OPEN_START if since is None else to_micros(since), "until": OPEN_END - 1 if until is None else to_micros(until)}
