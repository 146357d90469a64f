"""A layer that grows with the memory: who is new joins at once, and where the layer no longer fits, a part or all is found anew.

The state of growth is kept with the group's settings: how the layer is found, what the graph weighed when all of it was last
found, what has changed and strains since, and how much work the episodes have earned.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import datetime

from graphmem.communities import layer
from graphmem.communities.detect import detect
from graphmem.communities.layer import NOW, Found, Index, Layer
from graphmem.communities.linked import Linked, linked
from graphmem.communities.reading import recipe_at
from graphmem.communities.recipe import Build, Recipe
from graphmem.communities.telling import material, told
from graphmem.model import VALUE_TYPE, AsOf, Change, CitationVersion, CommunityMatch, EntityMatch, FactVersion, MemberVersion
from graphmem.runtime import canonical_json
from graphmem.stores.base import Reader, Writer

EARNED, EARNED_BY_CHANGE = 250, 100
"""Facts that an episode allows to be looked at again: so many, or so many for each fact and citation that it changes. Everything
is found anew once all facts are earned, so that about a hundredth of them is newer than the layer, at most.
"""
_FIRST_STRAIN = 4.0
_MOST_PAIRS = 64
_MOST_MEMBERS = 2_000

Pair = tuple[str, str]


@dataclass(frozen=True)
class Growth:
    """How a group's layer is found, and what has happened since all of it was: weights are of citations."""

    recipe: Recipe
    weight: float = 0.0
    facts: int = 0
    changed: float = 0.0
    earned: int = 0
    pairs: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @classmethod
    def read(cls, reader: Reader, group: str) -> Growth | None:
        """The state of a group whose layer grows; None for one whose layer is built by hand, or not at all."""
        kept = json.loads(reader.meta(_meta(group)) or "null")
        if kept is None:
            return None
        names = {f.name for f in fields(cls)}  # an earlier release has kept more
        return cls(**{name: value for name, value in kept.items() if name in names} | {"recipe": Recipe.of(kept["recipe"])})

    def write(self, tx: Writer, group: str) -> None:
        """Keep it."""
        strongest = sorted(self.pairs.items(), key=lambda p: (-p[1][0], p[0]))[:_MOST_PAIRS]
        kept = {**asdict(self), "recipe": self.recipe.values(), "pairs": dict(sorted(strongest))}
        tx.put_meta(_meta(group), canonical_json(kept))


def _meta(group: str) -> str:
    return f"communities:{group}"


def as_it_grows(reader: Reader, group: str, recipe: Recipe) -> Recipe:
    """The recipe, with growth as it was where it does not say."""
    return recipe if recipe.grows is not None else replace(recipe, grows=Growth.read(reader, group) is not None)


def recipe_wanted(reader: Reader, group: str, grows: bool) -> Recipe | None:
    """What to build by so that the group's layer grows from then on, or does not; None where that is so already."""
    if (Growth.read(reader, group) is not None) == grows:
        return None
    return replace(recipe_at(reader, group, None) or Recipe.checked(), grows=grows)


def build(
    tx: Writer, group: str, at: datetime, built: Build, found: Found | None, since: Callable[[], Iterable[str]], index: Index
) -> tuple[Change, ...]:
    """Write the layer that a build has found, or find it, and from now on let it grow or not, as the recipe says; what has changed.

    The graph it is found in may be a little older than `at`. `since` tells the entities that later entries of the log speak of:
    those that are gone are no members, those that are new join.
    """
    before = layer.stored(tx, group, NOW)
    found = (found or layer.found(tx, group, built.seen.at, built.recipe)).worded(built.texts)
    after = layer.settled(found, group, at, before, keeps=built.names is None)
    touched = tuple(sorted(since()))
    there = {e.id: e.type for e in tx.entities([group], NOW, EntityMatch(ids=touched))} if touched else {}
    layer.write(tx, group, at, before, after.without({e for e in touched if e not in there}), index)
    known = found.graph.names
    if new := [e for e, kind in there.items() if e not in known and kind != VALUE_TYPE]:
        _join(tx, group, at, sorted(new), index)
    if built.recipe.grows:
        Growth(built.recipe, after.weight, after.edges).write(tx, group)
    elif tx.meta(_meta(group)) is not None:
        tx.put_meta(_meta(group), "null")
    return layer.changes(before, layer.stored(tx, group, NOW) if touched else after)


