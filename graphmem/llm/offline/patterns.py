"""The map from verbs to relations: what the extractor understands, and therefore all that it claims."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources


@dataclass(frozen=True, slots=True)
class Pattern:
    """What a (verb, particle, preposition) says: the relation, whether it `ends`, who may do it, what it points at."""

    relation: str
    kind: str
    subject: str
    target: str
    number: bool


@cache
def patterns() -> dict[tuple[str, str], Pattern]:
    """Patterns by (verb with its particle or light noun, preposition or "")."""
    raw = tomllib.loads(resources.files(__package__).joinpath("data/patterns.toml").read_text(encoding="utf-8"))
    out: dict[tuple[str, str], Pattern] = {}
    for entry in raw["pattern"]:
        for kind in ("holds", "ends"):
            for text in entry.get(kind, ()):
                verb, _, prepositions = text.partition("/")
                subject = entry.get("subject", "person")
                pattern = Pattern(entry["relation"], kind, subject, entry["target"], entry.get("number", False))
                for preposition in prepositions.split(",") if prepositions else ("",):
                    # A verb may mean one thing of a person and another of a thing: the subject is part of the key.
                    for who in ("person", "thing", "organization") if subject == "any" else (subject,):
                        out[f"{who} {verb}", preposition] = pattern
    return out


def meaning(who: str, verb: str, preposition: str) -> Pattern | None:
    """What `verb` with `preposition` says of a subject that is a "person", "thing" or "organization"."""
    found = patterns().get((f"{who} {verb}", preposition))
    if found is None and who == "organization":
        found = patterns().get((f"thing {verb}", preposition))
    return found
