"""Taking a memory from another store: whole batches of rows, a statement each, with all that was ever derived."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graphmem.errors import StoreError
from graphmem.model import Head
from graphmem.stores.histories import EntityHistory, EpisodeHistory, FactHistory
from graphmem.stores.neo4j.loading import Counted, Loaded, entity_rows, episode_rows, fact_rows
from graphmem.stores.neo4j.pending import decision_params
from graphmem.stores.neo4j.writer import Neo4jWriter

_NONE: Mapping[str, int] = {}


class BulkWriter(Neo4jWriter):
    """A transaction that takes whole histories besides."""

    def load_episodes(self, group: str, episodes: Sequence[EpisodeHistory]) -> None:
        name = self._own(group)
        self.flush()
        known = self.head(group).seq
        fresh = [h for h in episodes if h.record.seq > known]
        loaded = episode_rows(fresh, [h for h in episodes if h.record.seq <= known], self._change)
        for h in fresh:
            named_by = len(decision_params(h.record))
            self._advance(h.record.seq, h.record.episode.created_at, links=len(h.record.links), decisions=named_by)
        head = {"seq": self._pending.seq, "at": self._pending.at}
        counters = {what: len(loaded.content[what]) for what in ("links", "decisions")}
        done = self._send("load_episodes", name, loaded, counters, head=head)
        if done["named"] < len(loaded.content["named"]):
            raise StoreError(f"a mention of {sorted({m.mention.episode for h in episodes for m in h.mentions})[:9]} is not in the log")

    def load_entities(self, group: str, entities: Sequence[EntityHistory]) -> None:
        name = self._own(group)
        self.flush()
        self._send("load_entities", name, entity_rows(entities, self._change))

    def load_facts(self, group: str, facts: Sequence[FactHistory]) -> None:
        name = self._own(group)
        self.flush()
        self._send("load_facts", name, fact_rows(group, facts, self._change))

    def set_head(self, group: str, head: Head) -> None:
        self._own(group)
        self._advance(head.seq, head.at)

    def _send(self, statement: str, group: str, loaded: Loaded, counters: Mapping[str, int] = _NONE, **more: Any) -> Mapping[str, Any]:
        self._held.clear()
        self._open.clear()
        counted = Counted(loaded.words)
        params = {
            "group": group,
            "change": self._change,
            "counters": {**counted.counters, "vectors": loaded.vectors, **counters},
            "rows": {**loaded.content, "words": counted.rows},
        }
        done = self._tx.write(statement, **params, **more)[0]
        if done["vectors"] < loaded.vectors:
            raise StoreError(f"{loaded.vectors - done['vectors']} vectors of {group!r} found no owner")
        return done
