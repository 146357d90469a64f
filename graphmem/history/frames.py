"""What was known at each of several instants and nothing later, as a table; and the proof that a table holds nothing later.

A row never shows when its belief ended: at its instant nobody knew.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from graphmem.belief.entities import entities_of
from graphmem.belief.fold import fact_id, fold
from graphmem.belief.identity import resolve_identity
from graphmem.errors import InvalidInput, MissingExtra
from graphmem.export.tables import TABLES, Row, Table, arrow_table, fact_row
from graphmem.interval import Interval
from graphmem.model import AsOf, EntityMatch, EpisodeRecord, FactMatch, LogEntry, Operation, OperationKind, Violation
from graphmem.ontology import Ontology
from graphmem.results import FactItem
from graphmem.shown import PANDAS_LINE, utf8_text
from graphmem.stores.base import Reader

if TYPE_CHECKING:
    import pandas
    import pyarrow

COLUMNS = (("instant", "instant"), *(c for c in TABLES["facts"].columns if c[0] != "expired_at"))
FRAME = Table("facts at instants", COLUMNS, lambda cut: iter(()))


def rows_at(reader: Reader, groups: Sequence[str], wanted: Iterable[tuple[datetime, FactMatch]], *, holding: bool) -> Iterator[Row]:
    """For each instant a row for each fact version that matches, was believed then and, if `holding`, held then; in the order of
    `Reader.facts`.
    """
    for instant, match in wanted:
        point = AsOf(instant if holding else None, instant)
        versions = reader.facts(groups, point, match)
        ends = tuple(sorted({e for v in versions for e in (v.source, v.target)}))
        called = {e.id: e.name for e in reader.entities(groups, AsOf(None, instant), EntityMatch(ids=ends))} if ends else {}
        cited = reader.sources(groups, AsOf(None, instant), [v.uuid for v in versions]) if versions else {}
        for version in versions:
            known = replace(version, system=Interval(version.system.start))
            yield {**fact_row(FactItem.of(known, called, cited.get(version.uuid, ()))), "instant": instant}


def facts_table(rows: Iterable[Row]) -> pyarrow.Table:
    """The rows as a table of Arrow; instants are timestamps in UTC, microseconds."""
    return arrow_table(FRAME, list(rows))


def as_pandas(table: pyarrow.Table) -> pandas.DataFrame:
    """The table as a data frame; instants are `datetime64[us, UTC]`, an open one is `NaT`."""
    try:
        import pandas  # noqa: F401 - without it pyarrow's own message would name no extra
    except ImportError as error:
        raise MissingExtra(f"this needs pandas: {PANDAS_LINE}") from error
    return table.to_pandas()


def leaks(reader: Reader, ontology: Callable[[str], Ontology], frame: Any) -> Iterator[Violation]:
    """Every value of a table of `facts_table` (or its data frame) that does not follow from what was recorded until its row's instant.

    Each instant's rows are held against that part of the log, folded again: facts, dates and sources must come from it, and names
    and episodes must occur in it. `ontology` gives that of a group.
    """
    found = _read(frame)
    parts: dict[tuple[str, datetime], _Known] = {}
    logs: dict[str, list[LogEntry]] = {}
    for n, row in enumerate(found):
        group, instant = str(row["group"]), row["instant"]
        if group not in logs:
            logs[group] = list(reader.log(group))
        if (group, instant) not in parts:
            parts[group, instant] = _Known(group, [e for e in logs[group] if _written(e) <= instant], ontology(group))
        for wrong in parts[group, instant].wrong(row):
            yield Violation("leak", str(row["uuid"]), f"row {n}, at {instant.isoformat()}: {wrong}")


class _Known:
    """What a log says up to some instant."""

    def __init__(self, group: str, log: Sequence[LogEntry], ontology: Ontology) -> None:
        given = [e for e in log if isinstance(e, Operation) and e.kind is OperationKind.ONTOLOGY]
        if given:
            ontology = Ontology.from_json(given[-1].values["relations"])  # type: ignore[arg-type]
        self.facts: dict[str, list[tuple[object, ...]]] = {}
        self.cited: dict[tuple[str, datetime | None], set[str]] = {}
        identity = resolve_identity(log)
        for p in fold(log, ontology, identity):
            fact = fact_id(group, p.key)
            self.facts.setdefault(fact, []).append((p.source, p.target, p.text, p.valid.start, p.valid.end))
            self.cited[fact, p.valid.start] = {c.episode for c in p.citations}
        self.instants = {_written(e) for e in log}
        self.names = {entity: state.name for entity, state in entities_of(log, identity).items()}

    def wrong(self, row: Row) -> Iterator[str]:
        """What of a row is not known here."""
        if row["created_at"] not in self.instants:
            yield f"was first believed at {row['created_at']}, when nothing was recorded yet"
        content = (row["source_id"], row["target_id"], row["text"], row["valid_at"], row["invalid_at"])
        if content not in self.facts.get(str(row["fact"]), ()):
            yield f"nobody had said then that {row['text']!r} holds {_period(row)}"
        elif unknown := set(_listed(row["episodes"])) - self.cited[str(row["fact"]), row["valid_at"]]:  # type: ignore[index]
            yield f"cites {', '.join(sorted(unknown))}, which it did not rest on then"
        for end in ("source", "target"):
            entity = str(row[f"{end}_id"])
            if row[end] != (called := utf8_text(self.names.get(entity, entity))):
                yield f"{end} is {row[end]!r}, and was called {called!r} then"


def _period(row: Row) -> str:
    first, last = (m.isoformat() if isinstance(m, datetime) else "…" for m in (row["valid_at"], row["invalid_at"]))
    return f"from {first} to {last}"


def _read(frame: Any) -> list[dict[str, Any]]:
    """The rows of a data frame or of a table of Arrow, instants as datetimes, nothing as None."""
    if hasattr(frame, "to_pylist"):
        rows: list[dict[str, Any]] = frame.to_pylist()
    elif hasattr(frame, "to_dict") and hasattr(frame, "columns"):
        rows = frame.to_dict("records")
    else:
        raise InvalidInput("frame", frame, "must be what facts_frame gave: a pandas.DataFrame or a pyarrow.Table")
    if rows and (missing := [name for name, _ in COLUMNS if name not in rows[0]]):
        raise InvalidInput("frame", missing, "lacks these columns of facts_frame")
    return [{name: _value(row[name]) for name, _ in COLUMNS} for row in rows]


def _value(value: Any) -> Any:
    """A cell as Python holds it; nothing as None, whichever of pandas' words for it stands there."""
    if type(value).__name__ in ("NaTType", "NAType") or (isinstance(value, float) and value != value):
        return None
    return value.to_pydatetime() if hasattr(value, "to_pydatetime") else value


def _listed(value: Any) -> Collection[str]:
    return json.loads(value) if isinstance(value, str) else list(value) if value is not None else ()


def _written(entry: LogEntry) -> datetime:
    at = entry.episode.created_at if isinstance(entry, EpisodeRecord) else entry.created_at
    assert at is not None
    return at
