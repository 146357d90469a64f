"""Rows that every message asks for again, kept from one transaction to the next for as long as nobody else writes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from graphmem import names
from graphmem.model import EntityVersion, Head
from graphmem.stores.codec import safe_text

_MOST_ENTITIES = 1024  # a writer copies them
_MOST_META = 1024

Ordered = tuple[tuple[str, str], EntityVersion]
"""An entity behind what orders it in a read: the key of its name, then its id."""


def ordered(version: EntityVersion) -> Ordered:
    """The version with its place."""
    return (safe_text(names.key(version.name)), version.id), version


@dataclass(slots=True)
class Kept:
    """What was read of the file as it is after commit number `change`. A writer works on a copy, which its commit makes valid."""

    change: int = -1
    groups: dict[str, int] = field(default_factory=dict)
    heads: dict[int, Head] = field(default_factory=dict)
    meta: dict[str, str | None] = field(default_factory=dict)
    entities: dict[str, Ordered] = field(default_factory=dict)
    _ids: dict[str, str] = field(default_factory=dict)

    @property
    def is_large(self) -> bool:
        """Whether so many groups have rows here that it is time to begin anew: a group's ontology alone is thousands of characters."""
        return len(self.groups) + len(self.meta) > _MOST_META

    def copy(self) -> Kept:
        """The same rows, to be changed; without the entities if there is no room for more."""
        full = len(self.entities) >= _MOST_ENTITIES
        entities, ids = ({}, {}) if full else (self.entities.copy(), self._ids.copy())
        return Kept(self.change, self.groups.copy(), self.heads.copy(), self.meta.copy(), entities, ids)

    def keep(self, entities: Iterable[Ordered]) -> None:
        """Add open versions while there is room."""
        for place, version in entities:
            if len(self.entities) < _MOST_ENTITIES:
                # In this order, and copied in the other: no copy has an entity without what ends it.
                self._ids[version.uuid] = version.id
                self.entities[version.id] = place, version

    def end_entities(self, uuids: Iterable[str]) -> None:
        """These versions are open no more."""
        for uuid in uuids:
            if (known := self._ids.pop(uuid, None)) is not None:
                self.entities.pop(known, None)

    def forget_entities(self) -> None:
        """Drop all entities."""
        self.entities.clear()
        self._ids.clear()
