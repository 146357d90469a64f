"""What is said to a model: which data goes along, which shape is asked for, and that it is short."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib.resources import files

import pytest

import graphmem.llm.prompts
from graphmem.errors import ModelError
from graphmem.ingest import extract, judge, naming, profiles, resolve
from graphmem.ingest.reading import Setting, read_extraction
from graphmem.llm.base import Ask
from graphmem.llm.prompts import Prompt, rendered
from graphmem.llm.prompts.texts import Words, words
from graphmem.ontology import Ontology, Relation
from graphmem.relations import COMMON, DEFAULT_ONTOLOGY
from graphmem.search.tokens import count_tokens

EXTRACT = {
    "kind": "message",
    "text": "My sister Ana moved to Porto.",
    "reference_time": "2025-03-04T10:15:30+01:00",
    "zone": "Europe/Lisbon",
    "actor": "Mira",
    "session": "s1",
    "source": None,
    "participants": ["Mira", "Ivo"],
    "recent": [
        {"actor": "Ivo", "text": "How is Ana?", "reference_time": "2025-03-04T10:14:00+01:00"},
        {"actor": "Mira", "text": "Hm.", "reference_time": "2025-03-01T09:00:00+01:00"},
    ],
    "known": [
        {"id": "en_1", "name": "Ana Prado", "type": "Person", "aliases": ["Ana"]},
        {"id": "en_2", "name": "flat", "type": "Thing", "aliases": []},
    ],
    "offset": 0,
}
RESOLVE = {
    "text": "Ana is here.",
    "speaker": None,
    "new": [
        {"new": 0, "name": "Ana", "type": "Person", "candidates": [{"id": "e1", "name": "Ana Prado", "type": "Person", "aliases": []}]}
    ],
}
JUDGE = {
    "reference_time": "2025-03-04T10:15:30+00:00",
    "new": [
        {
            "new": 0,
            "source": "Mira",
            "relation": "LIKES",
            "target": "tea",
            "text": "Mira likes tea",
            "valid_at": None,
            "invalid_at": None,
            "kind": "holds",
            "candidates": ["f1"],
        }
    ],
    "facts": [
        {
            "id": "f1",
            "source": "Mira",
            "relation": "LIKES",
            "target": "coffee",
            "text": "Mira likes coffee",
            "valid_at": "2024",
            "invalid_at": None,
            "status": "current",
        }
    ],
}
COMMUNITY = {
    "central": ["Mira", "Ivo"],
    "parts": [{"name": "The band", "summary": "They play on Fridays."}],
    "facts": [{"fact": "Mira plays with Ivo", "from": "2024"}],
}
PROFILE = {"name": "Mira", "type": "Person", "facts": [{"id": "f1", "text": "Mira likes tea", "from": "2024"}]}
PAYLOADS = {"extract": EXTRACT, "resolve": RESOLVE, "judge": JUDGE, "community": COMMUNITY, "profile": PROFILE}


def prompt(name: str = "extract", **more: object) -> Prompt:
    return rendered(Ask(name, 1, {**PAYLOADS[name], **more}))


def data(of: Prompt) -> dict[str, object]:
    """The first fenced data of a prompt."""
    return json.loads(of.user.split("\n")[1])


def objects(schema: object) -> Iterator[Mapping[str, object]]:
    """Every part of a schema."""
    if isinstance(schema, Mapping):
        yield schema
        for part in schema.values():
            yield from objects(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from objects(part)


def test_the_versions_in_the_files_are_those_that_the_questions_carry() -> None:
    """A prompt that changes gets a new number in both places, so that no recording of the old one answers it."""
    assert {name: words(name).version for name in PAYLOADS} == {
        "extract": extract.VERSION,
        "resolve": resolve.VERSION,
        "judge": judge.VERSION,
        "community": naming.VERSION,
        "profile": profiles.VERSION,
    }
    assert {f.name for f in files(graphmem.llm.prompts).iterdir() if f.name.endswith(".md")} == {
        *(f"{n}.md" for n in PAYLOADS),
        "repair.md",
    }


def test_places_are_filled_once_and_all_of_them() -> None:
    """A place inside a value stays as it is; none is left over."""
    assert Words(1, "{{a}} {{b}}").filled({"a": "{{b}}", "b": "{{a}}"}) == "{{b}} {{a}}"
    for name in PAYLOADS:
        assert "{{" not in prompt(name).system.replace('"facts":[{{', "")
    assert "Say {{types}}." in prompt(instructions="Say {{types}}.").system


def test_the_data_of_an_extraction_is_what_the_model_needs_and_nothing_else() -> None:
    """Time with its weekday, speaker, company, names without ids; another day of an earlier message is shown."""
    assert data(prompt()) == {
        "time": "Tuesday 2025-03-04T10:15+01:00",
        "speaker": "Mira",
        "people": ["Ivo"],
        "known": ["Ana Prado (Person)", "flat"],
        "recent": ["Ivo: How is Ana?", "[2025-03-01] Mira: Hm."],
        "text": "My sister Ana moved to Porto.",
    }


def test_what_is_said_of_a_judgement_has_names_dates_and_status() -> None:
    """Ids are short; what is not known is left out."""
    assert data(prompt("judge")) == {
        "time": "Tuesday 2025-03-04T10:15Z",
        "facts": [{"id": "f1", "fact": "Mira likes coffee", "text": "Mira likes coffee", "from": "2024", "status": "current"}],
        "new": [{"new": 0, "fact": "Mira likes tea", "text": "Mira likes tea", "candidates": ["f1"]}],
    }


@pytest.mark.parametrize("name", PAYLOADS)
def test_schemas_are_fit_for_strict_mode(name: str) -> None:
    """Every property required, none added, every list and free text bounded."""
    for part in objects(prompt(name).schema):
        kinds = part.get("type") if isinstance(part.get("type"), list) else [part.get("type")]
        if "object" in kinds:
            assert part["additionalProperties"] is False
            assert part["required"] == list(part["properties"])  # type: ignore[call-overload]
        if "array" in kinds:
            assert isinstance(part["maxItems"], int)
        if "string" in kinds:
            assert "enum" in part or 0 < part["maxLength"] <= 1000  # type: ignore[operator]


def test_the_example_in_each_prompt_fits_its_schema() -> None:
    """What a model is shown is what it is asked for."""
    keys = {"extract": {"entities", "facts"}, "resolve": {"matches"}, "judge": {"judgements"}, "profile": {"profile", "cites"}}
    for name, wanted in keys.items():
        [line] = [line for line in prompt(name).system.splitlines() if line.startswith("{")]
        shown, schema = json.loads(line), prompt(name).schema
        assert set(shown) == wanted == set(schema["properties"])  # type: ignore[call-overload]
        for listed, rows in shown.items() if name != "profile" else ():
            assert {frozenset(row) for row in rows} == {frozenset(schema["properties"][listed]["items"]["properties"])}  # type: ignore[index]


def test_the_example_copied_as_it_stands_says_nothing() -> None:
    """A weak model does that: no entity, no fact, nothing repeated or contradicted comes of it."""
    [line] = [line for line in prompt().system.splitlines() if line.startswith("{")]
    read = read_extraction(line, Setting("My sister Ana moved to Porto.", datetime(2025, 3, 4, tzinfo=UTC), UTC, "Mira"))
    assert (read.entities, read.facts) == ((), ())
    assert not re.search(r'"[ef]\d"', prompt("resolve").system + prompt("judge").system + prompt("profile").system)


def test_what_is_told_of_a_community_is_its_facts_and_parts() -> None:
    """Nothing that is empty; the shape asked for is a name and a summary, as the example shows."""
    made = prompt("community")
    assert data(made) == COMMUNITY
    assert data(prompt("community", parts=[])) == {name: COMMUNITY[name] for name in ("central", "facts")}
    [line] = [line for line in made.system.splitlines() if line.startswith("{")]
    assert set(json.loads(line)) == set(made.schema["properties"]) == {"name", "summary"}  # type: ignore[call-overload]


def test_ids_that_were_not_offered_cannot_be_answered() -> None:
    """Where a server follows the schema, a model picks from the ids shown."""
    match = prompt("resolve").schema["properties"]["matches"]["items"]["properties"]["existing"]  # type: ignore[index]
    assert match["enum"] == ["e1", None]
    row = prompt("judge").schema["properties"]["judgements"]["items"]["properties"]  # type: ignore[index]
    assert row["contradicts"]["items"]["enum"] == ["f1"]
    assert prompt("profile").schema["properties"]["cites"]["items"]["enum"] == ["f1"]  # type: ignore[index]


def test_a_repair_shows_the_first_answer_cut_and_fenced_and_why() -> None:
    """A long answer keeps its ends."""
    bad = "</data> START" + "x" * 50_000 + "END"
    user = prompt(repair={"answer": bad, "error": "no JSON " * 500}).user
    assert user.count("</data>") == 2
    assert "START" in user
    assert "END" in user
    assert len(user) < 5_000
    assert words("repair").text in user


def test_an_ontology_is_told_tersely_and_instructions_stand_outside_the_data() -> None:
    """Types with attributes, relations with their ends; a closed one says so and limits the answer."""
    ontology = Ontology.of(
        Relation("SAILS_ON", source_types=("Sailor",), target_types=("Vessel",), description="as crew"),
        types=[{"name": "Vessel", "description": "a boat", "attributes": {"length": "float"}}, {"name": "Sailor"}],
        closed=True,
    )
    made = prompt(ontology=ontology.outline(), instructions="Only boats matter.")
    assert "Sailor; Vessel = a boat (attributes: length: float). No other." in made.system
    assert "sails_on (Sailor → Vessel; as crew). No other." in made.system
    assert made.system.endswith("Only boats matter.")
    entity = made.schema["properties"]["entities"]["items"]["properties"]  # type: ignore[index]
    assert entity["type"]["enum"] == ["Sailor", "Vessel", "Value", "Entity"]
    assert entity["attributes"]["items"]["properties"]["name"]["enum"] == ["length"]
    assert made.schema["properties"]["facts"]["items"]["properties"]["relation"]["enum"] == ["sails_on"]  # type: ignore[index]


def test_the_default_relations_that_are_told_are_known() -> None:
    """Each by its own name; an ontology that is the default one goes without saying."""
    assert all(DEFAULT_ONTOLOGY.knows(name) and DEFAULT_ONTOLOGY.canonical(name)[0] == name for name in COMMON)
    assert Ontology.from_json(DEFAULT_ONTOLOGY.to_json()).outline() == DEFAULT_ONTOLOGY.outline()


@pytest.mark.parametrize(("name", "most"), [("extract", 1_200), ("resolve", 500), ("judge", 550), ("community", 500), ("profile", 400)])
def test_prompts_are_short(name: str, most: int) -> None:
    """Counted on the high side, with little data."""
    made = prompt(name)
    assert count_tokens(made.system + made.user) <= most


def test_a_longer_text_gets_a_longer_answer_up_to_a_bound() -> None:
    """And so do more names and facts."""
    assert prompt().max_tokens < prompt(text="x" * 2_000).max_tokens < prompt(text="x" * 100_000).max_tokens == 8_000
    assert prompt("resolve").max_tokens < prompt("resolve", new=RESOLVE["new"] * 5).max_tokens


def test_an_unknown_prompt_is_refused_by_name() -> None:
    """As the endpoint sees it."""
    with pytest.raises(ModelError, match="summarise"):
        rendered(Ask("summarise", 1, {}))


@pytest.mark.parametrize("name", PAYLOADS)
def test_odd_payloads_are_rendered_all_the_same(name: str) -> None:
    """Empty ones, and names that hold anything."""
    rendered(Ask(name, 1, {}))
    odd = {"known": [{"name": "\ud800</data>", "type": None}], "recent": [{}], "text": None, "reference_time": "soon", "participants": [7]}
    assert rendered(Ask(name, 1, odd)).user.count("</data>") == 1
