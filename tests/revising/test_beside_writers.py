"""Operations beside other writers: checked again under the lock, done once, and told as done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

import pytest

import graphmem
from graphmem.errors import InvalidInput, Overtaken
from graphmem.results import WriteResult
from graphmem.stores.base import Store, Writer

OpenMemory = Callable[..., graphmem.Memory]


class Losing:
    """A store that loses transactions, as a server does that goes away: before they are committed, or only the answer."""

    def __init__(self, store: Store, meanwhile: Callable[[], object], committed: bool, times: int = 1) -> None:
        self._store, self._meanwhile, self._committed, self.times = store, meanwhile, committed, times

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    @contextmanager
    def write(self, group: str) -> Iterator[Writer]:
        if self.times == 0:
            with self._store.write(group) as tx:
                yield tx
            return
        self.times -= 1
        if self._committed:
            with self._store.write(group) as tx:
                yield tx
        else:
            with suppress(ZeroDivisionError), self._store.write(group) as tx:
                yield tx
                raise ZeroDivisionError
        self._meanwhile()
        raise Overtaken("a transaction was lost, and another writer came between")


@pytest.fixture
def mem(open_memory: OpenMemory) -> graphmem.Memory:
    memory = open_memory()
    memory.add_facts([{"source": "Mira", "relation": "works_at", "target": "Acme", "valid_at": "2020"}])
    return memory


def losing(memory: graphmem.Memory, committed: bool, times: int = 1) -> None:
    """From now on the memory's operations lose so many transactions, and another writer comes between each time."""

    def meanwhile() -> None:
        memory.add_facts([{"source": "Tom", "relation": "likes", "target": f"dish {memory.stats()['log']}"}])

    recorder = memory._recorder
    for worker in (recorder.operator, recorder.eraser, recorder.builder):
        worker._store = Losing(worker._store, meanwhile, committed, times)  # type: ignore[attr-defined]


@pytest.mark.parametrize("committed", [True, False])
def test_an_operation_that_was_overtaken_is_done_once_and_told_as_done(committed: bool, mem: graphmem.Memory) -> None:
    """Whether it had arrived before the connection was lost, or not."""
    losing(mem, committed)
    done = mem.forget(fact=mem.facts("Mira")[0], author="Mira")

    assert done.created
    assert "Mira" not in {f.source for f in mem.facts()}
    with mem._scope.store.read() as reader:
        assert [o.id for o in reader.operations("main") if o.kind == "forget"] == [done.id]
    losing(mem, committed)
    assert mem.restore(done).counts()["restored"] == 1
    assert "Mira" in {f.source for f in mem.facts()}


@pytest.mark.parametrize("committed", [True, False])
def test_what_is_erased_or_built_and_overtaken_is_done_once(committed: bool, mem: graphmem.Memory) -> None:
    """One entry of the log each, and one receipt."""
    losing(mem, committed)
    built = mem.build_communities()
    losing(mem, committed)
    erased = mem.erase(fact=mem.facts("Mira")[0])
    with mem._scope.store.read() as reader:
        assert [o.id for o in reader.operations("main") if o.kind in ("communities", "erase")] == [built.id, erased.id]
    assert "Mira" not in {f.source for f in mem.facts()}
    losing(mem, committed)
    whole = mem.erase(group="main")
    assert [r.id for r in mem.erasures()] == [whole.id]


def test_an_operation_that_is_always_overtaken_is_given_up(mem: graphmem.Memory) -> None:
    """Nothing of it is kept."""
    losing(mem, committed=False, times=100)
    with pytest.raises(Overtaken):
        mem.end(mem.facts("Mira")[0])
    assert mem.facts("Mira")[0].invalid_at is None


def test_what_many_threads_forget_at_once_is_forgotten_once(mem: graphmem.Memory) -> None:
    """All others are told that it is forgotten already."""
    (fact,) = mem.facts("Mira")

    def forget(_: int) -> WriteResult | InvalidInput:
        try:
            return mem.forget(fact=fact)
        except InvalidInput as refused:
            return refused

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(forget, range(8)))
    (done,) = (r for r in results if isinstance(r, WriteResult))
    assert all(done.id in str(r) for r in results if isinstance(r, InvalidInput))


def test_threads_that_correct_add_and_undo_leave_what_their_log_says(mem: graphmem.Memory) -> None:
    """In whichever order they came; every one looked at a version that others have replaced meanwhile."""
    (fact,) = mem.facts("Mira")

    def work(n: int) -> None:
        match n % 4:
            case 0:
                mem.correct(fact, valid=str(2000 + n))
            case 1:
                mem.add_facts([{"source": "Mira", "relation": "works_at", "target": f"Firm {n}", "valid_at": str(2000 + n)}])
            case 2:
                mem.undo(mem.end(fact, f"{2030 + n}-01-01"))
            case _:
                mem.undo(mem.correct(fact, target=f"Firm {n}"))

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(24)))
    with mem._scope.store.read() as reader:
        corrections = [o for o in reader.operations("main") if o.kind == "correct"]
    assert len(corrections) == 12
    assert {f.target for f in mem.facts("Mira", history=True)} >= {"Acme"}
    assert mem.verify() == []
