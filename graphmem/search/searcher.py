"""One search: the question is read, the legs offer candidates, each kind is ranked, hits come back with their reasons."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo

from graphmem.embed.base import Embedder, Vectors, embedded
from graphmem.model import VALUE_TYPE, AsOf, CommunityVersion, EntityMatch, EntityVersion, Episode, EpisodeMatch, Warn
from graphmem.names import key
from graphmem.roles import Role, role_of
from graphmem.search.circles import LARGEST, Circles, is_broad
from graphmem.search.episodes import Asked, asked_terms, closest, rank_episodes
from graphmem.search.expand import FACTS_READ
from graphmem.search.fuse import K, fuse
from graphmem.search.gate import Gate, enough, pushed_down
from graphmem.search.hits import Filters, Hit, Item, SearchResult
from graphmem.search.legs import (
    GRAPH_POOL,
    MENTIONS_READ,
    POOLS,
    REACHED,
    SEED_COSINE,
    SEEDS_BY_MEANING,
    TIME_POOL,
    TOLD,
    Leg,
    Reach,
    Scope,
    graph_entities,
    graph_episodes,
    graph_facts,
    named_entities,
    possible_names,
    reasons,
    seeds,
    text_leg,
    time_episodes,
    time_facts,
    told_in,
    vector_leg,
    windows_of,
)
from graphmem.search.question import Question
from graphmem.stores.base import Found, Kind, Reader, SearchFilter, Strict, Turn
from graphmem.stores.looking import Candidates, LooksAhead, Near, Start, Vicinity, Words

KINDS = (Kind.FACT, Kind.ENTITY, Kind.EPISODE)
# In a list of several kinds, places are shared out by reciprocal rank: a fact before an episode of the same rank, which
# shows what the fact says in full; entities behind both. Communities are last, and the first three lead where all is asked about.
_KIND_WEIGHTS = {Kind.FACT: 1.0, Kind.EPISODE: 0.99, Kind.ENTITY: 0.95, Kind.COMMUNITY: 0.85}
_NAMED_WEIGHT, _BROAD_WEIGHT = 1.1, 1.04
_FACT_WEIGHTS = {"text": 1.0, "vector": 1.0, "graph": 0.7, "time": 0.7, "community": 1.5}
_ENTITY_WEIGHTS = {"name": 2.0, "text": 1.0, "vector": 0.7, "graph": 0.5, "community": 1.5}
_NEAR_FACTS = 40
_CROSSED = 32
_HEARD = 32
_LONGEST_QUERY = 20_000


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked: the query, where and at which point in time to look, and how.

    `at.valid` is the valid time facts must hold at; None lets all pass (history). `now` and `zone` resolve the query's
    date words. `depth` is how many facts the graph leg crosses from the entities of the query; 0 stays with them.
    `pagerank` weighs the entities reached by personalised PageRank instead of nearness. With `overview` the largest communities
    count whatever the question is; else they do where it asks what all of it is about. `usual` kinds are those nobody asked for:
    communities are found among them for such a question alone.
    """

    query: str
    groups: tuple[str, ...]
    at: AsOf
    now: datetime
    zone: tzinfo = UTC
    limit: int = 10
    depth: int = 1
    kinds: tuple[Kind, ...] = KINDS
    filters: Filters = field(default_factory=Filters)
    pagerank: bool = False
    overview: bool = False
    usual: bool = False

    @property
    def holding(self) -> AsOf:
        """The point at which facts hold for the summaries of entities, whatever valid time is searched."""
        return AsOf(self.now, self.at.system)


