"""What extraction finds in an episode, before anything is compared with the memory."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from graphmem.entity_types import MAX_TEXT
from graphmem.interval import DateUnit
from graphmem.llm.base import Answer, Ask
from graphmem.model import DEFAULT_TYPE, EMPTY, AssertionKind, Episode, EpisodeKind, Span, Warn
from graphmem.search.tokens import count_tokens

IDENTITIES = "identities"
"""The attribute of a mention that keeps its exact outside identities."""

T = TypeVar("T")
Flow = Generator[list[Ask], list[Answer], T]
"""A computation that yields lists of asks, is sent their answers in order, and returns a value."""


@dataclass(frozen=True, slots=True)
class Options:
    """How an episode is read. Token budgets are counted by `count_tokens`.

    `recent` earlier episodes (at most `recent_tokens` in all) and `known` entities go with the text; a text of more than
    `chunk_tokens` is read in pieces; `batch` names or facts go into one question; `similar` is the cosine from which a
    known name is worth asking about; an episode that contradicts more than `contradiction_cap` facts contradicts none.
    An attribute may have `attribute_length` characters. `instructions` are the caller's own words to the model, `prompts` those
    it has an opinion on (None: all).
    """

    recent: int = 4
    recent_tokens: int = 800
    known: int = 20
    chunk_tokens: int = 2000
    batch: int = 30
    similar: float = 0.6
    contradiction_cap: int = 3
    attribute_length: int = MAX_TEXT
    instructions: str | None = None
    prompts: frozenset[str] | None = None
    count_tokens: Callable[[str], int] = count_tokens


@dataclass(frozen=True, slots=True)
class FoundEntity:
    """A thing that a text names. `identities` are exact outside ones ("User:id=7"), the best first: one in common is one entity."""

    name: str
    type: str = DEFAULT_TYPE
    aliases: tuple[str, ...] = ()
    span: Span | None = None
    attributes: Mapping[str, object] = EMPTY
    identities: tuple[str, ...] = ()

    @property
    def identity(self) -> str | None:
        """The best identity."""
        return self.identities[0] if self.identities else None


def same_thing(one: Sequence[str], other: Sequence[str]) -> bool | None:
    """Whether two lists of identities are of one thing: the best kind that both have decides; None if they share no kind.

    >>> same_thing(["node_id=a", "User:login=mira"], ["node_id=b", "User:login=mira"]), same_thing(["User:id=7"], ["User:login=mira"])
    (False, None)
    """
    theirs = dict(i.partition("=")[::2] for i in other)
    for identity in one:
        kind, _, value = identity.partition("=")
        if kind in theirs:
            return theirs[kind] == value
    return None


@dataclass(frozen=True, slots=True)
class FoundFact:
    """A claim of a text; `source` and `target` are positions among the found entities."""

    source: int
    target: int
    relation: str
    text: str
    kind: AssertionKind = AssertionKind.HOLDS
    start: DateUnit | None = None
    end: DateUnit | None = None
    still: bool = False
    span: Span | None = None
    attributes: Mapping[str, object] = EMPTY


@dataclass(frozen=True, slots=True)
class Extraction:
    """All that one episode says. `clauses` are searchable, never facts; `links` pair found entities that the text says are one.

    `actor` is the position of the speaker, `participants` the names of those who take part in the session. `unread` are the
    places in the text from which on nothing was read, since no answer could be.
    """

    entities: tuple[FoundEntity, ...] = ()
    facts: tuple[FoundFact, ...] = ()
    clauses: tuple[str, ...] = ()
    links: tuple[tuple[int, int], ...] = ()
    warnings: tuple[Warn, ...] = ()
    actor: int | None = None
    participants: tuple[str, ...] = ()
    unread: tuple[int, ...] = ()


def is_asked(prompt: str, episode: Episode, options: Options) -> bool:
    """Whether the model is asked this about an episode: it must have an opinion, and rows of facts and JSON are taken by rule."""
    return episode.kind not in (EpisodeKind.FACTS, EpisodeKind.JSON) and (options.prompts is None or prompt in options.prompts)


def values_of(asks: list[Ask]) -> Flow[list[object]]:
    """What was answered to each ask; in the place of an answer that the model refused or cut short, the error."""
    answers = yield asks
    return [answer.value if answer.failure is None else answer.failure for answer in answers]


class _Short(reprlib.Repr):
    """`repr` of a few levels and items, whatever the value holds."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel, self.maxdict, self.maxlist, self.maxtuple, self.maxset = 5, 20, 20, 20, 20
        self.maxstring = self.maxother = 1_000

    def repr_int(self, x: int, level: int) -> str:
        return repr(x) if abs(x) < _LARGE else f"<an integer of {x.bit_length()} bits>"


_LARGE = 10**30
_SHORT = _Short()


def shown(raw: object, longest: int = 200) -> object:
    """`raw` as a warning keeps it: a plain JSON value, long texts cut."""
    if raw is None or isinstance(raw, bool) or (isinstance(raw, int) and abs(raw) < _LARGE):
        return raw
    if isinstance(raw, float):
        return raw if math.isfinite(raw) else repr(raw)
    text = raw if isinstance(raw, str) else _SHORT.repr(raw)
    return text if len(text) <= longest else text[: longest - 3] + "..."
