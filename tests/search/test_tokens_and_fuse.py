"""Counting tokens and fusing ranks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.search.fuse import fuse
from graphmem.search.tokens import count_tokens


@pytest.mark.parametrize(
    ("text", "real"),
    [  # real: what widely used tokenizers make of it at most
        ("I moved to Lisbon in March.", 7),
        ("internationalization", 3),
        ("東京に住む", 7),
        ("🎉🎉", 6),
        ("ep_k3j5x2qvz7", 11),
        ("   \n\n  x", 5),
    ],
)
def test_the_default_count_is_never_too_low(text: str, real: int) -> None:
    """At least what a subword tokenizer gives."""
    assert count_tokens(text) >= real


@given(st.text(max_size=100), st.text(max_size=100))
def test_counts_grow_with_the_text(one: str, other: str) -> None:
    """A line more never costs less than nothing; the empty text costs nothing."""
    assert count_tokens("") == 0
    assert count_tokens(f"{one}\n{other}") >= count_tokens(one)


def test_what_two_legs_find_comes_first() -> None:
    """Sum of reciprocal ranks; ties by id."""
    assert fuse({"text": ["a", "b"], "vector": ["b", "c"]})[0][0] == "b"
    assert [i for i, _ in fuse({"text": ["z"], "vector": ["y"]})] == ["y", "z"]


def test_weights_decide_between_legs() -> None:
    """A heavier leg wins at equal rank."""
    assert fuse({"text": ["a"], "vector": ["b"]}, {"vector": 2.0})[0][0] == "b"
