"""Entities as a function of their live mentions: names in the order of the log, types and attributes in the order said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from graphmem import names
from graphmem.model import DEFAULT_TYPE, EMPTY, EntityVersion, Mention

UNREAD = "graphmem:unread"
"""The attribute of a mention that keeps the values which did not fit their attributes; no entity has it."""


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
        known = {names.key(n) for n in (self.name, *self.aliases)}
        shown = names.clean(mention.name)
        aliases = self.aliases if names.key(shown) in known else (*self.aliases, shown)
        kind = mention.type if _says(mention.type) > _says(self.type) else self.type
        return EntityState(self.name, kind, aliases, {**self.attributes, **_read(mention)} if mention.attributes else self.attributes)

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


def entity_state(mentions: Iterable[Mention], told: Mapping[str, datetime], name: str | None = None) -> EntityState | None:
    """The state after all of `mentions`, which come in the order of the log; None without any.

    `told` gives the reference time of each episode: of two values of an attribute the later said one counts, of two types
    the first said. `name` is the name a user gave.
    """
    listed = list(mentions)
    if not listed:
        return None
    state = EntityState(names.clean(listed[0].name))
    for mention in listed:
        state = state.seen(mention)
    said = EntityState(state.name)
    for mention in sorted(listed, key=lambda m: told[m.episode]):
        said = said.seen(mention)
    state = replace(state, type=said.type, attributes=said.attributes)
    return state.renamed(name) if name is not None else state
