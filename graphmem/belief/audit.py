"""Proof that beliefs are what the log says: hashes of state and history, and every invariant."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import combinations, pairwise
from json.encoder import encode_basestring as _text

from graphmem import names
from graphmem.belief.entities import EntityState, entity_state, mentions_that_count, names_given
from graphmem.belief.fold import fact_id, fold
from graphmem.belief.identity import resolve_identity
from graphmem.communities.audit import layer_violations
from graphmem.entries import created_at, group_of
from graphmem.model import (
    AsOf,
    Bound,
    CommunityVersion,
    EntityVersion,
    EpisodeRecord,
    FactVersion,
    LogEntry,
    MemberVersion,
    Violation,
)
from graphmem.ontology import Ontology
from graphmem.runtime import canonical_json, no_cycles_made
from graphmem.stores.base import Reader
from graphmem.stores.bulk import reading
from graphmem.stores.codec import encode, encode_mapping
from graphmem.stores.lines import is_as_recorded

NOW = AsOf()
_PAGE = 5_000


_Facts = Sequence[tuple[FactVersion, str, str]]
_Entities = Sequence[tuple[EntityVersion, str]]


def _written(versions: Iterable[FactVersion]) -> _Facts:
    """Versions with their canonical JSON before and after what cites them, put together by hand: an encoder costs more than the rest."""
    found = []
    for v in versions:
        ends = f"{_moment(v.valid.start)},{_moment(v.valid.end)},{_bound(v.start)},{_bound(v.end)}"
        said = f"{_text(v.fact_id)},{_text(v.source)},{_text(v.relation)},{_text(v.target)},{_text(v.text)}"
        found.append((v, f'["fact",{said},{ends},', f",{_text(encode_mapping(v.attributes))}]"))
    return found


def _named(versions: Iterable[EntityVersion]) -> _Entities:
    """Versions with what they are called, as canonical JSON."""
    return [(e, f"{_text(e.id)},{_text(e.name)},{_text(e.type)},{_texts(sorted(e.aliases))}") for e in versions]


def _bound(bound: Bound) -> str:
    return f'["{bound.precision.value}","{bound.origin.value}"]'


def _moment(moment: datetime | None) -> str:
    return "null" if moment is None else f'"{moment.isoformat()}"'


def _texts(texts: Iterable[str]) -> str:
    return f"[{','.join(map(_text, texts))}]"


def state_lines(reader: Reader, group: str) -> list[str]:
    """What is believed at the last instant, a canonical JSON line an item, sorted: facts, entities, mentions.

    No system times, vectors, row ids or usage: equal across stores, and after a forget and its restore.
    """
    return _state_lines(reader, group, _written(reader.facts([group], NOW)), _named(reader.entities([group], NOW)))


def state_hash(reader: Reader, group: str) -> str:
    """SHA-256 of `state_lines`, hexadecimal."""
    return _hash(state_lines(reader, group))


def history_hash(reader: Reader, group: str) -> str:
    """SHA-256 of every version of facts, entities and communities with its system times: equal across replays of one log."""
    return _hash(_history_lines(reader, group, _written(reader.fact_versions(group)), _named(_every_entity(reader, group))))


def hashes(reader: Reader, group: str) -> tuple[str, str]:
    """Those of state and history, of one reading of the versions: what is believed now are those that have no end."""
    with no_cycles_made():
        facts, entities = _written(reader.fact_versions(group)), _named(_every_entity(reader, group))
        held = [row for row in facts if row[0].system.end is None], [row for row in entities if row[0].system.end is None]
        return _hash(_state_lines(reader, group, *held)), _hash(_history_lines(reader, group, facts, entities))


def _every_entity(reader: Reader, group: str) -> list[EntityVersion]:
    """Every version of every entity."""
    found: list[EntityVersion] = []
    while ids := reader.entity_ids(group, found[-1].id if found else "", _PAGE):
        found += reader.entity_versions(group, ids)
    return found


def _state_lines(reader: Reader, group: str, facts: _Facts, entities: _Entities) -> list[str]:
    cited: dict[tuple[str, object], list[str]] = defaultdict(list)
    told = reading(reader)
    for fact, at, by in told.cited_now(group):
        cited[fact, at].append(by)
    lines = [f"{head}{_texts(sorted(cited[v.fact_id, v.valid.start]))}{tail}" for v, head, tail in facts]
    lines += [f'["entity",{named},{_text(encode_mapping(dict(sorted(e.attributes.items()))))}]' for e, named in entities]
    lines += [f'["mention",{_text(episode)},{n},{_text(e)},{_text(name)}]' for episode, n, e, name in told.mentioned_now(group)]
    return sorted(lines)


def _history_lines(reader: Reader, group: str, facts: _Facts, entities: _Entities) -> list[str]:
    lines = [f"[{_text(f'{head}[]{tail}')},{_system(v)}]" for v, head, tail in facts]
    lines += [f"[{named},{_system(e)}]" for e, named in entities]
    communities, members = reader.community_history(group)
    for c in communities:
        told = [c.id, c.level, c.name, c.summary, c.parent, list(c.facts), encode(dict(c.attributes))]
        lines.append(f"{canonical_json(told)[:-1]},{_system(c)}]")
    lines += [f"[{_text(m.community)},{m.level},{_text(m.entity)},{_system(m)}]" for m in members]
    return sorted(lines)


def _system(version: FactVersion | EntityVersion | CommunityVersion | MemberVersion) -> str:
    return f"{_moment(version.system.start)},{_moment(version.system.end)}"


def _hash(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()


def verify_group(reader: Reader, group: str, ontology: Ontology) -> Iterator[Violation]:
    """Every invariant of the group's beliefs that is broken; nothing if all hold."""
    log = list(reader.log(group))
    yield from _instants(log)
    yield from _lines(log)
    yield from _facts_against_fold(reader, group, log, ontology)
    yield from _facts_alone(reader, group, ontology)
    yield from _entities_against_log(reader, group, log)
    yield from layer_violations(reader, group)


