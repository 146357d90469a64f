"""What proposing duplicates costs among 5,000 and among 20,000 people, a hundredth of whom are there twice, a letter amiss."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np

import graphmem
from benchmarks.graphs import EMBEDDER, GROUP, START, entity, name
from benchmarks.measure import Figure, cpu
from graphmem.ingest.recorder import embedder_meta
from graphmem.interval import Interval
from graphmem.model import EntityVersion
from graphmem.relations import DEFAULT_ONTOLOGY
from graphmem.runtime import canonical_json, content_uuid
from graphmem.search.words import indexed
from graphmem.stores.base import Kind
from graphmem.stores.sqlite import SqliteStore
from graphmem.testing import FixedClock, ScriptedModel

SIZES = (5_000, 20_000)
_SHARE = 100


def people(path: Path, count: int, seed: int = 5) -> set[frozenset[str]]:
    """A file of so many people; the pairs of ids that are one."""
    random = np.random.default_rng(seed)
    twice = sorted(random.choice(count, count // _SHARE, replace=False).tolist())
    called = {entity(n): name(n) for n in range(count)}
    called |= {entity(count + n): _amiss(name(n), random) for n in twice}
    versions = [EntityVersion(content_uuid("entity", i), i, GROUP, n, "Person", (), {}, Interval(START)) for i, n in called.items()]
    with closing(SqliteStore.open(path)) as store, store.write(GROUP) as tx:
        tx.put_meta("embedder", embedder_meta(EMBEDDER))
        tx.put_meta(f"ontology:{GROUP}", canonical_json(DEFAULT_ONTOLOGY.to_json()))
        tx.add_entities(versions, [indexed(v.name) for v in versions])
        tx.put_vectors(Kind.ENTITY, [v.id for v in versions], [0] * len(versions), EMBEDDER.embed([v.name for v in versions]))
    return {frozenset((entity(n), entity(count + n))) for n in twice}


def _amiss(called: str, random: np.random.Generator) -> str:
    """The name without one letter of its last word, not the first one."""
    first, last = called.split()
    at = int(random.integers(1, len(last)))
    return f"{first} {last[:at]}{last[at + 1 :]}"


def figures(folder: Path) -> list[Figure]:
    """CPU seconds at both sizes, how they grow, and how many of the pairs that are one come first."""
    return list(_figures(folder))


def _figures(folder: Path) -> Iterator[Figure]:
    seconds = []
    for count in SIZES:
        path = folder / f"people{count}.db"
        twice = people(path, count)
        with graphmem.open(path, model=ScriptedModel({}), embedder=EMBEDDER, clock=FixedClock(START)) as mem:
            mem.duplicates(limit=1)  # the file's pages are read once
            seconds.append(cpu(partial(mem.duplicates, limit=len(twice))))
            found = {frozenset((d.entity.id, d.other.id)) for d in mem.duplicates(limit=len(twice))}
        yield Figure(f"proposals among {count:,} entities", seconds[-1], "s", "<= 20" if count == SIZES[-1] else None)
        yield Figure(f"pairs a letter apart among the first {len(twice)} of {count:,}", len(found & twice) / len(twice), "", ">= 0.8")
    yield Figure("growth of the time with four times as many entities", seconds[1] / seconds[0], "x", "<= 6")
