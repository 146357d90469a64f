"""Reads of the log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from heapq import merge
from typing import cast

from graphmem.model import Assertion, Episode, EpisodeRecord, FactKey, Head, LogEntry, Mention, Operation
from graphmem.stores.codec import decode, decode_mapping, raw_text, safe_text, texts
from graphmem.stores.neo4j import rows
from graphmem.stores.neo4j.kept import settings
from graphmem.stores.neo4j.scopes import GroupState, Scoped
from graphmem.stores.neo4j.session import Row, ids
from graphmem.stores.neo4j.tokens import index_key

_PAGE = 200


class LogReads(Scoped):
    """The log's part of a reader."""

    def head(self, group: str) -> Head:
        state = self._known([group]).get(group)
        return Head() if state is None else state.head

    def groups(self) -> list[str]:
        return sorted(raw_text(row["group_id"]) for row in self.run.rows("group_names"))

    def log(self, group: str, after: int = 0) -> Iterator[LogEntry]:
        operations: list[LogEntry] = [o for o in self.operations(group) if o.seq > after]
        yield from merge(self._episode_log(group, after), operations, key=lambda entry: entry.seq)

    def _episode_log(self, group: str, after: int) -> Iterator[LogEntry]:
        while page := self.run.rows("log_page", group=safe_text(group), pin=self._pin(group), after=after, limit=_PAGE):
            records = self.records(group, [raw_text(row["id"]) for row in page])
            after = records[-1].seq
            yield from records

    def episode_by_key(self, group: str, key: str) -> EpisodeRecord | None:
        known = self._states.get(group)
        pin = None if known is None else known.change
        names = self._kept.names()
        keys = {"key": safe_text(key), "key_index": index_key(key)}
        found = self.run.rows("episode_id_by_key", group=safe_text(group), pin=pin, metas=list(names), **keys)
        if found:
            self._metas = settings(found[0], names) | self._metas
        if group not in self._states:
            self._states[group] = GroupState.of(found[0]) if found else None
        if not found or found[0]["id"] is None:
            return None
        return self.records(group, [raw_text(found[0]["id"])])[0]

    def records(self, group: str, episodes: Sequence[str]) -> list[EpisodeRecord]:
        return [_record(row) for row in self._by_ids("records", group, episodes)]

    def _by_ids(self, statement: str, group: str, wanted: Sequence[str]) -> list[Row]:
        if not wanted:
            return []
        return self.run.rows(statement, group=safe_text(group), pin=self._pin(group), ids=ids(wanted))

    def heads(self, group: str, episodes: Sequence[str]) -> list[Episode]:
        return [rows.episode(row["episode"]) for row in self._by_ids("episode_heads", group, episodes)]

    def operations(self, group: str, *, ids: Sequence[str] | None = None, targets: Sequence[str] | None = None) -> list[Operation]:
        params = {"group": safe_text(group), "pin": self._pin(group)}
        state = self._known([group]).get(group)
        if not ids and targets is not None and (state is None or not state.targets or not targets):
            return []  # most groups never merge or forget anything
        if ids is None and targets is None:
            found = self.run.rows("operations_all", **params)
        else:
            named = {"ids": [safe_text(i) for i in ids or ()], "targets": [safe_text(t) for t in targets or ()]}
            found = self.run.rows("operations_named", **params, **named)
        return [rows.operation(row["operation"]) for row in found]

    def assertions(
        self,
        group: str,
        *,
        ids: Sequence[str] | None = None,
        facts: Sequence[str] | None = None,
        episodes: Sequence[str] | None = None,
        entities: Sequence[str] | None = None,
        deciding: Sequence[str] | None = None,
    ) -> list[Assertion]:
        state = self._known([group]).get(group)
        if deciding is not None and (state is None or not state.decisions):
            return []
        asked = {"id": ids, "fact": facts, "episode": episodes, "entity": entities, "deciding": deciding}
        which, wanted = next(((name, given) for name, given in asked.items() if given is not None), ("id", ()))
        found = self._by_ids(f"assertions_by_{which}", group, wanted)
        self._seen(safe_text(group), found)
        return [rows.assertion(row["assertion"]) for row in found]

    def _seen(self, group: str, found: Sequence[Row]) -> None:
        """Assertions were read, with the heads of their episodes."""

    def keys(
        self, group: str, *, facts: Sequence[str] | None = None, slots: Sequence[tuple[str, str, str]] | None = None
    ) -> dict[str, FactKey]:
        found: list[Row] = []
        if facts:
            found += self.run.rows("keys_by_fact", group=safe_text(group), ids=ids(facts))
        if slots:
            sides = {
                end: [[safe_text(relation), safe_text(entity)] for side, relation, entity in slots if side in (end, "either")]
                for end in ("source", "target")
            }
            found += self.run.rows("keys_by_slot", group=safe_text(group), sources=sides["source"], targets=sides["target"])
        known = {
            raw_text(row["fact_id"]): FactKey(*(raw_text(row[name]) for name in ("relation", "source", "target", "variant")))
            for row in found
        }
        return dict(sorted(known.items()))

    def fact_ids(self, group: str, assertions: Sequence[str]) -> dict[str, str | None]:
        if not assertions:
            return {}
        found = self.run.rows("fact_ids", group=safe_text(group), ids=ids(assertions))
        known = {raw_text(row["id"]): None if row["fact_id"] is None else raw_text(row["fact_id"]) for row in found}
        return {a: known[a] for a in assertions if a in known}

    def links(self, group: str, entities: Sequence[str]) -> list[tuple[str, str, str]]:
        state = self._known([group]).get(group)
        found = self._by_ids("links_of", group, entities) if state is not None and state.links else []
        return [(raw_text(row["episode"]), raw_text(row["one"]), raw_text(row["other"])) for row in found]

    def mention_records(self, group: str, entities: Sequence[str]) -> list[Mention]:
        return [rows.mention(row["mention"]) for row in self._by_ids("mention_records", group, entities)]

    def answer(self, key: str) -> tuple[object, Mapping[str, object]] | None:
        found = self.run.rows("answer", key_index=index_key(key))
        return (decode(found[0]["value"]), decode_mapping(found[0]["note"])) if found else None


def _record(row: Row) -> EpisodeRecord:
    return EpisodeRecord(
        rows.episode(row["episode"]),
        tuple(rows.assertion(a) for a in row["assertions"]),
        tuple(rows.mention(m) for m in row["mentions"]),
        tuple(cast(tuple[str, str], tuple(map(raw_text, link))) for link in row["links"]),
        texts(row["episode"]["search_text"]),
        row["episode"].get("digest"),
    )
