"""Which part of a memory goes out: at which point, around which entities, which facts; read in batches, never held."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from itertools import islice
from typing import TypeVar

from graphmem.communities.reading import items, placed
from graphmem.communities.results import CommunityItem, Member
from graphmem.interval import FIRST, Interval
from graphmem.model import VALUE_TYPE, AsOf, EntityMatch, EntityVersion, FactMatch, FactVersion
from graphmem.results import FactItem
from graphmem.runtime import MICROSECOND
from graphmem.stores.base import Reader
from graphmem.stores.changes import Stretch
from graphmem.stores.matching import believed, fact_matches, fact_passes

BATCH = 1_000
_TOLD = 500
_NAMES = 3
T = TypeVar("T")


class Include(StrEnum):
    """Which fact versions: those that hold at the point; all valid times, as believed at the point; or all that were believed
    until then.
    """

    HOLDING = "holding"
    HISTORY = "history"
    VERSIONS = "versions"


class Axis(StrEnum):
    """One of the two times: when facts hold, or when they were believed."""

    VALID = "valid"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class Selection:
    """What is asked for. `seeds` are entity ids to stay within `hops` facts of, `sources` those of which facts tell; `during` is
    valid time that facts overlap.
    """

    include: Include = Include.HISTORY
    seeds: tuple[str, ...] | None = None
    hops: int = 1
    relations: tuple[str, ...] | None = None
    during: Interval | None = None
    sources: tuple[str, ...] | None = None

    @property
    def is_narrow(self) -> bool:
        """Whether only entities at the ends of its facts belong to it."""
        return any(part is not None for part in (self.seeds, self.relations, self.during, self.sources))


@dataclass
class Tally:
    """How many of each kind of thing have gone out; `told` is called with the kind and that number, now and then and at the end."""

    told: Callable[[str, int], None] = lambda what, count: None
    counts: Counter[str] = field(default_factory=Counter)

    def of(self, what: str, items: Iterable[T]) -> Iterator[T]:
        """The items as they are, each counted once it has been written."""
        for n, item in enumerate(items, 1):
            yield item
            self.counts[what] += 1
            if not n % _TOLD:
                self.told(what, self.counts[what])
        self.told(what, self.counts[what])

    def add(self, what: str, count: int) -> None:
        """So many more have been written."""
        self.counts[what] += count
        self.told(what, self.counts[what])


@dataclass(frozen=True)
class Cut:
    """A selection at one snapshot: its entities by id, and its fact versions by group, then (created_at, uuid).

    `at` has both axes filled in, `asked` is the point as it was asked for.
    """

    reader: Reader
    groups: tuple[str, ...]
    at: AsOf
    selection: Selection = field(default_factory=Selection)
    asked: AsOf = field(default_factory=AsOf)
    tally: Tally = field(default_factory=Tally)

    @cached_property
    def entities(self) -> Mapping[str, EntityVersion]:
        """The nodes, by id; those that only former beliefs name are as they were last, until the point."""
        chosen, ends, wanted = self.selection, set[str](), None
        if chosen.is_narrow or chosen.include is Include.VERSIONS:  # else every end is an entity that is believed
            ends.update(end for version in self.versions() for end in (version.source, version.target))
        if chosen.is_narrow:
            wanted = EntityMatch(ids=tuple(sorted(ends.union(chosen.seeds or ()))))
        found = {e.id: e for e in self.reader.entities(self.groups, self.at, wanted)}
        if missing := sorted(ends - found.keys()):
            for group in self.groups:
                found.update((v.id, v) for v in self.reader.entity_versions(group, missing) if self._begun(v.system))
        return dict(sorted(found.items()))

    @cached_property
    def communities(self) -> Sequence[CommunityItem]:
        """The communities of every level at the point, as a view lists them, with those of their members that are nodes; none
        where none were built. A selection does not tell of what is outside: there the members give the name, and nothing more.
        """
        found = []
        for group in self.groups:
            layer = placed(self.reader, group, self.asked, self.at)
            found += items(self.reader, layer, {v.id for v in layer.layer.communities}, None)
        kept = (replace(c, members=tuple(m for m in c.members if m.id in self.entities)) for c in found)
        told = (replace(c, name=_named_after(c.members), summary="", facts=()) if self.selection.is_narrow else c for c in kept)
        return sorted((c for c in told if c.members), key=lambda c: (c.level, -c.size, c.name, c.id))

    @cached_property
    def homes(self) -> Mapping[str, CommunityItem]:
        """Entity → its community on the coarsest level."""
        return {member.id: c for c in self.communities if c.level == 0 for member in c.members}

    def spans(self, axis: Axis) -> Mapping[str, Interval]:
        """Entity → from the first start to the last end of its facts on that axis; those without facts are left out."""
        spans: dict[str, Interval] = {}
        for version in self.versions():
            interval = version.valid if axis is Axis.VALID else version.system
            for end in (version.source, version.target):
                spans[end] = _around(spans.get(end, interval), interval)
        return spans

    def versions(self) -> Iterator[FactVersion]:
        """The fact versions."""
        sources, within = self.selection.sources, self._within
        if sources is not None:
            yield from self._touching(sources, sources=sources)
        elif within is None:
            yield from self._matching()
        else:
            yield from (v for v in self._touching(sorted(within)) if v.source in within and v.target in within)

    def ever(self, match: FactMatch) -> list[FactVersion]:
        """Versions that were believed at any time until the point and pass, wherever the selection ends."""
        found = (v for group in self.groups for v in self.reader.facts_changed(group, Stretch(), match))
        return [v for v in found if self._begun(v.system)]

    def holds(self, fact: FactItem) -> bool:
        """Whether a fact version is believed and true at the point."""
        return believed(fact.system, self.at.system) and (self.at.valid is None or self.at.valid in fact.valid)

    def facts(self) -> Iterator[FactItem]:
        """The edges: fact versions with the names of their ends, and the episodes cited when each was last believed."""
        return self.tally.of("facts", self._named())

    def _named(self) -> Iterator[FactItem]:
        names = {e.id: e.name for e in self.entities.values()}
        for batch in batched(self.versions(), BATCH):
            cited = self._cited(batch)
            yield from (FactItem.of(version, names, cited.get(version.uuid, ())) for version in batch)

    @cached_property
    def _within(self) -> frozenset[str] | None:
        """The entities that the selection stays within; None: all."""
        chosen = self.selection
        if chosen.seeds is None:
            return None
        if chosen.include is Include.VERSIONS:
            return self._reached(chosen.seeds)
        at = self.at if chosen.include is Include.HOLDING else AsOf(None, self.at.system)
        match = FactMatch(relations=chosen.relations, valid_overlaps=chosen.during)
        reached = self.reader.neighbours(chosen.seeds, self.groups, at, hops=chosen.hops, match=match)
        return frozenset((*chosen.seeds, *(hop.entity for hop in reached)))

    def _touching(self, entities: Sequence[str], **more: tuple[str, ...]) -> list[FactVersion]:
        """Versions that touch one of these entities, in the order of all: their number counts, not the graph's."""
        match = FactMatch(entities=tuple(entities), relations=self.selection.relations, valid_overlaps=self.selection.during, **more)
        if self.selection.include is Include.VERSIONS:
            return self.ever(match)
        at = self.at if self.selection.include is Include.HOLDING else AsOf(None, self.at.system)
        place = {group: n for n, group in enumerate(self.groups)}
        return sorted(self.reader.facts(self.groups, at, match), key=lambda v: (place[v.group], v.system.start or FIRST, v.uuid))

    def _reached(self, seeds: Sequence[str]) -> frozenset[str]:
        """What any version joins to the seeds, as `Reader.neighbours` goes at one point: values are reached and not crossed."""
        reached, outermost = set(seeds), set(seeds)
        for _ in range(self.selection.hops):
            outermost = {e for v in self._touching(sorted(outermost)) for e in (v.source, v.target)} - reached
            reached |= outermost
            outermost -= self._values(sorted(outermost))
            if not outermost:
                break
        return frozenset(reached)

    def _values(self, ids: Sequence[str]) -> set[str]:
        found = (self.reader.entity_versions(group, ids) for group in self.groups)
        return {v.id for versions in found for v in versions if v.type == VALUE_TYPE}

    def _matching(self) -> Iterator[FactVersion]:
        """The versions that pass, wherever they are."""
        match = FactMatch(relations=self.selection.relations, valid_overlaps=self.selection.during)
        for group in self.groups:
            yield from (v for v in self.reader.scan_facts(group) if self._passes(v) and fact_matches(v, match))

    def _passes(self, version: FactVersion) -> bool:
        match self.selection.include:
            case Include.HOLDING:
                return fact_passes(version, self.at)
            case Include.HISTORY:
                return believed(version.system, self.at.system)
        return self._begun(version.system)

    def _begun(self, system: Interval) -> bool:
        return self.at.system is None or (system.start or self.at.system) <= self.at.system

    def _cited(self, versions: Sequence[FactVersion]) -> dict[str, tuple[str, ...]]:
        then: dict[datetime | None, list[str]] = defaultdict(list)
        for version in versions:
            end = version.system.end
            is_former = end is not None and not believed(version.system, self.at.system)
            then[end - MICROSECOND if end is not None and is_former else self.at.system].append(version.uuid)
        cited: dict[str, tuple[str, ...]] = {}
        for system, uuids in then.items():
            cited.update(self.reader.sources(self.groups, AsOf(None, system), uuids))
        return cited


def _named_after(members: Sequence[Member]) -> str:
    return ", ".join(m.name for m in members[:_NAMES])


def _around(one: Interval, other: Interval) -> Interval:
    """The shortest interval that holds both."""
    first = None if one.start is None or other.start is None else min(one.start, other.start)
    last = None if one.end is None or other.end is None else max(one.end, other.end)
    return Interval(first, last)


def batched(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of up to `size` items, in order."""
    stream = iter(items)
    while batch := list(islice(stream, size)):
        yield batch
