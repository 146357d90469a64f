"""What a store must be able to do besides so that it can be re-embedded: keep another embedder's vectors beside those in use."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from graphmem.embed.base import Vectors
from graphmem.model import CommunityVersion
from graphmem.stores.base import Capability, Kind, Reader, Writer


class StagingReader(Reader, Protocol):
    """A reader that knows what is still to be embedded."""

    def vector_owners(self, group: str, *, staged: bool) -> list[tuple[Kind, str]]:
        """The group's owners of vectors that have staged ones too, or those that have not; by kind, then id."""
        ...

    def community_versions(self, group: str, uuids: Sequence[str]) -> list[CommunityVersion]:
        """Those of these versions of communities that were ever believed, by (created_at, uuid)."""
        ...


class StagingWriter(Writer, StagingReader, Protocol):
    """A writer that keeps vectors for later."""

    def stage_vectors(self, kind: Kind, owners: Sequence[str], pieces: Sequence[int], vectors: Vectors) -> None:
        """Keep vectors of another embedder beside those in use, instead of all that were staged for these owners.

        No search sees them. Whatever changes an owner's vectors in use drops what is staged for it.
        """
        ...

    def use_staged_vectors(self) -> None:
        """Put the staged vectors in the place of all vectors, in every group; owners without staged ones have none then."""
        ...

    def drop_staged_vectors(self) -> None:
        """Forget what is staged, in every group."""
        ...


class StagingStore(Protocol):
    """A store whose transactions can do that."""

    capabilities: frozenset[Capability]

    def read(self) -> AbstractContextManager[StagingReader]:
        """As `Store.read`."""
        ...

    def write(self, group: str) -> AbstractContextManager[StagingWriter]:
        """As `Store.write`."""
        ...

    def close(self) -> None:
        """As `Store.close`."""
        ...
