"""What a memory asks of a model's endpoint: calls and tokens an episode, rounds of waiting, and what concurrency brings.

    GRAPHMEM_DATA=/path/to/data python benchmarks/endpoint.py

Plays the first conversation of LoCoMo against a scripted endpoint on this machine. It answers extraction from triples that a
model wrote down for those turns, resolution and judging by rules of its own; what is measured is graphmem's part, not the
model's. Tokens are those of the o200k encoding where `bpe-openai` is installed, else characters by four.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import re
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parent.parent)  # the folder of this file would hide the driver neo4j

import graphmem
from benchmarks.datasets import Turn, data_folder, locomo
from benchmarks.measure import Figure, table
from benchmarks.peer import compared
from graphmem import names
from graphmem.embed.hashing import HashingEmbedder
from graphmem.llm.endpoint import EndpointModel
from graphmem.memory import Memory
from graphmem.testing.endpoint import Request, ScriptedEndpoint

_ENDS = re.compile(r"\b(no longer|stopped|quit|left|moved from|switched|instead of|cancelled)\b", re.IGNORECASE)
_SAME, _LIKE = 0.8, 0.34
ROOM = 20


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=400)
    parser.add_argument("--delay", type=float, default=0.3, help="seconds that the endpoint takes for an answer")
    parser.add_argument("--parts", nargs="*", choices=sorted(PARTS), default=list(PARTS))
    parser.add_argument(
        "--peer", metavar="PYTHON", help="also play it through Graphiti: the Python of an environment that has it, see peer.py"
    )
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    turns, brain = conversation(data_folder())
    if wanted.serve:
        with ScriptedEndpoint(answer=brain, delay=wanted.delay) as endpoint:
            print(endpoint.base_url, flush=True)
            sys.stdin.read()
        return
    missed = 0
    for part in wanted.parts:
        figures = PARTS[part](turns[: wanted.turns], brain, wanted.delay)
        print(table(part, figures), flush=True)
        missed += sum(f.reached is False for f in figures)
    if wanted.peer:
        figures = compared(turns[: wanted.turns], brain, wanted.peer, token_count)
        print(table("beside Graphiti", figures), flush=True)
        missed += sum(f.reached is False for f in figures)
    raise SystemExit(1 if missed else 0)


class Brain:
    """Answers each prompt: `said` maps a turn's text to what is in it."""

    def __init__(self, said: Mapping[str, Mapping[str, Any]]) -> None:
        self._said = said

    def __call__(self, request: Request) -> object:
        data = json.loads(request.user.partition("<data>")[2].partition("</data>")[0])
        match request.prompt:
            case "extract":
                return self.said(data["text"])
            case "resolve":
                return {"matches": [{"new": row["new"], "existing": self.same(row["name"], row["candidates"])} for row in data["new"]]}
            case "judge":
                texts = {row["id"]: row["text"] for row in data["facts"]}
                return {"judgements": [self._judgement(row, texts) for row in data["new"]]}
        raise ValueError(f"no script for {request.prompt!r}")

    def said(self, text: str) -> Mapping[str, Any]:
        """What is in a turn."""
        return self._said.get(text, {"entities": [], "facts": []})

    def same(self, name: str, candidates: Sequence[Mapping[str, Any]]) -> object:
        """The id of the candidate whose words are the same, plural or not."""
        wanted = _words(name)
        return next((c["id"] for c in candidates if _words(c["name"]) == wanted), None)

    def judged(self, text: str, known: Mapping[Any, str]) -> tuple[list[Any], list[Any]]:
        """Which known sentences say the same, and which are over if this is so."""
        likeness = {i: _likeness(text, other) for i, other in known.items()}
        same = [i for i, like in likeness.items() if like >= _SAME]
        return same, [i for i, like in likeness.items() if like >= _LIKE and i not in same] if _ENDS.search(text) else []

    def _judgement(self, row: Mapping[str, Any], texts: Mapping[str, str]) -> Mapping[str, object]:
        same, ended = self.judged(row["text"], {i: texts[i] for i in row.get("candidates", ()) if i in texts})
        return {"new": row["new"], "duplicates": same, "contradicts": ended}


