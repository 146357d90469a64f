"""What a write changed, in the one vocabulary, each line with the reason."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain

from graphmem import names
from graphmem.belief.entities import EntityState
from graphmem.belief.identity import Identity
from graphmem.interval import Origin
from graphmem.model import Change, ChangeKind, CitationVersion, EntityVersion, Episode, FactVersion, LogEntry, Operation, OperationKind

_SHOWN = 100
_REKEYED = {
    OperationKind.MERGE: ChangeKind.MERGED,
    OperationKind.SPLIT: ChangeKind.SPLIT,
    OperationKind.DISTINCT: ChangeKind.SPLIT,
    OperationKind.RESTORE: ChangeKind.RESTORED,
    OperationKind.CORRECT: ChangeKind.CORRECTED,
}
_GONE = {OperationKind.FORGET: ChangeKind.FORGOTTEN, OperationKind.ERASE: ChangeKind.ERASED}


@dataclass(frozen=True, slots=True)
class Difference:
    """Fact versions that ended and began, citations that began, every version believed now in the units touched, who is who,
    and of which facts an assertion spoke before and after, where these are two.
    """

    ended: Sequence[FactVersion]
    added: Sequence[FactVersion]
    cited: Sequence[CitationVersion]
    believed: Sequence[FactVersion]
    identity: Identity = field(default_factory=Identity)
    moved: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True)
class Moves:
    """Mentions that count for another entity than before: entity → the first one that they went into, and that they came out of."""

    into: Mapping[str, str] = field(default_factory=dict)
    out_of: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, moved: Iterable[tuple[str, str]]) -> Moves:
        """From the entities before and after of each mention."""
        into: dict[str, str] = {}
        out_of: dict[str, str] = {}
        for old, new in moved:
            into.setdefault(old, new)
            out_of.setdefault(new, old)
        return cls(into, out_of)


def describe_episode(kind: ChangeKind, episode: Episode) -> Change:
    """An episode that went or came back, with the beginning of what it says."""
    text = " ".join(episode.body[:_SHOWN].split())
    return Change(kind, "episode", episode.id, text if len(episode.body) <= _SHOWN else f"{text}…")


def describe_entities(
    before: Mapping[str, EntityVersion], after: Mapping[str, EntityState | None], moves: Moves, cause: LogEntry
) -> list[Change]:
    """Entities that came, those that went, and, where an operation did it, those that are called otherwise."""
    was, now = {i: v.name for i, v in before.items()}, {i: s.name for i, s in after.items() if s is not None}
    changes: list[Change] = []
    for entity, state in after.items():
        if state is not None and entity not in before:
            changes.append(_came(entity, state.name, was.get(moves.out_of.get(entity, "")), cause))
    for entity, version in before.items():
        if entity in after and after[entity] is None:
            other = now.get(moves.into.get(entity, ""))
            kind = ChangeKind.FORGOTTEN if other is None else ChangeKind.MERGED
            changes.append(Change(kind, "entity", entity, version.name, "" if other is None else f"is one with {other}"))
    if isinstance(cause, Operation):
        stayed = [(i, s, before[i]) for i, s in after.items() if s is not None and i in before]
        changes += [c for entity, state, version in stayed for c in _renamed(entity, state, version, moves)]
    return changes


def _came(entity: str, name: str, other: str | None, cause: LogEntry) -> Change:
    if _is(cause, OperationKind.RESTORE):
        return Change(ChangeKind.RESTORED, "entity", entity, name, "" if other is None else f"was one with {other}")
    if other is None:
        return Change(ChangeKind.ADDED, "entity", entity, name)
    return Change(ChangeKind.SPLIT, "entity", entity, name, f"taken out of {other}")


def _renamed(entity: str, state: EntityState, version: EntityVersion, moves: Moves) -> Iterator[Change]:
    """Another name of its own, and other names that came or went, unless they did so with mentions."""
    if state.name != version.name:
        yield Change(ChangeKind.CORRECTED, "entity", entity, state.name, f"was called {version.name}")
    if entity in moves.into or entity in moves.out_of:
        return
    was, now = {names.key(n): n for n in (version.name, *version.aliases)}, {names.key(n): n for n in (state.name, *state.aliases)}
    for name in (n for k, n in now.items() if k not in was and n != state.name):
        yield Change(ChangeKind.EXTENDED, "entity", entity, state.name, f"also called {name}")
    for name in (n for k, n in was.items() if k not in now and n != version.name):
        yield Change(ChangeKind.CORRECTED, "entity", entity, state.name, f"no longer called {name}")


def describe(difference: Difference, cause: LogEntry) -> tuple[Change, ...]:
    """The changes, by fact id, then valid start."""
    by_fact: dict[str, tuple[list[FactVersion], list[FactVersion]]] = defaultdict(lambda: ([], []))
    for version in difference.ended:
        by_fact[version.fact_id][0].append(version)
    for version in difference.added:
        by_fact[version.fact_id][1].append(version)
    steps = {fact: _steps(*versions) for fact, versions in by_fact.items()}
    rekeyed = _rekeyed(steps, difference.moved)
    changes = [c for fact in sorted(steps) for c in _of_fact(steps[fact], rekeyed, difference, cause)]
    return (*changes, *_confirmed(difference, set(by_fact)))


@dataclass(frozen=True, slots=True)
class _Steps:
    """What became of the versions of one fact: pairs of which one took the other's place, and those without a counterpart."""

    replaced: Sequence[tuple[FactVersion, FactVersion]]
    added: Sequence[FactVersion]
    ended: Sequence[FactVersion]


