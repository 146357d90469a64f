"""What `graphmem demo` tells: half a year of a team's chat is recorded, asked, asked about the past, and partly forgotten.

Nothing here knows an answer: each function reads the memory and returns what it found.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

from graphmem import samples
from graphmem.model import Change
from graphmem.results import EntityItem, EpisodeItem, FactItem
from graphmem.view import View

if TYPE_CHECKING:
    from graphmem.memory import Memory

PERSON = "Person"
TODAY_AFTER = timedelta(days=35)
SQUARE_QUESTION = "danylo-home"
FORGOTTEN_QUESTION = "mira-home"
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")


@dataclass(frozen=True)
class Person:
    """A person and the facts about them that hold now."""

    entity: EntityItem
    facts: tuple[FactItem, ...]


@dataclass(frozen=True)
class Answer:
    """What the memory says to a question at one point: the best fact and the first episode that says it; both None: nothing."""

    question: str
    fact: FactItem | None = None
    said: EpisodeItem | None = None

    @property
    def quote(self) -> str:
        """The line of the episode that shares most words with the fact, the first of several."""
        if self.fact is None or self.said is None:
            return ""
        wanted = _words(f"{self.fact.text} {self.fact.target}")
        lines = [part for part in _SENTENCE_END.split(self.said.text) if part.strip()]
        return max(lines, key=lambda part: len(wanted & _words(part)))


@dataclass(frozen=True)
class Square:
    """One question at two valid times (columns) and two system times (rows; None is now)."""

    question: str
    valid: tuple[str, str]
    system: tuple[str | None, str | None]
    answers: tuple[tuple[Answer, Answer], tuple[Answer, Answer]]


@dataclass(frozen=True)
class RoundTrip:
    """One message forgotten and restored: the answer before, without it and after, the changes, and both state hashes."""

    before: Answer
    without: Answer
    after: Answer
    lost: tuple[Change, ...]
    regained: tuple[Change, ...]
    hashes: tuple[str, str]


def today() -> datetime:
    """When the story is told: some weeks after its last message, so that every run reads the same."""
    last: datetime = samples.episodes()[-1]["recorded_at"]
    return last + TODAY_AFTER


def record(memory: Memory) -> int:
    """Record the sample; returns how many warnings that gave."""
    results = memory.add_many(samples.episodes())
    return sum(len(r.warnings) for r in results)


def people(view: View, limit: int = 5) -> list[Person]:
    """The people with most facts that hold, and these facts; ties by name."""
    found = [Person(e, tuple(view.facts(e.id))) for e in view.entities(type=PERSON)]
    found.sort(key=lambda p: (-len(p.facts), p.entity.name))
    return found[:limit]


def questions() -> list[str]:
    """The sample's questions that have an answer today."""
    return [q["question"] for q in samples.questions() if any(_point(a) == (None, None) and a["expect"] is not None for a in q["answers"])]


def ask(view: View, question: str) -> Answer:
    """The best fact that holds at this point, and the first episode that says it."""
    for hit in view.search(question, kinds=("fact",), limit=1):
        if isinstance(hit.item, FactItem):
            said = [view.episode(cited) for cited in hit.episodes]
            return Answer(question, hit.item, min(said, key=lambda e: e.reference_time, default=None))
    return Answer(question)


def square(memory: Memory) -> Square:
    """A question of the sample whose right answer depends on both axes, at two points of each."""
    asked = _question(SQUARE_QUESTION)
    valid, system = _corners(asked["answers"])

    def row(believed: str | None) -> tuple[Answer, Answer]:
        early, late = (ask(memory.as_of(valid=v, system=believed), asked["question"]) for v in valid)
        return early, late

    return Square(asked["question"], valid, system, (row(system[0]), row(system[1])))


def round_trip(memory: Memory) -> RoundTrip:
    """Forget the message behind an answer, ask again, and bring it back."""
    question = _question(FORGOTTEN_QUESTION)["question"]
    before, hash_before = ask(memory, question), memory.state_hash()
    if before.said is None:
        raise LookupError(f"nothing answers {question!r}")
    forgotten = memory.forget(episode=before.said, reason="to see what it changed")
    without = ask(memory, question)
    restored = memory.restore(forgotten)
    after, hash_after = ask(memory, question), memory.state_hash()
    return RoundTrip(before, without, after, forgotten.changes, restored.changes, (hash_before, hash_after))


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def _question(name: str) -> dict[str, Any]:
    return next(q for q in samples.questions() if q["id"] == name)


def _corners(answers: list[dict[str, Any]]) -> tuple[tuple[str, str], tuple[str | None, str | None]]:
    """Two valid and two system times, past first, for whose four combinations the sample has an answer."""
    points = {_point(a) for a in answers}
    valid = sorted({v for v, _ in points if v is not None})
    past = sorted({s for _, s in points if s is not None})
    for pair, believed in product(combinations(valid, 2), past):
        system = (believed, None)
        if all(p in points for p in product(pair, system)):
            return (pair[0], pair[1]), system
    raise LookupError("the question is not answered at two points of both axes")


def _point(answer: dict[str, Any]) -> tuple[str | None, str | None]:
    return answer["valid"], answer["system"]
