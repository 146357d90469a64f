"""Rows that came before they were asked for: what a statement would give, told from what another one has brought."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from graphmem.stores.codec import OPEN_END, OPEN_START
from graphmem.stores.neo4j.scopes import Runs
from graphmem.stores.neo4j.session import Row
from graphmem.stores.neo4j.together import Ask

Params = Mapping[str, Any]
ALL = 2**31 - 1
"""No limit."""


class _Keyed(NamedTuple):
    """A statement whose answer is put together from those to single keys: its keys (None: it asks for more), and how."""

    keys: Callable[[Params], Iterable[Hashable] | None]
    joined: Callable[[list[Row]], list[Row]]


class Held:
    """What is known of a group beforehand, as long as nothing is written."""

    def __init__(self) -> None:
        self._whole: list[tuple[str, Params, list[Row]]] = []
        self._parts: dict[tuple[str, str], dict[Hashable, list[Row]]] = {}
        self._scopes: dict[str, Params] = {}

    def clear(self) -> None:
        """Forget everything."""
        self._whole.clear()
        self._parts.clear()

    def written(self, keyed: Collection[str]) -> None:
        """Something was written, among it what these assertions speak of: only what that leaves as it was still holds."""
        self._whole.clear()
        self._parts = {place: parts for place, parts in self._parts.items() if place[0] in _LASTING}
        for (name, _), parts in self._parts.items():
            if name == "fact_ids":
                for assertion in keyed:
                    parts.pop(assertion, None)

    def scoped(self, group: str, scope: Params) -> None:
        """Rows of the group are held for this point only."""
        self._scopes[group] = scope

    def keep(self, name: str, params: Params, found: list[Row], /) -> None:
        """The answer to a statement with exactly these parameters."""
        self._whole.append((name, params, found))

    def keep_by(self, name: str, group: str, keys: Iterable[Hashable], found: Iterable[tuple[Hashable, Row]]) -> None:
        """Rows by key, of a statement that can be asked by key: all that there are of these keys."""
        parts = self._parts.setdefault((name, group), {})
        fresh: dict[Hashable, list[Row]] = {key: [] for key in keys}
        for key, row in found:
            fresh[key].append(row)
        parts.update(fresh)

    def by(self, name: str, group: str, key: Hashable) -> list[Row] | None:
        """The rows of one key; None where that is not known."""
        return self._parts.get((name, group), {}).get(key)

    def rows(self, name: str, params: Params) -> list[Row] | None:
        """What the statement would give; None where that is not known."""
        for kept, given, found in self._whole:
            if kept == name and given == params:
                return found
        if (keyed := _KEYED.get(name)) is None or (parts := self._parts_of(name, params)) is None:
            return None
        keys = keyed.keys(params)
        if keys is None:
            return None
        found = []
        for key in keys:
            if (rows := parts.get(key)) is None:
                return None
            found += rows
        return keyed.joined(list({id(row): row for row in found}.values()))

    def _parts_of(self, name: str, params: Params) -> dict[Hashable, list[Row]] | None:
        if "group" in params:
            return self._parts.get((name, params["group"]))
        point = params["scopes"][0] if len(params["scopes"]) == 1 else None
        if point is None or self._scopes.get(point["group"]) != point:
            return None
        return self._parts.get((name, point["group"]))


class Foreseen:
    """Runs statements whose answers are not held."""

    def __init__(self, run: Runs) -> None:
        self._run = run
        self.held = Held()

    def rows(self, name: str, /, **params: Any) -> list[Row]:
        """All rows."""
        known = self.held.rows(name, params)
        return self._run.rows(name, **params) if known is None else known

    def together(self, asks: Sequence[Ask]) -> list[list[Row]]:
        """All rows of each, in one round trip."""
        return self._run.together(asks)


def joined(name: str, *found: Sequence[Row]) -> list[Row]:
    """Rows of one statement from several answers, as one answer."""
    return _KEYED[name].joined([row for rows in found for row in rows])


def _plainly(keys: str) -> Callable[[Params], Iterable[Hashable] | None]:
    """By this parameter, if it asks for nothing else."""

    def asked(params: Params) -> Iterable[Hashable] | None:
        others = any(params.get(name) is not None for name in _CONDITIONS if name != keys)
        if others or any(params.get(name, value) != value for name, value in _UNSAID.items()):
            return None
        known: Iterable[Hashable] = params[keys]
        return known

    return asked


def _slots(params: Params) -> Iterable[Hashable]:
    return [(end, *slot) for end in ("sources", "targets") for slot in params[end]]


def _targets(params: Params) -> Iterable[Hashable] | None:
    return None if params["ids"] else params["targets"]


def _in_one(found: list[Row]) -> list[Row]:
    return [{"found": found}]


def _sorted(key: Callable[[Row], Any]) -> Callable[[list[Row]], list[Row]]:
    return lambda found: sorted(found, key=key)


def _place(row: Row) -> Sequence[Any]:
    said = row["assertion"]
    return said["seq"], said["position"], said["id"]


def _newest(row: Row) -> Any:
    said = row["mention"]
    return -said["reference_time"], said["episode"], said["position"], row["entity"]


_CONDITIONS = ("ids", "types", "uuids", "fact_ids", "sources", "targets", "entities", "relations")
_UNSAID = {"limit": ALL, "overlaps_start": OPEN_START, "overlaps_end": OPEN_END}
_LASTING = ("episode_heads", "fact_ids")
_KEYED: dict[str, _Keyed] = {
    "entities_by_id": _Keyed(_plainly("ids"), _in_one),
    "facts_by_fact_id": _Keyed(_plainly("fact_ids"), _in_one),
    "citations_by_fact": _Keyed(_plainly("ids"), _in_one),
    "assertions_by_fact": _Keyed(_plainly("ids"), _sorted(_place)),
    "assertions_by_id": _Keyed(_plainly("ids"), _sorted(_place)),
    "assertions_by_deciding": _Keyed(_plainly("ids"), _sorted(_place)),
    "assertions_by_entity": _Keyed(_plainly("ids"), _sorted(_place)),
    "mention_records": _Keyed(_plainly("ids"), _sorted(lambda row: (row["mention"]["seq"], row["mention"]["position"]))),
    "mentions_by_episode": _Keyed(_plainly("episodes"), lambda found: _in_one(sorted(found, key=_newest))),
    "episode_heads": _Keyed(_plainly("ids"), _sorted(lambda row: row["episode"]["seq"])),
    "fact_ids": _Keyed(_plainly("ids"), list),
    "keys_by_fact": _Keyed(_plainly("ids"), list),
    "keys_by_slot": _Keyed(_slots, list),
    "links_of": _Keyed(_plainly("ids"), _sorted(lambda row: (row["seq"], row["position"]))),
    "operations_named": _Keyed(_targets, _sorted(lambda row: row["operation"]["seq"])),
}
