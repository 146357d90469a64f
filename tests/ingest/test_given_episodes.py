"""Episodes as callers give them: what an episode of a kind has not is refused, not left out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

import graphmem
from graphmem import AsyncMemory, Memory
from graphmem.embed.hashing import HashingEmbedder
from graphmem.errors import InvalidInput
from graphmem.testing import FixedClock, ScriptedModel

ROWS = [{"source": "Mira", "relation": "knows", "target": "Ivo"}]


@pytest.fixture
def mem() -> Memory:
    """An empty memory."""
    model = ScriptedModel({"extract": {"entities": [], "facts": []}})
    return graphmem.open(model=model, embedder=HashingEmbedder(), clock=FixedClock("2024-01-01T09:00Z"))


@pytest.mark.parametrize(
    ("episode", "message"),
    [
        ({"text": "hello", "rows": ROWS}, r"episodes\[0\].rows=.*is for facts, and this is kind='text'"),
        ({"text": "hello", "value": {"a": 1}}, r"episodes\[0\].value=.*is for json"),
        ({"kind": "text", "text": "hello", "rows": []}, r"episodes\[0\].rows=\[\]: is for facts"),
        ({"kind": "message", "actor": "Mira", "text": "hello", "value": {"id": "x"}}, r"value=.*is for json"),
        ({"actor": "Mira", "rows": ROWS}, r"rows=.*is for facts, and this is kind='message'"),
        ({"kind": "json", "value": {"a": 1}, "text": "I live in Porto."}, r"value=.*either a value or JSON text"),
        ({"kind": "json", "value": {"a": 1}, "rows": ROWS}, r"rows=.*is for facts"),
        ({"kind": "json"}, r"value=None: a JSON episode has either a value or JSON text"),
        ({"kind": "json", "text": 5}, r"text=5: must be a str"),
        ({"kind": "facts", "rows": ROWS, "text": "I live in Porto."}, r"text=.*is for message, text, json"),
        ({"rows": ROWS, "value": 1}, r"must|is for"),
        ({"kind": "", "text": "hello"}, r"kind='': must be one of"),
        ({5: "hello", "text": "hello"}, r"unknown fields"),
    ],
)
def test_content_that_the_kind_has_not_is_refused(mem: Memory, episode: dict[str, object], message: str) -> None:
    """A field that nothing would look at names itself; nothing is recorded."""
    with pytest.raises(InvalidInput, match=message):
        mem.add_many([episode])
    assert mem.stats()["log"] == 0


def test_rows_or_a_value_alone_say_the_kind(mem: Memory) -> None:
    """An episode of nothing but rows is one of facts, one of nothing but a value is JSON; JSON may be text beside a value of None."""
    mem.add_many([{"rows": ROWS}, {"value": {"a": 1}}, {"kind": "json", "text": '{"b": 2}', "value": None}])
    mem.add_json(None)
    kinds = [(e.kind.value, e.body) for e in (item.episode for item in mem.episodes())]
    assert [kind for kind, _ in kinds] == ["facts", "json", "json", "json"]
    assert [body for _, body in kinds[1:]] == ['{"a": 1}', '{"b": 2}', "null"]
    assert [f.target for f in mem.facts()] == ["Ivo"]


def _circular() -> list[object]:
    row: dict[str, object] = dict(ROWS[0])
    row["attributes"] = {"self": row}
    return [row]


ADDED: dict[str, tuple[Callable[[Memory], object], str]] = {
    "no rows": (lambda mem: mem.add_facts(None), r"rows=None: must be a list of rows"),  # type: ignore[arg-type]
    "one row": (lambda mem: mem.add_facts(ROWS[0]), r"rows=.*must be a list of rows"),
    "text for rows": (lambda mem: mem.add_facts("Mira"), r"rows='Mira': must be a list of rows"),
    "circular": (lambda mem: mem.add_facts(_circular()), r"rows\[0\]=.*must hold values that JSON can hold"),  # type: ignore[arg-type]
    "an object for a name": (
        lambda mem: mem.add_facts([{**ROWS[0], "source": object()}]),
        r"rows\[0\]=.*object is not a plain value",
    ),
    "no episodes": (lambda mem: mem.add_many(None), r"episodes=None: must be a list of dicts"),  # type: ignore[arg-type]
    "one episode": (lambda mem: mem.add_many({"text": "hello"}), r"episodes=.*must be a list of dicts"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("what", ADDED)
def test_what_is_no_list_of_rows_or_episodes_is_refused(mem: Memory, what: str) -> None:
    """One where several are meant, none at all, and what JSON cannot hold."""
    call, message = ADDED[what]
    with pytest.raises(InvalidInput, match=message):
        call(mem)
    assert mem.stats()["log"] == 0


def test_awaited_what_is_no_list_of_episodes_is_refused() -> None:
    """As without an event loop."""

    async def add() -> None:
        async with AsyncMemory.open(model=ScriptedModel({}), embedder=HashingEmbedder()) as mem:
            await mem.add_many(None)  # type: ignore[arg-type]

    with pytest.raises(InvalidInput, match="episodes=None: must be a list of dicts"):
        asyncio.run(add())
