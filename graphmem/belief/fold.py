"""The fold: from statements to the periods in which facts hold. Pure; the rules and their order are those of the design of time.

Facts that exclude each other are folded together, as one unit. Within a unit: denials void what was said before them; plans
may be cancelled or moved; coarse starts become the finer ones they hold; of equal starts of excluding facts one counts;
a start given by the user voids earlier ones; what remains runs to the first excluding start or to its end; and an end that
nothing began fills the last free stretch before it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple, TypeVar

from graphmem.belief.identity import Identity
from graphmem.belief.statements import Claim, Contest, End, Reading, Statement, overlaid, read_log
from graphmem.interval import FIRST, LAST, DateUnit, Interval, Origin, Precision
from graphmem.model import EMPTY, Bound, FactKey, LogEntry, Period, Said, Warn
from graphmem.ontology import Ontology
from graphmem.runtime import content_id

UNKNOWN = Bound(Precision.INSTANT, Origin.UNKNOWN)
_S = TypeVar("_S", Claim, End)


class Folded(NamedTuple):
    """Periods by (key, valid start, unknown first), and what was left out on the way."""

    periods: list[Period]
    warnings: tuple[Warn, ...]


@lru_cache(maxsize=8192)
def fact_id(group: str, key: FactKey) -> str:
    """The id of a fact: the same wherever the same log is folded."""
    return content_id("fact", group, *key)


def fold(entries: Iterable[LogEntry], ontology: Ontology, identity: Identity | None = None) -> list[Period]:
    """The periods in which facts hold, as the log `entries` says, sorted by (key, valid start, unknown first).

    `identity` is resolved from `entries` unless given. Reads no clock; equal logs give equal periods.
    """
    return fold_reading(read_log(entries, ontology, identity)).periods


def fold_reading(reading: Reading, keys: Iterable[FactKey] | None = None) -> Folded:
    """The periods of the units that hold `keys` (None: of all facts), sorted by (key, valid start, unknown first).

    Warns of each end without room (`no_room`), of two values said at once of a relation that takes one (`single_valued`), and
    first of all of what the reading left out (`Reading.warnings`).
    """
    periods: list[Period] = []
    warnings = list(reading.warnings)
    for unit in units(reading, keys):
        if len(unit) == 1 and (alone := _alone(reading, unit[0])) is not None:
            periods.append(alone)
            continue
        folding = _Folding(reading, unit)
        periods += folding.periods()
        warnings += folding.warnings
    periods.sort(key=_period_order)
    return Folded(periods, tuple(warnings))


def units(reading: Reading, keys: Iterable[FactKey] | None = None) -> Iterator[list[FactKey]]:
    """Facts connected by exclusion, each unit sorted; only units that hold one of `keys`, if given."""
    known = reading.keys
    members = reading.members()
    seen: set[FactKey] = set()
    passed: set[Contest] = set()
    for first in sorted(known if keys is None else known & set(keys)):
        if first in seen:
            continue
        seen.add(first)
        unit = [first]
        for key in unit:
            for contest in reading.contests(key):
                if contest in passed:
                    continue
                passed.add(contest)
                fresh = [other for other in members[contest] if other not in seen]
                seen.update(fresh)
                unit += fresh
        yield sorted(unit)


@dataclass(slots=True)
class _Stretch:
    """A period in the making; `None` is open."""

    start: datetime | None
    end: datetime | None
    opened: Bound
    closed: Bound
    filler: End | None = None


class _Cut(NamedTuple):
    """A start in a contest: it cuts what the other facts of that contest say before it."""

    at: datetime
    said: Said
    key: FactKey
    bound: Bound


@dataclass(slots=True)
class _Fact:
    """What is left of the statements about one fact."""

    key: FactKey
    contests: list[Contest]
    claims: list[Claim]
    ends: list[End]
    cancelling: set[End] = field(default_factory=set)
    stretches: list[_Stretch] = field(default_factory=list)

    def void(self, lost: set[Claim]) -> None:
        """Take out these claims, and the ends of the assertions that began with them."""
        fallen = {claim.by for claim in lost if not claim.again}
        self.claims = [claim for claim in self.claims if claim not in lost]
        self.ends = [end for end in self.ends if not (end.own and end.by in fallen)]


class _Folding:
    """The fold of one unit."""

    def __init__(self, reading: Reading, unit: Sequence[FactKey]) -> None:
        self.warnings: list[Warn] = []
        self.facts = [_after_denials(reading, key) for key in unit]
        self.cuts: dict[Contest, list[_Cut]] = {}

    def periods(self) -> list[Period]:
        """Apply the rules in order."""
        for fact in self.facts:
            if len(fact.claims) + len(fact.ends) > 1:
                _drop_overtaken_plans(fact)
                _take_finer_dates(fact)
        self._settle_equal_starts()
        self._line_up_cuts()
        self._keep_starts_of_the_user()
        early: list[tuple[End, _Fact]] = []
        for fact in self.facts:
            unbegun = self._run(fact)
            if unbegun:
                early.append((_deciding(unbegun), fact))
        if early:
            self._fill(early)
        return [_period(fact, stretch) for fact in self.facts for stretch in fact.stretches]

    def _settle_equal_starts(self) -> None:
        """Of equal starts of excluding facts the user's wins, else the later said."""
        contested = [(claim, fact) for fact in self.facts if fact.contests for claim in fact.claims]
        if len({claim.start for claim, _ in contested}) == len(contested):
            return
        contested.sort(key=lambda pair: (pair[0].by_user, pair[0].said, pair[0].again, pair[1].key), reverse=True)
        winners: dict[tuple[Contest, datetime], Claim] = {}
        lost: defaultdict[FactKey, set[Claim]] = defaultdict(set)
        for claim, fact in contested:
            places = [(contest, claim.start) for contest in fact.contests]
            beaten_by = next((winners[place] for place in places if place in winners and winners[place].key != fact.key), None)
            if beaten_by is None:
                winners.update(dict.fromkeys(places, claim))
                continue
            lost[fact.key].add(claim)
            if beaten_by.citations[0].episode == claim.citations[0].episode:
                advice = f"declare {fact.key.relation} several-valued if both hold"
                self.warnings.append(Warn("single_valued", claim.by, f"{claim.text!r} and {beaten_by.text!r} were said at once; {advice}"))
        for fact in self.facts:
            if fact.key in lost:
                fact.void(lost[fact.key])

    def _line_up_cuts(self) -> None:
        cuts: defaultdict[Contest, list[_Cut]] = defaultdict(list)
        for fact in self.facts:
            for contest in fact.contests:
                cuts[contest] += [_Cut(claim.start, claim.said, fact.key, _bound(claim.unit)) for claim in fact.claims]
        for lined_up in cuts.values():
            lined_up.sort(key=lambda cut: cut[:3])
        self.cuts = cuts

    def _next_cut(self, fact: _Fact, after: datetime) -> _Cut | None:
        """The first start of an excluding fact after `after`."""
        first: _Cut | None = None
        for contest in fact.contests:
            cuts = self.cuts[contest]
            for i in range(bisect_right(cuts, after, key=lambda cut: cut.at), len(cuts)):
                if cuts[i].key != fact.key:
                    if first is None or cuts[i][:3] < first[:3]:
                        first = cuts[i]
                    break
        return first

    def _keep_starts_of_the_user(self) -> None:
        """A user's start voids the fact's earlier starts back to the nearest end or excluding start."""
        lost: list[tuple[_Fact, set[Claim]]] = []
        for fact in self.facts:
            given = [claim for claim in fact.claims if claim.by_user]
            if given:
                ends = sorted(end.at for end in fact.ends)
                lost.append((fact, {claim for claim in fact.claims if self._is_replaced(claim, fact, given, ends)}))
        for fact, claims in lost:
            fact.void(claims)
        if lost:
            self._line_up_cuts()

    def _is_replaced(self, claim: Claim, fact: _Fact, given: Sequence[Claim], ends: Sequence[datetime]) -> bool:
        cut = self._next_cut(fact, claim.start)
        following = bisect_right(ends, claim.start)
        walls = [*([cut.at] if cut else []), *ends[following : following + 1]]
        until = min(walls, default=LAST)
        return any(claim.start < user.start < until and (not claim.by_user or claim.said < user.said) for user in given)

    def _run(self, fact: _Fact) -> list[End]:
        """Let each start run to the first excluding start after it, or to its end if that is earlier; returns the ends without a start."""
        first_said: dict[datetime, Claim] = {}
        for claim in sorted(fact.claims, key=_claim_order):
            first_said.setdefault(claim.start, claim)
        starts = list(first_said.items())
        instants = list(first_said)
        gaps: list[list[End]] = [[] for _ in range(len(starts) + 1)]
        for end in fact.ends:
            after = bisect_left(instants, end.at)
            if after or end not in fact.cancelling:
                gaps[after].append(end)
        following: End | None = None
        runs: list[_Stretch] = []
        for i in range(len(starts) - 1, -1, -1):
            if gaps[i + 1]:
                following = _deciding(gaps[i + 1])
            start, claim = starts[i]
            cut = self._next_cut(fact, start)
            if cut is not None and (following is None or cut.at <= following.at):
                runs.append(_Stretch(start, cut.at, _bound(claim.unit), cut.bound))
            elif following is not None:
                runs.append(_Stretch(start, following.at, _bound(claim.unit), _bound(following.unit)))
            else:
                runs.append(_Stretch(start, None, _bound(claim.unit), UNKNOWN))
        for run in reversed(runs):
            last = fact.stretches[-1] if fact.stretches else None
            if last is None or (last.end is not None and run.start is not None and last.end < run.start):
                fact.stretches.append(run)
            elif last.end is not None and (run.end is None or run.end > last.end):
                last.end, last.closed = run.end, run.closed
        fact.ends = [end for gap in gaps for end in gap]
        return gaps[0]

    def _fill(self, early: list[tuple[End, _Fact]]) -> None:
        """An end that nothing began fills the last stretch before it that no excluding fact holds; earlier ends first."""
        sharing: defaultdict[Contest, list[_Fact]] = defaultdict(list)
        for fact in self.facts:
            for contest in fact.contests:
                sharing[contest].append(fact)
        early.sort(key=lambda pair: (pair[0].said, pair[1].key), reverse=True)
        early.sort(key=lambda pair: (pair[0].at, -pair[0].rank))
        for end, fact in early:
            others = [
                stretch for contest in fact.contests for other in sharing[contest] if other is not fact for stretch in other.stretches
            ]
            free = _last_free(end, others)
            if free is None:
                self.warnings.append(Warn("no_room", end.by, f"{end.text!r}: no stretch before {end.at.isoformat()} is free for it"))
                continue
            following = fact.stretches[0] if fact.stretches else None
            if following is not None and following.start == free.end:
                following.start, following.opened, following.filler = free.start, free.opened, end
            else:
                fact.stretches.insert(0, free)


