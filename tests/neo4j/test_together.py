"""Several named statements in one round trip: each finds what it finds alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from graphmem import statements
from graphmem.model import AsOf
from graphmem.statements import Statement
from graphmem.stores.neo4j import Neo4jStore
from graphmem.stores.neo4j.graph import fact_match
from graphmem.stores.neo4j.reader import CHECKS, Neo4jReader
from graphmem.stores.neo4j.session import Reading, Row, folder, named
from graphmem.stores.neo4j.together import Ask, composed
from graphmem.testing.samples import GROUP, add_entities, add_episode, add_facts, entity, fact, record

pytestmark = [pytest.mark.neo4j, pytest.mark.xdist_group("neo4j")]


def plain(rows: list[Row]) -> list[dict[str, Any]]:
    """Rows as dictionaries."""
    return [dict(row) for row in rows]


@pytest.fixture
def reading(opened: Neo4jStore) -> Any:
    """Two facts, their ends and two episodes to read."""
    with opened.write(GROUP) as writer:
        add_entities(writer, *(entity(f"{i}1", i) for i in ("mira", "bob", "acme")))
        for n, source in enumerate(("mira", "bob"), 1):
            add_episode(writer, record(f"e{n}", n, entities=[source]))
            add_facts(writer, fact(f"u{n}", source, "acme"))
    reading = Reading(opened._connection)
    yield reading
    reading.close()


def test_each_finds_what_it_finds_alone(reading: Reading) -> None:
    """Rows in their order, also none and a null; the parameters of one are not those of another."""
    asks = [
        Ask("records", {"group": GROUP, "pin": 9, "ids": ["e2", "e1"]}),
        Ask("records", {"group": GROUP, "pin": 9, "ids": ["e3"]}),
        Ask("state", {"groups": [GROUP, "nobody's"], "metas": ["x"]}),
        Ask("episode_id_by_key", {"group": GROUP, "pin": None, "key": "k", "key_index": "k", "metas": []}),
        Ask("records", {"group": GROUP, "pin": 9, "ids": ["e1"]}),
    ]
    found = [plain(rows) for rows in reading.together(asks)]
    assert found == [plain(reading.rows(ask.name, **ask.params)) for ask in asks]
    assert [len(rows) for rows in found] == [2, 0, 1, 1, 1]


def test_one_takes_from_another(opened: Neo4jStore, reading: Reading) -> None:
    """A column of the only row of an earlier one, after what is given: here how far the group has come."""
    for known in (False, True):
        reader = Neo4jReader(reading, opened._kept, filtered=opened._filtered)
        if known:
            reader.head(GROUP)
        found = reader._together(
            [GROUP, "nobody's"],
            AsOf(),
            lambda scopes: [
                Ask("facts_by_source", {**fact_match(None), "limit": 9, "scopes": scopes, "sources": ["mira"]}),
                Ask("entities_by_id", {"scopes": scopes, "ids": ["acme"]}),
                Ask("operations_all", {"group": GROUP, "pin": 9}),
            ],
        )
        assert [f["uuid"] for f in found[0][0]["found"]] == ["u1"]
        assert [e["id"] for e in found[1][0]["found"]] == ["acme"]
        assert found[2] == []
        assert reader.head(GROUP).seq == 2


def test_a_text_is_the_same_whatever_is_asked(reading: Reading) -> None:
    """Only names of statements and columns are in it, so that the server keeps its plan."""
    first, params = composed([Ask("records", {"group": GROUP, "pin": 9, "ids": ["e1"]})], named())
    second, _ = composed([Ask("records", {"group": "'}) DETACH DELETE n //", "pin": 1, "ids": ["$x", "e2"]})], named())
    assert first == second
    assert set(params) == set(first.params) == {"r0_group", "r0_pin", "r0_ids"}
    quoted = [Ask("answer", {"key_index": "x"}), Ask("statistics", {"kind": "fact", "tokens": []})]
    assert "$r1_kind + '_rows'" in composed(quoted, named())[0].text


def test_every_statement_returns_the_columns_that_it_names(opened: Neo4jStore) -> None:
    """What is told apart by name must be called so."""
    with opened._connection.session() as session:
        for name, statement in named().items():
            if statement.columns and not (name.startswith("near_") and not opened._filtered):
                text = statement.text.removeprefix("CYPHER 25")
                language = "" if text == statement.text else "CYPHER 25 "
                result = session.run(f"{language}EXPLAIN {text}", dict.fromkeys(statement.params))
                assert sorted(result.keys()) == sorted(statement.columns), name


def test_no_plan_reads_all_or_joins_many_with_many(opened: Neo4jStore) -> None:
    """Every statement starts from an index, but for those that check, stage or set up the whole store. None that reads has a cartesian
    product of which neither side is one row; one that writes looks up both ends of each row, in whatever order the planner likes.
    """
    whole = {*CHECKS, *statements.load(folder() / f"{name}.cypher" for name in ("staging", "server"))} - {"state", "scoped", "lock"}
    with opened._connection.session() as session:
        replanned(session)
        for name, statement in named().items():
            if not (name.startswith("near_") and not opened._filtered):
                steps = planned(session, statement)
                assert name in whole or scanned(steps) == [], name
                products = [s for s in steps if is_product(s) and not any(map(is_one, s["children"]))]
                assert products == [] or name.startswith(("load_", "script_")), name


def replanned(session: Any) -> Any:
    """The session, once plans are made anew for what the database holds now: a planner keeps what it knew of earlier tests' data."""
    session.run("CALL db.prepareForReplanning(60)").consume()
    return session


def planned(session: Any, statement: Statement) -> list[dict[str, Any]]:
    """Every step of the plan of a statement."""
    text = statement.text.removeprefix("CYPHER 25")
    language = "" if text == statement.text else "CYPHER 25 "
    found = [session.run(f"{language}EXPLAIN {text}", dict.fromkeys(statement.params)).consume().plan]
    for step in found:
        found += step.get("children", [])
    return found


def scanned(steps: Sequence[dict[str, Any]]) -> list[str]:
    """What a plan reads whole, other than the groups and their settings."""
    read = [(s["operatorType"], s["args"].get("Details", "")) for s in steps if "Scan" in s["operatorType"]]
    return [f"{step} {what}" for step, what in read if not any(f":{few}" in what for few in ("GraphmemGroup", "GraphmemMeta"))]


def is_product(step: dict[str, Any]) -> bool:
    """Whether a step pairs all rows of one side with all of the other."""
    return step["operatorType"].startswith("CartesianProduct")


def is_one(step: dict[str, Any]) -> bool:
    """Whether a step gives at most one row: what is collected or counted without a key, or found by a unique index."""
    kind, children = step["operatorType"].partition("@")[0], step.get("children", [])
    if kind in ("Filter", "Eager", "CartesianProduct"):
        return all(map(is_one, children))
    keyless = kind == "EagerAggregation" and "(" in step["args"].get("Details", "").partition(" AS ")[0].partition(",")[0]
    return keyless or kind.startswith("NodeUniqueIndexSeek")
