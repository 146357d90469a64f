"""Facts given as rows: checked field by field, an error names the row."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NoReturn

from graphmem import names
from graphmem.dates import parse_unit
from graphmem.errors import InvalidInput
from graphmem.ingest.found import Extraction, FoundEntity, FoundFact
from graphmem.ingest.kinds import compatible
from graphmem.ingest.reading import episode_zone, joined, read_dates, read_kind, sentence
from graphmem.interval import Origin
from graphmem.model import DEFAULT_TYPE, EMPTY, VALUE_TYPE, AssertionKind, Episode, Warn

FIELDS = ("source", "relation", "target", "text", "kind", "valid_at", "invalid_at", "still", "source_type", "target_type", "attributes")


def read_rows(rows: Iterable[Mapping[str, object] | object], episode: Episode) -> Extraction:
    """The facts that `rows` state, in their order; dates without an offset are read in the episode's zone.

    A row is a dict or an object with `source`, `relation`, `target` and optionally `text` (default "Mira works at Acme"),
    `kind` ("holds", "ends", "denies"), `valid_at`, `invalid_at`, `still`, `source_type`, `target_type`, `attributes` (of the
    fact). A number as target is a value. An end not after its start is dropped with the warning `interval_conflict`.
    Raises `InvalidInput` with the row's number, the field and its value.
    """
    reading = _Rows(episode)
    for number, row in enumerate(rows):
        reading.add(number, row)
    return Extraction(tuple(reading.entities), tuple(reading.facts), warnings=tuple(reading.warnings))


class _Rows:
    def __init__(self, episode: Episode) -> None:
        self.reference, self.zone = episode.reference_time, episode_zone(episode.zone)
        self.entities: list[FoundEntity] = []
        self.facts: list[FoundFact] = []
        self.warnings: list[Warn] = []
        self._index: dict[str, list[int]] = {}

    def add(self, number: int, row: object) -> None:
        fields = _Row(number, row)
        source = self._place(fields.entity("source"))
        target = self._place(fields.entity("target"))
        if source == target:
            fields.refuse("target", "must be another thing than the source")
        relation = fields.text("relation")
        if relation is None or not any(c.isalnum() for c in relation):
            fields.refuse("relation", "must be a name, for instance 'works_at'")
        fields.check_dates(self)
        start, end = read_dates(fields.values, self.reference, self.zone, Origin.STATED, self.warnings)
        text = fields.text("text") or sentence(self.entities[source].name, relation, self.entities[target].name)
        self.facts.append(
            FoundFact(source, target, relation.strip(), text, fields.kind(), start, end, fields.still(), attributes=fields.attributes())
        )

    def _place(self, entity: FoundEntity) -> int:
        """The position of an entity, joined with one of the same name and a compatible type."""
        at_name = self._index.setdefault(names.key(entity.name), [])
        for at in at_name:
            if compatible(self.entities[at].type, entity.type):
                self.entities[at] = joined(self.entities[at], entity)
                return at
        self.entities.append(entity)
        at_name.append(len(self.entities) - 1)
        return at_name[-1]


@dataclass(frozen=True, slots=True)
class _Row:
    """One row's fields, each checked as it is taken."""

    number: int
    row: object

    def refuse(self, field: str, allowed: str) -> NoReturn:
        raise InvalidInput(f"rows[{self.number}].{field}", self.values.get(field), allowed)

    @property
    def values(self) -> Mapping[str, object]:
        if isinstance(self.row, Mapping):
            unknown = sorted(str(k) for k in self.row if k not in FIELDS)
            if unknown:
                raise InvalidInput(f"rows[{self.number}]", unknown, f"unknown fields; allowed are {', '.join(FIELDS)}")
            return self.row
        found = {field: getattr(self.row, field) for field in FIELDS if hasattr(self.row, field)}
        if not found:
            raise InvalidInput(f"rows[{self.number}]", self.row, f"must be a dict or an object with the fields {', '.join(FIELDS[:3])}")
        return found

    def text(self, field: str) -> str | None:
        value = self.values.get(field)
        if value is None:
            return None
        if not isinstance(value, str) or not names.clean(value):
            self.refuse(field, "must be a str that is not blank, or left out")
        return value

    def entity(self, field: str) -> FoundEntity:
        name, kind = self.values.get(field), names.clean(self.text(f"{field}_type") or "")
        if field == "target" and isinstance(name, int | float) and not isinstance(name, bool) and math.isfinite(name):
            return FoundEntity(str(name), kind or VALUE_TYPE)
        if not isinstance(name, str) or not names.is_nameable(name):
            self.refuse(field, f"must be a name: 1-{names.MAX_NAME} characters, something visible that is more than punctuation")
        return FoundEntity(names.clean(name), kind or DEFAULT_TYPE)

    def kind(self) -> AssertionKind:
        kind = read_kind(self.values.get("kind"))
        if kind is None:
            self.refuse("kind", f"must be one of {[k.value for k in AssertionKind]}")
        return kind

    def still(self) -> bool:
        still = self.values.get("still")
        if still is not None and not isinstance(still, bool):
            self.refuse("still", "must be True or False")
        return bool(still)

    def attributes(self) -> Mapping[str, object]:
        given = self.values.get("attributes")
        if given is None:
            return EMPTY
        if not isinstance(given, Mapping) or not all(isinstance(key, str) for key in given):
            self.refuse("attributes", "must be a dict with str keys")
        return dict(given)

    def check_dates(self, rows: _Rows) -> None:
        for field in ("valid_at", "invalid_at"):
            value = self.values.get(field)
            if value is not None and parse_unit(value, rows.reference, rows.zone) is None:
                self.refuse(field, "must be a datetime, a year, or a date such as '2022', '2022-05' or '2022-05-14T09:00Z'")