def _steps(ended: list[FactVersion], added: list[FactVersion]) -> _Steps:
    """Pair what ended with what took its place: by start, else in order of time."""
    starts = {v.valid.start: v for v in ended}
    replaced, rest_added = [], []
    for version in sorted(added, key=_order):
        before = starts.pop(version.valid.start, None)
        if before is not None:
            replaced.append((before, version))
        else:
            rest_added.append(version)
    rest_ended = sorted(starts.values(), key=_order)
    paired = min(len(rest_ended), len(rest_added))
    replaced += zip(rest_ended[:paired], rest_added[:paired], strict=True)
    return _Steps(replaced, rest_added[paired:], rest_ended[paired:])


def _rekeyed(steps: Mapping[str, _Steps], moved: Iterable[tuple[str, str]]) -> dict[str, FactVersion]:
    """Versions by uuid, each with the one (both ways) that says the same of other entities, or otherwise: one was merged, split or
    corrected. `moved` are facts, before and after, that an assertion spoke of.
    """
    gone: dict[tuple[str, str, datetime | None], FactVersion] = {
        (v.relation, v.text, v.valid.start): v for s in steps.values() for v in s.ended
    }
    pairs: dict[str, FactVersion] = {}
    for version in sorted((v for s in steps.values() for v in s.added), key=_order):
        before = gone.get((version.relation, version.text, version.valid.start))
        if before is not None and before.uuid not in pairs and {before.source, before.target} != {version.source, version.target}:
            pairs[before.uuid], pairs[version.uuid] = version, before
    for old, new in moved:
        ended = [v for v in steps[old].ended if v.uuid not in pairs] if old in steps else []
        added = [v for v in steps[new].added if v.uuid not in pairs] if new in steps else []
        for before, version in zip(ended, added, strict=False):
            pairs[before.uuid], pairs[version.uuid] = version, before
    return pairs


def _of_fact(steps: _Steps, rekeyed: Mapping[str, FactVersion], difference: Difference, cause: LogEntry) -> Iterator[Change]:
    for before, version in steps.replaced:
        yield _replaced(before, version, difference, cause)
    for version in steps.added:
        kind = kind_of(None, version, cause)
        if version.uuid in rekeyed:
            kind = _REKEYED.get(cause.kind, ChangeKind.CORRECTED) if isinstance(cause, Operation) else ChangeKind.MERGED
        other = rekeyed.get(version.uuid)
        was = f"was: {other.text}" if other is not None and other.text != version.text else ""
        reason = cause.reason if isinstance(cause, Operation) and cause.reason else ""
        yield Change(kind, "fact", version.uuid, version.text, "; ".join(filter(None, (was, reason))) or _reason(cause))
    for version in steps.ended:
        if version.uuid not in rekeyed:
            yield _gone(version, difference, cause)


def _gone(version: FactVersion, difference: Difference, cause: LogEntry) -> Change:
    """A version that nothing took the place of."""
    source, target = difference.identity.canonical(version.source), difference.identity.canonical(version.target)
    if source == target:
        return Change(ChangeKind.CORRECTED, "fact", version.uuid, version.text, "both its ends are one entity now")
    if (source, target) != (version.source, version.target):
        same = [v for v in difference.believed if v.relation == version.relation and {v.source, v.target} == {source, target}]
        if same:
            return Change(ChangeKind.MERGED, "fact", version.uuid, version.text, f"says the same as {same[0].text}")
    return Change(
        kind_of(version, None, cause), "fact", version.uuid, version.text, _reason(cause) or "no longer follows from what was said"
    )


