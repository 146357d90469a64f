"""Who did what to a memory, and what it led to: operations, and with them episodes; and why one fact is believed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from graphmem.belief.slices import load_kin, operations_on
from graphmem.export import plots
from graphmem.history.diffs import all_steps
from graphmem.history.lines import Line, Lines, line_order
from graphmem.history.people import entity_lines
from graphmem.history.story import load_story, names_of, quoted
from graphmem.ingest.judge import decider
from graphmem.ingest.kept import cost_of
from graphmem.interval import FIRST, DateUnit, printed
from graphmem.model import (
    EMPTY,
    AsOf,
    Assertion,
    ChangeKind,
    EpisodeMatch,
    EpisodeRecord,
    FactMatch,
    FactVersion,
    LogEntry,
    Operation,
    OperationKind,
    Usage,
)
from graphmem.ontology import Ontology
from graphmem.results import FACT_COLUMNS, FactItem, Listing, moment
from graphmem.runtime import MICROSECOND
from graphmem.shown import Record, Row, Shown, shorten, table
from graphmem.stores.base import Reader
from graphmem.stores.changes import Stretch

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ENTRY_COLUMNS = ("at", "kind", "by", "about", "changed", "reason", "calls", "id")
EVIDENCE_COLUMNS = ("said_at", "by", "says", "dates", "quote", "decisions", "state")


@dataclass(frozen=True, slots=True)
class Entry(Record):
    """An entry of the log: an operation, or an episode. `at` is its system instant, `by` its author or who spoke, `about` what it
    acts on in words, `changes` what it led to, `usage` what models cost for it (of a model on this machine nothing).
    """

    seq: int
    id: str
    group: str
    kind: str
    at: datetime
    by: str | None
    reason: str
    targets: tuple[str, ...]
    about: tuple[str, ...]
    values: Mapping[str, object] = EMPTY
    changes: tuple[Line, ...] = field(default=(), repr=False)
    usage: Usage = Usage()

    def counts(self) -> dict[str, int]:
        """How many changes of each kind it led to."""
        found = Counter(line.kind for line in self.changes)
        return {kind.value: found[kind] for kind in ChangeKind if kind in found}

    def __repr__(self) -> str:
        done = ", ".join(f"{n} {kind}" for kind, n in self.counts().items()) or "nothing changed"
        what = f" {shorten('; '.join(self.about), 60)!r}" if self.about else ""
        return f"<{self.at:%Y-%m-%d} {self.kind}{f' by {self.by}' if self.by else ''}{what}: {done}>"

    def to_dict(self) -> dict[str, object]:
        """Plain JSON values."""
        return {
            "seq": self.seq,
            "id": self.id,
            "group": self.group,
            "kind": self.kind,
            "at": moment(self.at),
            "by": self.by,
            "reason": self.reason,
            "targets": list(self.targets),
            "about": list(self.about),
            "values": {k: moment(v) if isinstance(v, datetime) else _plain(v) for k, v in self.values.items()},
            "changed": self.counts(),
            "changes": [line.to_dict() for line in self.changes],
            "calls": self.usage.calls,
            "input_tokens": self.usage.input_tokens,
            "output_tokens": self.usage.output_tokens,
            "seconds": self.usage.seconds,
        }

    def _row(self) -> Row:
        changed = ", ".join(f"{n} {kind}" for kind, n in self.counts().items())
        return {**{k: v for k, v in self.to_dict().items() if k not in ("changes", "values")}, "changed": changed}


def entries(reader: Reader, ontology: Ontology, group: str, found: Iterable[LogEntry], system: datetime | None) -> list[Entry]:
    """These entries of a log, with what each led to, and with names as they were at `system`."""
    return [_entry(reader, ontology, group, e, system) for e in found]


def _entry(reader: Reader, ontology: Ontology, group: str, entry: LogEntry, system: datetime | None) -> Entry:
    if isinstance(entry, Operation):
        at, by, reason, targets, values = entry.created_at, entry.author, entry.reason or "", entry.targets, entry.values
        about, kind, identity, usage = _about(reader, group, entry, system), entry.kind.value, entry.id, Usage()
    else:
        e = entry.episode
        at, by, reason, targets, values = e.created_at, e.actor, "", (), EMPTY
        about, kind, identity, usage = (shorten(e.body),), "episode", e.id, cost_of(reader, e.id)
    assert at is not None
    if isinstance(entry, Operation) and entry.kind is OperationKind.ONTOLOGY:
        values = EMPTY
    changes = tuple(_changed_at(reader, ontology, group, at, system))
    return Entry(entry.seq, identity, group, kind, at, by, reason, tuple(targets), about, values, changes, usage)


def _changed_at(reader: Reader, ontology: Ontology, group: str, at: datetime, system: datetime | None) -> list[Line]:
    """What the entry written at a system instant led to."""
    stretch = Stretch(at - MICROSECOND, at)
    versions, people = reader.facts_changed(group, stretch), reader.entities_changed(group, stretch)
    if not versions and not people:
        return []
    story = load_story(reader, group, ontology, versions, (at,), (v.id for v in people), system)
    return [*all_steps(story, stretch), *entity_lines(story, people, stretch)]


def _about(reader: Reader, group: str, operation: Operation, system: datetime | None) -> tuple[str, ...]:
    """What an operation acts on, in words; of what is erased nothing is left to tell."""
    ids = list(operation.targets)
    words: dict[str, str] = {a.id: a.text for a in reader.assertions(group, ids=ids)} if ids else {}
    words |= {r.episode.id: shorten(r.episode.body) for r in reader.records(group, ids)} if ids else {}
    words |= {o.id: o.kind.value for o in reader.operations(group, ids=ids)} if ids else {}
    if left := [i for i in ids if i not in words]:
        words |= names_of(reader, group, left, system)
    return tuple(dict.fromkeys(words[i] for i in ids if i in words))


# ------------------------------------------------------------------------------------------------ why


@dataclass(frozen=True, slots=True)
class Evidence(Record):
    """A statement about a fact: who said it when, in which words, what it says of the fact, and what was decided about it.

    `says` is "holds", "ends" or "denies"; `dates` are those it gives. `state` is "counts" where the fact rests on it, "forgotten", or
    "void" where later words or a rule took its place.
    """

    assertion: str
    episode: str
    said_at: datetime
    by: str | None
    says: str
    dates: str
    text: str
    quote: str
    decisions: tuple[str, ...]
    state: str

    def __repr__(self) -> str:
        return f"<{self.said_at:%Y-%m-%d} {self.by or 'somebody'} {self.says}: {shorten(self.quote, 60)!r} ({self.state})>"

    def to_dict(self) -> dict[str, object]:
        """Plain JSON values."""
        own = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {**own, "said_at": moment(self.said_at), "decisions": list(self.decisions)}


@dataclass(frozen=True)
class Why(Shown):
    """Why a fact is believed: the statements about it with their decisions, every change of it, and the operations that touched it.

    As a data frame it is its statements.
    """

    fact: FactItem
    evidence: Listing[Evidence]
    changes: Lines
    operations: Listing[Entry]

    def __repr__(self) -> str:
        counted = f"{len(self.evidence)} statements, {len(self.changes)} changes, {len(self.operations)} operations"
        return f"<Why {shorten(self.fact.text, 60)!r} ({self.fact.period}): {counted}>"

    def _rows(self) -> Sequence[Row]:
        return self.evidence._rows()

    def _repr_html_(self) -> str:
        shown = table([self.fact.to_dict()], FACT_COLUMNS, "the fact")
        return shown + "".join(part._repr_html_() for part in (self.evidence, self.changes, self.operations))

    def to_dict(self) -> dict[str, object]:
        """Plain JSON values."""
        return {
            "fact": self.fact.to_dict(),
            "evidence": self.evidence.to_dict(),
            "changes": self.changes.to_dict(),
            "operations": self.operations.to_dict(),
        }


def why(reader: Reader, ontology: Ontology, version: FactVersion, system: datetime | None) -> Why:
    """All that is known of a fact, of which `version` is one, until `system`."""
    group, stretch = version.group, Stretch(None, system)
    versions = reader.facts_changed(group, stretch, FactMatch(fact_ids=(version.fact_id,)))
    instants = [m for v in versions for m in (v.system.start, v.system.end) if m is not None and stretch.has(m)]
    story = load_story(reader, group, ontology, versions, instants, at=system, narrowed=True)
    cited = {c.by for c in story.citations.get(version.fact_id, ()) if system is None or (c.system.start or FIRST) <= system}
    said = {a.id: a for a in _speaking(reader, version, system)}
    said |= {i: a for i in cited if (a := story.assertions.get(i)) is not None}
    missing = [i for a in said.values() for i in a.decided if i not in story.assertions]
    known = {**story.assertions, **said, **{a.id: a for a in (reader.assertions(group, ids=missing) if missing else [])}}
    records = {r.episode.id: r for r in reader.records(group, sorted({a.episode for a in said.values()}))}
    told = [a for a in said.values() if _until(records.get(a.episode), system)]
    touching: dict[str, Operation] = {}
    ends = [version.source, version.target]
    operations_on(reader, group, [*(a.id for a in told), *{a.episode for a in told}, *ends], touching)
    done = sorted((o for o in touching.values() if o.created_at is None or system is None or o.created_at <= system), key=lambda o: o.seq)
    counting = {c.by for c in story.citations.get(version.fact_id, ()) if (c.system.end is None if system is None else system in c.system)}
    visible = {e.id for e in reader.heads(group, list(records))} - _hidden(reader, group, list(records), system)
    evidence = [_evidence(records[a.episode], a, known, ontology, counting, visible) for a in told]
    evidence.sort(key=lambda e: (e.said_at, e.assertion))
    return Why(
        story.fact(
            version, system if version.system.end is None or (system is not None and system in version.system) else version.system.start
        ),
        Listing(evidence, "statements", EVIDENCE_COLUMNS),
        Lines(all_steps(story, stretch)),
        Listing(entries(reader, ontology, group, done, system), "operations", ENTRY_COLUMNS),
    )


def _speaking(reader: Reader, version: FactVersion, system: datetime | None) -> list[Assertion]:
    """The assertions that speak of the version's fact; as of a system instant, without those that are about others there and came to
    speak of it later, by a merge or a correction.
    """
    now = reader.assertions(version.group, facts=[version.fact_id])
    if system is None:
        return now
    identity = load_kin(reader, version.group, {e for a in now for e in (a.source, a.target)}).identity_at(system)
    ends = {version.source, version.target}
    return [a for a in now if {identity.canonical(identity.at(e, a.episode)) for e in (a.source, a.target)} == ends]


def _until(record: EpisodeRecord | None, system: datetime | None) -> bool:
    return record is not None and (system is None or record.episode.created_at is None or record.episode.created_at <= system)


def _hidden(reader: Reader, group: str, episodes: Sequence[str], system: datetime | None) -> set[str]:
    shown = reader.episodes([group], AsOf(None, system), EpisodeMatch(ids=tuple(episodes)), bodies=False) if episodes else []
    return set(episodes) - {e.id for e in shown}


def _evidence(
    record: EpisodeRecord, assertion: Assertion, known: Mapping[str, Assertion], ontology: Ontology, counting: set[str], visible: set[str]
) -> Evidence:
    decisions = []
    for named in assertion.decided:
        if (other := known.get(named)) is not None:
            word = "repeats" if named == assertion.same_as else "contradicts"
            decisions.append(f"{word} {shorten(other.text, 80)!r}, decided by {decider(assertion, other, ontology)}")
    state = "counts" if assertion.id in counting else "forgotten" if assertion.episode not in visible else "void"
    dates = [
        f"since {_date(assertion.start)}" if assertion.start else "",
        f"until {_date(assertion.end, is_end=True)}" if assertion.end else "",
    ]
    return Evidence(
        assertion.id,
        assertion.episode,
        record.episode.reference_time,
        record.episode.actor,
        assertion.kind.value,
        " ".join(d for d in (*dates, "still" if assertion.still else "") if d),
        assertion.text,
        quoted(record, assertion),
        tuple(decisions),
        state,
    )


def _date(unit: DateUnit, *, is_end: bool = False) -> str:
    return printed(unit.last if is_end else unit.first, unit.precision, is_end=is_end)


# ------------------------------------------------------------------------------------------------ history


class History(Lines):
    """Every change of a fact, or of the facts of an entity, one by one, oldest first; and the versions that these make."""

    def __init__(self, lines: Sequence[Line], versions: Sequence[FactItem], title: str, now: datetime) -> None:
        super().__init__(lines)
        self.versions, self._title, self._now = Listing(versions, "versions", _VERSION_COLUMNS), title, now

    def __repr__(self) -> str:
        return f"<History of {shorten(self._title, 60)}: {len(self)} changes, {len(self.versions)} versions>"

    def _repr_html_(self) -> str:
        return super()._repr_html_() + self.versions._repr_html_()

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """The versions as rectangles: when each holds (across) and when it was believed (up); draws on `ax` if it is given."""
        return plots.two_axes(self.versions, self._title, self._now, ax)


_VERSION_COLUMNS = ("source", "relation", "target", "text", "valid_at", "invalid_at", "created_at", "expired_at", "id", "uuid")


def history(
    reader: Reader, ontology: Ontology, group: str, match: FactMatch, entities: Sequence[str], stretch: Stretch
) -> tuple[list[Line], list[FactItem]]:
    """The changes in the stretch of facts that match, and of these entities, and the versions they are made of."""
    versions = reader.facts_changed(group, stretch, match)
    people = reader.entities_changed(group, stretch, entities) if entities else []
    systems = [v.system for v in versions] + [v.system for v in people]
    instants = [m for s in systems for m in (s.start, s.end) if m is not None and stretch.has(m)]
    story = load_story(reader, group, ontology, versions, instants, entities, stretch.until, narrowed=True)
    lines = all_steps(story, stretch)
    for at in sorted({m for v in people for m in (v.system.start, v.system.end) if m is not None and stretch.has(m)}):
        changed = [v for v in people if at in (v.system.start, v.system.end)]
        lines += entity_lines(story, changed, Stretch(at - MICROSECOND, at))
    lines.sort(key=line_order)
    return lines, [story.fact(v, v.system.start) for v in versions]


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)