def search(reader: Reader, embedder: Embedder, request: Request, watch: Watch | None = None) -> SearchResult:
    """The best `limit` hits over all kinds asked for, best first; equal scores are ordered by kind, then id.

    Of one kind alone the score is that kind's own: for episodes the linear score over their features, for facts and
    entities and communities reciprocal rank fusion of the legs. Of several kinds it is the reciprocal rank in the own kind.
    `watch` is given the run when it is done; a query that is not run at all has none.
    """
    query = request.query[:_LONGEST_QUERY]
    if not query.strip():
        return SearchResult((), (Warn("empty_query", request.query, "the query has no visible character"),))
    if not request.groups or not request.kinds or request.limit < 1:
        return SearchResult(())
    run = Run(reader, embedder, replace(request, query=query))
    ranked = {kind: run.rank(kind) for kind in dict.fromkeys(request.kinds)}
    hits = next(iter(ranked.values())) if len(ranked) == 1 else _merged(ranked, query, request.limit, broad=run.circles.broad)
    warnings = (
        () if query == request.query else (Warn("long_query", len(request.query), f"only the first {_LONGEST_QUERY} characters count"),)
    )
    if watch is not None:
        watch(run)
    return SearchResult(run.finished(hits[: request.limit]), warnings, run.abstained)


Watch = Callable[["Run"], None]


def _merged(ranked: Mapping[Kind, Sequence[Hit]], query: str, limit: int, *, broad: bool) -> list[Hit]:
    """The best by reciprocal rank; an entity whose very name is the query leads, and communities where that is `broad`."""
    scored = []
    order = {kind: place for place, kind in enumerate(_KIND_WEIGHTS)}
    weights = {**_KIND_WEIGHTS, **({Kind.COMMUNITY: _BROAD_WEIGHT} if broad else {})}
    for kind, of_kind in ranked.items():
        for hit in of_kind:
            asked_for = isinstance(hit.item, EntityVersion) and key(query) in map(key, (hit.item.name, *hit.item.aliases))
            score = (_NAMED_WEIGHT if asked_for else weights[kind]) / (K + hit.rank)
            scored.append((-score, order[kind], hit.id, hit))
    best = sorted(scored, key=lambda row: row[:3])[:limit]
    return [replace(hit, score=-score) for score, _, _, hit in best]