def _replaced(before: FactVersion, after: FactVersion, difference: Difference, cause: LogEntry) -> Change:
    """A version that took another's place."""
    kind = kind_of(before, after, cause)
    return Change(kind, "fact", after.uuid, after.text, _why_replaced(kind, before, after, difference.believed))


def paired(ended: Iterable[FactVersion], added: Iterable[FactVersion]) -> list[tuple[FactVersion | None, FactVersion | None]]:
    """What ended of one fact with what took its place: by start, else in order of time; then what came anew, then what is gone."""
    steps = _steps(list(ended), list(added))
    return [*steps.replaced, *((None, version) for version in steps.added), *((version, None) for version in steps.ended)]


def kind_of(before: FactVersion | None, after: FactVersion | None, cause: LogEntry | None) -> ChangeKind:
    """What a step from one version of a fact to the next is called; `cause` is the entry of the log that led to it."""
    if before is None or after is None:
        if before is None:
            return ChangeKind.RESTORED if _is(cause, OperationKind.RESTORE) else ChangeKind.ADDED
        return _GONE.get(cause.kind, ChangeKind.CORRECTED) if isinstance(cause, Operation) else ChangeKind.CORRECTED
    if before.fact_id != after.fact_id:
        return _REKEYED.get(cause.kind, ChangeKind.CORRECTED) if isinstance(cause, Operation) else ChangeKind.MERGED
    old, new = before.valid, after.valid
    if new.end is not None and (old.end is None or new.end < old.end):
        return ChangeKind.ENDED
    if old.end is not None and new.end is None:
        return ChangeKind.REOPENED
    if old.end is not None and new.end is not None and new.end > old.end:
        return ChangeKind.EXTENDED
    if old.start is not None and (new.start is None or new.start < old.start):
        return ChangeKind.EXTENDED
    return ChangeKind.CORRECTED


def _why_replaced(kind: ChangeKind, before: FactVersion, after: FactVersion, believed: Sequence[FactVersion]) -> str:
    match kind:
        case ChangeKind.ENDED:
            return _why_ended(after, believed)
        case ChangeKind.REOPENED:
            return "nothing ends it any more"
        case ChangeKind.EXTENDED if after.valid.end != before.valid.end:
            return f"now until {_shown_end(after)}"
        case ChangeKind.EXTENDED:
            return f"now since {after.start.shown(after.valid.start) or 'unknown'}"
    return "a better statement of the same time"


def _why_ended(version: FactVersion, believed: Sequence[FactVersion]) -> str:
    """The fact that took its place, or the statement that ended it."""
    ends = {version.source, version.target}
    begun = [o for o in believed if o.fact_id != version.fact_id and o.valid.start == version.valid.end]
    of_both = (o for o in begun if {o.source, o.target} == ends)
    of_one = (o for o in begun if o.relation == version.relation and {o.source, o.target} & ends)
    other = next(chain(of_both, of_one), None)  # what else was said at the time ends nothing
    if other is not None:
        return f"ends where another begins: {other.text}"
    if version.end.origin is Origin.REFERENCE:
        return f"said to be over on {version.end.shown(version.valid.end)}"
    return f"said to have ended by {_shown_end(version)}"


def _shown_end(version: FactVersion) -> str:
    return version.end.shown(version.valid.end, is_end=True)


def _confirmed(difference: Difference, changed: set[str]) -> Iterator[Change]:
    """Facts that gained a citation and nothing else."""
    cited = {(c.fact_id, c.valid_at) for c in difference.cited if c.fact_id not in changed}
    for version in sorted(difference.believed, key=_order):
        if (version.fact_id, version.valid.start) in cited:
            yield Change(ChangeKind.CONFIRMED, "fact", version.uuid, version.text, "said again")


def _order(version: FactVersion) -> tuple[bool, str, str]:
    start = version.valid.start
    return (start is not None, start.isoformat() if start else "", version.uuid)


def _is(cause: LogEntry | None, kind: OperationKind) -> bool:
    return isinstance(cause, Operation) and cause.kind is kind


def _reason(cause: LogEntry) -> str:
    """Why an operation was done, as its author said; nothing for an episode."""
    return (cause.reason or cause.kind.value) if isinstance(cause, Operation) else ""
