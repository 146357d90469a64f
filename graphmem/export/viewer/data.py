"""What the page shows, as plain JSON values: entities with their places, fact versions on both axes, the episodes behind them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from graphmem.communities.graph import Graph
from graphmem.export.selection import Cut
from graphmem.export.viewer.layout import at_home, grouped, positions
from graphmem.interval import FIRST, Interval
from graphmem.model import EntityVersion, Episode
from graphmem.results import FactItem
from graphmem.shown import utf8_text
from graphmem.stores.codec import to_micros
from graphmem.stores.matching import believed

MOST_NODES = 2_000
MOST_FACTS = 6_000
MOST_TEXT = 1_500_000
LONGEST_TEXT = 4_000


def page_data(cut: Cut, now: datetime) -> dict[str, Any]:
    """Everything the page needs. Of a large graph the entities with most facts, and what was left out is counted.

    Instants are microseconds since 1970 in UTC, None where a period is open. The page ends with the cut's system instant: what
    was believed then has no end.
    """
    facts = list(cut.facts())
    entities, shown = _chosen(cut.entities, facts)
    places = {entity: n for n, entity in enumerate(entities)}
    graph = Graph.of(((f.source_id, f.target_id, 1.0) for f in shown), entities)
    near = grouped(graph)
    drawn = positions(graph, near)
    coloured, communities = at_home(graph, cut.homes) if cut.homes else (near, [])
    at = {entity: n for n, entity in enumerate(graph.nodes)}
    believed = _believed(cut, list(entities))
    texts = _episodes(cut, shown)
    return {
        "now": to_micros(cut.at.valid or now),
        "system": to_micros(cut.at.system or now),
        "nodes": [_node(e, believed[e.id], coloured[at[e.id]], *drawn[at[e.id]].tolist()) for e in entities.values()],
        "communities": [utf8_text(name) for name in communities],
        "facts": [_fact(fact, places, _known(fact.system, cut)) for fact in shown],
        "episodes": {episode.id: _episode(episode, text) for episode, text in texts},
        "totals": {"nodes": len(cut.entities), "facts": len(facts)},
        "groups": list(cut.groups),
    }


def _chosen(entities: Mapping[str, EntityVersion], facts: Sequence[FactItem]) -> tuple[dict[str, EntityVersion], list[FactItem]]:
    """The entities with most facts, up to what a page can show, and the newest facts between them."""
    degree = Counter(end for fact in facts for end in (fact.source_id, fact.target_id))
    ranked = sorted(entities, key=lambda i: (-degree[i], i))[:MOST_NODES]
    kept = {i: entities[i] for i in sorted(ranked)}
    between = [f for f in facts if f.source_id in kept and f.target_id in kept]
    between.sort(key=lambda f: f.created_at or FIRST)  # of several groups; a stable sort
    return kept, between[-MOST_FACTS:]


def _believed(cut: Cut, ids: Sequence[str]) -> dict[str, list[Interval]]:
    """When each entity was believed to exist."""
    found: dict[str, list[Interval]] = {entity: [] for entity in ids}
    for group in cut.groups:
        for version in cut.reader.entity_versions(group, ids):
            spans, system = found[version.id], _known(version.system, cut)
            if cut.at.system is not None and system.start is not None and cut.at.system < system.start:
                continue
            if spans and spans[-1].end == system.start:
                spans[-1] = Interval(spans[-1].start, system.end)
            else:
                spans.append(system)
    return found


def _known(system: Interval, cut: Cut) -> Interval:
    """What was known at the cut's system instant of when something was believed: an end after it was not."""
    return Interval(system.start) if cut.at.system is not None and believed(system, cut.at.system) else system


def _episodes(cut: Cut, facts: Sequence[FactItem]) -> list[tuple[Episode, str]]:
    """The episodes behind the facts, with as much text as the page may hold."""
    ids = sorted({episode for fact in facts for episode in fact.episodes})
    found: list[tuple[Episode, str]] = []
    room = MOST_TEXT
    for group in cut.groups:
        for record in cut.reader.records(group, ids):
            body = record.episode.body
            text = body if len(body) <= min(LONGEST_TEXT, room) else f"{body[: min(LONGEST_TEXT, room)]}…"
            room = max(room - len(text), 0)
            found.append((record.episode, text))
    return found


def _node(entity: EntityVersion, believed: Sequence[Interval], community: int, x: float, y: float) -> dict[str, Any]:
    return {
        "id": entity.id,
        "name": utf8_text(entity.name),
        "type": utf8_text(entity.type),
        "aliases": [utf8_text(alias) for alias in entity.aliases],
        "community": community,
        "x": round(x, 4),
        "y": round(y, 4),
        "believed": [_span(interval) for interval in believed],
    }


def _fact(fact: FactItem, places: Mapping[str, int], system: Interval) -> dict[str, Any]:
    return {
        "source": places[fact.source_id],
        "target": places[fact.target_id],
        "relation": utf8_text(fact.relation),
        "text": utf8_text(fact.text),
        "period": fact.period,
        "valid": _span(fact.valid),
        "system": _span(system),
        "episodes": list(fact.episodes),
    }


def _episode(episode: Episode, text: str) -> dict[str, Any]:
    return {"who": utf8_text(episode.actor or ""), "when": to_micros(episode.reference_time), "text": utf8_text(text)}


def _span(interval: Interval) -> list[int | None]:
    return [None if moment is None else to_micros(moment) for moment in (interval.start, interval.end)]
