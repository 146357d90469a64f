"""What goes wrong between the store and its server: each has a name, and nothing is ever half-written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from random import Random
from typing import Any

import pytest
from cutting import cutting
from proxying import LASTING, PASSING, Watch, from_server, watched

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.errors import LoginRefused, StoreBusy, StoreError, StoreFull, StoreReadOnly, StoreUnavailable
from graphmem.stores.neo4j import Neo4jStore, session, transaction
from graphmem.testing import FixedClock, ScriptedModel

pytestmark = pytest.mark.neo4j
FIRST = [{"source": "Mira", "relation": "works_at", "target": "Acme", "valid_at": "2020", "text": "Mira works at Acme"}]
SECOND = [{"source": "Mira", "relation": "works_at", "target": "Globex", "valid_at": "2024", "text": "Mira joined Globex"}]
ROUNDS = [pytest.param(range(8), id="8 cuts"), pytest.param(range(8, 108), id="100 cuts", marks=pytest.mark.slow)]


def opened_at(where: str, **options: Any) -> graphmem.Memory:
    """A memory with doubles for model and embedder."""
    return graphmem.open(where, model=ScriptedModel({}), embedder=HashingEmbedder(16), clock=FixedClock("2026-01-15T12:00Z"), **options)


@pytest.fixture
def memory(emptied: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[graphmem.Memory]:
    """A memory on the server, sound at the end; the waits before another try are short."""
    for module in (session, transaction):
        monkeypatch.setattr(module, "_FIRST_WAIT", 0.001)
    with opened_at(emptied.uri, auth=emptied.auth) as opened:
        yield opened
        assert opened.verify() == []


def clean(group: str) -> str:
    """The state after both episodes where nothing fails."""
    with opened_at(":memory:") as plain:
        for n, rows in enumerate((FIRST, SECOND)):
            plain.add_facts(rows, group=group, key=str(n), reference_time=f"2025-01-0{n + 1}")
        return plain.state_hash(group=group)


def tell(memory: graphmem.Memory, group: str, n: int) -> None:
    """The first or second episode."""
    memory.add_facts((FIRST, SECOND)[n], group=group, key=str(n), reference_time=f"2025-01-0{n + 1}")


def calls_of_an_episode(memory: graphmem.Memory, watch: Watch) -> int:
    """How often the driver is called for the second episode of a group."""
    tell(memory, "counted", 0)
    watch.set(LASTING, 0)
    tell(memory, "counted", 1)
    return watch.calls


def store_of(memory: graphmem.Memory) -> Neo4jStore:
    """The store behind a memory."""
    store = memory._scope.store
    assert isinstance(store, Neo4jStore)
    return store


def test_a_database_that_has_broken_down_is_not_called_busy(memory: graphmem.Memory) -> None:
    """As it does when its disc is full: the server calls that transient, a transaction that cannot begin, or one that cannot end."""
    down = "TransientError.General.DatabaseUnavailable", "DatabaseError.Transaction.TransactionStartFailed"
    with watched(store_of(memory)) as watch:
        for code in (*down, "DatabaseError.Transaction.TransactionCommitFailed"):
            watch.set(from_server(f"Neo.{code}"), 1, 100)
            with pytest.raises(StoreUnavailable, match="the database is not available"):
                tell(memory, "g", 0)
        watch.set(from_server("Neo.DatabaseError.Transaction.TransactionLogError"), 1)
        with pytest.raises(StoreFull, match="kill it, then make room"):
            tell(memory, "g", 0)
    tell(memory, "g", 0)
    assert memory.counts(group="g")["facts"] == 1


@pytest.mark.parametrize(
    ("code", "kind", "advice"),
    [
        ("Security.Unauthorized", LoginRefused, "user or password is wrong"),
        ("Security.AuthenticationRateLimit", LoginRefused, "wait some seconds"),
        ("Security.CredentialsExpired", LoginRefused, "ALTER CURRENT USER SET PASSWORD"),
        ("Security.Forbidden", StoreReadOnly, "may be read but not written"),
    ],
)
def test_what_a_user_lacks_is_named_with_what_to_do(memory: graphmem.Memory, code: str, kind: type[StoreError], advice: str) -> None:
    """Nothing is tried again, and nothing written."""
    with watched(store_of(memory)) as watch:
        watch.set(from_server(f"Neo.ClientError.{code}"), 1)
        with pytest.raises(kind, match=advice):
            tell(memory, "g", 0)
        assert watch.calls == 1
    assert memory.counts(group="g")["episodes"] == 0


@pytest.mark.parametrize("failure", PASSING)
def test_what_passes_is_tried_again_wherever_in_an_episode_it_happens(memory: graphmem.Memory, failure: str) -> None:
    """Two failures in a row at each call of the driver: the episode is there, once, as if there had been none."""
    with watched(store_of(memory)) as watch:
        calls = calls_of_an_episode(memory, watch)
        assert calls >= 4
        for at in range(1, calls + 1):
            group = f"{failure} {at}"
            tell(memory, group, 0)
            watch.set(PASSING[failure], at, 2)
            tell(memory, group, 1)
            assert watch.calls > calls
            watch.set(LASTING, 0)
            assert memory.state_hash(group=group) == clean(group)


def test_what_does_not_pass_is_named_and_leaves_nothing(memory: graphmem.Memory) -> None:
    """At each call: an error of the server's own at once, a deadlock that never ends after some tries; the same episode then succeeds."""
    with watched(store_of(memory)) as watch:
        calls = calls_of_an_episode(memory, watch)
        for failure, kind, times in ((LASTING, StoreError, 1), (PASSING["deadlock"], StoreBusy, 10**6)):
            for at in range(1, calls + 1):
                group = f"{kind.__name__} {at}"
                tell(memory, group, 0)
                before = memory.state_hash(group=group), memory.history_hash(group=group)
                watch.set(failure, at, times)
                with pytest.raises(kind, match="injected"):
                    tell(memory, group, 1)
                watch.set(LASTING, 0)
                assert (memory.state_hash(group=group), memory.history_hash(group=group)) == before
                tell(memory, group, 1)
                assert memory.state_hash(group=group) == clean(group)