@dataclass(frozen=True)
class Step:
    """What an entry of the log has changed of facts: versions that ended and began, and further citations of those believed now."""

    ended: Sequence[FactVersion] = ()
    believed: Sequence[FactVersion] = ()
    cited: Sequence[CitationVersion] = ()

    def weights(self, at: datetime) -> tuple[dict[Pair, float], dict[Pair, float]]:
        """Pairs of entities that are bound more, and those that are not bound by a fact any more, by how much."""
        holding = {(v.fact_id, v.valid.start): v for v in self.believed if at in v.valid}
        more: dict[Pair, float] = defaultdict(float)
        less: dict[Pair, float] = defaultdict(float)
        for citation in self.cited:
            version = holding.get((citation.fact_id, citation.valid_at))
            if version is not None:
                more[_pair(version)] += 1.0
        still = {_pair(v) for v in holding.values()}
        for version in self.ended:
            if at in version.valid and _pair(version) not in still:
                less[_pair(version)] += 1.0
        return more, less


def grow(tx: Writer, group: str, at: datetime, step: Step, index: Index) -> None:
    """Bring a layer that grows in line with what an entry of the log has changed; nothing where it does not grow."""
    state = Growth.read(tx, group)
    if state is None:
        return
    more, less = step.weights(at)
    told = int(sum(more.values()) + sum(less.values()))
    state = replace(state, earned=state.earned + max(EARNED, EARNED_BY_CHANGE * told))
    touched = sorted({e for pair in (*more, *less) for e in pair})
    if touched:
        kinds = {e.id: e.type for e in tx.entities([group], NOW, EntityMatch(ids=tuple(touched)))}
        homes = _homes(tx, group, touched)
        new = [e for e in touched if e not in homes and kinds.get(e, VALUE_TYPE) != VALUE_TYPE]
        if new:
            homes |= _join(tx, group, at, new, index)
        state = _strain(state, more, {e: places[0] for e, places in homes.items()})
        state = replace(state, changed=state.changed + told, facts=state.facts + len(more))
    _settle(tx, group, at, state, index).write(tx, group)


def _strain(state: Growth, more: Mapping[Pair, float], homes: Mapping[str, str]) -> Growth:
    """Count what is bound across communities."""
    pairs = dict(state.pairs)
    for (one, other), weight in more.items():
        if one in homes and other in homes and homes[one] != homes[other]:
            key = " ".join(sorted((homes[one], homes[other])))
            held, limit = pairs.get(key, (0.0, _FIRST_STRAIN))
            pairs[key] = (held + weight, limit)
    return replace(state, pairs=pairs)


def _settle(tx: Writer, group: str, at: datetime, state: Growth, index: Index) -> Growth:
    """Find all anew, or the two communities with most between them, where that is due and earned; what is left earns the next."""
    if state.changed and state.earned >= state.facts:
        after = layer.rebuild(tx, group, at, state.recipe, index)
        return Growth(state.recipe, after.weight, after.edges, earned=min(state.earned - state.facts, after.edges))
    strongest = max(state.pairs.items(), key=lambda p: (p[1][0] / p[1][1], p[0]), default=None)
    if strongest is None or strongest[1][0] < strongest[1][1]:
        return state
    key, (held, limit) = strongest
    pairs = {**state.pairs, key: (held, 2 * limit)}
    looked_at = _part(tx, group, at, state, key.split(" "), index)
    return replace(state, pairs=pairs, earned=state.earned - looked_at)


def _part(tx: Writer, group: str, at: datetime, state: Growth, communities: Sequence[str], index: Index) -> int:
    """Find a few communities of the coarsest level anew, with what lies in them; how many facts were looked at.

    Modularity of a part is that of the whole at a resolution that is less by as much as the part weighs less.
    """
    inside = tx.members([group], NOW, communities=communities, level=0)
    if not inside or len(inside) > min(_MOST_MEMBERS, state.earned):
        return 0
    entities = sorted({m.entity for m in inside})
    members = tx.members([group], NOW, entities=entities)
    ids = tuple(sorted({m.community for m in members}))
    before = Layer.of(tx.communities([group], NOW, CommunityMatch(ids=ids)), members)
    around = linked(tx, group, AsOf(at), state.recipe.half_life, entities)
    part = around.within(set(entities))
    depth = max(m.level for m in members) + 1
    share = part.graph.total / state.weight if state.weight else 1.0
    first, *rest = state.recipe.resolution
    resolution = (first * min(share, 1.0) or first, *rest)[:depth]
    levels = detect(part.graph, state.recipe.detector(), resolution, state.recipe.seed)
    levels += [levels[-1]] * (depth - len(levels))
    layer.write(tx, group, at, before, layer.settled(layer.named(tx, group, AsOf(at), part, levels), group, at, before), index)
    return len(around.facts)


