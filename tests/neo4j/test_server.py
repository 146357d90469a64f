"""The server behind the Neo4j store: opening, refusing, sharing, what others see of it, and what it costs."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphmem
from graphmem.belief.audit import history_hash, state_hash
from graphmem.embed.hashing import HashingEmbedder
from graphmem.errors import EmbedderMismatch, InvalidInput, LoginRefused, SchemaTooNew, StoreBusy, StoreUnavailable
from graphmem.model import AsOf, EntityMatch, FactMatch
from graphmem.runtime import MICROSECOND
from graphmem.statements import Statement
from graphmem.stores.base import Capability, Found, Kind, SearchFilter
from graphmem.stores.codec import to_micros
from graphmem.stores.neo4j import Neo4jStore, graph, search
from graphmem.stores.neo4j.connect import migrations
from graphmem.stores.neo4j.session import named
from graphmem.stores.neo4j.tokens import index_key
from graphmem.testing import FixedClock, ScriptedModel
from graphmem.testing.samples import GROUP, NOW, add_entities, add_episode, add_facts, day, entity, fact, ids, put, record, unit, uuids

pytestmark = pytest.mark.neo4j
BOTH = pytest.mark.neo4j("2026.08", "5.26")
SAID = (
    ("Mira", "works_at", "Acme", "2022"),
    ("Mira", "works_at", "Globex", "2024-08"),
    ("Bob", "knows", "Mira", "2020"),
    ("Mira", "lives_in", "Porto", "2021"),
    ("Mira", "lives_in", "Lisbon", "2024"),
    ("Bob", "works_at", "Acme", "2019"),
)


class Ticking:
    """A clock that is one microsecond later each time."""

    def __init__(self) -> None:
        self._now = FixedClock("2026-01-15T12:00:00Z").now()

    def now(self) -> Any:
        self._now += MICROSECOND
        return self._now


def tell(memory: graphmem.Memory) -> None:
    """A story in which facts end, and one episode is forgotten and comes back."""
    for n, (source, relation, target, valid_at) in enumerate(SAID, 1):
        row = {"source": source, "relation": relation, "target": target, "valid_at": valid_at, "text": f"{source} {relation} {target}"}
        added = memory.add_facts([row], reference_time=f"2025-0{n}-01")
        if n == 2:
            memory.restore(memory.forget(episode=added.ids[0]))
            memory.forget(episode=added.ids[0])


@contextmanager
def counted(store: Neo4jStore) -> Iterator[Counter[str]]:
    """How often each statement runs."""
    seen: Counter[str] = Counter()

    def note(statement: Statement) -> None:
        seen[statement.name] += 1

    with store.trace(note):
        yield seen


@pytest.fixture
def memory(emptied: Any) -> Iterator[graphmem.Memory]:
    """A memory on the server, found sound at the end."""
    opened = graphmem.open(emptied.uri, auth=emptied.auth, model=ScriptedModel({}), embedder=HashingEmbedder(64), clock=Ticking())
    yield opened
    assert opened.verify() == []
    opened.close()


def run(store: Neo4jStore, statement: str, **params: object) -> list[dict[str, Any]]:
    """What somebody else's client reads."""
    with store._connection.session() as session:
        return [dict(row) for row in session.run(statement, params)]


def start(n: int) -> int:
    """The beginning of a day as it is stored."""
    return to_micros(day(n))


def store_of(memory: graphmem.Memory) -> Neo4jStore:
    """The store behind a memory."""
    store = memory._scope.store
    assert isinstance(store, Neo4jStore)
    return store


