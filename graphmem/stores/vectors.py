"""An exact vector index in memory: int8 rows with one scale each, scanned whole; the best are scored again by their exact copies.

Filters are applied before the best are taken, so they never cost recall.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmem.embed.base import Vectors
from graphmem.stores.columns import Array, Columns, top, top_passing

_BLOCK = 512
# Below this share of rows that pass, gathering them costs less than scanning all.
_GATHER_BELOW = 0.12

Bytes = NDArray[np.int8]
Mask = NDArray[np.bool_]
Kernel = Callable[[Bytes, Bytes], Vectors]


def quantised(vectors: Vectors) -> tuple[Bytes, Vectors]:
    """Rows as int8 and their scales: `rows * scales[:, None]` is close to `vectors`.

    >>> rows, scales = quantised(np.array([[0.5, -1.0]], dtype=np.float32))
    >>> rows.tolist(), round(float(scales[0]) * 127, 3)
    ([[64, -127]], 1.0)
    """
    scales = np.abs(vectors).max(axis=1, initial=0.0) / np.float32(127.0)
    scales[scales == 0] = 1.0
    return np.rint(vectors / scales[:, None]).astype(np.int8), scales.astype(np.float32)


def dot_blocks(query: Bytes, rows: Bytes) -> Vectors:
    """The dot product of `query` with every row, by numpy alone: widened block by block, which stays in the cache."""
    wide = query.astype(np.float32)
    out = np.empty(len(rows), np.float32)
    for start in range(0, len(rows), _BLOCK):
        np.dot(rows[start : start + _BLOCK].astype(np.float32), wide, out=out[start : start + _BLOCK])
    return out


@cache
def kernel() -> Kernel:
    """numkong's int8 dot product where it is installed and knows this processor, else numpy's."""
    try:
        import numkong
    except ImportError:
        return dot_blocks
    known = numkong.get_capabilities()
    if not any(able for name, able in known.items() if name != "serial"):
        return dot_blocks
    return dot_numkong


def dot_numkong(query: Bytes, rows: Bytes) -> Vectors:
    """The dot product of `query` with every row, by numkong."""
    import numkong

    if not len(rows):
        return np.empty(0, np.float32)
    products: Any = numkong.cdist(query[None, :], rows, "dot", out_dtype="float32")
    return np.asarray(products, dtype=np.float32).reshape(-1)


class VectorIndex:
    """The vectors of one kind. Never changes: `extended` gives a new one that shares its memory.

    Rows are named by the store's row numbers (`n`); an owner may have several rows, its pieces.
    """

    __slots__ = ("_rows", "_sorted", "_stale", "_top_owner", "dimension")

    def __init__(self, dimension: int, rows: Columns | None = None, stale: int = 0, top_owner: int = -1) -> None:
        self.dimension = dimension
        self._rows = rows if rows is not None else _no_rows(dimension)
        self._stale = stale
        self._top_owner = top_owner
        self._sorted: tuple[NDArray[np.intp], Array] | None = None

    def __len__(self) -> int:
        return self._rows.count - self._stale

    @property
    def top_owner(self) -> int:
        """The largest owner number; -1 without any."""
        return self._top_owner

    def extended(self, n: Array, owner: Array, piece: Array, scale: Array, rough: Bytes) -> VectorIndex:
        """With these rows, which replace earlier ones of the same owner and piece."""
        rows, stale = self._rows, self._stale
        again = owner <= self._top_owner
        if again.any():
            suspects = np.flatnonzero(np.isin(rows["owner"], owner[again]) & rows["live"])
            taken = set(zip(owner[again].tolist(), piece[again].tolist(), strict=True))
            owners, pieces = rows["owner"][suspects].tolist(), rows["piece"][suspects].tolist()
            dead = [p for p, o, i in zip(suspects.tolist(), owners, pieces, strict=True) if (o, i) in taken]
            if dead:
                rows = rows.replaced("live", np.asarray(dead), False)
                stale += len(dead)
        rows = rows.extended(n=n, owner=owner, piece=piece, scale=scale, rough=rough, live=np.ones(len(n), np.bool_))
        return VectorIndex(self.dimension, rows, stale, max(self._top_owner, int(owner.max(initial=-1))))

    def passing(self, allowed: Mask, positions: NDArray[np.intp] | slice = slice(None)) -> Mask:
        """Of the rows, or those at these positions, which count: of an owner that is allowed (a mask over owner numbers), not replaced."""
        passing = allowed[self._rows["owner"][positions]]
        if self._stale:
            passing &= self._rows["live"][positions]
        return np.asarray(passing)

    def few(self, allowed: Mask) -> bool:
        """Whether so few owners are allowed that gathering their rows costs less than a scan of all."""
        return int(np.count_nonzero(allowed)) < _GATHER_BELOW * (self._top_owner + 1)

    def scores(self, query: Vectors) -> Vectors:
        """The cosine of every row with a unit vector, approximate by the int8 rounding."""
        rounded, scale = quantised(query.reshape(1, -1))
        products = kernel()(rounded[0], self._rows["rough"])
        products *= self._rows["scale"]
        products *= scale[0]
        return products

    def nearest(self, query: Vectors, allowed: Mask, count: int, scores: Vectors | None = None) -> NDArray[np.intp]:
        """Positions of about the `count` nearest of the rows that pass, in order.

        Approximate by the int8 rounding: score the positions again by exact copies. `scores` are those of `scores(query)`
        where they are known; else the rows that pass are gathered.
        """
        if scores is None:
            chosen = np.flatnonzero(self.passing(allowed))
            return chosen[top(self._gathered(chosen, query), count)]
        return top_passing(scores, count, lambda positions: self.passing(allowed, positions))

    def positions(self, owners: Array) -> NDArray[np.intp]:
        """Where the rows of these owners are."""
        if self._sorted is None:
            owner = self._rows["owner"]
            ends = np.cumsum(np.bincount(owner, minlength=self._top_owner + 2))
            self._sorted = np.argsort(owner, kind="stable"), np.concatenate((ends[:1] * 0, ends))
        order, starts = self._sorted
        inside = np.minimum(owners, self._top_owner + 1)
        first = starts[inside]
        counts = starts[inside + 1] - first
        inside = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        found = order[np.repeat(first, counts) + inside]
        return np.asarray(found[self._rows["live"][found]] if self._stale else found)

    def best(self, owners: Array, query: Vectors, scores: Vectors | None = None) -> dict[int, float]:
        """By owner, the best approximate cosine of its rows; those without rows are left out. `scores` as above."""
        chosen = self.positions(owners)
        if not len(chosen):
            return {}
        cosines = self._gathered(chosen, query) if scores is None else scores[chosen]
        held = self._rows["owner"][chosen]
        first = np.flatnonzero(np.diff(held, prepend=-1))  # the rows of an owner stand together
        best = np.maximum(np.maximum.reduceat(cosines, first), np.float32(-1.0))
        return dict(zip(held[first].tolist(), best.tolist(), strict=True))

    def _gathered(self, positions: NDArray[np.intp], query: Vectors) -> Vectors:
        rounded, scale = quantised(query.reshape(1, -1))
        products = kernel()(rounded[0], self._rows["rough"][positions])
        products *= self._rows["scale"][positions]
        products *= scale[0]
        return products

    def named(self, positions: NDArray[np.intp]) -> tuple[Array, Array, Array]:
        """Row numbers, owners and pieces at these positions."""
        return self._rows["n"][positions], self._rows["owner"][positions], self._rows["piece"][positions]


def _no_rows(dimension: int) -> Columns:
    return Columns.empty(
        n=np.empty(0, np.int64),
        owner=np.empty(0, np.int64),
        piece=np.empty(0, np.int32),
        scale=np.empty(0, np.float32),
        rough=np.empty((0, dimension), np.int8),
        live=np.empty(0, np.bool_),
    )
