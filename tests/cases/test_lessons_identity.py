"""Lessons A1 to A9 and A24: who is who, decided by name where a name decides, asked about once where it does not."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from wire import Script, Unrelated, all_new, codes, new_rows, same_as_first, says

from graphmem import Memory
from graphmem.llm.base import Ask
from graphmem.llm.prompts import rendered
from graphmem.testing import ScriptedModel

Open = Callable[..., Memory]


def told(open_memory: Open, *named: tuple[str, str], **asked: object) -> tuple[Memory, ScriptedModel]:
    """A memory told of one thing after the other: (name, type), an episode each; and its model."""
    script = Script()
    model = ScriptedModel({"extract": script.extract, **asked})  # type: ignore[dict-item]
    memory = open_memory(model=model)
    for number, (name, kind) in enumerate(named):
        text = script.on(f"Report {number}.", says(only=[name], types={name: kind}))
        memory.add_text(text, reference_time=f"2025-01-{number + 1:02d}")
    return memory, model


@pytest.mark.parametrize("names", [("QX", "qx", " Qx "), ("Bo", "BO", "bo"), ("Acme", "ACME", "a c m e".replace(" ", ""))])
def test_a1_the_same_name_however_short_is_the_same_thing_unasked(open_memory: Open, names: tuple[str, ...]) -> None:
    """Case and spaces do not matter; the model foresees no such question."""
    memory, model = told(open_memory, *((name, "Thing") for name in names))
    assert [e.name for e in memory.entities()] == [names[0]]
    assert {a.prompt for a in model.asks} == {"extract"}


def test_a2_a_long_name_misspelt_is_the_same_unasked_and_a_short_one_is_asked_about(open_memory: Open) -> None:
    """One letter of a long name; of a short one the model decides, either way."""
    memory, model = told(open_memory, ("Halvik Rowing Association", "Club"), ("Halvik Rowing Asociation", "Club"))
    assert (len(memory.entities()), model.asked("resolve")) == (1, [])
    for answer, people in ((same_as_first, 1), (all_new, 2)):
        memory, model = told(open_memory, ("Beatriz Nogueira", "Person"), ("Bea", "Person"), resolve=answer)
        assert (len(memory.entities()), len(model.asked("resolve"))) == (people, 1)


def test_a3_of_two_things_of_one_name_the_model_says_which(open_memory: Open) -> None:
    """Both are offered; without an answer the likeliest is taken and told, never silently."""
    script = Script()
    said: list[object] = [{"matches": [{"new": 0, "existing": None}]}, {"matches": [{"new": 0, "existing": "e2"}]}, {"matches": []}]
    model = ScriptedModel({"extract": script.extract, "resolve": said})
    memory = open_memory(model=model)
    for number, kind in enumerate(("Place", "Language", "Thing", "Thing")):
        result = memory.add_text(script.on(f"Java {number}", says(only=["Java"], types={"Java": kind})), reference_time="2025-01-01")
        if number == 2:
            offered = [c["type"] for c in new_rows(model.asks[-1])[0]["candidates"]]
            meant = [e.type for e in memory.entities("Java") if result.id in {x.id for x in memory.episodes(entity=e.id)}]
            assert sorted(offered) == ["Language", "Place"]
            assert meant == [offered[1]]
    assert codes(result) == ["ambiguous_name"]
    assert sorted(e.type for e in memory.entities("Java")) == ["Language", "Place"]
    model.done()


def test_a4_a_name_like_no_other_is_new_unasked(open_memory: Open) -> None:
    """However many are known."""
    memory, model = told(open_memory, *((name, "Thing") for name in ("Tarpon", "Quince", "Obelisk", "Zephyr", "Lichen")))
    assert len(memory.entities()) == 5
    assert {a.prompt for a in model.asks} == {"extract"}


def test_a5_all_undecided_names_of_an_episode_are_one_question(open_memory: Open) -> None:
    """Three first names, one call, and each gets its own answer."""
    full = ["Ana Prado", "Ivo Lund", "Rosa Weil"]
    script = Script()

    def resolve(ask: Ask) -> object:
        rows = new_rows(ask)
        return {"matches": [{"new": r["new"], "existing": r["candidates"][0]["id"] if r["name"] != "Ivo" else None} for r in rows]}

    model = ScriptedModel({"extract": script.extract, "resolve": resolve})
    memory = open_memory(model=model)
    short = [n.split()[0] for n in full]
    memory.add_text(script.on("A", says(only=full, types=dict.fromkeys(full, "Person"))), reference_time="2025-01-01")
    memory.add_text(script.on("B", says(only=short, types=dict.fromkeys(short, "Person"))), reference_time="2025-01-02")
    assert len(model.asked("resolve")) == 1
    assert sorted(e.name for e in memory.entities()) == ["Ana Prado", "Ivo", "Ivo Lund", "Rosa Weil"]


ODD: list[object] = [
    None, 7, "", "e1", [], {}, {"matches": None}, {"matches": [None, 7, "e1", [], {}]},
    {"matches": [{"new": 5, "existing": "e1"}]}, {"matches": [{"new": -1, "existing": "e1"}]}, {"matches": [{"existing": "e1"}]},
    {"matches": [{"new": 0, "existing": "e99"}]}, {"matches": [{"new": 0, "existing": ["e1"]}]}, {"matches": [{"new": 0, "existing": 1}]},
    {"matches": [{"new": 0, "existing": "Beatriz Nogueira"}]}, {"matches": [{"new": 0, "existing": None}, {"new": 0, "existing": "e1"}]},
]  # fmt: skip


def test_a6_no_answer_about_who_is_meant_crashes_or_links_amiss(open_memory: Open) -> None:
    """Out of range, repeated, missing, unknown: told, and the name is a new person."""
    for answer in ODD:
        memory, _ = told(open_memory, ("Beatriz Nogueira", "Person"), ("Bea", "Person"), resolve=lambda ask, a=answer: a)
        assert sorted(e.name for e in memory.entities()) == ["Bea", "Beatriz Nogueira"], answer


def test_a7_attributes_of_a_candidate_are_not_its_id(open_memory: Open) -> None:
    """Whatever a text has made of them: the question offers ids of its own, and the name as known."""
    script = Script()
    known = says(only=["Beatriz Nogueira"], types={"Beatriz Nogueira": "Person"})
    known["entities"][0]["attributes"] = {"id": "e7", "name": "Mallory", "new": 3, "type": "Robot", "existing": "e7", "uuid": "u"}
    model = ScriptedModel({"extract": script.extract, "resolve": same_as_first})
    memory = open_memory(model=model)
    memory.add_text(script.on("A", known), reference_time="2025-01-01")
    memory.add_text(script.on("B", says(only=["Bea"], types={"Bea": "Person"})), reference_time="2025-01-02")
    [row] = new_rows(model.asked("resolve")[0])
    [candidate] = row["candidates"]
    assert (candidate["id"], candidate["name"], candidate["type"], row["new"]) == ("e1", "Beatriz Nogueira", "Person", 0)
    assert "e7" not in json.dumps(rendered(model.asked("resolve")[0]).user)
    [entity] = memory.entities()
    assert (entity.name, entity.type) == ("Beatriz Nogueira", "Person")
    assert entity.id not in ("e7", "u")


def test_a8_a_thing_takes_the_type_that_says_more_and_keeps_it(open_memory: Open) -> None:
    """Told what it is, an untyped thing becomes that; said to be some thing again, it stays what it is."""
    memory, _ = told(open_memory, ("Halcyon", "Entity"), ("Halcyon", "Vessel"), ("halcyon", "Entity"), ("HALCYON", "Thing"))
    assert [(e.name, e.type) for e in memory.entities()] == [("Halcyon", "Vessel")]


def test_a9_one_name_twice_in_an_episode_is_one_thing(open_memory: Open) -> None:
    """The type that says more counts, attributes of both are kept, facts of both are its own."""
    answer = {
        "entities": [
            {"name": "Halcyon", "attributes": {"built": 1998}},
            {"name": "HALCYON", "type": "Vessel", "attributes": {"rig": "sloop"}},
            {"name": "Ivo", "type": "Person"},
        ],
        "facts": [
            {"source": 2, "target": 0, "relation": "SAILS_ON", "text": "Ivo sails on it"},
            {"source": 2, "target": 1, "relation": "OWNS", "text": "Ivo owns it"},
        ],
    }
    memory = open_memory(model=ScriptedModel({"extract": answer}))
    result = memory.add_text("The Halcyon.", reference_time="2025-01-01")
    assert sorted((e.name, e.type) for e in memory.entities()) == [("Halcyon", "Vessel"), ("Ivo", "Person")]
    assert dict(memory.entity("Halcyon").attributes) == {"built": 1998, "rig": "sloop"}
    assert sorted(f.relation for f in memory.facts("Halcyon")) == ["OWNS", "SAILS_ON"]
    assert [e.id for e in memory.episodes(entity="Halcyon")] == [result.id]


def test_a24_names_of_a_batch_lead_to_one_person_whatever_their_order(open_memory: Open) -> None:
    """Chains of other names end at one person with all of them; an empty batch is fine."""
    links = {"Bea": "Beatriz", "Beatriz": "Beatriz Nogueira", "Beatriz Nogueira": "Bea"}
    for order in (("Bea", "Beatriz", "Beatriz Nogueira"), ("Beatriz Nogueira", "Bea", "Beatriz"), ("Beatriz", "Beatriz Nogueira", "Bea")):
        script = Script()
        rows = []
        for n, name in enumerate(order):
            entity = {"name": name, "type": "Person", "aliases": [links[name]]}
            rows.append({"text": script.on(f"On {name}.", {"entities": [entity], "facts": []}), "reference_time": f"2025-01-0{n + 1}"})
        memory = open_memory(model=ScriptedModel({"extract": script.extract, "resolve": all_new}), embedder=Unrelated())
        assert memory.add_many([]) == []
        assert len(memory.add_many(rows)) == 3
        [person] = memory.entities()
        assert {person.name, *person.aliases} == set(links)
        assert len(memory.episodes(entity="Bea")) == 3
