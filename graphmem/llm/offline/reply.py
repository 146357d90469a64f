"""From claims to the reply: entities once each, facts by position, spans in the text as it came."""

from __future__ import annotations

from collections.abc import Iterable

from graphmem import names
from graphmem.dates import unit_text
from graphmem.interval import DateUnit, Origin
from graphmem.llm.offline.claims import VALUE, Claim, End
from graphmem.llm.offline.cleaning import Mapped
from graphmem.llm.offline.turn import Turn


class Reply:
    """Collects the entities and facts of one turn."""

    def __init__(self, turn: Turn, mapped: Mapped | None = None) -> None:
        self.turn = turn
        self.mapped = mapped
        self.entities: list[dict[str, object]] = []
        self.facts: list[dict[str, object]] = []
        self.clauses: list[str] = []
        self._index: dict[str, int] = {}
        self._seen: set[tuple[object, ...]] = set()

    def entity(self, end: End) -> int:
        """The position of that entity, added if new."""
        span = self._original(end.span, end.name)
        return self.add(end.name, end.type, end.aliases, span)

    def add(self, name: str, kind: str, aliases: Iterable[str] = (), span: tuple[int, int] | None = None) -> int:
        """An entity by name, with a span in the original text."""
        key = ("value:" if kind == VALUE else "") + names.key(name)
        if span is None and kind != VALUE:
            at = self.turn.text.find(name)
            span = (at, at + len(name)) if at >= 0 else None
        if key in self._index:
            entity = self.entities[self._index[key]]
            known = entity["aliases"]
            assert isinstance(known, list)
            known += [a for a in aliases if a not in known]
            if entity["type"] == "Thing" and kind != VALUE:
                entity["type"] = kind
            entity["span"] = entity["span"] or (list(span) if span else None)
            return self._index[key]
        self._index[key] = len(self.entities)
        self.entities.append({"name": name, "type": kind, "aliases": list(aliases), "span": list(span) if span else None, "attributes": {}})
        return self._index[key]

    def claim(self, claim: Claim) -> None:
        """A fact, unless it is said already, joins a thing with itself or points at nothing."""
        source, target = names.key(claim.source.name), names.key(claim.target.name)
        key = (source, claim.relation, target, claim.kind)
        if not source or not target or source == target or key in self._seen:
            return
        if not names.is_nameable(claim.source.name) or not names.is_nameable(claim.target.name):
            return
        self._seen.add(key)
        dates = [d for d in (claim.start, claim.end) if d is not None]
        start, end = self.mapped.span(*claim.span) if self.mapped else claim.span
        self.facts.append(
            {
                "source": self.entity(claim.source),
                "target": self.entity(claim.target),
                "relation": claim.relation,
                "text": claim.text,
                "kind": claim.kind,
                "valid_at": self._date(claim.start),
                "invalid_at": self._date(claim.end),
                "resolved": any(d.origin is Origin.RESOLVED for d in dates),
                "still": claim.still,
                "span": [start, end],
            }
        )

    def value(self) -> dict[str, object]:
        """The reply as JSON values."""
        return {"entities": self.entities, "facts": self.facts, "clauses": self.clauses}

    def _date(self, unit: DateUnit | None) -> str | None:
        return unit_text(unit, self.turn.zone) if unit is not None else None

    def _original(self, span: tuple[int, int] | None, name: str) -> tuple[int, int] | None:
        if span is None:
            return None
        start, end = self.mapped.span(*span) if self.mapped else span
        return (start, end) if self.turn.text[start:end] == name else None
