"""The part of a view that speaks of communities."""

from __future__ import annotations

from collections.abc import Sequence

from graphmem.checks import most, natural, positive
from graphmem.communities.overlap import moves
from graphmem.communities.reading import Placed, items, leveled, place_of, placed, some
from graphmem.communities.results import COMMUNITY_COLUMNS, CommunityChanges, Move
from graphmem.community import CommunityItem
from graphmem.errors import InvalidInput, NotFound
from graphmem.ingest.named import listed
from graphmem.instants import Instant, read_instant
from graphmem.logs import logged
from graphmem.model import AsOf, EntityMatch, EntityVersion
from graphmem.results import Listing
from graphmem.scope import Group, Scope
from graphmem.stores.base import Reader


class Communities:
    """What every view can tell of communities, at its point on both axes."""

    _scope: Scope

    def _named(self, reader: Reader, groups: tuple[str, ...], name: str) -> list[EntityVersion]:
        raise NotImplementedError

    @logged
    def communities(
        self, *, level: int | None = 0, min_size: int = 2, limit: int | None = None, group: Group = None
    ) -> Listing[CommunityItem]:
        """Communities of one level (0 is the coarsest; None: of all), by level, then the largest first, then by name.

        Those that were stored at the view's system instant, as `build_communities` or growth left them. Where the view has a valid
        time of its own, they are computed on the graph of that time by the recipe of the last build, and say so (`computed`).
        A name or summary that tells of a fact which does not hold at the point is told anew from those that do. Communities of
        fewer than `min_size` members are left out.

        Raises `NotFound` if there are none at this point, `InvalidInput` for a level that is not there.
        """
        smallest = positive("min_size", min_size)
        _checked(level)
        limit = most(limit)
        with self._scope.store.read() as reader:
            layers = self._layers(reader, group, level)
            leveled(reader, layers, level)
            found = []
            for layer in layers:
                sets = layer.layer.sets()
                wanted = {c for of_level in sets.values() for c, members in of_level.items() if len(members) >= smallest}
                found += items(reader, layer, wanted, level)
            found.sort(key=lambda i: (i.level, -i.size, i.name, i.id))
            return Listing(found[:limit], "communities", COMMUNITY_COLUMNS)

    @logged
    def community_of(self, entity: str, *, level: int = 0, group: Group = None) -> CommunityItem:
        """The community of an entity, by name or id, on a level; see `communities`.

        Raises `NotFound` if the entity is in none, as one that came after the last build, `InvalidInput` for a level that is not
        there, and if several entities share the name.
        """
        _checked(level)
        with self._scope.store.read() as reader:
            groups = self._scope.reads(group)
            named = self._named(reader, groups, entity)
            if len(named) > 1:
                raise InvalidInput("entity", entity, f"several entities share the name; give one of the ids: {listed(named)}")
            if self._scope.at.valid is None:
                layer = place_of(reader, named[0].group, self._scope.point(), named[0].id, level)
                if layer is not None:
                    return items(reader, layer, set(layer.members(level)), level)[0]
            layers = self._layers(reader, group)
            leveled(reader, layers, level)
            for layer in layers:
                for community, members in layer.members(level).items():
                    if named[0].id in members:
                        return items(reader, layer, {community}, level)[0]
        raise NotFound(f"{entity!r} is in no community at this point; `build_communities()` gives one to every entity with a fact")

    @logged
    def community_changes(
        self, since: Instant, until: Instant | None = None, *, level: int = 0, group: str | None = None
    ) -> CommunityChanges:
        """What became of the communities of a level between two system instants: from what was stored at `since` to what was at
        `until`, by default the view's own. Bare dates are their first instant in the memory's zone.

        Raises `NotFound` if nothing was stored at one of them, `InvalidInput` for a level that is at neither, if `until` is not after
        `since`, for an instant after the view's own, and unless one group is read.
        """
        _checked(level)
        zone, point = self._scope.zone, self._scope.point()
        first = read_instant(since, zone, "since")[0]
        last = read_instant(until, zone, "until")[0] if until is not None else point.system or self._scope.now()
        if last <= first:
            raise InvalidInput("until", until, f"must be after since={since!r}")
        if point.system is not None and last > point.system:
            raise InvalidInput("until", until, f"lies after {point.system.isoformat()}, the point of this view; ask one of a later point")
        named = self._scope.reads(group)
        if len(named) != 1:
            raise InvalidInput("group", group, "must be one group, whose communities are compared")
        (name,) = named
        with self._scope.store.read() as reader:
            one, other = (placed(reader, name, AsOf(None, at), AsOf(at, at)) for at in (first, last))
            some(reader, [one])
            some(reader, [other])
            leveled(reader, [one, other], level)
            told = moves(one.members(level), other.members(level))
            was = {i.id: i for i in items(reader, one, set(one.members(level)), level)}
            now = {i.id: i for i in items(reader, other, set(other.members(level)), level)}
            gone = reader.entities([name], AsOf(None, last), EntityMatch(ids=tuple(told.moved)))
            names = {e.id: e.name for e in gone}
        return CommunityChanges(
            since=first,
            until=last,
            level=level,
            born=tuple(now[c] for c in told.born),
            died=tuple(was[c] for c in told.died),
            grew=tuple(now[c] for c in told.grew),
            shrank=tuple(now[c] for c in told.shrank),
            split={c: tuple(now[d] for d in into) for c, into in told.split.items()},
            merged={c: tuple(was[d] for d in of) for c, of in told.merged.items()},
            moved=tuple(Move(names.get(e, e), was[a].name, now[b].name) for e, (a, b) in told.moved.items()),
        )

    def _layers(self, reader: Reader, group: Group, level: int | None = None) -> Sequence[Placed]:
        groups = self._scope.reads(group)
        return some(reader, [placed(reader, g, self._scope.at, self._scope.point(), level) for g in groups])


def _checked(level: int | None) -> None:
    if level is not None:
        natural("level", level)
