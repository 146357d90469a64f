"""The same conversation through Graphiti and through graphmem, turn by turn: what each asks of the endpoint, and its CPU time.

    python benchmarks/endpoint.py --parts --peer /path/to/python

The Python named is that of an environment of its own with `graphiti-core` and `kuzu`; nothing else here needs them. Both engines
run in a process of their own, one after the other, against one scripted endpoint that answers both from the same record, with
the same embedder. Where the two ask for different things, the answer that costs Graphiti least is given: every fact dated, so
that no question about dates follows. Its telemetry is off.
"""

from __future__ import annotations

import ast
import asyncio
import json
import os
import re
import subprocess
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Protocol

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parent.parent)  # the folder of this file would hide the driver neo4j

from benchmarks.measure import Figure

if TYPE_CHECKING:
    from benchmarks.datasets import Turn
    from graphmem.testing.endpoint import Request

_DELAY = 0.03
"""Seconds that the endpoint takes, so that requests sent side by side can be told from those sent one after another."""
_DIMENSION = 256
_LONGEST_SUMMARY = 500
_SIDE_BY_SIDE = ("calls", "tokens", "rounds", "engine", "whole")


class Script(Protocol):
    """Who answers graphmem's prompts, and knows what is in a text and which names and sentences are one."""

    def __call__(self, request: Request) -> object: ...
    def said(self, text: str) -> Mapping[str, Any]: ...
    def same(self, name: str, candidates: Sequence[Mapping[str, Any]]) -> object: ...
    def judged(self, text: str, known: Mapping[Any, str]) -> tuple[list[Any], list[Any]]: ...


class Translated:
    """Answers Graphiti's prompts, known by the schemas they ask for, from the script that answers graphmem's."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._prompts: dict[str, Callable[[str], object]] = {
            "ExtractedEntities": self._entities,
            "ExtractedEdges": self._facts,
            "NodeResolutions": self._resolved,
            "EdgeDuplicate": self._compared,
            "SummarizedEntities": self._summaries,
        }

    def __call__(self, request: Request) -> object:
        asked = self._prompts.get(request.prompt)
        return asked(request.user) if asked else self._script(request)

    def _message(self, prompt: str) -> tuple[str, Mapping[str, Any]]:
        """Who speaks, and what the script says is in the message."""
        speaker, _, text = (_part(prompt, "CURRENT MESSAGE") or _part(prompt, "CURRENT_MESSAGE")).partition(": ")
        return speaker, self._script.said(text)

    def _entities(self, prompt: str) -> object:
        speaker, said = self._message(prompt)
        found = dict.fromkeys((speaker, *(e["name"] for e in said["entities"])))
        return {"extracted_entities": [{"name": n, "entity_type_id": 0, "episode_indices": [0]} for n in found]}

    def _facts(self, prompt: str) -> object:
        _, said = self._message(prompt)
        now = _part(prompt, "REFERENCE_TIME").partition("#")[0].strip().replace(" ", "T")
        rows = [
            {
                "source_entity_name": f["source"],
                "target_entity_name": f["target"],
                "relation_type": re.sub(r"\W+", "_", f["relation"]).upper(),
                "fact": f["text"],
                "valid_at": now,
                "invalid_at": None,
                "episode_indices": [0],
            }
            for f in said["facts"]
        ]
        return {"edges": rows}

    def _resolved(self, prompt: str) -> object:
        known = [{"id": e["candidate_id"], "name": e["name"]} for e in json.loads(_part(prompt, "EXISTING ENTITIES") or "[]")]
        rows = []
        for entity in json.loads(_part(prompt, "ENTITIES")):
            match = self._script.same(entity["name"], known)
            rows.append({"id": entity["id"], "name": entity["name"], "duplicate_candidate_id": -1 if match is None else match})
        return {"entity_resolutions": rows}

    def _compared(self, prompt: str) -> object:
        facts = {f["idx"]: f["fact"] for f in ast.literal_eval(_part(prompt, "EXISTING FACTS") or "[]")}
        others = {f["idx"]: f["fact"] for f in ast.literal_eval(_part(prompt, "FACT INVALIDATION CANDIDATES") or "[]")}
        same, ended = self._script.judged(_part(prompt, "NEW FACT"), {**facts, **others})
        return {"duplicate_facts": [i for i in same if i in facts], "contradicted_facts": ended}

    def _summaries(self, prompt: str) -> object:
        rows = json.loads(_part(prompt, "ENTITIES") or "[]")
        return {"summaries": [{"name": r["name"], "summary": str(r.get("summary") or r["name"])[:_LONGEST_SUMMARY]} for r in rows]}


def _part(prompt: str, name: str) -> str:
    """What stands between the tags of that name, the first time."""
    found = re.search(rf"<{name}>\s*(.*?)\s*</{name}>", prompt, re.DOTALL)
    return found[1] if found else ""


# ------------------------------------------------------------------------------------------------ side by side


@dataclass
class _Played:
    """What one engine did: an entry an episode."""

    calls: list[int] = field(default_factory=list)
    rounds: list[int] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    engine: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)
    prompts: Counter[str] = field(default_factory=Counter)
    held: Mapping[str, int] = field(default_factory=dict)

    def figures(self, engine: str) -> list[Figure]:
        """The means, and what the graph holds at the end."""
        count, late = len(self.calls), self.engine[-50:]
        return [
            Figure(f"{engine}: calls an episode, mean", sum(self.calls) / count),
            Figure(f"{engine}: calls an episode, most", max(self.calls)),
            *(Figure(f"  of these {name}", n / count) for name, n in self.prompts.most_common()),
            Figure(f"{engine}: prompt tokens an episode, mean", sum(self.tokens) / count),
            Figure(f"{engine}: rounds of waiting an episode, mean", sum(self.rounds) / count),
            Figure(f"{engine}: episodes that wait one round or none", sum(n <= 1 for n in self.rounds) / count),
            Figure(f"{engine}: CPU an episode while no call is open", 1000 * sum(self.engine) / count, "ms"),
            Figure(f"{engine}: the same, last fifty episodes", 1000 * sum(late) / len(late), "ms"),
            Figure(f"{engine}: CPU an episode, the endpoint's client included", 1000 * sum(self.whole) / count, "ms"),
            *(Figure(f"  {name} at the end", n) for name, n in self.held.items()),
        ]


def compared(turns: Sequence[Turn], script: Script, python: str, token_count: Callable[[str], int]) -> list[Figure]:
    """The figures of both engines, graphmem's first."""
    played = {
        engine: _play(engine, python, turns, script, token_count) for engine, python in (("graphmem", sys.executable), ("Graphiti", python))
    }
    figures = [f for engine, one in played.items() for f in one.figures(engine)]
    ours, theirs = (asdict(one) for one in played.values())
    return [
        *figures,
        *(Figure(f"graphmem by Graphiti: {name}", sum(ours[name]) / sum(theirs[name]), "x", "<= 1") for name in _SIDE_BY_SIDE),
    ]


