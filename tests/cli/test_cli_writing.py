"""The commands that write, in this process."""

import json
from pathlib import Path
from typing import Any

import pytest
from terminal import Run

import graphmem
from graphmem.testing import ScriptedModel

pytestmark = pytest.mark.local


def parsed(out: str) -> Any:
    """Stdout as the one JSON document it must be."""
    return json.loads(out)


def test_a_message_is_recorded_once(run: Run, tmp_path: Path) -> None:
    """The same key again changes nothing, and says so."""
    line = ("add", "I live in Porto.", "--actor", "Mira Okafor", "--at", "2025-04-02", "--key", "m1", "--db", tmp_path / "new.db")
    first, second = run(*line), run(*line)

    assert (first.code, second.code) == (0, 0)
    assert "nothing changed" in second.out
    assert "Porto" in run("facts", "Mira Okafor", "--db", tmp_path / "new.db").out


def test_a_json_value_is_recorded(run: Run, tmp_path: Path) -> None:
    """--kind json reads a value; what is not JSON is refused before anything is written."""
    good = run("add", '{"id": "T-1", "name": "Ticket", "status": "open"}', "--kind", "json", "--db", tmp_path / "new.db", "--json")
    bad = run("add", "{oops", "--kind", "json", "--db", tmp_path / "new.db")

    assert parsed(good.out)["created"] is True
    assert (bad.code, bad.err.count("\n")) == (2, 1)


def test_forget_and_restore_are_a_round_trip(run: Run, db: Path) -> None:
    """Forgetting the move brings back the old home; restoring brings back the new one."""
    moved = next(e for e in parsed(run("episodes", "--db", db, "--json").out)["episodes"] if "Porto" in e["text"])
    forgotten = parsed(run("forget", moved["id"], "--reason", "a joke", "--db", db, "--json").out)
    without = parsed(run("facts", "Mira", "--db", db, "--json").out)["facts"]
    restored = run("restore", forgotten["ids"][0], "--db", db)
    after = parsed(run("facts", "Mira", "--db", db, "--json").out)["facts"]

    assert restored.code == 0
    assert [f["target"] for f in without] == ["Lisbon"]
    assert [f["target"] for f in after] == ["Porto"]
    assert run("verify", "--db", db).code == 0


def test_what_was_not_read_is_read_again(run: Run, tmp_path: Path) -> None:
    """The ids and what changed; nothing the second time."""
    db = tmp_path / "new.db"
    with graphmem.open(db, model=ScriptedModel({"extract": "I would rather not."})) as memory:
        unread = memory.add_message("Mira Okafor", "I live in Porto.", reference_time="2025-04-02")
    assert [w.code for w in unread.warnings] == ["unreadable"]
    read = run("resume", "--db", db)
    (first,) = parsed(run("episodes", "--db", db, "--json").out)["episodes"]

    assert (read.code, read.err) == (0, "")
    assert read.out.splitlines() == ["1 read now, 0 still not", f"{first['id']}  3 added"]
    assert "Porto" in run("facts", "Mira Okafor", "--db", db).out
    assert run("resume", "--db", db).out == "nothing was left unread\n"
    assert parsed(run("resume", "--db", db, "--json").out) == []


def test_forgetting_what_is_not_there_is_an_error(run: Run, db: Path) -> None:
    """Exit code 2 and the id."""
    ended = run("forget", "ep_nothing", "--db", db)

    assert (ended.code, ended.out) == (2, "")
    assert "ep_nothing" in ended.err


