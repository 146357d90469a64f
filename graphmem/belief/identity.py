"""Which operations count, and who is who: merges and links join entities, `distinct` keeps them apart, a split takes one out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from graphmem.model import EpisodeRecord, LogEntry, Operation, OperationKind


def active_operations(log: Iterable[LogEntry]) -> list[Operation]:
    """The operations that no active `restore` undoes, in log order; a restore may itself be restored.

    Restores that count are part of the list. `erase` cannot be undone.
    """
    operations = [entry for entry in log if isinstance(entry, Operation)]
    if not operations:
        return operations
    operations.sort(key=lambda operation: operation.seq)
    active: list[Operation] = []
    undone: set[str] = set()
    for operation in reversed(operations):
        if operation.id in undone and operation.kind is not OperationKind.ERASE:
            continue
        active.append(operation)
        if operation.kind is OperationKind.RESTORE:
            undone.update(operation.targets)
    active.reverse()
    return active


class Identity:
    """The entities of a group as one instant sees them. Unknown ids are entities of their own.

    >>> same = Identity.joining([("b", "a"), ("b", "c")])
    >>> same.canonical("c"), sorted(same.members("a")), same.canonical("d")
    ('a', ['a', 'b', 'c'], 'd')
    """

    __slots__ = ("_groups", "_moves")

    def __init__(
        self, groups: Mapping[str, frozenset[str]] | None = None, moves: Mapping[str, Sequence[tuple[str, str]]] | None = None
    ) -> None:
        """`groups`: entity → all it is merged with, itself too. `moves`: episode → splits (from, to) in log order."""
        self._groups = {entity: (min(group), group) for entity, group in (groups or {}).items()}
        self._moves = moves or {}

    @classmethod
    def joining(
        cls,
        pairs: Iterable[tuple[str, str]],
        apart: Iterable[tuple[str, str]] = (),
        moves: Mapping[str, Sequence[tuple[str, str]]] | None = None,
    ) -> Identity:
        """Join `pairs` one after the other; a pair that would bring two entities of `apart` together is skipped."""
        barred: defaultdict[str, set[str]] = defaultdict(set)
        for one, other in apart:
            if one != other:
                barred[one].add(other)
                barred[other].add(one)
        groups: dict[str, set[str]] = {}
        for one, other in pairs:
            small, large = sorted((groups.get(one, {one}), groups.get(other, {other})), key=len)
            if small is large or one == other or any(barred[entity] & large for entity in small if entity in barred):
                continue
            large |= small
            for entity in small:
                groups[entity] = large
            groups[one] = groups[other] = large
        frozen = {id(group): frozenset(group) for group in groups.values()}
        return cls({entity: frozen[id(group)] for entity, group in groups.items()}, moves)

    def canonical(self, entity: str) -> str:
        """The least id of those merged with `entity`."""
        known = self._groups.get(entity)
        return entity if known is None else known[0]

    def at(self, entity: str, episode: str) -> str:
        """The entity that this episode's mention of `entity` counts for after splits, before merging."""
        if not self._moves:
            return entity
        for old, new in self._moves.get(episode, ()):
            if entity == old:
                entity = new
        return entity

    def members(self, entity: str) -> frozenset[str]:
        """All ids merged with `entity`, itself too."""
        known = self._groups.get(entity)
        return frozenset((entity,)) if known is None else known[1]


STRANGERS = Identity()
"""Where nobody is joined to anybody."""


def parted(split: Operation) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The ids that a split takes a new entity out of, and the episodes in which it does."""
    count = split.values.get("of", 1)
    assert isinstance(count, int)
    return split.targets[:count], split.targets[count:-1]


def resolve_identity(log: Iterable[LogEntry]) -> Identity:
    """Who is who after `log`: active merges in log order, then the links of episodes that are not forgotten.

    Of episodes only the links are read, so records may come without assertions.
    """
    entries = list(log)
    if not entries:
        return STRANGERS
    merges: list[tuple[str, str]] = []
    apart: list[tuple[str, str]] = []
    moves: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    forgotten: set[str] = set()
    for operation in active_operations(entries):
        match operation.kind:
            case OperationKind.MERGE:
                merges.append((operation.targets[0], operation.targets[1]))
            case OperationKind.DISTINCT:
                apart.append((operation.targets[0], operation.targets[1]))
            case OperationKind.SPLIT:
                entities, episodes = parted(operation)
                for episode in episodes:
                    moves[episode] += [(old, str(operation.values["entity"])) for old in entities]
            case OperationKind.FORGET:
                forgotten.update(operation.targets)
            case _:
                pass
    told = [entry for entry in entries if isinstance(entry, EpisodeRecord) and entry.links and entry.episode.id not in forgotten]
    told.sort(key=lambda record: record.seq)
    splits = Identity(moves=moves)
    links = [(splits.at(one, r.episode.id), splits.at(other, r.episode.id)) for r in told for one, other in r.links]
    return Identity.joining([*merges, *links], apart, moves)
