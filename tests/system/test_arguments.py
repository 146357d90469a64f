"""Arguments that cannot be are refused by name, with their value and what is allowed: none is passed over or taken for another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphmem
from graphmem import Attribute, EntityType, Filters, Memory, Ontology, Relation
from graphmem.embed.hashing import HashingEmbedder
from graphmem.errors import InvalidInput
from graphmem.testing import FixedClock, ScriptedModel


@pytest.fixture
def mem() -> Memory:
    """Mira lives in Porto and knows Ivo; she said something in a session of a source."""
    model = ScriptedModel({"extract": {"entities": [], "facts": []}})
    found = graphmem.open(model=model, embedder=HashingEmbedder(), clock=FixedClock("2024-01-01T09:00Z"))
    lives = {"source": "Mira", "relation": "lives_in", "target": "Porto", "source_type": "Person"}
    found.add_facts([lives, {"source": "Mira", "relation": "knows", "target": "Ivo"}])
    found.add_message("Mira", "I live in Porto, near the harbour.", session="s1", source="f.txt")
    found.build_communities()
    return found


# ------------------------------------------------------------------------------------------------ filters


@pytest.mark.parametrize(
    ("name", "value"), [("relations", "lives_in"), ("types", "Person"), ("actors", "Mira"), ("sessions", "s1"), ("sources", "f.txt")]
)
def test_a_name_alone_filters_as_a_list_of_one(mem: Memory, name: str, value: str) -> None:
    """A text is one name, not a list of its letters."""
    alone, listed = (mem.search("Mira Porto", filters=Filters(**{name: given})) for given in (value, [value]))
    assert alone
    assert [h.id for h in alone] == [h.id for h in listed]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, wrong) for name in ("relations", "types", "actors", "sessions", "sources") for wrong in (5, [5], b"x", {"a": 1}, True)),
        *((name, wrong) for name in ("valid", "reference") for wrong in ("2024", 5, ("2024", "2025"))),
        *(("attributes", wrong) for wrong in (5, "x", [("a", 1)], {5: 1}, None)),
    ],
)
def test_a_filter_that_is_none_is_refused(name: str, value: Any) -> None:
    """When the filter is made, not when it is first looked at."""
    with pytest.raises(InvalidInput, match=f"^{name}="):
        Filters(**{name: value})


# ------------------------------------------------------------------------------------------------ ontologies


def test_one_type_or_synonym_of_a_relation_may_stand_alone() -> None:
    """A text is one name, not a list of its letters."""
    relation = Relation("LIVES_IN", source_types="Person", target_types=["City"], synonyms="dwells_in")  # type: ignore[arg-type]
    assert relation == Relation("LIVES_IN", source_types=("Person",), target_types=("City",), synonyms=("dwells_in",))
    given = Ontology.from_json({"relations": [{"name": "LIVES_IN", "source_types": "Person"}], "types": "Boat"})
    assert given.relations["LIVES_IN"].source_types == ("Person",)
    assert list(given.types) == ["Boat"]


MADE: dict[str, tuple[Callable[..., object], str]] = {
    "closed": (lambda: Ontology.from_json({"closed": "no"}), "closed='no': must be True or False"),
    "closed by hand": (lambda: Ontology.of(closed=1), "closed=1: must be True or False"),  # type: ignore[arg-type]
    "one_target of a row": (lambda: Ontology.from_json([{"name": "R", "one_target": "no"}]), "R.one_target='no': must be True or False"),
    "one_source": (lambda: Relation("R", one_source=1), "R.one_source=1"),  # type: ignore[arg-type]
    "symmetric": (lambda: Relation("R", symmetric=None), "R.symmetric=None"),  # type: ignore[arg-type]
    "blank relation": (lambda: Relation(" "), "ontology=' ': a relation needs a name"),
    "nameless relation": (lambda: Relation(5), "ontology=5: a relation needs a name"),  # type: ignore[arg-type]
    "types of an end": (lambda: Relation("R", source_types=[5]), r"R.source_types=\[5\]"),  # type: ignore[arg-type]
    "synonyms of a row": (lambda: Ontology.from_json([{"name": "R", "synonyms": 5}]), "R.synonyms=5"),
    "inverse_of": (lambda: Relation("R", inverse_of=5), "R.inverse_of=5: must be a str"),  # type: ignore[arg-type]
    "description": (lambda: Relation("R", description=5), "R.description=5: must be a str"),  # type: ignore[arg-type]
    "relations": (lambda: Ontology.from_json({"relations": {"R": {}}}), "relations=.*must be a list"),
    "relations as text": (lambda: Ontology.from_json({"relations": "KNOWS"}), "relations='KNOWS': must be a list"),
    "types": (lambda: Ontology.from_json({"types": 5}), "types=5: must be a list"),
    "an ontology of a list": (lambda: Ontology([Relation("R")]), "relations=.*must be a dict by name"),  # type: ignore[arg-type]
    "an ontology of a number": (lambda: Ontology.of(5), "ontology=5: a relation is a Relation or a dict"),  # type: ignore[arg-type]
    "nameless type": (lambda: EntityType(5), "ontology=5: a type needs a name"),  # type: ignore[arg-type]
    "parent": (lambda: EntityType("Boat", parent=5), "Boat.parent=5: must be a str"),  # type: ignore[arg-type]
    "nameless attribute": (lambda: Attribute(5), "ontology=5: an attribute needs a name"),  # type: ignore[arg-type]
    "choices": (lambda: Attribute("berth", choices="dry"), "berth.choices='dry'"),  # type: ignore[arg-type]
    "required": (lambda: Attribute("berth", required="no"), "berth.required='no'"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("what", MADE)
def test_an_ontology_of_wrong_types_is_refused(what: str) -> None:
    """Ontologies come from files: "no" is not taken for yes, nor a text for a list."""
    make, message = MADE[what]
    with pytest.raises(InvalidInput, match=f"^{message}"):
        make()