@BOTH
def test_a_story_gives_the_same_beliefs_as_in_memory(memory: graphmem.Memory) -> None:
    """State and history hash for hash, and the same hits with the same scores."""
    plain = graphmem.open(model=ScriptedModel({}), embedder=HashingEmbedder(64), clock=Ticking())
    tell(memory)
    tell(plain)
    with store_of(memory).read() as found, plain._scope.store.read() as expected:
        assert state_hash(found, "main") == state_hash(expected, "main")
        assert history_hash(found, "main") == history_hash(expected, "main")
    for question in ("Where does Mira live?", "Who works at Acme?", "Bob"):
        hits = [[(h.kind, h.id, round(h.score, 6)) for h in m.search(question)] for m in (memory, plain)]
        assert hits[0] == hits[1]
    assert [f.target for f in memory.as_of(valid="2022-06-01").facts("Mira")] == [
        f.target for f in plain.as_of(valid="2022-06-01").facts("Mira")
    ]


def test_what_was_written_is_there_after_reopening(emptied: Any) -> None:
    """Another store on the same server reads it, and makes no schema anew."""
    with_rows(emptied)
    again = Neo4jStore.open(emptied.uri, emptied.auth)
    with again.read() as reader:
        assert uuids(reader) == ["u1"]
        assert ids(reader.text_search(Kind.FACT, ["knows"], [GROUP], NOW, 5)) == ["u1"]
        assert ids(reader.vector_search(Kind.FACT, unit(1, 0)[0], [GROUP], NOW, 5)) == ["u1"]
    again.close()
    again.close()
    with pytest.raises(StoreUnavailable, match="closed"), again.read():
        pass


