"""A log without what is erased from it: pure, so that everything believed can be folded again as if it had never been said.

Entries that go leave a tombstone: their place and instant, nothing of what they were. Ids derive from what was said, and could
confirm a guess of it; so what stays and has such an id gets another one, which says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import cast

from graphmem.belief.entities import MENTIONS
from graphmem.belief.identity import Identity, parted, resolve_identity
from graphmem.belief.instead import INSTEAD_OF, id_again, key_again, key_erased
from graphmem.belief.redaction import Redactor, without_sentences
from graphmem.belief.statements import NAMED
from graphmem.model import EMPTY, VALUE_TYPE, EpisodeRecord, LogEntry, Mention, Operation, OperationKind
from graphmem.runtime import content_id

WHOLE = frozenset((OperationKind.MERGE, OperationKind.DISTINCT))
"""Operations that mean nothing without one of their targets."""
_OF_ENTITIES = frozenset((OperationKind.MERGE, OperationKind.DISTINCT, OperationKind.RENAME, OperationKind.ALIAS))
"""Operations on entities: nothing without one of them."""
_STRUCTURE = frozenset((MENTIONS, "kind", "of", "relation", "source", "target", "entity", "same_as", "excludes"))
"""Arguments of operations that are no texts."""
_PLAIN = frozenset((OperationKind.ERASE, OperationKind.ERASED, OperationKind.ONTOLOGY, OperationKind.COMMUNITIES))
"""Operations that speak of nothing that could be erased."""


@dataclass(frozen=True)
class Target:
    """What is to go: episodes; assertions, with their sentences; entities by all their ids, with their names. `deletes`: episodes
    that would have to be changed go as a whole.
    """

    episodes: AbstractSet[str] = frozenset()
    assertions: AbstractSet[str] = frozenset()
    entities: AbstractSet[str] = frozenset()
    names: tuple[str, ...] = ()
    deletes: bool = False


@dataclass
class Erased:
    """The log without it, and how much that is: positions that are empty now, episodes changed, assertions and operations gone;
    `first` is the first position that is not as it was (None: every one is). `quotes` finds what was erased in other words.
    """

    entries: list[LogEntry]
    episodes: int = 0
    redacted: int = 0
    assertions: int = 0
    entities: int = 0
    operations: int = 0
    positions: tuple[int, ...] = ()
    first: int | None = None
    changed: frozenset[str] = frozenset()
    quotes: Redactor = field(default_factory=lambda: Redactor(()))


def without(log: Sequence[LogEntry], target: Target, seq: int, *, fresh_ids: bool = True) -> Erased:
    """The log as if what the target names had never been said; `seq` is the position of the erase itself."""
    return _Erasing(log, target, seq).run(fresh_ids)


class _Erasing:
    def __init__(self, log: Sequence[LogEntry], target: Target, seq: int) -> None:
        self.log, self.target, self.seq = log, target, seq
        self.records = [e for e in log if isinstance(e, EpisodeRecord)]
        self.by_id = {r.episode.id: r for r in self.records}
        self.identity = resolve_identity(log)
        self.kept: dict[str, EpisodeRecord] = {}
        self.gone: set[str] = set()  # episodes, assertions and operations
        self.first: int | None = None  # the position of the first episode that changes
        self.result = Erased([])

    def run(self, fresh_ids: bool) -> Erased:
        result, named = self.result, Redactor(self.target.names)
        for record in self.records:
            self._keep(record, named)
        self._keep_alike()
        gone = {r.episode.id for r in self.records} - self.kept.keys()
        before = {a.id for r in self.records for a in r.assertions}
        self.gone = gone | (before - {a.id for r in self.kept.values() for a in r.assertions})
        self._forget_decisions()
        self.first = min((r.seq for r in self.records if self.kept.get(r.episode.id) != r), default=None)
        vanished = self._vanished()
        result.quotes = Redactor([*self.target.names, *self._quotable(gone, vanished)])
        result.entries = [self._entry(e, vanished) for e in self.log]
        changed = {e.seq for e, now in zip(self.log, result.entries, strict=True) if e != now}
        result.first = min(changed, default=None)
        result.positions = tuple(e.seq for e, now in zip(self.log, result.entries, strict=True) if e != now and _is_tombstone(now))
        result.episodes, result.assertions = len(gone), len(before & self.gone)
        result.entities = len(self._mentioned(self.records) - self._mentioned(self.kept.values()))
        result.redacted = sum(r.episode != self.kept[r.episode.id].episode for r in self.records if r.episode.id in self.kept)
        result.operations = sum(isinstance(e, Operation) and e.seq in changed for e in self.log)
        result.changed = frozenset(e.episode.id for e in self.records if e.seq in changed)
        if fresh_ids:
            result.entries = _renamed(self.log, result.entries, self.seq)
        result.entries = [was if now == was else replace(now, digest=None) for was, now in zip(self.log, result.entries, strict=True)]
        return result

    # -- episodes

    def _keep(self, record: EpisodeRecord, named: Redactor) -> None:
        """Take an episode into the new log, changed where it speaks of the target, unless it goes."""
        target, episode = self.target, record.episode
        if episode.id in target.episodes:
            return
        kept = named.record(self._without_entities(record)) if target.entities else record
        told = [a for a in kept.assertions if a.id in target.assertions]
        if told:
            kept, _ = without_sentences(kept, told)
        if len(kept.mentions) < len(record.mentions):
            ends = {e for a in kept.assertions for e in (a.source, a.target)}
            kept = replace(kept, mentions=tuple(m for m in kept.mentions if m.type != VALUE_TYPE or m.entity in ends))
        if kept == record or not target.deletes:
            self.kept[episode.id] = kept

    def _keep_alike(self) -> None:
        """Episodes with the same words share their fate, whichever of them was read."""
        for record in self.records:
            episode = record.episode
            other = self.by_id.get(str(episode.attributes.get(INSTEAD_OF)))
            if other is None or other.episode.body != episode.body:
                continue
            both = episode.id, other.episode.id
            if not self.kept.keys() >= {*both}:
                self.kept = {i: r for i, r in self.kept.items() if i not in both}
                continue
            body = next((self.kept[i].episode.body for i in both if self.kept[i].episode.body != episode.body), episode.body)
            for i in both:
                if self.kept[i].episode.body != body:
                    self.kept[i] = replace(self.kept[i], episode=replace(self.kept[i].episode, body=body), search_text=())

    def _without_entities(self, record: EpisodeRecord) -> EpisodeRecord:
        """Without claims about and mentions of the entities; what a split moved from one of them to another is that one's."""
        gone, episode = self.target.entities, record.episode.id

        def now(entity: str) -> str:
            return self.identity.at(entity, episode)

        def stays(entity: str) -> str:
            return now(entity) if entity in gone else entity

        return EpisodeRecord(
            record.episode,
            tuple(
                replace(a, source=stays(a.source), target=stays(a.target))
                for a in record.assertions
                if a.id not in self.target.assertions and gone.isdisjoint((now(a.source), now(a.target)))
            ),
            tuple(replace(m, entity=stays(m.entity)) for m in record.mentions if now(m.entity) not in gone),
            tuple((stays(one), stays(other)) for one, other in record.links if gone.isdisjoint((now(one), now(other)))),
            record.search_text,
        )

    def _forget_decisions(self) -> None:
        for identity, record in self.kept.items():
            told = tuple(
                replace(
                    a,
                    same_as=None if a.same_as in self.gone else a.same_as,
                    excludes=tuple(e for e in a.excludes if e not in self.gone),
                )
                if a.same_as in self.gone or not self.gone.isdisjoint(a.excludes)
                else a
                for a in record.assertions
            )
            if told != record.assertions:
                self.kept[identity] = replace(record, assertions=told)

    # -- what nobody speaks of any more

    def _vanished(self) -> set[str]:
        """Entities that nothing kept speaks of, nor of any that was ever joined with them, and of which something did."""
        joined: list[tuple[str, str]] = [pair for r in self.records for pair in r.links]
        for entry in self.log:
            if isinstance(entry, Operation) and entry.kind in WHOLE:
                joined += [(entry.targets[0], other) for other in entry.targets[1:]]
            elif isinstance(entry, Operation) and entry.kind is OperationKind.SPLIT:
                joined += [(old, str(entry.values["entity"])) for old in parted(entry)[0]]
        kin = Identity.joining(joined)
        was, now = ({kin.canonical(e) for r in records for e in _spoken_of(r)} for records in (self.records, self.kept.values()))
        for entry in self.log:  # whom a correction names, while something is left that it corrects
            if isinstance(entry, Operation) and isinstance(named := entry.values.get(NAMED), Mapping):
                called = {kin.canonical(e) for e in named}
                was |= called
                now |= called if set(entry.targets) - self.gone - named.keys() else set()
        return {e for one in was - now for e in kin.members(one)}

    def _mentioned(self, records: Iterable[EpisodeRecord]) -> set[str]:
        identity = self.identity
        return {identity.canonical(identity.at(m.entity, m.episode)) for r in records for m in r.mentions}

    def _quotable(self, gone: AbstractSet[str], vanished: AbstractSet[str]) -> Iterable[str]:
        """Words by which others may quote what goes: texts, sentences, sessions, names that nobody else has."""
        sessions = {r.episode.session for r in self.kept.values()}
        for record in self.records:
            lost = record.episode.id in gone
            if lost:
                yield record.episode.body
                yield from (s for s in (record.episode.session,) if s and s not in sessions)
                yield from record.search_text
            if lost or record != self.kept[record.episode.id]:
                yield from (a.text for a in record.assertions if a.id in self.gone)
                yield from (m.name for m in record.mentions if m.entity in vanished)

    # -- the new log

    def _entry(self, entry: LogEntry, vanished: AbstractSet[str]) -> LogEntry:
        if isinstance(entry, EpisodeRecord):
            return self.kept.get(entry.episode.id) or _tombstone(entry)
        kept = self._operation(entry, vanished)
        if kept is None:
            self.gone.add(entry.id)
            return _tombstone(entry)
        return kept

    def _operation(self, operation: Operation, vanished: AbstractSet[str]) -> Operation | None:
        """An operation without what is gone; None where nothing is left of it."""
        if operation.kind in _PLAIN:
            return self._without_texts(operation)
        if operation.kind in _OF_ENTITIES:
            gone = not self.target.entities.isdisjoint(operation.targets) or operation.targets[0] in vanished
            left = None if gone else operation
        elif operation.kind is OperationKind.SPLIT:
            left = self._split(operation, vanished)
        else:
            left = self._of_records(operation)
        if left is None:
            return None
        quotes = self.result.quotes
        values = {k: v if k in _STRUCTURE else quotes.value(v) for k, v in left.values.items()} if left.values else left.values
        return replace(left, values=values, author=quotes.optional(left.author), reason=quotes.optional(left.reason))

    def _split(self, split: Operation, vanished: AbstractSet[str]) -> Operation | None:
        """A split without episodes that are gone; None without any, and where nobody is left to be taken out of, or taken out."""
        entities, episodes = parted(split)
        new = str(split.values["entity"])
        old = tuple(e for e in entities if e not in self.target.entities)
        said = tuple(e for e in episodes if e not in self.gone)
        if not (old and said) or new in self.target.entities or old[0] in vanished:
            return None
        values = {**split.values, "of": len(old)} if "of" in split.values else split.values
        return replace(split, targets=(*old, *said, *split.targets[len(entities) + len(episodes) :]), values=values)

    def _of_records(self, operation: Operation) -> Operation | None:
        """An operation on episodes, assertions or other operations; None where all of these are gone, or it names who is."""
        if any(isinstance(v, str) and v in self.target.entities for v in operation.values.values()):
            return None
        values = {k: self._left_of(v) for k, v in operation.values.items() if not self._is_gone(v)}
        were, are = _listed(operation.values), _listed(values)
        values = {k: v for k, v in values.items() if v or k not in (NAMED, MENTIONS)}
        targets = tuple(t for t in operation.targets if not self._is_gone(t) and (t in are or t not in were))
        acts = not were.issuperset(targets) or MENTIONS in values
        if not acts or (operation.kind is OperationKind.CORRECT and not values.keys() - {NAMED}):
            return None
        return replace(operation, targets=targets, values=values)

    def _left_of(self, value: object) -> object:
        """A nested argument without the ids of what is gone, and without lists that begin with one."""
        gone = self._is_gone
        if isinstance(value, Mapping):
            return {k: kept for k, v in value.items() if not gone(k) and ((kept := self._left_of(v)) or not v)}
        if isinstance(value, (list, tuple)):
            kept = [self._left_of(v) for v in value if not gone(v) and not (isinstance(v, (list, tuple)) and v and gone(v[0]))]
            return type(value)(kept)
        return value

    def _is_gone(self, value: object) -> bool:
        return isinstance(value, str) and (value in self.gone or value in self.target.entities)

    def _without_texts(self, operation: Operation) -> Operation:
        """A build of communities without what a model has called them, where it may have been shown what goes, or names it."""
        texts = operation.values.get("texts")
        if not texts or ((self.first is None or operation.seq < self.first) and self.result.quotes.value(texts) == texts):
            return operation
        return replace(operation, values={**operation.values, "texts": []})


