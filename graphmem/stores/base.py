"""The store contract: what a place for memories must do, and nothing about what memories mean.

A store keeps three kinds of rows. **Log rows** (episodes with their assertions and mentions, operations) are only
appended. **Key rows** say which fact each assertion speaks of now. **Version rows** (facts, citations, entities,
mentions, visible episodes, communities) carry system intervals and are derived from the log by the engine; the store never derives.

Every read of versions takes the groups and an `AsOf`, and filters *inside* the search, before any limit:
`created_at <= system < expired_at` (system None: the last instant, rows with open `expired_at`) and, for facts,
`valid_at <= valid < invalid_at` (valid None: any). `groups` is explicit; `()` finds nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from graphmem.embed.base import Vectors
from graphmem.interval import Interval
from graphmem.model import (
    EMPTY,
    AsOf,
    Assertion,
    CitationVersion,
    EntityMatch,
    EntityVersion,
    Episode,
    EpisodeMatch,
    EpisodeRecord,
    FactKey,
    FactMatch,
    FactVersion,
    Head,
    LogEntry,
    Mention,
    MentionVersion,
    Operation,
    Violation,
)
from graphmem.stores.changes import ChangeReads
from graphmem.stores.communities import CommunityReads, CommunityWrites


class Kind(StrEnum):
    """The kinds of items that text and vector search find; ids are version uuids of facts and communities, entity ids, episode ids."""

    FACT = "fact"
    ENTITY = "entity"
    EPISODE = "episode"
    COMMUNITY = "community"


class Capability(StrEnum):
    """Where stores may differ. The engine asks for these, never for a store's name."""

    DURABLE = "durable"
    MULTI_PROCESS = "multi_process"
    SNAPSHOT_READS = "snapshot_reads"
    FILTERED_VECTOR_INDEX = "filtered_vector_index"
    AHEAD = "ahead"


class VectorWay(StrEnum):
    """How a vector search goes about it."""

    COMPARED = "every vector compared"
    FILTERED = "vector index, filtered inside; all compared where a filter lets too few pass"
    FETCHED = "vector index, filtered afterwards; all compared where too few pass"


@dataclass(frozen=True, slots=True)
class SearchFilter:
    """What text and vector search may return, besides groups and as-of; the filter is applied before the limit.

    `facts` and `episodes` filter the kind they name; `entities` likewise. The other conditions a store may apply as far as
    it can, to offer fewer that fail; whoever searches checks them, unless the reader is `Strict`: `cited`, facts that cite such
    an episode; `ends`, facts with an entity of such a type at an end; `attributes`, items that have all of these values:
    communities have none.
    """

    facts: FactMatch | None = None
    entities: EntityMatch | None = None
    episodes: EpisodeMatch | None = None
    cited: EpisodeMatch | None = None
    ends: tuple[str, ...] | None = None
    attributes: Mapping[str, object] = EMPTY


@dataclass(frozen=True, slots=True)
class Found:
    """An item found by a search: higher score is better. `piece` is the piece of an episode that matched best."""

    id: str
    score: float
    piece: int = 0


@dataclass(frozen=True, slots=True)
class Hop:
    """An entity reached by expansion: at which hop, across which fact version, from which entity (None: a seed)."""

    entity: str
    hop: int
    fact: str | None
    previous: str | None


