"""What is asked of the extractor: one episode with its speaker, time, company and what is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo

from graphmem import names
from graphmem.errors import InvalidInput, ModelError
from graphmem.instants import zone_of
from graphmem.roles import Role, role_of


@dataclass(frozen=True, slots=True)
class Known:
    """An entity that the memory already has."""

    name: str
    type: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Said:
    """An earlier message."""

    actor: str | None
    text: str
    reference: datetime


@dataclass(frozen=True, slots=True)
class Turn:
    """One episode to read. `actor` is who says "I", `other` the one person addressed, if there is exactly one other.

    An assistant's "I" is nobody's: it drafts letters and examples, and plays parts.
    """

    text: str
    kind: str
    reference: datetime
    zone: tzinfo
    actor: str | None
    other: str | None
    participants: tuple[str, ...]
    recent: tuple[Said, ...]
    known: tuple[Known, ...]

    @property
    def in_group(self) -> bool:
        """Whether more than two people take part."""
        return len(self.participants) > 2

    def before(self, said: Said) -> Turn:
        """An earlier message as a turn of its own, among the same people."""
        others = [p for p in self.participants if said.actor is None or names.key(p) != names.key(said.actor)]
        other = others[0] if said.actor is not None and len(others) == 1 else None
        return replace(self, text=said.text, reference=said.reference, actor=_speaker(said.actor), other=other, recent=())

    @classmethod
    def of(cls, payload: Mapping[str, object]) -> Turn:
        """The turn that an extract payload describes; raises `ModelError` naming a field that cannot be read."""
        text = payload.get("text")
        if not isinstance(text, str):
            raise ModelError(f"extract: text must be a string, not {type(text).__name__}")
        actor = _name(payload.get("actor"))
        reference = _instant(payload.get("reference_time"))
        recent = tuple(
            Said(_name(r.get("actor")), str(r.get("text") or ""), _instant(r.get("reference_time") or reference.isoformat()))
            for r in _mappings(payload.get("recent"))
        )
        participants = _people(payload.get("participants"), actor)
        others = [p for p in participants if actor is None or names.key(p) != names.key(actor)]
        return cls(
            text=text,
            kind=str(payload.get("kind") or "text"),
            reference=reference,
            zone=_zone(payload.get("zone")),
            actor=_speaker(actor),
            other=others[0] if actor is not None and len(others) == 1 else None,
            participants=participants,
            recent=recent,
            known=tuple(
                Known(str(k["name"]), str(k.get("type") or "Entity"), tuple(str(a) for a in _sequence(k.get("aliases"))))
                for k in _mappings(payload.get("known"))
                if k.get("name")
            ),
        )


def _name(value: object) -> str | None:
    return names.clean(value) or None if isinstance(value, str) else None


def _speaker(actor: str | None) -> str | None:
    return None if role_of(actor) is Role.ASSISTANT else actor


def _people(value: object, actor: str | None) -> tuple[str, ...]:
    """The participants, each once, the speaker first."""
    found: dict[str, str] = {}
    for name in (actor, *(_name(v) for v in _sequence(value))):
        if name:
            found.setdefault(names.key(name), name)
    return tuple(found.values())


def _sequence(value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else ()


def _mappings(value: object) -> list[Mapping[str, object]]:
    return [v for v in _sequence(value) if isinstance(v, Mapping)]


def _zone(value: object) -> tzinfo:
    if not isinstance(value, str) or not value:
        return UTC
    try:
        return zone_of(value)
    except InvalidInput:
        raise ModelError(f"extract: zone {value!r} is not a time zone") from None


def _instant(value: object) -> datetime:
    if not isinstance(value, str):
        raise ModelError(f"extract: reference_time must be an ISO 8601 string, not {type(value).__name__}")
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise ModelError(f"extract: reference_time {value!r} is not ISO 8601") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
