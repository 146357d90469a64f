"""What is asked for by id is found by id: it costs what is asked for, however large the group is."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from graphmem.stores.sqlite import SqliteStore
from graphmem.stores.sqlite.session import named


@pytest.mark.parametrize(("name", "column"), [("episode_rows", "id"), ("episode_heads", "id"), ("fact_ids_of", "assertion")])
def test_the_index_of_ids_is_used_and_not_that_of_the_group(name: str, column: str, tmp_path: Path) -> None:
    """Also where the rows are wanted in the order of the log, which an index of the group would give."""
    SqliteStore.open(tmp_path / "a.db").close()
    statement = named()[name]
    with closing(sqlite3.connect(tmp_path / "a.db")) as raw:
        given = {p: '["a", "b"]' if p == "ids" else 1 for p in statement.params}
        steps = [row[3] for row in raw.execute(f"EXPLAIN QUERY PLAN {statement.text}", given)]
    assert any(f"({column}=?)" in step for step in steps), steps
    assert not any("(grp=?)" in step for step in steps), steps