def _play(engine: str, python: str, turns: Sequence[Turn], script: Script, token_count: Callable[[str], int]) -> _Played:
    """One engine in a process of its own, a line to it and one back for each turn."""
    from graphmem.testing.endpoint import ScriptedEndpoint

    played = _Played()
    surroundings = {**os.environ, "GRAPHITI_TELEMETRY_ENABLED": "false", "EMBEDDING_DIM": str(_DIMENSION)}
    with TemporaryDirectory() as folder, ScriptedEndpoint(answer=Translated(script), delay=_DELAY) as endpoint:
        command = [python, __file__, engine, endpoint.base_url, folder]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=surroundings) as child:
            assert child.stdin is not None
            assert child.stdout is not None
            told = partial(_told, child.stdin, child.stdout)
            for turn in turns:
                before = len(endpoint.requests)
                taken = told({**asdict(turn), "at": turn.at.isoformat()})
                asked = endpoint.requests[before:]
                played.calls.append(len(asked))
                played.rounds.append(_rounds(asked))
                played.tokens.append(sum(token_count(r.system + r.user) for r in asked))
                played.prompts.update(r.prompt for r in asked)
                played.engine.append(taken["engine"])
                played.whole.append(taken["whole"])
            played.held = told({})
            child.stdin.close()
    return played


def _told(into: Any, out: Any, value: Mapping[str, object]) -> Any:
    into.write(json.dumps(value) + "\n")
    into.flush()
    line = out.readline()
    if not line:
        raise SystemExit("the engine's process ended; what it said stands above")
    return json.loads(line)


def _rounds(asked: Sequence[Request]) -> int:
    """How often one had to wait: requests sent before the first of a round can have been answered belong to that round."""
    count, until = 0, float("-inf")
    for request in sorted(asked, key=lambda r: r.at):
        if request.at >= until:
            count, until = count + 1, request.at + _DELAY
    return count


# ------------------------------------------------------------------------------------------------ the engines, in their processes


