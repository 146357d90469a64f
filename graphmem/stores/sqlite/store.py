"""The store in one SQLite file: one writer at a time, readers beside it, in any number of threads and processes."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from graphmem.errors import StoreBusy, StoreUnavailable
from graphmem.stores.base import Capability
from graphmem.stores.histories import HistoryReader, HistoryWriter
from graphmem.stores.sqlite.cleaning import clean, cut_log
from graphmem.stores.sqlite.connect import connect, prepare
from graphmem.stores.sqlite.history import HistoryReads, HistoryWrites
from graphmem.stores.sqlite.kept import Kept
from graphmem.stores.sqlite.search import Shared
from graphmem.stores.sqlite.session import Session, Trace, translated

_MOST_IDLE = 8


class SqliteStore:
    """A memory in one file. Made by `SqliteStore.open`."""

    capabilities = frozenset({Capability.DURABLE, Capability.MULTI_PROCESS, Capability.SNAPSHOT_READS})

    def __init__(self, path: Path, first: sqlite3.Connection, timeout: float) -> None:
        self._path = path
        self._timeout = timeout
        self._writing = threading.Lock()
        self._pool = threading.Lock()
        self._idle = [first]
        self._traces: list[Trace] = []
        self._shared = Shared()
        self._kept = Kept()
        self._closed = False

    def __repr__(self) -> str:
        return f"SqliteStore({str(self._path)!r})"

    @classmethod
    def open(cls, path: str | Path, *, timeout: float = 30.0) -> SqliteStore:
        """Open or make the file at `path`; `timeout` is how many seconds a writer waits for another one.

        Raises `StoreUnavailable` (cannot be opened, or this SQLite lacks something), `StoreCorrupt` (not a graphmem
        file), `SchemaTooNew`, `StoreBusy`. An older schema is migrated.
        """
        where = Path(path)
        return cls(where, prepare(where, timeout), timeout)

    @contextmanager
    def read(self) -> Iterator[HistoryReader]:
        """A snapshot, kept from the beginning of the block to its end; keep the block short."""
        with self._connection() as connection, self._transaction(connection, "BEGIN"):
            shared = self._shared
            reader = HistoryReads(self._session(connection), shared)
            # A deferred transaction takes its snapshot at its first read.
            change, _ = reader._snapshot()
            reader.kept = self._kept_at(change)
            yield reader

    @contextmanager
    def write(self, group: str) -> Iterator[HistoryWriter]:
        """One writer at a time, across threads and processes; an exception inside leaves nothing."""
        if not self._writing.acquire(timeout=self._timeout):
            raise StoreBusy(f"{self._path}: another thread held the write lock for more than {self._timeout:g} s")
        try:
            with self._connection() as connection:
                with self._transaction(connection, "BEGIN IMMEDIATE"):
                    writer = HistoryWrites(self._session(connection), self._shared, group)
                    writer.kept = self._kept_at(writer._snapshot()[0]).copy()
                    yield writer
                if writer.commit is not None:
                    self._kept = replace(writer.kept, change=writer.commit)
                if writer.erased:
                    # What was removed must not stay in the log file; a reader in the way only delays that.
                    with suppress(sqlite3.Error):
                        cut_log(connection, patience=0)
        finally:
            self._writing.release()

    @contextmanager
    def trace(self, callback: Trace) -> Iterator[None]:
        """Call `callback` with every named statement that transactions begun inside the block execute."""
        self._traces.append(callback)
        try:
            yield
        finally:
            self._traces.remove(callback)

    def bookmarks(self) -> tuple[str, ...]:
        """None: every handle sees what was committed."""
        return ()

    def follow(self, bookmarks: Iterable[str]) -> None:
        """Nothing to wait for."""

    def clean(self) -> bool:
        """Write the file anew if something was erased since that was last done; False where a reader or writer is in the way."""
        if not self._writing.acquire(timeout=self._timeout):
            return False
        try:
            with self._connection() as connection, translated(str(self._path)):
                return clean(connection)
        finally:
            self._writing.release()

    def close(self) -> None:
        """Close every connection; a second call does nothing."""
        with self._pool:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()
        self._shared = Shared()

    def _kept_at(self, change: int) -> Kept:
        """What is kept of this snapshot; of an older one than the newest known, nothing."""
        kept = self._kept
        if change > kept.change or (change == kept.change and kept.is_large):
            kept = self._kept = Kept(change)
        return kept if kept.change == change else Kept(change)

    def _session(self, connection: sqlite3.Connection) -> Session:
        return Session(connection, str(self._path), tuple(self._traces))

    @contextmanager
    def _transaction(self, connection: sqlite3.Connection, begin: str) -> Iterator[None]:
        try:
            # Inside, since an interrupt may come while it waits for the lock and be raised once it has it.
            with translated(str(self._path)):
                connection.execute(begin)
            yield
            with translated(str(self._path)):
                connection.execute("COMMIT")
        except BaseException:
            connection.rollback()
            raise

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """A connection for one transaction; those not in use are kept for the next."""
        with self._pool:
            if self._closed:
                raise StoreUnavailable(f"{self._path}: the store is closed")
            taken = self._idle.pop() if self._idle else None
        if taken is None:
            with translated(str(self._path)):
                taken = connect(self._path, self._timeout)
        try:
            yield taken
        finally:
            with self._pool:
                keep = not self._closed and len(self._idle) < _MOST_IDLE
                if keep:
                    self._idle.append(taken)
            if not keep:
                taken.close()