def test_addresses_that_cannot_be_used_are_named(place: Any) -> None:
    """A port where nothing listens, a wrong password, a database that is not there, a password in the address, another scheme."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(StoreUnavailable, match="cannot be reached"):
            Neo4jStore.open(f"bolt://127.0.0.1:{unused.getsockname()[1]}", ("neo4j", "x"))
    with pytest.raises(LoginRefused, match="user or password"):
        Neo4jStore.open(place.uri, (place.auth[0], "wrong"))
    with pytest.raises(StoreUnavailable, match="no such database"):
        Neo4jStore.open(place.uri, place.auth, "elsewhere")
    for secret in ("hunter2", "hun/ter2", "hun#ter2", "hun?ter2", "hun@ter2"):
        with pytest.raises(InvalidInput, match="must not hold") as refused:
            Neo4jStore.open(f"bolt://neo4j:{secret}@localhost:7687")
        assert "hun" not in str(refused.value)
    with pytest.raises(InvalidInput, match="must be an address"):
        Neo4jStore.open("http://localhost:7474")


def test_a_password_is_for_a_server_only() -> None:
    """`auth` and `database` beside a file are refused, and the password is not shown."""
    with pytest.raises(InvalidInput, match="names none") as refused:
        graphmem.open(":memory:", auth=("neo4j", "hunter2"), model=ScriptedModel({}), embedder=HashingEmbedder())
    assert "hunter2" not in str(refused.value)


def test_a_newer_schema_is_refused(emptied: Any) -> None:
    """The message says which schema the server has and which this graphmem knows."""
    store = Neo4jStore.open(emptied.uri, emptied.auth)
    run(store, "MATCH (s:GraphmemStore) SET s.schema = 99")
    try:
        with pytest.raises(SchemaTooNew, match=rf"schema 99.*up to {max(migrations())}"):
            Neo4jStore.open(emptied.uri, emptied.auth)
    finally:
        run(store, f"MATCH (s:GraphmemStore) SET s.schema = {max(migrations())}")
        store.close()


def test_another_embedder_is_refused(memory: graphmem.Memory, emptied: Any) -> None:
    """Vectors of two embedders are never compared."""
    tell(memory)
    with pytest.raises(EmbedderMismatch):
        graphmem.open(emptied.uri, auth=emptied.auth, model=ScriptedModel({}), embedder=HashingEmbedder(32))


@BOTH
def test_the_server_can_plan_every_statement(opened: Neo4jStore) -> None:
    """Also those that only rare cases run; not those for servers of another version."""
    filtered = Capability.FILTERED_VECTOR_INDEX in opened.capabilities
    for name, statement in named().items():
        if name.startswith("near_") and not filtered:
            continue
        text = statement.text.removeprefix("CYPHER 25")
        language = "" if text == statement.text else "CYPHER 25 "
        run(opened, f"{language}EXPLAIN {text}", **dict.fromkeys(statement.params))


@BOTH
def test_indexes_are_ready_and_used(opened: Neo4jStore) -> None:
    """Every index of the schema is online; the capability says whether vector indexes filter."""
    found = run(opened, "SHOW INDEXES YIELD name, state, type, labelsOrTypes, properties")
    assert {row["state"] for row in found} == {"ONLINE"}
    by_name = {row["name"]: row for row in found}
    assert {"gm_fact_words", "gm_entity_words", "gm_episode_words", "gm_fact_vectors", "gm_fact", "gm_entity"} <= by_name.keys()
    filtered = len(by_name["gm_fact_vectors"]["properties"]) > 1
    assert (Capability.FILTERED_VECTOR_INDEX in opened.capabilities) == filtered


def test_a_newer_server_gets_better_indexes(emptied: Any) -> None:
    """Vector indexes that an older server made are made anew by one that can filter in them; what is stored is found as before."""
    store = Neo4jStore.open(emptied.uri, emptied.auth)
    if Capability.FILTERED_VECTOR_INDEX not in store.capabilities:
        store.close()
        pytest.skip("this server cannot filter in a vector index")
    with_rows(emptied)
    run(store, "MATCH (s:GraphmemStore) SET s.filtered = false")
    run(store, "DROP INDEX gm_fact_vectors")
    run(store, "CREATE VECTOR INDEX gm_fact_vectors FOR ()-[r:RELATES_TO]-() ON r.fact_embedding")
    again = Neo4jStore.open(emptied.uri, emptied.auth)
    (row,) = run(store, "SHOW INDEXES YIELD name, state, properties WHERE name = 'gm_fact_vectors' RETURN state, properties")
    assert (row["state"], len(row["properties"])) == ("ONLINE", 8)
    with again.read() as reader:
        assert ids(reader.vector_search(Kind.FACT, unit(1, 0)[0], [GROUP], NOW, 5)) == ["u1"]
    again.close()
    store.close()


def test_several_may_open_an_empty_database_at_once(emptied: Any) -> None:
    """Each makes what is missing, or finds it made."""
    store = Neo4jStore.open(emptied.uri, emptied.auth)
    run(store, "MATCH (s:GraphmemStore) DELETE s")
    for name in ("gm_decision", "gm_link_one", "gm_fact_words", "gm_fact_vectors", "gm_episode_seq"):
        run(store, f"DROP INDEX {name}")
    failures: list[Exception] = []

    def open_it() -> None:
        try:
            Neo4jStore.open(emptied.uri, emptied.auth).close()
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=open_it) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert "gm_fact_vectors" in {row["name"] for row in run(store, "SHOW INDEXES YIELD name, state WHERE state = 'ONLINE' RETURN name")}
    store.close()


def test_groups_have_one_writer_each_across_stores(emptied: Any) -> None:
    """A held lock is waited for, then named; another group is free, and readers are not hindered."""
    one, two = Neo4jStore.open(emptied.uri, emptied.auth), Neo4jStore.open(emptied.uri, emptied.auth, timeout=1.0)
    with one.write(GROUP) as writer:
        add_facts(writer, fact("u1", "mira", "acme"))
        with pytest.raises(StoreBusy, match="try again"), two.write(GROUP):
            pass
        with two.write("other") as free:
            add_facts(free, fact("u2", "mira", "acme", group="other"))
        with two.read() as reader:
            assert uuids(reader) == []
            assert uuids(reader, groups=("other",)) == ["u2"]
    with two.read() as reader:
        assert uuids(reader) == ["u1"]
    one.close()
    two.close()


def test_a_transaction_that_the_server_ends_is_resumed(emptied: Any) -> None:
    """One that only takes long is begun again with what it has written; unless another writer came between."""
    slow, quick = Neo4jStore.open(emptied.uri, emptied.auth, timeout=1.5), Neo4jStore.open(emptied.uri, emptied.auth)
    with slow.write(GROUP) as writer:
        add_facts(writer, fact("u1", "mira", "acme"))
        assert uuids(writer) == ["u1"]
        ended(slow)
        assert uuids(writer) == ["u1"]
        add_facts(writer, fact("u2", "mira", "acme"))
        ended(slow)
    with slow.read() as reader:
        assert uuids(reader) == ["u1", "u2"]
    with pytest.raises(StoreBusy, match="another writer came between"):
        _overtaken(slow, quick)
    with quick.read() as reader:
        assert uuids(reader) == ["u1", "u2", "u4"]
    slow.close()
    quick.close()


def _overtaken(slow: Neo4jStore, quick: Neo4jStore) -> None:
    with slow.write(GROUP) as writer:
        add_facts(writer, fact("u3", "mira", "acme"))
        ended(slow)
        with quick.write(GROUP) as other:
            add_facts(other, fact("u4", "mira", "acme"))


def ended(store: Neo4jStore) -> None:
    """The server gives up every transaction that holds a lock."""
    held = run(store, "SHOW TRANSACTIONS YIELD transactionId AS id, activeLockCount AS locks WHERE locks > 0 RETURN id")
    run(store, "TERMINATE TRANSACTIONS $ids", ids=[row["id"] for row in held])


def test_writers_of_several_processes_lose_nothing(emptied: Any) -> None:
    """Each adds to what it finds, and the sum is right."""
    Neo4jStore.open(emptied.uri, emptied.auth).close()
    script = (
        "import sys\nfrom graphmem.stores.neo4j import Neo4jStore\nfrom graphmem.testing.samples import *\n"
        "s = Neo4jStore.open(sys.argv[1], (sys.argv[2], sys.argv[3]))\n"
        "for _ in range(8):\n    with s.write(GROUP) as w:\n        n = w.head(GROUP).seq + 1\n        add_episode(w, record(f'e{n}', n))\n"
    )
    command = [sys.executable, "-c", script, emptied.uri, *emptied.auth]
    processes = [subprocess.Popen(command, cwd=Path(__file__).parents[2]) for _ in range(2)]
    assert [p.wait(120) for p in processes] == [0, 0]
    store = Neo4jStore.open(emptied.uri, emptied.auth)
    with store.read() as reader:
        assert [e.seq for e in reader.log(GROUP)] == list(range(1, 17))
        assert reader.verify() == []
    store.close()


def test_a_killed_writer_leaves_whole_episodes(emptied: Any) -> None:
    """Whatever it had acknowledged is there, and nothing by halves; its lock is free."""
    Neo4jStore.open(emptied.uri, emptied.auth).close()
    script = (
        "import sys\nfrom graphmem.stores.neo4j import Neo4jStore\nfrom graphmem.testing.samples import *\n"
        "s = Neo4jStore.open(sys.argv[1], (sys.argv[2], sys.argv[3]))\n"
        "for n in range(1, 1000):\n    with s.write(GROUP) as w:\n        add_episode(w, record(f'e{n}', n, entities=['mira']))\n"
        "        add_facts(w, fact(f'u{n}', 'mira', 'acme', system=(n, None)))\n    print(n, flush=True)\n"
    )
    command = [sys.executable, "-c", script, emptied.uri, *emptied.auth]
    with subprocess.Popen(command, cwd=Path(__file__).parents[2], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        told = [int(process.stdout.readline()) for _ in range(5)]
        process.kill()
        told += [int(line) for line in process.stdout if line.strip()]
    store = Neo4jStore.open(emptied.uri, emptied.auth)
    with store.write(GROUP) as writer:
        last = writer.head(GROUP).seq
    with store.read() as reader:
        assert last in (told[-1], told[-1] + 1)
        assert len(list(reader.log(GROUP))) == len(uuids(reader)) == len(reader.mentions([GROUP], NOW)) == last
        assert reader.verify() == []
    store.close()


def test_facts_are_scanned_page_by_page(opened: Neo4jStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order of all at once; what nobody asks for is not read, and what is written meanwhile is not seen."""
    monkeypatch.setattr(graph, "_PAGE", 2)
    facts = [fact(f"u{n}", "mira", f"x{n}") for n in range(5)]
    with opened.write(GROUP) as writer:
        add_entities(writer, *(entity(f"{i}1", i) for i in ("mira", *(f"x{n}" for n in range(7)))))
        add_facts(writer, *facts)
        assert list(writer.scan_facts(GROUP)) == writer.fact_versions(GROUP)
    with opened.read() as reader:
        every = reader.fact_versions(GROUP)
        with counted(opened) as trips:
            scan = reader.scan_facts(GROUP)
            first = [next(scan), next(scan)]
        assert trips == {"fact_uuids_ever": 1, "facts_ever_by_uuid": 1}
        with opened.write(GROUP) as writer:
            add_facts(writer, fact("u5", "mira", "x5"))
        assert [*first, *scan] == every
        assert [v.uuid for v in every] == [v.uuid for v in facts]
        assert list(reader.scan_facts("nobody")) == []


