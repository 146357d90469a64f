"""The command as a process: exit codes, pipes, locales."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from terminal import ROOT, Run

pytestmark = pytest.mark.local
PLAIN = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def test_a_pipe_gets_one_json_document(shell: Run, made: Path) -> None:
    """Nothing else on stdout, no colours."""
    ended = shell("facts", "--db", made, "--json")

    assert ended.code == 0
    assert json.loads(ended.out)["facts"]
    assert "\x1b" not in shell("facts", "--db", made).out


def test_a_reader_that_leaves_ends_the_command_quietly(made: Path) -> None:
    """`graphmem episodes | true` prints no error."""
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "graphmem.cli", "episodes", "--db", str(made)], stdout=writing, stderr=subprocess.PIPE, cwd=ROOT, check=False
    )
    os.close(writing)

    assert (done.returncode, done.stderr) == (0, b"")


def test_any_text_goes_in_and_out_in_a_plain_locale(shell: Run, tmp_path: Path) -> None:
    """Where the locale is ASCII, text is read as UTF-8, kept, and shown with escapes."""
    db = tmp_path / "new.db"
    added = shell("add", "Jonas lives in Malmö 🙂", "--actor", "Øyvind", "--db", db, env=PLAIN)
    piped = shell("add", "-", "--db", db, stdin="Привіт".encode(), env=PLAIN)
    listed = shell("episodes", "--db", db, "--json", env=PLAIN)
    shown = shell("episodes", "--db", db, env=PLAIN)

    assert (added.code, piped.code, shown.code) == (0, 0, 0), added.err + piped.err + shown.err
    assert {e["text"] for e in json.loads(listed.out)["episodes"]} == {"Jonas lives in Malmö 🙂", "Привіт"}
    assert "Malm\\xf6" in shown.out


def test_an_error_is_no_traceback(shell: Run, tmp_path: Path) -> None:
    """A process ends with the code and one line."""
    ended = shell("stats", "--db", tmp_path / "none.db")

    assert (ended.code, ended.out, ended.err.count("\n")) == (3, "", 1)
    assert "Traceback" not in ended.err
