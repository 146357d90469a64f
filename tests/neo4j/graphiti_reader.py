"""What Graphiti's client reads of a graph, as JSON: run by an interpreter that has graphiti-core, which graphmem has not.

Standard input: `uri`, `user`, `password`, `groups`, and `queries`, each with the vector that an embedder gives for it.
Standard output: what it lists, searches and walks. Nothing here knows graphmem.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from typing import Any

from graphiti_core import Graphiti
from graphiti_core.cross_encoder.client import CrossEncoderClient
from graphiti_core.driver.neo4j_driver import Neo4jDriver
from graphiti_core.edges import CommunityEdge, EntityEdge, EpisodicEdge
from graphiti_core.embedder.client import EmbedderClient
from graphiti_core.llm_client.client import LLMClient
from graphiti_core.llm_client.config import LLMConfig
from graphiti_core.nodes import CommunityNode, EntityNode, EpisodicNode
from graphiti_core.search import search_config_recipes as recipes


class Embedder(EmbedderClient):
    """Gives the vectors it was told."""

    def __init__(self, known: dict[str, list[float]]) -> None:
        self.known = known

    async def create(self, input_data: Any) -> list[float]:
        return self.known[input_data if isinstance(input_data, str) else next(iter(input_data))]

    async def create_batch(self, input_data_list: list[str]) -> list[list[float]]:
        return [self.known[text] for text in input_data_list]


class Order(CrossEncoderClient):
    """Ranks by shared words."""

    async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
        wanted = set(query.lower().split())
        return sorted(((p, len(wanted & set(p.lower().split())) / (len(wanted) or 1)) for p in passages), key=lambda pair: -pair[1])


class Silent(LLMClient):
    """Reading needs no model."""

    async def _generate_response(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        raise AssertionError("a read asked the model")


async def main(asked: dict[str, Any]) -> dict[str, Any]:
    """Everything, each read by name; an error is told in its place."""
    driver = Neo4jDriver(asked["uri"], asked["user"], asked["password"])
    graphiti = Graphiti(
        graph_driver=driver,
        llm_client=Silent(LLMConfig(api_key="x", model="x")),
        embedder=Embedder(asked["queries"]),
        cross_encoder=Order(),
    )
    await graphiti.build_indices_and_constraints()
    groups, found = asked["groups"], {}
    listed = {
        "nodes": EntityNode.get_by_group_ids,
        "edges": EntityEdge.get_by_group_ids,
        "episodes": EpisodicNode.get_by_group_ids,
        "mentions": EpisodicEdge.get_by_group_ids,
        "communities": CommunityNode.get_by_group_ids,
        "members": CommunityEdge.get_by_group_ids,
    }
    for name, read in listed.items():
        found[name] = await told(read(driver, groups))
    found["recent"] = await told(graphiti.retrieve_episodes(reference_time=moment(asked["at"]), last_n=3, group_ids=groups))
    found["searches"] = {}
    for query in asked["queries"]:
        said = {"search": await told(graphiti.search(query, group_ids=groups))}
        for name in ("COMBINED_HYBRID_SEARCH_RRF", "COMBINED_HYBRID_SEARCH_MMR", "COMBINED_HYBRID_SEARCH_CROSS_ENCODER"):
            said[name] = await told(graphiti.search_(query, config=getattr(recipes, name), group_ids=groups))
        nodes = said["COMBINED_HYBRID_SEARCH_RRF"].get("nodes") or []
        if nodes:
            centre = nodes[0]["uuid"]
            said["near"] = await told(graphiti.search(query, center_node_uuid=centre, group_ids=groups))
            walked = recipes.COMBINED_HYBRID_SEARCH_RRF.model_copy(deep=True)
            for part in (walked.edge_config, walked.node_config):
                methods = type(part.search_methods[0])
                part.search_methods, part.bfs_max_depth = [methods.bfs], 2
            said["walk"] = await told(graphiti.search_(query, config=walked, bfs_origin_node_uuids=[centre], group_ids=groups))
        found["searches"][query] = said
    if found["episodes"] and isinstance(found["episodes"], list):
        found["by_episode"] = {e["uuid"]: await told(graphiti.get_nodes_and_edges_by_episode([e["uuid"]])) for e in found["episodes"]}
    if found["nodes"] and isinstance(found["nodes"], list):
        found["by_node"] = {n["uuid"]: await told(EntityEdge.get_by_node_uuid(driver, n["uuid"])) for n in found["nodes"]}
        found["between"] = await told(EntityEdge.get_between_nodes(driver, *asked["pair"]))
    await graphiti.close()
    return found


def moment(text: str) -> Any:
    """An instant of ISO 8601."""
    from datetime import datetime

    return datetime.fromisoformat(text)


async def told(reading: Any) -> Any:
    """The result as plain values, or the error."""
    try:
        result = await reading
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}
    if isinstance(result, list):
        return [plain(item) for item in result]
    return {name: [plain(item) for item in getattr(result, name)] for name in ("nodes", "edges", "episodes", "communities")}


def plain(item: Any) -> dict[str, Any]:
    """A node or an edge without its vectors."""
    return {k: v for k, v in item.model_dump(mode="json").items() if not k.endswith("_embedding")}


if __name__ == "__main__":
    logging.getLogger("neo4j").setLevel(logging.ERROR)
    json.dump(asyncio.run(main(json.load(sys.stdin))), sys.stdout)
