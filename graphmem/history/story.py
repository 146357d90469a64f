"""What a group's store knows of some fact versions: who cites them, what those statements say, and which entries of the log changed them.

Everything is read at once, for all versions that are to be told of; nothing here asks the store for each.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from graphmem.belief.deeds import Deed
from graphmem.belief.slices import undone_by
from graphmem.entries import recorded_at
from graphmem.history.lines import Cause
from graphmem.interval import FIRST
from graphmem.model import (
    AsOf,
    Assertion,
    CitationVersion,
    EntityMatch,
    EntityVersion,
    EpisodeRecord,
    FactKey,
    FactMatch,
    FactVersion,
    LogEntry,
    Operation,
)
from graphmem.ontology import Ontology
from graphmem.results import EntityItem, FactItem
from graphmem.runtime import MICROSECOND
from graphmem.stores.base import Reader
from graphmem.stores.changes import Stretch
from graphmem.stores.matching import believed

EVER = Stretch()


@dataclass
class Story:
    """Some fact versions of a group with everything that explains them; `asked` are the facts that are to be told of."""

    group: str
    ontology: Ontology
    versions: Mapping[str, Sequence[FactVersion]]
    citations: Mapping[str, Sequence[CitationVersion]]
    entries: Mapping[datetime, LogEntry]
    records: Mapping[str, EpisodeRecord]
    assertions: Mapping[str, Assertion]
    operations: Mapping[str, Operation]
    spoken: Mapping[str, str | None]
    names: Mapping[str, str]
    rivals: dict[str, list[FactVersion]] = field(default_factory=dict)
    deeds: Mapping[datetime, Deed] = field(default_factory=dict)
    asked: frozenset[str] = frozenset()

    # -- what is behind a version

    def behind(self, version: FactVersion, at: datetime | None) -> list[Assertion]:
        """The assertions that a version rests on, as believed at `at` (None: the last instant), in said order."""
        cited = (c for c in self.citations.get(version.fact_id, ()) if c.valid_at == version.valid.start and believed(c.system, at))
        found = {c.by: self.assertions[c.by] for c in cited if c.by in self.assertions}
        return sorted(found.values(), key=lambda a: (self.said_at(a), a.position))

    def sources(self, version: FactVersion, at: datetime | None) -> tuple[str, ...]:
        """The episodes that a version cites, as believed at `at`."""
        cited = (c for c in self.citations.get(version.fact_id, ()) if c.valid_at == version.valid.start and believed(c.system, at))
        return tuple(sorted({c.episode for c in cited}))

    def said_at(self, assertion: Assertion) -> datetime:
        """The reference time of the assertion's episode."""
        record = self.records.get(assertion.episode)
        return record.episode.reference_time if record is not None else FIRST

    def about(self, entry: EpisodeRecord, version: FactVersion) -> list[Assertion]:
        """What an episode says of a version's fact."""
        cited = {c.by for c in self.citations.get(version.fact_id, ())}
        triple = self.ontology.triple(version.relation, version.source, version.target)
        return [
            a
            for a in entry.assertions
            if a.id in cited or self.spoken.get(a.id) == version.fact_id or self.ontology.triple(a.relation, a.source, a.target) == triple
        ]

    # -- what stands against it

    def begun_at(self, version: FactVersion, moment: datetime | None, at: datetime | None) -> FactVersion | None:
        """A version believed at `at` that begins at the valid instant `moment` and excludes the given one."""
        if moment is None:
            return None
        found = [o for o in self.rivals.get(version.fact_id, ()) if o.valid.start == moment and believed(o.system, at)]
        return min(found, key=lambda o: o.uuid, default=None)

    def is_single_valued(self, one: FactVersion, other: FactVersion) -> bool:
        """Whether the two exclude each other because their relation takes one value at a time."""
        slots, others = (self.ontology.slots(FactKey(v.relation, v.source, v.target)) for v in (one, other))
        return not set(slots).isdisjoint(others)

    def name(self, entity: str) -> str:
        """The entity's name at the instant that the story is told from."""
        return self.names.get(entity, entity)

    def called(self, entry: EpisodeRecord, entity: str) -> str:
        """What an episode calls an entity; the entity's name where it does not name it."""
        return next((m.name for m in entry.mentions if m.entity == entity), self.name(entity))

    def other_end(self, version: FactVersion, beside: FactVersion) -> str:
        """The name of the end that a version does not share with another one."""
        return self.name(version.target if version.source in (beside.source, beside.target) else version.source)

    # -- as items

    def fact(self, version: FactVersion, at: datetime | None) -> FactItem:
        """The version as an item, with what it cited at `at`."""
        return FactItem.of(version, self.names, self.sources(version, at))

    def cause(self, at: datetime, about: Sequence[Assertion] = ()) -> Cause | None:
        """The entry written at a system instant, with the words of the first of `about`."""
        entry = self.entries.get(at)
        return None if entry is None else cause_of(entry, about)


