"""An embedder without a model: hashed words and pieces of words. For tests; it knows spelling, not meaning."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np

from graphmem.embed.base import Vectors
from graphmem.errors import InvalidInput
from graphmem.names import key

_WORD, _PAIR, _PIECE = 1.0, 0.5, 0.4
_PIECE_LENGTH = 3


class HashingEmbedder:
    """Vectors from the spelling of a text: the same everywhere and always, quick, numpy only.

    Texts that share words, pairs of words or pieces of words come out near each other; synonyms do not. For tests and
    for machines without `graphmem[local]`, when named; never a silent replacement for a real embedder.

    >>> embedder = HashingEmbedder()
    >>> porto, oporto, tax = embedder.embed(["Mira lives in Porto", "Mira lived in Porto", "the tax form is late"])
    >>> bool(porto @ oporto > porto @ tax)
    True
    """

    def __init__(self, dimension: int = 256) -> None:
        if dimension < 8:
            raise InvalidInput("dimension", dimension, "must be at least 8")
        self.dimension = dimension
        self.name = f"hashing/{dimension}#1"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit rows, shape `(len(texts), dimension)`, float32; any text has a row that is not zero."""
        places: list[int] = []
        weights: list[float] = []
        counts: list[int] = []
        for text in texts:
            where, how_much = _features(text)
            places += where
            weights += how_much
            counts.append(len(where))
        flat = np.array(places, dtype=np.int64) % self.dimension + np.repeat(np.arange(len(texts)) * self.dimension, counts)
        out = np.bincount(flat, weights, len(texts) * self.dimension).reshape(len(texts), self.dimension)
        norms = np.sqrt(np.einsum("ij,ij->i", out, out))
        for row in np.flatnonzero(norms == 0).tolist():
            out[row, _crc(texts[row]) % self.dimension] = norms[row] = 1.0
        return np.asarray(out / norms[:, None], dtype=np.float32)


def _features(text: str) -> tuple[list[int], list[float]]:
    """Where the words of a text and their pairs count, and how much."""
    places: list[int] = []
    weights: list[float] = []
    words = [word for word in map(key, text.split()) if word]
    for word in words:
        where, how_much = _of_word(word)
        places += where
        weights += how_much
    for first, second in pairwise(words):
        place, weight = _hashed(f"b {first} {second}", _PAIR)
        places.append(place)
        weights.append(weight)
    return places, weights


@lru_cache(maxsize=16384)
def _of_word(word: str) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Where a word and its pieces count, and how much."""
    marked = f"^{word}$"
    pieces = [marked[start : start + _PIECE_LENGTH] for start in range(len(marked) - _PIECE_LENGTH + 1)]
    hashed = [_hashed(f"w {word}", _WORD), *(_hashed(f"p {piece}", _PIECE) for piece in pieces)]
    return tuple(place for place, _ in hashed), tuple(weight for _, weight in hashed)


def _hashed(feature: str, weight: float) -> tuple[int, float]:
    """The sign comes from the top bit, the place from the rest, so that collisions cancel instead of adding up."""
    crc = _crc(feature)
    return crc & 0x7FFFFFFF, weight if crc >> 31 else -weight


def _crc(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))
