"""Reading at once what is about to be asked for: one statement brings the rows that others would, and they are held."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from graphmem import names
from graphmem.interval import Interval
from graphmem.model import AsOf, EntityMatch, EpisodeRecord, FactMatch
from graphmem.stores.ahead import Beliefs, Look, Names, Sought, Texts
from graphmem.stores.base import Kind
from graphmem.stores.codec import end_micros, raw_text, safe_or_none, safe_text, texts
from graphmem.stores.neo4j.graph import ALL, entity_match, episodes_ask, fact_match
from graphmem.stores.neo4j.held import Foreseen, Held
from graphmem.stores.neo4j.kept import Kept
from graphmem.stores.neo4j.scopes import Runs, scope
from graphmem.stores.neo4j.search import SearchReads, text_ask, unit_of, vector_ask, vector_depth, way
from graphmem.stores.neo4j.session import Row, ids
from graphmem.stores.neo4j.together import Ask, Part
from graphmem.stores.neo4j.tokens import index_key

_NOW = AsOf()
_KEY = ("relation", "source", "target", "variant")
# The indexes order a little otherwise than exact scores do: of so many more than are asked for the entities come along.
_MORE = 3
# How many more are scored again, since the word index rounds lengths, and when they are enough: as in `text_entity`.
_WORDS_DEPTH = 50
_FELL = 0.85


class Foresight(SearchReads):
    """The part of a reader that can be told what is about to be read."""

    def __init__(self, run: Runs, kept: Kept, *, filtered: bool) -> None:
        run = run if isinstance(run, Foreseen) else Foreseen(run)
        super().__init__(run, kept, filtered=filtered)
        self._held = run.held

    def expect(self, group: str, what: Texts | Names | Beliefs) -> None:
        """Fetch what is going to be asked for."""
        if isinstance(what, Beliefs):
            self._expect_beliefs(group, what)
            return
        asked: TextsAsked | NamesAsked
        if isinstance(what, Texts):
            asked = TextsAsked(group, what)
        else:
            asked = NamesAsked(group, what, way(self._kept.pieces(group), filtered=self._filtered))
        found = self._together((group,), _NOW, asked.asks)
        state = self._known((group,)).get(group)
        if state is not None:
            self._kept.note_pieces(group, state.vectors[Kind.ENTITY])
        asked.hold(self._held, scope(group, 0 if state is None else state.change, _NOW), found)

    def expect_answers(self, keys: Sequence[str]) -> None:
        """Fetch these recorded answers, as far as they are there."""
        wanted = [index_key(key) for key in dict.fromkeys(keys)]
        (row,) = self.run.rows("answers_by_key", keys=wanted)
        found = {answer["key_index"]: [answer] for answer in row["found"]}
        for key in wanted:
            self._held.keep("answer", {"key_index": key}, found.get(key, []))

    def episode_by_key(self, group: str, key: str) -> EpisodeRecord | None:
        known = self._held.by("known_keys", safe_text(group), safe_text(key))
        if known is None:
            return super().episode_by_key(group, key)
        return self.records(group, [raw_text(known[0]["id"])])[0] if known else None

    def _expect_beliefs(self, group: str, what: Beliefs) -> None:
        state = self._known([group]).get(group)
        if state is None:
            return
        point = scope(group, state.change, _NOW)
        (row,) = self.run.rows(
            "beliefs_around",
            group=safe_text(group),
            pin=point["pin"],
            still=point["still"],
            wanted=_wanted(what),
            most=what.limit,
            linked=bool(state.links),
            operated=bool(state.targets),
        )
        self._held.scoped(safe_text(group), point)
        for match in what.matches:
            statement, column = _answered(match)
            self._held.keep(statement, {"scopes": [point], "limit": what.limit, **fact_match(match)}, [{"found": row[column]}])
        self._hold(safe_text(group), what, row)

    def _hold(self, group: str, what: Beliefs, row: Row) -> None:
        """Keep what the statement brought, as the answers to those that will be asked."""
        keep, said, facts, named = self._held.keep_by, row["assertions"], set(row["facts"]), set(row["named"])
        spoken, touched = set(row["spoken"]), set(row["touched"])
        keys = {a["fact_id"]: _key(a) for r in said if (a := r["assertion"]).get("fact_id") in facts}
        slots = {*_slots(what), *((end, *slot) for slot in row["wide"] for end in ("sources", "targets"))}
        keep("assertions_by_fact", group, facts, ((f, r) for r in said if (f := r["assertion"].get("fact_id")) in facts))
        keep("assertions_by_id", group, (r["assertion"]["id"] for r in said), ((r["assertion"]["id"], r) for r in said))
        keep("assertions_by_deciding", group, spoken, ((i, r) for r in said for i in _decided(r["assertion"]) if i in spoken))
        keep("keys_by_fact", group, facts, keys.items())
        keep("keys_by_slot", group, slots, ((s, k) for k in keys.values() for s in _slots_of(k) if s in slots))
        keep("facts_by_fact_id", group, facts, ((r["gm_fact_id"], r) for r in row["believed"]))
        keep("citations_by_fact", group, facts, ((r["fact_id"], r) for r in row["citations"]))
        keep("entities_by_id", group, named, ((r["id"], r) for r in row["entities"]))
        keep("links_of", group, named, ((e, r) for r in row["links"] for e in {r["one"], r["other"]} & named))
        operations = [(t, {"operation": o}) for o in row["operations"] for t in map(safe_text, texts(o["targets"])) if t in touched]
        keep("operations_named", group, touched, operations)
        self._keep_heads(group, row["heads"])
        self._seen(group, said)

    def _keep_heads(self, group: str, heads: Sequence[Row]) -> None:
        by_id = {head["id"]: head for head in heads}
        self._held.keep_by("episode_heads", group, by_id, ((i, {"episode": head}) for i, head in by_id.items()))

    def _seen(self, group: str, found: Sequence[Row]) -> None:
        """Keep the heads of the episodes of assertions, and what these speak of."""
        keep = self._held.keep_by
        self._keep_heads(group, [row["head"] for row in found if "head" in row])
        said = [row["assertion"] for row in found]
        keep("fact_ids", group, (a["id"] for a in said), ((a["id"], _spoken(a)) for a in said if a.get("keyed")))


def _wanted(what: Beliefs) -> dict[str, Any]:
    """What the statement is asked for."""
    slots = _slots(what)
    sides = {end: [[relation, entity] for side, relation, entity in slots if side == end] for end in ("sources", "targets")}
    by_column = {_answered(match)[1]: match for match in what.matches}
    between, sources, either = (by_column.get(column, FactMatch()) for column in ("between", "sources", "either"))
    return {
        "source_slots": sides["sources"],
        "target_slots": sides["targets"],
        "two_slots": sorted({r for r, _ in sides["sources"]} & {r for r, _ in sides["targets"]}),
        "ends": ids(between.sources or ()),
        "sources": ids(sources.sources or ()),
        "source_relations": ids(sources.relations or ()),
        "either": ids(either.entities or ()),
        "either_relations": ids(either.relations or ()),
        "facts": ids(what.facts),
        "entities": ids(what.entities),
    }


def _answered(match: FactMatch) -> tuple[str, str]:
    """The statement that a condition on facts is asked by, and the column that answers it."""
    if match.entities is not None:
        return "facts_by_entity", "either"
    return "facts_by_source", "between" if match.relations is None else "sources"


def _slots(what: Beliefs) -> list[tuple[str, str, str]]:
    return [
        (one, safe_text(relation), safe_text(entity))
        for end, relation, entity in what.slots
        for one in (("sources", "targets") if end == "either" else (f"{end}s",))
    ]


def _slots_of(key: Row) -> Iterator[tuple[str, str, str]]:
    yield "sources", key["relation"], key["source"]
    yield "targets", key["relation"], key["target"]


def _key(assertion: Row) -> Row:
    return {"fact_id": assertion["fact_id"], **{name: assertion[f"key_{name}"] for name in _KEY}}


def _spoken(assertion: Row) -> Row:
    return {"id": assertion["id"], "fact_id": assertion.get("fact_id")}


def _decided(assertion: Row) -> Iterable[str]:
    same = assertion.get("same_as")
    return {*map(safe_text, texts(assertion["excludes"])), *(() if same is None else (same,))}


class _Asked:
    """Statements that bring what is expected, and where their rows are to be held."""

    def __init__(self, group: str, keys: Sequence[str]) -> None:
        self.group = safe_text(group)
        self._keys = dict.fromkeys(map(safe_text, keys))

    def _known_keys(self, scopes: Any) -> Ask:
        return Ask("known_keys", {"scopes": scopes, "keys": [{"key": k, "key_index": index_key(k)} for k in self._keys]})

    def _hold_keys(self, held: Held, row: Row) -> None:
        held.keep_by("known_keys", self.group, self._keys, ((key, {"id": episode}) for key, episode in row["found"]))

    def _hold_entities(self, held: Held, found: Iterable[str], row: Row) -> None:
        held.keep_by("entities_by_id", self.group, found, ((r["id"], r) for r in row["found"]))


class TextsAsked(_Asked):
    """What is read before a model reads texts."""

    def __init__(self, group: str, what: Texts) -> None:
        super().__init__(group, what.keys)
        self._what = what

    def asks(self, scopes: Any) -> list[Ask]:
        """The statements; `scopes` says what passes in the group."""
        looks = [{"look": n, "limit": look.limit, "bodies": look.bodies, **_look(look)} for n, look in enumerate(self._what.looks)]
        most = max((look.limit for look in self._what.looks), default=0)
        searches = [Sought((), terms, None) for terms in self._what.terms]
        return [
            self._known_keys(scopes),
            Ask("latest_episodes", {"scopes": scopes, "looks": looks, "most": most}),
            _likely(searches, scopes, self._what.limit),
            _entities(scopes, ((1, "entities"), (2, "ids"))),
        ]

    def hold(self, held: Held, point: dict[str, Any], found: Sequence[list[Row]]) -> None:
        """Keep what they brought."""
        (keys,), (episodes,), (likely,), (entities,) = found
        held.scoped(self.group, point)
        self._hold_keys(held, keys)
        told = dict(episodes["found"])
        for n, look in enumerate(self._what.looks):
            ask = episodes_ask([point], look.match, look.limit, newest_first=True, bodies=look.bodies)
            held.keep(*ask, [{"found": told.get(n, [])}])
        read = {row["id"] for n, listed in told.items() if self._what.looks[n].bodies for row in listed}
        held.keep_by("mentions_by_episode", self.group, read, ((m["mention"]["episode"], m) for m in episodes["mentions"]))
        _hold_likely(held, point, [Sought((), terms, None) for terms in self._what.terms], self._what.limit, likely)
        self._hold_entities(held, {*episodes["entities"], *likely["ids"]}, entities)


class NamesAsked(_Asked):
    """What is read to find out who is meant by names; `way` is how vectors are searched."""

    def __init__(self, group: str, what: Names, way: str) -> None:
        super().__init__(group, what.keys)
        self._what, self._way = what, way
        self._units = {n: unit for n, s in enumerate(what.sought) if s.vector is not None and (unit := unit_of(s.vector)) is not None}

    def asks(self, scopes: Any) -> list[Ask]:
        """The statements; `scopes` says what passes in the group."""
        asks = [
            self._known_keys(scopes),
            Ask("entities_by_name", {"scopes": scopes, **self._named()}),
            _likely(self._what.sought, scopes, self._what.limit),
        ]
        if self._units:
            searches = [{"search": n, "keys": _keys(self._what.sought[n].names), "vector": u.tolist()} for n, u in self._units.items()]
            depth = vector_depth(self._what.limit, self._way)
            asks.append(
                Ask(f"{self._way}_entities", {"scopes": scopes, "searches": searches, "limit": depth, "first": _MORE * self._what.limit})
            )
        return [*asks, _entities(scopes, tuple((n, "ids") for n in range(2, len(asks))))]

    def hold(self, held: Held, point: dict[str, Any], found: Sequence[list[Row]]) -> None:
        """Keep what they brought."""
        (keys,), (named,), (likely,), *near, (entities,) = found
        held.scoped(self.group, point)
        self._hold_keys(held, keys)
        held.keep("entities_by_name", {"scopes": [point], **self._named()}, [named])
        _hold_likely(held, point, self._what.sought, self._what.limit, likely)
        for (row,) in near:
            for n, pieces in row["found"]:
                name, params = vector_ask(Kind.ENTITY, self._units[n], [point], self._what.limit, None, self._way)
                passing = [piece for piece in pieces if piece[2] is not None]
                if len(pieces) < params["limit"] or len(passing) >= params.get("enough", 0):
                    held.keep(name, params, [{"found": passing, "whole": len(pieces) < params["limit"]}])
        self._hold_entities(held, {i for (row,) in ([likely], *near) for i in row["ids"]}, entities)

    def _named(self) -> dict[str, Any]:
        return {"limit": ALL, **entity_match(EntityMatch(names=tuple(self._what.names)))}


def _look(look: Look) -> dict[str, Any]:
    match = look.match
    (session,) = match.sessions or (None,)
    return {
        "session": safe_or_none(session),
        "session_index": None if session is None else index_key(session),
        "kinds": ids(match.kinds),
        "last": end_micros((match.reference or Interval()).end),
    }


def _keys(spelled: Iterable[str]) -> list[str]:
    return sorted({index_key(names.key(n)) for n in spelled})


def _likely(sought: Sequence[Sought], scopes: Any, limit: int) -> Ask:
    searches, tokens, depth = [], set[str](), 0
    for n, (spelled, terms, _) in enumerate(sought):
        if terms:
            _, params = text_ask(Kind.ENTITY, terms, [], limit)
            searches.append({"search": n, "keys": _keys(spelled), "query": params["query"]})
            tokens.update(params["tokens"])
            depth = 2 * limit + _WORDS_DEPTH
    return Ask(
        "likely_entities", {"scopes": scopes, "searches": searches, "tokens": sorted(tokens), "limit": depth, "first": _MORE * limit}
    )


def _hold_likely(held: Held, point: dict[str, Any], sought: Sequence[Sought], limit: int, row: Row) -> None:
    for n, hits in row["found"]:
        found = {"rows": row["rows"], "total": row["total"], "found": row["containing"], "hits": hits}
        if len(hits) < 2 * limit + _WORDS_DEPTH or _fell(hits, limit):
            held.keep(*text_ask(Kind.ENTITY, sought[n].terms, [point], limit), [found])


def _fell(hits: Sequence[Sequence[Any]], limit: int) -> bool:
    """Whether nothing that was not read can be among the first: scores fell far enough, or have not changed, and ties are by id."""
    last, wanted = hits[-1][2], hits[limit - 1][2]
    return bool(last < _FELL * wanted or last == wanted)


def _entities(scopes: Any, found: tuple[tuple[int, str], ...]) -> Ask:
    return Ask("entities_by_id", {"scopes": scopes, "ids": Part(found), "types": None, "limit": ALL})
