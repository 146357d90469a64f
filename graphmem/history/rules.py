"""Why a version changed: the rule of time, the decision or the act that led from one version to the next, in words.

Nothing of this is kept: it is told from what was said in the entry that made the change, and from the versions themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from graphmem.belief.deeds import Deed
from graphmem.history.story import Story
from graphmem.ingest.judge import decider
from graphmem.interval import Origin, Precision
from graphmem.model import Assertion, AssertionKind, Bound, ChangeKind, EpisodeRecord, FactVersion, Operation, OperationKind
from graphmem.runtime import MICROSECOND
from graphmem.shown import shorten

DONE = {
    OperationKind.FORGET: "forgotten",
    OperationKind.RESTORE: "restored",
    OperationKind.CORRECT: "corrected by hand",
    OperationKind.END: "ended by hand",
    OperationKind.CONFIRM: "confirmed by hand",
    OperationKind.MERGE: "merged",
    OperationKind.DISTINCT: "told apart",
    OperationKind.SPLIT: "split",
    OperationKind.RENAME: "renamed",
    OperationKind.ALIAS: "given another name",
    OperationKind.ERASE: "erased",
    OperationKind.ERASED: "erased",
    OperationKind.ONTOLOGY: "another ontology",
    OperationKind.COMMUNITIES: "communities were built",
}
_BY_HAND = (OperationKind.CORRECT, OperationKind.END, OperationKind.CONFIRM)
_NATURAL = {
    OperationKind.FORGET: (ChangeKind.FORGOTTEN,),
    OperationKind.CORRECT: (ChangeKind.CORRECTED, ChangeKind.ENDED, ChangeKind.EXTENDED, ChangeKind.REOPENED, ChangeKind.ADDED),
    OperationKind.END: (ChangeKind.ENDED,),
    OperationKind.CONFIRM: (ChangeKind.CONFIRMED, ChangeKind.ADDED, ChangeKind.EXTENDED),
    OperationKind.MERGE: (ChangeKind.MERGED,),
    OperationKind.SPLIT: (ChangeKind.SPLIT,),
    OperationKind.DISTINCT: (ChangeKind.SPLIT,),
    OperationKind.ERASE: (ChangeKind.ERASED,),
}
"""The changes that an operation is about; others follow from it."""


@dataclass(frozen=True, slots=True)
class Step:
    """One change of a fact at one system instant."""

    at: datetime
    kind: ChangeKind
    before: FactVersion | None
    after: FactVersion | None

    @property
    def version(self) -> FactVersion:
        """What it is about: as it is, else as it was."""
        found = self.after if self.after is not None else self.before
        assert found is not None
        return found


@dataclass(frozen=True, slots=True)
class Told:
    """The rule in words, and the statements it rests on, the telling one first."""

    rule: str
    about: Sequence[Assertion] = ()


def told(story: Story, step: Step) -> Told:
    """The rule that made a step, and what was said to that effect."""
    entry = story.entries.get(step.at)
    if entry is None:
        return Told("its entry of the log is gone")
    if isinstance(entry, Operation):
        return Told(_by_operation(story, step, story.deeds[step.at]))
    own = story.about(entry, step.version)
    denials = [a for a in own if a.kind is AssertionKind.DENIES]
    if step.kind is ChangeKind.MERGED:
        return Told(_linked(story, step, entry), own)
    match step.kind:
        case ChangeKind.ADDED | ChangeKind.RESTORED:
            return _added(story, step, entry, own)
        case ChangeKind.CONFIRMED:
            return Told(_repeated(story, own) or "said again", own)
        case ChangeKind.ENDED:
            return ended(story, step.version, step.at, own, entry)
        case ChangeKind.REOPENED:
            return _reopened(story, step, entry, own)
        case ChangeKind.EXTENDED:
            return _extended(story, step, entry, own)
    if step.after is None and denials:
        return Told("denied", denials)
    return _gone(story, step, entry, own) if step.after is None else _restated(story, step, entry, own)


# ------------------------------------------------------------------------------------------------ operations


def _by_operation(story: Story, step: Step, deed: Deed) -> str:
    assert deed.act is not None
    done, natural = done_words(deed), _NATURAL.get(deed.act.kind, ())
    if deed.act.kind in (OperationKind.MERGE, OperationKind.DISTINCT):
        done = f"{done}: {' and '.join(story.name(t) for t in deed.act.targets)}"
    if step.kind in natural or (deed.undone and (step.kind is ChangeKind.RESTORED or deed.act.kind in _BY_HAND)):
        return done
    if deed.kind is OperationKind.FORGET and not deed.again:
        what = {ChangeKind.REOPENED: "what ended it", ChangeKind.ADDED: "what stood against it"}.get(step.kind, "what it rested on")
        return f"{what} was {done}"
    return f"follows: {done}"


def done_words(deed: Deed) -> str:
    """What an operation did, and by whom: "undone by bob: merged by ana"; nothing for an episode."""
    if deed.act is None or not isinstance(deed.entry, Operation):
        return ""
    done = DONE.get(deed.act.kind, deed.act.kind.value) + _by(deed.act)
    return done if deed.act is deed.entry else deed.words(done, _by(deed.entry))


def _by(operation: Operation) -> str:
    return f" by {operation.author}" if operation.author else ""


# ------------------------------------------------------------------------------------------------ what was said


def _added(story: Story, step: Step, entry: EpisodeRecord, own: Sequence[Assertion]) -> Told:
    version = step.version
    if not own:
        return Told("what stood against it does no more")
    start, until = version.valid.start, _until(story, version, step.at)
    if start is None:
        return Told("said to be over; when it began is unknown" + until, own)
    if start > entry.episode.reference_time:
        said = f"planned for {shown(start, version.start)}"
    elif version.start.origin is Origin.REFERENCE:
        said = f"seen on {shown(start, version.start)}"
    elif version.start.origin is Origin.USER:
        said = f"given: since {shown(start, version.start)}"
    else:
        said = f"said to hold since {shown(start, version.start)}"
    repeats = _repeated(story, own)
    return Told(said + until + (f"; {repeats}" if repeats else ""), own)


def _until(story: Story, version: FactVersion, at: datetime) -> str:
    """What already ends a version when it comes."""
    if version.valid.end is None:
        return ""
    other = story.begun_at(version, version.valid.end, at)
    end = shown(version.valid.end, version.end, is_end=True)
    return f", until {story.other_end(other, version)} from {_since(other)}" if other is not None else f", until {end}"


def ended(story: Story, version: FactVersion, at: datetime | None, own: Sequence[Assertion], entry: EpisodeRecord | None = None) -> Told:
    """The fact that took its place, by its relation or by a judgement; else the statement that it ended."""
    other = story.begun_at(version, version.valid.end, at)
    if other is None:
        over = [a for a in own if a.kind is AssertionKind.ENDS or a.end is not None]
        end = shown(version.valid.end, version.end, is_end=True)
        return Told(f"said to be over on {end}" if version.end.origin is Origin.REFERENCE else f"said to have ended by {end}", over or own)
    said = story.about(entry, other) if entry is not None else story.behind(other, at)
    if story.is_single_valued(version, other):
        one, new = story.other_end(version, other), story.other_end(other, version)
        return Told(f"a single-valued relation: {new} from {_since(other)} ends {one}", said or own)
    by = _decider(story, version, other, at)
    return Told(f"judged contradictory by {by}: {shorten(other.text, 80)}", said or own)


def _decider(story: Story, one: FactVersion, other: FactVersion, at: datetime | None) -> str:
    """Who judged that two versions contradict each other."""
    sides = [{a.id: a for a in story.behind(v, at)} for v in (one, other)]
    for judging, judged in (sides, sides[::-1]):
        for assertion in judging.values():
            for named in judged.keys() & set(assertion.excludes):
                return decider(assertion, judged[named], story.ontology)
    return "the model"


def _reopened(story: Story, step: Step, entry: EpisodeRecord, own: Sequence[Assertion]) -> Told:
    before = step.before
    gone = story.begun_at(before, before.valid.end, _just_before(step.at)) if before is not None else None
    if gone is not None and (said := story.about(entry, gone)):
        if any(a.kind is AssertionKind.DENIES for a in said):
            return Told(f"denied what ended it: {shorten(gone.text, 80)}", said)
        if any(a.kind is AssertionKind.ENDS for a in said):
            return Told(f"plan cancelled: {shorten(gone.text, 80)}", said)
        return Told(f"what ended it begins at another time: {shorten(gone.text, 80)}", said)
    if any(a.kind is AssertionKind.DENIES for a in own):
        return Told("denied that it ended", own)
    return Told("said to hold again" if own else "nothing ends it any more", own)


def _extended(story: Story, step: Step, entry: EpisodeRecord, own: Sequence[Assertion]) -> Told:
    before, after = step.before, step.after
    assert before is not None
    assert after is not None
    if after.valid.end != before.valid.end:
        other = story.begun_at(after, after.valid.end, step.at)
        if other is not None and (said := story.about(entry, other)):
            return Told(f"{story.other_end(other, after)} begins later, {_since(other)}: plan moved", said)
        return Told(f"said to hold until {shown(after.valid.end, after.end, is_end=True)}", own)
    start = shown(after.valid.start, after.start)
    if not own:
        return Told(f"what stood before it does no more: since {start or 'unknown'}")
    return Told(f"said to hold since {start}" if start else "said to have begun earlier; when is unknown", own)


def _gone(story: Story, step: Step, entry: EpisodeRecord, own: Sequence[Assertion]) -> Told:
    version = step.version
    start = version.valid.start
    if start is not None and start > entry.episode.reference_time and any(a.kind is AssertionKind.ENDS for a in own):
        return Told("plan cancelled", own)
    other = story.begun_at(version, start, step.at)
    if other is not None:
        name = story.other_end(other, version)
        return Told(f"said later of the same time: {name} instead of {story.other_end(version, other)}", story.about(entry, other) or own)
    if entry.links:
        return Told(_linked(story, step, entry), own)
    return Told("no longer follows from what was said", own)


def _restated(story: Story, step: Step, entry: EpisodeRecord, own: Sequence[Assertion]) -> Told:
    before, after = step.before, step.after
    assert before is not None
    assert after is not None
    old, new = shown(before.valid.start, before.start), shown(after.valid.start, after.start)
    denials = [a for a in own if a.kind is AssertionKind.DENIES]
    if before.valid.start != after.valid.start:
        now = entry.episode.reference_time
        if denials:
            return Told(f"denied for {old or 'before'}, said for {new}", denials)
        if after.start.origin is Origin.USER:
            return Told(f"given: since {new}", own)
        if before.valid.start is not None and after.valid.start is not None and now < before.valid.start < after.valid.start:
            return Told(f"plan moved from {old} to {new}", own)
        if new.startswith(old) and before.start.precision is not after.start.precision:
            return Told(f"a finer date: {new} for {old}", own)
        return Told(f"begins {new or 'at an unknown time'}, not {old}", own)
    if before.text != after.text:
        return Told("its first statement is another one", own)
    if before.attributes != after.attributes:
        return Told("says more of it: " + ", ".join(k for k, v in after.attributes.items() if before.attributes.get(k) != v), own)
    return Told("its dates are known otherwise", own)


def _linked(story: Story, step: Step, entry: EpisodeRecord) -> str:
    """Whom of those that a fact joins the episode says to be one."""
    ends = {e for v in (step.before, step.after) if v is not None for e in (v.source, v.target)}
    pairs = [pair for pair in entry.links if ends & {*pair}] or entry.links
    said = dict.fromkeys(are_one([story.called(entry, e) for e in pair]) for pair in pairs)
    return "; ".join(said) or "what it is about is another thing now"


def are_one(called: Sequence[str]) -> str:
    """That those who are called so are one."""
    different = list(dict.fromkeys(called))
    return f"{' and '.join(different)} are one" if len(different) > 1 else f"two of the name {different[0]} are one"


def _repeated(story: Story, own: Sequence[Assertion]) -> str:
    """The decision that a statement repeats an earlier one."""
    for assertion in own:
        earlier = story.assertions.get(assertion.same_as or "")
        if earlier is not None:
            return f"taken for a repeat by {decider(assertion, earlier, story.ontology)}: {shorten(earlier.text, 80)}"
    return ""


def shown(moment: datetime | None, bound: Bound, *, is_end: bool = False) -> str:
    """A start or end as precisely as it was given; of an instant at midnight, the day."""
    said = bound.shown(moment, is_end=is_end)
    return said.removesuffix("T00:00:00+00:00") if bound.precision is Precision.INSTANT else said


def _since(version: FactVersion) -> str:
    return shown(version.valid.start, version.start) or "an unknown time"


def _just_before(at: datetime) -> datetime:
    return at - MICROSECOND
