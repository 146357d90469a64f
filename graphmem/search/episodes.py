"""Ranking episodes: the legs' candidates and their neighbours in the session, read in batches, under one linear score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from graphmem.embed.base import Vectors
from graphmem.model import Episode
from graphmem.search.features import FEATURES, Candidates, Column, Statistics, counted, features, in_pairs, scaled
from graphmem.search.fuse import fuse
from graphmem.search.gate import Gate
from graphmem.search.hits import Hit
from graphmem.search.legs import Leg, Scope, reasons
from graphmem.search.question import Question
from graphmem.search.rank import score, trained_weights
from graphmem.stores.base import Kind, Lean, Turn

CANDIDATES = 100
_WITH_NEIGHBOURS = 30


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the vector of its bare text; by episode, the best cosine of the facts that cite it and its mass in the graph."""

    question: Question
    bare: Vectors
    facts: Mapping[str, float]
    graph: Mapping[str, float]


def rank_episodes(
    scope: Scope, gate: Gate, asked: Asked, legs: Sequence[Leg], known: Mapping[str, Turn | Episode], limit: int
) -> list[Hit]:
    """The best `limit` episodes among the best of what the legs found and the turns around the very best of it; ties by id.

    `known` are those already read, which passed the gate.
    """
    cosines = scope.reader.similarities(Kind.EPISODE, asked.bare, list(dict.fromkeys(i for leg in legs for i in leg.ids)))
    ids = _likeliest(legs, cosines, asked, max(CANDIDATES, 2 * limit))
    around = scope.reader.around(scope.groups, scope.at, ids) if ids else {}
    ids = list(dict.fromkeys([*ids, *(n for i in closest(legs) for n in around.get(i, ()) if n is not None)]))
    read = {**known, **gate.turns([i for i in ids if i not in known])}
    turns = [read[i] for i in ids if i in read]
    if not turns:
        return []
    table = _table(scope, turns, around, asked, cosines)
    statistics = Statistics(*scope.reader.word_statistics(Kind.EPISODE, asked_terms(asked.question)))
    matrix = features(table, asked.question, statistics)
    scores = score(matrix)
    ranked = zip((-scores).tolist(), (turn.id for turn in turns), range(len(turns)), strict=True)
    best = {i: (-score, dict(zip(FEATURES, matrix[row].tolist(), strict=True))) for score, i, row in sorted(ranked)[:limit]}
    why = reasons(legs, best)
    return [
        Hit(Kind.EPISODE, episode, best[episode.id][0], rank, why[episode.id], (episode.id,), best[episode.id][1])
        for rank, episode in enumerate(gate.episodes(list(best)), 1)
    ]


def closest(legs: Sequence[Leg]) -> list[str]:
    """The episodes nearest by words and meaning, whose neighbours are candidates too."""
    return [i for i, _ in fuse({leg.name: leg.ids for leg in legs if leg.name in ("text", "vector")})[:_WITH_NEIGHBOURS]]


def asked_terms(question: Question) -> tuple[str, ...]:
    """The terms whose statistics count."""
    return tuple(sorted({*question.terms, *question.bare_terms}))


def _likeliest(legs: Sequence[Leg], cosines: Mapping[str, float], asked: Asked, limit: int) -> list[str]:
    """Of all that the legs found, the best by what is known before anything is read: words, meaning, time, facts, graph."""
    ids = list(dict.fromkeys(i for leg in legs for i in leg.ids))
    if len(ids) <= limit:
        return ids
    by_leg = {leg.name: {f.id: f.score for f in leg.found} for leg in legs}
    text, time = by_leg.get("text", {}), by_leg.get("time", {})
    unknown = min(text.values(), default=0.0) / 2
    known = {
        "words": scaled(np.array([text.get(i, unknown) for i in ids])),
        "meaning": scaled(np.array([cosines.get(i, -1.0) for i in ids])),
        "time": np.array([(i in time) / 2 for i in ids]),
        "facts": scaled(np.array([max(asked.facts.get(i, 0.0), 0.0) for i in ids])),
        "graph": np.sqrt(scaled(np.array([asked.graph.get(i, 0.0) for i in ids]))),
    }
    weights = trained_weights()
    likely = np.sum([weights[name] * column for name, column in known.items()], axis=0)
    return [ids[row] for row in np.argsort(-likely, kind="stable")[:limit]]


def _table(
    scope: Scope,
    turns: Sequence[Turn | Episode],
    around: Mapping[str, tuple[str | None, str | None]],
    asked: Asked,
    cosines: Mapping[str, float],
) -> Candidates:
    """The candidates with what their features need; `cosines` are those known already."""
    ids = [turn.id for turn in turns]
    place = {i: row for row, i in enumerate(ids)}
    before, after = np.full(len(ids), -1), np.full(len(ids), -1)
    for episode, (previous, following) in around.items():
        for first, second in ((previous, episode), (episode, following)):
            if first is not None and second is not None and first in place and second in place:
                after[place[first]], before[place[second]] = place[second], place[first]
    lengths, counts, texts = _words(scope, asked.question, ids)
    cosines = {**cosines, **scope.reader.similarities(Kind.EPISODE, asked.bare, [i for i in ids if i not in cosines])}
    return Candidates(
        turns=turns,
        lengths=lengths,
        counts=counts,
        words=[texts.get(i, "") for i in ids],
        cosines=np.array([cosines.get(i, -1.0) for i in ids]),
        before=before,
        after=after,
        facts=np.array([asked.facts.get(i, 0.0) for i in ids]),
        graph=np.array([asked.graph.get(i, 0.0) for i in ids]),
        types=_types(scope, ids) if asked.question.answer_types else [frozenset()] * len(ids),
    )


def _words(scope: Scope, question: Question, ids: Sequence[str]) -> tuple[Column, Column, Mapping[str, str]]:
    """How many words each has and how often the question's; the words of those that may have a pair in common with it."""
    reader, terms = scope.reader, question.every_term
    if not isinstance(reader, Lean):
        texts = reader.words(Kind.EPISODE, ids)
        return *counted([texts.get(i, "") for i in ids], terms), texts
    lengths, counts = reader.word_counts(Kind.EPISODE, ids, terms)
    return lengths, counts, reader.words(Kind.EPISODE, [ids[row] for row in in_pairs(counts, question)])


def _types(scope: Scope, ids: Sequence[str]) -> list[frozenset[str]]:
    """The entity types that each episode mentions, lower case; its speakers do not count."""
    types: dict[str, set[str]] = {i: set() for i in ids}
    for version in scope.reader.mentions(scope.groups, scope.at, episodes=ids):
        if version.mention.span is not None:
            types[version.mention.episode].add(version.mention.type.lower())
    return [frozenset(types[i]) for i in ids]
