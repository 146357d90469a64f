"""Graphs as JSON: node-link, as networkx and d3 read it, and Cytoscape's, with a style; streamed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import TextIO

from graphmem.communities.results import CommunityItem
from graphmem.export.fields import community_values
from graphmem.export.selection import Cut
from graphmem.model import VALUE_TYPE, EntityVersion
from graphmem.results import EntityItem, FactItem
from graphmem.stores.codec import encode

_STYLE: list[dict[str, object]] = [
    {"selector": "node", "style": {"label": "data(name)", "background-color": "#4c8eda", "color": "#202124", "font-size": 11}},
    {"selector": f'node[type = "{VALUE_TYPE}"]', "style": {"background-color": "#b0b4bb", "shape": "round-rectangle"}},
    {
        "selector": "edge",
        "style": {"label": "data(relation)", "curve-style": "bezier", "target-arrow-shape": "triangle", "font-size": 8, "width": 1.5},
    },
    {"selector": "edge[!holds]", "style": {"line-style": "dashed", "line-color": "#b0b4bb", "target-arrow-color": "#b0b4bb"}},
]


def write_node_link(cut: Cut, path: Path) -> None:
    """`{"directed", "multigraph", "graph", "nodes", "edges"}`; `networkx.node_link_graph` reads it back."""
    nodes = ({"id": e.id, **node_values(e, cut.homes.get(e.id))} for e in cut.entities.values())
    edges = ({"source": f.source_id, "target": f.target_id, "key": f.uuid, **edge_values(f)} for f in cut.facts())
    with path.open("w", encoding="ascii", newline="\n") as out:
        _write(out, {"directed": True, "multigraph": True, "graph": {}}, {"nodes": nodes, "edges": edges})


def write_cytoscape(cut: Cut, path: Path) -> None:
    """Elements and style of Cytoscape.js, which Cytoscape opens too; facts that do not hold at the point are dashed."""
    nodes = ({"data": {"id": e.id, **node_values(e, cut.homes.get(e.id))}} for e in cut.entities.values())
    edges = ({"data": _cytoscape_edge(f, cut)} for f in cut.facts())
    with path.open("w", encoding="ascii", newline="\n") as out:
        out.write(f'{{"format_version": "1.0", "generated_by": "graphmem", "style": {json.dumps(_STYLE)}, "elements": ')
        _write(out, {}, {"nodes": nodes, "edges": edges})
        out.write("}\n")


def node_values(entity: EntityVersion, community: CommunityItem | None) -> dict[str, object]:
    """An entity as JSON values, without its id."""
    row = EntityItem(entity).to_dict() | community_values(community)
    return {name: _plain(value) for name, value in row.items() if name not in ("id", "summary")}


def edge_values(fact: FactItem) -> dict[str, object]:
    """A fact version as JSON values, without its ends; `source_name` and `target_name` are their names."""
    row = fact.to_dict()
    ends = {"source_name": row["source"], "target_name": row["target"]}
    left_out = ("source", "target", "source_id", "target_id", "uuid")
    return ends | {name: _plain(value) for name, value in row.items() if name not in left_out}


def _cytoscape_edge(fact: FactItem, cut: Cut) -> dict[str, object]:
    values = edge_values(fact)
    return {**values, "fact": values["id"], "id": fact.uuid, "source": fact.source_id, "target": fact.target_id, "holds": cut.holds(fact)}


def _plain(value: object) -> object:
    """What JSON holds; attributes that it does not are written as text."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return encode(value)
    return value


def _write(out: TextIO, head: Mapping[str, object], lists: Mapping[str, Iterable[Mapping[str, object]]]) -> None:
    """An object of `head` and of lists, an item a line."""
    out.write("{")
    out.writelines(f"{json.dumps(name)}: {json.dumps(value)},\n" for name, value in head.items())
    for n, (name, items) in enumerate(lists.items()):
        out.write(f"{',' if n else ''}{json.dumps(name)}: [")
        out.writelines(chain.from_iterable((",\n" if i else "\n", json.dumps(item)) for i, item in enumerate(items)))
        out.write("]\n")
    out.write("}\n")
