"""The cross-encoder adapter, on a tiny model with random weights: no package carries trained ones."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

import graphmem
from graphmem.errors import InvalidInput, MissingExtra
from graphmem.rerank import CrossEncoder

HERE = find_spec("sentence_transformers") is not None
pytestmark = pytest.mark.filterwarnings("default")
for_real = pytest.mark.skipif(not HERE, reason="tests/embed/test_sentence_transformers.py runs it where the package is")
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "red", "blue", "bicycles", "kayaks", "acme", "globex", "sells", "mira", "tom", "knows"]
Make = Callable[[int], Path]


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Writes a cross-encoder with so many outputs."""

    def make(outputs: int) -> Path:
        import torch
        from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

        folder = tmp_path_factory.mktemp("model")
        (folder / "vocab.txt").write_text("\n".join(WORDS), "utf-8")
        torch.manual_seed(7)
        config = BertConfig(
            vocab_size=len(WORDS),
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=64,
            num_labels=outputs,
            initializer_range=1.0,
        )
        BertForSequenceClassification(config).save_pretrained(folder)
        BertTokenizerFast(vocab=str(folder / "vocab.txt"), model_max_length=64).save_pretrained(folder)
        return folder

    return make


@pytest.mark.slow
@for_real
def test_question_and_hit_are_read_together(town: graphmem.Memory, make: Make) -> None:
    """The order is that of the model's own scores for the pairs, and another question has another order."""
    import torch
    from sentence_transformers import CrossEncoder as Model

    folder = make(1)
    found = town.search("red bicycles", kinds=["fact"], limit=20, rerank=CrossEncoder(folder, device="cpu"))

    model = Model(str(folder), device="cpu")
    expected = model.predict([("red bicycles", hit.text) for hit in found], activation_fn=torch.nn.Identity(), show_progress_bar=False)
    assert [hit.score for hit in found] == pytest.approx(expected.tolist(), abs=1e-4)
    assert len({round(hit.score, 4) for hit in found}) > 1
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
    assert found.warnings == ()
    again = town.search("red bicycles", kinds=["fact"], limit=20, rerank=f"cross_encoder:{folder}")
    assert [hit.id for hit in again] == [hit.id for hit in found]


@pytest.mark.slow
@for_real
def test_any_text_is_read(town: graphmem.Memory, make: Make) -> None:
    """Lone surrogates, NULs, texts longer than the model reads, blanks."""
    town.add_message("Tom", "Acme sells \ud800 \x00 red " + "bicycles " * 5_000)
    found = town.search("\ud800 bicycles " + "red " * 6_000, rerank=CrossEncoder(make(1), device="cpu"))

    assert [w.code for w in found.warnings] == ["long_query"]
    assert len(found) > 5


@pytest.mark.slow
@for_real
def test_a_model_that_cannot_rank_keeps_the_order_before(town: graphmem.Memory, make: Make, tmp_path: Path) -> None:
    """Three outputs, or no model at all: a warning."""
    plain = [hit.id for hit in town.search("red bicycles")]
    for folder, said in ((make(3), "3 numbers"), (tmp_path, "cannot be loaded")):
        found = town.search("red bicycles", rerank=CrossEncoder(folder, device="cpu"))
        assert [hit.id for hit in found] == plain
        assert [w.code for w in found.warnings] == ["rerank_failed"]
        assert said in found.warnings[0].message


@pytest.mark.skipif(HERE, reason="the package is here")
def test_without_the_package_the_line_that_installs_it_is_named(town: graphmem.Memory) -> None:
    """Something to install is no failure to pass over."""
    with pytest.raises(MissingExtra, match=r"pip install 'graphmem\[sentence-transformers\]'"):
        town.search("red bicycles", rerank="cross_encoder:some/model")


def test_a_model_needs_a_name() -> None:
    """At once."""
    with pytest.raises(InvalidInput, match="model="):
        CrossEncoder("")
    with pytest.raises(InvalidInput, match="model=None"):
        CrossEncoder(None)  # type: ignore[arg-type]