class Run:
    """One search under way: the question is read against what is known, then kinds are ranked one by one."""

    def __init__(self, reader: Reader, embedder: Embedder, request: Request) -> None:
        self.request = request
        self.scope = Scope(reader, request.groups, request.at, pushed_down(request.filters))
        self.gate = Gate(reader, request.groups, request.at, request.filters)
        self.kinds = tuple(dict.fromkeys(request.kinds))
        self.abstained: dict[str, str] = {}
        self.legs: list[tuple[Leg, ...]] = []  # by kind, in the order of `kinds`
        self._sources: dict[str, tuple[str, ...]] = {}
        self._ahead = reader if isinstance(reader, LooksAhead) else None
        self._look_for_words()
        self._look_around(embedder)
        if self._ahead is not None:
            self._ahead.expect_candidates(self._candidates())

    def _look_for_words(self) -> None:
        """What the words of the question lead to, and what it asks for."""
        request, scope = self.request, self.scope
        question = Question.read(request.query, request.now, request.zone)
        windows = windows_of(scope, question) if Kind.EPISODE in self.kinds else []
        if self._ahead is not None:
            self._ahead.expect_words(self._words(question, windows))
        self.named = named_entities(scope, request.query)
        self.texts = {kind: self._text(kind, question) for kind in self.kinds}
        self.told = told_in(scope, windows)
        self.known = dict[str, Turn | Episode]()
        if Kind.EPISODE in self.kinds:
            # Who speaks is known from what the words find; the vector is then taken without the speakers' names.
            self.known = self.gate.turns(self.texts[Kind.EPISODE].ids[:_HEARD])
            actors = {e.actor for e in self.known.values() if role_of(e.actor) is Role.PERSON and e.actor}
            question = question.naming({actor: _other_names(actor, self.named) for actor in actors})
        self.question = question
        self.broad = request.overview or is_broad(question, self.named)

    def _look_around(self, embedder: Embedder) -> None:
        """What is near the question, in meaning and in the graph."""
        request, scope = self.request, self.scope
        vectors = embedded(embedder, [request.query, self.question.bare])
        self.whole: Vectors = vectors[0]
        self.bare: Vectors = vectors[1]
        if self._ahead is not None:
            self._ahead.expect_vicinity(self._vicinity())
        self.reach = Reach.of(scope, seeds(scope, self.named, self.whole), request.depth, pagerank=request.pagerank)
        self.vectors = {kind: self._vector(kind) for kind in self.kinds}
        self.circles = self._circles()
        # Facts that hold no more count too: they were said all the same.
        self.near = vector_leg(self._history, Kind.FACT, self.whole, _NEAR_FACTS).found if Kind.EPISODE in self.kinds else ()
        self.crossed = [hop.fact for hop in self.reach.expansion.hops if hop.fact is not None] if Kind.FACT in self.kinds else []

    @property
    def _history(self) -> Scope:
        """The same belief at any valid time, without filters."""
        return replace(self.scope, at=self.scope.any_valid_time, match=SearchFilter())

    def rank(self, kind: Kind) -> list[Hit]:
        """The best hits of one kind, at most `limit`."""
        match kind:
            case Kind.FACT:
                return self._facts()
            case Kind.ENTITY:
                return self._entities()
            case Kind.COMMUNITY:
                return self._communities()
            case _:
                return self._episodes()

    # -- what readers that look ahead are told

    def _words(self, question: Question, windows: Sequence[EpisodeMatch]) -> Words:
        scope, pools = self.scope, {kind: self._pool(kind) for kind in self.kinds}
        names = tuple(possible_names(self.request.query))
        return Words(scope.groups, scope.at, scope.match, names, question.terms, pools, _HEARD, windows, TOLD)

    def _vicinity(self) -> Vicinity:
        groups, at, match = self.scope.groups, self.scope.at, self.scope.match
        searches = [Near(kind, self._vector_of(kind), at, self._pool(kind), match) for kind in self.kinds]
        terms = None
        if Kind.EPISODE in self.kinds:
            searches.append(Near(Kind.FACT, self.whole, self._history.at, _NEAR_FACTS, self._history.match))
            told = [replace(match, episodes=said.match) for said in self.told if said.many]
            searches += [Near(Kind.EPISODE, self.bare, at, TIME_POOL, narrowed) for narrowed in told]
            terms = asked_terms(self.question)
        meant = None if self.named else Near(Kind.ENTITY, self.whole, at, SEEDS_BY_MEANING, None)
        start = Start(tuple(e.id for e in self.named), meant, SEED_COSINE)
        between = FACTS_READ if self.request.pagerank else None
        circling = Kind.COMMUNITY in self.kinds
        largest = LARGEST if circling and self.broad else 0
        heard = self.texts[Kind.COMMUNITY].ids if circling else []
        return Vicinity(groups, at, searches, start, self.request.depth, REACHED, match.facts, between, terms, largest, heard)

    def _candidates(self) -> Candidates:
        fused = [i for i, _ in self._fused(self._entity_legs())] if Kind.ENTITY in self.kinds else []
        told = [i for said in self.told if not said.many for i in said.episodes]
        ranking = Kind.EPISODE in self.kinds
        return Candidates(
            self.scope.groups,
            self.scope.at,
            self.scope.match,
            self.whole,
            self.bare,
            facts=list(dict.fromkeys([*self._found_so_far(Kind.FACT), *self.crossed, *self.circles.told])),
            crossed=self.crossed if len(self.crossed) > _CROSSED else [],
            entities=list(dict.fromkeys([*fused, *self.reach.expansion.entities, *self.circles.named])),
            shown=(fused, self.request.limit),
            holding=self.request.holding,
            episodes=list(dict.fromkeys([*self._found_so_far(Kind.EPISODE), *told])) if ranking else [],
            near=[found.id for found in self.near],
            masses=self.reach.heaviest if ranking else {},
            mentions=MENTIONS_READ,
            mentioned=GRAPH_POOL,
            closest=closest([self.texts[Kind.EPISODE], self.vectors[Kind.EPISODE]]) if ranking else [],
            types=ranking and bool(self.question.answer_types),
            communities=self.circles.ids,
        )

    def _found_so_far(self, kind: Kind) -> list[str]:
        return [i for legs in (self.texts, self.vectors) if kind in legs for i in legs[kind].ids]

    # -- by kind

    def _facts(self) -> list[Hit]:
        text, near, crossed = self.texts[Kind.FACT], self.vectors[Kind.FACT], self.crossed
        if len(crossed) > _CROSSED:
            likely = self.scope.reader.similarities(Kind.FACT, self.whole, crossed)
            crossed = sorted(crossed, key=lambda i: -likely.get(i, -1.0))[:_CROSSED]
        brought = (self.circles.facts(),) if self.circles.broad else ()
        facts = self.gate.claims(list(dict.fromkeys([*text.ids, *near.ids, *crossed, *(i for leg in brought for i in leg.ids)])))
        time = time_facts(self.question, near, facts)
        legs = self._noted(text, near, time, graph_facts(self.reach, self.question, facts), *brought)
        fused = fuse({leg.name: leg.ids for leg in legs}, _FACT_WEIGHTS)
        best = [i for i, _ in fused if i in facts][: self.request.limit]
        return self._hits(Kind.FACT, legs, fused, {f.uuid: f for f in self.gate.facts(best)})

    def _entity_legs(self) -> tuple[Leg, ...]:
        """What leads to entities."""
        named = Leg("name", tuple(Found(e.id, 1.0) for e in self.named), "" if self.named else "the question names no known entity")
        brought = (self.circles.entities(),) if self.circles.broad else ()
        return named, self.texts[Kind.ENTITY], self.vectors[Kind.ENTITY], graph_entities(self.reach), *brought

    def _fused(self, legs: Sequence[Leg]) -> list[tuple[str, float]]:
        """Ids and scores, best first."""
        return fuse({leg.name: leg.ids for leg in legs}, _ENTITY_WEIGHTS)

    def _entities(self) -> list[Hit]:
        legs = self._noted(*self._entity_legs())
        fused = self._fused(legs)
        passing: dict[str, Item] = {}
        for start in range(0, len(fused), 2 * self.request.limit):
            some = [i for i, _ in fused[start : start + 2 * self.request.limit]]
            passing.update((e.id, e) for e in self.gate.entities(some) if e.type != VALUE_TYPE)
            if len(passing) >= self.request.limit:
                break
        return self._hits(Kind.ENTITY, legs, fused, passing)

    def _circles(self) -> Circles:
        """The communities that the question leads to, if any are asked for."""
        if Kind.COMMUNITY not in self.kinds or (self.request.usual and not self.broad):
            return Circles()
        if self.gate.checks_others:
            return Circles.barred("communities have no attributes, which a filter asks for")
        text, near = self.texts[Kind.COMMUNITY], self.vectors[Kind.COMMUNITY]
        bare = self.broad and not self.question.subject
        return Circles.of(self.scope, text, near, max(LARGEST, 2 * self.request.limit), broad=self.broad, bare=bare)

    def _communities(self) -> list[Hit]:
        circles = self.circles
        sizes = circles.sizes(self.scope)
        passing: dict[str, Item] = {uuid: v for uuid, _ in circles.fused if (v := circles.versions[uuid]).id in sizes}
        hits = self._hits(Kind.COMMUNITY, self._noted(*circles.legs), circles.fused, passing)
        return [replace(hit, features={"size": float(sizes[circles.versions[hit.id].id])}) for hit in hits]

    def _episodes(self) -> list[Hit]:
        by_facts, cosines = self._by_facts()
        graph = graph_episodes(self.scope, self.reach)
        legs = self._noted(
            self.texts[Kind.EPISODE],
            self.vectors[Kind.EPISODE],
            by_facts,
            time_episodes(self.scope, self.bare, self.question, self.told),
            graph,
        )
        asked = Asked(self.question, self.bare, cosines, self._mass(graph))
        return rank_episodes(self.scope, self.gate, asked, legs, self.known, self.request.limit)

    def _mass(self, graph: Leg) -> dict[str, float]:
        """The graph's say on each episode. Speakers are mentioned by every turn around them: what starts from one says nothing."""
        speakers = {key(name) for name in self.question.speakers}
        starts = {e.id for e in self.named if speakers.isdisjoint(map(key, (e.name, *e.aliases)))}
        return {f.id: f.score for f in graph.found if not self.named or graph.paths[f.id][0] in starts}

    def _by_facts(self) -> tuple[Leg, dict[str, float]]:
        """Episodes that facts near the question cite."""
        cited = self._cited([f.id for f in self.near])
        best: dict[str, float] = {}
        for found in self.near:
            for episode in cited.get(found.id, ()):
                best[episode] = max(best.get(episode, -1.0), found.score)
        rows = sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))
        return Leg("facts", tuple(Found(i, s) for i, s in rows), "" if rows else "no fact is near the question"), best

    def _cited(self, facts: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
        """The episodes that these facts cite."""
        if unknown := [i for i in facts if i not in self._sources]:
            self._sources.update(dict.fromkeys(unknown, ()))
            self._sources.update(self.scope.reader.sources(self.scope.groups, self.scope.at, unknown))
        return self._sources

    # -- steps

    def _text(self, kind: Kind, question: Question) -> Leg:
        return self._gated(kind, lambda limit: text_leg(self.scope, kind, question.terms, limit))

    def _vector(self, kind: Kind) -> Leg:
        return self._gated(kind, lambda limit: vector_leg(self.scope, kind, self._vector_of(kind), limit))

    def _vector_of(self, kind: Kind) -> Vectors:
        return self.bare if kind is Kind.EPISODE else self.whole

    def _gated(self, kind: Kind, leg: Callable[[int], Leg]) -> Leg:
        """The leg, fetched further where items fail a filter that the store does not apply."""
        pool = self._pool(kind)
        first = leg(pool)
        checked = self.gate.checks_facts if kind is Kind.FACT else self.gate.checks_others
        if first.abstained or not checked or isinstance(self.scope.reader, Strict):
            return first
        return replace(first, found=enough(first.found, lambda limit: leg(limit).found, lambda ids: self._passing(kind, ids), pool))

    def _pool(self, kind: Kind) -> int:
        return max(POOLS[kind], self.request.limit)

    def _passing(self, kind: Kind, ids: Sequence[str]) -> set[str]:
        match kind:
            case Kind.FACT:
                return {f.uuid for f in self.gate.facts(ids)}
            case Kind.ENTITY:
                return {e.id for e in self.gate.entities(ids)}
            case Kind.COMMUNITY:
                return set()  # filters are by attributes, and communities have none
            case _:
                return {e.id for e in self.gate.episodes(ids)}

    def _noted(self, *legs: Leg) -> list[Leg]:
        """The legs that found something; why the others did not is kept for the caller."""
        self.legs.append(legs)
        self.abstained.update({leg.name: leg.abstained for leg in legs if leg.abstained})
        return [leg for leg in legs if leg.found]

    def _hits(self, kind: Kind, legs: Sequence[Leg], fused: Sequence[tuple[str, float]], passing: Mapping[str, Item]) -> list[Hit]:
        best = [(i, score) for i, score in fused if i in passing][: self.request.limit]
        why = reasons(legs, [i for i, _ in best])
        return [Hit(kind, passing[i], score, rank, why[i]) for rank, (i, score) in enumerate(best, 1)]

    # -- the hits that are returned

    def finished(self, hits: Sequence[Hit]) -> tuple[Hit, ...]:
        """With the citations of facts, and names on the paths."""
        scope = self.scope
        told = {h.id: h.item.facts for h in hits if isinstance(h.item, CommunityVersion)}
        cited = self._cited([*(h.id for h in hits if h.kind is Kind.FACT), *(i for facts in told.values() for i in facts)])
        ids = tuple(sorted({i for hit in hits for reason in hit.reasons for i in reason.path}))
        named = scope.reader.entities(scope.groups, scope.at, EntityMatch(ids=ids)) if ids else []
        names = {e.id: e.name for e in named}
        return tuple(
            replace(
                hit,
                reasons=tuple(replace(r, path=tuple(names.get(i, i) for i in r.path)) if r.path else r for r in hit.reasons),
                citations=tuple(dict.fromkeys(e for i in told.get(hit.id, (hit.id,)) for e in cited.get(i, ())))
                if hit.kind in (Kind.FACT, Kind.COMMUNITY)
                else hit.citations,
            )
            for hit in hits
        )


def _other_names(actor: str, named: Sequence[EntityVersion]) -> tuple[str, ...]:
    """How else the graph calls the speaker."""
    for entity in named:
        if key(actor) in {key(name) for name in (entity.name, *entity.aliases)}:
            return (entity.name, *entity.aliases)
    return ()
