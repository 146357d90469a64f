"""The file behind the SQLite store: opening, refusing, migrating, sharing, closing."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from graphmem.errors import SchemaTooNew, StoreBusy, StoreCorrupt, StoreUnavailable
from graphmem.model import AsOf, EntityMatch, EpisodeMatch
from graphmem.statements import Statement
from graphmem.stores.base import Kind
from graphmem.stores.sqlite import SqliteStore, connect
from graphmem.testing.samples import GROUP, NOW, add_entities, add_episode, add_facts, day, entity, fact, ids, put, record, unit, uuids


def test_what_is_committed_is_there_after_reopening(tmp_path: Path) -> None:
    """Log, versions, words and vectors are in the file."""
    with_store(tmp_path, "u1")
    store = SqliteStore.open(tmp_path / "m.db")
    with store.read() as reader:
        assert uuids(reader) == ["u1"]
        assert ids(reader.text_search(Kind.FACT, ["knows"], [GROUP], NOW, 5)) == ["u1"]
        assert ids(reader.vector_search(Kind.FACT, unit(1, 0)[0], [GROUP], NOW, 5)) == ["u1"]
    store.close()
    store.close()
    with pytest.raises(StoreUnavailable, match="closed"), store.read():
        pass


def test_unusable_paths_are_named(tmp_path: Path) -> None:
    """A missing folder, a folder, a file that is no database, another program's database."""
    with pytest.raises(StoreUnavailable, match="does not exist"):
        SqliteStore.open(tmp_path / "none" / "m.db")
    with pytest.raises(StoreUnavailable, match="is a folder"):
        SqliteStore.open(tmp_path)
    (tmp_path / "text.db").write_text("this is no database " * 200)
    with pytest.raises(StoreCorrupt, match=r"text\.db"):
        SqliteStore.open(tmp_path / "text.db")
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE t (x)")
    other.close()
    with pytest.raises(StoreCorrupt, match="not a graphmem store"):
        SqliteStore.open(tmp_path / "other.db")


def test_a_newer_schema_is_refused_by_both_versions(tmp_path: Path) -> None:
    """The message says which schema the file has and which this graphmem knows."""
    with_store(tmp_path, "u1")
    raw = sqlite3.connect(tmp_path / "m.db")
    raw.execute("PRAGMA user_version = 99")
    raw.close()
    with pytest.raises(SchemaTooNew, match=rf"schema 99.*up to {max(connect.migrations())}"):
        SqliteStore.open(tmp_path / "m.db")


def test_an_older_schema_is_migrated_in_one_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Data stays, new tables come; a failing step leaves the file as it was."""
    with_store(tmp_path, "u1")
    real = connect.migrations()
    newest = max(real)
    broken = {**real, newest + 1: "CREATE TABLE extra (x);\nCREATE TABLE fact (x);\n"}
    monkeypatch.setattr(connect, "migrations", lambda: broken)
    with pytest.raises(Exception, match="already exists"):
        SqliteStore.open(tmp_path / "m.db")
    working = {**real, newest + 1: "CREATE TABLE extra (x);\n", newest + 2: "INSERT INTO extra (x) VALUES (1);\n"}
    monkeypatch.setattr(connect, "migrations", lambda: working)
    store = SqliteStore.open(tmp_path / "m.db")
    with store.read() as reader:
        assert uuids(reader) == ["u1"]
    store.close()
    raw = sqlite3.connect(tmp_path / "m.db")
    assert raw.execute("SELECT x FROM extra").fetchall() == [(1,)]
    assert raw.execute("PRAGMA user_version").fetchone() == (newest + 2,)
    raw.close()


def test_a_held_write_lock_is_busy(tmp_path: Path) -> None:
    """Another process's writer is waited for, then named; readers are not hindered."""
    store = with_store(tmp_path, "u1", keep=True)
    other = SqliteStore.open(tmp_path / "m.db", timeout=0.05)
    with store.write(GROUP):
        with pytest.raises(StoreBusy), other.write(GROUP):
            pass
        with pytest.raises(StoreBusy), _impatient(store).write(GROUP):
            pass
        with other.read() as reader:
            assert uuids(reader) == ["u1"]
    other.close()
    store.close()


