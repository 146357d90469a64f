"""Building communities: found outside the lock, in the graph of one moment; under it brought up to date and written."""

from __future__ import annotations

from datetime import datetime

from graphmem.belief.ledger import Ledger
from graphmem.communities import layer
from graphmem.communities.growth import as_it_grows, recipe_wanted
from graphmem.communities.layer import Found
from graphmem.communities.recipe import Build, Recipe, Seen
from graphmem.errors import NotFound
from graphmem.ingest.copying import check_whole
from graphmem.ingest.operating import settled_ontology, system_instant
from graphmem.model import Head, Operation, OperationKind
from graphmem.progress import Progress
from graphmem.results import WriteResult
from graphmem.runtime import MICROSECOND, Clock, content_id
from graphmem.stores.base import Store

STEPS = layer.STEPS + 1
"""Steps that are reported; the last one is writing."""


class Builder:
    """Builds the layers of a store's groups."""

    def __init__(self, store: Store, ledger: Ledger, clock: Clock) -> None:
        self._store, self._ledger, self._clock = store, ledger, clock

    def settle_growth(self, group: str, grows: bool) -> None:
        """Let the communities of a group that holds something grow with every episode from now on, or not."""
        with self._store.read() as reader:
            recipe = recipe_wanted(reader, group, grows)
        if recipe is not None:
            self.build(group, recipe, lambda done, total: None, following=True)

    def build(self, group: str, recipe: Recipe, report: Progress, *, following: bool = False) -> WriteResult:
        """Find communities, and record how and what was found as one entry of the log; `following` the last one at once, so that
        history can go on after it. Other writers wait for the writing alone.
        """
        done = 0

        def step() -> None:
            nonlocal done
            done += 1
            report(done, STEPS)

        seen, found = self._found(group, recipe, following, step)
        with self._store.write(group) as tx:
            check_whole(tx, group)
            head = tx.head(group)
            at, seq, kind = self._instant(head, following), head.seq + 1, OperationKind.COMMUNITIES
            built = Build(as_it_grows(tx, group, recipe), seen)
            operation = Operation(content_id("op", group, seq, kind.value), group, kind, (), built.values(), seq, at)
            outcome = self._ledger.record(tx, operation, settled_ontology(tx, group), found)
        step()
        return WriteResult((operation.id,), outcome.changes, outcome.warnings, created_at=at)

    def _found(self, group: str, recipe: Recipe, following: bool, step: layer.Step) -> tuple[Seen, Found]:
        """The communities of the graph as it is when this begins, and which one that is."""
        with self._store.read() as reader:
            check_whole(reader, group)
            head = reader.head(group)
            if head.at is None:
                raise NotFound(f"group {group!r} holds nothing yet")
            seen = Seen(head.seq, self._instant(head, following), head.at)
            return seen, layer.found(reader, group, seen.at, recipe, step)

    def _instant(self, head: Head, following: bool) -> datetime:
        return head.at + MICROSECOND if following and head.at is not None else system_instant(self._clock, head)
