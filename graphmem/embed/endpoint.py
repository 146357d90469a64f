"""An embedder behind any OpenAI-compatible endpoint."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from threading import Lock

import numpy as np

from graphmem.checks import positive
from graphmem.embed.base import Vectors
from graphmem.endpoint.endpoint import Endpoint
from graphmem.endpoint.faults import Problem, Trouble
from graphmem.endpoint.slots import Call
from graphmem.endpoint.waiting import Waiting
from graphmem.endpoint.wire import Wire
from graphmem.errors import EmbedderError, InvalidInput
from graphmem.settings import Secret

_PROBE = "How long is a vector?"
_LONGEST, _SHORTEST = 8_000, 500
_RETRIES, _SIDE_BY_SIDE = 4, 4


class EndpointEmbedder:
    """The embedding model `name` of an OpenAI-compatible endpoint.

    `base_url`, `api_key`, `timeout`, `proxy` and `waiting` are as for `EndpointModel`. Texts go out `batch` at a time, four
    batches side by side, each text to its first 8,000 characters, or fewer if the model reads fewer. A memory keeps the name
    of the model, not the address: the same model may be served from elsewhere. Without `dimension` the endpoint is asked for
    it when it is first needed; with it, the model is asked for vectors of that length.

    >>> EndpointEmbedder("some-embedder", base_url="http://localhost:8080/v1", dimension=384)
    EndpointEmbedder('some-embedder', base_url='http://localhost:8080/v1', api_key='')
    """

    def __init__(
        self,
        name: str,
        *,
        base_url: str | None = None,
        api_key: str | Secret | None = None,
        dimension: int | None = None,
        batch: int = 64,
        timeout: float = 60.0,
        proxy: str | Secret | None = None,
        waiting: Waiting | None = None,
    ) -> None:
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise InvalidInput("name", name, "must be the name of an embedding model")
        if dimension is not None:
            positive("dimension", dimension)
        self.name = f"openai:{name}"
        self._model, self._batch = name, positive("batch", batch)
        self._wire = Wire(base_url, api_key, timeout, proxy)
        self._endpoint = Endpoint(self.name, self._wire, _RETRIES, _SIDE_BY_SIDE, waiting or Waiting())
        self._dimension, self._says_dimension, self._longest = dimension, dimension is not None, _LONGEST
        self._lock = Lock()

    def __repr__(self) -> str:
        return f"EndpointEmbedder({self._model!r}, base_url={self._wire.base_url!r}, api_key={str(self._wire.key)!r})"

    @property
    def dimension(self) -> int:
        """The length of a vector; the endpoint is asked for one if nobody has said it yet. Raises as `embed` does."""
        with self._lock:
            if self._dimension is None:
                self._dimension = self._endpoint.side_by_side(self._vectors, [[_PROBE]])[0].shape[1]
            return self._dimension

    @dimension.setter
    def dimension(self, dimension: int) -> None:
        with self._lock:
            self._dimension, self._says_dimension = dimension, True

    @property
    def asks_dimension(self) -> bool:
        """Whether the endpoint would have to be asked for the length of a vector."""
        return self._dimension is None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit rows, shape `(len(texts), dimension)`, float32, in the order of the texts.

        Raises `EmbedderError` for vectors that are too few, too many, of another length, not finite or zero, and a
        `ModelError` when the endpoint cannot be used.
        """
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        batches = [texts[at : at + self._batch] for at in range(0, len(texts), self._batch)]
        found = self._endpoint.side_by_side(self._vectors, batches)
        with self._lock:
            if self._dimension is None:
                self._dimension = found[0].shape[1]
            expected = self._dimension
        for rows in found:
            if rows.shape[1] != expected:
                raise EmbedderError(f"{self.name} gave vectors of length {rows.shape[1]}; expected {expected}")
        return np.concatenate(found)

    def close(self) -> None:
        """Closes the connection; the next text makes a new one."""
        self._endpoint.close()

    def _vectors(self, texts: Sequence[str], stop: Call) -> Vectors:
        """The unit vectors of one batch; asks again without `dimensions`, or with shorter texts, where the endpoint wants that."""
        while True:
            longest, says_dimension = self._longest, self._says_dimension
            body: dict[str, object] = {
                "model": self._model,
                "input": [text[:longest].encode("utf-8", "replace").decode() or " " for text in texts],
                "encoding_format": "float",
            }
            if says_dimension and self._dimension is not None:
                body["dimensions"] = self._dimension
            found = self._endpoint.ask("embeddings", body, lambda answer: self._read(answer, len(texts)), stop)
            if not isinstance(found, Problem):
                return found
            if says_dimension and found.status in (400, 422) and ("dimensions" in found.text or "matryoshka" in found.text):
                self._says_dimension = False
            elif found.trouble is Trouble.CONTEXT and longest > _SHORTEST:
                self._longest = max(_SHORTEST, min(self._longest, longest // 2))
            else:
                raise self._endpoint.error(found)

    def _read(self, answer: Mapping[str, object], count: int) -> Vectors | Problem:
        rows = answer.get("data")
        if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
            return Problem(Trouble.EMPTY)
        if len(rows) != count:
            raise EmbedderError(f"{self.name} gave {len(rows)} vectors for {count} texts")
        places = [row.get("index", at) for at, row in enumerate(rows)]
        if sorted(p for p in places if isinstance(p, int)) != list(range(count)):
            raise EmbedderError(f"{self.name} gave vectors whose numbers are not those of the texts: {str(places)[:80]}")
        ordered = sorted(zip(places, rows, strict=True), key=lambda pair: pair[0])
        vectors = [v for v in (_decoded(row.get("embedding")) for _, row in ordered) if v is not None]
        if len(vectors) != count or len({v.size for v in vectors}) != 1:
            raise EmbedderError(f"{self.name} gave vectors that are no lists of numbers, or of several lengths")
        matrix = np.array(vectors, dtype=np.float32)
        norms = np.sqrt(np.einsum("ij,ij->i", matrix, matrix))
        if not np.isfinite(norms).all() or not norms.all():
            raise EmbedderError(f"{self.name} gave a vector that is zero or not finite")
        return np.asarray(matrix / norms[:, None], dtype=np.float32)


def _decoded(embedding: object) -> Vectors | None:
    """A vector from a list of numbers or from base64; None if it is neither."""
    try:
        if isinstance(embedding, str):
            vector = np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4")
        elif isinstance(embedding, list) and all(isinstance(n, int | float) for n in embedding):
            vector = np.array(embedding, dtype=np.float64)
        else:
            return None
    except (binascii.Error, ValueError, OverflowError):
        return None
    with np.errstate(all="ignore"):  # what is too large for the narrower type is infinite, and refused as that
        return vector.astype(np.float32) if vector.size else None
