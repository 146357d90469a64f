"""Graphiti's own client on a graph that graphmem wrote: it lists, searches and walks it, and changes nothing of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from neo4j_servers import Place, Servers, newest

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.settings import Settings
from graphmem.testing import FixedClock, ScriptedModel

pytestmark = [pytest.mark.neo4j, pytest.mark.slow]
PACKAGE = "graphiti-core==0.31.2"
READER = Path(__file__).with_name("graphiti_reader.py")
DIMENSION = 64
NOW = "2026-01-15T12:00:00Z"
HOSTILE = 'it\'s "<script>alert(1)</script>" `) DETACH DELETE (n) //'
QUESTIONS = ("Where does Mira live?", "Who works at Acme?", 'AND OR NOT "(', HOSTILE)
FACTS = (
    ("Mira Okafor", "Person", "lives_in", "Lisbon", "Place", "2021"),
    ("Mira Okafor", "Person", "works_at", "Acme", "Organization", "2022"),
    ("Mira Okafor", "Person", "lives_in", "Porto", "Place", "2024-03"),
    ("Bob Stone", "Person", "works_at", "Acme", "a type of its own", "2019"),
    ("Bob Stone", "Person", "knows", "Mira Okafor", "Person", "2020"),
    (HOSTILE, "Thing", "knows", "北京", "Place", "2020"),
    ("★★★", "Thing", "related_to", "♥", "Thing", None),
    ("Acme", "Organization", "located_in", "Turin", "Place", "2090"),
)


@pytest.fixture(scope="module")
def interpreter() -> str:
    """One that has Graphiti: of the environment that GRAPHMEM_GRAPHITI names, made in the cache if it names none."""
    named = os.environ.get("GRAPHMEM_GRAPHITI")
    folder = Path(named) if named else Settings.from_environment().cache / PACKAGE
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, timeout=300)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", PACKAGE], check=True, timeout=900)
    return str(python)


@pytest.fixture(scope="module")
def place(servers: Servers) -> Place:
    """One server for all of these tests."""
    return servers.place(newest())


@pytest.fixture(scope="module")
def memory(place: Place) -> Iterator[graphmem.Memory]:
    """A memory with facts that hold, ended, are planned and were forgotten, of four kinds of episodes; sound at the end."""
    from neo4j import GraphDatabase

    with GraphDatabase.driver(place.uri, auth=place.auth) as driver:
        driver.execute_query("MATCH (n) WHERE NOT n:GraphmemStore AND NOT n:GraphmemTests DETACH DELETE n")
    model, clock = ScriptedModel({"extract": {"entities": [], "facts": []}}, prompts=("extract",)), FixedClock(NOW)
    with graphmem.open(place.uri, auth=place.auth, model=model, embedder=HashingEmbedder(DIMENSION), clock=clock) as opened:
        names = ("source", "source_type", "relation", "target", "target_type", "valid_at")
        for n, row in enumerate(FACTS, 1):
            told = dict(zip(names, row, strict=True))
            told["text"] = f"{told['source']} {told['relation'].replace('_', ' ')} {told['target']}"
            opened.add_facts([told], reference_time=f"2025-0{n}-01T10:00Z", source="team.csv")
        forgotten = opened.add_facts([{"source": "Eve", "relation": "knows", "target": "Bob Stone"}], reference_time="2025-09-01")
        opened.forget(episode=forgotten.ids[0])
        opened.add_message("Mira Okafor", HOSTILE, reference_time="2025-10-01T10:00Z", session="s")
        opened.add_text("A report about nothing. " * 500, reference_time="2025-10-02T10:00Z", source="report.md")
        opened.add_json({"id": 7, "who": "Bob"}, reference_time="2025-10-03T10:00Z")
        opened.build_communities()
        yield opened
        assert opened.verify() == []


@pytest.fixture(scope="module")
def read(memory: graphmem.Memory, place: Place, interpreter: str) -> dict[str, Any]:
    """All that Graphiti reads, and that the memory is as it was."""
    from neo4j import GraphDatabase

    before = memory.state_hash()
    with GraphDatabase.driver(place.uri, auth=place.auth) as driver:
        driver.execute_query("CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()")
    vectors = HashingEmbedder(DIMENSION).embed([*QUESTIONS])
    ends = [memory.entity(name).id for name in ("Mira Okafor", "Porto")]
    asked = {
        "uri": place.uri,
        "user": place.auth[0],
        "password": place.auth[1],
        "groups": ["main"],
        "queries": {q: [float(x) for x in row] for q, row in zip(QUESTIONS, vectors, strict=True)},
        "at": "2026-01-01T00:00:00+00:00",
        "pair": ends,
    }
    environment = {"PATH": "", "EMBEDDING_DIM": str(DIMENSION), "GRAPHITI_TELEMETRY_ENABLED": "false"}
    done = subprocess.run([interpreter, str(READER)], input=json.dumps(asked), capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    assert memory.state_hash() == before
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def believed(edges: list[dict[str, Any]]) -> set[tuple[str, str, str]]:
    """Sentence and dates of the facts that are believed, at whatever time they hold."""
    return {(e["fact"], str(e["valid_at"])[:10], str(e["invalid_at"])[:10]) for e in edges if e["expired_at"] is None}


def test_no_read_fails(read: dict[str, Any]) -> None:
    """Not one of them, whatever is asked and whatever the texts say."""
    assert '"error"' not in json.dumps(read)


def test_everything_is_listed(read: dict[str, Any], memory: graphmem.Memory) -> None:
    """Entities with their types, facts with their dates, episodes with their texts."""
    nodes = {n["name"]: n for n in read["nodes"]}
    assert set(nodes) == {e.name for e in memory.entities()} | {"Eve"}
    assert set(nodes["Porto"]["labels"]) == {"Entity", "Place"}
    assert set(nodes["Acme"]["labels"]) >= {"Entity"}
    assert believed(read["edges"]) >= {
        ("Mira Okafor lives in Lisbon", "2021-01-01", "2024-03-01"),
        ("Mira Okafor lives in Porto", "2024-03-01", "None"),
        ("Acme located in Turin", "2090-01-01", "None"),
    }
    assert not [e for e in read["edges"] if e["expired_at"] is None and "Eve" in e["fact"]]
    known = {e.id: e for e in memory.episodes()}
    assert {e["uuid"] for e in read["episodes"]} == set(known)
    for e in read["episodes"]:
        assert datetime.fromisoformat(e["valid_at"]) == known[e["uuid"]].reference_time
    assert sorted(e["source"] for e in read["episodes"]) == sorted(["fact_triple"] * 8 + ["message", "text", "json"])
    assert HOSTILE in {e["content"] for e in read["episodes"]}
    assert [e["name"][-10:] for e in read["recent"]] == ["2025-10-01", "2025-10-02", "2025-10-03"]


def test_the_graph_can_be_walked(read: dict[str, Any]) -> None:
    """From episodes to entities and facts, from entities to facts, between two entities, from communities to members."""
    names = {n["uuid"]: n["name"] for n in read["nodes"]}
    facts = {e["uuid"]: e for e in read["edges"]}
    for e in read["edges"]:
        assert {e["source_node_uuid"], e["target_node_uuid"]} <= set(names)
    mentioned = {(m["source_node_uuid"], m["target_node_uuid"]) for m in read["mentions"]}
    for episode in read["episodes"]:
        found = read["by_episode"][episode["uuid"]]
        assert {e["uuid"] for e in found["edges"]} == set(episode["entity_edges"])
        assert {(episode["uuid"], n["uuid"]) for n in found["nodes"]} <= mentioned
        assert all(episode["uuid"] in facts[uuid]["episodes"] for uuid in episode["entity_edges"])
    for uuid, edges in read["by_node"].items():
        assert {e["uuid"] for e in edges} == {e["uuid"] for e in facts.values() if uuid in (e["source_node_uuid"], e["target_node_uuid"])}
    assert {e["fact"] for e in read["between"]} == {"Mira Okafor lives in Porto"}
    communities = {c["uuid"] for c in read["communities"]}
    assert communities
    assert {m["source_node_uuid"] for m in read["members"]} == communities
    assert {m["target_node_uuid"] for m in read["members"]} <= set(names)


def test_searches_find_what_is_meant(read: dict[str, Any]) -> None:
    """By words and by vectors, ranked in three ways; and by two steps from an entity, in the direction of the facts."""
    lives, works, signs, hostile = (read["searches"][q] for q in QUESTIONS)
    assert {"Mira Okafor lives in Porto", "Mira Okafor lives in Lisbon"} <= {e["fact"] for e in lives["search"][:5]}
    assert {"Mira Okafor works at Acme", "Bob Stone works at Acme"} <= {e["fact"] for e in works["search"][:5]}
    for name in ("COMBINED_HYBRID_SEARCH_RRF", "COMBINED_HYBRID_SEARCH_MMR", "COMBINED_HYBRID_SEARCH_CROSS_ENCODER"):
        assert "Mira Okafor lives in Porto" in {e["fact"] for e in lives[name]["edges"]}, name
        assert "Mira Okafor" in {n["name"] for n in lives[name]["nodes"]}, name
        assert HOSTILE in {e["content"] for e in hostile[name]["episodes"]}, name
        assert HOSTILE in {n["name"] for n in hostile[name]["nodes"]}, name
        assert set(signs[name]) == {"nodes", "edges", "episodes", "communities"}, name
    assert {"Mira Okafor works at Acme", "Acme located in Turin"} <= {e["fact"] for e in lives["walk"]["edges"]}
    assert {"Acme", "Turin"} <= {n["name"] for n in lives["walk"]["nodes"]}


def test_its_indexes_lie_beside_ours(read: dict[str, Any], memory: graphmem.Memory, place: Place) -> None:
    """After it has made its own, a memory opens, writes and is sound."""
    assert read
    model = ScriptedModel({})
    with graphmem.open(place.uri, auth=place.auth, model=model, embedder=HashingEmbedder(DIMENSION), clock=FixedClock(NOW)) as again:
        again.add_facts([{"source": "x" * 400, "relation": "knows", "target": "Mira Okafor", "text": "y" * 40_000}])
        assert again.verify() == []
        assert again.search("xxxx")
