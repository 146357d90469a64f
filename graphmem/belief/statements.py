"""What a log says: its live assertions and user operations as statements about facts, ready to be folded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from graphmem.belief.identity import Identity, active_operations, resolve_identity
from graphmem.errors import InvalidInput
from graphmem.interval import DateUnit, Origin, instant
from graphmem.model import (
    EMPTY,
    Assertion,
    AssertionKind,
    Citation,
    Episode,
    EpisodeRecord,
    FactKey,
    LogEntry,
    Operation,
    OperationKind,
    Said,
    Warn,
)
from graphmem.ontology import Ontology

Contest = tuple[str, ...]
"""Something that one fact can have at a time: a slot of the ontology, or a pair judged contradictory."""

NAMED = "named"
"""The value of a correction that says what the entities are called that it names, by id; no field of an assertion."""

_RANKS = {Origin.USER: 2, Origin.REFERENCE: 0}


@dataclass(slots=True, eq=False)
class Statement:
    """One thing said about one fact: when, by whom, in which direction and words."""

    key: FactKey
    said: Said
    by: str
    citations: tuple[Citation, ...]
    source: str
    target: str
    text: str
    attributes: Mapping[str, object]


@dataclass(slots=True, eq=False)
class Claim(Statement):
    """The fact begins with `unit`, or (`again`) is said to hold still at the reference time. `own_end` is its own end.

    `by_user` outlives a finer date that `unit` may become.
    """

    unit: DateUnit
    own_end: datetime | None = None
    again: bool = False
    by_user: bool = False

    @property
    def start(self) -> datetime:
        return self.unit.first

    @property
    def dated(self) -> bool:
        """Whether a date was given, rather than the fact merely seen at the reference time."""
        return self.unit.origin is not Origin.REFERENCE


@dataclass(slots=True, eq=False)
class End(Statement):
    """The fact ends at `at`. `own`: the end of an assertion that also began it, which falls with that claim."""

    unit: DateUnit
    at: datetime
    own: bool = False

    @property
    def rank(self) -> int:
        """A user's end is 2, a dated one 1, an undated one 0."""
        return _RANKS.get(self.unit.origin, 1)


