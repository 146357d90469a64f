"""Reading a memory at one point on both time axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Unpack

from graphmem import names
from graphmem.checks import flag, most, positive, text, texts_or_none
from graphmem.communal import Communities
from graphmem.communities.reading import brief
from graphmem.contexts import Contexts
from graphmem.embed.base import embedded
from graphmem.entity_summaries import profiled, summarised
from graphmem.errors import InvalidInput, NotFound
from graphmem.explaining import Explained, explained, inquiry_of, missed, settled
from graphmem.histories import Histories
from graphmem.ingest.copying import check_whole
from graphmem.ingest.named import listed, named
from graphmem.ingest.reembed import Checked, check_embedder
from graphmem.instants import Instant, read_stretch
from graphmem.logs import logged
from graphmem.model import VALUE_TYPE, AsOf, CommunityVersion, EntityMatch, EntityVersion, EpisodeMatch, FactMatch, FactVersion
from graphmem.plotting import Plots
from graphmem.rerank.asked import Asked
from graphmem.rerank.base import POOL, Reranker, reranked
from graphmem.rerank.chosen import Rerank, chosen
from graphmem.results import (
    ENTITY_COLUMNS,
    EPISODE_COLUMNS,
    FACT_COLUMNS,
    TIMELINE_COLUMNS,
    EntityItem,
    EpisodeItem,
    FactItem,
    Hit,
    Hits,
    Inquiry,
    Item,
    Listing,
    TimelineEntry,
)
from graphmem.scope import Asking, Group, Scope
from graphmem.search.explain import Explainer
from graphmem.search.explained import Explanation, WhyNot
from graphmem.search.hits import Filters, SearchResult
from graphmem.search.hits import Hit as Found
from graphmem.search.searcher import Request, Run, Watch, search
from graphmem.shown import Record, Verbs
from graphmem.stores.base import Kind, Reader


class View(Verbs, Contexts, Communities, Plots, Histories):
    """A memory as of one valid time and one system time. Every read method of `Memory` works here too.

    Without a valid time it is that of the system instant; without both, now as best known.
    """

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def __repr__(self) -> str:
        point = self._scope.point()
        system = point.system.isoformat() if point.system else "now"
        return f"<View of {', '.join(self._scope.groups)} valid {point.valid.isoformat() if point.valid else 'any'}, as believed {system}>"

    def _groups(self, group: Group) -> tuple[str, ...]:
        return self._scope.reads(group)

    # ------------------------------------------------------------------------------------------ search

    @logged
    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        depth: int = 1,
        kinds: Sequence[str] | None = None,
        filters: Filters | None = None,
        history: bool = False,
        pagerank: bool = False,
        rerank: Rerank | None = None,
        group: Group = None,
    ) -> Hits:
        """Items that answer `query`, best first, each with its reasons and the episodes it rests on.

        `kinds` are among "fact", "entity", "episode" and "community"; without it the first three, and where the query asks for an
        overview ("what are the main topics?") and nothing narrows the search, communities too, which then come first. A community
        is found as it was last stored, and told by what holds at the view's point; its `members` are the central ones.
        `depth` is how many facts the graph leg may cross from the entities of the question to the episodes it finds.
        `history=True` lets facts through that hold at another valid time. Ties break by id. A query without a word
        that could be looked for finds nothing. `rerank` looks at the best 50 again (`graphmem.rerank`): a name such as
        "mmr" or "node_distance:Mira", a `Reranker`, or a list of them, which work in turn.
        """
        rerankers = chosen(rerank)
        with self._scope.store.read() as reader:
            request = self._scope.request(query, limit, depth, kinds, filters, group, supposing=True)
            request = replace(request, pagerank=flag("pagerank", pagerank))
            if flag("history", history):
                request = replace(request, at=AsOf(None, request.at.system))
            request, result = self._scope.settled(reader, filters, request, lambda asked: self._found(reader, asked, rerankers))
            told = self._told(reader, request, result.hits)
            items = self._items(reader, request, told)
            inquiry = Inquiry(settled(reader, request), rerankers)
            hits = [Hit(h.kind.value, item, h.score, h.reasons, _episodes_of(h), inquiry) for h, item in zip(told, items, strict=True)]
            return Hits(hits, result.warnings, result.abstained)

    def _found(self, reader: Reader, request: Request, rerankers: Sequence[Reranker], watch: Watch | None = None) -> SearchResult:
        """What a search finds, in the order of the rerankers if there are any.

        Raises `EmbedderMismatch` if the memory was re-embedded since this handle was opened: two embedders' vectors may
        be of one length, and comparing them would find anything. Raises `UnfinishedCopy` for a group that is only being copied.
        """

        def check() -> None:
            check_embedder(reader, self._scope.embedder)
            for group in request.groups:
                check_whole(reader, group)

        def seen(run: Run) -> None:
            self._scope.interest.note(run.named)
            if watch is not None:
                watch(run)

        embedder = Checked(self._scope.embedder, check)
        if not rerankers:
            return search(reader, embedder, request, seen)
        result = search(reader, embedder, replace(request, limit=max(request.limit, POOL)), seen)
        if not result.hits:
            return result
        (vector,) = embedded(self._scope.embedder, [request.query])
        return reranked(result, rerankers, Asked(request.query, vector, reader, request.groups, request.at), request.limit)

    @logged
    def explain(self, item: Explained, query: str | None = None, *, group: Group = None) -> Explanation:
        """Why a hit was found and what it rests on: each leg's rank and score, the largest features of an episode, the path in
        the graph, filters passed, dates, whether it counts at the point read and what ended it, citations.

        A hit knows its search, which is run again as it was. Of an id, uuid, entity name or item without a `query` only what
        does not depend on a search is told; with one, it is that of `search(query)`. Raises `NotFound` if there is no such item.
        """
        with self._scope.store.read() as reader:
            inquiry = inquiry_of(item) if query is None else Inquiry(self._scope.request(query, group=group))
            return explained(self._explainer(reader, inquiry), item, inquiry, self._groups(group), self._scope.point())

    @logged
    def why_not(self, query: str, item: Explained, **asked: Unpack[Asking]) -> WhyNot:
        """What keeps an item (an id, uuid, entity name, hit or item) out of `search(query, **asked)`, the first cause first.

        It may not exist, be of another group, not be known, believed or true at that point, fail a filter, be found by no
        leg, or come after the limit. If it is in the result, its rank. Never raises for an item that does not exist.
        """
        with self._scope.store.read() as reader:
            inquiry = self._scope.inquiry(query, **asked)
            return missed(self._explainer(reader, inquiry), item, inquiry.request)

    def _explainer(self, reader: Reader, inquiry: Inquiry | None) -> Explainer:
        rerankers = inquiry.rerankers if inquiry is not None else ()
        found = partial(self._found, reader)
        return Explainer(reader, self._scope.embedder, self._scope.ontology, lambda request, watch: found(request, rerankers, watch))

    def _items(self, reader: Reader, request: Request, hits: Sequence[Found]) -> list[Item]:
        """Found versions as items: facts with names and citations, entities with summaries, communities with whom they are named after."""
        versions, named, circles = (
            [h.item for h in hits if isinstance(h.item, FactVersion)],
            [h.item for h in hits if isinstance(h.item, EntityVersion)],
            [h.item for h in hits if isinstance(h.item, CommunityVersion)],
        )
        shown = {i.uuid: i for i in items_of(reader, request.groups, request.at, versions, {h.id: h.citations for h in hits})}
        entities = {i.id: i for i in summarised(reader, request.groups, named, request.holding)}
        sizes = {h.item.id: int(h.features["size"]) for h in hits if isinstance(h.item, CommunityVersion)}
        found = brief(reader, request.groups, request.holding, circles, sizes) if circles else []
        communities = {i.uuid: i for i in found}

        def item(hit: Found) -> Item:
            match hit.item:
                case FactVersion(uuid=uuid):
                    return shown[uuid]
                case EntityVersion():
                    return entities[hit.id]
                case CommunityVersion(uuid=uuid):
                    return communities[uuid]
                case _:
                    return EpisodeItem(hit.item)

        return [item(hit) for hit in hits]

    # ------------------------------------------------------------------------------------------ facts

    @logged
    def facts(
        self,
        entity: str | None = None,
        *,
        relation: str | Sequence[str] | None = None,
        source: str | None = None,
        target: str | None = None,
        history: bool = False,
        limit: int | None = None,
        group: Group = None,
    ) -> Listing[FactItem]:
        """Facts that hold at this point, by valid start (unknown first), then uuid.

        `entity` is either end, by name or id. `history=True` gives all valid times, as believed at the system time.
        An unknown name raises `NotFound`.
        """
        groups = self._groups(group)
        with self._scope.store.read() as reader:
            match = self._match(reader, groups, entity, relation, source, target)
            return Listing(self._facts(reader, groups, match, flag("history", history), most(limit)), "facts", FACT_COLUMNS)

    @logged
    def timeline(
        self, entity: str | None = None, *, relation: str | Sequence[str] | None = None, limit: int | None = None, group: Group = None
    ) -> Listing[TimelineEntry]:
        """What began and ended, in order of valid time (unknown beginnings first), as believed at the system time."""
        entries: list[TimelineEntry] = []
        groups, limit = self._groups(group), most(limit)
        with self._scope.store.read() as reader:
            found = self._facts(reader, groups, self._match(reader, groups, entity, relation, None, None), history=True)
        for item in found:
            entries.append(TimelineEntry(item.valid_at, "begins", item))
            if item.invalid_at is not None:
                entries.append(TimelineEntry(item.invalid_at, "ends", item))
        entries.sort(key=lambda e: (e.at is not None, e.at.isoformat() if e.at else "", e.event == "begins", e.fact.uuid))
        return Listing(entries[:limit], "events", TIMELINE_COLUMNS)

    def _facts(self, reader: Reader, groups: tuple[str, ...], match: FactMatch, history: bool, limit: int | None = None) -> list[FactItem]:
        point = self._scope.point()
        found = reader.facts(groups, AsOf(None, point.system) if history else point, match, limit)
        return items_of(reader, groups, point, found)

    def _match(
        self,
        reader: Reader,
        groups: tuple[str, ...],
        entity: str | None,
        relation: str | Sequence[str] | None,
        source: str | None,
        target: str | None,
    ) -> FactMatch:
        def ids(argument: str, name: str | None) -> tuple[str, ...] | None:
            return None if name is None else tuple(e.id for e in self._named(reader, groups, name, argument))

        return FactMatch(
            entities=ids("entity", entity),
            sources=ids("source", source),
            targets=ids("target", target),
            relations=self._scope.relation_names(reader, groups, relation),
        )

    # ------------------------------------------------------------------------------------------ entities

    @logged
    def entities(
        self,
        name: str | None = None,
        *,
        type: str | Sequence[str] | None = None,
        limit: int | None = None,
        summarise: bool | Callable[[EntityItem], bool] = True,
        group: Group = None,
    ) -> Listing[EntityItem]:
        """Entities believed at this point, by name, with summaries of what holds; values are left out unless asked by type.

        `summarise` says which of them get a summary, all, none or those that a function of the entity (still without one)
        returns True for: the facts of the others are not read.
        """
        groups, limit = self._groups(group), most(limit)
        chooses = summarise if callable(summarise) else flag("summarise", summarise)
        with self._scope.store.read() as reader:
            types = self._scope.type_names(reader, groups, type)
            match = EntityMatch(names=(text("name", name),) if name is not None else None, types=types)
            found = reader.entities(groups, self._scope.point(), match, None)
            items = [EntityItem(e) for e in found if types is not None or e.type != VALUE_TYPE][:limit]
            chosen = [i.entity for i in items if (chooses(i) if callable(chooses) else chooses)]
            made = {i.id: i for i in profiled(reader, groups, chosen, self._scope.point())}
            return Listing([made.get(i.id, i) for i in items], "entities", ENTITY_COLUMNS)

    @logged
    def entity(self, name: str, *, group: Group = None) -> EntityView:
        """The entity of that name, alias or id, with its facts, timeline, episodes and neighbours.

        Raises `NotFound` if there is none, and `InvalidInput` naming the ids if several share the name.
        """
        groups = self._groups(group)
        with self._scope.store.read() as reader:
            found = self._named(reader, groups, name, "name")
            canonical = [e for e in found if names.key(e.name) == names.key(name)]
            chosen = found if len(found) == 1 else canonical if len(canonical) == 1 else []
            if not chosen:
                raise InvalidInput("name", name, f"several entities share it; give one of the ids: {listed(found)}")
            self._scope.interest.note(chosen)
            return EntityView(self, groups, profiled(reader, groups, chosen, self._scope.point())[0])

    def _named(self, reader: Reader, groups: tuple[str, ...], name: str, argument: str = "entity") -> list[EntityVersion]:
        return named(reader, groups, self._scope.point(), name, argument)

    @logged
    def neighbours(self, entity: str, *, hops: int = 1, limit: int | None = 50, group: Group = None) -> Listing[EntityItem]:
        """Entities reached from `entity` across facts that hold, nearest first, then newest fact first."""
        groups, limit = self._groups(group), most(limit)
        with self._scope.store.read() as reader:
            seeds = [e.id for e in self._named(reader, groups, entity)]
            point = self._scope.point()
            reached = reader.neighbours(
                seeds, groups, point, hops=positive("hops", hops), limit=None if limit is None else limit + len(seeds)
            )
            order = {h.entity: n for n, h in enumerate(reached) if h.hop > 0}
            found = reader.entities(groups, point, EntityMatch(ids=tuple(order)))
            found.sort(key=lambda e: order[e.id])
            return Listing(summarised(reader, groups, found[:limit], point), "neighbours", ENTITY_COLUMNS)

    # ------------------------------------------------------------------------------------------ episodes

    @logged
    def episodes(
        self,
        *,
        entity: str | None = None,
        session: str | Sequence[str] | None = None,
        actor: str | Sequence[str] | None = None,
        source: str | Sequence[str] | None = None,
        since: Instant | None = None,
        until: Instant | None = None,
        newest_first: bool = False,
        limit: int | None = None,
        group: Group = None,
    ) -> Listing[EpisodeItem]:
        """Visible episodes by reference time, then position in the log; `since` is included, `until` is not.

        `session`, `actor` and `source` keep those of that one, or of these.
        """
        reference = read_stretch(since, until, self._scope.zone)
        groups, limit = self._groups(group), most(limit)
        with self._scope.store.read() as reader:
            match = EpisodeMatch(
                sessions=texts_or_none("session", session),
                actors=texts_or_none("actor", actor),
                sources=texts_or_none("source", source),
                entities=tuple(e.id for e in self._named(reader, groups, entity)) if entity is not None else None,
                reference=reference,
            )
            found = reader.episodes(groups, self._scope.point(), match, limit, newest_first=flag("newest_first", newest_first))
            return Listing([EpisodeItem(e) for e in found], "episodes", EPISODE_COLUMNS)

    @logged
    def episode(self, id: str, *, group: Group = None) -> EpisodeItem:
        """The episode of that id; raises `NotFound` if it is not visible here."""
        with self._scope.store.read() as reader:
            found = reader.episodes(self._groups(group), self._scope.point(), EpisodeMatch(ids=(text("id", id),)))
        if not found:
            raise NotFound(f"no episode {id!r} is visible at this point")
        return EpisodeItem(found[0])

    @logged
    def counts(self, *, group: Group = None) -> dict[str, int]:
        """How many episodes, entities, facts and mentions there are at this point."""
        with self._scope.store.read() as reader:
            return reader.counts(self._groups(group), self._scope.point())


@dataclass(frozen=True)
class EntityView(Record):
    """One entity at one point, and what can be read from it."""

    _view: View = field(repr=False)
    _groups: tuple[str, ...] = field(repr=False)
    item: EntityItem

    @property
    def id(self) -> str:
        return self.item.id

    @property
    def name(self) -> str:
        return self.item.name

    @property
    def type(self) -> str:
        return self.item.type

    @property
    def aliases(self) -> tuple[str, ...]:
        return self.item.aliases

    @property
    def attributes(self) -> Mapping[str, object]:
        return self.item.attributes

    @property
    def summary(self) -> str:
        """The sentences of the facts that hold at this point, oldest first."""
        return self.item.summary

    def facts(self, *, relation: str | Sequence[str] | None = None, history: bool = False, limit: int | None = None) -> Listing[FactItem]:
        """Facts of this entity; see `View.facts`."""
        return self._view.facts(self.id, relation=relation, history=history, limit=limit, group=self._groups)

    def timeline(self, *, relation: str | Sequence[str] | None = None) -> Listing[TimelineEntry]:
        """What began and ended for this entity; see `View.timeline`."""
        return self._view.timeline(self.id, relation=relation, group=self._groups)

    def episodes(self, *, limit: int | None = None) -> Listing[EpisodeItem]:
        """Episodes that mention this entity; see `View.episodes`."""
        return self._view.episodes(entity=self.id, limit=limit, group=self._groups)

    def neighbours(self, *, hops: int = 1, limit: int | None = 50) -> Listing[EntityItem]:
        """Entities around this one; see `View.neighbours`."""
        return self._view.neighbours(self.id, hops=hops, limit=limit, group=self._groups)

    def __repr__(self) -> str:
        return repr(self.item)

    def to_dict(self) -> dict[str, object]:
        """Plain JSON values."""
        return self.item.to_dict()


def items_of(
    reader: Reader, groups: Sequence[str], at: AsOf, versions: Sequence[FactVersion], sources: Mapping[str, tuple[str, ...]] | None = None
) -> list[FactItem]:
    """Fact versions with the names of their ends and the episodes behind them, as believed at `at.system`.

    `sources` are these episodes by uuid, where they are known already.
    """
    if not versions:
        return []
    ends = tuple({e for v in versions for e in (v.source, v.target)})
    shown = {e.id: e.name for e in reader.entities(groups, at, EntityMatch(ids=ends))}
    cited = reader.sources(groups, at, [v.uuid for v in versions]) if sources is None else sources
    return [FactItem.of(v, shown, cited.get(v.uuid, ())) for v in versions]


def _episodes_of(hit: Found) -> tuple[str, ...]:
    return (hit.id,) if hit.kind is Kind.EPISODE else hit.citations
