"""The sample that the package ships: complete, in order, and consistent with its questions."""

from datetime import datetime

import pytest

from graphmem import samples


def test_messages_come_in_order_with_every_field() -> None:
    """Each has an id of its own, an instant with an offset, a speaker, a channel and a text."""
    chat = samples.team_chat()
    instants = [datetime.fromisoformat(message["at"]) for message in chat]

    assert 60 <= len(chat) <= 75
    assert all(set(message) == {"id", "at", "actor", "session", "text"} and all(message.values()) for message in chat)
    assert len({message["id"] for message in chat}) == len(chat)
    assert len({message["actor"] for message in chat}) == 4
    assert all(instant.tzinfo for instant in instants)
    assert instants == sorted(set(instants))


def test_episodes_hold_everything_oldest_first() -> None:
    """Chat, records and report in one list, each recorded when it was said, at an instant of its own."""
    episodes = samples.episodes()
    instants = [episode["recorded_at"] for episode in episodes]

    assert len(episodes) == len(samples.team_chat()) + len(samples.records()) + 1
    assert instants == sorted(set(instants))
    assert {episode["kind"] for episode in episodes} == {"message", "json", "text"}


def test_one_message_is_in_another_script() -> None:
    """So that whoever plays with the sample meets one."""
    assert any(sum("\u0400" <= c <= "\u04ff" for c in message["text"]) > 20 for message in samples.team_chat())


def test_the_report_is_a_page() -> None:
    """Long enough to be a document, short enough to read."""
    assert 300 <= len(samples.report()["text"].split()) <= 500


@pytest.mark.parametrize("question", samples.questions(), ids=lambda q: q["id"])
def test_answers_to_questions_are_said_somewhere(question: dict[str, object]) -> None:
    """Every expected and every rejected answer occurs in the sample, and the points in time are readable."""
    said = "\n".join(str(episode.get("text") or episode.get("value")) for episode in samples.episodes())
    answers: list[dict[str, str | None]] = question["answers"]  # type: ignore[assignment]

    assert answers
    for answer in answers:
        for text in (answer["expect"], answer["reject"]):
            assert text is None or all(word in said for word in text.split())
        for instant in (answer["valid"], answer["system"]):
            assert instant is None or datetime.fromisoformat(instant)


def test_a_question_has_different_answers_on_both_axes() -> None:
    """Two valid times, two system times, and not one answer for all."""
    grids = []
    for question in samples.questions():
        cells = {(a["valid"], a["system"]): a["expect"] for a in question["answers"]}
        for valid in {v for v, _ in cells if v}:
            grids.append({cells[v, s] for v, s in cells if v == valid})

    assert any(len(grid) > 1 for grid in grids)
