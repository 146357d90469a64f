"""The entities that a name or an id means at a point."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graphmem.belief.identity import resolve_identity
from graphmem.belief.slices import load_kin
from graphmem.entries import recorded_at
from graphmem.errors import InvalidInput, NotFound
from graphmem.model import AsOf, EntityMatch, EntityVersion
from graphmem.search.words import words
from graphmem.stores.base import Kind, Reader


def named(reader: Reader, groups: Sequence[str], point: AsOf, name: str, argument: str = "entity") -> list[EntityVersion]:
    """Entities by id, also one that was merged into another, by name or by alias.

    Raises `NotFound` with the nearest names if there are none, `InvalidInput` naming the argument for what is no name.
    """
    if not isinstance(name, str):
        raise InvalidInput(argument, name, "must be the id or a name of an entity")
    found = reader.entities(groups, point, EntityMatch(ids=(name,))) or reader.entities(groups, point, EntityMatch(names=(name,)))
    found = found or [entity for group in groups for entity in _merged(reader, group, point, name)]
    if not found:
        near = near_names(reader, groups, point, name)
        hint = f"; near names: {', '.join(near)}" if near else ""
        raise NotFound(f"no entity is called {name!r} at this point{hint}")
    return found


def near_names(reader: Reader, groups: Sequence[str], point: AsOf, name: str) -> list[str]:
    """Names that share a word with `name`, the likest first."""
    found = reader.text_search(Kind.ENTITY, words(name), groups, point, 3)
    known = {e.id: e.name for e in reader.entities(groups, point, EntityMatch(ids=tuple(f.id for f in found)))}
    return [known[f.id] for f in found if f.id in known]


def listed(entities: Iterable[EntityVersion]) -> str:
    """Candidates for an error: ids with names and types."""
    return ", ".join(f"{e.id} ({e.name}, {e.type})" for e in entities)


def _merged(reader: Reader, group: str, point: AsOf, entity: str) -> list[EntityVersion]:
    """The entity that one of this id was merged into at the point."""
    entries = [e for e in load_kin(reader, group, [entity]).entries if point.system is None or recorded_at(e) <= point.system]
    whole = resolve_identity(entries).canonical(entity)
    return reader.entities([group], point, EntityMatch(ids=(whole,))) if whole != entity else []
