"""How many requests are under way at once, whose turn is next, and how an endpoint that limits the rate slows all of them down."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from heapq import heapify, heappop, heappush
from itertools import count
from threading import Event, Lock, get_ident

_ANSWERS_FOR_ONE_MORE = 8


class Call(Event):
    """One call with `size` requests, which the thread that makes it waits for; set once the rest of them is not to be sent."""

    def __init__(self, size: int = 1) -> None:
        super().__init__()
        self.size, self.thread = size, get_ident()
        self.began: int | None = None
        """How often the endpoint had refused when its first request was sent."""
        self._turns: set[Event] = set()

    def set(self) -> None:
        """Also ends its waits for a slot."""
        super().set()
        for turn in list(self._turns):
            turn.set()

    def wait_for(self, turn: Event) -> None:
        """Wait for a turn, but no longer than until this is set."""
        self._turns.add(turn)
        try:
            if not self.is_set():
                turn.wait()
        finally:
            self._turns.discard(turn)


class Turn(Event):
    """A request's turn; `at` is how often the endpoint had refused when it came."""

    given = False
    at = 0


class Slots:
    """Room for `most` requests. Those of a call with few go before those of a call with many: somebody may be waiting for a
    single answer while a long import is read. Equal ones go in the order they came.

    An endpoint that refuses since there were too many has fewer under way from then on, and one more after every eighth answer.
    What was under way when it refused counts as refused once, however many of them come back like that.
    """

    def __init__(self, most: int) -> None:
        self._most = self._room = most
        self._taken = self._pauses = self._answers = 0
        self._refusals = self._refusals_answered = 0
        self._lock = Lock()
        self._waiting: list[tuple[int, int, Turn]] = []
        self._order = count()

    @contextmanager
    def taken(self, call: Call) -> Iterator[Turn]:
        """Wait for a slot, and give it back at the end; no slot is given, and none awaited, once the call is set."""
        turn = Turn()
        with self._lock:
            call.began = self._refusals if call.began is None else call.began
            heappush(self._waiting, (call.size, next(self._order), turn))
            self._give()
        try:
            call.wait_for(turn)
            yield turn
        finally:
            with self._lock:
                if turn.given:
                    self._taken -= 1
                else:
                    self._waiting = [row for row in self._waiting if row[2] is not turn]
                    heapify(self._waiting)
                self._give()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """No request begins meanwhile."""
        with self._lock:
            self._pauses += 1
        try:
            yield
        finally:
            with self._lock:
                self._pauses -= 1
                self._give()

    def answered(self) -> None:
        """A request was answered."""
        with self._lock:
            self._refusals_answered = self._refusals
            self._answers += 1
            if self._answers >= _ANSWERS_FOR_ONE_MORE:
                self._answers, self._room = 0, min(self._room + 1, self._most)
                self._give()

    def refused(self, turn: Turn) -> None:
        """A request was refused since there were too many."""
        with self._lock:
            if turn.at == self._refusals:
                self._refusals += 1
                self._answers, self._room = 0, max(1, self._room // 2)

    def refusals(self, call: Call) -> int:
        """How often the endpoint has refused since it last answered anything, and since the call's first request."""
        with self._lock:
            return self._refusals - max(self._refusals_answered, call.began or 0)

    def _give(self) -> None:
        while self._waiting and not self._pauses and self._taken < self._room:
            turn = heappop(self._waiting)[2]
            self._taken += 1
            turn.given, turn.at = True, self._refusals
            turn.set()
