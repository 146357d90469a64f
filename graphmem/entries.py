"""Entries of a log, whichever kind they are: their group and their system instant."""

from __future__ import annotations

from datetime import datetime

from graphmem.model import EpisodeRecord, LogEntry


def group_of(entry: LogEntry) -> str:
    """The group whose log it is in."""
    return entry.episode.group if isinstance(entry, EpisodeRecord) else entry.group


def created_at(entry: LogEntry) -> datetime | None:
    """The system instant; None before it is recorded."""
    return entry.episode.created_at if isinstance(entry, EpisodeRecord) else entry.created_at


def recorded_at(entry: LogEntry) -> datetime:
    """The system instant of an entry that is in a log."""
    at = created_at(entry)
    assert at is not None
    return at
