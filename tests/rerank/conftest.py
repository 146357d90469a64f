"""A small town to ask about: people, firms and who knows whom, and one thing said several times."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import graphmem
from graphmem.llm.base import Ask
from graphmem.testing import ScriptedModel

CHAIN = (("Mira", "knows", "Tom"), ("Tom", "knows", "Ana"), ("Ana", "knows", "Ben"), ("Ben", "knows", "Lea"))
SAID = (
    ("Tom", "Acme sells red bicycles"),
    ("Ana", "Acme sells red bicycles"),
    ("Ben", "Acme sells red bicycles"),
    ("Lea", "Acme sells blue kayaks"),
    ("Mira", "Globex sells red bicycles too"),
)


def extract(ask: Ask) -> dict[str, object]:
    """Who sells what."""
    firm, _, goods = str(ask.payload["text"]).removesuffix(" too").partition(" sells ")
    fact = {"source": firm, "relation": "SELLS", "target": goods, "text": f"{firm} sells {goods}"}
    return {"entities": [{"name": firm, "type": "Company"}, {"name": goods, "type": "Goods"}], "facts": [fact]}


@pytest.fixture
def town(open_memory: Callable[..., graphmem.Memory]) -> graphmem.Memory:
    """A memory of the town."""
    model = ScriptedModel({"extract": extract, "resolve": {"matches": []}, "judge": {"judgements": []}}, local=True)
    memory = open_memory(model=model)
    rows = [{"source": a, "relation": r, "target": b, "source_type": "Person", "target_type": "Person"} for a, r, b in CHAIN]
    for row in rows:
        memory.add_facts([row])
    memory.add_many([{"actor": who, "text": text, "key": f"{who} {text}"} for who, text in SAID])
    return memory
