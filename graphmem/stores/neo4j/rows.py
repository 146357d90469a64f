"""Rows as values and values as rows."""

from __future__ import annotations

import math
from binascii import a2b_base64, b2a_base64
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from graphmem import names
from graphmem.interval import Interval, Origin, Precision
from graphmem.model import (
    DEFAULT_TYPE,
    Assertion,
    AssertionKind,
    Bound,
    CitationVersion,
    EntityVersion,
    Episode,
    EpisodeKind,
    EpisodeRecord,
    FactVersion,
    Mention,
    MentionVersion,
    Operation,
    OperationKind,
    Span,
)
from graphmem.stores.codec import (
    OPEN_END,
    OPEN_START,
    decode_mapping,
    decode_unit,
    encode_mapping,
    encode_unit,
    end_micros,
    from_micros,
    from_micros_or_none,
    interval,
    raw_or_none,
    raw_text,
    safe_or_none,
    safe_text,
    start_micros,
    text_list,
    texts,
    to_micros,
    to_micros_or_none,
)
from graphmem.stores.lines import recorded_digest
from graphmem.stores.matching import name_keys
from graphmem.stores.neo4j.tokens import index_key, scope, tokens

Params = dict[str, Any]
NEVER = OPEN_END
"""The commit that ends what is not ended."""


def _span(row: Mapping[str, Any]) -> Span | None:
    start, end = row.get("span_start"), row.get("span_end")
    return None if start is None or end is None else Span(start, end)


def _span_params(span: Span | None) -> Params:
    start, end = span or (None, None)
    return {"span_start": start, "span_end": end}


@lru_cache(maxsize=256)
def _bounds(listed: str) -> tuple[Bound, Bound]:
    start_precision, start_origin, end_precision, end_origin = listed.split(" ")
    return Bound(Precision(start_precision), Origin(start_origin)), Bound(Precision(end_precision), Origin(end_origin))


def utc(moment: datetime | None) -> datetime | None:
    """The instant as the driver takes it: Graphiti's clients compare instants with a zone."""
    return None if moment is None else moment.astimezone(UTC)


def words_params(group: str, words: str) -> Params:
    """What the index keeps of words, and the words themselves where they differ."""
    indexed, said = tokens(words), safe_text(words)
    return {"words": indexed, "said": None if said == indexed else said, "scope": scope(group)}


def no_words(group: str) -> Params:
    """As `words_params`, where the words stay as they are."""
    return {"words": None, "said": None, "scope": scope(group)}


def packed(data: bytes) -> str:
    """Bytes as a property: clients that write what they read as JSON, as Graphiti's do, fail on a property of bytes."""
    return b2a_base64(data, newline=False).decode()


def unpacked(stored: str) -> bytes:
    """What `packed` was given."""
    return a2b_base64(stored)


# ------------------------------------------------------------------------------------------------ intervals


def system_params(system: Interval, change: int) -> Params:
    """When a row is believed, and by which commits it began and ended."""
    return {
        "gm_from": start_micros(system.start),
        "gm_to": end_micros(system.end),
        "gm_added": change,
        "gm_ended": NEVER if system.end is None else change,
    }


def system(row: Mapping[str, Any], pin: int) -> Interval:
    """When a row is believed, as the commit `pin` knew it: what a later one ended is open."""
    return interval(row["gm_from"], OPEN_END if row["gm_ended"] > pin else row["gm_to"])


# ------------------------------------------------------------------------------------------------ the log


