"""What telling of change costs, however long the history is; and what folding a log again costs by writing its rows alone.

The model is scripted and the embedder counts spelling, so what is left is graphmem's own work.
"""

from __future__ import annotations

import shutil
import sqlite3
import time
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from statistics import median

import graphmem
from benchmarks.engine import Changes, Recording, says, text
from benchmarks.graphs import EMBEDDER, START, Graph, name
from benchmarks.measure import Figure, cpu
from graphmem.stores.sqlite import SqliteStore
from graphmem.testing import FixedClock, ScriptedModel

SIZES = (2_000, 20_000)
MESSAGES = 60
LOG = 500
_LAST_DAY = START + timedelta(days=3000)
_PRAGMAS = ("synchronous = FULL", "temp_store = MEMORY", "secure_delete = ON", "cache_size = -16384")


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
    """A log of messages folded into a new file, and the rows that this writes through `sqlite3` alone."""
    graph = Graph(folder / "names.db")
    graph.grow(1_000)
    clock = FixedClock(_LAST_DAY)
    ratios, seconds = [], []
    with opened(folder / "log.db", clock) as memory:
        for number in range(LOG):
            clock.advance(seconds=60)
            memory.add_message(name(number * 331 % graph.entities), text(number, graph), reference_time=clock.now())
        changes = _written(memory, folder / "kept.db", clock)
        for round_ in range(3):
            path = folder / f"again{round_}.db"
            with opened(path, clock) as again:
                began = time.process_time()
                memory.replay(again, progress=False)
                spent = time.process_time() - began
            seconds.append(spent)
            ratios.append(spent / _bare(folder / f"bare{round_}.db", changes))
    return [
        Figure(f"replay of {LOG} messages", 1000 * median(seconds) / LOG, "ms a message"),
        Figure("replay, by SQLite alone with the same rows", median(ratios), "x", "<= 3"),
    ]


def opened(path: Path, clock: FixedClock) -> graphmem.Memory:
    """The memory of a file."""
    model = ScriptedModel({"extract": says, "resolve": {"matches": []}, "judge": {"judgements": []}})
    return graphmem.open(path, model=model, embedder=EMBEDDER, clock=clock)


def _written(memory: graphmem.Memory, path: Path, clock: FixedClock) -> Changes:
    """The statements that a replay of the memory's log writes by."""
    real = sqlite3.connect
    sqlite3.connect = lambda *a, **k: real(*a, **{**k, "factory": Recording})  # type: ignore[assignment]
    try:
        with opened(path, clock) as kept:
            Recording.kept = []
            memory.replay(kept, progress=False)
            return Recording.kept
    finally:
        Recording.kept = None
        sqlite3.connect = real


def _bare(path: Path, changes: Changes) -> float:
    """CPU seconds of these statements on an empty file, through `sqlite3` alone."""
    SqliteStore.open(path).close()
    with closing(sqlite3.connect(path, isolation_level=None, cached_statements=256)) as raw:
        for pragma in _PRAGMAS:
            raw.execute(f"PRAGMA {pragma}")
        began = time.process_time()
        for sql, parameters, several in changes:
            if several:
                raw.executemany(sql, parameters)
            else:
                raw.execute(sql, parameters).fetchall()
        return time.process_time() - began


def _remove(path: Path) -> None:
    for tail in ("", "-wal", "-shm"):
        Path(f"{path}{tail}").unlink(missing_ok=True)