def test_a_write_is_one_statement_whatever_its_size(opened: Neo4jStore) -> None:
    """The lock, the commit, and nothing in between that was not asked for."""
    sizes = []
    for n in (1, 2, 30):
        with counted(opened) as seen, opened.write(GROUP) as writer:
            add_episode(writer, record(f"e{n}", n, entities=[f"x{n}-{i}" for i in range(n)]))
            add_entities(writer, *(entity(f"v{n}-{i}", f"x{n}-{i}", system=(n, None)) for i in range(n)))
            add_facts(writer, *(fact(f"u{n}-{i}", "a", f"x{n}-{i}", system=(n, None)) for i in range(n)))
            put(writer, Kind.FACT, f"u{n}-0", unit(1, n))
        sizes.append(dict(seen))
    assert sizes == [{"lock": 1, "commit": 1}] * 3


def test_round_trips_do_not_grow_with_the_memory(memory: graphmem.Memory) -> None:
    """An episode and a search cost what they cost at the beginning."""
    store = store_of(memory)

    def add(n: int) -> int:
        row = {"source": f"P{n % 3}", "relation": "likes", "target": f"T{n}", "valid_at": "2020"}
        with counted(store) as seen:
            memory.add_facts([row], reference_time=f"2024-01-{n:02}")
        return seen.total()

    first = [add(n) for n in range(1, 4)]
    with counted(store) as early:
        memory.search("What does P1 like?")
    later = [add(n) for n in range(4, 16)]
    with counted(store) as late:
        memory.search("What does P1 like?")
    assert max(later) <= max(first) <= 14
    assert max(later) <= 9
    assert late.total() <= early.total() <= 3


