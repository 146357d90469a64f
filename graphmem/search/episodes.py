"""Ranking episodes: the legs' candidates and their neighbours in the session, read in batches, under one linear score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from graphmem.embed.base import Vectors
from graphmem.model import Episode
from graphmem.search.features import FEATURES, Candidates, Statistics, features
from graphmem.search.fuse import fuse
from graphmem.search.gate import Gate
from graphmem.search.hits import Hit
from graphmem.search.legs import Leg, Scope, reasons
from graphmem.search.question import Question
from graphmem.search.rank import score
from graphmem.stores.base import Kind

_WITH_NEIGHBOURS = 30


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the vector of its bare text; by episode, the best cosine of the facts that cite it and its mass in the graph."""

    question: Question
    bare: Vectors
    facts: Mapping[str, float]
    graph: Mapping[str, float]


def rank_episodes(scope: Scope, gate: Gate, asked: Asked, legs: Sequence[Leg], known: Mapping[str, Episode], limit: int) -> list[Hit]:
    """The best `limit` episodes among what the legs found and the turns around the best of it; ties by id.

    `known` are episodes already read, which passed the gate.
    """
    ids = list(dict.fromkeys(i for leg in legs for i in leg.ids))
    around = scope.reader.around(scope.groups, scope.at, ids) if ids else {}
    best = [i for i, _ in fuse({leg.name: leg.ids for leg in legs if leg.name in ("text", "vector")})[:_WITH_NEIGHBOURS]]
    ids = list(dict.fromkeys([*ids, *(n for i in best for n in around.get(i, ()) if n is not None)]))
    read = {e.id: e for e in gate.episodes([i for i in ids if i not in known])}
    episodes = [known.get(i) or read[i] for i in ids if i in known or i in read]
    if not episodes:
        return []
    table = _table(scope, episodes, around, asked)
    statistics = Statistics(*scope.reader.word_statistics(Kind.EPISODE, sorted({*asked.question.terms, *asked.question.bare_terms})))
    matrix = features(table, asked.question, asked.bare, statistics)
    scores = score(matrix)
    order = sorted(range(len(episodes)), key=lambda row: (-scores[row], episodes[row].id))[:limit]
    why = reasons(legs, [episodes[row].id for row in order])
    return [
        Hit(
            Kind.EPISODE,
            episodes[row],
            float(scores[row]),
            rank,
            why[episodes[row].id],
            (episodes[row].id,),
            dict(zip(FEATURES, matrix[row].tolist(), strict=True)),
        )
        for rank, row in enumerate(order, 1)
    ]


def _table(scope: Scope, episodes: Sequence[Episode], around: Mapping[str, tuple[str | None, str | None]], asked: Asked) -> Candidates:
    ids = [e.id for e in episodes]
    place = {i: row for row, i in enumerate(ids)}
    before, after = np.full(len(ids), -1), np.full(len(ids), -1)
    for episode, (previous, following) in around.items():
        for first, second in ((previous, episode), (episode, following)):
            if first is not None and second is not None and first in place and second in place:
                after[place[first]], before[place[second]] = place[second], place[first]
    texts = scope.reader.words(Kind.EPISODE, ids)
    pieces = scope.reader.vectors(Kind.EPISODE, ids)
    kept = [(row, pieces[i]) for row, i in enumerate(ids) if i in pieces]
    return Candidates(
        episodes=episodes,
        words=[texts.get(i, "") for i in ids],
        vectors=np.concatenate([v for _, v in kept]) if kept else np.zeros((0, len(asked.bare)), dtype=np.float32),
        owner=np.repeat(np.array([row for row, _ in kept], dtype=np.int64), [len(v) for _, v in kept]),
        before=before,
        after=after,
        facts=np.array([asked.facts.get(i, 0.0) for i in ids]),
        graph=np.array([asked.graph.get(i, 0.0) for i in ids]),
        types=_types(scope, ids) if asked.question.answer_types else [frozenset()] * len(ids),
    )


def _types(scope: Scope, ids: Sequence[str]) -> list[frozenset[str]]:
    """The entity types that each episode mentions, lower case; its speakers do not count."""
    types: dict[str, set[str]] = {i: set() for i in ids}
    for version in scope.reader.mentions(scope.groups, scope.at, episodes=ids):
        if version.mention.span is not None:
            types[version.mention.episode].add(version.mention.type.lower())
    return [frozenset(types[i]) for i in ids]
