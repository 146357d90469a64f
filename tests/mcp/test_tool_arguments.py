"""What models get wrong, and what they are told."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from serving import open_memory

from graphmem import tools
from graphmem.tools.compact import RESULT

MISTAKES = [
    ("search", {}, "query=None: is required"),
    ("search", {"query": "x", "limit": 500}, "limit=500: must be an integer from 1 to 50"),
    ("search", {"query": "x", "limit": "many"}, "limit='many': must be an integer from 1 to 50"),
    ("search", {"query": "x", "kinds": ["poem"]}, "kinds[0]='poem': must be 'fact', 'entity', 'episode' or 'community'"),
    ("search", {"query": "x" * 3000}, "must have at most 2000 characters"),
    ("search", {"question": "x"}, "question='x': is not an argument; allowed are"),
    ("search", {"query": "x", "as_of_valid": "soon"}, "as_of_valid='soon': must be a datetime or ISO 8601"),
    ("facts", {"as_of_system": "2025-13"}, "as_of_system='2025-13': must be a datetime or ISO 8601"),
    ("episodes", {"since": "then"}, "since='then': must be a datetime or ISO 8601"),
    ("entity", {"name": "Nobody"}, "no entity is called 'Nobody'"),
    ("context", {"query": "x", "max_tokens": 1_000_000}, "max_tokens=1000000: must be an integer from 50 to 8000"),
    ("context", {"query": "x", "scope": "world"}, "scope='world': must be 'local' or 'global'"),
    ("context", {"query": "x", "scope": "global", "actor": "Ada"}, "actor='Ada': is for scope \"local\""),
    ("context", {"query": "x", "tiers": ["fact"]}, "tiers[0]='fact': must be 'profile', 'topics', 'facts' or 'recent'"),
    ("episode", {"id": "ep_none"}, "no episode 'ep_none' is visible at this point"),
    ("add_episode", {}, "text=None: is required for kind text"),
    ("add_episode", {"kind": "message", "text": "Hi."}, "actor=None: a message needs the name of who said it"),
    ("add_episode", {"kind": "text", "text": "Hi.", "actor": "Mira"}, "actor='Mira': a message needs"),
    ("add_episode", {"kind": "json", "text": "{oops"}, "value='{oops'"),
    ("add_episode", {"kind": "json", "text": "1", "value": [1]}, "kind json needs either value or text"),
    ("add_episode", {"value": "plain"}, "value='plain': must be a valid"),
    ("add_episode", {"text": "Hi.", "reference_time": "soon"}, "reference_time='soon': must be a datetime"),
    ("add_episode", {"text": "\u200b"}, "must have a visible character"),
    ("add_episode", {"text": "x" * 100_001}, "must have at most 100000 characters"),
    ("add_facts", {"rows": []}, "rows=[]: must have at least 1 item"),
    ("add_facts", {"rows": [{"source": "Mira", "relation": "knows"}]}, "rows[0].target=None: is required"),
    ("add_facts", {"rows": [{"source": "a", "relation": "b", "target": "c", "who": 1}]}, "rows[0].who=1: is not an argument; allowed are"),
    ("forget", {"episode": "ep_none"}, "no visible episode 'ep_none'"),
    ("forget", {}, "needs exactly one of episode=, fact=, entity=, session="),
    ("correct_fact", {"fact": "x", "text": "y"}, "no fact has the id or uuid 'x'"),
    ("correct_fact", {"fact": "x"}, "needs at least one of text="),
    ("end_fact", {"fact": "x", "at": "soon"}, "at='soon': must be a datetime"),
    ("restore", {"operation": "op_none"}, "no operation 'op_none'"),
    ("dance", {}, "tool='dance': must be among search, context"),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "arguments", "said"), MISTAKES)
def test_a_mistake_names_the_argument_the_value_and_what_is_allowed(
    refused: Callable[..., str], tool: str, arguments: dict[str, object], said: str
) -> None:
    """In one line that a model can act on."""
    error = refused(tool, **arguments)

    assert said in error
    assert "Traceback" not in error
    assert len(error) <= 1000


def test_several_mistakes_are_told_at_once(refused: Callable[..., str]) -> None:
    """So that one more try is enough."""
    error = refused("search", limit=0, depth=9)

    assert all(f"{name}=" in error for name in ("query", "limit", "depth"))


@pytest.mark.parametrize("arguments", ["{", "[1]", "3", '"x"', [], None, "[" * 100_000, '{"query": ' + "1" * 5000 + "}"])
def test_what_is_no_object_is_refused(arguments: Any) -> None:
    """Whatever it is."""
    with open_memory(":memory:") as memory:
        assert "arguments" in str(tools.call(memory, "search", arguments)["error"])


def test_every_read_takes_both_times_and_no_write_does() -> None:
    """The axes are part of every question."""
    for tool in tools.TOOLS:
        named = {"as_of_valid", "as_of_system"} & set(tool.schema["properties"])  # type: ignore[call-overload]
        assert named == (set() if tool.writes else {"as_of_valid", "as_of_system"}), tool.name


def test_schemas_are_plain_enough_for_every_model() -> None:
    """No references, no titles of classes, no null beside a type; each argument is described and bounded."""
    text = json.dumps(tools.schemas())

    assert not any(word in text for word in ("$ref", "$defs", '"null"', '"title": "'))
    assert len(text) < 23_000
    for tool in tools.TOOLS:
        assert 20 < len(tool.description) < 200
        for name, described in tool.schema["properties"].items():  # type: ignore[attr-defined]
            assert described["description"], f"{tool.name}.{name}"
            if described.get("type") in ("string", "integer", "array"):
                assert {"maxLength", "maximum", "maxItems", "enum"} & set(described), f"{tool.name}.{name}"


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.builds(lambda: 10**5000) | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
NAMES = sorted({name for tool in tools.TOOLS for name in tool.schema["properties"]})  # type: ignore[attr-defined]


@given(
    st.lists(
        st.tuples(
            st.sampled_from([t.name for t in tools.TOOLS]), st.dictionaries(st.sampled_from(NAMES), ANYTHING | st.just("Mira"), max_size=5)
        ),
        max_size=6,
    )
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_arguments_make_a_tool_raise(calls: list[tuple[str, dict[str, object]]]) -> None:
    """Whatever a model sends, the answer is a small JSON object that UTF-8 can hold, and the memory stays sound."""
    with open_memory(":memory:") as memory:
        memory.add_text("Mira works at Acme since 2020.", reference_time="2025-01-01")
        for name, arguments in calls:
            answer = tools.call(memory, name, arguments)
            text = json.dumps(answer, ensure_ascii=False, allow_nan=False)
            assert len(text.encode("utf-8")) < 4 * RESULT
        assert memory.verify() == []