def test_graphiti_finds_its_own_words(memory: graphmem.Memory) -> None:
    """Labels, properties and types are those of its public schema, for what is believed now; history stays in `expired_at`."""
    tell(memory)
    store = store_of(memory)
    facts = run(store, "MATCH (a:Entity)-[r:RELATES_TO]->(b:Entity) RETURN a.name AS a, b.name AS b, properties(r) AS r")
    now = [f for f in facts if "expired_at" not in f["r"]]
    assert {(f["a"], f["r"]["name"], f["b"]) for f in now} == {(s, r.upper(), t) for n, (s, r, t, _) in enumerate(SAID) if n != 1}
    assert len(facts) > len(now)
    for f in now:
        assert {"uuid", "name", "fact", "group_id", "episodes", "created_at", "fact_embedding", "source_node_uuid"} <= f["r"].keys()
        assert len(f["r"]["episodes"]) == 1
        assert f["r"]["created_at"].tzinfo is not None
    (entity_row,) = run(store, "MATCH (n:Entity {name: 'Mira'}) RETURN properties(n) AS n, labels(n) AS labels")
    assert {"uuid", "name", "group_id", "summary", "created_at", "name_embedding"} <= entity_row["n"].keys()
    episodes = run(store, "MATCH (e:Episodic) RETURN properties(e) AS e, COUNT { (e)-[:MENTIONS]->(:Entity) } AS mentions")
    assert len(episodes) == len(SAID) - 1
    for row in episodes:
        assert {"uuid", "name", "source", "source_description", "content", "created_at", "valid_at", "entity_edges"} <= row["e"].keys()
        assert row["e"]["source"] in ("message", "json", "text", "fact_triple")
        assert row["mentions"] == 2
        assert len(row["e"]["entity_edges"]) == 1


