"""Requests and threads: one thread carries them, a forked process has its own, and an interrupt does not wait for answers."""

from __future__ import annotations

import multiprocessing
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.errors import ModelUnavailable
from graphmem.testing import ScriptedModel

IMPORTING = """
import sys
import graphmem
from graphmem.embed.hashing import HashingEmbedder

where, url = sys.argv[1:]
with graphmem.open(where, model="openai:slow", base_url=url, embedder=HashingEmbedder()) as mem:
    rows = [{"actor": "Mira", "text": f"Message number {n} is about Porto."} for n in range(200)]
    mem.add_many(rows, progress=lambda done, total: print(done, flush=True))
"""


def test_one_thread_carries_the_requests_of_all(kit: Any) -> None:
    """However many threads wait, and however many models there are."""
    endpoint = kit.serve(delay=0.1)
    models = [kit.model(endpoint) for _ in range(3)]
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda n: models[n % 3].answer([kit.ask(f"Number {n}.")])[0].value, range(12)))
    assert answers == [kit.nothing] * 12
    assert [t.name for t in threading.enumerate()].count("graphmem-wire") == 1
    assert endpoint.most_at_once > 1


def test_a_forked_process_asks_for_itself(kit: Any) -> None:
    """The thread of its parent is not there any more."""
    model = kit.model(kit.serve())
    assert model.answer([kit.ask()])[0].value == kit.nothing
    forked = multiprocessing.get_context("fork")
    results = forked.Queue()
    child = forked.Process(target=lambda: results.put(model.answer([kit.ask()])[0].value))
    child.start()
    assert results.get(timeout=30) == kit.nothing
    child.join(30)
    assert child.exitcode == 0
    assert model.answer([kit.ask()])[0].value == kit.nothing


def test_an_interrupt_ends_an_import_at_once_and_loses_nothing(kit: Any, tmp_path: Path) -> None:
    """What was reported is there; running it again goes on; nobody waits for requests in flight, of 60 seconds here."""
    slow = threading.Event()

    def answer(request: Any) -> object:
        if any(f"number {n} " in request.user.partition('"text"')[2] for n in range(40, 200)):
            slow.wait(60)
        return {"entities": [], "facts": []}

    endpoint = kit.serve(answer=answer)
    command = [sys.executable, "-c", IMPORTING, str(tmp_path / "m.db"), endpoint.base_url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as importing:
        assert importing.stdout is not None
        reported = 0
        for line in importing.stdout:
            reported = int(line)
            if reported == 32:
                importing.send_signal(signal.SIGINT)
                break
        assert importing.wait(30) != 0
    slow.set()
    with graphmem.open(tmp_path / "m.db", model=ScriptedModel({"extract": {}}), embedder=HashingEmbedder()) as mem:
        assert mem.verify() == []
        assert mem.counts()["episodes"] >= reported


def test_an_import_that_ends_leaves_the_requests_of_others_alone(kit: Any, tmp_path: Path) -> None:
    """While it was reading ahead, another thread's message was being read too: that one is recorded, and only the rest is ended."""
    ahead, alone, go_on = threading.Event(), threading.Event(), threading.Event()

    def answer(request: Any) -> object:
        if "number 35 " in request.user:
            ahead.set()
            go_on.wait(20)
        if "Braga" in request.user:
            alone.set()
            go_on.wait(20)
        return {"entities": [], "facts": []}

    model = kit.model(kit.serve(answer=answer), retries=0)
    with graphmem.open(tmp_path / "m.db", model=model, embedder=HashingEmbedder()) as mem, ThreadPoolExecutor(1) as pool:

        def progress(done: int, total: int | None) -> None:
            assert ahead.wait(20)
            other.append(pool.submit(mem.add_message, "Tom", "I live in Braga."))
            assert alone.wait(20)
            raise RuntimeError("stop")

        other: list[Any] = []
        with pytest.raises(RuntimeError, match="stop"):
            mem.add_many([{"actor": "Mira", "text": f"Message number {n} is about Porto."} for n in range(64)], progress=progress)
        go_on.set()
        assert other[0].result(20).created
        assert mem.counts()["episodes"] == 2


def test_what_a_thread_waits_for_can_be_ended_alone(kit: Any) -> None:
    """The answers of one thread are given up, those of another come."""
    both, go_on = threading.Barrier(3, timeout=20), threading.Event()

    def answer(request: Any) -> object:
        both.wait()
        go_on.wait(20)
        return {"entities": [], "facts": []}

    model = kit.model(kit.serve(answer=answer), retries=0)
    threads: dict[str, int] = {}

    def asking(text: str) -> object:
        threads[text] = threading.get_ident()
        return model.answer([kit.ask(text)])[0].value

    with ThreadPoolExecutor(2) as pool:
        ended, goes_on = pool.submit(asking, "One."), pool.submit(asking, "Other.")
        both.wait()
        model.abandon(threads["One."])
        with pytest.raises(ModelUnavailable):
            ended.result(20)
        go_on.set()
        assert goes_on.result(20) == kit.nothing
