"""A command line that runs in this process or in another, and a memory for it to read."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from terminal import HOSTILE, ROOT, Ended, Run

import graphmem
from graphmem.cli import main
from graphmem.runtime import FixedClock


@pytest.fixture(autouse=True)
def _wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of one width wherever the tests run."""
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command line in this process."""

    def call(*arguments: str | Path) -> Ended:
        capsys.readouterr()
        code = main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        return Ended(code, out, err)

    return call


@pytest.fixture
def shell() -> Run:
    """Runs a command line in a process of its own; `env` adds to its environment, `stdin` are bytes."""

    def call(*arguments: str | Path, stdin: bytes = b"", env: dict[str, str] | None = None) -> Ended:
        whole = {**os.environ, "PYTHONPATH": str(ROOT), **(env or {})}
        done = subprocess.run(
            [sys.executable, "-m", "graphmem.cli", *map(str, arguments)],
            input=stdin,
            capture_output=True,
            env=whole,
            timeout=100,
            check=False,
        )
        return Ended(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))

    return call


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with one move told late, and one hostile message. Read it only."""
    path = tmp_path_factory.mktemp("made") / "team.db"
    clock = FixedClock("2025-03-01T09:00Z")
    with graphmem.open(path, clock=clock) as memory:
        memory.add_facts(
            [{"source": "Mira", "relation": "lives_in", "target": "Lisbon", "valid_at": "2021", "text": "Mira lives in Lisbon."}],
            source="told.txt",
        )
        clock.advance(days=31)
        memory.add_facts(
            [{"source": "Mira", "relation": "lives_in", "target": "Porto", "valid_at": "2025-03", "text": "Mira moved to Porto."}]
        )
        memory.add_message("Bob", HOSTILE, session="general")
    return path


@pytest.fixture
def db(made: Path, tmp_path: Path) -> Path:
    """A copy of the made memory, to write to."""
    copy = tmp_path / "copy.db"
    copy.write_bytes(made.read_bytes())
    return copy