def cause_of(entry: LogEntry, about: Sequence[Assertion] = ()) -> Cause:
    """An entry of the log as a cause; an episode is quoted by the first of `about`, else from its beginning."""
    if isinstance(entry, Operation):
        assert entry.created_at is not None
        return Cause(entry.kind.value, entry.id, entry.created_at, entry.author, reason=entry.reason or "")
    episode = entry.episode
    assert episode.created_at is not None
    quote = quoted(entry, about[0]) if about else episode.body
    return Cause("episode", episode.id, episode.created_at, episode.actor, episode.reference_time, episode.session, quote)


def quoted(record: EpisodeRecord, assertion: Assertion) -> str:
    """The words of the episode that an assertion is read from; its sentence where no place is known."""
    span = assertion.span
    return record.episode.body[span.start : span.end] if span is not None else assertion.text


def load_story(
    reader: Reader,
    group: str,
    ontology: Ontology,
    versions: Iterable[FactVersion],
    instants: Iterable[datetime],
    entities: Iterable[str] = (),
    at: datetime | None = None,
    *,
    narrowed: bool = False,
) -> Story:
    """Read what explains these versions, and the entries of the log at these system instants; `entities` are named besides, and
    all are called what they were called at `at` (None: now). Of versions that are `narrowed` to some facts, others that these were
    or became are read as well.
    """
    by_fact: dict[str, list[FactVersion]] = defaultdict(list)
    for version in versions:
        by_fact[version.fact_id].append(version)
    asked = frozenset(by_fact)
    entries = reader.entries_at(group, sorted(set(instants)))
    for version in _partners(reader, group, by_fact, entries) if narrowed else ():
        by_fact[version.fact_id].append(version)
    cited = reader.citations_changed(group, EVER, sorted(by_fact)) if by_fact else []
    records = {e.episode.id: e for e in entries if isinstance(e, EpisodeRecord)}
    assertions = {a.id: a for r in records.values() for a in r.assertions}
    spoken = reader.fact_ids(group, list(assertions)) if assertions else {}
    named = {c.by for c in cited} | {i for a in assertions.values() for i in a.decided}
    if missing := sorted(named - assertions.keys()):
        assertions.update((a.id, a) for a in reader.assertions(group, ids=missing))
    if lacking := sorted({a.episode for a in assertions.values()} - records.keys()):
        records.update((r.episode.id, r) for r in reader.records(group, lacking))
    ends = {e for found in by_fact.values() for v in found for e in (v.source, v.target)}
    story = Story(
        group,
        ontology,
        by_fact,
        _by_fact(cited),
        {recorded_at(e): e for e in entries},
        records,
        assertions,
        {e.id: e for e in entries if isinstance(e, Operation)},
        spoken,
        {},
    )
    story.asked = asked
    known = undone_by(reader, group, story.operations.values())
    story.deeds = {recorded_at(e): Deed.of(e, known) for e in entries}
    story.rivals = _rivals(reader, story)
    ends |= {e for found in story.rivals.values() for v in found for e in (v.source, v.target)}
    ends |= {t for o in known.values() for t in o.targets} | set(entities)
    ends |= {e for r in records.values() for link in r.links for e in link}
    story.names = names_of(reader, group, ends, at)
    return story


