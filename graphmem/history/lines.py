"""What a difference is made of: lines, each with the change, the rule that led to it, and the words or the act behind it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from graphmem.errors import InvalidInput
from graphmem.model import ChangeKind
from graphmem.results import EntityItem, FactItem, Listing, moment
from graphmem.shown import Record, Row, shorten

LINE_COLUMNS = ("at", "change", "text", "when", "rule", "by", "said_at", "quote")


@dataclass(frozen=True, slots=True)
class Cause(Record):
    """The entry of the log behind a change. `kind` is "episode", or what an operation is: "forget", "merge" and the like.

    `at` is its system instant. Of an episode `by` is who spoke, `said_at` its reference time, `quote` the words that count; of an
    operation `by` is its author and `reason` the reason given.
    """

    kind: str
    id: str
    at: datetime
    by: str | None = None
    said_at: datetime | None = None
    session: str | None = None
    quote: str = ""
    reason: str = ""

    def __str__(self) -> str:
        who = self.by or ("somebody" if self.said_at is None else "said")
        if self.said_at is not None:
            return f"{who}, {self.said_at.date().isoformat()}: {shorten(self.quote, 120)!r}"
        return f"{self.kind} by {who}" + (f": {shorten(self.reason)}" if self.reason else "")

    def to_dict(self) -> dict[str, object]:
        """Plain JSON values."""
        return {
            "kind": self.kind,
            "id": self.id,
            "at": moment(self.at),
            "by": self.by,
            "said_at": moment(self.said_at),
            "session": self.session,
            "quote": self.quote,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class Line(Record):
    """One change of a fact or an entity: what it was, what it is, by which rule or decision, and because of what.

    `at` is the system instant at which the memory changed; in a difference of valid times, the valid instant at which the fact
    began or ended. `before` is None of what is new, `after` of what is gone. `steps` tells of several changes one by one.
    """

    kind: ChangeKind
    at: datetime
    before: FactItem | EntityItem | None
    after: FactItem | EntityItem | None
    rule: str = ""
    cause: Cause | None = None
    steps: tuple[Line, ...] = ()

    @property
    def thing(self) -> FactItem | EntityItem:
        """What it is about: as it is, else as it was."""
        found = self.after if self.after is not None else self.before
        assert found is not None
        return found

    @property
    def item(self) -> str:
        """ "fact" or "entity"."""
        return "fact" if isinstance(self.thing, FactItem) else "entity"

    @property
    def id(self) -> str:
        """The fact id or entity id."""
        return self.thing.id

    @property
    def group(self) -> str:
        return self.thing.group if isinstance(self.thing, FactItem) else self.thing.entity.group

    @property
    def text(self) -> str:
        """The fact's sentence, or the entity's name and type."""
        return self.thing.text

    @property
    def when(self) -> str:
        """A fact's period, and what it was before where that differs: "since 2022, now 2022 to 2024-07"."""
        was = self.before.period if isinstance(self.before, FactItem) else ""
        now = self.after.period if isinstance(self.after, FactItem) else ""
        return f"{was}, now {now}" if was and now and was != now else now or was

    @property
    def entity_ids(self) -> frozenset[str]:
        """The entities it is about, before and after."""
        ends = ((i.source_id, i.target_id) if isinstance(i, FactItem) else (i.id,) for i in (self.before, self.after) if i is not None)
        return frozenset(e for pair in ends for e in pair)

    def __repr__(self) -> str:
        thing = self.thing
        named = f"{thing.source} {thing.relation} {thing.target}" if isinstance(thing, FactItem) else thing.name
        return f"<{self.kind.value} {shorten(named, 80)}" + (f" ({self.when})" if self.when else "") + f": {shorten(self.rule)}>"

    def to_dict(self) -> dict[str, object]:
        """Plain JSON values."""
        return {
            "change": self.kind.value,
            "item": self.item,
            "id": self.id,
            "at": moment(self.at),
            "text": self.text,
            "when": self.when,
            "rule": self.rule,
            "cause": self.cause.to_dict() if self.cause else None,
            "before": self.before.to_dict() if self.before else None,
            "after": self.after.to_dict() if self.after else None,
            "steps": [s.to_dict() for s in self.steps],
        }

    def _row(self) -> Row:
        """The line with its cause, flat; instants as ISO 8601."""
        was, now, cause = self.before, self.after, self.cause
        fact = self.thing if isinstance(self.thing, FactItem) else None
        return {
            "at": moment(self.at),
            "change": self.kind.value,
            "item": self.item,
            "text": self.text,
            "when": self.when,
            "rule": self.rule,
            "source": fact.source if fact else None,
            "relation": fact.relation if fact else None,
            "target": fact.target if fact else None,
            "was_valid_at": moment(was.valid_at) if isinstance(was, FactItem) else None,
            "was_invalid_at": moment(was.invalid_at) if isinstance(was, FactItem) else None,
            "valid_at": moment(now.valid_at) if isinstance(now, FactItem) else None,
            "invalid_at": moment(now.invalid_at) if isinstance(now, FactItem) else None,
            "cause": cause.kind if cause else None,
            "by": cause.by if cause else None,
            "said_at": moment(cause.said_at) if cause else None,
            "session": cause.session if cause else None,
            "quote": cause.quote if cause else None,
            "reason": cause.reason if cause else None,
            "id": self.id,
            "cause_id": cause.id if cause else None,
            "group": self.group,
        }


