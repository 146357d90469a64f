"""A memory that moves to a server and back: the same rows, hashes and answers, in batches, also after kills."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest
from moving import opened, seen, told

import graphmem
from graphmem.cli import main
from graphmem.errors import InvalidInput, UnfinishedCopy
from graphmem.ingest import copying
from graphmem.model import AsOf
from graphmem.stores.neo4j import Neo4jStore
from graphmem.stores.neo4j.bulk import BulkWriter

pytestmark = [pytest.mark.neo4j("2026.08", "5.26"), pytest.mark.slow]
COPIER = Path(__file__).parents[1] / "system" / "copier.py"
ROUNDS = [pytest.param(range(1), id="1 round"), pytest.param(range(1, 31), id="30 rounds", marks=pytest.mark.slow)]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A file to copy."""
    return told(tmp_path / "a.db")


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a small memory takes several of them."""
    monkeypatch.setattr(copying, "BATCH", 7)


def test_to_a_server_and_back(emptied: Any, source: Path, tmp_path: Path) -> None:
    """Hashes, counts and answers are those of the file, there and after the way back; both can be written on."""
    graphmem.copy(source, emptied.uri, auth=emptied.auth, progress=False)
    graphmem.copy(emptied.uri, tmp_path / "b.db", auth=emptied.auth, progress=False)
    with (
        opened(source) as memory,
        opened(emptied.uri, auth=emptied.auth) as server,
        opened(tmp_path / "b.db") as back,
    ):
        expected = seen(memory)
        for copy in (server, back):
            assert seen(copy) == expected
            assert copy.verify() == []
        for each in (memory, server, back):
            each.add_text("Orr9 Acme 2011.", key="later", reference_time="2025-04-01")
            each.forget(episode=each.episodes()[2].id)
        assert seen(memory) == seen(server) == seen(back)
        assert server.verify() == []


def test_others_see_a_copy_as_they_see_the_original(emptied: Any, source: Path, tmp_path: Path) -> None:
    """Every node and relationship that Graphiti's clients read is as if the server had been told itself."""
    read = (
        "MATCH (n:Entity) RETURN 'entity' AS what, n.uuid AS id, [n.name, n.summary, n.labels, labels(n), n.created_at] AS said",
        "MATCH (n:Episodic) RETURN 'episode' AS what, n.uuid AS id, [n.name, n.content, n.source, n.valid_at, n.created_at] AS said",
        "MATCH (s)-[r:RELATES_TO]->(t) RETURN 'fact' AS what, r.uuid AS id, "
        "[s.uuid, t.uuid, r.fact, r.name, r.valid_at, r.invalid_at, r.created_at, r.expired_at] AS said",
        "MATCH (p)-[r:MENTIONS]->(e) RETURN 'mention' AS what, p.uuid + e.uuid AS id, [r.uuid] AS said",
        "MATCH (p:Episodic) UNWIND p.entity_edges AS edge RETURN 'edge' AS what, p.uuid + edge AS id, [] AS said",
        "MATCH ()-[r:RELATES_TO]->() WHERE r.expired_at IS NULL UNWIND r.episodes AS x RETURN 'by' AS what, r.uuid + x AS id, [] AS said",
        "MATCH (w:GraphmemWord) RETURN 'word' AS what, w.kind + w.token AS id, [w.rows] AS said",
        "MATCH (g:GraphmemGroup) RETURN 'group' AS what, g.group_id AS id, [g.seq, g.at, g.links, g.targets, g.decisions, g.fact_rows, "
        "g.fact_words, g.entity_rows, g.entity_words, g.episode_rows, g.episode_words] AS said",
    )
    found = []
    for way in ("copied", "told"):
        if way == "copied":
            graphmem.copy(source, emptied.uri, auth=emptied.auth, progress=False)
        store = Neo4jStore.open(emptied.uri, emptied.auth)
        with store._connection.session() as session:
            if way == "told":
                session.run("MATCH (n) WHERE NOT n:GraphmemStore AND NOT n:GraphmemTests DETACH DELETE n").consume()
                with opened(source) as memory, opened(emptied.uri, auth=emptied.auth) as server:
                    memory.export(tmp_path / "log.jsonl", group=("main", "other"))
                    server.load(tmp_path / "log.jsonl", progress=False)
            rows = [(row["what"], row["id"], repr(sorted(map(repr, row["said"])))) for query in read for row in session.run(query)]
        store.close()
        found.append(sorted(rows))
    assert found[0] == found[1]
    assert len(found[0]) > 100


def test_a_copy_to_a_server_that_is_stopped_goes_on(emptied: Any, source: Path) -> None:
    """It is refused until it is whole, and one that holds something else is never touched."""

    class Stopped(Exception):
        pass

    def stop(done: int, total: int | None) -> None:
        if done > 25:
            raise Stopped

    with pytest.raises(Stopped):
        graphmem.copy(source, emptied.uri, auth=emptied.auth, progress=stop)
    with pytest.raises(UnfinishedCopy, match=r"a\.db"):
        opened(emptied.uri, auth=emptied.auth)
    with opened(source) as memory:  # what was copied already is another by now
        memory.forget(episode=memory.episodes()[0].id)
    graphmem.copy(source, emptied.uri, auth=emptied.auth, progress=False)
    with opened(source) as memory, opened(emptied.uri, auth=emptied.auth) as server:
        assert seen(server) == seen(memory)
        assert server.verify() == []
        server.add_text("Orr9 Acme 2011.", key="later", reference_time="2025-04-01")
        with pytest.raises(InvalidInput, match="holds another memory in group 'main'"):
            graphmem.copy(source, emptied.uri, auth=emptied.auth, progress=False)


