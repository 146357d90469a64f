"""A layer of communities: found in the graph of a point, compared with the one before it, and written as a difference."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from types import MappingProxyType

from graphmem.communities.detect import detect
from graphmem.communities.linked import Linked, linked
from graphmem.communities.overlap import kept_ids
from graphmem.communities.recipe import Recipe, Text, members_key
from graphmem.communities.telling import MOST_FACTS, Known, KnownBy, Rows, Telling, material, told
from graphmem.interval import Interval
from graphmem.model import CENTRAL, AsOf, Change, ChangeKind, CommunityMatch, CommunityVersion, MemberVersion
from graphmem.runtime import content_id, content_uuid
from graphmem.stores.base import Reader, Writer

NOW = AsOf()
WRITER, WRITTEN_FROM = "written_by", "written_from"
"""Attributes of a community: the model that wrote its text, and a key of what from."""
Index = Callable[[Writer, Sequence[CommunityVersion]], None]
"""Makes versions that were just written findable by their words and vectors."""
Step = Callable[[], None]
STEPS = 3
"""The graph is read, communities are found, names are made."""


def no_step() -> None:
    """Nobody looks on."""


@dataclass(frozen=True)
class Layer:
    """Communities, and of each level the community of each entity, without instants of their own; where they were found, what
    their graph weighed and how many edges it had.
    """

    communities: tuple[CommunityVersion, ...] = ()
    homes: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
    weight: float = 0.0
    edges: int = 0

    @classmethod
    def of(cls, communities: Iterable[CommunityVersion], members: Iterable[MemberVersion]) -> Layer:
        """The layer of these rows."""
        homes: dict[int, dict[str, str]] = defaultdict(dict)
        for member in members:
            homes[member.level][member.entity] = member.community
        return cls(tuple(communities), homes)

    def sets(self) -> dict[int, dict[str, set[str]]]:
        """Level → community → its members."""
        levels: dict[int, dict[str, set[str]]] = {}
        for level, homes in self.homes.items():
            held: dict[str, set[str]] = defaultdict(set)
            for entity, community in homes.items():
                held[community].add(entity)
            levels[level] = dict(held)
        return levels

    def without(self, entities: Collection[str]) -> Layer:
        """The layer that these are no members of, nor communities that have no other."""
        if not entities:
            return self
        homes = {level: {e: c for e, c in held.items() if e not in entities} for level, held in self.homes.items()}
        left = {(level, community) for level, held in homes.items() for community in held.values()}
        return replace(self, homes=homes, communities=tuple(v for v in self.communities if (v.level, v.id) in left))


@dataclass(frozen=True)
class Found:
    """Communities as they were found in a graph, before any has an id: of each level, the coarsest first, a label for each node,
    and what to call each label.
    """

    graph: Linked
    levels: Sequence[Sequence[int]]
    tellings: Sequence[Sequence[Telling]]
    rows: Sequence[Rows] = ()
    """The facts that tell most of each; where more were asked for than names are made from without a model."""

    def worded(self, texts: Iterable[Text]) -> Found:
        """The same communities, with what a model has called some of them."""
        written = {(t.level, t.members): t for t in texts}
        if not written:
            return self
        tellings = [
            [_reworded(t, written.get((level, members_key(s)))) for t, s in zip(row, self.sets(level), strict=True)]
            for level, row in enumerate(self.tellings)
        ]
        return replace(self, tellings=tellings)

    def sets(self, level: int) -> list[list[str]]:
        """Of each label of a level, in order: its nodes, as in the graph."""
        labels = self.levels[level]
        sets: list[list[str]] = [[] for _ in range(max(labels, default=-1) + 1)]
        for node, label in zip(self.graph.graph.nodes, labels, strict=True):
            sets[label].append(node)
        return sets


def stored(reader: Reader, group: str, at: AsOf, level: int | None = None) -> Layer:
    """The layer believed at the system instant, or one level of it."""
    match = None if level is None else CommunityMatch(levels=(level,))
    return Layer.of(reader.communities([group], at, match), reader.members([group], at, level=level))


def found(
    reader: Reader, group: str, at: AsOf, recipe: Recipe, step: Step = no_step, most: int = MOST_FACTS, before: Layer | None = None
) -> Found:
    """The communities of the graph at the point; `step` is called after each of the `STEPS` of finding them. `most` facts are
    read for each. Those that were there `before`, with the same members and telling facts, are told of as they were.

    A level that splits nothing is left out, so that each says something new.
    """
    graph = linked(reader, group, at, recipe.half_life)
    step()
    levels = detect(graph.graph, recipe.detector(), recipe.resolution, recipe.seed)
    levels = levels[:1] + [fine for coarse, fine in pairwise(levels) if set(fine) > set(coarse)]
    step()
    made = named(reader, group, at, graph, levels, most, {} if before is None else _known(before))
    step()
    return made


def named(
    reader: Reader,
    group: str,
    at: AsOf,
    graph: Linked,
    levels: Sequence[Sequence[int]],
    most: int = MOST_FACTS,
    known: KnownBy = MappingProxyType({}),
) -> Found:
    """The communities of these labels, with names and summaries."""
    of = material(reader, group, at, graph, levels, most, known)
    return Found(graph, levels, told(graph, levels, of), of.rows if most > MOST_FACTS else ())


def _known(before: Layer) -> KnownBy:
    """What is told of the communities of a layer without a model."""
    sets = before.sets()
    return {
        (v.level, v.facts): Known(sets[v.level][v.id], Telling(v.name, v.summary, v.facts, v.central))
        for v in before.communities
        if v.facts and WRITER not in v.attributes
    }


def settled(found: Found, group: str, at: datetime | None, before: Layer, *, keeps: bool = True) -> Layer:
    """The layer of what was found: communities that continue one of `before` keep its id, others begin at `at`.

    What a model wrote of one before stays, unless `keeps` is False, while its members are the same and all that it tells of holds.
    """
    known = before.sets()
    written = {(v.level, v.id): v for v in before.communities if keeps and WRITER in v.attributes}
    holding = set(found.graph.facts) if written else set()
    communities: list[CommunityVersion] = []
    homes: dict[int, dict[str, str]] = {}
    above: list[str] = []
    for level, labels in enumerate(found.levels):
        sets = found.sets(level)
        kept = kept_ids(known.get(level, {}), sets)
        ids = [old or new_id(group, level, at, s[0]) for old, s in zip(kept, sets, strict=True)]
        parents = [above[n] for n in _first_labels(found.levels[level - 1], labels)] if level else [None] * len(ids)
        for identity, parent, telling, held in zip(ids, parents, found.tellings[level], sets, strict=True):
            was = written.get((level, identity))
            if was is not None and telling.by is None and known[level][identity] == set(held) and holding.issuperset(was.facts):
                telling = _as_before(telling, was)
            communities.append(version(group, identity, level, parent, telling))
        homes[level] = dict(zip(found.graph.graph.nodes, map(ids.__getitem__, labels), strict=True))
        above = ids
    graph = found.graph.graph
    return Layer(tuple(communities), homes, graph.total, len(graph.source))


def new_id(group: str, level: int, at: datetime | None, first: str) -> str:
    """The id of a community that begins at an instant, by its first member."""
    return content_id("comm", group, level, at and at.isoformat(), first)


def rebuild(tx: Writer, group: str, at: datetime, recipe: Recipe, index: Index) -> Layer:
    """Find the layer of now again and write what differs, at `at`; the layer after."""
    before = stored(tx, group, NOW)
    after = settled(found(tx, group, AsOf(at), recipe, before=before), group, at, before)
    write(tx, group, at, before, after, index)
    return after


def write(tx: Writer, group: str, at: datetime, before: Layer, after: Layer, index: Index) -> None:
    """Bring what is stored from one layer to another: versions that say the same stay."""
    old = {(v.level, v.id): v for v in before.communities}
    new = {(v.level, v.id): v for v in after.communities}
    ended = [v.uuid for key, v in old.items() if key not in new or not _same(v, new[key])]
    added = [
        replace(v, uuid=content_uuid("community", v.level, v.id, at.isoformat()), system=Interval(at))
        for key, v in new.items()
        if key not in old or not _same(old[key], v)
    ]
    if ended or added:
        tx.change_communities(group, ended, added, at)
    if added:
        index(tx, added)
    left: list[MemberVersion] = []
    joined: list[MemberVersion] = []
    for level in sorted({*before.homes, *after.homes}):
        was, now = before.homes.get(level, {}), after.homes.get(level, {})
        left += [MemberVersion(c, level, e) for e, c in was.items() if now.get(e) != c] if was else []
        joined += [MemberVersion(c, level, e) for e, c in now.items() if was.get(e) != c]
    if left or joined:
        tx.change_members(group, left, joined, at)


def changes(before: Layer, after: Layer) -> tuple[Change, ...]:
    """Communities that came, went, or have other members, by level, then id."""
    names = {(v.level, v.id): v.name for v in (*before.communities, *after.communities)}
    rows: list[Change] = []
    for level in sorted({*before.homes, *after.homes}):
        was, now = before.homes.get(level, {}), after.homes.get(level, {})
        had, has = Counter(was.values()), Counter(now.values())
        joined, left = _moved(was, now), _moved(now, was)
        for identity in sorted({*had, *joined}):
            name = names[level, identity]
            if identity not in had:
                rows.append(Change(ChangeKind.ADDED, "community", identity, name, f"{has[identity]} members on level {level}"))
            elif identity not in has:
                rows.append(Change(ChangeKind.ENDED, "community", identity, name, f"was on level {level}"))
            elif identity in joined or identity in left:
                kind = ChangeKind.EXTENDED if has[identity] > had[identity] else ChangeKind.CORRECTED
                reason = f"{joined[identity]} joined and {left[identity]} left on level {level}"
                rows.append(Change(kind, "community", identity, name, reason))
    return tuple(rows)


def _moved(one: Mapping[str, str], other: Mapping[str, str]) -> Counter[str]:
    """How many entities are in a community of `other` and were not in it in `one`."""
    return Counter(c for e, c in other.items() if one.get(e) != c)


def release(tx: Writer, group: str, gone: Mapping[str, str | None], at: datetime) -> None:
    """Entities that are `gone`, or merged into the others named, are members no more; a community without members ends.

    One that another was merged into takes its place where it has none itself.
    """
    left = tx.members([group], NOW, entities=sorted(gone))
    if not left:
        return
    leaving = {m.entity for m in left}
    heirs = {heir: entity for entity, heir in sorted(gone.items(), reverse=True) if heir is not None and entity in leaving}
    placed = {m.entity for m in tx.members([group], NOW, entities=sorted(heirs))} if heirs else set()
    taken = [m._replace(entity=heir) for heir, entity in heirs.items() if heir not in placed for m in left if m.entity == entity]
    tx.change_members(group, left, taken, at)
    emptied = {m.community for m in left}
    emptied -= {m.community for m in tx.members([group], NOW, communities=sorted(emptied))}
    ended = [v.uuid for v in tx.communities([group], NOW) if v.id in emptied] if emptied else []
    if ended:
        tx.change_communities(group, ended, [], at)


def _same(one: CommunityVersion, other: CommunityVersion) -> bool:
    """Whether both say the same."""
    return (one.parent, one.name, one.summary, one.facts, one.attributes) == (
        other.parent,
        other.name,
        other.summary,
        other.facts,
        other.attributes,
    )


def version(group: str, identity: str, level: int, parent: str | None, telling: Telling) -> CommunityVersion:
    """A version without an instant of its own."""
    attributes: dict[str, object] = {CENTRAL: list(telling.central)}
    if telling.by is not None:
        attributes |= {WRITER: telling.by, WRITTEN_FROM: telling.key}
    return CommunityVersion("", identity, group, level, telling.name, telling.summary, Interval(), parent, telling.facts, attributes)


def _as_before(telling: Telling, was: CommunityVersion) -> Telling:
    """What a model wrote of it before."""
    writer, key = str(was.attributes[WRITER]), str(was.attributes[WRITTEN_FROM])
    return Telling(was.name, was.summary, was.facts, telling.central, writer, key)


def _reworded(telling: Telling, text: Text | None) -> Telling:
    return telling if text is None else Telling(text.name, text.summary, text.facts, telling.central, text.by, text.key)


def _first_labels(coarse: Sequence[int], fine: Sequence[int]) -> list[int]:
    """For each label of the finer level, the label above it."""
    above = dict(zip(fine, coarse, strict=True))
    return [above[n] for n in range(len(above))]
