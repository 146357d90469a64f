"""Several episodes in one call, with a model that answers many questions at once: each episode fares as if it came alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import graphmem
from graphmem.embed.base import Vectors
from graphmem.embed.hashing import HashingEmbedder
from graphmem.errors import EndpointTimeout, InvalidInput, ModelError
from graphmem.llm.base import Answer, Ask
from graphmem.llm.endpoint import EndpointModel
from graphmem.memory import Memory
from graphmem.model import Usage
from graphmem.testing import ScriptedModel
from graphmem.testing.endpoint import Request, ScriptedEndpoint, failing

NOTHING = {"entities": [], "facts": []}
NEW_YEAR = datetime(2024, 1, 1, tzinfo=UTC)


class Endpoint(ScriptedModel):
    """Answers as an endpoint does: a failed ask beside others is an answer, and if none is answered the first failure is raised."""

    concurrency = 8

    def __init__(self, **script: Callable[[Ask], object]) -> None:
        super().__init__(script, local=False)

    def answer(self, asks: Sequence[Ask]) -> list[Answer]:
        answers = super().answer(asks)
        failures = [a.failure for a in answers if a.failure is not None]
        if len(failures) == len(answers):
            raise failures[0]
        return answers


def opened(**script: Callable[[Ask], object]) -> tuple[Memory, Endpoint]:
    model = Endpoint(**script)
    return graphmem.open(model=model, embedder=HashingEmbedder()), model


def test_the_same_episode_twice_in_one_call_is_asked_about_once() -> None:
    """Also when it comes in the next batch, read before the first is written; every call of the model is charged."""
    mem, model = opened(extract=lambda ask: Answer(NOTHING, Usage(1, 100, 10)))
    rows = [{"actor": "Mira", "text": f"Message number {n} is about Porto.", "key": str(n)} for n in range(31)]
    results = mem.add_many([*rows, rows[0], rows[1], rows[30]], progress=False)
    assert [r.created for r in results] == [True] * 31 + [False] * 3
    assert len(model.asks) == 31
    assert sum((r.usage for r in results), Usage()).calls == 31


def test_reading_on_shows_what_is_recorded_once() -> None:
    """An import that is started over asks the same as one that was never stopped."""
    rows = [
        {"actor": "Mira", "text": f"Message number {n} is about Porto.", "session": "s", "reference_time": NEW_YEAR + timedelta(minutes=n)}
        for n in range(40)
    ]
    whole, asked = opened(extract=lambda ask: NOTHING)
    whole.add_many(rows, progress=False)
    parts, asked_again = opened(extract=lambda ask: NOTHING)
    parts.add_many(rows[:32], progress=False)
    parts.add_many(rows, progress=False)
    assert [a.payload["recent"] for a in asked_again.asks] == [a.payload["recent"] for a in asked.asks]


@pytest.mark.parametrize("wrong", [1, 31, 32, 45])
def test_what_comes_before_a_wrong_row_is_recorded(wrong: int) -> None:
    """Then the row is named; with it mended the same call records the rest, and asks about that only."""
    mem, model = opened(extract=lambda ask: NOTHING)
    rows: list[dict[str, object]] = [{"actor": "Mira", "text": f"Message number {n} is about Porto.", "key": str(n)} for n in range(50)]
    broken = [*rows[:wrong], {**rows[wrong], "reference_time": "soon"}, *rows[wrong + 1 :]]
    with pytest.raises(InvalidInput, match=rf"episodes\[{wrong}\]\.reference_time='soon'"):
        mem.add_many(broken, progress=False)
    assert mem.counts()["episodes"] == wrong
    assert [r.created for r in mem.add_many(rows, progress=False)] == [False] * wrong + [True] * (50 - wrong)
    assert len(model.asks) == 50


def test_an_episode_does_not_fail_of_a_question_about_the_next() -> None:
    """The first needs to know who Benjamin is, the second then also what it contradicts, and only that goes unanswered."""

    def says(ask: Ask) -> object:
        who, verb, what = str(ask.payload["text"]).split()
        entities = [{"name": who, "type": "Person"}, {"name": what, "type": "Thing"}]
        return {"entities": entities, "facts": [{"source": 0, "target": 1, "relation": verb, "text": ask.payload["text"]}]}

    def means(ask: Ask) -> object:
        rows = ask.payload["new"]
        assert isinstance(rows, list)
        return {"matches": [{"new": r["new"], "existing": r["candidates"][0]["id"] if r["name"] == "Katharine" else None} for r in rows]}

    def judge(ask: Ask) -> object:
        return Answer(None, failure=EndpointTimeout("no answer in time"))

    mem, model = opened(extract=says, resolve=means, judge=judge)
    mem.add_text("Katharina has cats")
    mem.add_text("Benjamino sees zebras")
    with pytest.raises(EndpointTimeout):
        mem.add_many([{"text": "Benjamin eats cheese"}, {"text": "Katharine has dogs"}], progress=False)
    assert [ask.prompt for ask in model.asks[-3:]] == ["resolve", "resolve", "judge"]
    assert {e.text for e in mem.episodes()} == {"Katharina has cats", "Benjamino sees zebras", "Benjamin eats cheese"}


def test_what_needs_no_answer_is_written_before_the_failure_is_raised() -> None:
    """Rows of facts go into the memory though the message after them cannot be read."""
    mem, _ = opened(extract=lambda ask: Answer(None, failure=EndpointTimeout("no answer in time")))
    facts = {"kind": "facts", "rows": [{"source": "Mira", "relation": "lives_in", "target": "Porto"}]}
    with pytest.raises(EndpointTimeout):
        mem.add_many([facts, {"actor": "Mira", "text": "I moved to Lisbon in March."}], progress=False)
    assert [f.target for f in mem.facts("Mira")] == ["Porto"]


def test_all_texts_of_an_episode_are_embedded_in_one_call() -> None:
    """Other names of an entity too: nothing is left to be embedded while others wait for the write lock."""
    calls: list[list[str]] = []

    class Counting(HashingEmbedder):
        def embed(self, texts: Sequence[str]) -> Vectors:
            calls.append(list(texts))
            return super().embed(texts)

    entities = [{"name": "Katharina Weiss", "type": "Person", "aliases": ["Kathi", "KW"]}, {"name": "Porto", "type": "City"}]
    says = {"entities": entities, "facts": [{"source": 0, "target": 1, "relation": "LIVES_IN", "text": "Kathi lives in Porto"}]}
    with graphmem.open(model=ScriptedModel({"extract": says, "resolve": {"matches": []}}), embedder=Counting()) as mem:
        mem.add_message("Katharina Weiss", "Call me Kathi or KW. I live in Porto.")
        assert len(calls) == 1
        assert {"Katharina Weiss", "Kathi", "KW"} <= set(calls[0])


def test_what_was_answered_before_a_failure_is_not_asked_again(tmp_path: Path) -> None:
    """Of a long text one part fails, of an import one message: the second time only these are asked, and all is charged."""
    healed = False
    asked: list[str] = []

    def answer(request: Request) -> object:
        text = request.user.partition('"text"')[2]
        asked.append(text)
        return failing(500) if "Braga" in text and not healed else {"entities": [], "facts": []}

    cities = ("Porto", "Braga", "Faro")
    long = "\n\n".join(f"Part {n}. " + f"The tower of {city} was painted in the summer. " * 150 for n, city in enumerate(cities))
    rows = [
        {"actor": "Mira", "text": f"The tower number {n} of {cities[n == 5]} is high.", "reference_time": NEW_YEAR, "key": str(n)}
        for n in range(9)
    ]
    with ScriptedEndpoint(answer=answer) as endpoint:
        model = EndpointModel("some-model", base_url=endpoint.base_url, retries=0, max_concurrency=4)
        with graphmem.open(tmp_path / "m.db", model=model, embedder=HashingEmbedder()) as mem:
            with pytest.raises(ModelError):
                mem.add_text(long, reference_time="2025-01-01", key="long")
            with pytest.raises(ModelError):
                mem.add_many(rows, progress=False)
            assert mem.counts()["episodes"] == 5
            first, healed = len(asked), True
            mem.add_text(long, reference_time="2025-01-01", key="long")
            parts = len(asked) - first
            mem.add_many(rows, progress=False)
            again = asked[first:]
            assert [("Braga" in text, text.count("tower number 5")) for text in again[:parts]] == [(True, 0)] * parts
            assert parts >= 1
            assert len(again) == parts + 1
            assert mem.stats()["usage"]["extract"]["calls"] == len(set(asked))
            assert mem.verify() == []
