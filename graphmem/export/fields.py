"""What goes out of an entity and of a fact in formats whose values are flat: one list of fields for all of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import NamedTuple

from graphmem.export.plaintext import attributes_text, stamp
from graphmem.model import EntityVersion
from graphmem.results import FactItem


class NodeField(NamedTuple):
    """A field of a node: its name and how an entity fills it; "" is left out."""

    name: str
    of: Callable[[EntityVersion], str]


class EdgeField(NamedTuple):
    """A field of an edge: its name and how a fact fills it; "" is left out."""

    name: str
    of: Callable[[FactItem], str]


NODE_FIELDS = (
    NodeField("name", lambda e: e.name),
    NodeField("type", lambda e: e.type),
    NodeField("group", lambda e: e.group),
    NodeField("aliases", lambda e: _list(e.aliases)),
    NodeField("attributes", lambda e: attributes_text(e.attributes)),
    NodeField("created_at", lambda e: stamp(e.system.start)),
    NodeField("expired_at", lambda e: stamp(e.system.end)),
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


def _list(values: tuple[str, ...]) -> str:
    return json.dumps(values) if values else ""
