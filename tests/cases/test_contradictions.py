"""Cases C10, C11 and lessons A14 to A16: what a judge may repeat and end, and what it may not."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import pytest
from wire import Script, codes, new_rows, rows, says, short

from graphmem import Memory, Relation
from graphmem.llm.base import Ask
from graphmem.testing import ScriptedModel

Open = Callable[..., Memory]


def judging(decide: Callable[[Ask], dict[int, dict[str, object]]]) -> Callable[[Ask], object]:
    """A judge that says this about each new fact, by number."""
    return lambda ask: {"judgements": [{"new": n, **said} for n, said in decide(ask).items()]}


def id_of(ask: Ask, text: str) -> str:
    """The short id of the fact offered with that sentence."""
    [found] = [f["id"] for f in ask.payload["facts"] if f["text"] == text]  # type: ignore[union-attr,index,call-overload]
    return str(found)


def test_c10_a_fact_of_other_things_is_neither_offered_nor_ended(open_memory: Open) -> None:
    """A budget says nothing about a job: the judge is not asked. One asked about something else who names it is refused."""
    script = Script()
    known = says(("Mira", "ADVISES", "Quillon"), ("Mira", "PREFERS", "tea"), types={"Mira": "Person"})
    budget = says(("Mira", "OWNS_BUDGET_OF", "Quillon canteen"))
    more = says(("Mira", "ADVISES", "Brightpeak"), ("Mira", "PREFERS", "mate"), types={"Mira": "Person"})
    model = ScriptedModel({**script.questions(), "judge": judging(lambda ask: {0: {"contradicts": [id_of(ask, "Mira PREFERS tea")]}})})
    memory = open_memory(model=model)
    memory.add_message("Mira", script.on("A", known), reference_time="2025-01-01")
    memory.add_message("Mira", script.on("B", budget), reference_time="2025-02-01")
    assert model.asked("judge") == []
    result = memory.add_message("Mira", script.on("C", more), reference_time="2025-03-01")
    assert codes(result) == ["contradiction_refused"]
    assert len(set(result.warnings[0].raw)) == 2  # type: ignore[arg-type]
    assert sorted(f.target for f in memory.facts("Mira")) == ["Brightpeak", "Quillon", "Quillon canteen", "mate", "tea"]


def test_c10_what_a_judge_ends_says_why_and_opens_again_without_its_cause(open_memory: Open) -> None:
    """The earlier fact ends where the new one starts, the change names the model's reason, forgetting the episode undoes it."""
    script = Script()
    model = ScriptedModel({**script.questions(), "judge": judging(lambda ask: {0: {"contradicts": [id_of(ask, "Mira ADVISES Quillon")]}})})
    memory = open_memory(model=model)
    memory.add_message("Mira", script.on("A", says(("Mira", "ADVISES", "Quillon"))), reference_time="2025-01-01")
    before = memory.state_hash()
    new = says(("Mira", "ADVISES", "Brightpeak", {"valid_at": "2025-04-01"}))
    result = memory.add_message("Mira", script.on("B", new), reference_time="2025-03-01")
    assert rows(memory, "Mira") == [("Mira", "Quillon", "2025-01-01", "2025-04-01"), ("Mira", "Brightpeak", "2025-04-01", None)]
    [version] = [f for f in memory.facts("Mira", history=True) if f.target == "Brightpeak"]
    assert version.episodes == result.ids
    assert [c.reason for c in result.changes if c.text == "Mira ADVISES Brightpeak"] == ["model: contradicts Mira ADVISES Quillon"]
    memory.forget(episode=result)
    assert memory.state_hash() == before


def tunes(count: int) -> dict[str, object]:
    """Mira likes that many tunes."""
    return says(*(("Mira", "LIKES", f"tune {chr(97 + n)}") for n in range(count)), types={"Mira": "Person"})


@pytest.mark.parametrize("named", [3, 4, 8])
def test_c11_a_judge_that_names_more_than_three_facts_ends_none(open_memory: Open, named: int) -> None:
    """Three are ended; with more the episode says so and nothing ends. Ids that were not offered are told."""
    script = Script()

    def judge(ask: Ask) -> object:
        ids = [str(f["id"]) for f in ask.payload["facts"]]  # type: ignore[union-attr,index,call-overload]
        return {"judgements": [{"new": 0, "duplicates": [], "contradicts": [*ids[:named], "f999", -1, None, 0, "Mira LIKES silence"]}]}

    memory = open_memory(model=ScriptedModel({**script.questions(), "judge": judge}))
    memory.add_message("Mira", script.on("A", tunes(8)), reference_time="2025-01-01")
    result = memory.add_message("Mira", script.on("B", says(("Mira", "LIKES", "silence"))), reference_time="2025-02-01")
    assert codes(result).count("unknown_id") == 5
    assert ("contradiction_cap" in codes(result)) is (named > 3)
    ended = [f for f in memory.facts("Mira", history=True) if f.invalid_at is not None]
    assert len(ended) == (named if named <= 3 else 0)
    assert [f.target for f in memory.facts("Mira")].count("silence") == 1


