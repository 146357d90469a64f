"""Answers that spare making whole rows of what was read."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmem.model import AsOf
from graphmem.stores.base import Claim, Kind, Turn
from graphmem.stores.codec import from_micros, interval, raw_or_none, raw_text
from graphmem.stores.neo4j.search import SearchReads
from graphmem.stores.neo4j.session import ids


class LeanReads(SearchReads):
    """What `graphmem.stores.base.Lean` asks of a reader."""

    def mentioned(self, groups: Sequence[str], at: AsOf, entities: Sequence[str], limit: int) -> list[tuple[str, str]]:
        scopes = self._scopes(groups, at)
        if not scopes or not entities:
            return []
        name, params = mentioned_ask(scopes, entities, limit)
        return [(raw_text(episode), raw_text(entity)) for episode, entity in self._found(name, **params)]

    def claims(self, groups: Sequence[str], at: AsOf, facts: Sequence[str]) -> dict[str, Claim]:
        scopes = self._scopes(groups, at)
        if not scopes:
            return {}
        found = self._by_id("facts_by_uuid", (tuple(groups), at), facts, itemgetter("uuid"), scopes=scopes)
        said = (
            Claim(
                raw_text(row["uuid"]),
                raw_text(row["name"]),
                raw_text(row["source_node_uuid"]),
                raw_text(row["target_node_uuid"]),
                raw_text(row["fact"]),
                interval(row["gm_valid_from"], row["gm_valid_to"]),
            )
            for row in found
        )
        return {claim.uuid: claim for claim in said}

    def turns(self, groups: Sequence[str], at: AsOf, episodes: Sequence[str]) -> dict[str, Turn]:
        scopes = self._scopes(groups, at)
        if not scopes:
            return {}
        found = self._episodes_by_id((tuple(groups), at.system), scopes, episodes, bodies=True)
        said = (
            Turn(
                raw_text(row["id"]),
                raw_text(row["group_id"]),
                raw_or_none(row["session"]),
                raw_or_none(row["actor"]),
                raw_text(row["zone"]),
                from_micros(row["reference_time"]),
                raw_text(row["body"]),
            )
            for row in found
        )
        return {turn.id: turn for turn in said}

    def word_counts(self, kind: Kind, owners: Sequence[str], terms: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        texts = self.words(kind, owners)
        held = [texts[o].split(" ") if texts.get(o) else [] for o in owners]
        counts = np.array([[words.count(term) for term in terms] for words in held], dtype=np.float64).reshape(len(owners), len(terms))
        return np.array([len(words) for words in held], dtype=np.float64), counts


def mentioned_ask(scopes: Any, entities: Sequence[str], limit: int) -> tuple[str, dict[str, Any]]:
    """The statement that `mentioned` runs, and its parameters."""
    return "mentioned", {
        "scopes": scopes,
        "masses": [[i, 1.0] for i in ids(list(dict.fromkeys(entities))) or []],
        "limit": limit,
        "most": 0,
    }
