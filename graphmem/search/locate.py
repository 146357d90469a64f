"""Finding an item by whatever names it, at any point in time and in any group, and what filters say of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from rapidfuzz import process

from graphmem.model import (
    AsOf,
    CommunityMatch,
    CommunityVersion,
    EntityMatch,
    EntityVersion,
    Episode,
    EpisodeMatch,
    FactMatch,
    FactVersion,
    OperationKind,
)
from graphmem.names import MAX_NAME, key
from graphmem.search.explained import listed, shown_instant, shown_interval
from graphmem.search.gate import Gate
from graphmem.search.hits import Filters
from graphmem.search.words import words
from graphmem.stores.base import Kind, Reader

_COMMUNITY_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}|comm_\w+")
_FACT_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}|fact_\w+")
_NAMES_COMPARED = 20_000
_NEAR_NAMES = 5
_LEAST_ALIKE = 75


@dataclass(frozen=True, slots=True)
class Target:
    """The item that a name stands for. Of a fact or community, the version named; of an entity, all its versions, oldest first."""

    item: FactVersion | tuple[EntityVersion, ...] | Episode | CommunityVersion

    @property
    def kind(self) -> Kind:
        match self.item:
            case FactVersion():
                return Kind.FACT
            case Episode():
                return Kind.EPISODE
            case CommunityVersion():
                return Kind.COMMUNITY
            case _:
                return Kind.ENTITY

    @property
    def id(self) -> str:
        """What stores know it by: the version uuid of a fact or community, the id of an entity or episode."""
        match self.item:
            case FactVersion() | CommunityVersion():
                return self.item.uuid
            case Episode():
                return self.item.id
            case _:
                return self.item[0].id

    @property
    def group(self) -> str:
        return self.item[0].group if isinstance(self.item, tuple) else self.item.group

    def entity(self, at: AsOf) -> EntityVersion:
        """Of an entity, the version believed at `at.system`, else its last one."""
        assert isinstance(self.item, tuple)
        believed = [v for v in self.item if (v.system.end is None if at.system is None else at.system in v.system)]
        return (believed or self.item)[-1]

    def text(self, at: AsOf) -> str:
        """A fact's sentence, an entity's name and type, an episode's body, a community's name and summary."""
        match self.item:
            case FactVersion() | CommunityVersion():
                return self.item.text
            case Episode():
                return self.item.body
            case _:
                version = self.entity(at)
                return f"{version.name} ({version.type})"

    def seen(self, at: AsOf) -> AsOf:
        """A point of any valid time at which the item can be read: that of `at` if it can be read there."""
        match self.item:
            case FactVersion(system=system) | CommunityVersion(system=system):
                pass
            case Episode(created_at=created):
                return AsOf(None, at.system if at.system is None or created is None or created <= at.system else created)
            case _:
                system = self.entity(at).system
        believed = system.end is None if at.system is None else at.system in system
        return AsOf(None, at.system if believed else system.start)


@dataclass(frozen=True, slots=True)
class Named:
    """What stands for an item: a uuid, id or entity name, and where it is known, its kind and an instant it was believed at."""

    name: str
    kind: Kind | None = None
    believed: datetime | None = None


def locate(reader: Reader, named: Named, groups: Sequence[str], at: AsOf) -> Target | None:
    """The item: in `groups` first, then elsewhere; at the point asked first, then as of now, then at any time."""
    points = (at, replace(at, valid=None), AsOf(None, named.believed), AsOf())
    elsewhere = [g for g in reader.groups() if g not in groups]
    for part in (tuple(groups), tuple(elsewhere)):
        for kind, look in _LOOKS:
            found = look(reader, named.name, part, points) if part and named.kind in (None, kind) else None
            if found is not None:
                return found
    return None


def _fact(reader: Reader, name: str, groups: Sequence[str], points: Sequence[AsOf]) -> Target | None:
    for match in (FactMatch(uuids=(name,)), FactMatch(fact_ids=(name,))):
        for point in points:
            found = reader.facts(groups, point, match)
            if found:
                return Target(found[-1])
    if is_fact_id(name):  # believed no more, or not yet
        for group in groups:
            if named := versions_named(reader, group, name):
                return Target(named[-1])
    return None


def versions_named(reader: Reader, group: str, name: str) -> list[FactVersion]:
    """The versions ever believed of that uuid, or else of that fact id, by (created_at, uuid)."""
    return reader.fact_versions(group, [name]) or reader.fact_versions(group, facts=[name])


def is_fact_id(text: str) -> bool:
    """Whether a text looks like the id of a fact or of one of its versions."""
    return bool(_FACT_ID.fullmatch(text))


def _entity(reader: Reader, name: str, groups: Sequence[str], points: Sequence[AsOf]) -> Target | None:
    for group in groups:
        versions = reader.entity_versions(group, [name])
        if versions:
            return Target(tuple(versions))
    for point in points:
        found = reader.entities(groups, point, EntityMatch(names=(name,)))
        if found:
            first = min(found, key=lambda e: (key(e.name) != key(name), e.id))
            return Target(tuple(reader.entity_versions(first.group, [first.id])))
    for group in groups:
        for entity in _mentioned_in_forgotten(reader, group, name):
            versions = reader.entity_versions(group, [entity])
            if versions:
                return Target(tuple(versions))
    return None


def _mentioned_in_forgotten(reader: Reader, group: str, name: str) -> Iterable[str]:
    """Entities called `name` by episodes that were forgotten: no other way leads to them by name."""
    targets = {t for o in reader.operations(group) if o.kind is OperationKind.FORGET for t in o.targets}
    records = reader.records(group, sorted(targets)) if targets else []
    return [m.entity for r in records for m in r.mentions if key(m.name) == key(name)]


def _episode(reader: Reader, name: str, groups: Sequence[str], points: Sequence[AsOf]) -> Target | None:
    for group in groups:
        records = reader.records(group, [name])
        if records:
            return Target(records[0].episode)
    return None


def _community(reader: Reader, name: str, groups: Sequence[str], points: Sequence[AsOf]) -> Target | None:
    for match in (CommunityMatch(uuids=(name,)), CommunityMatch(ids=(name,))):
        for point in points:
            found = reader.communities(groups, point, match)
            if found:
                return Target(found[0])
    if _COMMUNITY_ID.fullmatch(name):
        for group in groups:
            named = [v for v in reader.community_history(group)[0] if name in (v.uuid, v.id)]
            if named:
                return Target(named[-1])
    return None


_LOOKS: tuple[tuple[Kind, Callable[[Reader, str, Sequence[str], Sequence[AsOf]], Target | None]], ...] = (
    (Kind.FACT, _fact),
    (Kind.ENTITY, _entity),
    (Kind.EPISODE, _episode),
    (Kind.COMMUNITY, _community),
)


def near_names(reader: Reader, name: str, groups: Sequence[str], at: AsOf) -> list[str]:
    """Names of entities at this point that are spelled alike or share a word, the likest first."""
    if not groups:
        return []
    known = {key(e.name): e.name for e in reader.entities(groups, at, limit=_NAMES_COMPARED)}
    alike = process.extract(key(name[:MAX_NAME]), list(known), limit=_NEAR_NAMES, score_cutoff=_LEAST_ALIKE)
    found = reader.text_search(Kind.ENTITY, words(name), groups, at, _NEAR_NAMES)
    sharing = {e.id: e.name for e in reader.entities(groups, at, EntityMatch(ids=tuple(f.id for f in found)))} if found else {}
    return list(dict.fromkeys([*(known[n] for n, _, _ in alike), *(sharing[f.id] for f in found if f.id in sharing)]))[:_NEAR_NAMES]


# --------------------------------------------------------------------------------------------------------- filters


@dataclass(frozen=True, slots=True)
class Check:
    """One filter of a search against an item: what is asked, what the item has, and whether that passes."""

    name: str
    wanted: str
    has: str
    passes: bool

    def __str__(self) -> str:
        return f"{self.name}: asked {self.wanted}; it has {self.has or 'none'}"


def checks(reader: Reader, target: Target, filters: Filters, at: AsOf) -> list[Check]:
    """Each filter that says something about items of this kind, asked alone."""
    about = {
        Kind.FACT: ("relations", "types", "valid", "reference", "sessions", "actors", "sources", "attributes"),
        Kind.ENTITY: ("types", "attributes"),
        Kind.EPISODE: ("reference", "sessions", "actors", "sources", "attributes"),
        Kind.COMMUNITY: ("attributes",),
    }[target.kind]
    point, found = target.seen(at), []
    has = _values(reader, target, point)
    for name in about:
        wanted = getattr(filters, name)
        if wanted is not None and wanted != {}:
            alone = replace(Filters(), **{name: wanted})
            found.append(Check(name, _shown(wanted), _of(has[name], wanted), _passes(reader, target, alone, point)))
    return found


def _passes(reader: Reader, target: Target, alone: Filters, at: AsOf) -> bool:
    gate = Gate(reader, (target.group,), at, alone)
    match target.kind:
        case Kind.FACT:
            match = FactMatch(uuids=(target.id,), relations=alone.relations, valid_overlaps=alone.valid)
            return bool(gate.facts([target.id]) and reader.facts((target.group,), at, match))
        case Kind.ENTITY:
            return bool(gate.entities([target.id]))
        case Kind.COMMUNITY:
            return not alone.attributes
        case _:
            return bool(gate.episodes([target.id]))


def _values(reader: Reader, target: Target, at: AsOf) -> dict[str, object]:
    """What the item has, by the name of the filter that asks for it."""
    groups = (target.group,)
    match target.item:
        case FactVersion() as fact:
            ends = reader.entities(groups, at, EntityMatch(ids=(fact.source, fact.target)))
            cited = reader.sources(groups, at, [fact.uuid]).get(fact.uuid, ())
            said = reader.episodes(groups, at, EpisodeMatch(ids=cited), bodies=False) if cited else []
            own: dict[str, object] = {"relations": [fact.relation], "types": [e.type for e in ends], "attributes": fact.attributes}
            own["valid"] = shown_interval(fact.valid.start, fact.valid.end)
        case Episode() as episode:
            said, own = [episode], {"attributes": episode.attributes}
        case CommunityVersion():
            return {"attributes": {}}
        case _:
            version = target.entity(at)
            return {"types": [version.type], "attributes": version.attributes}
    return {
        **own,
        "reference": [shown_instant(e.reference_time) for e in said],
        "sessions": [e.session for e in said if e.session],
        "actors": [e.actor for e in said if e.actor],
        "sources": [e.source for e in said if e.source],
    }


def _of(has: object, wanted: object) -> str:
    """The values had; of attributes, those asked for."""
    if isinstance(wanted, dict):
        return _shown({name: has[name] for name in wanted if name in has} if hasattr(has, "keys") else {})  # type: ignore[index,operator]
    return _shown(has)


def _shown(value: object) -> str:
    match value:
        case str():
            return value
        case dict():
            return listed([f"{name}={v!r}" for name, v in value.items()])
        case list() | tuple():
            return listed(list(dict.fromkeys(map(str, value))))
        case _:
            return shown_interval(getattr(value, "start", None), getattr(value, "end", None))
