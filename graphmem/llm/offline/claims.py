"""What the extractor finds: ends of facts, and the claims that join them."""

from __future__ import annotations

from dataclasses import dataclass

from graphmem.interval import DateUnit

PERSON, PLACE, ORGANIZATION, VALUE = "Person", "Place", "Organization", "Value"
TYPES = (PERSON, PLACE, ORGANIZATION, "Animal", "Event", "Project", "Role", "Topic", "Work", "Thing", VALUE)
"""The entity types the extractor gives, from the relation an entity stands in; "Thing" where nothing narrower is known."""


@dataclass(frozen=True, slots=True)
class End:
    """One end of a claim: a name, its type, other names given with it, and its characters in the cleaned text if verbatim."""

    name: str
    type: str
    aliases: tuple[str, ...] = ()
    span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """source –relation→ target. `kind` is holds, ends or denies; `span` is in characters of the cleaned text."""

    source: End
    relation: str
    target: End
    text: str
    span: tuple[int, int]
    kind: str = "holds"
    start: DateUnit | None = None
    end: DateUnit | None = None
    still: bool = False