def _partners(reader: Reader, group: str, by_fact: Mapping[str, Sequence[FactVersion]], entries: Sequence[LogEntry]) -> list[FactVersion]:
    """Versions of other facts that came or went where one of these did the reverse, with a statement of it."""
    begun = Counter((v.system.start, fact) for fact, found in by_fact.items() for v in found)
    over = Counter((v.system.end, fact) for fact, found in by_fact.items() for v in found)
    lone = {place[0] for place in {*begun, *over} if begun[place] != over[place]}
    partners: list[FactVersion] = []
    for at in (recorded_at(e) for e in entries if isinstance(e, Operation) or e.links):
        if at not in lone:
            continue
        moment = Stretch(at - MICROSECOND, at)
        cited = reader.citations_changed(group, moment)
        own = {c.by for c in cited if c.fact_id in by_fact}
        if others := sorted({c.fact_id for c in cited if c.by in own} - by_fact.keys()):
            partners += reader.facts_changed(group, moment, FactMatch(fact_ids=tuple(others)))
    return list({v.uuid: v for v in partners}.values())


def names_of(reader: Reader, group: str, entities: Collection[str], at: datetime | None = None) -> dict[str, str]:
    """What these entities were called at `at` (None: now); of those that were not there then, what they were called last before
    it, else first after it.
    """
    match = EntityMatch(ids=tuple(sorted(entities)))
    known = {e.id: e.name for e in reader.entities([group], AsOf(None, at), match)} if entities else {}
    if gone := sorted(set(entities) - known.keys()):
        for version in reader.entity_versions(group, gone):
            if version.id not in known or at is None or (version.system.start or FIRST) <= at:
                known[version.id] = version.name
    return known


def entity_item(version: EntityVersion | None) -> EntityItem | None:
    """The version as an item."""
    return None if version is None else EntityItem(version)


def _rivals(reader: Reader, story: Story) -> dict[str, list[FactVersion]]:
    """Fact → every version ever of the facts that exclude it now: by a slot of its relation, or by a judgement."""
    keys = {f: FactKey(v[0].relation, v[0].source, v[0].target) for f, v in story.versions.items()}
    slots = {f: story.ontology.slots(k) for f, k in keys.items()}
    wanted = sorted({s for of_fact in slots.values() for s in of_fact})
    sharing: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for fact, key in (reader.keys(story.group, slots=wanted) if wanted else {}).items():
        for slot in story.ontology.slots(key):
            sharing[slot].add(fact)
    for fact, of_fact in slots.items():  # facts that no assertion speaks of now
        for slot in of_fact:
            sharing[slot].add(fact)
    against: dict[str, set[str]] = {f: {o for s in of_fact for o in sharing[s]} - {f} for f, of_fact in slots.items()}
    for fact, others in _judged(reader, story).items():
        against[fact] |= others - {fact}
    ids = sorted({o for others in against.values() for o in others})
    found: dict[str, list[FactVersion]] = defaultdict(list)
    for version in reader.facts_changed(story.group, EVER, FactMatch(fact_ids=tuple(ids))) if ids else ():
        found[version.fact_id].append(version)
    return {fact: [v for o in sorted(others) for v in found[o]] for fact, others in against.items() if others}


def _judged(reader: Reader, story: Story) -> dict[str, set[str]]:
    """Fact → the facts that were judged to contradict it, one way or the other."""
    behind = {c.by: fact for fact, cited in story.citations.items() for c in cited if c.by in story.assertions}
    deciding = reader.assertions(story.group, deciding=sorted(behind)) if behind else []
    excluding = [a for a in (*deciding, *(story.assertions[b] for b in behind)) if a.excludes]
    if not excluding:
        return {}
    fact_of = {**reader.fact_ids(story.group, sorted({i for a in excluding for i in (a.id, *a.excludes)})), **behind}
    found: dict[str, set[str]] = defaultdict(set)
    for assertion in excluding:
        for other in assertion.excludes:
            for one, two in ((fact_of.get(assertion.id), fact_of.get(other)), (fact_of.get(other), fact_of.get(assertion.id))):
                if one is not None and one in story.versions and two is not None:
                    found[one].add(two)
    return found


def _by_fact(citations: Iterable[CitationVersion]) -> dict[str, list[CitationVersion]]:
    found: dict[str, list[CitationVersion]] = defaultdict(list)
    for citation in citations:
        found[citation.fact_id].append(citation)
    return found
