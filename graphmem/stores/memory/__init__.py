"""The store in plain dictionaries: the executable specification of the contract, and what `:memory:` opens.

A committed state is never changed: a transaction works on a copy of its group and swaps it in, so a reader keeps the
snapshot it began with.
"""

from __future__ import annotations

from graphmem.stores.memory.store import MemoryStore

__all__ = ["MemoryStore"]
