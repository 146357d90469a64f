"""What a reader knows of its groups: how far each had come when it first looked, which is all it ever sees of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from graphmem.model import AsOf, Head
from graphmem.stores.base import Kind
from graphmem.stores.codec import OPEN_END, OPEN_START, from_micros, raw_text, safe_text, to_micros
from graphmem.stores.neo4j.kept import Kept, settings
from graphmem.stores.neo4j.session import Row
from graphmem.stores.neo4j.together import Ask, Part, moved
from graphmem.stores.neo4j.tokens import index_key, prefix

_BEFORE_ALL, _AFTER_ALL = -(2**63) + 1, 2**63 - 1


class Runs(Protocol):
    """Something that runs named statements."""

    def rows(self, name: str, /, **params: Any) -> list[Row]:
        """All rows."""
        ...

    def together(self, asks: Sequence[Ask]) -> list[list[Row]]:
        """All rows of each, in one round trip."""
        ...


@dataclass(frozen=True, slots=True)
class GroupState:
    """A group at one commit: its number, the end of the log, and how many links, operations' targets, decisions and vectors it has.

    Most groups have no links, or no decisions: then nothing of these need be asked for.
    """

    change: int
    head: Head
    links: int
    targets: int
    decisions: int
    vectors: Mapping[Kind, int]

    @classmethod
    def of(cls, row: Row) -> GroupState:
        head = Head(row["seq"], None if row["at"] is None else from_micros(row["at"]))
        return cls(row["change"], head, row["links"], row["targets"], row["decisions"], {kind: row[kind.value] for kind in Kind})


def scope(group: str, pin: int | None, at: AsOf) -> dict[str, Any]:
    """The parameters that say what passes in a group: commits up to `pin` (None: not known yet), and the point on both axes."""
    valid = None if at.valid is None else to_micros(at.valid)
    given = None if at.system is None else to_micros(at.system)
    return {
        "group": safe_text(group),
        "prefix": prefix(group),
        "pin": pin,
        "still": pin if given is None else -1,
        "system": _AFTER_ALL if given is None else given,
        "since": _BEFORE_ALL if given is None else given,
        "valid_lo": OPEN_START if valid is None else valid,
        "valid_hi": OPEN_END if valid is None else valid,
    }


@dataclass(frozen=True, slots=True)
class StateAsked:
    """Which groups and settings are read."""

    groups: tuple[str, ...]
    names: Mapping[str, str]

    @property
    def ask(self) -> Ask:
        return Ask("state", {"groups": [safe_text(g) for g in self.groups], "metas": list(self.names)})


class Scoped:
    """The part of a reader that knows its groups, and the settings kept with the data."""

    def __init__(self, run: Runs, kept: Kept) -> None:
        self.run = run
        self._kept = kept
        self._states: dict[str, GroupState | None] = {}
        self._metas: dict[str, str | None] = {}

    def _load(self, groups: Sequence[str], name: str | None = None) -> None:
        """Read the states of these groups, and what else is usually asked for, once for all."""
        asked = self._asked(groups, name)
        self._learn(asked, self.run.rows("state", **asked.ask.params)[0])

    def _asked(self, groups: Sequence[str], name: str | None = None) -> StateAsked:
        wanted = tuple(dict.fromkeys((*groups, *(() if self._states else self._kept.groups()))))
        return StateAsked(wanted, self._kept.names() | ({} if name is None else {index_key(name): name}))

    def _learn(self, asked: StateAsked, row: Row) -> None:
        """Keep the states of groups that were not known yet, and the settings."""
        self._states = dict.fromkeys(asked.groups) | {raw_text(g["group_id"]): GroupState.of(g) for g in row["groups"]} | self._states
        self._metas = settings(row, asked.names) | self._metas

    def _together(self, groups: Sequence[str], at: AsOf, asks: Callable[[Any], Sequence[Ask]]) -> list[list[Row]]:
        """All rows of each, in one round trip; `asks` is given the parameter that says what passes in the groups at `at`.

        Where nothing is known of the groups yet, their states are read in the same round trip.
        """
        if any(g in self._states for g in groups):
            return self.run.together(asks(self._scopes(groups, at)))
        self._kept.note_groups(groups)
        asked = self._asked(groups)
        points = [scope(g, None, at) for g in dict.fromkeys(groups)]
        scoped = Ask("scoped", {"points": points, "groups": Part(((0, "groups"),))})
        found = self.run.together([asked.ask, scoped, *(moved(ask, 2) for ask in asks(Part(((-1, "scopes"),))))])
        self._learn(asked, found[0][0])
        return found[2:]

    def _known(self, groups: Sequence[str]) -> dict[str, GroupState]:
        """The states of those groups that exist, read when first asked for and kept."""
        unknown = [g for g in groups if g not in self._states]
        if unknown:
            self._kept.note_groups(unknown)
            self._load(unknown)
        found = {g: self._states[g] for g in groups}
        return {g: state for g, state in found.items() if state is not None}

    def meta(self, name: str) -> str | None:
        if name not in self._metas:
            self._kept.note_asked(name)
            self._load((), name)
        return self._metas[name]

    def _pin(self, group: str) -> int:
        """The last commit of the group that this reader sees; 0 for an unknown group."""
        state = self._known([group]).get(group)
        return 0 if state is None else state.change

    def _scopes(self, groups: Sequence[str], at: AsOf) -> list[dict[str, Any]]:
        return [scope(g, state.change, at) for g, state in self._known(groups).items()]
