"""The legs of a search: each offers candidates of one kind in its own order, or abstains and says why."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache

from graphmem.embed.base import Vectors
from graphmem.interval import FIRST
from graphmem.model import VALUE_TYPE, AsOf, EntityMatch, EntityVersion, EpisodeMatch, FactVersion
from graphmem.names import key
from graphmem.search.expand import Expansion, episodes_of, expand, page_rank
from graphmem.search.hits import Reason
from graphmem.search.question import Question
from graphmem.search.words import STOP_WORDS, UNSPACED, words
from graphmem.stores.base import Claim, Found, Kind, Reader, SearchFilter

# How many candidates a leg offers, at least: episodes are ranked once more by their features, which lifts some from far below.
POOLS = {Kind.FACT: 40, Kind.ENTITY: 24, Kind.EPISODE: 64, Kind.COMMUNITY: 24}
TIME_POOL = 40
TOLD = TIME_POOL + 1
GRAPH_POOL = 30
REACHED = 100
_MENTIONED = 40
MENTIONS_READ = 80
SEED_COSINE = 0.5
SEEDS_BY_MEANING = 3
_NAME_WORDS = 5
_NAMES_TRIED = 600
_WORD = re.compile(rf"[{UNSPACED}]+|[^\s{UNSPACED}]+")
_POSSESSIVE = re.compile(r"['’]s?$")
_EDGES = "\"'“”‘’«»„`´.,;:!?()[]{}<>…"


@dataclass(frozen=True, slots=True)
class Leg:
    """What one leg found, best first; or why it abstained. `paths` are entity ids on the way to an item, by item."""

    name: str
    found: tuple[Found, ...] = ()
    abstained: str = ""
    paths: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def ids(self) -> list[str]:
        return [f.id for f in self.found]


def reasons(legs: Sequence[Leg], ids: Collection[str]) -> dict[str, tuple[Reason, ...]]:
    """For each of `ids`, its rank and score in every leg that found it; paths are still entity ids."""
    wanted = set(ids)
    why: dict[str, list[Reason]] = {i: [] for i in ids}
    for leg in legs:
        for rank, found in enumerate(leg.found, 1):
            if found.id in wanted:
                why[found.id].append(Reason(leg.name, rank, found.score, leg.paths.get(found.id, ())))
    return {i: tuple(found) for i, found in why.items()}


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a search looks: one reader, the groups, the point in time, and what passes the filters."""

    reader: Reader
    groups: tuple[str, ...]
    at: AsOf
    match: SearchFilter = field(default_factory=SearchFilter)

    @property
    def any_valid_time(self) -> AsOf:
        """The same belief, facts of every valid time."""
        return replace(self.at, valid=None)


def text_leg(scope: Scope, kind: Kind, terms: Sequence[str], limit: int) -> Leg:
    """BM25 over the words."""
    if not terms:
        return Leg("text", abstained="no word of the question is worth searching for")
    return Leg("text", tuple(scope.reader.text_search(kind, terms, scope.groups, scope.at, limit, scope.match)))


def vector_leg(scope: Scope, kind: Kind, vector: Vectors, limit: int) -> Leg:
    """Nearest by cosine; of an episode the best piece counts."""
    return Leg("vector", tuple(scope.reader.vector_search(kind, vector, scope.groups, scope.at, limit, scope.match)))


@dataclass(frozen=True, slots=True)
class Told:
    """What was told in a stretch of time that the question names; if it is `many`, only the first of it."""

    match: EpisodeMatch
    episodes: Sequence[str]

    @property
    def many(self) -> bool:
        return len(self.episodes) >= TOLD


def windows_of(scope: Scope, question: Question) -> list[EpisodeMatch]:
    """The stretches of time that the question names, within the filters."""
    asked = scope.match.episodes or EpisodeMatch()
    within = [window if asked.reference is None else window.intersect(asked.reference) for window in question.windows]
    return [replace(asked, reference=window) for window in within if window is not None]


