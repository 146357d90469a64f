"""`AsyncMemory`: `Memory` method by method, beside a running loop."""

from __future__ import annotations

import asyncio
import inspect
import itertools
import threading
from pathlib import Path
from typing import Any

import pytest

import graphmem
from graphmem.aio import AsyncEntityView, AsyncMemory, AsyncView
from graphmem.embed.hashing import HashingEmbedder
from graphmem.errors import InvalidInput, NotFound, StoreUnavailable
from graphmem.llm.endpoint import EndpointModel
from graphmem.memory import Memory
from graphmem.testing import FixedClock, ScriptedModel
from graphmem.testing.endpoint import ScriptedEndpoint
from graphmem.view import EntityView, View

# What needs no wait stays as it is, and `wait_through` is how the asynchronous memory hooks in.
AT_ONCE = {"as_of", "to_dict", "EntityView.to_pandas"}
ONLY_SYNC = {"wait_through"}
SAID = {"entities": [{"name": "Mira", "type": "Person"}, {"name": "Porto", "type": "City"}], "facts": [
    {"source": 0, "target": 1, "relation": "LIVES_IN", "text": "Mira lives in Porto"}]}  # fmt: skip


def opened(where: Path | str = ":memory:", **script: Any) -> Any:
    local = script.pop("local", True)
    model = ScriptedModel({"extract": SAID, "resolve": {"matches": []}, "judge": {"judgements": []}, **script}, local=local)
    return AsyncMemory.open(where, model=model, embedder=HashingEmbedder(), clock=FixedClock("2024-05-01T09:00Z"))


@pytest.mark.parametrize(("mirror", "original"), [(AsyncMemory, Memory), (AsyncView, View), (AsyncEntityView, EntityView)])
def test_every_method_is_mirrored_with_its_parameters(mirror: type, original: type) -> None:
    """A method added to `Memory` must be added here; it takes the same arguments with the same defaults, and is awaited."""
    public = {n for n in dir(original) if not n.startswith("_")} - ONLY_SYNC
    assert public - set(dir(mirror)) == set()
    assert {n for n in dir(mirror) if not n.startswith("_")} - public <= {"open", "item"}
    for name in public:
        ours, theirs = inspect.getattr_static(mirror, name), inspect.getattr_static(original, name)
        at_once = {name, f"{original.__name__}.{name}"}
        if not inspect.isfunction(theirs):
            continue
        assert inspect.iscoroutinefunction(inspect.unwrap(ours, stop=inspect.iscoroutinefunction)) is at_once.isdisjoint(AT_ONCE), name
        kept = [(p.name, p.kind, p.default) for p in inspect.signature(ours).parameters.values()]
        assert kept == [(p.name, p.kind, p.default) for p in inspect.signature(theirs).parameters.values()], name
        assert ours.__doc__ or not theirs.__doc__, name


def test_it_opens_like_a_memory_and_closes(tmp_path: Path) -> None:
    """In `async with` or awaited; the arguments are those of `graphmem.open`, errors too."""

    async def main() -> None:
        async with opened(tmp_path / "m.db") as mem:
            result = await mem.add_message("Mira", "I live in Porto now.")
            assert result.counts()["added"] >= 2
        mem = await opened(tmp_path / "m.db")
        assert [f.target for f in await mem.facts("Mira")] == ["Porto"]
        assert (await mem.stats())["episodes"] == 1
        await mem.close()
        await mem.close()
        with pytest.raises(StoreUnavailable, match="closed"):
            await mem.stats()
        with pytest.raises(InvalidInput, match="where="):
            await AsyncMemory.open("ftp://host/x", model=ScriptedModel({}), embedder=HashingEmbedder())

    asyncio.run(main())
    assert inspect.signature(AsyncMemory.open).parameters.keys() == inspect.signature(graphmem.open).parameters.keys()


def test_views_and_entities_are_read_from_as_of_any_point() -> None:
    """`as_of` gives a view at once; what it reads is awaited."""

    async def main() -> None:
        async with opened() as mem:
            await mem.add_facts([{"source": "Mira", "relation": "lives_in", "target": "Porto", "valid_at": "2022", "invalid_at": "2023"}])
            then = mem.as_of(valid="2022-06-01")
            assert [f.target for f in await then.facts("Mira")] == ["Porto"]
            assert not await mem.facts("Mira")
            mira = await then.entity("Mira")
            assert (mira.name, [f.target for f in await mira.facts()]) == ("Mira", ["Porto"])
            assert [h.kind for h in await then.search("Porto", limit=1)]
            with pytest.raises(NotFound):
                await then.entity("Nobody")

    asyncio.run(main())


def test_adds_wait_for_the_model_together() -> None:
    """Five adds in flight are five questions at the endpoint at once; they all pass only if none waits for another."""
    meeting = threading.Barrier(5, timeout=20)

    def answer(ask: object) -> object:
        meeting.wait()
        return SAID

    async def main() -> None:
        async with opened(extract=answer, local=False) as mem:
            results = await asyncio.gather(*(mem.add_message("Mira", f"I live in Porto, number {n}.") for n in range(5)))
            assert len({r.id for r in results}) == 5
            assert [e.name for e in await mem.entities() if e.name == "Mira"] == ["Mira"]
            assert await mem.verify() == []

    asyncio.run(main())


