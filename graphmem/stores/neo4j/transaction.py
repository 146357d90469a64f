"""A write transaction on the server: it holds its group's lock, and is begun again where it was lost for a passing reason."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from secrets import token_hex
from typing import Any, TypeVar

from graphmem.errors import Overtaken
from graphmem.stores.codec import safe_text
from graphmem.stores.neo4j.kept import settings
from graphmem.stores.neo4j.scopes import GroupState
from graphmem.stores.neo4j.session import MOST_TRIES, Connection, Row, broken_off, is_lost, is_transient, named, translated
from graphmem.stores.neo4j.together import Ask, composed, moved, rows_of

T = TypeVar("T")
_FIRST_WAIT = 0.05
_LONGER = 3


class Transaction:
    """Runs named statements under the lock of one group; one thread at a time.

    The server ends a transaction that waits or lasts longer than `timeout` seconds: one that waits is given up as busy, one
    that only lasts is resumed with more time.

    `asks` are read with the lock, in one round trip: `brought` is what they found. What was written is kept until the commit:
    after a passing failure it is written again in a new transaction, if nobody else has written to the group meanwhile, so
    that everything read under the lock still holds. Where the connection is lost while the commit is on its way, the group's
    node says whether it arrived: it names the last writer.

    Raises `Overtaken` where another writer came between.
    """

    def __init__(self, connection: Connection, group: str, timeout: float, names: Mapping[str, str], asks: Sequence[Ask] = ()) -> None:
        self._connection, self._group, self._timeout = connection, group, timeout
        self._names, self._asks = names, asks
        self.brought: Sequence[list[Row]] = ()
        self.metas: dict[str, str | None] = {}
        self._session: Any = None
        self._tx: Any = None
        self._written: list[tuple[str, dict[str, Any]]] = []
        self._writer = token_hex(16)
        with translated(connection.where):
            try:
                self.state = connection.again(self._begin)
            except BaseException:
                self.close()
                raise

    def rows(self, name: str, /, **params: Any) -> list[Row]:
        """All rows."""
        return self._lasting(lambda: self._run(name, params))

    def together(self, asks: Sequence[Ask]) -> list[list[Row]]:
        """All rows of each, in one round trip."""
        return self._lasting(lambda: self._once(asks))

    def write(self, name: str, /, **params: Any) -> list[Row]:
        """Rows of a statement that writes."""
        found = self._lasting(lambda: self._run(name, params))
        self._written.append((name, params))
        return found

    def commit(self) -> None:
        """Make it last."""
        self._lasting(self._commit)
        self.close()

    def _commit(self) -> None:
        if self._last != self._writer:  # else what was lost was only the answer
            self._tx.commit()

    def close(self) -> None:
        """Give up what is not committed, and the lock."""
        session, self._session, self._tx = self._session, None, None
        if session is not None:
            session.close()

    def _begin(self, timeout: float | None = None) -> GroupState:
        self.close()
        self._session = self._connection.session()
        self._tx = self._session.begin_transaction(timeout=timeout or self._timeout)
        lock = Ask("lock", {"group": safe_text(self._group), "metas": list(self._names), "writer": self._writer})
        if self._asks:
            (row,), *self.brought = self._once([lock, *(moved(ask, 1) for ask in self._asks)])
        else:
            (row,) = self._run(lock.name, lock.params)
        self.metas = settings(row, self._names)
        self._last = row["last"]
        return GroupState.of(row)

    def _run(self, name: str, params: Mapping[str, Any]) -> list[Row]:
        return list(self._tx.run(self._connection.text(name), dict(params)))

    def _once(self, asks: Sequence[Ask]) -> list[list[Row]]:
        statement, params = composed(asks, named())
        (row,) = self._tx.run(self._connection.noted(statement), params)
        return rows_of(asks, named(), row)

    def _lasting(self, work: Callable[[], T]) -> T:
        with translated(self._connection.where):
            for attempt in range(MOST_TRIES):
                try:
                    if attempt:
                        self._resume(self._timeout * _LONGER**attempt)
                    return work()
                except Exception as error:
                    if attempt == MOST_TRIES - 1 or not (is_transient(error) or is_lost(error) or broken_off(error)):
                        raise
                    time.sleep(_FIRST_WAIT * 2**attempt)
        raise AssertionError("unreachable")

    def _resume(self, timeout: float) -> None:
        change = self._begin(timeout).change
        if self._last == self._writer:
            return
        if change != self.state.change:
            raise Overtaken(f"{self._connection.where}: a transaction was lost, and another writer came between; try again")
        for name, params in self._written:
            self._run(name, params)
