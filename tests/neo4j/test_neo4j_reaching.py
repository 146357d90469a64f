"""How a server is reached: settings and arguments, TLS, databases, members of a cluster, the command line, agents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from proxying import watched

import graphmem
from graphmem.cli import main
from graphmem.embed.hashing import HashingEmbedder
from graphmem.errors import InvalidInput, LoginRefused, StoreBusy, StoreError, StoreUnavailable
from graphmem.stores.neo4j import Neo4jStore
from graphmem.testing import FixedClock, ScriptedModel
from graphmem.testing.samples import GROUP, add_facts, fact, uuids

pytestmark = pytest.mark.neo4j
ROW = {"source": "Mira", "relation": "lives_in", "target": "Porto", "valid_at": "2022"}
NAMES = ("USER", "PASSWORD", "DATABASE", "CA", "POOL", "CONNECT_TIMEOUT", "WRITE_TIMEOUT")


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment says nothing but what a test says."""
    for name in NAMES:
        monkeypatch.delenv(f"GRAPHMEM_NEO4J_{name}", raising=False)


@pytest.fixture
def known(emptied: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The server, with user and password in the environment."""
    monkeypatch.setenv("GRAPHMEM_NEO4J_USER", emptied.auth[0])
    monkeypatch.setenv("GRAPHMEM_NEO4J_PASSWORD", emptied.auth[1])
    return emptied


def opened_at(uri: str, **options: Any) -> graphmem.Memory:
    """A memory with doubles for model and embedder."""
    return graphmem.open(uri, model=ScriptedModel({}), embedder=HashingEmbedder(16), clock=FixedClock("2026-01-15T12:00Z"), **options)


def test_user_password_and_database_are_settings(known: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing need be said in code; what is said there goes before; a database that is not there is named."""
    with opened_at(known.uri) as memory:
        memory.add_facts([ROW])
        assert memory.verify() == []
    with pytest.raises(LoginRefused, match="user or password"):
        opened_at(known.uri, auth=(known.auth[0], "wrong"))
    monkeypatch.setenv("GRAPHMEM_NEO4J_DATABASE", "elsewhere")
    with pytest.raises(StoreUnavailable, match="no such database"):
        opened_at(known.uri)
    with opened_at(known.uri, database="neo4j") as memory:
        assert len(memory.facts("Mira")) == 1


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("POOL", "many", "GRAPHMEM_NEO4J_POOL='many'"),
        ("POOL", "2.5", "whole"),
        ("CONNECT_TIMEOUT", "-1", "above 0"),
        ("WRITE_TIMEOUT", "nan", "above 0"),
    ],
)
def test_a_number_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, value: str, told: str) -> None:
    """By the name of its variable, before anything is reached."""
    monkeypatch.setenv(f"GRAPHMEM_NEO4J_{name}", value)
    with pytest.raises(InvalidInput, match=told):
        opened_at("bolt://127.0.0.1:1")


def test_the_arguments_of_a_server_are_for_a_server_only(tmp_path: Path) -> None:
    """Beside a file they would mean nothing."""
    for name, value in {"ca": "x.pem", "pool": 3, "connect_timeout": 1.0, "write_timeout": 1.0}.items():
        with pytest.raises(InvalidInput, match="names none"):
            opened_at(str(tmp_path / "m.db"), **{name: value})


def test_a_connection_with_tls_trusts_the_certificates_that_are_named(emptied: Any) -> None:
    """Those of the file; without it the system's do not know this server; a plain address takes none."""
    if emptied.ca is None:
        pytest.skip("this server shows no certificate that the tests know")
    secure = emptied.uri.replace("bolt://", "bolt+s://")
    with opened_at(secure, auth=emptied.auth, ca=emptied.ca) as memory:
        memory.add_facts([ROW])
        assert len(memory.facts("Mira")) == 1
    with opened_at(emptied.uri.replace("bolt://", "neo4j+s://"), auth=emptied.auth, ca=str(emptied.ca)) as memory:
        assert len(memory.facts("Mira")) == 1
    with opened_at(emptied.uri.replace("bolt://", "bolt+ssc://"), auth=emptied.auth) as memory:
        assert len(memory.facts("Mira")) == 1
    with pytest.raises(StoreUnavailable, match="cannot be reached"):
        opened_at(secure, auth=emptied.auth, connect_timeout=5)
    with pytest.raises(InvalidInput, match=r"neo4j\+s"):
        opened_at(emptied.uri, auth=emptied.auth, ca=emptied.ca)
    with pytest.raises(InvalidInput, match="there is none"):
        opened_at(secure, auth=emptied.auth, ca="nowhere.pem")


