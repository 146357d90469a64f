"""What a search costs in a large memory, against one int8 scan of all its vectors by numkong; and whether shortcuts lose anything."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from statistics import mean, median

import numpy as np

import graphmem
from benchmarks.graphs import DIMENSION, EMBEDDER, GROUP, PIECES, RELATIONS, START, Graph, entity, name, word
from benchmarks.measure import Figure, cpu
from graphmem.embed.base import Vectors
from graphmem.interval import Interval
from graphmem.model import AsOf
from graphmem.search.hits import Filters
from graphmem.search.words import indexed, words
from graphmem.stores.base import Kind
from graphmem.stores.sqlite import SqliteStore
from graphmem.testing import FixedClock, ScriptedModel

QUESTIONS = 24
NOW = START + timedelta(days=2000)
K1, B = 1.2, 0.75
# From filters that nothing or a single session passes to those that nearly everything does.
FILTERS = {
    "a session": Filters(sessions=("s17",)),
    "no actor": Filters(actors=("nobody",)),
    "an hour": Filters(reference=Interval(START, START + timedelta(hours=1))),
    "a month": Filters(reference=Interval(START, START + timedelta(days=30))),
    "a type": Filters(types=("Person",)),
    "no type": Filters(types=("Place",)),
    "a relation": Filters(relations=RELATIONS[:1]),
    "a valid time": Filters(valid=Interval(START, START + timedelta(days=30))),
    "an attribute": Filters(attributes={"colour": "red"}),
}
_FIRST_SEARCH = """
import json, resource, sys, time
import graphmem
from benchmarks.search_speed import opened
from pathlib import Path
graphmem.open
began = time.process_time()
memory = opened(Path(sys.argv[1]))
opening = time.process_time() - began
memory.search(sys.argv[2])
first = time.process_time() - began - opening
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
print(json.dumps([opening, first, peak]))
"""


class Remembered:
    """The benchmarks' embedder with vectors at hand: what is measured is the search, not the embedding."""

    name, dimension = EMBEDDER.name, EMBEDDER.dimension

    def __init__(self) -> None:
        self._known: dict[str, Vectors] = {}

    def embed(self, texts: Sequence[str]) -> Vectors:
        new = [t for t in texts if t not in self._known]
        self._known.update(zip(new, EMBEDDER.embed(new), strict=True))
        return np.stack([self._known[t] for t in texts])


def opened(path: Path) -> graphmem.Memory:
    """The graph as a memory."""
    return graphmem.open(path, model=ScriptedModel(), embedder=Remembered(), clock=FixedClock(NOW))


def questions(graph: Graph) -> list[str]:
    """Questions about entities of the graph, with words that are common, rare and unknown in it."""
    random = np.random.default_rng(11)
    return [
        f"When did {name(int(random.integers(graph.entities)))} see {word(int(random.integers(30)))} {word(int(random.integers(30, 3000)))}"
        f" {word(int(random.integers(3000, 30_000)))}?"
        for _ in range(QUESTIONS)
    ]


def figures(graph: Graph) -> list[Figure]:
    """Figures of the graph's file."""
    asked = questions(graph)
    size = f"{graph.facts // 1000}k facts, {graph.episodes // 1000}k episodes"
    scan = _scan(graph)
    with opened(graph.path) as memory:
        memory.search(asked[0])
        taken = []
        for question in asked:
            memory.search(question)
            taken.append(cpu(lambda q=question: memory.search(q), 3))  # type: ignore[misc]
        filtered = {name: _filtered(memory, asked, filters) for name, filters in FILTERS.items()}
    worst = max(filtered, key=lambda name: filtered[name])
    opening, first, peak = _first_search(graph.path, asked[0])
    return [
        Figure(f"one numkong int8 scan of all vectors, {size}", 1000 * scan, "ms"),
        Figure(f"a search, its question embedded already, {size}", 1000 * median(taken), "ms"),
        Figure("a search by one scan", median(taken) / scan, "x", "<= 4"),
        Figure(f"a filtered search by an unfiltered one, the dearest filter ({worst})", filtered[worst] / median(taken), "x", "<= 2"),
        Figure("expansion over two hops, stopped early", 1000 * _expansion(graph), "ms", "<= 5"),
        Figure("share of the best 20 by BM25 that a search by words keeps", _kept(graph, asked), "", ">= 0.9"),
        Figure("opening the file", 1000 * opening, "ms", "<= 50"),
        Figure("the first search, which loads the indexes", 1000 * first, "ms"),
        Figure("memory of a process after its first search", peak / 2**20, "MB", "<= 500"),
    ]


