"""GEXF 1.3 (https://gexf.net) with time intervals: Gephi's timeline plays one of the two axes; streamed."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from graphmem.communities.results import CommunityItem
from graphmem.export.fields import EDGE_FIELDS, NODE_FIELDS
from graphmem.export.plaintext import MILLISECOND
from graphmem.export.selection import Axis, Cut
from graphmem.export.xmlwriter import XmlWriter
from graphmem.interval import FIRST, Interval
from graphmem.model import EntityVersion
from graphmem.results import FactItem

NAMESPACE = "http://gexf.net/1.3"


def write_gexf(cut: Cut, path: Path, axis: Axis = Axis.VALID) -> None:
    """Each edge carries the interval of its fact version on `axis`, each node the time from its first fact to its last.

    GEXF 1.3 knows inclusive ends only, so a half-open end is written one millisecond earlier, in Gephi's finest unit.
    """
    with path.open("w", encoding="utf-8", newline="\n") as out:
        xml = XmlWriter(out)
        with xml.within("gexf", {"xmlns": NAMESPACE, "version": "1.3"}):
            # Readers take instants for "date" as well; networkx knows no "dateTime".
            dynamic = {"mode": "dynamic", "timeformat": "date", "timerepresentation": "interval", "timezone": "UTC"}
            with xml.within("graph", {"defaultedgetype": "directed", "idtype": "string", **dynamic}):
                for kind, names in (("node", [f.name for f in NODE_FIELDS]), ("edge", [f.name for f in EDGE_FIELDS])):
                    with xml.within("attributes", {"class": kind, "mode": "static"}):
                        for name in names:
                            xml.element("attribute", {"id": f"{kind}_{name}", "title": name, "type": "string"})
                with xml.within("nodes"):
                    spans = cut.spans(axis)
                    for entity in cut.entities.values():
                        _node(xml, entity, cut.homes.get(entity.id), spans.get(entity.id))
                with xml.within("edges"):
                    parallel: Counter[tuple[str, str, str]] = Counter()
                    for fact in cut.facts():
                        between = (fact.source_id, fact.target_id, fact.relation)
                        parallel[between] += 1
                        _edge(xml, fact, fact.valid if axis is Axis.VALID else fact.system, parallel[between])


def _node(xml: XmlWriter, entity: EntityVersion, community: CommunityItem | None, span: Interval | None) -> None:
    with xml.within("node", {"id": entity.id, "label": entity.name, **_times(span)}), xml.within("attvalues"):
        for field in NODE_FIELDS:
            if value := field.of(entity, community):
                xml.element("attvalue", {"for": f"node_{field.name}", "value": value})


def _edge(xml: XmlWriter, fact: FactItem, interval: Interval, nth: int) -> None:
    # Edges of one kind between the same two nodes would be merged when read: further ones are kinds of their own.
    kind = fact.relation if nth == 1 else f"{fact.relation} {nth}"
    ends = {"id": fact.uuid, "source": fact.source_id, "target": fact.target_id, "label": fact.relation, "kind": kind}
    with xml.within("edge", {**ends, **_times(interval)}), xml.within("attvalues"):
        for field in EDGE_FIELDS:
            if value := field.of(fact):
                xml.element("attvalue", {"for": f"edge_{field.name}", "value": value})


def _times(interval: Interval | None) -> dict[str, str | None]:
    if interval is None:
        return {}
    last = None
    if interval.end is not None:
        last = max(interval.end - min(MILLISECOND, interval.end - FIRST), interval.start or FIRST)
    return {"start": _moment(interval.start), "end": _moment(last)}


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).isoformat(timespec="milliseconds")
