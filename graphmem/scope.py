"""What reads share, and how the arguments of a search become a request: every one checked before anything is read."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from threading import Lock
from typing import TypedDict, TypeVar, Unpack

from graphmem.checks import flag, natural, positive, texts, texts_or_none
from graphmem.embed.base import Embedder
from graphmem.entity_types import type_key
from graphmem.errors import InvalidGroup, InvalidInput
from graphmem.model import AsOf, EntityVersion
from graphmem.ontology import Ontology, relation_key
from graphmem.rerank.chosen import Rerank, chosen
from graphmem.results import Inquiry
from graphmem.search.hits import Filters
from graphmem.search.question import asks_overview
from graphmem.search.searcher import KINDS, Request
from graphmem.stores.base import Kind, Reader, Store

Group = str | Sequence[str] | None
Several = str | Iterable[str] | None
"""One name, or several; None: any."""
T = TypeVar("T")
_SEEN = 1_000


class Narrowed(TypedDict, total=False):
    """What a search looks for."""

    limit: int
    depth: int
    kinds: Sequence[str] | None
    filters: Filters | None
    group: Group


class Asking(Narrowed, total=False):
    """The options of `View.search`."""

    history: bool
    pagerank: bool
    rerank: Rerank | None


class Interest:
    """How often each entity was asked about through a handle: what idle time should go to first."""

    def __init__(self) -> None:
        self._times: Counter[tuple[str, str]] = Counter()
        self._guard = Lock()

    def note(self, entities: Iterable[EntityVersion]) -> None:
        """These were asked about once more."""
        with self._guard:
            self._times.update((e.group, e.id) for e in entities)

    def times(self, group: str) -> dict[str, int]:
        """Entity → how often, of one group."""
        with self._guard:
            return {entity: n for (of, entity), n in self._times.items() if of == group}


@dataclass(frozen=True)
class Scope:
    """What reads share: the store, how questions become vectors, the groups, the point in time, now, and the zone."""

    store: Store
    embedder: Embedder
    ontology: Callable[[Reader, str], Ontology]
    groups: tuple[str, ...]
    at: AsOf
    now: Callable[[], datetime]
    zone: tzinfo
    interest: Interest = field(default_factory=Interest, compare=False, repr=False)
    seen: dict[str, Ontology] = field(default_factory=dict, compare=False, repr=False)  # the ontologies of groups, when last looked at

    def point(self) -> AsOf:
        """Both axes filled in: valid time defaults to the system instant asked, else to now."""
        return AsOf(self.at.valid or self.at.system or self.now(), self.at.system)

    def reads(self, group: Group) -> tuple[str, ...]:
        """The groups to read: the handle's where none is named; several as an explicit tuple; `()` reads nothing."""
        if group is None:
            return self.groups
        return tuple(dict.fromkeys(check_group(g) for g in (group if isinstance(group, (list, tuple)) else (group,))))

    def request(
        self,
        query: str,
        limit: int = 10,
        depth: int = 1,
        kinds: Sequence[str] | None = None,
        filters: Filters | None = None,
        group: Group = None,
        *,
        supposing: bool = False,
    ) -> Request:
        """The request at this point; raises `InvalidInput` naming the argument that is not what is allowed.

        Without `kinds` it is for facts, entities and episodes, and where the query asks for an overview of all for communities too.
        If `supposing`, filters are spelled as the ontologies looked at last would have it, as `settled` must look at.
        """
        if not isinstance(query, str):
            raise InvalidInput("query", query, "must be a str")
        point, groups, filters = self.point(), self.reads(group), checked_filters(filters)
        supposed = [self.seen.get(g) for g in groups] if supposing else [None]
        known = [ontology for ontology in supposed if ontology is not None]
        return Request(
            query,
            groups,
            point,
            point.valid or self.now(),
            self.zone,
            positive("limit", limit),
            natural("depth", depth),
            self._usual_kinds(query, filters) if kinds is None else _kinds(kinds),
            _spelled(filters, known) if len(known) == len(supposed) else self.spelled(filters, groups),
            usual=kinds is None,
        )

    def _usual_kinds(self, query: str, filters: Filters | None) -> tuple[Kind, ...]:
        overview = filters in (None, Filters()) and asks_overview(query)
        return (*KINDS, Kind.COMMUNITY) if overview else KINDS

    def spelled(self, filters: Filters, groups: Sequence[str], reader: Reader | None = None) -> Filters:
        """Filters with relations and types as they are kept in the groups read, however they are spelled; by what `reader` sees."""
        if not filters.relations and not filters.types:
            return filters
        if reader is None:
            with self.store.read() as fresh:
                return self.spelled(filters, groups, fresh)
        found = {g: self.ontology(reader, g) for g in groups}
        if len(self.seen) > _SEEN:
            self.seen.clear()
        self.seen.update(found)
        return _spelled(filters, list(found.values()))

    def settled(self, reader: Reader, filters: Filters | None, request: Request, find: Callable[[Request], T]) -> tuple[Request, T]:
        """What is found, and by which request: by that given, unless the reader sees that its filters are spelled otherwise.

        On a server the ontologies have come along with the search by then, so that they cost no round trip of their own.
        """
        found = find(request)
        spelled = self.spelled(filters or Filters(), request.groups, reader)
        if spelled != request.filters:
            request = replace(request, filters=spelled)
            found = find(request)
        return request, found

    def relation_names(self, reader: Reader, groups: Sequence[str], relation: Several) -> tuple[str, ...] | None:
        """What relations are called in the groups read, through each one's ontology; None where none is named."""
        asked = texts_or_none("relation", relation)
        return None if asked is None else _relations([self.ontology(reader, g) for g in groups], asked)

    def type_names(self, reader: Reader, groups: Sequence[str], type: Several) -> tuple[str, ...] | None:
        """Types as given, and as the ontologies of the groups read declare them; None where none is named."""
        asked = texts_or_none("type", type)
        return None if asked is None else _types([self.ontology(reader, g) for g in groups], asked)

    def inquiry(
        self, query: str, *, history: bool = False, pagerank: bool = False, rerank: Rerank | None = None, **asked: Unpack[Narrowed]
    ) -> Inquiry:
        """A search of these arguments."""
        request = replace(self.request(query, **asked), pagerank=flag("pagerank", pagerank))
        return Inquiry(replace(request, at=AsOf(None, request.at.system)) if flag("history", history) else request, chosen(rerank))


