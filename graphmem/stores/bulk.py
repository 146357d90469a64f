"""A whole log at once: reading what checks and hashes ask of it, and writing what many entries bring, each at an instant of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol, runtime_checkable

from graphmem.entries import created_at
from graphmem.model import AsOf, CitationVersion, EpisodeRecord, MentionVersion
from graphmem.stores.base import Reader, Writer


@runtime_checkable
class BulkReads(Protocol):
    """What a reader may offer besides, where it spares making whole rows."""

    def places(self, group: str) -> Sequence[tuple[int, datetime | None]]:
        """Position and system instant of each entry of `Reader.log`, in order."""
        ...

    def cited_now(self, group: str) -> list[tuple[str, datetime | None, str]]:
        """Fact id, valid start and assertion or operation of each citation believed now, in no order."""
        ...

    def mentioned_now(self, group: str) -> list[tuple[str, int, str, str]]:
        """Episode, position, canonical entity and name as said of each mention believed now, in no order."""
        ...


def reading(reader: Reader) -> BulkReads:
    """The reader itself, or for one that does not offer it, whole rows."""
    return reader if isinstance(reader, BulkReads) else _Whole(reader)


class _Whole:
    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def places(self, group: str) -> Sequence[tuple[int, datetime | None]]:
        return [(entry.seq, created_at(entry)) for entry in self._reader.log(group)]

    def cited_now(self, group: str) -> list[tuple[str, datetime | None, str]]:
        return [(c.fact_id, c.valid_at, c.by) for c in self._reader.citations([group], AsOf())]

    def mentioned_now(self, group: str) -> list[tuple[str, int, str, str]]:
        return [(m.mention.episode, m.mention.position, m.entity, m.mention.name) for m in self._reader.mentions([group], AsOf())]


@runtime_checkable
class BulkWrites(Protocol):
    """What a writer may offer besides, where it spares work."""

    def append_episodes(self, records: Sequence[EpisodeRecord]) -> None:
        """As `Writer.append_episode` of each."""
        ...

    def open_citations(self, group: str, added: Iterable[tuple[datetime, Sequence[CitationVersion]]]) -> None:
        """As `Writer.change_citations` at each of these instants, where none is closed."""
        ...

    def open_mentions(self, group: str, added: Iterable[tuple[datetime, Sequence[MentionVersion]]]) -> None:
        """As `Writer.change_mentions` at each of these instants, where none is closed."""
        ...

    def open_episodes(self, group: str, shown: Mapping[str, datetime], words: Mapping[str, str]) -> None:
        """As `Writer.show_episodes` of each episode, at its instant."""
        ...


def writing(tx: Writer) -> BulkWrites:
    """The writer itself, or for one that does not offer it, one call after the other."""
    return tx if isinstance(tx, BulkWrites) else _OneByOne(tx)


class _OneByOne:
    def __init__(self, tx: Writer) -> None:
        self._tx = tx

    def append_episodes(self, records: Sequence[EpisodeRecord]) -> None:
        for record in records:
            self._tx.append_episode(record)

    def open_citations(self, group: str, added: Iterable[tuple[datetime, Sequence[CitationVersion]]]) -> None:
        for at, citations in added:
            self._tx.change_citations(group, [], citations, at)

    def open_mentions(self, group: str, added: Iterable[tuple[datetime, Sequence[MentionVersion]]]) -> None:
        for at, mentions in added:
            self._tx.change_mentions(group, [], mentions, at)

    def open_episodes(self, group: str, shown: Mapping[str, datetime], words: Mapping[str, str]) -> None:
        for episode, at in shown.items():
            self._tx.show_episodes(group, [episode], at, words)
