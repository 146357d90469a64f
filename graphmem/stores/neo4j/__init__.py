"""The store in Neo4j: the labels and names that Graphiti's users know, and nodes of its own for the log and for history."""

from __future__ import annotations

from graphmem.stores.neo4j.store import Neo4jStore

__all__ = ["Neo4jStore"]
