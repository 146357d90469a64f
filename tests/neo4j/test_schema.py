"""The schema on a server: made once by whoever comes first, beside what Graphiti has made, in the database that was named."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import neo4j
import pytest

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.errors import StoreError
from graphmem.stores.neo4j import Neo4jStore
from graphmem.stores.neo4j.connect import migrations
from graphmem.testing import FixedClock, ScriptedModel

pytestmark = [pytest.mark.neo4j("2026.08", "5.26"), pytest.mark.slow]
OPEN = """
import sys, graphmem
from graphmem.stores.neo4j import Neo4jStore
Neo4jStore.open(sys.argv[1], (sys.argv[2], sys.argv[3])).close()
"""
# Graphiti's own indexes: label or type, property, name.
NODES = {
    "Entity": {"uuid": "entity_uuid", "group_id": "entity_group_id", "name": "name_entity_index", "created_at": "created_at_entity_index"},
    "Episodic": {
        "uuid": "episode_uuid",
        "group_id": "episode_group_id",
        "created_at": "created_at_episodic_index",
        "valid_at": "valid_at_episodic_index",
    },
    "Community": {"uuid": "community_uuid", "group_id": "community_group_id"},
    "Saga": {"uuid": "saga_uuid", "group_id": "saga_group_id", "name": "saga_name"},
}
EDGES = {
    "RELATES_TO": {
        "uuid": "relation_uuid",
        "group_id": "relation_group_id",
        "name": "name_edge_index",
        "created_at": "created_at_edge_index",
        "expired_at": "expired_at_edge_index",
        "valid_at": "valid_at_edge_index",
        "invalid_at": "invalid_at_edge_index",
    },
    "MENTIONS": {"uuid": "mention_uuid", "group_id": "mention_group_id"},
    "HAS_MEMBER": {"uuid": "has_member_uuid"},
    "HAS_EPISODE": {"uuid": "has_episode_uuid", "group_id": "has_episode_group_id"},
    "NEXT_EPISODE": {"uuid": "next_episode_uuid", "group_id": "next_episode_group_id"},
}
TEXTS = (
    "episode_content IF NOT EXISTS FOR (e:Episodic) ON EACH [e.content, e.source, e.source_description, e.group_id]",
    "node_name_and_summary IF NOT EXISTS FOR (n:Entity) ON EACH [n.name, n.summary, n.group_id]",
    "community_name IF NOT EXISTS FOR (n:Community) ON EACH [n.name, n.group_id]",
    "edge_name_and_fact IF NOT EXISTS FOR ()-[e:RELATES_TO]-() ON EACH [e.name, e.fact, e.group_id]",
)


def run(place: Any, statement: str, **params: object) -> list[dict[str, Any]]:
    """What any client reads."""
    with neo4j.GraphDatabase.driver(place.uri, auth=place.auth) as driver, driver.session() as session:
        return [dict(row) for row in session.run(statement, params)]


def unmade(place: Any) -> None:
    """Drop every constraint and index, and what says that they are there."""
    run(place, "MATCH (n) WHERE NOT n:GraphmemTests DETACH DELETE n")
    for row in run(place, "SHOW CONSTRAINTS YIELD name RETURN name"):
        run(place, f"DROP CONSTRAINT {row['name']}")
    for row in run(place, "SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP' RETURN name"):
        run(place, f"DROP INDEX {row['name']}")


@pytest.fixture
def bare(emptied: Any) -> Iterator[Any]:
    """A database without any schema; afterwards it has none again, so that the next test makes its own."""
    unmade(emptied)
    yield emptied
    unmade(emptied)


def schema(place: Any) -> dict[str, str]:
    """Every constraint and index by name, and its state."""
    return {
        row["name"]: row["state"] for row in run(place, "SHOW INDEXES YIELD name, type, state WHERE type <> 'LOOKUP' RETURN name, state")
    }


def opened(place: Any, **options: Any) -> graphmem.Memory:
    """A memory there."""
    clock = FixedClock("2026-01-15T12:00:00Z")
    return graphmem.open(place.uri, auth=place.auth, model=ScriptedModel({}), embedder=HashingEmbedder(32), clock=clock, **options)


def facts(*rows: tuple[str, str, str, str]) -> list[dict[str, str]]:
    """Rows for `add_facts`."""
    return [{"source": s, "relation": r, "target": t, "valid_at": at} for s, r, t, at in rows]


def test_two_processes_that_open_a_new_database_make_one_schema(bare: Any) -> None:
    """Both succeed; everything is there, once, and online."""
    command = [sys.executable, "-c", OPEN, bare.uri, *bare.auth]
    processes = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    for process in processes:
        _, told = process.communicate(timeout=300)
        assert process.returncode == 0, told
    made = schema(bare)
    assert set(made.values()) == {"ONLINE"}
    wanted = {s.text.split()[2] for step in migrations().values() for s in step.values() if s.text.startswith("CREATE")}
    assert wanted - {"INDEX"} <= made.keys() | {"INDEX"}
    assert {"gm_fact_vectors", "gm_entity_vectors", "gm_episode_vectors", "gm_fact_words"} <= made.keys()
    assert run(bare, "MATCH (s:GraphmemStore) RETURN s.schema AS schema") == [{"schema": max(migrations())}]


def test_a_database_that_two_processes_made_before_its_schema_was_one_node_opens(bare: Any) -> None:
    """Of the two nodes that they left one stays, and says the newest schema."""
    opened(bare).close()
    run(bare, "DROP CONSTRAINT gm_store")
    run(bare, "MATCH (s:GraphmemStore) SET s.schema = 2 CREATE (t:GraphmemStore) SET t = properties(s)")
    opened(bare).close()
    assert run(bare, "MATCH (s:GraphmemStore) RETURN s.schema AS schema") == [{"schema": max(migrations())}]


def test_a_database_that_graphiti_has_indexed_is_taken_as_it_is(bare: Any) -> None:
    """Its indexes stay, ours come beside them, its rows stay, and what is told is found; opening again changes nothing."""
    for kind, indexed in NODES.items():
        for name, index in indexed.items():
            run(bare, f"CREATE INDEX {index} IF NOT EXISTS FOR (n:{kind}) ON (n.{name})")
    for kind, indexed in EDGES.items():
        for name, index in indexed.items():
            run(bare, f"CREATE INDEX {index} IF NOT EXISTS FOR ()-[e:{kind}]-() ON (e.{name})")
    for text in TEXTS:
        run(bare, f"CREATE FULLTEXT INDEX {text}")
    run(bare, "CREATE (:Entity {uuid: 'theirs', group_id: 'graphiti', name: 'Theirs', summary: '', created_at: datetime()})")
    before = schema(bare)
    with opened(bare) as memory:
        memory.add_facts(facts(("Mira", "WORKS_AT", "Acme", "2022")))
        assert memory.search("Mira", kinds=["fact"])[0].text
        assert memory.verify() == []
    after = schema(bare)
    assert before.keys() < after.keys()
    assert set(after.values()) == {"ONLINE"}
    assert run(bare, "MATCH (n:Entity {uuid: 'theirs'}) RETURN n.name AS name") == [{"name": "Theirs"}]
    opened(bare).close()
    assert schema(bare) == after


def test_two_of_theirs_with_one_id_are_named(bare: Any) -> None:
    """What stands in the way of a constraint is told, not a traceback of the driver; without it the same call succeeds."""
    run(bare, "CREATE (:Entity {uuid: 'twice', group_id: 'g'}), (:Entity {uuid: 'twice', group_id: 'g'})")
    with pytest.raises(StoreError, match=r"(?s)twice|gm_entity|Entity"):
        opened(bare)
    run(bare, "MATCH (n:Entity) DETACH DELETE n")
    opened(bare).close()


def test_the_database_that_was_named_is_asked_for_everything(emptied: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Schema, reads, writes, searches, copies and re-embedding: no session goes to another one."""
    asked: list[object] = []
    session = neo4j.Driver.session

    def noted(self: neo4j.Driver, **config: Any) -> Any:
        asked.append(config.get("database"))
        return session(self, **config)

    monkeypatch.setattr(neo4j.Driver, "session", noted)
    reach: Any = {"auth": emptied.auth, "database": "neo4j"}
    run(emptied, "MATCH (s:GraphmemStore) DELETE s")
    asked.clear()
    with opened(emptied, database="neo4j") as memory:
        added = memory.add_facts(facts(("Mira", "WORKS_AT", "Acme", "2022"), ("Bob", "KNOWS", "Mira", "2020")))
        memory.restore(memory.forget(episode=added.ids[0]))
        memory.search("Who works at Acme?", depth=3)
        memory.context("Mira")
        memory.neighbours("Bob", hops=2)
        memory.as_of(valid="2021").entities()
        memory.stats()
        memory.verify()
    graphmem.copy(emptied.uri, tmp_path / "a.db", progress=False, **reach)
    graphmem.reembed(emptied.uri, embedder=HashingEmbedder(16), progress=False, **reach)
    assert len(asked) > 20
    assert set(asked) == {"neo4j"}


