"""What an entry of the log comes down to, through chains of undoing, and what the changes that it leads to are called.

The one place that decides it: results of writes, differences, histories and operations all call a change as it is called here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from graphmem.belief.identity import parted
from graphmem.model import AssertionKind, ChangeKind, EpisodeRecord, FactVersion, LogEntry, Operation, OperationKind

_PARTING = (OperationKind.SPLIT, OperationKind.DISTINCT)
_REKEYED = {OperationKind.MERGE: ChangeKind.MERGED, **dict.fromkeys(_PARTING, ChangeKind.SPLIT)}
_FACT_GONE = {OperationKind.FORGET: ChangeKind.FORGOTTEN, OperationKind.ERASE: ChangeKind.ERASED, **_REKEYED}
# An entity that comes by a forgetting was one with another through what is forgotten.
_ENTITY_CAME = dict.fromkeys((*_PARTING, OperationKind.FORGET), ChangeKind.SPLIT)
_ENTITY_WENT = {OperationKind.MERGE: ChangeKind.MERGED, OperationKind.ERASE: ChangeKind.ERASED}


@dataclass(frozen=True, slots=True)
class Deed:
    """An entry of the log as what it comes down to: an episode, or the act at the end of a chain of undoings, done or undone.

    To undo an undoing is to do the act again, and is told as the act was.
    """

    entry: LogEntry
    act: Operation | None = None
    undone: bool = False

    @classmethod
    def of(cls, entry: LogEntry, known: Mapping[str, Operation]) -> Deed:
        """`known` are the operations that the entry undoes, and that these undo, by id; one that is not there was erased."""
        if isinstance(entry, EpisodeRecord):
            return cls(entry)
        act, undone = entry, False
        while act.kind is OperationKind.RESTORE:
            undone = not undone
            target = next((known[t] for t in act.targets if t in known), None)
            if target is None:
                break
            act = target
        return cls(entry, act, undone)

    @property
    def kind(self) -> OperationKind | None:
        """What was done at first; None for an episode."""
        return None if self.act is None else self.act.kind

    @property
    def again(self) -> bool:
        """Whether it undoes an undoing."""
        return self.act is not self.entry and self.act is not None and not self.undone

    def words(self, done: str, by: str = "") -> str:
        """What was done, where `done` says it of the act and `by` who did this."""
        if self.act is None or self.act is self.entry:
            return done + by
        if self.kind is OperationKind.FORGET:
            return ("restored" if self.undone else "restore undone") + by
        return ("undone" if self.undone else "undo undone") + f"{by}: {done}"

    # -- facts

    def came(self) -> ChangeKind:
        """A fact version that takes no other's place."""
        return ChangeKind.RESTORED if self.undone else ChangeKind.ADDED

    def went(self, version: FactVersion) -> ChangeKind:
        """A fact version whose place no other takes."""
        if isinstance(self.entry, EpisodeRecord):
            linked = {entity for link in self.entry.links for entity in link} & {version.source, version.target}
            denied = any(a.kind is AssertionKind.DENIES for a in self.entry.assertions)
            return ChangeKind.MERGED if linked and not denied else ChangeKind.CORRECTED
        if self.undone:
            return ChangeKind.MERGED if self.kind in _PARTING else ChangeKind.CORRECTED
        return ChangeKind.CORRECTED if self.kind is None else _FACT_GONE.get(self.kind, ChangeKind.CORRECTED)

    def rekeyed(self) -> ChangeKind:
        """A fact version that says what another one said, of other entities or otherwise."""
        if self.undone:
            return ChangeKind.RESTORED
        if isinstance(self.entry, EpisodeRecord):
            return ChangeKind.MERGED if self.entry.links else ChangeKind.CORRECTED
        return ChangeKind.CORRECTED if self.kind is None else _REKEYED.get(self.kind, ChangeKind.CORRECTED)

    # -- entities

    def entity_came(self) -> ChangeKind:
        """An entity that was not there before."""
        if self.undone:
            return ChangeKind.RESTORED
        return ChangeKind.ADDED if self.kind is None else _ENTITY_CAME.get(self.kind, ChangeKind.ADDED)

    def entity_went(self) -> ChangeKind:
        """An entity that is there no more."""
        if isinstance(self.entry, EpisodeRecord):
            return ChangeKind.MERGED if self.entry.links else ChangeKind.FORGOTTEN
        if self.undone:  # what parted it from another counts no more; what is no more forgotten can only join it to another
            return ChangeKind.MERGED if self.kind in (*_PARTING, OperationKind.FORGET) else ChangeKind.FORGOTTEN
        return ChangeKind.FORGOTTEN if self.kind is None else _ENTITY_WENT.get(self.kind, ChangeKind.FORGOTTEN)

    def others(self, entity: str) -> tuple[str, ...]:
        """The entities that the act names as one with `entity`, or as another than it."""
        if self.act is None or self.act.kind not in (OperationKind.MERGE, *_PARTING):
            return ()
        named = parted(self.act)[0] if self.act.kind is OperationKind.SPLIT else self.act.targets
        return tuple(e for e in named if e != entity)
