"""What was known at each of several instants and nothing later, as a table; and the proof that a table holds nothing later.

A row never shows when its belief ended: at its instant nobody knew.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar

from graphmem.belief.entities import entities_of
from graphmem.belief.fold import fact_id, fold
from graphmem.belief.identity import resolve_identity
from graphmem.entries import recorded_at
from graphmem.errors import InvalidInput, MissingExtra
from graphmem.export.plaintext import attributes_text
from graphmem.export.tables import TABLES, Row, Table, arrow_table, fact_row
from graphmem.interval import Interval
from graphmem.model import (
    AsOf,
    EntityMatch,
    FactMatch,
    FactVersion,
    LogEntry,
    Operation,
    OperationKind,
    Period,
    Violation,
)
from graphmem.ontology import Ontology
from graphmem.results import FactItem
from graphmem.runtime import canonical_json
from graphmem.shown import PANDAS_LINE, utf8_text
from graphmem.stores.base import Reader

if TYPE_CHECKING:
    import pandas
    import pyarrow

Cells = Mapping[str, Any]
"""A row of a frame that somebody hands in."""

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

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
    """Every value of a table of `facts_table` (or its data frame) that does not follow from what was recorded until its row's instant,
    row by row.

    A row is held against the log up to its instant, folded again: that is not what the table was made of. Of the versions that are
    kept only `uuid` and `created_at` are taken, which no fold gives. `ontology` gives that of a group.
    """
    rows = list(enumerate(_read(frame)))
    groups = {utf8_text(g): g for g in reader.groups()}
    found: list[tuple[int, Violation]] = []
    for named, numbered in _by(rows, lambda pair: str(pair[1]["group"])).items():
        group = groups.get(named, named)
        found += _leaks_of(reader, group, ontology(group), numbered)
    return (violation for _, violation in sorted(found, key=itemgetter(0)))


def _leaks_of(reader: Reader, group: str, ontology: Ontology, rows: Sequence[tuple[int, Cells]]) -> Iterator[tuple[int, Violation]]:
    """The leaks of the rows of one group, each with the number of its row."""
    log = list(reader.log(group))
    written = [recorded_at(entry) for entry in log]
    versions = {v.uuid: v for v in reader.fact_versions(group, sorted({str(row["uuid"]) for _, row in rows}))}
    # Instants with no entry between them are one to the fold.
    for length, numbered in _by(rows, lambda pair: bisect_right(written, pair[1]["instant"])).items():
        known = _Known(group, log[:length], ontology)
        for n, row in numbered:
            uuid, where = str(row["uuid"]), f"row {n}, at {_written_out(row['instant'])}"
            for wrong in known.wrong(row, versions.get(uuid)):
                yield n, Violation("leak", uuid, f"{where}: {wrong}")


class _Known:
    """What a log says up to some instant."""

    def __init__(self, group: str, log: Sequence[LogEntry], ontology: Ontology) -> None:
        given = [e for e in log if isinstance(e, Operation) and e.kind is OperationKind.ONTOLOGY]
        if given:
            ontology = Ontology.from_json(given[-1].values["relations"])  # type: ignore[arg-type]
        identity = resolve_identity(log)
        self.periods = {(fact_id(group, p.key), p.valid.start): p for p in fold(log, ontology, identity)}
        self.names = {entity: state.name for entity, state in entities_of(log, identity).items()}

    def wrong(self, row: Cells, version: FactVersion | None) -> Iterator[str]:
        """What of a row was not known here; `version` is the one that has its uuid."""
        fact = (str(row["fact"]), row["valid_at"])
        if version is None or row["instant"] not in version.system:
            yield f"uuid is {row['uuid']!r}, which no version had that was believed then"
        else:
            fact = (version.fact_id, version.valid.start)
            yield from _unlike(row, {"created_at": version.system.start})
        period = self.periods.get(fact)
        if period is None:
            yield f"nobody had said then that {row['text']!r} holds {_period(row)}"
        else:
            yield from _unlike(row, {"fact": fact[0], **self._told(period)})

    def _told(self, period: Period) -> Row:
        """The columns that a period gives, as the table writes them."""
        return {
            "source": utf8_text(self.names.get(period.source, period.source)),
            "relation": utf8_text(period.key.relation),
            "target": utf8_text(self.names.get(period.target, period.target)),
            "text": utf8_text(period.text),
            "valid_at": period.valid.start,
            "invalid_at": period.valid.end,
            "valid_at_precision": period.start.precision.value,
            "invalid_at_precision": period.end.precision.value,
            "valid_at_origin": period.start.origin.value,
            "invalid_at_origin": period.end.origin.value,
            "source_id": period.source,
            "target_id": period.target,
            "episodes": sorted({c.episode for c in period.citations}),
            "attributes": attributes_text(period.attributes),
        }


def _unlike(row: Cells, known: Row) -> Iterator[str]:
    """The columns in which a row is not what was known."""
    for column, value in known.items():
        if not _same(column, row[column], value):
            yield f"{column} is {_written_out(row[column])}, and was {_written_out(value)} then"


def _same(column: str, given: object, known: object) -> bool:
    """Whether two values are equal; of episodes, and of the keys of attributes, the order says nothing."""
    if column == "attributes":
        return isinstance(given, str) and canonical_json(_parsed(given)) == canonical_json(_parsed(known))
    if column == "episodes":
        listed = _parsed(given)
        return isinstance(listed, Iterable) and sorted(map(str, listed)) == known
    return given == known


def _parsed(value: object) -> object:
    """What is written as JSON; anything else as it is."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _written_out(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    return "open" if value is None else repr(value)


def _by(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """The items by what `key` says of them, in their order."""
    found: dict[K, list[T]] = defaultdict(list)
    for item in items:
        found[key(item)].append(item)
    return found


def _period(row: Cells) -> str:
    first, last = (m.isoformat() if isinstance(m, datetime) else "…" for m in (row["valid_at"], row["invalid_at"]))
    return f"from {first} to {last}"


def _read(frame: Any) -> list[Cells]:
    """The rows of a data frame or of a table of Arrow, instants as datetimes, nothing as None."""
    if hasattr(frame, "to_pylist"):
        rows: list[dict[str, Any]] = frame.to_pylist()
    elif hasattr(frame, "to_dict") and hasattr(frame, "columns"):
        rows = frame.to_dict("records")
    else:
        raise InvalidInput("frame", frame, "must be what facts_frame gave: a pandas.DataFrame or a pyarrow.Table")
    if rows and (missing := [name for name, _ in COLUMNS if name not in rows[0]]):
        raise InvalidInput("frame", missing, "lacks these columns of facts_frame")
    read: list[Cells] = [{name: _value(row[name]) for name, _ in COLUMNS} for row in rows]
    instants = [name for name, kind in COLUMNS if kind == "instant"]
    for n, row in enumerate(read):
        for name in instants:
            value = row[name]
            if not (isinstance(value, datetime) and value.tzinfo is not None) and (value is not None or name == "instant"):
                raise InvalidInput("frame", value, f"{name} of row {n} must be an instant with a zone, as facts_frame gives it")
    return read


def _value(value: Any) -> Any:
    """A cell as Python holds it; nothing as None, whichever of pandas' words for it stands there."""
    if type(value).__name__ in ("NaTType", "NAType") or (isinstance(value, float) and value != value):
        return None
    if hasattr(value, "to_pydatetime"):
        return value.to_pydatetime()
    return value.tolist() if hasattr(value, "tolist") else value
