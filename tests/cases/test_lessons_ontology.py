"""Case C26 and lessons A10 to A13, A17 to A21, A25, A26, A33: types, relations and attributes that do not fit, or are hostile."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Literal

import pytest
from pydantic import BaseModel, Field
from wire import Script, all_new, codes, rows, says

from graphmem import Filters, Memory, Ontology, Relation
from graphmem.entity_types import EntityType
from graphmem.errors import InvalidGroup, InvalidInput
from graphmem.llm.base import Ask
from graphmem.llm.prompts import rendered
from graphmem.testing import ScriptedModel

Open = Callable[..., Memory]


class Vessel(BaseModel):
    """A boat or a ship."""

    built: int | None = None
    rig: Literal["sloop", "ketch"] | None = None
    note: str | None = Field(None, max_length=20)
    flags: list[str] = []


WORKS = Relation("WORKS_AT", one_target=True, source_types=("Person",), target_types=("Company",))
STAFF = [EntityType("Person"), EntityType("Company"), WORKS]


def extracted(open_memory: Open, answer: dict[str, object], *, text: str = "A text.", **how: object) -> tuple[Memory, list[str]]:
    """A memory told one text that is read so, and the codes of the warnings."""
    memory = open_memory(model=ScriptedModel({"extract": answer, "resolve": all_new}), **how)
    return memory, codes(memory.add_text(text, reference_time="2025-01-01"))


def entities(*named: tuple[object, object]) -> list[dict[str, object]]:
    """Rows of entities: (name, type)."""
    return [{"name": name, "type": kind} for name, kind in named]


def fact(source: object, target: object, relation: object = "WORKS_AT", **more: object) -> dict[str, object]:
    """A row of a fact."""
    return {"source": source, "target": target, "relation": relation, "text": f"{source} {relation} {target}", **more}


def test_c26_types_that_are_not_declared_are_told(open_memory: Open) -> None:
    """An unknown type is kept as given, or in a closed ontology the base type; a position is no type."""
    answer = {"entities": entities(("Zorg", "Alien"), ("Mira", 17), ("Acme", "company")), "facts": []}
    memory, told = extracted(open_memory, answer, ontology=STAFF)
    assert sorted((e.name, e.type) for e in memory.entities()) == [("Acme", "Company"), ("Mira", "Entity"), ("Zorg", "Alien")]
    assert told == ["bad_type", "unknown_type"]
    memory, told = extracted(open_memory, answer, ontology=Ontology.of(WORKS, types=STAFF[:2], closed=True))
    assert sorted((e.name, e.type) for e in memory.entities()) == [("Acme", "Company"), ("Mira", "Entity"), ("Zorg", "Entity")]
    assert told == ["bad_type", "unknown_type"]


def test_c26_a_relation_is_known_however_it_is_spelled_and_its_direction_is_kept_as_said(open_memory: Open) -> None:
    """A fact that points the wrong way is told, never turned."""
    answer = {
        "entities": entities(("Mira", "Person"), ("Acme", "Company"), ("Globex", "Company"), ("Ivo", "Person")),
        "facts": [fact("Mira", "Acme", "works at"), fact("Globex", "Ivo"), fact("Ivo", "Mira")],
    }
    memory, told = extracted(open_memory, answer, ontology=STAFF)
    assert {(f.source, f.relation, f.target) for f in memory.facts()} == {
        ("Mira", "WORKS_AT", "Acme"), ("Globex", "WORKS_AT", "Ivo"), ("Ivo", "WORKS_AT", "Mira"),
    }  # fmt: skip
    assert told == ["wrong_direction", "type_misfit"]


OWN_FIELDS = {
    "id": "f1", "fact_id": "x", "uuid": "u", "name": "n", "group": "other", "source": "Mallory", "target": "Mallory", "relation": "HATES",
    "text": "t", "valid_at": "1999", "invalid_at": "1999", "created_at": "1999", "expired_at": "1999", "type": "Robot", "episodes": ["x"],
}  # fmt: skip


def test_c26_attributes_are_set_on_the_first_fact_and_overwrite_nothing(open_memory: Open) -> None:
    """Names of fields are attributes like others; a value that no file can hold costs itself alone."""
    row = fact(0, 1, attributes={**OWN_FIELDS, "since": 2019, "wild": {1, 2}})
    answer = {"entities": entities(("Mira", "Person"), ("Acme", "Company")), "facts": [row]}
    answer["entities"][0]["attributes"] = dict(OWN_FIELDS)  # type: ignore[index]
    memory, told = extracted(open_memory, answer)
    plain, _ = extracted(open_memory, {**answer, "facts": [fact(0, 1)]})
    assert told == ["bad_attribute"]
    [made], [bare] = memory.facts(), plain.facts()
    assert dict(made.attributes) == {**OWN_FIELDS, "since": 2019}
    assert (made.id, made.source, made.relation, made.target, made.valid_at) == (
        bare.id, "Mira", "WORKS_AT", "Acme", bare.valid_at,
    )  # fmt: skip
    assert (made.created_at, made.expired_at, made.group, made.episodes) == (bare.created_at, None, "main", bare.episodes)
    mira = memory.entity("Mira")
    assert (mira.name, mira.type, mira.id) == ("Mira", "Person", plain.entity("Mira").id)


class Employment(BaseModel):
    """Work for somebody."""

    since: int | None = Field(None, gt=1800, description="the year it began")
    role: Literal["engineer", "cook"] | None = None


EMPLOYED = Relation("WORKS_AT", one_target=True, source_types=("Person",), target_types=("Company",), attributes=Employment)
BY_ROW = {"relations": [{"name": "WORKS_AT", "one_target": True, "attributes": {"since": "int", "role": "str"}}]}


@pytest.mark.parametrize(
    "ontology", [[EntityType("Person"), EntityType("Company"), EMPLOYED], [EMPLOYED], BY_ROW], ids=["typed", "alone", "row"]
)
def test_c26_attributes_of_a_relation_are_read_as_declared(open_memory: Open, ontology: object) -> None:
    """On the first fact, under their declared names; what does not fit is told and the fact kept, what is not declared too."""
    given = [{"name": "Since", "value": "2019"}, {"name": "role", "value": "engineer"}, {"name": "desk", "value": "north"}]
    rows_of = [fact(0, 1, "works at", attributes=given), fact(2, 1, attributes={"since": "two", "role": None}), fact(3, 1)]
    named = entities(("Mira", "Person"), ("Acme", "Company"), ("Ivo", "Person"), ("Ana", "Person"))
    memory, told = extracted(open_memory, {"entities": named, "facts": rows_of}, ontology=ontology)
    assert told == ["bad_attribute"]
    assert {f.source: dict(f.attributes) for f in memory.facts()} == {
        "Mira": {"since": 2019, "role": "engineer", "desk": "north"}, "Ivo": {}, "Ana": {},
    }  # fmt: skip
    found = memory.search("who works at Acme", kinds=["fact"], filters=Filters(attributes={"since": 2019}))
    assert [h.item.source for h in found] == ["Mira"]


def test_c26_a_closed_ontology_drops_attributes_that_a_relation_does_not_declare(open_memory: Open) -> None:
    """And says so; an inverse has the attributes of its relation."""
    employs = Relation("EMPLOYS", inverse_of="WORKS_AT")
    ontology = Ontology.of(EMPLOYED, employs, types=STAFF[:2], closed=True)
    answer = {
        "entities": entities(("Mira", "Person"), ("Acme", "Company")),
        "facts": [fact(1, 0, "employs", attributes={"since": 2019, "desk": 1})],
    }
    memory, told = extracted(open_memory, answer, ontology=ontology)
    [made] = memory.facts()
    assert (made.source, made.relation, dict(made.attributes), told) == ("Mira", "WORKS_AT", {"since": 2019}, ["unknown_attribute"])
    for wrong in ({"name": "A", "attributes": {"x": "money"}}, {"name": "A", "attributes": ["x", "X"]}):
        with pytest.raises(InvalidInput, match="ontology"):
            open_memory(ontology={"relations": [wrong]})
    with pytest.raises(InvalidInput, match="declare them there"):
        Relation("EMPLOYS", inverse_of="WORKS_AT", attributes=Employment)


def test_c26_attributes_of_a_relation_follow_the_fact_through_time(open_memory: Open) -> None:
    """A later statement lays its own over them; what was believed earlier had the earlier ones; ended, it keeps them; rows
    and a handle that names no ontology are held to the same.
    """
    memory = open_memory("work.db", ontology=[EMPLOYED])
    row = {"source": "Mira", "relation": "WORKS_AT", "target": "Acme", "valid_at": "2019"}
    first = memory.add_facts([{**row, "attributes": {"since": "2019", "role": "cook"}}], reference_time="2025-01-01")
    memory.add_facts([{**row, "attributes": {"role": "engineer"}}], reference_time="2025-01-02")
    result = memory.add_facts(
        [{**row, "target": "Globex", "valid_at": "2024", "attributes": {"role": "pilot"}}], reference_time="2025-01-03"
    )
    assert codes(result) == ["bad_attribute"]
    assert {f.target: dict(f.attributes) for f in memory.facts("Mira", history=True)} == {
        "Acme": {"since": 2019, "role": "engineer"}, "Globex": {},
    }  # fmt: skip
    [then] = memory.as_of(system=first.created_at).facts("Mira")
    assert dict(then.attributes) == {"since": 2019, "role": "cook"}


def test_c26_the_model_is_asked_for_the_attributes_of_relations(open_memory: Open) -> None:
    """In words and in the schema, in few words; not where no relation has any."""
    model = ScriptedModel({"extract": {"entities": [], "facts": []}})
    open_memory(model=model, ontology=[EMPLOYED]).add_text("A text.", reference_time="2025-01-01")
    open_memory(model=model, ontology=[WORKS]).add_text("A text.", reference_time="2025-01-01")
    with_them, without = (rendered(ask) for ask in model.asks)
    assert "attributes: since: int, the year it began, role: engineer|cook" in with_them.system
    assert with_them.system.count("attributes: those of the relation") == 1
    assert "attributes" not in without.system
    for prompt, there in ((with_them, True), (without, False)):
        facts = prompt.schema["properties"]["facts"]["items"]  # type: ignore[index]
        assert ("attributes" in facts["properties"], "attributes" in facts["required"]) == (there, there)
        assert "attributes" not in prompt.schema["properties"]["entities"]["items"]["properties"]  # type: ignore[index]


def test_a10_blank_names_are_dropped_and_a_type_out_of_range_is_the_default(open_memory: Open) -> None:
    """Whatever stands where a type should."""
    kinds: list[object] = [99, -1, None, "", "   ", [7], {}, 1.5, "\u200b", "T" * 500]
    named = [(f"Thing {chr(97 + n)}", kind) for n, kind in enumerate(kinds)]
    memory, told = extracted(open_memory, {"entities": entities(("", "Person"), (" \u200b ", "Person"), *named), "facts": []})
    assert {e.type for e in memory.entities()} == {"Entity"}
    assert len(memory.entities()) == len(kinds)
    assert told.count("junk_name") == 2


def test_a11_the_model_is_told_the_types_in_order_and_none_that_is_closed_out_is_stored(open_memory: Open) -> None:
    """Declared types by name, the built-in ones always usable; what the ontology cannot mean is refused before any call."""
    ontology = Ontology.of(types=[Vessel, EntityType("Captain")], closed=True)
    script = Script()
    text = script.on("T", {"entities": entities(("Ivo", "Pirate"), ("Halcyon", "vessel"), ("12", "Value"), ("X", "Entity")), "facts": []})
    model = ScriptedModel(script.questions())
    memory = open_memory(model=model, ontology=ontology)
    assert codes(memory.add_text(text, reference_time="2025-01-01")) == ["unknown_type"]
    system = rendered(model.asks[0]).system
    assert -1 < system.index("Captain") < system.index("Vessel")
    assert sorted((e.name, e.type) for e in memory.entities()) == [
        ("Halcyon", "Vessel"), ("Ivo", "Entity"), ("X", "Entity"),
    ]  # fmt: skip
    assert [e.name for e in memory.entities(type="Value")] == ["12"]
    for wrong in ({"types": ["Vessel"], "excluded": ["Pirate"]}, {"types": ["Entity"]}, {"relations": [{"name": "A", "inverse_of": "B"}]}):
        with pytest.raises(InvalidInput):
            open_memory(ontology=wrong)
    assert len(model.asks) == 1


def test_a12_the_question_says_what_kind_of_source_it_is_about(open_memory: Open) -> None:
    """Messages have a speaker, texts have none, JSON and rows are read without a question."""
    model = ScriptedModel({"extract": says(only=["Ivo"])})
    memory = open_memory(model=model)
    memory.add_message("Mira", "I saw Ivo.", reference_time="2025-01-01")
    memory.add_text("Ivo was seen.", reference_time="2025-01-01")
    memory.add_json({"id": 7, "name": "Ivo"}, reference_time="2025-01-01")
    memory.add_facts([{"source": "Ivo", "relation": "SEES", "target": "Mira"}], reference_time="2025-01-01")
    assert [(a.payload["kind"], a.payload["actor"]) for a in model.asks] == [("message", "Mira"), ("text", None)]
    assert '"speaker":"Mira"' in rendered(model.asks[0]).user.replace(" ", "")
    assert '"speaker":"' not in rendered(model.asks[1]).user.replace(" ", "")


@pytest.mark.parametrize("last", ["Acme", "Globex"])
def test_a13_facts_that_join_nothing_are_dropped_and_the_rest_keeps_its_order(open_memory: Open, last: str) -> None:
    """Unknown ends, one end twice, nothing said: each told. Of two employers of one text the one said later counts."""
    first = "Globex" if last == "Acme" else "Acme"
    bad = [fact("Mira", "Nobody"), fact("Mira", "Mira"), {"source": 0, "target": 1}, "junk", fact("Mira", last, "  ", text=" ")]
    facts = [bad[0], fact("Mira", first), *bad[1:4], fact("Mira", last), bad[4]]
    named = entities(("Mira", "Person"), ("Acme", "Company"), ("Globex", "Company"))
    memory, told = extracted(open_memory, {"entities": named, "facts": facts})
    assert [f.target for f in memory.facts("Mira", history=True)] == [last]
    assert told[:5] == ["bad_ref", "self_loop", "blank_fact", "bad_fact", "blank_fact"]


def test_a17_a_relation_that_is_not_declared_is_kept_as_given(open_memory: Open) -> None:
    """In an open ontology, told; the default relations are not the only ones."""
    answer = {"entities": entities(("Mira", "Person"), ("Halcyon", "Vessel")), "facts": [fact(0, 1, "varnishes the hull of")]}
    memory, told = extracted(open_memory, answer, ontology=[Vessel])
    assert [f.relation for f in memory.facts("Mira")] == ["VARNISHES_THE_HULL_OF"]
    assert [f.relation for f in memory.facts("Mira", relation="varnishes the hull of")] == ["VARNISHES_THE_HULL_OF"]
    assert told == ["unknown_relation"]


def test_a18_a_relation_may_join_several_types(open_memory: Open) -> None:
    """All declared ends fit; another one is told."""
    owns = Relation("OWNS", source_types=("Person", "Company"), target_types=("Vessel", "House"))
    named = entities(("Mira", "Person"), ("Acme", "Company"), ("Halcyon", "Vessel"), ("Villa", "House"), ("Fair", "Event"))
    for source, target, wanted in ((0, 2, []), (1, 3, []), (0, 3, []), (0, 4, ["type_misfit"]), (2, 0, ["wrong_direction"])):
        memory, told = extracted(open_memory, {"entities": named, "facts": [fact(source, target, "OWNS")]}, ontology=[owns])
        assert told == wanted
        assert len(memory.facts()) == 1


def vessel(**attributes: object) -> dict[str, object]:
    """The Halcyon, with these attributes."""
    return {"entities": [{"name": "Halcyon", "type": "Vessel", "attributes": attributes}], "facts": []}


SECRET = "the owner's telephone number is 555 0199 " * 2


def test_a19_a_value_that_is_too_long_is_set_aside_and_the_one_before_stays(open_memory: Open, caplog: pytest.LogCaptureFixture) -> None:
    """The bound of a field, of any text, and of a list; no log line of the library says the value."""
    model = ScriptedModel(
        {"extract": [vessel(note="fine", flags=["PT"]), vessel(note=SECRET, flags=["ES"] * 500), vessel(name="x" * 30_000)]}
    )
    memory = open_memory(model=model, ontology=[Vessel])
    with caplog.at_level(logging.INFO):
        told = [codes(memory.add_text(f"Text {n}.", reference_time=f"2025-01-0{n + 1}")) for n in range(3)]
    assert told == [[], ["bad_attribute", "bad_attribute"], ["bad_attribute"]]
    assert dict(memory.entity("Halcyon").attributes) == {"note": "fine", "flags": ["PT"]}
    assert "555 0199" not in caplog.text


class Manual(BaseModel):
    """A manual."""

    code: str
    title: str | None = None
    parts: list[str] = []


def manual(**attributes: object) -> dict[str, object]:
    """The manual, with these attributes."""
    return {"entities": [{"name": "Pump manual", "type": "Manual", "attributes": attributes}], "facts": []}


def test_a19_a_required_attribute_is_kept_however_long_it_is(open_memory: Open) -> None:
    """What its class requires, or its row says is required; a list of many short texts has a bound in all."""
    answer = manual(code="C" * 1_500, title="T" * 1_500, parts=[f"{n:02}" + "p" * 200 for n in range(60)])
    by_row = {"types": {"Manual": [{"name": "code", "required": True}, "title", {"name": "parts", "type": "list[str]"}]}}
    for ontology in ([Manual], by_row):
        memory, told = extracted(open_memory, answer, ontology=ontology)
        assert told == ["bad_attribute", "bad_attribute"]
        assert dict(memory.entity("Pump manual").attributes) == {"code": "C" * 1_500}
    memory, told = extracted(open_memory, manual(title="short"), ontology=[Manual])
    assert (told, dict(memory.entity("Pump manual").attributes)) == ([], {"title": "short"})


def test_a19_the_environment_says_how_long_an_attribute_may_be(open_memory: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """For all types; what is no such number is refused by its name."""
    monkeypatch.setenv("GRAPHMEM_ATTRIBUTE_LENGTH", "40")
    memory, told = extracted(open_memory, manual(title="T" * 41, code="C" * 41, parts=["x" * 40, "y"]), ontology=[Manual])
    assert (told, dict(memory.entity("Pump manual").attributes)) == (["bad_attribute"], {"code": "C" * 41, "parts": ["x" * 40, "y"]})
    monkeypatch.setenv("GRAPHMEM_ATTRIBUTE_LENGTH", "2000")
    memory, told = extracted(open_memory, manual(title="T" * 1_999), ontology=[Manual])
    assert told == []
    for wrong in ("0", "-1", "many", "1e3", "999999"):
        monkeypatch.setenv("GRAPHMEM_ATTRIBUTE_LENGTH", wrong)
        with pytest.raises(InvalidInput, match="GRAPHMEM_ATTRIBUTE_LENGTH"):
            open_memory()


def test_a20_attributes_of_things_and_facts_are_laid_over_those_before(open_memory: Open) -> None:
    """What is left out stays, what is given counts: a paraphrase does not wipe what a fact was known to have."""
    named = entities(("Mira", "Person"), ("Acme", "Company"))
    given = [{"since": 2019, "desk": "north"}, {}, {"desk": "south"}]
    answers = []
    for n, attributes in enumerate(given):
        answer = {"entities": [dict(e) for e in named], "facts": [fact(0, 1, text="Mira works at Acme" + "!" * n, attributes=attributes)]}
        answer["entities"][1]["attributes"] = attributes  # type: ignore[index]
        answers.append(answer)
    memory = open_memory(model=ScriptedModel({"extract": answers}))
    for n in range(3):
        memory.add_text(f"Text {n}.", reference_time=f"2025-01-0{n + 1}")
    [made] = memory.facts("Mira")
    assert dict(made.attributes) == dict(memory.entity("Acme").attributes) == {"since": 2019, "desk": "south"}
    assert len(made.episodes) == 3


def test_a21_an_episode_without_types_leaves_attributes_alone(open_memory: Open) -> None:
    """Named only, as rows, and in JSON."""
    model = ScriptedModel({"extract": [vessel(built=1998, rig="ketch"), says(only=["Halcyon"])]})
    memory = open_memory(model=model, ontology=[Vessel])
    memory.add_text("Built in 1998.", reference_time="2025-01-01")
    memory.add_text("The Halcyon again.", reference_time="2025-01-02")
    memory.add_facts([{"source": "Ivo", "relation": "LIKES", "target": "Halcyon"}], reference_time="2025-01-03")
    [halcyon] = memory.entities("Halcyon")
    assert (halcyon.type, dict(halcyon.attributes)) == ("Vessel", {"built": 1998, "rig": "ketch"})
    assert len(memory.episodes(entity="Halcyon")) == 3


def test_a25_instructions_reach_each_question_about_a_text_once(open_memory: Open) -> None:
    """Also the one that repairs, and each part of a long text; never among the data."""
    words = "Leave out the weather."
    answers: list[object] = ["{}", says(only=["Ivo"]), *[says(only=["Ivo"])] * 9]
    model = ScriptedModel({"extract": answers})
    memory = open_memory(model=model, instructions=words)
    memory.add_message("Mira", "I saw Ivo.", reference_time="2025-01-01")
    memory.add_text("Ivo was seen once more at noon. " * 600, reference_time="2025-01-02")
    asked = [rendered(ask) for ask in model.asked("extract")]
    assert len(asked) > 3
    assert [prompt.system.count(words) for prompt in asked] == [1] * len(asked)
    assert not any(words in prompt.user for prompt in asked)


def test_a26_rows_of_facts_add_to_what_is_there(open_memory: Open) -> None:
    """The same two ends and relation are the same fact, whose attributes join; other ends are another one; unknown names are new."""
    memory = open_memory()
    row = {"source": "Mira", "relation": "WORKS_AT", "target": "Acme", "valid_at": "2020"}
    memory.add_facts([{**row, "source_type": "Person", "attributes": {"desk": "north"}}], reference_time="2025-01-01")
    memory.add_facts(
        [{**row, "target_type": "Company", "text": "Mira is at Acme", "attributes": {"badge": 7}}], reference_time="2025-01-02"
    )
    memory.add_facts([{**row, "source": "Ivo"}], reference_time="2025-01-03")
    [mira] = memory.facts("Mira", history=True)
    [ivo] = memory.facts("Ivo", history=True)
    assert dict(mira.attributes) == {"desk": "north", "badge": 7}
    assert len(mira.episodes) == 2
    assert mira.id != ivo.id
    assert sorted((e.name, e.type) for e in memory.entities()) == [("Acme", "Company"), ("Ivo", "Entity"), ("Mira", "Person")]


HOSTILE = ["X`) DETACH DELETE n //", "A:B", "'; DROP TABLE facts; --", "]->() MATCH (n)", "Per\nson", "$group", "{x}", "日本", "a\u202eb"]


@pytest.mark.parametrize("label", HOSTILE, ids=ascii)
def test_a33_a_type_or_relation_of_any_letters_is_data(open_memory: Open, label: str) -> None:
    """From a model, from rows, from an ontology, in a filter: nothing runs, and it is read back as it was kept."""
    answer = {"entities": entities(("Mira", label), ("Acme", "Company")), "facts": [fact(0, 1, label)]}
    memory, _ = extracted(open_memory, answer)
    row = {"source": "Ivo", "relation": label, "target": "Acme", "source_type": label}
    memory.add_facts([row], reference_time="2025-01-02")
    kept = {e.type for e in memory.entities() if e.name != "Acme"}
    assert len(kept) == 1
    [relation] = {f.relation for f in memory.facts()}
    for filters, kind in ((Filters(types=tuple(kept)), "entity"), (Filters(relations=(relation,)), "fact")):
        assert len(memory.search("Mira Ivo Acme", kinds=[kind], filters=filters)) == 2
    for filters in (Filters(types=(label + "?",)), Filters(relations=("NOT_" + label,))):
        assert len(memory.search("Mira Ivo", kinds=["fact"], filters=filters)) == 0
    typed = open_memory(ontology=[EntityType(label), Relation(label, source_types=(label,))])
    typed.add_facts([row], reference_time="2025-01-02")
    assert len(typed.facts("Ivo", relation=label)) == 1


READS: dict[str, Callable[[Memory, object], object]] = {
    "search": lambda m, g: m.search("Nadia", group=g),  # type: ignore[arg-type]
    "explain": lambda m, g: m.explain("Nadia", group=g),  # type: ignore[arg-type]
    "context": lambda m, g: m.context("Nadia", group=g),  # type: ignore[arg-type]
    "facts": lambda m, g: m.facts(group=g),  # type: ignore[arg-type]
    "entities": lambda m, g: m.entities(group=g),  # type: ignore[arg-type]
    "entity": lambda m, g: m.entity("Nadia", group=g),  # type: ignore[arg-type]
    "episodes": lambda m, g: m.episodes(group=g),  # type: ignore[arg-type]
    "timeline": lambda m, g: m.timeline(group=g),  # type: ignore[arg-type]
    "neighbours": lambda m, g: m.neighbours("Nadia", group=g),  # type: ignore[arg-type]
    "counts": lambda m, g: m.counts(group=g),  # type: ignore[arg-type]
    "hash": lambda m, g: m.state_hash(group=g),  # type: ignore[arg-type]
    "view": lambda m, g: m.as_of(valid="2025").facts(group=g),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("read", READS)
def test_a33_a_group_that_cannot_be_is_refused_on_every_way_to_read(open_memory: Open, read: str) -> None:
    """Also one of several; a newline at the end is no exception."""
    memory = open_memory()
    memory.add_facts([{"source": "Nadia", "relation": "GROWS", "target": "pears"}])
    for group in ("", "a\n", "a\x00b", "x" * 201, 7, ("main", "a\n"), [None]):
        with pytest.raises(InvalidGroup):
            READS[read](memory, group)
    READS[read](memory, "main")


def test_c26_what_is_asked_again_after_a_misfit_is_nothing(open_memory: Open) -> None:
    """Misfits cost no further call (I9): one question, and its usage is the result's."""
    asked: list[Ask] = []

    def extract(ask: Ask) -> object:
        asked.append(ask)
        return {"entities": entities(("Mira", "Alien"), ("Acme", 17)), "facts": [fact(1, 0, attributes={"since": "two"})]}

    memory = open_memory(model=ScriptedModel({"extract": extract}), ontology=STAFF)
    result = memory.add_text("A text.", reference_time="2025-01-01")
    assert (len(asked), result.usage.calls) == (1, 1)
    assert rows(memory) == [("Acme", "Mira", "2025-01-01", None)]
