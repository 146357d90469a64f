"""What the memory holds before a batch of episodes is written: each thing read once, however many of them ask for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from graphmem.ingest.chunks import chunks
from graphmem.ingest.found import Options
from graphmem.interval import Interval
from graphmem.model import AsOf, EntityMatch, EntityVersion, Episode, EpisodeKind, EpisodeMatch
from graphmem.search.words import words
from graphmem.stores.ahead import Look, Texts, ahead
from graphmem.stores.base import Kind, Reader

_NOW = AsOf()
_READ_KINDS = (EpisodeKind.MESSAGE, EpisodeKind.TEXT)
SPEAKERS = 50
"""Of how many episodes the speakers take part in a session."""


def before_reading(reader: Reader, batch: Sequence[Episode], options: Options) -> None:
    """Tell a reader that wants to know what reading these episodes is going to ask of the memory."""
    if (told := ahead(reader)) is None:
        return
    for group, until in _latest(batch).items():
        own = [e for e in batch if e.group == group]
        texts = [e for e in own if e.kind in _READ_KINDS]
        told_before = dict.fromkeys(e.session for e in texts if e.kind is EpisodeKind.MESSAGE or e.session is not None)
        looks = [Look(_upto(_messages(s), until), messages_read(options), True) for s in told_before]
        looks += [Look(_upto(EpisodeMatch(sessions=(s,)), until), SPEAKERS, False) for s in told_before if s]
        terms = [words(text) for e in texts for _, text in chunks(e.body, options.chunk_tokens, options.count_tokens)]
        told.expect(group, Texts([e.key for e in own], looks, terms, options.known))


def messages_read(options: Options) -> int:
    """How many messages before one are looked at: those that go with it, and one to answer; and it may be among them itself."""
    return max(options.recent, 1) + 1


def _latest(batch: Sequence[Episode]) -> dict[str, datetime]:
    """The last reference time in each group."""
    latest: dict[str, datetime] = {}
    for episode in batch:
        latest[episode.group] = max(episode.reference_time, latest.get(episode.group, episode.reference_time))
    return latest


def _messages(session: str | None) -> EpisodeMatch:
    return EpisodeMatch(kinds=_READ_KINDS, sessions=(session,) if session else None)


def _upto(match: EpisodeMatch, until: datetime) -> EpisodeMatch:
    reference = Interval(None, until + timedelta(microseconds=1)) if until.year < 9999 else Interval()
    return EpisodeMatch(kinds=match.kinds, sessions=match.sessions, reference=reference)


class Before:
    """The memory at the snapshot of `reader`, as the episodes `batch` see it."""

    def __init__(self, reader: Reader, batch: Sequence[Episode]) -> None:
        self._reader = reader
        self._latest = _latest(batch)
        self._episodes: dict[tuple[object, ...], list[Episode]] = {}
        self._entities: dict[str, EntityVersion | None] = {}

    def messages(self, episode: Episode, count: int) -> list[Episode]:
        """The last messages and texts of the episode's session, or of its group if it has none, up to its time; newest first."""
        return self._last(episode, _messages(episode.session), count, bodies=True)

    def speakers(self, episode: Episode, count: int) -> list[str]:
        """Who said the last episodes of the episode's session, up to its time; newest first."""
        match = EpisodeMatch(sessions=(episode.session,) if episode.session else ())
        return [e.actor for e in self._last(episode, match, count, bodies=False) if e.actor]

    def _last(self, episode: Episode, match: EpisodeMatch, count: int, bodies: bool) -> list[Episode]:
        asked = (episode.group, match.sessions, match.kinds, count)
        known = self._episodes.get(asked)
        if known is None:
            known = self._episodes[asked] = self._read(episode.group, match, self._latest[episode.group], count, bodies)
        if all(e.reference_time <= episode.reference_time for e in known):
            return known
        return self._read(episode.group, match, episode.reference_time, count, bodies)

    def _read(self, group: str, match: EpisodeMatch, until: datetime, count: int, bodies: bool) -> list[Episode]:
        return self._reader.episodes((group,), _NOW, _upto(match, until), count, newest_first=True, bodies=bodies)

    def mentioned(self, group: str, episodes: Sequence[str]) -> list[str]:
        """The entities that these episodes mention, those of the newest first."""
        return [m.entity for m in self._reader.mentions((group,), _NOW, episodes=episodes)] if episodes else []

    def named(self, group: str, text: str, count: int) -> list[str]:
        """Entities with a word of `text` in one of their names, the likeliest first."""
        terms = list(dict.fromkeys(words(text)))
        return [found.id for found in self._reader.text_search(Kind.ENTITY, terms, (group,), _NOW, count)] if terms else []

    def entities(self, group: str, ids: Iterable[str]) -> list[EntityVersion]:
        """These entities, in that order; unknown ids are left out."""
        wanted = list(ids)
        new = tuple(i for i in wanted if i not in self._entities)
        if new:
            self._entities.update(dict.fromkeys(new))
            self._entities.update((e.id, e) for e in self._reader.entities((group,), _NOW, EntityMatch(ids=new)))
        return [e for i in wanted if (e := self._entities[i]) is not None and e.group == group]
