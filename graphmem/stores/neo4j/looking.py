"""A search on the server in three round trips: each fetches what the next verbs will ask, which then answer from it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from operator import itemgetter
from typing import Any

from graphmem.embed.base import Vectors
from graphmem.model import VALUE_TYPE, AsOf, EntityMatch, FactMatch, FactVersion, MentionVersion
from graphmem.stores.base import Found, Kind, SearchFilter
from graphmem.stores.codec import safe_text
from graphmem.stores.looking import Candidates, Near, Vicinity, Words
from graphmem.stores.neo4j import rows
from graphmem.stores.neo4j.communities import largest_ask, sizes_ask
from graphmem.stores.neo4j.graph import ALL, WHOLE_SESSION, entity_match, episodes_ask, fact_match, fact_order
from graphmem.stores.neo4j.kept import Kept
from graphmem.stores.neo4j.lean import LeanReads, mentioned_ask
from graphmem.stores.neo4j.reader import Neo4jReader
from graphmem.stores.neo4j.scopes import Runs
from graphmem.stores.neo4j.search import HOPS_AT_ONCE, joined_ask, joined_where, reach_ask, text_ask, unit_of
from graphmem.stores.neo4j.session import Row, ids
from graphmem.stores.neo4j.together import Ask, Part
from graphmem.stores.neo4j.tokens import token

# The first by the word index's own score may not be the first by the exact one: as many times more are read at most.
_HEARD_MORE = 6
# Likewise of episodes by the masses of whom they mention, since sums are rounded in another order.
_MENTIONED_MORE = 8

Params = dict[str, Any]
Take = Callable[[Row], None]


class _Trip:
    """The asks of one round trip, and what becomes of their rows."""

    def __init__(self) -> None:
        self.asks: list[Ask] = []
        self._takes: list[list[Take]] = []

    def add(self, name: str, params: Params, take: Take | None = None, *, once: bool = False) -> int:
        """The place of the ask; `take` is given its only row. With `once`, the same is not asked twice."""
        ask = Ask(name, params)
        if once and ask in self.asks:
            place = self.asks.index(ask)
        else:
            place = len(self.asks)
            self.asks.append(ask)
            self._takes.append([])
        if take is not None:
            self._takes[place].append(take)
        return place

    def several(self, given: Sequence[str], *parts: tuple[int | None, str], into: list[str]) -> Part:
        """The ids given and those found before, each once; the list `into` has them once they are there."""
        found = tuple((place, column) for place, column in parts if place is not None)
        place = self.add("several", {"ids": Part(found, list(given))}, lambda row: into.extend(row["ids"]))
        return Part(((place, "ids"),))

    def taken(self, found: Sequence[Sequence[Row]]) -> None:
        """Hand out what was found, in the order of the asks."""
        for takes, answer in zip(self._takes, found, strict=True):
            for take in takes:
                take(answer[0])


class LookingAhead(LeanReads, Neo4jReader):
    """A reader of one state, which keeps what it has read and can be told what a search is about to ask."""

    def __init__(self, run: Runs, kept: Kept, *, filtered: bool) -> None:
        super().__init__(run, kept, filtered=filtered)
        self._rows: dict[tuple[str, Hashable], dict[str, list[Row]]] = {}
        self._cosines: dict[tuple[Kind, bytes], dict[str, float]] = {}

    # -- what the words lead to

    def expect_words(self, look: Words) -> None:
        """One round trip, which also reads how far the groups have come."""
        if not look.groups:
            return
        trip = _Trip()

        def asks(scopes: Any) -> list[Ask]:
            if look.names:
                named = entity_match(EntityMatch(names=look.names))
                self._whole(trip, look, "entities_by_name", {"scopes": scopes, "limit": ALL, **named})
            if look.terms:
                for kind, limit in look.kinds.items():
                    self._words(trip, look, *text_ask(kind, look.terms, scopes, limit, look.match))
            for match in look.windows:
                self._whole(trip, look, *episodes_ask(scopes, match, look.told, newest_first=False, bodies=False))
            return trip.asks

        trip.taken(self._together(look.groups, look.at, asks))

    def _words(self, trip: _Trip, look: Words, name: str, params: Params) -> None:
        """A text search; of episodes, with the rows of the first."""
        if name != "text_episode":
            self._whole(trip, look, name, params)
            return
        best: list[str] = []
        place = self._whole(trip, look, name, params, heard=look.heard, most_heard=_HEARD_MORE * look.heard)
        episodes = trip.several([], (place, "best"), into=best)
        self._by(
            trip,
            "episodes_by_id",
            (*_where(look), True),
            best,
            {"scopes": params["scopes"], "ids": episodes, "bodies": True},
            itemgetter("id"),
        )

    # -- what is near

    def expect_vicinity(self, look: Vicinity) -> None:
        """One round trip."""
        trip = _Trip()
        for near in look.searches:
            place = self._near(trip, look.groups, near)
            if near.kind is Kind.COMMUNITY:
                self._heard(trip, look, near.at, place)
        if look.terms is not None:
            params = {"kind": Kind.EPISODE.value, "tokens": sorted({token(t) for t in look.terms})}
            trip.add("statistics", params, lambda row: self._held.keep("statistics", params, [row]))
        self._expansion(trip, look)
        self._made(trip)

    def _near(self, trip: _Trip, groups: Sequence[str], near: Near) -> int | None:
        """The place of a vector search; None if there is nothing to compare."""
        unit = unit_of(near.vector)
        if unit is None or not any(state.vectors[near.kind] for state in self._known(groups).values()):
            return None
        name, params = self._vector_ask(near.kind, unit, groups, near.at, near.limit, near.match)
        return trip.add(name, params, lambda row: self._held.keep(name, params, [row]), once=True)

    def _heard(self, trip: _Trip, look: Vicinity, at: AsOf, near: int | None) -> None:
        """The communities found by words, the nearest, and the largest with their sizes."""
        scopes, found, large = self._scopes(look.groups, at), list[str](), list[str]()
        versions = trip.several(ids(look.heard) or [], (near, "owners"), into=found)
        self._by(trip, "communities_by_uuid", _where(look), found, {"scopes": scopes, "ids": versions}, itemgetter("uuid"))
        if look.largest:
            ask = largest_ask(scopes, 0, look.largest)
            place = trip.add(ask.name, dict(ask.params), lambda row: self._held.keep(ask.name, ask.params, [row]))
            largest = trip.several([], (place, "ids"), into=large)
            params = {"scopes": scopes, "levels": [0]}
            kept = lambda row: self._held.keep("communities_by_id", {**params, "ids": large}, [row])
            trip.add("communities_by_id", {**params, "ids": largest}, kept)

    def _expansion(self, trip: _Trip, look: Vicinity) -> None:
        """The hops from the seeds, each from what the one before has reached."""
        scopes, begun = self._scopes(look.groups, look.at), Params()
        start = self._start(trip, look, scopes, begun)
        if start is None:
            return
        for _ in range(min(look.hops, HOPS_AT_ONCE)):
            params = reach_ask(scopes, start, look.limit, look.match).params

            def take(row: Row, params: Params = dict(params)) -> None:  # noqa: B006
                self._held.keep("reach", {**params, **begun}, [row])
                begun.update(frontier=row["frontier"], known=row["known"])

            place = trip.add("reach", dict(params), take)
            start = {name: Part(((place, name),)) for name in ("frontier", "known")}
        if look.between is not None:
            between = {"scopes": scopes, "limit": look.between, **fact_match(None)}
            kept = lambda row: self._held.keep("facts_by_entity", {**between, "entities": begun["known"]}, [row])
            trip.add("facts_by_entity", {**between, "entities": start["known"]}, kept)

    def _start(self, trip: _Trip, look: Vicinity, scopes: Any, begun: Params) -> Params | None:
        """Where the expansion starts: `begun` is that once it is known; None if there is nothing to start from."""
        seeds, meant = ids(look.start.seeds), look.start.meant
        if seeds:
            begun.update(frontier=seeds, known=seeds)
            return dict(begun)
        near = None if meant is None else self._near(trip, look.groups, meant)
        if meant is None or near is None:
            return None
        asked = {"owners": Part(((near, "owners"),)), "limit": meant.limit, "cosine": look.start.cosine, "type": VALUE_TYPE}
        place = trip.add(
            "meant",
            {"scopes": scopes, "vector": trip.asks[near].params["vector"], **asked},
            lambda row: begun.update(frontier=row["ids"], known=row["ids"]),
        )
        found: list[str] = []
        entities = trip.several([], (place, "ids"), into=found)
        self._by(trip, "entities_by_id", _where(look), found, {"scopes": scopes, "ids": entities}, itemgetter("id"))
        return dict.fromkeys(("frontier", "known"), entities)

    # -- what is ranked and shown

    def expect_candidates(self, look: Candidates) -> None:
        """One round trip."""
        trip, scopes = _Trip(), self._scopes(look.groups, look.at)
        if not scopes:
            return
        where, holding = _where(look), self._scopes(look.groups, look.holding)
        near, facts, crossed = (ids(given) or [] for given in (look.near, look.facts, look.crossed))
        # The text is always the same, whatever there is to ask: planning it takes far longer than finding nothing.
        cited = self._by(trip, "sources", where, near, {"scopes": scopes, "ids": near}, itemgetter(0))
        self._episodes(trip, look, scopes, (cited, self._mentioned(trip, look, scopes)))
        ends = self._by(trip, "facts_by_uuid", (where[0], look.at), facts, {"scopes": scopes, "ids": facts}, itemgetter("uuid"))
        self._by(trip, "sources", where, facts, {"scopes": scopes, "ids": facts}, itemgetter(0))
        self._by(trip, "vectors_fact", (), crossed, {"ids": crossed}, itemgetter(0))
        if look.communities:
            ask = sizes_ask(scopes, look.communities, None, None)
            trip.add(ask.name, dict(ask.params), lambda row: self._held.keep(ask.name, ask.params, [row]))
        named: list[str] = []
        entities = trip.several(ids(look.entities) or [], (ends, "ends"), into=named)
        self._by(trip, "entities_by_id", where, named, {"scopes": scopes, "ids": entities}, itemgetter("id"))
        self._shown(trip, look, scopes, holding)
        if look.match.ends is not None or look.match.cited is not None:
            asked = {"scopes": scopes, "ids": facts, **joined_ask(look.match)}
            self._by(trip, "facts_joined", joined_where(look.groups, look.at, look.match), facts, asked, itemgetter(0))
        self._made(trip)

    def _shown(self, trip: _Trip, look: Candidates, scopes: Any, holding: Any) -> None:
        """The facts of the entities that are going to be shown."""
        entities, most = look.shown
        told: list[str] = []
        types = entity_match(look.match.entities)["types"]
        asked = {"scopes": scopes, "ids": ids(entities), "types": types, "type": VALUE_TYPE}
        place = trip.add("first_entities", {**asked, "limit": most}, lambda row: told.extend(row["ids"]))
        params = {"scopes": holding, "limit": ALL, **fact_match(None), "entities": Part(((place, "ids"),))}
        trip.add("facts_by_entity", params, lambda row: self._keep_facts(look, told, row["found"]))

    def _mentioned(self, trip: _Trip, look: Candidates, scopes: Any) -> int:
        name, params = mentioned_ask(scopes, list(look.masses), look.mentions)
        masses = [[safe_text(entity), mass] for entity, mass in look.masses.items()]
        more = {"masses": masses, "most": look.mentioned + _MENTIONED_MORE}
        return trip.add(name, {**params, **more}, lambda row: self._held.keep(name, params, [row]))

    def _episodes(self, trip: _Trip, look: Candidates, scopes: Any, places: tuple[int | None, int | None]) -> None:
        """Rows, words, vectors and mentions of all that may be ranked, as far as they are not at hand."""
        where, bare = _where(look), unit_of(look.bare)
        pooled: list[str] = []
        every: list[str] = []
        pool = trip.several(ids(look.episodes) or [], *((place, "episodes") for place in places), into=pooled)
        around = {"scopes": scopes, "ids": pool, "closest": ids(look.closest), "most": WHOLE_SESSION}
        beside = self._by(trip, "around", where, pooled, around, itemgetter(0))
        asked = Part((*pool.found, (beside, "beside")))
        compared = [] if bare is None else list(map(safe_text, self._cosines.get((Kind.EPISODE, bare.tobytes()), {})))
        read = self._at_hand("episodes_by_id", (*where, True))
        params = {"scopes": scopes, "ids": asked, "read": list(read), "compared": compared}
        ranked = trip.add("episodes_ranked", params, lambda row: self._keep_ranked(row, read, compared, every))
        all_of = Part(((ranked, "ids"),))
        if look.types:
            params = {"scopes": scopes, "episodes": all_of, "entities": None, "limit": ALL}
            self._by(trip, "mentions_by_episode", where, every, params, lambda row: row["mention"]["episode"])

    def _keep_ranked(self, row: Row, read: dict[str, list[Row]], compared: Collection[str], every: list[str]) -> None:
        words, vectors = self._at_hand("words_episode", ()), self._at_hand("vectors_episode", ())
        every.extend(row["ids"])
        for episode in every:
            read.setdefault(episode, [])
        for episode, said, whole, halves in row["found"]:
            words[episode] = [] if said is None else _rows([[episode, said]])
            if whole is not None:
                read[episode] = [whole]
            if episode not in compared:
                vectors[episode] = _rows([episode, piece] for piece in halves)

    def _keep_facts(self, look: Candidates, told: Sequence[str], found: Sequence[Row]) -> None:
        known = self._at_hand("facts_by_entity", (tuple(look.groups), look.holding))
        known.update((entity, []) for entity in told)
        for row in found:
            for end in {row["source_node_uuid"], row["target_node_uuid"]} & known.keys():
                known[end].append(row)

    # -- making a trip

    def _made(self, trip: _Trip) -> None:
        if trip.asks:
            trip.taken(self.run.together(trip.asks))

    def _whole(self, trip: _Trip, look: Words, name: str, params: Params, **besides: Any) -> int:
        """Ask what a verb will ask, and keep the answer for exactly that; `besides` only adds to what is found."""

        def take(row: Row) -> None:
            self._held.keep(name, {**params, "scopes": self._scopes(look.groups, look.at)}, [row])

        return trip.add(name, {**params, **besides}, take)

    def _by(self, trip: _Trip, name: str, where: Hashable, asked: Sequence[str], params: Params, own: Callable[[Row], str]) -> int:
        """Ask for rows by id, and keep them; `asked` may be a list that fills while rows are taken."""
        return trip.add(name, params, lambda row: self._keep(self._at_hand(name, where), asked, row["found"], own))

    # -- verbs that look at what is at hand first

    def _at_hand(self, name: str, where: Hashable) -> dict[str, list[Row]]:
        return self._rows.setdefault((name, where), {})

    def _hops(self, scopes: Any, start: Params, hops: int, limit: int, match: FactMatch | None) -> list[Row]:
        known = self._held.rows("reach", reach_ask(scopes, start, limit, match).params)
        return super()._hops(scopes, start, hops, limit, match) if known is None else known

    def facts(self, groups: Sequence[str], at: AsOf, match: FactMatch | None = None, limit: int | None = None) -> list[FactVersion]:
        known = self._at_hand("facts_by_entity", (tuple(groups), at))
        named = ids(match.entities) if match is not None and match == FactMatch(entities=match.entities) else None
        if not named or any(entity not in known for entity in named):
            return super().facts(groups, at, match, limit)
        found = {row["uuid"]: row for entity in named for row in known[entity]}
        return sorted((rows.fact(row, self._pin_of(row)) for row in found.values()), key=fact_order)[:limit]

    def mentions(
        self,
        groups: Sequence[str],
        at: AsOf,
        *,
        episodes: Sequence[str] | None = None,
        entities: Sequence[str] | None = None,
        limit: int | None = None,
    ) -> list[MentionVersion]:
        known, named = self._at_hand("mentions_by_episode", (tuple(groups), at.system)), ids(episodes)
        if not named or entities is not None or any(i not in known for i in named):
            return super().mentions(groups, at, episodes=episodes, entities=entities, limit=limit)
        found = sorted((row for i in dict.fromkeys(named) for row in known[i]), key=_mention_order)
        return [rows.mention_version(row, self._pin_of(row["mention"])) for row in found][:limit]

    def vector_search(
        self, kind: Kind, vector: Vectors, groups: Sequence[str], at: AsOf, limit: int, match: SearchFilter | None = None
    ) -> list[Found]:
        if kind is Kind.COMMUNITY and not any(state.vectors[kind] for state in self._known(groups).values()):
            return []  # most groups have none, and nothing was fetched for them
        found = self._compare(kind, vector, groups, at, limit, match)
        self._compared(kind, vector).update((f.id, f.score) for f in found)
        return found[:limit]

    def similarities(self, kind: Kind, vector: Vectors, owners: Sequence[str]) -> dict[str, float]:
        known = self._compared(kind, vector)
        known.update(super().similarities(kind, vector, [o for o in owners if o not in known]))
        return {o: known[o] for o in owners if o in known}

    def _compared(self, kind: Kind, vector: Vectors) -> dict[str, float]:
        unit = unit_of(vector)
        return {} if unit is None else self._cosines.setdefault((kind, unit.tobytes()), {})


def _where(look: Words | Vicinity | Candidates) -> tuple[tuple[str, ...], Any]:
    """What tells rows by id apart that do not depend on valid time."""
    return tuple(look.groups), look.at.system


def _rows(found: Iterable[Any]) -> list[Row]:
    return list(found)


def _mention_order(row: Row) -> tuple[int, str, int, str]:
    mention = row["mention"]
    return -mention["reference_time"], mention["episode"], mention["position"], row["entity"]
