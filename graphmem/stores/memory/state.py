"""What the dictionary store holds: a state is never changed once committed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from graphmem.interval import Interval
from graphmem.model import (
    Assertion,
    CitationVersion,
    CommunityVersion,
    EntityVersion,
    EpisodeRecord,
    FactKey,
    FactVersion,
    Head,
    MemberVersion,
    MentionVersion,
    Operation,
)
from graphmem.stores.base import Kind


@dataclass
class Group:
    """Everything a store keeps of one group."""

    head: Head = field(default_factory=Head)
    records: dict[str, EpisodeRecord] = field(default_factory=dict)
    operations: dict[str, Operation] = field(default_factory=dict)
    assertions: dict[str, tuple[int, Assertion]] = field(default_factory=dict)
    keys: dict[str, tuple[str, FactKey] | None] = field(default_factory=dict)
    facts: dict[str, FactVersion] = field(default_factory=dict)
    entities: dict[str, EntityVersion] = field(default_factory=dict)
    citations: list[CitationVersion] = field(default_factory=list)
    mentions: list[MentionVersion] = field(default_factory=list)
    communities: dict[str, CommunityVersion] = field(default_factory=dict)
    members: list[MemberVersion] = field(default_factory=list)
    visible: dict[str, tuple[Interval, ...]] = field(default_factory=dict)
    words: dict[tuple[Kind, str], str] = field(default_factory=dict)
    vectors: dict[tuple[Kind, str], dict[int, NDArray[np.float16]]] = field(default_factory=dict)
    staged: dict[tuple[Kind, str], dict[int, NDArray[np.float16]]] = field(default_factory=dict)

    def owns(self, kind: Kind, owner: str) -> bool:
        """Whether words and vectors of this kind may belong to this id; an entity keeps its index rows while it has no version."""
        if kind is Kind.FACT:
            return owner in self.facts
        if kind is Kind.COMMUNITY:
            return owner in self.communities
        return owner in self.records if kind is Kind.EPISODE else (kind, owner) in self.words

    def copy(self) -> Group:
        return Group(self.head, *(getattr(self, name).copy() for name in _CONTENTS))


_CONTENTS = tuple(name for name in Group.__dataclass_fields__ if name != "head")


@dataclass(frozen=True)
class State:
    """One committed state of the whole store."""

    groups: Mapping[str, Group]
    answers: Mapping[str, str]
    metas: Mapping[str, str]
