"""Types of entities with attributes, given relations, open and closed: what reaches the model, and what is made of its answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from datetime import date
from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

import graphmem
from graphmem import Memory, Ontology, Relation
from graphmem.belief.entities import UNREAD
from graphmem.embed.hashing import HashingEmbedder
from graphmem.entity_types import Attribute, EntityType, attributes_of
from graphmem.errors import InvalidInput
from graphmem.ingest.kinds import compatible
from graphmem.llm.prompts import rendered
from graphmem.results import WriteResult
from graphmem.testing import FixedClock, ScriptedModel


class Vessel(BaseModel):
    """A boat or a ship.

    Anything that floats and is steered.
    """

    length_m: float | None = Field(None, gt=0, description="length in metres")
    built: int | None = None
    launched: date | None = None
    rig: Literal["sloop", "ketch"] | None = None
    flags: list[str] = []
    code: Annotated[str, Field(pattern="^[A-Z]{3}$")] | None = None


class Ferry(Vessel):
    """A vessel that carries cars."""

    cars: int | None = None


class Sailor(BaseModel):
    """Somebody who sails."""

    rank: str | None = None


SAILS = Relation("SAILS_ON", source_types=("Sailor",), target_types=("Vessel",), one_target=True)


def opened(answers: Iterable[object], ontology: object, where: str | Path = ":memory:", **more: object) -> Memory:
    """A memory whose model gives these extraction answers, and has no opinion else."""
    model = ScriptedModel({"extract": list(answers), "resolve": {"matches": []}, "judge": {"judgements": []}})
    clock = FixedClock("2025-06-01T00:00Z")
    return graphmem.open(where, model=model, embedder=HashingEmbedder(32), clock=clock, ontology=ontology, **more)  # type: ignore[arg-type]


def vessel(name: str = "Halcyon", **attributes: object) -> dict[str, object]:
    return {"entities": [{"name": name, "type": "vessel", "attributes": attributes}], "facts": []}


def codes(result: WriteResult) -> list[str]:
    return [w.code for w in result.warnings]


def asked(mem: Memory) -> list[object]:
    return mem._recorder._model.asks  # type: ignore[attr-defined]


# ------------------------------------------------------------------------------------------------ what a type is


def test_a_pydantic_class_is_a_type() -> None:
    """Its name, the first paragraph of its docstring, its fields with their kinds, and the class it extends."""
    made = EntityType.of(Ferry)
    assert (made.name, made.description, made.parent) == ("Ferry", "A vessel that carries cars.", "Vessel")
    assert {a.name: a.type for a in made.attributes} == {
        "length_m": "float",
        "built": "int",
        "launched": "date",
        "rig": "str",
        "flags": "list[str]",
        "code": "str",
        "cars": "int",
    }
    assert EntityType.of(Vessel).description == "A boat or a ship."


def test_a_field_that_no_text_can_fill_is_refused_by_name() -> None:
    """At the call, not at the first text."""

    class Port(BaseModel):
        berths: dict[str, int]

    with pytest.raises(InvalidInput, match=r"Port\.berths"):
        opened([], [Port])


@pytest.mark.parametrize(
    ("name", "raw", "kept"),
    [
        ("length_m", "12.5", 12.5),
        ("built", "1998", 1998),
        ("launched", "2024-05-14", "2024-05-14"),
        ("rig", "ketch", "ketch"),
        ("flags", "PT", ["PT"]),
        ("flags", ["PT", "ES"], ["PT", "ES"]),
        ("code", "HAL", "HAL"),
        ("Length M", 3, 3.0),
    ],
)
def test_a_value_is_coerced_to_what_its_attribute_is(name: str, raw: object, kept: object) -> None:
    """As pydantic reads it; names of attributes are compared as loosely as those of types."""
    mem = opened([vessel(**{name: raw})], [Vessel])
    assert codes(mem.add_text("The Halcyon lies here.")) == []
    assert list(mem.entity("Halcyon").attributes.values()) == [kept]


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("length_m", -1),
        ("length_m", "nan"),
        ("built", "long ago"),
        ("built", {"y": 1998}),
        ("launched", "2024-02-30"),
        ("rig", "barque"),
        ("code", "halcyon"),
        ("flags", ["PT"] * 200),
        ("code", "A" * 5000),
    ],
)
def test_a_value_that_does_not_fit_is_set_aside_and_told(name: str, raw: object) -> None:
    """Never an error; what was known before stays."""
    mem = opened([vessel(**{name: raw, "flags": "PT"} if name != "flags" else {name: raw})], [Vessel])
    result = mem.add_text("The Halcyon lies here.")
    assert codes(result) == ["bad_attribute"]
    assert name not in mem.entity("Halcyon").attributes
    with mem._scope.store.read() as reader:
        [mention] = reader.mention_records("main", [mem.entity("Halcyon").id])
    assert name in mention.attributes[UNREAD]  # type: ignore[operator]
    assert mem.verify() == []


class Crew(BaseModel):
    """Those on board, with what only their class knows of them."""

    watch: int | None = None
    nickname: str | None = None
    berth: str | None = None
    boots: Annotated[int | None, AfterValidator(lambda size: {42: size}[size])] = None

    @field_validator("watch")
    @classmethod
    def _three_watches(cls, watch: int | None, info: ValidationInfo) -> int | None:
        if watch is not None and watch > 3:
            raise ValueError(f"{info.field_name} is 1 to 3, {dict(info.data)}")
        return watch

    @field_validator("nickname", mode="before")
    @classmethod
    def _as_written(cls, nickname: object) -> object:
        return str(nickname).strip("'") if nickname != "unknown" else ""

    @field_validator("nickname")
    @classmethod
    def _none_or_name(cls, nickname: str | None) -> str | None:
        return nickname or None

    @field_validator("berth", mode="wrap")
    @classmethod
    def _of_the_plan(cls, berth: object, read: Callable[[object], str | None]) -> str | None:
        return {"A1": "bow", "B2": "stern"}[read(berth) or ""]


class Officer(Crew):
    """Who gives orders."""


@pytest.mark.parametrize("kind", [Crew, Officer])
def test_validators_of_fields_decide_what_a_value_is(kind: type[BaseModel]) -> None:
    """Before, after and around; those inherited too. What one refuses, or fails at, is set aside with a warning."""
    good = {"watch": "3", "nickname": "'Ferry'", "berth": "A1", "boots": "42"}
    bad = {"watch": "4", "nickname": "unknown", "berth": "C3", "boots": "43"}
    rows = [{"entities": [{"name": "Ivo", "type": kind.__name__, "attributes": given}], "facts": []} for given in (good, bad)]
    mem = opened(rows, [kind])
    assert codes(mem.add_text("Ivo has the third watch.")) == []
    kept = {"watch": 3, "nickname": "Ferry", "berth": "bow", "boots": 42}
    assert dict(mem.entity("Ivo").attributes) == kept
    assert sorted(w.raw for w in mem.add_text("Ivo has the fourth watch.").warnings) == ["4", "43", "C3"]
    assert dict(mem.entity("Ivo").attributes) == kept


def test_what_a_class_says_of_all_its_texts_counts() -> None:
    """Their length, and spaces around them; beside a validator, too."""

    class Note(BaseModel):
        """A line of a log book."""

        model_config = ConfigDict(str_max_length=5, str_strip_whitespace=True)
        by: str | None = None
        of: str | None = None

        @field_validator("of")
        @classmethod
        def _as_it_is(cls, of: str | None) -> str | None:
            return of

    for attribute in attributes_of(Note):
        assert attribute.checked("  Mira ") == "Mira"
        with pytest.raises(ValueError, match="at most 5 characters"):
            attribute.checked("Mira Tallis")


def test_validators_of_fields_decide_what_an_attribute_of_a_fact_is() -> None:
    """As those of entities."""
    [watch, *_] = attributes_of(Crew)
    assert watch.checked("2") == 2
    with pytest.raises(ValueError, match=r"watch is 1 to 3, \{\}"):
        watch.checked("4")


def test_a_validator_of_a_whole_class_is_refused_by_name() -> None:
    """Values come one by one: it would check nothing."""

    class Voyage(BaseModel):
        """A way over water."""

        left: date | None = None
        came: date | None = None

        @model_validator(mode="after")
        def _in_order(self) -> Voyage:
            return self

    with pytest.raises(InvalidInput, match=r"Voyage\._in_order.*field_validator"):
        opened([], [Voyage])
    with pytest.raises(InvalidInput, match=r"Voyage\._in_order"):
        Relation("SAILS_TO", attributes=Voyage)


def test_attributes_of_a_wider_type_belong_to_the_narrower_one() -> None:
    """Given as rows, a parent's attributes are inherited."""
    types = [EntityType("Vessel", attributes=(Attribute("built", "int"),)), EntityType("Ferry", parent="Vessel")]
    mem = opened([{"entities": [{"name": "Halcyon", "type": "Ferry", "attributes": {"built": "1998"}}], "facts": []}], types)
    mem.add_text("The ferry Halcyon was built in 1998.")
    assert dict(mem.entity("Halcyon").attributes) == {"built": 1998}


