"""What a search gives back: items with a score and the reasons for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from graphmem.checks import texts_or_none
from graphmem.errors import InvalidInput
from graphmem.interval import Interval
from graphmem.model import CommunityVersion, EntityVersion, Episode, FactVersion, Warn
from graphmem.stores.base import Kind

Item = FactVersion | EntityVersion | Episode | CommunityVersion


@dataclass(frozen=True, slots=True)
class Reason:
    """Why an item was found: the leg, its rank there (1 is best) and score, and for the graph the entities on the way."""

    leg: str
    rank: int
    score: float
    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """A search result. `citations` are the ids of the episodes behind it, oldest first; of an episode, its own.

    `score` orders hits of one search and means nothing across searches. `rank` is the place among hits of its own kind. `features`
    are what an episode's score is made of; of a community how many entities belong to it ("size").
    """

    kind: Kind
    item: Item
    score: float
    rank: int
    reasons: tuple[Reason, ...] = ()
    citations: tuple[str, ...] = ()
    features: dict[str, float] = field(default_factory=dict, hash=False, compare=False)

    @property
    def id(self) -> str:
        """The version uuid of a fact or community, the id of an entity or episode: what stores know it by."""
        return self.item.uuid if isinstance(self.item, FactVersion | CommunityVersion) else self.item.id

    @property
    def text(self) -> str:
        """A fact's sentence, an entity's name and type, an episode's body, a community's name and summary."""
        match self.item:
            case FactVersion() | CommunityVersion():
                return self.item.text
            case EntityVersion():
                return f"{self.item.name} ({self.item.type})"
            case _:
                return self.item.body

    @property
    def dates(self) -> tuple[datetime | None, datetime | None]:
        """Valid time of a fact, start and end; of an episode its reference time, twice; of others (None, None)."""
        match self.item:
            case FactVersion():
                return self.item.valid.start, self.item.valid.end
            case EntityVersion() | CommunityVersion():
                return None, None
            case _:
                return self.item.reference_time, self.item.reference_time


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits, best first; warnings; and by leg, why it had nothing to offer ("graph": "the question names no known entity ...")."""

    hits: tuple[Hit, ...]
    warnings: tuple[Warn, ...] = ()
    abstained: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Filters:
    """What a search may return; every given condition must hold, and is applied before the limit.

    `types` filters entities, and facts by the type of either end; `relations` facts, by any name and spelling that the ontology
    knows, as it does types that are declared; others as they are kept. `valid` filters facts whose valid time overlaps it;
    `reference` episodes said within it; `sessions`, `actors`, `sources` episodes, and facts that cite such an episode;
    `attributes` any item that has all of these values. One name may be given without a tuple around it. Communities have no
    attributes, and no other filter speaks of them.
    """

    types: tuple[str, ...] | None = None
    relations: tuple[str, ...] | None = None
    valid: Interval | None = None
    reference: Interval | None = None
    sessions: tuple[str, ...] | None = None
    actors: tuple[str, ...] | None = None
    sources: tuple[str, ...] | None = None
    attributes: dict[str, object] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        for name in ("types", "relations", "sessions", "actors", "sources"):
            object.__setattr__(self, name, texts_or_none(name, getattr(self, name)))
        for name in ("valid", "reference"):
            stretch = getattr(self, name)
            if stretch is not None and not isinstance(stretch, Interval):
                raise InvalidInput(name, stretch, "must be a graphmem.interval.Interval, or left out")
        if not isinstance(self.attributes, Mapping) or not all(isinstance(key, str) for key in self.attributes):
            raise InvalidInput("attributes", self.attributes, "must be a dict with str keys")
