"""One connection as graphmem uses it: named statements, text that is safe both ways, errors in our own tree."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from json.encoder import encode_basestring
from typing import cast

from graphmem import statements
from graphmem.errors import StoreBusy, StoreCorrupt, StoreError, StoreFull, StoreReadOnly, StoreUnavailable
from graphmem.model import AsOf
from graphmem.statements import SQL, Statement
from graphmem.stores.codec import OPEN_END, OPEN_START, safe_text, to_micros

Value = str | int | float | bytes | None
Row = tuple[Value, ...]
Trace = Callable[[Statement], None]

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_OUT_OF_REACH = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PERM}


@cache
def named() -> Mapping[str, Statement]:
    """Every SQL statement of the store, read once."""
    folder = files("graphmem.stores") / "sql"
    return statements.load(sorted((f for f in folder.iterdir() if f.name.endswith(".sql")), key=lambda f: f.name))


@cache
def positional(name: str) -> str:
    """A statement with `?` for each use of a parameter: bound by name, half of the time of writing a row would go into that."""
    return SQL.parameter.sub("?", named()[name].text)


def failure(error: sqlite3.Error, where: str) -> StoreError:
    """An error of SQLite as an error of graphmem, naming the file."""
    code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
    if code in _BUSY:
        return StoreBusy(f"{where}: another writer holds the file; try again ({error})")
    if code in _DAMAGED:
        return StoreCorrupt(f"{where}: damaged, or not a graphmem store ({error}); restore it from a copy")
    if code == sqlite3.SQLITE_READONLY:
        return StoreReadOnly(f"{where}: {error}; check the permissions of the file and its folder")
    if code == sqlite3.SQLITE_FULL:
        return StoreFull(f"{where}: {error}; make room and try again, nothing was written by halves")
    if code in _OUT_OF_REACH:
        return StoreUnavailable(f"{where}: {error}; check the path, the permissions and the space left")
    return StoreError(f"{where}: {error}")


@contextmanager
def translated(where: str) -> Iterator[None]:
    """Errors of SQLite in the block as errors of graphmem."""
    try:
        yield
    except sqlite3.Error as error:
        raise failure(error, where) from error


def id_list(ids: Iterable[str]) -> str:
    """Ids as one parameter for `json_each`."""
    return f"[{','.join([encode_basestring(safe_text(i)) for i in ids])}]"


def row_list(rows: Iterable[int]) -> str:
    """Row numbers as one parameter for `json_each`."""
    return "[" + ",".join(map(str, rows)) + "]"


def instants(at: AsOf) -> dict[str, int]:
    """The parameters `system`, `valid_lo` and `valid_hi` of a point: without a system instant only open rows pass."""
    valid = None if at.valid is None else to_micros(at.valid)
    return {
        "system": OPEN_END - 1 if at.system is None else to_micros(at.system),
        "valid_lo": OPEN_START if valid is None else valid,
        "valid_hi": OPEN_END if valid is None else valid,
    }


class Session:
    """Runs named statements on one connection, one thread at a time."""

    def __init__(self, connection: sqlite3.Connection, where: str, traces: Sequence[Trace] = ()) -> None:
        self.connection = connection
        self.where = where
        self._traces = traces
        self._statements = named()

    def _text(self, name: str) -> str:
        statement = self._statements[name]
        for trace in self._traces:
            trace(statement)
        return statement.text

    def rows(self, name: str, /, **params: Value) -> list[Row]:
        """All rows."""
        try:
            return self.connection.execute(self._text(name), params).fetchall()
        except sqlite3.Error as error:
            raise failure(error, self.where) from error

    def each(self, name: str, /, **params: Value) -> Iterator[Row]:
        """Rows as they are asked for."""
        try:
            for row in self.connection.execute(self._text(name), params):  # noqa: UP028 - that would close it, perhaps after its connection
                yield row
        except sqlite3.Error as error:
            raise failure(error, self.where) from error

    def row(self, name: str, /, **params: Value) -> Row | None:
        """The first row, if any."""
        try:
            found: Row | None = self.connection.execute(self._text(name), params).fetchone()
            return found
        except sqlite3.Error as error:
            raise failure(error, self.where) from error

    def run(self, name: str, /, **params: Value) -> int:
        """How many rows the statement changed."""
        try:
            return self.connection.execute(self._text(name), params).rowcount
        except sqlite3.Error as error:
            raise failure(error, self.where) from error

    def inserted(self, name: str, rows: Sequence[Row]) -> list[int]:
        """As `many`, of a statement that inserts: the row numbers of the rows, in their order.

        The statement inserts a row for each. It takes a number one larger than the table's largest, and nobody else writes.
        """
        if len(rows) == 1:
            self._text(name)
            try:
                return [self.connection.execute(positional(name), rows[0]).lastrowid or 0]
            except sqlite3.Error as error:
                raise failure(error, self.where) from error
        if not self.many(name, rows):
            return []
        ((last,),) = cast(list[tuple[int]], self.rows("last_row"))
        return list(range(last - len(rows) + 1, last + 1))

    def many(self, name: str, rows: Sequence[Row]) -> int:
        """The statement once per row of values, in the order in which it uses them; how many rows it changed."""
        if not rows:
            return 0
        self._text(name)
        try:
            return self.connection.executemany(positional(name), rows).rowcount
        except sqlite3.Error as error:
            raise failure(error, self.where) from error
