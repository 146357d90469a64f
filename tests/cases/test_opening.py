"""Cases C37 and C39: what opening accepts and refuses, embedders that go wrong, and how a handle lives and ends."""

from __future__ import annotations

import asyncio
import gc
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from wire import Unrelated, says

import graphmem
from graphmem import Memory, opening
from graphmem.embed.base import Vectors
from graphmem.embed.hashing import HashingEmbedder
from graphmem.errors import EmbedderError, EmbedderMismatch, InvalidInput, MissingExtra, SchemaTooNew, StoreCorrupt
from graphmem.testing import FixedClock, ScriptedModel

Open = Callable[..., Memory]
ROW = {"source": "Mira", "relation": "WORKS_AT", "target": "Acme", "valid_at": "2022"}
ROOT = Path(graphmem.__file__).parents[1]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A memory file with one fact, written with the embedder "m1" of 8 dimensions."""
    with graphmem.open(tmp_path / "one.db", model=ScriptedModel(), embedder=Unrelated(8, "m1")) as memory:
        memory.add_facts([ROW])
    return tmp_path / "one.db"


@pytest.mark.parametrize(("dimension", "name"), [(12, "m2"), (12, "m1"), (8, "m2")])
def test_c37_another_embedder_is_refused_by_name_when_opening(file: Path, dimension: int, name: str) -> None:
    """The error names both; vectors of two embedders are never compared, also of equal length."""
    with pytest.raises(EmbedderMismatch) as caught:
        graphmem.open(file, model=ScriptedModel(), embedder=Unrelated(dimension, name))
    for part in ("'m1'", "dimension 8", repr(name), f"dimension {dimension}"):
        assert part in str(caught.value)
    with graphmem.open(file, model=ScriptedModel(), embedder=Unrelated(8, "m1")) as memory:
        assert len(memory.facts("Mira")) == 1


class Wrong(Unrelated):
    """An embedder that gives something else than it promises from some call on."""

    def __init__(self, give: Callable[[int], Vectors]) -> None:
        super().__init__(8, "wrong")
        self.give: Callable[[int], Vectors] | None = None
        self.later = give

    def embed(self, texts: Sequence[str]) -> Vectors:
        return self.give(len(texts)) if self.give is not None else super().embed(texts)


@pytest.mark.parametrize(
    "give",
    [
        lambda n: np.ones((n, 5), np.float32),
        lambda n: np.ones((n + 1, 8), np.float32),
        lambda n: np.ones((max(0, n - 1), 8), np.float32),
        lambda n: np.full((n, 8), np.nan, np.float32),
        lambda n: np.full((n, 8), np.inf, np.float32),
        lambda n: np.zeros((n, 8), np.float32),
        lambda n: np.ones(8, np.float32),
    ],
    ids=["too short", "one too many", "one too few", "nan", "infinite", "zeros", "one row"],
)
def test_c37_vectors_that_are_not_what_was_promised_store_nothing(open_memory: Open, give: Callable[[int], Vectors]) -> None:
    """One typed error; the memory is as before, and works once the embedder does."""
    embedder = Wrong(give)
    memory = open_memory(embedder=embedder)
    memory.add_facts([ROW])
    before = memory.state_hash()
    embedder.give = give
    with pytest.raises(EmbedderError, match="wrong"):
        memory.add_facts([{**ROW, "target": "Globex"}, {**ROW, "source": "Ivo"}])
    assert memory.state_hash() == before
    embedder.give = None
    assert memory.add_facts([{**ROW, "target": "Globex"}]).created


def test_c39_a_handle_works_inside_a_running_loop_and_in_two_loops(open_memory: Open) -> None:
    """As in a notebook cell, where a loop is always running."""
    memory = open_memory()

    async def cell(n: int) -> int:
        memory.add_facts([{**ROW, "source": f"Person {n}"}])
        return len(memory.search("Acme"))

    assert asyncio.run(cell(1)) > 0
    assert asyncio.run(cell(2)) > 0


def test_c39_a_handle_given_everything_needs_no_extra_and_asks_for_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the local packages gone and an empty environment, a model and an embedder given are enough."""
    monkeypatch.setattr(opening, "find_spec", lambda name: None)
    for name in list(os.environ):
        if "KEY" in name or name.startswith("GRAPHMEM"):
            monkeypatch.delenv(name)
    with graphmem.open(model=ScriptedModel(), embedder=HashingEmbedder(64)) as memory:
        memory.add_facts([ROW])
    for given in ({}, {"model": ScriptedModel()}, {"embedder": HashingEmbedder(64)}):
        with pytest.raises(MissingExtra, match=r"pip install 'graphmem\[local\]'"):
            graphmem.open(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("where", "ftp://localhost"),
        ("where", "https://x"),
        ("timezone", "Mars/Olympus"),
        ("timezone", ""),
        ("model", "gpt"),
        ("embedder", "bert"),
    ],
)
def test_c39_an_argument_that_cannot_be_used_is_named_with_its_value(argument: str, value: str) -> None:
    """Nothing falls back to something else."""
    given: dict[str, object] = {"model": ScriptedModel(), "embedder": HashingEmbedder(64), argument: value}
    with pytest.raises(InvalidInput, match=argument) as caught:
        graphmem.open(**given)  # type: ignore[arg-type]
    assert repr(value) in str(caught.value)


