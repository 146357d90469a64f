"""Corrections: the fields that a user gives, checked, and as the log keeps them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, tzinfo
from types import EllipsisType

from graphmem import names
from graphmem.belief.identity import Identity
from graphmem.belief.slices import load_kin
from graphmem.belief.statements import NAMED
from graphmem.dates import parse_unit
from graphmem.errors import InvalidInput, NotFound
from graphmem.ingest.behind import NOW, Behind
from graphmem.ingest.identities import one_merged
from graphmem.ingest.named import listed
from graphmem.ingest.operating import Act, settled_ontology, without_effect
from graphmem.ingest.reading import sentence
from graphmem.ingest.resolve import value_key
from graphmem.interval import DateUnit, Interval, Origin
from graphmem.model import DEFAULT_TYPE, VALUE_TYPE, Assertion, EntityMatch, FactVersion, OperationKind
from graphmem.ontology import relation_key
from graphmem.runtime import content_id
from graphmem.stores.base import Reader

Date = str | int | date | datetime
Valid = Date | Interval | tuple[Date | EllipsisType, Date | EllipsisType | None]
"""A start, or a pair of start and end: `...` keeps what is there, None as end is "no end known"."""

_ALLOWED = "must be a datetime, a year, or a date such as '2022', '2022-05' or '2022-05-14T09:00Z'"
_ENTITY_ID = re.compile(r"en_[a-z2-7]{26}")


def worded(valid_at: str | None, invalid_at: str | None) -> Valid | None:
    """Start and end in words as a correction takes them: what is left out stays, "none" as end is "no end known".

    >>> worded("2023", None), worded(None, "none"), worded(None, None)
    (('2023', Ellipsis), (Ellipsis, None), None)
    """
    if valid_at is None and invalid_at is None:
        return None
    end = ... if invalid_at is None else None if invalid_at.strip().casefold() == "none" else invalid_at
    return (... if valid_at is None else valid_at, end)


@dataclass(frozen=True, slots=True)
class End:
    """An entity as an end of a fact."""

    id: str
    name: str
    type: str


@dataclass(frozen=True)
class Correction:
    """What a user says is right. `start` and `end` are as the log keeps them, under these names in `dates`."""

    text: str | None
    dates: Mapping[str, DateUnit | None]
    source: str | int | float | None
    relation: str | None
    target: str | int | float | None

    @classmethod
    def checked(
        cls,
        text: str | None,
        valid: Valid | None,
        ends: tuple[str | int | float | None, str | int | float | None],
        relation: str | None,
        now: datetime,
        zone: tzinfo,
    ) -> Correction:
        """Every field as it was given, dates read in `zone`; raises `InvalidInput` naming the field."""
        if text is None and valid is None and relation is None and ends == (None, None):
            raise InvalidInput("correct", None, "needs at least one of text=, valid=, source=, relation=, target=")
        if text is not None and (not isinstance(text, str) or not names.clean(text)):
            raise InvalidInput("text", text, "must be a str that is not blank, or left out")
        if relation is not None and (not isinstance(relation, str) or not relation_key(relation)):
            raise InvalidInput("relation", relation, "must be a name, for instance 'works_at'")
        return cls(text, _dates(valid, now, zone), ends[0], relation, ends[1])

    def act(self, reader: Reader, group: str, found: Behind) -> Act:
        """The operation that corrects what stands behind a version, decided under the lock."""
        told, version = found.told, found.version
        end = self.dates.get("end")
        if end is not None and "start" not in self.dates and version.valid.start is not None and end.last <= version.valid.start:
            raise InvalidInput("valid", end.last.isoformat(), f"the end must be after the start, {version.valid.start.isoformat()}")
        values: dict[str, object] = dict(self.dates)
        if self.source is not None or self.target is not None or self.relation is not None:
            values |= self._triple(reader, group, found)
        if self.text is not None:
            values["text"] = self.text
        named = values.get(NAMED)
        return Act(OperationKind.CORRECT, (*told, *(named if isinstance(named, dict) else ())), values, check=without_effect)

    def _triple(self, reader: Reader, group: str, found: Behind) -> dict[str, object]:
        """The fields of who, what and to whom, the plain sentence of them, and what the entities in them are called.

        Only the fields given, where all assertions behind the version say it in its own direction.
        """
        version = found.version
        known = {e.id: End(e.id, e.name, e.type) for e in reader.entities([group], NOW, EntityMatch(ids=(version.source, version.target)))}
        old = [known.get(i, End(i, i, DEFAULT_TYPE)) for i in (version.source, version.target)]
        given = (self.source, self.target)
        ends = zip(("source", "target"), given, old, strict=True)
        new = [end if name is None else entity(reader, group, name, end.type, argument) for argument, name, end in ends]
        ontology = settled_ontology(reader, group)
        identity = load_kin(reader, group, [version.source, version.target, *(e.id for e in new)]).identity
        if identity.canonical(new[0].id) == identity.canonical(new[1].id):
            raise InvalidInput("target" if self.target is not None else "source", new[1].name, "must be another thing than the other end")
        relation = relation_key(self.relation) if self.relation is not None else version.relation
        fields: dict[str, object] = {"source": new[0].id, "relation": relation, "target": new[1].id}
        plain = sentence(new[0].name, relation, new[1].name)
        if all(_says_so(a, version, ontology.canonical(a.relation), identity) for a in found.assertions):
            asked = {"source": self.source, "relation": self.relation, "target": self.target}
            fields = {field: value for field, value in fields.items() if asked[field] is not None}
        named = {e.id: {"name": e.name, "type": e.type} for e in new if e.id in (fields.get("source"), fields.get("target"))}
        return {**fields, "text": plain, **({NAMED: named} if named else {})}


def _says_so(assertion: Assertion, version: FactVersion, canonical: tuple[str, bool], identity: Identity) -> bool:
    """Whether an assertion is recorded in the direction of the version it stands behind, perhaps of one merged into its ends."""
    relation, turned = canonical
    source, target = (identity.canonical(identity.at(end, assertion.episode)) for end in (assertion.source, assertion.target))
    return relation == version.relation and not turned and (source, target) == (version.source, version.target)


def entity(reader: Reader, group: str, name: str | int | float, kind: str, argument: str) -> End:
    """The entity of that name or id; of a merged one the part that is meant, with which the correction stays if they come apart. A
    new one of type `kind` where nobody has the name; a number, and the name of a value, is a value.

    Raises `InvalidInput` for what is no name and where several share it, `NotFound` for an unknown id.
    """
    if isinstance(name, int | float) and not isinstance(name, bool) and math.isfinite(name):
        name, kind = str(name), VALUE_TYPE
    if not isinstance(name, str) or not names.is_nameable(name):
        raise InvalidInput(argument, name, f"must be a name: 1-{names.MAX_NAME} characters, more than punctuation")
    if by_id := reader.entities([group], NOW, EntityMatch(ids=(load_kin(reader, group, [name]).identity.canonical(name),))):
        return End(*one_merged(reader, by_id[0], name), by_id[0].type)
    if _ENTITY_ID.fullmatch(name):
        raise NotFound(f"no entity has the id {name!r} in group {group!r}")
    if kind == VALUE_TYPE:
        return End(content_id("en", group, "value", value_key(name)), names.clean(name), VALUE_TYPE)
    found = [e for e in reader.entities([group], NOW, EntityMatch(names=(name,))) if e.type != VALUE_TYPE]
    canonical = [e for e in found if names.key(e.name) == names.key(name)]
    chosen = found if len(found) == 1 else canonical
    if len(chosen) > 1 or (found and not chosen):
        raise InvalidInput(argument, name, f"several entities share the name; give one of the ids: {listed(found)}")
    if chosen:
        return End(*one_merged(reader, chosen[0], name), chosen[0].type)
    return End(content_id("en", group, "by hand", reader.head(group).seq + 1, names.key(name)), names.clean(name), kind)


def _dates(valid: Valid | None, now: datetime, zone: tzinfo) -> Mapping[str, DateUnit | None]:
    if valid is None:
        return {}
    if isinstance(valid, Interval):
        if valid.start is None:
            raise InvalidInput("valid", valid, "a start cannot become unknown; (..., end) keeps it")
        valid = (valid.start, valid.end)
    first, last = valid if isinstance(valid, tuple) and len(valid) == 2 else (valid, ...)
    dates: dict[str, DateUnit | None] = {}
    if first is not ...:
        dates["start"] = _unit(first, now, zone)
    if last is not ...:
        dates["end"] = None if last is None else _unit(last, now, zone)
    if not dates:
        raise InvalidInput("valid", valid, "must say a start or an end; `...` keeps what is there")
    start, end = dates.get("start"), dates.get("end")
    if start is not None and end is not None and end.last <= start.first:
        raise InvalidInput("valid", last, f"the end must be after the start, {start.first.isoformat()}")
    return dates


def _unit(given: object, now: datetime, zone: tzinfo) -> DateUnit:
    unit = parse_unit(given, now, zone, Origin.USER)
    if unit is None:
        raise InvalidInput("valid", given, _ALLOWED)
    return replace(unit, origin=Origin.USER)
