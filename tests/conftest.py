"""What the tests share: a clock that stands still, memories that are proved sound after each test, and the data folder."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.opening import LOCAL_LINE, LOCAL_MODULES
from graphmem.testing import FixedClock, ScriptedModel

pytest_plugins = ["neo4j_servers"]
os.environ.setdefault("GRAPHMEM_NEO4J_WRITE_TIMEOUT", "300")  # a server that has just begun plans for long on a busy machine
NOW = "2026-01-15T12:00:00Z"
DATA = Path(__file__).parents[2] / "shared" / "data"
OpenMemory = Callable[..., graphmem.Memory]


def pytest_runtest_setup(item: pytest.Item) -> None:
    """What needs the packages of graphmem[local] is skipped where they are missing; a CI machine must have them."""
    if item.get_closest_marker("local"):
        missing = [name for names in LOCAL_MODULES.values() for name in names if find_spec(name) is None]
        if missing and os.environ.get("CI"):
            pytest.fail(f"this machine lacks {', '.join(missing)}")
        if missing:
            pytest.skip(f"needs {', '.join(missing)}: {LOCAL_LINE}")


@pytest.fixture
def clock() -> FixedClock:
    """A clock that stands at noon of 15 January 2026."""
    return FixedClock(NOW)


@pytest.fixture
def model() -> ScriptedModel:
    """A model that foresees no question: whatever is asked of it fails the test."""
    return ScriptedModel({})


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest) -> str:
    """The kind of store a test runs on; tests that ask for it run on each. `tests/cases` adds "neo4j"."""
    return str(request.param)


@pytest.fixture
def here(request: pytest.FixtureRequest, store: str, tmp_path: Path) -> dict[str, Any]:
    """What `graphmem.open` takes to open one empty memory in this kind of store, and to open it again."""
    if store == "neo4j":
        place = request.getfixturevalue("emptied")
        return {"where": place.uri, "auth": place.auth}
    return {"where": ":memory:" if store == "memory" else tmp_path / "0.db"}


@pytest.fixture
def open_memory(store: str, here: dict[str, Any], clock: FixedClock, model: ScriptedModel, tmp_path: Path) -> Iterator[OpenMemory]:
    """Opens memories on each kind of store; every one that is open at the end must be sound.

    A server holds one memory: on it is the first, and those that a test opens beside it are in dictionaries.
    """
    opened: list[graphmem.Memory] = []

    def open_memory(name: str | None = None, **options: object) -> graphmem.Memory:
        beside = tmp_path / (name or f"{len(opened)}.db") if store == "sqlite" else ":memory:"
        place = here if not opened and name is None else {"where": beside}
        opened.append(graphmem.open(**place, **{"model": model, "embedder": HashingEmbedder(64), "clock": clock, **options}))
        return opened[-1]

    yield open_memory
    for memory in opened:
        assert memory.verify() == []
        memory.close()


@pytest.fixture
def los_angeles(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The process lives in Los Angeles: a date that leaks from its zone is eight hours off."""
    if not hasattr(time, "tzset"):
        pytest.skip("this system cannot change the zone of a process")
    monkeypatch.setenv("TZ", "America/Los_Angeles")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of public data sets: what GRAPHMEM_DATA names, else `shared/data` beside the checkout."""
    folder = Path(os.environ.get("GRAPHMEM_DATA") or DATA)
    if not folder.is_dir():
        pytest.skip(f"no data folder at {folder}: set GRAPHMEM_DATA to run what reads public data sets")
    return folder