def _listed(values: Mapping[str, object]) -> set[str]:
    """The entities that an operation names or has mentions of."""
    return {str(e) for name in (NAMED, MENTIONS) for e in cast(Mapping[str, object], values.get(name, EMPTY))}


def _is_tombstone(entry: LogEntry) -> bool:
    return isinstance(entry, Operation) and entry.kind is OperationKind.ERASED


def _tombstone(entry: LogEntry) -> Operation:
    """What is left of an entry: its place."""
    episode = entry.episode if isinstance(entry, EpisodeRecord) else entry
    identity = content_id("op", episode.group, entry.seq, OperationKind.ERASED.value)
    return Operation(identity, episode.group, OperationKind.ERASED, (), seq=entry.seq, created_at=episode.created_at)


def _spoken_of(record: EpisodeRecord) -> Iterable[str]:
    yield from (m.entity for m in record.mentions)
    yield from (e for a in record.assertions for e in (a.source, a.target))


# ------------------------------------------------------------------------------------------------ ids


def _renamed(before: Sequence[LogEntry], after: Sequence[LogEntry], seq: int) -> list[LogEntry]:
    """The new log with other ids for what is left and was called after words that are not."""
    ids: dict[str, str] = {}

    def fresh(kind: str, group: str) -> str:
        return content_id(kind, group, "erased", seq, len(ids))

    for old, new in zip(before, after, strict=True):
        if isinstance(old, Operation):
            if old.kind is OperationKind.SPLIT and not _is_tombstone(new) and not ids.keys().isdisjoint(old.targets):
                ids[str(old.values["entity"])] = fresh("en", old.group)  # called after the ids that it was taken out of
            for entity in _called_otherwise(old, new):
                ids.setdefault(entity, fresh("en", old.group))
            named = new if _is_tombstone(new) else _with_ids(new, ids, seq)
            if isinstance(named, Operation) and not _is_tombstone(named) and (named.targets, named.values) != (old.targets, old.values):
                ids[old.id] = fresh("op", old.group)
            continue
        episode = old.episode
        if isinstance(new, EpisodeRecord):
            were = {m.position: m for m in old.mentions}
            for m in new.mentions:  # the id of a value, or of a record, derives from what it is called
                if (m.name, m.attributes) != (were[m.position].name, were[m.position].attributes) and m.entity not in ids:
                    ids[m.entity] = fresh("en", episode.group)
            if _words(new) == _words(old):
                continue
        if isinstance(new, EpisodeRecord) and not (_is_keyed(old) and new.episode.key == episode.key):
            stands_for = str(episode.attributes.get(INSTEAD_OF))
            if INSTEAD_OF in episode.attributes and stands_for not in ids:
                continue  # called after one that keeps its name
            ids[episode.id] = id_again(episode.group, ids[stands_for]) if stands_for in ids else fresh("ep", episode.group)
            ids.update((a.id, content_id("as", ids[episode.id], a.position)) for a in new.assertions)
        if not isinstance(new, EpisodeRecord) or episode.id in ids:
            ids.update((m.entity, fresh("en", episode.group)) for m in old.mentions if _first_said(old, m) and m.entity not in ids)
    return [_with_ids(e, ids, seq) for e in after] if ids else list(after)


