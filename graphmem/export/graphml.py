"""GraphML (http://graphml.graphdrawing.org), as Gephi, yEd, Cytoscape, igraph and networkx read it; streamed."""

from __future__ import annotations

from pathlib import Path

from graphmem.export.fields import EDGE_FIELDS, NODE_FIELDS
from graphmem.export.selection import Cut
from graphmem.export.xmlwriter import XmlWriter

NAMESPACE = "http://graphml.graphdrawing.org/xmlns"


def write_graphml(cut: Cut, path: Path) -> None:
    """One node an entity, one edge a fact version, directed and parallel, with all four dates as strings."""
    with path.open("w", encoding="utf-8", newline="\n") as out:
        xml = XmlWriter(out)
        with xml.within("graphml", {"xmlns": NAMESPACE}):
            for kind, names in (("node", [f.name for f in NODE_FIELDS]), ("edge", [f.name for f in EDGE_FIELDS])):
                for name in names:
                    xml.element("key", {"id": f"{kind}_{name}", "for": kind, "attr.name": name, "attr.type": "string"})
            with xml.within("graph", {"id": "graphmem", "edgedefault": "directed"}):
                for entity in cut.entities.values():
                    with xml.within("node", {"id": entity.id}):
                        for of_node in NODE_FIELDS:
                            if value := of_node.of(entity, cut.homes.get(entity.id)):
                                xml.element("data", {"key": f"node_{of_node.name}"}, value)
                for fact in cut.facts():
                    with xml.within("edge", {"id": fact.uuid, "source": fact.source_id, "target": fact.target_id}):
                        for of_edge in EDGE_FIELDS:
                            if value := of_edge.of(fact):
                                xml.element("data", {"key": f"edge_{of_edge.name}"}, value)
