"""Questions about the next episodes are asked as they will be: each is decided on top of those before it, and none of that is kept."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

import graphmem
from graphmem.embed.base import Vectors
from graphmem.embed.hashing import HashingEmbedder
from graphmem.errors import EndpointTimeout
from graphmem.llm.base import Answer, Ask
from graphmem.memory import Memory
from graphmem.model import Usage
from graphmem.runtime import digest
from graphmem.testing import FixedClock, ScriptedModel

NAMES = ("Katharina Weiss", "Katharine Weiss", "Katharina", "Benjamin Ode", "Benjamino", "Benjamin", "Porto", "Oporto", "Ann", "Anne")
Script = Callable[[Ask], object]


class Endpoint(ScriptedModel):
    """Answers at once, `concurrency` at a time; `rounds` are the calls."""

    def __init__(self, script: Mapping[str, Script], concurrency: int, slowness: random.Random | None = None) -> None:
        super().__init__(script, local=False)
        self.concurrency, self.rounds, self._slowness = concurrency, 0, slowness

    def answer(self, asks: Sequence[Ask]) -> list[Answer]:
        self.rounds += 1
        if self._slowness is not None:
            time.sleep(self._slowness.random() / 50)
        return super().answer(asks)


def says(ask: Ask) -> object:
    """Who does what, in a text like "Mira likes black tea"."""
    text = str(ask.payload["text"])
    who, verb, what = next((n, *text.removeprefix(n + " ").split(" ", 1)) for n in sorted(NAMES, key=len)[::-1] if text.startswith(n + " "))
    entities = [{"name": who, "type": "Person"}, {"name": what, "type": "Thing"}]
    return Answer({"entities": entities, "facts": [{"source": 0, "target": 1, "relation": verb, "text": text}]}, Usage(1, 10, 1))


def nothing_new(ask: Ask) -> object:
    """Everybody is new, and nothing repeats or contradicts anything."""
    return Answer({"matches": [], "judgements": []}, Usage(1, 10, 1))


def by_chance(ask: Ask) -> object:
    """Any of the candidates or none, always the same for the same question."""
    chance = random.Random(digest(ask.key))
    matches, judgements = [], []
    rows = ask.payload["new"]
    assert isinstance(rows, list)
    for row in rows:
        ids = [c["id"] if isinstance(c, Mapping) else c for c in row["candidates"]]
        matches.append({"new": row["new"], "existing": chance.choice([*ids, None])})
        judgements.append({"new": row["new"], "duplicates": [], "contradicts": [chance.choice(ids)] if chance.random() < 0.3 else []})
    return Answer({"matches": matches, "judgements": judgements}, Usage(1, 10, 1))


def opened(where: str | Path, concurrency: int, decide: Script, slowness: random.Random | None = None) -> tuple[Memory, Endpoint]:
    model = Endpoint({"extract": says, "resolve": decide, "judge": decide}, concurrency, slowness)
    return graphmem.open(where, model=model, embedder=HashingEmbedder(), clock=FixedClock("2026-01-15T12:00:00Z")), model


def talk(seed: int, count: int) -> list[dict[str, object]]:
    chance = random.Random(seed)
    verbs, things = ("likes", "has", "visits", "lives_in"), ("Porto", "Oporto", "black tea", "black teas", "cats", "the old harbour")
    return [
        {
            "text": f"{chance.choice(NAMES)} {chance.choice(verbs)} {chance.choice(things)}",
            "reference_time": f"2024-01-01T00:{n // 60:02}:{n % 60:02}Z",
        }
        for n in range(count)
    ]


def test_a_chain_of_questions_takes_one_round() -> None:
    """What Ann likes is compared with all that she liked before: eleven questions, each with one fact more, in one call."""
    foods = ["apples", "bread", "cheese", "dates", "eggs", "figs", "grapes", "honey", "jam", "kale", "lemons", "milk"]
    rows = [{"text": f"Ann likes {what}", "reference_time": f"2024-01-{n:02}"} for n, what in enumerate(foods, 1)]
    alone, model_alone = opened(":memory:", 1, nothing_new)
    beside, model_beside = opened(":memory:", 8, nothing_new)
    alone.add_many(rows, progress=False)
    beside.add_many(rows, progress=False)
    assert {a.key for a in model_beside.asks} == {a.key for a in model_alone.asks}
    assert len(model_beside.asks) == len(model_alone.asks) == 12 + 11
    assert (model_alone.rounds, model_beside.rounds) == (1 + 11, 2)
    assert beside.history_hash() == alone.history_hash()


@pytest.mark.parametrize("seed", range(3))
def test_answers_that_change_what_follows_end_in_the_same_memory(seed: int, store: str, tmp_path: Path) -> None:
    """Whoever the model says people are and whatever contradicts what: as if one episode had come after the other."""
    hashes = set()
    for concurrency in (1, 8):
        mem, model = opened(":memory:" if store == "memory" else tmp_path / f"{concurrency}.db", concurrency, by_chance)
        with mem:
            results = mem.add_many(talk(seed, 45), progress=False)
            assert sum(r.usage.calls for r in results) == len(model.asks) == len({a.key for a in model.asks})
            assert mem.verify() == []
            hashes.add((mem.state_hash(), mem.history_hash()))
    assert len(hashes) == 1


def test_what_is_asked_does_not_depend_on_who_is_quicker(tmp_path: Path) -> None:
    """Four batches, read ahead by an endpoint that is slow at random."""
    asked = []
    for run in range(2):
        mem, model = opened(tmp_path / f"{run}.db", 8, by_chance, random.Random(run))
        with mem:
            mem.add_many(talk(1, 120), progress=False)
        asked.append(sorted(a.key for a in model.asks))
    assert asked[0] == asked[1]


def test_an_episode_that_fails_ends_the_questions_of_those_after_it() -> None:
    """They would be about a memory that never comes to be; those before it are recorded."""

    def judge(ask: Ask) -> object:
        asked.append(str(ask.payload))
        return Answer(None, failure=EndpointTimeout("no answer in time")) if "Ann likes c" in asked[-1] else nothing_new(ask)

    asked: list[str] = []
    mem, model = opened(":memory:", 8, judge)
    # The answer to "c" fails, which is known once it was asked for with the others; who Benjamino is would be asked after that.
    with pytest.raises(EndpointTimeout):
        mem.add_many([{"text": f"Ann likes {what}"} for what in "abcd"], progress=False)
    assert [e.text for e in mem.episodes()] == ["Ann likes a", "Ann likes b"]
    assert model.rounds == 2
    assert mem.verify() == []


def test_what_was_read_ahead_of_an_import_that_ends_is_not_read_again(tmp_path: Path) -> None:
    """Of three batches the first is written; the second time the model is asked what it has not answered yet, and all is charged."""

    def stop(done: int, total: int | None) -> None:
        for thread in threading.enumerate():
            if thread.name == "graphmem-reading":
                thread.join(20)
        raise RuntimeError("stop")

    rows = talk(2, 90)
    mem, model = opened(tmp_path / "m.db", 8, nothing_new)
    with mem:
        with pytest.raises(RuntimeError, match="stop"):
            mem.add_many(rows, progress=stop)
        assert mem.counts()["episodes"] == 1
        mem.add_many(rows, progress=False)
        assert [a.prompt for a in model.asks].count("extract") == len(rows)
        assert sum(row["calls"] for row in mem.stats()["usage"].values()) == len(model.asks)


@pytest.mark.parametrize("concurrency", [1, 8])
def test_answers_outlive_an_embedder_that_fails(concurrency: int) -> None:
    """They were paid for: the same import again asks nothing."""
    works = False

    class Embedder(HashingEmbedder):
        def embed(self, texts: Sequence[str]) -> Vectors:
            if not works:
                raise EndpointTimeout("no vectors today")
            return super().embed(texts)

    model = Endpoint({"extract": says, "resolve": nothing_new, "judge": nothing_new}, concurrency)
    memory = graphmem.open(model=model, embedder=Embedder())
    rows = talk(1, 3)
    with pytest.raises(EndpointTimeout):
        memory.add_many(rows, progress=False)
    works, asked = True, len(model.asked("extract"))
    memory.add_many(rows, progress=False)
    assert len(model.asked("extract")) == asked > 0
    assert memory.stats()["usage"]["extract"]["calls"] == asked  # type: ignore[index]


def test_reading_what_another_writer_records_first_is_counted(tmp_path: Path) -> None:
    """Both have asked, both have paid; the one that comes second says so."""
    where, rows = tmp_path / "memory.db", talk(1, 1)
    first, _ = opened(where, 1, nothing_new)

    def interrupted(ask: Ask) -> object:
        first.add_many(rows, progress=False)
        return says(ask)

    model = Endpoint({"extract": interrupted, "resolve": nothing_new, "judge": nothing_new}, 1)
    with first, graphmem.open(where, model=model, embedder=HashingEmbedder(), clock=FixedClock("2026-01-15T12:00:00Z")) as second:
        (result,) = second.add_many(rows, progress=False)
        assert (result.created, result.usage.calls, result.stages["extract"].calls) == (False, 1, 1)
        assert second.stats()["usage"]["extract"]["calls"] == 2  # type: ignore[index]
