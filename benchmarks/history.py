"""What taking back costs by what telling costs, at a large memory: both grow with what an episode touches, not with the whole.

The model is scripted and the embedder counts spelling, so what is left is graphmem's own work.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from statistics import median

import numpy as np

import graphmem
from benchmarks.engine import says, text
from benchmarks.graphs import EMBEDDER, START, Graph, name
from benchmarks.measure import Figure
from graphmem.runtime import content_id
from graphmem.testing import FixedClock, ScriptedModel

ROUNDS = 60
WARM = 10


def figures(graph: Graph) -> list[Figure]:
    """Messages added, and episodes from anywhere in the memory forgotten and restored, in turn; the graph's file is left as it was."""
    copy = Path(shutil.copy(graph.path, graph.path.with_suffix(".history")))
    model = ScriptedModel({"extract": says, "resolve": {"matches": []}, "judge": {"judgements": []}})
    clock = FixedClock(START + timedelta(days=3000))
    picked = np.random.default_rng(11).integers(0, graph.episodes, ROUNDS + WARM)
    added: list[float] = []
    forgotten: list[float] = []
    restored: list[float] = []
    with graphmem.open(copy, model=model, embedder=EMBEDDER, clock=clock) as memory:
        for number in range(-WARM, ROUNDS):
            clock.advance(seconds=1)
            actor = name((number + WARM) * 331 % graph.entities)
            taken = [_cpu(lambda n=number, a=actor: memory.add_message(a, text(n, graph), reference_time=clock.now()))]  # type: ignore[misc]
            episode = content_id("ep", "main", int(picked[number + WARM]))
            began = time.process_time()
            done = memory.forget(episode=episode)
            taken += [time.process_time() - began, _cpu(lambda d=done: memory.restore(d))]  # type: ignore[misc]
            if number >= 0:
                for seconds, kept in zip(taken, (added, forgotten, restored), strict=True):
                    kept.append(seconds)
    for tail in ("", "-wal", "-shm"):
        Path(f"{copy}{tail}").unlink(missing_ok=True)
    size = f"{graph.entities // 1000}k entities, {graph.facts // 1000}k facts"
    return [
        Figure(f"a message added, {size}", 1000 * median(added), "ms"),
        Figure("an episode forgotten", 1000 * median(forgotten), "ms"),
        Figure("an episode restored", 1000 * median(restored), "ms"),
        Figure("forgetting by adding", median(forgotten) / median(added), "x", "<= 5"),
        Figure("the slowest forgetting in ten by adding", sorted(forgotten)[int(0.9 * ROUNDS)] / median(added), "x"),
    ]


def _cpu(action: Callable[[], object]) -> float:
    began = time.process_time()
    action()
    return time.process_time() - began
