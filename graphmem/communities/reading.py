"""Reading a layer at a point: the one that was stored, or one computed on the graph of another valid time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from graphmem.communities.layer import WRITER, Layer, found, settled, stored
from graphmem.communities.linked import Linked
from graphmem.communities.recipe import Recipe
from graphmem.communities.telling import material, told
from graphmem.community import CommunityItem, Member
from graphmem.errors import InvalidInput, NotFound
from graphmem.model import CENTRAL, AsOf, CommunityMatch, CommunityVersion, EntityMatch, EntityVersion, FactMatch, OperationKind
from graphmem.stores.base import Reader

_AT_ONCE = 2_000


@dataclass(frozen=True)
class Placed:
    """A group's layer at a point with both axes filled in, and whether it was computed for this read."""

    group: str
    layer: Layer
    point: AsOf
    computed: bool

    def members(self, level: int) -> dict[str, set[str]]:
        """Community → members of one level."""
        return self.layer.sets().get(level, {})


def placed(reader: Reader, group: str, at: AsOf, point: AsOf, level: int | None = None) -> Placed:
    """The layer, or one level of it, at the point `at` as asked (`point` is the same with both axes filled in).

    Without a valid time of its own it is the layer that was stored at the system instant. At a valid time it is found in the graph
    of that time, by the recipe of the last build; communities that continue a stored one bear its id.
    """
    if at.valid is None:
        return Placed(group, stored(reader, group, AsOf(None, at.system), level), point, False)
    kept = stored(reader, group, AsOf(None, at.system))
    computed = found(reader, group, point, recipe_at(reader, group, at.system) or Recipe.checked())
    return Placed(group, settled(computed, group, point.valid, kept), point, True)


def place_of(reader: Reader, group: str, point: AsOf, entity: str, level: int) -> Placed | None:
    """The one stored community of an entity on a level, without the rest of the layer; None where the entity is in none.

    Raises `InvalidInput` for a level that is not there.
    """
    at = AsOf(None, point.system)
    homes = {m.level: m.community for m in reader.members([group], at, entities=[entity])}
    if not homes:
        return None
    _check_level(level, homes)
    match = CommunityMatch(ids=(homes[level],), levels=(level,))
    members = reader.members([group], at, communities=[homes[level]], level=level)
    return Placed(group, Layer.of(reader.communities([group], at, match), members), point, False)


def recipe_at(reader: Reader, group: str, system: datetime | None) -> Recipe | None:
    """The recipe of the last build up to a system instant."""
    built = [
        o
        for o in reader.operations(group)
        if o.kind is OperationKind.COMMUNITIES and (system is None or (o.created_at is not None and o.created_at <= system))
    ]
    return Recipe.of(built[-1].values) if built else None


def some(reader: Reader, layers: Sequence[Placed]) -> Sequence[Placed]:
    """The layers; raises `NotFound` saying what to do where there is none: nothing built, or nothing that held."""
    if not layers or any(p.layer.communities for p in layers):
        return layers
    groups = ", ".join(repr(p.group) for p in layers)
    point = layers[0].point
    if layers[0].computed:
        shown = point.valid.isoformat() if point.valid else "any time"
        raise NotFound(f"no fact of {groups} held at {shown}, so there were no communities; `timeline()` shows when facts begin")
    if any(recipe_at(reader, p.group, point.system) for p in layers):
        return layers  # built, and without a fact, or on the level asked, there is none
    shown = f"at {point.system.isoformat()}" if point.system else "yet"
    raise NotFound(f"no communities of {groups} had been built {shown}; `build_communities()` builds them, as of now")


def leveled(reader: Reader, layers: Sequence[Placed], level: int | None) -> None:
    """Raises `InvalidInput` where no layer has that level."""
    there = {v.level for p in layers for v in p.layer.communities}
    if level is not None and level not in there:
        every = (v for p in layers if not p.computed for v in reader.communities([p.group], AsOf(None, p.point.system)))
        _check_level(level, there | {v.level for v in every})


def _check_level(level: int, there: Collection[int]) -> None:
    if there and level not in there:
        raise InvalidInput("level", level, f"must be one of the levels there are at this point: {', '.join(map(str, sorted(there)))}")


def items(reader: Reader, layer: Placed, wanted: Collection[str], level: int | None) -> list[CommunityItem]:
    """The communities of these ids and this level (None: all) as items, by level, size (the largest first), name, id."""
    chosen = [v for v in layer.layer.communities if v.id in wanted and level in (None, v.level)]
    sets = layer.layer.sets()
    members = {(v.level, v.id): sets.get(v.level, {}).get(v.id, set()) for v in chosen}
    names = _entities(reader, layer.group, layer.point, {e for held in members.values() for e in held})
    current = _current(reader, layer, chosen, members, names)
    rows = [_item(layer.group, v, members[v.level, v.id], names, computed=layer.computed) for v in current]
    return sorted(rows, key=lambda i: (i.level, -i.size, i.name, i.id))