def _called_otherwise(old: Operation, new: LogEntry) -> Iterable[str]:
    """Entities that a correction calls otherwise now: their ids derive from what it called them."""
    was, now = old.values.get(NAMED), new.values.get(NAMED) if isinstance(new, Operation) else None
    if isinstance(was, Mapping) and isinstance(now, Mapping):
        yield from (e for e in now if now[e] != was.get(e))


def _words(record: EpisodeRecord) -> tuple[str | None, ...]:
    """What an episode may be called after."""
    episode = record.episode
    return episode.body, episode.actor, episode.session, episode.key


def _is_keyed(record: EpisodeRecord) -> bool:
    """Whether the episode is called after a key of its source's, which tells nothing of its words."""
    return record.episode.id == content_id("ep", record.episode.group, record.episode.key)


def _first_said(record: EpisodeRecord, mention: Mention) -> bool:
    """Whether the entity is called after this mention of it."""
    return mention.entity == content_id("en", record.episode.group, record.episode.id, mention.position)


def _with_ids(entry: LogEntry, ids: Mapping[str, str], seq: int) -> LogEntry:
    def named(identity: str) -> str:
        return ids.get(identity, identity)

    if isinstance(entry, Operation):
        return replace(
            entry,
            id=named(entry.id),
            targets=tuple(map(named, entry.targets)),
            values={k: _named_in(v, ids) for k, v in entry.values.items()} if entry.values else entry.values,
        )
    episode = entry.episode
    if episode.id in ids:
        stands_for = ids.get(str(episode.attributes.get(INSTEAD_OF)))
        key = key_erased(episode.group, seq, ids[episode.id])
        if stands_for is not None:
            key = key_again(episode.group, stands_for)
            episode = replace(episode, attributes={**episode.attributes, INSTEAD_OF: stands_for})
        episode = replace(episode, id=ids[episode.id], key=key)
    return EpisodeRecord(
        episode,
        tuple(
            replace(
                a,
                id=named(a.id),
                episode=episode.id,
                source=named(a.source),
                target=named(a.target),
                same_as=None if a.same_as is None else named(a.same_as),
                excludes=tuple(map(named, a.excludes)),
            )
            for a in entry.assertions
        ),
        tuple(replace(m, episode=episode.id, entity=named(m.entity)) for m in entry.mentions),
        tuple((named(one), named(other)) for one, other in entry.links),
        entry.search_text,
    )


def _named_in(value: object, ids: Mapping[str, str]) -> object:
    if isinstance(value, str):
        return ids.get(value, value)
    if isinstance(value, Mapping):
        return {ids.get(k, k): _named_in(v, ids) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_named_in(v, ids) for v in value)
    return value
