"""Real data forgotten in every way and restored: what is believed is what it was, to the byte."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest

import graphmem
from graphmem import Filters
from graphmem.interval import Interval

pytestmark = pytest.mark.data

OpenMemory = Callable[..., graphmem.Memory]
Row = dict[str, Any]


def dated_facts(data: Path) -> Iterator[Row]:
    """Careers and marriages from a public knowledge graph, ten of a person's an episode."""
    with (data / "temporal-kg" / "yago15k_intervals.csv").open(encoding="utf-8", newline="") as lines:
        rows = sorted(csv.DictReader(lines), key=lambda r: r["subject"])
    for n in range(0, len(rows), 10):
        facts = [
            {
                "source": r["subject"],
                "relation": r["relation"],
                "target": r["object"],
                "valid_at": r["start_year"].zfill(4) if r["start_year"] else None,
                "invalid_at": r["end_year"].zfill(4) if r["end_year"] else None,
            }
            for r in rows[n : n + 10]
        ]
        said = datetime(2018, 1, 1, tzinfo=UTC) + timedelta(hours=n)
        yield {"kind": "facts", "rows": facts, "reference_time": said, "session": f"page {n // 100}", "key": str(n)}


def messages(data: Path) -> Iterator[Row]:
    """What two friends wrote to each other."""
    sample = json.loads((data / "locomo" / "locomo_dev5.json").read_text(encoding="utf-8"))[0]
    talk = sample["conversation"]
    for number in range(1, 60):
        if f"session_{number}" in talk:
            began = datetime.strptime(talk[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
            for n, turn in enumerate(talk[f"session_{number}"]):
                said = began + timedelta(seconds=30 * n)
                yield {"actor": turn["speaker"], "text": turn["text"] or "(a picture)", "reference_time": said, "session": str(number)}


def something(memory: graphmem.Memory, rng: Random) -> dict[str, Any]:
    """What to forget: episodes, a fact, an entity, a session, or facts of a relation that overlap a year."""
    match rng.randrange(5):
        case 0:
            return {"episode": rng.sample(list(memory.episodes()), rng.randint(1, 5))}
        case 1:
            return {"fact": rng.choice(memory.facts(history=True))}
        case 2:
            return {"entity": rng.choice(memory.entities(summarise=False))}
        case 3:
            return {"session": rng.choice([e.session for e in memory.episodes()])}
        case _:
            fact = rng.choice(memory.facts(history=True))
            return {"where": Filters(relations=(fact.relation,), valid=Interval(fact.valid_at, fact.invalid_at))}


def forget_and_restore(memory: graphmem.Memory, times: int, seed: int) -> None:
    """Each time the state is what it was before."""
    rng, before = Random(seed), memory.state_hash()
    for _ in range(times):
        chosen = something(memory, rng)
        done = memory.forget(**chosen)
        assert done.changes, chosen
        memory.restore(done)
        assert memory.state_hash() == before, chosen


@pytest.mark.parametrize(
    ("count", "times"), [pytest.param(15, 12, id="150 rows"), pytest.param(None, 1000, id="4,271 rows", marks=pytest.mark.slow)]
)
def test_dated_facts_are_the_same_when_what_was_forgotten_is_restored(
    count: int | None, times: int, open_memory: OpenMemory, data: Path, store: str
) -> None:
    """A thousand random things, all of the table, on a file."""
    if count is None and store != "sqlite":
        pytest.skip("the whole table on a file")
    memory = open_memory()
    memory.add_many(islice(dated_facts(data), count), progress=False)
    forget_and_restore(memory, times, 5)


@pytest.mark.slow
@pytest.mark.local
def test_a_chat_is_the_same_when_what_was_forgotten_is_restored(open_memory: OpenMemory, data: Path, store: str) -> None:
    """Two hundred random things of five hundred messages read offline."""
    if store != "sqlite":
        pytest.skip("the chat on a file")
    memory = open_memory(model="offline")
    memory.add_many(islice(messages(data), 500), progress=False)
    forget_and_restore(memory, 200, 6)


def test_forgetting_every_episode_leaves_an_empty_present_and_an_intact_past(open_memory: OpenMemory, data: Path) -> None:
    """Corrections and statements by hand go with what they are about; the past is as it was, and all of it comes back."""
    memory = open_memory()
    memory.add_many(islice(dated_facts(data), 8), progress=False)
    first, second = memory.facts(history=True)[:2]
    memory.correct(first, target="Somebody New", valid="1999")
    memory.end(second, "2017-01-01")
    facts, entities, hashed = memory.facts(history=True), memory.entities(), memory.state_hash()
    with memory._scope.store.read() as reader:
        last = reader.head("main").at
    done = memory.forget(episode=memory.episodes())

    assert memory.counts() == {"episodes": 0, "entities": 0, "facts": 0, "mentions": 0}
    assert list(memory.facts(history=True)) == []
    assert list(memory.search("football", history=True)) == []
    past = memory.as_of(system=last)
    assert [(f.uuid, f.valid, f.episodes) for f in past.facts(history=True)] == [(f.uuid, f.valid, f.episodes) for f in facts]
    assert {e.id for e in past.entities()} == {e.id for e in entities}
    memory.restore(done)
    assert memory.state_hash() == hashed
