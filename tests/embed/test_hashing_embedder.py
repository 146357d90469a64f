"""The embedder for tests: same numbers everywhere, a row for any text."""

import hashlib
import subprocess
import sys

import numpy as np
import pytest

from graphmem.embed.base import embedded
from graphmem.embed.hashing import HashingEmbedder
from graphmem.errors import InvalidInput

ANY_TEXT = ["a", "7", "🦜", "東京に住んでいます", "Привіт", "?!", "...", "\u200b", "\x00", "\ud800", "é", "\u2028", " ", "", "x" * 50_000]


@pytest.mark.parametrize("dimension", [8, 256])
def test_any_text_gets_a_unit_row(dimension: int) -> None:
    """Symbols, other scripts, lone surrogates and blanks: nothing is refused and nothing is zero."""
    vectors = embedded(HashingEmbedder(dimension), ANY_TEXT)

    assert vectors.shape == (len(ANY_TEXT), dimension)
    np.testing.assert_allclose(np.linalg.norm(HashingEmbedder(dimension).embed(ANY_TEXT), axis=1), 1.0, atol=1e-5)


def test_no_texts_give_no_rows() -> None:
    """The shape holds for an empty list."""
    assert HashingEmbedder().embed([]).shape == (0, 256)


def test_shared_words_bring_texts_together() -> None:
    """Spelling decides: an inflected form stays near, another subject is far."""
    one, near, far = HashingEmbedder().embed(["Mira moved to Porto", "Mira moves to Porto soon", "the invoice was late"])

    assert one @ near > 0.5 > one @ far


def test_spelling_is_compared_by_its_key() -> None:
    """Case and width do not count."""
    one, other = HashingEmbedder().embed(["ORION Labs", "orion labs."])

    np.testing.assert_allclose(one, other)


def test_another_process_gives_the_same_numbers() -> None:
    """No hash seed of the interpreter enters."""
    script = (
        "import hashlib; from graphmem.embed.hashing import HashingEmbedder as H;"
        "print(hashlib.sha256(H().embed(['Mira lives in Porto', '東京']).round(4).tobytes()).hexdigest())"
    )
    other = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip()

    assert hashlib.sha256(HashingEmbedder().embed(["Mira lives in Porto", "東京"]).round(4).tobytes()).hexdigest() == other


def test_a_text_is_embedded_alike_alone_and_in_company() -> None:
    """Neighbours in a batch do not matter."""
    np.testing.assert_array_equal(HashingEmbedder().embed(["Porto"])[0], HashingEmbedder().embed(["Lisbon", "Porto"])[1])


def test_a_tiny_dimension_is_refused() -> None:
    """Below eight numbers nothing can be told apart."""
    with pytest.raises(InvalidInput, match="dimension=2"):
        HashingEmbedder(2)
