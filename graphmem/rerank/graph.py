"""Rerankers that look at the graph: how near a hit is to an entity, and how often it was said."""

from __future__ import annotations

from collections.abc import Sequence

from graphmem.errors import InvalidInput
from graphmem.rerank.asked import Asked
from graphmem.search.hits import Hit


class NodeDistance:
    """Ranks by nearness to `entity`, a name or id: fewer facts in between come first.

    The score is `1 / (1 + facts crossed)`: 1 for the entity itself, its facts and the episodes that mention it, 0 for what
    is more than `most` facts away. Facts count that pass at the point searched. A search raises `NotFound` if the entity
    is not known there.

    >>> NodeDistance("Mira")
    NodeDistance('Mira')
    """

    name = "node_distance"

    def __init__(self, entity: str, *, most: int = 4) -> None:
        if not isinstance(entity, str) or not entity.strip():
            raise InvalidInput("entity", entity, "must be the name or id of an entity")
        if isinstance(most, bool) or not isinstance(most, int) or most < 1:
            raise InvalidInput("most", most, "must be an integer of 1 or more")
        self.entity, self.most = entity, most

    def __repr__(self) -> str:
        return f"NodeDistance({self.entity!r})" if self.most == 4 else f"NodeDistance({self.entity!r}, most={self.most})"

    def scores(self, asked: Asked, hits: Sequence[Hit]) -> list[float]:
        """1, 1/2, 1/3 ... by distance; 0 out of reach."""
        return [0.0 if hops is None else 1 / (1 + hops) for hops in asked.hops(self.entity, hits, self.most)]


class EpisodeMentions:
    """Ranks by how many visible episodes mention the entity or are cited by the fact; an episode counts as one.

    >>> EpisodeMentions()
    EpisodeMentions()
    """

    name = "episode_mentions"

    def __repr__(self) -> str:
        return "EpisodeMentions()"

    def scores(self, asked: Asked, hits: Sequence[Hit]) -> list[float]:
        """The counts."""
        return [float(count) for count in asked.episodes(hits)]
