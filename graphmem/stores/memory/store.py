"""The dictionary store itself: snapshots and one writer at a time."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from graphmem.errors import StoreBusy
from graphmem.stores.base import Capability
from graphmem.stores.histories import HistoryReader, HistoryWriter
from graphmem.stores.memory.history import HistoryReads, HistoryWrites
from graphmem.stores.memory.state import State


class MemoryStore:
    """A memory that lives as long as the process. Threads may share it; a transaction copies its group's tables."""

    capabilities = frozenset({Capability.SNAPSHOT_READS})

    def __init__(self, *, timeout: float = 30.0) -> None:
        self._state = State({}, {}, {})
        self._lock = threading.Lock()
        self._timeout = timeout

    def __repr__(self) -> str:
        return "MemoryStore()"

    @contextmanager
    def read(self) -> Iterator[HistoryReader]:
        """A snapshot: later commits do not show in it."""
        yield HistoryReads(self._state)

    @contextmanager
    def write(self, group: str) -> Iterator[HistoryWriter]:
        """One writer at a time; an exception inside leaves nothing."""
        if not self._lock.acquire(timeout=self._timeout):
            raise StoreBusy(f"another writer held the store for more than {self._timeout:g} s")
        try:
            writer = HistoryWrites(self._state, group)
            yield writer
            self._state = writer.state
        finally:
            self._lock.release()

    def bookmarks(self) -> tuple[str, ...]:
        """None: every handle sees what was committed."""
        return ()

    def follow(self, bookmarks: Iterable[str]) -> None:
        """Nothing to wait for."""

    def clean(self) -> bool:
        """Nothing to clean."""
        return True

    def close(self) -> None:
        """Nothing to release."""
