"""Cases C34 to C36 and C39: episodes that are removed, interrupted, or added by many at once; loops."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from wire import Script, codes, contradicts_all, rows, same_as_first, says, short

import graphmem
from graphmem import Memory
from graphmem.aio import AsyncMemory
from graphmem.embed.hashing import HashingEmbedder
from graphmem.llm.base import Ask
from graphmem.testing import FixedClock, ScriptedModel

Open = Callable[..., Memory]
ROSA = {"Rosa": "Person"}


def test_c34_what_only_a_removed_episode_said_is_nowhere(open_memory: Open) -> None:
    """A fact stays while one episode says it, a person while one names her; then no read, search, context or name shows them."""
    script = Script()
    memory = open_memory(model=ScriptedModel(script.questions()))
    keeps = ("Rosa", "KEEPS", "marker ZQX-31", {"text": "Rosa keeps marker ZQX-31"})
    texts = {"Rosa keeps marker ZQX-31.": keeps, "Rosa repairs clocks.": ("Rosa", "REPAIRS", "clocks"), "ZQX-31 is still with Rosa.": keeps}
    first, clocks, third = [
        memory.add_text(script.on(text, says(fact, types=ROSA)), reference_time=f"2025-01-0{n + 1}").id
        for n, (text, fact) in enumerate(texts.items())
    ]

    def shown() -> str:
        """Everything that a reader can see of the memory as it is."""
        listed = [memory.facts(history=True), memory.entities(), memory.episodes(), memory.timeline()]
        listed += [memory.search(q, limit=50, history=True) for q in ("ZQX-31", "marker", "Rosa keeps marker ZQX-31", "clocks")]
        summaries = [memory.entity(e.id).summary for e in memory.entities()]
        return str([rows.to_dict() for rows in listed]) + str(memory.context("Where is marker ZQX-31?")) + str(summaries)

    assert "ZQX" in shown()
    memory.forget(episode=first)
    assert [f.episodes for f in memory.facts("marker ZQX-31")] == [(third,)]
    memory.forget(episode=third)
    assert "ZQX" not in shown()
    assert "Rosa" in shown()
    assert [e.id for e in memory.episodes(entity="Rosa")] == [clocks]
    memory.forget(episode=clocks)
    assert memory.counts() == {"episodes": 0, "entities": 0, "facts": 0, "mentions": 0}
    assert "Rosa" not in shown()


@pytest.mark.parametrize("relation", ["LIVES_IN", "PREFERS"])
def test_c34_removing_what_ended_a_fact_reopens_it(open_memory: Open, relation: str) -> None:
    """Ended by rule or by a judge; the memory is then as if it had never been told."""
    script = Script()
    memory = open_memory(model=ScriptedModel({**script.questions(), "judge": contradicts_all}))
    memory.add_message("Mira", script.on("A", says(("Mira", relation, "Lisbon"))), reference_time="2025-01-01")
    before = memory.state_hash()
    later = memory.add_message("Mira", script.on("B", says(("Mira", relation, "Porto"))), reference_time="2025-02-01")
    assert rows(memory, "Mira")[0] == ("Mira", "Lisbon", "2025-01-01", "2025-02-01")
    forgotten = memory.forget(episode=later)
    assert rows(memory, "Mira") == [("Mira", "Lisbon", "2025-01-01", None)]
    assert memory.state_hash() == before
    memory.restore(forgotten)
    assert rows(memory, "Mira")[0] == ("Mira", "Lisbon", "2025-01-01", "2025-02-01")


def nela(ask: Ask) -> object:
    """Everybody met Nela Orr, whom nobody knew."""
    number = str(ask.payload["text"]).rpartition(" ")[2]
    return says(("Nela Orr", "VISITS", f"Harbour{chr(96 + int(number))}"), types={"Nela Orr": "Person"})


ASKED = {"extract": nela, "resolve": {"matches": []}, "judge": {"judgements": []}}


def visited(memory: Memory) -> None:
    """One person, twenty episodes, each with its fact, no two at one system instant."""
    assert [e.name for e in memory.entities("Nela Orr")] == ["Nela Orr"]
    assert len(memory.episodes(entity="Nela Orr")) == 20
    facts = memory.facts("Nela Orr", history=True)
    assert len({f.target for f in facts}) == len(facts) == 20
    assert len({f.created_at for f in facts}) == 20
    assert memory.verify() == []


@pytest.mark.parametrize("local", [True, False], ids=["local", "remote"])
def test_c36_twenty_adds_of_one_loop_that_name_somebody_new_make_one(here: dict[str, Any], local: bool) -> None:
    """Gathered in one event loop, whether the model answers at once or is waited for."""

    async def main() -> None:
        model = ScriptedModel(ASKED, local=local)
        async with AsyncMemory.open(**here, model=model, embedder=HashingEmbedder(64), clock=FixedClock("2026-01-15T12:00Z")) as memory:
            results = await asyncio.gather(*(memory.add_text(f"Nela Orr at harbour {n + 1}") for n in range(20)))
            assert [r.created for r in results] == [True] * 20
            await asyncio.to_thread(visited, memory._inner)

    asyncio.run(main())


@pytest.mark.parametrize("local", [True, False], ids=["local", "remote"])
def test_c36_twenty_adds_of_four_threads_that_name_somebody_new_make_one(open_memory: Open, local: bool) -> None:
    """Through one handle."""
    memory = open_memory(model=ScriptedModel(ASKED, local=local))
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda n: memory.add_text(f"Nela Orr at harbour {n + 1}", key=str(n)), range(20)))
    assert len({r.created_at for r in results}) == 20
    visited(memory)


def test_c36_an_episode_that_others_always_get_ahead_of_is_written_all_the_same(open_memory: Open) -> None:
    """Each time the model is asked about it, another thread adds what makes it another question."""
    others: list[Thread] = []

    def judge(ask: Ask) -> object:
        earlier = {"source": "Nela Orr", "relation": "VISITS", "target": "Harboura", "valid_at": str(2020 - len(others))}
        others.append(Thread(target=memory.add_facts, args=([earlier],)))
        others[-1].start()
        others[-1].join(60 if len(others) < 3 else 0.2)  # in the end it has to wait until the episode is written
        return {"judgements": []}

    memory = open_memory(model=ScriptedModel({**ASKED, "judge": judge}, local=False))
    memory.add_text("Nela Orr at harbour 1")
    result = memory.add_text("Nela Orr at harbour 2")
    for other in others:
        other.join()
    assert result.created
    assert len(others) > 2
    assert [short(f.valid_at) for f in memory.facts("Nela Orr")] == [f"{2021 - len(others)}-01-01", "2026-01-15T12:00:00Z"]


def test_c39_an_asynchronous_handle_works_in_two_loops_one_after_the_other(here: dict[str, Any]) -> None:
    """Opened in the first, used and closed in the second."""
    model, embedder, clock = ScriptedModel(ASKED), HashingEmbedder(64), FixedClock("2026-01-15T12:00Z")

    async def opened() -> AsyncMemory:
        return await AsyncMemory.open(**here, model=model, embedder=embedder, clock=clock)

    async def visit(number: int) -> int:
        await memory.add_text(f"Nela Orr at harbour {number}")
        return len(await memory.facts("Nela Orr"))

    memory = asyncio.run(opened())
    assert [asyncio.run(visit(1)), asyncio.run(visit(2))] == [1, 2]
    asyncio.run(memory.close())


def test_i9_an_episode_costs_at_most_four_calls_and_its_usage_is_what_was_asked(open_memory: Open) -> None:
    """Read, repaired, resolved, judged: one question each; an ordinary episode, one."""
    ordinary = says(("Beatriz Nogueira", "PREFERS", "tea"), types={"Beatriz Nogueira": "Person"})
    hard = says(("Bea", "PREFERS", "mate"), ("Bea", "LIKES", "opera"), types={"Bea": "Person"})
    script = {"extract": [ordinary, "{}", hard], "resolve": same_as_first, "judge": contradicts_all}
    model = ScriptedModel(script)  # type: ignore[arg-type]
    memory = open_memory(model=model)
    first = memory.add_text("Beatriz Nogueira wants tea.", reference_time="2025-01-01")
    assert first.usage.calls == len(model.asks) == 1
    second = memory.add_text("Bea wants mate.", reference_time="2025-02-01")
    assert [a.prompt for a in model.asks[1:]] == ["extract", "extract", "resolve", "judge"]
    assert second.usage.calls == 4
    assert {p: u.calls for p, u in second.stages.items()} == {"extract": 2, "resolve": 1, "judge": 1}


def test_c35_an_episode_stopped_by_the_keyboard_is_not_there(open_memory: Open) -> None:
    """Not only errors of ours: whatever ends the call in the middle leaves the memory as it was, and the next try is clean."""
    script = Script()
    text = script.on("A", says(("Mira", "LIVES_IN", "Porto")))
    stops: list[BaseException] = [KeyboardInterrupt(), SystemExit(1), MemoryError()]
    model = ScriptedModel({"extract": lambda ask: stops.pop(0) if stops else script.extract(ask)})
    memory = open_memory(model=model)
    memory.add_facts([{"source": "Ivo", "relation": "LIVES_IN", "target": "Porto"}], reference_time="2024-01-01")
    before = memory.state_hash(), memory.history_hash(), memory.counts()
    for kind in (KeyboardInterrupt, SystemExit, MemoryError):
        with pytest.raises(kind):
            memory.add_text(text, reference_time="2025-01-01")
        assert (memory.state_hash(), memory.history_hash(), memory.counts()) == before
    result = memory.add_text(text, reference_time="2025-01-01")
    assert (result.created, codes(result)) == (True, [])


def test_c35_the_same_key_costs_no_call_in_another_handle(tmp_path: Path) -> None:
    """Also after the program has ended: the file knows the episode."""
    for model in (ScriptedModel(ASKED, local=False), ScriptedModel({}, local=False)):
        with graphmem.open(tmp_path / "m.db", model=model, embedder=HashingEmbedder(64)) as memory:
            result = memory.add_text("Nela Orr at harbour 3", key="k")
            assert memory.counts()["episodes"] == 1
    assert (result.created, result.usage.calls) == (False, 0)
