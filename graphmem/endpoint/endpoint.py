"""An endpoint that is asked until it answers, or until another try is of no use."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from typing import TypeVar

from graphmem.endpoint.faults import Problem, Trouble, clean, of_error_body, of_status
from graphmem.endpoint.slots import Call, Slots
from graphmem.endpoint.waiting import Waiting, asked_wait
from graphmem.endpoint.wire import Reply, Resource, Wire
from graphmem.errors import InvalidInput, ModelError, ModelUnavailable

A = TypeVar("A")
B = TypeVar("B")
Object = Mapping[str, object]
log = logging.getLogger("graphmem.endpoint")
_PATIENCE = 10
"""Tries of one request for each that counts: it may be its bad luck that others are answered."""


class Stopped(Exception):
    """Another request of the same call failed for good."""


class Endpoint:
    """One endpoint and one model of it: requests with retries, some side by side. Threads may share it."""

    def __init__(self, who: str, wire: Wire, retries: int, max_concurrency: int, waiting: Waiting) -> None:
        for name, value, least in (("retries", retries, 0), ("max_concurrency", max_concurrency, 1)):
            if not isinstance(value, int) or value < least:
                raise InvalidInput(name, value, f"must be a whole number, at least {least}")
        self.who = f"{who} at {wire.base_url}"
        self._wire, self._retries, self._waiting = wire, retries, waiting
        self._most, self._slots = max_concurrency, Slots(max_concurrency)
        self._stops: set[Call] = set()

    def ask(
        self,
        resource: Resource,
        body: Object,
        read: Callable[[Object], A | Problem],
        stop: Call,
        settles: Callable[[Problem], bool] = lambda problem: False,
        retries: int | None = None,
    ) -> A | Problem:
        """What `read` makes of the answer. Asks again while that helps and `retries` are left (None: as many as the endpoint has).

        Where the endpoint limits the rate, all requests wait, and a try counts only if none was answered since the last one.
        A problem that `settles` claims comes back at once: the caller knows what to change. Raises `Stopped` if `stop` is set.
        """
        most = self._retries if retries is None else retries
        failed = tries = 0
        while True:
            with self._slots.taken(stop) as turn:
                found, tries = self._once(resource, body, read, stop), tries + 1
                if not isinstance(found, Problem):
                    self._slots.answered()
                    return found
                if found.limits_rate:
                    self._slots.refused(turn)
                else:
                    failed += 1
                attempt = failed + self._slots.refusals(stop)
                if attempt > most or tries > most * _PATIENCE or not found.worth_retrying or settles(found):
                    return replace(found, tries=tries)
                seconds = self._waiting.seconds(max(attempt, 1), found.wait)
                log.info("%s: %s (try %d of %d); waiting %.1f s", self.who, found.trouble, max(attempt, 1), most + 1, seconds)
                if found.limits_rate:
                    with self._slots.paused():
                        self._waiting.pause(seconds, stop)
            if not found.limits_rate:
                self._waiting.pause(seconds, stop)

    def problem(self, trouble: Trouble, said: str = "") -> Problem:
        """A problem in the endpoint's own words, without the key."""
        return Problem(trouble, clean(said, self._wire.key.reveal()))

    def error(self, problem: Problem) -> ModelError:
        """The error that tells of a problem."""
        return problem.error(self.who)

    def closed(self) -> ModelError:
        """The error of those whose answers were awaited when it was closed."""
        return ModelUnavailable(f"{self.who}: the connection was closed while answers were awaited; ask again")

    def side_by_side(
        self, work: Callable[[A, Call], B], items: Sequence[A], done: Callable[[int, B], None] = lambda place, result: None
    ) -> list[B]:
        """`work` on each item, in order of the items, at most `max_concurrency` at once over all threads.

        Each result is given to `done` as it comes, with the place of its item, in the thread that calls this; after an interrupt
        those that have come. The first that fails stops those that have not begun, and what it raised is raised.
        """
        stop = Call(len(items))
        self._stops.add(stop)
        try:
            if len(items) > 1:
                return self._pooled(work, items, stop, done)
            results = [work(item, stop) for item in items]
            for result in results:
                done(0, result)
            return results
        except Stopped:
            raise self.closed() from None
        finally:
            self._stops.discard(stop)

    def _pooled(self, work: Callable[[A, Call], B], items: Sequence[A], stop: Call, done: Callable[[int, B], None]) -> list[B]:
        def guarded(item: A) -> B:
            try:
                return work(item, stop)
            except BaseException:
                stop.set()
                raise

        with ThreadPoolExecutor(min(self._most, len(items)), thread_name_prefix="graphmem-endpoint") as pool:
            futures = [pool.submit(guarded, item) for item in items]
            places = {future: place for place, future in enumerate(futures)}
            try:
                for future in as_completed(futures):
                    if future.exception() is not None:
                        break
                    done(places.pop(future), future.result())
            except BaseException:
                self._end(stop)  # an interrupt does not wait for answers
                for future, place in places.items():
                    if future.done() and not future.cancelled() and future.exception() is None:
                        done(place, future.result())
                raise
            finally:
                stop.set()
                pool.shutdown(wait=False, cancel_futures=True)
        failed = [e for e in (f.exception() for f in futures if not f.cancelled()) if e is not None]
        if failed:
            raise next((e for e in failed if not isinstance(e, Stopped)), failed[0])
        return [f.result() for f in futures]

    def close(self) -> None:
        """Closes the connection and ends what is under way; the next request makes a new one."""
        for stop in list(self._stops):
            stop.set()
        self._wire.close()

    def abandon(self, thread: int) -> None:
        """End what one thread waits for; the others go on."""
        for stop in list(self._stops):
            if stop.thread == thread:
                self._end(stop)

    def _end(self, call: Call) -> None:
        call.set()
        self._wire.end(call)

    def _once(self, resource: Resource, body: Object, read: Callable[[Object], A | Problem], stop: Call) -> A | Problem:
        if stop.is_set():
            raise Stopped
        reply = self._wire.send(resource, body, stop)
        found = self._understood(reply, read) if isinstance(reply, Reply) else reply
        if isinstance(found, Problem):
            return replace(found, detail=clean(found.detail, self._wire.key.reveal()))
        return found

    def _understood(self, reply: Reply, read: Callable[[Object], A | Problem]) -> A | Problem:
        asked = asked_wait(reply.headers, reply.body, self._waiting.clock.now()) if reply.status != 200 else None
        if not 200 <= reply.status < 300:
            detail = reply.headers.get("location", "") if reply.status < 400 else ""
            problem = of_status(reply.status, reply.body, asked, reply.headers.get("x-should-retry") == "false")
            return replace(problem, detail=detail) if detail else problem
        if not reply.body.strip():
            return Problem(Trouble.EMPTY, status=reply.status)
        try:
            value = json.loads(reply.body)
        except (ValueError, RecursionError):
            looks_cut = reply.body.lstrip()[:1] in ("{", "[")
            return Problem(Trouble.CUT if looks_cut else Trouble.NOT_JSON, status=reply.status)
        if not isinstance(value, dict):
            return Problem(Trouble.NOT_JSON, status=reply.status)
        if value.get("error"):
            return of_error_body(value["error"])
        return read(value)
