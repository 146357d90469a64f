"""The Cypher script as a file: what may be asked of it, and values that cannot leave their literals."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.errors import InvalidInput
from graphmem.memory import Memory
from graphmem.stores.codec import safe_text
from graphmem.stores.neo4j.literals import literal

_STRING = re.compile(r"'((?:\\.|[^'\\])*)'")
_ESCAPES = {"\\": "\\", "'": "'", "n": "\n", "r": "\r", "t": "\t"}


def read(written: str) -> str:
    """The text of a literal, as the language defines it."""
    found = _STRING.fullmatch(written)
    assert found, written

    def one(match: re.Match[str]) -> str:
        return chr(int(match[1], 16)) if match[1] else _ESCAPES[match[2]]

    units = re.sub(r"\\u([0-9a-f]{4})|\\(.)", one, found[1])
    return units.encode("utf-16", "surrogatepass").decode("utf-16")


@given(st.text(st.characters()))
def test_a_text_is_one_literal_on_one_line_and_reads_as_itself(text: str) -> None:
    """Whatever it holds; nothing in it is invisible."""
    written = literal(safe_text(text))
    assert written.isprintable()
    assert read(written) == safe_text(text)


def test_values_of_every_kind_have_literals() -> None:
    """Numbers, instants in UTC, lists and maps, which leave nulls out; nothing else, and no key that is more than a word."""
    at = datetime(2024, 5, 1, 9, 0, 0, 1, tzinfo=UTC)
    assert literal([True, -(2**62), "x", None]) == "[true, -4611686018427387904, 'x', null]"
    assert literal({"at": at, "gone": None, "of": {"n": []}}) == "{at: datetime('2024-05-01T09:00:00.000001+00:00'), of: {n: []}}"
    with pytest.raises(TypeError, match="no value of a property"):
        literal({"x": object()})
    for key in ("a b", "a}", "", "é", 1):
        with pytest.raises(TypeError, match="no key of a property"):
            literal({key: 1})


@pytest.mark.parametrize("format", ["cypher", "log"])
def test_what_holds_whole_groups_is_not_narrowed(memory: Memory, folder: Path, format: str) -> None:
    """Neither by a selection nor by a point in time: the error names what to leave out, and what to write instead."""
    with pytest.raises(InvalidInput, match="leave out entity=, hops=, or write a part in another format, such as graphml"):
        memory.export(folder / "x", format=format, entity="Mira", hops=2)
    with pytest.raises(InvalidInput, match=r"leave out as_of\(\)"):
        memory.as_of(system="2024-03-01").export(folder / "x", format=format)
    assert not list(folder.iterdir())


def test_a_script_is_the_same_for_the_same_memory_and_counts_what_is_in_it(memory: Memory, folder: Path) -> None:
    """Entries of the log, entities, versions of facts; no line but the last of a statement ends with a semicolon."""
    done = memory.export(folder / "one.cypher")
    memory.export(folder / "two", format="cypher")
    script = (folder / "one.cypher").read_text()
    assert script == (folder / "two").read_text()
    versions = memory.to_networkx(include="versions").number_of_edges()
    assert done.counts == {"entries": 8, "entities": 6, "facts": versions}
    for statement in script.split(";\n")[:-1]:
        assert re.match(r"(?://.*\n)*(?:CREATE|MATCH|MERGE|OPTIONAL MATCH) ", statement), statement
        assert _STRING.sub("", statement).count("'") == 0


def test_a_script_runs_wherever_cypher_does(memory: Memory, folder: Path) -> None:
    """Nothing in it ends a transaction, which Browser and a driver's managed transactions refuse."""
    memory.export(folder / "graph.cypher")
    assert "IN TRANSACTIONS" not in (folder / "graph.cypher").read_text("utf-8")


def test_a_script_holds_hostile_names_inside_their_literals(hostile: Memory, folder: Path) -> None:
    """Outside of literals there is nothing but what the statements say themselves."""
    hostile.export(folder / "g.cypher")
    outside = _STRING.sub("''", (folder / "g.cypher").read_text(encoding="utf-8"))
    assert outside.isascii()
    assert not [word for word in ("DROP", "DELETE", "HYPERLINK", "passwd", "script>") if word in outside]
