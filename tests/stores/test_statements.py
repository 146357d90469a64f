"""Named statements: what a file may say, and that every statement of the store is used."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from graphmem import statements
from graphmem.statements import CYPHER, StatementError, parse
from graphmem.stores.sqlite.connect import migrations, split
from graphmem.stores.sqlite.session import named

PACKAGE = Path(str(files("graphmem.stores")))


def test_a_statement_has_name_text_and_documentation() -> None:
    """Header lines become fields; the text comes without them and without the last semicolon."""
    found = parse("-- name: one\n-- What it does,\n-- in two lines.\n-- params: a, b\n-- returns: x\nSELECT :a\nWHERE :b;\n")
    one = found["one"]
    assert (one.text, one.about, one.params, one.returns) == ("SELECT :a\nWHERE :b", "What it does, in two lines.", ("a", "b"), "x")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("-- name: one\nSELECT :a", "without declaring"),
        ("-- name: one\n-- params: a\nSELECT 1", "does not use|do not use"),
        ("-- name: one\nSELECT 1\n-- name: one\nSELECT 2", "two statements"),
        ("-- name: not a name\nSELECT 1", "is not a name"),
        ("-- name: one\n-- only a comment\n", "is empty"),
        ("SELECT 1", "before the first name"),
    ],
)
def test_broken_files_are_refused(text: str, complaint: str) -> None:
    """The message says what is wrong."""
    with pytest.raises(StatementError, match=complaint):
        parse(text)


def test_parameters_inside_quotes_and_comments_do_not_count() -> None:
    """Only what the engine would bind is a parameter, in SQL and in Cypher."""
    assert parse("-- name: a\nSELECT ':x', \":y\" -- :z\nFROM t /* :w */")["a"].params == ()
    cypher = "// name: b\n// params: n\nMATCH (e:Entity {name: $n}) RETURN '$x', `$y` // $z"
    assert parse(cypher, CYPHER)["b"].params == ("n",)


def test_a_name_taken_in_another_file_is_refused(tmp_path: Path) -> None:
    """Names are unique over all files that are read together."""
    for name in ("a.sql", "b.sql"):
        (tmp_path / name).write_text("-- name: one\nSELECT 1")
    with pytest.raises(StatementError, match="another file"):
        statements.load([tmp_path / "a.sql", tmp_path / "b.sql"])


def test_every_statement_is_documented_and_used() -> None:
    """No statement without a description, none that nothing runs."""
    code = "".join(p.read_text() for p in (PACKAGE / "sqlite").glob("*.py"))
    families = {"assertions_by_", "keys_by_", "owners_", "ids_", "clear_", "erase_", "rows_of_", "end_", "unborn_", "drop_"}
    for name, statement in named().items():
        assert statement.about, name
        assert f'"{name}"' in code or any(name.startswith(f) for f in families) or name.endswith("_spans"), name


def test_no_statement_is_written_in_code() -> None:
    """SQL lives in files; code only begins, ends and configures."""
    for path in (PACKAGE / "sqlite").glob("*.py"):
        for line in path.read_text().splitlines():
            assert not any(word in line for word in ("INSERT INTO", "UPDATE ", "DELETE FROM", " WHERE ")), f"{path.name}: {line}"


def test_a_migration_splits_into_its_statements() -> None:
    """Every piece is one whole statement."""
    for script in migrations().values():
        pieces = split(script)
        assert len(pieces) == script.count(";\n")
        assert all(p.rstrip().endswith(";") for p in pieces)
