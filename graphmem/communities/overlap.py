"""Which community is which after a change, and what has become of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass


def kept_ids(old: Mapping[str, Collection[str]], new: Sequence[Collection[str]]) -> list[str | None]:
    """For each new community the id of the old one it continues; None for those that are new. No id is given twice.

    A pair is considered where what both share is more than half of one of them; the largest share comes first, then the
    larger part of both together, then the least id, then the earlier of the new ones.

    >>> kept_ids({"a": "123456", "b": "78"}, ["1234", "56", "789"])
    ['a', None, 'b']
    """
    home = {entity: community for community, members in old.items() for entity in members}
    pairs = []
    for n, members in enumerate(new):
        for community, shared in Counter(home[e] for e in members if e in home).items():
            before = len(old[community])
            if 2 * shared > min(before, len(members)):
                pairs.append((-shared, -shared / (before + len(members) - shared), community, n))
    kept: list[str | None] = [None] * len(new)
    taken: set[str] = set()
    for _, _, community, n in sorted(pairs):
        if kept[n] is None and community not in taken:
            kept[n] = community
            taken.add(community)
    return kept


@dataclass(frozen=True, slots=True)
class Moves:
    """What has become of the communities of one level: ids, and entities by id."""

    born: tuple[str, ...]
    died: tuple[str, ...]
    grew: tuple[str, ...]
    shrank: tuple[str, ...]
    split: Mapping[str, tuple[str, ...]]
    merged: Mapping[str, tuple[str, ...]]
    moved: Mapping[str, tuple[str, str]]


def moves(old: Mapping[str, Collection[str]], new: Mapping[str, Collection[str]]) -> Moves:
    """From the communities of one point to those of another, everything by id, in order.

    Split: from an old community come most members of several new ones. Merged: most members of several old communities are in
    a new one. Moved: entities that are members at both points, of different communities.

    >>> moves({"a": "1234", "b": "56"}, {"a": "12", "c": "34", "b": "567"})
    Moves(born=('c',), died=(), grew=('b',), shrank=('a',), split={'a': ('a', 'c')}, merged={}, moved={'3': ('a', 'c'), '4': ('a', 'c')})
    """
    before = {e: c for c, members in old.items() for e in members}
    after = {e: c for c, members in new.items() for e in members}
    shared = Counter((before[e], after[e]) for e in before.keys() & after.keys())
    pieces: dict[str, list[str]] = {}
    parts: dict[str, list[str]] = {}
    for (was, now), count in sorted(shared.items()):
        if 2 * count > len(new[now]):
            pieces.setdefault(was, []).append(now)
        if 2 * count > len(old[was]):
            parts.setdefault(now, []).append(was)
    same = sorted(old.keys() & new.keys())
    return Moves(
        born=tuple(sorted(new.keys() - old.keys())),
        died=tuple(sorted(old.keys() - new.keys())),
        grew=tuple(c for c in same if len(new[c]) > len(old[c])),
        shrank=tuple(c for c in same if len(new[c]) < len(old[c])),
        split={c: tuple(into) for c, into in pieces.items() if len(into) > 1},
        merged={c: tuple(of) for c, of in parts.items() if len(of) > 1},
        moved={e: (before[e], after[e]) for e in sorted(before.keys() & after.keys()) if before[e] != after[e]},
    )
