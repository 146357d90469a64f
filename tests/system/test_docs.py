"""The README, the pages of docs and the examples in docstrings run, and print what they show."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from pathlib import Path

import api_page
import pages
import pytest

import graphmem

ROOT = Path(graphmem.__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
MODULES = sorted({"graphmem", *(m.name for m in pkgutil.walk_packages(graphmem.__path__, "graphmem."))} - {"graphmem.cli.__main__"})
NEED_LOCAL = ("graphmem.llm.offline", "graphmem.embed.onnx", "graphmem.dates", "graphmem.daterules", "graphmem.samples", "graphmem.search")


def plain(text: str) -> list[str]:
    """Lines without spaces at their ends."""
    return [line.rstrip() for line in text.strip("\n").splitlines()]


@pytest.mark.local
@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.name)
def test_the_code_of_a_page_prints_what_the_page_shows(path: Path) -> None:
    """Every block of code runs, in order; what stands below it is what it prints."""
    for outcome in pages.run(path.read_text("utf-8")):
        if outcome.shown is not None:
            assert plain(outcome.printed) == plain(outcome.shown), outcome.code


def test_every_output_on_a_page_belongs_to_code_that_runs() -> None:
    """A block of `text` stands right after the code that prints it: nothing shown is made up."""
    for path in PAGES:
        found = pages.blocks(path.read_text("utf-8"))
        for before, block in zip([None, *found], found, strict=False):
            if block.language == "text":
                assert before is not None, path.name
                assert before.language == "python", f"{path.name}: {block.text[:60]}"


@pytest.mark.parametrize("name", [pytest.param(m, marks=pytest.mark.local) if m.startswith(NEED_LOCAL) else m for m in MODULES])
def test_the_examples_of_a_module_run(name: str) -> None:
    """As `python -m doctest` would."""
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_the_page_of_the_public_interface_is_that_of_the_code() -> None:
    """`python tests/system/api_page.py` writes it."""
    assert api_page.PAGE.read_text("utf-8") == api_page.page()