def _current(
    reader: Reader,
    layer: Placed,
    chosen: Sequence[CommunityVersion],
    members: dict[tuple[int, str], set[str]],
    names: dict[str, EntityVersion],
) -> list[CommunityVersion]:
    """The versions with texts that hold at the point: a text that cites a fact which does not is told anew, from what does."""
    if layer.computed:
        return list(chosen)
    stale = _stale(reader, (layer.group,), layer.point, chosen)
    fresh = _retold(reader, layer.group, layer.point, stale, members, names)
    return [fresh.get(v.uuid, v) for v in chosen]


def told_now(reader: Reader, groups: Sequence[str], point: AsOf, versions: Sequence[CommunityVersion]) -> list[CommunityVersion]:
    """Stored versions with texts that hold at the point, in the same order: what is told anew cites other facts."""
    stale = _stale(reader, tuple(groups), point, versions)
    fresh: dict[str, CommunityVersion] = {}
    for group in sorted({v.group for v in stale}):
        mine = [v for v in stale if v.group == group]
        members: dict[tuple[int, str], set[str]] = defaultdict(set)
        for m in reader.members([group], AsOf(None, point.system), communities=sorted({v.id for v in mine})):
            members[m.level, m.community].add(m.entity)
        names = _entities(reader, group, point, {e for held in members.values() for e in held})
        fresh |= _retold(reader, group, point, mine, members, names)
    return [fresh.get(v.uuid, v) for v in versions]


def brief(
    reader: Reader, groups: Sequence[str], point: AsOf, versions: Sequence[CommunityVersion], sizes: Mapping[str, int]
) -> list[CommunityItem]:
    """Stored versions as items that name their central members alone; `sizes` by id, of all members."""
    central = tuple(dict.fromkeys(e for v in versions for e in v.central))
    found = reader.entities(groups, AsOf(None, point.system), EntityMatch(ids=central)) if central else []
    names = {e.id: e for e in found}
    return [_item(v.group, v, set(v.central), names, size=sizes.get(v.id)) for v in versions]


def _stale(reader: Reader, groups: tuple[str, ...], point: AsOf, versions: Sequence[CommunityVersion]) -> list[CommunityVersion]:
    """Those whose texts cite a fact that does not hold at the point."""
    cited = list(dict.fromkeys(uuid for v in versions for uuid in v.facts))
    holding: set[str] = set()
    for n in range(0, len(cited), _AT_ONCE):
        holding |= {f.uuid for f in reader.facts(groups, point, FactMatch(uuids=tuple(cited[n : n + _AT_ONCE])))}
    return [v for v in versions if not holding.issuperset(v.facts)]


def _retold(
    reader: Reader,
    group: str,
    point: AsOf,
    stale: Sequence[CommunityVersion],
    members: Mapping[tuple[int, str], Collection[str]],
    names: Mapping[str, EntityVersion],
) -> dict[str, CommunityVersion]:
    """By uuid, these versions with texts made of the facts that hold at the point between their members."""
    fresh: dict[str, CommunityVersion] = {}
    for level in sorted({v.level for v in stale}):
        of_level = [v for v in stale if v.level == level]
        homes = {e: n for n, v in enumerate(of_level) for e in members.get((level, v.id), ()) if e in names}
        part = Linked.of({e: names[e].name for e in homes}, reader.ties(group, point, sorted(homes)))
        labels = [[homes[e] for e in part.graph.nodes]]
        (tellings,) = told(part, labels, material(reader, group, point, part, labels))
        fresh |= {
            v.uuid: replace(v, name=t.name, summary=t.summary, facts=t.facts, attributes={CENTRAL: list(t.central)})
            for v, t in zip(of_level, tellings, strict=True)
        }
    return fresh


def _entities(reader: Reader, group: str, point: AsOf, ids: set[str]) -> dict[str, EntityVersion]:
    listed = sorted(ids)
    found: dict[str, EntityVersion] = {}
    for n in range(0, len(listed), _AT_ONCE):
        match = EntityMatch(ids=tuple(listed[n : n + _AT_ONCE]))
        found.update((e.id, e) for e in reader.entities([group], AsOf(None, point.system), match))
    return found


def _item(
    group: str,
    version: CommunityVersion,
    members: set[str],
    names: Mapping[str, EntityVersion],
    *,
    size: int | None = None,
    computed: bool = False,
) -> CommunityItem:
    rank = {e: n for n, e in enumerate(version.central)}
    listed = sorted((e for e in members if e in names), key=lambda e: (rank.get(e, len(rank)), names[e].name, e))
    return CommunityItem(
        id=version.id,
        group=group,
        level=version.level,
        name=version.name,
        summary=version.summary,
        members=tuple(Member(e, names[e].name) for e in listed),
        size=len(listed) if size is None else size,
        parent=version.parent,
        facts=version.facts,
        system=None if computed else version.system,
        uuid="" if computed else version.uuid,
        written_by=writer if isinstance(writer := version.attributes.get(WRITER), str) else None,
    )
