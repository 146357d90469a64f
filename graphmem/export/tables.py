"""Tables of what a memory holds: facts with all four dates, entities, episodes, mentions, communities; as CSV, Parquet and Arrow."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from graphmem.errors import MissingExtra
from graphmem.export.plaintext import attributes_text, stamp
from graphmem.export.selection import BATCH, Cut, batched
from graphmem.model import EntityVersion, Episode, MentionVersion
from graphmem.results import FactItem
from graphmem.shown import utf8_text

if TYPE_CHECKING:
    import pyarrow as pa

Row = Mapping[str, object]
ColumnType = Literal["text", "texts", "instant", "number", "truth"]
ARROW_LINE = "pip install 'graphmem[export]'"
_SPANNED: tuple[tuple[str, ColumnType], ...] = (("created_at", "instant"), ("expired_at", "instant"))


@dataclass(frozen=True, slots=True)
class Table:
    """A table by name: its columns with their types, and its rows, read in batches."""

    name: str
    columns: tuple[tuple[str, ColumnType], ...]
    rows: Callable[[Cut], Iterator[Row]]


def _fact_rows(cut: Cut) -> Iterator[Row]:
    return map(fact_row, cut.facts())


def fact_row(fact: FactItem) -> Row:
    return {
        **{name: getattr(fact, name) for name in ("uuid", "group", "source", "relation", "target", "text", "source_id", "target_id")},
        "fact": fact.id,
        "valid_at": fact.valid_at,
        "invalid_at": fact.invalid_at,
        "created_at": fact.created_at,
        "expired_at": fact.expired_at,
        "valid_at_precision": fact.start.precision.value,
        "invalid_at_precision": fact.end.precision.value,
        "valid_at_origin": fact.start.origin.value,
        "invalid_at_origin": fact.end.origin.value,
        "episodes": fact.episodes,
        "attributes": attributes_text(fact.attributes),
    }


def _entity_rows(cut: Cut) -> Iterator[Row]:
    return map(_entity, cut.tally.of("entities", cut.entities.values()))


def _entity(entity: EntityVersion) -> Row:
    return {
        "id": entity.id,
        "group": entity.group,
        "name": entity.name,
        "type": entity.type,
        "aliases": entity.aliases,
        "attributes": attributes_text(entity.attributes),
        "created_at": entity.system.start,
        "expired_at": entity.system.end,
    }


def _episode_rows(cut: Cut) -> Iterator[Row]:
    return map(_episode, cut.tally.of("episodes", visible_episodes(cut)))


def visible_episodes(cut: Cut) -> Iterator[Episode]:
    """Episodes that are visible at the point; of a narrow selection those that mention one of its entities."""
    found = cut.reader.episodes(cut.groups, cut.at)
    if not cut.selection.is_narrow:
        return iter(found)
    ids = {m.mention.episode for m in _mentions(cut)}
    return (e for e in found if e.id in ids)


def _episode(episode: Episode) -> Row:
    return {
        **{name: getattr(episode, name) for name in ("id", "group", "reference_time", "created_at", "actor", "session", "source")},
        "kind": episode.kind.value,
        "text": episode.body,
        "zone": episode.zone,
        "attributes": attributes_text(episode.attributes),
    }


def _mentions(cut: Cut) -> Iterator[MentionVersion]:
    for ids in batched(cut.entities, BATCH):
        yield from cut.reader.mentions(cut.groups, cut.at, entities=ids)


def _mention_rows(cut: Cut) -> Iterator[Row]:
    for version in cut.tally.of("mentions", _mentions(cut)):
        mention = version.mention
        yield {
            "episode": mention.episode,
            "entity": version.entity,
            "name": mention.name,
            "type": mention.type,
            "start": mention.span.start if mention.span else None,
            "end": mention.span.end if mention.span else None,
            "created_at": version.system.start,
            "expired_at": version.system.end,
        }


def _community_rows(cut: Cut) -> Iterator[Row]:
    for item in cut.tally.of("communities", cut.communities):
        yield {
            **{name: getattr(item, name) for name in ("id", "group", "level", "name", "summary", "size", "parent", "facts")},
            "created_at": item.system.start if item.system else None,
            "computed": item.computed,
        }


def _member_rows(cut: Cut) -> Iterator[Row]:
    rows = ((item, member) for item in cut.communities for member in item.members)
    for item, member in cut.tally.of("members", rows):
        yield {"community": item.id, "level": item.level, "group": item.group, "entity": member.id, "name": member.name}


TABLES = {
    t.name: t
    for t in (
        Table(
            "facts",
            (
                *((name, "text") for name in ("uuid", "fact", "group", "source", "relation", "target", "text")),
                *((name, "instant") for name in ("valid_at", "invalid_at", "created_at", "expired_at")),
                *((name, "text") for name in ("valid_at_precision", "invalid_at_precision", "valid_at_origin", "invalid_at_origin")),
                ("source_id", "text"),
                ("target_id", "text"),
                ("episodes", "texts"),
                ("attributes", "text"),
            ),
            _fact_rows,
        ),
        Table(
            "entities",
            (*((n, "text") for n in ("id", "group", "name", "type")), ("aliases", "texts"), ("attributes", "text"), *_SPANNED),
            _entity_rows,
        ),
        Table(
            "episodes",
            (
                *((name, "text") for name in ("id", "group", "kind", "actor", "text")),
                ("reference_time", "instant"),
                ("created_at", "instant"),
                *((name, "text") for name in ("session", "source", "zone", "attributes")),
            ),
            _episode_rows,
        ),
        Table(
            "mentions",
            (*((n, "text") for n in ("episode", "entity", "name", "type")), ("start", "number"), ("end", "number"), *_SPANNED),
            _mention_rows,
        ),
        Table(
            "communities",
            (
                *((n, "text") for n in ("id", "group", "name", "summary", "parent")),
                ("level", "number"),
                ("size", "number"),
                ("facts", "texts"),
                ("created_at", "instant"),
                ("computed", "truth"),
            ),
            _community_rows,
        ),
        Table(
            "members",
            (("community", "text"), ("level", "number"), *((n, "text") for n in ("entity", "name", "group"))),
            _member_rows,
        ),
    )
}


def write_csv(cut: Cut, path: Path, table: str = "facts") -> None:
    """One table as CSV (RFC 4180, UTF-8, a header): instants ISO 8601 in UTC, lists as JSON, nothing as an empty field.

    Values are written as they are: a program that runs cells which begin with "=" must be told not to.
    """
    chosen = TABLES[table]
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(name for name, _ in chosen.columns)
        for row in chosen.rows(cut):
            writer.writerow(_csv(row[name]) for name, _ in chosen.columns)


def _csv(value: object) -> object:
    match value:
        case str():
            return utf8_text(value).replace("\x00", "\ufffd")
        case bool():
            return str(value).lower()
        case datetime():
            return stamp(value)
        case tuple():
            return json.dumps(value) if value else ""
    return value


def write_parquet(cut: Cut, path: Path, table: str = "facts") -> None:
    """One table as Parquet, a row group of some thousand rows at a time: instants are timestamps in UTC, microseconds."""
    import_arrow()
    from pyarrow import parquet

    chosen = TABLES[table]
    with parquet.ParquetWriter(path, arrow_schema(chosen), compression="zstd") as writer:
        for rows in batched(chosen.rows(cut), 10 * BATCH):
            writer.write_table(arrow_table(chosen, rows))


def arrow(cut: Cut, table: str) -> pa.Table:
    """One table in memory."""
    pyarrow = import_arrow()
    chosen = TABLES[table]
    parts = [arrow_table(chosen, rows) for rows in batched(chosen.rows(cut), 10 * BATCH)]
    return pyarrow.concat_tables([*parts, arrow_schema(chosen).empty_table()])


def import_arrow() -> pa:
    """The package, or the line that installs it."""
    try:
        import pyarrow
    except ImportError as error:
        raise MissingExtra(f"Parquet, Arrow and pandas tables need pyarrow: {ARROW_LINE}") from error
    return pyarrow


def arrow_schema(table: Table) -> pa.Schema:
    """The table's columns as Arrow types."""
    pyarrow = import_arrow()
    types = {
        "text": pyarrow.string(),
        "texts": pyarrow.list_(pyarrow.string()),
        "instant": pyarrow.timestamp("us", tz="UTC"),
        "number": pyarrow.int64(),
        "truth": pyarrow.bool_(),
    }
    return pyarrow.schema([(name, types[kind]) for name, kind in table.columns])


def arrow_table(table: Table, rows: Sequence[Row]) -> pa.Table:
    """Some rows of a table."""
    columns = {name: [_arrow(row[name]) for row in rows] for name, _ in table.columns}
    return import_arrow().table(columns, schema=arrow_schema(table))


def _arrow(value: object) -> object:
    if isinstance(value, str):
        return utf8_text(value)
    if isinstance(value, tuple):
        return [utf8_text(v) for v in value]
    return value