class Reading:
    """The statements of a log, or of a slice of it, by fact. Made by `read_log`.

    `claims`, `ends` and `denied` (the last denial) are by fact; `keys` are the facts with claims or ends.
    """

    def __init__(self, ontology: Ontology, identity: Identity) -> None:
        self.ontology = ontology
        self.identity = identity
        self.claims: dict[FactKey, list[Claim]] = {}
        self.ends: dict[FactKey, list[End]] = {}
        self.denied: dict[FactKey, Said] = {}
        self.warnings: list[Warn] = []
        self._assertions: dict[str, Assertion] = {}
        self._keys: dict[str, FactKey | None] = {}
        self._triples: dict[str, tuple[str, str, str]] = {}
        self._judged: defaultdict[FactKey, list[Contest]] = defaultdict(list)
        self._contests: dict[FactKey, list[Contest]] = {}
        self._members: dict[Contest, list[FactKey]] | None = None

    @property
    def keys(self) -> set[FactKey]:
        """The facts that something live says began or ended."""
        return self.claims.keys() | self.ends.keys()

    def key_of(self, assertion_id: str) -> FactKey | None:
        """The fact an assertion of the slice speaks of, forgotten or not; None for a self-loop or an unknown id."""
        try:
            return self._keys[assertion_id]
        except KeyError:
            known = self._assertions.get(assertion_id)
            key = self._keys[assertion_id] = None if known is None else self._key(known)
            return key

    def contests(self, key: FactKey) -> list[Contest]:
        """What `key` competes for; two facts exclude each other if they share one of these."""
        known = self._contests.get(key)
        if known is None:
            known = self._contests[key] = [*self.ontology.slots(key), *self._judged.get(key, ())]
        return known

    def conflicts(self, key: FactKey) -> set[FactKey]:
        """The facts of this reading that `key` excludes."""
        members = self.members()
        found = {other for contest in self.contests(key) for other in members.get(contest, ())}
        found.discard(key)
        return found

    def members(self) -> Mapping[Contest, list[FactKey]]:
        """The facts in each contest, sorted."""
        if self._members is None:
            members: defaultdict[Contest, list[FactKey]] = defaultdict(list)
            for key in sorted(self.keys):
                for contest in self.contests(key):
                    members[contest].append(key)
            self._members = dict(members)
        return self._members

    # -- what an assertion is about

    def _triple(self, assertion: Assertion) -> tuple[str, str, str]:
        known = self._triples.get(assertion.id)
        if known is None:
            source, target = self.identity.canonical(assertion.source), self.identity.canonical(assertion.target)
            known = self._triples[assertion.id] = self.ontology.triple(assertion.relation, source, target)
        return known

    def _root(self, assertion: Assertion) -> Assertion:
        """The assertion that this one was judged to repeat, and so on, while both join the same two entities."""
        if assertion.same_as is None:
            return assertion
        ends = {*self._triple(assertion)[1:]}
        root, passed = assertion, {assertion.id}
        while root.same_as is not None:
            earlier = self._assertions.get(root.same_as)
            if earlier is None or earlier.id in passed or {*self._triple(earlier)[1:]} != ends:
                break
            root = earlier
            passed.add(root.id)
        return root

    def _key(self, assertion: Assertion) -> FactKey | None:
        root = self._root(assertion)
        triple = self._triple(root)
        if triple[1] == triple[2]:
            return None
        for rival in root.excludes:
            other = self._assertions.get(rival)
            if other is not None and (rooted := self._root(other)) is not root and self._triple(rooted) == triple:
                return FactKey(*triple, root.id)
        return FactKey(*triple)

    def _direction(self, key: FactKey, assertion: Assertion) -> tuple[str, str]:
        """Source and target as said, where the relation has no direction of its own."""
        if not self.ontology.relation(key.relation).symmetric:
            return key.source, key.target
        return self.identity.canonical(assertion.source), self.identity.canonical(assertion.target)

    # -- reading

    def _add_assertion(self, assertion: Assertion, said: Said) -> None:
        key = self.key_of(assertion.id)
        if key is None:
            return
        if assertion.kind is AssertionKind.DENIES:
            self.denied[key] = max(said, self.denied.get(key, said))
            return
        start, end = self._dates(assertion, said.reference_time)
        cited = (Citation(assertion.episode, assertion.id),)
        common = (key, said, assertion.id, cited, *self._direction(key, assertion), assertion.text, assertion.attributes)
        if start is None:
            assert end is not None
            self.ends.setdefault(key, []).append(End(*common, end[0], end[1]))
            return
        own_end = end and end[1]
        claims = self.claims.setdefault(key, [])
        claims.append(Claim(*common, start, own_end, by_user=start.origin is Origin.USER))
        now = said.reference_time
        if assertion.still and assertion.kind is AssertionKind.HOLDS and start.first < now and (own_end is None or own_end > now):
            claims.append(Claim(*common, _seen(now), own_end, True))
        if end is not None:
            self.ends.setdefault(key, []).append(End(*common, end[0], end[1], own=True))

    def _dates(self, assertion: Assertion, now: datetime) -> tuple[DateUnit | None, tuple[DateUnit, datetime] | None]:
        """When the fact begins (None: only an end is said) and ends: the unit given and the instant meant."""
        start, end = assertion.start, assertion.end
        if assertion.kind is AssertionKind.HOLDS:
            if start is None and end is not None and end.last <= now:
                return None, (end, end.last)
            start = start or _seen(now)
            if end is None:
                return start, None
            if end.last > start.first:
                return start, (end, end.last)
            self._conflict(assertion)
            return start, None
        if start is not None and end is None and start.origin is not Origin.USER:
            start, end = None, start  # "left in May": the one date of an end is that of the end, whichever field holds it
        end = end or _seen(now)
        at = now if end.first <= now < end.last else end.last
        if start is None or at > start.first:
            return start, (end, at)
        self._conflict(assertion)
        return start, ((_seen(now), now) if now > start.first else None)

    def _conflict(self, assertion: Assertion) -> None:
        self.warnings.append(
            Warn("interval_conflict", assertion.id, f"{assertion.text!r}: an end that is not after its start was left out")
        )

    def _add_operation(self, operation: Operation, about: list[Assertion], saids: Mapping[str, Said]) -> None:
        """A user's `end` or `confirm`: a statement about each fact that the assertions `about` speak of."""
        if operation.created_at is None:
            raise InvalidInput("created_at", None, f"operation {operation.id} of a log has its system instant")
        at = _instant_of(operation)
        said = Said(instant(operation.created_at), operation.seq, 0)
        by_key: defaultdict[FactKey, list[Assertion]] = defaultdict(list)
        for assertion in sorted(about, key=lambda a: saids[a.id]):
            if (key := self.key_of(assertion.id)) is not None:
                by_key[key].append(assertion)
        for key, told in by_key.items():
            cited = tuple(Citation(episode, operation.id) for episode in dict.fromkeys(a.episode for a in told))
            attributes = overlaid(a.attributes for a in told)
            common = (key, said, operation.id, cited, *self._direction(key, told[0]), told[0].text, attributes)
            if operation.kind is OperationKind.END:
                self.ends.setdefault(key, []).append(End(*common, DateUnit.at(at, Origin.USER), at))
            else:
                self.claims.setdefault(key, []).append(Claim(*common, _seen(at)))

    def _judge(self, assertion: Assertion) -> None:
        """Take up the contradictions that this assertion was found to make, where the gate lets them pass."""
        key = self.key_of(assertion.id)
        for named in assertion.excludes:
            other = self.key_of(named)
            if key is None or other is None or key == other or not self.ontology.gate(key, other):
                continue
            contest: Contest = ("judged", *min(key, other), *max(key, other))
            if contest not in self._judged[key]:
                self._judged[key].append(contest)
                self._judged[other].append(contest)


