"""What a question asks for."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from graphmem.search.question import Question, is_general

NOW = datetime(2024, 7, 1, tzinfo=UTC)


def read(text: str) -> Question:
    return Question.read(text, NOW, UTC)


@pytest.mark.parametrize(
    "text", ["When did Mira move?", "How long has she lived there?", "What date is the exam?", "Since when is it open?"]
)
def test_it_asks_when(text: str) -> None:
    """A date or a duration is wanted."""
    assert read(text).asks_when


def test_a_date_in_the_question_is_a_stretch_of_time() -> None:
    """Resolved against the instant it is asked."""
    [window] = read("What did we do in March 2024?").windows
    assert window.start == datetime(2024, 3, 1, tzinfo=UTC)
    assert window.end == datetime(2024, 4, 1, tzinfo=UTC)
    assert read("What do we do?").windows == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Remind me what the third book you recommended was?", True),
        ("In our previous conversation, which hotel came first?", True),
        ("Can you suggest a hotel?", False),
        ("What did I say you recommended?", False),
        ("Where do I live?", False),
    ],
)
def test_it_asks_what_the_assistant_said(text: str, expected: bool) -> None:
    """A request for new advice, and what the user said, are something else."""
    assert read(text).asks_assistant is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What books has Mira read?", True),
        ("How many lakes did they visit?", True),
        ("What do both of them like?", True),
        ("What is her job?", False),
        ("Where does Mira live?", False),
    ],
)
def test_it_asks_for_several(text: str, expected: bool) -> None:
    """Lists and counts have their evidence in many sessions."""
    assert read(text).wants_several is expected


def test_instructions_around_a_summary_are_left_out() -> None:
    """What remains is the subject."""
    question = read("Can you give me a comprehensive summary of my garden project across our conversations?")
    assert question.wants_whole_story
    assert question.bare == "my garden project"


def test_speakers_are_named_by_whole_first_or_other_name() -> None:
    """And their names are left out of the bare question."""
    actors = {"Mira Lund": (), "Jonas": (), "Beatriz": ("Bea",)}
    assert read("What does Mira grow?").naming(actors).speakers == ("Mira Lund",)
    assert read("What does Mira grow?").naming(actors).bare == "What does grow?"
    assert read("Where is Bea's house?").naming(actors).speakers == ("Beatriz",)
    assert read("Do Jonas and Bea meet?").naming(actors).speakers == ("Beatriz", "Jonas")


def test_a_first_name_that_two_have_names_nobody() -> None:
    """Ambiguous."""
    assert read("What does Mira grow?").naming({"Mira Lund": (), "Mira Berg": ()}).speakers == ()


def test_a_question_of_a_name_alone_keeps_it() -> None:
    """Leaving the name out would leave nothing."""
    assert read("Mira?").naming({"Mira": ()}).bare == "Mira?"


def test_the_kind_of_answer_shows_in_entity_types() -> None:
    """Places for where, people for who, nothing in particular for what."""
    assert "place" in read("Where did they go?").answer_types
    assert "person" in read("Who came?").answer_types
    assert read("What is it?").answer_types == frozenset()


@pytest.mark.parametrize(
    "text",
    [
        "what is this team about?",
        "What are the main topics?",
        "Summarise the conversation.",
        "summarize what we know",
        "Can you give me a short summary of everything?",
        "Give me an overview",
        "What do we mostly talk about?",
        "What does the team work on?",
        "What have they been discussing?",
        "Tell me about this group",
        "What's going on here?",
        "Who is on the team?",
        "Which circles of people are there?",
        "What are the recurring themes of these chats?",
        "In a nutshell, what is it?",
        "What topics come up?",
    ],
)
def test_it_asks_for_an_overview(text: str) -> None:
    """What all of it is about."""
    assert read(text).wants_overview


@pytest.mark.parametrize(
    "text",
    [
        "Where does Mira live?",
        "What are the main topics of May 2024?",
        "Where is the summary of the report?",
        "Who wrote the overview?",
        "What does Mira talk about with Ben on the phone every day?",
        "What is the book about that Mira reads?",
        "Who is in Porto?",
        "What team does Ada play for?",
        "Does everyone like the plan?",
        "",
        "?",
        "what " * 4000,
    ],
)
def test_it_asks_for_no_overview(text: str) -> None:
    """It names a time, or is about one thing."""
    assert not read(text).wants_overview


@pytest.mark.parametrize(
    ("name", "expected"), [("team", True), ("the project", True), ("Everyone", True), ("Tidewell", False), ("Team Rocket", False)]
)
def test_a_general_name_means_all(name: str, expected: bool) -> None:
    """Nobody in particular."""
    assert is_general(name) is expected
