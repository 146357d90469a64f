"""Opening a file: what the SQLite at hand must be able to do, whose file it is, and which schema it has."""

from __future__ import annotations

import sqlite3
import time
from contextlib import suppress
from importlib.resources import files
from pathlib import Path

from graphmem.errors import SchemaTooNew, StoreCorrupt, StoreUnavailable
from graphmem.stores.sqlite.cleaning import clean, is_due
from graphmem.stores.sqlite.session import translated

_OLDEST = (3, 35, 0)
APPLICATION_ID = 0x676D656D  # "gmem": tells a graphmem file from any other
_CACHE_KIB = 16_384


def migrations() -> dict[int, str]:
    """The schema's steps by version: the text of `migrations/NNNN_name.sql`."""
    folder = files("graphmem.stores") / "sql" / "migrations"
    steps = {int(f.name.partition("_")[0]): f.read_text(encoding="utf-8") for f in folder.iterdir() if f.name.endswith(".sql")}
    return dict(sorted(steps.items()))


def connect(path: Path, timeout: float) -> sqlite3.Connection:
    """A connection that waits `timeout` seconds for the write lock, outside any transaction."""
    connection = sqlite3.connect(path, timeout=timeout, isolation_level=None, check_same_thread=False, cached_statements=256)
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    return connection


def prepare(path: Path, timeout: float) -> sqlite3.Connection:
    """The first connection to a file: checked, made or migrated.

    Raises `StoreUnavailable`, `StoreCorrupt` or `SchemaTooNew`.
    """
    if sqlite3.sqlite_version_info < _OLDEST:
        raise StoreUnavailable(f"SQLite {sqlite3.sqlite_version} is too old: graphmem needs 3.35 or newer; use a newer Python build")
    if not path.parent.is_dir():
        raise StoreUnavailable(f"{path}: the folder {path.parent} does not exist; make it first")
    if path.is_dir():
        raise StoreUnavailable(f"{path}: is a folder; name a file in it")
    with translated(str(path)):
        connection = connect(path, timeout)
        try:
            _require_fts5(connection)
            _migrate(connection, path, timeout)
            if is_due(connection):
                with suppress(sqlite3.Error):  # what can be read is read all the same
                    clean(connection)
        except BaseException:
            connection.close()
            raise
    return connection


def _require_fts5(connection: sqlite3.Connection) -> None:
    options = {option for (option,) in connection.execute("PRAGMA compile_options")}
    if "ENABLE_FTS5" not in options:
        raise StoreUnavailable("this Python's SQLite lacks FTS5 full-text search; use another Python build")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _migrate(connection: sqlite3.Connection, path: Path, timeout: float) -> None:
    steps = migrations()
    newest = max(steps)
    found = _version(connection)
    _require_ours(connection, path, found, newest)
    if found == newest:
        return
    _write_ahead(connection, timeout)
    connection.execute("BEGIN IMMEDIATE")
    try:
        found = _version(connection)
        for version, step in steps.items():
            if version > found:
                for statement in split(step):
                    connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {newest}")
        connection.execute("COMMIT")
    except BaseException:
        connection.rollback()
        raise


def _write_ahead(connection: sqlite3.Connection, timeout: float) -> None:
    """Switch to the write-ahead log. SQLite does not wait for this lock, so two processes that make one file would fail."""
    deadline = time.monotonic() + timeout
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _require_ours(connection: sqlite3.Connection, path: Path, found: int, newest: int) -> None:
    owner = int(connection.execute("PRAGMA application_id").fetchone()[0])
    if owner != APPLICATION_ID and connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None:
        raise StoreCorrupt(f"{path}: is a SQLite file, but not a graphmem store; name another file")
    if found > newest:
        raise SchemaTooNew(f"{path}: has schema {found}, this graphmem knows up to {newest}; install a newer graphmem")


def split(script: str) -> list[str]:
    """The statements of a script, one by one: `executescript` would end the transaction they belong to."""
    found, pending = [], ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            found.append(pending)
            pending = ""
    if pending.strip() and any(line.strip() and not line.startswith("--") for line in pending.splitlines()):
        found.append(pending)
    return found
