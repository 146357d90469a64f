"""Long texts in pieces."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from graphmem.ingest.chunks import chunks, halved
from graphmem.ingest.flow import Options


@given(st.text(max_size=300), st.integers(3, 40))
def test_c27_no_character_is_lost_and_none_is_split(text, budget):
    """The pieces joined are the text; no piece begins with a combining mark."""
    pieces = chunks(text, budget, len)
    assert "".join(piece for _, piece in pieces) == text
    assert all(text[offset : offset + len(piece)] == piece for offset, piece in pieces)
    assert not any(unicodedata.category(piece[0]).startswith("M") for _, piece in pieces[1:])


@given(st.text(max_size=300))
def test_two_halves_are_the_text_and_neither_is_blank(text):
    """Cut after a sentence, or not at all."""
    halves = halved(text)
    assert halves is None or ("".join(halves) == text and all(half.strip() for half in halves))
    assert halves is None or not unicodedata.category(halves[1][0]).startswith("M")


def test_a_long_text_without_a_sentence_end_is_halved_at_a_space():
    """A sentence is not: half of one says something else."""
    assert halved("Mira met Ana " * 10) is None
    first, second = halved("Mira met Ana " * 100) or ("", "")
    assert (len(first), second[0]) == (650, "M")
    assert halved("東京へ行った。大阪へも行った。") == ("東京へ行った。", "大阪へも行った。")


def test_c27_a_word_of_fifty_thousand_characters_is_cut():
    """Without a space to cut at, characters are counted off."""
    word = "x" * 50_000
    pieces = chunks(word, 2000, len)
    assert "".join(piece for _, piece in pieces) == word
    assert max(len(piece) for _, piece in pieces) <= 2000


def test_c27_marks_and_joined_emoji_stay_with_their_characters():
    """An accent, a skin tone, a family of emoji and a surrogate pair are one character each."""
    for unit in ("e\u0301", "👍🏽", "👩\u200d👧", "\ud83d\ude00"):
        pieces = chunks(unit * 400, 10, len)
        assert all(len(piece) % len(unit) == 0 for _, piece in pieces)


def test_c27_a_huge_text_is_one_episode_read_in_pieces(kit):
    """Every piece is asked for at once and fits; entities of all pieces are merged, spans refer to the whole text."""
    names = [f"Person{chr(65 + i // 26)}{chr(97 + i % 26)}" for i in range(60)]
    text = " ".join(f"{n} met Ivo at the cafe\u0301 🙂 in the old town, and they talked for hours about boats." for n in names)
    options = Options(chunk_tokens=200)

    def extract(ask):
        piece = ask.payload["text"]
        assert options.count_tokens(piece) <= 200
        found = [n for n in names if n in piece]
        return kit.said(*found, "Ivo", facts=[kit.fact(n, "Ivo", "MET") for n in found])

    bench = kit.Bench(extract=extract)
    bench.options = options
    draft = bench.add(text)
    assert bench.asked("extract") > 5
    assert bench.names() == sorted([*names, "Ivo"])
    assert len(draft.assertions) == 60
    assert all(text[m.span[0] : m.span[1]] == m.name for m in draft.mentions)
