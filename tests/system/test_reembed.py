"""A memory with vectors of another embedder: the old ones serve until all new ones are there, whatever happens on the way."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from random import Random

import pytest
from reembedder import Turned
from worker import episodes, model

import graphmem
from graphmem.embed.base import Embedder
from graphmem.embed.hashing import HashingEmbedder
from graphmem.errors import EmbedderMismatch, InvalidInput, StoreBusy, StoreUnavailable
from graphmem.ingest import reembed as engine
from graphmem.opening import indexing
from graphmem.stores.base import Kind
from graphmem.stores.sqlite import SqliteStore
from graphmem.stores.staging import StagingStore
from graphmem.testing import FixedClock

QUESTIONS = ("Where does A0Orr work?", "Who works at AFirm7?", "worked since 1997", "Firm")
OLD, NEW = HashingEmbedder(64), Turned(64)
WORKER = Path(__file__).with_name("reembedder.py")
ROUNDS = [pytest.param(range(2), id="2 rounds"), pytest.param(range(2, 102), id="100 rounds", marks=pytest.mark.slow)]


def opened(where: Path, embedder: Embedder = OLD) -> graphmem.Memory:
    """The memory, with this embedder."""
    return graphmem.open(where, model=model(), embedder=embedder, clock=FixedClock("2026-01-15T12:00:00Z"))


def made(where: Path, embedder: Embedder = OLD, count: int = 24) -> Path:
    """A memory of two groups with renamed, ended and forgotten things."""
    with opened(where, embedder) as memory:
        memory.add_many(episodes("A", count), progress=False)
        memory.add_many(episodes("B", 3), group="other", progress=False)
        memory.forget(episode=memory.episodes()[3].id)
        memory.add_text(
            "A0Orr works at AFirm1 since 2021.\n\n" + "Nothing else is said here. " * 60, key="long", reference_time="2025-03-01"
        )
    return where


def answers(memory: graphmem.Memory) -> list[object]:
    """All that the questions find, now and at another time, with scores and reasons."""
    views = (memory, memory.as_of(valid="2000-06-01"))
    groups = ("main", "other")
    return [view.search(q, limit=12, group=groups, history=h).to_dict() for view in views for q in QUESTIONS for h in (False, True)]


def in_use(store: StagingStore) -> dict[str, object]:
    """Every vector in use, by what it is of."""
    with store.read() as reader:
        held = {}
        for group in reader.groups():
            owners = reader.vector_owners(group, staged=False) + reader.vector_owners(group, staged=True)
            for kind in Kind:
                rows = reader.vectors(kind, [o for k, o in owners if k is kind])
                held |= {f"{kind} {owner}": found.round(3).tolist() for owner, found in rows.items()}
        assert reader.verify() == []
    return held


def vectors(where: Path) -> dict[str, object]:
    """Every vector in use in a file."""
    store = SqliteStore.open(where)
    held = in_use(store)
    store.close()
    return held


def staged(where: Path) -> int:
    """How many items have vectors that wait."""
    store = SqliteStore.open(where)
    with store.read() as reader:
        count = sum(len(reader.vector_owners(g, staged=True)) for g in reader.groups())
    store.close()
    return count


class Stopped(Exception):
    """Raised by a progress function, as Ctrl-C would be."""


def stop_at(count: int) -> Callable[[int, int | None], None]:
    """Stops once so many items are done."""

    def progress(done: int, total: int | None) -> None:
        if done >= count:
            raise Stopped

    return progress


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a small memory takes many of them."""
    monkeypatch.setattr(engine, "BATCH", 4)


@pytest.mark.parametrize("embedder", [NEW, Turned(96)], ids=["same length", "longer"])
def test_afterwards_it_is_as_if_written_with_the_new_embedder(tmp_path: Path, embedder: Embedder) -> None:
    """The same vectors, the same answers; another hash of nothing else; opened by the new name, refused by the old."""
    expected = made(tmp_path / "new.db", embedder)
    where = made(tmp_path / "old.db")
    with opened(where) as memory:
        hashes = memory.state_hash(), memory.history_hash()
        before = answers(memory)
    done = graphmem.reembed(where, embedder=embedder, progress=False)

    assert (done.before, done.after, done.resumed) == (OLD.name, embedder.name, 0)
    assert vectors(where) == vectors(expected)
    assert done.items == len(vectors(where)) > 60
    with opened(where, embedder) as memory, opened(expected, embedder) as other:
        assert answers(memory) == answers(other) != before
        assert (memory.state_hash(), memory.history_hash()) == hashes
        assert memory.verify() == []
        assert memory.stats()["embedder"] == embedder.name
        memory.add_text("A9Orr works at AFirm2 since 2011.", key="later")
        assert memory.search("A9Orr", kinds=["fact"], limit=1)[0].text == "A9Orr works at AFirm2"
    with pytest.raises(EmbedderMismatch, match=OLD.name):
        opened(where)


