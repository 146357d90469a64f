"""Operations: decided on what the memory is under the lock, recorded with their consequences, or only tried."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import TypeVar

from graphmem.belief.identity import active_operations
from graphmem.belief.ledger import Ledger, Outcome
from graphmem.belief.slices import operations_on
from graphmem.entries import created_at
from graphmem.errors import InvalidInput, NotFound, Overtaken, StaleInstant
from graphmem.ingest.copying import check_whole
from graphmem.model import EMPTY, Head, Operation, OperationKind, Warn
from graphmem.ontology import Ontology
from graphmem.results import WriteResult
from graphmem.runtime import MICROSECOND, Clock, content_id
from graphmem.stores.base import Reader, Store, Writer
from graphmem.stores.codec import encode

_TRIES = 8
T = TypeVar("T")


@dataclass(frozen=True)
class Act:
    """An operation about to be recorded; `check` looks at the memory and at what was done afterwards, for warnings."""

    kind: OperationKind
    targets: tuple[str, ...]
    values: Mapping[str, object] = EMPTY
    warnings: tuple[Warn, ...] = ()
    check: Callable[[Reader, Outcome], Sequence[Warn]] | None = None


Plan = Callable[[Writer], Act]
"""What is to be done, decided under the group's lock; raises where it cannot be, and nothing is changed."""


_NOT_UNDONE = {
    OperationKind.ERASE: "what was erased is gone",
    OperationKind.ERASED: "what was erased is gone",
    OperationKind.ONTOLOGY: "open the memory with the ontology that is to be used",
    OperationKind.COMMUNITIES: "build_communities() finds them anew",
}


def undoing(reader: Reader, group: str, target: str) -> Act:
    """Take back that operation; raises `NotFound` for an unknown one, `InvalidInput` for one that cannot be, or is already."""
    found = reader.operations(group, ids=[target])
    if not found:
        raise NotFound(f"no operation {target!r} in group {group!r}; results of operations have their ids, group= names another group")
    if found[0].kind in _NOT_UNDONE:
        raise InvalidInput("operation", target, f"is of kind {found[0].kind.value}, and cannot be undone: {_NOT_UNDONE[found[0].kind]}")
    known = {target: found[0]}
    operations_on(reader, group, [target], known)
    active = active_operations(known.values())
    if all(o.id != target for o in active):
        by = next(o for o in active if o.kind is OperationKind.RESTORE and target in o.targets)
        raise InvalidInput("operation", target, f"is undone already, by {by.id}; undo({by.id!r}) does it again")
    return Act(OperationKind.RESTORE, (target,))


def without_effect(reader: Reader, outcome: Outcome) -> list[Warn]:
    """A warning where nothing is believed otherwise than before."""
    if outcome.changes:
        return []
    return [Warn("no_effect", "", "nothing is believed otherwise: it was so before, or something else decides")]


class _Tried(Exception):
    """Ends a transaction of which nothing is to be kept."""

    def __init__(self, result: WriteResult) -> None:
        self.result = result


Arrived = Callable[[Reader], bool]
"""Whether what a transaction did is there: where a commit's answer was lost, another writer may come after it."""


def once(store: Store, group: str, work: Callable[[Writer], tuple[T, Arrived]]) -> T:
    """What `work` gives in a transaction of the group, begun again where that was lost, unless it turns out to have arrived.

    Raises `Overtaken` if another writer comes between each time.
    """
    for attempt in range(_TRIES):
        done = None
        try:
            with store.write(group) as tx:
                done = work(tx)
            return done[0]
        except Overtaken:
            if done is not None:
                with store.read() as reader:
                    if done[1](reader):
                        return done[0]
            if attempt == _TRIES - 1:
                raise
    raise AssertionError("unreachable")


def is_in_log(operation: Operation) -> Arrived:
    """Whether exactly that operation was recorded."""

    def arrived(reader: Reader) -> bool:
        found = reader.operations(operation.group, ids=[operation.id])
        return any((o.created_at, o.author, o.reason) == (operation.created_at, operation.author, operation.reason) for o in found)

    return arrived


class Operator:
    """Records operations, one transaction each."""

    def __init__(self, store: Store, ledger: Ledger, clock: Clock) -> None:
        self._store, self._ledger, self._clock = store, ledger, clock

    def act(self, group: str, plan: Plan, *, reason: str | None = None, author: str | None = None, dry_run: bool = False) -> WriteResult:
        """Record what `plan` decides, with its consequences; with `dry_run` only say what these would be."""

        def work(tx: Writer) -> tuple[WriteResult, Arrived]:
            act = plan(tx)
            outcome, operation = self.record(tx, group, act, reason, author)
            warnings = (*act.warnings, *outcome.warnings, *(act.check(tx, outcome) if act.check is not None else ()))
            if dry_run:
                raise _Tried(WriteResult((), outcome.changes, warnings, created=False))
            return WriteResult((operation.id,), outcome.changes, warnings, created_at=operation.created_at), is_in_log(operation)

        try:
            return once(self._store, group, work)
        except _Tried as tried:
            return tried.result

    def record(self, tx: Writer, group: str, act: Act, reason: str | None = None, author: str | None = None) -> tuple[Outcome, Operation]:
        """Record an operation in a transaction of the caller's."""
        check_whole(tx, group)
        head = tx.head(group)
        at = system_instant(self._clock, head)
        parts = [group, head.seq + 1, act.kind.value, list(act.targets), *([encode(act.values)] if act.values else [])]
        operation = Operation(content_id("op", *parts), group, act.kind, act.targets, act.values, head.seq + 1, at, author, reason)
        return self._ledger.record(tx, operation, settled_ontology(tx, group)), operation


def stored_ontology(reader: Reader, group: str) -> Ontology | None:
    """The ontology that the group's log is folded with; None before its first write."""
    stored = reader.meta(f"ontology:{group}")
    return parsed_ontology(stored) if stored is not None else None


def settled_ontology(reader: Reader, group: str) -> Ontology:
    """As `stored_ontology`; raises `NotFound` for a group that holds nothing."""
    stored = stored_ontology(reader, group)
    if stored is None:
        raise NotFound(f"group {group!r} holds nothing yet")
    return stored


@lru_cache(maxsize=64)
def parsed_ontology(stored: str) -> Ontology:
    """The ontology as it is kept."""
    return Ontology.from_json(json.loads(stored))


def erased_since(reader: Reader, group: str, head: Head) -> bool:
    """Whether something was erased, or all of the group, since the log ended at `head`."""
    if reader.head(group) == head:
        return False
    entries = reader.log(group, head.seq - 1)
    last = next(entries, None)
    at = created_at(last) if last else None
    return at != head.at or any(isinstance(e, Operation) and e.kind is OperationKind.ERASE for e in entries)


def system_instant(clock: Clock, head: Head, recorded_at: datetime | None = None) -> datetime:
    """The system instant of a write: the clock's, or the one that history brings; always later than the last one.

    Raises `StaleInstant` for one that lies in the future or is not later.
    """
    now = clock.now()
    if recorded_at is None:
        return now if head.at is None or now > head.at else head.at + MICROSECOND
    if recorded_at > now:
        raise StaleInstant(f"recorded_at={recorded_at.isoformat()} lies in the future; it is {now.isoformat()}")
    if head.at is not None and recorded_at <= head.at:
        raise StaleInstant(
            f"recorded_at={recorded_at.isoformat()} is not later than the last instant of this group, {head.at.isoformat()}; "
            "import history in order of its recording, or leave recorded_at out"
        )
    return recorded_at