class Reader(CommunityReads, ChangeReads, Protocol):
    """Reads at one snapshot: everything read through one reader was committed before it began."""

    # -- the log
    def head(self, group: str) -> Head:
        """The last position and system instant of the group's log; `Head(0, None)` for an unknown group."""
        ...

    def groups(self) -> list[str]:
        """All groups with a log, sorted."""
        ...

    def log(self, group: str, after: int = 0) -> Iterator[LogEntry]:
        """Entries with `seq > after`, in order, complete."""
        ...

    def episode_by_key(self, group: str, key: str) -> EpisodeRecord | None:
        """The episode added under this idempotency key, forgotten or not."""
        ...

    def records(self, group: str, episodes: Sequence[str]) -> list[EpisodeRecord]:
        """These episodes with all that the log keeps of them, by seq; unknown ids are left out."""
        ...

    def heads(self, group: str, episodes: Sequence[str]) -> list[Episode]:
        """These episodes without bodies (`body=""`): reference time and seq for the fold; by seq."""
        ...

    def operations(self, group: str, *, ids: Sequence[str] | None = None, targets: Sequence[str] | None = None) -> list[Operation]:
        """Operations with one of `ids`, or with one of `targets` among their targets; both None: all; by seq."""
        ...

    def assertions(
        self,
        group: str,
        *,
        ids: Sequence[str] | None = None,
        facts: Sequence[str] | None = None,
        episodes: Sequence[str] | None = None,
        entities: Sequence[str] | None = None,
        deciding: Sequence[str] | None = None,
    ) -> list[Assertion]:
        """Assertions as recorded, by exactly one of: their ids; the fact ids they speak of now (key rows); their episodes;
        `entities` as source or target, as recorded or in the fact they speak of now; or `deciding`: those whose
        `same_as` or `excludes` names one of these assertions.
        Forgotten ones too. Sorted by (seq of the episode, position).
        """
        ...

    def keys(
        self, group: str, *, facts: Sequence[str] | None = None, slots: Sequence[tuple[str, str, str]] | None = None
    ) -> dict[str, FactKey]:
        """Fact id → key of facts that some assertion speaks of now, by ids or by `slots` ("source" | "target" | "either",
        relation, entity): facts of that relation whose source, target, or either end is that entity.
        """
        ...

    def fact_ids(self, group: str, assertions: Sequence[str]) -> dict[str, str | None]:
        """Assertion id → fact id it speaks of now (key rows; None: a self-loop); assertions without a key row are left out."""
        ...

    def links(self, group: str, entities: Sequence[str]) -> list[tuple[str, str, str]]:
        """(episode, entity, entity) of every recorded link that names one of these entities, by (seq, position)."""
        ...

    def answer(self, key: str) -> tuple[object, Mapping[str, object]] | None:
        """A recorded model answer and its note (model, prompt, usage), by the ask's key."""
        ...

    def meta(self, name: str) -> str | None:
        """A setting kept with the data (embedder name, ontology ...)."""
        ...

    # -- the graph
    def facts(self, groups: Sequence[str], at: AsOf, match: FactMatch | None = None, limit: int | None = None) -> list[FactVersion]:
        """Fact versions that pass, sorted by (valid start, unknown first; created_at; uuid)."""
        ...

    def fact_versions(self, group: str, uuids: Sequence[str] | None = None, *, facts: Sequence[str] | None = None) -> list[FactVersion]:
        """Every fact version ever believed, or those of these uuids, or else of these fact ids, by (created_at, uuid)."""
        ...

    def scan_facts(self, group: str) -> Iterator[FactVersion]:
        """As all `fact_versions`, read as they are asked for: a graph of any size need not be held."""
        ...

    def citations(
        self, groups: Sequence[str], at: AsOf, *, facts: Sequence[str] | None = None, episodes: Sequence[str] | None = None
    ) -> list[CitationVersion]:
        """Citations believed at `at.system`, by fact ids or episodes; sorted by (fact_id, valid_at, episode, by)."""
        ...

    def sources(self, groups: Sequence[str], at: AsOf, facts: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Fact version (by uuid) → the episodes it cites, as believed at `at.system`, each once, by id; those without are left out."""
        ...

    def entities(self, groups: Sequence[str], at: AsOf, match: EntityMatch | None = None, limit: int | None = None) -> list[EntityVersion]:
        """Entities believed at `at.system`, sorted by (name key, id)."""
        ...

    def entity_ids(self, group: str, after: str, limit: int) -> list[str]:
        """The next ids of entities that ever had a version, in order, those after `after`."""
        ...

    def entity_versions(self, group: str, ids: Sequence[str]) -> list[EntityVersion]:
        """Every version of these entities, by (id, created_at)."""
        ...

    def mentions(
        self,
        groups: Sequence[str],
        at: AsOf,
        *,
        episodes: Sequence[str] | None = None,
        entities: Sequence[str] | None = None,
        limit: int | None = None,
    ) -> list[MentionVersion]:
        """Mentions believed at `at.system`, by episodes or canonical entities; newest reference time first, then id."""
        ...

    def mention_records(self, group: str, entities: Sequence[str]) -> list[Mention]:
        """Every mention in the log recorded for these entities, visible now or not, by (seq of the episode, position)."""
        ...

    def episodes(
        self,
        groups: Sequence[str],
        at: AsOf,
        match: EpisodeMatch | None = None,
        limit: int | None = None,
        *,
        newest_first: bool = False,
        bodies: bool = True,
    ) -> list[Episode]:
        """Visible episodes at `at.system`, by (reference time, seq)."""
        ...

    def around(self, groups: Sequence[str], at: AsOf, episodes: Sequence[str]) -> dict[str, tuple[str | None, str | None]]:
        """Episode → the visible episodes just before and just after it in its session, by (reference time, seq); None: none.

        Episodes that are not visible, or have no session, are left out.
        """
        ...

    def counts(self, groups: Sequence[str], at: AsOf) -> dict[str, int]:
        """How many `episodes`, `entities`, `facts`, `mentions` pass."""
        ...

    def count_fact_versions(self, group: str) -> int:
        """How many fact versions were ever believed."""
        ...

    # -- search
    def text_search(
        self, kind: Kind, terms: Sequence[str], groups: Sequence[str], at: AsOf, limit: int, match: SearchFilter | None = None
    ) -> list[Found]:
        """BM25 (k1 1.2, b .75) over the words that `graphmem.search.words` made; an OR of `terms`; by score, then id.

        Statistics are those of today's whole corpus. Terms that occur in a large share of rows may be left out
        when rarer ones remain. No terms: nothing.
        """
        ...

    def vector_search(
        self, kind: Kind, vector: Vectors, groups: Sequence[str], at: AsOf, limit: int, match: SearchFilter | None = None
    ) -> list[Found]:
        """Nearest owners by cosine, exact; the best piece of an owner counts; by score, then id."""
        ...

    def vectors(self, kind: Kind, owners: Sequence[str]) -> dict[str, Vectors]:
        """The stored vectors of these owners, a row a piece (float32, f16 precision); owners without any are left out."""
        ...

    def similarities(self, kind: Kind, vector: Vectors, owners: Sequence[str]) -> dict[str, float]:
        """The best cosine of each owner's pieces with `vector`, to within a hundredth; owners without vectors are left out."""
        ...

    def words(self, kind: Kind, owners: Sequence[str]) -> dict[str, str]:
        """The indexed words (space separated) of these items."""
        ...

    def word_statistics(self, kind: Kind, terms: Sequence[str]) -> tuple[int, float, dict[str, int]]:
        """Rows indexed, mean words a row, and in how many rows each term occurs."""
        ...

    def neighbours(
        self, seeds: Sequence[str], groups: Sequence[str], at: AsOf, *, hops: int, limit: int | None = None, match: FactMatch | None = None
    ) -> list[Hop]:
        """Breadth first from `seeds` (hop 0) across facts that pass, both ways, `hops` deep; by (hop, order of discovery:
        newest valid start first, then uuid). Values are reached but not crossed. With `limit`, stops when so many entities are known.
        """
        ...

    def verify(self) -> list[Violation]:
        """The store's own consistency: file integrity, every index row has its owner, every mention and citation its row."""
        ...


class Turn(NamedTuple):
    """What ranking asks of an episode."""

    id: str
    group: str
    session: str | None
    actor: str | None
    zone: str
    reference_time: datetime
    body: str


class Claim(NamedTuple):
    """What ranking asks of a fact version."""

    uuid: str
    relation: str
    source: str
    target: str
    text: str
    valid: Interval


@runtime_checkable
class Indexed(Protocol):
    """What a reader may offer besides whose vectors are searched in several ways; where it does not, all are compared."""

    def vector_way(self, kind: Kind, groups: Sequence[str]) -> VectorWay:
        """The way that a search in these groups takes first."""
        ...


@runtime_checkable
class Lean(Protocol):
    """What a reader may offer besides: answers that spare reading whole rows. Where it does not, the rows are read."""

    def mentioned(self, groups: Sequence[str], at: AsOf, entities: Sequence[str], limit: int) -> list[tuple[str, str]]:
        """(episode, canonical entity) of the mentions that `mentions` gives for these entities, in its order."""
        ...

    def claims(self, groups: Sequence[str], at: AsOf, facts: Sequence[str]) -> dict[str, Claim]:
        """Of these fact versions, by uuid, those that pass."""
        ...

    def turns(self, groups: Sequence[str], at: AsOf, episodes: Sequence[str]) -> dict[str, Turn]:
        """Of these episodes, by id, those that are visible."""
        ...

    def word_counts(self, kind: Kind, owners: Sequence[str], terms: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """How many words are indexed of each owner, and how often each term is among them: a row an owner, a column a term."""
        ...


@runtime_checkable
class Strict(Protocol):
    """What a reader may offer besides: its searches apply every condition of a `SearchFilter`; it can tell which facts pass."""

    def joined(self, groups: Sequence[str], at: AsOf, facts: Sequence[str], match: SearchFilter) -> set[str]:
        """Of these fact versions, those that pass `match.cited` and `match.ends`."""
        ...


class Writer(CommunityWrites, Reader, Protocol):
    """Reads its own writes; nothing is visible to others before the transaction commits."""

    def append_episode(self, record: EpisodeRecord) -> None:
        """Append to the log; `seq` and `created_at` are set by the engine. Makes no version row."""
        ...

    def append_operation(self, operation: Operation) -> None:
        """Append to the log."""
        ...

    def set_keys(self, group: str, keys: Mapping[str, tuple[str, FactKey] | None]) -> None:
        """Assertion id → (fact id, key) it speaks of now; None: of none (a self-loop)."""
        ...

    def end_versions(self, kind: str, uuids: Sequence[str], at: datetime) -> None:
        """Close `expired_at` of open fact or entity versions (`kind` "fact" or "entity")."""
        ...

    def add_facts(self, versions: Sequence[FactVersion], words: Sequence[str]) -> None:
        """Insert versions, each with its indexed words."""
        ...

    def add_entities(self, versions: Sequence[EntityVersion], words: Sequence[str]) -> None:
        """Insert entity versions; the words replace those of the entity's earlier version in the index."""
        ...

    def change_citations(self, group: str, ended: Sequence[CitationVersion], added: Sequence[CitationVersion], at: datetime) -> None:
        """Close some, open others (their `system` starts at `at`)."""
        ...

    def change_mentions(self, group: str, ended: Sequence[MentionVersion], added: Sequence[MentionVersion], at: datetime) -> None:
        """Close some, open others."""
        ...

    def show_episodes(self, group: str, episodes: Sequence[str], at: datetime, words: Mapping[str, str]) -> None:
        """Open a visible interval; `words` for those not yet indexed."""
        ...

    def hide_episodes(self, group: str, episodes: Sequence[str], at: datetime) -> None:
        """Close the visible interval; the index keeps them, as-of filters decide."""
        ...

    def put_vectors(self, kind: Kind, owners: Sequence[str], pieces: Sequence[int], vectors: Vectors) -> None:
        """Keep vectors: row i belongs to `owners[i]`, piece `pieces[i]`; replaces the owner's earlier vectors of that piece."""
        ...

    def copy_vectors(self, kind: Kind, pairs: Iterable[tuple[str, str]]) -> None:
        """(from owner, to owner): the new version of an unchanged text keeps its vector without embedding again."""
        ...

    def put_answer(self, key: str, value: object, note: Mapping[str, object]) -> None:
        """Record a model answer."""
        ...

    def put_meta(self, name: str, value: str) -> None:
        """Keep a setting."""
        ...

    def clear_derived(self, group: str) -> None:
        """Remove every version row, key row and index row of the group; the log stays. For rebuilding."""
        ...

    def remove_episodes(self, group: str, episodes: Sequence[str], answers: Sequence[str] = ()) -> None:
        """Erase: remove these episodes with their assertions, mentions, links, key, index and citation rows, and recorded
        answers by key, so that no copy of their text stays in the store. Fact and entity versions are the caller's to rebuild;
        the head of the log stays.
        """
        ...

    def remove_operations(self, group: str, operations: Sequence[str]) -> None:
        """Erase: remove these operations from the log; its head stays."""
        ...

    def remove_group(self, group: str) -> None:
        """Erase: remove everything of the group: its log with the head, what is derived from it, its name, and the settings whose
        names go on with a colon and the group's. Recorded answers are the caller's to remove. The last thing that a transaction
        writes.
        """
        ...


class Store(Protocol):
    """A place for memories. Threads may share a store; each transaction belongs to one thread."""

    capabilities: frozenset[Capability]

    def read(self) -> AbstractContextManager[Reader]:
        """A snapshot to read from."""
        ...

    def write(self, group: str) -> AbstractContextManager[Writer]:
        """A transaction that holds the group's write lock across threads and processes; commits on a clean exit, else
        leaves nothing. Raises `StoreBusy` when the lock cannot be had in time.
        """
        ...

    def bookmarks(self) -> tuple[str, ...]:
        """Marks of what this handle has written or seen, for `follow` of another handle; () where every handle sees all at once."""
        ...

    def follow(self, bookmarks: Iterable[str]) -> None:
        """Read from now on only where all that these marks stand for has arrived."""
        ...

    def clean(self) -> bool:
        """See to it that no byte of what was erased is left in the store's files; whether that is done. False: somebody reads or
        writes the file just now, and it will be done when it is opened again, or by another call.
        """
        ...

    def close(self) -> None:
        """Release threads and files; a second call does nothing."""
        ...
