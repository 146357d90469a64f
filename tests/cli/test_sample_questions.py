"""The sample's questions, asked of the memory that the demo makes: its acceptance test."""

from collections.abc import Iterator
from typing import Any

import pytest

import graphmem
from graphmem import Memory, demo, samples
from graphmem.results import FactItem
from graphmem.runtime import FixedClock

pytestmark = pytest.mark.local
QUESTIONS = {q["id"]: q for q in samples.questions()}


@pytest.fixture(scope="module")
def told() -> Iterator[Memory]:
    """The sample, recorded as the demo does."""
    with graphmem.open(clock=FixedClock(demo.today())) as memory:
        demo.record(memory)
        yield memory


def found(memory: Memory, question: str, answer: dict[str, Any], limit: int) -> list[FactItem]:
    """The facts that the memory gives to a question at the answer's point, best first."""
    view = memory.as_of(valid=answer["valid"], system=answer["system"])
    return [h.item for h in view.search(question, kinds=("fact",), limit=limit) if isinstance(h.item, FactItem)]


def says(fact: FactItem, wanted: str) -> bool:
    """Whether a fact names what is wanted."""
    return wanted.casefold() in f"{fact.source} {fact.target} {fact.text}".casefold()


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_right_answer_is_among_the_first_facts(told: Memory, name: str) -> None:
    """At every point one of the first three facts says what is expected there."""
    question, wrong = QUESTIONS[name], []
    for answer in question["answers"]:
        if answer["expect"] is None:
            continue
        first = found(told, question["question"], answer, 3)
        if not any(says(fact, answer["expect"]) for fact in first):
            wrong.append((answer, first))

    assert not wrong, f"{question['question']}: {wrong}"


@pytest.mark.parametrize("name", QUESTIONS)
def test_no_fact_that_answers_says_what_was_wrong_then(told: Memory, name: str) -> None:
    """Of the facts found, none of the kind that answers the question says what did not hold at that point."""
    question = QUESTIONS[name]
    relations = {
        fact.relation
        for answer in question["answers"]
        for fact in found(told, question["question"], answer, 1)
        if answer["expect"] is not None and says(fact, answer["expect"])
    }
    subject = question["question"].casefold()
    wrong = [
        (answer, fact)
        for answer in question["answers"]
        for fact in found(told, question["question"], answer, 5)
        if answer["reject"] is not None
        and fact.relation in relations
        and answer["reject"] in (fact.source, fact.target)
        and any(end.casefold() in subject for end in (fact.source, fact.target))
    ]

    assert not wrong, f"{question['question']}: {wrong}"


def test_the_memory_that_the_demo_makes_is_whole(told: Memory) -> None:
    """No invariant is broken after half a year of chat."""
    assert told.verify() == []


def test_the_square_has_different_answers(told: Memory) -> None:
    """The question shown on two axes has at least three different answers at its four points."""
    answers = [a for row in demo.square(told).answers for a in row]

    assert len({a.fact.target for a in answers if a.fact is not None}) >= 3


def test_forgetting_a_message_changes_the_answer_and_restoring_brings_it_back(told: Memory) -> None:
    """The demo's round trip ends in the state it began in."""
    trip = demo.round_trip(told)

    assert trip.before.fact is not None
    assert trip.after.fact is not None
    assert trip.without.fact is None or trip.without.fact.valid != trip.before.fact.valid
    assert (trip.after.fact.id, trip.after.fact.valid) == (trip.before.fact.id, trip.before.fact.valid)
    assert trip.hashes[0] == trip.hashes[1]


@pytest.mark.parametrize("name", ["Nordferry", "Tidewell", "Priya Raman", "Jonas Lindqvist", "Jonas Weber"])
def test_one_thing_is_one_entity(told: Memory, name: str) -> None:
    """Named by several people, a record and a report, and once taken for a person by the recogniser: still one."""
    assert [(e.name, e.type) for e in told.entities(name)] == [(name, "Organization" if name in ("Nordferry", "Tidewell") else "Person")]
