"""The rows that a replay has written, written again through `sqlite3` alone: what the file itself takes, with its indexes.

Every row of every table, log, versions, words and both copies of the vectors, into an empty file with the same tables, indexes and
full-text index, with the same settings. They come in the order in which they were written and in as many transactions as the
replay takes, each with what its entries bring: sorted by key, or all at once, they would cost a little less. Within a transaction
they go table by table, those of one by one call, as plain tuples. What they do without is what no plain insert does: nothing is
looked up or changed afterwards, row numbers are known, and texts, dates, tokens and vectors are encoded already.
"""

# ruff: noqa: S608

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from graphmem.ingest import replaying
from graphmem.stores.sqlite import SqliteStore
from graphmem.stores.sqlite.tokens import tokens

_SAID = "IN (SELECT n FROM episode WHERE seq > :after AND seq <= :last)"
_THEN = "IN (SELECT created_at FROM episode WHERE seq > :after AND seq <= :last)"
_NEW = f"IN (SELECT entity FROM entity_version GROUP BY entity HAVING min(created_at) {_THEN})"
_OWNED = f"""CASE kind WHEN 'episode' THEN owner {_SAID} WHEN 'entity' THEN owner {_NEW}
    ELSE owner IN (SELECT n FROM fact WHERE created_at {_THEN}) END"""
# Which rows of each table some entries of the log bring, in the order in which they are written.
_ROWS = {
    "episode": f"n {_SAID} ORDER BY n",
    "operation": "seq > :after AND seq <= :last ORDER BY n",
    "assertion": f"episode {_SAID} ORDER BY n",
    "mention": f"episode {_SAID} ORDER BY n",
    "fact_key": f"""assertion IN (SELECT id FROM assertion WHERE episode {_SAID})
        ORDER BY (SELECT n FROM assertion WHERE id = fact_key.assertion)""",
    "mention_version": f"created_at {_THEN} ORDER BY n",
    "entity": f"n {_NEW} ORDER BY n",
    "entity_version": f"created_at {_THEN} ORDER BY n",
    "entity_name": f"version IN (SELECT n FROM entity_version WHERE created_at {_THEN}) ORDER BY version",
    "fact": f"created_at {_THEN} ORDER BY n",
    "citation": f"created_at {_THEN} ORDER BY n",
    "visible": f"created_at {_THEN} ORDER BY n",
    "words": f"{_OWNED} ORDER BY n",
    "vector": f"{_OWNED} ORDER BY n",
    "vector_exact": f"n IN (SELECT n FROM vector WHERE {_OWNED}) ORDER BY n",
}
_PRAGMAS = ("synchronous = FULL", "temp_store = MEMORY", "secure_delete = ON", "cache_size = -16384")


def bare(source: Path, target: Path, entries: int) -> float:
    """CPU seconds of the rows of a file, whose log has so many entries, written into another one that has none."""
    with closing(sqlite3.connect(source)) as raw:
        transactions = [list(_statements(raw, first)) for first in range(0, entries, replaying.BATCH)]
        counts = {table: raw.execute(f"SELECT count(*) FROM {table}").fetchone() for table in _ROWS}
    SqliteStore.open(target).close()
    with closing(sqlite3.connect(target, isolation_level=None, cached_statements=256)) as raw:
        for pragma in _PRAGMAS:
            raw.execute(f"PRAGMA {pragma}")
        began = time.process_time()
        for statements in transactions:
            raw.execute("BEGIN IMMEDIATE")
            for statement, rows in statements:
                raw.executemany(statement, rows)
            raw.execute("COMMIT")
        spent = time.process_time() - began
        assert counts == {table: raw.execute(f"SELECT count(*) FROM {table}").fetchone() for table in _ROWS}
    return spent


def _statements(raw: sqlite3.Connection, after: int) -> Iterator[tuple[str, list[tuple[Any, ...]]]]:
    """What the entries of the log after that position bring, as many as one transaction of a replay takes."""
    for table, which in _ROWS.items():
        found = raw.execute(f"SELECT * FROM {table} WHERE {which}", {"after": after, "last": after + replaying.BATCH}).fetchall()
        if found:
            yield f"INSERT INTO {table} VALUES ({', '.join('?' * len(found[0]))})", found
        if found and table == "words":
            yield "INSERT INTO word_index (rowid, tokens) VALUES (?, ?)", [(n, tokens(said)) for n, *_, said in found]
