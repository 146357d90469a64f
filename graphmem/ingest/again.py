"""Reading again what no answer could be read about: such episodes, and the ones that take their place.

The log is only added to, so what is read later is an episode of its own: the same words of the same time under another id,
recorded when it was read, while the one it stands for is forgotten.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from graphmem.belief.instead import INSTEAD_OF, id_again
from graphmem.belief.instead import key_again as key_of
from graphmem.ingest.found import Extraction
from graphmem.model import AsOf, Episode, EpisodeKind, EpisodeMatch, EpisodeRecord
from graphmem.stores.base import Reader

UNREAD = "unread"
"""The attribute of an episode with the places in its text from which on nothing was read."""
TRIES = "tries"
OWN = frozenset((UNREAD, TRIES, INSTEAD_OF))
"""Attributes that nobody else may give."""

_NOW = AsOf()


def unread(reader: Reader, group: str) -> list[Episode]:
    """The visible episodes of a group of which something was not read, in the order of the log."""
    kinds = EpisodeMatch(kinds=(EpisodeKind.MESSAGE, EpisodeKind.TEXT))
    ids = tuple(e.id for e in reader.episodes([group], _NOW, kinds, bodies=False) if UNREAD in e.attributes)
    found = reader.episodes([group], _NOW, EpisodeMatch(ids=ids)) if ids else []
    return sorted(found, key=lambda e: e.seq)


def again(episode: Episode) -> Episode:
    """The episode that takes the place of one that was not read."""
    identity = id_again(episode.group, episode.id)
    attributes = {**episode.attributes, TRIES: tries_of(episode) + 1, INSTEAD_OF: episode.id}
    return replace(episode, id=identity, key=key_again(episode), seq=0, created_at=None, attributes=attributes)


def key_again(episode: Episode) -> str:
    """The key of the episode that takes its place."""
    return key_of(episode.group, episode.id)


def as_read(episode: Episode, left: tuple[int, ...]) -> Episode:
    """An episode with what is `left` unread after reading it."""
    kept = {name: value for name, value in episode.attributes.items() if name not in (UNREAD, TRIES)}
    return replace(episode, attributes={**kept, UNREAD: list(left), TRIES: tries_of(episode)} if left else kept)


def gains(extraction: Extraction, before: EpisodeRecord) -> bool:
    """Whether reading an episode again has found more than there was: nothing is unread any more, or there are more facts, or as
    many and other places are left.
    """
    more = len(extraction.facts) - len(before.assertions)
    return not extraction.unread or more > 0 or (more == 0 and extraction.unread != places_of(before.episode))


def tries_of(episode: Episode) -> int:
    """How often it was read again."""
    tries = episode.attributes.get(TRIES)
    return tries if isinstance(tries, int) else 0


def places_of(episode: Episode) -> tuple[int, ...]:
    """The places from which on nothing was read."""
    places = episode.attributes.get(UNREAD)
    return tuple(p for p in places if isinstance(p, int)) if isinstance(places, list | tuple) else ()


def attempt(episode: Episode, offset: int, length: int) -> Mapping[str, object]:
    """What sets a question about that stretch of the text apart from the one that was not answered; nothing for others."""
    asked_before = any(offset <= place < offset + length for place in places_of(episode))
    return {"attempt": tries_of(episode)} if asked_before else {}
