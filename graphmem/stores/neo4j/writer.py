"""Writes: gathered, and sent at once when something must be read or at the end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmem import names
from graphmem.embed.base import Vectors
from graphmem.errors import StoreError
from graphmem.interval import Interval
from graphmem.model import (
    AsOf,
    CitationVersion,
    CommunityVersion,
    EntityMatch,
    EntityVersion,
    EpisodeRecord,
    FactKey,
    FactVersion,
    Head,
    MemberVersion,
    MentionVersion,
    Operation,
)
from graphmem.stores.base import Kind
from graphmem.stores.codec import decode_mapping, encode, encode_mapping, raw_text, safe_text, to_micros
from graphmem.stores.matching import entity_matches, with_name_keys
from graphmem.stores.neo4j import communities, rows
from graphmem.stores.neo4j.affects import affects
from graphmem.stores.neo4j.ahead import NamesAsked
from graphmem.stores.neo4j.held import Foreseen, joined
from graphmem.stores.neo4j.kept import Kept
from graphmem.stores.neo4j.pending import Pending, close, decision_params, link_params, own_rows, target_params
from graphmem.stores.neo4j.reader import Neo4jReader
from graphmem.stores.neo4j.scopes import scope
from graphmem.stores.neo4j.session import Row, ids
from graphmem.stores.neo4j.together import Ask
from graphmem.stores.neo4j.tokens import index_key
from graphmem.stores.neo4j.transaction import Transaction

_NOW = AsOf()
_EVERY_CHANGE = rows.NEVER - 1  # under the lock there is no commit that must not be seen
_CLEARED = ("communities", "vectors", "facts", "citations", "entities", "episodes", "keys", "words")
_CLEARED_AT_ONCE = 5_000


def under_lock(group: str) -> dict[str, Any]:
    """What passes in a group whose lock is held."""
    return scope(group, _EVERY_CHANGE, _NOW)


class _Flushing(Foreseen):
    """Runs reads of a transaction: what it has gathered counts, and is written where a read could see more of it than is told here."""

    def __init__(self, writer: Neo4jWriter, transaction: Transaction) -> None:
        super().__init__(transaction)
        self._writer, self._transaction = writer, transaction

    def rows(self, name: str, /, **params: Any) -> list[Row]:
        """All rows."""
        own = self._writer.own_rows(name, params)
        if own is None:
            self._writer.flush_for(name, params)
        found = super().rows(name, **params)
        return joined(name, found, own) if own else found

    def together(self, asks: Sequence[Ask]) -> list[list[Row]]:
        """All rows of each, in one round trip."""
        for ask in asks:
            self._writer.flush_for(ask.name, ask.params)
        return self._transaction.together(asks)


class Neo4jWriter(Neo4jReader):
    """A transaction that holds its group's lock."""

    def __init__(self, transaction: Transaction, group: str, kept: Kept, *, filtered: bool, asked: NamesAsked | None = None) -> None:
        super().__init__(_Flushing(self, transaction), kept, filtered=filtered)
        self._tx, self._name = transaction, group
        state = transaction.state
        self._change = state.change + 1
        self._states[group] = replace(state, change=_EVERY_CHANGE)
        self._open: dict[str, EntityVersion] = {}
        self._pending = Pending(self._change)
        self._flushed = False
        self._metas = dict(transaction.metas)
        kept.note_pieces(group, state.vectors[Kind.ENTITY])
        if asked is not None:
            asked.hold(self._held, under_lock(group), transaction.brought)

    def own_rows(self, name: str, params: Mapping[str, Any]) -> Sequence[Row] | None:
        """The rows that a read finds in what is gathered, besides those that are written; None where that cannot be told."""
        return own_rows(self._pending, name, params) if params.get("group") == safe_text(self._name) else None

    def flush_for(self, name: str, params: Mapping[str, Any]) -> None:
        """Write what is gathered if the statement could see it."""
        if affects(self._pending, name, params):
            self.flush()

    def flush(self) -> None:
        """Write what is gathered."""
        pending, self._pending = self._pending, Pending(self._change)
        if not pending:
            return
        self._held.written(pending.keys)
        params = pending.params(safe_text(self._name))
        done = self._tx.write("commit", **params)[0]
        if done["shown"] < len(pending.shown):
            raise StoreError(f"episodes {sorted(map(raw_text, pending.shown))} are not all in the log of {self._name!r}")
        if done["named"] < len(pending.named):
            raise StoreError(f"a mention of {sorted({raw_text(e) for e, _, _ in pending.named})} is not in the log")
        if done["vectors"] < len(pending.vectors) or done["homeless"]:
            raise StoreError(f"a vector needs its owner: one of {sorted({raw_text(o) for _, o, _ in pending.vectors})[:9]} is not there")
        self._drop_unborn(pending)

    def _drop_unborn(self, pending: Pending) -> None:
        """Remove fact versions of which nothing is left: they can only have begun at this very instant."""
        last = None if self._flushed else self._tx.state.head.at
        self._flushed = True
        doubtful = [uuid for uuid, row in pending.ended_facts.items() if last is None or row["at"] <= to_micros(last)]
        if doubtful:
            group = safe_text(self._name)
            unborn = [row["uuid"] for row in self._tx.rows("unborn_facts", group=group, uuids=doubtful)]
            if unborn:
                self._tx.write("drop_facts", group=group, uuids=unborn)

    def _own(self, group: str) -> str:
        if group != self._name:
            raise StoreError(f"group {group!r} is not the one this transaction writes to ({self._name!r})")
        return safe_text(group)

    def _advance(self, seq: int, at: datetime | None, links: int = 0, targets: int = 0, decisions: int = 0) -> None:
        known = self._states[self._name]
        assert known is not None
        later = known.head.at if at is None or (known.head.at is not None and at <= known.head.at) else at
        head = Head(max(seq, known.head.seq), later)
        self._states[self._name] = replace(
            known, head=head, links=known.links + links, targets=known.targets + targets, decisions=known.decisions + decisions
        )
        self._pending.seq, self._pending.at = head.seq, None if head.at is None else to_micros(head.at)

    # -- the log

    def append_episode(self, record: EpisodeRecord) -> None:
        episode, pending, change = record.episode, self._pending, self._change
        self._own(episode.group)
        if episode.id in map(raw_text, pending.episodes):
            raise StoreError(f"episode {episode.id} is in the log already")
        pending.episodes[safe_text(episode.id)] = rows.episode_params(record, change)
        pending.assertions += [rows.assertion_params(a, episode, change) for a in record.assertions]
        decisions = decision_params(record)
        pending.decisions += decisions
        pending.mentions += [rows.mention_params(m, episode, change) for m in record.mentions]
        pending.links += link_params(record, change)
        self._advance(episode.seq, episode.created_at, links=len(record.links), decisions=len(decisions))

    def append_operation(self, operation: Operation) -> None:
        self._own(operation.group)
        self._pending.operations[safe_text(operation.id)] = rows.operation_params(operation, self._change)
        targets = target_params(operation)
        self._pending.targets += targets
        self._advance(operation.seq, operation.created_at, targets=len(targets))

    # -- what is known of the log: under the lock nobody else changes it

    def episode_by_key(self, group: str, key: str) -> EpisodeRecord | None:
        if group == self._name and self._pending.episodes:
            self.flush()
        return super().episode_by_key(group, key)

    def entities(self, groups: Sequence[str], at: AsOf, match: EntityMatch | None = None, limit: int | None = None) -> list[EntityVersion]:
        if tuple(groups) != (self._name,) or at != _NOW or limit is not None:
            return super().entities(groups, at, match, limit)
        if match is not None and match.ids is not None and all(i in self._open for i in match.ids):
            keyed = with_name_keys(match)
            found = [version for i in set(match.ids) if entity_matches(version := self._open[i], keyed)]
            return sorted(found, key=lambda v: (names.key(v.name), v.id))
        found = super().entities(groups, at, match)
        self._open.update((v.id, v) for v in found)
        return found

    # -- keys and versions

    def set_keys(self, group: str, keys: Mapping[str, tuple[str, FactKey] | None]) -> None:
        self._own(group)
        for assertion, pair in keys.items():
            self._pending.keys[safe_text(assertion)] = key_params(assertion, pair)

    def end_versions(self, kind: str, uuids: Sequence[str], at: datetime) -> None:
        for uuid in uuids:
            self._pending.end(kind, safe_text(uuid), at)
        if kind == "entity":
            self._open = {i: v for i, v in self._open.items() if v.uuid not in uuids}

    def add_facts(self, versions: Sequence[FactVersion], words: Sequence[str]) -> None:
        for version, text in zip(versions, words, strict=True):
            self._own(version.group)
            uuid = safe_text(version.uuid)
            if uuid in self._pending.facts:
                raise StoreError(f"fact version {version.uuid} exists already")
            self._pending.facts[uuid] = rows.fact_params(version, text, self._change)

    def add_entities(self, versions: Sequence[EntityVersion], words: Sequence[str]) -> None:
        for version, text in zip(versions, words, strict=True):
            self._own(version.group)
            uuid = safe_text(version.uuid)
            if uuid in self._pending.entities:
                raise StoreError(f"entity version {version.uuid} exists already")
            self._pending.entities[uuid] = rows.entity_params(version, text, self._change)
            if version.system.end is None:
                attributes = decode_mapping(encode_mapping(version.attributes))
                self._open[version.id] = replace(version, aliases=tuple(version.aliases), attributes=attributes)

    def change_citations(self, group: str, ended: Sequence[CitationVersion], added: Sequence[CitationVersion], at: datetime) -> None:
        self._own(group)
        pending, now = self._pending, to_micros(at)
        for citation in ended:
            params = rows.citation_params(citation, group)
            key = (params["fact_id"], params["valid_at"], params["episode"], params["by"])
            if key in pending.citations:
                if not close(pending.citations[key], now, self._change):
                    del pending.citations[key]
            else:
                pending.ended_citations[key] = {**params, "at": now}
        for citation in added:
            params = rows.citation_params(citation, group)
            key = (params["fact_id"], params["valid_at"], params["episode"], params["by"])
            if key in pending.citations:
                self.flush()
                pending = self._pending
            pending.citations[key] = params | rows.system_params(Interval(at), self._change)

    def change_mentions(self, group: str, ended: Sequence[MentionVersion], added: Sequence[MentionVersion], at: datetime) -> None:
        name = self._own(group)
        pending, now = self._pending, to_micros(at)
        for version in ended:
            key = _mention_key(version)
            if key in pending.named:
                if not close(pending.named[key]["row"], now, self._change):
                    del pending.named[key]
            else:
                pending.ended_mentions[key] = {"episode": key[0], "position": key[1], "entity": key[2], "at": now}
        for version in added:
            key = _mention_key(version)
            if key in pending.named:
                self.flush()
                pending = self._pending
            row = {"group_id": name, "entity": key[2], **rows.system_params(Interval(at), self._change)}
            pending.named[key] = {"episode": key[0], "position": key[1], "moment": rows.utc(at), "row": row}

    def show_episodes(self, group: str, episodes: Sequence[str], at: datetime, words: Mapping[str, str]) -> None:
        self._own(group)
        for episode in episodes:
            if safe_text(episode) in self._pending.shown:
                self.flush()
            indexed = rows.words_params(group, words[episode]) if episode in words else rows.no_words(group)
            self._pending.shown[safe_text(episode)] = {"id": safe_text(episode), "at": to_micros(at), **indexed}

    def hide_episodes(self, group: str, episodes: Sequence[str], at: datetime) -> None:
        self._own(group)
        if not self._pending.shown.keys().isdisjoint(map(safe_text, episodes)):
            self.flush()
        self._pending.hidden.update((safe_text(e), {"id": safe_text(e), "at": to_micros(at)}) for e in episodes)

    # -- communities

    def change_communities(self, group: str, ended: Sequence[str], added: Sequence[CommunityVersion], at: datetime) -> None:
        self._own(group)
        self.flush()
        communities.change_communities(self._tx, group, self._change, ended, added, at)

    def index_communities(self, group: str, words: Mapping[str, str]) -> None:
        self._own(group)
        communities.index_communities(self._tx, group, self._change, words)

    def change_members(self, group: str, ended: Sequence[MemberVersion], added: Sequence[MemberVersion], at: datetime) -> None:
        self._own(group)
        self.flush()
        communities.change_members(self._tx, group, self._change, ended, added, at)

    # -- vectors

    def put_vectors(self, kind: Kind, owners: Sequence[str], pieces: Sequence[int], vectors: Vectors) -> None:
        if not len(owners):
            return
        if kind in (Kind.FACT, Kind.COMMUNITY) and any(pieces):
            raise StoreError(f"a {kind.value} has one vector, piece 0")
        exact = np.asarray(vectors, dtype=np.float32).astype(np.float16)
        if kind is Kind.COMMUNITY:
            found = [_vector_params(o, p, row) for o, p, row in zip(owners, pieces, exact, strict=True)]
            communities.put_vectors(self._tx, self._name, self._change, found)
            return
        if not {new for _, new in self._pending.copies}.isdisjoint(map(safe_text, owners)):
            self.flush()
        for owner, piece, row in zip(owners, pieces, exact, strict=True):
            self._pending.vectors[kind, safe_text(owner), int(piece)] = _vector_params(owner, piece, row)

    def copy_vectors(self, kind: Kind, pairs: Iterable[tuple[str, str]]) -> None:
        wanted = list(pairs)
        if kind is Kind.FACT:
            if any((kind, safe_text(new), 0) in self._pending.vectors for _, new in wanted):
                self.flush()
            self._pending.copies += [(safe_text(old), safe_text(new)) for old, new in wanted]
            return
        held = self.vectors(kind, [old for old, _ in wanted])
        for old, new in wanted:
            if old in held:
                self.put_vectors(kind, [new] * len(held[old]), range(len(held[old])), held[old])

    def stage_vectors(self, kind: Kind, owners: Sequence[str], pieces: Sequence[int], vectors: Vectors) -> None:
        self.flush()
        exact = np.asarray(vectors, dtype=np.float32).astype(np.float16)
        staged = [{"kind": kind.value, **_vector_params(o, p, row)} for o, p, row in zip(owners, pieces, exact, strict=True)]
        named = [{"kind": kind.value, "owner": safe_text(o)} for o in dict.fromkeys(owners)]
        kept = self._tx.write("stage_vectors", group=safe_text(self._name), owners=named, rows=staged)[0]["kept"]
        if kept < len(staged):
            raise StoreError(f"a vector needs its owner: one of {sorted(set(owners))[:9]} is not there")

    def use_staged_vectors(self) -> None:
        self.flush()
        self._tx.write("use_staged_vectors")
        self._tx.write("drop_staged_vectors")

    def drop_staged_vectors(self) -> None:
        self.flush()
        self._tx.write("drop_staged_vectors")

    # -- beside the log

    def put_answer(self, key: str, value: object, note: Mapping[str, object]) -> None:
        index = index_key(key)
        self._pending.answers[index] = {"key_index": index, "value": encode(value), "note": encode_mapping(note)}

    def put_meta(self, name: str, value: str) -> None:
        index = index_key(name)
        self._metas[name] = value
        self._pending.metas[index] = {"name_index": index, "value": safe_text(value)}

    # -- removal

    def clear_derived(self, group: str) -> None:
        while self.clear_some(group, _CLEARED_AT_ONCE):
            pass

    def clear_some(self, group: str, limit: int) -> bool:
        name = self._own(group)
        self.flush()
        self._held.clear()
        self._open.clear()
        self._tx.write("clear_counts", group=name, change=self._change)
        return any(self._tx.write(f"clear_some_{what}", group=name, limit=limit)[0]["gone"] for what in _CLEARED)

    def remove_episodes(self, group: str, episodes: Sequence[str], answers: Sequence[str] = ()) -> None:
        name = self._own(group)
        self.flush()
        self._held.clear()
        self._tx.write("erase_episodes", group=name, ids=ids(episodes), change=self._change)
        if answers:
            self._tx.write("drop_answers", keys=[index_key(a) for a in answers])

    def remove_operations(self, group: str, operations: Sequence[str]) -> None:
        name = self._own(group)
        self.flush()
        self._held.clear()
        found = self.operations(group, ids=operations)
        targets = [{"operation": safe_text(o.id), "target": safe_text(t)} for o in found for t in o.targets]
        self._tx.write("erase_operations", group=name, ids=ids(operations), targets=targets, change=self._change)

    def remove_group(self, group: str) -> None:
        name = self._own(group)
        self.clear_derived(group)
        while self._tx.write("erase_some_of_group", group=name, limit=_CLEARED_AT_ONCE)[0]["gone"]:
            pass
        self._tx.write("erase_group", group=name)
        self._metas = {n: None if n.partition(":")[2] == group else value for n, value in self._metas.items()}
        self._states[group] = None


def key_params(assertion: str, pair: tuple[str, FactKey] | None) -> rows.Params:
    """Which fact an assertion speaks of."""
    fact_id, key = pair if pair is not None else (None, None)
    return {
        "id": safe_text(assertion),
        "keyed": True,
        "fact_id": None if fact_id is None else safe_text(fact_id),
        **{f"key_{name}": None if key is None else safe_text(getattr(key, name)) for name in FactKey._fields},
    }


def _vector_params(owner: str, piece: int, row: NDArray[np.float16]) -> rows.Params:
    return {"owner": safe_text(owner), "piece": int(piece), "halves": rows.packed(row.tobytes()), "vector": row.astype(np.float32).tolist()}


def _mention_key(version: MentionVersion) -> tuple[str, int, str]:
    return safe_text(version.mention.episode), version.mention.position, safe_text(version.entity)