def test_types_are_second_labels_where_they_may_be(opened: Neo4jStore) -> None:
    """A plain word becomes a label and goes with the type; anything else stays a property."""
    with opened.write(GROUP) as writer:
        add_entities(
            writer, entity("v1", "m", type="Person", system=(1, None)), entity("v2", "b", type="`) DETACH DELETE (n", system=(1, None))
        )
        add_entities(writer, entity("v3", "g", type="GraphmemGroup", system=(1, None)))
    labels = {row["id"]: set(row["labels"]) for row in run(opened, "MATCH (n:Entity) RETURN n.uuid AS id, labels(n) AS labels")}
    assert labels == {"m": {"Entity", "Person"}, "b": {"Entity"}, "g": {"Entity"}}
    with opened.write(GROUP) as writer:
        writer.end_versions("entity", ["v0"], day(2))
        add_entities(writer, entity("v4", "m", type="Author", system=(2, None)))
    (row,) = run(opened, "MATCH (n:Entity {uuid: 'm'}) RETURN labels(n) AS labels")
    assert set(row["labels"]) == {"Entity", "Author"}


@BOTH
def test_attributes_are_properties_where_they_may_be(opened: Neo4jStore) -> None:
    """Plain values of plain names that are free are; of an entity those of its last version; nothing of the node is overwritten."""
    given = {"age": 41, "city": "Porto", "tall": True, "uuid": "mine", "gm_words": "mine", "home address": "Rua 1", "born": {"year": 1984}}
    with opened.write(GROUP) as writer:
        add_entities(writer, entity("v1", "m", attributes=given, system=(1, None)), entity("v2", "a", system=(1, None)))
        add_facts(writer, replace(fact("u1", "m", "a"), attributes={"salary": 10.5, "fact": "mine", "years": [1, 2]}))
    every = "MATCH (n:Entity {uuid: 'm'}) OPTIONAL MATCH (n)-[r:RELATES_TO]->() RETURN properties(n) AS n, properties(r) AS r"
    (row,) = run(opened, every)
    assert {name: row["n"].get(name) for name in given} == given | {"uuid": "m", "gm_words": "m", "home address": None, "born": None}
    assert (row["r"]["salary"], row["r"]["fact"], "years" in row["r"]) == (10.5, "m knows a", False)
    with opened.write(GROUP) as writer:
        writer.end_versions("entity", ["v1"], day(2))
        add_entities(writer, entity("v3", "m", attributes={"age": 42}, system=(2, None)))
    (row,) = run(opened, every)
    assert (row["n"]["age"], row["n"].keys() & {"city", "tall"}, row["n"]["gm_flat"]) == (42, set(), ["age"])
    with opened.read() as reader:
        assert [e.attributes for e in reader.entities([GROUP], AsOf(system=day(1)), EntityMatch(ids=("m",)))] == [given]
        assert [f.attributes for f in reader.facts([GROUP], NOW)] == [{"salary": 10.5, "fact": "mine", "years": [1, 2]}]


