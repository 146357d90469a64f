"""The log as a file: loaded elsewhere, the same beliefs, present and past."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.errors import InvalidInput, LogFileError
from graphmem.memory import Memory
from graphmem.testing import FixedClock, ScriptedModel


@pytest.fixture(params=["memory", "file"])
def other(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    where = ":memory:" if request.param == "memory" else tmp_path / "other.db"
    with graphmem.open(where, model=ScriptedModel({}), embedder=HashingEmbedder(), clock=FixedClock("2030-01-01T00:00Z")) as mem:
        yield mem


def test_a_loaded_log_gives_equal_hashes_of_present_and_history(memory: Memory, hostile: Memory, other: Memory, folder: Path) -> None:
    """Forgets, late news and hostile names included; and it goes out again byte for byte."""
    for n, mem in enumerate((memory, hostile)):
        mem.add_facts([{"source": "Ada", "relation": "knows", "target": "Bo"}], group=f"g{n}")
        mem.export(folder / f"{n}.jsonl", group=[f"g{n}"])
        done = other.load(folder / f"{n}.jsonl")
        assert done.entries == done.new > 0
        assert other.state_hash(group=f"g{n}") == mem.state_hash(group=f"g{n}")
    memory.export(folder / "main.jsonl")
    other.load(folder / "main.jsonl")
    assert (other.state_hash(), other.history_hash()) == (memory.state_hash(), memory.history_hash())
    assert other.verify() == []
    assert [h.id for h in other.search("where does Mira live?")] == [h.id for h in memory.search("where does Mira live?")]
    for day in ("2024-01-15", "2024-04-15", "2024-05-15"):
        assert list(other.as_of(system=day).facts(history=True)) == list(memory.as_of(system=day).facts(history=True))
    other.export(folder / "again.jsonl")
    assert (folder / "again.jsonl").read_bytes() == (folder / "main.jsonl").read_bytes()


def test_loading_again_changes_nothing_and_goes_on_where_it_stopped(memory: Memory, other: Memory, folder: Path) -> None:
    """A shorter log of the same memory was loaded before; of a file that was cut off nothing is recorded."""
    memory.export(folder / "before.jsonl")
    before = other.load(folder / "before.jsonl").entries
    memory.add_facts([{"source": "Ada", "relation": "knows", "target": "Bo"}])
    memory.export(folder / "whole.jsonl")
    lines = (folder / "whole.jsonl").read_text().splitlines(keepends=True)
    (folder / "cut.jsonl").write_text("".join(lines[:-1]))
    with pytest.raises(LogFileError, match=f"ends before its last line, after line {len(lines) - 1}"):
        other.load(folder / "cut.jsonl")
    assert other.stats()["log"] == before
    done = other.load(folder / "whole.jsonl")
    assert (done.entries, done.new) == (len(lines) - 2, 1) == (before + 1, 1)
    assert other.load(folder / "whole.jsonl").new == 0
    assert other.history_hash() == memory.history_hash()


@pytest.mark.parametrize("how", ["changed", "lost", "added", "swapped"])
def test_a_line_that_is_not_as_it_was_written_is_named(memory: Memory, other: Memory, folder: Path, how: str) -> None:
    """Whatever was done to line 4, it is line 4 (or the first after it) that is refused."""
    memory.export(folder / "log.jsonl")
    lines = (folder / "log.jsonl").read_text().splitlines(keepends=True)
    match how:
        case "changed":
            lines[3] = lines[3].replace("Acme", "Apex").replace("Lisbon", "Lisboa").replace("Ivo", "Iva").replace("Porto", "Faro")
        case "lost":
            del lines[3]
        case "added":
            lines.insert(3, lines[2])
        case _:
            lines[3], lines[4] = lines[4], lines[3]
    (folder / "log.jsonl").write_text("".join(lines))
    with pytest.raises(LogFileError, match="line 4 was changed, lost or added"):
        other.load(folder / "log.jsonl")


def test_what_is_no_log_or_of_another_memory_is_refused(memory: Memory, other: Memory, folder: Path) -> None:
    """By name, and nothing is written."""
    (folder / "x.jsonl").write_text('{"a": 1}\n')
    (folder / "y.jsonl").write_bytes(b"\xff\xfe")
    (folder / "z.jsonl").write_text("")
    for name in ("x", "y", "z"):
        with pytest.raises(LogFileError, match="no log of graphmem"):
            other.load(folder / f"{name}.jsonl")
    memory.export(folder / "log.jsonl")
    other.add_facts([{"source": "Someone", "relation": "knows", "target": "Else"}])
    before = other.history_hash()
    with pytest.raises(InvalidInput, match="holds something else at position"):
        other.load(folder / "log.jsonl")
    assert other.history_hash() == before


def test_episodes_of_one_key_that_say_other_things_are_of_another_memory(memory: Memory, other: Memory, folder: Path) -> None:
    """The same key at the same position does not make two logs one."""
    for mem, target in ((other, "Faro"), (empty := graphmem.open(embedder=HashingEmbedder()), "Beja")):
        mem.add_facts([{"source": "Mira", "relation": "lives_in", "target": target}], key="one")
    other.add_facts([{"source": "Mira", "relation": "knows", "target": "Ada"}], key="two")
    other.export(folder / "log.jsonl")
    before = empty.history_hash()
    with empty, pytest.raises(InvalidInput, match="holds something else at position"):
        empty.load(folder / "log.jsonl")
    with graphmem.open(embedder=HashingEmbedder()) as again:
        again.load(folder / "log.jsonl")
        assert again.load(folder / "log.jsonl").new == 0
    assert before