def _words(text: str) -> frozenset[str]:
    return frozenset(
        w[:-1] if len(w) > 3 and w.endswith("s") else w for w in re.findall(r"\w+", text.casefold()) if w not in ("the", "a", "an")
    )


def _likeness(one: str, other: str) -> float:
    first, second = _words(one), _words(other)
    return len(first & second) / max(1, len(first | second))


def conversation(folder: Path) -> tuple[Sequence[Turn], Brain]:
    """The first conversation, and what a model found in its turns: recorded triples, else the set's own observations."""
    first = next(iter(locomo(folder)))
    triples: dict[str, list[tuple[str, str, str, str]]] = defaultdict(list)
    for line in (folder / "locomo-llm-triples" / f"{first.name}.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        triples[row["turn_ids"][0]].append((row["entity_1"], row["relation"], row["entity_2"], row["fact_text"]))
    observed = next(c for c in json.loads((folder / "locomo" / "locomo_dev5.json").read_text("utf-8")) if c["sample_id"] == first.name)
    for session in observed["observation"].values():
        for speaker, rows in session.items():
            for sentence, evidence in rows:
                key = evidence if isinstance(evidence, str) else evidence[0]
                if key not in triples and (about := _about(sentence, speaker)):
                    triples[key].append((speaker, sentence.split()[1], about, sentence))
    said = {}
    for turn in first.turns:
        rows = triples.get(turn.key, [])
        shown = dict.fromkeys(n for s, _, t, _ in rows for n in (s, t) if names.is_nameable(n))
        entities: list[dict[str, object]] = [{"name": n, "type": "Person" if n == turn.actor else "Thing", "aliases": []} for n in shown]
        facts = [
            {"source": s, "target": t, "relation": r, "text": text, "kind": "holds", "valid_at": None, "invalid_at": None, "still": False}
            for s, r, t, text in rows
            if s in shown and t in shown
        ]
        said[turn.text] = {"entities": entities, "facts": facts}
    return first.turns, Brain(said)


def _about(sentence: str, speaker: str) -> str | None:
    """The last few words of a sentence that are not the speaker's name: what it is about, near enough for a script."""
    found = [w for w in re.findall(r"[A-Za-z][\w'-]+", sentence.replace(speaker, "")) if len(w) > 3]
    return " ".join(found[-2:]) or None


# ------------------------------------------------------------------------------------------------ the parts


def calls(turns: Sequence[Turn], brain: Brain, delay: float) -> list[Figure]:
    """Turn by turn, as a chat comes in."""
    counted: list[Counter[str]] = []
    tokens: list[int] = []
    with TemporaryDirectory() as folder, ScriptedEndpoint(answer=brain) as endpoint, _opened(folder, endpoint.base_url) as memory:
        for turn in turns:
            before = len(endpoint.requests)
            memory.add_message(turn.actor, turn.text, reference_time=turn.at, session=turn.session, key=turn.key)
            asked = endpoint.requests[before:]
            counted.append(Counter(r.prompt for r in asked))
            tokens.append(sum(token_count(r.system + r.user) for r in asked))
        facts = memory.counts()["facts"]
        assert memory.verify() == []
    each = [sum(c.values()) for c in counted]
    by_prompt = sum(counted, Counter[str]())
    telling = [n for n, turn in zip(each, turns, strict=True) if brain.said(turn.text)["facts"]]
    return [
        Figure("calls an episode, mean", sum(each) / len(each), "", "<= 1.5"),
        Figure("calls an episode, most", max(each), "", "<= 4"),
        *(Figure(f"  of these {name}", count / len(each)) for name, count in by_prompt.most_common()),
        Figure("  in the episodes in which the script finds facts", sum(telling) / max(1, len(telling))),
        Figure("share of such episodes", len(telling) / len(each)),
        Figure("episodes that wait one round or none", sum(n <= 1 for n in each) / len(each), "", ">= 0.5"),
        Figure("prompt tokens an episode, mean", sum(tokens) / len(tokens), "", "<= 2000"),
        Figure("facts believed at the end", facts),
    ]


def concurrency(turns: Sequence[Turn], brain: Brain, delay: float) -> list[Figure]:
    """The same turns imported at once, with one request at a time and with eight."""
    taken: dict[int, float] = {}
    asked: dict[int, int] = {}
    hashes = set()
    for at_once in (1, 8):
        with TemporaryDirectory() as folder, _served(delay) as address, _opened(folder, address, at_once) as memory:
            memory.add_message("Mira", "The first message loads what the endpoint's client needs.", reference_time="2020-01-01T00:00Z")
            began = time.perf_counter()
            results = memory.add_many([_row(t) for t in turns], progress=False)
            taken[at_once] = time.perf_counter() - began
            asked[at_once] = sum(r.usage.calls for r in results)
            hashes.add(memory.state_hash())
    return [
        Figure("one at a time", taken[1], "s"),
        Figure("eight at once", taken[8], "s"),
        Figure("one by eight", taken[1] / taken[8], "x", ">= 6"),
        Figure("calls with eight at once, by calls with one", asked[8] / asked[1], "x"),
        Figure("different memories that come of it", len(hashes), "", "<= 1"),
    ]


def loop(turns: Sequence[Turn], brain: Brain, delay: float) -> list[Figure]:
    """An event loop with many adds in flight: how late it gets to a timer."""

    async def run(folder: str, address: str) -> float:
        model = EndpointModel("scripted", base_url=address, max_concurrency=ROOM)
        late, ended = 0.0, False

        async def watch() -> None:
            nonlocal late
            while not ended:
                due = time.perf_counter() + 0.001
                await asyncio.sleep(0.001)
                late = max(late, time.perf_counter() - due)

        async with graphmem.AsyncMemory.open(Path(folder) / "m.db", model=model, embedder=HashingEmbedder()) as memory:
            await memory.add_message("Mira", "The first message warms up.")
            # The collector's pauses grow with what a program has loaded: a service that minds them freezes that, as here.
            gc.collect()
            gc.freeze()
            watching = asyncio.create_task(watch())
            for start in range(0, min(len(turns), 10 * ROOM), ROOM):
                await asyncio.gather(
                    *(
                        memory.add_message(t.actor, t.text, reference_time=t.at, session=t.session, key=t.key)
                        for t in turns[start : start + ROOM]
                    )
                )
            ended = True
            await watching
        return late

    with TemporaryDirectory() as folder, _served(delay) as address:
        late = asyncio.run(run(folder, address))
    return [Figure(f"the longest that the loop waited, {ROOM} adds in flight, the collector frozen", 1000 * late, "ms", "<= 20")]


@contextmanager
def _served(delay: float) -> Iterator[str]:
    """The address of the endpoint in a process of its own, so that it takes no time from what is measured."""
    command = [sys.executable, __file__, "--serve", "--delay", str(delay)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.stdin.close()


def _opened(folder: str, address: str, at_once: int = 1) -> Memory:
    model = EndpointModel("scripted", base_url=address, max_concurrency=at_once)
    return graphmem.open(Path(folder) / "memory.db", model=model, embedder=HashingEmbedder())


def _row(turn: Turn) -> dict[str, object]:
    return {"actor": turn.actor, "text": turn.text, "reference_time": turn.at, "session": turn.session, "key": turn.key}


def token_count(text: str) -> int:
    """Tokens of the o200k encoding, or characters by four."""
    try:
        from bpe_openai import get_encoding
    except ImportError:
        return len(text) // 4
    return len(get_encoding("o200k_base").encode(text))


PARTS: dict[str, Callable[[Sequence[Turn], Brain, float], list[Figure]]] = {"calls": calls, "concurrency": concurrency, "loop": loop}


if __name__ == "__main__":
    main()