# ------------------------------------------------------------------------------------------------ open and closed


STRANGE = {
    "entities": [{"name": "Halcyon", "type": "Vessel"}, {"name": "Ivo", "type": "Pirate", "attributes": {"hat": "black"}}],
    "facts": [
        {"source": "Ivo", "target": "Halcyon", "relation": "sails on", "text": "Ivo sails on the Halcyon."},
        {"source": "Ivo", "target": "Halcyon", "relation": "scrubs", "text": "Ivo scrubs the deck of the Halcyon."},
    ],
}


def test_an_open_ontology_keeps_what_it_does_not_know_and_tells() -> None:
    """Types, relations and attributes as given."""
    mem = opened([STRANGE], [Vessel, Sailor, SAILS])
    result = mem.add_text("Ivo sails on the Halcyon.")
    assert codes(result) == ["unknown_type", "unknown_relation", "type_misfit"]
    assert (mem.entity("Ivo").type, dict(mem.entity("Ivo").attributes)) == ("Pirate", {"hat": "black"})
    assert sorted(f.relation for f in mem.facts("Ivo")) == ["SAILS_ON", "SCRUBS"]


def test_a_closed_ontology_drops_what_it_does_not_know_and_names_it() -> None:
    """The unknown relation's sentence is still found by search."""
    mem = opened([STRANGE], Ontology.of(SAILS, types=[Vessel, Sailor], closed=True))
    result = mem.add_text("Ivo is busy aboard.")
    assert [(w.code, w.raw) for w in result.warnings] == [
        ("unknown_type", "Pirate"),
        ("unknown_attribute", "hat"),
        ("unknown_relation", "scrubs"),
    ]
    assert (mem.entity("Ivo").type, dict(mem.entity("Ivo").attributes)) == ("Entity", {})
    assert [f.relation for f in mem.facts("Ivo")] == ["SAILS_ON"]
    assert [hit.item.id for hit in mem.search("who scrubs the deck", kinds=["episode"])] == [result.id]
    assert mem.verify() == []


