"""What happens to an episode when its connection, its transaction or its answer is lost: it is there whole, and once."""

from __future__ import annotations

import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from wire_between import wire

import graphmem
from graphmem.belief.audit import history_hash
from graphmem.embed.hashing import HashingEmbedder
from graphmem.entries import created_at
from graphmem.errors import StoreUnavailable
from graphmem.results import WriteResult
from graphmem.testing import FixedClock, ScriptedModel

pytestmark = [pytest.mark.neo4j, pytest.mark.xdist_group("neo4j")]
NOON = "2026-01-15T12:00:00Z"
TOLD = (("Mira", "works_at", "Acme", "2022"), ("Mira", "works_at", "Globex", "2024"), ("Bob", "knows", "Mira", "2020"))


def opened(where: str, auth: tuple[str, str] | None = None, group: str = "main", now: str = NOON) -> graphmem.Memory:
    """A memory whose clock stands still."""
    return graphmem.open(where, auth=auth, group=group, model=ScriptedModel({}), embedder=HashingEmbedder(16), clock=FixedClock(now))


def tell(memory: graphmem.Memory, n: int) -> WriteResult:
    """The nth row."""
    source, relation, target, valid_at = TOLD[n]
    row = {"source": source, "relation": relation, "target": target, "valid_at": valid_at}
    return memory.add_facts([row], reference_time=f"2026-01-{n + 1:02}")


def clean() -> str:
    """The history hash of a run in which nothing is lost."""
    with opened(":memory:") as memory:
        for n in range(len(TOLD)):
            tell(memory, n)
        with memory._scope.store.read() as reader:
            return history_hash(reader, "main")


def broken(memory: graphmem.Memory, calls: int, error: Exception) -> list[str]:
    """The transaction's `calls`th call to the server from now fails with this error, once; what was called."""
    store: Any = memory._scope.store
    connection = store._connection
    session, called = connection.session, list[str]()

    class Tx:
        def __init__(self, tx: Any) -> None:
            self._tx = tx

        def _call(self, name: str, *args: Any) -> Any:
            called.append(name)
            if len(called) == calls:
                self._tx.close()
                raise error
            return getattr(self._tx, name)(*args)

        def run(self, *args: Any) -> Any:
            return self._call("run", *args)

        def commit(self) -> Any:
            return self._call("commit")

    class Session:
        def __init__(self, **given: Any) -> None:
            self._session = session(**given)

        def begin_transaction(self, **given: Any) -> Tx:
            return Tx(self._session.begin_transaction(**given))

        def __getattr__(self, name: str) -> Any:
            return getattr(self._session, name)

    connection.session = Session
    return called


@pytest.mark.parametrize("call", [1, 2, 3, 4])
def test_a_transient_error_anywhere_is_gone_through_again(emptied: Any, call: int) -> None:
    """At the lock, at a read, at the write, at the commit: the transaction is made again from its beginning."""
    from neo4j.exceptions import TransientError

    with opened(emptied.uri, emptied.auth) as memory:
        tell(memory, 0)
        called = broken(memory, call, TransientError("a deadlock"))
        tell(memory, 1)
        assert len(called) > call
        tell(memory, 2)
        with memory._scope.store.read() as reader:
            assert history_hash(reader, "main") == clean()
            assert reader.verify() == []


@pytest.mark.parametrize("heard", [False, True])
@pytest.mark.parametrize("trip", [1, 2, 3, 4, 5, 6])
def test_a_lost_connection_anywhere_leaves_the_episode_whole_and_once(emptied: Any, trip: int, heard: bool) -> None:
    """Before the server hears of a request, or before its answer comes back; also that of the commit."""
    with wire(emptied.uri) as (between, near), opened(near, emptied.auth) as memory:
        tell(memory, 0)
        between.lose(trip, heard=heard)
        added = tell(memory, 1)
        assert between.lost == 1
        assert tell(memory, 1).ids == added.ids
        tell(memory, 2)
        with memory._scope.store.read() as reader:
            assert [e.seq for e in reader.log("main")] == [1, 2, 3, 4]
            assert history_hash(reader, "main") == clean()
            assert reader.verify() == []


def test_a_server_that_stays_away_is_named_and_nothing_is_kept(emptied: Any) -> None:
    """Where the wire stays cut, the error says so; told again later, the episode is there once."""
    with wire(emptied.uri) as (between, near), opened(near, emptied.auth) as memory:
        tell(memory, 0)
        between.lose(3)
        between.close()
        with pytest.raises(StoreUnavailable, match="cannot be reached"):
            tell(memory, 1)
    with opened(emptied.uri, emptied.auth) as memory:
        assert len(memory.episodes()) == 1
        tell(memory, 1)
        tell(memory, 2)
        with memory._scope.store.read() as reader:
            assert history_hash(reader, "main") == clean()


