"""graphmem: a temporal knowledge-graph memory. Episodes in, dated and cited answers out, with two time axes on every fact.

>>> import graphmem
>>> graphmem.__version__.count(".")
2
"""

from __future__ import annotations

from graphmem.errors import GraphmemError
from graphmem.memory import Memory
from graphmem.ontology import Ontology, Relation
from graphmem.opening import open
from graphmem.search.hits import Filters
from graphmem.view import EntityView, View

__version__ = "0.1.0"
__all__ = ["EntityView", "Filters", "GraphmemError", "Memory", "Ontology", "Relation", "View", "__version__", "open"]