def test_c11_a_duplicate_is_no_contradiction_and_nothing_ends_itself(open_memory: Open) -> None:
    """Named as both, a fact is taken as repeated, also if it was offered as a candidate only; another one ends where that began."""
    script = Script()

    def decide(ask: Ask) -> dict[int, dict[str, object]]:
        again, other = id_of(ask, "Mira PRAISES jazz"), id_of(ask, "Mira MOCKS jazz")
        return {0: {"duplicates": [again], "contradicts": [again, other, new_rows(ask)[0]["new"]]}}

    memory = open_memory(model=ScriptedModel({**script.questions(), "judge": judging(decide)}))
    known = says(("Mira", "PRAISES", "jazz"), ("Mira", "MOCKS", "jazz", {"valid_at": "2024"}))
    memory.add_message("Mira", script.on("A", known), reference_time="2025-01-01")
    result = memory.add_message("Mira", script.on("B", says(("Mira", "LIKES", "jazz"))), reference_time="2025-02-01")
    assert codes(result) == ["unknown_id"]
    assert [(f.relation, short(f.valid_at), short(f.invalid_at)) for f in memory.facts("Mira", history=True)] == [
        ("MOCKS", "2024-01-01", "2025-01-01"),
        ("PRAISES", "2025-01-01", None),
    ]


def test_a14_what_one_episode_says_twice_is_judged_once(open_memory: Open) -> None:
    """The same sentence between the same two: one row of the question, one fact, one citation."""
    script = Script()
    model = ScriptedModel({**script.questions(), "judge": judging(lambda ask: {0: {}})})
    memory = open_memory(model=model)
    memory.add_message("Mira", script.on("A", tunes(1)), reference_time="2025-01-01")
    twice = ("Mira", "LIKES", "opera", {"text": "Mira likes opera"})
    result = memory.add_message("Mira", script.on("B", says(twice, twice, twice)), reference_time="2025-02-01")
    assert len(new_rows(model.asked("judge")[0])) == 1
    [fact] = [f for f in memory.facts("Mira") if f.target == "opera"]
    assert fact.episodes == result.ids


@pytest.mark.parametrize("again", ["Mira likes opera", "mira LIKES opera!"])
def test_a15_a_known_sentence_asks_nobody_and_is_cited_once_more(open_memory: Open, again: str) -> None:
    """Word for word, or but for case and signs."""
    script = Script()
    model = ScriptedModel({"extract": script.extract})
    memory = open_memory(model=model)
    texts = [script.on(str(n), says(("Mira", "LIKES", "opera", {"text": t}))) for n, t in enumerate(["Mira likes opera", again, again])]
    ids = [memory.add_message("Mira", t, reference_time=f"2025-0{n + 1}-01").id for n, t in enumerate(texts)]
    [fact] = memory.facts("Mira", history=True)
    assert sorted(fact.episodes) == sorted(ids)
    assert {a.prompt for a in model.asks} == {"extract"}


def test_a16_facts_that_a_judge_calls_repeated_are_cited_and_not_doubled(open_memory: Open) -> None:
    """Several duplicates count as one; ids that were not offered are told and ignored."""
    script = Script()

    def decide(ask: Ask) -> dict[int, dict[str, object]]:
        return {0: {"duplicates": [id_of(ask, "Mira PRAISES jazz"), id_of(ask, "Mira ADMIRES jazz"), "f77", 99, None, {}]}}

    memory = open_memory(model=ScriptedModel({**script.questions(), "judge": judging(decide)}))
    known = says(("Mira", "PRAISES", "jazz"), ("Mira", "ADMIRES", "jazz"))
    first = memory.add_message("Mira", script.on("A", known), reference_time="2025-01-01")
    second = memory.add_message("Mira", script.on("B", says(("Mira", "LIKES", "jazz"))), reference_time="2025-02-01")
    assert codes(second) == ["unknown_id"] * 4
    cited = {f.relation: set(f.episodes) for f in memory.facts("Mira", history=True)}
    assert cited == {"PRAISES": {first.id, second.id}, "ADMIRES": {first.id}}


def test_a_place_inside_another_is_another_place_unless_several_are_declared(open_memory: Open) -> None:
    """Whatever else the memory knows of places, in any order of telling; with many targets both homes hold."""
    rows_of = [
        ("Lisbon", "LOCATED_IN", "Portugal", "2020"),
        ("Mira", "LIVES_IN", "Lisbon", "2021"),
        ("Mira", "LIVES_IN", "Portugal", "2025"),
    ]
    told = [{"source": s, "relation": r, "target": t, "valid_at": at} for s, r, t, at in rows_of]
    several = Relation("LIVES_IN", synonyms=("LIVES_AT", "RESIDES_IN", "RESIDES_AT", "MOVED_TO"))
    for order in permutations(told):
        one, many = open_memory(), open_memory(ontology=[several])
        for row in order:
            for memory in (one, many):
                memory.add_facts([row], reference_time="2025-06-01")
        assert sorted(rows(one, "Mira")) == [("Mira", "Lisbon", "2021-01-01", "2025-01-01"), ("Mira", "Portugal", "2025-01-01", None)]
        assert sorted(f.target for f in many.facts("Mira")) == ["Lisbon", "Portugal"]
