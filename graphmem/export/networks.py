"""The graph in other libraries' hands: networkx and igraph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphmem.communities.results import CommunityItem
from graphmem.errors import MissingExtra
from graphmem.export.fields import community_values
from graphmem.export.selection import Cut
from graphmem.model import EntityVersion
from graphmem.results import FactItem

if TYPE_CHECKING:
    import networkx


def to_networkx(cut: Cut) -> networkx.MultiDiGraph[str]:
    """A directed multigraph: nodes by entity id, edges by (source, target, version uuid), dates as `datetime`s."""
    import networkx

    graph: networkx.MultiDiGraph[str] = networkx.MultiDiGraph()
    graph.add_nodes_from((e.id, _node(e, cut.homes.get(e.id))) for e in cut.entities.values())
    graph.add_edges_from((f.source_id, f.target_id, f.uuid, _edge(f)) for f in cut.facts())
    return graph


def to_igraph(cut: Cut) -> Any:
    """A directed `igraph.Graph`: vertices named by entity id (`name` is the id, `label` the entity's name)."""
    try:
        import igraph
    except ImportError as error:
        raise MissingExtra("this needs igraph: pip install igraph") from error
    place = {entity: n for n, entity in enumerate(cut.entities)}
    entities, facts = list(cut.entities.values()), list(cut.facts())
    graph = igraph.Graph(n=len(place), edges=[(place[f.source_id], place[f.target_id]) for f in facts], directed=True)
    graph.vs["name"] = [e.id for e in entities]
    graph.vs["label"] = [e.name for e in entities]
    graph.vs["type"] = [e.type for e in entities]
    graph.vs["community"] = [community.id if (community := cut.homes.get(e.id)) else None for e in entities]
    rows = [{"uuid": f.uuid, **_edge(f)} for f in facts]
    for name in rows[0] if rows else ():
        graph.es[name] = [row[name] for row in rows]
    return graph


def _node(entity: EntityVersion, community: CommunityItem | None) -> dict[str, Any]:
    return {
        "name": entity.name,
        "type": entity.type,
        "group": entity.group,
        **community_values(community),
        "aliases": entity.aliases,
        "attributes": dict(entity.attributes),
        "created_at": entity.system.start,
        "expired_at": entity.system.end,
    }


def _edge(fact: FactItem) -> dict[str, Any]:
    return {
        "relation": fact.relation,
        "text": fact.text,
        "group": fact.group,
        "fact": fact.id,
        "valid_at": fact.valid_at,
        "invalid_at": fact.invalid_at,
        "created_at": fact.created_at,
        "expired_at": fact.expired_at,
        "period": fact.period,
        "episodes": fact.episodes,
        "attributes": dict(fact.attributes),
    }
