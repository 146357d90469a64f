"""Whether an item counts at a point in time, and if not, what ended it: the fact, the sentence or the operation behind that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from graphmem.entries import created_at
from graphmem.interval import FIRST, Origin
from graphmem.model import (
    AsOf,
    Assertion,
    AssertionKind,
    CommunityMatch,
    CommunityVersion,
    EntityMatch,
    EntityVersion,
    Episode,
    EpisodeMatch,
    EpisodeRecord,
    FactMatch,
    FactVersion,
    LogEntry,
    Operation,
    OperationKind,
)
from graphmem.ontology import Ontology
from graphmem.runtime import MICROSECOND
from graphmem.search.explained import Cited, Standing, cut, shown_instant, shown_interval
from graphmem.stores.base import Reader

Ontologies = Callable[[Reader, str], Ontology]
MOST_CITED = 5
_SYSTEM, _VALID = "system", "valid"
_DONE = {
    OperationKind.FORGET: "forgotten",
    OperationKind.MERGE: "merged",
    OperationKind.SPLIT: "merged",
    OperationKind.DISTINCT: "merged",
    OperationKind.END: "ended",
}


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges items at one point: `at.system` None is the last instant, `at.valid` None any valid time."""

    reader: Reader
    ontology: Ontologies
    at: AsOf

    # ------------------------------------------------------------------------------------------ standings

    def fact(self, version: FactVersion) -> list[Standing]:
        """Everything that keeps the version from counting: of belief first, then of valid time; empty if it counts."""
        found = self._not_believed(version)
        if self.at.valid is not None and self.at.valid not in version.valid:
            over = version.valid.end is not None and version.valid.end <= self.at.valid
            found.append(self._over(version) if over else self._not_begun(version))
        return found

    def episode(self, episode: Episode) -> list[Standing]:
        """Whether it was recorded later, or is forgotten."""
        if self._later(episode.created_at):
            return [self._not_yet(episode.created_at)]
        if self.reader.episodes([episode.group], self.at, EpisodeMatch(ids=(episode.id,)), bodies=False):
            return []
        done = [
            o
            for o in self.reader.operations(episode.group, targets=[episode.id])
            if o.kind is OperationKind.FORGET and not self._later(o.created_at)
        ]
        if not done:
            return [Standing("forgotten", "it is not visible at this instant", axis=_SYSTEM)]
        return [Standing("forgotten", f"forgotten {_by(done[-1])}", by=done[-1].id, axis=_SYSTEM)]

    def entity(self, versions: Sequence[EntityVersion]) -> list[Standing]:
        """Of all versions of one entity: whether one is believed, and else what became of the last."""
        if any(self._believed(v.system.start, v.system.end) for v in versions):
            return []
        known = [v for v in versions if not self._later(v.system.start)]
        if not known:
            return [self._not_yet(min(v.system.start for v in versions if v.system.start is not None))]
        last = max(known, key=lambda v: v.system.end or v.system.start or FIRST)
        cause = self.cause(last.group, last.system.end)
        when = f"believed no more since {shown_instant(last.system.end)}"
        if isinstance(cause, Operation):
            return [Standing(_DONE.get(cause.kind, "corrected"), f"{when}: {cause.kind.value} {_by(cause)}", by=cause.id, axis=_SYSTEM)]
        linked = {i for link in cause.links if last.id in link for i in link} if cause is not None else set()
        if cause is not None and linked:
            others = self.reader.entities([last.group], AsOf(None, last.system.end), EntityMatch(ids=tuple(sorted(linked))))
            one = next((f"{cut(e.name, 60)} ({e.id})" for e in others), "another")
            return [Standing("merged", f"{when}: it is one with {one}", _said(cause.episode, ""), cause.episode.id, _SYSTEM)]
        return [Standing("corrected", when, axis=_SYSTEM)]

    def community(self, version: CommunityVersion) -> list[Standing]:
        """Whether the layer has another version of it by then, or none."""
        if self._later(version.system.start):
            return [self._not_yet(version.system.start)]
        if self._believed(version.system.start, version.system.end):
            return []
        match = CommunityMatch(ids=(version.id,), levels=(version.level,))
        after = self.reader.communities([version.group], AsOf(None, self.at.system), match)
        when = f"of an earlier layer, until {shown_instant(version.system.end)}"
        if after:
            return [Standing("corrected", f"{when}; it is told otherwise now: {cut(after[0].name)} ({after[0].uuid})", axis=_SYSTEM)]
        return [Standing("ended", f"{when}; no community continues it", axis=_SYSTEM)]

    # ------------------------------------------------------------------------------------------ belief

    def _not_believed(self, version: FactVersion) -> list[Standing]:
        if self._later(version.system.start):
            return [self._not_yet(version.system.start, self.cause(version.group, version.system.start))]
        if self._believed(version.system.start, version.system.end):
            return []
        cause, after = self.cause(version.group, version.system.end), self._successor(version)
        when = f"believed no more since {shown_instant(version.system.end)}"
        now = f"; it is believed to hold {shown_interval(after.valid.start, after.valid.end)} now ({after.uuid})" if after else ""
        if isinstance(cause, Operation):
            code = "corrected" if after is not None and cause.kind is OperationKind.FORGET else _DONE.get(cause.kind, "corrected")
            return [Standing(code, f"{when}: {_operation(cause)}{now}", by=cause.id, axis=_SYSTEM)]
        shorter = after is not None and after.valid.end is not None and (version.valid.end is None or after.valid.end < version.valid.end)
        if after is not None and shorter:
            over = self._over(after)
            return [Standing(over.code, f"{when}: {over.text}{now}", over.because, over.by, _SYSTEM)]
        said = self._sentence(cause, version) if isinstance(cause, EpisodeRecord) else None
        return [Standing("corrected", f"{when}: another statement counts{now}", said, said.by if said else "", _SYSTEM)]

    def _believed(self, created: datetime | None, expired: datetime | None) -> bool:
        if self.at.system is None:
            return expired is None
        return (created is None or created <= self.at.system) and (expired is None or self.at.system < expired)

    def _later(self, created: datetime | None) -> bool:
        return self.at.system is not None and created is not None and created > self.at.system

    def _not_yet(self, created: datetime | None, cause: LogEntry | None = None) -> Standing:
        said = _said(cause.episode, "") if isinstance(cause, EpisodeRecord) else None
        text = f"first believed {shown_instant(created)}, and read is what was believed {shown_instant(self.at.system)}"
        return Standing("not_yet_known", text, said, axis=_SYSTEM)

    def _successor(self, version: FactVersion) -> FactVersion | None:
        """What the same fact became when the version ended, nearest in valid time."""
        if version.system.end is None:
            return None
        after = self.reader.facts([version.group], AsOf(None, version.system.end), FactMatch(fact_ids=(version.fact_id,)))
        fresh = [v for v in after if v.system.start == version.system.end]
        return next((v for v in fresh if v.valid.start == version.valid.start), next(iter(fresh), None))

    # ------------------------------------------------------------------------------------------ valid time

    def _not_begun(self, version: FactVersion) -> Standing:
        return Standing("not_yet_true", f"it holds {self._interval(version)}, not yet {shown_instant(self.at.valid)}", axis=_VALID)

    def _over(self, version: FactVersion) -> Standing:
        """What ended a period: the fact that took its place, else the statement or the operation that says so."""
        when = f"it holds {self._interval(version)}"
        other = self._replacing(version)
        if other is not None:
            said = next(iter(self.cited(other)[0]), None)
            return Standing("superseded", f"{when}; then {cut(other.text)!r}", said, other.uuid, _VALID)
        own = self.reader.assertions(version.group, facts=[version.fact_id])
        done = [
            o
            for o in self.reader.operations(version.group, targets=[a.id for a in own])
            if o.kind in (OperationKind.END, OperationKind.CORRECT) and not self._later(o.created_at)
        ]
        if done and version.end.origin is Origin.USER:
            return Standing("ended", f"{when}; {_operation(done[-1])}", by=done[-1].id, axis=_VALID)
        ending = self._ending(version, own)
        if ending is None:
            return Standing("ended", when, axis=_VALID)
        records = {r.episode.id: r for r in self.reader.records(version.group, [ending.episode])}
        cited = _cited(ending, records[ending.episode].episode) if ending.episode in records else None
        return Standing("ended", f"{when}; it was said to end", cited, ending.id, _VALID)

    def _interval(self, version: FactVersion) -> str:
        return shown_interval(version.valid.start, version.valid.end)

    def _replacing(self, version: FactVersion) -> FactVersion | None:
        """A fact that begins where this one ends, and that excludes it: by its relation, or as it was judged."""
        end = version.valid.end
        believed = self._believed(version.system.start, version.system.end)
        match = FactMatch(entities=(version.source, version.target))
        near = self.reader.facts([version.group], AsOf(end, self.at.system if believed else version.system.start), match)
        begun = [v for v in near if v.valid.start == end and v.fact_id != version.fact_id]
        if not begun:
            return None
        ontology = self.ontology(self.reader, version.group)
        keys = self.reader.keys(version.group, facts=[version.fact_id, *(v.fact_id for v in begun)])
        slots = set(ontology.slots(keys[version.fact_id])) if version.fact_id in keys else set()
        for other in begun:
            if other.fact_id in keys and not slots.isdisjoint(ontology.slots(keys[other.fact_id])):
                return other
        own = {a.id: a for a in self.reader.assertions(version.group, facts=[version.fact_id])}
        for other in begun:
            theirs = self.reader.assertions(version.group, facts=[other.fact_id])
            if any(own.keys() & set(a.excludes) for a in theirs) or any({a.id for a in theirs} & set(a.excludes) for a in own.values()):
                return other
        return None

    def _ending(self, version: FactVersion, own: Sequence[Assertion]) -> Assertion | None:
        """The assertion whose end the period has; else the last that says it ends."""
        heads = self.reader.heads(version.group, [a.episode for a in own])
        told = {e.id: e.reference_time for e in heads if not self._later(e.created_at)}
        own, end = [a for a in own if a.episode in told], version.valid.end
        dated = [
            a
            for a in own
            if (a.end is not None and end in (a.end.last, a.end.first))
            or (a.kind is AssertionKind.ENDS and end in (told.get(a.episode), a.start and a.start.last))
        ]
        return next(reversed(dated or [a for a in own if a.kind is AssertionKind.ENDS]), None)

    # ------------------------------------------------------------------------------------------ the log

    def cause(self, group: str, at: datetime | None) -> LogEntry | None:
        """The entry of the log recorded at that instant: instants of a group only grow, so a few looks find it."""
        if at is None:
            return None
        for operation in self.reader.operations(group):
            if operation.created_at == at:
                return operation
        low, high = 0, self.reader.head(group).seq
        while low < high:
            middle = (low + high) // 2
            entry = next(iter(self.reader.log(group, after=middle)), None)
            created = _created(entry)
            if created is None or created >= at:
                high = middle
            else:
                low = _seq(entry)
        entry = next(iter(self.reader.log(group, after=low)), None)
        return entry if _created(entry) == at else None

    def cited(self, version: FactVersion) -> tuple[list[Cited], int]:
        """The first places that a fact rests on, in the order of what was said, and how many there are."""
        believed = self._believed(version.system.start, version.system.end)
        moment = self.at.system if believed or version.system.end is None else version.system.end - MICROSECOND
        rows = [
            c
            for c in self.reader.citations([version.group], AsOf(None, moment), facts=[version.fact_id])
            if c.valid_at == version.valid.start
        ]
        heads = {e.id: (e.reference_time, e.seq) for e in self.reader.heads(version.group, list({c.episode for c in rows}))}
        known = [c for c in rows if c.episode in heads]
        known.sort(key=lambda c: (*heads[c.episode], c.by))
        first = known[:MOST_CITED]
        assertions = {a.id: a for a in self.reader.assertions(version.group, ids=[c.by for c in first])} if first else {}
        records = {r.episode.id: r.episode for r in self.reader.records(version.group, [c.episode for c in first])} if first else {}
        return [
            _cited(assertions[c.by], records[c.episode]) if c.by in assertions else _said(records[c.episode], c.by) for c in first
        ], len(rows)

    def _sentence(self, record: EpisodeRecord, version: FactVersion) -> Cited:
        """What the episode says about this fact or its ends; else its text."""
        speaks = self.reader.fact_ids(version.group, [a.id for a in record.assertions]) if record.assertions else {}
        ends = {version.source, version.target}
        about = sorted(record.assertions, key=lambda a: (speaks.get(a.id) != version.fact_id, ends.isdisjoint((a.source, a.target))))
        return _cited(about[0], record.episode) if about else _said(record.episode, "")


