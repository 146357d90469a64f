"""The oracle: does this fact hold at v? Answered point by point from everything said and done, slowly and without intervals.

It shares nothing with the fold but the model's types, so that a mistake in one shows as a difference between the two.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from graphmem.interval import DateUnit, Origin
from graphmem.model import Assertion, AssertionKind, EpisodeRecord, FactKey, LogEntry, Operation, OperationKind
from graphmem.ontology import Ontology

_Order = tuple[datetime, int, int]


@dataclass(eq=False)
class _Start:
    key: FactKey
    order: _Order
    by: str
    unit: DateUnit
    own_end: datetime | None = None
    again: bool = False
    users: bool = False

    @property
    def at(self) -> datetime:
        return self.unit.first


@dataclass(eq=False)
class _End:
    key: FactKey
    order: _Order
    by: str
    at: datetime
    weight: int
    own: bool = False


class Oracle:
    """Everything said and done up to one system instant, asked one valid instant at a time.

    `points` are the instants at which anything may change, after one that lies before all of them.
    """

    def __init__(self, entries: Iterable[LogEntry], ontology: Ontology) -> None:
        self._ontology = ontology
        log = sorted(entries, key=lambda entry: entry.seq)
        self._records = [entry for entry in log if isinstance(entry, EpisodeRecord)]
        operations = [entry for entry in log if isinstance(entry, Operation)]
        self._operations = [operation for operation in operations if _stands(operation, operations)]
        self._kept = self._links()
        self._assertions = {a.id: self._as_corrected(a, record) for record in self._records for a in record.assertions}
        self._starts: list[_Start] = []
        self._ends: list[_End] = []
        self._denials: list[tuple[FactKey, _Order]] = []
        self._listen()
        self._contradictions = {
            frozenset((one, other))
            for a in self._assertions.values()
            if self._is_live(a)
            for b in a.excludes
            if (one := self._key(a.id)) and (other := self._key(b)) and one != other
        }
        self._settle()
        mentioned = {s.at for s in self._starts} | {e.at for e in self._ends}
        self.points = sorted(mentioned | {min(mentioned, default=datetime(2000, 1, 1, tzinfo=UTC)) - timedelta(days=1)})
        self._filled: dict[FactKey, set[datetime]] = {}
        self._fill()

    def holds(self, key: FactKey, v: datetime) -> bool:
        """Whether the fact `key` holds at the valid instant `v`."""
        point = self.points[max(bisect_right(self.points, v) - 1, 0)]
        return self._runs(key, v) or point in self._filled.get(key, ())

    def true_at(self, v: datetime) -> set[FactKey]:
        """The facts that hold at `v`."""
        return {key for key in self.keys if self.holds(key, v)}

    @property
    def keys(self) -> set[FactKey]:
        """The facts that something said began or ended."""
        return {s.key for s in self._starts} | {e.key for e in self._ends}

    def exclude(self, one: FactKey, other: FactKey) -> bool:
        """Whether the two facts cannot hold at the same time."""
        if one == other:
            return False
        relation = self._ontology.relation(one.relation)
        if one.relation == other.relation:
            if relation.symmetric and (relation.one_target or relation.one_source) and {*one[1:3]} & {*other[1:3]}:
                return True
            if not relation.symmetric and (relation.one_target and one.source == other.source):
                return True
            if not relation.symmetric and (relation.one_source and one.target == other.target):
                return True
        return frozenset((one, other)) in self._contradictions and self._ontology.gate(one, other)

    # -- what counts

    def _is_live(self, assertion: Assertion) -> bool:
        for operation in self._operations:
            if operation.kind is OperationKind.FORGET and {assertion.id, assertion.episode} & {*operation.targets}:
                return False
            corrected_end = operation.kind is OperationKind.CORRECT and assertion.id in operation.targets and "end" in operation.values
            if corrected_end and assertion.kind is AssertionKind.ENDS and assertion.end is None:
                return False
        return True

    def _is_visible(self, record: EpisodeRecord) -> bool:
        return not any(o.kind is OperationKind.FORGET and record.episode.id in o.targets for o in self._operations)

    def _moved(self, entity: str, episode: str) -> str:
        for operation in self._operations:
            if operation.kind is not OperationKind.SPLIT:
                continue
            known = int(str(operation.values.get("of", 1)))
            if entity in operation.targets[:known] and episode in operation.targets[known:]:
                entity = str(operation.values["entity"])
        return entity

    def _as_corrected(self, assertion: Assertion, record: EpisodeRecord) -> Assertion:
        fields: dict[str, Any] = {end: self._moved(getattr(assertion, end), record.episode.id) for end in ("source", "target")}
        for operation in self._operations:
            if operation.kind is OperationKind.CORRECT and assertion.id in operation.targets:
                fields.update({name: value for name, value in operation.values.items() if name != "named"})
        return replace(assertion, **fields)

    # -- who is who

    def _links(self) -> list[tuple[str, str]]:
        told = [(o.targets[0], o.targets[1]) for o in self._operations if o.kind is OperationKind.MERGE]
        for record in self._records:
            if self._is_visible(record):
                told += [(self._moved(a, record.episode.id), self._moved(b, record.episode.id)) for a, b in record.links]
        apart = [{*o.targets} for o in self._operations if o.kind is OperationKind.DISTINCT and len({*o.targets}) == 2]
        kept: list[tuple[str, str]] = []
        for link in told:
            joined = _reach(link[0], [*kept, link])
            if not any(pair <= joined for pair in apart):
                kept.append(link)
        return kept

    def _triple(self, assertion: Assertion) -> tuple[str, str, str]:
        source, target = min(_reach(assertion.source, self._kept)), min(_reach(assertion.target, self._kept))
        relation, turned = self._ontology.canonical(assertion.relation)
        if turned:
            source, target = target, source
        if self._ontology.relation(relation).symmetric:
            source, target = sorted((source, target))
        return relation, source, target

    def _first(self, assertion: Assertion, passed: frozenset[str] = frozenset()) -> Assertion:
        earlier = self._assertions.get(assertion.same_as or "")
        passed |= {assertion.id}
        if earlier is None or earlier.id in passed or {*self._triple(earlier)[1:]} != {*self._triple(assertion)[1:]}:
            return assertion
        return self._first(earlier, passed)

    def _key(self, assertion_id: str) -> FactKey | None:
        if assertion_id not in self._assertions:
            return None
        first = self._first(self._assertions[assertion_id])
        triple = self._triple(first)
        if triple[1] == triple[2]:
            return None
        rivals = [self._first(self._assertions[i]) for i in first.excludes if i in self._assertions]
        return FactKey(*triple, first.id if any(r is not first and self._triple(r) == triple for r in rivals) else "")

    # -- what was said

    def _listen(self) -> None:
        orders: dict[str, _Order] = {}
        for record in self._records:
            for given in record.assertions:
                a = self._assertions[given.id]
                orders[a.id] = (record.episode.reference_time, record.seq, a.position)
                if self._is_live(a) and (key := self._key(a.id)):
                    self._hear(a, key, orders[a.id])
        for o in self._operations:
            if o.kind not in (OperationKind.END, OperationKind.CONFIRM):
                continue
            assert o.created_at is not None
            order, at = (o.created_at, o.seq, 0), o.values["at"]
            assert isinstance(at, datetime)
            for key in {self._key(i) for i in o.targets if i in orders and self._is_live(self._assertions[i])} - {None}:
                assert key is not None
                if o.kind is OperationKind.END:
                    self._ends.append(_End(key, order, o.id, at, 2))
                else:
                    self._starts.append(_Start(key, order, o.id, DateUnit.at(at, Origin.REFERENCE)))

    def _hear(self, a: Assertion, key: FactKey, order: _Order) -> None:
        now, start, end = order[0], a.start, a.end
        if a.kind is AssertionKind.DENIES:
            self._denials.append((key, order))
            return
        only_end = a.kind is AssertionKind.HOLDS and start is None and end is not None and end.last <= now
        stop = None if end is None else end.last
        if a.kind is AssertionKind.ENDS:
            if end is None and start is not None and start.origin is not Origin.USER:
                start, end = None, start
            end = end or DateUnit.at(now, Origin.REFERENCE)
            stop = now if end.first <= now < end.last else end.last
            only_end = start is None
            if start is not None and stop <= start.first:
                end, stop = (DateUnit.at(now, Origin.REFERENCE), now) if start.first < now else (None, None)
        weight = {Origin.USER: 2, Origin.REFERENCE: 0}.get(end.origin, 1) if end else 0
        if only_end:
            assert stop is not None
            self._ends.append(_End(key, order, a.id, stop, weight))
            return
        start = start or DateUnit.at(now, Origin.REFERENCE)
        if stop is not None and stop <= start.first:
            stop = None
        self._starts.append(_Start(key, order, a.id, start, stop, users=start.origin is Origin.USER))
        if a.still and a.kind is AssertionKind.HOLDS and start.first < now and (stop is None or now < stop):
            self._starts.append(_Start(key, order, a.id, DateUnit.at(now, Origin.REFERENCE), stop, again=True))
        if stop is not None:
            self._ends.append(_End(key, order, a.id, stop, weight, own=True))

    # -- which of it counts

    def _settle(self) -> None:
        self._starts = [s for s in self._starts if not self._denied(s.key, s.order)]
        self._ends = [e for e in self._ends if not self._denied(e.key, e.order)]
        cancels = {e for e in self._ends for s in self._starts if _cancels(e, s)}
        self._lose([s for s in self._starts if self._is_overtaken(s)])
        self._starts = [replace(s, unit=self._finest(s)) for s in self._starts]
        beaten: list[_Start] = []
        for s in sorted(self._starts, key=_force, reverse=True):
            rivals = [r for r in self._starts if r.at == s.at and _force(r) > _force(s) and self.exclude(r.key, s.key)]
            if any(r not in beaten for r in rivals):
                beaten.append(s)
        self._lose(beaten)
        self._lose([s for s in self._starts if self._is_replaced(s)])
        self._ends = [e for e in self._ends if e not in cancels or any(s.key == e.key and s.at < e.at for s in self._starts)]

    def _denied(self, key: FactKey, order: _Order) -> bool:
        return any(denied == key and order <= later for denied, later in self._denials)

    def _lose(self, lost: list[_Start]) -> None:
        gone = {(s.key, s.by) for s in lost if not s.again}
        self._starts = [s for s in self._starts if s not in lost]
        self._ends = [e for e in self._ends if not (e.own and (e.key, e.by) in gone)]

    def _is_overtaken(self, plan: _Start) -> bool:
        if any(_cancels(e, plan) for e in self._ends):
            return True
        for later in self._starts:
            if later.key != plan.key or later.order <= plan.order or later.unit.origin is Origin.REFERENCE:
                continue
            both_ahead = later.order[0] <= plan.at < later.at and later.order[0] < later.at
            if both_ahead and not (plan.own_end is not None and plan.own_end <= later.at):
                return True
        return False

    def _finest(self, s: _Start) -> DateUnit:
        if s.unit.origin is Origin.REFERENCE:
            return s.unit
        inside = [
            other
            for other in self._starts
            if other.key == s.key
            and other.unit.origin is not Origin.REFERENCE
            and (other.unit.first, other.unit.last) != (s.unit.first, s.unit.last)
            and s.unit.first <= other.unit.first < s.unit.last
            and other.unit.last <= s.unit.last
        ]
        if not inside:
            return s.unit
        return min(((self._finest(other), other.order) for other in inside), key=lambda pair: (pair[0].first, pair[1]))[0]

    def _is_replaced(self, s: _Start) -> bool:
        for user in self._starts:
            if user.key != s.key or not user.users or user.at <= s.at or (s.users and s.order > user.order):
                continue
            walls = [r.at for r in self._starts if self.exclude(r.key, s.key)] + [e.at for e in self._ends if e.key == s.key]
            if not any(s.at < wall <= user.at for wall in walls):
                return True
        return False

    # -- the question

    def _closed_start(self, end: _End) -> datetime | None:
        """The start that `end` closes: the last of its fact before it."""
        return max((s.at for s in self._starts if s.key == end.key and s.at < end.at), default=None)

    def _decides(self, end: _End) -> bool:
        """Whether no other end of the same start outranks this one."""
        for other in self._ends:
            if other is end or other.key != end.key or self._closed_start(other) != self._closed_start(end) or other.weight < end.weight:
                continue
            later = other.order > end.order if end.weight else (other.at, other.order) < (end.at, end.order)
            if other.weight > end.weight or later:
                return False
        return True

    def _runs(self, key: FactKey, v: datetime) -> bool:
        ends = [(e.at, self._closed_start(e)) for e in self._ends if e.key == key and self._decides(e)]
        cuts = [r.at for r in self._starts if self.exclude(r.key, key)]
        return any(
            s.key == key
            and s.at <= v
            and not any(s.at < cut <= v for cut in cuts)
            and not any(closed is not None and closed >= s.at and at <= v for at, closed in ends)
            for s in self._starts
        )

    def _fill(self) -> None:
        """Ends of which no beginning is known take the last free points before them."""
        unbegun = [e for e in self._ends if self._closed_start(e) is None and self._decides(e)]
        unbegun.sort(key=lambda e: (e.order, e.key), reverse=True)
        unbegun.sort(key=lambda e: (e.at, -e.weight))
        for end in unbegun:
            rivals = [key for key in self.keys if self.exclude(key, end.key)]
            taken = [any(self.holds(rival, point) for rival in rivals) for point in self.points]
            i = sum(point < end.at for point in self.points) - 1
            while i >= 0 and taken[i]:
                i -= 1
            while i >= 0 and not taken[i]:
                self._filled.setdefault(end.key, set()).add(self.points[i])
                i -= 1


def _stands(operation: Operation, operations: list[Operation]) -> bool:
    """Whether no standing restore came later and undid it."""
    undoing = (o for o in operations if o.kind is OperationKind.RESTORE and o.seq > operation.seq and operation.id in o.targets)
    return operation.kind is OperationKind.ERASE or not any(_stands(o, operations) for o in undoing)


def _reach(entity: str, links: list[tuple[str, str]]) -> set[str]:
    reached = {entity}
    while more := {end for link in links if reached & {*link} for end in link} - reached:
        reached |= more
    return reached


def _cancels(end: _End, plan: _Start) -> bool:
    return end.key == plan.key and not end.own and end.order > plan.order and end.order[0] <= end.at <= plan.at


def _force(s: _Start) -> tuple[bool, _Order, bool, FactKey]:
    return s.users, s.order, s.again, s.key