def test_every_session_is_on_the_database_and_reads_may_go_to_readers(emptied: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those that look at the schema; only what writes asks for the writer."""
    with opened_at(emptied.uri.replace("bolt://", "neo4j://"), auth=emptied.auth, database="neo4j") as memory:
        store = memory._scope.store
        assert isinstance(store, Neo4jStore)
        with watched(store) as watch:
            memory.add_facts([ROW])
            assert "WRITE" in {session["default_access_mode"] for session in watch.sessions}
            written = len(watch.sessions)
            memory.search("Where does Mira live?")
            memory.facts("Mira", history=True)
            memory.entity("Mira")
            memory.verify()
            assert {session["default_access_mode"] for session in watch.sessions[written:]} == {"READ"}
            assert {session["database"] for session in watch.sessions} == {"neo4j"}
            assert len({id(session["bookmark_manager"]) for session in watch.sessions}) == 1


def test_bookmarks_are_handed_from_one_handle_to_another(emptied: Any) -> None:
    """What one has written the other reads; marks that are none are refused by name; a file needs none."""
    one, other = opened_at(emptied.uri, auth=emptied.auth), opened_at(emptied.uri, auth=emptied.auth)
    one.add_facts([ROW])
    marks = one.bookmarks()
    assert marks
    other.follow(marks)
    assert set(marks) <= set(other.bookmarks())
    assert len(other.facts("Mira")) == 1
    one.follow(["no mark at all"])
    with pytest.raises(StoreError, match="ookmark"):
        one.facts("Mira")
    one.close()
    other.close()
    with opened_at(":memory:") as plain:
        plain.follow(plain.bookmarks())
        assert plain.bookmarks() == ()


def test_a_full_pool_is_named(emptied: Any) -> None:
    """One connection, which is in use; it is free again afterwards."""
    store = Neo4jStore.open(emptied.uri, emptied.auth, pool=1, connect_timeout=3)
    with store.write(GROUP) as writer:
        add_facts(writer, fact("u1", "mira", "acme"))
        with pytest.raises(StoreBusy, match="all connections"), store.read() as reader:
            uuids(reader)
        with pytest.raises(StoreBusy, match="all connections"), store.write("other"):
            pass
    with store.read() as reader:
        assert uuids(reader) == ["u1"]
    store.close()


def test_the_command_line_takes_an_address(known: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """User and password come from the environment; an address with a password in it is refused and not shown."""
    monkeypatch.setattr("graphmem.opening._model", lambda *_: ScriptedModel({"extract": {"entities": [], "facts": []}}))
    monkeypatch.setattr("graphmem.opening._embedder", lambda *_: HashingEmbedder(16))
    with opened_at(known.uri) as memory:
        memory.add_facts([ROW])

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main([*arguments])
        return code, *capsys.readouterr()

    assert run("add", "I like tea.", "--actor", "Mira", "--db", known.uri)[0] == 0
    code, out, _ = run("search", "Where does Mira live?", "--db", known.uri, "--json")
    assert code == 0
    assert "Porto" in out
    code, out, _ = run("stats", "--db", known.uri, "--json")
    assert (code, json.loads(out)["episodes"]) == (0, 2)
    monkeypatch.setenv("GRAPHMEM_DB", known.uri)
    assert "all is well" in run("verify")[1]
    assert known.uri in run("stats")[1]
    code, out, err = run("stats", "--db", known.uri.replace("//", "//neo4j:hunter2@"))
    assert code == 2
    assert "GRAPHMEM_NEO4J_PASSWORD" in err
    assert "hunter2" not in out + err
    code, out, _ = run("reembed", "--db", known.uri)
    assert (code, "already" in out) == (0, True)


def test_a_group_of_any_signs_is_only_a_string(emptied: Any) -> None:
    """Nothing of it is ever part of a statement: others stay, and it is found by exactly its name."""
    hostile = ("g'\") DETACH DELETE n //", "`}) MATCH (n) DETACH DELETE n //", "+gm_scope:* OR a", "$group", "{group}")
    with opened_at(emptied.uri, auth=emptied.auth) as memory:
        memory.add_facts([ROW])
        for group in hostile:
            added = memory.add_facts([{**ROW, "target": "Lisbon"}], group=group)
            assert [f.target for f in memory.facts("Mira", group=group)] == ["Lisbon"]
            assert [h.text for h in memory.search("Where does Mira live?", group=group, kinds=["fact"])] == [
                f.text for f in memory.facts("Mira", group=group)
            ]
            memory.restore(memory.forget(episode=added.ids[0], group=group), group=group)
        assert [f.target for f in memory.facts("Mira")] == ["Porto"]
        assert memory.verify() == []
