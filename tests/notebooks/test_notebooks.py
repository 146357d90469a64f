"""Notebooks run from top to bottom in a kernel of their own, and print what they show."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))
_SECONDS = 300  # for one cell on a busy machine; each notebook is meant for under a minute

# In a process of its own, which ends with the kernel and all that it opened.
_RUN = f"""
import sys, nbformat
from nbclient import NotebookClient
book = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(book, timeout={_SECONDS}, kernel_name="python3").execute()
nbformat.write(book, sys.argv[2])
"""

pytestmark = [pytest.mark.local, pytest.mark.xdist_group("notebooks")]


def texts(cell: object) -> tuple[str, list[str]]:
    """What a cell printed, and what it showed as text; of a picture only that there is one."""
    shown = [o["data"] for o in cell.outputs if "data" in o]  # type: ignore[attr-defined]
    printed = "".join(o["text"] for o in cell.outputs if o.output_type == "stream")  # type: ignore[attr-defined]
    return printed, ["a picture" if "image/png" in data else data.get("text/plain", "") for data in shown]


def test_there_are_notebooks() -> None:
    """So that a moved folder is noticed."""
    assert len(NOTEBOOKS) >= 5


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_it_shows(path: Path, tmp_path: Path) -> None:
    """Every assertion in it holds, and every output is the one that is kept in the file."""
    import nbformat

    done = subprocess.run([sys.executable, "-c", _RUN, str(path), "run.ipynb"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    run, kept = (nbformat.read(found, as_version=4) for found in (tmp_path / "run.ipynb", path))
    for n, (cell, before) in enumerate(zip(run.cells, kept.cells, strict=True)):
        if cell.cell_type == "code":
            assert texts(cell) == texts(before), f"cell {n}: {cell.source}"
    assert path.stat().st_size < 400_000


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_asserts_what_it_tells(path: Path) -> None:
    """At least three assertions, and no output that is an error."""
    import nbformat

    cells = [c for c in nbformat.read(path, as_version=4).cells if c.cell_type == "code"]
    assert sum(c.source.count("assert ") for c in cells) >= 3
    assert not [o for c in cells for o in c.outputs if o.output_type == "error"]
