"""What an erase gives back: how much has gone, never what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, cast

from graphmem.model import Change, Operation
from graphmem.shown import Record, Row

COUNTS = ("episodes", "redacted", "assertions", "entities", "operations", "answers")


@dataclass(frozen=True, slots=True)
class Receipt(Record):
    """What was erased, in numbers; no text, no name, and no id of what has gone, since that could confirm a guess of it.

    `what` is "episode", "fact", "entity", "session" or "group". `id` is the operation in the log, `at` its system instant, None of
    a dry run. `episodes` went as a whole, `redacted` were changed; `assertions` and `entities` went with them, or alone;
    `operations` on what has gone were emptied or changed; `answers` of a model were removed. `seconds` is what it took.
    `cleaned`: no byte of it is left in the store's files; where it is False somebody reads them, and it will be done when the
    memory is opened again. `changes` are what a dry run would do to beliefs, with texts.
    """

    what: str
    id: str | None = None
    at: datetime | None = None
    group: str | None = None
    episodes: int = 0
    redacted: int = 0
    assertions: int = 0
    entities: int = 0
    operations: int = 0
    answers: int = 0
    seconds: float = 0.0
    cleaned: bool = True
    dry_run: bool = False
    author: str | None = None
    reason: str | None = None
    changes: tuple[Change, ...] = ()

    @classmethod
    def of(cls, operation: Operation) -> Receipt:
        """As the log has recorded it."""
        kept = cast(Mapping[str, Any], operation.values)
        counts: dict[str, Any] = {name: int(kept.get(name, 0)) for name in COUNTS}
        return cls(
            str(kept.get("what", "")),
            operation.id,
            operation.created_at,
            operation.group,
            **counts,
            seconds=float(kept.get("seconds", 0.0)),
            author=operation.author,
            reason=operation.reason,
        )

    def counts(self) -> dict[str, int]:
        """The numbers that are not 0, by name."""
        return {name: n for name in COUNTS if (n := getattr(self, name))}

    def __repr__(self) -> str:
        told = ", ".join(f"{n} {name}" for name, n in self.counts().items()) or "nothing"
        verb = "would erase" if self.dry_run else "erased"
        left = "" if self.cleaned else "; the file is still to be cleaned"
        return f"<{verb} {self.what}: {told}{left}>"

    def to_dict(self) -> dict[str, object]:
        """Plain JSON values."""
        row = asdict(self)
        row["at"] = self.at.isoformat() if self.at is not None else None
        row["changes"] = [asdict(c) for c in self.changes]
        return row

    def _row(self) -> Row:
        return self.to_dict() | {"changes": len(self.changes)}