def episode_params(record: EpisodeRecord, change: int) -> Params:
    """The properties of an episode's node."""
    episode = record.episode
    return {
        "group_id": safe_text(episode.group),
        "id": safe_text(episode.id),
        "seq": episode.seq,
        "key": safe_text(episode.key),
        "key_index": index_key(episode.key),
        "kind": episode.kind.value,
        "reference_time": to_micros(episode.reference_time),
        "created_at": to_micros_or_none(episode.created_at),
        "said_at": utc(episode.reference_time),
        "kept_at": utc(episode.created_at or episode.reference_time),
        "actor": safe_or_none(episode.actor),
        "session": safe_or_none(episode.session),
        "session_index": None if episode.session is None else index_key(episode.session),
        "source": safe_or_none(episode.source),
        "zone": safe_text(episode.zone),
        "attributes": encode_mapping(episode.attributes),
        "search_text": text_list(record.search_text),
        "body": safe_text(episode.body),
        "digest": recorded_digest(record),
        "shown": [],
        "gm_added": change,
    }


def episode_name(episode: Episode) -> str:
    """What an episode is called where people look at the graph: who, or from where, and when. `commit` says it likewise."""
    who = next(name for name in (episode.actor, episode.source, episode.kind.value) if name is not None)
    return safe_text(f"{who}, {episode.reference_time.astimezone(UTC).date().isoformat()}")


def episode(row: Mapping[str, Any]) -> Episode:
    """An episode from its node's properties; without `body` if that was left out."""
    return Episode(
        id=raw_text(row["id"]),
        group=raw_text(row["group_id"]),
        kind=EpisodeKind(row["kind"]),
        body=raw_text(row.get("body") or ""),
        reference_time=from_micros(row["reference_time"]),
        key=raw_text(row["key"]),
        seq=row["seq"],
        created_at=from_micros_or_none(row.get("created_at")),
        actor=raw_or_none(row.get("actor")),
        session=raw_or_none(row.get("session")),
        source=raw_or_none(row.get("source")),
        zone=raw_text(row["zone"]),
        attributes=decode_mapping(row["attributes"]),
    )


def assertion_params(assertion: Assertion, episode: Episode, change: int) -> Params:
    """The properties of an assertion's node."""
    return {
        "group_id": safe_text(episode.group),
        "id": safe_text(assertion.id),
        "episode": safe_text(assertion.episode),
        "seq": episode.seq,
        "position": assertion.position,
        "source": safe_text(assertion.source),
        "relation": safe_text(assertion.relation),
        "target": safe_text(assertion.target),
        "text": safe_text(assertion.text),
        "kind": assertion.kind.value,
        "start_unit": encode_unit(assertion.start),
        "end_unit": encode_unit(assertion.end),
        "still": assertion.still,
        "same_as": safe_or_none(assertion.same_as),
        "excludes": text_list(assertion.excludes),
        **_span_params(assertion.span),
        "attributes": encode_mapping(assertion.attributes),
        "gm_added": change,
    }


def assertion(row: Mapping[str, Any]) -> Assertion:
    """An assertion from its node's properties."""
    return Assertion(
        id=raw_text(row["id"]),
        episode=raw_text(row["episode"]),
        position=row["position"],
        source=raw_text(row["source"]),
        relation=raw_text(row["relation"]),
        target=raw_text(row["target"]),
        text=raw_text(row["text"]),
        kind=AssertionKind(row["kind"]),
        start=decode_unit(row.get("start_unit")),
        end=decode_unit(row.get("end_unit")),
        still=bool(row["still"]),
        same_as=raw_or_none(row.get("same_as")),
        excludes=texts(row["excludes"]),
        span=_span(row),
        attributes=decode_mapping(row["attributes"]),
    )


def mention_params(mention: Mention, episode: Episode, change: int) -> Params:
    """The properties of a mention's node."""
    return {
        "group_id": safe_text(episode.group),
        "episode": safe_text(mention.episode),
        "seq": episode.seq,
        "reference_time": to_micros(episode.reference_time),
        "position": mention.position,
        "entity": safe_text(mention.entity),
        "name": safe_text(mention.name),
        "type": safe_text(mention.type),
        **_span_params(mention.span),
        "attributes": encode_mapping(mention.attributes),
        "gm_added": change,
    }


