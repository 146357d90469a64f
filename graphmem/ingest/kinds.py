"""Types of entities as families: which two types can be one thing."""

from __future__ import annotations

from functools import lru_cache

from graphmem.entity_types import type_key
from graphmem.model import DEFAULT_TYPE, VALUE_TYPE
from graphmem.ontology import Ontology

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


@lru_cache(maxsize=1024)
def family(kind: str) -> str | None:
    """The family of a type ("City" is a place); None for types of no known family.

    >>> family("User"), family("Sprint")
    ('person', None)
    """
    return _FAMILY.get("".join(kind.split()).replace("_", "").casefold())


def is_specific(kind: str) -> bool:
    """Whether a type says more than "some thing"."""
    return kind.strip().casefold() not in _UNTYPED


def compatible(one: str, other: str, ontology: Ontology | None = None) -> bool:
    """Whether things of these types can be one: not of two different known families, and a value only with a value.

    Two types that the ontology declares can be one thing only if one is the other, or both are of a third.
    """
    if VALUE_TYPE in (one, other):
        return one == other
    if ontology is not None and ontology.types and is_specific(one) and is_specific(other):
        if ontology.entity_type(one) is not None and ontology.entity_type(other) is not None:
            return not declared_apart(one, other, ontology)
        return _may_be(_family_in(one, ontology), _family_in(other, ontology))
    return _may_be(family(one), family(other))


def declared_apart(one: str, other: str, ontology: Ontology) -> bool:
    """Whether the ontology declares both types and neither is the other nor shares a wider type with it."""
    if ontology.entity_type(one) is None or ontology.entity_type(other) is None:
        return False
    return set(ontology.lineage(one)).isdisjoint(ontology.lineage(other))


def _may_be(ours: str | None, theirs: str | None) -> bool:
    return ours is None or theirs is None or ours == theirs


def _family_in(kind: str, ontology: Ontology) -> str | None:
    """The family of a type, or of the nearest wider type that has one."""
    return next((found for key in (kind, *ontology.lineage(kind)) if (found := family(key)) is not None), None)


def nearest(kind: str, ontology: Ontology) -> str | None:
    """The declared type of the same family ("Town" is a declared "City"); None if there is none."""
    wanted = family(kind)
    return next((name for name in ontology.type_names.values() if wanted is not None and _family_in(name, ontology) == wanted), None)


def fits(kind: str, types: tuple[str, ...], ontology: Ontology) -> bool:
    """Whether a thing of that type may stand where `types` are wanted; one of an unspecific type may stand anywhere."""
    if not types or not is_specific(kind):
        return True
    keys, ours = ontology.lineage(kind), _family_in(kind, ontology)
    return any(type_key(t) in keys or not is_specific(t) or (ours is not None and ours == family(t)) for t in types)


def is_person(kind: str) -> bool:
    """Whether a type can be a person's: of that family, or unspecific."""
    return family(kind) == "person" or not is_specific(kind)
