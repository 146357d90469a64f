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
    EpisodeRecord,
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
from graphmem.stores.lines import recorded_digest
from graphmem.stores.sqlite.session import Value

Params = dict[str, Value]
Values = tuple[Value, ...]
"""Of a row, in the order in which the statement that writes it uses them."""


_EPISODE_KINDS = {kind.value: kind for kind in EpisodeKind}


def _span(start: int | None, end: int | None) -> Span | None:
    return None if start is None or end is None else Span(start, end)


@lru_cache(maxsize=256)
def _bound(precision: str, origin: str) -> Bound:
    return Bound(Precision(precision), Origin(origin))


FACT_ORDER = itemgetter(8, 10, 1)  # of rows as `fact` reads them: valid_at, created_at, uuid


# ------------------------------------------------------------------------------------------------ the log


def episode_params(record: EpisodeRecord, group: int) -> Values:
    """The parameters of `add_episode`."""
    episode = record.episode
    return (
        safe_text(episode.id),
        group,
        episode.seq,
        safe_text(episode.key),
        episode.kind.value,
        to_micros(episode.reference_time),
        to_micros_or_none(episode.created_at),
        safe_or_none(episode.actor),
        safe_or_none(episode.session),
        safe_or_none(episode.source),
        safe_text(episode.zone),
        encode_mapping(episode.attributes),
        text_list(record.search_text),
        safe_text(episode.body),
        recorded_digest(record),
    )


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


def assertion_params(assertion: Assertion, episode_row: int) -> Values:
    """The parameters of `add_assertion`."""
    start, end = assertion.span or (None, None)
    return (
        safe_text(assertion.id),
        episode_row,
        assertion.position,
        safe_text(assertion.source),
        safe_text(assertion.relation),
        safe_text(assertion.target),
        safe_text(assertion.text),
        assertion.kind.value,
        encode_unit(assertion.start),
        encode_unit(assertion.end),
        int(assertion.still),
        safe_or_none(assertion.same_as),
        text_list(assertion.excludes),
        start,
        end,
        encode_mapping(assertion.attributes),
    )


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


def mention_params(mention: Mention, episode_row: int) -> Values:
    """The parameters of `add_mention`."""
    start, end = mention.span or (None, None)
    return (
        episode_row,
        mention.position,
        safe_text(mention.entity),
        safe_text(mention.name),
        safe_text(mention.type),
        start,
        end,
        encode_mapping(mention.attributes),
    )


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


def operation_params(operation: Operation, group: int) -> Values:
    """The parameters of `add_operation`."""
    return (
        safe_text(operation.id),
        group,
        operation.seq,
        operation.kind.value,
        text_list(operation.targets),
        encode_mapping(operation.values),
        to_micros_or_none(operation.created_at),
        safe_or_none(operation.author),
        safe_or_none(operation.reason),
        recorded_digest(operation),
    )


def operation(row: Sequence[Any], group: str) -> Operation:
    """An operation from id, kind, targets, arguments, seq, created_at, author, reason, digest."""
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
        digest=row[8],
    )


# ------------------------------------------------------------------------------------------------ versions


def fact_params(version: FactVersion, group: int, changed: int) -> Values:
    """The parameters of `add_fact`."""
    return (
        safe_text(version.uuid),
        safe_text(version.fact_id),
        group,
        safe_text(version.relation),
        safe_text(version.source),
        safe_text(version.target),
        safe_text(version.text),
        start_micros(version.valid.start),
        end_micros(version.valid.end),
        start_micros(version.system.start),
        end_micros(version.system.end),
        version.start.precision.value,
        version.start.origin.value,
        version.end.precision.value,
        version.end.origin.value,
        encode_mapping(version.attributes),
        changed,
    )


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


def entity_params(version: EntityVersion, entity_row: int, group: int, changed: int) -> Values:
    """The parameters of `add_entity_version`."""
    return (
        safe_text(version.uuid),
        entity_row,
        safe_text(version.id),
        group,
        safe_text(version.name),
        safe_text(names.key(version.name)),
        safe_text(version.type),
        text_list(version.aliases),
        encode_mapping(version.attributes),
        start_micros(version.system.start),
        end_micros(version.system.end),
        changed,
    )


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