def _alone(reading: Reading, key: FactKey) -> Period | None:
    """The period of a fact of which all that was said is that it began, once; None of any other."""
    claims = reading.claims.get(key, ())
    if len(claims) != 1 or key in reading.ends or key in reading.denied:
        return None
    (claim,) = claims
    bound = _bound(claim.unit)
    return Period(
        key, claim.source, claim.target, claim.text, Interval(claim.start), bound, UNKNOWN, claim.citations, claim.attributes or EMPTY
    )


def _last_free(end: End, others: Sequence[_Stretch]) -> _Stretch | None:
    """The last stretch before `end` that none of `others` holds."""
    free = _Stretch(None, end.at, UNKNOWN, _bound(end.unit), end)
    high = end.at
    for other in sorted(others, key=lambda stretch: stretch.end or LAST, reverse=True):
        if other.end is not None and other.end < high:
            free.start, free.opened = other.end, Bound(other.closed.precision, Origin.UNKNOWN)
            break
        if other.start is None:
            return None
        if other.start < high:
            high = free.end = other.start
            free.closed = other.opened
    return free


def _after_denials(reading: Reading, key: FactKey) -> _Fact:
    claims, ends, denied = reading.claims.get(key, []), reading.ends.get(key, []), reading.denied.get(key)
    if denied is not None:
        claims, ends = [claim for claim in claims if claim.said > denied], [end for end in ends if end.said > denied]
    return _Fact(key, reading.contests(key), claims, ends)


