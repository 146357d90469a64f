"""What an embedder is to graphmem: texts in, unit vectors out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from graphmem.errors import EmbedderError
from graphmem.runtime import canonical_json

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into vectors. `name` and `dimension` are kept with the data; another embedder is refused by name."""

    name: str
    dimension: int

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit rows, shape `(len(texts), dimension)`, float32."""
        ...


def embedded(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """`embedder.embed(texts)`, checked: as many rows as texts, the promised length, finite, not all zero.

    Raises `EmbedderError`, so that nothing wrong is stored.
    """
    if not texts:
        return np.zeros((0, embedder.dimension), dtype=np.float32)
    vectors = np.asarray(embedder.embed(list(texts)), dtype=np.float32)
    if vectors.shape != (len(texts), embedder.dimension):
        raise EmbedderError(
            f"{embedder.name} gave shape {vectors.shape} for {len(texts)} texts; expected ({len(texts)}, {embedder.dimension})"
        )
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    if not np.isfinite(norms).all():
        raise EmbedderError(f"{embedder.name} gave numbers that are not finite, or too large to be squared")
    if not norms.all():
        raise EmbedderError(f"{embedder.name} gave an all-zero vector for {texts[int(np.argmin(norms))]!r:.80}")
    return np.asarray(vectors / norms[:, None], dtype=np.float32)


def embedder_meta(embedder: Embedder) -> str:
    """An embedder's name and dimension as they are kept with the data."""
    return canonical_json({"name": embedder.name, "dimension": embedder.dimension})
