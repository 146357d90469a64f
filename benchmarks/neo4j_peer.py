"""Graphiti over a graph on Neo4j: run by `benchmarks/neo4j.py` in an environment that has `graphiti-core`.

Reads what to do from lines of standard input, and prints seconds: of each question; of each message, what passed and what client
and server computed. Its model answers from a script, its embedder counts spelling; what these two take is left out.
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
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

sys.path.pop(0)  # the folder of this file would hide the driver, which has the name of a benchmark
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from graphiti_core import Graphiti  # type: ignore[import-not-found,unused-ignore]
from graphiti_core.cross_encoder.client import CrossEncoderClient  # type: ignore[import-not-found,unused-ignore]
from graphiti_core.driver.neo4j_driver import Neo4jDriver  # type: ignore[import-not-found,unused-ignore]
from graphiti_core.embedder.client import EmbedderClient  # type: ignore[import-not-found,unused-ignore]
from graphiti_core.llm_client.client import LLMClient  # type: ignore[import-not-found,unused-ignore]
from graphiti_core.llm_client.config import LLMConfig  # type: ignore[import-not-found,unused-ignore]
from graphiti_core.nodes import EpisodeType  # type: ignore[import-not-found,unused-ignore]
from graphiti_core.search.search_config_recipes import COMBINED_HYBRID_SEARCH_RRF  # type: ignore[import-not-found,unused-ignore]
from neo4j import AsyncManagedTransaction, AsyncSession, AsyncTransaction

from benchmarks.measure import process_seconds
from benchmarks.peer import Translated, Watch
from graphmem.embed.hashing import HashingEmbedder

# A message may take seconds in a large graph: fewer are then played, and told.
WARM_SECONDS, SECONDS = 60.0, 90.0
LEAST = 8


class Clocks:
    """Time passed and CPU of this process, both without what the model and the embedder take."""

    def __init__(self) -> None:
        self._watches = Watch(time.perf_counter), Watch(time.process_time)

    def calling(self) -> ExitStack:
        """Around what is left out."""
        with ExitStack() as stack:
            for watch in self._watches:
                stack.enter_context(watch.calling())
            return stack.pop_all()

    def lap(self) -> tuple[float, float]:
        """Seconds since the last lap."""
        passed, cpu = (watch.lap()["engine"] for watch in self._watches)
        return passed, cpu


class Hashed(EmbedderClient):  # type: ignore[misc,unused-ignore]
    """The memory's embedder; texts that were there before are at hand."""

    def __init__(self, clocks: Clocks) -> None:
        self._embedder, self._clocks, self._known = HashingEmbedder(384), clocks, dict[str, list[float]]()

    def _of(self, texts: Sequence[str]) -> list[list[float]]:
        with self._clocks.calling():
            new = [text for text in texts if text not in self._known]
            if new:
                self._known.update(zip(new, ([float(x) for x in row] for row in self._embedder.embed(new)), strict=True))
            return [self._known[text] for text in texts]

    async def create(self, input_data: Any) -> list[float]:
        """The vector of one text."""
        return self._of([input_data if isinstance(input_data, str) else input_data[0]])[0]

    async def create_batch(self, input_data_list: list[str]) -> list[list[float]]:
        """The vectors of several."""
        return self._of(input_data_list)


class Scripted(LLMClient):  # type: ignore[misc,unused-ignore]
    """Answers by the script, known by the schema that is asked for."""

    def __init__(self, script: Any, clocks: Clocks) -> None:
        super().__init__(LLMConfig(api_key="none", model="scripted", small_model="scripted"))
        self._answers, self._clocks = Translated(script), clocks

    async def generate_response(self, messages: Sequence[Any], response_model: Any = None, *_: Any, **__: Any) -> dict[str, Any]:
        """What the schema wants."""
        with self._clocks.calling():
            asked = SimpleNamespace(prompt=response_model.__name__, user="\n".join(m.content for m in messages))
            return cast(dict[str, Any], self._answers(cast(Any, asked)))

    async def _generate_response(self, *_: Any, **__: Any) -> dict[str, Any]:
        raise AssertionError("answered before")


