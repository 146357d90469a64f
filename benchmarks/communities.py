"""What a layer of communities costs: built from nothing on a file of 20,000 entities and 100,000 facts that hold, and grown.

Names and summaries are the offline ones; the rows are written through the store, without vectors.
"""

from __future__ import annotations

import resource
from collections.abc import Sequence
from contextlib import closing
from datetime import timedelta
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

import numpy as np

import graphmem
from benchmarks.graphs import EMBEDDER, GROUP, RELATIONS, START, entity, name, word
from benchmarks.measure import Figure, Stopwatch, cpu
from graphmem.belief.fold import fact_id
from graphmem.communities import growth
from graphmem.communities.detect import modularity
from graphmem.communities.layer import stored
from graphmem.communities.linked import linked
from graphmem.embed.base import Embedder, Vectors, embedder_meta
from graphmem.interval import Interval
from graphmem.model import AsOf, CitationVersion, EntityVersion, Episode, EpisodeKind, EpisodeRecord, FactKey, FactVersion
from graphmem.relations import DEFAULT_ONTOLOGY
from graphmem.runtime import canonical_json, content_id, content_uuid
from graphmem.search.words import indexed
from graphmem.stores.base import Writer
from graphmem.stores.sqlite import SqliteStore
from graphmem.testing import FixedClock, ScriptedModel

ENTITIES, FACTS = 20_000, 100_000
CIRCLES, INSIDE = 400, 0.8
_BATCH = 5_000


def planted(path: Path, entities: int = ENTITIES, facts: int = FACTS, seed: int = 3) -> None:
    """A file in which entities live in circles of unequal size, and four facts of five stay inside one."""
    random = np.random.default_rng(seed)
    circle = np.sort((random.power(0.6, entities) * CIRCLES).astype(int))
    first = np.searchsorted(circle, np.arange(CIRCLES + 1))
    sources = random.integers(0, entities, facts)
    homes = circle[sources]
    near = first[homes] + (random.power(0.7, facts) * (first[homes + 1] - first[homes])).astype(int)
    targets = np.where(random.random(facts) < INSIDE, near, random.integers(0, entities, facts))
    targets = np.where(targets == sources, (sources + 1) % entities, targets)
    with closing(SqliteStore.open(path)) as store:
        with store.write(GROUP) as tx:
            tx.put_meta("embedder", embedder_meta(EMBEDDER))
            tx.put_meta(f"ontology:{GROUP}", canonical_json(DEFAULT_ONTOLOGY.to_json()))
            versions = [
                EntityVersion(content_uuid("entity", n), entity(n), GROUP, name(n), "Person", (), {}, Interval(START))
                for n in range(entities)
            ]
            tx.add_entities(versions, [indexed(v.name) for v in versions])
        for begin in range(0, facts, _BATCH):
            with store.write(GROUP) as tx:
                _write(tx, sources, targets, range(begin, min(begin + _BATCH, facts)))


