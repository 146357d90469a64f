"""Types of entities as families: which two types can be one thing."""

from __future__ import annotations

from graphmem.model import DEFAULT_TYPE, VALUE_TYPE

_FAMILIES = {
    "person": "person people human user contact employee customer speaker member author character man woman child bot per",
    "place": "place location city town village country region state gpe loc address island",
    "organization": "organization organisation org company business team group institution agency club school university",
    "event": "event meeting trip festival conference",
    "animal": "animal pet",
    "language": "language programminglanguage",
}
_FAMILY = {word: family for family, words in _FAMILIES.items() for word in words.split()}
_UNTYPED = {DEFAULT_TYPE.lower(), "thing", "object", "topic", "other", "misc", ""}


def family(kind: str) -> str | None:
    """The family of a type ("City" is a place); None for types of no known family.

    >>> family("User"), family("Sprint")
    ('person', None)
    """
    return _FAMILY.get("".join(kind.split()).replace("_", "").casefold())


def is_specific(kind: str) -> bool:
    """Whether a type says more than "some thing"."""
    return kind.strip().casefold() not in _UNTYPED


def compatible(one: str, other: str) -> bool:
    """Whether things of these types can be one: not of two different known families, and a value only with a value."""
    if VALUE_TYPE in (one, other):
        return one == other
    ours, theirs = family(one), family(other)
    return ours is None or theirs is None or ours == theirs


def is_person(kind: str) -> bool:
    """Whether a type can be a person's: of that family, or unspecific."""
    return family(kind) == "person" or not is_specific(kind)
