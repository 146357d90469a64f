"""The memory for programs that run an event loop: the same methods, awaited, with the work in threads."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial, wraps
from types import TracebackType
from typing import Concatenate, Generic, ParamSpec, Self, TypeVar

from graphmem.checks import items
from graphmem.errors import StoreUnavailable
from graphmem.ingest.asking import CANCELLATION, Cancellation
from graphmem.instants import Instant
from graphmem.memory import Memory
from graphmem.opening import open as open_memory
from graphmem.progress import Progress, reporting
from graphmem.results import EntityItem, WriteResults
from graphmem.scope import Group
from graphmem.shown import Record, Verbs
from graphmem.view import EntityView, View

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
MOST_THREADS = 64


class _Threads:
    """Threads of one memory. One of them works at a time, so that the event loop waits for one turn at most; those that wait
    for a model's endpoint let the next one work. A thread is woken once there is a call for it, not for each call at once:
    all of them would want the interpreter before the event loop has it again.
    """

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(MOST_THREADS, thread_name_prefix="graphmem")
        self._working, self._guard = threading.Lock(), threading.Lock()
        self._calls: deque[Callable[[], None]] = deque()
        self._last: Future[None] = Future()
        self._woken = self._closed = False

    def start(self, call: Callable[[], R]) -> Future[R]:
        """The call's result, in the order of calls."""
        with self._guard:
            if self._closed:
                raise StoreUnavailable("the memory is closed; open it again")
            future: Future[R] = Future()
            self._calls.append(partial(_fulfil, future, call))
        self._wake()
        return future

    def _wake(self) -> None:
        """Wake a thread for the next call, if there is one and no thread on its way to it."""
        with self._guard:
            if self._woken or not self._calls:
                return
            self._woken = True
        self._pool.submit(self._work)

    def _work(self) -> None:
        with self._working:
            with self._guard:
                call, self._woken = self._calls.popleft(), False
            call()
        self._wake()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Around a wait for the network."""
        self._working.release()
        self._wake()
        try:
            yield
        finally:
            self._working.acquire()

    def close(self) -> None:
        """Take no more, and wait for what was begun or is to begin."""
        with self._guard:
            if not self._closed:
                self._calls.append(partial(self._last.set_result, None))
            self._closed = True
        self._wake()
        self._last.result()
        self._pool.shutdown()


def _fulfil(future: Future[R], call: Callable[[], R]) -> None:
    """Do what a future is of, unless it was cancelled."""
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = call()
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)


class _Reads(Verbs, Generic[T]):
    """Something to read from, and the threads that do it."""

    def __init__(self, inner: T, threads: _Threads) -> None:
        self._inner, self._threads = inner, threads

    def __repr__(self) -> str:
        return f"<async {self._inner!r}>"

    async def _run(self, call: Callable[[], R]) -> R:
        """The call's result. Cancelled before it begins, it does nothing; afterwards, it runs to its end unseen."""
        return await asyncio.wrap_future(self._threads.start(call))


