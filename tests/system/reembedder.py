"""A process that re-embeds a memory until it is done or killed: `python reembedder.py WHERE SECONDS [USER PASSWORD]`.

Each batch of texts takes so many seconds. It prints how many items are done, once they are committed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

import graphmem
from graphmem.embed.base import Vectors
from graphmem.embed.hashing import HashingEmbedder
from graphmem.ingest import reembed


class Turned:
    """Another embedder of the same length as a hashing one: its numbers in reverse."""

    def __init__(self, dimension: int = 64, seconds: float = 0.0) -> None:
        self._hashing, self._seconds = HashingEmbedder(dimension), seconds
        self.name, self.dimension = f"turned/{dimension}", dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit rows; takes its time."""
        time.sleep(self._seconds)
        return self._hashing.embed(texts)[:, ::-1].copy()


def main(where: str, seconds: str, *auth: str) -> None:
    reembed.BATCH = 4
    print("open", flush=True)
    reach = {"auth": (auth[0], auth[1])} if auth else {}
    embedder = Turned(seconds=float(seconds))
    done = graphmem.reembed(where, embedder=embedder, progress=lambda done, _: print(done, flush=True), **reach)  # type: ignore[arg-type]
    print("resumed", done.resumed, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
