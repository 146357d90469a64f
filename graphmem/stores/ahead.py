"""What a store may be told besides: what is about to be read. Where every read is a journey, it then makes one for all of it.

Reads give the same with and without. A store with `Capability.AHEAD` takes such words; to others they mean nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import NamedTuple, Protocol, cast

from graphmem.embed.base import Vectors
from graphmem.model import EpisodeMatch, FactMatch
from graphmem.stores.base import Capability, Store, Writer


class Look(NamedTuple):
    """Episodes that will be asked for: the last `limit` that match, newest first. Those with bodies are read with whom they mention."""

    match: EpisodeMatch
    limit: int
    bodies: bool


@dataclass(frozen=True, slots=True)
class Texts:
    """Episodes are about to be read by a model: which are known by their keys, what was said before them, and whom their words may
    mean, at most `limit` entities for each list of `terms`.
    """

    keys: Sequence[str] = ()
    looks: Sequence[Look] = ()
    terms: Sequence[Sequence[str]] = ()
    limit: int = 0


class Sought(NamedTuple):
    """A thing of some names that is looked for: where nobody has one of them, by words and, unless None, by a vector."""

    names: tuple[str, ...]
    terms: Sequence[str]
    vector: Vectors | None


@dataclass(frozen=True, slots=True)
class Names:
    """Who is meant is about to be found out: everybody of these names, at most `limit` for each that nobody has; and whether an
    episode of one of `keys` is known.
    """

    names: Sequence[str] = ()
    sought: Sequence[Sought] = ()
    limit: int = 0
    keys: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Beliefs:
    """What decides facts is about to be read: everything around these entities, fact ids and slots, as `Reader.keys` has them.

    `matches` are conditions that facts will be asked by, at most `limit` of each: both ends, or relations of a source or of either
    end.
    """

    entities: Sequence[str] = ()
    facts: Sequence[str] = ()
    slots: Sequence[tuple[str, str, str]] = ()
    matches: Sequence[FactMatch] = ()
    limit: int = 0


class Ahead(Protocol):
    """A reader that can be told."""

    def expect(self, group: str, what: Texts | Names | Beliefs) -> None:
        """Fetch what is going to be asked for, each time for one group."""
        ...

    def expect_answers(self, keys: Sequence[str]) -> None:
        """Fetch these recorded answers, as far as they are there."""
        ...


class AheadStore(Protocol):
    """A store whose transactions can be told when they begin."""

    def write(self, group: str, expecting: Names | None = None) -> AbstractContextManager[Writer]:
        """As `Store.write`; what is expected comes with the lock."""
        ...


def begun(store: Store, group: str, expecting: Callable[[], Names]) -> AbstractContextManager[Writer]:
    """A transaction of the store, told what will be read in it if the store wants to be told."""
    if Capability.AHEAD in store.capabilities:
        return cast(AheadStore, store).write(group, expecting())
    return store.write(group)


def ahead(reader: object) -> Ahead | None:
    """The reader, if it wants to be told."""
    return cast(Ahead, reader) if hasattr(reader, "expect") else None
