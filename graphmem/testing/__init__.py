"""For people who test against graphmem: a fixed clock, a scripted model, stories and random histories, and an oracle of time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphmem.runtime import FixedClock
from graphmem.testing.appendix import stories
from graphmem.testing.histories import ONTOLOGY, Story, ended, fact, never, random_history, rows_of, unit
from graphmem.testing.oracle import Oracle

if TYPE_CHECKING:
    from graphmem.llm.scripted import ScriptedModel

__all__ = [
    "ONTOLOGY",
    "FixedClock",
    "Oracle",
    "ScriptedModel",
    "Story",
    "ended",
    "fact",
    "never",
    "random_history",
    "rows_of",
    "stories",
    "unit",
]


def __getattr__(name: str) -> object:
    """`ScriptedModel` belongs to the adapters: it is loaded when asked for, so that stories and oracle need none of them."""
    if name == "ScriptedModel":
        from graphmem.llm.scripted import ScriptedModel

        return ScriptedModel
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
