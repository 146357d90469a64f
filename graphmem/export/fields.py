"""What goes out of an entity and of a fact in formats whose values are flat: one list of fields for all of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import NamedTuple

from graphmem.communities.results import CommunityItem
from graphmem.export.plaintext import attributes_text, stamp
from graphmem.model import EntityVersion
from graphmem.results import FactItem


class NodeField(NamedTuple):
    """A field of a node: its name and how an entity and its community fill it; "" is left out."""

    name: str
    of: Callable[[EntityVersion, CommunityItem | None], str]


class EdgeField(NamedTuple):
    """A field of an edge: its name and how a fact fills it; "" is left out."""

    name: str
    of: Callable[[FactItem], str]


NODE_FIELDS = (
    NodeField("name", lambda e, c: e.name),
    NodeField("type", lambda e, c: e.type),
    NodeField("group", lambda e, c: e.group),
    NodeField("community", lambda e, c: c.id if c else ""),
    NodeField("community_name", lambda e, c: c.name if c else ""),
    NodeField("aliases", lambda e, c: _list(e.aliases)),
    NodeField("attributes", lambda e, c: attributes_text(e.attributes)),
    NodeField("created_at", lambda e, c: stamp(e.system.start)),
    NodeField("expired_at", lambda e, c: stamp(e.system.end)),
)
EDGE_FIELDS = (
    EdgeField("relation", lambda f: f.relation),
    EdgeField("text", lambda f: f.text),
    EdgeField("group", lambda f: f.group),
    EdgeField("fact", lambda f: f.id),
    EdgeField("valid_at", lambda f: stamp(f.valid_at)),
    EdgeField("invalid_at", lambda f: stamp(f.invalid_at)),
    EdgeField("created_at", lambda f: stamp(f.created_at)),
    EdgeField("expired_at", lambda f: stamp(f.expired_at)),
    EdgeField("period", lambda f: f.period),
    EdgeField("episodes", lambda f: _list(f.episodes)),
    EdgeField("attributes", lambda f: attributes_text(f.attributes)),
)


def community_values(community: CommunityItem | None) -> dict[str, str | None]:
    """A node's community for formats that keep values: id and name, or None for none."""
    return {"community": community.id if community else None, "community_name": community.name if community else None}


def _list(values: tuple[str, ...]) -> str:
    return json.dumps(values) if values else ""
