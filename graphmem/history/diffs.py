"""The difference between two states: of what was believed at two system instants, and of what holds at two valid ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from graphmem.belief.changes import Pair, across, kind_of, paired
from graphmem.history.lines import Line, line_order
from graphmem.history.people import entity_lines
from graphmem.history.rules import Step, Told, ended, shown, told
from graphmem.history.story import Story, cause_of, load_story
from graphmem.interval import FIRST, Origin
from graphmem.model import (
    AsOf,
    Assertion,
    ChangeKind,
    CitationVersion,
    FactMatch,
    FactVersion,
)
from graphmem.ontology import Ontology
from graphmem.results import FactItem
from graphmem.stores.base import Reader
from graphmem.stores.changes import Stretch
from graphmem.stores.matching import fact_matches


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which changes: of facts at one of these entities, of these relations; None: all."""

    entities: tuple[str, ...] | None = None
    relations: tuple[str, ...] | None = None

    @property
    def match(self) -> FactMatch:
        return FactMatch(entities=self.entities, relations=self.relations)


# ------------------------------------------------------------------------------------------------ system time


def system_lines(reader: Reader, group: str, ontology: Ontology, stretch: Stretch, wanted: Wanted) -> list[Line]:
    """What the memory believed at the end of the stretch and not at its beginning, and the other way round."""
    versions = reader.facts_changed(group, stretch, wanted.match)
    cited = _newly_cited(reader, group, stretch, wanted, {v.fact_id for v in versions})
    people = reader.entities_changed(group, stretch, wanted.entities) if wanted.relations is None else []
    systems = [*(v.system for v in versions), *(v.system for v in people)]
    instants = [m for system in systems for m in (system.start, system.end) if m is not None and stretch.has(m)]
    instants += [c.system.start for _, c in cited if c.system.start is not None]
    story = load_story(reader, group, ontology, (*versions, *(v for v, _ in cited)), instants, (v.id for v in people), stretch.until)
    lines = _net(story, [v for v in versions if v.fact_id in story.versions], stretch)
    for version, citation in cited:
        assert citation.system.start is not None
        step = Step(citation.system.start, ChangeKind.CONFIRMED, version, version)
        lines.append(_line(story, step, stretch.until))
    lines += entity_lines(story, people, stretch)
    return lines


def all_steps(story: Story, stretch: Stretch) -> list[Line]:
    """Every change of the story's facts in the stretch, one by one, in order."""
    return sorted((_line(story, step, step.at) for step in _steps(story, stretch)), key=line_order)


def _newly_cited(
    reader: Reader, group: str, stretch: Stretch, wanted: Wanted, changed: set[str]
) -> list[tuple[FactVersion, CitationVersion]]:
    """Versions that are as they were but rest on more: with the first citation that is new."""
    begun: dict[tuple[str, datetime | None], CitationVersion] = {}
    for c in reader.citations_changed(group, stretch):
        if c.fact_id not in changed and stretch.has(c.system.start) and not stretch.has(c.system.end):
            known = begun.get((c.fact_id, c.valid_at))
            if known is None or (c.system.start or FIRST) < (known.system.start or FIRST):
                begun[c.fact_id, c.valid_at] = c
    ids = tuple(sorted({fact for fact, _ in begun}))
    found = reader.facts([group], AsOf(None, stretch.until), FactMatch(fact_ids=ids)) if ids else []
    return [(v, begun[v.fact_id, v.valid.start]) for v in found if (v.fact_id, v.valid.start) in begun and fact_matches(v, wanted.match)]


def _steps(story: Story, stretch: Stretch) -> list[Step]:
    """The changes of the story's facts in the stretch, by instant."""
    begun: dict[tuple[datetime, str], list[FactVersion]] = defaultdict(list)
    over: dict[tuple[datetime, str], list[FactVersion]] = defaultdict(list)
    for version in (v for of_fact in story.versions.values() for v in of_fact):
        for moment, changed in ((version.system.start, begun), (version.system.end, over)):
            if moment is not None and stretch.has(moment):
                changed[moment, version.fact_id].append(version)
    by_instant: dict[datetime, list[Pair]] = defaultdict(list)
    for place in sorted({*begun, *over}):
        by_instant[place[0]] += paired(over[place], begun[place])
    ended, cited = _citations_by_instant(story)
    return [
        Step(at, kind_of(*pair, story.deeds.get(at)), *pair)
        for at, pairs in by_instant.items()
        for pair in across(pairs, ended[at], cited[at])
        if any(version is not None and version.fact_id in story.asked for version in pair)
    ]


def _citations_by_instant(story: Story) -> tuple[Mapping[datetime, list[CitationVersion]], Mapping[datetime, list[CitationVersion]]]:
    """The citations that ended at each instant, and those that began."""
    ended: dict[datetime, list[CitationVersion]] = defaultdict(list)
    begun: dict[datetime, list[CitationVersion]] = defaultdict(list)
    for citation in (c for of_fact in story.citations.values() for c in of_fact):
        for moment, changed in ((citation.system.start, begun), (citation.system.end, ended)):
            if moment is not None:
                changed[moment].append(citation)
    return ended, begun


