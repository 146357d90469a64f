"""A driver between the store and the real one: it notes what is asked of it, and fails where a test wants it to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from neo4j.exceptions import Neo4jError, SessionExpired

from graphmem.stores.neo4j import Neo4jStore

Failure = Callable[[], Exception]


def from_server(code: str) -> Failure:
    """The error that the driver makes of this code of the server."""
    return lambda: Neo4jError._hydrate_neo4j(code=code, message=f"injected: {code}")


PASSING: dict[str, Failure] = {
    "deadlock": from_server("Neo.TransientError.Transaction.DeadlockDetected"),
    "another leader": from_server("Neo.ClientError.Cluster.NotALeader"),
    "session expired": lambda: SessionExpired("injected: the connection is gone"),
}
LASTING = from_server("Neo.DatabaseError.General.UnknownError")


class Proxy:
    """The real thing behind it, with some methods of its own."""

    def __init__(self, behind: Any, watch: Watch) -> None:
        self._behind, self._watch = behind, watch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._behind, name)


class Transaction(Proxy):
    """A transaction whose statements and commit are counted."""

    def run(self, *args: Any, **more: Any) -> Any:
        self._watch.tick()
        return self._behind.run(*args, **more)

    def commit(self) -> None:
        self._watch.tick()
        self._behind.commit()


class Session(Transaction):
    """A session; its own statements count too."""

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *error: object) -> None:
        self._behind.close()

    def begin_transaction(self, **more: Any) -> Transaction:
        self._watch.tick()
        return Transaction(self._behind.begin_transaction(**more), self._watch)


class Watch:
    """What a driver was asked: sessions with their settings, and how many calls; the call `fails_at` fails, `times` times over."""

    def __init__(self) -> None:
        self.sessions: list[dict[str, Any]] = []
        self.calls = self.fails_at = self.times = 0
        self.failure: Failure = LASTING

    def tick(self) -> None:
        self.calls += 1
        if self.fails_at and self.fails_at <= self.calls < self.fails_at + self.times:
            raise self.failure()

    def set(self, failure: Failure, at: int, times: int = 1) -> None:
        """Count from nothing, and fail at that call."""
        self.calls, self.failure, self.fails_at, self.times = 0, failure, at, times


class Driver(Proxy):
    """A driver whose sessions are proxies."""

    def session(self, **config: Any) -> Session:
        self._watch.sessions.append(config)
        return Session(self._behind.session(**config), self._watch)


@contextmanager
def watched(store: Neo4jStore) -> Iterator[Watch]:
    """The store with a proxy for its driver, as long as the block runs."""
    watch, connection = Watch(), store._connection
    real, connection.driver = connection.driver, Driver(connection.driver, watch)  # type: ignore[assignment]
    try:
        yield watch
    finally:
        connection.driver = real
