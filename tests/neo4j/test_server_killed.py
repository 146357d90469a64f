"""A server of our own that is killed, may only read, or has no space left: nothing is torn, nothing acknowledged is lost."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random

import pytest
from neo4j_servers import newest

from graphmem.errors import StoreError, StoreFull, StoreReadOnly, StoreUnavailable
from graphmem.testing import neo4j as servers

sys.path.insert(0, str(Path(__file__).parents[1] / "system"))
from worker import episodes, open_memory

pytestmark = [pytest.mark.neo4j, pytest.mark.xdist_group("neo4j-own")]
WORKER = Path(__file__).parents[1] / "system" / "worker.py"
ROUNDS = [
    pytest.param(range(2), 8, marks=pytest.mark.slow, id="2 kills"),
    pytest.param(range(2, 32), 20, marks=pytest.mark.slow, id="30 kills"),
]


class Own:
    """A server in a folder of its own, which can be started there again and again, on one port."""

    def __init__(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._home, self._stack, self._environment = home, ExitStack(), monkeypatch
        self._port: int | None = None
        self.server: servers.Server | None = None

    def start(self, **settings: str) -> str:
        """Start it, also after it was killed; its address."""
        self.stop()
        given = servers.KEEPING_PLANS | {n.replace("__", "."): v for n, v in settings.items()}
        started = servers.server(newest(), home=self._home, port=self._port, settings=given)
        self.server = self._stack.enter_context(started)
        self._port = int(self.server.uri.rpartition(":")[2])
        self._environment.setenv("GRAPHMEM_NEO4J_USER", self.server.auth[0])
        self._environment.setenv("GRAPHMEM_NEO4J_PASSWORD", self.server.auth[1])
        return self.server.uri

    def kill(self) -> None:
        """Kill -9."""
        assert self.server is not None
        self.server.process.kill()
        self.server.process.wait(60)

    def stop(self) -> None:
        """End it, if it runs."""
        self._stack.close()


@contextmanager
def own(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Own]:
    """Such a server, not started yet; it ends with the block."""
    if (missing := servers.lacking(newest())) is not None:
        if os.environ.get("CI"):
            pytest.fail(f"not run: {missing} is missing")
        pytest.skip(f"not run: {missing} is missing")
    server = Own(home, monkeypatch)
    try:
        yield server
    finally:
        server.stop()


def ingest(where: str, prefix: str, count: int) -> subprocess.Popen[str]:
    """A process that writes episodes and prints the number of each once it is committed."""
    command = [sys.executable, str(WORKER), where, prefix, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


@pytest.mark.parametrize(("rounds", "count"), ROUNDS)
def test_a_server_killed_while_it_is_written_to_has_whole_episodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rounds: range, count: int
) -> None:
    """All that it acknowledged and at most one more; the same ingest again ends in the state of a run that nothing disturbed."""
    with open_memory(":memory:") as clean, own(tmp_path / "home", monkeypatch) as server:
        where = server.start()
        for seed in rounds:
            random, prefix = Random(seed), f"R{seed}x"
            clean.add_many(episodes(prefix, count))
            before = seed - rounds[0]
            with ingest(where, prefix, count) as process:
                assert process.stdout is not None
                assert process.stdout.readline() == "open\n"
                acknowledged = random.randrange(1, count - 5)
                for _ in range(acknowledged):
                    process.stdout.readline()
                time.sleep(random.random() * 0.05)
                server.kill()
                acknowledged += len(process.stdout.read().split())
                assert process.wait(120) != 0, "the worker did not notice"
            assert server.start() == where
            with open_memory(where) as memory:
                assert memory.verify() == []
                assert acknowledged <= memory.counts()["episodes"] - before * count <= acknowledged + 1
                memory.add_many(episodes(prefix, count))
                assert memory.verify() == []
                assert memory.state_hash() == clean.state_hash()


def test_a_database_that_may_only_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading goes on, writing says what is the matter, and nothing is written."""
    with own(tmp_path / "home", monkeypatch) as server:
        with open_memory(server.start()) as memory:
            memory.add_many(episodes("A", 3))
            before = memory.history_hash()
        with open_memory(server.start(server__databases__read_only="neo4j")) as memory:
            assert len(memory.search("Who works at AFirm0?"))
            with pytest.raises(StoreReadOnly, match="may be read but not written"):
                memory.add_many(episodes("A", 4))
            assert memory.history_hash() == before
            assert memory.verify() == []


@pytest.mark.slow
def test_a_full_disc_is_named_and_leaves_whole_episodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What fits is there, what does not is not; with room again the rest goes in."""
    home = tmp_path / "home"
    home.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512m", "tmpfs", str(home)], capture_output=True, check=False).returncode:
        pytest.skip("not run: this machine lets nobody mount a small disc")
    try:
        with own(home, monkeypatch) as server, open_memory(server.start()) as memory:
            memory.add_many(episodes("A", 3))
            ballast = fill(home)
            with pytest.raises(StoreError) as failed:
                memory.add_many([{"text": "x" * 400_000, "key": f"big {n}", "reference_time": "2025-02-01"} for n in range(40)])
            assert isinstance(failed.value, (StoreFull, StoreUnavailable, StoreReadOnly)), failed.value
            for file in ballast:
                file.unlink()
            with open_memory(server.start()) as again:
                assert again.verify() == []
                assert again.counts()["episodes"] >= 3
                again.add_many(episodes("A", 6))
                assert {f"A{n}" for n in range(6)} <= {e.episode.key for e in again.episodes()}
                assert again.verify() == []
    finally:
        subprocess.run(["umount", "-l", str(home)], capture_output=True, check=False)


def fill(folder: Path) -> list[Path]:
    """Take the space that is left, down to the last kilobytes."""
    made = []
    for n, size in enumerate((1 << 20, 1 << 14, 1 << 10)):
        made.append(folder / f"ballast{n}")
        with made[-1].open("wb", buffering=0) as out, contextlib.suppress(OSError):
            while True:
                out.write(b"\0" * size)
    return made
