"""Words: every script is findable, any text is legal."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem.search.words import _plain, _with_names, indexed, words


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("We rode the C++ course in Malmö", "c++"),
        ("We rode the C++ course in Malmö", "Malmo"),
        ("ticket KV-2210 is open", "kv-2210"),
        ("ticket KV-2210 is open", "2210"),
        ("write to mira.lund@acme.org", "mira.lund@acme.org"),
        ("write to mira.lund@acme.org", "acme"),
        ("deploy qx-alpha and foo_bar", "QX-Alpha"),
        ("deploy qx-alpha and foo_bar", "bar"),
        ("she was running", "runs"),
        ("我住在东京", "东京"),
        ("서울에 살아요", "서울"),
        ("私は東京に住んでいます", "東京"),
        ("ยินดีต้อนรับ", "ต้อนรับ"),
        ("مُحَمَّد يعيش هنا", "محمد"),
        ("ＦＵＬＬ ｗｉｄｔｈ", "full width"),
        ("rent is 1,000 now", "1000"),
        ("party 🎉 tonight", "🎉"),
        ("Caroline’s painting", "Caroline"),
        ("I will meet Will in May", "is Will here"),
    ],
)
def test_a_text_is_found_by(said: str, asked: str) -> None:
    """What is asked shares a word with what was said."""
    assert set(words(asked)) & set(words(said))


def test_different_identifiers_keep_a_word_of_their_own() -> None:
    """C, C++ and C# differ in a word."""
    assert set(words("C++")) != set(words("C#")) != set(words("C"))


def test_stop_words_alone_are_nothing() -> None:
    """A question of stop words has no word to look for."""
    assert words("Who are you, and what is it?") == []
    assert words("I won't, he doesn't, they've") == []


@settings(max_examples=200)
@given(st.text(alphabet=st.characters(), max_size=200))
def test_any_text_gives_words_without_white_space(text: str) -> None:
    """Never raises; an indexed text splits back into its words."""
    found = words(text)
    assert indexed(text).split() == found
    assert all(w and w.encode("utf-8") and len(w) <= 100 for w in found)


@settings(max_examples=200)
@given(
    st.lists(st.sampled_from(["May", "Will", "US,", "it's", "go", "1,000", "KV-2210", "東京", "🎉", "é", ".", "(", " ", "\n", "\u3000"]))
)
def test_words_taken_piece_by_piece_are_those_of_the_whole(parts: list[str]) -> None:
    """Text between white space is remembered with its words, but what is a name is told by the text around it."""
    text = "".join(parts)
    assert words(text) == _with_names(_plain(text))


@pytest.mark.parametrize("text", ["\x00\ud800", "a" * 100_000, "word " * 10_000, "中" * 10_000, "\u2028\u202e"])
def test_extreme_texts_are_legal(text: str) -> None:
    """NUL, lone surrogates, very long words and texts pass."""
    words(text)
