"""What the tests of the Neo4j store share; the servers themselves are in `neo4j_servers`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from neo4j_servers import Place

from graphmem.stores.neo4j import Neo4jStore


@pytest.fixture
def opened(emptied: Place) -> Iterator[Neo4jStore]:
    """A store on an empty database."""
    store = Neo4jStore.open(emptied.uri, emptied.auth)
    yield store
    store.close()
