"""Everything that was ever kept, page by page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphmem.interval import Interval
from graphmem.model import CitationVersion, MentionVersion
from graphmem.stores.codec import OPEN_END, decode, decode_mapping, interval, raw_text, safe_text
from graphmem.stores.neo4j import rows
from graphmem.stores.neo4j.ahead import Foresight
from graphmem.stores.neo4j.tokens import index_key


class HistoryReads(Foresight):
    """The part of a reader that moving a memory needs."""

    def extent(self, group: str) -> tuple[int, int]:
        (row,) = self.run.rows("extent", group=safe_text(group), pin=self._pin(group))
        return row["entities"], row["facts"]

    def entity_ids(self, group: str, after: str, limit: int) -> list[str]:
        return self._ids_after("entity_ids_after", group, after, limit)

    def ever_fact_ids(self, group: str, after: str, limit: int) -> list[str]:
        return self._ids_after("fact_ids_after", group, after, limit)

    def _ids_after(self, statement: str, group: str, after: str, limit: int) -> list[str]:
        found = self.run.rows(statement, group=safe_text(group), pin=self._pin(group), after=safe_text(after), limit=limit)
        return [raw_text(row["id"]) for row in found]

    def citations_ever(self, group: str, facts: Sequence[str]) -> list[CitationVersion]:
        pin = self._pin(group)
        return [rows.citation(row["citation"], pin) for row in self._by_ids("citations_ever", group, facts)]

    def mentions_ever(self, group: str, episodes: Sequence[str]) -> list[MentionVersion]:
        pin = self._pin(group)
        return [rows.mention_version(row, pin) for row in self._by_ids("mentions_ever", group, episodes)]

    def shown_ever(self, group: str, episodes: Sequence[str]) -> dict[str, tuple[Interval, ...]]:
        pin = self._pin(group)
        found = self._by_ids("shown_ever", group, episodes)
        shown = {raw_text(row["id"]): tuple(_shown(row["shown"], pin)) for row in found}
        return {e: intervals for e, intervals in shown.items() if intervals}

    def answers(self, after: str, limit: int) -> list[tuple[str, object, Mapping[str, object]]]:
        found = self.run.rows("answers_after", after=index_key(after), limit=limit)
        return [(raw_text(row["key"]), decode(row["value"]), decode_mapping(row["note"])) for row in found]


def _shown(listed: Sequence[int], pin: int) -> list[Interval]:
    """Intervals from begin, end, and the commits that wrote them, as the commit `pin` knew them."""
    quadruples = zip(listed[::4], listed[1::4], listed[2::4], listed[3::4], strict=True)
    return [interval(start, OPEN_END if ended > pin else end) for start, end, added, ended in quadruples if added <= pin]
