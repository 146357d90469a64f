"""Any model of sentence-transformers as an embedder, by hub name or folder."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any, Literal

import numpy as np

from graphmem.embed.base import Vectors
from graphmem.errors import EmbedderError, InvalidInput, MissingExtra

_INSTALL = "pip install 'graphmem[sentence-transformers]'"
_CHARACTERS = 32_768
_READ_ALIKE = (".json", ".txt", ".model")


class SentenceTransformerEmbedder:
    """Vectors of a sentence-transformers model, normalised to length 1.

    `model` is a folder, or a hub name that is fetched at the first use. A folder is known to a memory by its name and the
    hash of its files, so that it may be moved, but not exchanged. `device` is one of torch, such as "cpu"; by default the best
    there is. `batch` is how many texts go through the model at once: with 1 a text's vector depends on that text alone;
    more is quicker, above all on a GPU, and the last digits then depend on what else is in the batch.

    Making one reads a folder once, for that hash; the first text loads the model, and so does `dimension`. Threads may share
    an embedder. Raises `MissingExtra` where the package is missing, `EmbedderError` if the model cannot be loaded.

    >>> SentenceTransformerEmbedder("all-MiniLM-L6-v2").name
    'sentence-transformers/all-MiniLM-L6-v2'
    """

    def __init__(self, model: str | Path, *, device: str | None = None, batch: int = 1) -> None:
        if not str(model).strip():
            raise InvalidInput("model", str(model), "must be a hub name or a folder")
        if isinstance(batch, bool) or not isinstance(batch, int) or batch < 1:
            raise InvalidInput("batch", batch, "must be an integer of 1 or more")
        self._given, self._device, self._batch = str(model), device, batch
        self.name = _name(self._given)
        self._lock = Lock()
        self._loaded: Any = None
        self._dimension: int | None = None

    def __repr__(self) -> str:
        return f"SentenceTransformerEmbedder({self._given!r})"

    @property
    def asks_dimension(self) -> bool:
        """Whether `dimension` would load the model. A memory that is opened again knows it and sets it."""
        return self._dimension is None

    @property
    def dimension(self) -> int:
        """How long its vectors are."""
        if self._dimension is None:
            self._dimension = len(self._encoded(["a"])[0])
        return self._dimension

    @dimension.setter
    def dimension(self, dimension: int) -> None:
        self._dimension = dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit rows, shape `(len(texts), dimension)`, float32."""
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        # A lone surrogate has no UTF-8 form, which tokenizers need.
        return self._encoded([text[:_CHARACTERS].encode("utf-8", "replace").decode("utf-8") for text in texts])

    def _encoded(self, texts: list[str]) -> Vectors:
        with self._lock:
            model = self._load()
            rows = model.encode(texts, batch_size=self._batch, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False)
        return np.asarray(rows, dtype=np.float32)

    def _load(self) -> Any:
        if self._loaded is None:
            try:
                self._loaded = load_model("SentenceTransformer", self._given, self._device)
            except (OSError, RuntimeError, ValueError) as error:
                raise EmbedderError(f"the model {self._given!r} cannot be loaded: {str(error)[:300]}") from error
        return self._loaded


def load_model(kind: Literal["SentenceTransformer", "CrossEncoder"], name: str, device: str | None) -> Any:
    """A model of the package, loaded without its bars; raises `MissingExtra`, or what the package raises."""
    if find_spec("sentence_transformers") is None:
        raise MissingExtra(f"the model {name!r} needs sentence-transformers: {_INSTALL}")
    import sentence_transformers
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        return getattr(sentence_transformers, kind)(name, device=device)
    finally:
        if shown:
            logging.enable_progress_bar()


def _name(given: str) -> str:
    """What a memory knows the model by."""
    folder = Path(given)
    if not folder.is_dir():
        return f"sentence-transformers/{given}"
    try:
        return f"sentence-transformers/{folder.resolve().name}#{_fingerprint(folder)}"
    except OSError as error:
        raise EmbedderError(f"the model in {folder} cannot be read: {error}") from error


def _fingerprint(folder: Path) -> str:
    """Eight characters that stand for the weights and settings: folders with the same ones give the same vectors."""
    digest = hashlib.sha256()
    for path in _files(folder):
        digest.update(f"{path.relative_to(folder).as_posix()}\0".encode("utf-8", "surrogatepass"))
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:8]


def _files(folder: Path) -> Iterator[Path]:
    """Settings, vocabulary and weights; of weights in two forms, the one that is loaded."""
    held = sorted(p for p in folder.rglob("*") if p.is_file() and not any(part.startswith(".") for part in p.relative_to(folder).parts))
    weights = [p for p in held if p.suffix == ".safetensors"] or [p for p in held if p.suffix in (".bin", ".pt")]
    yield from sorted({*weights, *(p for p in held if p.suffix in _READ_ALIKE)})