@BOTH
def test_entities_that_pass_are_found_behind_any_number_that_do_not(opened: Neo4jStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """By type, by id and at a point in time, though others fit the words better and only so many hits are looked at first."""
    monkeypatch.setattr(search, "_MOST_WORDS", 4)
    with opened.write(GROUP) as writer:
        crowd = [entity(f"v{n}", f"c{n}", name="acme", type="Firm", system=(5, None)) for n in range(12)]
        add_entities(writer, *crowd, entity("old", "o", name="acme of a long name", type="Club", system=(1, None)))
    by_type, by_id = (SearchFilter(entities=EntityMatch(**match)) for match in ({"types": ("Club",)}, {"ids": ("o",)}))
    with opened.read() as reader:
        for at, match in ((NOW, by_type), (NOW, by_id), (AsOf(system=day(2)), None)):
            assert ids(reader.text_search(Kind.ENTITY, ["acme"], [GROUP], at, 2, match)) == ["o"]
        found = ids(reader.text_search(Kind.ENTITY, ["acme"], [GROUP], NOW, 2))  # which of more than are looked at is left open
        assert len(found) == 2
        assert "o" not in found
        assert ids(reader.text_search(Kind.ENTITY, ["nobody"], [GROUP], NOW, 2, by_type)) == []


def test_what_an_older_process_forgot_meanwhile_is_found_and_put_right(opened: Neo4jStore) -> None:
    """It knows nothing of the short form of when an episode was visible; the step of the schema that makes it can be done again."""
    with opened.write(GROUP) as writer:
        for n in (1, 2, 3):
            add_episode(writer, record(f"e{n}", n))
    as_before = {"e1": (None, None), "e2": (start(1), 77), "e3": (start(3), None)}
    with opened.write(GROUP) as writer:
        writer.hide_episodes(GROUP, ["e2"], day(5))
    good = run(opened, "MATCH (n:GraphmemEpisode) RETURN n.id AS id, n.gm_from AS begin, n.gm_shown AS change ORDER BY id")
    for episode, (begin, change) in as_before.items():
        spoilt = "MATCH (n:GraphmemEpisode {id: $id}) SET n.gm_from = $begin, n.gm_shown = coalesce($change, n.gm_shown)"
        run(opened, spoilt, id=episode, begin=begin, change=change)
    with opened.read() as reader:
        assert [(v.kind, v.id) for v in reader.verify()] == [("episode", "e1"), ("episode", "e2")]
    opened._connection.make(migrations()[9]["always_shown"])
    assert run(opened, "MATCH (n:GraphmemEpisode) RETURN n.id AS id, n.gm_from AS begin, n.gm_shown AS change ORDER BY id") == good
    with opened.read() as reader:
        assert reader.verify() == []
        assert [e.id for e in reader.episodes([GROUP], NOW)] == ["e1", "e3"]


def test_an_erased_text_is_in_no_property(opened: Neo4jStore) -> None:
    """Neither nodes nor relationships hold it, nor the counts of words."""
    with opened.write(GROUP) as writer:
        add_episode(writer, record("e1", 1, body="quicksilver here", entities=["quicksilver"]), words="quicksilver")
    with opened.write(GROUP) as writer:
        writer.remove_episodes(GROUP, ["e1"])
        writer.clear_derived(GROUP)
    everything = "MATCH (n) RETURN properties(n) AS p UNION ALL MATCH ()-[r]->() RETURN properties(r) AS p"
    assert not [row for row in run(opened, everything) if "quicksilver" in repr(row["p"]).lower()]


def test_long_texts_can_be_indexed(opened: Neo4jStore) -> None:
    """Keys, sessions, names and relations beyond what an index entry holds are found all the same."""
    long = "x" * 20_000
    with opened.write(GROUP) as writer:
        add_episode(writer, record(f"e{1}", 1, session=long))
        add_entities(writer, entity("v1", "m", name=long))
        add_facts(writer, fact("u1", "m", "b", relation=long))
        writer.put_answer(long, 1, {})
        writer.put_meta(long, "kept")
    with opened.read() as reader:
        assert reader.meta(long) == "kept"
        assert reader.meta(long + "x") is None
        assert reader.answer(long) == (1, {})
        assert ids(reader.text_search(Kind.FACT, [long], [GROUP], NOW, 5)) == ["u1"]
    assert index_key(long) != index_key(long + "x")


def rounded(found: Sequence[Found]) -> list[tuple[str, int, float]]:
    """Sums come out a little otherwise where more is multiplied at once."""
    return [(f.id, f.piece, round(f.score, 5)) for f in found]


@BOTH
def test_the_vector_index_finds_what_comparing_all_finds(opened: Neo4jStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """With filters by group, point in time, relation and end; beside a group that is nearer; in one statement, also where too few pass."""
    rng = np.random.default_rng(3)
    centres = rng.normal(size=(6, 24))
    for group in (GROUP, "other"):
        with opened.write(group) as writer:
            named = [f"{group}x{i}" for i in range(40)]
            types = ("Rare", *["Thing"] * 19)
            add_entities(writer, *(entity(f"{group}v{i}", e, group=group, type=types[i % 20]) for i, e in enumerate(named)))
            made = [
                fact(
                    f"{group}{i:03}",
                    named[i % 40],
                    named[(i + 1) % 40],
                    group=group,
                    relation=f"r{i % 3}",
                    valid=(i % 7, 8 + i % 11),
                    system=(i % 5, None),
                )
                for i in range(300)
            ]
            add_facts(writer, *made)
            rows = (centres[rng.integers(6, size=300)] + rng.normal(scale=0.3, size=(300, 24))).astype(np.float32)
            rows /= np.linalg.norm(rows, axis=1, keepdims=True)
            writer.put_vectors(Kind.FACT, [v.uuid for v in made], [0] * 300, rows)
            writer.put_vectors(Kind.ENTITY, [f"{group}x{i % 40}" for i in range(80)], [i // 40 for i in range(80)], rows[:80])
            add_episode(writer, record(f"{group}e", 1, group=group))
            writer.put_vectors(Kind.EPISODE, [f"{group}e"] * 50, list(range(50)), rows[:50])
    points = (NOW, AsOf(day(2)), AsOf(day(12), day(2)), AsOf(day(5), day(0)))
    filters = (None, SearchFilter(facts=FactMatch(relations=("r1",))), SearchFilter(ends=("Rare",)))
    found, asked = {}, len(points) * len(filters) * 2 * (len(Kind) - 1)  # there is no community to look for
    for scanned, enough in ((10**9, 50), (0, 50), (0, 10**6)):
        monkeypatch.setattr(search, "_SCANNED", scanned)
        monkeypatch.setattr(search, "_SCANNED_BESIDE_FILTER", scanned)
        monkeypatch.setattr(search, "_ENOUGH_MORE", enough)
        monkeypatch.setattr(search, "_NARROWED", 4 if enough == 50 else 1)
        with opened.read() as reader, counted(opened) as trips:
            found[scanned, enough] = [
                [rounded(reader.vector_search(kind, centres[0], groups, at, 7, match)) for at in points for match in filters]
                for kind in Kind
                for groups in ((GROUP,), (GROUP, "other"))
            ]
        assert trips.total() - trips["state"] == asked, trips
    assert found[0, 50] == found[0, 10**6] == found[10**9, 50]
    assert all(owner.startswith(GROUP) for owner, _, _ in found[0, 50][0][0])


def test_threads_share_a_store(opened: Neo4jStore) -> None:
    """Readers and writers in several threads see whole episodes."""
    torn: list[object] = []

    def read() -> None:
        for _ in range(20):
            with opened.read() as reader:
                found = [len(uuids(reader)), len(reader.mentions([GROUP], NOW)), len(reader.episodes([GROUP], NOW))]
                if len(set(found)) > 1:
                    torn.append(found)

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    for n in range(1, 12):
        with opened.write(GROUP) as writer:
            add_episode(writer, record(f"e{n}", n, entities=["mira"]))
            add_facts(writer, fact(f"u{n}", "mira", "acme", system=(n, None)))
    for thread in threads:
        thread.join()
    assert torn == []


def with_rows(place: Any) -> None:
    """One episode and one fact, by a store that is closed again."""
    store = Neo4jStore.open(place.uri, place.auth)
    with store.write(GROUP) as writer:
        add_episode(writer, record("e1", 1))
        add_facts(writer, fact("u1", "mira", "acme"))
        put(writer, Kind.FACT, "u1", unit(1, 0))
    store.close()