@pytest.mark.parametrize("rounds", ROUNDS)
def test_a_connection_that_breaks_at_any_byte_loses_and_doubles_nothing(emptied: Any, rounds: range) -> None:
    """Every connection ends after a random number of bytes of an episode; if the call fails, it says so, and again it succeeds."""
    with cutting(emptied.uri) as proxy, opened_at(proxy.uri, auth=emptied.auth) as memory:
        for seed in rounds:
            group = f"cut {seed}"
            tell(memory, group, 0)
            proxy.cut(Random(seed).randrange(12_000))
            with suppress(StoreUnavailable, StoreBusy):  # any other error fails the test
                tell(memory, group, 1)
            proxy.cut(None)
            tell(memory, group, 1)
            assert memory.state_hash(group=group) == clean(group)
            assert memory.counts(group=group)["episodes"] == 2
        assert proxy.cuts >= len(rounds) // 2
        assert memory.verify() == []


def test_a_server_that_is_gone_is_named(emptied: Any) -> None:
    """Reads and writes through a handle that was open say that it cannot be reached."""
    with cutting(emptied.uri) as proxy:
        memory = opened_at(proxy.uri, auth=emptied.auth, connect_timeout=2)
        tell(memory, "main", 0)
    with pytest.raises(StoreUnavailable, match="cannot be reached"):
        memory.facts("Mira")
    with pytest.raises(StoreUnavailable, match="cannot be reached"):
        tell(memory, "main", 1)
    memory.close()
    with opened_at(emptied.uri, auth=emptied.auth) as again:
        assert again.counts()["episodes"] == 1
        assert again.verify() == []
