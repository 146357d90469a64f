"""Who came, who went, who turned out to be somebody else: the changes of entities."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from graphmem import names
from graphmem.belief.deeds import Deed
from graphmem.history.lines import Cause, Line
from graphmem.history.rules import are_one, done_words
from graphmem.history.story import Story, cause_of, entity_item
from graphmem.interval import FIRST
from graphmem.model import VALUE_TYPE, ChangeKind, EntityVersion, EpisodeRecord, Mention, OperationKind
from graphmem.stores.changes import Stretch


def entity_lines(story: Story, versions: Sequence[EntityVersion], stretch: Stretch) -> list[Line]:
    """A line for each entity that is not at the end of the stretch as it was at its beginning; values are told by their facts."""
    by_id: dict[str, list[EntityVersion]] = defaultdict(list)
    for version in versions:
        if version.type != VALUE_TYPE:
            by_id[version.id].append(version)
    return [line for found in by_id.values() for line in _of_entity(story, found, stretch)]


def _of_entity(story: Story, versions: Sequence[EntityVersion], stretch: Stretch) -> Iterator[Line]:
    """`versions` are those of one entity that changed, by when they began."""
    before = next((v for v in versions if not stretch.has(v.system.start)), None)
    after = next((v for v in reversed(versions) if not stretch.has(v.system.end)), None)
    if (before is None and after is None) or (before is not None and after is not None and _same(before, after)):
        return
    at = (after.system.start if after is not None else versions[-1].system.end) or FIRST
    if before is None:
        at = versions[0].system.start or at
    kind, rule = _change(story, before, after, at)
    yield Line(kind, at, entity_item(before), entity_item(after), rule, _cause(story, at, versions[-1]))


def _change(story: Story, before: EntityVersion | None, after: EntityVersion | None, at: datetime) -> tuple[ChangeKind, str]:
    entry, deed = story.entries.get(at), story.deeds.get(at)
    done = "" if deed is None else done_words(deed)
    if before is None:
        assert after is not None
        if isinstance(entry, EpisodeRecord) and (pairs := [p for p in entry.links if after.id in p]):
            return ChangeKind.ADDED, "; ".join(are_one([story.called(entry, e) for e in pair]) for pair in pairs)
        kind = ChangeKind.ADDED if deed is None else deed.entity_came()
        if deed is not None and deed.kind is OperationKind.FORGET and kind is ChangeKind.SPLIT:
            return kind, f"what made it one with another was {done}"
        return kind, done or "first named"
    if after is None:
        return _went(story, before, deed, done)
    told = []
    if before.name != after.name:
        told.append(f"called {after.name}, not {before.name}")
    known = {names.key(n) for n in (before.name, *before.aliases)}
    if also := [n for n in after.aliases if names.key(n) not in known]:
        told.append(f"also called {', '.join(also)}")
    if before.type != after.type:
        told.append(f"{after.type}, not {before.type}")
    fresh = {k: v for k, v in after.attributes.items() if before.attributes.get(k) != v}
    told += [f"{k}: {v}" + (f", not {before.attributes[k]}" if k in before.attributes else "") for k, v in sorted(fresh.items())]
    lost = [k for k in before.attributes if k not in after.attributes]
    told += [f"no {k} any more" for k in sorted(lost)] + (["fewer names"] if not told and not lost else [])
    corrects = before.name != after.name or before.type != after.type or lost or any(k in before.attributes for k in fresh)
    rule = "; ".join(told)
    return ChangeKind.CORRECTED if corrects or not (also or fresh) else ChangeKind.EXTENDED, f"{done}: {rule}" if done else rule


def _went(story: Story, before: EntityVersion, deed: Deed | None, done: str) -> tuple[ChangeKind, str]:
    if deed is None:
        return ChangeKind.FORGOTTEN, "nothing names it any more"
    kind, entry = deed.entity_went(), deed.entry
    if isinstance(entry, EpisodeRecord):
        pairs = [p for p in entry.links if before.id in p] or entry.links
        said = dict.fromkeys(are_one([story.called(entry, e) for e in pair]) for pair in pairs)
        return kind, "; ".join(said) or "nothing names it any more"
    others = deed.others(before.id) if kind is ChangeKind.MERGED else ()
    return kind, f"{done}: is {' and '.join(map(story.name, others))}" if others else done


def _cause(story: Story, at: datetime, version: EntityVersion) -> Cause | None:
    """The entry, quoted where it names the entity."""
    entry = story.entries.get(at)
    if not isinstance(entry, EpisodeRecord):
        return None if entry is None else cause_of(entry)
    known = {names.key(n) for n in (version.name, *version.aliases)}
    mention = next((m for m in entry.mentions if m.entity == version.id or names.key(m.name) in known), None)
    about = [a for a in entry.assertions if version.id in (a.source, a.target)]
    cause = cause_of(entry, about)
    return cause if about or mention is None else _around(cause, entry, mention)


def _around(cause: Cause, record: EpisodeRecord, mention: Mention) -> Cause:
    """The cause with the words around a mention."""
    body = record.episode.body
    if mention.span is None:
        return replace(cause, quote=body)
    first, last = max(mention.span.start - 60, 0), mention.span.end + 60
    return replace(cause, quote=("…" if first else "") + body[first:last] + ("…" if last < len(body) else ""))


def _same(one: EntityVersion, other: EntityVersion) -> bool:
    return (one.name, one.type, one.aliases, dict(one.attributes)) == (other.name, other.type, other.aliases, dict(other.attributes))
