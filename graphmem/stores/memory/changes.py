"""What began and ended, by when, in plain Python: every row is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from graphmem.interval import FIRST
from graphmem.model import CitationVersion, EntityVersion, FactMatch, FactVersion, LogEntry
from graphmem.stores.changes import Stretch
from graphmem.stores.matching import believed, fact_matches
from graphmem.stores.memory.state import Group, State


class ChangeReads:
    """The part of a reader that speaks of change."""

    state: State

    def _held(self, group: str) -> Group:
        return self.state.groups.get(group) or Group()

    def facts_changed(self, group: str, stretch: Stretch, match: FactMatch | None = None) -> list[FactVersion]:
        held = self._held(group).facts.values()
        found = [v for v in held if (stretch.has(v.system.start) or stretch.has(v.system.end)) and fact_matches(v, match)]
        return sorted(found, key=lambda v: (v.system.start or FIRST, v.uuid))

    def facts_turning(self, group: str, system: datetime | None, stretch: Stretch, match: FactMatch | None = None) -> list[FactVersion]:
        held = [v for v in self._held(group).facts.values() if believed(v.system, system) and fact_matches(v, match)]
        found = [v for v in held if stretch.has(v.valid.start) or stretch.has(v.valid.end)]
        return sorted(found, key=lambda v: (v.valid.start is not None, v.valid.start or FIRST, v.system.start or FIRST, v.uuid))

    def citations_changed(self, group: str, stretch: Stretch, facts: Sequence[str] | None = None) -> list[CitationVersion]:
        wanted = None if facts is None else set(facts)
        held = (c for c in self._held(group).citations if wanted is None or c.fact_id in wanted)
        found = [c for c in held if stretch.has(c.system.start) or stretch.has(c.system.end)]
        return sorted(found, key=lambda c: (c.fact_id, c.valid_at or FIRST, c.episode, c.by, c.system.start or FIRST))

    def entities_changed(self, group: str, stretch: Stretch, ids: Sequence[str] | None = None) -> list[EntityVersion]:
        held = (v for v in self._held(group).entities.values() if ids is None or v.id in ids)
        found = [v for v in held if stretch.has(v.system.start) or stretch.has(v.system.end)]
        return sorted(found, key=lambda v: (v.id, v.system.start or FIRST))

    def entries_at(self, group: str, instants: Sequence[datetime]) -> list[LogEntry]:
        held, wanted = self._held(group), set(instants)
        found: list[LogEntry] = [r for r in held.records.values() if r.episode.created_at in wanted]
        found += [o for o in held.operations.values() if o.created_at in wanted]
        return sorted(found, key=lambda entry: entry.seq)
