"""A memory as tools for a language model: what to offer it, and how to run what it asks for.

`schemas()` are function definitions as chat APIs take them; `call(memory, name, arguments)` runs one and gives a dict
that is small enough to hand back. What a model gets wrong comes back as `{"error": ...}`, never as an exception.

>>> [schema["function"]["name"] for schema in schemas(read_only=True)][:7]
['search', 'context', 'entity', 'facts', 'timeline', 'neighbours', 'communities']
"""

from __future__ import annotations

from graphmem.tools.catalogue import INSTRUCTIONS, TOOLS, Tool, call, offered, schemas

__all__ = ["INSTRUCTIONS", "TOOLS", "Tool", "call", "offered", "schemas"]