def _drop_overtaken_plans(fact: _Fact) -> None:
    """Void starts still ahead when a later statement cancelled them or moved them to a later start, also ahead."""
    claims = sorted(fact.claims, key=_said_order)
    ends = sorted((end for end in fact.ends if not end.own), key=_said_order)
    lost: set[Claim] = set()
    for plan in fact.claims:
        for end in _told_while_ahead(plan, ends):
            if end.said.reference_time <= end.at <= plan.start:
                lost.add(plan)
                fact.cancelling.add(end)
        for moved in _told_while_ahead(plan, claims):
            if moved.dated and moved.start > plan.start and (plan.own_end is None or plan.own_end > moved.start):
                lost.add(plan)
    if lost:
        fact.void(lost)


def _told_while_ahead(plan: Claim, statements: Sequence[_S]) -> Sequence[_S]:
    """Those of `statements` (in said order) that were said after `plan` and not after its start."""
    first = bisect_right(statements, plan.said, key=_said_order)
    last = first
    while last < len(statements) and statements[last].said.reference_time <= plan.start:
        last += 1
    return statements[first:last]


def _take_finer_dates(fact: _Fact) -> None:
    """A coarse start whose unit holds a finer dated start of the same fact becomes that one."""
    dated = [claim for claim in fact.claims if claim.dated]
    spans = {_span(claim.unit) for claim in dated}
    if len(spans) < 2:
        return
    finer: dict[tuple[datetime, datetime], DateUnit] = {}
    for first, last in sorted(spans, key=lambda span: span[1] - span[0]):
        inside = [
            (finer.get(_span(claim.unit), claim.unit), claim.said)
            for claim in dated
            if first <= claim.unit.first < last and claim.unit.last <= last and _span(claim.unit) != (first, last)
        ]
        if inside:
            finer[first, last] = min(inside, key=lambda pair: (pair[0].first, pair[1]))[0]
    if finer:
        fact.claims = [replace(c, unit=finer[_span(c.unit)]) if c.dated and _span(c.unit) in finer else c for c in fact.claims]


