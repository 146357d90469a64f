"""What a store must be able to do besides so that a memory can be moved: give all that it ever kept of an item, and take it as it is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

import numpy as np

from graphmem.embed.base import Vectors
from graphmem.interval import Interval
from graphmem.model import CitationVersion, EntityVersion, EpisodeRecord, FactKey, FactVersion, Head, MentionVersion
from graphmem.stores.base import Capability, Kind
from graphmem.stores.staging import StagingReader, StagingWriter

HALVES = np.dtype("<f2")
"""How a vector is written as bytes: half precision, as every store keeps it."""

BY_SCRIPT = '["a script"]'
"""What the setting `unfinished` says while a script fills a group, as JSON."""


def unfinished(group: str) -> str:
    """The setting that is there while a group is only the beginning of what it will be."""
    return f"copying:{group}"


def group_settings(group: str) -> tuple[str, ...]:
    """The settings that go with a group."""
    return tuple(f"{name}:{group}" for name in ("ontology", "usage", "communities"))


@dataclass(frozen=True, slots=True)
class EpisodeHistory:
    """An episode with all that was ever derived from it: which facts its assertions speak of, when it was visible, its indexed
    words (None: never shown), its mentions by canonical entity, and its vectors, a piece each.
    """

    record: EpisodeRecord
    keys: Mapping[str, tuple[str, FactKey] | None]
    shown: tuple[Interval, ...]
    words: str | None
    mentions: tuple[MentionVersion, ...]
    vectors: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class EntityHistory:
    """An entity with its versions, oldest first, the indexed words of the last, and the vectors of its names."""

    id: str
    versions: tuple[EntityVersion, ...]
    words: str
    vectors: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class FactHistory:
    """A fact with its versions, oldest first, the words and the vector (b"": none) of each, and everything that ever cited it."""

    id: str
    versions: tuple[FactVersion, ...]
    words: tuple[str, ...]
    vectors: tuple[bytes, ...]
    citations: tuple[CitationVersion, ...]


class HistoryReader(StagingReader, Protocol):
    """A reader that gives what was ever kept, page by page."""

    def extent(self, group: str) -> tuple[int, int]:
        """How many entities and how many facts the group ever had."""
        ...

    def ever_fact_ids(self, group: str, after: str, limit: int) -> list[str]:
        """The next ids of facts that ever had a version, in order, those after `after`."""
        ...

    def citations_ever(self, group: str, facts: Sequence[str]) -> list[CitationVersion]:
        """Every citation of these facts, believed now or not, in no order."""
        ...

    def mentions_ever(self, group: str, episodes: Sequence[str]) -> list[MentionVersion]:
        """Every mention in these episodes by canonical entity, believed now or not, in no order."""
        ...

    def shown_ever(self, group: str, episodes: Sequence[str]) -> dict[str, tuple[Interval, ...]]:
        """When these episodes were visible, oldest first; those that never were are left out."""
        ...

    def answers(self, after: str, limit: int) -> list[tuple[str, object, Mapping[str, object]]]:
        """The next recorded answers by key: key, value and note of those after `after`, of all groups."""
        ...


class HistoryWriter(HistoryReader, StagingWriter, Protocol):
    """A writer that takes what another store gave, as it is."""

    def load_episodes(self, group: str, episodes: Sequence[EpisodeHistory]) -> None:
        """Keep these episodes with what was derived from them; those that the log has already are not appended again."""
        ...

    def load_entities(self, group: str, entities: Sequence[EntityHistory]) -> None:
        """Keep these entities, of which the store has nothing yet."""
        ...

    def load_facts(self, group: str, facts: Sequence[FactHistory]) -> None:
        """Keep these facts, of which the store has nothing yet. The episodes that they cite are in the log."""
        ...

    def set_head(self, group: str, head: Head) -> None:
        """Say where the log ends, which may be after its last entry: that one may have been erased. Never goes back."""
        ...

    def clear_some(self, group: str, limit: int) -> bool:
        """Remove some derived rows of the group, if the store can do so by parts about `limit`; whether there may be more."""
        ...


class HistoryStore(Protocol):
    """A store whose transactions can do that."""

    capabilities: frozenset[Capability]

    def read(self) -> AbstractContextManager[HistoryReader]:
        """As `Store.read`."""
        ...

    def write(self, group: str) -> AbstractContextManager[HistoryWriter]:
        """As `Store.write`."""
        ...

    def close(self) -> None:
        """As `Store.close`."""
        ...


def episode_histories(reader: HistoryReader, group: str, records: Sequence[EpisodeRecord]) -> list[EpisodeHistory]:
    """These episodes, in their order, with all that was ever derived from them."""
    ids = [r.episode.id for r in records]
    spoken = reader.fact_ids(group, [a.id for r in records for a in r.assertions])
    keys = reader.keys(group, facts=sorted({f for f in spoken.values() if f is not None}))
    shown, words, vectors = reader.shown_ever(group, ids), reader.words(Kind.EPISODE, ids), _pieces(reader, Kind.EPISODE, ids)
    mentions: dict[str, list[MentionVersion]] = defaultdict(list)
    for version in reader.mentions_ever(group, ids):
        mentions[version.mention.episode].append(version)
    return [
        EpisodeHistory(
            record,
            {a.id: None if (f := spoken[a.id]) is None else (f, keys[f]) for a in record.assertions if a.id in spoken},
            shown.get(i, ()),
            words.get(i),
            tuple(sorted(mentions[i], key=lambda m: (m.mention.position, m.entity, _system(m.system)))),
            vectors.get(i, ()),
        )
        for i, record in zip(ids, records, strict=True)
    ]


def entity_histories(reader: HistoryReader, group: str, after: str, limit: int) -> list[EntityHistory]:
    """The next entities by id."""
    ids = reader.entity_ids(group, after, limit)
    versions: dict[str, list[EntityVersion]] = defaultdict(list)
    for version in reader.entity_versions(group, ids):
        versions[version.id].append(version)
    words, vectors = reader.words(Kind.ENTITY, ids), _pieces(reader, Kind.ENTITY, ids)
    return [EntityHistory(i, tuple(versions[i]), words.get(i, ""), vectors.get(i, ())) for i in ids]


def fact_histories(reader: HistoryReader, group: str, after: str, limit: int) -> list[FactHistory]:
    """The next facts by id."""
    ids = reader.ever_fact_ids(group, after, limit)
    versions: dict[str, list[FactVersion]] = defaultdict(list)
    for version in reader.fact_versions(group, facts=ids):
        versions[version.fact_id].append(version)
    citations: dict[str, list[CitationVersion]] = defaultdict(list)
    for citation in reader.citations_ever(group, ids):
        citations[citation.fact_id].append(citation)
    uuids = [v.uuid for i in ids for v in versions[i]]
    words, vectors = reader.words(Kind.FACT, uuids), _pieces(reader, Kind.FACT, uuids)
    return [
        FactHistory(
            i,
            tuple(versions[i]),
            tuple(words.get(v.uuid, "") for v in versions[i]),
            tuple(vectors.get(v.uuid, (b"",))[0] for v in versions[i]),
            tuple(sorted(citations[i], key=_order)),
        )
        for i in ids
    ]


def as_rows(vectors: Sequence[bytes]) -> Vectors:
    """Vectors written as bytes, a row each."""
    return np.stack([np.frombuffer(v, HALVES) for v in vectors]).astype(np.float32)


def _pieces(reader: HistoryReader, kind: Kind, owners: Sequence[str]) -> dict[str, tuple[bytes, ...]]:
    return {o: tuple(row.astype(HALVES).tobytes() for row in rows) for o, rows in reader.vectors(kind, owners).items()}


def _order(citation: CitationVersion) -> tuple[object, ...]:
    return (_instant(citation.valid_at), citation.episode, citation.by, _system(citation.system))


def _system(system: Interval) -> tuple[str, str]:
    return _instant(system.start), _instant(system.end)


def _instant(moment: datetime | None) -> str:
    return "" if moment is None else moment.isoformat()
