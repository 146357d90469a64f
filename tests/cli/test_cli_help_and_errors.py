"""What the command line says without a memory: help, and what is wrong with a line."""

import subprocess
import sys
from pathlib import Path

import pytest
from terminal import ROOT, Run
from typer.testing import CliRunner

from graphmem.cli.app import app
from graphmem.cli.options import exit_code
from graphmem.errors import EmbedderError, InvalidInput, MissingExtra, NotFound, StoreCorrupt

COMMANDS = (
    "demo", "add", "ingest", "search", "why-not", "context", "entity", "facts", "timeline", "episodes", "forget", "restore", "stats",
    "verify", "mcp", "reembed", "browser", "communities", "diff", "why", "history", "operations", "replay",
)  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(name: str) -> None:
    """`graphmem NAME --help` explains itself in a sentence and shows a line to type."""
    result = CliRunner().invoke(app, [name, "--help"])

    assert result.exit_code == 0
    assert f"Example: graphmem {name}" in " ".join(result.output.split())


def test_nothing_typed_shows_the_commands(run: Run) -> None:
    """`graphmem` alone is `graphmem --help`."""
    ended = run()

    assert ended.code == 0
    assert all(name in ended.out for name in COMMANDS)


def test_help_loads_nothing_heavy() -> None:
    """Help needs neither the extractor, nor the embedder, nor rich."""
    heavy = {"spacy", "onnxruntime", "onnx", "dateparser", "rich"}
    script = f"import sys; from graphmem.cli import main; main(['search', '--help']); print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True)

    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["serch", "x"], "serch"),
        (["search"], "QUERY"),
        (["search", "x", "--limit", "0"], "--limit"),
        (["search", "x", "--depth", "many"], "--depth"),
        (["facts", "--nothing"], "--nothing"),
        (["add", "x", "--kind", "poem"], "poem"),
        (["add", "x", "--kind", "json", "--actor", "Ann"], "Ann"),
        (["ingest", "no/such/file.txt"], "no/such/file.txt"),
    ],
)
def test_a_wrong_line_is_one_line_on_stderr(run: Run, line: list[str], said: str) -> None:
    """Exit code 2, the value named, nothing on stdout, no traceback."""
    ended = run(*line)

    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert said in ended.err


def test_a_memory_that_is_not_there_is_not_made(run: Run, tmp_path: Path) -> None:
    """A mistyped path is an error of the store, not an empty memory."""
    ended = run("facts", "--db", tmp_path / "typo.db")

    assert (ended.code, list(tmp_path.iterdir())) == (3, [])
    assert "typo.db" in ended.err
    assert "--db" in ended.err


def test_a_write_goes_to_one_group(run: Run, tmp_path: Path) -> None:
    """Several groups are for reads."""
    ended = run("add", "x", "--group", "a", "--group", "b", "--db", tmp_path / "new.db")

    assert (ended.code, list(tmp_path.iterdir())) == (2, [])


def test_errors_have_their_exit_codes() -> None:
    """2: the caller, 3: store, model or embedder, 4: something to install."""
    errors = (InvalidInput("a", 1, "x"), NotFound("x"), StoreCorrupt("x"), EmbedderError("x"), MissingExtra("x"))

    assert [exit_code(e) for e in errors] == [2, 2, 3, 3, 4]


def test_what_is_not_installed_is_named_with_the_line_that_installs_it(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without spaCy: exit code 4 and `pip install`."""
    monkeypatch.setitem(sys.modules, "spacy", None)
    ended = run("add", "hello", "--db", tmp_path / "new.db")

    assert (ended.code, list(tmp_path.iterdir())) == (4, [])
    assert "pip install 'graphmem[local]'" in ended.err


def test_the_version_is_shown(run: Run) -> None:
    """`graphmem --version` names the package and its version."""
    import graphmem

    assert run("--version").out == f"graphmem {graphmem.__version__}\n"


def test_the_environment_may_name_the_memory(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """GRAPHMEM_DB is the file where --db names none."""
    monkeypatch.setenv("GRAPHMEM_DB", str(tmp_path / "mine.db"))

    assert "mine.db" in run("stats").err
