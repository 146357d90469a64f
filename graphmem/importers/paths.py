"""The way through a conversation that was edited on the way: from its last message back to its first."""

from __future__ import annotations

from collections.abc import Mapping


def path_to(leaf: object, parents: Mapping[str, object]) -> list[str]:
    """The ids from the root to `leaf`, which is the last; what is not there, or runs in a circle, ends it."""
    path: dict[str, None] = {}
    node = leaf
    while isinstance(node, str) and node in parents and node not in path:
        path[node] = None
        node = parents[node]
    return list(path)[::-1]