def _awaited(method: Callable[Concatenate[T, P], R]) -> Callable[Concatenate[_Reads[T], P], Awaitable[R]]:
    """`method` as a coroutine function of the same parameters."""

    @wraps(method)
    async def call(self: _Reads[T], /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await self._run(partial(method, self._inner, *args, **kwargs))

    return call


class AsyncEntityView(_Reads[EntityView], Record):
    """One entity at one point: `EntityView`, awaited. What is known of it already is there at once."""

    facts = _awaited(EntityView.facts)
    timeline = _awaited(EntityView.timeline)
    episodes = _awaited(EntityView.episodes)
    neighbours = _awaited(EntityView.neighbours)

    @property
    def item(self) -> EntityItem:
        return self._inner.item

    @property
    def id(self) -> str:
        return self._inner.id

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def type(self) -> str:
        return self._inner.type

    @property
    def aliases(self) -> tuple[str, ...]:
        return self._inner.aliases

    @property
    def attributes(self) -> Mapping[str, object]:
        return self._inner.attributes

    @property
    def summary(self) -> str:
        return self._inner.summary

    def to_dict(self) -> dict[str, object]:
        """Plain JSON values."""
        return self._inner.to_dict()


class _AsyncReads(_Reads[T]):
    """What a view and a memory share."""

    _view: View

    async def entity(self, name: str, *, group: Group = None) -> AsyncEntityView:
        """See `View.entity`."""
        return AsyncEntityView(await self._run(partial(self._view.entity, name, group=group)), self._threads)


class AsyncView(_AsyncReads[View]):
    """A memory at one point on both time axes: `View`, awaited."""

    search = _awaited(View.search)
    explain = _awaited(View.explain)
    why_not = _awaited(View.why_not)
    context = _awaited(View.context)
    facts = _awaited(View.facts)
    timeline = _awaited(View.timeline)
    entities = _awaited(View.entities)
    neighbours = _awaited(View.neighbours)
    episodes = _awaited(View.episodes)
    episode = _awaited(View.episode)
    counts = _awaited(View.counts)
    communities = _awaited(View.communities)
    community_of = _awaited(View.community_of)
    community_changes = _awaited(View.community_changes)
    diff = _awaited(View.diff)
    why = _awaited(View.why)
    history = _awaited(View.history)
    operations = _awaited(View.operations)
    facts_frame = _awaited(View.facts_frame)
    frame_leaks = _awaited(View.frame_leaks)
    export = _awaited(View.export)
    show = _awaited(View.show)
    plot_timeline = _awaited(View.plot_timeline)
    plot_two_axes = _awaited(View.plot_two_axes)
    plot_graph = _awaited(View.plot_graph)
    plot_activity = _awaited(View.plot_activity)
    to_networkx = _awaited(View.to_networkx)
    to_igraph = _awaited(View.to_igraph)
    to_arrow = _awaited(View.to_arrow)
    to_pandas = _awaited(View.to_pandas)

    def __init__(self, view: View, threads: _Threads) -> None:
        super().__init__(view, threads)
        self._view = view


class _Opening:
    """A memory about to be opened, in a thread."""

    def __init__(self, opening: Callable[[], Memory]) -> None:
        self._opening = opening
        self._opened: AsyncMemory | None = None

    def __await__(self) -> Generator[object, None, AsyncMemory]:
        return self._open().__await__()

    async def __aenter__(self) -> AsyncMemory:
        self._opened = await self._open()
        return self._opened

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._opened is not None:
            await self._opened.close()

    async def _open(self) -> AsyncMemory:
        return AsyncMemory(await asyncio.to_thread(self._opening))


def _opened(opening: Callable[P, Memory]) -> Callable[P, _Opening]:
    """`opening` with a memory to be awaited."""

    @wraps(opening)
    def call(*args: P.args, **kwargs: P.kwargs) -> _Opening:
        return _Opening(partial(opening, *args, **kwargs))

    return call


class AsyncMemory(_AsyncReads[Memory]):
    """A memory whose methods are awaited: `Memory`, one for one, for programs that run an event loop, and in notebooks.

    Calls may overlap: those that wait for a model's endpoint wait together, everything else is done one at a time beside the
    loop, which goes on. A cancelled write has happened whole or not at all.

    >>> import asyncio
    >>> from graphmem.embed.hashing import HashingEmbedder
    >>> from graphmem.testing import FixedClock, ScriptedModel
    >>> async def main():
    ...     parts = {"model": ScriptedModel({}), "embedder": HashingEmbedder(), "clock": FixedClock("2024-05-01T09:00Z")}
    ...     async with AsyncMemory.open(**parts) as mem:
    ...         await mem.add_facts([{"source": "Mira", "relation": "lives_in", "target": "Porto", "valid_at": "2022"}])
    ...         return await mem.facts("Mira")
    >>> asyncio.run(main())
    <1 facts: <Fact Mira LIVES_IN Porto (since 2022)>>
    """

    search = _awaited(Memory.search)
    explain = _awaited(Memory.explain)
    why_not = _awaited(Memory.why_not)
    context = _awaited(Memory.context)
    facts = _awaited(Memory.facts)
    timeline = _awaited(Memory.timeline)
    entities = _awaited(Memory.entities)
    neighbours = _awaited(Memory.neighbours)
    episodes = _awaited(Memory.episodes)
    episode = _awaited(Memory.episode)
    counts = _awaited(Memory.counts)
    communities = _awaited(Memory.communities)
    community_of = _awaited(Memory.community_of)
    community_changes = _awaited(Memory.community_changes)
    diff = _awaited(Memory.diff)
    why = _awaited(Memory.why)
    history = _awaited(Memory.history)
    operations = _awaited(Memory.operations)
    facts_frame = _awaited(Memory.facts_frame)
    frame_leaks = _awaited(Memory.frame_leaks)
    export = _awaited(Memory.export)
    show = _awaited(Memory.show)
    plot_timeline = _awaited(Memory.plot_timeline)
    plot_two_axes = _awaited(Memory.plot_two_axes)
    plot_graph = _awaited(Memory.plot_graph)
    plot_activity = _awaited(Memory.plot_activity)
    to_networkx = _awaited(Memory.to_networkx)
    to_igraph = _awaited(Memory.to_igraph)
    to_arrow = _awaited(Memory.to_arrow)
    to_pandas = _awaited(Memory.to_pandas)
    load = _awaited(Memory.load)
    replay = _awaited(Memory.replay)
    build_communities = _awaited(Memory.build_communities)
    add_message = _awaited(Memory.add_message)
    add_text = _awaited(Memory.add_text)
    add_json = _awaited(Memory.add_json)
    add_facts = _awaited(Memory.add_facts)
    forget = _awaited(Memory.forget)
    restore = _awaited(Memory.restore)
    undo = _awaited(Memory.undo)
    correct = _awaited(Memory.correct)
    end = _awaited(Memory.end)
    confirm = _awaited(Memory.confirm)
    merge = _awaited(Memory.merge)
    split = _awaited(Memory.split)
    distinct = _awaited(Memory.distinct)
    rename = _awaited(Memory.rename)
    alias = _awaited(Memory.alias)
    duplicates = _awaited(Memory.duplicates)
    erase = _awaited(Memory.erase)
    erasures = _awaited(Memory.erasures)
    consolidate = _awaited(Memory.consolidate)
    stats = _awaited(Memory.stats)
    reset_usage = _awaited(Memory.reset_usage)
    bookmarks = _awaited(Memory.bookmarks)
    follow = _awaited(Memory.follow)
    verify = _awaited(Memory.verify)
    state_hash = _awaited(Memory.state_hash)
    history_hash = _awaited(Memory.history_hash)

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory, _Threads())
        self._view = memory
        memory.wait_through(self._threads.waiting)

    open = staticmethod(_opened(open_memory))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    async def close(self) -> None:
        """Let what runs come to its end, then release threads and files; a second call does nothing."""
        await asyncio.to_thread(self._threads.close)
        self._inner.close()

    def as_of(self, *, valid: Instant | None = None, system: Instant | None = None) -> AsyncView:
        """See `Memory.as_of`; nothing is read yet."""
        return AsyncView(self._inner.as_of(valid=valid, system=system), self._threads)

    async def add_many(
        self, episodes: Iterable[Mapping[str, object]], *, group: str | None = None, progress: Progress | bool | None = None
    ) -> WriteResults:
        """See `Memory.add_many`. Cancelled, it asks a model nothing more and stops, at the latest after the episode being recorded.
        `progress` is called in a thread.
        """
        total = len(episodes) if isinstance(episodes, Sequence) else None
        return await self._many(
            lambda report: self._inner.add_many([*items("episodes", episodes, "dicts")], group=group, progress=report), progress, total
        )

    async def resume(self, *, group: str | None = None, progress: Progress | bool | None = None) -> WriteResults:
        """See `Memory.resume`. Cancelled, it stops as `add_many` does. `progress` is called in a thread."""
        return await self._many(lambda report: self._inner.resume(group=group, progress=report), progress)

    async def _many(
        self, write: Callable[[Progress], WriteResults], progress: Progress | bool | None, total: int | None = None
    ) -> WriteResults:
        cancellation = Cancellation()

        def told(report: Progress, done: int, total: int | None) -> None:
            report(done, total)
            if cancellation.is_set:
                raise asyncio.CancelledError

        def work() -> WriteResults:
            token = CANCELLATION.set(cancellation)
            try:
                with reporting(progress, total, "reading") as report:
                    return write(partial(told, report))
            finally:
                CANCELLATION.reset(token)

        try:
            return await self._run(work)
        except asyncio.CancelledError:
            cancellation.set()
            raise