class Unused(CrossEncoderClient):  # type: ignore[misc,unused-ignore]
    """The plain search ranks without one."""

    async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
        """Never asked."""
        raise AssertionError(query)


class Script:
    """What is said in each text; things are the same where they have the same name, and no fact ends another."""

    def __init__(self, messages: Sequence[Mapping[str, Any]]) -> None:
        self._said = {message["text"]: message for message in messages}

    def said(self, text: str) -> Mapping[str, Any]:
        """Entities and facts of a text."""
        return self._said[text]

    def same(self, name: str, candidates: Sequence[Mapping[str, Any]]) -> object:
        """The id of the candidate of that name."""
        return next((c["id"] for c in candidates if c["name"] == name), None)

    def judged(self, text: str, known: Mapping[Any, str]) -> tuple[list[Any], list[Any]]:
        """Facts that say the same."""
        return [i for i, other in known.items() if other == text], []

    def __call__(self, request: Any) -> object:
        raise AssertionError(f"no script for {request.prompt}")


async def searches(graphiti: Any, job: Mapping[str, Any]) -> dict[str, Any]:
    """Seconds by question, each asked once, and what this process computed for all: of its plain search, which finds facts, or of the
    `whole`, which finds entities and episodes too.
    """
    client, passed = time.process_time(), []
    for question in job["questions"]:
        began = time.perf_counter()
        if job["whole"]:
            await graphiti.search_(question, config=COMBINED_HYBRID_SEARCH_RRF, group_ids=[job["group"]])
        else:
            await graphiti.search(question, group_ids=[job["group"]])
        passed.append(time.perf_counter() - began)
    return {"passed": passed, "client": time.process_time() - client}


async def messages(graphiti: Any, job: Mapping[str, Any], clocks: Clocks, statements: list[str]) -> list[dict[str, float]]:
    """The cost of each message after those that warm up."""
    rows: list[dict[str, float]] = []
    warming, began = job["warm"], time.perf_counter()
    for message in job["messages"]:
        statements.clear()
        there = process_seconds(job["server"])
        clocks.lap()
        await graphiti.add_episode(
            name="message",
            episode_body=f"{message['actor']}: {message['text']}",
            source=EpisodeType.message,
            source_description="chat",
            reference_time=datetime.fromisoformat(message["at"]),
            group_id=job["group"],
        )
        passed, client = clocks.lap()
        both = client + process_seconds(job["server"]) - there
        spent = time.perf_counter() - began
        if warming:
            warming = warming - 1 if spent < WARM_SECONDS else 0
            began = began if warming else time.perf_counter()
            continue
        rows.append({"statements": len(statements), "client": client, "both": both, "passed": passed})
        if len(rows) == job["count"] or (spent > SECONDS and len(rows) >= LEAST):
            break
    return rows


def counted(statements: list[str]) -> None:
    """Every statement that the driver is given from now on is noted."""
    for kind in (AsyncSession, AsyncTransaction, AsyncManagedTransaction):
        run = kind.run

        def noted(self: Any, query: Any, *args: Any, run: Callable[..., Any] = run, **more: Any) -> Any:
            statements.append(str(query))
            return run(self, query, *args, **more)

        kind.run = noted  # type: ignore[method-assign]


async def main() -> None:
    """What each line of standard input asks for, as a line."""
    job = json.loads(sys.stdin.readline())
    clocks, statements = Clocks(), list[str]()
    driver = Neo4jDriver(job["uri"], *job["auth"])
    model = Scripted(Script(job.get("messages", [])), clocks)
    graphiti = Graphiti(graph_driver=driver, llm_client=model, embedder=Hashed(clocks), cross_encoder=Unused())
    await graphiti.build_indices_and_constraints()
    async with driver.client.session() as session:
        await (await session.run("CALL db.awaitIndexes(300)")).consume()
    counted(statements)
    while True:
        if "questions" in job:
            print(json.dumps(await searches(graphiti, job)), flush=True)
        if "messages" in job:
            print(json.dumps(await messages(graphiti, job, clocks, statements)), flush=True)
        if not (line := sys.stdin.readline()):
            break
        job = json.loads(line)
    await graphiti.close()


if __name__ == "__main__":
    asyncio.run(main())