def read_log(entries: Iterable[LogEntry], ontology: Ontology, identity: Identity | None = None) -> Reading:
    """Read a log, or the slice of it that concerns some facts, into statements.

    A slice may hold records with some of their assertions and only the operations that concern them; `identity` is then
    that of the whole log. Without `identity` it is resolved from `entries`. Decisions that name unknown assertions count for nothing.
    """
    entries = list(entries)
    reading = Reading(ontology, resolve_identity(entries) if identity is None else identity)
    operations = active_operations(entries)
    hidden = {target for operation in operations if operation.kind is OperationKind.FORGET for target in operation.targets}
    patches = _patches(operations)
    saids: dict[str, Said] = {}
    live: list[Assertion] = []
    for record in entries:
        if not isinstance(record, EpisodeRecord):
            continue
        at, seq, is_hidden = instant(record.episode.reference_time), record.seq, record.episode.id in hidden
        for assertion in record.assertions:
            known = _as_corrected(assertion, record.episode, reading.identity, patches.get(assertion.id))
            reading._assertions[known.id] = known
            if is_hidden or known.id in hidden or (patches and _reopened(known, patches)):
                continue
            saids[known.id] = Said(at, seq, known.position)
            live.append(known)
    for assertion in live:
        reading._add_assertion(assertion, saids[assertion.id])
        if assertion.excludes:
            reading._judge(assertion)
    for operation in operations:
        if operation.kind in (OperationKind.END, OperationKind.CONFIRM):
            reading._add_operation(operation, [reading._assertions[t] for t in operation.targets if t in saids], saids)
    return reading


def overlaid(attributes: Iterable[Mapping[str, object]]) -> Mapping[str, object]:
    """The attributes of several statements in one, later ones over earlier ones."""
    merged: Mapping[str, object] = EMPTY
    for given in attributes:
        if given:
            merged = {**merged, **given}
    return merged


def _patches(operations: Iterable[Operation]) -> dict[str, dict[str, Any]]:
    """The corrected fields of each assertion; of two corrections of a field the later counts."""
    patches: dict[str, dict[str, Any]] = {}
    for operation in operations:
        if operation.kind is OperationKind.CORRECT:
            for target in operation.targets:
                patches.setdefault(target, {}).update((f, v) for f, v in operation.values.items() if f != NAMED)
    for patch in patches.values():
        if "kind" in patch:
            patch["kind"] = AssertionKind(patch["kind"])
        if "excludes" in patch:
            patch["excludes"] = tuple(patch["excludes"])
    return patches


def _as_corrected(assertion: Assertion, episode: Episode, identity: Identity, patch: Mapping[str, Any] | None) -> Assertion:
    source, target = identity.at(assertion.source, episode.id), identity.at(assertion.target, episode.id)
    changes: dict[str, Any] = {}
    if source != assertion.source or target != assertion.target:
        changes = {"source": source, "target": target}
    if patch:
        changes.update(patch)
    return replace(assertion, **changes) if changes else assertion


def _reopened(assertion: Assertion, patches: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether the user took away the end that this assertion tells."""
    return assertion.kind is AssertionKind.ENDS and assertion.end is None and "end" in patches.get(assertion.id, EMPTY)


def _seen(at: datetime) -> DateUnit:
    """The date of what was seen to hold, or not to hold, at that moment."""
    return DateUnit.at(at, Origin.REFERENCE)


def _instant_of(operation: Operation) -> datetime:
    at = operation.values.get("at")
    if not isinstance(at, datetime):
        raise InvalidInput("at", at, f"operation {operation.id} needs the instant it speaks of")
    return instant(at, "at")
