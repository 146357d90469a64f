"""The saved queries for Neo4j Browser, run on a real graph: what they show, what they read, and that they keep to their group."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from neo4j_servers import Place, Servers, newest
from test_together import replanned

import graphmem
from graphmem.browser import queries
from graphmem.embed.hashing import HashingEmbedder
from graphmem.model import EpisodeRecord
from graphmem.stores.neo4j import rows
from graphmem.testing import FixedClock, ScriptedModel
from graphmem.testing.neo4j import RELEASES

pytestmark = pytest.mark.neo4j
OTHER_RELEASE = next(release for release in RELEASES if release != newest())
NOW = "2026-01-15T12:00:00Z"
OTHER = "g'\") DETACH DELETE n //"
TOLD = (
    ("2025-01-01", {"source": "Mira Okafor", "relation": "works_at", "target": "Acme", "valid_at": "2022"}),
    ("2025-02-01", {"source": "Mira Okafor", "relation": "works_at", "target": "Globex Inc.", "valid_at": "2024-08"}),
    ("2025-03-01", {"source": "Bob", "relation": "knows", "target": "Mira Okafor", "valid_at": "2020"}),
    ("2025-04-01", {"source": "Mira Okafor", "relation": "lives_in", "target": "Porto", "valid_at": "2021"}),
    ("2025-05-01", {"source": "Mira Okafor", "relation": "lives_in", "target": "Lisbon", "valid_at": "2024"}),
    ("2025-06-01", {"source": "Bob", "relation": "works_at", "target": "Acme", "valid_at": "2019"}),
    ("2025-07-01", {"source": "Eve", "relation": "lives_in", "target": "Oslo", "valid_at": "2020"}),
    ("2025-08-01", {"source": "Globex Inc.", "relation": "located_in", "target": "Turin", "valid_at": "2090"}),
)
TABLES = ("log/", "time/changes.cypher", "time/history.cypher", "sources/words.cypher")
PICTURES = [name for name in queries() if not name.startswith(TABLES)]


BOTH = [newest(), pytest.param(OTHER_RELEASE, marks=[pytest.mark.slow, pytest.mark.xdist_group(f"neo4j-{OTHER_RELEASE}")])]


@pytest.fixture(scope="module", params=BOTH)
def place(request: pytest.FixtureRequest, servers: Servers) -> Place:
    """One server for all of these tests; the other release in the slow tier."""
    return servers.place(request.param)


@pytest.fixture(scope="module")
def server(place: Place) -> Iterator[Any]:
    """The server with nothing in its database."""
    from neo4j import GraphDatabase

    with GraphDatabase.driver(place.uri, auth=place.auth) as driver:
        driver.execute_query("MATCH (n) WHERE NOT n:GraphmemStore AND NOT n:GraphmemTests DETACH DELETE n")
        yield driver


@pytest.fixture(scope="module")
def memory(place: Place, server: Any) -> Iterator[graphmem.Memory]:
    """A memory told eight things, each at its own time, of which one is forgotten; and the same in another group."""
    with graphmem.open(place.uri, auth=place.auth, model=ScriptedModel({}), embedder=HashingEmbedder(64), clock=FixedClock(NOW)) as opened:
        for group in ("main", OTHER):
            told = {}
            for day, row in TOLD:
                text = f"{row['source']} {row['relation'].replace('_', ' ')} {row['target']}"
                added = opened.add_facts([{**row, "text": text}], reference_time=day, recorded_at=day, group=group)
                told[row["source"]] = added.ids[0]
            opened.forget(episode=told["Eve"], reason="asked to", group=group)
        yield opened


@pytest.fixture(scope="module")
def run(server: Any, memory: graphmem.Memory) -> Iterator[Any]:
    """Runs a saved query as somebody in Browser does: with parameters set once for all of them."""
    known = {"group_id": "main", "name": "Mira Okafor", "day": "2023-06-01", "since": "2025-04-15", "fact": "", "episode": ""}
    with server.session() as session:
        replanned(session)

        def run(name: str, /, prefix: str = "", **given: object) -> Any:
            result = session.run(prefix + queries()[f"{name}.cypher"], {**known, **given})
            return result.consume() if prefix else result.graph() if f"{name}.cypher" in PICTURES else [dict(row) for row in result]

        yield run


def told(graph: Any) -> set[tuple[str, str, str]]:
    """The facts of a picture: source, relation, target."""
    facts = [r for r in graph.relationships if r.type == "RELATES_TO"]
    return {(r.start_node["name"], r["name"], r.end_node["name"]) for r in facts}


def read(view: graphmem.View, *about: str) -> set[tuple[str, str, str]]:
    """The same by the library."""
    return {(f.source, f.relation, f.target) for f in view.facts(*about)}


@pytest.mark.parametrize("name", list(queries()))
def test_every_query_starts_from_an_index(run: Any, name: str) -> None:
    """No scan of labels, types or whole indexes, and no product of rows that have nothing to do with each other."""
    plan = run(name.removesuffix(".cypher"), "EXPLAIN ").plan
    pending, operators = [plan], []
    while pending:
        step = pending.pop()
        operators.append(step["operatorType"].partition("@")[0])
        pending += step.get("children", ())
    assert any("Seek" in operator for operator in operators), operators
    assert not [o for o in operators if re.search(r"Scan|CartesianProduct", o)], operators


@pytest.mark.parametrize("name", list(queries()))
def test_no_query_shows_another_group(run: Any, name: str) -> None:
    """A group that was never written to is empty, whatever is beside it and whatever it is called."""
    found = run(name.removesuffix(".cypher"), group_id="' OR 1=1 //")
    assert not (found.nodes if name in PICTURES else found)


def test_what_is_true_now(run: Any, memory: graphmem.Memory) -> None:
    """What the library reads, nothing that has ended, is planned or was forgotten; and none of the books."""
    now = run("look/now")
    assert told(now) == read(memory)
    assert {label for node in now.nodes for label in node.labels if label.startswith("Graphmem")} == set()
    around = run("look/entity", name="mira okafor ")
    assert told(around) == read(memory) - {("Eve", "LIVES_IN", "Oslo")}
    assert told(run("look/entity", name="Globex Inc.")) >= {("Mira Okafor", "WORKS_AT", "Globex Inc.")}
    assert told(run("look/now", group_id=OTHER)) == told(now)


def test_as_of_a_day_on_both_axes(run: Any, memory: graphmem.Memory) -> None:
    """By what is known now, and by what was known then."""
    assert told(run("time/as_of_day")) == read(memory.as_of(valid="2023-06-01"))
    assert ("Mira Okafor", "LIVES_IN", "Porto") in told(run("time/as_of_day"))
    for day in ("2025-01-15", "2025-04-15", "2025-07-01"):
        assert told(run("time/as_believed_on_day", day=day)) == read(memory.as_of(system=day)), day


def test_a_history_has_a_row_for_each_fact(run: Any) -> None:
    """In the order of time, with what has ended and what is yet to come."""
    found = [(r["from"], r["until"], r["relation"], r["sources"]) for r in run("time/history")]
    assert found == [
        ("2020-01-01", None, "KNOWS", 1),
        ("2021-01-01", "2024-01-01", "LIVES_IN", 1),
        ("2022-01-01", "2024-08-01", "WORKS_AT", 1),
        ("2024-01-01", None, "LIVES_IN", 1),
        ("2024-08-01", None, "WORKS_AT", 1),
    ]
    assert len(told(run("time/history_picture"))) == 5
    assert told(run("time/planned")) == {("Globex Inc.", "LOCATED_IN", "Turin")}


def test_what_changed_since_a_day(run: Any) -> None:
    """What was learnt, what it made end, and what was withdrawn."""
    found = [(r["change"], r["source"], r["target"], r["was"], r["is"]) for r in run("time/changes")]
    assert found == [
        ("withdrawn", "Eve", "Oslo", [], []),
        ("learnt", "Globex Inc.", "Turin", [], ["2090-01-01 to open"]),
        ("learnt", "Bob", "Acme", [], ["2019-01-01 to open"]),
        ("learnt", "Mira Okafor", "Lisbon", [], ["2024-01-01 to open"]),
        ("revised", "Mira Okafor", "Porto", ["2021-01-01 to open"], ["2021-01-01 to 2024-01-01"]),
    ]
    assert len(told(run("time/changes_picture"))) == 5
    assert run("time/changes", since="2026-01-16") == []


def test_provenance(run: Any, memory: graphmem.Memory) -> None:
    """From a fact to its episodes, from an episode to its facts, and what was said of an entity."""
    (lisbon,) = (f for f in memory.facts("Mira Okafor") if f.target == "Lisbon")
    graph = run("sources/fact", fact=lisbon.uuid)
    (episode,) = (n for n in graph.nodes if "Episodic" in n.labels)
    assert told(graph) == {("Mira Okafor", "LIVES_IN", "Lisbon")}
    assert {r.type for r in graph.relationships} == {"RELATES_TO", "MENTIONS"}
    assert [episode["uuid"]] == list(lisbon.episodes)
    assert episode["name"] == "facts, 2025-05-01"
    back = run("sources/episode", episode=episode["uuid"])
    assert told(back) == told(graph)
    assert {n["name"] for n in back.nodes} == {"facts, 2025-05-01", "Mira Okafor", "Lisbon"}
    mentioned = run("sources/entity")
    assert len([n for n in mentioned.nodes if "Episodic" in n.labels]) == 5
    assert [r["at"][:10] for r in run("sources/words")] == [day for day, row in TOLD if "Mira Okafor" in row.values()]


def test_episodes_are_called_by_who_and_when(server: Any, memory: graphmem.Memory) -> None:
    """By the writer's statement as by the bulk loader."""
    with memory._scope.store.read() as reader:
        told = {rows.episode_name(record.episode) for record in reader.log("main") if isinstance(record, EpisodeRecord)}
    found, _, _ = server.execute_query("MATCH (p:Episodic {group_id: 'main'}) WHERE p.uuid IS NOT NULL RETURN p.name AS name")
    assert {row["name"] for row in found} == told - {"facts, 2025-07-01"}


