"""What the benchmarks share: conversations put into a memory through the public API, vectors kept between runs."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import graphmem
from benchmarks.datasets import Conversation, Question
from graphmem.embed.base import Embedder, Vectors
from graphmem.memory import Memory
from graphmem.model import AsOf
from graphmem.runtime import FixedClock
from graphmem.search.searcher import Request, search
from graphmem.settings import Settings
from graphmem.stores.base import Kind


class KeptEmbedder:
    """The local embedder, its vectors kept in a file (half precision, as stores keep them), so that a second run embeds nothing."""

    def __init__(self, folder: Path) -> None:
        from graphmem.embed.onnx import LocalEmbedder

        self._local: Embedder = LocalEmbedder(cache=Settings.from_environment().cache, remembered=0)
        self.name, self.dimension = self._local.name, self._local.dimension
        folder.mkdir(parents=True, exist_ok=True)
        self._file = sqlite3.connect(folder / f"{hashlib.sha256(self.name.encode()).hexdigest()[:12]}.db")
        self._file.execute("create table if not exists kept (text blob primary key, vector blob) without rowid")

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit rows, shape `(len(texts), dimension)`, float32."""
        out = np.empty((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            key = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).digest()
            found = self._file.execute("select vector from kept where text = ?", (key,)).fetchone()
            if found is None:
                vector = self._local.embed([text])[0].astype(np.float16)
                self._file.execute("insert into kept values (?, ?)", (key, vector.tobytes()))
            else:
                vector = np.frombuffer(found[0], dtype=np.float16)
            out[row] = vector
        self._file.commit()
        return out


class Asked:
    """A memory that holds one conversation, asked as of the instant of each question."""

    def __init__(self, memory: Memory, clock: FixedClock, keys: dict[str, str]) -> None:
        self.memory, self._clock, self._keys = memory, clock, keys

    def found(self, question: Question, limit: int) -> list[str]:
        """The turns found through the public API, best first, by their keys in the data set."""
        self._clock.set(question.at)
        return [self._keys[hit.id] for hit in self.memory.search(question.text, kinds=("episode",), limit=limit)]

    def rated(self, question: Question, limit: int) -> list[tuple[str, Mapping[str, float]]]:
        """The same with the features behind each score, which the public result leaves out."""
        scope = self.memory._scope
        request = Request(question.text, scope.groups, AsOf(question.at), question.at, scope.zone, limit, kinds=(Kind.EPISODE,))
        with scope.store.read() as reader:
            return [(self._keys[hit.id], hit.features) for hit in search(reader, scope.embedder, request).hits]


@contextmanager
def remembered(conversation: Conversation, embedder: Embedder) -> Iterator[Asked]:
    """A memory file that holds the turns, ingested offline."""
    clock = FixedClock(max(t.at for t in conversation.turns))
    with TemporaryDirectory() as folder, graphmem.open(Path(folder) / "memory.db", embedder=embedder, clock=clock) as memory:
        rows = [{"actor": t.actor, "text": t.text, "reference_time": t.at, "session": t.session, "key": t.key} for t in conversation.turns]
        results = memory.add_many(rows)
        yield Asked(memory, clock, {result.id: turn.key for result, turn in zip(results, conversation.turns, strict=True)})
