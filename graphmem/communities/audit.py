"""What must hold of every layer of communities."""

from __future__ import annotations

from collections.abc import Iterator

from graphmem.model import AsOf, EntityMatch, Violation
from graphmem.stores.base import Reader

NOW = AsOf()


def layer_violations(reader: Reader, group: str) -> Iterator[Violation]:
    """Every invariant of the group's layer that is broken: members are entities of the group, each in one community of every level,
    and levels nest.
    """
    communities = {(v.level, v.id): v for v in reader.communities([group], NOW)}
    homes: dict[str, dict[int, str]] = {}
    for member in reader.members([group], NOW):
        homes.setdefault(member.entity, {})[member.level] = member.community
        if (member.level, member.community) not in communities:
            yield Violation("community", member.community, f"is over, and still holds {member.entity} on level {member.level}")
    known = {e.id for e in reader.entities([group], NOW, EntityMatch(ids=tuple(homes)))} if homes else set()
    levels = {level for level, _ in communities}
    for entity, places in homes.items():
        if entity not in known:
            yield Violation("community", places[min(places)], f"holds {entity}, which is no entity now")
        if places.keys() != levels:
            yield Violation("community", places[min(places)], f"holds {entity} on levels {sorted(places)} of {sorted(levels)}")
        for level, community in places.items():
            version = communities.get((level, community))
            if version is not None and version.parent != places.get(level - 1):
                yield Violation("community", community, f"lies in {version.parent}, and its member {entity} in {places.get(level - 1)}")
    held = {(level, community) for places in homes.values() for level, community in places.items()}
    for level, community in sorted(communities.keys() - held):
        yield Violation("community", community, f"has no member on level {level}")