def _write(tx: Writer, sources: Sequence[int], targets: Sequence[int], numbers: range) -> None:
    """Facts, each cited by an episode of a hundred."""
    at = START + timedelta(minutes=numbers.start + 1)
    episodes = [content_id("ep", GROUP, n // 100) for n in numbers[::100]]
    for n, identity in zip(numbers[::100], episodes, strict=True):
        moment = at + timedelta(microseconds=n - numbers.start)
        episode = Episode(identity, GROUP, EpisodeKind.TEXT, f"facts from {n}", moment, identity, n // 100 + 1, moment)
        tx.append_episode(EpisodeRecord(episode))
    tx.show_episodes(GROUP, episodes, at, dict.fromkeys(episodes, "facts"))
    versions = []
    for n in numbers:
        source, target, relation = int(sources[n]), int(targets[n]), RELATIONS[n % len(RELATIONS)]
        identity = fact_id(GROUP, FactKey(relation, entity(source), entity(target)))
        text = f"{name(source)} {relation.lower().replace('_', ' ')} {name(target)}"
        uuid = content_uuid("fact", identity, n)
        valid, system = Interval(START + timedelta(hours=n // 10)), Interval(at)
        versions.append(FactVersion(uuid, identity, GROUP, relation, entity(source), entity(target), text, valid, system))
    tx.add_facts(versions, [indexed(v.text) for v in versions])
    cited = [
        CitationVersion(v.fact_id, v.valid.start, content_id("ep", GROUP, n // 100), v.uuid) for n, v in zip(numbers, versions, strict=True)
    ]
    tx.change_citations(GROUP, [], cited, at)


def opened(path: Path, communities: str | None = None, embedder: Embedder = EMBEDDER) -> graphmem.Memory:
    """The file, long after its last fact."""
    clock = FixedClock(START + timedelta(days=4_000))
    return graphmem.open(path, model=ScriptedModel({}), embedder=embedder, clock=clock, communities=communities)


def figures(folder: Path) -> list[Figure]:
    """Building by each algorithm, on three levels, and growing."""
    path = folder / "planted.db"
    planted(path)
    rows = []
    for algorithm, reach in (("leiden", "<= 3"), ("louvain", "<= 15")):
        rows += _building(path, algorithm, reach)
    rows += _growing(path)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    return [*rows, Figure("memory of the whole process at its most", peak, "GB", "<= 1")]


def _building(path: Path, algorithm: str, reach: str) -> list[Figure]:
    """What a layer costs, embedding its names and summaries apart, and how good it is."""
    embedder = _Watched()
    with opened(path, embedder=embedder) as mem:
        seconds = cpu(partial(mem.build_communities, algorithm=algorithm, resolution=(1.0, 1.0, 1.0)))
        with mem._scope.store.read() as reader:
            graph = linked(reader, GROUP, AsOf(START + timedelta(days=4_000))).graph
            home = stored(reader, GROUP, AsOf()).homes[0]
            number = {c: n for n, c in enumerate(sorted(set(home.values())))}
            labels = [number[home[node]] for node in graph.nodes]
            levels = len({v.level for v in reader.communities([GROUP], AsOf())})
    apart = embedder.watch.seconds
    return [
        Figure(f"build by {algorithm}, {ENTITIES:,} entities, {FACTS:,} facts, without embedding", seconds - apart, "s", reach),
        Figure(f"embedding its {embedder.texts:,} texts as hashed n-grams", apart, "s"),
        Figure(f"modularity by {algorithm}, {len(number)} communities on level 0, {levels} levels", modularity(graph, labels)),
    ]


class _Watched:
    """The embedder, with the time it takes."""

    name, dimension = EMBEDDER.name, EMBEDDER.dimension

    def __init__(self) -> None:
        self.watch, self.texts = Stopwatch(), 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.texts += len(texts)
        with self.watch.running():
            return EMBEDDER.embed(texts)


def _growing(path: Path) -> list[Figure]:
    """What growing takes of episodes of three facts, timed by itself, from one time that all was found anew to the next."""
    taken: list[float] = []
    grow = growth.grow

    def timed(*arguments: Any) -> None:
        taken.append(cpu(partial(grow, *arguments)))

    random = np.random.default_rng(5)
    episodes = FACTS // growth.EARNED + 1
    with opened(path, "incremental") as mem, patch.object(growth, "grow", timed):
        mem.build_communities(algorithm="leiden")
        seconds = cpu(lambda: [mem.add_facts(_three(random, n), key=str(n)) for n in range(episodes)])
    assert len(taken) == episodes
    return [
        Figure(f"an episode of three facts at {FACTS:,} facts, mean of {episodes}", 1000 * seconds / episodes, "ms"),
        Figure("growing the communities by it, where nothing is found anew, median", 1000 * median(taken), "ms"),
        Figure("growing the communities by it, mean, finding all anew once", 1000 * sum(taken) / episodes, "ms", "<= 10"),
        Figure("growing by the episode in which all is found anew", max(taken), "s"),
    ]


def _three(random: np.random.Generator, number: int) -> list[dict[str, str]]:
    """Facts between known entities, and one with a new one."""
    known = [name(int(n)) for n in random.integers(0, ENTITIES, 5)]
    pairs = [(known[0], known[1]), (known[2], known[3]), (known[4], f"Newcomer {word(number)}")]
    return [{"source": a, "relation": "knows", "target": b} for a, b in pairs]
