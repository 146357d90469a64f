"""A transaction of the dictionary store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from graphmem.embed.base import Vectors
from graphmem.errors import StoreError
from graphmem.interval import Interval
from graphmem.model import (
    CitationVersion,
    CommunityVersion,
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
from graphmem.stores.codec import decode_mapping, encode, encode_mapping
from graphmem.stores.lines import recorded_digest
from graphmem.stores.memory import communities
from graphmem.stores.memory.reader import MemoryReader
from graphmem.stores.memory.state import Group, State

Row = TypeVar("Row", CitationVersion, MentionVersion)


class MemoryWriter(MemoryReader):
    """A transaction over copies; `state` is what it would commit."""

    def __init__(self, state: State, group: str) -> None:
        self._mine = state.groups[group].copy() if group in state.groups else Group()
        self._name = group
        self._answers = dict(state.answers)
        self._metas = dict(state.metas)
        super().__init__(State({**state.groups, group: self._mine}, self._answers, self._metas))

    def _own(self, group: str) -> Group:
        if group != self._name:
            raise StoreError(f"group {group!r} is not the one this transaction writes to ({self._name!r})")
        return self._mine

    def append_episode(self, record: EpisodeRecord) -> None:
        episode = record.episode
        held = self._own(episode.group)
        if episode.id in held.records or any(r.episode.key == episode.key for r in held.records.values()):
            raise StoreError(f"episode {episode.id} is in the log already")
        kept = EpisodeRecord(
            replace(episode, attributes=_kept(episode.attributes)),
            tuple(replace(a, attributes=_kept(a.attributes)) for a in sorted(record.assertions, key=lambda a: (a.position, a.id))),
            tuple(replace(m, attributes=_kept(m.attributes)) for m in sorted(record.mentions, key=lambda m: m.position)),
            tuple((one, other) for one, other in record.links),
            tuple(record.search_text),
            recorded_digest(record),
        )
        held.records[episode.id] = kept
        held.assertions.update((a.id, (episode.seq, a)) for a in kept.assertions)
        held.head = later(held.head, episode.seq, episode.created_at)

    def append_operation(self, operation: Operation) -> None:
        held = self._own(operation.group)
        if operation.id in held.operations:
            raise StoreError(f"operation {operation.id} is in the log already")
        held.operations[operation.id] = replace(operation, values=_kept(operation.values), digest=recorded_digest(operation))
        held.head = later(held.head, operation.seq, operation.created_at)

    def set_keys(self, group: str, keys: Mapping[str, tuple[str, FactKey] | None]) -> None:
        self._own(group).keys.update(keys)

    def end_versions(self, kind: str, uuids: Sequence[str], at: datetime) -> None:
        held: dict[str, FactVersion] | dict[str, EntityVersion] = self._mine.facts if kind == "fact" else self._mine.entities
        for uuid in uuids:
            if uuid in held and held[uuid].system.end is None:
                closed = _closed(held[uuid].system, at)
                if closed is None:
                    del held[uuid]
                    if kind == "fact":
                        self._unindex(Kind.FACT, uuid)
                else:
                    held[uuid] = replace(held[uuid], system=closed)  # type: ignore[assignment]

    def add_facts(self, versions: Sequence[FactVersion], words: Sequence[str]) -> None:
        for version, text in zip(versions, words, strict=True):
            held = self._own(version.group).facts
            if version.uuid in held:
                raise StoreError(f"fact version {version.uuid} exists already")
            held[version.uuid] = replace(version, attributes=_kept(version.attributes))
            self._mine.words[Kind.FACT, version.uuid] = text

    def add_entities(self, versions: Sequence[EntityVersion], words: Sequence[str]) -> None:
        for version, text in zip(versions, words, strict=True):
            held = self._own(version.group).entities
            if version.uuid in held:
                raise StoreError(f"entity version {version.uuid} exists already")
            held[version.uuid] = replace(version, attributes=_kept(version.attributes))
            self._mine.words[Kind.ENTITY, version.id] = text

    def change_citations(self, group: str, ended: Sequence[CitationVersion], added: Sequence[CitationVersion], at: datetime) -> None:
        held = self._own(group)
        gone = {(c.fact_id, c.valid_at, c.episode, c.by) for c in ended}
        held.citations = _replaced(held.citations, lambda c: (c.fact_id, c.valid_at, c.episode, c.by) in gone, at)
        held.citations += [replace(c, system=Interval(at)) for c in added]

    def change_mentions(self, group: str, ended: Sequence[MentionVersion], added: Sequence[MentionVersion], at: datetime) -> None:
        held = self._own(group)
        gone = {(m.mention.episode, m.mention.position, m.entity) for m in ended}
        held.mentions = _replaced(held.mentions, lambda m: (m.mention.episode, m.mention.position, m.entity) in gone, at)
        for version in added:
            record = held.records.get(version.mention.episode)
            recorded = next((m for m in record.mentions if m.position == version.mention.position), None) if record else None
            if recorded is None:
                raise StoreError(f"mention {version.mention.position} of episode {version.mention.episode} is not in the log")
            held.mentions.append(MentionVersion(recorded, version.entity, Interval(at)))

    def show_episodes(self, group: str, episodes: Sequence[str], at: datetime, words: Mapping[str, str]) -> None:
        held = self._own(group)
        for episode in episodes:
            if episode not in held.records:
                raise StoreError(f"episode {episode} is not in the log of {group!r}")
            shown = held.visible.get(episode, ())
            if not shown or shown[-1].end is not None:
                held.visible[episode] = (*shown, Interval(at))
            if episode in words:
                held.words[Kind.EPISODE, episode] = words[episode]

    def hide_episodes(self, group: str, episodes: Sequence[str], at: datetime) -> None:
        held = self._own(group)
        for episode in episodes:
            shown = held.visible.get(episode, ())
            if shown and shown[-1].end is None:
                closed = _closed(shown[-1], at)
                held.visible[episode] = shown[:-1] if closed is None else (*shown[:-1], closed)

    def change_communities(self, group: str, ended: Sequence[str], added: Sequence[CommunityVersion], at: datetime) -> None:
        for uuid in communities.change_communities(self._own(group), ended, added, at):
            self._unindex(Kind.COMMUNITY, uuid)

    def index_communities(self, group: str, words: Mapping[str, str]) -> None:
        held = self._own(group)
        for uuid, text in words.items():
            self._require(Kind.COMMUNITY, uuid)
            held.words[Kind.COMMUNITY, uuid] = text

    def change_members(self, group: str, ended: Sequence[MemberVersion], added: Sequence[MemberVersion], at: datetime) -> None:
        communities.change_members(self._own(group), ended, added, at)

    def put_vectors(self, kind: Kind, owners: Sequence[str], pieces: Sequence[int], vectors: Vectors) -> None:
        for owner, piece, vector in zip(owners, pieces, np.asarray(vectors).astype(np.float16), strict=True):
            self._require(kind, owner)
            self._mine.vectors[kind, owner] = {**self._mine.vectors.get((kind, owner), {}), int(piece): vector}
            self._mine.staged.pop((kind, owner), None)

    def copy_vectors(self, kind: Kind, pairs: Iterable[tuple[str, str]]) -> None:
        for old, new in pairs:
            if (kind, old) in self._mine.vectors:
                self._require(kind, new)
                self._mine.vectors[kind, new] = self._mine.vectors[kind, old]
                self._mine.staged.pop((kind, new), None)

    def stage_vectors(self, kind: Kind, owners: Sequence[str], pieces: Sequence[int], vectors: Vectors) -> None:
        staged: dict[tuple[Kind, str], dict[int, NDArray[np.float16]]] = {}
        for owner, piece, vector in zip(owners, pieces, np.asarray(vectors).astype(np.float16), strict=True):
            self._require(kind, owner)
            staged.setdefault((kind, owner), {})[int(piece)] = vector
        self._mine.staged.update(staged)

    def use_staged_vectors(self) -> None:
        self._every_group(lambda held: replace(held, vectors=held.staged, staged={}))

    def drop_staged_vectors(self) -> None:
        self._every_group(lambda held: replace(held, staged={}))

    def _every_group(self, changed: Callable[[Group], Group]) -> None:
        groups = {name: changed(held) for name, held in self.state.groups.items()}
        self._mine = groups[self._name]
        self.state = State(groups, self._answers, self._metas)

    def _require(self, kind: Kind, owner: str) -> None:
        if not self._mine.owns(kind, owner):
            raise StoreError(f"an index row needs its owner: there is no {kind} {owner} in {self._name!r}")

    def _unindex(self, kind: Kind, owner: str) -> None:
        self._mine.words.pop((kind, owner), None)
        self._mine.vectors.pop((kind, owner), None)
        self._mine.staged.pop((kind, owner), None)

    def put_answer(self, key: str, value: object, note: Mapping[str, object]) -> None:
        self._answers[key] = encode((value, note))

    def put_meta(self, name: str, value: str) -> None:
        self._metas[name] = value

    def clear_derived(self, group: str) -> None:
        held = self._own(group)
        derived = (held.keys, held.facts, held.entities, held.citations, held.mentions, held.visible, held.communities, held.members)
        for part in (*derived, held.words, held.vectors, held.staged):
            part.clear()

    def remove_episodes(self, group: str, episodes: Sequence[str], answers: Sequence[str] = ()) -> None:
        held = self._own(group)
        for episode in episodes:
            if (record := held.records.pop(episode, None)) is not None:
                for assertion in record.assertions:
                    held.assertions.pop(assertion.id, None)
                    held.keys.pop(assertion.id, None)
                held.visible.pop(episode, None)
                self._unindex(Kind.EPISODE, episode)
        held.mentions = [m for m in held.mentions if m.mention.episode in held.records]
        held.citations = [c for c in held.citations if c.episode not in episodes]
        for key in answers:
            self._answers.pop(key, None)

    def remove_operations(self, group: str, operations: Sequence[str]) -> None:
        held = self._own(group)
        for operation in operations:
            held.operations.pop(operation, None)

    def remove_group(self, group: str) -> None:
        self._own(group)
        self._mine = Group()
        for name in [name for name in self._metas if name.partition(":")[2] == group]:
            del self._metas[name]
        self.state = State({name: held for name, held in self.state.groups.items() if name != group}, self._answers, self._metas)


def _kept(attributes: Mapping[str, object]) -> Mapping[str, object]:
    """Attributes as every store gives them back."""
    return decode_mapping(encode_mapping(attributes))


def later(head: Head, seq: int, at: datetime | None) -> Head:
    """The head once an entry is appended."""
    return Head(max(head.seq, seq), at if head.at is None or (at is not None and at > head.at) else head.at)


def _closed(system: Interval, at: datetime) -> Interval | None:
    """The interval ended at `at`; None when nothing is left of it."""
    return Interval(system.start, at) if system.start is None or system.start < at else None


def _replaced(rows: list[Row], gone: Callable[[Row], bool], at: datetime) -> list[Row]:
    kept = []
    for row in rows:
        if row.system.end is None and gone(row):
            closed = _closed(row.system, at)
            if closed is not None:
                kept.append(replace(row, system=closed))
        else:
            kept.append(row)
    return kept
