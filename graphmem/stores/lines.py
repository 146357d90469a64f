"""An entry of a log as one line of JSON, and the digest by which a line that was changed is told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from hashlib import blake2b
from json.encoder import encode_basestring_ascii as _text

from graphmem.model import DEFAULT_TYPE, Assertion, AssertionKind, Episode, LogEntry, Mention, Operation, Span
from graphmem.stores.codec import encode_mapping, encode_unit

# Put together by hand: an encoder costs more than the rest, and every entry that is written or folded again needs its line.


def json_line(entry: LogEntry) -> str:
    """Everything that the log keeps of an entry as one JSON object in ASCII, equal before it is stored and after it is read again.

    Fields that have their default are left out, so that a field that comes later changes no line that was written before.
    """
    if isinstance(entry, Operation):
        return f'{{"operation":{_operation(entry)}}}'
    line = f'{{"episode":{_episode(entry.episode)}'
    if entry.assertions:
        line += f',"assertions":[{",".join(map(_assertion, sorted(entry.assertions, key=lambda a: (a.position, a.id))))}]'
    if entry.mentions:
        line += f',"mentions":[{",".join(map(_mention, sorted(entry.mentions, key=lambda m: m.position)))}]'
    if entry.links:
        line += f',"links":[{",".join(map(_texts, entry.links))}]'
    if entry.search_text:
        line += f',"search_text":{_texts(entry.search_text)}'
    return line + "}"


def digest_of(entry: LogEntry) -> str:
    """BLAKE2b of the entry's line, 128 bits, hexadecimal."""
    return blake2b(json_line(entry).encode("ascii"), digest_size=16).hexdigest()


def recorded_digest(entry: LogEntry) -> str:
    """The digest that the entry was recorded with; of one that is recorded now, its own."""
    return digest_of(entry) if entry.digest is None else entry.digest


def is_as_recorded(entry: LogEntry) -> bool:
    """Whether the entry is what it was when it was recorded; of one without a digest nothing can be told."""
    return entry.digest is None or entry.digest == digest_of(entry)


def _episode(e: Episode) -> str:
    said = f'"reference_time":{_moment(e.reference_time)},"key":{_text(e.key)}'
    line = f'{{"id":{_text(e.id)},"group":{_text(e.group)},"kind":"{e.kind.value}","body":{_text(e.body)},{said}{_place(e)}'
    for name, value in (("actor", e.actor), ("session", e.session), ("source", e.source)):
        if value is not None:
            line += f',"{name}":{_text(value)}'
    if e.zone != "UTC":
        line += f',"zone":{_text(e.zone)}'
    return f"{line}{_nested('attributes', e.attributes)}}}"


def _assertion(a: Assertion) -> str:
    says = f'"source":{_text(a.source)},"relation":{_text(a.relation)},"target":{_text(a.target)},"text":{_text(a.text)}'
    line = f'{{"id":{_text(a.id)},"episode":{_text(a.episode)},"position":{a.position},{says}'
    if a.kind is not AssertionKind.HOLDS:
        line += f',"kind":"{a.kind.value}"'
    for name, unit in (("start", a.start), ("end", a.end)):
        if unit is not None:
            line += f',"{name}":{_text(str(encode_unit(unit)))}'
    if a.still:
        line += ',"still":true'
    if a.same_as is not None:
        line += f',"same_as":{_text(a.same_as)}'
    if a.excludes:
        line += f',"excludes":{_texts(a.excludes)}'
    return f"{line}{_span(a.span)}{_nested('attributes', a.attributes)}}}"


def _mention(m: Mention) -> str:
    line = f'{{"episode":{_text(m.episode)},"position":{m.position},"entity":{_text(m.entity)},"name":{_text(m.name)}'
    if m.type != DEFAULT_TYPE:
        line += f',"type":{_text(m.type)}'
    return f"{line}{_span(m.span)}{_nested('attributes', m.attributes)}}}"


def _operation(o: Operation) -> str:
    line = f'{{"id":{_text(o.id)},"group":{_text(o.group)},"kind":"{o.kind.value}","targets":{_texts(o.targets)}'
    line += f"{_nested('values', o.values)}{_place(o)}"
    for name, value in (("author", o.author), ("reason", o.reason)):
        if value is not None:
            line += f',"{name}":{_text(value)}'
    return line + "}"


def _place(entry: Episode | Operation) -> str:
    at = "" if entry.created_at is None else f',"created_at":{_moment(entry.created_at)}'
    return f',"seq":{entry.seq}{at}' if entry.seq else at


def _moment(moment: datetime) -> str:
    return f'"{moment.astimezone(UTC).isoformat()}"'


def _span(span: Span | None) -> str:
    return "" if span is None else f',"span":[{span.start},{span.end}]'


def _nested(name: str, values: Mapping[str, object]) -> str:
    return f',"{name}":{_text(encode_mapping(values))}' if values else ""


def _texts(texts: Iterable[str]) -> str:
    return f"[{','.join(map(_text, texts))}]"
