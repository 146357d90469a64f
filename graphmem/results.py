"""What callers get back: a short `repr`, a table for notebooks, plain values for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Generic, Protocol, Self, TypeVar, overload

from graphmem.community import CommunityItem
from graphmem.errors import NotFound
from graphmem.interval import Interval
from graphmem.model import EMPTY, Bound, Change, EntityVersion, Episode, FactVersion, Usage, Warn
from graphmem.rerank.base import Reranker
from graphmem.search.hits import Reason
from graphmem.search.searcher import Request
from graphmem.shown import Record, Row, Shown
from graphmem.shown import shorten as shorten

T = TypeVar("T", bound=Record)


def moment(value: datetime | None) -> str | None:
    """An instant as ISO 8601, or None."""
    return value.isoformat() if value is not None else None


@dataclass(frozen=True, slots=True)
class FactItem(Record):
    """A fact at one point: who, what, to whom, a sentence; when it holds and since when it is believed; what cites it.

    `source` and `target` are names, `source_id` and `target_id` entity ids. Both intervals are half-open, UTC.
    """

    uuid: str
    id: str
    group: str
    source: str
    relation: str
    target: str
    text: str
    valid: Interval
    system: Interval
    source_id: str
    target_id: str
    start: Bound = Bound()
    end: Bound = Bound()
    episodes: tuple[str, ...] = ()
    attributes: Mapping[str, object] = EMPTY

    @classmethod
    def of(cls, version: FactVersion, names: Mapping[str, str], episodes: tuple[str, ...]) -> FactItem:
        """The fact version with the names of its ends and the ids of the episodes behind it."""
        return cls(
            uuid=version.uuid,
            id=version.fact_id,
            group=version.group,
            source=names.get(version.source, version.source),
            relation=version.relation,
            target=names.get(version.target, version.target),
            text=version.text,
            valid=version.valid,
            system=version.system,
            source_id=version.source,
            target_id=version.target,
            start=version.start,
            end=version.end,
            episodes=episodes,
            attributes=version.attributes,
        )

    @property
    def valid_at(self) -> datetime | None:
        """Start of valid time; None: beginning unknown."""
        return self.valid.start

    @property
    def invalid_at(self) -> datetime | None:
        """End of valid time, exclusive; None: no end known."""
        return self.valid.end

    @property
    def created_at(self) -> datetime | None:
        """The system instant this version was first believed."""
        return self.system.start

    @property
    def expired_at(self) -> datetime | None:
        """The system instant this version stopped being believed; None: believed now."""
        return self.system.end

    @property
    def period(self) -> str:
        """The valid time in the precision given: "since 2022-01", "2019 to 2021", "until 2020", "at any time"."""
        first = self.start.shown(self.valid.start)
        last = self.end.shown(self.valid.end, is_end=True)
        if first and last:
            return first if first == last else f"{first} to {last}"
        return f"since {first}" if first else f"until {last}" if last else "at any time"

    def __repr__(self) -> str:
        return f"<Fact {shorten(self.source, 40)} {self.relation} {shorten(self.target, 40)} ({self.period})>"

    def to_dict(self) -> dict[str, object]:
        return {
            "uuid": self.uuid,
            "id": self.id,
            "group": self.group,
            "source": self.source,
            "relation": self.relation,
            "target": self.target,
            "text": self.text,
            "valid_at": moment(self.valid_at),
            "invalid_at": moment(self.invalid_at),
            "created_at": moment(self.created_at),
            "expired_at": moment(self.expired_at),
            "valid_at_precision": self.start.precision.value,
            "invalid_at_precision": self.end.precision.value,
            "valid_at_origin": self.start.origin.value,
            "invalid_at_origin": self.end.origin.value,
            "source_id": self.source_id,
            "target_id": self.target_id,
            "episodes": list(self.episodes),
            "attributes": dict(self.attributes),
        }


@dataclass(frozen=True, slots=True)
class EpisodeItem(Record):
    """An episode as it was said: the body verbatim, who, when, where."""

    episode: Episode

    @property
    def id(self) -> str:
        return self.episode.id

    @property
    def text(self) -> str:
        return self.episode.body

    @property
    def actor(self) -> str | None:
        return self.episode.actor

    @property
    def session(self) -> str | None:
        return self.episode.session

    @property
    def reference_time(self) -> datetime:
        return self.episode.reference_time

    def __repr__(self) -> str:
        who = f"{self.actor}: " if self.actor else ""
        return f"<Episode {self.reference_time:%Y-%m-%d} {who}{shorten(self.text, 60)!r}>"

    def to_dict(self) -> dict[str, object]:
        e = self.episode
        return {
            "id": e.id,
            "group": e.group,
            "kind": e.kind.value,
            "text": e.body,
            "reference_time": moment(e.reference_time),
            "created_at": moment(e.created_at),
            "actor": e.actor,
            "session": e.session,
            "source": e.source,
            "attributes": dict(e.attributes),
        }


@dataclass(frozen=True, slots=True)
class EntityItem(Record):
    """An entity at one point, with a summary made from the facts that hold there."""

    entity: EntityVersion
    summary: str = ""

    @property
    def id(self) -> str:
        return self.entity.id

    @property
    def name(self) -> str:
        return self.entity.name

    @property
    def type(self) -> str:
        return self.entity.type

    @property
    def aliases(self) -> tuple[str, ...]:
        return self.entity.aliases

    @property
    def attributes(self) -> Mapping[str, object]:
        return self.entity.attributes

    @property
    def text(self) -> str:
        return f"{self.name} ({self.type})" + (f": {self.summary}" if self.summary else "")

    def __repr__(self) -> str:
        return f"<Entity {shorten(self.name, 60)} ({self.type})>"

    def to_dict(self) -> dict[str, object]:
        e = self.entity
        return {
            "id": e.id,
            "group": e.group,
            "name": e.name,
            "type": e.type,
            "aliases": list(e.aliases),
            "attributes": dict(e.attributes),
            "summary": self.summary,
            "created_at": moment(e.system.start),
            "expired_at": moment(e.system.end),
        }


class HasItem(Protocol):
    """An `EntityView`, for instance."""

    @property
    def item(self) -> EntityItem: ...


class Listing(Shown, Sequence[T], Generic[T]):
    """An immutable sequence of items with a count, slices, a table for notebooks, `to_dict` and `to_pandas`."""

    def __init__(self, items: Sequence[T], what: str, columns: Sequence[str]) -> None:
        self._items, self._what, self._shown_columns = tuple(items), what, tuple(columns)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> T | Self:
        if not isinstance(index, slice):
            return self._items[index]
        part = copy(self)  # with all that the whole has besides its items
        part._items = self._items[index]
        return part

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[T]:
        return iter(self._items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (Listing, list, tuple)) and self._items == tuple(other)

    def __hash__(self) -> int:
        return hash(self._items)

    def __repr__(self) -> str:
        first = ", ".join(repr(i) for i in self._items[:3])
        more = ", …" if len(self) > 3 else ""
        return f"<{len(self)} {self._what}{': ' if self._items else ''}{first}{more}>"

    def to_dict(self) -> list[dict[str, object]]:
        """One dict an item, plain JSON values."""
        return [i.to_dict() for i in self._items]

    def _rows(self) -> Sequence[Row]:
        return [i._row() for i in self._items]

    def _columns(self) -> Sequence[str]:
        return self._shown_columns


FACT_COLUMNS = ("source", "relation", "target", "text", "valid_at", "invalid_at", "created_at", "expired_at", "episodes")
EPISODE_COLUMNS = ("reference_time", "actor", "text", "session", "kind", "id")
ENTITY_COLUMNS = ("name", "type", "aliases", "summary", "id")


@dataclass(frozen=True, slots=True)
class WriteResult(Record):
    """What a write did: the episodes or operation it recorded, the changes with reasons, warnings, and what it cost.

    `created` is False where the same episode was known already: nothing changed, and no model was called unless another
    writer recorded it meanwhile. `stages` is the usage by prompt: "extract", "resolve", "judge", "community". A dry run records nothing: it
    has no ids, and its changes are those that there would be.
    """

    ids: tuple[str, ...]
    changes: tuple[Change, ...] = ()
    warnings: tuple[Warn, ...] = ()
    usage: Usage = Usage()
    created: bool = True
    created_at: datetime | None = None
    stages: Mapping[str, Usage] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The id of the one episode or operation recorded; raises `NotFound` for a dry run."""
        if not self.ids:
            raise NotFound("a dry run records nothing that has an id; leave dry_run out")
        return self.ids[0]

    def counts(self) -> dict[str, int]:
        """How many changes of each kind, for instance `{"added": 2, "ended": 1}`."""
        return dict(Counter(c.kind.value for c in self.changes))

    def __repr__(self) -> str:
        done = ", ".join(f"{n} {k}" for k, n in self.counts().items()) or "unchanged"
        warned = f", {len(self.warnings)} warning{'s' * (len(self.warnings) > 1)}" if self.warnings else ""
        what = f"{len(self.ids)} recorded" if len(self.ids) > 1 else "".join(self.ids) or "dry run"
        return f"<{what}: {done}{warned}>"

    def _row(self) -> Row:
        told = ", ".join(f"{n} {kind}" for kind, n in self.counts().items()) or "unchanged"
        when = {"created_at": moment(self.created_at), "created": self.created}
        return {"id": ", ".join(self.ids), **when, "changes": told, "warnings": [w.code for w in self.warnings]}

    def _rows(self) -> Sequence[Row]:
        rows: list[Row] = [{"change": c.kind.value, "item": c.item, "text": c.text, "reason": c.reason} for c in self.changes]
        return rows + [{"change": "warning", "item": w.code, "text": _plain(w.raw), "reason": w.message} for w in self.warnings]

    def _columns(self) -> Sequence[str]:
        return ("change", "item", "text", "reason")

    def to_dict(self) -> dict[str, object]:
        return {
            "ids": list(self.ids),
            "created": self.created,
            "created_at": moment(self.created_at),
            "changes": [{"kind": c.kind.value, "item": c.item, "id": c.id, "text": c.text, "reason": c.reason} for c in self.changes],
            "warnings": [{"code": w.code, "raw": _plain(w.raw), "message": w.message} for w in self.warnings],
            "usage": asdict(self.usage),
            "stages": {prompt: asdict(usage) for prompt, usage in self.stages.items()},
        }