def _net(story: Story, versions: Sequence[FactVersion], stretch: Stretch) -> list[Line]:
    """What is left of the changes from one end of the stretch to the other."""
    steps = _steps(story, stretch)
    by_after = {s.after.uuid: s for s in steps if s.after is not None}
    by_before = {s.before.uuid: s for s in steps if s.before is not None}
    held = {v.uuid: v for v in versions if stretch.has(v.system.end) and not stretch.has(v.system.start)}
    found: list[tuple[FactVersion | None, FactVersion | None, list[Step]]] = []
    came: list[tuple[FactVersion, list[Step]]] = []
    for after in (v for v in versions if stretch.has(v.system.start) and not stretch.has(v.system.end)):
        path = _back(after, by_after)
        before = path[0].before
        if before is None:
            came.append((after, path))
        else:
            found.append((held.pop(before.uuid), after, path))
    paths = {v.uuid: path for v, path in came}
    by_fact = {v.fact_id for v in held.values()} | {v.fact_id for v, _ in came}
    for fact in sorted(by_fact):  # what was gone for a while is not new
        of_fact = [v for v in held.values() if v.fact_id == fact], [v for v, _ in came if v.fact_id == fact]
        for was, now in paired(*of_fact):
            path = paths[now.uuid] if now is not None else _forth(was, by_before) if was is not None else []
            found.append((was, now, path))
    changed = [f for f in found if f[0] is None or f[1] is None or _content(f[0]) != _content(f[1])]
    return [_net_line(story, before, after, path, stretch) for before, after, path in changed]


def _net_line(story: Story, before: FactVersion | None, after: FactVersion | None, path: Sequence[Step], stretch: Stretch) -> Line:
    """One line for all the steps of a path; its rule and cause are those of the step that is called as the whole is."""
    kind = kind_of(before, after, story.deeds.get(path[-1].at))
    deciding = next((n for n in range(len(path) - 1, -1, -1) if path[n].kind is kind), 0 if before is None else len(path) - 1)
    lines = [_line(story, step, step.at) for step in path]
    rules = dict.fromkeys(line.rule for line in lines[deciding:])
    return replace(
        lines[deciding],
        kind=kind,
        before=None if before is None else story.fact(before, stretch.since),
        after=None if after is None else story.fact(after, stretch.until),
        rule="; then ".join(rules),
        steps=tuple(lines) if len(lines) > 1 else (),
    )


def _back(after: FactVersion, by_after: Mapping[str, Step]) -> list[Step]:
    """The steps that led to a version, in order, as far as they are known."""
    path = [by_after[after.uuid]]
    while (before := path[0].before) is not None and before.uuid in by_after:
        path.insert(0, by_after[before.uuid])
    return path


def _forth(before: FactVersion, by_before: Mapping[str, Step]) -> list[Step]:
    """The steps that a version went through, in order."""
    path = [by_before[before.uuid]]
    while (after := path[-1].after) is not None and after.uuid in by_before:
        path.append(by_before[after.uuid])
    return path


def _line(story: Story, step: Step, until: datetime | None) -> Line:
    said = told(story, step)
    before = None if step.before is None else story.fact(step.before, _last_believed(step.before, step.at))
    after = None if step.after is None else story.fact(step.after, until)
    return Line(step.kind, step.at, before, after, said.rule, story.cause(step.at, said.about))


def _last_believed(version: FactVersion, at: datetime) -> datetime | None:
    """An instant at which a version was believed that a step at `at` replaced; the step's own for one that goes on."""
    return version.system.start if version.system.end == at else at


def _content(version: FactVersion) -> tuple[object, ...]:
    """What makes two versions the same belief; ids do not."""
    attributes = tuple(sorted((k, repr(v)) for k, v in version.attributes.items()))
    return (version.relation, version.source, version.target, version.text, version.valid, version.start, version.end, attributes)


# ------------------------------------------------------------------------------------------------ valid time


def valid_lines(reader: Reader, group: str, ontology: Ontology, stretch: Stretch, system: datetime | None, wanted: Wanted) -> list[Line]:
    """What began and what ended in the world in a stretch of valid time, as believed at `system`."""
    versions = reader.facts_turning(group, system, stretch, wanted.match)
    story = load_story(reader, group, ontology, versions, (), at=system)
    facts = tuple(sorted(story.versions))
    every = reader.facts([group], AsOf(None, system), FactMatch(fact_ids=facts)) if facts else []
    over: dict[str, list[datetime]] = defaultdict(list)
    for version in every:
        if version.valid.end is not None:
            over[version.fact_id].append(version.valid.end)
    lines = []
    for version in versions:
        behind = story.behind(version, system)
        item = story.fact(version, system)
        start, end = version.valid.start, version.valid.end
        if start is not None and stretch.has(start):
            again = any(before <= start for before in over[version.fact_id])
            kind = ChangeKind.REOPENED if again else ChangeKind.ADDED
            lines.append(_turn(story, kind, start, item, _began(story, version, behind)))
        if end is not None and stretch.has(end):
            lines.append(_turn(story, ChangeKind.ENDED, end, item, ended(story, version, system, _ending(version, behind))))
    return lines


def _turn(story: Story, kind: ChangeKind, at: datetime, item: FactItem, said: Told) -> Line:
    first = said.about[0] if said.about else None
    record = story.records.get(first.episode) if first is not None else None
    cause = cause_of(record, said.about) if record is not None else None
    return Line(kind, at, None if kind is not ChangeKind.ENDED else item, item, said.rule, cause)


def _began(story: Story, version: FactVersion, behind: Sequence[Assertion]) -> Told:
    start = version.valid.start
    said = [a for a in behind if a.start is not None and a.start.first == start] or [a for a in behind if story.said_at(a) == start]
    day = shown(start, version.start)
    if version.start.origin is Origin.REFERENCE:
        return Told(f"seen on {day}", said or behind)
    if version.start.origin is Origin.UNKNOWN:
        return Told(f"nothing else holds from {day} on", said or behind)
    return Told(("given" if version.start.origin is Origin.USER else "said") + f" to hold since {day}", said or behind)


def _ending(version: FactVersion, behind: Iterable[Assertion]) -> list[Assertion]:
    """Of the statements behind a version those that say its end."""
    return [a for a in behind if a.end is not None and a.end.last == version.valid.end] or list(behind)[-1:]
