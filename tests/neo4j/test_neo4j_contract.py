"""The store contract on Neo4j."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from graphmem.stores.neo4j import Neo4jStore
from graphmem.testing.contract import StoreContract, checked
from graphmem.testing.contract_vectors import VectorContract

pytestmark = pytest.mark.neo4j("2026.08", "5.26", "container")


class TestNeo4jStore(StoreContract, VectorContract):
    """A server."""

    @pytest.fixture
    def store(self, opened: Neo4jStore) -> Iterator[Neo4jStore]:
        with checked(opened) as store:
            yield store
