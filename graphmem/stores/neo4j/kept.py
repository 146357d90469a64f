"""What a store keeps from one transaction to the next, to ask less: which settings are asked for, how large groups are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphmem.stores.codec import raw_text
from graphmem.stores.neo4j.session import Row
from graphmem.stores.neo4j.tokens import index_key

_NAMES_KEPT = 32
_GROUPS_KEPT = 4


class Kept:
    """Names of settings, groups, and how many vectors these have. Threads may share it."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._groups: tuple[str, ...] = ()
        self._pieces: dict[str, int] = {}

    def names(self) -> dict[str, str]:
        """The settings asked for last, by their index key; they come along with other rows."""
        return dict(self._names)

    def note_asked(self, name: str) -> None:
        """The setting had to be asked for."""
        self._names = dict([*self._names.items(), (index_key(name), name)][-_NAMES_KEPT:])

    def groups(self) -> tuple[str, ...]:
        """The groups read last."""
        return self._groups

    def note_groups(self, groups: Sequence[str]) -> None:
        """These groups were read; they come along next time, so that a reader's first look is its only one."""
        self._groups = tuple(dict.fromkeys((*groups, *self._groups)))[:_GROUPS_KEPT]

    def note_pieces(self, group: str, count: int) -> None:
        """The group has so many vectors of entities."""
        self._pieces[group] = count

    def pieces(self, group: str) -> int:
        """How many vectors of entities the group had when that was last seen."""
        return self._pieces.get(group, 0)


def settings(row: Row, names: Mapping[str, str]) -> dict[str, str | None]:
    """The settings of a row that brought those of `names`."""
    held = {index: raw_text(value) for index, value in row["metas"]}
    return {name: held.get(index) for index, name in names.items()}
