"""A community as callers get it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from graphmem.interval import Interval
from graphmem.model import community_text
from graphmem.shown import Record, shorten


class Member(NamedTuple):
    """An entity in a community."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class CommunityItem(Record):
    """A community at one point: level (0 is the coarsest), name, summary, members with the central ones first, then by name.

    `size` is how many members it has; a hit of a search names the central ones alone. `parent` is the id of the community above,
    `facts` the uuids of the fact versions that name and summary tell of. `system` is since when it is stored so, half-open, UTC;
    None where it was computed for this read, on the graph of a valid time. `uuid` is that of the version, "" where it was computed.
    `written_by` is the model that wrote name and summary; None: they were made without one.
    """

    id: str
    group: str
    level: int
    name: str
    summary: str
    members: tuple[Member, ...] = field(repr=False)
    size: int
    parent: str | None
    facts: tuple[str, ...]
    system: Interval | None
    uuid: str = ""
    written_by: str | None = None

    @property
    def text(self) -> str:
        """Name and summary."""
        return community_text(self.name, self.summary)

    @property
    def computed(self) -> bool:
        """Whether it was computed for this read."""
        return self.system is None

    def __repr__(self) -> str:
        told = ", computed" if self.computed else ""
        return f"<Community {shorten(self.name, 60)!r} ({self.size} members, level {self.level}{told})>"

    def to_dict(self) -> dict[str, object]:
        """Plain JSON values."""
        since = self.system.start if self.system is not None else None
        return {
            "id": self.id,
            "group": self.group,
            "level": self.level,
            "name": self.name,
            "summary": self.summary,
            "size": self.size,
            "members": [m._asdict() for m in self.members],
            "parent": self.parent,
            "facts": list(self.facts),
            "created_at": since.isoformat() if since is not None else None,
            "computed": self.computed,
            "written_by": self.written_by,
        }
