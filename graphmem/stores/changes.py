"""What a store tells of change: the rows that began or ended to be believed in a stretch of system time, found by those instants."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from graphmem.model import CitationVersion, EntityVersion, FactMatch, FactVersion, LogEntry


class Stretch(NamedTuple):
    """The instants after `since` and up to `until`, which is one of them: what tells the state at `until` from that at `since`.

    None: from the first instant on, or up to the last.
    """

    since: datetime | None = None
    until: datetime | None = None

    def has(self, moment: datetime | None) -> bool:
        """Whether the instant lies in it; None is no instant."""
        return moment is not None and (self.since is None or self.since < moment) and (self.until is None or moment <= self.until)


class ChangeReads(Protocol):
    """The part of a reader that speaks of change. What it costs follows the rows found, not those kept."""

    def facts_changed(self, group: str, stretch: Stretch, match: FactMatch | None = None) -> list[FactVersion]:
        """Fact versions that `match` lets through and that began or ended to be believed in `stretch`, by (created_at, uuid)."""
        ...

    def citations_changed(self, group: str, stretch: Stretch, facts: Sequence[str] | None = None) -> list[CitationVersion]:
        """Citations, of these facts if given, that began or ended to be believed in `stretch`, by (fact_id, valid_at, episode, by,
        created_at).
        """
        ...

    def entities_changed(self, group: str, stretch: Stretch, ids: Sequence[str] | None = None) -> list[EntityVersion]:
        """Entity versions, of these entities if given, that began or ended to be believed in `stretch`, by (id, created_at)."""
        ...

    def facts_turning(self, group: str, system: datetime | None, stretch: Stretch, match: FactMatch | None = None) -> list[FactVersion]:
        """Fact versions believed at `system` (None: the last instant) whose valid time starts or ends in `stretch`, by (valid start,
        unknown first; created_at; uuid).
        """
        ...

    def entries_at(self, group: str, instants: Sequence[datetime]) -> list[LogEntry]:
        """The entries of the log that were written at one of these system instants, complete, by seq."""
        ...