def _filtered(memory: graphmem.Memory, asked: Sequence[str], filters: Filters) -> float:
    """Median CPU seconds of a search with this filter, once its labels are loaded."""
    memory.search(asked[0], filters=filters)
    return median(cpu(lambda q=question: memory.search(q, filters=filters), 3) for question in asked[::3])  # type: ignore[misc]


def _scan(graph: Graph) -> float:
    """CPU seconds of one question against as many int8 vectors as the file holds."""
    import numkong

    count = graph.facts + graph.entities + PIECES * graph.episodes
    rows = np.random.default_rng(1).integers(-127, 128, (count, DIMENSION), dtype=np.int8)
    return cpu(lambda: numkong.cdist(rows[:1], rows, "dot", out_dtype="float32"), 15)


def _expansion(graph: Graph) -> float:
    """Median CPU seconds of two hops from three entities, until a hundred are known."""
    random = np.random.default_rng(5)
    with closing(SqliteStore.open(graph.path)) as store, store.read() as reader:
        at = AsOf(NOW, None)
        starts = [[entity(int(n)) for n in random.integers(0, graph.entities, 3)] for _ in range(20)]
        reader.neighbours(starts[0], [GROUP], at, hops=2, limit=100)
        return median(cpu(lambda s=s: reader.neighbours(s, [GROUP], at, hops=2, limit=100)) for s in starts)  # type: ignore[misc]


def _kept(graph: Graph, asked: Sequence[str]) -> float:
    """Mean share of the true best 20 episodes, by BM25 over all terms, that the store's text search gives."""
    documents = [Counter(indexed(body).split()) for body in graph.bodies]
    lengths = np.array([sum(d.values()) for d in documents])
    terms_of = [list(dict.fromkeys(words(q))) for q in asked]
    postings: dict[str, list[tuple[int, int]]] = {t: [] for terms in terms_of for t in terms}
    for number, document in enumerate(documents):
        for term in postings.keys() & document.keys():
            postings[term].append((number, document[term]))
    with closing(SqliteStore.open(graph.path)) as store, store.read() as reader:
        numbers = {e.id: int(e.key.split()[1]) for e in reader.episodes([GROUP], AsOf(), bodies=False)}
        shares = []
        for terms in terms_of:
            scores = np.zeros(len(documents))
            for term in terms:
                found = postings[term]
                weight = math.log(1 + (len(documents) - len(found) + 0.5) / (len(found) + 0.5))
                at = np.array([n for n, _ in found], dtype=int)
                often = np.array([c for _, c in found], dtype=float)
                scores[at] += weight * often * (K1 + 1) / (often + K1 * (1 - B + B * lengths[at] / lengths.mean()))
            best = np.argsort(-scores, kind="stable")[:20]
            wanted = {round(float(scores[n]), 6) for n in best if scores[n] > 0}
            given = reader.text_search(Kind.EPISODE, terms, [GROUP], AsOf(None, None), 20)
            got = [round(float(scores[numbers[f.id]]), 6) for f in given]
            shares.append(sum(s in wanted for s in got) / max(1, int((scores[best] > 0).sum())))
    return mean(shares)


def _first_search(path: Path, question: str) -> tuple[float, float, int]:
    """CPU seconds of opening and of the first search, and the peak memory in bytes, in a process of their own."""
    root = Path(__file__).resolve().parent.parent
    done = subprocess.run([sys.executable, "-c", _FIRST_SEARCH, str(path), question], capture_output=True, text=True, check=True, cwd=root)
    opening, first, peak = json.loads(done.stdout)
    return opening, first, peak
