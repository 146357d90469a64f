"""Running named statements: over one connection pool, tried again where that helps, with errors told in graphmem's words."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from graphmem import statements
from graphmem.errors import LoginRefused, StoreBusy, StoreError, StoreFull, StoreReadOnly, StoreUnavailable
from graphmem.statements import Statement
from graphmem.stores.codec import safe_text
from graphmem.stores.neo4j.together import Ask, composed, rows_of

if TYPE_CHECKING:
    from neo4j import Driver

Row = Mapping[str, Any]
Trace = Callable[[Statement], None]
T = TypeVar("T")

MOST_TRIES = 5
_FIRST_WAIT = 0.05
_BROKEN_OFF = ("TransactionTimedOut", "TransactionTimedOutClientConfiguration", "LockAcquisitionTimeout", "Terminated")
_MADE = ("EquivalentSchemaRuleAlreadyExists", "IndexAlreadyExists", "ConstraintAlreadyExists", "IndexWithNameAlreadyExists")
_BUSY = (*_BROKEN_OFF, "LockClientStopped", "DeadlockDetected")
_READ_ONLY = ("ForbiddenOnReadOnlyDatabase", "WriteOnReadOnlyAccessDatabase", "Statement.AccessMode", "Security.Forbidden")
_FULL = ("No space left on device", "DatabaseAllocationFailed", "TransactionLogError")
_DOWN = ("DatabaseUnavailable", "TransactionStartFailed", "TransactionCommitFailed")
_POOL_IS_FULL = "failed to obtain a connection from the pool"


def folder() -> Traversable:
    """Where the statements are: in the installed package, or beside it in a checkout."""
    installed = files("graphmem") / "cypher"
    return installed if installed.is_dir() else Path(str(files("graphmem"))).parent / "cypher"


@cache
def named() -> dict[str, Statement]:
    """Every statement but those of the schema, by name."""
    return statements.load(sorted((f for f in folder().iterdir() if f.name.endswith(".cypher")), key=lambda f: f.name))


def failure(error: Exception, where: str) -> StoreError:
    """An error of the driver or the server as an error of graphmem, naming the server."""
    from neo4j import exceptions as neo

    code = getattr(error, "code", None) or ""
    told = (error.message if isinstance(error, neo.Neo4jError) else None) or str(error)  # of the driver's own errors it says nothing
    if isinstance(error, neo.AuthError):
        return LoginRefused(f"{where}: user or password is wrong; pass auth=(user, password) ({told})")
    if code.endswith("Security.AuthenticationRateLimit"):
        return LoginRefused(f"{where}: too many wrong passwords; wait some seconds, then pass auth=(user, password) ({told})")
    if code.endswith("Security.CredentialsExpired"):
        return LoginRefused(f"{where}: the password is to be changed first, by ALTER CURRENT USER SET PASSWORD in Browser ({told})")
    if any(word in code for word in _READ_ONLY):
        return StoreReadOnly(f"{where}: may be read but not written; use a user and a database that may write ({told})")
    if any(word in f"{code} {told}" for word in _FULL):
        return StoreFull(f"{where}: the server has no space left to write; kill it, then make room on its disc, then start it ({told})")
    if _POOL_IS_FULL in told:
        return StoreBusy(f"{where}: all connections of this handle are in use; try again, or allow more with pool= ({told})")
    if isinstance(error, (neo.ServiceUnavailable, neo.SessionExpired, neo.ConfigurationError, OSError)):
        return StoreUnavailable(f"{where}: cannot be reached ({told}); is the server running, and is the address right?")
    if any(code.endswith(f".{name}") for name in _BUSY):
        return StoreBusy(f"{where}: another writer held the group for too long; try again ({told})")
    if code.endswith("DatabaseNotFound"):
        return StoreUnavailable(f"{where}: there is no such database; pass database= of one that exists ({told})")
    if code.endswith(_DOWN):  # of which the server calls the first transient, also where the database has broken down
        return StoreUnavailable(f"{where}: the database is not available ({told}); the server's log says why")
    if isinstance(error, neo.TransientError):
        return StoreBusy(f"{where}: {told}; try again")
    return StoreError(f"{where}: {told}")


def is_transient(error: Exception) -> bool:
    """Whether the same again may succeed."""
    from neo4j.exceptions import DriverError, Neo4jError

    return isinstance(error, (DriverError, Neo4jError)) and error.is_retryable()


def is_lost(error: Exception) -> bool:
    """Whether the connection was lost: what was under way may have been done or not."""
    from neo4j.exceptions import ServiceUnavailable, SessionExpired

    return isinstance(error, (ServiceUnavailable, SessionExpired, ConnectionError))


def broken_off(error: Exception) -> bool:
    """Whether the server ended the transaction, as it does with one that takes too long."""
    return (getattr(error, "code", None) or "").rpartition(".")[2] in _BROKEN_OFF


@contextmanager
def translated(where: str) -> Iterator[None]:
    """Errors of the driver in the block as errors of graphmem."""
    from neo4j.exceptions import DriverError, Neo4jError

    try:
        yield
    except (DriverError, Neo4jError, OSError) as error:
        raise failure(error, where) from error


class Connection:
    """A driver with what every transaction needs to know: database, name for messages, traces."""

    def __init__(self, driver: Driver, database: str | None, where: str) -> None:
        from neo4j import GraphDatabase

        self.driver = driver
        self.database = database
        self._bookmarks = GraphDatabase.bookmark_manager()  # on a cluster, reads see what this process has written
        self.where = where
        self.traces: list[Trace] = []

    def bookmarks(self) -> tuple[str, ...]:
        """Of what this connection has written and read."""
        return tuple(sorted(self._bookmarks.get_bookmarks()))

    def follow(self, bookmarks: Iterable[str]) -> None:
        """Every session from now on waits, on whichever member of a cluster, until these have arrived there."""
        self._bookmarks.update_bookmarks((), tuple(bookmarks))

    def session(self, *, reading: bool = False) -> Any:
        """A session on the database; one that only reads may be sent to any member of a cluster."""
        mode = "READ" if reading else "WRITE"
        return self.driver.session(database=self.database, bookmark_manager=self._bookmarks, default_access_mode=mode)

    def text(self, name: str) -> Any:
        """A named statement, noted by the traces."""
        return self.noted(named()[name])

    def noted(self, statement: Statement) -> Any:
        """The statement's text, noted by the traces."""
        for trace in tuple(self.traces):
            trace(statement)
        return statement.text

    def again(self, work: Callable[[], T]) -> T:
        """What `work` gives; done again a few times, later and later, while its errors may pass."""
        wait = _FIRST_WAIT
        for left in range(MOST_TRIES - 1, -1, -1):
            try:
                return work()
            except Exception as error:
                if not left or not is_transient(error):
                    raise
                time.sleep(wait)
                wait *= 2
        raise AssertionError("unreachable")

    def rows(self, statement: Statement, params: Mapping[str, Any]) -> list[Row]:
        """All rows of one statement in a transaction of its own."""
        with translated(self.where):
            return self.again(lambda: self._once(statement, params))

    def make(self, statement: Statement) -> None:
        """Run a statement of the schema; that another process was quicker is as good."""
        from neo4j.exceptions import ClientError

        with translated(self.where):
            try:
                self.again(lambda: self._once(statement, {}))
            except ClientError as error:
                if (error.code or "").rpartition(".")[2] not in _MADE:
                    raise

    def _once(self, statement: Statement, params: Mapping[str, Any]) -> list[Row]:
        with self.session() as session:
            return list(session.run(self.noted(statement), dict(params)))


class Reading:
    """Named statements outside a transaction of one's own: each reads what is committed; one connection, one thread."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._session: Any = None

    def rows(self, name: str, /, **params: Any) -> list[Row]:
        """All rows."""
        with translated(self.connection.where):
            return self.connection.again(lambda: self._run(self.connection.text(name), params))

    def _run(self, text: Any, params: Mapping[str, Any]) -> list[Row]:
        if self._session is None:
            self._session = self.connection.session(reading=True)
        return list(self._session.run(text, dict(params)))

    def together(self, asks: Sequence[Ask]) -> list[list[Row]]:
        """All rows of each, in one round trip."""
        statement, params = composed(asks, named())
        with translated(self.connection.where):
            (row,) = self.connection.again(lambda: self._run(self.connection.noted(statement), params))
        return rows_of(asks, named(), row)

    def close(self) -> None:
        """Give the connection back."""
        if self._session is not None:
            session, self._session = self._session, None
            session.close()


def ids(given: Sequence[str] | None) -> list[str] | None:
    """Texts as a parameter."""
    return None if given is None else [safe_text(i) for i in given]