def test_a_closed_ontology_takes_the_type_of_the_same_family() -> None:
    """A town is a declared place; an unknown relation is RELATES_TO where that is declared."""
    answer = {
        "entities": [{"name": "Mira", "type": "Person"}, {"name": "Porto", "type": "Town"}],
        "facts": [{"source": "Mira", "target": "Porto", "relation": "praises", "text": "Mira praises Porto."}],
    }
    mem = opened([answer], {"types": ["Person", {"name": "Place"}], "relations": [{"name": "RELATES_TO"}], "closed": True})
    result = mem.add_text("Mira praises Porto.")
    assert mem.entity("Porto").type == "Place"
    assert [f.relation for f in mem.facts()] == ["RELATES_TO"]
    assert codes(result) == ["unknown_type", "unknown_relation"]


def test_without_types_nothing_is_told() -> None:
    """Relations alone say nothing about those that are not listed."""
    mem = opened([STRANGE], [SAILS])
    assert codes(mem.add_text("Ivo sails on the Halcyon.")) == ["type_misfit"]


# ------------------------------------------------------------------------------------------------ who is who


def test_declared_types_decide_who_can_be_one() -> None:
    """A ferry may be the vessel of that name; a sailor may not, and nobody is asked."""
    ontology = Ontology.of(types=[Vessel, Ferry, Sailor])
    assert compatible("ferry", "Vessel", ontology)
    assert not compatible("Sailor", "Vessel", ontology)
    assert compatible("Sailor", "Thing", ontology)
    rows = [{"name": "Halcyon", "type": t} for t in ("Vessel", "Ferry", "Sailor")]
    mem = opened([{"entities": [row], "facts": []} for row in rows], [Vessel, Ferry, Sailor])
    for _ in rows:
        mem.add_text("Here is Halcyon.", key=str(_))
    assert sorted((e.name, e.type) for e in mem.entities()) == [("Halcyon", "Sailor"), ("Halcyon", "Vessel")]
    assert [a.prompt for a in asked(mem)] == ["extract"] * 3  # type: ignore[attr-defined]


# ------------------------------------------------------------------------------------------------ what reaches the model


def test_types_relations_and_instructions_reach_the_model() -> None:
    """Once per text, tersely; the default relations by their common names only."""
    mem = opened([vessel()], [Vessel, SAILS], instructions="Ignore the weather.")
    mem.add_text("The Halcyon lies here.")
    made = rendered(asked(mem)[0])  # type: ignore[arg-type]
    assert "Vessel = A boat or a ship. (attributes: length_m: float, length in metres, built: int" in made.system
    assert "rig: sloop|ketch" in made.system
    assert "sails_on (Sailor → Vessel)" in made.system
    assert "works_at" in made.system
    assert "aunt_or_uncle_of" not in made.system
    assert made.system.count("Ignore the weather.") == 1
    assert "Ignore" not in made.user


