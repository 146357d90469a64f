"""What values attributes take, and how types are given as plain values."""

from typing import Literal

import pytest
from pydantic import BaseModel

from graphmem.entity_types import Attribute, EntityType, type_of
from graphmem.errors import InvalidInput


@pytest.mark.parametrize(
    ("kind", "choices", "given", "kept"),
    [
        ("int", ("1", "2"), "1", 1),
        ("int", ("1", "2"), 2, 2),
        ("float", ("1.5",), "1.50", 1.5),
        ("bool", ("yes",), True, True),
        ("date", ("2024-01-01",), "2024-01-01", "2024-01-01"),
        ("list[int]", ("1",), "1", [1]),
        ("str", ("red",), "red", "red"),
    ],
)
def test_a_choice_is_read_as_any_value_of_its_type(kind: str, choices: tuple[str, ...], given: object, kept: object) -> None:
    """ "1" and 1 are one choice, as they are one number where there is no choice."""
    found = Attribute("x", kind, choices=choices).checked(given)

    assert found == kept
    assert type(found) is type(kept)


@pytest.mark.parametrize(("kind", "given"), [("int", 3), ("int", True), ("list[int]", [1, 3]), ("str", "1 ")])
def test_what_is_no_choice_is_refused(kind: str, given: object) -> None:
    """Also in a list."""
    with pytest.raises(ValueError, match="must be one of 2, 4"):
        Attribute("x", kind, choices=("2", "4")).checked(given)


def test_choices_must_be_of_the_type() -> None:
    """When the type is made, not when a text is read."""
    with pytest.raises(InvalidInput, match="choices of attribute 'x' must be of type int"):
        Attribute("x", "int", choices=("1", "many"))


def test_literals_of_two_types_are_text_that_is_checked_as_given() -> None:
    """No choice is lost when the type is written down and read again."""

    class Boat(BaseModel):
        berth: Literal[1, "dry"] | None = None

    made = EntityType.of(Boat)

    assert made.attributes[0].checked("dry") == "dry"
    assert type_of(made.row()).attributes[0].checked("dry") == "dry"


@pytest.mark.parametrize(
    "row",
    [
        {"name": 5},
        {"name": "Boat", "parent": 5},
        {"name": "Boat", "description": ["x"]},
        {"name": "Boat", "attributes": 5},
        {"name": "Boat", "attributes": "berth"},
        {"name": "Boat", "attributes": {"berth": 5}},
        {"name": "Boat", "attributes": [{"name": "berth", "choices": 5}]},
        {"name": "Boat", "attributes": [{"name": "berth", "choices": "dry"}]},
    ],
)
def test_a_row_of_wrong_types_is_refused(row: dict[str, object]) -> None:
    """Rows come from files: no letter of a text becomes an attribute or a choice of its own."""
    with pytest.raises(InvalidInput, match=r"^(ontology|Boat\.\w+|berth\.\w+)="):
        type_of(row)


def test_no_parent_may_be_said() -> None:
    """As in JSON."""
    assert type_of({"name": "Boat", "parent": None}) == EntityType("Boat")
