"""What telling of change costs, however long the history is; and what folding a log again costs by writing its rows alone.

The model is scripted and the embedder counts spelling, so what is left is graphmem's own work.
"""

from __future__ import annotations

import shutil
import time
from datetime import timedelta
from pathlib import Path
from statistics import median
from unittest.mock import patch

import graphmem
from benchmarks.bare import bare
from benchmarks.engine import says, text
from benchmarks.graphs import EMBEDDER, START, Graph, name
from benchmarks.measure import Figure, Stopwatch, cpu
from graphmem import replays
from graphmem.testing import FixedClock, ScriptedModel

SIZES = (2_000, 20_000)
MESSAGES = 60
LOG = 1_500
_LAST_DAY = START + timedelta(days=3000)


def figures(folder: Path) -> list[Figure]:
    """Differences at two lengths of history, and a replay."""
    graph = Graph(folder / "differences.db")
    found: list[Figure] = []
    taken = []
    for size in SIZES:
        graph.grow(size)
        figure = last_day(graph)
        taken.append(figure.value)
        found.append(figure)
    found.append(Figure("growth, ten times the history", taken[-1] / taken[0], "x", "<= 1.5"))
    return [*found, *replayed(folder)]


def last_day(graph: Graph) -> Figure:
    """The difference of a day on which so many messages were told, the median of some; the graph's file is left as it was."""
    copy = Path(shutil.copy(graph.path, graph.path.with_suffix(".day")))
    clock = FixedClock(_LAST_DAY)
    with opened(copy, clock) as memory:
        for number in range(MESSAGES):
            clock.advance(seconds=600)
            memory.add_message(name(number * 331 % graph.entities), text(number, graph), reference_time=clock.now())
        lines = memory.diff(system=(_LAST_DAY, None))
        spent = cpu(lambda: memory.diff(system=(_LAST_DAY, None)), 7)
    _remove(copy)
    size = f"{graph.facts // 1000}k facts"
    return Figure(f"difference of the last day, {len(lines)} changes, {size}", 1000 * spent, "ms", "<= 50")


def replayed(folder: Path) -> list[Figure]:
    """A log of messages folded into a new file and compared with what it was folded from, by writing what that gives alone.

    By it stands what SQLite takes for the rows of the file that came of it, see `benchmarks.bare`.
    Embedding is the embedder's work and no part of the figure, since the rows hold the same vectors; reading the log and holding
    each line against its digest, folding it, encoding what it gives and the hashes of both sides are.
    """
    graph = Graph(folder / "names.db")
    graph.grow(1_000)
    clock = FixedClock(_LAST_DAY)
    embedding, comparing = Stopwatch(), Stopwatch()
    seconds, parts, ratios, alone = [], [], [], []
    with opened(folder / "log.db", clock) as memory:
        for number in range(LOG):
            clock.advance(seconds=60)
            memory.add_message(name(number * 331 % graph.entities), text(number, graph), reference_time=clock.now())
        counted = patch.object(EMBEDDER, "embed", embedding.around(EMBEDDER.embed))
        with counted, patch.object(replays, "check_equal", comparing.around(replays.check_equal)):
            for round_ in range(5):
                path = folder / f"again{round_}.db"
                before = embedding.seconds, comparing.seconds
                with opened(path, clock) as again:
                    began = time.process_time()
                    memory.replay(again, progress=False)
                    whole = time.process_time() - began
                embedded, compared = embedding.seconds - before[0], comparing.seconds - before[1]
                alone.append(bare(path, folder / f"bare{round_}.db", LOG + 1))
                seconds.append(whole - embedded)
                parts.append(compared)
                ratios.append((whole - embedded) / alone[-1])
    return [
        Figure(f"replay of {LOG} messages, without embedding", 1000 * median(seconds) / LOG, "ms a message"),
        Figure("of this, the hashes of both sides", 1000 * median(parts) / LOG, "ms a message"),
        Figure("SQLite alone, the same rows", 1000 * median(alone) / LOG, "ms a message"),
        Figure("replay, by SQLite alone with the same rows", median(ratios), "x", "<= 3"),
    ]


def opened(path: Path, clock: FixedClock) -> graphmem.Memory:
    """The memory of a file."""
    model = ScriptedModel({"extract": says, "resolve": {"matches": []}, "judge": {"judgements": []}})
    return graphmem.open(path, model=model, embedder=EMBEDDER, clock=clock)


def _remove(path: Path) -> None:
    for tail in ("", "-wal", "-shm"):
        Path(f"{path}{tail}").unlink(missing_ok=True)
