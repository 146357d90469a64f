"""What recording one message costs, against SQLite committing the same rows, at graphs of three sizes.

The model is scripted and the embedder counts spelling, so what is left is graphmem's own work. The searches for names and
vectors that find out who is meant are shown apart: they grow with the number of entities, the rest must not.
"""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from datetime import timedelta
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import graphmem
from benchmarks.graphs import EMBEDDER, RELATIONS, START, Graph, name, word
from benchmarks.measure import Figure, Stopwatch
from graphmem.llm.base import Ask
from graphmem.stores.sqlite.reader import SqliteReader
from graphmem.testing import FixedClock, ScriptedModel

SIZES = (1_000, 5_000, 20_000)
MESSAGES = 60
WARM = 10
Changes = list[tuple[str, Any, bool]]
"""Statements and their parameters; where the last is true, one row of parameters after another."""
_CHANGING = ("BEGIN", "INSERT", "UPDATE", "DELETE", "REPLACE", "COMMIT")


class Recording(sqlite3.Connection):
    """A connection that keeps what its writing transactions do: statements and their parameters (several: a list of rows)."""

    kept: Changes | None = None
    writing = False

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        if sql == "BEGIN IMMEDIATE":
            self.writing = True
        if Recording.kept is not None and self.writing and sql.lstrip().upper().startswith(_CHANGING):
            Recording.kept.append((sql, parameters, False))
        if sql == "COMMIT":
            self.writing = False
        return super().execute(sql, parameters)

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> sqlite3.Cursor:
        rows = list(parameters)
        if Recording.kept is not None:
            Recording.kept.append((sql, rows, True))
        return super().executemany(sql, rows)


def measured(graph: Graph, entities: int) -> list[Figure]:
    """Figures at one size; the graph's file is left as it was."""
    graph.grow(entities)
    _settled(graph.path)
    timed, kept, plain = (graph.path.with_suffix(suffix) for suffix in (".timed", ".kept", ".plain"))
    for path in (timed, kept):
        shutil.copy(graph.path, path)
    taken, scanned, bare = _timed(timed, plain, graph, _changes(kept, plain, graph))
    for path in (timed, kept, plain):
        for tail in ("", "-wal", "-shm"):
            Path(f"{path}{tail}").unlink(missing_ok=True)
    own = [t - s for t, s in zip(taken, scanned, strict=True)]
    size = f"{entities // 1000}k entities, {graph.facts // 1000}k facts"
    return [
        Figure(f"a message in all, {size}", 1000 * median(taken), "ms"),
        Figure(f"searching who is meant, {size}", 1000 * median(scanned), "ms"),
        Figure(f"SQLite alone, the same rows, {size}", 1000 * median(bare), "ms"),
        Figure(f"a message without that search, by SQLite alone, {size}", median(own) / median(bare), "x", "<= 4"),
    ]


def figures(graph: Graph, sizes: tuple[int, ...] = SIZES) -> list[Figure]:
    """Figures at every size, and how much the largest costs by the smallest."""
    found = [f for size in sizes for f in measured(graph, size)]
    own = [whole.value - scan.value for whole, scan in zip(found[::4], found[1::4], strict=True)]
    return [*found, Figure("growth of a message without that search, largest by smallest graph", own[-1] / own[0], "x", "<= 1.5")]


def _messages(path: Path, graph: Graph) -> Iterator[tuple[int, Callable[[], object]]]:
    """The messages to be written into `path`, the first ones to warm up, each with its number and as a call that writes it."""
    model = ScriptedModel({"extract": says, "resolve": {"matches": []}, "judge": {"judgements": []}})
    clock = FixedClock(START + timedelta(days=2000))
    with graphmem.open(path, model=model, embedder=EMBEDDER, clock=clock) as memory:
        for number in range(-WARM, MESSAGES):
            clock.advance(seconds=1)
            actor = name((number + WARM) * 331 % graph.entities)
            yield number, partial(memory.add_message, actor, text(number, graph), reference_time=clock.now())


def _timed(path: Path, plain: Path, graph: Graph, changes: Sequence[Changes]) -> tuple[list[float], list[float], list[float]]:
    """CPU seconds of each message, of the searches for who is meant in it, and of its changes through `sqlite3` alone.

    The two files take turns, so that both meet the same machine: the same load, and caches that other work has filled.
    """
    taken: list[float] = []
    scanned: list[float] = []
    bare: list[float] = []
    scans = Stopwatch()
    searches = SqliteReader.text_search, SqliteReader.vector_search
    SqliteReader.text_search, SqliteReader.vector_search = (scans.around(s) for s in searches)  # type: ignore[method-assign,assignment]
    try:
        with closing(sqlite3.connect(plain, isolation_level=None, cached_statements=256)) as raw:
            for pragma in ("synchronous = FULL", "temp_store = MEMORY", "secure_delete = ON", "cache_size = -16384"):
                raw.execute(f"PRAGMA {pragma}")
            for number, write in _messages(path, graph):
                if number == 0:
                    _settled(path)
                before, began = scans.seconds, time.process_time()
                write()
                ended = time.process_time()
                if number >= 0:
                    taken.append(ended - began)
                    scanned.append(scans.seconds - before)
                    bare.append(_replayed(raw, changes[number]))
    finally:
        SqliteReader.text_search, SqliteReader.vector_search = searches  # type: ignore[method-assign]
    return taken, scanned, bare


def _changes(path: Path, plain: Path, graph: Graph) -> list[Changes]:
    """What each message changes, statement by statement; `plain` is a copy from just before the first of them."""
    changes: list[Changes] = []
    real = sqlite3.connect
    sqlite3.connect = lambda *a, **k: real(*a, **{**k, "factory": Recording})  # type: ignore[assignment]
    try:
        for number, write in _messages(path, graph):
            if number == 0:
                _settled(path)
                shutil.copy(path, plain)
            Recording.kept = []
            write()
            changes.append(Recording.kept)
    finally:
        Recording.kept = None
        sqlite3.connect = real
    return changes[WARM:]


def text(number: int, graph: Graph) -> str:
    """Somebody met somebody known and somebody new."""
    known = name((number * 7919) % graph.entities)
    return f"I met {known} again. {known} told me about {word(900_000 + number).title()} {word(910_000 + number).title()}."


def says(ask: Ask) -> dict[str, object]:
    """The speaker, who is known, and two facts."""
    said = str(ask.payload["text"])
    known = said[len("I met ") : said.index(" again.")]
    new = said[said.index("about ") + len("about ") : -1]
    entities = [{"name": n, "type": "Person"} for n in (ask.payload["actor"], known, new)]
    facts = [
        {"source": 0, "target": 1, "relation": RELATIONS[len(known) % len(RELATIONS)], "text": f"I met {known} again"},
        {"source": 1, "target": 2, "relation": "TOLD_ABOUT", "text": f"{known} told me about {new}"},
    ]
    return {"entities": entities, "facts": facts}


def _settled(path: Path) -> None:
    """Everything in the one file."""
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _replayed(raw: sqlite3.Connection, changes: Changes) -> float:
    """CPU seconds of the statements of one message, through `sqlite3` alone."""
    began = time.process_time()
    for sql, parameters, several in changes:
        if several:
            raw.executemany(sql, parameters)
        else:
            raw.execute(sql, parameters)
    return time.process_time() - began
