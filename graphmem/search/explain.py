"""Why a search found an item, and what kept one out: the search is run again, watched, and with a larger limit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from graphmem.embed.base import Embedder
from graphmem.model import VALUE_TYPE, AsOf, CommunityVersion, EntityMatch, Episode, FactMatch, FactVersion
from graphmem.search.explained import (
    Cited,
    Dates,
    Explanation,
    Feature,
    LegRank,
    Obstacle,
    Path,
    Standing,
    Step,
    WhyNot,
    cut,
    listed,
    shown_instant,
    shown_interval,
)
from graphmem.search.hits import Hit, SearchResult
from graphmem.search.legs import Leg, text_leg, vector_leg
from graphmem.search.locate import Target, checks, near_names
from graphmem.search.rank import trained_weights
from graphmem.search.searcher import Request, Run, Watch, search
from graphmem.search.standing import MOST_CITED, Judge, Ontologies
from graphmem.stores.base import Indexed, Kind, Reader

Find = Callable[[Request, Watch | None], SearchResult]
MOST_FEATURES = 6
_FAR = 10_000
_MOST = 1_000
_MORE = 4
_SETTLED = 256
_AHEAD = 5
_BEFORE = "search"


@dataclass(frozen=True, slots=True)
class Explainer:
    """Explains what `find` finds: a search, with whatever puts its hits in another order."""

    reader: Reader
    embedder: Embedder
    ontology: Ontologies
    find: Find

    # ------------------------------------------------------------------------------------------ explain

    def explain(self, target: Target, at: AsOf, request: Request | None) -> Explanation:
        """What the item is and rests on at the point `at`; with a request, how its search came to it."""
        standings = self._standings(target, at)
        cited, many = self._cited(target, at)
        told = Explanation(
            target.kind.value,
            target.id,
            cut(self._text(target, at)),
            standings[0] if standings else self._current(target, at),
            _dates(target, at),
            citations=tuple(cited),
            cited=many,
        )
        if request is None:
            return told
        runs: list[Run] = []
        hits = self.find(request, runs.append).hits
        place = _place(hits, target)
        hit = hits[place - 1] if place else None
        passed = checks(self.reader, target, request.filters, at)
        return replace(
            told,
            query=cut(request.query, 400),
            rank=place,
            score=hit.score if hit else None,
            rank_before=next((r.rank for r in hit.reasons if r.leg == _BEFORE), None) if hit else None,
            legs=(*_leg_ranks(runs, target), *(_reranked(hit) if hit else ())),
            features=_features(hit) if hit else (),
            path=self._path(runs[0], target) if runs else None,
            filters=tuple(str(c) for c in passed if c.passes),
        )

    def _standings(self, target: Target, at: AsOf) -> list[Standing]:
        judge = Judge(self.reader, self.ontology, at)
        match target.item:
            case FactVersion():
                return judge.fact(target.item)
            case Episode():
                return judge.episode(target.item)
            case CommunityVersion():
                return judge.community(target.item)
            case _:
                return judge.entity(target.item)

    def _text(self, target: Target, at: AsOf) -> str:
        """What it says; of a community whose facts do not all hold, the name alone."""
        if isinstance(target.item, CommunityVersion) and len(self._told(target.item, target.seen(at), at)) < len(target.item.facts):
            return target.item.name
        return target.text(at)

    def _told(self, community: CommunityVersion, seen: AsOf, at: AsOf) -> list[FactVersion]:
        """The facts that a community tells of, those that hold, in its order."""
        found = self.reader.facts((community.group,), replace(seen, valid=at.valid), FactMatch(uuids=community.facts))
        return sorted(found, key=lambda f: community.facts.index(f.uuid))

    def _current(self, target: Target, at: AsOf) -> Standing:
        if isinstance(target.item, CommunityVersion):
            ended = len(target.item.facts) - len(self._told(target.item, target.seen(at), at))
            retold = f"{ended} of the {len(target.item.facts)} facts it was told from do not hold; it is told anew from those that do"
            return Standing("current", retold if ended else "all facts that it tells of hold")
        if not isinstance(target.item, FactVersion):
            return Standing("current", "nothing hides it")
        end = target.item.valid.end
        return Standing("current", f"it holds until {shown_instant(end)}" if end else "nothing known ends it")

    def _cited(self, target: Target, at: AsOf) -> tuple[list[Cited], int]:
        match target.item:
            case FactVersion():
                return Judge(self.reader, self.ontology, at).cited(target.item)
            case Episode() as e:
                return [Cited(e.id, cut(e.body), e.actor, e.reference_time, (0, len(e.body)))], 1
            case CommunityVersion() as community:
                return self._behind_facts(self._told(community, target.seen(at), at), at)
            case _:
                return self._mentions(target, at)

    def _behind_facts(self, facts: Sequence[FactVersion], at: AsOf) -> tuple[list[Cited], int]:
        """The first place that each of these rests on."""
        judge = Judge(self.reader, self.ontology, at)
        first = [cited for fact in facts[:MOST_CITED] for cited in judge.cited(fact)[0][:1]]
        return first, len(facts)

    def _mentions(self, target: Target, at: AsOf) -> tuple[list[Cited], int]:
        """Where an entity is named, newest first."""
        rows = self.reader.mentions((target.group,), target.seen(at), entities=(target.id,))
        first = [row.mention for row in rows[:MOST_CITED]]
        records = self.reader.records(target.group, [m.episode for m in first]) if first else []
        said = {r.episode.id: r.episode for r in records}
        return [
            Cited(m.episode, cut(m.name), said[m.episode].actor, said[m.episode].reference_time, m.span and (m.span.start, m.span.end))
            for m in first
            if m.episode in said
        ], len(rows)

    def _path(self, run: Run, target: Target) -> Path | None:
        """The way of the graph leg to the item: entities, and the facts crossed between them."""
        ways = [leg.paths[target.id] for leg in _legs_of(run, target.kind) if leg.name == "graph" and target.id in leg.paths]
        if not ways or not ways[0]:
            return None
        way, reached = ways[0], run.reach.expansion.by_entity
        crossed = [
            target.id if isinstance(target.item, FactVersion) and n == len(way) - 1 else reached[entity].fact
            for n, entity in enumerate(way)
            if n > 0
        ]
        scope = run.scope
        named = scope.reader.entities(scope.groups, scope.at, EntityMatch(ids=tuple(dict.fromkeys(way))))
        names = {e.id: e.name for e in named}
        facts = {f.uuid: f for f in scope.reader.facts(scope.groups, scope.at, FactMatch(uuids=tuple(c for c in crossed if c)))}
        steps = tuple(
            Step(names.get(a, a), facts[fact].relation, names.get(b, b), facts[fact].source == a, hop, fact)
            for hop, (a, b, fact) in enumerate(zip(way, way[1:], crossed, strict=False), 1)
            if fact in facts
        )
        return Path(names.get(way[0], way[0]), "name" if run.named else "meaning", steps)

    # ------------------------------------------------------------------------------------------ why not

    def why_not(self, name: str, target: Target | None, request: Request) -> WhyNot:
        """What kept the item out of the search, the first cause first; the place it has, if nothing did."""
        told = WhyNot(cut(request.query, 400), cut(name))
        if target is None:
            near = near_names(self.reader, name, request.groups, request.at)
            known = f"; near names: {listed(near)}" if near else ""
            unknown = Obstacle("unknown", f"nothing has this id, uuid or name{known}", {"near": near})
            return replace(told, obstacles=(unknown,))
        told = replace(told, kind=target.kind.value, id=target.id, item=cut(target.text(request.at)))
        obstacles = [*self._unseen(target, request), *self._untold(target, request), *self._refused(target, request)]
        if not request.query.strip():
            obstacles.append(Obstacle("empty_query", "the query has no visible character"))
        if obstacles:
            return replace(told, obstacles=tuple(obstacles))
        runs: list[Run] = []
        hits = self.find(request, runs.append).hits
        place = _place(hits, target)
        if place:
            return replace(told, rank=place, legs=_leg_ranks(runs, target))
        obstacle, legs = self._behind(target, request, runs[0]), self._far_ranks(runs[0], target)
        ahead = tuple(f"{n}: {h.kind.value} {cut(h.text, 80)!r}, score {h.score:.3f}" for n, h in enumerate(hits[:_AHEAD], 1))
        return replace(told, obstacles=(obstacle,), legs=legs, ahead=ahead)

    def _unseen(self, target: Target, request: Request) -> list[Obstacle]:
        """Where and when it cannot be read."""
        found = []
        if target.group not in request.groups:
            values: dict[str, object] = {"group": target.group, "groups": list(request.groups)}
            found.append(
                Obstacle("other_group", f"it is in group {target.group!r}; searched was {listed(request.groups) or 'none'}", values)
            )
        for standing in self._standings(target, request.at):
            values = {"why": standing.code, "by": standing.by, "said": str(standing.because or "")}
            if isinstance(target.item, FactVersion):
                values["valid"] = [target.item.valid.start, target.item.valid.end]
            if standing.axis == "valid":
                code = "not_true_then"
            else:
                code = standing.code if standing.code in ("not_yet_known", "forgotten") else "believed_no_more"
            found.append(Obstacle(code, str(standing), values))
        return found

    def _untold(self, target: Target, request: Request) -> list[Obstacle]:
        """A community of one entity is never shown."""
        if not isinstance(target.item, CommunityVersion):
            return []
        point = AsOf(None, request.at.system)
        size = dict(self.reader.community_sizes((target.group,), point, communities=[target.item.id])).get(target.item.id, 0)
        text = "only one entity belongs to it; such a community is not shown"
        return [Obstacle("small", text, {"size": size})] if size == 1 else []

    def _refused(self, target: Target, request: Request) -> list[Obstacle]:
        """What the search does not ask for."""
        found = []
        if isinstance(target.item, tuple) and target.entity(request.at).type == VALUE_TYPE:
            found.append(Obstacle("value", "it is a value (a date, a number, a state); those are shown with their facts alone"))
        if target.kind not in request.kinds:
            kinds = [k.value for k in request.kinds]
            hint = "; without `kinds` they are for questions that ask for an overview" if target.kind is Kind.COMMUNITY else ""
            text = f"it is of kind {target.kind.value}; asked is for {listed(kinds) or 'none'}{hint}"
            found.append(Obstacle("kind", text, {"kinds": kinds}))
        found += [
            Obstacle("filter", str(c), {"filter": c.name, "wanted": c.wanted, "has": c.has})
            for c in checks(self.reader, target, request.filters, request.at)
            if not c.passes
        ]
        return found

    def _behind(self, target: Target, request: Request, run: Run) -> Obstacle:
        """No leg offers it, reranking drops it, or others stand before it; and which limit would show it."""
        if by := run.circles.hidden.get(target.id):
            return Obstacle("nested", f"{by} stands for it: one lies in the other, and that one is nearer to the question", {"by": by})
        place, limit, score = self._with_more(target, request)
        known = f"with limit={limit} it is at rank {place}, score {score:.3f}" if place else f"it is not among the first {_MOST} either"
        values: dict[str, object] = {"rank": place, "limit": limit, "score": score, "asked": request.limit}
        if not any(target.id in leg.ids for leg in _legs_of(run, target.kind)):
            return Obstacle("no_leg", f"no leg offers it; {known}", values)
        before = _place(search(self.reader, self.embedder, request).hits, target)
        if before:
            text = f"rank {before} before reranking, then behind the limit of {request.limit}; {known}"
            return Obstacle("reranked", text, {**values, "before": before})
        return Obstacle("rank", f"behind the limit of {request.limit}; {known}", values)

    def _with_more(self, target: Target, request: Request) -> tuple[int | None, int | None, float]:
        """The rank it has with a larger limit, that limit, and its score. Legs offer more under a larger limit, so that the rank
        counts only where the search with that very limit gives it.
        """
        limit, many = request.limit, -1
        while limit < _MOST:
            limit = min(_MORE * limit, _MOST)
            hits = self.find(replace(request, limit=limit), None).hits
            place = _place(hits, target)
            if place:
                exact = self.find(replace(request, limit=place), None).hits
                again = _place(exact, target)
                return (again, place, exact[again - 1].score) if again else (place, limit, hits[place - 1].score)
            if limit >= _SETTLED and len(hits) == many:
                break
            many = len(hits)
        return None, None, 0.0

    # ------------------------------------------------------------------------------------------ legs, further out

    def _far_ranks(self, run: Run, target: Target) -> tuple[LegRank, ...]:
        """Each leg's word on an item that is not in the result: how far out it is, or why it is not there."""
        return tuple(self._far(run, target, leg) or rank if rank.rank is None else rank for leg, rank in _ranked(run, target))

    def _far(self, run: Run, target: Target, leg: Leg) -> LegRank | None:
        """Its place further out, or why there is none; None for a leg that abstained."""
        match leg.name:
            case "text" if run.question.terms:
                return self._far_words(run, target, leg)
            case "vector":
                asked = run.bare if target.kind is Kind.EPISODE else run.whole
                return self._beyond(target, leg, vector_leg(run.scope, target.kind, asked, _FAR), "it has no vector")
            case "graph" if run.reach.expansion.hops:
                seeds = [h.entity for h in run.reach.expansion.hops if h.hop == 0]
                named = self.reader.entities(run.scope.groups, run.scope.at, EntityMatch(ids=tuple(seeds)))
                out = f"{run.request.depth} fact{'s' * (run.request.depth != 1)} out"
                return LegRank(leg.name, note=f"not offered from {listed([e.name for e in named])}, {out}")
            case "time" if run.question.windows:
                windows = listed([shown_interval(w.start, w.end) for w in run.question.windows])
                return LegRank(leg.name, note=leg.abstained or f"not offered for {windows}")
            case "name" if not leg.abstained:
                return LegRank(leg.name, note="the question names others")
            case "size" | "community" if not leg.abstained:
                return LegRank(leg.name, note="not among the largest" if leg.name == "size" else "the largest communities do not name it")
            case "facts" if not leg.abstained:
                return LegRank(leg.name, note="no fact near the question cites it")
            case _:
                return None

    def _far_words(self, run: Run, target: Target, leg: Leg) -> LegRank:
        held = self.reader.words(target.kind, [target.id]).get(target.id, "").split()
        asked = list(dict.fromkeys(run.question.terms))
        shared = [t for t in asked if t in set(held)]
        if not shared:
            return LegRank(leg.name, note=f"no shared word: the question has {listed(asked)}; it has {listed(list(dict.fromkeys(held)))}")
        far = text_leg(run.scope, target.kind, run.question.terms, _FAR)
        return self._beyond(target, leg, far, f"shares only {listed(shared)}, which too many have")

    def _beyond(self, target: Target, leg: Leg, far: Leg, none: str) -> LegRank:
        for rank, found in enumerate(far.found, 1):
            if found.id == target.id:
                return LegRank(leg.name, rank, found.score, f"beyond the {len(leg.found)} that it offers")
        return LegRank(leg.name, note=f"beyond the first {_FAR}" if len(far.found) >= _FAR else none)


