"""Maximal marginal relevance: what answers the question, and is not said by the hits above it already."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphmem.embed.base import Vectors
from graphmem.errors import InvalidInput
from graphmem.rerank.asked import Asked
from graphmem.search.hits import Hit


class MMR:
    """Ranks by relevance to the question less likeness to the better hits, both as cosines of the stored vectors.

    `lambda_` weighs the two: 1 is relevance alone, 0 is difference alone. Hits are taken one by one, each time the one
    with the highest `lambda_ * relevance - (1 - lambda_) * likeness`, where likeness is the cosine with the nearest hit
    taken before; likeness below 0 counts as 0. Of a hit with several pieces the nearest one counts. A hit without a
    stored vector has relevance 0 and is like nothing.

    Jaime Carbonell and Jade Goldstein: The use of MMR, diversity-based reranking for reordering documents and producing
    summaries. SIGIR 1998, pages 335-336. https://doi.org/10.1145/290941.291025

    >>> MMR()
    MMR(lambda_=0.7)
    """

    name = "mmr"

    def __init__(self, lambda_: float = 0.7) -> None:
        if isinstance(lambda_, bool) or not isinstance(lambda_, (int, float)) or not 0 <= lambda_ <= 1:
            raise InvalidInput("lambda_", lambda_, "must be a number from 0 to 1")
        self.lambda_ = float(lambda_)

    def __repr__(self) -> str:
        return f"MMR(lambda_={self.lambda_:g})"

    def scores(self, asked: Asked, hits: Sequence[Hit]) -> list[float]:
        """The value each hit had when it was taken: since likeness only grows, later ones never have a higher one."""
        relevance, likeness = _cosines(asked.vector, asked.vectors(hits))
        nearest = np.zeros(len(hits))
        values = np.zeros(len(hits))
        left = np.ones(len(hits), dtype=np.bool_)
        for _ in hits:
            worth = np.where(left, self.lambda_ * relevance - (1 - self.lambda_) * nearest, -np.inf)
            taken = int(np.argmax(worth))
            values[taken] = worth[taken]
            left[taken] = False
            nearest = np.maximum(nearest, likeness[taken])
        return [float(v) for v in values]


def _cosines(query: Vectors, vectors: Sequence[Vectors]) -> tuple[np.ndarray, np.ndarray]:
    """Of each hit with the question, and of each with each: the best over their pieces."""
    nothing = np.zeros((1, query.size), dtype=np.float32)
    pieces = [_unit(rows) if len(rows) else nothing for rows in vectors]
    starts = np.cumsum([0, *map(len, pieces[:-1])])
    rows = np.concatenate(pieces).astype(np.float64)
    relevance = np.maximum.reduceat(rows @ query.astype(np.float64), starts)
    between = np.maximum.reduceat(np.maximum.reduceat(rows @ rows.T, starts, axis=0), starts, axis=1)
    return relevance, between


def _unit(rows: Vectors) -> Vectors:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths == 0, 1, lengths), dtype=np.float32)
