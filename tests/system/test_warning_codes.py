"""Every warning that the code can give is on the page about ingest, and no other."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import graphmem

PACKAGE = Path(graphmem.__file__).parent
PAGE = (PACKAGE.parent / "docs" / "ingest.md").read_text("utf-8")


def codes(node: ast.AST) -> Iterator[str]:
    """The codes of the warnings made inside `node`; fails for one that cannot be read from the code."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and getattr(call.func, "id", getattr(call.func, "attr", "")) in ("Warn", "_warn"):
            given = call.args[0]
            for choice in (given.body, given.orelse) if isinstance(given, ast.IfExp) else (given,):
                if not (isinstance(choice, ast.Name) and choice.id == "code"):  # of `_warn` itself
                    assert isinstance(choice, ast.Constant), ast.unparse(call)
                    yield str(choice.value)


def test_the_list_of_warnings_is_that_of_the_code() -> None:
    """Each code once, with what it means."""
    listed = re.findall(r"^\| `([a-z_]+)` \| \S.*\|$", PAGE.partition("## Warnings")[2], re.MULTILINE)
    used = {code for path in PACKAGE.rglob("*.py") for code in codes(ast.parse(path.read_text("utf-8")))}

    assert sorted(listed) == sorted(used)
