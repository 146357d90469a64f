"""A process killed while it writes, alone or beside another one: nothing is torn, nothing acknowledged is lost."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from random import Random

import pytest
from worker import episodes, open_memory

COUNT = 40
started: list[subprocess.Popen[str]] = []
WORKER = Path(__file__).with_name("worker.py")
Fresh = Callable[[], str]
FEW = [pytest.param("sqlite", range(5), id="sqlite, 5 rounds")]
MANY = [
    pytest.param("sqlite", range(5, 205), id="sqlite, 200 rounds", marks=pytest.mark.slow),
    pytest.param("neo4j", range(5, 105), id="neo4j, 100 rounds", marks=[pytest.mark.neo4j, pytest.mark.slow]),
]


def start(where: str, prefix: str, count: int = COUNT, what: str = "episodes") -> subprocess.Popen[str]:
    """A worker process."""
    started.append(subprocess.Popen([sys.executable, str(WORKER), where, prefix, str(count), what], stdout=subprocess.PIPE, text=True))
    return started[-1]


@pytest.fixture(params=["sqlite", pytest.param("neo4j", marks=pytest.mark.neo4j)])
def fresh(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fresh:
    """Names a place for an empty memory: another file each time, or a server, which is emptied each time."""
    if request.param == "sqlite":
        numbers = count()
        return lambda: str(tmp_path / f"{next(numbers)}.db")
    place, empty = request.getfixturevalue("place"), request.getfixturevalue("empty")
    monkeypatch.setenv("GRAPHMEM_NEO4J_USER", place.auth[0])
    monkeypatch.setenv("GRAPHMEM_NEO4J_PASSWORD", place.auth[1])

    def emptied() -> str:
        empty()
        return str(place.uri)

    return emptied


@pytest.fixture(autouse=True)
def _no_worker_stays() -> Iterator[None]:
    """A test that fails leaves no process behind."""
    yield
    for process in started:
        if process.poll() is None:
            process.kill()
            process.communicate()
    started.clear()


def finish(process: subprocess.Popen[str]) -> list[str]:
    """What it printed; it must have ended well."""
    out, _ = process.communicate(timeout=600)  # forty episodes on a server of a busy machine
    assert process.returncode == 0, out
    return out.split()


def kill_after(process: subprocess.Popen[str], acknowledged: int, seconds: float) -> int:
    """Kill -9 some time after so many acknowledgements; returns how many there were in all."""
    assert process.stdout is not None
    assert process.stdout.readline() == "open\n"
    for _ in range(acknowledged):
        process.stdout.readline()
    time.sleep(seconds)
    process.kill()
    # Not `communicate`: what `readline` has read ahead would be lost to it.
    with process.stdout as out:
        rest = out.read()
    process.wait(60)
    return acknowledged + len(rest.split())


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The state hashes of runs that nothing disturbed: of one process's episodes, and of both."""
    hashes = {}
    for name, prefixes in (("A", "A"), ("AB", "AB")):
        with open_memory(str(tmp_path_factory.mktemp("clean") / "clean.db")) as memory:
            for prefix in prefixes:
                memory.add_many(episodes(prefix, COUNT))
            hashes[name] = memory.state_hash()
    return hashes


@pytest.mark.parametrize(
    ("fresh", "rounds"), [*FEW, pytest.param("neo4j", range(5), id="neo4j, 5 rounds", marks=pytest.mark.neo4j), *MANY], indirect=["fresh"]
)
def test_a_killed_ingest_loses_nothing_it_acknowledged_and_can_be_run_again(fresh: Fresh, clean: dict[str, str], rounds: range) -> None:
    """Whole episodes or none; the same ingest again ends in the state of a run that was never killed."""
    for seed in rounds:
        random, where = Random(seed), fresh()
        acknowledged = kill_after(start(where, "A"), random.randrange(COUNT - 5), random.random() * 0.02)
        with open_memory(where) as memory:
            assert memory.verify() == []
            kept = [e.episode.key for e in memory.episodes()]
            assert acknowledged <= len(kept) <= acknowledged + 1
            assert len(memory.facts(history=True)) <= memory.counts()["episodes"] * 2
        finish(start(where, "A"))
        with open_memory(where) as memory:
            assert memory.verify() == []
            assert memory.state_hash() == clean["A"]


@pytest.mark.parametrize(("fresh", "rounds"), [*FEW, *MANY], indirect=["fresh"])
def test_a_process_killed_beside_another_writer_disturbs_it_in_nothing(fresh: Fresh, clean: dict[str, str], rounds: range) -> None:
    """Both write to one group; the survivor finishes, the killed one is run again, and nothing differs."""
    for seed in rounds:
        random, where = Random(seed), fresh()
        killed, other = start(where, "A"), start(where, "B")
        acknowledged = kill_after(killed, random.randrange(COUNT - 5), random.random() * 0.02)
        assert len(finish(other)) == COUNT + 1
        with open_memory(where) as memory:
            assert memory.verify() == []
            mine = [e for e in memory.episodes() if (e.actor or "").startswith("A")]
            assert acknowledged <= len(mine) <= acknowledged + 1
        finish(start(where, "A"))
        with open_memory(where) as memory:
            assert memory.verify() == []
            assert memory.state_hash() == clean["AB"]


def test_two_processes_that_add_the_same_new_person_at_once_make_one(fresh: Fresh) -> None:
    """C36: one entity, all episodes, all facts."""
    where = fresh()
    for process in [start(where, "A", 10, "newcomer"), start(where, "B", 10, "newcomer")]:
        finish(process)
    with open_memory(where) as memory:
        assert memory.verify() == []
        assert [e.name for e in memory.entities("NelaOrr")] == ["NelaOrr"]
        assert len(memory.entity("NelaOrr").episodes()) == 20
        assert memory.counts()["episodes"] == 20


def test_a_second_process_reads_what_the_first_has_committed_while_it_writes(fresh: Fresh) -> None:
    """C39: a reader beside a writer sees whole episodes, more and more of them."""
    where = fresh()
    writer = start(where, "A", 30)
    assert writer.stdout is not None
    writer.stdout.readline()
    seen = []
    with open_memory(where) as memory:
        while writer.poll() is None:
            seen.append(memory.counts()["episodes"])
            assert memory.counts()["mentions"] >= 2 * seen[-1]
        seen.append(memory.counts()["episodes"])
        assert memory.verify() == []
    finish(writer)
    assert seen == sorted(seen)
    assert seen[-1] == 30
