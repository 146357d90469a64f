"""A reader of one snapshot, and the store's own check."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from graphmem.errors import StoreBusy, StoreError, StoreUnavailable
from graphmem.model import Violation
from graphmem.stores.codec import raw_text
from graphmem.stores.sqlite.changes import ChangeReads
from graphmem.stores.sqlite.communities import CommunityReads
from graphmem.stores.sqlite.search import SearchReads

_ORPHANS = {
    "words_without_owner": ("index", "words without their owner"),
    "vectors_without_owner": ("index", "vectors without their owner"),
    "vectors_without_copy": ("index", "a vector without its exact copy"),
    "staged_without_vectors": ("index", "staged vectors of an owner without vectors in use"),
    "items_without_words": ("index", "no words are indexed"),
    "citations_without_ends": ("citation", "its fact or its episode is missing"),
    "mentions_without_rows": ("mention", "its episode or its row in the log is missing"),
    "keys_without_assertion": ("key", "its assertion is missing"),
    "overlapping_entities": ("entity", "two versions are believed at one instant"),
    "overlapping_facts": ("fact", "two versions of one period are believed at one instant"),
    "overlapping_visible": ("episode", "two visible intervals overlap"),
    "members_without_community": ("community", "a member of a community that is not there"),
    "overlapping_members": ("entity", "two communities of one level hold it at one instant"),
    "overlapping_communities": ("community", "two versions are believed at one instant"),
}


class SqliteReader(SearchReads, CommunityReads, ChangeReads):
    """Everything that can be read of one snapshot."""

    _state: tuple[int, int] | None = None

    def _snapshot(self) -> tuple[int, int]:
        """The commit and the epoch: one snapshot has one of each."""
        if self._state is None:
            self._state = super()._snapshot()
        return self._state

    def verify(self) -> list[Violation]:
        return list(self._violations())

    def _violations(self) -> Iterator[Violation]:
        for (message,) in self.session.rows("check_file"):
            if message != "ok":
                yield Violation("file", self.session.where, str(message))
        for statement, (kind, detail) in _ORPHANS.items():
            for row in self.session.rows(statement):
                yield Violation(kind, " ".join(raw_text(str(v)) for v in row), detail)
        _, indexed = cast(tuple[int, int], self.session.row("indexed_words"))
        (places,) = cast(tuple[int], self.session.row("indexed_places"))
        if indexed != places:
            yield Violation("index", "word_index", f"holds {places} words; the rows hold {indexed}")
        yield from self._word_index()

    def _word_index(self) -> Iterator[Violation]:
        """The index checks itself by a statement that needs the write lock; without it, the counts above must do."""
        connection = self.session.connection
        (patience,) = connection.execute("PRAGMA busy_timeout").fetchone()
        connection.execute("PRAGMA busy_timeout = 0")
        try:
            self.session.run("check_word_index")
        except (StoreBusy, StoreUnavailable):
            pass
        except StoreError as error:
            yield Violation("index", "word_index", str(error))
        finally:
            connection.execute(f"PRAGMA busy_timeout = {int(patience)}")
