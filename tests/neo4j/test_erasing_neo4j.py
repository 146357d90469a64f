"""What was erased is in no node, relationship, property, index or answer of a server; every past instant is as if never said."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest
from neo4j import Driver, GraphDatabase
from neo4j_servers import Place

import graphmem
from graphmem.ingest.erasing import Wanted
from graphmem.model import EpisodeRecord, OperationKind
from graphmem.stores.memory import MemoryStore
from graphmem.stores.neo4j import Neo4jStore
from graphmem.testing import random_history

pytestmark = pytest.mark.neo4j("2026.08")
FOLDER = Path(__file__).parents[1] / "erasing"


def _shared(name: str) -> ModuleType:
    """What the tests of the embedded stores use."""
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


marked = _shared("marked")
histories = _shared("test_erased_histories")


@pytest.fixture
def driver(emptied: Place) -> Iterator[Driver]:
    with GraphDatabase.driver(emptied.uri, auth=emptied.auth) as opened:
        yield opened


def everything(driver: Driver) -> bytes:
    """All labels, types and properties of the database, as text."""
    found: list[Any] = []
    with driver.session() as session:
        found += [[labels, dict(p)] for labels, p in session.run("MATCH (n) RETURN labels(n), properties(n)").values()]
        found += [[kind, dict(p)] for kind, p in session.run("MATCH ()-[r]->() RETURN type(r), properties(r)").values()]
    return repr(found).encode()


def found_by_index(driver: Driver, words: dict[str, str]) -> int:
    """How many rows the full-text indexes find by one of these words, or by a part of one."""
    asked = " OR ".join(f"{word}* OR *{word[2:8]}*" for word in words.values())
    hits = 0
    with driver.session() as session:
        session.run("CALL db.awaitIndexes(60)").consume()
        listed = session.run("SHOW FULLTEXT INDEXES YIELD name, entityType").values()
        assert listed
        for name, kind in listed:
            over = "queryNodes" if kind == "NODE" else "queryRelationships"
            query = f"CALL db.index.fulltext.{over}($name, $asked) YIELD score RETURN count(*)"
            hits += session.run(query, name=name, asked=asked).single()[0]  # type: ignore[index]
    return hits


def vectors(driver: Driver, text: str) -> int:
    """How many vectors of the database are that of a text: asked of every vector index."""
    wanted = marked.EMBEDDER.embed([text])[0].tolist()
    near = 0
    with driver.session() as session:
        for name, kind in session.run("SHOW VECTOR INDEXES YIELD name, entityType").values():
            over = "queryNodes" if kind == "NODE" else "queryRelationships"
            query = f"CALL db.index.vector.{over}($name, 50, $wanted) YIELD score WHERE score > 0.9999 RETURN count(*)"
            near += session.run(query, name=name, wanted=wanted).single()[0]  # type: ignore[index]
    return near


def test_what_was_erased_is_in_nothing_that_the_server_has(emptied: Place, driver: Driver, tmp_path: Path) -> None:
    """Nodes, relationships, all properties, labels and types; full-text and vector indexes; reads. First an entity's names, with a
    mark in their place, then the whole episode; copied into a file, what is left has equal hashes.
    """
    words = marked.Marked()
    mem, episode = marked.remember(emptied.uri, marked.Script(), words, auth=emptied.auth)
    sentence = f"Nora {marked.word('name')} knows Ada, {marked.word('sentence')}"
    assert sorted(marked.left(everything(driver), words.going)) == sorted(words.going)
    assert found_by_index(driver, words.going) > 0
    assert vectors(driver, sentence) > 0
    names = {k: w for k, w in words.going.items() if k in ("name", "alias", "new name", "alias by hand", "entity attribute", "sentence")}
    assert mem.erase(entity=names["alias by hand"], reason=f"Nora {names['name']} asked").redacted == 1
    assert marked.left(everything(driver), names) == []
    assert found_by_index(driver, names) == 0
    assert vectors(driver, sentence) == 0
    assert episode in {e.id for e in mem.episodes()}  # it is called after its key
    assert mem.erase(episode=episode).episodes == 1
    assert marked.left(everything(driver), words.going) == []
    assert sorted(marked.left(everything(driver), words.staying)) == sorted(words.staying)
    assert found_by_index(driver, words.going) == 0
    assert not any(word in hit.text.lower() for word in list(words.going.values())[:3] for hit in mem.search(word))
    assert mem.verify() == []
    graphmem.copy(mem, tmp_path / "m.db")
    with marked.opened(tmp_path / "m.db", marked.Script()) as copied:
        assert (copied.state_hash(), copied.history_hash()) == (mem.state_hash(), mem.history_hash())
    mem.close()


def test_an_erased_group_leaves_the_other_as_it_was(emptied: Place, driver: Driver) -> None:
    """Its name goes too, and the group can begin anew; a receipt without the name stays."""
    words, script = marked.Marked(), marked.Script()
    name = f"team {words.goes('group')}"
    mem = marked.opened(emptied.uri, script, group=name, auth=emptied.auth)
    mem.add_facts([{"source": words.goes("name"), "relation": "knows", "target": "Boris"}], source=words.goes("source"))
    mem.forget(episode=mem.episodes()[0].id, reason=words.goes("reason"))
    mem.add_facts([{"source": "Ada", "relation": "knows", "target": "Boris"}], group="other")
    before = mem.history_hash(group="other")
    mem.erase(group=name)
    assert marked.left(everything(driver), words.going) == []
    assert mem.history_hash(group="other") == before
    assert [r.what for r in mem.erasures(group="other")] == ["group"]
    mem.add_facts([{"source": "Ada", "relation": "knows", "target": "Cleo"}])
    assert mem.stats()["log"] == 2
    assert mem.verify() == []
    mem.close()


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 20))])
def test_erases_in_random_histories_are_as_in_the_other_stores(seed: int, opened: Neo4jStore) -> None:
    """Episodes, then an entity: every instant is the fold of the log without them, and all of it is that of the dictionary store."""
    rng = Random(seed)
    log = random_history(rng, 9)
    memory = MemoryStore()
    for store in (opened, memory):
        histories.write(store, log)
    episodes = [e.episode.id for e in log if isinstance(e, EpisodeRecord)]
    chosen = rng.choice(episodes)
    entity = rng.choice("abcde")
    for store in (opened, memory):
        histories.eraser(store).erase("main", Wanted("episode", chosen))
    histories.check(opened, [e for e in log if not (isinstance(e, EpisodeRecord) and e.episode.id == chosen)])
    left = {m.entity for e in histories.read(memory) if isinstance(e, EpisodeRecord) for m in e.mentions}
    if entity in left:
        for store in (opened, memory):
            histories.eraser(store).erase("main", Wanted("entity", entity))
    logs = [[e for e in histories.read(store) if getattr(e, "kind", None) is not OperationKind.ERASE] for store in (opened, memory)]
    assert logs[0] == logs[1]
    assert histories.hashes(opened) == histories.hashes(memory)
