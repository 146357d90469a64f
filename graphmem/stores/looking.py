"""What a search is going to ask, told beforehand: a store that is far away can then fetch all of it at once.

A reader that looks ahead is told three times in a search what the verbs will be asked next; it answers them as it would have,
from what it has at hand by then. What it was told changes no answer, and where it guesses wrong the verb reads for itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from graphmem.embed.base import Vectors
from graphmem.model import AsOf, EpisodeMatch, FactMatch
from graphmem.stores.base import Kind, SearchFilter


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """What the words of a question ask: entities by `names`, items of some kinds by `terms`, and episodes told in `windows`.

    `kinds` maps a kind to how many of it; of the episodes found the first `heard` are read. Of the episodes of each window
    `told` are read, without bodies.
    """

    groups: tuple[str, ...]
    at: AsOf
    match: SearchFilter
    names: tuple[str, ...]
    terms: tuple[str, ...]
    kinds: Mapping[Kind, int]
    heard: int
    windows: Sequence[EpisodeMatch]
    told: int


@dataclass(frozen=True, slots=True, eq=False)
class Near:
    """A vector search."""

    kind: Kind
    vector: Vectors
    at: AsOf
    limit: int
    match: SearchFilter | None


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """Where an expansion starts: from `seeds`; or from the first `limit` entities of a search, of at least this cosine, that
    are no values.
    """

    seeds: tuple[str, ...]
    meant: Near | None = None
    cosine: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Vicinity:
    """What the vectors of a question ask: searches, an expansion, with `between` all facts of the entities reached (so many),
    unless None in how many episodes each of `terms` occurs, so many of the `largest` communities, and the versions `heard` of others.
    """

    groups: tuple[str, ...]
    at: AsOf
    searches: Sequence[Near]
    start: Start
    hops: int
    limit: int
    match: FactMatch | None
    between: int | None
    terms: tuple[str, ...] | None
    largest: int = 0
    heard: Sequence[str] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """What ranking and showing ask: rows of `facts`, and which of them pass, and of `entities`; rows of episodes; of the entities `shown`
    so many first that pass, and their facts `holding` then.

    The episodes are those given, those that the facts `near` cite, those that mention the entities of `masses` (of the newest
    `mentions`, the weightiest `mentioned`), and the neighbours in their session of those among `closest`. Their words are asked
    too, their cosines with `bare`, with `types` also what they mention; of the facts that were `crossed`, the cosine with `whole`;
    of `communities` their sizes.
    """

    groups: tuple[str, ...]
    at: AsOf
    match: SearchFilter
    whole: Vectors
    bare: Vectors
    facts: Sequence[str]
    crossed: Sequence[str]
    entities: Sequence[str]
    shown: tuple[Sequence[str], int]
    holding: AsOf
    episodes: Sequence[str]
    near: Sequence[str]
    masses: Mapping[str, float]
    mentions: int
    mentioned: int
    closest: Sequence[str]
    types: bool
    communities: Sequence[str] = ()


@runtime_checkable
class LooksAhead(Protocol):
    """What a reader may offer besides."""

    def expect_words(self, look: Words) -> None:
        """The words of a question are going to be looked for."""
        ...

    def expect_vicinity(self, look: Vicinity) -> None:
        """What is near it is."""
        ...

    def expect_candidates(self, look: Candidates) -> None:
        """What was found is going to be read."""
        ...