def test_a_copy_that_is_stopped_while_an_older_one_is_cleared_goes_on(emptied: Any, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a server that takes several transactions: what is left of the older one goes before anything is written."""
    graphmem.copy(source, emptied.uri, auth=emptied.auth, progress=False)
    with opened(source) as memory:
        memory.forget(episode=memory.episodes()[0].id)
    clear, left = BulkWriter.clear_some, 3

    def some(writer: BulkWriter, group: str, limit: int) -> bool:
        nonlocal left
        if not left:
            raise KeyboardInterrupt
        left -= 1
        return clear(writer, group, limit)

    with monkeypatch.context() as patched:
        patched.setattr(BulkWriter, "clear_some", some)
        with pytest.raises(KeyboardInterrupt):
            graphmem.copy(source, emptied.uri, auth=emptied.auth, progress=False)
    graphmem.copy(source, emptied.uri, auth=emptied.auth, progress=False)
    with opened(source) as memory, opened(emptied.uri, auth=emptied.auth) as server:
        assert seen(server) == seen(memory)
        assert server.verify() == []


def test_a_source_that_is_written_to_meanwhile_is_copied_as_it_is_at_the_end(emptied: Any, source: Path, tmp_path: Path) -> None:
    """A server gives no snapshot of everything: what came between is noticed, and copied too."""
    graphmem.copy(source, emptied.uri, auth=emptied.auth, progress=False)
    written = False

    def write(done: int, total: int | None) -> None:
        nonlocal written
        if done > 40 and not written:
            written = True
            server.forget(episode=server.episodes()[1].id)
            server.add_text("Orr9 Acme 2011.", key="later", reference_time="2025-04-01")

    with opened(emptied.uri, auth=emptied.auth) as server:
        graphmem.copy(emptied.uri, tmp_path / "b.db", auth=emptied.auth, progress=write)
        with opened(tmp_path / "b.db") as back:
            assert seen(back) == seen(server)
            assert back.verify() == []


def test_derived_rows_can_be_cleared_in_parts(emptied: Any, source: Path) -> None:
    """No transaction removes more than it is told to; at the end the log alone is there, and can be copied anew."""
    graphmem.copy(source, emptied.uri, auth=emptied.auth, progress=False)
    store = Neo4jStore.open(emptied.uri, emptied.auth)
    parts, more = 0, True
    while more:
        with store.write("main") as writer:
            more = writer.clear_some("main", 10)
        parts += 1
    assert parts > 10
    with store.read() as reader:
        assert reader.counts(["main"], AsOf()) == {"episodes": 0, "entities": 0, "facts": 0, "mentions": 0}
        assert reader.extent("main") == (0, 0)
        assert len(list(reader.log("main"))) > 18
        assert reader.counts(["other"], AsOf())["episodes"] == 3
        assert reader.verify() == []
    store.close()


@pytest.mark.parametrize("rounds", ROUNDS)
def test_a_killed_copy_to_a_server_goes_on_to_the_same_end(emptied: Any, source: Path, rounds: range) -> None:
    """Kill -9, again and again: never taken for whole before it is, and nothing twice."""
    with opened(source) as memory:
        expected = seen(memory)
    for seed in rounds:
        random = Random(seed)
        store = Neo4jStore.open(emptied.uri, emptied.auth)
        with store._connection.session() as session:
            session.run("MATCH (n) WHERE NOT n:GraphmemStore AND NOT n:GraphmemTests DETACH DELETE n").consume()
        store.close()
        for _ in range(3):
            command = [sys.executable, str(COPIER), str(source), emptied.uri, *emptied.auth]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            assert process.stdout is not None
            for _ in range(2 + random.randrange(12)):
                process.stdout.readline()
            time.sleep(random.random() * 0.1)
            process.kill()
            process.communicate(timeout=60)
        graphmem.copy(source, emptied.uri, auth=emptied.auth, progress=False)
        with opened(emptied.uri, auth=emptied.auth) as server:
            assert seen(server) == expected
            assert server.verify() == []


def test_the_command_moves_a_file_to_a_server(
    emptied: Any, source: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The password is in the environment, never in the line; both directions."""
    monkeypatch.setenv("GRAPHMEM_NEO4J_USER", emptied.auth[0])
    monkeypatch.setenv("GRAPHMEM_NEO4J_PASSWORD", emptied.auth[1])
    assert main(["copy", str(source), emptied.uri]) == 0
    assert main(["copy", emptied.uri, str(source.with_name("b.db")), "--json"]) == 0
    told, _, document = capsys.readouterr().out.partition("\n")
    assert f"items of main, other are in {emptied.uri}" in told
    assert json.loads(document)["groups"] == ["main", "other"]
    with opened(source) as memory, opened(source.with_name("b.db")) as back:
        assert seen(back) == seen(memory)