def test_until_it_is_done_the_old_vectors_serve(tmp_path: Path) -> None:
    """A run that is stopped changes no answer, and the memory may be written meanwhile."""
    where = made(tmp_path / "m.db")
    with opened(where) as memory:
        before = answers(memory)
        with pytest.raises(Stopped):
            graphmem.reembed(where, embedder=NEW, progress=stop_at(40))
        assert answers(memory) == before
        memory.add_many(episodes("A", 30), progress=False)
        memory.forget(episode=memory.episodes()[5].id)
        assert memory.verify() == []
    with opened(where) as memory:
        assert memory.verify() == []
    waiting = staged(where)
    assert 36 <= waiting < len(vectors(where))

    done = graphmem.reembed(where, embedder=NEW, progress=False)
    assert 0 < done.resumed <= waiting
    assert done.items == len(vectors(where))
    with opened(where, NEW) as memory:
        assert memory.verify() == []
        assert memory.counts()["episodes"] > 24


def test_what_was_stopped_is_not_embedded_again(tmp_path: Path) -> None:
    """The second run asks only for what the first had not come to."""
    where = made(tmp_path / "m.db")
    asked: list[str] = []

    class Counting(Turned):
        def embed(self, texts):  # type: ignore[no-untyped-def]
            asked.extend(texts)
            return super().embed(texts)

    with pytest.raises(Stopped):
        graphmem.reembed(where, embedder=Counting(), progress=stop_at(30))
    first = len(asked)
    seen: list[tuple[int, int | None]] = []
    done = graphmem.reembed(where, embedder=Counting(), progress=lambda done, total: seen.append((done, total)))

    pieces = sum(len(rows) for rows in vectors(where).values())  # type: ignore[arg-type]
    assert len(asked) <= pieces + 4
    assert first < pieces
    assert seen[0] == (done.resumed, done.items)
    assert seen[-1] == (done.items, done.items)
    assert [d for d, _ in seen] == sorted(d for d, _ in seen)


def test_another_embedder_starts_anew_and_the_one_in_use_gives_up(tmp_path: Path) -> None:
    """Vectors of two embedders never end up together."""
    where = made(tmp_path / "m.db")
    before = vectors(where)
    with pytest.raises(Stopped):
        graphmem.reembed(where, embedder=NEW, progress=stop_at(20))
    assert staged(where) > 0
    done = graphmem.reembed(where, embedder=OLD, progress=False)
    assert (done.before, done.after, done.items, staged(where)) == (OLD.name, OLD.name, 0, 0)
    assert vectors(where) == before

    with pytest.raises(Stopped):
        graphmem.reembed(where, embedder=Turned(96), progress=stop_at(20))
    done = graphmem.reembed(where, embedder=NEW, progress=False)
    assert done.resumed == 0
    assert vectors(where) == vectors(made(tmp_path / "new.db", NEW))


def test_the_one_that_came_later_wins(tmp_path: Path) -> None:
    """Two at once towards different embedders: the first stops with an error, and what is in use is of one alone."""
    where = made(tmp_path / "m.db")

    def interrupted(done: int, total: int | None) -> None:
        if done == 8:
            graphmem.reembed(where, embedder=Turned(96), progress=False)

    with pytest.raises(StoreBusy, match="another process"):
        graphmem.reembed(where, embedder=NEW, progress=interrupted)
    assert vectors(where) == vectors(made(tmp_path / "new.db", Turned(96)))


def test_what_is_renamed_while_it_is_embedded_is_embedded_again(tmp_path: Path) -> None:
    """Names that come after the text was taken and before its vector is kept."""
    where = made(tmp_path / "m.db")

    class Meddling(Turned):
        """Has other people write while it works."""

        times = 0

        def embed(self, texts):  # type: ignore[no-untyped-def]
            self.times += 1
            if self.times == 3:
                with opened(where) as memory:
                    memory.add_many(episodes("A", 40), progress=False)
                    memory.forget(episode=memory.episodes()[8].id)
            return super().embed(texts)

    graphmem.reembed(where, embedder=Meddling(), progress=False)
    expected = made(tmp_path / "new.db", NEW)
    with opened(expected, NEW) as memory:
        memory.add_many(episodes("A", 40), progress=False)
        memory.forget(episode=memory.episodes()[8].id)
    assert vectors(where) == vectors(expected)
    with opened(where, NEW) as memory:
        assert memory.verify() == []


def test_a_handle_with_the_old_embedder_says_so(tmp_path: Path) -> None:
    """Also where both have vectors of one length, which could be compared, and would find anything."""
    where = made(tmp_path / "m.db")
    with opened(where) as memory:
        view = memory.as_of(valid="2025-06-01")
        memory.search("Firm")
        graphmem.reembed(where, embedder=NEW, progress=False)
        for attempt in (
            lambda: memory.search("Firm"),
            lambda: view.search("Firm"),
            lambda: memory.context("Firm"),
            lambda: memory.add_text("A9Orr works at AFirm2 since 2011."),
        ):
            with pytest.raises(EmbedderMismatch, match="turned/64"):
                attempt()
        assert memory.facts("A0Orr")
        assert memory.verify() == []


