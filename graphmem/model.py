"""The words of graphmem as immutable values: what the log records and what is derived from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from enum import StrEnum
from typing import NamedTuple

from graphmem.interval import ALWAYS, DateUnit, Interval, Origin, Precision, day_of, printed


class _Empty(Mapping[str, object]):
    """A mapping without items; hashable, so that it can be a default."""

    __slots__ = ()

    def __getitem__(self, name: str) -> object:
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "{}"


EMPTY: Mapping[str, object] = _Empty()
DEFAULT_TYPE = "Entity"
VALUE_TYPE = "Value"


class EpisodeKind(StrEnum):
    """What an episode's body is."""

    MESSAGE = "message"
    TEXT = "text"
    JSON = "json"
    FACTS = "facts"


class AssertionKind(StrEnum):
    """What an assertion says of its fact."""

    HOLDS = "holds"
    ENDS = "ends"
    DENIES = "denies"


class OperationKind(StrEnum):
    """Entries of the log that are not episodes."""

    FORGET = "forget"
    RESTORE = "restore"
    CORRECT = "correct"
    END = "end"
    CONFIRM = "confirm"
    MERGE = "merge"
    DISTINCT = "distinct"
    SPLIT = "split"
    RENAME = "rename"
    ALIAS = "alias"
    ERASE = "erase"
    ERASED = "erased"
    ONTOLOGY = "ontology"
    COMMUNITIES = "communities"


class ChangeKind(StrEnum):
    """The one vocabulary of changes: results, diffs, audit, command line."""

    ADDED = "added"
    CONFIRMED = "confirmed"
    EXTENDED = "extended"
    ENDED = "ended"
    REOPENED = "reopened"
    CORRECTED = "corrected"
    MERGED = "merged"
    SPLIT = "split"
    FORGOTTEN = "forgotten"
    RESTORED = "restored"
    ERASED = "erased"
    UNCHANGED = "unchanged"


# ------------------------------------------------------------------------------------------------ the log


class Span(NamedTuple):
    """Characters `[start, end)` of an episode's body."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Assertion:
    """What one episode claims about one fact. Append-only; `same_as` and `excludes` are decisions, by assertion id."""

    id: str
    episode: str
    position: int
    source: str
    relation: str
    target: str
    text: str
    kind: AssertionKind = AssertionKind.HOLDS
    start: DateUnit | None = None
    end: DateUnit | None = None
    still: bool = False
    same_as: str | None = None
    excludes: tuple[str, ...] = ()
    span: Span | None = None
    attributes: Mapping[str, object] = EMPTY

    @property
    def decided(self) -> tuple[str, ...]:
        """The assertions that its decisions name."""
        return self.excludes if self.same_as is None else (self.same_as, *self.excludes)


@dataclass(frozen=True, slots=True)
class Mention:
    """An episode names an entity: the surface form, the type it shows there, and where in the body (None: not verbatim)."""

    episode: str
    position: int
    entity: str
    name: str
    type: str = DEFAULT_TYPE
    span: Span | None = None
    attributes: Mapping[str, object] = EMPTY


@dataclass(frozen=True, slots=True)
class Episode:
    """One ingested item, kept verbatim. `seq` is its position in the group's log, `created_at` its system instant."""

    id: str
    group: str
    kind: EpisodeKind
    body: str
    reference_time: datetime
    key: str
    seq: int = 0
    created_at: datetime | None = None
    actor: str | None = None
    session: str | None = None
    source: str | None = None
    zone: str = "UTC"
    attributes: Mapping[str, object] = EMPTY


