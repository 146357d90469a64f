"""Rerankers: a second look at what a search found. `search(..., rerank=...)` takes them by name, as objects, or several in turn.

| reranker           | name                 | raises                                                                     |
|--------------------|----------------------|----------------------------------------------------------------------------|
| `MMR`              | `mmr`, `mmr:0.7`     | what answers the question and says something else than the hits above it   |
| `NodeDistance`     | `node_distance:Mira` | what is few facts away from an entity                                      |
| `EpisodeMentions`  | `episode_mentions`   | what many episodes mention or say                                          |
| `CrossEncoder`     | `cross_encoder:NAME` | what a model that reads question and hit together finds fitting            |
| `EndpointReranker` |                      | the same, asked of a server                                                |

Anything with the attributes of `Reranker` is one too.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphmem.rerank.asked import Asked
    from graphmem.rerank.base import Reranker
    from graphmem.rerank.cross_encoder import CrossEncoder
    from graphmem.rerank.endpoint import EndpointReranker
    from graphmem.rerank.graph import EpisodeMentions, NodeDistance
    from graphmem.rerank.mmr import MMR

__all__ = ["MMR", "Asked", "CrossEncoder", "EndpointReranker", "EpisodeMentions", "NodeDistance", "Reranker"]

_HOMES = {
    "MMR": "mmr",
    "Asked": "asked",
    "CrossEncoder": "cross_encoder",
    "EndpointReranker": "endpoint",
    "EpisodeMentions": "graph",
    "NodeDistance": "graph",
    "Reranker": "base",
}


def __getattr__(name: str) -> object:
    """Load a reranker when it is first asked for: a search without one needs none of them."""
    if name not in _HOMES:
        raise AttributeError(f"module 'graphmem.rerank' has no attribute {name!r}")
    return getattr(import_module(f"graphmem.rerank.{_HOMES[name]}"), name)