def test_another_process_sees_and_adds(tmp_path: Path) -> None:
    """Caches of one process catch up with what another one writes, and with what it removes."""
    store = with_store(tmp_path, "u1", keep=True)
    query = unit(1, 0)[0]
    with store.read() as reader:
        assert ids(reader.text_search(Kind.FACT, ["knows"], [GROUP], NOW, 9)) == ["u1"]
        assert ids(reader.vector_search(Kind.FACT, query, [GROUP], NOW, 9)) == ["u1"]
    _elsewhere(tmp_path, "add_facts(w, fact('u2', 'mira', 'porto', system=(2, None))); put(w, Kind.FACT, 'u2', unit(1, 1))")
    with store.read() as reader:
        assert ids(reader.text_search(Kind.FACT, ["porto"], [GROUP], NOW, 9)) == ["u2"]
        assert ids(reader.text_search(Kind.FACT, ["knows"], [GROUP], NOW, 9)) == ["u1", "u2"]
        assert ids(reader.vector_search(Kind.FACT, query, [GROUP], NOW, 9)) == ["u1", "u2"]
    _elsewhere(tmp_path, "w.end_versions('fact', ['u1'], day(5))")
    with store.read() as reader:
        assert ids(reader.text_search(Kind.FACT, ["knows"], [GROUP], NOW, 9)) == ["u2"]
        assert ids(reader.vector_search(Kind.FACT, query, [GROUP], NOW, 9)) == ["u2"]
    _elsewhere(tmp_path, f"w.clear_derived({GROUP!r})")
    with store.read() as reader:
        assert reader.text_search(Kind.FACT, ["knows"], [GROUP], NOW, 9) == []
        assert reader.verify() == []
    store.close()


def test_opening_and_closing_leaves_no_handles(tmp_path: Path) -> None:
    """200 cycles with a read each end with as many open files as they began with."""
    with_store(tmp_path, "u1")
    before = _open_files()
    for _ in range(200):
        store = SqliteStore.open(tmp_path / "m.db")
        with store.read() as reader:
            assert reader.head(GROUP).seq == 1
        store.close()
    assert _open_files() == before


def test_an_erased_text_is_in_no_file(tmp_path: Path) -> None:
    """Neither the database nor its write-ahead log holds a byte of it."""
    store = SqliteStore.open(tmp_path / "m.db")
    with store.write(GROUP) as writer:
        add_episode(writer, record("e1", 1, body="quicksilver" * 40), words="quicksilver")
    with store.write(GROUP) as writer:
        writer.remove_episodes(GROUP, ["e1"])
    kept = b"".join(p.read_bytes() for p in tmp_path.iterdir())
    assert b"quicksilver" not in kept
    store.close()


def test_an_episode_costs_a_constant_number_of_statements(tmp_path: Path) -> None:
    """The trace names every statement; their number does not grow with the store or with the episode's facts."""
    store = SqliteStore.open(tmp_path / "m.db")
    counts = []
    with store.write(GROUP) as writer:
        add_episode(writer, record("e0", 1))
    for n in range(2, 5):
        seen: list[Statement] = []
        with store.trace(seen.append), store.write(GROUP) as writer:
            add_episode(writer, record(f"e{n}", n, entities=[f"x{n}-{i}" for i in range(n)]))
            add_facts(writer, *(fact(f"u{n}-{i}", "a", "b", system=(n, None)) for i in range(5 * n)))
        counts.append(len(seen))
    assert counts[0] == counts[1] == counts[2] < 40
    store.close()


