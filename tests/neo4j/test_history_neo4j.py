"""Differences on a server: the same lines as in the embedded stores, read through indexes."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest

from graphmem.stores.memory import MemoryStore
from graphmem.stores.neo4j import Neo4jStore
from graphmem.stores.neo4j.session import named
from graphmem.testing import random_history

pytestmark = pytest.mark.neo4j("2026.08")


def _shared() -> ModuleType:
    """The checks that the embedded stores pass."""
    spec = importlib.util.spec_from_file_location("diffs", Path(__file__).parents[1] / "history" / "test_diff_properties.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


shared = _shared()


@pytest.mark.parametrize("seed", range(3))
def test_a_difference_leads_from_one_belief_to_the_other(seed: int, opened: Neo4jStore) -> None:
    """Random histories, as in the embedded stores; and line for line what they tell."""
    rng = Random(seed)
    log = random_history(rng, 12)
    shared.check(opened, log, rng, 6)
    memory = MemoryStore()
    shared.write(memory, log)
    one, other = (shared.view_of(store).diff(system=(None, None)) for store in (memory, opened))
    assert [line.to_dict() for line in one] == [line.to_dict() for line in other]
    valid = [shared.view_of(store).diff(valid=("2019-01-01", "2023-01-01")).to_dict() for store in (memory, opened)]
    assert valid[0] == valid[1]


@pytest.mark.parametrize(
    "name", ["facts_changed", "facts_changed_by_entity", "facts_changed_by_fact", "facts_turning", "citations_changed", "entities_changed"]
)
def test_what_changed_is_read_through_indexes(name: str, opened: Neo4jStore) -> None:
    """The server's plan begins with a look into an index, and reads no label or type whole."""
    scope = {"group": "main", "pin": 5, "still": 5, "system": 9, "since": 0}
    values = {"group": "main", "pin": 5, "since": 1, "until": 9, "entities": ["a"], "fact_ids": ["f"], "relations": None, "scopes": [scope]}
    statement = named()[name]
    with opened._connection.session() as session:
        plan = session.run(f"EXPLAIN {statement.text}", {p: values[p] for p in statement.params}).consume().plan
    reads = [step for step in steps_of(plan) if "Seek" in step or "Scan" in step]
    assert reads
    assert all("IndexSeek" in step for step in reads), reads


def steps_of(plan: Any) -> list[str]:
    """The operators of a plan."""
    return [plan["operatorType"], *(step for child in plan.get("children", ()) for step in steps_of(child))]