def mention(row: Mapping[str, Any]) -> Mention:
    """A mention from its node's properties."""
    return Mention(
        episode=raw_text(row["episode"]),
        position=row["position"],
        entity=raw_text(row["entity"]),
        name=raw_text(row["name"]),
        type=raw_text(row["type"]),
        span=_span(row),
        attributes=decode_mapping(row["attributes"]),
    )


def operation_params(operation: Operation, change: int) -> Params:
    """The properties of an operation's node."""
    return {
        "group_id": safe_text(operation.group),
        "id": safe_text(operation.id),
        "seq": operation.seq,
        "kind": operation.kind.value,
        "targets": text_list(operation.targets),
        "arguments": encode_mapping(operation.values),
        "created_at": to_micros_or_none(operation.created_at),
        "author": safe_or_none(operation.author),
        "reason": safe_or_none(operation.reason),
        "digest": recorded_digest(operation),
        "gm_added": change,
    }


def operation(row: Mapping[str, Any]) -> Operation:
    """An operation from its node's properties."""
    return Operation(
        id=raw_text(row["id"]),
        group=raw_text(row["group_id"]),
        kind=OperationKind(row["kind"]),
        targets=texts(row["targets"]),
        values=decode_mapping(row["arguments"]),
        seq=row["seq"],
        created_at=from_micros_or_none(row.get("created_at")),
        author=raw_or_none(row.get("author")),
        reason=raw_or_none(row.get("reason")),
        digest=row.get("digest"),
    )


# ------------------------------------------------------------------------------------------------ versions


def fact_params(version: FactVersion, words: str, change: int) -> Params:
    """A fact version's ends and the properties of its relationship, those that Graphiti knows first."""
    began = utc(version.system.start or version.valid.start)
    indexed = words_params(version.group, words)
    bounds = (version.start.precision, version.start.origin, version.end.precision, version.end.origin)
    return {
        "source": safe_text(version.source),
        "target": safe_text(version.target),
        "moment": began or _FIRST,
        "row": {
            **flat(version.attributes),
            "uuid": safe_text(version.uuid),
            "group_id": safe_text(version.group),
            "name": safe_text(version.relation),
            "fact": safe_text(version.text),
            "episodes": [],
            "created_at": began or _FIRST,
            "expired_at": utc(version.system.end),
            "valid_at": utc(version.valid.start),
            "invalid_at": utc(version.valid.end),
            "source_node_uuid": safe_text(version.source),
            "target_node_uuid": safe_text(version.target),
            "gm_fact_id": safe_text(version.fact_id),
            "gm_relation_index": index_key(version.relation),
            "gm_valid_from": start_micros(version.valid.start),
            "gm_valid_to": end_micros(version.valid.end),
            **system_params(version.system, change),
            "gm_bounds": " ".join(b.value for b in bounds),
            "gm_attributes": encode_mapping(version.attributes),
            "gm_words": indexed["words"],
            "gm_said": indexed["said"],
            "gm_scope": indexed["scope"],
        },
    }


_FIRST = datetime(1, 1, 1, tzinfo=UTC)


def fact(row: Mapping[str, Any], pin: int) -> FactVersion:
    """A fact version from its relationship's properties."""
    start, end = _bounds(row["gm_bounds"])
    return FactVersion(
        uuid=raw_text(row["uuid"]),
        fact_id=raw_text(row["gm_fact_id"]),
        group=raw_text(row["group_id"]),
        relation=raw_text(row["name"]),
        source=raw_text(row["source_node_uuid"]),
        target=raw_text(row["target_node_uuid"]),
        text=raw_text(row["fact"]),
        valid=interval(row["gm_valid_from"], row["gm_valid_to"]),
        system=system(row, pin),
        start=start,
        end=end,
        attributes=decode_mapping(row["gm_attributes"]),
    )


