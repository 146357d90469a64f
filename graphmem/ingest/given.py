"""Attributes as an answer gives them: plain values of a bearable size, under names that are not graphmem's own."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from itertools import islice

from graphmem import names
from graphmem.belief.entities import UNREAD
from graphmem.ingest import answers
from graphmem.ingest.found import IDENTITIES, shown
from graphmem.model import EMPTY, Warn

_RESERVED = frozenset((IDENTITIES, UNREAD))
_MOST = 50
_MAX_NODES = 500
_MAX_DEPTH = 20
_MAX_SIZE = 20_000


def read_attributes(raw: object, warnings: list[Warn]) -> Mapping[str, object]:
    """The attributes in an object, or in a list of names and values; what cannot be kept is told.

    >>> read_attributes([{"name": "berths", "value": 6}], [])
    {'berths': 6}
    """
    if isinstance(raw, list):
        rows = (row for row in raw[:_MOST] if isinstance(row, Mapping))
        pairs = [(answers.field(row, ("name", "attribute", "key")), answers.field(row, ("value",))) for row in rows]
        pairs = [pair for pair in pairs if pair[1] is not None]
    elif isinstance(raw, Mapping):
        pairs = list(islice(raw.items(), _MOST))
    else:
        return EMPTY
    kept: dict[str, object] = {}
    for name, value in pairs:
        if isinstance(name, str) and names.is_nameable(name) and answers.plain_key(name) not in _RESERVED and is_bearable(value):
            kept[names.clean(name)] = value
        else:
            warnings.append(Warn("bad_attribute", shown({shown(name): value}), "not a name with a plain value; dropped"))
    return kept or EMPTY


def is_bearable(value: object) -> bool:
    """Whether a value is made of a few plain ones, and can be stored."""
    todo, nodes, size = [(value, 0)], 0, 0
    while todo:
        item, depth = todo.pop()
        nodes += 1
        if isinstance(item, str | bytes):
            size += len(item)
        elif isinstance(item, int):
            size += item.bit_length() // 3
        elif isinstance(item, Mapping | list | tuple) and len(item) <= _MAX_NODES:
            inner = item.values() if isinstance(item, Mapping) else item
            size += sum(len(str(key)) for key in item) if isinstance(item, Mapping) else 0
            todo.extend((i, depth + 1) for i in inner)
        elif not (item is None or isinstance(item, float | date)):
            return False
        if nodes > _MAX_NODES or depth > _MAX_DEPTH or size > _MAX_SIZE:
            return False
    return True
