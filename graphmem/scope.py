"""What reads share, and how the arguments of a search become a request: every one checked before anything is read."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from threading import Lock
from typing import TypedDict, Unpack

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
    ) -> Request:
        """The request at this point; raises `InvalidInput` naming the argument that is not what is allowed.

        Without `kinds` it is for facts, entities and episodes, and where the query asks for an overview of all for communities too.
        """
        if not isinstance(query, str):
            raise InvalidInput("query", query, "must be a str")
        point = self.point()
        return Request(
            query,
            self.reads(group),
            point,
            point.valid or self.now(),
            self.zone,
            positive("limit", limit),
            natural("depth", depth),
            self._usual_kinds(query, filters) if kinds is None else _kinds(kinds),
            self.spelled(filters or Filters(), self.reads(group)),
            usual=kinds is None,
        )

    def _usual_kinds(self, query: str, filters: Filters | None) -> tuple[Kind, ...]:
        overview = filters in (None, Filters()) and asks_overview(query)
        return (*KINDS, Kind.COMMUNITY) if overview else KINDS

    def spelled(self, filters: Filters, groups: Sequence[str]) -> Filters:
        """Filters with relations and types as they are kept in the groups read, however they are spelled."""
        if not filters.relations and not filters.types:
            return filters
        with self.store.read() as reader:
            relations = None if filters.relations is None else self.relation_names(reader, groups, filters.relations)
            types = None if filters.types is None else self.type_names(reader, groups, filters.types)
        return replace(filters, relations=relations, types=types)

    def relation_names(self, reader: Reader, groups: Sequence[str], asked: Iterable[str]) -> tuple[str, ...]:
        """What relations are called in the groups read: through each one's ontology."""
        names = [relation_key(name) or name for name in asked]  # as facts of relations that no ontology knows are kept
        return tuple(dict.fromkeys(self.ontology(reader, g).canonical(name)[0] for name in names for g in groups))

    def type_names(self, reader: Reader, groups: Sequence[str], asked: Iterable[str]) -> tuple[str, ...]:
        """Types as given, and as the ontologies of the groups read declare them."""
        declared = [self.ontology(reader, g).type_names for g in groups]
        return tuple(dict.fromkeys(name for a in asked for name in (a, *(d[type_key(a)] for d in declared if type_key(a) in d))))

    def inquiry(
        self, query: str, *, history: bool = False, pagerank: bool = False, rerank: Rerank | None = None, **asked: Unpack[Narrowed]
    ) -> Inquiry:
        """A search of these arguments."""
        request = replace(self.request(query, **asked), pagerank=pagerank)
        return Inquiry(replace(request, at=AsOf(None, request.at.system)) if history else request, chosen(rerank))


def check_group(group: object) -> str:
    """A group id as it is; raises `InvalidGroup` unless it is 1-200 characters without control characters."""
    if not isinstance(group, str) or not 1 <= len(group) <= 200 or any(unicodedata.category(c) in ("Cc", "Cs") for c in group):
        raise InvalidGroup("group", group, "must be 1-200 characters without control characters")
    return group


def positive(argument: str, value: object) -> int:
    """`value`, an integer of 1 or more."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InvalidInput(argument, value, "must be an integer of 1 or more")
    return value


def natural(argument: str, value: object) -> int:
    """`value`, an integer of 0 or more."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise InvalidInput(argument, value, "must be an integer of 0 or more")
    return value


def most(limit: object) -> int | None:
    """`limit` of a listing, an integer of 0 or more; None: no limit."""
    return None if limit is None else natural("limit", limit)


def _kinds(given: str | Sequence[str]) -> tuple[Kind, ...]:
    if not isinstance(given, str | Iterable):
        raise InvalidInput("kinds", given, f"must be among {[k.value for k in Kind]}, one or several")
    return tuple(_kind(k) for k in ((given,) if isinstance(given, str) else given))


def _kind(value: str) -> Kind:
    try:
        return Kind(value)
    except ValueError as error:
        raise InvalidInput("kinds", value, f"must be among {[k.value for k in Kind]}") from error
