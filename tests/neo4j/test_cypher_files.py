"""The Cypher files: documented, used, loadable from a wheel, and never put together from anybody's text."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import zipfile
from importlib.resources import files
from pathlib import Path

import pytest

from graphmem.stores.neo4j.connect import migrations
from graphmem.stores.neo4j.session import folder, named
from graphmem.stores.neo4j.tokens import index_key, query, token

PACKAGE = Path(str(files("graphmem.stores"))) / "neo4j"
ROOT = Path(__file__).parents[2]
FAMILIES = ("script_", "assertions_by_", "text_", "scan_", "near_", "fetched_", "vectors_", "words_", "clear_")

_ONLY_WHERE_MISSING = r" IS NULL\n(SET|CALL \(n\) \{ SET) |^WHERE always = \(n\.gm_from IS NULL\)\nCALL \(n\) \{\n  SET "


def test_every_statement_is_documented_and_used() -> None:
    """No statement without a description, none that nothing runs."""
    code = "".join(p.read_text() for p in PACKAGE.glob("*.py"))
    for name, statement in named().items():
        assert statement.about, name
        assert f'"{name}"' in code or name.startswith(FAMILIES), name


def test_every_step_of_the_schema_can_be_done_again() -> None:
    """Constraints, indexes and properties are made only where they are missing, or not what they should be; no two steps share a number."""
    assert len(migrations()) == max(migrations()) == len(list((ROOT / "cypher" / "schema").glob("[0-9]*.cypher")))
    for step in migrations().values():
        for name, statement in step.items():
            assert "IF NOT EXISTS" in statement.text or re.search(_ONLY_WHERE_MISSING, statement.text, re.MULTILINE), name
            assert statement.about, name


def test_no_statement_is_made_in_code() -> None:
    """Cypher lives in files: code runs the text of a named statement, with parameters."""
    for path in PACKAGE.glob("*.py"):
        source = path.read_text()
        assert not any(word in source for word in ("MATCH (", "MERGE (", "UNWIND ", "CREATE (", "DETACH DELETE")), path.name
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "run":
                assert not isinstance(node.args[0], (ast.JoinedStr, ast.BinOp)), f"{path.name}:{node.lineno}"


@pytest.mark.parametrize(
    "word", ['"', "\\", 'a" OR gm_scope:"x', "+", "AND", "foo~2", "*", "(", "\x00", "\ud800", "x" * 5000, "c++", "北京"]
)
def test_any_word_is_only_a_word_in_a_query(word: str) -> None:
    """What a word holds cannot leave its quotes."""
    inside = query([word]).removeprefix("+gm_words:(").removesuffix(")")
    assert inside[0] == inside[-1] == '"'
    unescaped = inside[1:-1].replace("\\\\", "").replace('\\"', "")
    assert '"' not in unescaped
    assert "\\" not in unescaped
    assert len(token(word)) <= 200
    inside.encode()


def test_index_keys_are_short_and_tell_texts_apart() -> None:
    """Short texts are themselves."""
    assert index_key("Mira") == "Mira"
    assert index_key("x" * 9999) != index_key("x" * 9998)
    assert len(index_key("x" * 9999)) < 700


def test_a_checkout_has_the_statements_beside_the_package() -> None:
    """The folder that is shipped is the folder that is read."""
    assert Path(str(folder())) == ROOT / "cypher"


@pytest.mark.slow
def test_a_wheel_brings_the_statements(tmp_path: Path) -> None:
    """Unpacked somewhere else, the package finds all of them."""
    subprocess.run([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(tmp_path), str(ROOT)], check=True, timeout=600)
    (wheel,) = tmp_path.glob("graphmem-*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path / "site")
    script = (
        "import sys\nfrom graphmem.stores.neo4j.session import named, folder\n"
        "from graphmem.stores.neo4j.connect import migrations\n"
        "assert sys.argv[1] in str(folder()), folder()\nprint(len(named()), len(migrations()[1]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)],
        check=True,
        timeout=60,
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path / "site"), "PATH": ""},
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == [str(len(named())), str(len(migrations()[1]))]