def citation_params(citation: CitationVersion, group: str) -> Params:
    """What tells a citation from every other."""
    return {
        "group_id": safe_text(group),
        "fact_id": safe_text(citation.fact_id),
        "valid_at": start_micros(citation.valid_at),
        "episode": safe_text(citation.episode),
        "by": safe_text(citation.by),
    }


def citation(row: Mapping[str, Any], pin: int) -> CitationVersion:
    """A citation from its node's properties."""
    valid_at = None if row["valid_at"] == OPEN_START else from_micros(row["valid_at"])
    return CitationVersion(raw_text(row["fact_id"]), valid_at, raw_text(row["episode"]), raw_text(row["by"]), system(row, pin))


def entity_params(version: EntityVersion, words: str, change: int) -> Params:
    """An entity version's node, its names' keys, its type as a label, and its words."""
    keys = sorted(index_key(k) for k in name_keys(version))
    return {
        "row": {
            "uuid": safe_text(version.uuid),
            "id": safe_text(version.id),
            "group_id": safe_text(version.group),
            "name": safe_text(version.name),
            "name_key": safe_text(names.key(version.name)),
            "keys": keys,
            "type": safe_text(version.type),
            "aliases": text_list(version.aliases),
            "attributes": encode_mapping(version.attributes),
            **system_params(version.system, change),
        },
        "keys": keys,
        "flat": flat(version.attributes),
        "labels": [version.type] if is_label(version.type) else [],
        "moment": utc(version.system.start) or _FIRST,
        **words_params(version.group, words),
    }


def is_label(type: str) -> bool:
    """Whether a type may be a label: a plain word that no other node of the graph is called by."""
    return _is_plain(type) and type not in _TAKEN and not type.startswith("Graphmem")


def flat(attributes: Mapping[str, object]) -> Params:
    """The attributes that may be properties, as others look for them: of a plain name that nothing else has, and not nested.

    >>> flat({"age": 41, "uuid": "mine", "home address": "Rua 1", "born": {"year": 1984}})
    {'age': 41}
    """
    return {k: safe_text(v) if isinstance(v, str) else v for k, v in attributes.items() if _is_property(k) and _is_flat(v)}


def _is_property(name: str) -> bool:
    return _is_plain(name) and name not in _PROPERTIES and not name.startswith("gm_")


def _is_plain(name: str) -> bool:
    return name.isascii() and name.isidentifier() and len(name) <= _LONGEST_NAME


def _is_flat(value: object) -> bool:
    """Whether a property holds the value as it is."""
    if isinstance(value, int):
        return -(2**63) <= value < 2**63
    return isinstance(value, str) or (isinstance(value, float) and math.isfinite(value))


_LONGEST_NAME = 64
_TAKEN = frozenset((DEFAULT_TYPE, "Episodic", "Community", "Saga"))
_OF_BOTH = ("uuid", "name", "group_id", "created_at")
_OF_NODES = ("labels", "summary", "name_embedding")
_OF_FACTS = ("fact", "episodes", "expired_at", "valid_at", "invalid_at", "reference_time", "fact_embedding")
_OF_ENDS = ("source_node_uuid", "target_node_uuid", "source_uuid", "target_uuid")
_PROPERTIES = frozenset((*_OF_BOTH, *_OF_NODES, *_OF_FACTS, *_OF_ENDS))


def entity(row: Mapping[str, Any], pin: int) -> EntityVersion:
    """An entity version from its node's properties."""
    return EntityVersion(
        uuid=raw_text(row["uuid"]),
        id=raw_text(row["id"]),
        group=raw_text(row["group_id"]),
        name=raw_text(row["name"]),
        type=raw_text(row["type"]),
        aliases=texts(row["aliases"]),
        attributes=decode_mapping(row["attributes"]),
        system=system(row, pin),
    )


def mention_version(row: Mapping[str, Any], pin: int) -> MentionVersion:
    """A mention version from a mention, its canonical entity, and when it counts for that."""
    return MentionVersion(mention(row["mention"]), raw_text(row["entity"]), system(row["system"], pin))
