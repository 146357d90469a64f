"""What a write changed, in the one vocabulary, each line with the reason."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain, zip_longest

from graphmem import names
from graphmem.belief.deeds import Deed
from graphmem.belief.entities import EntityState
from graphmem.belief.identity import Identity
from graphmem.interval import Origin
from graphmem.model import Change, ChangeKind, CitationVersion, EntityVersion, Episode, FactVersion, Operation

_SHOWN = 100
Pair = tuple[FactVersion | None, FactVersion | None]
"""What was, and what took its place; None: nothing."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Fact versions that ended and began, citations that began and that ended, every version believed now in the units touched, and
    who is who.
    """

    ended: Sequence[FactVersion]
    added: Sequence[FactVersion]
    cited: Sequence[CitationVersion]
    believed: Sequence[FactVersion]
    identity: Identity = field(default_factory=Identity)
    uncited: Sequence[CitationVersion] = ()


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
    before: Mapping[str, EntityVersion], after: Mapping[str, EntityState | None], moves: Moves, deed: Deed
) -> list[Change]:
    """Entities that came, those that went, and, where an operation did it, those that are called otherwise."""
    was, now = {i: v.name for i, v in before.items()}, {i: s.name for i, s in after.items() if s is not None}
    changes: list[Change] = []
    for entity, state in after.items():
        if state is not None and entity not in before:
            other = was.get(moves.out_of.get(entity, ""))
            reason = "" if other is None else f"was one with {other}" if deed.undone else f"taken out of {other}"
            changes.append(Change(deed.entity_came(), "entity", entity, state.name, reason))
    for entity, version in before.items():
        if entity in after and after[entity] is None:
            other = now.get(moves.into.get(entity, ""))
            changes.append(Change(deed.entity_went(), "entity", entity, version.name, "" if other is None else f"is one with {other}"))
    if deed.act is not None:
        stayed = [(i, s, before[i]) for i, s in after.items() if s is not None and i in before]
        changes += [c for entity, state, version in stayed for c in _renamed(entity, state, version, moves)]
    return changes


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


def describe(difference: Difference, deed: Deed) -> tuple[Change, ...]:
    """The changes, by fact id, then valid start."""
    by_fact: dict[str, tuple[list[FactVersion], list[FactVersion]]] = defaultdict(lambda: ([], []))
    for version in difference.ended:
        by_fact[version.fact_id][0].append(version)
    for version in difference.added:
        by_fact[version.fact_id][1].append(version)
    pairs = [pair for fact in sorted(by_fact) for pair in paired(*by_fact[fact])]
    changes = [_told(*pair, difference, deed) for pair in across(pairs, difference.uncited, difference.cited)]
    return (*changes, *_confirmed(difference, set(by_fact)))


def across(pairs: Sequence[Pair], ended: Iterable[CitationVersion], begun: Iterable[CitationVersion]) -> list[Pair]:
    """The pairs, with what went of one fact and what came of another made one: where a statement that the one rested on is one that
    the other rests on, or else where both say the same at the same time of other entities.
    """
    went = sorted((before for before, after in pairs if before is not None and after is None), key=_order)
    came = sorted((after for before, after in pairs if before is None and after is not None), key=_order)
    if not went or not came:
        return list(pairs)
    rested, rests = _statements(ended), _statements(begun)
    partner: dict[str, FactVersion] = {}

    def match(keys_of: Callable[[FactVersion, bool], Iterable[object]]) -> None:
        """Make pairs of those with a key in common; the keys of a version as what went (True) or as what came."""
        free: dict[object, list[FactVersion]] = defaultdict(list)
        for before in (v for v in went if v.uuid not in partner):
            for key in keys_of(before, True):
                free[key].append(before)
        for after in (v for v in came if v.uuid not in partner):
            found = (v for key in keys_of(after, False) for v in free[key] if v.uuid not in partner and v.fact_id != after.fact_id)
            if (was := next(found, None)) is not None:
                partner[was.uuid], partner[after.uuid] = after, was

    match(lambda v, gone: sorted((rested if gone else rests)[v.fact_id, v.valid.start]))
    match(lambda v, gone: [(v.relation, v.text, v.valid.start)])
    told = ((partner.get(after.uuid), after) if before is None and after is not None else (before, after) for before, after in pairs)
    return [(before, after) for before, after in told if after is not None or (before is not None and before.uuid not in partner)]


def _statements(cited: Iterable[CitationVersion]) -> Mapping[tuple[str, datetime | None], set[str]]:
    """Fact and valid start → the statements cited."""
    found: dict[tuple[str, datetime | None], set[str]] = defaultdict(set)
    for c in cited:
        found[c.fact_id, c.valid_at].add(c.by)
    return found


def _told(before: FactVersion | None, after: FactVersion | None, difference: Difference, deed: Deed) -> Change:
    """One pair as a change, with its reason."""
    kind = kind_of(before, after, deed)
    if after is None:
        assert before is not None
        return _gone(kind, before, difference, deed)
    if before is not None and before.fact_id == after.fact_id:
        reason = _reason(deed) if deed.act is not deed.entry and kind is ChangeKind.CORRECTED else ""
        return Change(kind, "fact", after.uuid, after.text, reason or _why_replaced(kind, before, after, difference.believed))
    was = f"was: {before.text}" if before is not None and before.text != after.text else ""
    given = deed.entry.reason if isinstance(deed.entry, Operation) and deed.entry.reason else ""
    return Change(kind, "fact", after.uuid, after.text, "; ".join(filter(None, (was, given))) or _reason(deed))


def _gone(kind: ChangeKind, version: FactVersion, difference: Difference, deed: Deed) -> Change:
    """A version that nothing took the place of."""
    source, target = difference.identity.canonical(version.source), difference.identity.canonical(version.target)
    reason = _reason(deed) or "no longer follows from what was said"
    if source == target:
        reason = "both its ends are one entity now"
    elif (source, target) != (version.source, version.target):
        same = [v for v in difference.believed if v.relation == version.relation and {v.source, v.target} == {source, target}]
        reason = f"says the same as {same[0].text}" if same else reason
    return Change(kind, "fact", version.uuid, version.text, reason)


def paired(ended: Iterable[FactVersion], added: Iterable[FactVersion]) -> list[Pair]:
    """What ended of one fact with what took its place: by start, else in order of time; then what came anew, then what is gone."""
    starts = {v.valid.start: v for v in ended}
    replaced: list[Pair] = []
    rest_added = []
    for version in sorted(added, key=_order):
        before = starts.pop(version.valid.start, None)
        if before is not None:
            replaced.append((before, version))
        else:
            rest_added.append(version)
    rest_ended = sorted(starts.values(), key=_order)
    return [*replaced, *zip_longest(rest_ended, rest_added)]


def kind_of(before: FactVersion | None, after: FactVersion | None, deed: Deed | None) -> ChangeKind:
    """What a step from one version of a fact to the next is called; `deed` is what the entry of the log that led to it comes down to."""
    if before is None:
        return ChangeKind.ADDED if deed is None else deed.came()
    if after is None:
        return ChangeKind.CORRECTED if deed is None else deed.went(before)
    if before.fact_id != after.fact_id:
        return ChangeKind.CORRECTED if deed is None else deed.rekeyed()
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


def _reason(deed: Deed) -> str:
    """Why an operation was done, as its author said; nothing for an episode."""
    if deed.act is None or not isinstance(deed.entry, Operation):
        return ""
    return deed.entry.reason or deed.words(deed.act.kind.value)
