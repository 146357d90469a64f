"""A made-up memory of any size, written row by row through the store: quick to build, and one the engine can go on with."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from graphmem.belief.fold import fact_id
from graphmem.embed.base import Vectors
from graphmem.embed.hashing import HashingEmbedder
from graphmem.ingest.recorder import embedder_meta
from graphmem.interval import DateUnit, Interval
from graphmem.model import (
    Assertion,
    Bound,
    CitationVersion,
    EntityVersion,
    Episode,
    EpisodeKind,
    EpisodeRecord,
    FactKey,
    FactVersion,
    Mention,
    MentionVersion,
)
from graphmem.relations import DEFAULT_ONTOLOGY
from graphmem.runtime import canonical_json, content_id, content_uuid
from graphmem.search.words import indexed
from graphmem.stores.base import Kind, Writer
from graphmem.stores.sqlite import SqliteStore

GROUP = "main"
START = datetime(2020, 1, 1, tzinfo=UTC)
DIMENSION = 384
EMBEDDER = HashingEmbedder(DIMENSION)
FACTS_AN_ENTITY = 5
PIECES = 3
RELATIONS = ("KNOWS", "ADVISES", "VISITED", "SUPPLIES_TO", "REVIEWED", "MENTORS", "WROTE_TO", "PAINTED")
_BATCH = 2000
_SYLLABLES = (
    "ba",
    "da",
    "fo",
    "ga",
    "hi",
    "jo",
    "ka",
    "lu",
    "mi",
    "no",
    "pe",
    "qua",
    "ri",
    "sa",
    "to",
    "vu",
    "we",
    "xi",
    "yo",
    "ze",
    "bren",
    "dral",
    "fost",
    "glin",
)


def word(number: int) -> str:
    """A made-up word; different numbers give different words."""
    spelled = ""
    while True:
        number, syllable = divmod(number, len(_SYLLABLES))
        spelled += _SYLLABLES[syllable]
        if not number:
            return spelled + "n"


def name(number: int) -> str:
    """The name of an entity: a first name that several share, and a rarer last name."""
    return f"{word(600 + number % 700).title()} {word(20_000 + number // 2).title()}"


class Graph:
    """A file that grows: entities, about five facts each, an episode of three pieces for every two facts."""

    def __init__(self, path: Path, seed: int = 3) -> None:
        self.path, self.random = path, np.random.default_rng(seed)
        self.entities = self.facts = self.episodes = 0
        self.bodies: list[str] = []
        self._centres = self.random.normal(size=(2000, DIMENSION)).astype(np.float32)
        with closing(SqliteStore.open(path)) as store, store.write(GROUP) as tx:
            tx.put_meta("embedder", embedder_meta(EMBEDDER))
            tx.put_meta(f"ontology:{GROUP}", canonical_json(DEFAULT_ONTOLOGY.to_json()))

    def grow(self, entities: int) -> None:
        """Up to so many entities, with their facts and episodes."""
        with closing(SqliteStore.open(self.path)) as store:
            while self.entities < entities:
                with store.write(GROUP) as tx:
                    self._entities(tx, min(_BATCH, entities - self.entities))
            while self.facts < entities * FACTS_AN_ENTITY:
                with store.write(GROUP) as tx:
                    self._facts(tx, min(_BATCH, entities * FACTS_AN_ENTITY - self.facts))

    def _entities(self, tx: Writer, count: int) -> None:
        numbers = range(self.entities, self.entities + count)
        versions = [EntityVersion(content_uuid("entity", n), entity(n), GROUP, name(n), "Person", (), {}, Interval(START)) for n in numbers]
        tx.add_entities(versions, [indexed(v.name) for v in versions])
        tx.put_vectors(Kind.ENTITY, [v.id for v in versions], [0] * count, EMBEDDER.embed([v.name for v in versions]))
        self.entities += count

    def _facts(self, tx: Writer, count: int) -> None:
        sources = (self.random.power(0.5, count) * self.entities).astype(int)
        targets = (sources + 1 + (self.random.power(0.7, count) * (self.entities - 2)).astype(int)) % self.entities
        begun = self.random.integers(0, 40_000, count)
        lengths = np.where(self.random.random(count) < 0.4, 0, self.random.integers(1, 20_000, count))
        at = START + timedelta(minutes=self.facts + 1)
        records: list[EpisodeRecord] = []
        versions: list[FactVersion] = []
        keys: dict[str, tuple[str, FactKey] | None] = {}
        for pair in range(0, count, 2):
            rows = [
                (
                    entity(int(sources[n])),
                    RELATIONS[int(begun[n]) % len(RELATIONS)],
                    entity(int(targets[n])),
                    n,
                    int(sources[n]),
                    int(targets[n]),
                )
                for n in range(pair, min(pair + 2, count))
            ]
            record = self._episode(rows, at)
            records.append(record)
            for assertion, (_, _, _, n, _, _) in zip(record.assertions, rows, strict=True):
                key = FactKey(assertion.relation, assertion.source, assertion.target)
                start = START + timedelta(hours=int(begun[n]))
                end = start + timedelta(hours=int(lengths[n])) if lengths[n] else None
                identity = fact_id(GROUP, key)
                keys[assertion.id] = identity, key
                uuid = content_uuid("fact", identity, self.facts + n)
                versions.append(
                    FactVersion(
                        uuid,
                        identity,
                        GROUP,
                        key.relation,
                        key.source,
                        key.target,
                        assertion.text,
                        Interval(start, end),
                        Interval(at),
                        Bound(),
                        Bound(),
                    )
                )
        self._write(tx, records, versions, keys, at)
        self.facts += count

    def _episode(self, rows: Sequence[tuple[str, str, str, int, int, int]], at: datetime) -> EpisodeRecord:
        number = self.episodes
        self.episodes += 1
        said = [f"{name(s)} {relation.lower().replace('_', ' ')} {name(t)}" for _, relation, _, _, s, t in rows]
        common = [word(int(w)) for w in np.minimum(self.random.zipf(1.2, 40), 30_000)]
        body = ". ".join([*said, " ".join(common[:20]), " ".join(common[20:])]) + "."
        self.bodies.append(body)
        identity = content_id("ep", GROUP, number)
        told = START + timedelta(minutes=number + 1)
        episode = Episode(
            identity,
            GROUP,
            EpisodeKind.TEXT,
            body,
            told,
            f"key {number}",
            number + 1,
            at + timedelta(microseconds=number),
            session=f"s{number // 20}",
        )
        assertions = tuple(
            Assertion(content_id("as", identity, n), identity, n, source, relation, target, text, start=DateUnit.at(told))
            for n, ((source, relation, target, *_), text) in enumerate(zip(rows, said, strict=True))
        )
        ends = list(dict.fromkeys(end for a in assertions for end in (a.source, a.target)))
        mentions = tuple(Mention(identity, n, end, end, "Person") for n, end in enumerate(ends))
        return EpisodeRecord(episode, assertions, mentions)

    def _write(
        self,
        tx: Writer,
        records: Sequence[EpisodeRecord],
        versions: Sequence[FactVersion],
        keys: dict[str, tuple[str, FactKey] | None],
        at: datetime,
    ) -> None:
        for record in records:
            tx.append_episode(record)
        tx.set_keys(GROUP, keys)
        tx.add_facts(versions, [indexed(v.text) for v in versions])
        tx.put_vectors(Kind.FACT, [v.uuid for v in versions], [0] * len(versions), self.vectors(len(versions)))
        assertions = [a for r in records for a in r.assertions]
        cited = [CitationVersion(v.fact_id, v.valid.start, a.episode, a.id) for v, a in zip(versions, assertions, strict=True)]
        tx.change_citations(GROUP, [], cited, at)
        tx.change_mentions(GROUP, [], [MentionVersion(m, m.entity, Interval(at)) for r in records for m in r.mentions], at)
        ids = [r.episode.id for r in records]
        tx.show_episodes(GROUP, ids, at, {r.episode.id: indexed(r.episode.body) for r in records})
        owners = [i for i in ids for _ in range(PIECES)]
        tx.put_vectors(Kind.EPISODE, owners, [n % PIECES for n in range(len(owners))], self.vectors(len(owners)))

    def vectors(self, count: int) -> Vectors:
        """Unit vectors in clusters, as those of texts are."""
        rows = self._centres[self.random.integers(0, len(self._centres), count)]
        rows = rows + 0.7 * self.random.normal(size=(count, DIMENSION)).astype(np.float32)
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def entity(number: int) -> str:
    """The id of an entity."""
    return content_id("en", GROUP, "made up", number)
