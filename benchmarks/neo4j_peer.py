"""Graphiti's own search over a graph on Neo4j: run by `benchmarks/neo4j.py` in an environment that has `graphiti-core`.

Reads where the server is, questions and their vectors from standard input, and prints the seconds of each question, the fastest
of some times after one that warms the server. The vectors are given, so that no model's time counts.
"""

from __future__ import annotations

import os

os.environ["GRAPHITI_TELEMETRY_ENABLED"] = "false"
os.environ["EMBEDDING_DIM"] = "384"
os.environ.setdefault("OPENAI_API_KEY", "none")

import asyncio
import json
import sys
import time
from typing import Any

sys.path.pop(0)  # the folder of this file would hide the driver, which has the name of a benchmark

from graphiti_core import Graphiti  # type: ignore[import-not-found,unused-ignore]
from graphiti_core.cross_encoder.client import CrossEncoderClient  # type: ignore[import-not-found,unused-ignore]
from graphiti_core.embedder.client import EmbedderClient  # type: ignore[import-not-found,unused-ignore]

REPEATS = 5


class Given(EmbedderClient):  # type: ignore[misc,unused-ignore]
    """Vectors that are known already."""

    def __init__(self, vectors: dict[str, list[float]]) -> None:
        self._vectors = vectors

    async def create(self, input_data: Any) -> list[float]:
        """The vector of one text."""
        return self._vectors[input_data if isinstance(input_data, str) else input_data[0]]


class Unused(CrossEncoderClient):  # type: ignore[misc,unused-ignore]
    """The plain search ranks without one."""

    async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
        """Never asked."""
        raise AssertionError(query)


async def main(job: dict[str, Any]) -> list[float]:
    """Seconds by question."""
    user, password = job["auth"]
    vectors = dict(zip(job["questions"], job["vectors"], strict=True))
    graphiti = Graphiti(job["uri"], user, password, embedder=Given(vectors), cross_encoder=Unused())
    await graphiti.build_indices_and_constraints()
    async with graphiti.driver.client.session() as session:
        await (await session.run("CALL db.awaitIndexes(300)")).consume()
    taken = []
    for question in job["questions"]:
        await graphiti.search(question, group_ids=[job["group"]])
        times = []
        for _ in range(REPEATS):
            began = time.perf_counter()
            await graphiti.search(question, group_ids=[job["group"]])
            times.append(time.perf_counter() - began)
        taken.append(min(times))
    await graphiti.close()
    return taken


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(json.load(sys.stdin)))))
