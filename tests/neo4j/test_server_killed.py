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

import graphmem
from graphmem.errors import StoreFull, StoreReadOnly, StoreUnavailable
from graphmem.testing import neo4j as servers

sys.path.insert(0, str(Path(__file__).parents[1] / "system"))
from worker import episodes, open_memory

pytestmark = [pytest.mark.neo4j, pytest.mark.xdist_group("browser")]  # a long one, which is begun early
WORKER = Path(__file__).parents[1] / "system" / "worker.py"
LOGS = [
    pytest.param({}, StoreFull, id="log that grows"),
    pytest.param({"db__tx_log__preallocate": "true", "db__tx_log__rotation__size": "1m"}, StoreUnavailable, id="log made at full size"),
]


class Own:
    """A server in a folder of its own, which can be started there again and again, on one port."""

    def __init__(self, home: Path, monkeypatch: pytest.MonkeyPatch, release: str) -> None:
        self._home, self._stack, self._environment, self._release = home, ExitStack(), monkeypatch, release
        self._port: int | None = None
        self.server: servers.Server | None = None

    def start(self, **settings: str) -> str:
        """Start it, also after it was killed; its address."""
        self.stop()
        given = servers.KEEPING_PLANS | {n.replace("__", "."): v for n, v in settings.items()}
        started = servers.server(self._release, home=self._home, port=self._port, settings=given)
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
def own(home: Path, monkeypatch: pytest.MonkeyPatch, release: str | None = None) -> Iterator[Own]:
    """Such a server, not started yet, by default of the newest release; it ends with the block."""
    release = release or newest()
    if (missing := servers.lacking(release)) is not None:
        if os.environ.get("CI"):
            pytest.fail(f"not run: {missing} is missing")
        pytest.skip(f"not run: {missing} is missing")
    monkeypatch.setenv("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1")  # each life is short: what is compiled best comes too late
    server = Own(home, monkeypatch, release)
    try:
        yield server
    finally:
        server.stop()


def ingest(where: str, prefix: str, count: int) -> subprocess.Popen[str]:
    """A process that writes episodes and prints the number of each once it is committed."""
    command = [sys.executable, str(WORKER), where, prefix, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def killed_in_mid_ingest(server: Own, where: str, clean: graphmem.Memory, seed: int, count: int) -> None:
    """Kill it while a process writes to it; started again it has all that it acknowledged and at most one episode more, and the
    same ingest again ends in the state of a run that nothing disturbed.
    """
    random, prefix, before = Random(seed), f"R{seed}x", clean.counts()["episodes"]
    clean.add_many(episodes(prefix, count))
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
        assert acknowledged <= memory.counts()["episodes"] - before <= acknowledged + 1
        memory.add_many(episodes(prefix, count))
        assert memory.verify() == []
        assert memory.state_hash() == clean.state_hash()


def test_a_server_killed_while_it_is_written_to_or_that_may_only_be_read_has_whole_episodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two kills; then it may only be read: reading goes on, writing says what is the matter, and nothing is written."""
    with open_memory(":memory:") as clean, own(tmp_path / "home", monkeypatch) as server:
        where = server.start()
        for seed in range(2):
            killed_in_mid_ingest(server, where, clean, seed, count=8)
        with open_memory(server.start(server__databases__read_only="neo4j")) as memory:
            with pytest.raises(StoreReadOnly, match="may be read but not written"):
                memory.add_many(episodes("A", 4))
            assert (memory.state_hash(), memory.counts()) == (clean.state_hash(), clean.counts())


@pytest.mark.slow
def test_a_server_killed_thirty_times_has_whole_episodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each time, with what it has from the times before."""
    with open_memory(":memory:") as clean, own(tmp_path / "home", monkeypatch) as server:
        where = server.start()
        for seed in range(2, 32):
            killed_in_mid_ingest(server, where, clean, seed, count=20)


@pytest.mark.slow
@pytest.mark.parametrize("release", servers.RELEASES)
@pytest.mark.parametrize(("log", "named"), LOGS)
def test_a_full_disc_is_named_and_leaves_whole_episodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, release: str, log: dict[str, str], named: type[StoreUnavailable]
) -> None:
    """Its server killed, with room again and started anew, has all that it acknowledged and at most one more; the rest goes in."""
    home = tmp_path / "home"
    home.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512m", "tmpfs", str(home)], capture_output=True, check=False).returncode:
        pytest.skip("not run: this machine lets nobody mount a small disc")
    rows = [{"text": f"{n} lorem ipsum dolor. " * 1500, "key": str(n), "reference_time": "2025-02-01"} for n in range(60)]
    acknowledged: list[int] = []
    try:
        with own(home, monkeypatch, release) as server, open_memory(":memory:") as clean, open_memory(server.start(**log)) as memory:
            memory.add_many(episodes("A", 3))
            ballast = fill(home, spare=512 << 10)
            with pytest.raises(named):
                memory.add_many(rows, progress=lambda done, _: acknowledged.append(done))
            assert acknowledged
            with pytest.raises(StoreUnavailable):
                memory.add_many(rows[-1:])
            server.kill()  # it does not end by itself while it cannot write; with room it would spoil its log first
            for file in ballast:
                file.unlink()
            server.start(**log)
            assert memory.verify() == []
            assert 3 + len(acknowledged) <= memory.counts()["episodes"] <= 3 + len(acknowledged) + 1
            memory.add_many(rows)
            assert memory.verify() == []
            for batch in (episodes("A", 3), rows):
                clean.add_many(batch)
            assert memory.state_hash() == clean.state_hash()
    finally:
        subprocess.run(["umount", "-l", str(home)], capture_output=True, check=False)


def fill(folder: Path, spare: int) -> list[Path]:
    """Take the space that is left but so many bytes."""
    made = []
    for n, size in enumerate((1 << 20, 1 << 12)):
        made.append(folder / f"ballast{n}")
        with made[-1].open("wb", buffering=0) as out, contextlib.suppress(OSError):
            while True:
                out.write(b"\0" * size)
    os.truncate(made[0], made[0].stat().st_size - spare)
    return made
