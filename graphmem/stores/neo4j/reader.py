"""A reader, and the store's own check."""

from __future__ import annotations

from collections.abc import Iterator

from graphmem.model import Violation
from graphmem.stores.codec import raw_text
from graphmem.stores.neo4j.changes import ChangeReads
from graphmem.stores.neo4j.communities import CommunityReads
from graphmem.stores.neo4j.history import HistoryReads

CHECKS = {
    "versions_without_group": "its group is missing",
    "citations_without_ends": "its fact or its episode is missing",
    "mentions_without_episode": "its episode is missing",
    "vectors_without_owner": "a vector without its owner",
    "assertions_without_episode": "its episode or assertion is missing",
    "episodes_shown_otherwise": "when it was visible is said in two ways; graphmem copy writes it anew",
    "facts_that_differ": "its ends or its words are not those of its nodes and indexes",
    "overlapping_facts": "two versions of one period are believed at one instant",
    "overlapping_entities": "two versions are believed at one instant",
    "members_without_community": "a member of a community that is not there",
    "overlapping_members": "two communities of one level hold it at one instant",
    "overlapping_communities": "two versions are believed at one instant",
    "communities_that_differ": "Graphiti's clients see it otherwise",
    "words_that_differ": "counts other rows or words than there are",
}


class Neo4jReader(HistoryReads, CommunityReads, ChangeReads):
    """Everything that can be read."""

    def verify(self) -> list[Violation]:
        return list(self._violations())

    def _violations(self) -> Iterator[Violation]:
        for statement, detail in CHECKS.items():
            for row in self.run.rows(statement):
                yield Violation(row["kind"], raw_text(row["id"]), detail)
