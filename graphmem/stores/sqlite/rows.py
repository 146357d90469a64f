"""Rows as values and values as rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any, cast

from graphmem import names
from graphmem.interval import Origin, Precision
from graphmem.model import (
    Assertion,
    AssertionKind,
    Bound,
    CitationVersion,
    EntityVersion,
    Episode,
    EpisodeKind,
    FactVersion,
    Mention,
    MentionVersion,
    Operation,
    OperationKind,
    Span,
)
from graphmem.stores.base import Claim, Turn
from graphmem.stores.codec import (
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
from graphmem.stores.sqlite.session import Value

Params = dict[str, Value]


_EPISODE_KINDS = {kind.value: kind for kind in EpisodeKind}


def _span(start: int | None, end: int | None) -> Span | None:
    return None if start is None or end is None else Span(start, end)


@lru_cache(maxsize=256)
def _bound(precision: str, origin: str) -> Bound:
    return Bound(Precision(precision), Origin(origin))


FACT_ORDER = itemgetter(8, 10, 1)  # of rows as `fact` reads them: valid_at, created_at, uuid


# ------------------------------------------------------------------------------------------------ the log


def episode_params(episode: Episode, group: int, search_text: Sequence[str]) -> Params:
    """The parameters of `add_episode`."""
    return {
        "id": safe_text(episode.id),
        "grp": group,
        "seq": episode.seq,
        "key": safe_text(episode.key),
        "kind": episode.kind.value,
        "reference_time": to_micros(episode.reference_time),
        "created_at": to_micros_or_none(episode.created_at),
        "actor": safe_or_none(episode.actor),
        "session": safe_or_none(episode.session),
        "source": safe_or_none(episode.source),
        "zone": safe_text(episode.zone),
        "attributes": encode_mapping(episode.attributes),
        "search_text": text_list(search_text),
        "body": safe_text(episode.body),
    }


def episode(row: Sequence[Any], group: str) -> Episode:
    """An episode from n, id, grp, seq, key, kind, reference_time, created_at, actor, session, source, zone, attributes, body."""
    return Episode(
        id=raw_text(row[1]),
        group=group,
        kind=_EPISODE_KINDS[row[5]],
        body=raw_text(row[13]),
        reference_time=from_micros(row[6]),
        key=raw_text(row[4]),
        seq=row[3],
        created_at=from_micros_or_none(row[7]),
        actor=raw_or_none(row[8]),
        session=raw_or_none(row[9]),
        source=raw_or_none(row[10]),
        zone=raw_text(row[11]),
        attributes=decode_mapping(row[12]),
    )


def turn(i: str, row: Sequence[Any], groups: Mapping[int, str]) -> Turn:
    """A turn, of this id, from n, grp, session, actor, zone, reference_time, body."""
    _, grp, session, actor, zone, reference_time, body = row
    return Turn(i, groups[grp], raw_or_none(session), raw_or_none(actor), raw_text(zone), from_micros(reference_time), raw_text(body))


def claim(uuid: str, row: Sequence[Any]) -> Claim:
    """A claim, of this uuid, from n, relation, source, target, text, valid_at, invalid_at."""
    _, relation, source, target, text, valid_at, invalid_at = row
    return Claim(uuid, raw_text(relation), raw_text(source), raw_text(target), raw_text(text), interval(valid_at, invalid_at))


def assertion_params(assertion: Assertion, episode_row: int) -> Params:
    """The parameters of `add_assertion`."""
    start, end = assertion.span or (None, None)
    return {
        "id": safe_text(assertion.id),
        "episode": episode_row,
        "position": assertion.position,
        "source": safe_text(assertion.source),
        "relation": safe_text(assertion.relation),
        "target": safe_text(assertion.target),
        "text": safe_text(assertion.text),
        "kind": assertion.kind.value,
        "start_unit": encode_unit(assertion.start),
        "end_unit": encode_unit(assertion.end),
        "still": int(assertion.still),
        "same_as": safe_or_none(assertion.same_as),
        "excludes": text_list(assertion.excludes),
        "span_start": start,
        "span_end": end,
        "attributes": encode_mapping(assertion.attributes),
    }


def assertion(row: Sequence[Any]) -> Assertion:
    """An assertion from id, episode, position ... attributes, as the statements select them."""
    return Assertion(
        id=raw_text(row[0]),
        episode=raw_text(row[1]),
        position=row[2],
        source=raw_text(row[3]),
        relation=raw_text(row[4]),
        target=raw_text(row[5]),
        text=raw_text(row[6]),
        kind=AssertionKind(row[7]),
        start=decode_unit(row[8]),
        end=decode_unit(row[9]),
        still=bool(row[10]),
        same_as=raw_or_none(row[11]),
        excludes=texts(row[12]),
        span=_span(row[13], row[14]),
        attributes=decode_mapping(row[15]),
    )


def mention_params(mention: Mention, episode_row: int) -> Params:
    """The parameters of `add_mention`."""
    start, end = mention.span or (None, None)
    return {
        "episode": episode_row,
        "position": mention.position,
        "entity": safe_text(mention.entity),
        "name": safe_text(mention.name),
        "type": safe_text(mention.type),
        "span_start": start,
        "span_end": end,
        "attributes": encode_mapping(mention.attributes),
    }


def mention(row: Sequence[Any]) -> Mention:
    """A mention from episode id, position, entity, name, type, span_start, span_end, attributes."""
    return Mention(
        episode=raw_text(row[0]),
        position=row[1],
        entity=raw_text(row[2]),
        name=raw_text(row[3]),
        type=raw_text(row[4]),
        span=_span(row[5], row[6]),
        attributes=decode_mapping(row[7]),
    )


def operation_params(operation: Operation, group: int) -> Params:
    """The parameters of `add_operation`."""
    return {
        "id": safe_text(operation.id),
        "grp": group,
        "seq": operation.seq,
        "kind": operation.kind.value,
        "targets": text_list(operation.targets),
        "arguments": encode_mapping(operation.values),
        "created_at": to_micros_or_none(operation.created_at),
        "author": safe_or_none(operation.author),
        "reason": safe_or_none(operation.reason),
    }


def operation(row: Sequence[Any], group: str) -> Operation:
    """An operation from id, kind, targets, arguments, seq, created_at, author, reason."""
    return Operation(
        id=raw_text(row[0]),
        group=group,
        kind=OperationKind(row[1]),
        targets=texts(row[2]),
        values=decode_mapping(row[3]),
        seq=row[4],
        created_at=from_micros_or_none(row[5]),
        author=raw_or_none(row[6]),
        reason=raw_or_none(row[7]),
    )


# ------------------------------------------------------------------------------------------------ versions


def fact_params(version: FactVersion, group: int, changed: int) -> Params:
    """The parameters of `add_fact`."""
    return {
        "uuid": safe_text(version.uuid),
        "fact_id": safe_text(version.fact_id),
        "grp": group,
        "relation": safe_text(version.relation),
        "source": safe_text(version.source),
        "target": safe_text(version.target),
        "text": safe_text(version.text),
        "valid_at": start_micros(version.valid.start),
        "invalid_at": end_micros(version.valid.end),
        "created_at": start_micros(version.system.start),
        "expired_at": end_micros(version.system.end),
        "start_precision": version.start.precision.value,
        "start_origin": version.start.origin.value,
        "end_precision": version.end.precision.value,
        "end_origin": version.end.origin.value,
        "attributes": encode_mapping(version.attributes),
        "changed": changed,
    }


def fact(row: Sequence[Any], groups: Mapping[int, str]) -> FactVersion:
    """A fact version from n, uuid, fact_id, grp, relation ... attributes."""
    return FactVersion(
        uuid=raw_text(row[1]),
        fact_id=raw_text(row[2]),
        group=groups[row[3]],
        relation=raw_text(row[4]),
        source=raw_text(row[5]),
        target=raw_text(row[6]),
        text=raw_text(row[7]),
        valid=interval(row[8], row[9]),
        system=interval(row[10], row[11]),
        start=_bound(row[12], row[13]),
        end=_bound(row[14], row[15]),
        attributes=decode_mapping(row[16]),
    )


def citation(row: Sequence[Any]) -> CitationVersion:
    """A citation from fact_id, valid_at, episode, author, created_at, expired_at."""
    valid_at = None if row[1] == OPEN_START else from_micros(row[1])
    return CitationVersion(raw_text(row[0]), valid_at, raw_text(row[2]), raw_text(row[3]), interval(row[4], row[5]))


def entity_params(version: EntityVersion, entity_row: int, group: int, changed: int) -> Params:
    """The parameters of `add_entity_version`."""
    return {
        "uuid": safe_text(version.uuid),
        "entity": entity_row,
        "id": safe_text(version.id),
        "grp": group,
        "name": safe_text(version.name),
        "name_key": safe_text(names.key(version.name)),
        "type": safe_text(version.type),
        "aliases": text_list(version.aliases),
        "attributes": encode_mapping(version.attributes),
        "created_at": start_micros(version.system.start),
        "expired_at": end_micros(version.system.end),
        "changed": changed,
    }


def entity(row: Sequence[Any], groups: Mapping[int, str]) -> EntityVersion:
    """An entity version from n, uuid, id, grp, name, type, aliases, attributes, created_at, expired_at."""
    return EntityVersion(
        uuid=raw_text(row[1]),
        id=raw_text(row[2]),
        group=groups[row[3]],
        name=raw_text(row[4]),
        type=raw_text(row[5]),
        aliases=texts(row[6]),
        attributes=decode_mapping(row[7]),
        system=interval(row[8], row[9]),
    )


def mention_version(row: Sequence[Any]) -> MentionVersion:
    """A mention version from the columns of a mention, its canonical entity, created_at, expired_at."""
    return MentionVersion(mention(row), raw_text(row[8]), interval(row[9], row[10]))


def same_text(value: Value) -> str:
    """A text column as text."""
    return raw_text(cast(str, value))
