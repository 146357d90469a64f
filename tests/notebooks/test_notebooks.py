"""Notebooks run from top to bottom in a kernel of their own, and print what they show."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from neo4j_servers import Place

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))
ON_A_SERVER = [path for path in NOTEBOOKS if "neo4j" in path.stem]
HERE = [path for path in NOTEBOOKS if path not in ON_A_SERVER]
_SECONDS = 300  # for one cell on a busy machine; each notebook is meant for under a minute

# In a process of its own, which ends with the kernel and all that it opened.
_RUN = f"""
import sys, nbformat
from nbclient import NotebookClient
book = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(book, timeout={_SECONDS}, kernel_name="python3").execute()
nbformat.write(book, sys.argv[2])
"""

grouped = pytest.mark.xdist_group("notebooks")


def run(path: Path, folder: Path, settings: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a notebook in an empty folder; the result is `run.ipynb` there."""
    command = [sys.executable, "-c", _RUN, str(path), "run.ipynb"]
    return subprocess.run(command, cwd=folder, env={**os.environ, **(settings or {})}, capture_output=True, text=True, check=False)


def same(path: Path, folder: Path) -> None:
    """Every output is the one that is kept in the file."""
    import nbformat

    ran, kept = (nbformat.read(found, as_version=4) for found in (folder / "run.ipynb", path))
    for n, (cell, before) in enumerate(zip(ran.cells, kept.cells, strict=True)):
        if cell.cell_type == "code":
            assert texts(cell) == texts(before), f"cell {n}: {cell.source}"


def texts(cell: object) -> tuple[str, list[str]]:
    """What a cell printed, and what it showed as text; of a picture only that there is one."""
    shown = [o["data"] for o in cell.outputs if "data" in o]  # type: ignore[attr-defined]
    printed = "".join(o["text"] for o in cell.outputs if o.output_type == "stream")  # type: ignore[attr-defined]
    return printed, ["a picture" if "image/png" in data else data.get("text/plain", "") for data in shown]


def test_there_are_notebooks() -> None:
    """So that a moved folder is noticed."""
    assert len(HERE) >= 5
    assert len(ON_A_SERVER) == 1


@grouped
@pytest.mark.local
@pytest.mark.parametrize("path", HERE, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_it_shows(path: Path, tmp_path: Path) -> None:
    """Every assertion in it holds, and every output is the one that is kept in the file."""
    done = run(path, tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    same(path, tmp_path)


@pytest.mark.local
@pytest.mark.neo4j
@pytest.mark.slow
@pytest.mark.parametrize("path", ON_A_SERVER, ids=lambda path: path.stem)
def test_a_notebook_on_a_server_runs_and_shows_what_it_shows(path: Path, tmp_path: Path, emptied: Place) -> None:
    """As above, on a real server, in a database that is empty and in one that has seen it."""
    user, password = emptied.auth
    settings = {"GRAPHMEM_NEO4J_URI": emptied.uri, "GRAPHMEM_NEO4J_USER": user, "GRAPHMEM_NEO4J_PASSWORD": password}
    for _ in range(2):
        done = run(path, tmp_path, settings)
        assert done.returncode == 0, done.stderr[-3000:]
        same(path, tmp_path)


@grouped
@pytest.mark.local
@pytest.mark.parametrize("path", ON_A_SERVER, ids=lambda path: path.stem)
def test_a_notebook_says_first_that_it_needs_a_server(path: Path, tmp_path: Path) -> None:
    """Without one its first cell stops with a sentence that says what is missing and what to do."""
    done = run(path, tmp_path, {"GRAPHMEM_NEO4J_URI": "neo4j://localhost:1"})
    assert done.returncode != 0
    assert "This notebook needs a Neo4j server" in done.stderr
    assert "docker run" in done.stderr


@grouped
def test_long_work_shows_one_bar_in_a_notebook_and_nothing_when_it_is_done(tmp_path: Path) -> None:
    """Without widgets and without a warning."""
    import nbformat

    long = "from graphmem.progress import reporting\nwith reporting(None, 20, 'reading') as report:\n    report(7, 20)"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(long)]), tmp_path / "long.ipynb")
    ran = run(tmp_path / "long.ipynb", tmp_path)
    assert ran.returncode == 0, ran.stderr
    (cell,) = nbformat.read(tmp_path / "run.ipynb", as_version=4).cells
    assert [(o.output_type, o.data["text/html"]) for o in cell.outputs] == [("display_data", "")]


@pytest.mark.local
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_asserts_what_it_tells(path: Path) -> None:
    """At least three assertions, no output that is an error, and small enough for a code host's preview."""
    import nbformat

    cells = [c for c in nbformat.read(path, as_version=4).cells if c.cell_type == "code"]
    assert sum(c.source.count("assert ") for c in cells) >= 3
    assert [o for c in cells for o in c.outputs]
    assert not [o for c in cells for o in c.outputs if o.output_type == "error"]
    assert path.stat().st_size < 400_000
