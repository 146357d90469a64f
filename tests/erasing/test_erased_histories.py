"""Random histories with erases on real stores: every past instant is believed as if what was erased had never been said."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
import pytest

from graphmem.belief.audit import history_hash, state_hash, verify_group
from graphmem.belief.fold import fact_id, fold
from graphmem.belief.ledger import Indexing, Ledger
from graphmem.embed.hashing import HashingEmbedder
from graphmem.entries import created_at
from graphmem.ingest.erasing import Eraser, Wanted
from graphmem.model import AsOf, EpisodeRecord, LogEntry, Operation, OperationKind
from graphmem.runtime import canonical_json
from graphmem.stores.base import Store
from graphmem.stores.memory import MemoryStore
from graphmem.stores.sqlite import SqliteStore
from graphmem.testing import ONTOLOGY, FixedClock, random_history, rows_of, stories
from graphmem.testing.oracle import Oracle

GROUP = "main"
EMBEDDER = HashingEmbedder(dimension=32)
INDEXING = Indexing(
    words=lambda text: text.casefold(),
    episode_words=lambda record: record.episode.body.casefold() or "nothing",
    episode_pieces=lambda record: [record.episode.body or "nothing"],
    embed=lambda texts: np.asarray(EMBEDDER.embed(list(texts)), dtype=np.float32),
)
STORES: dict[str, Callable[[Path], Store]] = {
    "memory": lambda folder: MemoryStore(),
    "sqlite": lambda folder: SqliteStore.open(folder / "memory.db"),
}
Believed = set[tuple[object, ...]]


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened = STORES[request.param](tmp_path)
    yield opened
    opened.close()


def write(store: Store, log: list[LogEntry]) -> None:
    """A log as it is, entry by entry."""
    ledger = Ledger(INDEXING)
    with store.write(GROUP) as tx:
        tx.put_meta(f"ontology:{GROUP}", canonical_json(ONTOLOGY.to_json()))
    for entry in log:
        with store.write(GROUP) as tx:
            ledger.record(tx, entry, ONTOLOGY)


def read(store: Store) -> list[LogEntry]:
    """The log that a store has."""
    with store.read() as reader:
        return list(reader.log(GROUP))


def eraser(store: Store) -> Eraser:
    """With a clock that stands behind the history."""
    return Eraser(store, INDEXING, FixedClock("2026-12-24T00:00Z"))


def believed(store: Store, at: object) -> Believed:
    with store.read() as reader:
        found = reader.facts([GROUP], AsOf(None, at))  # type: ignore[arg-type]
        return {(v.fact_id, v.source, v.target, v.text, v.valid, v.start, v.end) for v in found}


def folded(log: list[LogEntry]) -> Believed:
    return {(fact_id(GROUP, p.key), p.source, p.target, p.text, p.valid, p.start, p.end) for p in fold(log, ONTOLOGY)}


def hashes(store: Store) -> tuple[str, str]:
    with store.read() as reader:
        return state_hash(reader, GROUP), history_hash(reader, GROUP)


def check(store: Store, unsaid: list[LogEntry]) -> None:
    """Every instant is that of `unsaid`, the log without what was erased; nothing is broken; replayed it is the same."""
    for n, entry in enumerate(unsaid, 1):
        assert believed(store, created_at(entry)) == folded(unsaid[:n]), f"after entry {n}: {entry}"
    assert believed(store, None) == folded(unsaid)
    log = read(store)
    stamps = [(e.seq, created_at(e)) for e in log]
    assert all(one < other and at < then for (one, at), (other, then) in pairwise(stamps))
    with store.read() as reader:
        assert [v for v in verify_group(reader, GROUP, ONTOLOGY) if v.kind != "bad_ends"] == []
        assert reader.verify() == []
    again = MemoryStore()
    write(again, log)
    assert hashes(again) == hashes(store)


def check_oracle(store: Store, unsaid: list[LogEntry]) -> None:
    """As the oracle, which knows no intervals, sees it: at every system instant, at every valid instant where anything changes."""
    for n, entry in enumerate(unsaid, 1):
        oracle = Oracle(unsaid[:n], ONTOLOGY)
        with store.read() as reader:
            for point in oracle.points:
                held = {v.fact_id for v in reader.facts([GROUP], AsOf(point, created_at(entry)))}
                assert held == {fact_id(GROUP, key) for key in oracle.true_at(point)}, f"after entry {n} at {point}"


def erase_episodes(store: Store, rng: Random, log: list[LogEntry]) -> list[LogEntry]:
    """Erase some episodes, one after another; the log without them."""
    episodes = [e for e in log if isinstance(e, EpisodeRecord)]
    chosen = {e.episode.id for e in rng.sample(episodes, min(len(episodes), rng.choice((1, 1, 2, 3))))}
    for episode in sorted(chosen):
        receipt = eraser(store).erase(GROUP, Wanted("episode", episode))
        assert (receipt.episodes, receipt.redacted, receipt.cleaned) == (1, 0, True)
    return [e for e in log if not (isinstance(e, EpisodeRecord) and e.episode.id in chosen)]


@pytest.mark.parametrize("seed", range(10))
def test_an_erased_episode_was_never_said(seed: int, store: Store) -> None:
    """Random histories with every kind of operation: at every past instant, the fold of the log without the erased episodes."""
    rng = Random(seed)
    log = random_history(rng, rng.randint(2, 10))
    write(store, log)
    check(store, erase_episodes(store, rng, log))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1600))
def test_an_erased_episode_of_a_longer_history_was_never_said(seed: int, store: Store) -> None:
    """The same, longer and many; the oracle agrees."""
    rng = Random(seed)
    log = random_history(rng, rng.randint(5, 22))
    write(store, log)
    unsaid = erase_episodes(store, rng, log)
    check(store, unsaid)
    check_oracle(store, unsaid)


@pytest.mark.parametrize("seed", range(3))
def test_the_oracle_sees_no_erased_episode(seed: int, store: Store) -> None:
    """Point by point on both axes."""
    rng = Random(seed)
    log = random_history(rng, rng.randint(3, 9))
    write(store, log)
    check_oracle(store, erase_episodes(store, rng, log))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2000, 2400))
def test_erased_entities_and_facts_of_longer_histories(seed: int, store: Store) -> None:
    """An entity, then a fact, of a longer history with every kind of operation: nothing is broken, and replayed it is the same."""
    rng = Random(seed)
    write(store, random_history(rng, rng.randint(5, 20)))
    records = [e for e in read(store) if isinstance(e, EpisodeRecord)]
    entity = rng.choice([m.entity for e in records for m in e.mentions])
    eraser(store).erase(GROUP, Wanted("entity", entity, deletes=rng.random() < 0.3))
    check(store, read(store))
    with store.read() as reader:
        assert reader.entity_versions(GROUP, [entity]) == []
        facts = reader.fact_versions(GROUP)
    if facts:
        eraser(store).erase(GROUP, Wanted("fact", rng.choice(facts).uuid))
        check(store, read(store))


def without_entity(log: list[LogEntry], entity: str) -> list[LogEntry]:
    """A log of episodes, without links, where nothing speaks of the entity."""
    out: list[LogEntry] = []
    for record in (e for e in log if isinstance(e, EpisodeRecord)):
        kept = tuple(a for a in record.assertions if entity not in (a.source, a.target))
        out.append(replace(record, assertions=kept, mentions=tuple(m for m in record.mentions if m.entity != entity)))
    return out


@pytest.mark.parametrize("seed", range(6))
def test_an_erased_entity_was_never_spoken_of(seed: int, store: Store) -> None:
    """At every past instant, the fold of the log without any claim about it; the other claims of its episodes stay."""
    rng = Random(seed)
    log = random_history(rng, rng.randint(2, 10), acts=False, links=False)
    write(store, log)
    entity = rng.choice([m.entity for e in log if isinstance(e, EpisodeRecord) for m in e.mentions])
    receipt = eraser(store).erase(GROUP, Wanted("entity", entity))
    assert receipt.entities == 1
    check(store, without_entity(log, entity))
    with store.read() as reader:
        assert reader.entity_versions(GROUP, [entity]) == []
        assert reader.mention_records(GROUP, [entity]) == []


@pytest.mark.parametrize("seed", range(8))
def test_an_erased_entity_leaves_a_sound_history_whatever_was_done_to_it(seed: int, store: Store) -> None:
    """Merged, split, renamed, corrected: nothing of it is left at any instant, in any row, and nothing is broken."""
    rng = Random(seed)
    log = random_history(rng, rng.randint(3, 12))
    write(store, log)
    records = [e for e in log if isinstance(e, EpisodeRecord)]
    entity = rng.choice([m.entity for e in records for m in e.mentions])
    target = eraser(store)
    target.erase(GROUP, Wanted("entity", entity, deletes=rng.random() < 0.3))
    left = read(store)
    check(store, left)
    for entry in left:
        if isinstance(entry, EpisodeRecord):
            assert entity not in {m.entity for m in entry.mentions} | {e for a in entry.assertions for e in (a.source, a.target)}
        else:
            assert entity not in entry.targets


@pytest.mark.parametrize("seed", range(6))
def test_an_erased_fact_was_never_claimed(seed: int, store: Store) -> None:
    """What spoke of it is gone at every instant; other claims of its episodes stay unless they were read from the same words."""
    rng = Random(seed)
    log = random_history(rng, rng.randint(2, 10), acts=False)
    write(store, log)
    with store.read() as reader:
        facts = reader.fact_versions(GROUP)
        if not facts:
            return
        chosen = rng.choice(facts).fact_id
        gone = {a.id for a in reader.assertions(GROUP, facts=[chosen])} | {c.by for c in reader.citations_ever(GROUP, [chosen])}
    eraser(store).erase(GROUP, Wanted("fact", chosen, deletes=False))
    left = read(store)
    check(store, left)
    with store.read() as reader:
        assert gone.isdisjoint({v.text for v in reader.fact_versions(GROUP)})  # a text here is the id of its assertion
    for record in (e for e in left if isinstance(e, EpisodeRecord)):
        assert gone.isdisjoint(record.episode.body.split())
        assert gone.isdisjoint({a.text for a in record.assertions})


@pytest.mark.parametrize(
    "story", [s for s in stories() if "erase" in s.title.casefold() or s.title.startswith("37")], ids=lambda s: s.title
)
def test_the_story_of_the_erased_employer(story, store: Store) -> None:  # type: ignore[no-untyped-def]
    """Acme 2020, Globex 2021, Initech 2023, Globex erased: at every system time Acme runs on until Initech."""
    erased = story._erased
    told = replace_erased(story)
    write(store, told)
    for episode in erased:
        eraser(store).erase(GROUP, Wanted("episode", episode))
    unsaid = story.log()
    check(store, unsaid)
    assert rows_of(fold(unsaid, ONTOLOGY)) == story.rows


def replace_erased(story) -> list[LogEntry]:  # type: ignore[no-untyped-def]
    """The story's log with what it erases later."""
    erased, story._erased = story._erased, set()
    try:
        return story.log()  # type: ignore[no-any-return]
    finally:
        story._erased = erased


@pytest.mark.parametrize("seed", range(3))
def test_erases_go_on_a_log_with_tombstones(seed: int, store: Store) -> None:
    """Erase, write on, erase again: positions and instants go on, and operations on what was erased have no effect."""
    rng = Random(seed)
    log = random_history(rng, rng.randint(4, 9))
    write(store, log)
    unsaid = erase_episodes(store, rng, log)
    last = read(store)[-1]
    assert isinstance(last, Operation)
    assert last.kind is OperationKind.ERASE
    more = [
        replace(
            e,
            episode=replace(e.episode, id=f"n{n}", key=f"n{n}", seq=last.seq + n, created_at=created_at(last) + timedelta(days=n)),
            assertions=(),
            mentions=(),
            links=(),
        )
        for n, e in enumerate([e for e in log if isinstance(e, EpisodeRecord)][:2], 1)
    ]
    write(store, list(more))
    left = [e for e in unsaid if isinstance(e, EpisodeRecord)]
    if left:
        gone = left[0].episode.id
        eraser(store).erase(GROUP, Wanted("episode", gone))
        unsaid = [e for e in unsaid if not (isinstance(e, EpisodeRecord) and e.episode.id == gone)]
    check(store, [*unsaid, *more])