def test_nothing_crosses_between_groups(emptied: Any) -> None:
    """Each says what it would say alone, also one whose id looks like a statement; clearing one leaves the other."""
    other = "g'\") DETACH DELETE n //"
    said = {
        "main": facts(("Mira", "WORKS_AT", "Acme", "2022")),
        other: facts(("Mira", "WORKS_AT", "Globex", "2023"), ("Bob", "KNOWS", "Mira", "2020")),
    }
    with opened(emptied) as memory:
        for group, rows in said.items():
            memory.add_facts(rows, group=group)
        for group, rows in said.items():
            with graphmem.open(
                model=ScriptedModel({}), embedder=HashingEmbedder(32), clock=FixedClock("2026-01-15T12:00:00Z"), group=group
            ) as alone:
                alone.add_facts(rows)
                assert memory.state_hash(group=group) == alone.state_hash()
                assert memory.counts(group=group) == alone.counts()
                assert [f.target for f in memory.facts("Mira", group=group)] == [f.target for f in alone.facts("Mira")]
                found, expected = (m.search("Mira works at Acme or Globex", group=group, depth=3) for m in (memory, alone))
                assert {h.id for h in found} == {h.id for h in expected}
                assert [n.name for n in memory.neighbours("Mira", hops=3, group=group)] == [
                    n.name for n in alone.neighbours("Mira", hops=3)
                ]
        assert {h.id for h in memory.search("Mira", group=("main", other))} > {h.id for h in memory.search("Mira")}
        with memory._scope.store.write(other) as writer:
            writer.clear_derived(other)
        assert memory.counts(group=other)["facts"] == 0
        assert memory.counts()["facts"] == 1
        assert memory.search("Acme", kinds=["fact"])[0].text
    store = Neo4jStore.open(emptied.uri, emptied.auth)
    with store.read() as reader:
        assert reader.verify() == []
    store.close()
