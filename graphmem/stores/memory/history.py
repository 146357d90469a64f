"""Everything that was ever kept, page by page, and taking it from another store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import nsmallest
from typing import cast

from graphmem.interval import Interval
from graphmem.model import CitationVersion, Head, MentionVersion
from graphmem.stores.base import Kind
from graphmem.stores.codec import decode
from graphmem.stores.histories import EntityHistory, EpisodeHistory, FactHistory, as_rows
from graphmem.stores.memory.reader import MemoryReader
from graphmem.stores.memory.writer import MemoryWriter, later


class HistoryReads(MemoryReader):
    """The reader that moving a memory needs."""

    def extent(self, group: str) -> tuple[int, int]:
        held = self._group(group)
        return len({v.id for v in held.entities.values()}), len({v.fact_id for v in held.facts.values()})

    def entity_ids(self, group: str, after: str, limit: int) -> list[str]:
        return nsmallest(limit, {v.id for v in self._group(group).entities.values() if v.id > after})

    def ever_fact_ids(self, group: str, after: str, limit: int) -> list[str]:
        return nsmallest(limit, {v.fact_id for v in self._group(group).facts.values() if v.fact_id > after})

    def citations_ever(self, group: str, facts: Sequence[str]) -> list[CitationVersion]:
        wanted = set(facts)
        return [c for c in self._group(group).citations if c.fact_id in wanted]

    def mentions_ever(self, group: str, episodes: Sequence[str]) -> list[MentionVersion]:
        wanted = set(episodes)
        return [m for m in self._group(group).mentions if m.mention.episode in wanted]

    def shown_ever(self, group: str, episodes: Sequence[str]) -> dict[str, tuple[Interval, ...]]:
        held = self._group(group).visible
        return {e: held[e] for e in episodes if held.get(e)}

    def answers(self, after: str, limit: int) -> list[tuple[str, object, Mapping[str, object]]]:
        keys = nsmallest(limit, (k for k in self.state.answers if k > after))
        return [(k, *cast(tuple[object, Mapping[str, object]], decode(self.state.answers[k]))) for k in keys]


class HistoryWrites(HistoryReads, MemoryWriter):
    """The writer that moving a memory needs."""

    def load_episodes(self, group: str, episodes: Sequence[EpisodeHistory]) -> None:
        held = self._own(group)
        for history in episodes:
            i = history.record.episode.id
            if i not in held.records:
                self.append_episode(history.record)
            self.set_keys(group, history.keys)
            if history.shown:
                held.visible[i] = history.shown
            if history.words is not None:
                held.words[Kind.EPISODE, i] = history.words
            held.mentions += history.mentions
            if history.vectors:
                self.put_vectors(Kind.EPISODE, [i] * len(history.vectors), range(len(history.vectors)), as_rows(history.vectors))

    def load_entities(self, group: str, entities: Sequence[EntityHistory]) -> None:
        for history in entities:
            self.add_entities(history.versions, [history.words] * len(history.versions))
            if history.vectors:
                self.put_vectors(Kind.ENTITY, [history.id] * len(history.vectors), range(len(history.vectors)), as_rows(history.vectors))

    def load_facts(self, group: str, facts: Sequence[FactHistory]) -> None:
        held = self._own(group)
        for history in facts:
            self.add_facts(history.versions, history.words)
            held.citations += history.citations
            rows = {v.uuid: vector for v, vector in zip(history.versions, history.vectors, strict=True) if vector}
            if rows:
                self.put_vectors(Kind.FACT, list(rows), [0] * len(rows), as_rows(list(rows.values())))

    def set_head(self, group: str, head: Head) -> None:
        held = self._own(group)
        held.head = later(held.head, head.seq, head.at)

    def clear_some(self, group: str, limit: int) -> bool:
        self.clear_derived(group)
        return False
