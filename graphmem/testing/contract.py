"""The store contract as tests: what every store must do, for those who write one.

Subclass `StoreContract` in a test module that gives a fixture `store`, an empty store:

    class TestMyStore(StoreContract):
        @pytest.fixture
        def store(self):
            with checked(MyStore()) as store:
                yield store
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from graphmem.stores.base import Store
from graphmem.testing.contract_changes import ChangeContract
from graphmem.testing.contract_communities import CommunityContract
from graphmem.testing.contract_graph import GraphContract
from graphmem.testing.contract_log import LogContract
from graphmem.testing.contract_search import SearchContract

S = TypeVar("S", bound=Store)


@contextmanager
def checked(store: S) -> Iterator[S]:
    """The store for one test: consistent at the end, then closed."""
    try:
        yield store
        with store.read() as reader:
            assert reader.verify() == []
    finally:
        store.close()


class StoreContract(LogContract, GraphContract, SearchContract, CommunityContract, ChangeContract):
    """Everything a store must do."""
