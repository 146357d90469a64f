"""JSON read by its paths, without a model: records with an identity are entities, what they hold are facts about them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date

from graphmem import names
from graphmem.dates import parse_unit
from graphmem.errors import InvalidInput
from graphmem.ingest.found import Extraction, FoundEntity, FoundFact, same_thing, shown
from graphmem.ingest.kinds import compatible
from graphmem.ingest.reading import episode_zone, joined
from graphmem.interval import DateUnit
from graphmem.model import DEFAULT_TYPE, VALUE_TYPE, Episode, Span, Warn

MAX_DEPTH = 60
_LONGEST_ATTRIBUTE = 300
_MANY = 50

# Identities that are unique everywhere, and those that are unique among things of one type.
_EVERYWHERE = ("node_id", "uuid", "guid", "gid", "urn", "arn")
_OF_A_TYPE = ("id", "_id", "key", "login", "username", "user_name", "email", "slug")
_NAMES = ("full_name", "display_name", "name", "title", "login", "username", "user_name", "email", "subject", "key", "slug")
_NUMBERED = ("tag_name", "number", "id", "_id", "node_id", "uuid", "guid", "gid", "urn", "arn")
_ALIASES = ("login", "username", "user_name", "name", "email")
_NOISE = re.compile(r"(?:^|_)(?:url|urls|href|links|node_id|gravatar_id|avatar|token|etag|checksum)$|^_")
_KEPT_LINKS = frozenset(("url", "html_url", "homepage", "website"))
_STATES = {"state": "STATUS", "status": "STATUS", "stage": "STATUS", "phase": "STATUS", "priority": "PRIORITY", "severity": "SEVERITY"}
_DUE = frozenset(("due", "due_on", "due_at", "due_date", "deadline"))
_MAKERS = frozenset(("user", "author", "creator", "created_by", "opened_by", "reporter"))
_PEOPLE = frozenset(("person", "user", "employee", "contact", "customer", "member"))
_TYPES = {"repo": "Repository", "org": "Organization", "pr": "PullRequest"}
_PLURAL = re.compile(r"(?:(?<=[^aeiou])ies|(?<=ss|sh|ch)es|(?<=[xz])es|(?<=[^sui])s)$")
_INDEX = re.compile(r"(?:\[\d+\])+$")
_TYPE_NAME = re.compile(r"[A-Z][A-Za-z0-9]{1,39}")


def check_json(value: object, argument: str = "value") -> str:
    """The body of a JSON episode: text verbatim, other values as JSON. Raises `InvalidInput` for what is not JSON."""
    if isinstance(value, str):
        _parse(value, argument)
        return value
    try:
        body = json.dumps(value, ensure_ascii=False, default=_encoded)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(argument, value, f"must be JSON text or a value that JSON can hold: {error}") from error
    return body


def extract_json(episode: Episode) -> Extraction:
    """What a JSON episode says, by rule: no model is asked.

    A record with an id, login, e-mail or name is an entity; a record inside it gives the fact outer -FIELD-> inner, whose
    sentence names the path ("orders[0].buyer"); `state` and `status` give a STATUS fact with the time beside it
    ("closed_at", "updated_at"); other plain fields are attributes. Every record is searchable as a line of text.
    """
    value, repeated = _parse(episode.body, "value")
    walk = _Walk(episode)
    walk.warnings.extend(Warn("duplicate_key", shown(key), "stands twice in one object; the last value counts") for key in repeated)
    walk.visit(value, "", "", None, 0)
    return walk.extraction()


def _encoded(value: object) -> object:
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} is not a JSON value")


def _parse(text: str, argument: str) -> tuple[object, list[str]]:
    """The value, and keys that stand twice in one object."""
    repeated: list[str] = []

    def as_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
        seen = dict(pairs)
        if len(seen) < len(pairs):
            keys = [key for key, _ in pairs]
            repeated.extend(sorted({key for key in keys if keys.count(key) > 1}))
        return seen

    try:
        return json.loads(text.removeprefix("\ufeff"), object_pairs_hook=as_object, parse_constant=lambda _: None), repeated
    except RecursionError as error:
        raise InvalidInput(argument, text, "is nested too deeply") from error
    except ValueError as error:
        raise InvalidInput(argument, text, f"is not JSON: {error}") from error


@dataclass(slots=True)
class _Record:
    """An entity on its way: where it was seen first, and the facts that hang on it."""

    entity: FoundEntity
    path: str
    typed: bool
    times: Mapping[str, str]
    lines: list[str] = field(default_factory=list)


class _Walk:
    """One pass over the values of an episode, in their order."""

    def __init__(self, episode: Episode) -> None:
        self.episode, self.zone = episode, episode_zone(episode.zone)
        self.records: list[_Record] = []
        self.values: list[FoundEntity] = []
        self.facts: dict[tuple[object, ...], tuple[int, int, bool, FoundFact]] = {}
        self.loose: list[str] = []
        self.warnings: list[Warn] = []
        self._by_identity: dict[str, int] = {}
        self._by_name: dict[str, list[int]] = {}
        self._value_at: dict[str, int] = {}

    def extraction(self) -> Extraction:
        """Entities first, then values; facts in the order of the text."""
        shift = len(self.records)
        facts = tuple(replace(fact, source=s, target=t + shift if is_value else t) for s, t, is_value, fact in self.facts.values())
        entities = (*(r.entity for r in self.records), *self.values)
        lines = [f"{r.path or r.entity.type}: {'; '.join(dict.fromkeys(r.lines))}" for r in self.records if r.lines]
        return Extraction(entities, facts, tuple(dict.fromkeys((*self.loose, *lines))), warnings=tuple(self.warnings))

    # -- walking

    def visit(self, value: object, path: str, name: str, owner: int | None, depth: int) -> int | None:
        """Reads a value under the field `name` of the entity `owner`; the position of the entity it is, if it is one."""
        if depth > MAX_DEPTH:
            self.warnings.append(Warn("too_deep", path, f"more than {MAX_DEPTH} levels; kept as text only"))
            return None
        if isinstance(value, dict):
            return self._object(value, path, name, owner, depth)
        if isinstance(value, list):
            for number, item in enumerate(value):
                self.visit(item, f"{path}[{number}]", _singular(name), owner, depth + 1)
        elif owner is None and value not in (None, ""):
            self.loose.append(f"{path}: {value}" if path else str(value))
        return None

    def _object(self, row: dict[str, object], path: str, name: str, owner: int | None, depth: int) -> int | None:
        record = self._record(row, path)
        at = record if record is not None else owner
        first: int | None = None
        for key, value in row.items():
            inner = f"{path}.{key}" if path else key
            if isinstance(value, dict | list):
                if key.startswith("_"):
                    continue
                label = key if record is not None or not name or owner is None else f"{name}_{key}"
                found = self.visit(value, inner, label, at if at is not None else first, depth + 1)
                first = found if first is None else first
            elif at is not None:
                self._scalar(at, key if record is not None else f"{name}.{key}", key, value, row)
            elif value not in (None, ""):
                self.loose.append(f"{inner}: {value}")
        if record is not None and owner is not None and record != owner:
            self._relate(owner, record, name, path)
        return record if record is not None else first

    # -- entities

    def _record(self, row: Mapping[str, object], path: str) -> int | None:
        """The position of the entity that `row` is; None for a record without an identity or a name."""
        kind, typed = _kind(row, path)
        identities = _identities(row, kind)
        shown_name = next((n for key in _NAMES if (n := _as_name(row.get(key))) is not None), None)
        if shown_name is None:
            if not identities:
                return None
            label = next((n for key in _NUMBERED if (n := _as_name(row.get(key))) is not None), None)
            shown_name = f"{kind} {label}" if label is not None else kind
        aliases = tuple(
            dict.fromkeys(a for key in _ALIASES if (a := _as_name(row.get(key))) is not None and names.key(a) != names.key(shown_name))
        )
        entity = FoundEntity(shown_name, kind, aliases, self._span(shown_name), {}, identities)
        times = {
            k: v
            for k, v in row.items()
            if isinstance(v, str) and (k.endswith(("_at", "_on")) or k in ("date", "timestamp", "updated", "created"))
        }
        at = self._known(entity)
        if at is None:
            self.records.append(_Record(entity, path, typed, times))
            at = len(self.records) - 1
            self._by_name.setdefault(names.key(shown_name), []).append(at)
        else:
            known = self.records[at]
            better = replace(known.entity, type=kind) if typed and not known.typed else known.entity
            self.records[at] = replace(known, entity=joined(better, entity), typed=typed or known.typed, times={**times, **known.times})
        for found in identities:
            self._by_identity.setdefault(found, at)
        return at

    def _known(self, entity: FoundEntity) -> int | None:
        if entity.identities:
            candidates = (self._by_identity[i] for i in entity.identities if i in self._by_identity)
            return next((at for at in candidates if same_thing(entity.identities, self.records[at].entity.identities)), None)
        same = [at for at in self._by_name.get(names.key(entity.name), []) if compatible(self.records[at].entity.type, entity.type)]
        return same[0] if len(same) == 1 else None

    def _span(self, name: str) -> Span | None:
        start = self.episode.body.find(f'"{name}"')
        return Span(start + 1, start + 1 + len(name)) if start >= 0 else None

    # -- what records hold

    def _scalar(self, at: int, label: str, key: str, value: object, row: Mapping[str, object]) -> None:
        """A plain field: a fact for a state or a deadline, else an attribute; nothing for links and tokens."""
        if value is None or value == "" or (_NOISE.search(key) and key not in _KEPT_LINKS) or (key == "url" and "html_url" in row):
            return
        record = self.records[at]
        record.lines.append(f"{label.replace('_', ' ').replace('.', ' ')} {value}")
        if key in _STATES and isinstance(value, str) and names.is_nameable(value):
            self._state(
                at, _STATES[key], value, self._time(row, f"{value}_at", "updated_at", "modified_at", "updated", "created_at", "timestamp")
            )
        elif key in _DUE and isinstance(value, str) and names.is_nameable(value):
            self._state(at, "DUE", value, None)
        if isinstance(value, str) and len(value) > _LONGEST_ATTRIBUTE:
            return
        attributes = {**record.entity.attributes, label: value}
        if len(attributes) <= 2 * _MANY:
            record.entity = replace(record.entity, attributes=attributes)

    def _state(self, at: int, relation: str, value: str, start: DateUnit | None) -> None:
        shown_value = names.clean(value)
        position = self._value_at.get(shown_value)
        if position is None:
            self.values.append(FoundEntity(shown_value, VALUE_TYPE, span=self._span(shown_value)))
            position = self._value_at[shown_value] = len(self.values) - 1
        record = self.records[at]
        text = f"{record.entity.name}: {relation.lower().replace('_', ' ')} {shown_value}" + (f" ({record.path})" if record.path else "")
        self._fact(at, position, relation, text, start, is_value=True)

    def _relate(self, owner: int, target: int, name: str, path: str) -> None:
        outer, inner = self.records[owner], self.records[target]
        relation = _singular(name).upper()
        start = (
            self._time(outer.times, "created_at", "created")
            if _singular(name).lower() in _MAKERS
            else self._time(outer.times, "updated_at", "updated")
        )
        words = _singular(name).replace("_", " ").replace(".", " ")
        self._fact(owner, target, relation, f"{outer.entity.name}: {words} {inner.entity.name} ({path})", start)
        outer.lines.append(f"{words} {inner.entity.name}")

    def _fact(self, source: int, target: int, relation: str, text: str, start: DateUnit | None, *, is_value: bool = False) -> None:
        fact = FoundFact(0, 0, relation, text, start=start)
        self.facts.setdefault((source, target, is_value, relation), (source, target, is_value, fact))

    def _time(self, row: Mapping[str, object], *keys: str) -> DateUnit | None:
        for key in keys:
            raw = row.get(key)
            unit = parse_unit(raw, self.episode.reference_time, self.zone) if isinstance(raw, str) else None
            if unit is not None:
                return unit
        return None


def _kind(row: Mapping[str, object], path: str) -> tuple[str, bool]:
    """The type of the thing that `row` is, and whether the row says so: by its own `type`, by what only people have, by its field."""
    given = row.get("type")
    if isinstance(given, str) and given.casefold() in _PEOPLE:
        return "Person", True
    if isinstance(given, str) and _TYPE_NAME.fullmatch(given) is not None:
        return given, True
    if any(_as_name(row.get(key)) is not None for key in ("email", "username", "user_name", "login")):
        return "Person", False
    return _type_name(_INDEX.sub("", path.rsplit(".", 1)[-1])), False


def _identities(row: Mapping[str, object], kind: str) -> tuple[str, ...]:
    """The identities of a thing of this type: those unique everywhere first."""
    found = [f"{key}={value}" for key in _EVERYWHERE if (value := _as_name(row.get(key))) is not None]
    return (*found, *(f"{kind}:{key}={value}" for key in _OF_A_TYPE if (value := _as_name(row.get(key))) is not None))


def _as_name(value: object) -> str | None:
    """A string or whole number that can be a name."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if abs(value) < 10**30 else None
    if isinstance(value, str) and names.is_nameable(value) and not value.startswith(("http://", "https://")):
        return names.clean(value)
    return None


def _singular(name: str) -> str:
    """The name of one item of a list.

    >>> _singular("orders"), _singular("repositories"), _singular("status"), _singular("assignees")
    ('order', 'repository', 'status', 'assignee')
    """
    found = _PLURAL.search(name)
    if found is None:
        return name
    return name[: found.start()] + ("y" if found[0] == "ies" else "")


def _type_name(name: str) -> str:
    """The type that a field's name suggests.

    >>> _type_name("pull_requests"), _type_name("repo"), _type_name("")
    ('PullRequest', 'Repository', 'Entity')
    """
    last = _singular(name)
    if last in _TYPES:
        return _TYPES[last]
    words = re.split(r"[^\w]+|_", last)
    return "".join(w[:1].upper() + w[1:] for w in words if w)[:60] or DEFAULT_TYPE
