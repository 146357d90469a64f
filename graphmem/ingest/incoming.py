"""An episode as a caller gives it, on its way in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from numbers import Number
from uuid import UUID

from graphmem.errors import EmptyEpisode, InvalidInput
from graphmem.ingest.again import OWN
from graphmem.ingest.given import is_bearable
from graphmem.ingest.json_facts import check_json
from graphmem.ingest.readings import Incoming
from graphmem.instants import read_instant, read_local, zone_of
from graphmem.interval import FIRST, in_zone
from graphmem.model import EMPTY, Episode, EpisodeKind, Warn
from graphmem.names import clean
from graphmem.runtime import canonical_json, content_id

FIELDS = ("kind", "text", "value", "rows", "actor", "reference_time", "session", "source", "key", "recorded_at", "attributes")
CONTENT = {"text": ("message", "text", "json"), "value": ("json",), "rows": ("facts",)}
"""Which kinds of episodes have which content."""


@dataclass
class Given:
    """One episode on its way in: every field checked before anything is written."""

    row: Mapping[str, object]
    group: str
    where: str | None
    timezone: str
    now: datetime

    def incoming(self) -> Incoming:
        """The episode with its id; raises `InvalidInput` naming the field (`where` in a list) that is not what is allowed."""
        if not isinstance(self.row, Mapping):
            raise InvalidInput(self.where or "episode", self.row, "must be a dict")
        unknown = sorted(map(str, set(self.row) - set(FIELDS)))
        if unknown:
            raise InvalidInput(self.name("episode"), unknown, f"unknown fields; allowed are {', '.join(FIELDS)}")
        kind, body = self.body()
        zone = zone_of(self.timezone)
        warnings: list[Warn] = []
        given = self.row.get("reference_time")
        local, warning = (in_zone(self.now, zone), None) if given is None else read_local(given, zone, self.name("reference_time"))  # type: ignore[arg-type]
        warnings += [warning] if warning else []
        recorded = self.row.get("recorded_at")
        recorded_at, warning = (None, None) if recorded is None else read_instant(recorded, zone, self.name("recorded_at"))  # type: ignore[arg-type]
        warnings += [warning] if warning else []
        if recorded_at == FIRST:
            raise InvalidInput(self.name("recorded_at"), recorded, "must be after the first instant of the calendar, in UTC")
        reference, _ = read_instant(local, zone, self.name("reference_time"))
        actor, session = self.optional("actor"), self.optional("session")
        key = self.optional("key")
        content = ["content", kind.value, body, reference.isoformat(), clean(actor) if actor is not None else None, session]
        identity = canonical_json(["key", key] if key is not None else content)
        episode = Episode(
            id=content_id("ep", self.group, identity),
            group=self.group,
            kind=kind,
            body=body,
            reference_time=reference,
            key=identity if key is not None else content_id("key", self.group, identity),
            actor=clean(actor) if actor is not None else None,
            session=session,
            source=self.optional("source"),
            zone=self.zone_name(local, zone),
            attributes=self.attributes(),
        )
        return Incoming(episode, recorded_at, tuple(warnings))

    def zone_name(self, local: datetime, zone: tzinfo) -> str:
        """The memory's zone where its clocks show the time given (it knows of summer time), else the offset given."""
        offset = local.utcoffset()
        return self.timezone if offset == in_zone(local, zone).utcoffset() else _offset(local)

    def name(self, argument: str) -> str:
        return f"{self.where}.{argument}" if self.where else argument

    def optional(self, argument: str) -> str | None:
        value = self.row.get(argument)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            raise InvalidInput(self.name(argument), value, "must be a str that is not blank, or left out")
        return value

    def attributes(self) -> Mapping[str, object]:
        given = self.row.get("attributes")
        if given is None:
            return EMPTY
        if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given) or not is_bearable(given):
            raise InvalidInput(self.name("attributes"), given, "must be a dict of plain values")
        if own := sorted(OWN & set(given)):
            raise InvalidInput(self.name("attributes"), own, "are given by graphmem itself; use other names")
        return dict(given)

    def kind(self) -> EpisodeKind:
        """The kind that is named, else the one that has what is given."""
        given = {name for name in CONTENT if self.row.get(name) is not None}
        alone = "facts" if given == {"rows"} else "json" if given == {"value"} else "text"
        named = self.row.get("kind")
        if named is None:
            named = "message" if self.row.get("actor") is not None else alone
        try:
            kind = EpisodeKind(named)  # type: ignore[arg-type]
        except ValueError as error:
            raise InvalidInput(self.name("kind"), named, f"must be one of {[k.value for k in EpisodeKind]}") from error
        for other in sorted(given):
            if kind not in CONTENT[other]:
                raise InvalidInput(
                    self.name(other), self.row[other], f"is for {', '.join(CONTENT[other])}, and this is kind={kind.value!r}"
                )
        return kind

    def body(self) -> tuple[EpisodeKind, str]:
        kind = self.kind()
        if kind is EpisodeKind.FACTS:
            rows = self.row.get("rows")
            if not isinstance(rows, (list, tuple)) or not rows:
                raise InvalidInput(self.name("rows"), rows, "must be a list of at least one row")
            return kind, canonical_json([_row(r, self.name(f"rows[{n}]")) for n, r in enumerate(rows)])
        text, value = self.row.get("text"), self.row.get("value")
        if kind is EpisodeKind.JSON and (value is not None or text is None):
            if text is not None or "value" not in self.row:  # a value of None is JSON, too
                raise InvalidInput(self.name("value"), value, "a JSON episode has either a value or JSON text")
            return kind, check_json(value, self.name("value"))
        if not isinstance(text, str):
            raise InvalidInput(self.name("text"), text, "must be a str")
        if kind is EpisodeKind.JSON:
            return kind, check_json(text, self.name("text"))
        if not clean(text):
            raise EmptyEpisode(self.name("text"), text, "must have a visible character")
        if kind is EpisodeKind.MESSAGE and self.optional("actor") is None:
            raise InvalidInput(self.name("actor"), None, "a message needs the name of who said it")
        return kind, text


def _row(row: object, where: str) -> object:
    """A row of `add_facts` as JSON values, for the episode's body."""
    plain = row if isinstance(row, Mapping) or not hasattr(row, "__dict__") else {k: v for k, v in vars(row).items() if k[:1] != "_"}
    try:
        return json.loads(json.dumps(plain, default=_encoded, ensure_ascii=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(where, row, f"must hold values that JSON can hold: {error}") from error


def _encoded(value: object) -> str:
    """Dates, numbers and ids of other types as text; of anything else the text would be taken for a name."""
    if isinstance(value, date | Number | UUID):
        return str(value)
    raise TypeError(f"{type(value).__name__} is not a plain value")


def _offset(local: datetime) -> str:
    """A fixed offset as a zone name, "UTC" for none."""
    text = local.strftime("%z")
    return "UTC" if not text or int(text) == 0 else f"{text[:3]}:{text[3:5]}"
