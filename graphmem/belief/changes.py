"""What a write changed, in the one vocabulary, each line with the reason."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from graphmem.interval import Origin
from graphmem.model import Change, ChangeKind, CitationVersion, FactVersion, LogEntry, Operation, OperationKind


@dataclass(frozen=True, slots=True)
class Difference:
    """Fact versions that ended and began, citations that began, and every version believed now in the units touched."""

    ended: Sequence[FactVersion]
    added: Sequence[FactVersion]
    cited: Sequence[CitationVersion]
    believed: Sequence[FactVersion]


def describe(difference: Difference, cause: LogEntry) -> tuple[Change, ...]:
    """The changes, by fact id, then valid start."""
    by_fact: dict[str, tuple[list[FactVersion], list[FactVersion]]] = defaultdict(lambda: ([], []))
    for version in difference.ended:
        by_fact[version.fact_id][0].append(version)
    for version in difference.added:
        by_fact[version.fact_id][1].append(version)
    changes = [c for fact in sorted(by_fact) for c in _of_fact(*by_fact[fact], difference.believed, cause)]
    return (*changes, *_confirmed(difference, set(by_fact)))


def _of_fact(ended: list[FactVersion], added: list[FactVersion], believed: Sequence[FactVersion], cause: LogEntry) -> Iterator[Change]:
    """Pair what ended with what took its place: by start, else in order of time."""
    starts = {v.valid.start: v for v in ended}
    rest_added = []
    for version in sorted(added, key=_order):
        before = starts.pop(version.valid.start, None)
        if before is not None:
            yield _replaced(before, version, believed)
        else:
            rest_added.append(version)
    rest_ended = sorted(starts.values(), key=_order)
    for before, version in zip(rest_ended, rest_added, strict=False):
        yield _replaced(before, version, believed)
    paired = min(len(rest_ended), len(rest_added))
    for version in rest_added[paired:]:
        kind = ChangeKind.RESTORED if _is(cause, OperationKind.RESTORE) else ChangeKind.ADDED
        yield Change(kind, "fact", version.uuid, version.text, _reason(cause))
    for version in rest_ended[paired:]:
        kind = ChangeKind.FORGOTTEN if _is(cause, OperationKind.FORGET) else ChangeKind.CORRECTED
        yield Change(kind, "fact", version.uuid, version.text, _reason(cause) or "no longer follows from what was said")


def _replaced(before: FactVersion, after: FactVersion, believed: Sequence[FactVersion]) -> Change:
    """What the step from one version to the next is called."""
    old, new = before.valid, after.valid
    if new.end is not None and (old.end is None or new.end < old.end):
        return Change(ChangeKind.ENDED, "fact", after.uuid, after.text, _why_ended(after, believed))
    if old.end is not None and new.end is None:
        return Change(ChangeKind.REOPENED, "fact", after.uuid, after.text, "nothing ends it any more")
    if old.end is not None and new.end is not None and new.end > old.end:
        return Change(ChangeKind.EXTENDED, "fact", after.uuid, after.text, f"now until {_shown_end(after)}")
    if old.start is not None and (new.start is None or new.start < old.start):
        return Change(ChangeKind.EXTENDED, "fact", after.uuid, after.text, f"now since {after.start.shown(new.start) or 'unknown'}")
    return Change(ChangeKind.CORRECTED, "fact", after.uuid, after.text, "a better statement of the same time")


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


def _is(cause: LogEntry, kind: OperationKind) -> bool:
    return isinstance(cause, Operation) and cause.kind is kind


def _reason(cause: LogEntry) -> str:
    """Why an operation was done, as its author said; nothing for an episode."""
    return (cause.reason or cause.kind.value) if isinstance(cause, Operation) else ""