def _created(entry: LogEntry | None) -> datetime | None:
    return created_at(entry) if entry is not None else None


def _seq(entry: LogEntry | None) -> int:
    return entry.seq if entry is not None else 0


def _cited(assertion: Assertion, episode: Episode) -> Cited:
    """The assertion's own words where it has a span, else its sentence."""
    span = assertion.span
    text = episode.body[span.start : span.end] if span is not None else assertion.text
    place = (span.start, span.end) if span is not None else None
    return Cited(episode.id, cut(text), episode.actor, episode.reference_time, place, assertion.id)


def _said(episode: Episode, by: str) -> Cited:
    return Cited(episode.id, cut(episode.body), episode.actor, episode.reference_time, None, by)


def _operation(operation: Operation) -> str:
    what = f"{operation.kind.value} {', '.join(operation.targets[:3])}" if operation.kind is OperationKind.FORGET else operation.kind.value
    return f"{cut(what)} {_by(operation)}"


def _by(operation: Operation) -> str:
    """ "by Mira on 2024-05-01 (op_…): told by mistake"."""
    author = f"by {cut(operation.author, 60)} " if operation.author else ""
    reason = f": {cut(operation.reason)}" if operation.reason else ""
    return f"{author}on {shown_instant(operation.created_at)} ({operation.id}){reason}"