def test_communities_come_with_their_members_once_there_are_some(run: Any, server: Any) -> None:
    """None, and then one with three."""
    assert not run("look/communities").nodes
    server.execute_query(
        "CREATE (c:Community {uuid: 'c', group_id: 'main', name: 'Work', summary: '', created_at: datetime()}) "
        "WITH c MATCH (e:Entity {group_id: 'main'}) WHERE e.name IN ['Mira Okafor', 'Bob', 'Acme'] "
        "CREATE (c)-[:HAS_MEMBER {uuid: e.uuid + 'c', group_id: 'main', created_at: datetime()}]->(e)"
    )
    graph = run("look/communities")
    assert sorted(n["name"] for n in graph.nodes) == ["Acme", "Bob", "Mira Okafor", "Work"]
    assert {r.type for r in graph.relationships} == {"HAS_MEMBER"}
    server.execute_query("MATCH (c:Community) DETACH DELETE c")


def test_the_log_is_told(run: Any) -> None:
    """What was forgotten and why; how much there is."""
    (row,) = run("log/operations")
    assert (row["kind"], row["reason"], row["at"][:10]) == ("forget", "asked to", "2026-01-15")
    (size,) = run("log/sizes")
    assert (size["log"], size["episodes"], size["fact_versions"]) == (10, 8, 10)
