"""Episodes on their way in, read batch by batch: while one batch is written, the next ones are with the model."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from threading import Thread
from typing import NamedTuple

from graphmem.errors import ModelError
from graphmem.ingest.asking import Cancellation, Memo, Waiting
from graphmem.ingest.flow import Extraction, Options
from graphmem.model import Episode, Warn
from graphmem.ontology import Ontology


@dataclass(frozen=True)
class Incoming:
    """An episode on its way in, its own system instant if it brings one, and what was doubtful about its arguments.

    `instead_of` is one that was not read, whose place it takes.
    """

    episode: Episode
    recorded_at: datetime | None = None
    warnings: tuple[Warn, ...] = ()
    instead_of: Episode | None = None


@dataclass(frozen=True)
class Run:
    """What all episodes of one batch share."""

    wanted: Ontology | None
    options: Options
    memo: Memo


@dataclass
class Work:
    """An episode being recorded: whether it is to be read, what it says, once read, and the keys of what was asked for it."""

    item: Incoming
    run: Run
    new: bool = False
    extraction: Extraction | ModelError | None = None
    keys: set[str] = field(default_factory=set)

    @property
    def is_read(self) -> bool:
        """Whether all of it was read."""
        return isinstance(self.extraction, Extraction) and not self.extraction.unread


class Source:
    """Episodes as their source gives them, by the batch. What it raises is raised once all before it has been handed out."""

    def __init__(self, incoming: Iterable[Incoming]) -> None:
        self._stream = iter(incoming)
        self._failure: Exception | None = None

    def take(self, count: int) -> list[Incoming]:
        """The next episodes, at most so many; none at the end."""
        taken: list[Incoming] = []
        if self._failure is None:
            try:
                for incoming in islice(self._stream, count):
                    taken.append(incoming)  # one by one: what comes before an error is kept
            except Exception as error:
                self._failure = error
        if not taken and self._failure is not None:
            raise self._failure
        return taken


class Reading(NamedTuple):
    """What a model is about to read, and the call that waits for the answers."""

    chunk: list[Work]
    read: Callable[[Waiting], list[Work]]


class Readings:
    """Hands out batches in order, `most` of them being read meanwhile.

    `begin` takes the next episodes, given all those that are not written yet; none are left when it returns an empty batch.
    The later batches see the memory as it is before an earlier one is written, so that what is asked does not depend on who
    is quicker.
    """

    def __init__(self, begin: Callable[[Sequence[Work]], Reading], most: int, waiting: Waiting, cancellation: Cancellation) -> None:
        self._begin, self._most, self._waiting, self._cancellation = begin, most, waiting, cancellation
        self._following: deque[tuple[Reading, Future[list[Work]]]] = deque()
        self._current: Reading | None = None
        self._failure: Exception | None = None

    def next(self) -> list[Work]:
        """The next batch, read; empty after the last. Raises what the episodes' source has raised, after all before it."""
        if self._following:
            with self._waiting():
                chunk = self._following[0][1].result()
            self._following.popleft()
        elif self._failure is not None:
            raise self._failure
        else:
            self._current = self._begin(())
            chunk = self._current.read(self._waiting)
            self._current = None
        # Where one of these failed, the next ones have no turn.
        if chunk and not any(isinstance(work.extraction, ModelError) for work in chunk):
            self._go_on(chunk)
        return chunk

    def _go_on(self, chunk: Sequence[Work]) -> None:
        while len(self._following) < self._most and self._failure is None:
            before = [*chunk, *(work for reading, _ in self._following for work in reading.chunk)]
            try:
                reading = self._begin(before)
            except Exception as error:
                self._failure = error
                return
            if not reading.chunk:
                return
            self._following.append((reading, _started(reading)))

    def abandoned(self) -> list[Work]:
        """Ask nothing more, and end what is being asked: it would keep the program from ending. What was not handed out."""
        self._cancellation.set()
        left = [reading for reading, _ in self._following]
        if self._current is not None:
            left.insert(0, self._current)
        return [work for reading in left for work in reading.chunk]


def _started(reading: Reading) -> Future[list[Work]]:
    """The reading, begun in a thread that does not keep the program from ending."""
    future: Future[list[Work]] = Future()

    def run() -> None:
        try:
            future.set_result(reading.read(nullcontext))
        except BaseException as error:
            future.set_exception(error)

    Thread(target=run, name="graphmem-reading", daemon=True).start()
    return future