def _place(hits: Sequence[Hit], target: Target) -> int | None:
    """The rank of the item, from 1."""
    return next((n for n, h in enumerate(hits, 1) if h.kind is target.kind and h.id == target.id), None)


def _legs_of(run: Run, kind: Kind) -> tuple[Leg, ...]:
    return dict(zip(dict.fromkeys(run.request.kinds), run.legs, strict=False)).get(kind, ())


def _ranked(run: Run, target: Target) -> list[tuple[Leg, LegRank]]:
    """Each leg of the item's kind, with the item's rank there."""
    found = []
    for leg in _legs_of(run, target.kind):
        place = next((n for n, f in enumerate(leg.found, 1) if f.id == target.id), None)
        if place:
            found.append((leg, LegRank(leg.name, place, leg.found[place - 1].score, _way(run, leg, target.kind))))
        else:
            found.append(
                (leg, LegRank(leg.name, note=f"abstained: {leg.abstained}" if leg.abstained else f"not among its {len(leg.found)}"))
            )
    return found


def _way(run: Run, leg: Leg, kind: Kind) -> str:
    """How the store came by the nearest vectors, if it has several ways."""
    reader = run.scope.reader
    return str(reader.vector_way(kind, run.scope.groups)) if leg.name == "vector" and isinstance(reader, Indexed) else ""


