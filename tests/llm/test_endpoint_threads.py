"""Requests and threads: one thread carries them, a forked process has its own, and an interrupt does not wait for answers."""

from __future__ import annotations

import multiprocessing
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.errors import ModelUnavailable
from graphmem.llm.recorded import RecordedModel
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


@pytest.mark.parametrize("recorded", [False, True])
def test_an_interrupt_loses_no_answer_of_the_batch_that_is_being_read(kit: Any, tmp_path: Path, recorded: bool) -> None:
    """Of twenty messages eight are answered and four asked about: run again, the eight are not asked about any more, and all that
    was answered is charged once.
    """
    slow, requests = threading.Event(), count(1)

    def answer(request: Any) -> object:
        number = next(requests)
        if number == 12:  # each of the four sends its next request once it has its answer; these are handed over meanwhile
            time.sleep(1)
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        if 8 < number <= 12:
            slow.wait(20)
        return {"entities": [], "facts": []}

    endpoint = kit.serve(answer=answer)
    model = kit.model(endpoint, max_concurrency=4, retries=0)
    asked = RecordedModel(tmp_path / "answers.jsonl", model) if recorded else model
    rows = [{"actor": "Mira", "text": f"Message number {n} is about Porto.", "reference_time": f"2025-01-{n:02}"} for n in range(1, 21)]
    with graphmem.open(tmp_path / "m.db", model=asked, embedder=HashingEmbedder()) as mem:
        with pytest.raises(KeyboardInterrupt):
            mem.add_many(rows, progress=False)
        assert len(endpoint.requests) == 12
        slow.set()
        mem.add_many(rows, progress=False)
        assert len(endpoint.requests) == 12 + 12
        assert mem.counts()["episodes"] == 20
        assert mem.stats()["usage"]["extract"]["calls"] == 20
        assert mem.verify() == []


def test_answers_are_handed_out_as_they_come(kit: Any) -> None:
    """The first while the second is still awaited; in the end all of them in order."""
    first, came = threading.Event(), list[str]()

    def answer(request: Any) -> object:
        if "Slow." in request.user:
            assert first.wait(20)
        return {"entities": [], "facts": []}

    def answered(ask: Any, answer: Any) -> None:
        came.append(ask.payload["text"])
        first.set()

    answers = kit.model(kit.serve(answer=answer)).answer_each([kit.ask("Slow."), kit.ask("Quick.")], answered)
    assert came == ["Quick.", "Slow."]
    assert [a.value for a in answers] == [kit.nothing] * 2


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
