"""Reciprocal rank fusion: one order out of several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

K = 60


def fuse(rankings: Mapping[str, Sequence[str]], weights: Mapping[str, float] | None = None, k: int = K) -> list[tuple[str, float]]:
    """Ids by the sum of `weight / (k + rank)` over the rankings that hold them, best first; ties by id.

    An id that a ranking repeats counts there once, at its best rank.

    >>> [id for id, _ in fuse({"text": ["a", "b"], "vector": ["b", "c"]})]
    ['b', 'a', 'c']
    """
    scores: dict[str, float] = {}
    for leg, ranking in rankings.items():
        weight = 1.0 if weights is None else weights.get(leg, 1.0)
        for rank, item in enumerate(dict.fromkeys(ranking), 1):
            scores[item] = scores.get(item, 0.0) + weight / (k + rank)
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
