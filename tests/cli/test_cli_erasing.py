"""The command that removes for good: it says what would go, asks, and takes --yes for an answer."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from terminal import ROOT, Run

pytestmark = pytest.mark.local


def facts(run: Run, db: Path) -> list[str]:
    return [f["target"] for f in json.loads(run("facts", "Mira", "--db", db, "--json").out)["facts"]]


def test_without_a_terminal_nothing_is_erased_unless_told_so(run: Run, db: Path) -> None:
    """It says what would go and how to do it, and changes nothing; --dry-run only says it."""
    told = run("erase", "--entity", "Porto", "--db", db)
    assert told.code == 2
    assert "1 episodes would be changed" in told.out
    assert "erased: Mira moved to Porto." in told.out
    assert "--yes erases" in told.err
    dry = run("erase", "--entity", "Porto", "--db", db, "--dry-run", "--json")
    assert (dry.code, json.loads(dry.out)["dry_run"], json.loads(dry.out)["redacted"]) == (0, True, 1)
    assert facts(run, db) == ["Porto"]


def test_yes_erases(run: Run, db: Path) -> None:
    """From the file too; what it had ended holds again."""
    done = run("erase", "--entity", "Porto", "--delete", "--yes", "--reason", "no longer needed", "--db", db)
    assert done.code == 0
    assert "1 episodes were removed" in done.out
    assert "receipt op_" in done.out
    assert facts(run, db) == ["Lisbon"]
    assert b"Porto" not in b"".join(p.read_bytes() for p in db.parent.iterdir())
    assert run("verify", "--db", db).code == 0


def test_a_whole_group_has_to_be_named(run: Run, db: Path) -> None:
    """Else the usual group would go by a slip."""
    assert run("erase", "--whole-group", "--yes", "--db", db).code == 2
    assert facts(run, db) == ["Porto"]
    assert run("erase", "--whole-group", "--group", "main", "--yes", "--db", db).code == 0
    assert run("erase", "--whole-group", "--group", "main", "--yes", "--db", db).code == 2
    assert json.loads(run("stats", "--db", db, "--json").out)["episodes"] == 0


def test_one_thing_has_to_be_named(run: Run, db: Path) -> None:
    """None, or two, is a wrong command line."""
    for line in ((), ("--entity", "Mira", "--session", "general")):
        wrong = run("erase", *line, "--yes", "--db", db)
        assert (wrong.code, "name one of" in wrong.err) == (2, True)


@pytest.mark.parametrize(("typed", "left"), [(b"n\n", ["Porto"]), (b"y\n", ["Lisbon"])])
def test_on_a_terminal_it_asks(run: Run, db: Path, typed: bytes, left: list[str]) -> None:
    """No is the default, and leaves everything."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "graphmem.cli", "erase", "--entity", "Porto", "--delete", "--db", str(db)]
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env={**os.environ, "PYTHONPATH": str(ROOT)})
    os.close(theirs)
    shown = b""
    while b"[y/N]" not in shown:
        shown += os.read(ours, 4096)
    os.write(ours, typed)
    assert process.wait(100) == 0
    os.close(ours)
    assert facts(run, db) == left