def told_in(scope: Scope, windows: Sequence[EpisodeMatch]) -> list[Told]:
    """What was told in each."""
    return [
        Told(match, [e.id for e in scope.reader.episodes(scope.groups, scope.at, match, limit=TOLD, bodies=False)]) for match in windows
    ]


def time_episodes(scope: Scope, vector: Vectors, question: Question, told: Sequence[Told]) -> Leg:
    """What was said in a stretch of time that the question names: all of it if that is little, else the nearest by cosine."""
    if not question.windows:
        return Leg("time", abstained=_NO_TIME)
    best: dict[str, Found] = {}
    for said in told:
        if said.many:
            narrowed = replace(scope.match, episodes=said.match)
            found = scope.reader.vector_search(Kind.EPISODE, vector, scope.groups, scope.at, TIME_POOL, narrowed)
            best.update((f.id, f) for f in found if f.id not in best or f.score > best[f.id].score)
        else:
            best.update((i, Found(i, 0.0)) for i in said.episodes if i not in best)
    return Leg("time", tuple(sorted(best.values(), key=lambda f: (-f.score, f.id))), "" if best else "nothing was said at that time")


def time_facts(question: Question, near: Leg, facts: Mapping[str, Claim | FactVersion]) -> Leg:
    """Of the facts near in meaning, those that begin or end in a stretch of time that the question names."""
    if not question.windows:
        return Leg("time", abstained=_NO_TIME)
    found = tuple(f for f in near.found if f.id in facts and any(b in w for b in _bounds(facts[f.id]) for w in question.windows))
    return Leg("time", found, "" if found else "no fact near the question begins or ends at that time")


def _bounds(fact: Claim | FactVersion) -> list[datetime]:
    return [bound for bound in (fact.valid.start, fact.valid.end) if bound is not None]


# --------------------------------------------------------------------------------------------------------- graph


@dataclass(frozen=True, slots=True)
class Seeds:
    """Entities a question starts from, and how they were found: by name or, where none is named, by meaning."""

    entities: tuple[EntityVersion, ...] = ()
    how: str = ""


def named_entities(scope: Scope, text: str) -> list[EntityVersion]:
    """Entities whose name or alias stands in `text`, in order of appearance; of overlapping names the longest counts."""
    places = possible_names(text)
    if not places:
        return []
    found = scope.reader.entities(scope.groups, scope.at, EntityMatch(names=tuple(places)))
    versions = [e for e in found if e.type != VALUE_TYPE]
    spans = [(place, e) for e in versions for name in {key(n) for n in (e.name, *e.aliases)} for place in places.get(name, ())]
    taken: list[tuple[int, int]] = []
    kept: dict[str, tuple[int, EntityVersion]] = {}
    for (start, end), entity in sorted(spans, key=lambda pair: (pair[0][0] - pair[0][1], pair[0][0], pair[1].id)):
        if any(a <= start and end <= b and (a, b) != (start, end) for a, b in taken):
            continue
        taken.append((start, end))
        if entity.id not in kept or start < kept[entity.id][0]:
            kept[entity.id] = (start, entity)
    return [entity for _, entity in sorted(kept.values(), key=lambda pair: (pair[0], pair[1].id))]


@lru_cache(maxsize=8)
def possible_names(text: str) -> dict[str, list[tuple[int, int]]]:
    """Keys of all stretches of a few words (or characters, in scripts without spaces) that could be a name, with places."""
    places: dict[str, list[tuple[int, int]]] = {}
    for name, start, end in _stretches(text):
        if len(places) >= _NAMES_TRIED:
            break
        shown = key(name)
        if shown and name not in STOP_WORDS:
            places.setdefault(shown, []).append((start, end))
    return places


def _stretches(text: str) -> Iterator[tuple[str, int, int]]:
    tokens = [(m[0], m.start(), m.end()) for m in _WORD.finditer(text)]
    for first, (token, start, end) in enumerate(tokens):
        if re.match(f"[{UNSPACED}]", token):
            for length in range(2, 9):
                for place in range(len(token) - length + 1):
                    yield token[place : place + length], start + place, start + place + length
        for last in range(first, min(first + _NAME_WORDS, len(tokens))):
            end = tokens[last][2]
            name = text[start:end].strip(_EDGES)
            yield name, start, end
            bare = _POSSESSIVE.sub("", name)
            if bare != name:
                yield bare, start, end


