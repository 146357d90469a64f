"""What a reranker is to graphmem: hits in, scores out; and what becomes of the hits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, runtime_checkable

import numpy as np

from graphmem.errors import AnswerUnusable, ModelError
from graphmem.model import Warn
from graphmem.rerank.asked import Asked
from graphmem.search.hits import Hit, Reason, SearchResult

CHARACTERS = 8_000
"""How much of a text a model that ranks gets to read."""
POOL = 50
"""How many hits are ranked again, at least: what belongs in front may come from far behind."""


@runtime_checkable
class Reranker(Protocol):
    """Gives hits another order. `name` stands in the reasons of the hits and in warnings."""

    name: str

    def scores(self, asked: Asked, hits: Sequence[Hit]) -> Sequence[float]:
        """A score for each hit, in their order; higher is better. Equal scores keep the order that the hits come in.

        `hits` come best first; each has `kind`, `id`, `text`, `score` and `citations`. Raise `ModelError` for what
        cannot be helped: the search then keeps its order and says so in a warning.
        """
        ...


def reranked(result: SearchResult, rerankers: Sequence[Reranker], asked: Asked, limit: int) -> SearchResult:
    """The result in the order of the rerankers, one after another, then cut to `limit`.

    A hit's score is that of the last reranker. Its reasons gain "search" with its rank and score before, and one by the
    name of each reranker with its rank and score after it. A reranker that fails changes nothing and leaves a warning.
    """
    hits, warnings = list(result.hits), list(result.warnings)
    before = {id(hit.item): Reason("search", rank, hit.score) for rank, hit in enumerate(hits, 1)}
    done = 0
    for reranker in rerankers if hits else ():
        try:
            hits = _in_order(reranker.name, hits, checked(reranker.name, reranker.scores(asked, hits), len(hits)))
            done += 1
        except ModelError as error:
            warnings.append(Warn("rerank_failed", reranker.name, f"{error}; the order before it is kept"))
    if done:
        hits = [_explained(hit, before[id(hit.item)], done) for hit in hits]
    return replace(result, hits=tuple(_places(hits[:limit])), warnings=tuple(warnings))


def checked(name: str, scores: object, count: int) -> list[float]:
    """The scores as numbers, one a hit; raises `AnswerUnusable` if they are not that, or not finite."""
    try:
        numbers = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise AnswerUnusable(f"the reranker {name!r} gave scores that are not numbers") from error
    if numbers.shape != (count,):
        raise AnswerUnusable(f"the reranker {name!r} gave scores of shape {numbers.shape} for {count} hits")
    if not np.isfinite(numbers).all():
        raise AnswerUnusable(f"the reranker {name!r} gave scores that are not finite")
    return [float(n) for n in numbers]


def readable(text: str) -> str:
    """The beginning, without lone surrogates, which have no UTF-8 form and which no server accepts."""
    return text[:CHARACTERS].encode("utf-8", "replace").decode("utf-8")


def _in_order(name: str, hits: Sequence[Hit], scores: Sequence[float]) -> list[Hit]:
    # Equal scores keep their order, which is by score and id from the search on: the same question gives the same list.
    order = sorted(range(len(hits)), key=lambda place: -scores[place])
    return [
        replace(hits[place], score=scores[place], reasons=(*hits[place].reasons, Reason(name, rank, scores[place])))
        for rank, place in enumerate(order, 1)
    ]


def _explained(hit: Hit, before: Reason, done: int) -> Hit:
    """With the rank before, set ahead of the ranks after."""
    return replace(hit, reasons=(*hit.reasons[:-done], before, *hit.reasons[-done:]))


def _places(hits: Sequence[Hit]) -> list[Hit]:
    """With their places among the hits of their own kind."""
    seen: Counter[str] = Counter()
    placed = []
    for hit in hits:
        seen[hit.kind] += 1
        placed.append(replace(hit, rank=seen[hit.kind]))
    return placed
