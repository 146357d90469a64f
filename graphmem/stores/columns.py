"""Growing tables of numpy columns whose earlier values stay as they were."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

_FIRST_CAPACITY = 256
_BLOCK = 32
_AHEAD = 3

Array = NDArray[Any]


class Columns:
    """Named columns of equal length. A table never changes: `extended` and `replaced` give a new one.

    A table and what it was extended to share memory, so appending costs what is appended, not what is there. Only the
    longest of a family may grow in place; another one that is extended copies first.
    """

    __slots__ = ("_buffers", "_used", "count")

    def __init__(self, buffers: dict[str, Array], count: int, used: list[int]) -> None:
        self._buffers = buffers
        self._used = used
        self.count = count

    @classmethod
    def empty(cls, **columns: Array) -> Columns:
        """No rows; each argument shows a column's dtype and the shape of a row, for instance `np.empty((0, 384), np.int8)`."""
        return cls({name: np.empty((0, *shown.shape[1:]), shown.dtype) for name, shown in columns.items()}, 0, [0])

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, name: str) -> Array:
        return self._buffers[name][: self.count]

    def extended(self, **rows: Array) -> Columns:
        """The table with these rows appended; every column must be given."""
        added = len(next(iter(rows.values())))
        total = self.count + added
        buffers, used = self._buffers, self._used
        capacity = len(next(iter(buffers.values())))
        if total > capacity or used[0] != self.count:
            capacity = max(_FIRST_CAPACITY, 2 * total)
            buffers = {name: np.empty((capacity, *b.shape[1:]), b.dtype) for name, b in buffers.items()}
            for name, buffer in buffers.items():
                buffer[: self.count] = self[name]
            used = [self.count]
        for name, buffer in buffers.items():
            buffer[self.count : total] = rows[name]
        used[0] = total
        return Columns(buffers, total, used)

    def replaced(self, name: str, positions: Array, values: Any) -> Columns:
        """The table with other values in one column."""
        column = self._buffers[name].copy()
        column[positions] = values
        return Columns({**self._buffers, name: column}, self.count, self._used)


def top(scores: Array, k: int) -> NDArray[np.intp]:
    """Where the `k` largest scores are, and every score equal to the last of them; never those of minus infinity. In order."""
    if k <= 0 or not len(scores):
        return np.empty(0, np.intp)
    candidates: NDArray[np.intp] | None = None
    values = scores
    if len(scores) > 4 * _BLOCK * k:
        # The k-th largest block maximum bounds the k-th largest score from below: only scores above it need a closer look. A
        # block is every so many-th score, which takes maxima of whole stretches at a time.
        blocks = len(scores) // _BLOCK
        maxima = scores[: blocks * _BLOCK].reshape(_BLOCK, blocks).max(axis=0)
        candidates = np.flatnonzero(scores >= np.partition(maxima, blocks - k)[blocks - k])
        values = scores[candidates]
    floor = np.partition(values, len(values) - k)[len(values) - k] if len(values) > k else -np.inf
    chosen = np.flatnonzero((values >= floor) & (values > -np.inf))
    return chosen if candidates is None else candidates[chosen]


def top_passing(scores: Array, k: int, passes: Callable[[Array], Array]) -> NDArray[np.intp]:
    """As `top`, of the positions that pass: only the best few are asked about if that is enough."""
    best = top(scores, _AHEAD * k)
    chosen = best[passes(best)]
    if len(chosen) < k and len(best) < len(scores):
        every = np.arange(len(scores))
        chosen = every[passes(every)]
    return chosen[top(scores[chosen], k)]
