"""Whatever was said and done: what was believed at one instant, with the difference applied, is what was believed at another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import combinations
from pathlib import Path
from random import Random

import numpy as np
import pytest

from graphmem.belief.ledger import Indexing, Ledger
from graphmem.embed.hashing import HashingEmbedder
from graphmem.entries import recorded_at
from graphmem.history.lines import Diff
from graphmem.model import AsOf, EntityVersion, FactVersion, LogEntry
from graphmem.results import EntityItem, FactItem
from graphmem.scope import Scope
from graphmem.stores.base import Store
from graphmem.stores.memory import MemoryStore
from graphmem.stores.sqlite import SqliteStore
from graphmem.testing import ONTOLOGY, random_history, stories
from graphmem.view import View

EMBEDDER = HashingEmbedder(dimension=32)
INDEXING = Indexing(
    words=lambda text: text.casefold(),
    episode_words=lambda record: record.episode.body.casefold() or "nothing",
    episode_pieces=lambda record: [record.episode.body or "nothing"],
    embed=lambda texts: np.asarray(EMBEDDER.embed(list(texts)), dtype=np.float32),
)
NOW = datetime(2027, 1, 1, tzinfo=UTC)
STORES: dict[str, Callable[[Path], Store]] = {
    "memory": lambda folder: MemoryStore(),
    "sqlite": lambda folder: SqliteStore.open(folder / "memory.db"),
}


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path):
    opened = STORES[request.param](tmp_path)
    yield opened
    opened.close()


def view_of(store: Store) -> View:
    return View(Scope(store, EMBEDDER, lambda reader, group: ONTOLOGY, ("main",), AsOf(), lambda: NOW, UTC))


def write(store: Store, log: list[LogEntry]) -> None:
    ledger = Ledger(INDEXING)
    for entry in log:
        with store.write("main") as tx:
            ledger.record(tx, entry, ONTOLOGY)


def instants(log: list[LogEntry]) -> list[datetime]:
    return [recorded_at(e) for e in log]


def content(item: FactItem | FactVersion | EntityItem | EntityVersion) -> tuple:
    """What is believed, without names of people, ids of facts, system times and citations."""
    if isinstance(item, FactItem | FactVersion):
        ends = (item.source_id, item.target_id) if isinstance(item, FactItem) else (item.source, item.target)
        return ("fact", item.relation, *ends, item.text, item.valid, item.start, item.end, repr(item.attributes))
    entity = item.entity if isinstance(item, EntityItem) else item
    return ("entity", entity.id, entity.name, entity.type, entity.aliases, repr(dict(sorted(entity.attributes.items()))))


def believed(store: Store, system: datetime) -> Counter[tuple]:
    with store.read() as reader:
        at = AsOf(None, system)
        return Counter(content(v) for v in (*reader.facts(["main"], at), *reader.entities(["main"], at)))


def applied(before: Counter[tuple], diff: Diff) -> Counter[tuple]:
    """The belief after every line; each takes away what was there."""
    after = Counter(before)
    for line in (line for line in diff if line.before is not None):
        assert after[content(line.before)], line
        after[content(line.before)] -= 1
    after.update(content(line.after) for line in diff if line.after is not None)
    return +after


def check(store: Store, log: list[LogEntry], rng: Random, most: int = 12) -> None:
    write(store, log)
    view, points = view_of(store), instants(log)
    points = [points[0] - timedelta(days=1), *points]
    pairs = list(combinations(points, 2))
    for since, until in rng.sample(pairs, min(len(pairs), most)):
        diff = view.diff(system=(since, until))
        assert applied(believed(store, since), diff) == believed(store, until), (since, until)
        for line in diff:
            assert since < line.at <= until
            assert line.cause is not None
            assert line.rule
            assert line.kind != "unchanged"
            assert [s.at for s in line.steps] == sorted(s.at for s in line.steps)


@pytest.mark.parametrize("seed", range(24))
def test_a_difference_leads_from_one_belief_to_the_other(seed: int, store: Store) -> None:
    """Random histories with every kind of statement and operation, between random instants."""
    rng = Random(seed)
    check(store, random_history(rng, rng.randint(2, 12)), rng)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2000, 2600))
def test_a_difference_leads_from_one_belief_to_the_other_in_longer_histories(seed: int, store: Store) -> None:
    """The same, longer and many."""
    rng = Random(seed)
    check(store, random_history(rng, rng.randint(5, 30)), rng, 40)


@pytest.mark.parametrize("story", list(stories()), ids=lambda s: s.title)
def test_every_step_of_a_story_has_a_rule_and_a_cause(story) -> None:
    """The stories of the specification, step by step."""
    check(MemoryStore(), story.log(), Random(0), 40)


@pytest.mark.parametrize("seed", range(16))
def test_what_turned_in_the_world_leads_from_one_valid_instant_to_the_other(seed: int, store: Store) -> None:
    """Facts that hold at one valid instant, with each beginning and each end applied, are those that hold at another."""
    rng = Random(seed)
    log = random_history(rng, rng.randint(2, 12))
    write(store, log)
    view = view_of(store)
    system = rng.choice(instants(log))
    with store.read() as reader:
        versions = reader.facts(["main"], AsOf(None, system))
    moments = sorted({m for v in versions for m in (v.valid.start, v.valid.end) if m is not None})
    for since, until in rng.sample(list(combinations(moments, 2)), min(8, len(moments) * (len(moments) - 1) // 2)):
        holding = {(v.fact_id, v.valid) for v in versions if since in v.valid}
        for line in view.diff(valid=(since, until), system=system):
            assert isinstance(line.thing, FactItem)
            assert since < line.at <= until
            if line.kind == "ended":
                holding.discard((line.thing.id, line.thing.valid))
            else:
                assert line.at == line.thing.valid.start
                holding.add((line.thing.id, line.thing.valid))
        assert holding == {(v.fact_id, v.valid) for v in versions if until in v.valid}
