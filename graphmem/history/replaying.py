"""Folding a log again: is it whole, does it give what is believed, and how do two readings of the same episodes differ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import cast

from graphmem import names
from graphmem.belief.audit import hashes
from graphmem.belief.changes import kind_of, paired
from graphmem.errors import StoreCorrupt
from graphmem.history.lines import Cause, Diff, Line, line_order
from graphmem.history.rules import shown
from graphmem.history.story import Story, cause_of, load_story
from graphmem.interval import ALWAYS, FIRST, Interval
from graphmem.model import (
    AsOf,
    ChangeKind,
    EpisodeRecord,
    FactVersion,
    Head,
    LogEntry,
    Operation,
    OperationKind,
    Usage,
)
from graphmem.ontology import Ontology
from graphmem.shown import Record
from graphmem.stores.base import Reader
from graphmem.stores.bulk import reading
from graphmem.stores.changes import Stretch
from graphmem.stores.codec import encode_mapping
from graphmem.stores.histories import HistoryReader
from graphmem.stores.lines import is_as_recorded

NEXT = "restore the memory from a copy; `verify` says what else is wrong"


@dataclass(frozen=True, slots=True)
class Replayed(Record):
    """What a replay gave: where, of which groups, how many entries of their logs, with hashes of state and history by group.

    Of a fold the hashes are those of the memory that was replayed, and no model was called. Of another reading `diff` tells how the two
    graphs differ, `usage` what it cost, and `left_out` the operations that were not carried over, by kind.
    """

    where: str
    groups: tuple[str, ...]
    entries: int
    state_hash: Mapping[str, str]
    history_hash: Mapping[str, str]
    diff: Diff | None = None
    usage: Usage = Usage()
    left_out: Mapping[str, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        read = f", read again with {self.usage.calls} calls: {self.diff!r}"[:300] if self.diff is not None else ", equal hashes"
        return f"<replayed {self.entries:,} entries of {', '.join(self.groups)} into {self.where!r}{read}>"

    def to_dict(self) -> dict[str, object]:
        """Plain JSON values."""
        return {
            "where": self.where,
            "groups": list(self.groups),
            "entries": self.entries,
            "state_hash": dict(self.state_hash),
            "history_hash": dict(self.history_hash),
            "diff": self.diff.to_document() if self.diff is not None else None,
            "calls": self.usage.calls,
            "left_out": dict(self.left_out),
        }


def check_places(group: str, places: Iterable[tuple[int, datetime | None]], head: Head) -> None:
    """That positions have no gap, instants grow, and the last are those at which `head` says that the log ends.

    An erased entry has left its place. Raises `StoreCorrupt` naming the first line that is missing or out of its place.
    """
    last, before = 0, FIRST
    for seq, at in places:
        if seq != last + 1:
            raise StoreCorrupt(f"the log of group {group!r} lacks line {last + 1}: after line {last} comes line {seq}; {NEXT}")
        if at is None or at <= before:
            raise StoreCorrupt(f"the log of group {group!r} was changed at line {seq}: its instant is not after that before; {NEXT}")
        last, before = seq, at
    if last < head.seq:
        raise StoreCorrupt(f"the log of group {group!r} lacks line {last + 1}: it ends after line {last} of {head.seq}; {NEXT}")
    if last > head.seq:
        raise StoreCorrupt(f"the log of group {group!r} was changed at line {head.seq + 1}: it was said to end before it; {NEXT}")
    if before != head.at:
        raise StoreCorrupt(f"the log of group {group!r} was changed at line {last}: its instant is not that of the end; {NEXT}")


def as_recorded(group: str, log: Iterable[LogEntry]) -> Iterator[LogEntry]:
    """The entries, each once it is known to be what was recorded; raises `StoreCorrupt` naming the first that is not."""
    for entry in log:
        if not is_as_recorded(entry):
            raise StoreCorrupt(f"the log of group {group!r} was changed at line {entry.seq}: it is not what was recorded; {NEXT}")
        yield entry


def check_equal(here: Reader, there: Reader, group: str) -> tuple[str, str]:
    """The hashes of a group, which are the same in both; raises `StoreCorrupt` naming the first line whose consequences are not."""
    found, expected = hashes(there, group), hashes(here, group)
    if found != expected:
        raise StoreCorrupt(f"the log of group {group!r} was changed {_where(here, there, group)}: it folds to something else; {NEXT}")
    return found


def _where(here: Reader, there: Reader, group: str) -> str:
    """The line at which two histories part: what was changed may be one before it, of which nothing came until then."""
    turns = _turns(here, group) ^ _turns(there, group)
    first = min((at for _, at in turns), default=None)
    # Of a line whose own instant was changed, the earlier of its two instants is that of no line.
    lines = (seq for seq, at in reading(here).places(group) if first is not None and at is not None and at >= first)
    seq = next(lines, None)
    return "at a line that cannot be told" if seq is None else f"at line {seq} or before it"


def _turns(reader: Reader, group: str) -> set[tuple[object, datetime]]:
    """What began or ended to be believed, and when; what ends where its equal begins did neither."""
    found: set[tuple[object, datetime]] = set()
    for believed, system in _ever_believed(cast(HistoryReader, reader), group):  # every store's reader is one
        for at in (system.start, system.end):
            if at is not None:
                found ^= {(believed, at)}
    return found


def _ever_believed(reader: HistoryReader, group: str) -> Iterator[tuple[tuple[object, ...], Interval]]:
    """Everything that was ever believed, and during which system time."""
    for v in reader.scan_facts(group):
        said = (v.relation, v.source, v.target, v.text, v.valid, v.start, v.end, encode_mapping(v.attributes))
        yield ("fact", v.fact_id, *said), v.system
    for c in reader.citations_changed(group, Stretch()):
        yield ("citation", c.fact_id, c.valid_at, c.episode, c.by), c.system
    for e in reader.entities_changed(group, Stretch()):
        yield ("entity", e.id, e.name, e.type, e.aliases, encode_mapping(dict(sorted(e.attributes.items())))), e.system
    episodes = [e.episode.id for e in reader.log(group) if isinstance(e, EpisodeRecord)]
    for m in reader.mentions_ever(group, episodes):
        yield ("mention", m.mention.episode, m.mention.position, m.entity, m.mention.name), m.system
    communities, members = reader.community_history(group)
    for community in communities:
        yield ("community", repr(replace(community, uuid="", system=ALWAYS))), community.system
    for member in members:
        yield ("member", member.community, member.level, member.entity), member.system


# ------------------------------------------------------------------------------------------------ another reading


def to_read_again(reader: Reader, group: str) -> tuple[list[EpisodeRecord], dict[str, int]]:
    """The visible episodes of a group in the order of its log, and the operations that another reading leaves out, by kind."""
    visible = {e.id for e in reader.episodes([group], AsOf(), bodies=False)}
    log = list(as_recorded(group, reader.log(group)))
    left: dict[str, int] = defaultdict(int)
    for entry in log:
        if isinstance(entry, Operation) and entry.kind is not OperationKind.ONTOLOGY:
            left[entry.kind.value] += 1
    return [e for e in log if isinstance(e, EpisodeRecord) and e.episode.id in visible], dict(left)


def compared(here: Reader, there: Reader, group: str, ontology: Ontology, until: datetime) -> Diff:
    """How the facts of two readings of the same episodes differ, as believed now at all valid times: only in the second ("added"),
    only in the first ("corrected"), or with other dates or words. Facts are the same if their relation and the names of their ends are.
    """
    sides = [_named(reader, group, ontology) for reader in (here, there)]
    lines: list[Line] = []
    for key in sorted({*sides[0].facts, *sides[1].facts}):
        for before, after in paired(sides[0].facts.get(key, ()), sides[1].facts.get(key, ())):
            lines += _difference(sides[0], sides[1], before, after)
    return Diff(sorted(lines, key=line_order), "reading", None, until)


@dataclass(frozen=True)
class _Side:
    """One of the two graphs: its facts by relation and names."""

    story: Story
    facts: Mapping[tuple[str, str, str], Sequence[FactVersion]]


def _named(reader: Reader, group: str, ontology: Ontology) -> _Side:
    versions = reader.facts([group], AsOf())
    story = load_story(reader, group, ontology, versions, ())
    found: dict[tuple[str, str, str], list[FactVersion]] = defaultdict(list)
    for v in versions:
        found[v.relation, names.key(story.name(v.source)), names.key(story.name(v.target))].append(v)
    return _Side(story, found)


def _difference(first: _Side, second: _Side, before: FactVersion | None, after: FactVersion | None) -> Iterator[Line]:
    if before is not None and after is not None:
        if (before.valid, before.text) == (after.valid, after.text):
            return
        kind = kind_of(replace(before, fact_id=after.fact_id), after, None)
        rule = f"{_period(before)} in the first, {_period(after)} in the second" if before.valid != after.valid else "other words"
    else:
        kind = ChangeKind.ADDED if before is None else ChangeKind.CORRECTED
        rule = "only the second reading has it" if before is None else "only the first reading has it"
    side, version = (second, after) if after is not None else (first, before)
    assert version is not None
    at = version.system.start or FIRST
    items = tuple(None if v is None else s.story.fact(v, None) for s, v in ((first, before), (second, after)))
    yield Line(kind, at, items[0], items[1], rule, _cause(side, version))


def _cause(side: _Side, version: FactVersion) -> Cause | None:
    """The first words that the reading took the fact from."""
    behind = side.story.behind(version, None)
    return cause_of(side.story.records[behind[0].episode], behind) if behind and behind[0].episode in side.story.records else None


def _period(version: FactVersion) -> str:
    first, last = shown(version.valid.start, version.start), shown(version.valid.end, version.end, is_end=True)
    return " ".join(p for p in (f"from {first}" if first else "", f"until {last}" if last else "") if p) or "at any time"