def test_ingest_goes_on_where_it_was(run: Run, tmp_path: Path) -> None:
    """A folder again records only what is new in it."""
    folder, db = tmp_path / "notes", tmp_path / "new.db"
    folder.mkdir()
    (folder / "a.md").write_text("Mira Okafor lives in Porto.", encoding="utf-8")
    (folder / "chat.jsonl").write_text('{"id": 1, "at": "2025-01-01", "actor": "Ann", "text": "hello"}\n', encoding="utf-8")
    first = parsed(run("ingest", folder, "--db", db, "--json").out)
    with (folder / "chat.jsonl").open("a", encoding="utf-8") as chat:
        chat.write('{"id": 2, "at": "2025-01-02", "actor": "Ann", "text": "bye"}\n')
    second = parsed(run("ingest", folder, "--db", db, "--json").out)

    assert (first["read"], first["recorded"]) == (2, 2)
    assert (second["read"], second["recorded"]) == (3, 1)


def test_an_archive_can_be_asked_about_its_past(run: Run, tmp_path: Path) -> None:
    """--archive records each line at its own time, in order of time, also where two share one."""
    lines = [
        {"at": "2024-03-01", "actor": "Ann", "text": "second"},
        {"at": "2024-01-01", "actor": "Ann", "text": "first"},
        {"at": "2024-03-01", "actor": "Bob", "text": "third"},
    ]
    chat, db = tmp_path / "chat.jsonl", tmp_path / "new.db"
    chat.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    ended = run("ingest", "--archive", chat, "--db", db, "--json")

    assert ended.code == 0, ended.err
    assert parsed(run("stats", "--system", "2024-02-01", "--db", db, "--json").out)["episodes"] == 1


def test_a_bad_episode_is_named_by_file_and_line(run: Run, tmp_path: Path) -> None:
    """What the memory refuses is named by its place, not by its number in a list."""
    chat = tmp_path / "chat.jsonl"
    chat.write_text('{"text": "fine"}\n\n{"text": "x", "mood": "good"}\n', encoding="utf-8")
    ended = run("ingest", chat, "--db", tmp_path / "new.db")

    assert ended.code == 2
    assert "chat.jsonl:3" in ended.err
    assert "mood" in ended.err


def test_a_file_that_is_no_memory_is_a_store_error(run: Run, tmp_path: Path) -> None:
    """Exit code 3, one line."""
    (tmp_path / "odd.db").write_bytes(b"not a database" * 100)
    ended = run("stats", "--db", tmp_path / "odd.db")

    assert (ended.code, ended.err.count("\n")) == (3, 1)


def test_the_demo_tells_its_story_and_spares_a_memory(run: Run, tmp_path: Path) -> None:
    """Every part is there, in lines of a hundred columns; a file that is there already is not written to."""
    first, second = run("demo", "--db", tmp_path / "team.db"), run("demo", "--db", tmp_path / "team.db")
    told = [line for line in first.out.splitlines() if not line.startswith("   graphmem ")]

    assert first.code == 0, first.err
    assert all(part in first.out for part in ("episodes", "Questions", "two axes", "hash for hash", "graphmem verify"))
    assert max(map(len, told)) <= 100
    assert (second.code, second.out) == (2, "")


@pytest.mark.slow
def test_the_demo_tells_the_same_story_twice(run: Run) -> None:
    """Its clock stands still, so every run prints the same."""
    assert run("demo").out == run("demo").out


def test_history_after_the_present_is_the_callers_mistake(run: Run, tmp_path: Path) -> None:
    """Exit code 2: the file is well."""
    db = tmp_path / "team.db"
    run("add", "Hello there.", "--actor", "Mira", "--db", db)

    assert run("add", "Hello again.", "--actor", "Mira", "--recorded-at", "2020-01-01", "--db", db).code == 2


def test_a_folder_without_anything_to_read_says_so(run: Run, tmp_path: Path) -> None:
    """With the endings that are read; it is no error."""
    (tmp_path / "scan.pdf").write_bytes(b"%PDF-1.7")
    ended = run("ingest", tmp_path, "--db", tmp_path / "team.db")

    assert (ended.code, ended.out) == (0, "0 recorded, 0 known already\n")
    assert "nothing to record in" in ended.err
    assert ".jsonl" in ended.err