class WriteResults(Listing[WriteResult]):
    """What several writes did, in their order."""

    def __init__(self, results: Sequence[WriteResult]) -> None:
        super().__init__(results, "results", ("id", "created_at", "created", "changes", "warnings"))

    def counts(self) -> dict[str, int]:
        """How many changes of each kind in all."""
        return dict(sum((Counter(r.counts()) for r in self), Counter()))


def _plain(value: object) -> object:
    return value if value is None or isinstance(value, (str, int, float, bool)) else repr(value)


@dataclass(frozen=True, slots=True)
class TimelineEntry(Record):
    """One thing that began or ended: the instant, what happened, and the fact."""

    at: datetime | None
    event: str
    fact: FactItem

    def __repr__(self) -> str:
        return f"<{self.at.date().isoformat() if self.at else 'unknown'} {self.event}: {shorten(self.fact.text, 60)}>"

    def to_dict(self) -> dict[str, object]:
        return {"at": moment(self.at), "event": self.event, **self.fact.to_dict()}


@dataclass(frozen=True, slots=True)
class Duplicate(Record):
    """Two entities that may be one: how likely (0 to 1), and what speaks for it and, after a "but", against it."""

    entity: EntityItem
    other: EntityItem
    score: float
    reasons: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Duplicate {self.score:.2f} {shorten(self.entity.name, 40)} ~ {shorten(self.other.name, 40)}: {'; '.join(self.reasons)}>"

    def to_dict(self) -> dict[str, object]:
        entities = {"entity": self.entity.to_dict(), "other": self.other.to_dict()}
        return {**entities, "names": [self.entity.name, self.other.name], "score": self.score, "reasons": list(self.reasons)}

    def _row(self) -> Row:
        return {name: value for name, value in self.to_dict().items() if name in DUPLICATE_COLUMNS}


