"""The ledger on real stores: what it writes step by step is what folding the whole log says, at every past instant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest

from graphmem.belief.audit import history_hash, state_hash, verify_group
from graphmem.belief.fold import fact_id, fold
from graphmem.belief.ledger import Indexing, Ledger
from graphmem.embed.hashing import HashingEmbedder
from graphmem.entries import created_at
from graphmem.model import AsOf, EpisodeRecord, LogEntry, Operation, OperationKind
from graphmem.stores.base import Store
from graphmem.stores.memory import MemoryStore
from graphmem.stores.sqlite import SqliteStore
from graphmem.testing import ONTOLOGY, random_history, rows_of, stories

EMBEDDER = HashingEmbedder(dimension=32)
INDEXING = Indexing(
    words=lambda text: text.casefold(),
    episode_words=lambda record: record.episode.body.casefold() or "nothing",
    episode_pieces=lambda record: [record.episode.body or "nothing"],
    embed=lambda texts: np.asarray(EMBEDDER.embed(list(texts)), dtype=np.float32),
)
STORES: dict[str, Callable[[Path], Store]] = {
    "memory": lambda folder: MemoryStore(),
    "sqlite": lambda folder: SqliteStore.open(folder / "memory.db"),
}


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path):
    opened = STORES[request.param](tmp_path)
    yield opened
    opened.close()


def write(store: Store, log: list[LogEntry]) -> None:
    ledger = Ledger(INDEXING)
    for entry in log:
        with store.write("main") as tx:
            ledger.record(tx, entry, ONTOLOGY)


def believed(store: Store, at) -> set[tuple]:
    with store.read() as reader:
        return {(v.fact_id, v.source, v.target, v.text, v.valid, v.start, v.end) for v in reader.facts(["main"], AsOf(None, at))}


def folded(log: list[LogEntry]) -> set[tuple]:
    return {(fact_id("main", p.key), p.source, p.target, p.text, p.valid, p.start, p.end) for p in fold(log, ONTOLOGY)}


def cited(store: Store, at) -> set[tuple]:
    with store.read() as reader:
        return {(c.fact_id, c.valid_at, c.episode, c.by) for c in reader.citations(["main"], AsOf(None, at))}


def check(store: Store, log: list[LogEntry]) -> None:
    write(store, log)
    for n, entry in enumerate(log, 1):
        assert believed(store, created_at(entry)) == folded(log[:n]), f"after entry {n}: {entry}"
        wanted = {(fact_id("main", p.key), p.valid.start, c.episode, c.by) for p in fold(log[:n], ONTOLOGY) for c in p.citations}
        assert cited(store, created_at(entry)) == wanted
    with store.read() as reader:
        # A random correction may point a fact at an entity that no episode mentions.
        assert [v for v in verify_group(reader, "main", ONTOLOGY) if v.kind != "bad_ends"] == []
        assert reader.verify() == []


@pytest.mark.parametrize("seed", range(120))
def test_the_store_equals_the_fold_at_every_past_instant(seed: int, store: Store) -> None:
    """Random histories with every kind of statement and operation."""
    rng = Random(seed)
    check(store, random_history(rng, rng.randint(2, 10)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1800))
def test_the_store_equals_the_fold_at_every_past_instant_of_longer_histories(seed: int, store: Store) -> None:
    """The same, longer and many."""
    rng = Random(seed)
    check(store, random_history(rng, rng.randint(5, 25)))


@pytest.mark.parametrize("story", list(stories()), ids=lambda s: s.title)
def test_stories_read_from_a_store_give_their_rows(story, store: Store) -> None:
    """The stories of the specification, through the ledger."""
    log = story.log()
    write(store, log)
    assert believed(store, None) == folded(log)
    assert rows_of(fold(log, ONTOLOGY)) == story.rows


@pytest.mark.parametrize("seed", range(40))
def test_restore_of_forget_leaves_the_state_as_it_was(seed: int, store: Store) -> None:
    """Any episode of a random history, forgotten and restored: the same state hash."""
    rng = Random(seed)
    log = random_history(rng, rng.randint(2, 8))
    episodes = [e for e in log if isinstance(e, EpisodeRecord)]
    write(store, log)
    with store.read() as reader:
        before = state_hash(reader, "main")
    last = log[-1]
    seq = last.seq
    at = created_at(last)
    chosen = rng.choice(episodes).episode.id
    forget = Operation("op-forget", "main", OperationKind.FORGET, (chosen,), seq=seq + 1, created_at=at.replace(year=at.year + 1))
    restore = Operation("op-restore", "main", OperationKind.RESTORE, ("op-forget",), seq=seq + 2, created_at=at.replace(year=at.year + 2))
    write(store, [forget, restore])
    with store.read() as reader:
        assert state_hash(reader, "main") == before


@pytest.mark.parametrize("seed", range(20))
def test_replaying_a_log_gives_equal_hashes_in_every_store(seed: int, tmp_path: Path) -> None:
    """The log read back from one store and folded into others: state and history are the same."""
    rng = Random(seed)
    log = random_history(rng, rng.randint(2, 10))
    hashes = set()
    with_log = STORES["sqlite"](tmp_path)
    write(with_log, log)
    with with_log.read() as reader:
        again = list(reader.log("main"))
        hashes.add((state_hash(reader, "main"), history_hash(reader, "main")))
    with_log.close()
    assert [replace(e) for e in again] == log
    for store in (MemoryStore(), SqliteStore.open(tmp_path / "again.db")):
        write(store, again)
        with store.read() as reader:
            hashes.add((state_hash(reader, "main"), history_hash(reader, "main")))
        store.close()
    assert len(hashes) == 1
