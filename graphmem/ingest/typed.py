"""What was found, held against the ontology: types and relations by their declared names, values of attributes checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from graphmem.belief.entities import UNREAD
from graphmem.entity_types import MAX_TEXT, Attribute, type_key
from graphmem.ingest.found import Extraction, FoundEntity, FoundFact, shown
from graphmem.ingest.kinds import is_specific, nearest
from graphmem.ingest.reading import RELATED
from graphmem.model import DEFAULT_TYPE, EMPTY, VALUE_TYPE, Warn
from graphmem.ontology import Ontology


def conformed(extraction: Extraction, ontology: Ontology, longest: int = MAX_TEXT) -> Extraction:
    """The extraction as the ontology has it, with a warning for everything that it does not foresee.

    An open ontology keeps unknown types, relations and attributes as given. A closed one takes the declared type of the same
    family for an unknown one, else none; drops unknown attributes; and drops facts of unknown relations unless it declares
    RELATES_TO, their sentences staying searchable. A value that does not fit its attribute, or is longer than `longest`
    characters, is left out: with an entity it is set aside with the mention, with a fact it is told. An open ontology without
    types has nothing to say of types and relations, only of the attributes that relations declare.
    """
    work = _Conforming(ontology, longest)
    typed = bool(ontology.types) or ontology.closed
    if not typed and not ontology.has_attributes:
        return extraction
    entities = tuple(work.entity(e) for e in extraction.entities) if typed else extraction.entities
    facts = [f for f in (work.fact(f) if typed else f for f in extraction.facts) if f is not None]
    facts = [replace(f, attributes=work.fact_attributes(f)) if f.attributes else f for f in facts]
    return replace(
        extraction,
        entities=entities,
        facts=tuple(facts),
        clauses=tuple(dict.fromkeys((*extraction.clauses, *work.clauses))),
        warnings=(*extraction.warnings, *work.warnings),
    )


class _Conforming:
    """One pass over one extraction."""

    def __init__(self, ontology: Ontology, longest: int) -> None:
        self.ontology, self.longest = ontology, longest
        self.clauses: list[str] = []
        self.warnings: list[Warn] = []

    def _warn(self, code: str, raw: object, message: str) -> None:
        self.warnings.append(Warn(code, shown(raw), message))

    def entity(self, found: FoundEntity) -> FoundEntity:
        kind = self._type(found)
        attributes = self._attributes(found, kind) if found.attributes else EMPTY
        return replace(found, type=kind, attributes=attributes)

    def _type(self, found: FoundEntity) -> str:
        if found.type == VALUE_TYPE or not is_specific(found.type):
            return found.type
        known = self.ontology.type_names.get(type_key(found.type))
        if known is not None:
            return known
        if not self.ontology.closed:
            self._warn("unknown_type", found.type, f"no type of the ontology; {found.name} keeps it as given")
            return found.type
        kind = nearest(found.type, self.ontology) or DEFAULT_TYPE
        self._warn("unknown_type", found.type, f"no type of the ontology; {kind} is used for {found.name}")
        return kind

    def _attributes(self, found: FoundEntity, kind: str) -> Mapping[str, object]:
        declared = {name: self.ontology.attribute(kind, name) for name in found.attributes}
        kept, unread = self._checked(found.attributes, declared, kind, found.name)
        return {**kept, **({UNREAD: unread} if unread else {})}

    def fact_attributes(self, found: FoundFact) -> Mapping[str, object]:
        """What a fact has besides, as its relation declares it."""
        declared = {name: self.ontology.fact_attribute(found.relation, name) for name in found.attributes}
        return self._checked(found.attributes, declared, found.relation, shown(found.text, 80))[0] or EMPTY

    def _checked(
        self, given: Mapping[str, object], declared: Mapping[str, Attribute | None], kind: str, whose: object
    ) -> tuple[dict[str, object], dict[str, object]]:
        """The values to keep, under their declared names, and those that do not fit."""
        kept: dict[str, object] = {}
        unread: dict[str, object] = {}
        for name, value in given.items():
            attribute = declared[name]
            if value is None or value == "":
                continue
            if attribute is None and self.ontology.closed:
                self._warn("unknown_attribute", name, f"no attribute of {kind}; dropped from {whose}")
            elif attribute is None:
                kept[name] = value
            else:
                try:
                    checked = attribute.checked(value, self.longest)
                except (ValueError, RecursionError):
                    unread[attribute.name] = shown(value)
                    self._warn("bad_attribute", value, f"no {attribute.type} for {attribute.name} of {whose}; set aside")
                else:
                    if checked is not None:  # a validator of the class may say that a value is none
                        kept[attribute.name] = checked
        return kept, unread

    def fact(self, found: FoundFact) -> FoundFact | None:
        if self.ontology.knows(found.relation):
            return found
        if not self.ontology.closed:
            self._warn("unknown_relation", found.relation, "no relation of the ontology; kept as given")
            return found
        if self.ontology.knows(RELATED):
            self._warn("unknown_relation", found.relation, f"no relation of the ontology; {RELATED} is used")
            return replace(found, relation=RELATED)
        self._warn("unknown_relation", found.relation, "no relation of the ontology; the fact is dropped, its sentence stays searchable")
        self.clauses.append(found.text)
        return None