def _deciding(ends: Sequence[End]) -> End:
    """Of several ends of one start: the user's, else a dated one, else an undated one; the last said, of undated ones the earliest."""
    rank = max(end.rank for end in ends)
    peers = [end for end in ends if end.rank == rank]
    return max(peers, key=_said_order) if rank else min(peers, key=lambda end: (end.at, end.said))


def _period(fact: _Fact, stretch: _Stretch) -> Period:
    """The finished period: text and direction of its first start, cited by the statements inside it."""
    start, end = stretch.start, stretch.end
    claims = [c for c in fact.claims if (start is None or start <= c.start) and (end is None or c.start < end)]
    closing: list[Statement] = [e for e in fact.ends if (start is None or start < e.at) and (end is None or e.at <= end)]
    if stretch.filler is not None and stretch.filler not in closing:
        closing.append(stretch.filler)
    statements = sorted([*claims, *closing], key=_said_order)
    first: Statement | None = min(claims, key=_claim_order) if claims else stretch.filler
    assert first is not None, "a period begins with a claim or is filled by an end"
    cited = dict.fromkeys(citation for statement in statements for citation in statement.citations)
    return Period(
        fact.key,
        first.source,
        first.target,
        first.text,
        Interval(start, end),
        stretch.opened,
        stretch.closed,
        tuple(cited),
        overlaid(statement.attributes for statement in statements),
    )


def _bound(unit: DateUnit) -> Bound:
    return Bound(unit.precision, unit.origin)


def _span(unit: DateUnit) -> tuple[datetime, datetime]:
    return unit.first, unit.last


def _said_order(statement: Statement) -> Said:
    return statement.said


def _claim_order(claim: Claim) -> tuple[datetime, Said, bool]:
    return claim.start, claim.said, claim.again


def _period_order(period: Period) -> tuple[FactKey, bool, datetime]:
    start = period.valid.start
    return (period.key, start is not None, start or FIRST)
