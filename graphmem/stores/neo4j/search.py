"""Search by words and by vectors: filters first, then the best."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from operator import itemgetter
from typing import Any, cast

import numpy as np

from graphmem.embed.base import Vectors
from graphmem.model import VALUE_TYPE, AsOf, FactMatch
from graphmem.stores import bm25
from graphmem.stores.base import Found, Hop, Kind, SearchFilter, VectorWay
from graphmem.stores.codec import decode_mapping, encode, raw_text, safe_text
from graphmem.stores.matching import has_attributes
from graphmem.stores.neo4j.graph import ALL, GraphReads, entity_match, episode_match, fact_match
from graphmem.stores.neo4j.kept import Kept
from graphmem.stores.neo4j.rows import unpacked
from graphmem.stores.neo4j.scopes import Runs
from graphmem.stores.neo4j.session import Row, ids
from graphmem.stores.neo4j.together import Ask, Part
from graphmem.stores.neo4j.tokens import index_key, query, token

# So many rows of the word index are read at most. How many more than asked for are scored again: the vector index rounds numbers.
_MOST_WORDS = 2_000
_VECTOR_DEPTH = 100
_ENOUGH_MORE = 50
_SCAN_DEPTH = 32
# Where a filter lets less through, more is read before all are compared.
_NARROWED = 4
_DEEPER = 4
_DEEPEST = 10_000
# Below so many vectors in the groups asked, all are compared: fewer where the index can filter, for that costs no more than these.
_SCANNED = 1_000
_SCANNED_BESIDE_FILTER = 300
HOPS_AT_ONCE = 8


class SearchReads(GraphReads):
    """The searching part of a reader.

    What the server's indexes offer is scored again as every store scores it. Vectors are compared one by one in groups that
    have few; in others the vector index says which are worth it, and may miss one that lies alone.
    """

    def __init__(self, run: Runs, kept: Kept, *, filtered: bool) -> None:
        super().__init__(run, kept)
        self._filtered = filtered

    # -- words

    def text_search(
        self, kind: Kind, terms: Sequence[str], groups: Sequence[str], at: AsOf, limit: int, match: SearchFilter | None = None
    ) -> list[Found]:
        wanted = list(dict.fromkeys(terms))
        scopes = self._scopes(groups, at)
        if not wanted or limit <= 0 or not scopes:
            return []
        name, params = text_ask(kind, wanted, scopes, limit, match)
        row = self.run.rows(name, **params)[0]
        return _scored(params["tokens"], row, _having(row["hits"], match))[:limit]

    def words(self, kind: Kind, owners: Sequence[str]) -> dict[str, str]:
        if not owners:
            return {}
        found = {raw_text(owner): raw_text(words) for owner, words in self._by_id(f"words_{kind.value}", (), owners, itemgetter(0))}
        return {o: found[o] for o in owners if o in found}

    def word_statistics(self, kind: Kind, terms: Sequence[str]) -> tuple[int, float, dict[str, int]]:
        row = self.run.rows("statistics", kind=kind.value, tokens=sorted({token(t) for t in terms}))[0]
        found = dict(row["found"])
        return row["rows"], row["words"] / row["rows"] if row["rows"] else 0.0, {t: found.get(token(t), 0) for t in terms}

    # -- vectors

    def vector_search(
        self, kind: Kind, vector: Vectors, groups: Sequence[str], at: AsOf, limit: int, match: SearchFilter | None = None
    ) -> list[Found]:
        return self._compare(kind, vector, groups, at, limit, match)[:limit]

    def _compare(self, kind: Kind, vector: Vectors, groups: Sequence[str], at: AsOf, limit: int, match: SearchFilter | None) -> list[Found]:
        """The nearest, `limit` of them if there are so many, and after them what else was compared."""
        unit = unit_of(vector)
        scopes = self._scopes(groups, at)
        if unit is None or limit <= 0 or not scopes:
            return []
        name, params = self._vector_ask(kind, unit, groups, at, limit, match)
        while True:
            (row,) = self.run.rows(name, **params)
            found = _nearest(_having(row["found"], match), unit)
            # What is missing is hidden by values that only look like those asked for, or by owners of very many pieces.
            if len(found) >= limit or row["whole"]:
                return found
            if params["limit"] > _DEEPEST and not name.startswith("scan_"):
                name, params = vector_ask(kind, unit, params["scopes"], params["limit"], match, "scan")
            params = {**params, **{depth: _DEEPER * params[depth] for depth in ("limit", "enough", "most") if depth in params}}

    def _vector_ask(
        self, kind: Kind, unit: Vectors, groups: Sequence[str], at: AsOf, limit: int, match: SearchFilter | None
    ) -> tuple[str, dict[str, Any]]:
        """The statement that a search by a vector of length 1 runs, and its parameters."""
        states = self._known(groups).values()
        held = sum(state.vectors[kind] for state in states)
        told = sum(state.head.seq for state in states)
        pieces = -(-held // told) if kind is Kind.EPISODE and told else 1
        return vector_ask(kind, unit, self._scopes(groups, at), limit, match, way(held, filtered=self._filtered), pieces)

    def vector_way(self, kind: Kind, groups: Sequence[str]) -> VectorWay:
        held = sum(state.vectors[kind] for state in self._known(groups).values())
        return _WAYS[way(held, filtered=self._filtered)]

    # -- filters

    def joined(self, groups: Sequence[str], at: AsOf, facts: Sequence[str], match: SearchFilter) -> set[str]:
        scopes = self._scopes(groups, at)
        if not scopes or not facts:
            return set()
        asked = joined_ask(match)
        found = self._by_id("facts_joined", joined_where(groups, at, match), facts, itemgetter(0), scopes=scopes, **asked)
        return {raw_text(uuid) for (uuid,) in found}

    def similarities(self, kind: Kind, vector: Vectors, owners: Sequence[str]) -> dict[str, float]:
        unit = unit_of(vector)
        if unit is None or not owners:
            return {}
        found = {f.id: f.score for f in _nearest([(owner, 0, halves) for owner, halves in self._pieces(kind, owners)], unit)}
        return {o: found[o] for o in owners if o in found}

    def vectors(self, kind: Kind, owners: Sequence[str]) -> dict[str, Vectors]:
        if not owners:
            return {}
        pieces: dict[str, list[str]] = {}
        for owner, halves in self._pieces(kind, owners):
            pieces.setdefault(raw_text(owner), []).append(halves)
        return {o: np.stack([_halves(h) for h in pieces[o]]) for o in owners if o in pieces}

    def _pieces(self, kind: Kind, owners: Sequence[str]) -> Sequence[Sequence[Any]]:
        """The stored vectors of these, each with its owner."""
        return cast(Sequence[Sequence[Any]], self._by_id(f"vectors_{kind.value}", (), owners, itemgetter(0)))

    def vector_owners(self, group: str, *, staged: bool) -> list[tuple[Kind, str]]:
        found = self.run.rows("vector_owners", group=safe_text(group), staged=staged)
        return sorted((Kind(row["kind"]), raw_text(row["owner"])) for row in found)

    # -- expansion

    def neighbours(
        self,
        seeds: Sequence[str],
        groups: Sequence[str],
        at: AsOf,
        *,
        hops: int,
        limit: int | None = None,
        match: FactMatch | None = None,
    ) -> list[Hop]:
        if not groups:
            return []
        found = {s: Hop(s, 0, None, None) for s in seeds}
        scopes, most = self._scopes(groups, at), ALL if limit is None else limit
        start = {"frontier": ids(list(found)) or [], "known": ids(list(found)) or []}
        done = 0
        while done < hops and start["frontier"] and len(found) < most:
            reached = self._hops(scopes, start, min(hops - done, HOPS_AT_ONCE), most, match)
            for row in reached:
                done += 1
                for entity, fact, previous in row["found"]:
                    found[raw_text(entity)] = Hop(raw_text(entity), done, raw_text(fact), raw_text(previous))
            start = {"frontier": reached[-1]["frontier"], "known": reached[-1]["known"]}
        return list(found.values())[:limit]

    def _hops(self, scopes: Any, start: dict[str, Any], hops: int, limit: int, match: FactMatch | None) -> list[Row]:
        """A row a hop, each going on from the one before, in one round trip."""
        asks = [reach_ask(scopes, start, limit, match)]
        for before in range(hops - 1):
            asks.append(reach_ask(scopes, {name: Part(((before, name),)) for name in ("frontier", "known")}, limit, match))
        return [row for (row,) in self.run.together(asks)]


_WAYS = {"scan": VectorWay.COMPARED, "near": VectorWay.FILTERED, "fetched": VectorWay.FETCHED}


def reach_ask(scopes: Any, start: Mapping[str, Any], limit: int, match: FactMatch | None) -> Ask:
    """One hop from a frontier, where so many entities are known."""
    return Ask("reach", {"scopes": scopes, "limit": limit, "type": VALUE_TYPE, **fact_match(match), **start})


def way(held: int, *, filtered: bool) -> str:
    """How groups with so many vectors are searched: "scan", or by the index, "near" where it filters, else "fetched"."""
    if held <= (_SCANNED_BESIDE_FILTER if filtered else _SCANNED):
        return "scan"
    return "near" if filtered else "fetched"


def text_ask(
    kind: Kind, terms: Sequence[str], scopes: list[dict[str, Any]], limit: int, match: SearchFilter | None = None
) -> tuple[str, dict[str, Any]]:
    """The statement that a search by words runs first, and its parameters."""
    wanted = list(dict.fromkeys(terms))
    tokens = sorted({token(t) for t in wanted})
    return f"text_{kind.value}", {
        "scopes": scopes,
        "query": query(wanted),
        "tokens": tokens,
        "limit": limit,
        "most": _MOST_WORDS,
        **_filters(kind, match),
        **({"heard": 0, "most_heard": 0} if kind is Kind.EPISODE else {}),
    }


def vector_ask(
    kind: Kind, unit: Vectors, scopes: list[dict[str, Any]], limit: int, match: SearchFilter | None, way: str, pieces: int = 1
) -> tuple[str, dict[str, Any]]:
    """The statement that a search by a vector of length 1 runs when it goes this way, and its parameters.

    `pieces` is how many vectors an owner has, about.
    """
    asked, filters = {"scopes": scopes, "vector": unit.tolist()}, _filters(kind, match)
    depth = max(vector_depth(limit, way), pieces * limit)
    narrowed = filters != _filters(kind, None)
    if way == "scan" or (way == "near" and (kind is Kind.COMMUNITY or (kind is Kind.FACT and not narrowed))):
        return f"{way}_{kind.value}", {**asked, "limit": depth, **(filters if way == "scan" or kind is Kind.COMMUNITY else {})}
    name = f"{way}_{kind.value}_narrowed" if way == "near" and kind is Kind.FACT else f"{way}_{kind.value}"
    return name, {
        **asked,
        "limit": _NARROWED * depth if narrowed else depth,
        "enough": limit + _ENOUGH_MORE,
        "most": depth,
        **filters,
        **({"relation_indexes": _relation_indexes(match)} if kind is Kind.FACT else {}),
    }


def vector_depth(limit: int, way: str) -> int:
    """How many pieces of owners that have one each a search by a vector asks for."""
    return 2 * limit + _SCAN_DEPTH if way == "scan" else limit + _VECTOR_DEPTH


def joined_ask(match: SearchFilter) -> dict[str, Any]:
    """What the statement asks that says which facts cite and join what is asked for."""
    return {name: _filters(Kind.FACT, match)[name] for name in ("ends", "cited")}


def joined_where(groups: Sequence[str], at: AsOf, match: SearchFilter) -> Hashable:
    """What tells its answers apart."""
    return tuple(groups), at, match.ends, match.cited


def _relation_indexes(match: SearchFilter | None) -> list[str] | None:
    relations = None if match is None or match.facts is None else match.facts.relations
    return None if relations is None else [index_key(r) for r in relations]


def _filters(kind: Kind, match: SearchFilter | None) -> dict[str, Any]:
    match = match or SearchFilter()
    pairs = {"pairs": _pairs(match.attributes)}
    if kind is Kind.COMMUNITY:
        return pairs
    if kind is Kind.FACT:
        cited = None if match.cited is None else episode_match(match.cited)
        return {**fact_match(match.facts), **pairs, "ends": ids(match.ends), "cited": cited}
    return {**(entity_match(match.entities) if kind is Kind.ENTITY else episode_match(match.episodes)), **pairs}


def _pairs(attributes: Mapping[str, object]) -> list[str] | None:
    """What stands in the stored text of everything that has these values: of a text its pair, of others at least the name."""
    named = [(encode(name), value) for name, value in attributes.items()]
    return [f"{name}:{encode(value) if type(value) is str else ''}" for name, value in named] or None


def _having(hits: Sequence[Sequence[Any]], match: SearchFilter | None) -> Sequence[Sequence[Any]]:
    """Of rows whose last column are attributes, if some are asked for, those that have them."""
    if match is None or not match.attributes:
        return hits
    return [hit for hit in hits if hit[-1] is not None and has_attributes(decode_mapping(hit[-1]), match.attributes)]


def _scored(tokens: Sequence[str], row: Row, hits: Sequence[Sequence[Any]]) -> list[Found]:
    """What the word index found, with its exact scores."""
    count, containing = row["rows"], dict(row["found"])
    rarities = {t: bm25.rarity(count, containing.get(t, 0)) for t in tokens}
    mean = row["total"] / count if count else 0.0
    found = {}
    for item, text, *_ in hits:
        words = text.split()
        often = ((rarity, float(words.count(t))) for t, rarity in rarities.items())
        score = sum(rarity * bm25.weight(n, float(len(words)), mean) for rarity, n in often if n)
        found[item] = Found(raw_text(item), score)
    return sorted(found.values(), key=lambda f: (-f.score, f.id))


def unit_of(vector: Vectors) -> Vectors | None:
    """The vector as one row of length 1; None for that of an empty text."""
    given = np.asarray(vector, dtype=np.float32).reshape(-1)
    length = np.float32(np.linalg.norm(given))
    return given / length if length else None


def _halves(stored: str) -> Vectors:
    return np.frombuffer(unpacked(stored), dtype=np.float16).astype(np.float32)


def _nearest(pieces: Sequence[Sequence[Any]], unit: Vectors) -> list[Found]:
    """Owners by the exact cosine of their best piece."""
    best: dict[str, tuple[float, int]] = {}
    read = [(owner, piece, unpacked(halves)) for owner, piece, halves, *_ in pieces]
    fitting = [(owner, piece, halves) for owner, piece, halves in read if len(halves) == 2 * len(unit)]
    if not fitting:
        return []
    matrix = np.frombuffer(b"".join(halves for _, _, halves in fitting), dtype=np.float16).reshape(len(fitting), -1)
    scores = matrix.astype(np.float32) @ unit
    for (named, piece, _), score in zip(fitting, scores.tolist(), strict=True):
        owner = raw_text(named)
        if owner not in best or (score, -piece) > (best[owner][0], -best[owner][1]):
            best[owner] = (score, piece)
    return sorted((Found(o, score, piece) for o, (score, piece) in best.items()), key=lambda f: (-f.score, f.id))