def _instants(log: list[LogEntry]) -> Iterator[Violation]:
    """Positions and instants strictly increase."""
    stamps = [(e.seq, created_at(e)) for e in log]
    for (seq, at), (next_seq, next_at) in pairwise(stamps):
        if next_seq <= seq or at is None or next_at is None or next_at <= at:
            yield Violation("instants", str(next_seq), f"entry {next_seq} at {next_at} does not follow entry {seq} at {at}")


def _lines(log: list[LogEntry]) -> Iterator[Violation]:
    """Every line is what was recorded."""
    for entry in log:
        if not is_as_recorded(entry):
            identity = entry.episode.id if isinstance(entry, EpisodeRecord) else entry.id
            yield Violation("line", identity, f"line {entry.seq} of the log of group {group_of(entry)!r} is not what was recorded")


def _facts_against_fold(reader: Reader, group: str, log: list[LogEntry], ontology: Ontology) -> Iterator[Violation]:
    """Folding the log gives exactly what is believed."""
    want = set()
    for p in fold(log, ontology):
        want.add((fact_id(group, p.key), p.source, p.target, p.text, p.valid, p.start, p.end))
    have = {(v.fact_id, v.source, v.target, v.text, v.valid, v.start, v.end): v.uuid for v in reader.facts([group], NOW)}
    for content in want - have.keys():
        yield Violation("missing_fact", content[0], f"the log says {content[3]!r} during {content[4]}, the store does not")
    for content in have.keys() - want:
        yield Violation("extra_fact", have[content], f"the store says {content[3]!r} during {content[4]}, the log does not")


def _facts_alone(reader: Reader, group: str, ontology: Ontology) -> Iterator[Violation]:
    """Ends exist and differ, every fact is cited by a living episode, periods of a fact and of one slot do not overlap."""
    entities = {e.id for e in reader.entities([group], NOW)}
    episodes = {e.id for e in reader.episodes([group], NOW, bodies=False)}
    cited: dict[tuple[str, object], set[str]] = defaultdict(set)
    for c in reader.citations([group], NOW):
        cited[c.fact_id, c.valid_at].add(c.episode)
        if c.episode not in episodes:
            yield Violation("dead_citation", c.fact_id, f"cites {c.episode}, which is not visible")
    slots: dict[tuple[str, str, str], list[FactVersion]] = defaultdict(list)
    periods: dict[str, list[FactVersion]] = defaultdict(list)
    keys = reader.keys(group, facts=sorted({v.fact_id for v in reader.facts([group], NOW)}))
    for version in reader.facts([group], NOW):
        if not {version.source, version.target} <= entities or version.source == version.target:
            yield Violation("bad_ends", version.uuid, f"{version.source} → {version.target}")
        if not cited[version.fact_id, version.valid.start]:
            yield Violation("uncited", version.uuid, version.text)
        periods[version.fact_id].append(version)
        if version.fact_id not in keys:
            yield Violation("no_key", version.uuid, version.fact_id)
            continue
        for slot in ontology.slots(keys[version.fact_id]):
            slots[slot].append(version)
    for kind, groups in (("overlap", periods.values()), ("two_values", slots.values())):
        for versions in groups:
            for one, other in combinations(versions, 2):
                if one.valid.overlaps(other.valid):
                    yield Violation(kind, one.uuid, f"{one.text!r} and {other.text!r} hold at once")


def _entity_line(entity: EntityState | EntityVersion) -> tuple[object, ...]:
    return (entity.name, entity.type, entity.aliases, encode(dict(sorted(entity.attributes.items()))))


def _entities_against_log(reader: Reader, group: str, log: list[LogEntry]) -> Iterator[Violation]:
    """Entities and mentions are those of the visible episodes; every name can be shown."""
    identity = resolve_identity(log)
    live, heads = mentions_that_count(log, identity)
    given = names_given(log, identity)
    said = {e.episode.id for e in log if isinstance(e, EpisodeRecord)}
    wanted = {(m.episode, m.position, e) for e, rows in live.items() for m in rows if m.episode in said}
    believed: dict[str, EntityVersion] = {}
    for version in reader.entities([group], NOW):
        if version.id in believed:
            yield Violation("entity_twice", version.id, f"two versions of {version.name!r} are believed at once")
        believed[version.id] = version
    for entity in believed.keys() ^ live.keys():
        yield Violation(
            "entity", entity, "is in the store but not in the log" if entity in believed else "is in the log but not in the store"
        )
    for entity in believed.keys() & live.keys():
        state, version = entity_state(live[entity], heads, given.get(entity, ())), believed[entity]
        if not names.is_nameable(version.name) and version.type != "Value":
            yield Violation("blank_name", entity, repr(version.name))
        if state is None or _entity_line(state) != _entity_line(version):
            yield Violation("entity_state", entity, f"the log says {state}, the store says {version.name!r} ({version.type})")
    mentions = {(m.mention.episode, m.mention.position, m.entity) for m in reader.mentions([group], NOW)}
    for episode, position, entity in mentions ^ wanted:
        yield Violation("mention", episode, f"mention {position} of {entity} is in only one of store and log")
