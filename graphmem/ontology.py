"""Relations and entity types: how many values a relation takes, what it is called, which way it points."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from graphmem.checks import flag, items, text, texts
from graphmem.entity_types import Attribute, EntityType, attributes_of, check_attributes, type_key, types_of
from graphmem.errors import InvalidInput
from graphmem.model import DEFAULT_TYPE, VALUE_TYPE, FactKey

_NOT_WORD = re.compile(r"[^\w]+", re.UNICODE)
_BUILT_IN = frozenset((type_key(DEFAULT_TYPE), type_key(VALUE_TYPE)))


@lru_cache(maxsize=4096)
def relation_key(name: str) -> str:
    """How relation names are compared: "works at", "works-at" and "WORKS_AT" are one."""
    return _NOT_WORD.sub("_", name.strip()).strip("_").upper()


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation. `one_target`: a source has one target at a time (works at); `one_source`: a target has one source
    (owned by); `symmetric`: direction means nothing; `inverse_of`: the relation it is stored as, turned around.

    `source_types` and `target_types` say which entity types fit, one by its name alone; empty means any. `description` is for a
    language model. `attributes` are what its facts may have besides: `Attribute`s, a dict of names and types, or a pydantic class.
    """

    name: str
    one_target: bool = False
    one_source: bool = False
    symmetric: bool = False
    inverse_of: str | None = None
    synonyms: tuple[str, ...] = ()
    source_types: tuple[str, ...] = ()
    target_types: tuple[str, ...] = ()
    description: str = ""
    attributes: tuple[Attribute, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise InvalidInput("ontology", self.name, "a relation needs a name")
        for which in ("one_target", "one_source", "symmetric"):
            flag(f"{self.name}.{which}", getattr(self, which))
        for which in ("synonyms", "source_types", "target_types"):
            object.__setattr__(self, which, texts(f"{self.name}.{which}", getattr(self, which)))
        text(f"{self.name}.description", self.description)
        if self.inverse_of is not None:
            text(f"{self.name}.inverse_of", self.inverse_of)
        object.__setattr__(self, "attributes", attributes_of(self.attributes))
        check_attributes(self.name, self.attributes)
        if self.inverse_of is not None and self.attributes:
            raise InvalidInput("ontology", self.name, f"has the attributes of {self.inverse_of}; declare them there")


@lru_cache(maxsize=4096)
def _plain(name: str) -> Relation:
    return Relation(name)


@dataclass(frozen=True)
class Ontology:
    """What graphmem knows of relations and of types of entities. Unknown relations are kept as given and take several values;
    unknown types are kept too, unless the ontology is `closed`.

    >>> Ontology.of(Relation("WORKS_AT", one_target=True), Relation("EMPLOYS", inverse_of="WORKS_AT")).canonical("employs")
    ('WORKS_AT', True)
    """

    relations: Mapping[str, Relation] = field(default_factory=dict)
    types: Mapping[str, EntityType] = field(default_factory=dict)
    closed: bool = False
    _index: dict[str, Relation] = field(init=False, repr=False, compare=False, default_factory=dict)
    _types: dict[str, EntityType] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        flag("closed", self.closed)
        for argument, named in (("relations", self.relations), ("types", self.types)):
            if not isinstance(named, Mapping):
                raise InvalidInput(argument, named, "must be a dict by name; Ontology.of takes them as they are")
        for kind in self.types.values():
            if type_key(kind.name) in _BUILT_IN or self._types.setdefault(type_key(kind.name), kind) is not kind:
                raise InvalidInput("ontology", kind.name, "is a type already")
        for relation in self.relations.values():
            for name in (relation.name, *relation.synonyms):
                known = self._index.setdefault(relation_key(name), relation)
                if known is not relation:
                    raise InvalidInput("ontology", name, f"is a name of both {known.name} and {relation.name}")
        for relation in self.relations.values():
            if relation.inverse_of is not None:
                base = self._index.get(relation_key(relation.inverse_of))
                if base is None or base.inverse_of is not None:
                    raise InvalidInput("inverse_of", relation.inverse_of, "must name a relation of this ontology that is no inverse itself")

    @classmethod
    def of(cls, *relations: Relation | Mapping[str, object], types: Iterable[object] = (), closed: bool = False) -> Ontology:
        """An ontology of these relations and types alone. A type is an `EntityType`, a pydantic class, a name or a dict."""
        known = types_of(types)
        if len({type_key(t.name) for t in known}) != len(known):
            raise InvalidInput("ontology", [t.name for t in known], "two types have one name")
        return cls({r.name: r for r in map(_relation_of, relations)}, {t.name: t for t in known}, closed)

    def extended(self, relations: Iterable[Relation], types: Iterable[object] = ()) -> Ontology:
        """This ontology with `relations` and `types` added; one of the same name is replaced."""
        more = types_of(types)
        return Ontology({**self.relations, **{r.name: r for r in relations}}, {**self.types, **{t.name: t for t in more}}, self.closed)

    # -- types

    def entity_type(self, name: str) -> EntityType | None:
        """The declared type of that name, however it is spelled."""
        return self._types.get(type_key(name)) if self._types else None

    def lineage(self, name: str) -> tuple[str, ...]:
        """The keys of a type and of those that it also is, the nearest first."""
        keys = [type_key(name)]
        while (kind := self._types.get(keys[-1])) is not None and kind.parent and type_key(kind.parent) not in keys:
            keys.append(type_key(kind.parent))
        return tuple(keys)

    def attribute(self, kind: str, name: str) -> Attribute | None:
        """The attribute of that name that a type or one of its wider types declares; for a type that says nothing, any type's."""
        key = type_key(name)
        if type_key(kind) == type_key(DEFAULT_TYPE):
            declared = [*self._types.values()]
        else:
            declared = [t for k in self.lineage(kind) if (t := self._types.get(k)) is not None]
        return next((a for t in declared for a in t.attributes if type_key(a.name) == key), None)

    @cached_property
    def type_names(self) -> Mapping[str, str]:
        """The types that may be used, by key: the declared ones, then those that relations name as their ends."""
        ends = (name for r in self.relations.values() for name in (*r.source_types, *r.target_types))
        parents = (t.parent for t in self.types.values() if t.parent)
        names: dict[str, str] = {}
        for name in (*sorted(self.types), *sorted(parents), *sorted(ends)):
            if type_key(name) not in _BUILT_IN:
                names.setdefault(type_key(name), name)
        return names

    @cached_property
    def has_attributes(self) -> bool:
        """Whether any relation has attributes."""
        return any(r.attributes for r in self.relations.values())

    # -- relations

    def fact_attribute(self, relation: str, name: str) -> Attribute | None:
        """The attribute of that name that a relation declares for its facts, whichever way round it is named."""
        key = type_key(name)
        return next((a for a in self.relation(self.canonical(relation)[0]).attributes if type_key(a.name) == key), None)

    def knows(self, name: str) -> bool:
        """Whether a relation is declared under that name."""
        return relation_key(name) in self._index

    def relation(self, name: str) -> Relation:
        """The relation that `name` means; for an unknown one, a plain several-valued relation of that name."""
        return self._index.get(name) or self._index.get(relation_key(name)) or _plain(name)

    def canonical(self, name: str) -> tuple[str, bool]:
        """The name a fact is stored under, and whether source and target change places."""
        relation = self.relation(name)
        return (self.relation(relation.inverse_of).name, True) if relation.inverse_of else (relation.name, False)

    def triple(self, relation: str, source: str, target: str) -> tuple[str, str, str]:
        """(relation, source, target) in the declared direction; the ends in order if the relation is symmetric."""
        meant = self.relation(relation)
        if meant.inverse_of:
            meant, source, target = self.relation(meant.inverse_of), target, source
        if meant.symmetric and target < source:
            source, target = target, source
        return meant.name, source, target

    def slots(self, key: FactKey) -> tuple[tuple[str, str, str], ...]:
        """What only one fact can hold at a time: facts that share a slot exclude each other."""
        relation = self.relation(key.relation)
        if relation.symmetric:
            either = relation.one_target or relation.one_source
            return (("either", key.relation, key.source), ("either", key.relation, key.target)) if either else ()
        if not (relation.one_target or relation.one_source):
            return ()
        slots: list[tuple[str, str, str]] = []
        if relation.one_target:
            slots.append(("source", key.relation, key.source))
        if relation.one_source:
            slots.append(("target", key.relation, key.target))
        return tuple(slots)

    def gate(self, one: FactKey, other: FactKey) -> bool:
        """Whether a judged contradiction between the two may count: same relation and source, or same two entities."""
        if {one.source, one.target} == {other.source, other.target}:
            return True
        if one.relation != other.relation:
            return False
        if self.relation(one.relation).symmetric:
            return bool({one.source, one.target} & {other.source, other.target})
        return one.source == other.source

    # -- as plain values

    def outline(self) -> Mapping[str, object]:
        """What a language model is told: types with their attributes, relations with their ends (inverses left out)."""
        return self._outline

    @cached_property
    def _outline(self) -> Mapping[str, object]:
        relations: list[dict[str, object]] = []
        for r in sorted(self.relations.values(), key=lambda r: r.name):
            if r.inverse_of is None:
                row: dict[str, object] = {"name": r.name, "source": list(r.source_types), "target": list(r.target_types)}
                row |= {"description": r.description, "attributes": [a.row() for a in r.attributes]}
                relations.append({k: v for k, v in row.items() if v})
        typed = bool(self.types) or self.closed
        types = [self._types[key].row() if key in self._types else {"name": name} for key, name in self.type_names.items()] if typed else []
        return {"types": types, "relations": relations, "closed": self.closed}

    def to_json(self) -> list[dict[str, object]] | dict[str, object]:
        """The ontology as plain values, for the log: its relations, and with them its types if it has any."""
        relations = [_relation_row(r) for r in sorted(self.relations.values(), key=lambda r: r.name)]
        if not self.types and not self.closed:
            return relations
        types = [t.row() for t in sorted(self.types.values(), key=lambda t: t.name)]
        return {"relations": relations, "types": types, "closed": self.closed}

    @classmethod
    def from_json(cls, given: Iterable[object] | Mapping[str, object]) -> Ontology:
        """The ontology that `to_json` wrote; also takes hand-written rows. Raises `InvalidInput` for unknown keys."""
        if not isinstance(given, Mapping):
            return cls.of(*map(_relation_of, given))
        if unknown := sorted(str(k) for k in given if k not in ("relations", "types", "closed")):
            raise InvalidInput("ontology", unknown, "a dict has the keys relations, types and closed")
        relations: Any = given.get("relations", ())
        types: Any = given.get("types", ())
        if isinstance(types, Mapping):
            types = [{"name": name, "attributes": row} if not isinstance(row, type) else row for name, row in types.items()]
        rows = items("relations", relations, "Relations and dicts")
        return cls.of(*map(_relation_of, rows), types=types, closed=flag("closed", given.get("closed", False)))


def _relation_row(relation: Relation) -> dict[str, object]:
    row: dict[str, object] = {"name": relation.name}
    for which in ("one_target", "one_source", "symmetric"):
        if getattr(relation, which):
            row[which] = True
    for word in ("inverse_of", "description"):
        if getattr(relation, word):
            row[word] = getattr(relation, word)
    for names in ("synonyms", "source_types", "target_types"):
        if getattr(relation, names):
            row[names] = list(getattr(relation, names))
    if relation.attributes:
        row["attributes"] = [a.row() for a in relation.attributes]
    return row


def _relation_of(given: object) -> Relation:
    if isinstance(given, Relation):
        return given
    if not isinstance(given, Mapping):
        raise InvalidInput("ontology", given, "a relation is a Relation or a dict")
    unknown = sorted(str(k) for k in given if k not in Relation.__dataclass_fields__)
    if unknown or "name" not in given:
        raise InvalidInput("ontology", unknown or dict(given), f"needs a name; allowed keys are {sorted(Relation.__dataclass_fields__)}")
    return Relation(**given)