def with_store(folder: Path, uuid: str, *, keep: bool = False) -> SqliteStore:
    """A file with one episode and one fact."""
    store = SqliteStore.open(folder / "m.db")
    with store.write(GROUP) as writer:
        add_episode(writer, record("e1", 1))
        add_facts(writer, fact(uuid, "mira", "acme"))
        put(writer, Kind.FACT, uuid, unit(1, 0))
    if not keep:
        store.close()
    return store


def _open_files() -> int:
    """How many files this process holds; 0 where the system does not say."""
    listed = Path("/proc/self/fd")
    return len(list(listed.iterdir())) if listed.exists() else 0


def _impatient(store: SqliteStore) -> SqliteStore:
    store._timeout = 0.05
    return store


def _elsewhere(folder: Path, statement: str) -> None:
    script = (
        "from graphmem.stores.base import Kind\nfrom graphmem.stores.sqlite import SqliteStore\nfrom graphmem.testing.samples import *\n"
        f"s = SqliteStore.open({str(folder / 'm.db')!r})\nwith s.write(GROUP) as w:\n    {statement}\ns.close()\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=Path(__file__).parents[2], timeout=60)


def _seen(store: SqliteStore) -> tuple[object, ...]:
    """What is asked of every transaction: groups, the head, meta, an entity by its id."""
    with store.read() as reader:
        found = reader.entities([GROUP], NOW, EntityMatch(ids=("mira", "adam")))
        return reader.groups(), reader.head(GROUP).seq, reader.meta("m"), [(e.id, e.name) for e in found]


def test_rows_kept_between_transactions_are_those_of_the_last_commit(tmp_path: Path) -> None:
    """A transaction that fails leaves nothing of them, and another process's commit, here another store's, is seen at once."""
    one, two = SqliteStore.open(tmp_path / "m.db"), SqliteStore.open(tmp_path / "m.db")

    def write(store: SqliteStore, seq: int, name: str, ended: str | None = None, fails: bool = False) -> None:
        with store.write(GROUP) as tx:
            add_episode(tx, record(f"e{seq}", seq))
            if ended is not None:
                tx.end_versions("entity", [ended], day(seq))
            add_entities(tx, entity(f"v{seq}", "mira", name=name, system=(seq, None)))
            tx.put_meta("m", name)
            assert [e.name for e in tx.entities([GROUP], NOW, EntityMatch(ids=("mira",)))] == [name]
            assert (tx.head(GROUP).seq, tx.meta("m")) == (seq, name)
            if fails:
                raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        write(one, 1, "Mira", fails=True)
    assert _seen(one) == _seen(two) == ([], 0, None, [])
    write(one, 1, "Mira")
    with one.read() as old:
        assert old.meta("m") == "Mira"
        with pytest.raises(RuntimeError, match="stop"):
            write(two, 2, "Mira Kovac", ended="v1", fails=True)
        assert _seen(one) == _seen(two) == ([GROUP], 1, "Mira", [("mira", "Mira")])
        write(two, 2, "Mira Kovac", ended="v1")
        assert _seen(one) == _seen(two) == ([GROUP], 2, "Mira Kovac", [("mira", "Mira Kovac")])
        assert (old.head(GROUP).seq, old.meta("m"), old.groups()) == (1, "Mira", [GROUP])
        assert [e.name for e in old.entities([GROUP], NOW, EntityMatch(ids=("mira",)))] == ["Mira"]
        assert old.entities(["another"], NOW, EntityMatch(ids=("mira",))) == []
    with one.write(GROUP) as tx:
        tx.clear_derived(GROUP)
        assert tx.entities([GROUP], NOW, EntityMatch(ids=("mira",))) == []
    assert _seen(one) == _seen(two) == ([GROUP], 2, "Mira Kovac", [])
    one.close()
    two.close()


def test_rows_of_many_groups_are_not_kept_for_ever(tmp_path: Path) -> None:
    """A memory of very many groups keeps what the last of them read or wrote; every read still sees what was written."""
    store = SqliteStore.open(tmp_path / "m.db")
    most = 0
    for first in range(0, 3000, 100):
        with store.write(GROUP) as tx:
            for n in range(first, first + 100):
                tx.put_meta(f"ontology:group {n}", str(n))
                assert tx.meta(f"ontology:group {n}") == str(n)
        most = max(most, len(store._kept.meta))
    for n in range(3000):
        with store.read() as reader:
            assert reader.meta(f"ontology:group {n}") == str(n)
        most = max(most, len(store._kept.meta))
    assert most <= 1200
    store.close()


def test_an_interrupt_while_it_waits_for_the_lock_leaves_the_file_to_others(tmp_path: Path) -> None:
    """The interrupt is raised once the wait ends, with the lock in hand: it is given back, and the next write is as always."""
    store = SqliteStore.open(tmp_path / "m.db")
    with closing(sqlite3.connect(tmp_path / "m.db", isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")

        def interrupted() -> None:
            os.kill(os.getpid(), signal.SIGINT)
            other.execute("ROLLBACK")

        later = threading.Timer(0.3, interrupted)
        later.start()
        with pytest.raises(KeyboardInterrupt), store.write(GROUP):
            pass
        later.join()
        other.execute("PRAGMA busy_timeout = 0")
        other.execute("BEGIN IMMEDIATE")
        other.execute("ROLLBACK")
    with store.write(GROUP) as tx:
        tx.put_meta("m", "written")
    store.close()


def test_what_searches_keep_follows_every_writer_of_the_file(tmp_path: Path) -> None:
    """Neighbours in a session and items read after a search are those of the last commit, also another process's, and of no other."""
    one, two = SqliteStore.open(tmp_path / "m.db"), SqliteStore.open(tmp_path / "m.db")

    def said(store: SqliteStore, *rows: tuple[int, int, str | None]) -> None:
        with store.write(GROUP) as tx:
            for n, at, session in rows:
                add_episode(tx, record(f"e{n}", n, at=at, session=session), words="hello")

    def around(store: SqliteStore, at: AsOf = NOW) -> dict[str, tuple[str | None, str | None]]:
        every = [f"e{n}" for n in range(1, 700)]
        with store.read() as reader:
            plain = reader.around([GROUP], at, every)
        with store.read() as reader:
            found = ids(reader.text_search(Kind.EPISODE, ["hello"], [GROUP], at, 999))
            assert [e.id for e in reader.episodes([GROUP], at, EpisodeMatch(ids=tuple(every)))] == [
                e.id for e in reader.episodes([GROUP], at)
            ]
            assert {e.id for e in reader.episodes([GROUP], at)} == set(found)
            assert reader.around([GROUP], at, every) == plain
        return plain

    said(one, (1, 5, "s"), (2, 9, "s"), (3, 1, None))
    assert around(one) == around(two) == {"e1": (None, "e2"), "e2": ("e1", None)}
    with one.read() as old:
        old.text_search(Kind.EPISODE, ["hello"], [GROUP], NOW, 9)
        said(two, (4, 7, "s"), (5, 2, "t"))
        assert around(one) == around(two)
        assert around(one)["e4"] == ("e1", "e2")
        assert old.around([GROUP], NOW, ["e1", "e4", "e5"]) == {"e1": (None, "e2")}
        assert old.episodes([GROUP], NOW, EpisodeMatch(ids=("e4",))) == []
    assert around(one, AsOf(system=day(3))) == {"e1": (None, "e2"), "e2": ("e1", None)}
    said(two, *((n, n % 30, f"s{n % 7}" if n % 5 else "s") for n in range(6, 600)))
    assert len(around(one)) == len(around(two)) == 598
    with two.write(GROUP) as tx:
        tx.remove_episodes(GROUP, ["e599", "e4"])
    said(two, (600, 3, "t"))
    assert around(one) == around(two)
    assert around(one)["e5"] == (None, "e600")
    one.close()
    two.close()
