"""graphmem: a temporal knowledge-graph memory. Episodes in, dated and cited answers out, with two time axes on every fact.

>>> import graphmem
>>> graphmem.__version__.count(".")
2
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphmem.aio import AsyncMemory
    from graphmem.entity_types import Attribute, EntityType
    from graphmem.errors import GraphmemError
    from graphmem.memory import Memory
    from graphmem.ontology import Ontology, Relation
    from graphmem.opening import copy, open, reembed  # noqa: A004 - `graphmem.open` opens a memory, as files are opened
    from graphmem.search.hits import Filters
    from graphmem.view import EntityView, View

__version__ = "0.1.0"
__all__ = [
    "AsyncMemory",
    "Attribute",
    "EntityType",
    "EntityView",
    "Filters",
    "GraphmemError",
    "Memory",
    "Ontology",
    "Relation",
    "View",
    "__version__",
    "copy",
    "open",
    "reembed",
]

_HOMES = {
    "AsyncMemory": "aio",
    "Attribute": "entity_types",
    "EntityType": "entity_types",
    "GraphmemError": "errors",
    "Memory": "memory",
    "Ontology": "ontology",
    "Relation": "ontology",
    "copy": "opening",
    "open": "opening",
    "reembed": "opening",
    "Filters": "search.hits",
    "EntityView": "view",
    "View": "view",
}


def __getattr__(name: str) -> object:
    """Load a public name when it is first asked for: the command line answers `--help` without the whole engine."""
    if name not in _HOMES:
        raise AttributeError(f"module 'graphmem' has no attribute {name!r}")
    value: object = getattr(import_module(f"graphmem.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
