"""The store in Neo4j: one writer a group at a time, readers beside it, in any number of threads, processes and machines."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Unpack

from graphmem.errors import StoreBusy, StoreUnavailable
from graphmem.settings import Secret
from graphmem.stores.ahead import Names
from graphmem.stores.base import Capability
from graphmem.stores.histories import HistoryReader, HistoryWriter
from graphmem.stores.neo4j.ahead import NamesAsked
from graphmem.stores.neo4j.bulk import BulkWriter
from graphmem.stores.neo4j.connect import Network, connect, prepare
from graphmem.stores.neo4j.kept import Kept
from graphmem.stores.neo4j.looking import LookingAhead
from graphmem.stores.neo4j.search import way
from graphmem.stores.neo4j.session import Connection, Reading, Trace
from graphmem.stores.neo4j.transaction import Transaction
from graphmem.stores.neo4j.writer import under_lock

Auth = tuple[str, str | Secret] | None


class Neo4jStore:
    """A memory on a Neo4j server. Made by `Neo4jStore.open`."""

    def __init__(self, connection: Connection, *, filtered: bool, timeout: float) -> None:
        self._connection = connection
        self._filtered = filtered
        self._timeout = timeout
        self._locks: dict[str, threading.Lock] = {}
        self._kept = Kept()
        self._guard = threading.Lock()
        self._closed = False
        held = {Capability.DURABLE, Capability.MULTI_PROCESS, Capability.AHEAD}
        self.capabilities = frozenset(held | {Capability.FILTERED_VECTOR_INDEX} if filtered else held)

    def __repr__(self) -> str:
        return f"Neo4jStore({self._connection.where!r})"

    @classmethod
    def open(
        cls, uri: str, auth: Auth = None, database: str | None = None, *, timeout: float = 30.0, **network: Unpack[Network]
    ) -> Neo4jStore:
        """Reach the server at `uri` ("neo4j://", "bolt://", with "+s" for TLS) and make the schema if it is missing.

        `auth` is user and password; `timeout` is how many seconds a writer may wait for and hold a group's lock; `network` is
        as `Network` says.
        Raises `StoreUnavailable` (not reached, wrong password, no such database), `SchemaTooNew`, `StoreBusy`,
        `MissingExtra` without the driver. An older schema is migrated.
        """
        connection = connect(uri, auth, database, network)
        try:
            filtered = prepare(connection)
        except BaseException:
            connection.driver.close()
            raise
        return cls(connection, filtered=filtered, timeout=timeout)

    @contextmanager
    def read(self) -> Iterator[HistoryReader]:
        """Reads of what is committed; versions of a group as they were when the block first read of it."""
        reading = Reading(self._reached())
        try:
            yield LookingAhead(reading, self._kept, filtered=self._filtered)
        finally:
            reading.close()

    @contextmanager
    def write(self, group: str, expecting: Names | None = None) -> Iterator[HistoryWriter]:
        """One writer a group at a time, across threads, processes and machines; an exception inside leaves nothing.

        What is `expecting` comes with the lock, in the same round trip.
        """
        with self._guard:
            lock = self._locks.setdefault(group, threading.Lock())
        if not lock.acquire(timeout=self._timeout):
            raise StoreBusy(f"{self._connection.where}: another thread held {group!r} for more than {self._timeout:g} s; try again")
        try:
            asked = None if expecting is None else NamesAsked(group, expecting, way(self._kept.pieces(group), filtered=self._filtered))
            asks = () if asked is None else asked.asks([under_lock(group)])
            transaction = Transaction(self._reached(), group, self._timeout, self._kept.names(), asks)
            try:
                writer = BulkWriter(transaction, group, self._kept, filtered=self._filtered, asked=asked)
                yield writer
                writer.flush()
                transaction.commit()
            finally:
                transaction.close()
        finally:
            lock.release()

    @contextmanager
    def trace(self, callback: Trace) -> Iterator[None]:
        """Call `callback` with every named statement that runs inside the block: each is one round trip."""
        self._connection.traces.append(callback)
        try:
            yield
        finally:
            self._connection.traces.remove(callback)

    def bookmarks(self) -> tuple[str, ...]:
        """Of what was written and read here, for `follow` of another handle on the same cluster."""
        return self._reached().bookmarks()

    def follow(self, bookmarks: Iterable[str]) -> None:
        """Every read and write from now on waits until these have arrived at the server that it is sent to."""
        self._reached().follow(bookmarks)

    def clean(self) -> bool:
        """Nothing that can be asked of the server: when its files are rid of what was erased is up to its settings."""
        return True

    def close(self) -> None:
        """Close every connection; a second call does nothing."""
        self._closed = True
        self._connection.driver.close()

    def _reached(self) -> Connection:
        if self._closed:
            raise StoreUnavailable(f"{self._connection.where}: the store is closed")
        return self._connection
