"""How many requests are under way at once, and whose turn is next."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from heapq import heapify, heappop, heappush
from itertools import count
from threading import Event, Lock, get_ident


class Call(Event):
    """One call with `size` requests, which the thread that makes it waits for; set once the rest of them is not to be sent."""

    def __init__(self, size: int = 1) -> None:
        super().__init__()
        self.size, self.thread = size, get_ident()


class Slots:
    """Room for `most` requests. Those of a call with few go before those of a call with many: somebody may be waiting for a
    single answer while a long import is read. Equal ones go in the order they came.
    """

    def __init__(self, most: int) -> None:
        self._free, self._lock = most, Lock()
        self._waiting: list[tuple[int, int, Event]] = []
        self._order = count()

    @contextmanager
    def taken(self, call: Call) -> Iterator[None]:
        """Wait for a slot, and give it back at the end."""
        turn = Event()
        with self._lock:
            if self._free:
                self._free -= 1
                turn.set()
            else:
                heappush(self._waiting, (call.size, next(self._order), turn))
        try:
            turn.wait()
            yield
        finally:
            with self._lock:
                if not turn.is_set():  # interrupted while waiting
                    self._waiting = [row for row in self._waiting if row[2] is not turn]
                    heapify(self._waiting)
                elif self._waiting:
                    heappop(self._waiting)[2].set()
                else:
                    self._free += 1