class Watch:
    """Seconds by a clock, that of this process's CPU: all of them, and those while no call to the model was open."""

    def __init__(self, clock: Callable[[], float] = time.process_time) -> None:
        self._clock = clock
        self._open, self._since, self._in_calls = 0, 0.0, 0.0
        self._began = clock()

    @contextmanager
    def calling(self) -> Iterator[None]:
        """Around a call to the model."""
        if not self._open:
            self._since = self._clock()
        self._open += 1
        try:
            yield
        finally:
            self._open -= 1
            if not self._open:
                self._in_calls += self._clock() - self._since

    def lap(self) -> dict[str, float]:
        """Since the last lap."""
        now = self._clock()
        whole, in_calls = now - self._began, self._in_calls
        self._began, self._in_calls = now, 0.0
        return {"whole": whole, "engine": whole - in_calls}


def _turns() -> Iterator[dict[str, Any]]:
    while row := json.loads(sys.stdin.readline() or "{}"):
        yield row


def _say(value: object) -> None:
    print(json.dumps(value), flush=True)


def graphmem(address: str, folder: str) -> None:
    """Plays the turns into graphmem."""
    import graphmem
    from graphmem.embed.hashing import HashingEmbedder
    from graphmem.llm.base import Answer, Ask
    from graphmem.llm.endpoint import EndpointModel

    watch = Watch()

    class Watched(EndpointModel):
        def answer_each(self, asks: Sequence[Ask], answered: Callable[[Ask, Answer], None]) -> list[Answer]:
            with watch.calling():
                return super().answer_each(asks, answered)

    model = Watched("scripted", base_url=address)
    with graphmem.open(Path(folder) / "memory.db", model=model, embedder=HashingEmbedder(_DIMENSION)) as memory:
        watch.lap()
        for t in _turns():
            memory.add_message(t["actor"], t["text"], reference_time=t["at"], session=t["session"], key=t["key"])
            _say(watch.lap())
        counts = memory.counts()
        _say({name: counts[name] for name in ("entities", "facts")})


def graphiti(address: str, folder: str) -> None:
    """Plays the turns into Graphiti, on Kuzu."""
    warnings.simplefilter("ignore")
    os.environ["GRAPHITI_TELEMETRY_ENABLED"] = "false"
    asyncio.run(_graphiti(address, folder))


async def _graphiti(address: str, folder: str) -> None:
    from graphmem.embed.hashing import HashingEmbedder

    core, nodes = import_module("graphiti_core"), import_module("graphiti_core.nodes")
    llm, config = import_module("graphiti_core.llm_client.openai_generic_client"), import_module("graphiti_core.llm_client.config")
    embedders, encoders = import_module("graphiti_core.embedder.client"), import_module("graphiti_core.cross_encoder.client")
    watch, hashing = Watch(), HashingEmbedder(_DIMENSION)

    class Watched(llm.OpenAIGenericClient):  # type: ignore[misc, name-defined]
        async def generate_response(self, *args: Any, **more: Any) -> Any:
            with watch.calling():
                return await super().generate_response(*args, **more)

    class Hashed(embedders.EmbedderClient):  # type: ignore[misc, name-defined]
        async def create(self, input_data: Any) -> list[float]:
            [vector] = hashing.embed([input_data] if isinstance(input_data, str) else list(input_data)[:1])
            return [float(x) for x in vector]

        async def create_batch(self, input_data_list: list[str]) -> list[list[float]]:
            return [[float(x) for x in vector] for vector in hashing.embed(input_data_list)]

    class Unranked(encoders.CrossEncoderClient):  # type: ignore[misc, name-defined]
        async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
            return [(passage, 1.0) for passage in passages]

    driver = import_module("graphiti_core.driver.kuzu_driver").KuzuDriver(db=str(Path(folder) / "graph.kuzu"))
    driver._database = ""  # which this driver lacks, and adding an episode needs
    await driver.graph_ops.build_indices_and_constraints(driver)  # the driver's own method builds nothing
    settings = config.LLMConfig(api_key="none", model="scripted", small_model="scripted", base_url=address)
    memory = core.Graphiti(graph_driver=driver, llm_client=Watched(settings), embedder=Hashed(), cross_encoder=Unranked())
    watch.lap()
    for t in _turns():
        await memory.add_episode(
            name=t["key"],
            episode_body=f"{t['actor']}: {t['text']}",
            source=nodes.EpisodeType.message,
            source_description="chat",
            reference_time=datetime.fromisoformat(t["at"]),
        )
        _say(watch.lap())
    held = {}
    for name, label in (("entities", "Entity"), ("facts", "RelatesToNode_")):
        rows, *_ = await driver.execute_query(f"MATCH (n:{label}) RETURN count(n) AS count")
        held[name] = rows[0]["count"]
    _say(held)
    await memory.close()


if __name__ == "__main__":
    {"graphmem": graphmem, "Graphiti": graphiti}[sys.argv[1]](*sys.argv[2:])