def test_c39_a_key_in_the_environment_alone_sends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a model that is named is used: with a key lying about, opening still wants the offline model."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-lying-about")
    monkeypatch.setattr(opening, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="offline"):
        graphmem.open(embedder=HashingEmbedder(64))


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="this system does not list open files")
@pytest.mark.parametrize("handles", [30, pytest.param(200, marks=pytest.mark.slow)])
def test_c39_many_handles_leave_no_file_and_no_thread(tmp_path: Path, handles: int) -> None:
    """Opened, written, searched, closed; a second close does nothing."""

    def cycle(n: int) -> None:
        with graphmem.open(
            tmp_path / f"{n % 3}.db", model=ScriptedModel(), embedder=HashingEmbedder(64), clock=FixedClock("2026-01-15T12:00Z")
        ) as memory:
            memory.add_facts([{**ROW, "source": f"Person {n}"}])
            memory.search("Acme")
        memory.close()

    for n in range(3):
        cycle(n)
    gc.collect()
    files, threads = len(list(Path("/proc/self/fd").iterdir())), threading.active_count()
    for n in range(handles):
        cycle(n)
    gc.collect()
    assert len(list(Path("/proc/self/fd").iterdir())) <= files
    assert threading.active_count() <= threads


def test_c39_a_file_of_a_newer_version_is_refused_by_name_and_left_alone(file: Path) -> None:
    """The message names the file; not a byte of it changes."""
    with sqlite3.connect(file) as raw:
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        raw.execute("PRAGMA user_version = 999")
    raw.close()
    before = file.read_bytes()
    with pytest.raises(SchemaTooNew, match=file.name):
        graphmem.open(file, model=ScriptedModel(), embedder=Unrelated(8, "m1"))
    assert file.read_bytes() == before


@pytest.mark.parametrize("content", [b"not a database at all" * 100, b"SQLite format 3\x00" + b"\xff" * 4000, b"\x00" * 8192])
def test_c39_a_file_that_is_no_memory_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    """One error that names the file."""
    path = tmp_path / "photo.jpg"
    path.write_bytes(content)
    with pytest.raises(StoreCorrupt, match=r"photo\.jpg"):
        graphmem.open(path, model=ScriptedModel(), embedder=HashingEmbedder(64))
    assert path.read_bytes() == content


def test_c39_a_database_of_another_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    """Its tables stay as they are, and no table of ours joins them."""
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as raw:
        raw.execute("CREATE TABLE recipes (name TEXT)")
    raw.close()
    with pytest.raises(StoreCorrupt, match=r"other\.db"):
        graphmem.open(path, model=ScriptedModel(), embedder=HashingEmbedder(64))
    with sqlite3.connect(path) as raw:
        assert [r[0] for r in raw.execute("SELECT name FROM sqlite_master")] == ["recipes"]
    raw.close()


PROGRAM = """
import sys, graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.testing import ScriptedModel
with graphmem.open(sys.argv[1], model=ScriptedModel(), embedder=HashingEmbedder(64)) as memory:
    row = {"source": "Zo\\u00eb \\U0001f6a2", "relation": "LIVES_IN", "target": "\\u4eac\\u90fd"}
    memory.add_facts([{**row, "text": "\\u0627\\u0644\\u0639\\u0631\\u0628\\u064a\\u0629"}])
    [fact] = memory.facts("Zo\\u00eb \\U0001f6a2")
    assert fact.target == "\\u4eac\\u90fd" and fact.text == "\\u0627\\u0644\\u0639\\u0631\\u0628\\u064a\\u0629"
    assert memory.search("\\u4eac\\u90fd")
    assert memory.verify() == []
"""


def test_c39_a_process_in_the_c_locale_loses_no_character(tmp_path: Path) -> None:
    """Without UTF-8 mode and with an ASCII locale, in a folder whose name has accents."""
    folder = tmp_path / "cartões"
    folder.mkdir()
    environment = {**os.environ, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C", "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(folder / "m.db")], env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode(errors="replace")


def test_c35_the_same_episode_again_changes_nothing_and_asks_nothing(open_memory: Open) -> None:
    """By key or by content; a key counts once a group, whatever comes with it."""
    model = ScriptedModel({"extract": [says(("Mira", "LIVES_IN", "Porto"))] * 2})
    memory = open_memory(model=model)
    first = memory.add_message("Mira", "I live in Porto.", reference_time="2025-01-01", key="m1")
    again = memory.add_message("Mira", "I live in Porto.", reference_time="2025-01-01", key="m1")
    other = memory.add_message("Mira", "Something else.", reference_time="2025-01-02", key="m1")
    assert (first.created, again.created, other.created) == (True, False, False)
    assert first.ids == again.ids == other.ids
    assert again.counts() == {"unchanged": 1}
    assert again.usage.calls == 0
    assert len(model.asks) == 1
    plain = memory.add_message("Mira", "I live in Porto.", reference_time="2025-01-01")
    assert memory.add_message("Mira", "I live in Porto.", reference_time="2025-01-01").ids == plain.ids != first.ids
    assert len(memory.episodes()) == 2
