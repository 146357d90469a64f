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

import graphmem
from graphmem.embed.hashing import HashingEmbedder
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
