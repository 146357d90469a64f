"""The store contract on every store that needs no server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from graphmem.stores.memory import MemoryStore
from graphmem.stores.sqlite import SqliteStore
from graphmem.testing.contract import StoreContract, checked
from graphmem.testing.contract_vectors import VectorContract


class TestMemoryStore(StoreContract, VectorContract):
    """Plain dictionaries."""

    @pytest.fixture
    def store(self) -> Iterator[MemoryStore]:
        with checked(MemoryStore()) as store:
            yield store


class TestSqliteStore(StoreContract, VectorContract):
    """One SQLite file."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[SqliteStore]:
        with checked(SqliteStore.open(tmp_path / "memory.db")) as store:
            yield store