_RANK = {kind: n for n, kind in enumerate(ChangeKind)}


def line_order(line: Line) -> tuple[object, ...]:
    """By instant, facts before entities, then in the order of the vocabulary, by text and id."""
    return line.at, line.group, line.item == "entity", _RANK[line.kind], line.text, line.id, line.when


class Lines(Listing[Line]):
    """Changes in order, with counts and slices; a data frame has a row a line, flat, with its cause."""

    def __init__(self, lines: Sequence[Line], what: str = "changes") -> None:
        super().__init__(lines, what, LINE_COLUMNS)

    def counts(self) -> dict[str, int]:
        """How many of each kind, for instance `{"added": 2, "ended": 1}`, in the order of the vocabulary."""
        found = Counter(line.kind for line in self)
        return {kind.value: found[kind] for kind in ChangeKind if kind in found}


class Diff(Lines):
    """What changed between two points, by instant, facts before entities, then in the order of the vocabulary, by text and id.

    `axis` is "system" (what the memory believed), "valid" (what was so in the world) or "reading" (what another reading of the same
    episodes gave); `since` and `until` are the two points; `as_of` is the one point on the other axis, if there is one.
    """

    def __init__(self, lines: Sequence[Line], axis: str, since: datetime | None, until: datetime, as_of: datetime | None = None) -> None:
        super().__init__(lines)
        self.axis, self.since, self.until, self.as_of = axis, since, until, as_of

    def of(self, *kinds: str) -> Diff:
        """The lines of these kinds, as "ended"; raises `InvalidInput` for a word that is none."""
        known = [kind.value for kind in ChangeKind]
        if unknown := [kind for kind in kinds if kind not in known]:
            raise InvalidInput("kinds", unknown, f"must be among {', '.join(known)}")
        wanted = {ChangeKind(kind) for kind in kinds}
        return self.where(lambda line: line.kind in wanted)

    def where(self, passes: Callable[[Line], bool]) -> Diff:
        """The lines that pass."""
        return self._with([line for line in self if passes(line)])

    def joined(self, other: Diff) -> Diff:
        """The lines of both, in order."""
        return self._with(sorted((*self, *other), key=line_order))

    def _with(self, lines: Sequence[Line]) -> Diff:
        return Diff(lines, self.axis, self.since, self.until, self.as_of)

    def __repr__(self) -> str:
        counted = ", ".join(f"{n} {kind}" for kind, n in self.counts().items()) or "no change"
        if self.axis == "reading":
            return f"<Diff of two readings: {counted}>"
        first = self.since.isoformat() if self.since else "the beginning"
        return f"<Diff of {self.axis} time from {first} to {self.until.isoformat()}: {counted}>"

    def to_document(self) -> dict[str, object]:
        """The whole of it as plain JSON values: the points, the counts and the lines."""
        points = {"axis": self.axis, "since": moment(self.since), "until": moment(self.until), "as_of": moment(self.as_of)}
        return {**points, "counts": self.counts(), "changes": self.to_dict()}