def _spelled(filters: Filters, ontologies: Sequence[Ontology]) -> Filters:
    relations = None if filters.relations is None else _relations(ontologies, filters.relations)
    types = None if filters.types is None else _types(ontologies, filters.types)
    return replace(filters, relations=relations, types=types)


def _relations(ontologies: Sequence[Ontology], asked: Iterable[str]) -> tuple[str, ...]:
    names = [relation_key(name) or name for name in asked if name.strip()]  # as facts of relations that no ontology knows are kept
    return tuple(dict.fromkeys(ontology.canonical(name)[0] for name in names for ontology in ontologies))


def _types(ontologies: Sequence[Ontology], asked: Iterable[str]) -> tuple[str, ...]:
    declared = [ontology.type_names for ontology in ontologies]
    return tuple(dict.fromkeys(name for a in asked for name in (a, *(d[type_key(a)] for d in declared if type_key(a) in d))))


def checked_filters(given: object) -> Filters:
    """`given`, filters that let everything pass for None."""
    if given is not None and not isinstance(given, Filters):
        raise InvalidInput("filters", given, "must be graphmem.Filters, or left out")
    return given or Filters()


def check_group(group: object) -> str:
    """A group id as it is; raises `InvalidGroup` unless it is 1-200 characters without control characters."""
    if not isinstance(group, str) or not 1 <= len(group) <= 200 or any(unicodedata.category(c) in ("Cc", "Cs") for c in group):
        raise InvalidGroup("group", group, "must be 1-200 characters without control characters")
    return group


def _kinds(given: str | Sequence[str]) -> tuple[Kind, ...]:
    allowed = f"must be among {[k.value for k in Kind]}, one or several"
    kinds = texts("kinds", given, allowed)
    if unknown := [kind for kind in kinds if kind not in [*Kind]]:
        raise InvalidInput("kinds", unknown[0], allowed)
    return tuple(Kind(kind) for kind in kinds)
