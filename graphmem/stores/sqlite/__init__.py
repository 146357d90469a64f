"""The store in one SQLite file."""

from __future__ import annotations

from graphmem.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
