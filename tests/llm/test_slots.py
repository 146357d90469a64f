"""Who goes next when more requests wait than may be under way."""

from __future__ import annotations

import threading
import time

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
    assert (slots._free, slots._waiting) == (1, [])


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
    assert slots._free == 1


def _interrupt(event: threading.Event, timeout: float | None = None) -> bool:
    raise KeyboardInterrupt
