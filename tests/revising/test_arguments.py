"""What an operation is told and does not know is refused before anything is done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.errors import InvalidInput
from graphmem.testing import FixedClock, ScriptedModel

ACTS: dict[str, Callable[[graphmem.Memory, dict[str, Any]], object]] = {
    "forget": lambda m, more: m.forget(entity="Tom", **more),
    "restore": lambda m, more: m.restore(m.operations()[0], **more),
    "undo": lambda m, more: m.undo(m.operations()[0], **more),
    "correct": lambda m, more: m.correct(m.facts("Mira")[0], target="Globex", **more),
    "end": lambda m, more: m.end(m.facts("Mira")[0], **more),
    "confirm": lambda m, more: m.confirm(m.facts("Mira")[0], **more),
    "merge": lambda m, more: m.merge("Mira", "Tom", **more),
    "split": lambda m, more: m.split("Mira", episodes=m.episodes()[0], **more),
    "distinct": lambda m, more: m.distinct("Mira", "Tom", **more),
    "rename": lambda m, more: m.rename("Mira", "Mira Olsen", **more),
    "alias": lambda m, more: m.alias("Mira", "Mi", **more),
    "erase an entity": lambda m, more: m.erase(entity="Mira", **more),
    "erase a group": lambda m, more: m.erase(group="main", **{k: v for k, v in more.items() if k != "group"}),
}


@pytest.fixture
def memory() -> graphmem.Memory:
    """Somebody with a job twice told, somebody else, and a fact that was forgotten."""
    clock = FixedClock("2025-01-01T09:00Z")
    memory = graphmem.open(":memory:", model=ScriptedModel({}), embedder=HashingEmbedder(16), clock=clock)
    for source, target, day in (("Mira", "Acme", "2024-01-01"), ("Mira", "Initech", "2024-02-01"), ("Tom", "Acme", "2024-03-01")):
        memory.add_facts([{"source": source, "relation": "works_at", "target": target}], reference_time=day)
        clock.advance(days=1)
    memory.forget(fact=memory.facts("Tom")[0])
    return memory


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize(
    ("more", "error", "told"),
    [
        ({"dryrun": True}, TypeError, "dryrun; there are reason, author, group, dry_run"),
        ({"dry_run": "no"}, InvalidInput, "dry_run='no'"),
        ({"dry_run": None}, InvalidInput, "dry_run=None"),
        ({"author": " "}, InvalidInput, "author"),
    ],
)
def test_an_argument_that_is_not_known_stops_the_operation(
    memory: graphmem.Memory, act: str, more: dict[str, Any], error: type[Exception], told: str
) -> None:
    """A misspelt `dry_run` above all: nothing is recorded, forgotten or erased."""
    before = memory.state_hash(), memory.history_hash(), len(memory.operations())
    with pytest.raises(error, match=told):
        ACTS[act](memory, more)
    assert (memory.state_hash(), memory.history_hash(), len(memory.operations())) == before


@pytest.mark.parametrize("act", ACTS)
def test_a_dry_run_of_any_operation_changes_nothing(memory: graphmem.Memory, act: str) -> None:
    """Neither beliefs nor the log."""
    before = memory.state_hash(), memory.history_hash(), len(memory.operations())
    ACTS[act](memory, {"dry_run": True})
    assert (memory.state_hash(), memory.history_hash(), len(memory.operations())) == before
