"""What filters ask of facts, entities and episodes, as columns in memory: a filter is applied to all rows before the best are taken."""

from __future__ import annotations

import threading
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from graphmem.model import EntityMatch, EpisodeMatch, FactMatch
from graphmem.stores.base import Kind, SearchFilter
from graphmem.stores.codec import decode_mapping, end_micros, safe_text, start_micros
from graphmem.stores.columns import Array, Columns
from graphmem.stores.sqlite.session import Session, Value
from graphmem.stores.vectors import Mask

Rows = NDArray[np.int64]


class _Table(NamedTuple):
    """A statement that reads rows after a row number: numbers, the row number leading, then texts, kept as codes, then attributes."""

    statement: str
    numbers: tuple[str, ...]
    texts: tuple[str, ...]
    kind: Kind | None = None  # whose attributes are read, if any


_FACTS = _Table("fact_labels", ("n",), ("relation", "source", "target", "period"), Kind.FACT)
_ENTITIES = _Table("entity_labels", ("n", "owner"), ("id", "type"), Kind.ENTITY)
_EPISODES = _Table("episode_labels", ("n", "reference_time"), ("id", "session", "actor", "source"), Kind.EPISODE)
_CITATIONS = _Table("citation_labels", ("n",), ("period", "episode"))


class Labels:
    """The labels of every row committed, read when first asked for. Whoever asks leaves out what is not visible to them:

    rows may be newer than the reader that asks, since all of it only grows within an epoch.
    """

    def __init__(self) -> None:
        self._tables: dict[_Table, Columns] = {}
        self._known_to: dict[_Table, int] = {}
        self._codes: dict[Value, int] = {}
        self._attributes: dict[Kind, dict[tuple[str, Hashable], list[int]]] = {kind: {} for kind in Kind}
        self._lock = threading.Lock()

    def passing(self, session: Session, change: int, kind: Kind, match: SearchFilter, size: int) -> Mask | None:
        """A mask over owner numbers below `size`: those that may pass, as far as labels tell; None if they tell nothing."""
        with self._lock:
            owners = [*_Asked(self, session, change).owners(kind, match)]
        return np.logical_and.reduce([_marked(o, size) for o in owners]) if owners else None

    def episodes(self, session: Session, change: int, match: EpisodeMatch) -> Mapping[str, Rows]:
        """Columns of the episodes with the sessions, actors, sources and reference times of `match`."""
        with self._lock:
            return _Asked(self, session, change).episodes(match)

    def table(self, session: Session, change: int, table: _Table) -> Columns:
        """The rows committed up to `change`, and perhaps later ones."""
        known = self._tables.get(table)
        if known is None or self._known_to[table] < change:
            known = known or Columns.empty(**{name: np.empty(0, np.int64) for name in (*table.numbers, *table.texts)})
            if found := session.rows(table.statement, after=int(known["n"][-1]) if known.count else 0):
                known = known.extended(**self._columns(table, found))
            self._tables[table], self._known_to[table] = known, change
        return known

    def _columns(self, table: _Table, found: Sequence[tuple[Value, ...]]) -> dict[str, Array]:
        names, coded = (*table.numbers, *table.texts), self._codes
        columns: dict[str, Array] = {}
        for name, column in zip(names, zip(*found, strict=True), strict=False):
            numbers = column if name in table.numbers else [coded.setdefault(text, len(coded)) for text in column]
            columns[name] = np.array(numbers, np.int64)
        if table.kind is not None:
            known, owners = self._attributes[table.kind], columns.get("owner", columns["n"]).tolist()
            for owner, row in zip(owners, found, strict=True):
                held = decode_mapping(cast(str, row[-1])) if row[-1] is not None else {}
                for place in {*_places(held), *((name, None) for name in held)}:
                    known.setdefault(place, []).append(owner)
        return columns

    def having(self, kind: Kind, place: tuple[str, Hashable]) -> Rows:
        """Owners with this attribute; of a value that is no key of a dict, with this name."""
        return np.array(self._attributes[kind].get(place, ()), np.int64)

    def chosen(self, column: Rows, texts: Iterable[str | None]) -> Mask:
        """Which rows have one of `texts` in a column of codes."""
        return self.chosen_codes(column, [self._codes[t] for t in (_stored(t) for t in texts) if t in self._codes])

    def chosen_codes(self, column: Rows, codes: Collection[int] | Rows) -> Mask:
        """Which rows have one of `codes` in a column of codes."""
        wanted = np.zeros(len(self._codes) + 1, np.bool_)
        wanted[np.asarray(codes, np.int64)] = True
        return np.asarray(wanted[column])


