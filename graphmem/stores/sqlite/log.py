"""Reads of the log."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from heapq import merge
from typing import Any, cast

from graphmem.model import Assertion, Episode, EpisodeRecord, FactKey, Head, LogEntry, Mention, Operation
from graphmem.stores.codec import decode, decode_mapping, from_micros, from_micros_or_none, raw_text, safe_text, texts
from graphmem.stores.sqlite import rows
from graphmem.stores.sqlite.kept import Kept
from graphmem.stores.sqlite.session import Session, Value, id_list, row_list

_PAGE = 200


class LogReads:
    """The log's part of a reader."""

    session: Session

    def __init__(self, session: Session) -> None:
        self.session = session
        self.kept = Kept()

    def _group_row(self, group: str) -> int:
        """The group's row number; 0 for an unknown group, which no row carries."""
        return self._known_groups([group]).get(group, 0)

    def _known_groups(self, groups: Sequence[str]) -> dict[str, int]:
        known = self.kept.groups
        unknown = [g for g in groups if g not in known]
        if unknown:
            found = cast(list[tuple[int, str]], self.session.rows("group_rows", names=id_list(unknown)))
            known.update((raw_text(name), n) for n, name in found)
        return {g: known[g] for g in groups if g in known}

    def head(self, group: str) -> Head:
        grp = self._group_row(group)
        known = self.kept.heads.get(grp)
        if known is None:
            row = cast(tuple[int, int | None] | None, self.session.row("group_head", grp=grp))
            if row is None:
                return Head()
            known = self.kept.heads[grp] = Head(row[0], None if row[1] is None else from_micros(row[1]))
        return known

    def groups(self) -> list[str]:
        return sorted(rows.same_text(name) for (name,) in self.session.rows("group_names"))

    def log(self, group: str, after: int = 0) -> Iterator[LogEntry]:
        operations: list[LogEntry] = [o for o in self.operations(group) if o.seq > after]
        yield from merge(self._episode_log(group, after), operations, key=lambda entry: entry.seq)

    def places(self, group: str) -> list[tuple[int, datetime | None]]:
        return [(seq, from_micros_or_none(at)) for seq, at in self._any("log_places", grp=self._group_row(group))]

    def _episode_log(self, group: str, after: int) -> Iterator[LogEntry]:
        while page := self.session.rows("log_page", grp=self._group_row(group), after=after, limit=_PAGE):
            records = self.records(group, [rows.same_text(i) for (i,) in page])
            after = records[-1].seq
            yield from records

    def episode_by_key(self, group: str, key: str) -> EpisodeRecord | None:
        row = self.session.row("episode_id_by_key", grp=self._group_row(group), key=safe_text(key))
        return None if row is None else self.records(group, [rows.same_text(row[0])])[0]

    def records(self, group: str, episodes: Sequence[str]) -> list[EpisodeRecord]:
        if not episodes:
            return []
        found: list[Sequence[Any]] = list(self.session.rows("episode_rows", grp=self._group_row(group), ids=id_list(episodes)))
        which = row_list(r[0] for r in found)
        assertions: dict[int, list[Assertion]] = defaultdict(list)
        mentions: dict[int, list[Mention]] = defaultdict(list)
        links: dict[int, list[tuple[str, str]]] = defaultdict(list)
        for row in self._any("assertions_of_rows", rows=which):
            assertions[row[0]].append(rows.assertion(row[1:]))
        for row in self._any("mentions_of_rows", rows=which):
            mentions[row[0]].append(rows.mention(row[1:]))
        for row in self._any("links_of_rows", rows=which):
            links[row[0]].append((raw_text(row[1]), raw_text(row[2])))
        return [
            EpisodeRecord(
                rows.episode(r, group),
                tuple(assertions[r[0]]),
                tuple(mentions[r[0]]),
                tuple(links[r[0]]),
                texts(r[14]),
                r[15],
            )
            for r in found
        ]

    def _any(self, name: str, **params: Value) -> list[Any]:
        return self.session.rows(name, **params)

    def heads(self, group: str, episodes: Sequence[str]) -> list[Episode]:
        found = self.session.rows("episode_heads", grp=self._group_row(group), ids=id_list(episodes))
        return [rows.episode(r, group) for r in found]

    def operations(self, group: str, *, ids: Sequence[str] | None = None, targets: Sequence[str] | None = None) -> list[Operation]:
        grp = self._group_row(group)
        if ids is None and targets is None:
            found = self.session.rows("operations_all", grp=grp)
        else:
            found = self.session.rows("operations_named", grp=grp, ids=id_list(ids or ()), targets=id_list(targets or ()))
        return [rows.operation(r, group) for r in found]

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
        by = {"id": ids, "fact": facts, "episode": episodes, "entity": entities, "decision": deciding}
        for name, wanted in by.items():
            if wanted is not None:
                found = self.session.rows(f"assertions_by_{name}", grp=self._group_row(group), ids=id_list(wanted)) if wanted else []
                return [rows.assertion(r) for r in found]
        return []

    def keys(
        self, group: str, *, facts: Sequence[str] | None = None, slots: Sequence[tuple[str, str, str]] | None = None
    ) -> dict[str, FactKey]:
        grp = self._group_row(group)
        found = list(self.session.rows("keys_by_fact", grp=grp, ids=id_list(facts))) if facts else []
        for side in ("source", "target"):
            pairs = [[safe_text(relation), safe_text(entity)] for end, relation, entity in slots or () if end in (side, "either")]
            if pairs:
                found += self.session.rows(f"keys_by_{side}", grp=grp, pairs=json.dumps(pairs, ensure_ascii=False))
        texts = sorted(tuple(map(rows.same_text, r)) for r in found)
        return {fact: FactKey(*key) for fact, *key in texts}

    def fact_ids(self, group: str, assertions: Sequence[str]) -> dict[str, str | None]:
        found = self.session.rows("fact_ids_of", grp=self._group_row(group), ids=id_list(assertions))
        return {rows.same_text(a): None if f is None else rows.same_text(f) for a, f in found}

    def links(self, group: str, entities: Sequence[str]) -> list[tuple[str, str, str]]:
        found = self.session.rows("links_of_entities", grp=self._group_row(group), ids=id_list(entities))
        return [(rows.same_text(e), rows.same_text(one), rows.same_text(other)) for e, one, other in found]

    def mention_records(self, group: str, entities: Sequence[str]) -> list[Mention]:
        return [rows.mention(r) for r in self.session.rows("mention_records", grp=self._group_row(group), ids=id_list(entities))]

    def answer(self, key: str) -> tuple[object, Mapping[str, object]] | None:
        row = self.session.row("answer_of", key=safe_text(key))
        return None if row is None else (decode(cast(str, row[0])), decode_mapping(cast(str, row[1])))

    def meta(self, name: str) -> str | None:
        if name not in self.kept.meta:
            row = self.session.row("meta_of", name=safe_text(name))
            self.kept.meta[name] = None if row is None else rows.same_text(row[0])
        return self.kept.meta[name]
