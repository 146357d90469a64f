"""Everything that was ever kept, page by page, and taking it from another store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, cast

from graphmem.interval import Interval
from graphmem.model import CitationVersion, Head, MentionVersion
from graphmem.stores.base import Kind
from graphmem.stores.codec import decode, decode_mapping, end_micros, interval, raw_text, safe_text, start_micros
from graphmem.stores.histories import EntityHistory, EpisodeHistory, FactHistory, as_rows
from graphmem.stores.sqlite import rows
from graphmem.stores.sqlite.reader import SqliteReader
from graphmem.stores.sqlite.session import id_list
from graphmem.stores.sqlite.writer import SqliteWriter, citation_params, mention_place


class HistoryReads(SqliteReader):
    """The reader that moving a memory needs."""

    def extent(self, group: str) -> tuple[int, int]:
        return cast(tuple[int, int], self.session.row("extent", grp=self._group_row(group)))

    def entity_ids(self, group: str, after: str, limit: int) -> list[str]:
        found = self.session.rows("entity_ids_after", grp=self._group_row(group), after=safe_text(after), limit=limit)
        return [rows.same_text(i) for (i,) in found]

    def ever_fact_ids(self, group: str, after: str, limit: int) -> list[str]:
        found = self.session.rows("fact_ids_after", grp=self._group_row(group), after=safe_text(after), limit=limit)
        return [rows.same_text(i) for (i,) in found]

    def citations_ever(self, group: str, facts: Sequence[str]) -> list[CitationVersion]:
        return [rows.citation(r) for r in self._any_of("citations_ever", group, facts)]

    def mentions_ever(self, group: str, episodes: Sequence[str]) -> list[MentionVersion]:
        return [rows.mention_version(r) for r in self._any_of("mentions_ever", group, episodes)]

    def shown_ever(self, group: str, episodes: Sequence[str]) -> dict[str, tuple[Interval, ...]]:
        shown: dict[str, list[Interval]] = defaultdict(list)
        for episode, start, end in self._any_of("shown_ever", group, episodes):
            shown[raw_text(episode)].append(interval(start, end))
        return {e: tuple(intervals) for e, intervals in shown.items()}

    def _any_of(self, statement: str, group: str, ids: Sequence[str]) -> list[Any]:
        return self.session.rows(statement, grp=self._group_row(group), ids=id_list(ids))

    def answers(self, after: str, limit: int) -> list[tuple[str, object, Mapping[str, object]]]:
        found: Sequence[Any] = self.session.rows("answers_after", after=safe_text(after), limit=limit)
        return [(raw_text(key), decode(value), decode_mapping(note)) for key, value, note in found]


class HistoryWrites(HistoryReads, SqliteWriter):
    """The writer that moving a memory needs."""

    def load_episodes(self, group: str, episodes: Sequence[EpisodeHistory]) -> None:
        grp, last = self._begin(group), self.head(group).seq
        for history in episodes:
            if history.record.seq > last:
                self.append_episode(history.record)
        self.set_keys(group, dict(chain.from_iterable(h.keys.items() for h in episodes)))
        shown = [(*_system(s), self._changed(), safe_text(h.record.episode.id), grp) for h in episodes for s in h.shown]
        self.session.many("load_visible", shown)
        self._put_words(Kind.EPISODE, {h.record.episode.id: h.words for h in episodes if h.words is not None})
        mentions = [(grp, safe_text(m.entity), *_system(m.system), *mention_place(m)) for h in episodes for m in h.mentions]
        self.session.many("add_mention_version", mentions)
        self._load_vectors(Kind.EPISODE, [(h.record.episode.id, n, v) for h in episodes for n, v in enumerate(h.vectors)])

    def load_entities(self, group: str, entities: Sequence[EntityHistory]) -> None:
        self._begin(group)
        versions = [(v, h.words) for h in entities for v in h.versions]
        self.add_entities([v for v, _ in versions], [words for _, words in versions])
        self._load_vectors(Kind.ENTITY, [(h.id, n, v) for h in entities for n, v in enumerate(h.vectors)])

    def load_facts(self, group: str, facts: Sequence[FactHistory]) -> None:
        grp = self._begin(group)
        self.add_facts([v for h in facts for v in h.versions], [w for h in facts for w in h.words])
        citations = [(grp, *citation_params(c), *_system(c.system)) for h in facts for c in h.citations]
        self.session.many("add_citation", citations)
        kept = [(v.uuid, 0, row) for h in facts for v, row in zip(h.versions, h.vectors, strict=True) if row]
        self._load_vectors(Kind.FACT, kept)

    def _load_vectors(self, kind: Kind, kept: Sequence[tuple[str, int, bytes]]) -> None:
        if kept:
            self.put_vectors(kind, [owner for owner, _, _ in kept], [n for _, n, _ in kept], as_rows([row for _, _, row in kept]))

    def set_head(self, group: str, head: Head) -> None:
        self._advance(self._begin(group), head.seq, head.at)

    def clear_some(self, group: str, limit: int) -> bool:
        self.clear_derived(group)
        return False


def _system(system: Interval) -> tuple[int, int]:
    return start_micros(system.start), end_micros(system.end)
