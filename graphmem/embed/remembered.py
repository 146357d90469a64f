"""An embedder that remembers: a text is embedded once, however often the engine needs its vector."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

import numpy as np

from graphmem.embed.base import Embedder, Vectors, embedded


class Remembered:
    """`embedder` with the vectors of its last `limit` different texts kept. Threads may share it.

    Ingest embeds all texts of a batch in one call before it takes the write lock, and asks for them again under it.

    >>> from graphmem.embed.hashing import HashingEmbedder
    >>> embedder = Remembered(HashingEmbedder())
    >>> bool((embedder.embed(["Porto", "Porto"])[1] == embedder.embed(["Porto"])[0]).all())
    True
    """

    def __init__(self, embedder: Embedder, limit: int = 4096) -> None:
        self.name = embedder.name
        self._embedder, self._limit = embedder, limit
        self._known: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = Lock()

    @property
    def dimension(self) -> int:
        """The embedder's dimension, asked for when it is needed: an endpoint would have to be asked."""
        return self._embedder.dimension

    @dimension.setter
    def dimension(self, dimension: int) -> None:
        self._embedder.dimension = dimension

    @property
    def asks_dimension(self) -> bool:
        """Whether `dimension` is known to nobody yet."""
        return bool(getattr(self._embedder, "asks_dimension", False))

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit rows, shape `(len(texts), dimension)`, float32. Raises `EmbedderError` if the embedder breaks its promise."""
        with self._lock:
            rows = {text: self._known[text] for text in texts if text in self._known}
        if new := [text for text in dict.fromkeys(texts) if text not in rows]:
            rows.update(zip(new, embedded(self._embedder, new), strict=True))
        with self._lock:
            for text in rows:
                self._known[text] = rows[text]
                self._known.move_to_end(text)
            while len(self._known) > self._limit:
                self._known.popitem(last=False)
        return np.array([rows[text] for text in texts], dtype=np.float32) if texts else np.zeros((0, self.dimension), dtype=np.float32)