def seeds(scope: Scope, named: Sequence[EntityVersion], vector: Vectors) -> Seeds:
    """The entities a question names; where it names none, those whose name is close in meaning."""
    if named:
        return Seeds(tuple(named), "name")
    near = scope.reader.vector_search(Kind.ENTITY, vector, scope.groups, scope.at, SEEDS_BY_MEANING)
    ids = tuple(f.id for f in near if f.score >= SEED_COSINE)
    found = scope.reader.entities(scope.groups, scope.at, EntityMatch(ids=ids)) if ids else []
    return Seeds(tuple(e for e in found if e.type != VALUE_TYPE), "meaning" if found else "")


@dataclass(frozen=True, slots=True)
class Reach:
    """The expansion from the seeds and the mass of each entity reached: by nearness, or by personalised PageRank."""

    expansion: Expansion
    mass: dict[str, float]

    @classmethod
    def of(cls, scope: Scope, start: Seeds, depth: int, *, pagerank: bool) -> Reach:
        """Crosses facts that hold at the point read and have one of the relations asked for."""
        expansion = expand(scope.reader, [e.id for e in start.entities], scope.groups, scope.at, depth, REACHED, scope.match.facts)
        mass = page_rank(scope.reader, expansion, scope.groups, scope.at) if pagerank else expansion.nearness()
        return cls(expansion, mass)

    @property
    def heaviest(self) -> dict[str, float]:
        """The entities whose mentions count."""
        return dict(sorted(self.mass.items(), key=lambda pair: -pair[1])[:_MENTIONED])


_NO_TIME = "the question names no time"
_NO_SEED = "the question names no known entity, and none is close in meaning"


def graph_episodes(scope: Scope, reach: Reach) -> Leg:
    """Episodes that mention the entities reached, by their mass."""
    if not reach.expansion.hops:
        return Leg("graph", abstained=_NO_SEED)
    rows = episodes_of(scope.reader, reach.heaviest, scope.groups, scope.at, limit=MENTIONS_READ)[:GRAPH_POOL]
    return Leg("graph", tuple(Found(i, s) for i, s, _ in rows), paths={i: reach.expansion.path(through) for i, _, through in rows})


def graph_facts(reach: Reach, question: Question, facts: Mapping[str, Claim | FactVersion]) -> Leg:
    """Of `facts`, those that touch an entity within reach: by the mass of the nearer end times the share of the question's words
    in the sentence and the relation, newest first. Meaning has no say here: it has a leg of its own.
    """
    if not reach.expansion.hops:
        return Leg("graph", abstained=_NO_SEED)
    asked, top = set(question.terms), max(reach.mass.values())
    found: list[tuple[float, datetime, Found]] = []
    paths = {}
    for i, fact in facts.items():
        nearer = max((fact.source, fact.target), key=lambda end: (reach.mass.get(end, 0.0), end))
        if nearer not in reach.mass:
            continue
        shared = asked.intersection(words(f"{fact.text} {fact.relation.replace('_', ' ').lower()}"))
        mass = reach.mass[nearer] / top * len(shared) / max(len(asked), 1)
        found.append((mass, fact.valid.start or FIRST, Found(i, mass)))
        paths[i] = (*reach.expansion.path(nearer), fact.target if nearer == fact.source else fact.source)
    ordered = sorted(sorted(found, key=lambda row: row[2].id), key=lambda row: row[:2], reverse=True)
    return Leg("graph", tuple(f for _, _, f in ordered), "" if found else "no fact touches the entities named", paths)


def graph_entities(reach: Reach) -> Leg:
    """Entities reached, by their mass."""
    if not reach.expansion.hops:
        return Leg("graph", abstained=_NO_SEED)
    rows = sorted(reach.mass.items(), key=lambda pair: (-pair[1], pair[0]))
    return Leg("graph", tuple(Found(i, s) for i, s in rows), paths={i: reach.expansion.path(i) for i, _ in rows})