@dataclass(frozen=True, slots=True)
class EpisodeRecord:
    """An episode with everything the log keeps of it: replaying these needs no model and no clock.

    `links` are pairs of entity ids that this text says are one. `search_text` are loose clauses: found by search, never facts.
    `digest` is that of its line in the log, once it is there.
    """

    episode: Episode
    assertions: tuple[Assertion, ...] = ()
    mentions: tuple[Mention, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    search_text: tuple[str, ...] = ()
    digest: str | None = field(default=None, compare=False, repr=False)

    @property
    def seq(self) -> int:
        return self.episode.seq


@dataclass(frozen=True, slots=True)
class Operation:
    """An act on the log's records. `targets` are the ids it acts on, listed when recorded; `values` its arguments.

    forget: targets episodes or assertions. restore: targets operations. correct: targets assertions, values the new fields.
    end, confirm: targets assertions, values {"at": datetime}. merge, distinct: targets two entities.
    split: targets the entity, then episodes, then the new entity; values {"entity": new id}, and where the entity had been merged
    {"of": n}: the first n targets are its ids that those episodes know. rename, alias: targets the entity; values {"name": str}.
    communities: no targets; values say how they are found. erase: no targets; values say how much has gone.
    erased: the place of an entry that was erased; nothing else is left of it.
    """

    id: str
    group: str
    kind: OperationKind
    targets: tuple[str, ...]
    values: Mapping[str, object] = EMPTY
    seq: int = 0
    created_at: datetime | None = None
    author: str | None = None
    reason: str | None = None
    digest: str | None = field(default=None, compare=False, repr=False)


LogEntry = EpisodeRecord | Operation


class Said(NamedTuple):
    """The order in which things were said: reference time, then log position, then position in the text."""

    reference_time: datetime
    seq: int
    position: int


# ------------------------------------------------------------------------------------------------ derived


class FactKey(NamedTuple):
    """What a fact is: a relation between two canonical entities, and a variant where sentences about one triple contradict."""

    relation: str
    source: str
    target: str
    variant: str = ""


@dataclass(frozen=True, slots=True)
class Bound:
    """How a period's start or end is known: precision and origin of the date that set it."""

    precision: Precision = Precision.INSTANT
    origin: Origin = Origin.UNKNOWN

    def shown(self, moment: datetime | None, zone: tzinfo = UTC, *, is_end: bool = False) -> str:
        """The bound for people: in the precision given, or the day where it was only seen at some instant; "" if open."""
        if moment is not None and self.origin is Origin.REFERENCE:
            return day_of(moment, zone, is_end=is_end)
        return printed(moment, self.precision, zone, is_end=is_end)


@dataclass(frozen=True, slots=True)
class Citation:
    """What stands behind a period: an assertion of an episode, or a user's operation (`by`) that cites that episode."""

    episode: str
    by: str


@dataclass(frozen=True, slots=True)
class Period:
    """One stretch of one fact, as the fold gives it. `source` and `target` are in the direction its first start said.

    `citations` are the statements inside the stretch, in said order, each once.
    """

    key: FactKey
    source: str
    target: str
    text: str
    valid: Interval
    start: Bound = Bound()
    end: Bound = Bound()
    citations: tuple[Citation, ...] = ()
    attributes: Mapping[str, object] = EMPTY


@dataclass(frozen=True, slots=True)
class FactVersion:
    """A fact as users see it: one stretch of valid time, believed during one stretch of system time. Never edited."""

    uuid: str
    fact_id: str
    group: str
    relation: str
    source: str
    target: str
    text: str
    valid: Interval
    system: Interval
    start: Bound = Bound()
    end: Bound = Bound()
    attributes: Mapping[str, object] = EMPTY


@dataclass(frozen=True, slots=True)
class CitationVersion:
    """A citation of the period of `fact_id` that starts at `valid_at`, believed during `system`."""

    fact_id: str
    valid_at: datetime | None
    episode: str
    by: str
    system: Interval = ALWAYS


@dataclass(frozen=True, slots=True)
class EntityVersion:
    """An entity as believed during `system`: canonical name, other names, type, attributes."""

    uuid: str
    id: str
    group: str
    name: str
    type: str
    aliases: tuple[str, ...]
    attributes: Mapping[str, object]
    system: Interval


@dataclass(frozen=True, slots=True)
class MentionVersion:
    """A mention under the canonical entity it counts for, while its episode is visible."""

    mention: Mention
    entity: str
    system: Interval


def community_text(name: str, summary: str) -> str:
    """What a community says: its summary, after its name unless it begins with that."""
    return summary if summary.startswith(name) else f"{name}. {summary}".rstrip()


CENTRAL = "central"
"""The attribute of a community that lists the entities it is named after."""


@dataclass(frozen=True, slots=True)
class CommunityVersion:
    """A community as believed during `system`. Level 0 is the coarsest; `parent` is the community of the level above that holds it.

    `facts` are the fact versions that `name` and `summary` tell of: where one of them does not hold, neither text is shown.
    """

    uuid: str
    id: str
    group: str
    level: int
    name: str
    summary: str
    system: Interval
    parent: str | None = None
    facts: tuple[str, ...] = ()
    attributes: Mapping[str, object] = EMPTY

    @property
    def text(self) -> str:
        """Name and summary."""
        return community_text(self.name, self.summary)

    @property
    def central(self) -> tuple[str, ...]:
        """The ids of the entities it is named after."""
        named = self.attributes.get(CENTRAL)
        return tuple(map(str, named)) if isinstance(named, list | tuple) else ()


class MemberVersion(NamedTuple):
    """An entity's place in a community during `system`; on every level it has at most one at an instant."""

    community: str
    level: int
    entity: str
    system: Interval = ALWAYS


class Ties(NamedTuple):
    """Fact versions as edges between entities, in columns of one length: since when each holds (None: unknown), and how many
    episodes it cites, at least 1.
    """

    facts: Sequence[str]
    sources: Sequence[str]
    targets: Sequence[str]
    since: Sequence[datetime | None]
    citations: Sequence[int]

    @classmethod
    def of(cls, rows: Iterable[tuple[str, str, str, datetime | None, int]] = ()) -> Ties:
        """The columns of these rows."""
        return cls(*(list(map(list, zip(*rows, strict=True))) or [[], [], [], [], []]))


@dataclass(frozen=True, slots=True)
class AsOf:
    """A point on both axes. `system=None` is the last instant; `valid=None` is any valid time (history)."""

    valid: datetime | None = None
    system: datetime | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """What an answer cost: model calls, tokens in and out, seconds of waiting."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.seconds + other.seconds,
        )


@dataclass(frozen=True, slots=True)
class Warn:
    """Something dropped, repaired or doubtful: a stable code, the raw value, and a sentence for people."""

    code: str
    raw: object
    message: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """One line of what a write changed, in the one vocabulary, with the reason."""

    kind: ChangeKind
    item: str
    id: str
    text: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class FactMatch:
    """Which facts: every given condition must hold; tuples mean "one of"; an empty tuple matches nothing."""

    uuids: tuple[str, ...] | None = None
    fact_ids: tuple[str, ...] | None = None
    entities: tuple[str, ...] | None = None
    sources: tuple[str, ...] | None = None
    targets: tuple[str, ...] | None = None
    relations: tuple[str, ...] | None = None
    valid_overlaps: Interval | None = None


@dataclass(frozen=True, slots=True)
class EntityMatch:
    """Which entities; `names` are compared by their key, with canonical names and aliases alike."""

    ids: tuple[str, ...] | None = None
    names: tuple[str, ...] | None = None
    types: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class EpisodeMatch:
    """Which episodes; `reference` is the stretch that holds their reference time."""

    ids: tuple[str, ...] | None = None
    keys: tuple[str, ...] | None = None
    kinds: tuple[EpisodeKind, ...] | None = None
    sessions: tuple[str, ...] | None = None
    actors: tuple[str, ...] | None = None
    sources: tuple[str, ...] | None = None
    entities: tuple[str, ...] | None = None
    reference: Interval | None = None


@dataclass(frozen=True, slots=True)
class CommunityMatch:
    """Which communities: every given condition holds; tuples mean "one of"; an empty tuple matches nothing."""

    ids: tuple[str, ...] | None = None
    levels: tuple[int, ...] | None = None
    uuids: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Head:
    """The end of a group's log: its last position and system instant."""

    seq: int = 0
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken invariant found by `verify()`."""

    kind: str
    id: str
    detail: str


@dataclass(frozen=True, slots=True)
class VectorRow:
    """A vector to keep: `kind` is fact, entity or episode; `owner` a version uuid, entity id or episode id; a piece per row."""

    kind: str
    owner: str
    piece: int
    vector: Sequence[float] = field(repr=False)
