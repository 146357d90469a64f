"""What ingesting text offline costs, against what spaCy alone takes for the same text; with the local embedder, spaCy and it."""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import graphmem
from benchmarks.datasets import locomo
from benchmarks.measure import Figure, cpu
from graphmem import samples
from graphmem.embed.base import Embedder
from graphmem.embed.hashing import HashingEmbedder
from graphmem.llm.offline.model import OfflineModel, pipeline
from graphmem.search.pieces import pieces

TURNS = 400


def episodes() -> tuple[str, list[dict[str, Any]]]:
    """Where the texts come from, and the episodes: LoCoMo where the data folder is, else the shipped chat, repeated."""
    folder = os.environ.get("GRAPHMEM_DATA")
    if folder and (Path(folder) / "locomo").is_dir():
        turns = next(iter(locomo(Path(folder)))).turns[:TURNS]
        return "LoCoMo", [{"actor": t.actor, "text": t.text, "reference_time": t.at, "session": t.session, "key": t.key} for t in turns]
    chat = [e for e in samples.episodes() if e.get("kind", "message") == "message"]
    rows = itertools.islice(itertools.cycle(chat), TURNS)
    kept = ("actor", "text", "reference_time", "session")
    return "the shipped chat", [{**{k: row[k] for k in kept if k in row}, "key": str(n)} for n, row in enumerate(rows)]


def figures() -> list[Figure]:
    """CPU by CPU of the least that could do it."""
    source, rows = episodes()
    texts = [str(row["text"]) for row in rows]
    model = OfflineModel()
    nlp = pipeline()
    list(nlp.pipe(texts[:20]))
    parsing = cpu(lambda: list(nlp.pipe(texts)), 2)
    _ingest(rows[:20], model, HashingEmbedder())
    with_hashing = cpu(lambda: _ingest(rows, model, HashingEmbedder()))
    from graphmem.embed.onnx import LocalEmbedder

    embedder = LocalEmbedder(remembered=0)
    embedder.embed(["warm"])
    parts = [piece for row in rows for piece in pieces(str(row["text"]), str(row["actor"]))]
    embedding = cpu(lambda: embedder.embed(parts))
    remembering = LocalEmbedder()
    remembering.embed(["warm"])
    with_local = cpu(lambda: _ingest(rows, model, remembering))
    count = len(rows)
    return [
        Figure(f"spaCy alone, a message of {source}", 1000 * parsing / count, "ms"),
        Figure(f"ingest with the hashing embedder, a message of {source}", 1000 * with_hashing / count, "ms"),
        Figure("speed of ingest, by spaCy alone", parsing / with_hashing, "x", ">= 0.6"),
        Figure(f"ingest with the local embedder, a message of {source}", 1000 * with_local / count, "ms"),
        Figure("cost of ingest, by spaCy and embedding the messages", with_local / (parsing + embedding), "x", "<= 1.3"),
    ]


def _ingest(rows: Sequence[dict[str, Any]], model: OfflineModel, embedder: Embedder) -> None:
    with tempfile.TemporaryDirectory() as folder, graphmem.open(Path(folder) / "m.db", model=model, embedder=embedder) as memory:
        memory.add_many(rows)