def _leg_ranks(runs: Sequence[Run], target: Target) -> tuple[LegRank, ...]:
    return tuple(rank for run in runs[:1] for _, rank in _ranked(run, target))


def _reranked(hit: Hit) -> tuple[LegRank, ...]:
    """What the rerankers said, which stands in the reasons after the place before them."""
    names = [r.leg for r in hit.reasons]
    later = hit.reasons[names.index(_BEFORE) + 1 :] if _BEFORE in names else ()
    return tuple(LegRank(r.leg, r.rank, r.score, "reranking") for r in later)


def _features(hit: Hit) -> tuple[Feature, ...]:
    """The largest parts of an episode's score."""
    if hit.kind is not Kind.EPISODE:
        return ()
    parts = [Feature(name, value, trained_weights()[name]) for name, value in hit.features.items()]
    return tuple(sorted((f for f in parts if f.part), key=lambda f: (-abs(f.part), f.name))[:MOST_FEATURES])


def _dates(target: Target, at: AsOf) -> Dates:
    match target.item:
        case FactVersion(valid=valid, system=system):
            return Dates(valid.start, valid.end, system.start, system.end)
        case Episode(reference_time=said, created_at=created):
            return Dates(created_at=created, said=said)
        case CommunityVersion(system=system):
            return Dates(created_at=system.start, expired_at=system.end)
        case _:
            system = target.entity(at).system
            return Dates(created_at=system.start, expired_at=system.end)
