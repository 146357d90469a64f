"""The part of a view that makes texts for prompts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from graphmem.checks import positive
from graphmem.communities.reading import placed, some, told_now
from graphmem.errors import InvalidInput
from graphmem.logs import logged
from graphmem.model import AsOf, CommunityMatch, CommunityVersion, EntityVersion, FactMatch, FactVersion
from graphmem.rerank.base import Reranker
from graphmem.rerank.chosen import Rerank, chosen
from graphmem.scope import Group, Scope, checked_filters
from graphmem.search.context import Context, context
from graphmem.search.gate import Gate, pushed_down
from graphmem.search.hits import Filters, Hit, SearchResult
from graphmem.search.overview import Topic, overview
from graphmem.search.question import is_general
from graphmem.search.searcher import Request, Watch
from graphmem.search.tiers import TIERS, tiered
from graphmem.stores.base import Kind, Reader

SCOPES = ("local", "global")
_RECENT = 12
_PROFILE = 24
_TOPICS = 3
_NAMED = 5
_PEOPLE = ("person", "people")


class Contexts:
    """What every view can tell a model, at its point on both axes."""

    _scope: Scope

    def _found(self, reader: Reader, request: Request, rerankers: Sequence[Reranker], watch: Watch | None = None) -> SearchResult:
        raise NotImplementedError

    @logged
    def context(
        self,
        query: str,
        *,
        max_tokens: int = 800,
        limit: int = 30,
        depth: int = 1,
        filters: Filters | None = None,
        rerank: Rerank | None = None,
        scope: str = "local",
        tiers: Sequence[str] | None = None,
        group: Group = None,
    ) -> Context:
        """A text for a prompt about `query`: dated facts and verbatim turns in order of time, cited, never over `max_tokens`.

        `rerank` as in `search`: what comes first there is packed first.

        `tiers` puts other things beside facts and turns, under a label each, within the one budget: "profile" (the person asked
        about, with what holds of them), "topics" (communities near the question), "facts" (what there is without tiers), "recent"
        (what was said last). A tier has a share of the budget, and what it leaves is the others'. `filters` hold for every tier;
        topics are of whole groups, so there are none where something is filtered.

        `scope="global"` tells of the whole memory instead: its communities, the biggest and those nearest to `query` first, each
        with what it is about and dated, cited facts that hold; `limit` of them at most. Raises `NotFound` if none had been built,
        and `InvalidInput` for what is not a scope or a tier.
        """
        rerankers, budget, wanted = chosen(rerank), positive("max_tokens", max_tokens), _checked(scope, tiers)
        if scope == "global" and checked_filters(filters) != Filters():
            raise InvalidInput("filters", filters, 'are for scope="local"; communities are of a whole group')
        kinds = ("community",) if scope == "global" else ("fact", "episode")
        request = self._scope.request(query, limit, depth, kinds, filters, group, supposing="facts" in wanted)
        with self._scope.store.read() as reader:
            if scope == "global":
                topics = self._all_topics(reader, request)
                return overview(topics, max_tokens=budget, now=request.now, zone=self._scope.zone)
            hits: Sequence[Hit] = ()
            if "facts" in wanted:
                request, result = self._scope.settled(reader, filters, request, lambda asked: self._found(reader, asked, rerankers))
                hits = result.hits
            if tiers is None:
                return context(hits, max_tokens=budget, now=request.now, zone=self._scope.zone)
            found = {"facts": hits, **self._tiers_of(reader, request, wanted)}
        return tiered(found, max_tokens=budget, now=request.now, zone=self._scope.zone)

    # ------------------------------------------------------------------------------------------ all of it

    def _all_topics(self, reader: Reader, request: Request) -> list[Topic]:
        hits = self._told(reader, request, self._found(reader, replace(request, overview=True), ()).hits)
        if not hits:
            at = AsOf(None, request.at.system)
            some(reader, [placed(reader, group, at, request.holding, 0) for group in request.groups])
        told = list(dict.fromkeys(uuid for hit in hits for uuid in _facts(hit)))
        facts = {f.uuid: f for f in reader.facts(request.groups, request.holding, FactMatch(uuids=tuple(told)))} if told else {}
        cited = reader.sources(request.groups, request.holding, list(facts))
        return [
            Topic(hit, int(hit.features["size"]), tuple(_fact(facts[i], cited.get(i, ())) for i in _facts(hit) if i in facts))
            for hit in hits
        ]

    def _told(self, reader: Reader, request: Request, hits: Sequence[Hit]) -> list[Hit]:
        """The hits, with communities as they are told at the point: a text that tells of what does not hold is told anew."""
        found = [h.item for h in hits if isinstance(h.item, CommunityVersion)]
        if not found:
            return list(hits)
        now = {v.uuid: v for v in told_now(reader, request.groups, request.holding, found)}
        fresh = [uuid for v in found if now[v.uuid] is not v for uuid in now[v.uuid].facts]
        cited = reader.sources(request.groups, request.holding, fresh) if fresh else {}
        return [_retold(hit, now, cited) if isinstance(hit.item, CommunityVersion) else hit for hit in hits]

    # ------------------------------------------------------------------------------------------ tiers

    def _tiers_of(self, reader: Reader, request: Request, wanted: Sequence[str]) -> dict[str, Sequence[Hit]]:
        """What stands beside the facts and turns."""
        found: dict[str, Sequence[Hit]] = {}
        person = self._asked_about(reader, request) if {"profile", "topics"} & set(wanted) else None
        if "profile" in wanted and person is not None:
            found["profile"] = self._profile(reader, request, person)
        if "topics" in wanted and request.filters == Filters():
            found["topics"] = self._topics(reader, request, person)
        if "recent" in wanted:
            match = pushed_down(request.filters).episodes
            last = reader.episodes(request.groups, request.at, match, _RECENT, newest_first=True)
            if request.filters.attributes:
                last = Gate(reader, request.groups, request.at, request.filters).episodes([e.id for e in last])
            found["recent"] = [Hit(Kind.EPISODE, e, 0.0, n, citations=(e.id,)) for n, e in enumerate(last, 1)]
        return found

    def _asked_about(self, reader: Reader, request: Request) -> EntityVersion | None:
        """The first person that the query names, in full or in part; else the first thing that it names."""
        hits = self._found(reader, replace(request, kinds=(Kind.ENTITY,), limit=_NAMED, filters=Filters()), ()).hits
        named = [h for h in hits if isinstance(h.item, EntityVersion) and not is_general(h.item.name)]
        whole = [h.item for h in named if any(r.leg == "name" for r in h.reasons)]
        part = [h.item for h in named if any(r.leg == "text" for r in h.reasons)]
        people = [e for e in (*whole, *part) if isinstance(e, EntityVersion) and e.type.casefold() in _PEOPLE]
        return next((e for e in (*people, *whole) if isinstance(e, EntityVersion)), None)

    def _profile(self, reader: Reader, request: Request, person: EntityVersion) -> list[Hit]:
        """Who it is, and what holds of them and passes the filters, what began last first."""
        gate = Gate(reader, request.groups, request.holding, request.filters)
        match = replace(pushed_down(request.filters).facts or FactMatch(), entities=(person.id,))
        facts = gate.passing(reader.facts(request.groups, request.holding, match))
        newest = list(reversed(facts))[:_PROFILE]
        cited = reader.sources(request.groups, request.holding, [f.uuid for f in newest])
        return [Hit(Kind.ENTITY, person, 0.0, 1), *(_fact(f, cited.get(f.uuid, ())) for f in newest)]

    def _topics(self, reader: Reader, request: Request, person: EntityVersion | None) -> list[Hit]:
        """The community of the person asked about, then those nearest to the question."""
        near = self._found(reader, replace(request, kinds=(Kind.COMMUNITY,), limit=_TOPICS), ()).hits
        own: list[Hit] = []
        if person is not None:
            at = AsOf(None, request.at.system)
            homes = tuple(m.community for m in reader.members([person.group], at, entities=[person.id], level=0))
            held = reader.communities([person.group], at, CommunityMatch(ids=homes, levels=(0,))) if homes else []
            cited = reader.sources(request.groups, request.holding, [uuid for v in held for uuid in v.facts]) if held else {}
            own = [_community(v, cited) for v in held]
        said: dict[str, Hit] = {}
        for hit in (*own, *near):
            said.setdefault(hit.text, hit)
        return self._told(reader, request, list(said.values()))


def _checked(scope: str, tiers: Sequence[str] | None) -> Sequence[str]:
    """The tiers wanted."""
    if scope not in SCOPES:
        raise InvalidInput("scope", scope, f"must be one of {', '.join(SCOPES)}")
    if tiers is None:
        return ("facts",)
    if isinstance(tiers, str) or not isinstance(tiers, Sequence) or not tiers or any(tier not in [*TIERS] for tier in tiers):
        raise InvalidInput("tiers", tiers, f"must be a list of one or more of {', '.join(TIERS)}")
    if scope == "global":
        raise InvalidInput("tiers", tiers, 'are for scope="local"; a global context has topics alone')
    return tiers


def _facts(hit: Hit) -> tuple[str, ...]:
    return hit.item.facts if isinstance(hit.item, CommunityVersion) else ()


def _community(version: CommunityVersion, cited: Mapping[str, tuple[str, ...]]) -> Hit:
    return Hit(Kind.COMMUNITY, version, 0.0, 1, citations=_episodes(version, cited))


def _retold(hit: Hit, now: Mapping[str, CommunityVersion], cited: Mapping[str, tuple[str, ...]]) -> Hit:
    """The hit with its community as it is told now."""
    version = now[hit.id]
    return hit if version is hit.item else replace(hit, item=version, citations=_episodes(version, cited))


def _episodes(version: CommunityVersion, cited: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(episode for uuid in version.facts for episode in cited.get(uuid, ())))


def _fact(version: FactVersion, cited: tuple[str, ...]) -> Hit:
    return Hit(Kind.FACT, version, 0.0, 1, citations=cited)