def _join(tx: Writer, group: str, at: datetime, new: Sequence[str], index: Index) -> dict[str, list[str]]:
    """Give each new entity a community on every level, by its neighbours' weights: the one bound most first. Returns their places.

    On a finer level only neighbours within the same community above count. Those bound to nobody who has a place begin
    communities of their own, together with those they are bound to.
    """
    found = linked(tx, group, AsOf(at), around=new)
    bonds: dict[str, dict[str, float]] = defaultdict(dict)
    graph = found.graph
    for one, other, weight in zip(graph.source.tolist(), graph.target.tolist(), graph.weight.tolist(), strict=True):
        a, b = graph.nodes[one], graph.nodes[other]
        bonds[a][b] = bonds[b][a] = weight
    homes = _homes(tx, group, sorted(set(graph.nodes) - set(new)))
    depth = max(map(len, homes.values())) if homes else _depth(tx, group)
    waiting = {e: sum(w for o, w in bonds[e].items() if o in homes) for e in new if e in found.names}
    joined: list[MemberVersion] = []
    begun: list[tuple[int, str, str | None]] = []
    while waiting:
        entity = min(waiting, key=lambda e: (-waiting[e], found.names[e], e))
        del waiting[entity]
        homes[entity] = _places(group, at, entity, bonds[entity], homes, depth, begun)
        joined += [MemberVersion(c, level, entity) for level, c in enumerate(homes[entity])]
        for other, weight in bonds[entity].items():
            if other in waiting:
                waiting[other] += weight
    if begun:
        _begin_communities(tx, group, at, found, homes, begun, index)
    if joined:
        tx.change_members(group, [], joined, at)
    return {e: homes[e] for e in new if e in homes}


def _places(
    group: str,
    at: datetime,
    entity: str,
    bonds: Mapping[str, float],
    homes: Mapping[str, Sequence[str]],
    depth: int,
    begun: list[tuple[int, str, str | None]],
) -> list[str]:
    """The communities of one entity, coarsest first; those that begin with it are noted."""
    places: list[str] = []
    for level in range(depth):
        weights: dict[str, float] = defaultdict(float)
        for other, weight in bonds.items():
            if other in homes and homes[other][:level] == places:
                weights[homes[other][level]] += weight
        if weights:
            places.append(max(weights, key=weights.__getitem__))  # of equal ones that of the first neighbour by name
        else:
            begins = layer.new_id(group, level, at, entity)
            begun.append((level, begins, places[-1] if places else None))
            places.append(begins)
    return places


def _begin_communities(
    tx: Writer,
    group: str,
    at: datetime,
    found: Linked,
    homes: Mapping[str, Sequence[str]],
    begun: Sequence[tuple[int, str, str | None]],
    index: Index,
) -> None:
    """Write the communities that begin, named by their members' facts."""
    place = {identity: (level, parent) for level, identity, parent in begun}
    versions = []
    for level in sorted({level for level, _, _ in begun}):
        ids = sorted(i for i, (on, _) in place.items() if on == level)
        members = {e: ids.index(h[level]) for e, h in homes.items() if e in found.names and h[level] in ids}
        part = found.within(members)
        labels = [[members[e] for e in part.graph.nodes]]
        (tellings,) = told(part, labels, material(tx, group, AsOf(at), part, labels))
        versions += [layer.version(group, i, level, place[i][1], t) for i, t in zip(ids, tellings, strict=True)]
    layer.write(tx, group, at, Layer(), Layer(tuple(versions)), index)


def _homes(reader: Reader, group: str, entities: Sequence[str]) -> dict[str, list[str]]:
    """Entity → its communities, coarsest first; those without any are left out."""
    homes: dict[str, list[str]] = defaultdict(list)
    if entities:
        for member in reader.members([group], NOW, entities=entities):
            homes[member.entity].append(member.community)
    return dict(homes)


def _depth(reader: Reader, group: str) -> int:
    """How many levels the layer has."""
    return max((v.level for v in reader.communities([group], NOW)), default=0) + 1


def _pair(version: FactVersion) -> Pair:
    return (version.source, version.target) if version.source < version.target else (version.target, version.source)
