"""Pieces: what of an episode is embedded."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from graphmem.model import EpisodeKind
from graphmem.search.pieces import MAX_PIECES, MAX_WORDS, episode_words_text, pieces, readable


def test_a_persons_sentences_carry_the_name() -> None:
    """Every sentence of at least three words is a piece."""
    assert pieces("Hey! I moved to Porto. Are you well?", "Mira") == ["Mira: I moved to Porto.", "Mira: Are you well?"]


def test_a_short_turn_is_kept_whole() -> None:
    """Where no sentence is long enough, the turn itself is the piece."""
    assert pieces("Yes!", "Mira") == ["Mira: Yes!"]


def test_an_assistants_turn_stays_whole() -> None:
    """However long it is."""
    text = "First. Second one here. Third one there."
    assert pieces(text, "assistant") == [text]


def test_code_of_a_user_is_left_out() -> None:
    """Fenced code is not embedded, the sentences around it are."""
    assert pieces("Please fix this for me.\n```\nx = 1\n```\nIt fails every single time.", "user") == [
        "Please fix this for me.",
        "It fails every single time.",
    ]


def test_code_alone_is_kept() -> None:
    """Nothing but code is still something to find."""
    assert pieces("```\nx = 1\n```", "user")


def test_long_turns_are_cut_into_a_bounded_number_of_pieces() -> None:
    """Sixty words a piece, twelve pieces a turn."""
    found = pieces("word " * 2000, "user")
    assert len(found) == MAX_PIECES
    assert all(len(p.split()) <= MAX_WORDS for p in found)


def test_a_document_is_covered_to_its_end() -> None:
    """Documents are packed, not cut off after a few sentences."""
    text = " ".join(f"Sentence number {n} tells something." for n in range(300))
    assert "number 299" in pieces(text)[-1]


def test_chinese_sentences_are_pieces() -> None:
    """Sentences end at full stops of their script."""
    assert pieces("我住在东京。今天天气很好。", "李") == ["李: 我住在东京。", "李: 今天天气很好。"]


@given(st.text(max_size=300), st.sampled_from([None, "user", "assistant", "Mira"]))
def test_every_text_that_is_not_blank_has_a_piece(text: str, actor: str | None) -> None:
    """And a blank one none."""
    assert bool(pieces(text, actor)) == bool(text.strip())


def test_the_indexed_text_of_a_person_has_date_and_name() -> None:
    """Others are indexed as they are."""
    at = datetime(2023, 5, 7, tzinfo=UTC)
    assert episode_words_text("Hello there", "Mira", at) == "[7 May 2023] Mira: Hello there"
    assert episode_words_text("Hello there", "user", at) == "Hello there"


def test_json_is_read_as_lines() -> None:
    """Paths and values; text that is no JSON stays as it is."""
    assert readable(EpisodeKind.JSON, '{"a": {"b": [1, "x"]}}') == "a b: 1\na b: x"
    assert readable(EpisodeKind.JSON, "not json") == "not json"
