"""What callers get back of how communities changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from graphmem.community import CommunityItem as CommunityItem
from graphmem.community import Member as Member
from graphmem.results import moment
from graphmem.shown import Record, Row


class Move(NamedTuple):
    """An entity that went from one community to another, all by name."""

    entity: str
    left: str
    joined: str


@dataclass(frozen=True, slots=True)
class CommunityChanges(Record):
    """What became of the communities of one level between two system instants.

    `born`, `grew` and `shrank` are shown as of the later instant, `died` as of the earlier one. `split`: id of a community of the
    earlier instant → those of the later one that most of it went into; `merged`: id of one of the later → those it came from.
    """

    since: datetime
    until: datetime
    level: int
    born: tuple[CommunityItem, ...]
    died: tuple[CommunityItem, ...]
    grew: tuple[CommunityItem, ...]
    shrank: tuple[CommunityItem, ...]
    split: Mapping[str, tuple[CommunityItem, ...]]
    merged: Mapping[str, tuple[CommunityItem, ...]]
    moved: tuple[Move, ...]

    def counts(self) -> dict[str, int]:
        """How many of each kind; kinds without any are left out."""
        kinds = ("born", "died", "grew", "shrank", "split", "merged", "moved")
        return {kind: count for kind in kinds if (count := len(getattr(self, kind)))}

    def _rows(self) -> Sequence[Row]:
        listed = [(kind, i) for kind in ("born", "died", "grew", "shrank") for i in getattr(self, kind)]
        rows: list[Row] = [{"change": kind, "community": i.name, "size": i.size, "other": ""} for kind, i in listed]
        for kind, into in (("split", self.split), ("merged", self.merged)):
            rows += [{"change": kind, "community": c, "size": len(others), "other": [i.name for i in others]} for c, others in into.items()]
        return rows + [{"change": "moved", "community": m.joined, "size": 1, "other": f"{m.entity}, from {m.left}"} for m in self.moved]

    def _columns(self) -> Sequence[str]:
        return ("change", "community", "size", "other")

    def __bool__(self) -> bool:
        return bool(self.counts())

    def __repr__(self) -> str:
        told = ", ".join(f"{count} {kind}" for kind, count in self.counts().items()) or "nothing changed"
        return f"<Changes of communities on level {self.level}, {self.since:%Y-%m-%d} to {self.until:%Y-%m-%d}: {told}>"

    def to_dict(self) -> dict[str, object]:
        """Plain JSON values."""
        listed = {kind: [i.to_dict() for i in getattr(self, kind)] for kind in ("born", "died", "grew", "shrank")}
        named = {kind: {k: [i.id for i in items] for k, items in getattr(self, kind).items()} for kind in ("split", "merged")}
        return {
            "since": moment(self.since),
            "until": moment(self.until),
            "level": self.level,
            **listed,
            **named,
            "moved": [m._asdict() for m in self.moved],
        }


COMMUNITY_COLUMNS = ("level", "name", "size", "summary")
