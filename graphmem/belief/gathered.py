"""What recording some entries of a log is to write, gathered so that what is of one kind is written at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby

import numpy as np

from graphmem.embed.base import Vectors
from graphmem.model import CitationVersion, EntityVersion, EpisodeRecord, FactKey, FactVersion, MentionVersion
from graphmem.stores.base import Kind, Writer
from graphmem.stores.bulk import writing


@dataclass
class Gathered:
    """Rows in the order in which they came; instants are those from which, or until which, they are believed."""

    records: dict[str, EpisodeRecord] = field(default_factory=dict)
    keys: dict[str, tuple[str, FactKey] | None] = field(default_factory=dict)
    mentions: list[tuple[datetime, Sequence[MentionVersion]]] = field(default_factory=list)
    entities: list[EntityVersion] = field(default_factory=list)
    entity_words: list[str] = field(default_factory=list)
    facts: list[FactVersion] = field(default_factory=list)
    fact_words: list[str] = field(default_factory=list)
    ended: list[tuple[str, Sequence[str], datetime]] = field(default_factory=list)
    citations: list[tuple[datetime, Sequence[CitationVersion], Sequence[CitationVersion]]] = field(default_factory=list)  # ended, added
    shown: dict[str, datetime] = field(default_factory=dict)
    episode_words: dict[str, str] = field(default_factory=dict)
    vectors: dict[Kind, list[tuple[Sequence[str], Sequence[int], Vectors]]] = field(default_factory=lambda: defaultdict(list))
    copies: dict[str, str] = field(default_factory=dict)  # of vectors: to which fact version → from which one

    def write(self, tx: Writer, group: str) -> None:
        """All of it."""
        many = writing(tx)
        many.append_episodes(list(self.records.values()))
        if self.keys:
            tx.set_keys(group, self.keys)
        many.open_mentions(group, self.mentions)
        tx.add_entities(self.entities, self.entity_words)
        tx.add_facts(self.facts, self.fact_words)
        for kind, uuids, at in self.ended:
            tx.end_versions(kind, uuids, at)
        for only_added, changes in groupby(self.citations, key=lambda change: not change[1]):
            if only_added:
                many.open_citations(group, [(at, added) for at, _, added in changes])
                continue
            for at, ended, added in changes:
                tx.change_citations(group, ended, added, at)
        many.open_episodes(group, self.shown, self.episode_words)
        for what, put in self.vectors.items():
            owners, pieces = [o for row in put for o in row[0]], [p for row in put for p in row[1]]
            tx.put_vectors(what, owners, pieces, np.concatenate([row[2] for row in put]))
        if self.copies:
            tx.copy_vectors(Kind.FACT, [(old, new) for new, old in self.copies.items()])