def test_many_calls_at_once_wake_few_threads() -> None:
    """One works at a time and one is on its way: more would take the interpreter from the loop. They are done in order."""

    async def main() -> None:
        async with opened() as mem:
            before = threading.active_count()
            results = await asyncio.gather(*(mem.add_message("Mira", f"I live in Porto, number {n}.") for n in range(40)))
            assert threading.active_count() - before <= 3
            assert [e.id for e in await mem.episodes()] == [r.id for r in results]

    asyncio.run(main())


def test_closing_waits_for_what_was_called_before() -> None:
    """Adds that wait for the model, and those that have not begun; closed twice at once, neither returns before that."""
    asked, go_on = threading.Event(), threading.Event()

    def answer(ask: object) -> object:
        asked.set()
        assert go_on.wait(20)
        return SAID

    async def main() -> None:
        mem = await opened(extract=answer, local=False)
        adding = [asyncio.create_task(mem.add_message("Mira", f"I live in Porto, number {n}.")) for n in range(70)]
        await asyncio.to_thread(asked.wait, 20)
        closing = [asyncio.create_task(mem.close()) for _ in range(2)]
        await asyncio.sleep(0.05)
        assert not any(task.done() for task in closing)
        with pytest.raises(StoreUnavailable):
            await mem.facts()
        go_on.set()
        await asyncio.gather(*closing)
        assert len({(await task).id for task in adding}) == 70

    asyncio.run(main())


def test_a_cancelled_add_is_whole_or_not_there() -> None:
    """Before it began: nothing. While the model is asked: it comes to its end, unseen."""
    asked, go_on = threading.Event(), threading.Event()

    def answer(ask: object) -> object:
        asked.set()
        assert go_on.wait(20)
        return SAID

    async def main() -> None:
        async with opened(extract=answer, local=False) as mem:
            running = asyncio.create_task(mem.add_message("Mira", "I live in Porto."))
            await asyncio.to_thread(asked.wait, 20)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            go_on.set()
            while not (await mem.stats())["episodes"]:
                await asyncio.sleep(0.01)
            assert (await mem.counts())["facts"] == 1
            never = asyncio.create_task(mem.add_message("Mira", "I live in Braga."))
            never.cancel()
            with pytest.raises(asyncio.CancelledError):
                await never
            assert (await mem.stats())["episodes"] == 1
            assert await mem.verify() == []

    asyncio.run(main())


@pytest.mark.parametrize("answered", [8, 40])
def test_a_cancelled_import_asks_nothing_more(tmp_path: Path, answered: int) -> None:
    """Neither of the batch that is being read nor of those that are read ahead; nobody waits for what was asked, and no answer that
    came to the one being read is asked for again.
    """
    rows = [
        {"actor": "Mira", "text": f"Number {n} of many.", "reference_time": f"2024-01-01T00:{n % 60:02}Z", "key": str(n)}
        for n in range(120)
    ]
    never, numbers = threading.Event(), itertools.count(1)
    blocked = asyncio.Event()

    async def main() -> None:
        loop = asyncio.get_running_loop()

        def answer(request: object) -> object:
            number = next(numbers)
            if number == answered + 4:
                loop.call_soon_threadsafe(blocked.set)
            if answered < number <= answered + 4:
                never.wait(60)
            return {"entities": [], "facts": []}

        with ScriptedEndpoint(answer=answer) as endpoint:
            model = EndpointModel("some-model", base_url=endpoint.base_url, max_concurrency=4, retries=0)
            async with AsyncMemory.open(tmp_path / "m.db", model=model, embedder=HashingEmbedder()) as mem:
                task = asyncio.create_task(mem.add_many(rows))
                await asyncio.wait_for(blocked.wait(), 60)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                await asyncio.wait_for(mem.close(), 30)
            assert len(endpoint.requests) == answered + 4
            never.set()
            async with AsyncMemory.open(tmp_path / "m.db", model=model, embedder=HashingEmbedder()) as mem:
                assert len(await mem.add_many(rows)) == 120
                assert await mem.verify() == []
            assert len(endpoint.requests) == 120 + 4 or answered > 32

    asyncio.run(main())


def test_a_cancelled_import_stops_after_the_episode_in_hand() -> None:
    """What was recorded stays, the rest is not begun, and running it again goes on."""
    rows = [{"actor": "Mira", "text": f"Number {n} of many messages."} for n in range(40)]
    done: list[int] = []

    async def main() -> None:
        async with opened() as mem:
            loop = asyncio.get_running_loop()
            task: asyncio.Task[object]

            def progress(count: int, total: int | None) -> None:
                assert total == 40
                done.append(count)
                if count == 3:
                    loop.call_soon_threadsafe(task.cancel)
                    waited.wait(20)

            waited = threading.Event()
            task = asyncio.create_task(mem.add_many(rows, progress=progress))
            task.add_done_callback(lambda _: waited.set())
            with pytest.raises(asyncio.CancelledError):
                await task
            episodes = (await mem.stats())["episodes"]
            assert 3 <= episodes <= 4
            assert len(await mem.add_many(rows, progress=False)) == 40
            assert (await mem.stats())["episodes"] == 40

    asyncio.run(main())