class _Asked(NamedTuple):
    """Labels as one reader asks for them."""

    labels: Labels
    session: Session
    change: int

    def owners(self, kind: Kind, match: SearchFilter) -> Iterator[Rows]:
        """By condition, the owners that may pass."""
        if match.attributes and kind is Kind.COMMUNITY:
            yield np.empty(0, np.int64)
        elif match.attributes:
            self._table({Kind.FACT: _FACTS, Kind.ENTITY: _ENTITIES, Kind.EPISODE: _EPISODES}[kind])
            yield from (self.labels.having(kind, place) for place in _places(match.attributes))
        if kind is Kind.FACT:
            yield from self._facts(match)
        elif kind is Kind.ENTITY and match.entities is not None and match.entities.types is not None:
            rows = self._table(_ENTITIES)
            yield rows["owner"][self.labels.chosen(rows["type"], match.entities.types)]
        elif kind is Kind.EPISODE and match.episodes is not None and said(match.episodes):
            yield self.episodes(match.episodes)["n"]

    def _facts(self, match: SearchFilter) -> Iterator[Rows]:
        chosen, coded = self.labels.chosen, self.labels.chosen_codes
        if match.facts is not None and match.facts.relations is not None:
            rows = self._table(_FACTS)
            yield rows["n"][chosen(rows["relation"], match.facts.relations)]
        if match.ends is not None:
            rows, ends = self._table(_FACTS), self._table(_ENTITIES)
            fitting = ends["id"][chosen(ends["type"], match.ends)]
            yield rows["n"][coded(rows["source"], fitting) | coded(rows["target"], fitting)]
        if match.cited is not None:
            rows, citations = self._table(_FACTS), self._table(_CITATIONS)
            periods = citations["period"][coded(citations["episode"], self.episodes(match.cited)["id"])]
            yield rows["n"][coded(rows["period"], periods)]

    def episodes(self, match: EpisodeMatch) -> dict[str, Rows]:
        """Columns of the episodes that pass."""
        rows = self._table(_EPISODES)
        passes = np.ones(len(rows), np.bool_)
        for column, allowed in (("session", match.sessions), ("actor", match.actors), ("source", match.sources)):
            if allowed is not None:
                passes &= self.labels.chosen(rows[column], allowed)
        if match.reference is not None:
            passes &= rows["reference_time"] >= start_micros(match.reference.start)
            passes &= rows["reference_time"] < end_micros(match.reference.end)
        return {name: rows[name][passes] for name in ("n", "id", "reference_time")}

    def _table(self, table: _Table) -> Columns:
        return self.labels.table(self.session, self.change, table)


def said(match: EpisodeMatch) -> bool:
    """Whether labels of episodes tell something of the match."""
    return any(condition is not None for condition in (match.sessions, match.actors, match.sources, match.reference))


def untold(match: FactMatch | EntityMatch | EpisodeMatch) -> FactMatch | EntityMatch | EpisodeMatch | None:
    """What is left to be checked of a match when its labels have been; an entity's labels are those of all its versions."""
    if isinstance(match, FactMatch):
        match = replace(match, relations=None, valid_overlaps=None)
    elif isinstance(match, EpisodeMatch):
        match = replace(match, sessions=None, actors=None, sources=None, reference=None)
    return None if match == type(match)() else match


def _places(attributes: Mapping[str, object]) -> Iterator[tuple[str, Hashable]]:
    """Names with values, and with none for a value that is no key of a dict: every place that an equal value may have."""
    for name, value in attributes.items():
        try:
            hash(value)
        except TypeError:
            yield name, None
        else:
            yield name, value


def _stored(text: str | None) -> str | None:
    return None if text is None else safe_text(text)


def _marked(owners: Rows, size: int) -> Mask:
    mask = np.zeros(size, np.bool_)
    mask[owners[owners < size]] = True
    return mask
