"""The part of a group's log that decides a handful of facts: everything in their units, and nothing else.

A unit is a set of facts connected by exclusion. The slice is closed over the facts that its assertions speak of now
(the key rows), those they will speak of after the write, the slots these facts share, and the decisions that join or
oppose them, hidden assertions included: so it covers the units as they were and as they will be.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from graphmem.belief.deeds import Deed
from graphmem.belief.fold import fact_id
from graphmem.belief.identity import STRANGERS, Identity, parted, resolve_identity
from graphmem.belief.statements import Reading, read_log
from graphmem.entries import created_at
from graphmem.model import Assertion, Episode, EpisodeRecord, FactKey, LogEntry, Operation, OperationKind
from graphmem.ontology import Ontology
from graphmem.stores.base import Reader

LINKING = (OperationKind.MERGE, OperationKind.DISTINCT, OperationKind.SPLIT)


def operations_on(reader: Reader, group: str, targets: Iterable[str], known: dict[str, Operation]) -> None:
    """Add to `known` the operations with one of `targets`, and the restores of those, and the restores of these."""
    frontier = list(targets)
    while frontier:
        found = [o for o in reader.operations(group, targets=frontier) if o.id not in known]
        known.update((o.id, o) for o in found)
        frontier = [o.id for o in found]


def undone_by(reader: Reader, group: str, operations: Iterable[Operation]) -> dict[str, Operation]:
    """These operations by id, with those that they undo, and those that these undo."""
    known = {o.id: o for o in operations}
    frontier = [t for o in known.values() if o.kind is OperationKind.RESTORE for t in o.targets]
    while frontier := [t for t in frontier if t not in known]:
        found = reader.operations(group, ids=frontier)
        known.update((o.id, o) for o in found)
        frontier = [t for o in found if o.kind is OperationKind.RESTORE for t in o.targets]
    return known


def deed_of(reader: Reader, group: str, entry: LogEntry) -> Deed:
    """What an entry of the log comes down to."""
    return Deed.of(entry, undone_by(reader, group, [entry]) if isinstance(entry, Operation) else {})


@dataclass
class Kin:
    """Entities that links or merges may join, active or not, and the log entries that say so."""

    members: set[str]
    entries: list[LogEntry]
    identity: Identity

    def identity_at(self, system: datetime | None) -> Identity:
        """Who was who at a system instant; None: who is now."""
        if system is None:
            return self.identity
        return resolve_identity([e for e in self.entries if (at := created_at(e)) is not None and at <= system])


def load_kin(reader: Reader, group: str, entities: Iterable[str]) -> Kin:
    """Who `entities` are: closed over every recorded merge, split and link, whether it counts now or not."""
    members: set[str] = set()
    operations: dict[str, Operation] = {}
    links: dict[str, set[tuple[str, str]]] = {}
    frontier = set(entities)
    while frontier:
        members |= frontier
        batch = sorted(frontier)
        found: set[str] = set()
        for episode, one, other in reader.links(group, batch):
            links.setdefault(episode, set()).add((one, other))
            found |= {one, other}
        before = set(operations)
        operations_on(reader, group, batch, operations)
        for operation in (operations[i] for i in operations.keys() - before):
            if operation.kind in (OperationKind.MERGE, OperationKind.DISTINCT):
                found |= set(operation.targets)
            elif operation.kind is OperationKind.SPLIT:
                found |= {*parted(operation)[0], str(operation.values["entity"])}
        frontier = found - members
    entries: list[LogEntry] = []
    if links:
        operations_on(reader, group, sorted(links), operations)
        for head in reader.heads(group, sorted(links)):
            entries.append(EpisodeRecord(head, links=tuple(sorted(links[head.id]))))
    entries += operations.values()
    entries.sort(key=sequence)
    return Kin(members, entries, resolve_identity(entries))


def sequence(entry: LogEntry) -> int:
    """Position in the log."""
    return entry.seq


@dataclass
class Slice:
    """A closed part of the log, read: which facts its assertions speak of before (`was`) and after (`reading`) the write."""

    group: str
    ontology: Ontology
    assertions: dict[str, Assertion] = field(default_factory=dict)
    episodes: dict[str, Episode] = field(default_factory=dict)
    operations: dict[str, Operation] = field(default_factory=dict)
    was: dict[str, str | None] = field(default_factory=dict)
    kin: Kin = field(default_factory=lambda: Kin(set(), [], STRANGERS))
    reading: Reading | None = None
    _now: dict[str, tuple[str, FactKey] | None] | None = None

    def read(self, reading: Reading) -> None:
        """Take over what the slice says, as far as it goes."""
        self.reading, self._now = reading, None

    def key_of(self, assertion: str) -> FactKey | None:
        """What the assertion speaks of after the write."""
        assert self.reading is not None
        return self.reading.key_of(assertion)

    def now(self) -> dict[str, tuple[str, FactKey] | None]:
        """Assertion → (fact id, key) after the write."""
        if self._now is None:
            keys = {assertion: self.key_of(assertion) for assertion in self.assertions}
            self._now = {a: None if key is None else (fact_id(self.group, key), key) for a, key in keys.items()}
        return self._now

    def facts(self) -> set[str]:
        """Every fact that may change: those spoken of before or after."""
        return {f for f in self.was.values() if f} | {pair[0] for pair in self.now().values() if pair}


def load_slice(
    reader: Reader,
    group: str,
    ontology: Ontology,
    seeds: Sequence[Assertion],
    fresh: EpisodeRecord | None = None,
    kin: Kin | None = None,
) -> Slice:
    """The closed slice around `seeds`; `fresh` is the episode just appended, whose assertions need no look-up, and `kin` what
    is known of its entities.
    """
    piece = Slice(group, ontology)
    if kin is not None:
        piece.kin = kin
    done_refs: set[str] = set()
    done_facts: set[str] = set()
    done_slots: set[tuple[str, str, str]] = set()
    if fresh is not None:
        piece.episodes[fresh.episode.id] = fresh.episode
    own = {a.id for a in fresh.assertions} if fresh is not None else set()
    incoming = list(seeds)
    while incoming:
        _take(reader, piece, incoming, own)
        _read(reader, piece)
        incoming = _decisions(reader, piece, done_refs, own)
        incoming += _same_facts(reader, piece, done_facts, done_slots)
        incoming = [a for a in {a.id: a for a in incoming}.values() if a.id not in piece.assertions]
    return piece


def _take(reader: Reader, piece: Slice, incoming: Sequence[Assertion], own: set[str]) -> None:
    """Add assertions with their episodes, their operations, and what they spoke of."""
    piece.assertions.update((a.id, a) for a in incoming)
    episodes = sorted({a.episode for a in incoming} - piece.episodes.keys())
    if episodes:
        piece.episodes.update((e.id, e) for e in reader.heads(piece.group, episodes))
    known = [a.id for a in incoming if a.id not in own]
    if known:
        piece.was.update(reader.fact_ids(piece.group, known))
        operations_on(reader, piece.group, known + episodes, piece.operations)


def _read(reader: Reader, piece: Slice) -> None:
    """Read the slice as it is so far."""
    entities = {e for a in piece.assertions.values() for e in (a.source, a.target)}
    entities |= {str(o.values[f]) for o in piece.operations.values() for f in ("source", "target") if f in o.values}
    if not entities <= piece.kin.members:
        piece.kin = load_kin(reader, piece.group, entities)
    by_episode: dict[str, list[Assertion]] = {}
    for assertion in piece.assertions.values():
        by_episode.setdefault(assertion.episode, []).append(assertion)
    entries: list[LogEntry] = [
        EpisodeRecord(piece.episodes[e], assertions=tuple(sorted(rows, key=lambda a: a.position))) for e, rows in by_episode.items()
    ]
    entries += piece.operations.values()
    entries.sort(key=sequence)
    piece.read(read_log(entries, piece.ontology, piece.kin.identity))


def _decisions(reader: Reader, piece: Slice, done: set[str], own: set[str]) -> list[Assertion]:
    """Assertions that the slice's decisions name, and those whose decisions name the slice's."""
    named = {i for a in piece.assertions.values() for i in a.decided}
    named |= {str(i) for o in piece.operations.values() for i in _named_by(o)}
    wanted = sorted(named - piece.assertions.keys() - done)
    found = reader.assertions(piece.group, ids=wanted) if wanted else []
    fresh = sorted(piece.assertions.keys() - done - own)
    if fresh:
        found += reader.assertions(piece.group, deciding=fresh)
    done |= set(wanted) | set(fresh)
    done -= {a.id for a in found} - piece.assertions.keys()
    return found


def _named_by(operation: Operation) -> list[object]:
    """Assertions that a correction's new decisions name."""
    excludes, same = operation.values.get("excludes"), operation.values.get("same_as")
    return [*(excludes if isinstance(excludes, (list, tuple)) else ()), *((same,) if same else ())]


def _same_facts(reader: Reader, piece: Slice, done_facts: set[str], done_slots: set[tuple[str, str, str]]) -> list[Assertion]:
    """Assertions about the facts of the slice, and about facts that share a slot with these."""
    keys = {pair[0]: pair[1] for pair in piece.now().values() if pair}
    past = sorted({f for f in piece.was.values() if f} - keys.keys() - done_facts)
    if past:
        keys.update(reader.keys(piece.group, facts=past))
    facts = set(keys) - done_facts
    slots = {s for f, k in keys.items() if f in facts for s in piece.ontology.slots(k)} - done_slots
    if slots:
        facts |= reader.keys(piece.group, slots=sorted(slots)).keys() - done_facts
        done_slots |= slots
    done_facts |= set(keys)
    return reader.assertions(piece.group, facts=sorted(facts)) if facts else []
