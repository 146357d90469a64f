"""A reranker that reads the question and a hit together: a cross-encoder of sentence-transformers, on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from graphmem.embed.sentence_transformers import load_model
from graphmem.errors import AnswerUnusable, InvalidInput, ModelUnavailable
from graphmem.rerank.asked import Asked
from graphmem.rerank.base import readable
from graphmem.search.hits import Hit


class CrossEncoder:
    """Scores of a cross-encoder with one output, for instance one trained on MS MARCO, by hub name or folder.

    Making one is cheap: the model is loaded at the first search, and a hub name is fetched then. The text of a hit is
    read as far as the model reads, at most its first 8,000 characters. `device` is one of torch, such as "cpu"; by default the
    best there is. Threads may share it. A search raises `MissingExtra` if the package is missing.

    >>> CrossEncoder("cross-encoder/ms-marco-MiniLM-L6-v2")
    CrossEncoder('cross-encoder/ms-marco-MiniLM-L6-v2')
    """

    name = "cross_encoder"

    def __init__(self, model: str | Path, *, device: str | None = None, batch: int = 32) -> None:
        if not isinstance(model, (str, Path)) or not str(model).strip():
            raise InvalidInput("model", model, "must be a hub name or a folder")
        self._model_name, self._device, self._batch = str(model), device, batch
        self._lock = Lock()
        self._loaded: Any = None

    def __repr__(self) -> str:
        return f"CrossEncoder({self._model_name!r})"

    def scores(self, asked: Asked, hits: Sequence[Hit]) -> list[float]:
        """The model's own numbers, before any squashing: those near 1 could no longer be told apart after it."""
        pairs = [(readable(asked.query), readable(hit.text)) for hit in hits]
        with self._lock:
            model = self._load()
            import torch

            try:
                found = model.predict(pairs, batch_size=self._batch, show_progress_bar=False, activation_fn=torch.nn.Identity())
            except (RuntimeError, ValueError, IndexError) as error:
                raise ModelUnavailable(f"the cross-encoder {self._model_name!r} failed: {str(error)[:200]}") from error
        numbers = np.asarray(found, dtype=np.float64)
        if numbers.ndim != 1:
            raise AnswerUnusable(f"the cross-encoder {self._model_name!r} gives {numbers.shape[-1]} numbers a pair; one is needed")
        return [float(n) for n in numbers]

    def _load(self) -> Any:
        if self._loaded is None:
            try:
                self._loaded = load_model("CrossEncoder", self._model_name, self._device)
            except (OSError, RuntimeError, ValueError) as error:
                raise ModelUnavailable(f"the cross-encoder {self._model_name!r} cannot be loaded: {str(error)[:200]}") from error
        return self._loaded
