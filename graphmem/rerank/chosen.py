"""Which rerankers `rerank=` means: by name, as objects, or several in turn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from graphmem.errors import InvalidInput
from graphmem.rerank.base import Reranker

Rerank = str | Reranker | Sequence[str | Reranker]
_NAMES = "'mmr', 'mmr:LAMBDA', 'node_distance:ENTITY', 'episode_mentions', 'cross_encoder:NAME', a Reranker object, or a list of these"


def chosen(rerank: Rerank | None) -> tuple[Reranker, ...]:
    """The rerankers, in turn; none for None. Raises `InvalidInput` naming what is allowed.

    >>> chosen(["node_distance:Mira", "mmr:0.7"])
    (NodeDistance('Mira'), MMR(lambda_=0.7))
    """
    if rerank is None:
        return ()
    if isinstance(rerank, str) or not isinstance(rerank, Sequence):
        return (_one(rerank),)
    return tuple(_one(r) for r in rerank)


def _one(rerank: object) -> Reranker:
    if not isinstance(rerank, str):
        if isinstance(rerank, type) or not isinstance(rerank, Reranker):
            raise InvalidInput("rerank", rerank, f"must be {_NAMES}")
        return rerank
    from graphmem.rerank.graph import EpisodeMentions, NodeDistance
    from graphmem.rerank.mmr import MMR

    name, _, argument = rerank.partition(":")
    match name, argument.strip():
        case "mmr", "":
            return MMR()
        case "mmr", weight:
            return MMR(_weight(rerank, weight))
        case "episode_mentions", "":
            return EpisodeMentions()
        case "node_distance", entity if entity:
            return NodeDistance(entity)
        case "cross_encoder", model if model:
            return _cross_encoder(model)
        case _:
            raise InvalidInput("rerank", rerank, f"must be {_NAMES}")


def _weight(rerank: str, text: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        weight = math.nan
    if not 0 <= weight <= 1:
        raise InvalidInput("rerank", rerank, "the part after 'mmr:' must be a number from 0 to 1")
    return weight


@lru_cache(maxsize=2)
def _cross_encoder(model: str) -> Reranker:
    """One object a model, so that it is loaded once and not by every search."""
    from graphmem.rerank.cross_encoder import CrossEncoder

    return CrossEncoder(model)
