"""Entities as a function of their live mentions, in the order of the log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from graphmem import names
from graphmem.model import DEFAULT_TYPE, EMPTY, EntityVersion, Mention


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
        attributes = {**self.attributes, **mention.attributes} if mention.attributes else self.attributes
        return EntityState(self.name, kind, aliases, attributes)

    def renamed(self, name: str) -> EntityState:
        """This state under another name; the earlier one stays as an alias."""
        if names.key(name) == names.key(self.name):
            return replace(self, name=name)
        others = [a for a in (self.name, *self.aliases) if names.key(a) != names.key(name)]
        return replace(self, name=name, aliases=tuple(others))


def _says(kind: str) -> int:
    """How much a type says: nothing, that it is some thing, or what it is."""
    return 0 if kind == DEFAULT_TYPE else 1 if kind == "Thing" else 2


def entity_state(mentions: Iterable[Mention], name: str | None = None) -> EntityState | None:
    """The state after all of `mentions`, in order; None without any. `name` is the name a user gave."""
    state: EntityState | None = None
    for mention in mentions:
        state = (state or EntityState(names.clean(mention.name))).seen(mention)
    return state.renamed(name) if state is not None and name is not None else state
