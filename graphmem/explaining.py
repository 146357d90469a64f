"""From what callers hold to what explains it: which item a hit, an item or a name stands for, and which search a hit is from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graphmem.community import CommunityItem
from graphmem.errors import InvalidInput, NotFound
from graphmem.model import AsOf
from graphmem.results import EntityItem, EpisodeItem, FactItem, HasItem, Hit, Inquiry, Item
from graphmem.search.explain import Explainer
from graphmem.search.explained import Explanation, WhyNot, cut, listed
from graphmem.search.locate import Named, locate, near_names
from graphmem.search.searcher import Request
from graphmem.stores.base import Kind, Reader

Explained = Hit | Item | HasItem | str


def inquiry_of(item: Explained) -> Inquiry | None:
    """The search that a hit comes from."""
    return item.inquiry if isinstance(item, Hit) else None


def settled(reader: Reader, request: Request) -> Request:
    """The request at a system instant: later writes do not change what it finds."""
    if request.at.system is not None:
        return request
    heads = [at for at in (reader.head(g).at for g in request.groups) if at is not None]
    return replace(request, at=AsOf(request.at.valid, max(heads, default=None)))


def explained(explainer: Explainer, item: Explained, inquiry: Inquiry | None, groups: Sequence[str], at: AsOf) -> Explanation:
    """See `View.explain`; a hit is explained at the point of its own search."""
    request = inquiry.request if inquiry is not None else None
    if request is not None:
        groups, at = request.groups, request.at
    named = _named(item)
    target = locate(explainer.reader, named, groups, at)
    if target is None:
        near = near_names(explainer.reader, named.name, groups, at)
        raise NotFound(f"nothing has the id, uuid or name {cut(named.name)!r}" + (f"; near names: {listed(near)}" if near else ""))
    if target.group not in groups:
        raise NotFound(f"{cut(named.name)!r} is in group {cut(target.group)!r}, not in {listed(groups) or 'none'}")
    return explainer.explain(target, at, request)


def missed(explainer: Explainer, item: Explained, request: Request) -> WhyNot:
    """See `View.why_not`."""
    named = _named(item)
    return explainer.why_not(named.name, locate(explainer.reader, named, request.groups, request.at), request)


def _named(item: object) -> Named:
    match item if isinstance(item, (str, FactItem, EntityItem, EpisodeItem, CommunityItem)) else getattr(item, "item", None):
        case str() as name:
            return Named(name)
        case FactItem(uuid=uuid, system=system):
            return Named(uuid, Kind.FACT, system.start)
        case EntityItem() as entity:
            return Named(entity.id, Kind.ENTITY)
        case EpisodeItem() as episode:
            return Named(episode.id, Kind.EPISODE)
        case CommunityItem(system=system) as community:
            return Named(community.uuid or community.id, Kind.COMMUNITY, system.start if system is not None else None)
        case _:
            raise InvalidInput("item", item, "must be an id, a uuid, an entity name, a hit or an item")