def test_instructions_of_any_length_are_refused() -> None:
    """They go with every text."""
    with pytest.raises(InvalidInput, match="instructions"):
        opened([], None, instructions="x" * 5_000)


# ------------------------------------------------------------------------------------------------ kept with the group


def test_the_types_stay_with_the_group(tmp_path: Path) -> None:
    """A handle that names no ontology checks as the one that did; the limits of a class are known to that class only."""
    with opened([vessel(built="1998")], [Vessel], tmp_path / "m.db") as mem:
        mem.add_text("The Halcyon was built in 1998.")
    with opened([vessel("Aurora", built="1999", rig="barque", length_m=-1)], None, tmp_path / "m.db") as mem:
        result = mem.add_text("The Aurora was built in 1999.")
        assert dict(mem.entity("Aurora").attributes) == {"built": 1999, "length_m": -1.0}
        assert codes(result) == ["bad_attribute"]
        assert mem.verify() == []


def test_an_ontology_is_read_back_as_it_was_written() -> None:
    """With types as a dict; one without types is still the list of relations that older logs hold."""
    typed = Ontology.of(SAILS, types=[Vessel, Ferry], closed=True)
    assert Ontology.from_json(json.loads(json.dumps(typed.to_json()))) == typed
    old = [{"name": "SAILS_ON", "one_target": True, "source_types": ["Sailor"], "target_types": ["Vessel"]}]
    assert Ontology.from_json(old) == Ontology.of(SAILS)
    assert Ontology.of(SAILS).to_json() == old


@pytest.mark.parametrize(
    "wrong",
    [
        {"types": {"Vessel": {"built": "year"}}},
        {"types": [{"attributes": []}]},
        {"types": [{"name": "Value"}]},
        {"types": ["Vessel", "vessel"]},
        {"types": [{"name": "Vessel", "colour": "red"}]},
        {"kinds": []},
        {"relations": [{"inverse_of": "A"}]},
        {"relations": ["SAILS_ON"]},
        [object()],
        [int],
    ],
)
def test_a_wrong_ontology_is_refused_at_the_call(wrong: object) -> None:
    """With the value that is wrong."""
    with pytest.raises(InvalidInput):
        opened([], wrong)


# ------------------------------------------------------------------------------------------------ attributes in time


def test_the_later_said_value_counts_whatever_the_order_of_arrival() -> None:
    """As of then too: each write shows what was known when it was made."""
    told = {"2020": 10, "2022": 12, "2024": 14}
    states = set()
    for order in (["2020", "2022", "2024"], ["2024", "2020", "2022"], ["2022", "2024", "2020"], ["2024", "2022", "2020"]):
        mem = opened([vessel(length_m=told[year], **{f"seen_{year}": True}) for year in order], [Vessel])
        for year in order:
            mem.add_text(f"The Halcyon in {year}.", reference_time=year, key=year)
        assert mem.verify() == []
        states.add(json.dumps(dict(mem.entity("Halcyon").attributes), sort_keys=True))
    assert states == {'{"length_m": 14.0, "seen_2020": true, "seen_2022": true, "seen_2024": true}'}


def test_a_forgotten_value_gives_way_to_the_one_before() -> None:
    """And comes back with its episode."""
    mem = opened([vessel(built=1998), vessel(built=1999)], [Vessel])
    mem.add_text("Built in 1998.", reference_time="2024-01-01")
    later = mem.add_text("No, in 1999.", reference_time="2024-02-01")
    before = mem.state_hash()
    forgotten = mem.forget(episode=later)
    assert mem.entity("Halcyon").attributes["built"] == 1998
    mem.restore(forgotten)
    assert mem.entity("Halcyon").attributes["built"] == 1999
    assert (mem.state_hash(), mem.verify()) == (before, [])


def test_what_an_episode_leaves_out_stays() -> None:
    """Attributes are laid over one another, never cleared."""
    mem = opened([vessel(built=1998, rig="sloop"), vessel(rig=None), vessel(rig="ketch")], [Vessel])
    for n in range(3):
        mem.add_text(f"Text {n} of the Halcyon.")
    assert dict(mem.entity("Halcyon").attributes) == {"built": 1998, "rig": "ketch"}


def test_of_two_types_the_first_said_counts_whatever_the_order_of_arrival() -> None:
    """A type is what a thing was first called, by reference time."""
    for order in (("2020", "2024"), ("2024", "2020")):
        kinds = {"2020": "Ketch", "2024": "Sloop"}
        mem = opened([{"entities": [{"name": "Halcyon", "type": kinds[year]}], "facts": []} for year in order], None)
        for year in order:
            mem.add_text(f"The Halcyon in {year}.", reference_time=year)
        assert (mem.entity("Halcyon").type, mem.verify()) == ("Ketch", [])
