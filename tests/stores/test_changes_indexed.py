"""What changed is read through indexes of begin and end: it costs what it finds, however much there is."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from graphmem.stores.sqlite import SqliteStore
from graphmem.stores.sqlite.session import named

TABLES = ("fact", "citation", "entity_version", "episode", "operation")
STATEMENTS = [
    "facts_changed",
    "facts_changed_by_entity",
    "facts_changed_by_fact",
    "facts_turning",
    "citations_changed",
    "citations_changed_by_fact",
    "entities_changed",
    "entities_changed_by_id",
    "episodes_written",
    "operations_written",
    "episode_rows",
    "episode_heads",
]


@pytest.mark.parametrize("name", STATEMENTS)
def test_no_table_is_read_whole(name: str, tmp_path: Path) -> None:
    """SQLite searches each table by an index."""
    SqliteStore.open(tmp_path / "a.db").close()
    statement = named()[name]
    given = {p: "[1]" if p in ("ids", "instants", "entities", "fact_ids") else None if p == "relations" else 1 for p in statement.params}
    with closing(sqlite3.connect(tmp_path / "a.db")) as raw:
        steps = [row[3] for row in raw.execute(f"EXPLAIN QUERY PLAN {statement.text}", given)]
    assert any(step.startswith("SEARCH") for step in steps)
    assert not [step for step in steps if step.endswith("(grp=?)")], steps  # a whole group is as bad as a whole table
    assert not [step for step in steps if step.startswith("SCAN") and step.split()[1] in (*TABLES, "f", "c", "v")], steps
