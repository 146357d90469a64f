"""Relations and entity types: how many values a relation takes, what it is called, which way it points."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from graphmem.errors import InvalidInput
from graphmem.model import FactKey

_NOT_WORD = re.compile(r"[^\w]+", re.UNICODE)


def relation_key(name: str) -> str:
    """How relation names are compared: "works at", "works-at" and "WORKS_AT" are one."""
    return _NOT_WORD.sub("_", name.strip()).strip("_").upper()


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation. `one_target`: a source has one target at a time (works at); `one_source`: a target has one source
    (owned by); `symmetric`: direction means nothing; `inverse_of`: the relation it is stored as, turned around.

    `source_types` and `target_types` say which entity types fit; empty means any.
    """

    name: str
    one_target: bool = False
    one_source: bool = False
    symmetric: bool = False
    inverse_of: str | None = None
    synonyms: tuple[str, ...] = ()
    source_types: tuple[str, ...] = ()
    target_types: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ontology:
    """What graphmem knows of relations. Unknown relations are kept as given and take several values.

    >>> Ontology.of(Relation("WORKS_AT", one_target=True), Relation("EMPLOYS", inverse_of="WORKS_AT")).canonical("employs")
    ('WORKS_AT', True)
    """

    relations: Mapping[str, Relation] = field(default_factory=dict)
    _index: dict[str, Relation] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
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
    def of(cls, *relations: Relation) -> Ontology:
        """An ontology of these relations alone."""
        return cls({r.name: r for r in relations})

    def extended(self, relations: Iterable[Relation]) -> Ontology:
        """This ontology with `relations` added; one of the same name is replaced."""
        return Ontology({**self.relations, **{r.name: r for r in relations}})

    def relation(self, name: str) -> Relation:
        """The relation that `name` means; for an unknown one, a plain several-valued relation of that name."""
        return self._index.get(name) or self._index.get(relation_key(name)) or Relation(name)

    def canonical(self, name: str) -> tuple[str, bool]:
        """The name a fact is stored under, and whether source and target change places."""
        relation = self.relation(name)
        return (self.relation(relation.inverse_of).name, True) if relation.inverse_of else (relation.name, False)

    def triple(self, relation: str, source: str, target: str) -> tuple[str, str, str]:
        """(relation, source, target) in the declared direction; the ends in order if the relation is symmetric."""
        name, turned = self.canonical(relation)
        if turned:
            source, target = target, source
        if self.relation(name).symmetric and target < source:
            source, target = target, source
        return name, source, target

    def slots(self, key: FactKey) -> tuple[tuple[str, str, str], ...]:
        """What only one fact can hold at a time: facts that share a slot exclude each other."""
        relation = self.relation(key.relation)
        if relation.symmetric:
            either = relation.one_target or relation.one_source
            return (("either", key.relation, key.source), ("either", key.relation, key.target)) if either else ()
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

    def to_json(self) -> list[dict[str, object]]:
        """The relations as plain values, for the log."""
        out: list[dict[str, object]] = []
        for r in sorted(self.relations.values(), key=lambda r: r.name):
            row: dict[str, object] = {"name": r.name}
            for flag in ("one_target", "one_source", "symmetric"):
                if getattr(r, flag):
                    row[flag] = True
            if r.inverse_of:
                row["inverse_of"] = r.inverse_of
            for names in ("synonyms", "source_types", "target_types"):
                if getattr(r, names):
                    row[names] = list(getattr(r, names))
            out.append(row)
        return out

    @classmethod
    def from_json(cls, rows: Iterable[Mapping[str, object]]) -> Ontology:
        """The ontology that `to_json` wrote; also takes hand-written rows. Raises `InvalidInput` for unknown keys."""
        relations: list[Relation] = []
        for row in rows:
            unknown = set(row) - set(Relation.__dataclass_fields__)
            if unknown:
                raise InvalidInput("ontology", sorted(unknown), f"unknown keys; allowed are {sorted(Relation.__dataclass_fields__)}")
            fields = {k: tuple(v) if isinstance(v, (list, tuple)) else v for k, v in row.items()}
            relations.append(Relation(**fields))  # type: ignore[arg-type]
        return cls.of(*relations)