def test_a_memory_without_a_file_is_re_embedded_through_the_store_contract_alone() -> None:
    """The dictionary store, which has no path, gives the same vectors as one written with the new embedder."""
    held = []
    for embedder in (OLD, NEW):
        with graphmem.open(":memory:", model=model(), embedder=embedder, clock=FixedClock("2026-01-15T12:00:00Z")) as memory:
            memory.add_many(episodes("A", 12), progress=False)
            memory.add_many(episodes("B", 3), group="other", progress=False)
            store = memory._scope.store
            done = engine.reembed(store, NEW, indexing(NEW), lambda done, total: None)
            held.append(in_use(store))
            assert memory.verify() == []
            assert done.items == (len(held[0]) if embedder is OLD else 0)
    assert held[0] == held[1]
    assert len(held[0]) > 20


def test_a_memory_without_anything_takes_any_embedder(tmp_path: Path) -> None:
    """There is nothing to be done."""
    where = tmp_path / "m.db"
    opened(where).close()
    assert graphmem.reembed(where, embedder=NEW, progress=False) == engine.Reembedded(None, NEW.name)
    with opened(where, NEW) as memory:
        memory.add_text("A9Orr works at AFirm2 since 2011.")


def test_a_file_from_before_can_be_re_embedded(tmp_path: Path) -> None:
    """A first schema, which had no room for it, is migrated."""
    where = made(tmp_path / "m.db")
    raw = sqlite3.connect(where)
    for file in files("graphmem").joinpath("stores/sql/migrations").iterdir():
        if not file.name.startswith("0001"):
            step = file.read_text(encoding="utf-8")
            for index in re.findall(r"CREATE INDEX (\w+)", step):
                raw.execute(f"DROP INDEX IF EXISTS {index}")
            for table, column in re.findall(r"ALTER TABLE (\w+) ADD COLUMN (\w+)", step):
                raw.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
    raw.executescript("DROP TABLE staged_vector; DROP TABLE member; DROP TABLE community; PRAGMA user_version = 1")
    raw.close()
    graphmem.reembed(where, embedder=NEW, progress=False)
    with opened(where, NEW) as memory:
        assert memory.verify() == []


def test_what_is_not_there_is_not_made(tmp_path: Path) -> None:
    """A mistyped path is not an empty memory."""
    with pytest.raises(StoreUnavailable, match="no such memory"):
        graphmem.reembed(tmp_path / "none.db", embedder=NEW)
    with pytest.raises(StoreUnavailable, match="only a file"):
        graphmem.reembed(":memory:", embedder=NEW)
    with pytest.raises(InvalidInput):
        graphmem.reembed(made(tmp_path / "m.db"), embedder="unknown")
    assert not (tmp_path / "none.db").exists()


@pytest.mark.parametrize("rounds", ROUNDS)
def test_killed_at_any_point_the_old_or_the_new_vectors_serve_and_it_goes_on(tmp_path: Path, rounds: range) -> None:
    """Kill -9, again and again until it is through: nothing torn, nothing lost, and less to do each time."""
    original = made(tmp_path / "original.db").read_bytes()
    expected = vectors(made(tmp_path / "new.db", NEW))
    old = vectors(tmp_path / "original.db")
    for seed in rounds:
        random, where = Random(seed), tmp_path / f"{seed}.db"
        where.write_bytes(original)
        waiting = 0
        for _ in range(20):
            process = subprocess.Popen([sys.executable, str(WORKER), str(where), "0.01"], stdout=subprocess.PIPE, text=True)
            assert process.stdout is not None
            assert process.stdout.readline() == "open\n"
            for _ in range(random.randrange(18)):
                process.stdout.readline()
            time.sleep(random.random() * 0.05)
            process.kill()
            process.communicate(timeout=60)
            found = vectors(where)
            assert found in (old, expected)
            if found == expected:
                break
            now = staged(where)
            assert now >= waiting
            waiting = now
        graphmem.reembed(where, embedder=NEW, progress=False)
        assert vectors(where) == expected
        with opened(where, NEW) as memory:
            assert memory.verify() == []


def test_two_at_once_towards_one_embedder_do_no_harm(tmp_path: Path) -> None:
    """Both end well, and the vectors are those of one."""
    where = made(tmp_path / "m.db")
    processes = [subprocess.Popen([sys.executable, str(WORKER), str(where), "0.01"], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    for process in processes:
        process.communicate(timeout=120)
        assert process.returncode == 0
    assert vectors(where) == vectors(made(tmp_path / "new.db", NEW))
