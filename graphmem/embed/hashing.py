"""An embedder without a model: hashed words and pieces of words. For tests; it knows spelling, not meaning."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
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
        out = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(out, texts, strict=True):
            for feature, weight in _features(text):
                hashed = zlib.crc32(feature.encode("utf-8", "surrogatepass"))
                # The sign comes from the top bit, the place from the rest, so that collisions cancel instead of adding up.
                row[(hashed & 0x7FFFFFFF) % self.dimension] += weight if hashed >> 31 else -weight
            norm = float(np.linalg.norm(row))
            if norm > 0:
                row /= norm
            else:
                row[zlib.crc32(text.encode("utf-8", "surrogatepass")) % self.dimension] = 1.0
        return out


def _features(text: str) -> Iterator[tuple[str, float]]:
    words = [word for word in map(key, text.split()) if word]
    for word in words:
        yield f"w {word}", _WORD
        marked = f"^{word}$"
        for start in range(len(marked) - _PIECE_LENGTH + 1):
            yield f"p {marked[start : start + _PIECE_LENGTH]}", _PIECE
    for first, second in pairwise(words):
        yield f"b {first} {second}", _PAIR