def test_an_episode_that_another_writer_overtook_is_decided_anew(emptied: Any) -> None:
    """Its transaction is lost and somebody else writes before it comes back: it sees what they wrote, and both are kept."""
    from neo4j.exceptions import ServiceUnavailable

    with opened(emptied.uri, emptied.auth) as memory, opened(emptied.uri, emptied.auth) as other:
        tell(memory, 0)
        store: Any = memory._scope.store
        seen: list[str] = []

        def note(statement: Any) -> None:
            if statement.name == "commit" and not seen:
                seen.append(statement.name)
                store._connection.traces.clear()
                broken(memory, 1, ServiceUnavailable("lost"))
                end_all(other)
                tell(other, 2)

        store._connection.traces.append(note)
        tell(memory, 1)
        assert seen
        assert {(f.source, f.target) for f in memory.facts()} == {("Mira", "Globex"), ("Bob", "Mira")}
        with store.read() as reader:
            assert [e.seq for e in reader.log("main")] == [1, 2, 3, 4]
            assert reader.verify() == []


def end_all(memory: graphmem.Memory) -> None:
    """The server gives up every transaction that holds a lock."""
    store: Any = memory._scope.store
    with store._connection.session() as session:
        held = [row["id"] for row in session.run("SHOW TRANSACTIONS YIELD transactionId AS id, activeLockCount AS n WHERE n > 0 RETURN id")]
        session.run("TERMINATE TRANSACTIONS $ids", {"ids": held}).consume()


def test_two_processes_and_twenty_tasks_make_one_entity_of_a_new_name(emptied: Any) -> None:
    """Everybody tells of the same new person at once; the log has every episode, in one order, at instants that increase."""
    opened(emptied.uri, emptied.auth).close()
    script = (
        "import sys, asyncio, graphmem\n"
        "from graphmem.embed.hashing import HashingEmbedder\n"
        "from graphmem.testing import ScriptedModel\n"
        "async def main():\n"
        "    async with graphmem.AsyncMemory.open(sys.argv[1], auth=(sys.argv[2], sys.argv[3]), model=ScriptedModel({}),\n"
        "                                         embedder=HashingEmbedder(16)) as memory:\n"
        "        async def add(n):\n"
        "            row = {'source': 'Zoe Quell', 'relation': 'knows', 'target': f'Friend {sys.argv[4]} {n}'}\n"
        "            await memory.add_facts([row], reference_time='2026-01-02')\n"
        "        await asyncio.gather(*map(add, range(10)))\n"
        "asyncio.run(main())\n"
    )
    command = [sys.executable, "-c", script, emptied.uri, *emptied.auth]
    processes = [subprocess.Popen([*command, str(n)], cwd=Path(__file__).parents[2]) for n in range(2)]
    assert [p.wait(300) for p in processes] == [0, 0]
    with opened(emptied.uri, emptied.auth) as memory:
        assert [e.name for e in memory.entities() if "Zoe" in e.name] == ["Zoe Quell"]
        assert len(memory.facts("Zoe Quell")) == 20
        with memory._scope.store.read() as reader:
            entries = list(reader.log("main"))
            assert [e.seq for e in entries] == list(range(1, 22))
            instants = [at for e in entries if (at := created_at(e)) is not None]
            assert instants == sorted(set(instants))
            assert len(instants) == len(entries)
            assert reader.verify() == []


def test_instants_increase_though_the_clocks_of_two_machines_differ(emptied: Any) -> None:
    """One is an hour ahead, the other behind: each write comes a little after the last one, whoever made that."""
    with opened(emptied.uri, emptied.auth, now="2026-01-15T13:00:00Z") as ahead, opened(emptied.uri, emptied.auth) as behind:
        made = [tell(memory, n).created_at for n, memory in enumerate((ahead, behind, ahead))]
    first, second, third = (at for at in made if at is not None)
    assert second - first == third - second == timedelta(microseconds=1)


def test_threads_of_one_memory_and_another_machine_take_turns(emptied: Any) -> None:
    """Nothing is lost where several threads write through one store while another store writes to the same group."""
    failures: list[BaseException] = []
    with opened(emptied.uri, emptied.auth) as memory, opened(emptied.uri, emptied.auth) as other:

        def write(through: graphmem.Memory, name: str) -> None:
            try:
                for n in range(3):
                    row = {"source": name, "relation": "visited", "target": f"Town {n}"}
                    through.add_facts([row], reference_time="2026-01-02")
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=write, args=(m, f"P{n}")) for n, m in enumerate((memory, memory, other))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert len([e for e in memory.entities() if e.name.startswith("Town")]) == 3
        assert len(memory.facts()) == 9