DUPLICATE_COLUMNS = ("names", "score", "reasons")
TIMELINE_COLUMNS = ("at", "event", "source", "relation", "target", "text", "episodes")


Item = FactItem | EntityItem | EpisodeItem | CommunityItem


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A search as it was asked, so that it can be run again: with its point on both axes, and what put its hits in order."""

    request: Request
    rerankers: tuple[Reranker, ...] = ()


@dataclass(frozen=True, slots=True)
class Hit(Record):
    """A search result: the item, its score within this search, why it was found, and the episodes it rests on."""

    kind: str
    item: Item
    score: float
    reasons: tuple[Reason, ...] = ()
    episodes: tuple[str, ...] = ()
    inquiry: Inquiry | None = field(default=None, repr=False, compare=False)

    @property
    def id(self) -> str:
        """The version uuid of a fact or community, the id of an entity or episode."""
        return self.item.uuid if isinstance(self.item, FactItem | CommunityItem) else self.item.id

    @property
    def text(self) -> str:
        """A fact's sentence, an entity's name, type and summary, an episode's body, a community's name and summary."""
        return self.item.text

    @property
    def when(self) -> str:
        """A fact's period, an episode's day, nothing for an entity or a community."""
        match self.item:
            case FactItem():
                return self.item.period
            case EpisodeItem():
                return self.item.reference_time.date().isoformat()
            case _:
                return ""

    def _row(self) -> Row:
        told = {"kind": self.kind, "id": self.id, "score": self.score, "when": self.when, "text": self.text}
        return {**told, "episodes": list(self.episodes), "by": [r.leg for r in self.reasons]}

    def __repr__(self) -> str:
        return f"<Hit {self.kind} {self.score:.3f} {shorten(self.text, 70)!r}>"

    def to_dict(self) -> dict[str, object]:
        reasons = [{"leg": r.leg, "rank": r.rank, "score": r.score, "path": list(r.path)} for r in self.reasons]
        return {
            "kind": self.kind,
            "score": self.score,
            "when": self.when,
            "text": self.text,
            "episodes": list(self.episodes),
            "reasons": reasons,
            "item": self.item.to_dict(),
        }


class Hits(Listing[Hit]):
    """Search results, best first, with what was left out and why legs had nothing to say."""

    def __init__(self, hits: Sequence[Hit], warnings: Sequence[Warn] = (), abstained: Mapping[str, str] | None = None) -> None:
        super().__init__(hits, "hits", HIT_COLUMNS)
        self.warnings, self.abstained = tuple(warnings), dict(abstained or {})


HIT_COLUMNS = ("kind", "when", "text", "score", "episodes")
