"""The table of cases and lessons in README.md names every number, and only tests that exist."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
ON_THE_PAGE = set(range(1, 38)) - {8, 15, 23, 30, 32, 38}
NUMBERS = {f"C{n:02d}" for n in (*ON_THE_PAGE, 39)} | {f"A{n}" for n in (*range(1, 27), *range(33, 41))}
ROW = re.compile(r"^\| ([AC]\d+) \| (.*) \|$", re.MULTILINE)
NAMED = re.compile(r"`(?:(\w+)/)?(test_\w+\.py)::(test_\w+)`")
IN_NAME, IN_DOCSTRING = re.compile(r"test_([ac]\d+)_"), re.compile(r"\b([AC]\d+)\b")


@cache
def defined(path: Path) -> dict[str, str]:
    """The tests of a module, with the docstring of each."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {n.name: ast.get_docstring(n) or "" for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name.startswith("test_")}


def table() -> dict[str, str]:
    """What the table says of each number."""
    return dict(ROW.findall((HERE / "README.md").read_text(encoding="utf-8")))


def test_every_number_has_a_row_with_a_test_or_says_what_it_waits_for() -> None:
    """No number is left out, and none is there twice."""
    assert set(table()) == NUMBERS
    assert len(ROW.findall((HERE / "README.md").read_text(encoding="utf-8"))) == len(NUMBERS)
    for number, row in table().items():
        assert NAMED.search(row) or "later: " in row, number


def test_every_test_of_the_table_exists() -> None:
    """Here, or in the folder that is named."""
    for number, row in table().items():
        for folder, module, name in NAMED.findall(row):
            path = (HERE.parent / folder if folder else HERE) / module
            assert path.exists(), (number, path)
            assert name in defined(path), (number, module, name)


def test_every_test_that_names_a_number_is_in_its_row() -> None:
    """By its name, or at the beginning of its docstring."""
    rows = {number: {(m, n) for f, m, n in NAMED.findall(row) if not f} for number, row in table().items()}
    for path in HERE.glob("test_*.py"):
        for name, said in defined(path).items():
            found = [m.upper() for m in IN_NAME.findall(name)] + IN_DOCSTRING.findall(said.partition(":")[0])
            for number in {n for n in found if n in NUMBERS}:
                assert (path.name, name) in rows[number], (number, name)
