"""Writing the file anew after something was erased, so that no byte of it is left in the file or beside it.

Rows that are removed are overwritten with zeros at once (`secure_delete`), but what SQLite moved between pages before may
still lie in gaps of them, deleted words in older parts of the text index, and all of it in the write-ahead log. So the text
index is merged into one part, the file copied into a new one by `VACUUM`, and the log cut to nothing. A mark in the file, of
the same commit as the erase, says that this is due.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from graphmem.stores.sqlite.session import named

CLEANING = "cleaning"
"""The setting that says so."""
_PATIENCE = 2_000
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def is_due(connection: sqlite3.Connection) -> bool:
    """Whether something was erased since the file was last written anew."""
    return connection.execute(named()["meta_of"].text, {"name": CLEANING}).fetchone() is not None


def clean(connection: sqlite3.Connection) -> bool:
    """Write the file anew if that is due; False where a reader or writer is in the way. Outside any transaction."""
    try:
        with _waiting(connection, _PATIENCE):
            if not is_due(connection):
                return True
            connection.execute(named()["merge_word_index"].text)
            connection.execute("VACUUM")
        if not cut_log(connection, _PATIENCE):
            return False
        connection.execute(named()["drop_meta"].text, {"name": CLEANING})
        cut_log(connection, 0)  # tidy, but it holds nothing that was erased
        return True
    except sqlite3.OperationalError as error:
        if (error.sqlite_errorcode & 0xFF) in _BUSY:
            return False
        raise


def cut_log(connection: sqlite3.Connection, patience: int) -> bool:
    """Move the write-ahead log into the file and leave nothing in it; False where a reader still needs it after `patience` ms."""
    with _waiting(connection, patience):
        busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not busy


@contextmanager
def _waiting(connection: sqlite3.Connection, most: int) -> Iterator[None]:
    """Wait at most so many milliseconds for others."""
    (patience,) = connection.execute("PRAGMA busy_timeout").fetchone()
    connection.execute(f"PRAGMA busy_timeout = {min(most, patience)}")
    try:
        yield
    finally:
        connection.execute(f"PRAGMA busy_timeout = {int(patience)}")
