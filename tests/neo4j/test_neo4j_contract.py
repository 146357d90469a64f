"""The store contract on Neo4j."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from graphmem.stores.neo4j import Neo4jStore
from graphmem.testing.contract import StoreContract, checked
from graphmem.testing.contract_changes import ChangeContract
from graphmem.testing.contract_vectors import VectorContract


class OnAServer:
    """The store to be tested is on a server, where nothing else is."""

    @pytest.fixture
    def store(self, opened: Neo4jStore) -> Iterator[Neo4jStore]:
        with checked(opened) as store:
            yield store


@pytest.mark.neo4j("2026.08", "5.26")
class TestNeo4jStore(OnAServer, StoreContract, VectorContract):
    """Servers of two releases."""


@pytest.mark.neo4j("container")
class TestNeo4jStoreInAContainer(OnAServer, ChangeContract, VectorContract):
    """A server of the newest release in a container: what its indexes find. All of the contract is in the slow tier."""


@pytest.mark.slow
@pytest.mark.neo4j("container")
class TestAllOfNeo4jStoreInAContainer(OnAServer, StoreContract, VectorContract):
    """The same release, all the same."""
