"""Who goes next when more requests wait than may be under way."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack

import pytest

from graphmem.endpoint.slots import Call, Slots


def _waits(slots: Slots, size: int, served: list[int]) -> threading.Thread:
    def run() -> None:
        with slots.taken(Call(size)):
            served.append(size)

    before = len(slots._waiting)
    thread = threading.Thread(target=run)
    thread.start()
    while len(slots._waiting) == before:
        time.sleep(0.001)
    return thread


def test_a_single_request_goes_before_those_of_a_long_call() -> None:
    """And equal ones in the order they came."""
    slots, served = Slots(1), list[int]()
    with slots.taken(Call()):
        threads = [_waits(slots, size, served) for size in (32, 32, 3, 1, 2)]
    for thread in threads:
        thread.join(20)
    assert served == [1, 2, 3, 32, 32]
    assert (slots._taken, slots._waiting) == (0, [])


def test_an_interrupted_wait_takes_no_slot() -> None:
    """Also if its turn comes just then."""
    slots = Slots(1)
    holding = slots.taken(Call())
    holding.__enter__()

    waiting = slots.taken(Call())
    real, threading.Event.wait = threading.Event.wait, _interrupt  # type: ignore[method-assign]
    try:
        with pytest.raises(KeyboardInterrupt):
            waiting.__enter__()
    finally:
        threading.Event.wait = real  # type: ignore[method-assign]
    assert slots._waiting == []
    holding.__exit__(None, None, None)
    with pytest.raises(KeyboardInterrupt), slots.taken(Call()):
        raise KeyboardInterrupt
    assert slots._taken == 0


def test_an_endpoint_that_refuses_has_fewer_requests_under_way_and_more_again_once_it_answers() -> None:
    """Half of them for all that were under way together; one more after each eighth answer, up to what it had."""
    slots = Slots(8)
    with ExitStack() as under_way:
        for turn in [under_way.enter_context(slots.taken(Call())) for _ in range(8)]:
            slots.refused(turn)
    assert slots._room == 4
    for _ in range(8 * 2):
        slots.answered()
    assert slots._room == 6
    for _ in range(8 * 9):
        slots.answered()
    assert slots._room == 8


def test_while_one_waits_as_long_as_the_endpoint_asks_no_other_begins() -> None:
    """Until the last of them has waited; a call that is set does not wait for that."""
    slots, served, ended = Slots(4), list[int](), Call(9)
    with slots.paused():
        with slots.paused():
            threads = [_waits(slots, size, served) for size in (2, 1)]
        assert served == []
        giving_up = threading.Thread(target=lambda: served.append(slots.taken(ended).__enter__().given))
        giving_up.start()
        ended.set()
        giving_up.join(20)
        assert served == [False]
    for thread in threads:
        thread.join(20)
    assert sorted(served[1:]) == [1, 2]


def _interrupt(event: threading.Event, timeout: float | None = None) -> bool:
    raise KeyboardInterrupt
