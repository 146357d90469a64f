"""The script that makes a memory in a Neo4j: run as a shell runs it, in an empty database, twice, halfway, beside others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hostile import HOSTILE
from moving import opened, seen, told

from graphmem.errors import UnfinishedCopy
from graphmem.stores.codec import safe_text
from graphmem.stores.neo4j.literals import literal

both = pytest.mark.neo4j("2026.08", "5.26")
ESCAPING = [
    "\\u0027",
    "\\\\u0027}] AS x MATCH (n) DETACH DELETE n //",
    "\\",
    "'",
    "\\'",
    "\\\\'",
    "$rows $group",
    ":param x",
    "a;\n:exit\n",
    "\u200b",
]
NAMES = (*HOSTILE, *(f"x{text}" for text in ESCAPING))
Rows = list[dict[str, Any]]
Run = Callable[..., Rows]


@pytest.fixture
def run(emptied: Any) -> Iterator[Run]:
    """Runs a query, or a script statement by statement; gives the rows of the last."""
    from neo4j import GraphDatabase

    with GraphDatabase.driver(emptied.uri, auth=emptied.auth, notifications_min_severity="OFF") as driver, driver.session() as session:

        def runs(what: str | Path, statements: int | None = None) -> Rows:
            parts = statements_of(what)[:statements] if isinstance(what, Path) else [what]
            for part in parts:
                rows = session.run(part).data()
            return rows

        yield runs


def statements_of(script: Path) -> list[str]:
    """The statements of a script: each ends with a semicolon at the end of a line."""
    return [part for part in script.read_text(encoding="utf-8").split(";\n") if part]


def everything(run: Run) -> list[str]:
    """Every node and relationship with what they say."""
    nodes = run("MATCH (n) RETURN labels(n) AS is, properties(n) AS says")
    edges = run("MATCH (a)-[r]->(b) RETURN type(r) AS is, properties(r) AS says, a.uuid AS a, b.uuid AS b")
    return sorted(repr((row.get("a"), row.get("b"), sorted(row["is"]), sorted(row["says"].items()))) for row in (*nodes, *edges))


def bare(run: Run) -> None:
    """Nothing of graphmem is in the database, not even its schema."""
    for what in ("CONSTRAINT", "INDEX"):
        for row in run(f"SHOW {what} YIELD name, type WHERE type <> 'LOOKUP' RETURN name"):
            run(f"DROP {what} {row['name']} IF EXISTS")
    run("MATCH (n) WHERE NOT n:GraphmemTests DETACH DELETE n")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A file of two groups with history, communities, and names of every kind."""
    where = told(tmp_path / "a.db")
    with opened(where) as memory:
        rows = [
            {"source": name, "relation": "knows", "target": "Mira", "text": f"{name} knows Mira", "attributes": {"note": name}}
            for name in NAMES
        ]
        memory.add_facts(rows)
    return where


@pytest.fixture
def script(source: Path, tmp_path: Path) -> Path:
    """The script of both groups."""
    with opened(source) as memory:
        memory.export(tmp_path / "graph.cypher", group=("main", "other"))
    return tmp_path / "graph.cypher"


@both
@pytest.mark.slow
def test_a_script_makes_the_same_memory_and_changes_nothing_the_second_time(emptied: Any, run: Run, source: Path, script: Path) -> None:
    """In a database without a schema: hashes of present and past, searches and counts are equal, and both can be written on."""
    bare(run)
    assert run(script) == [{"group_id": "other", "outcome": "is as in this script"}]
    with opened(source) as memory, opened(emptied.uri, auth=emptied.auth) as server:
        assert seen(server) == seen(memory)
        assert server.verify() == []
        before = everything(run)
        run(script)
        assert everything(run) == before
        for each in (memory, server):
            each.add_text("Orr9 Acme 2011.", key="later", reference_time="2025-04-01")
            each.forget(episode=each.episodes()[2].id)
        assert seen(server) == seen(memory)
        moved_on = everything(run)
        assert run(script, 10**6)[0]["outcome"] == "is as in this script"  # of the other group, which is
        assert everything(run) == moved_on


@pytest.mark.neo4j
def test_a_script_that_was_stopped_goes_on(emptied: Any, run: Run, source: Path, script: Path) -> None:
    """What is half made is refused by name; the same script again makes it whole."""
    count = len(statements_of(script))
    begun = next(n for n, s in enumerate(statements_of(script)) if "ON CREATE SET g.seq = 0" in s)
    run(script, begun + (count - begun) // 4)
    with pytest.raises(UnfinishedCopy, match="run the script again"):
        opened(emptied.uri, auth=emptied.auth)
    run(script)
    with opened(source) as memory, opened(emptied.uri, auth=emptied.auth) as server:
        assert seen(server) == seen(memory)
        assert server.verify() == []


@both
@pytest.mark.slow
def test_a_script_leaves_a_group_that_holds_something_else_as_it_is(emptied: Any, run: Run, script: Path) -> None:
    """It says so, and touches no row of it; the group that is missing it makes."""
    with opened(emptied.uri, auth=emptied.auth) as server:
        server.add_text("Orr7 Acme 2003.", key="mine", reference_time="2025-04-01")
        before = server.state_hash(), server.history_hash()
        told = [row for part in statements_of(script) for row in run(part)]
        assert [row["outcome"].partition(":")[0] for row in told] == ["was left as it is", "is as in this script"]
        assert (server.state_hash(), server.history_hash()) == before
        assert server.verify() == []


@both
@pytest.mark.slow
def test_the_script_of_a_server_is_that_of_the_file_it_was_made_from(emptied: Any, run: Run, script: Path, tmp_path: Path) -> None:
    """Byte for byte."""
    run(script)
    with opened(emptied.uri, auth=emptied.auth) as server:
        server.export(tmp_path / "again.cypher", group=("main", "other"))
    assert (tmp_path / "again.cypher").read_text() == script.read_text()


@both
def test_every_text_is_the_same_text_as_a_literal(run: Run) -> None:
    """Hostile names, escapes, and a thousand random texts, read by the server's own parser."""
    random = Random(7)
    pool = [*"\\'\"u0027;{}$`/\n\r\t\u2028\u202e\x00\ud800", *"aé漢🎉", "\\u0027", "\\u005c", "\U000e0001"]
    texts = [safe_text(t) for t in (*NAMES, *ESCAPING, *("".join(random.choices(pool, k=random.randrange(12))) for _ in range(1_000)))]
    written = literal(texts)
    assert written.isprintable()
    assert run(f"RETURN {written} AS texts") == [{"texts": texts}]
