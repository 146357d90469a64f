"""What a store keeps of communities: versions and memberships with system intervals, and facts as edges to find them by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from graphmem.model import AsOf, CommunityMatch, CommunityVersion, MemberVersion, Ties


class CommunityReads(Protocol):
    """The part of a reader that speaks of communities; points in time as for all versions, valid time for `ties` alone."""

    def communities(self, groups: Sequence[str], at: AsOf, match: CommunityMatch | None = None) -> list[CommunityVersion]:
        """Communities believed at `at.system`, by (level, id)."""
        ...

    def members(
        self,
        groups: Sequence[str],
        at: AsOf,
        *,
        communities: Sequence[str] | None = None,
        entities: Sequence[str] | None = None,
        level: int | None = None,
    ) -> list[MemberVersion]:
        """Memberships believed at `at.system` that pass every condition given, by (level, community, entity)."""
        ...

    def community_sizes(
        self,
        groups: Sequence[str],
        at: AsOf,
        *,
        communities: Sequence[str] | None = None,
        level: int | None = None,
        limit: int | None = None,
    ) -> list[tuple[str, int]]:
        """How many members the communities believed at `at.system` have that pass every condition given: the largest first, then by
        id. Those without any are left out.
        """
        ...

    def community_history(self, group: str) -> tuple[list[CommunityVersion], list[MemberVersion]]:
        """Every version ever believed: of communities by (created_at, uuid), of memberships by (created_at, level, entity)."""
        ...

    def ties(self, group: str, at: AsOf, entities: Sequence[str] | None = None) -> Ties:
        """Facts that pass, as edges, with the episodes cited as believed at `at.system` counted, at least 1; those that touch one
        of `entities` if these are given. In any order, each once.
        """
        ...


class CommunityWrites(Protocol):
    """The part of a writer that changes them."""

    def change_communities(self, group: str, ended: Sequence[str], added: Sequence[CommunityVersion], at: datetime) -> None:
        """Close versions by uuid, then open others (their `system` starts at `at`)."""
        ...

    def index_communities(self, group: str, words: Mapping[str, str]) -> None:
        """Index versions, by uuid, by these words, instead of those that they were indexed by."""
        ...

    def change_members(self, group: str, ended: Sequence[MemberVersion], added: Sequence[MemberVersion], at: datetime) -> None:
        """Close memberships by (level, entity), then open others. An entity has a version in the group before it is a member."""
        ...
