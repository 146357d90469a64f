"""Entities as a function of their live mentions: names in the order of the log, types and attributes in the order said."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graphmem import names
from graphmem.belief.identity import Identity, active_operations
from graphmem.belief.statements import NAMED
from graphmem.model import (
    DEFAULT_TYPE,
    EMPTY,
    Assertion,
    EntityVersion,
    Episode,
    EpisodeKind,
    EpisodeRecord,
    LogEntry,
    Mention,
    Operation,
    OperationKind,
)

UNREAD = "graphmem:unread"
"""The attribute of a mention that keeps the values which did not fit their attributes; no entity has it."""

MENTIONS = "mentions"
"""The value of a forget that lists mentions, entity → rows of episode and position."""


@dataclass(frozen=True, slots=True)
class EntityState:
    """What is believed of an entity: the first name said, the other names, the first specific type, attributes overlaid."""

    name: str
    type: str = DEFAULT_TYPE
    aliases: tuple[str, ...] = ()
    attributes: Mapping[str, object] = EMPTY

    @classmethod
    def of(cls, version: EntityVersion) -> EntityState:
        return cls(version.name, version.type, version.aliases, version.attributes)

    def seen(self, mention: Mention) -> EntityState:
        """This state after one more mention: a new spelling is an alias, a specific type replaces none, attributes overlay."""
        aliases = self.called(mention.name).aliases
        kind = mention.type if mention.type != self.type and _says(mention.type) > _says(self.type) else self.type
        if aliases is self.aliases and kind == self.type and not mention.attributes:
            return self
        return EntityState(self.name, kind, aliases, {**self.attributes, **_read(mention)} if mention.attributes else self.attributes)

    def called(self, name: str) -> EntityState:
        """This state with one more name, unless a spelling of it is known."""
        shown = names.clean(name)
        if shown == self.name or shown in self.aliases:
            return self
        known = {names.key(n) for n in (self.name, *self.aliases)}
        return self if names.key(shown) in known else replace(self, aliases=(*self.aliases, shown))

    def differs(self, mention: Mention) -> bool:
        """Whether this state and the mention say different things, so that the order in which they were said decides."""
        if mention.type != self.type and _says(mention.type) == _says(self.type):
            return True
        return any(name in self.attributes and self.attributes[name] != value for name, value in mention.attributes.items())

    def renamed(self, name: str) -> EntityState:
        """This state under another name; the earlier one stays as an alias."""
        if names.key(name) == names.key(self.name):
            return replace(self, name=name)
        others = [a for a in (self.name, *self.aliases) if names.key(a) != names.key(name)]
        return replace(self, name=name, aliases=tuple(others))


def _says(kind: str) -> int:
    """How much a type says: nothing, that it is some thing, or what it is."""
    return 0 if kind == DEFAULT_TYPE else 1 if kind == "Thing" else 2


def _read(mention: Mention) -> Mapping[str, object]:
    """The attributes without those that were set aside."""
    given = mention.attributes
    return {k: v for k, v in given.items() if k != UNREAD} if UNREAD in given else given


def names_given(log: Iterable[LogEntry], identity: Identity) -> dict[str, list[Operation]]:
    """The renames and aliases that count for each entity, in the order of the log."""
    given: dict[str, list[Operation]] = defaultdict(list)
    for operation in active_operations(log):
        if operation.kind in (OperationKind.RENAME, OperationKind.ALIAS):
            given[identity.canonical(operation.targets[0])].append(operation)
    return given


class Hidden:
    """What operations that count hide: episodes and assertions by id, and mentions."""

    def __init__(self, active: Iterable[Operation], identity: Identity) -> None:
        self._identity, self._forgets = identity, [o for o in active if o.kind is OperationKind.FORGET]
        self._given: dict[str, dict[str, str]] = defaultdict(dict)
        for o in (o for o in active if o.kind is OperationKind.CORRECT):
            for target in o.targets:
                self._given[target] |= {end: str(o.values[end]) for end in ("source", "target") if end in o.values}
        self.ids = {t for o in self._forgets for t in o.targets}
        self.mentions = {(e, p) for o in self._forgets for rows in _named(o, MENTIONS).values() for e, p in rows}
        self._spoken: set[tuple[str, str]] = set()

    def reading(self, assertions: Iterable[Assertion]) -> Hidden:
        """Take notice of these assertions: while one that counts speaks of an entity, so do mentions of that in its episode."""
        for a in filter(self.tells, assertions):
            self._spoken.update((a.episode, entity) for entity in self.ends(a))
        return self

    def ends(self, assertion: Assertion) -> tuple[str, ...]:
        """The entities that an assertion is about, as corrected."""
        given = self._given.get(assertion.id, {})
        said = (("source", assertion.source), ("target", assertion.target))
        return tuple(self.entity(given.get(end) or self._identity.at(entity, assertion.episode)) for end, entity in said)

    def entity(self, entity: str) -> str:
        return self._identity.canonical(entity)

    def shows(self, mention: Mention) -> bool:
        """Whether the mention counts."""
        if mention.episode in self.ids:
            return False
        if (mention.episode, mention.position) not in self.mentions:
            return True
        return (mention.episode, self.entity(self._identity.at(mention.entity, mention.episode))) in self._spoken

    def tells(self, assertion: Assertion) -> bool:
        """Whether the assertion counts."""
        return assertion.id not in self.ids and assertion.episode not in self.ids


def named_entities(operation: Operation) -> tuple[str, ...]:
    """The entities that come or go with an operation: those that a correction names, and those that a forget has mentions of."""
    return (*_named(operation, NAMED), *_named(operation, MENTIONS))


def namings(active: Iterable[Operation], assertions: Mapping[str, Assertion], hidden: Hidden) -> tuple[list[Mention], dict[str, Episode]]:
    """What corrections say of the entities that they name, as mentions of episodes of their own, in the order of the log.

    A correction says so of an entity as long as one of the `assertions` that it corrects counts and is about that entity: a later
    correction may have taken it elsewhere.
    """
    found: list[Mention] = []
    heads: dict[str, Episode] = {}
    for o in active:
        if o.kind is not OperationKind.CORRECT or NAMED not in o.values or o.created_at is None:
            continue
        about = {end for t in o.targets if t in assertions and hidden.tells(assertions[t]) for end in hidden.ends(assertions[t])}
        told = [(n, entity, row) for n, (entity, row) in enumerate(sorted(_named(o, NAMED).items())) if hidden.entity(entity) in about]
        if told:
            found += [Mention(o.id, n, entity, str(row["name"]), str(row["type"])) for n, entity, row in told]
            heads[o.id] = Episode(o.id, o.group, EpisodeKind.FACTS, "", o.created_at, o.id, o.seq, o.created_at)
    return found, heads


def _named(operation: Operation, value: str) -> Mapping[str, Any]:
    found = operation.values.get(value, EMPTY)
    return found if isinstance(found, Mapping) else EMPTY


def entity_state(mentions: Iterable[Mention], heads: Mapping[str, Episode], given: Sequence[Operation] = ()) -> EntityState | None:
    """The state after all of `mentions` and the names `given` by users, which come in the order of the log; None without any mention.

    `heads` are the episodes of the mentions: of two values of an attribute the later said one counts, of two types the first
    said. The last name that a rename gave is the entity's name.
    """
    listed = list(mentions)
    if not listed:
        return None
    state = EntityState(names.clean(listed[0].name))
    aliases = [o for o in given if o.kind is OperationKind.ALIAS]
    for mention in listed:
        while aliases and aliases[0].seq < heads[mention.episode].seq:
            state = state.called(str(aliases.pop(0).values["name"]))
        state = state.seen(mention)
    for operation in aliases:
        state = state.called(str(operation.values["name"]))
    said = EntityState(state.name)
    for mention in sorted(listed, key=lambda m: heads[m.episode].reference_time):
        said = said.seen(mention)
    state = replace(state, type=said.type, attributes=said.attributes)
    renamed = [str(o.values["name"]) for o in given if o.kind is OperationKind.RENAME]
    return state.renamed(names.clean(renamed[-1])) if renamed else state


def mentions_that_count(log: Sequence[LogEntry], identity: Identity) -> tuple[dict[str, list[Mention]], dict[str, Episode]]:
    """Entity → its mentions that count after the whole of `log`, in that order, with what corrections say of it as mentions of episodes
    of their own; and the episodes of all of these, by id.
    """
    active = active_operations(log)
    records = [e for e in log if isinstance(e, EpisodeRecord)]
    assertions = {a.id: a for r in records for a in r.assertions}
    hidden = Hidden(active, identity).reading(assertions.values())
    live: dict[str, list[Mention]] = defaultdict(list)
    for mention in (m for r in records for m in r.mentions if hidden.shows(m)):
        live[identity.canonical(identity.at(mention.entity, mention.episode))].append(mention)
    named, own = namings(active, assertions, hidden)
    for mention in named:
        live[identity.canonical(mention.entity)].append(mention)
    heads = {r.episode.id: r.episode for r in records} | own
    for told in live.values():
        told.sort(key=lambda m: heads[m.episode].seq)
    return dict(live), heads


def entities_of(log: Sequence[LogEntry], identity: Identity) -> dict[str, EntityState]:
    """Entity → what the whole of `log` says of it."""
    live, heads = mentions_that_count(log, identity)
    given = names_given(log, identity)
    states = ((entity, entity_state(mentions, heads, given.get(entity, ()))) for entity, mentions in live.items())
    return {entity: state for entity, state in states if state is not None}
