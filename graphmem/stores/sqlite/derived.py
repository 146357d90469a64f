"""What searches keep in memory: spans of time, words with their postings, vectors, the order of sessions.

Derived from committed rows alone and never needed for correctness. A `Derived` belongs to one commit and never changes;
the next one catches up by what the commits between have touched, so other processes' writes cost no more than one's own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from graphmem.interval import Interval
from graphmem.stores import bm25
from graphmem.stores.base import Kind
from graphmem.stores.codec import OPEN_END, OPEN_START, end_micros, raw_text, start_micros
from graphmem.stores.columns import Array, Columns
from graphmem.stores.sqlite.labels import Labels
from graphmem.stores.sqlite.session import Session
from graphmem.stores.sqlite.sessions import SessionOrder
from graphmem.stores.sqlite.tokens import token
from graphmem.stores.vectors import Mask, VectorIndex

_KINDS = {Kind.FACT: 0, Kind.ENTITY: 1, Kind.EPISODE: 2, Kind.COMMUNITY: 3}
_CODES = {kind.value: code for kind, code in _KINDS.items()}
_SPAN_COLUMNS = ("n", "owner", "grp", "created_at", "expired_at", "valid_at", "invalid_at")
_MOST_POSTINGS = 4_000_000
_MOST_NEW_ROWS = 2_000
_LOADED_AT_ONCE = 8_192
_GROUPS_KEPT = 16
# With fewer postings than this part of all rows, adding them up row by row costs less than an array of all rows.
_SPARSE = 128
_COMMON = 2_000
_WEIGHTS_KEPT = 32

_Vector = tuple[int, str, int, int, float, bytes]
Postings = tuple[NDArray[np.int64], NDArray[np.float64]]


# ------------------------------------------------------------------------------------------------ spans of time


@dataclass(frozen=True)
class Spans:
    """When the owners of one kind are believed and hold, a row a version."""

    rows: Columns
    top_owner: int = 0
    timeless: bool = True  # no owner of this kind has a valid time
    _open: dict[tuple[int, ...], Mask] = field(default_factory=dict, compare=False, repr=False)
    _owners: dict[tuple[int, ...], Mask] = field(default_factory=dict, compare=False, repr=False)
    _holding: dict[tuple[int, ...], tuple[int, int, Mask]] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def empty(cls) -> Spans:
        return cls(Columns.empty(**{name: np.empty(0, np.int64) for name in _SPAN_COLUMNS}))

    def caught_up(self, session: Session, kind: Kind, change: int) -> Spans:
        """With the rows touched after the commit `change`."""
        if kind is Kind.FACT:
            found = session.rows("fact_spans", change=change)
        else:
            found = session.rows(f"{kind.value}_spans", change=change, open_start=OPEN_START, open_end=OPEN_END)
        if not found:
            return self
        # Sorted here: an ORDER BY on the row number would make SQLite walk the whole table instead of the index.
        table = np.fromiter(chain.from_iterable(found), np.int64, len(found) * len(_SPAN_COLUMNS)).reshape(len(found), -1)
        table = table[np.argsort(table[:, 0])]
        rows = self.rows
        known = table[:, 0] <= (rows["n"][-1] if rows.count else 0)
        if known.any():
            # A version, once written, changes in its `expired_at` alone.
            positions = np.searchsorted(rows["n"], table[known, 0])
            rows = rows.replaced("expired_at", positions, table[known, 4])
        fresh = table[~known]
        if len(fresh):
            rows = rows.extended(**{name: fresh[:, i] for i, name in enumerate(_SPAN_COLUMNS)})
        return Spans(rows, max(self.top_owner, int(table[:, 1].max())), kind is not Kind.FACT)

    def passing(self, groups: Sequence[int], at: Mapping[str, int], size: int) -> Mask:
        """A mask over owner numbers below `size`: those with a version of these groups that passes at the point.

        Not to be changed: those of today are kept, with a valid time until something begins or ends.
        """
        rows, named = self.rows, tuple(groups)
        any_time = self.timeless or at["valid_lo"] == OPEN_START
        lasting = any_time and at["system"] >= OPEN_END - 1
        known = self._owners.get(named) if lasting else None
        if known is not None and len(known) >= size:
            return known
        today = not any_time and at["system"] >= OPEN_END - 1 and at["valid_lo"] == at["valid_hi"]
        held = self._holding.get(named) if today else None
        if held is not None and held[0] <= at["valid_lo"] < held[1] and len(held[2]) >= size:
            return held[2]
        passes = self._believed(named, at["system"])
        if not any_time:
            passes = passes & (rows["valid_at"] <= at["valid_hi"]) & (rows["invalid_at"] > at["valid_lo"])
        mask = np.zeros(max(size, self.top_owner + 1), np.bool_)
        if self.timeless:
            mask[rows["owner"][passes]] = True
        else:
            mask[rows["owner"]] = passes  # each is the version of an owner of its own
        if lasting:
            if len(self._owners) >= _GROUPS_KEPT:
                self._owners.clear()
            self._owners[named] = mask
        if today:
            if len(self._holding) >= _GROUPS_KEPT:
                self._holding.clear()
            # What is asked once between two commits need not be kept: finding how long it lasts costs more than the mask.
            self._holding[named] = (*((0, 0) if held is None else self._lasting(at["valid_lo"])), mask)
        return mask

    def _lasting(self, valid: int) -> tuple[int, int]:
        """From when until when nothing begins or ends, around an instant."""
        since, until = OPEN_START, OPEN_END
        for bounds in (self.rows["valid_at"], self.rows["invalid_at"]):
            past = bounds <= valid
            since = max(since, int(np.where(past, bounds, OPEN_START).max(initial=OPEN_START)))
            until = min(until, int(np.where(past, OPEN_END, bounds).min(initial=OPEN_END)))
        return since, until

    def overlapping(self, valid: Interval, size: int) -> Mask:
        """A mask over owner numbers below `size`: those with a version that holds at some instant of `valid`."""
        rows = self.rows
        holds = (rows["valid_at"] < end_micros(valid.end)) & (rows["invalid_at"] > start_micros(valid.start))
        mask = np.zeros(size, np.bool_)
        owners = rows["owner"][holds]
        mask[owners[owners < size]] = True
        return mask

    def _believed(self, groups: tuple[int, ...], system: int) -> Mask:
        """The rows of these groups believed at an instant; those of today are kept, since most searches ask for them."""
        latest = system >= OPEN_END - 1
        if latest and groups in self._open:
            return self._open[groups]
        rows = self.rows
        passes = rows["expired_at"] > system
        passes &= rows["grp"] == groups[0] if len(groups) == 1 else np.isin(rows["grp"], groups)
        if not latest:
            passes &= rows["created_at"] <= system
            return passes
        if len(self._open) >= _GROUPS_KEPT:
            self._open.clear()
        self._open[groups] = passes
        return passes


# ------------------------------------------------------------------------------------------------ words


class Lexicon:
    """The indexed words of all kinds: lengths of all rows, postings of the terms asked for so far."""

    def __init__(
        self, rows: Columns, statistics: Mapping[Kind, tuple[int, int, int]], postings: dict[str, dict[Kind, Postings]], held: int = 0
    ) -> None:
        self.rows = rows
        self.top_owner = int(rows["owner"].max(initial=0))
        self._statistics = statistics
        self._postings = postings
        self._held = held  # how many postings these are
        self._weights: dict[tuple[Kind, str], Postings] = {}
        self._places: dict[Kind, NDArray[np.int64]] = {}
        self._kinds: dict[Kind, tuple[Array, Array]] = {}

    @classmethod
    def empty(cls) -> Lexicon:
        rows = Columns.empty(
            n=np.empty(0, np.int64),
            kind=np.empty(0, np.int8),
            owner=np.empty(0, np.int64),
            length=np.empty(0, np.float64),
            live=np.empty(0, np.bool_),
        )
        return cls(rows, dict.fromkeys(Kind, (0, 0, 0)), {})

    def statistics(self, kind: Kind) -> tuple[int, float]:
        """Rows, and mean words a row."""
        rows, words, _ = self._statistics[kind]
        return rows, words / rows if rows else 0.0

    def caught_up(self, session: Session) -> Lexicon:
        """With the rows after the last known; an owner's newer words replace its earlier ones."""
        last = int(self.rows["n"][-1]) if self.rows.count else 0
        found = cast(list[tuple[int, str, int, int]], session.rows("word_lengths", after=last))
        if not found:
            return self
        columns = zip(*found, strict=True)
        n = np.array(next(columns))
        kinds = np.array([_CODES[k] for k in next(columns)])
        owner, length = (np.array(c) for c in columns)
        rows = self.rows
        first = rows.count
        stale = _positions_of(rows, kinds, owner) if first else np.empty(0, np.intp)
        if len(stale):
            rows = rows.replaced("live", stale, False)
        rows = rows.extended(n=n, kind=kinds.astype(np.int8), owner=owner, length=length.astype(np.float64), live=np.ones(len(n), np.bool_))
        return Lexicon(rows, self._counted(kinds, length, stale), *self._posted(session, last, first, kinds))

    def _counted(self, kinds: Array, length: Array, stale: Array) -> dict[Kind, tuple[int, int, int]]:
        statistics = {}
        for kind, code in _KINDS.items():
            rows, words, dead = self._statistics[kind]
            mine, gone = kinds == code, stale[self.rows["kind"][stale] == code] if len(stale) else stale
            rows += int(np.count_nonzero(mine)) - len(gone)
            words += int(length[mine].sum()) - (int(self.rows["length"][gone].sum()) if len(gone) else 0)
            statistics[kind] = (rows, words, dead + len(gone))
        return statistics

    def _posted(self, session: Session, last: int, first: int, kinds: Array) -> tuple[dict[str, dict[Kind, Postings]], int]:
        """The known postings with those of the new rows, and how many; forgotten when there are too many new rows to go through."""
        if not self._postings or len(kinds) > _MOST_NEW_ROWS:
            return {}, 0
        postings = dict(self._postings)
        codes = {code: kind for kind, code in _KINDS.items()}
        fresh: dict[tuple[str, Kind], list[tuple[int, int]]] = {}
        texts = cast(list[tuple[int, str]], session.rows("word_texts", after=last))
        for place, (_, text) in enumerate(texts):
            for term, frequency in Counter(raw_text(text).split()).items():
                if term in postings:
                    fresh.setdefault((term, codes[int(kinds[place])]), []).append((first + place, frequency))
        for (term, kind), pairs in fresh.items():
            where, how_often = postings[term].get(kind, _NOWHERE)
            more = np.array(pairs, dtype=np.int64)
            grown = (np.concatenate((where, more[:, 0])), np.concatenate((how_often, more[:, 1].astype(np.float64))))
            postings[term] = {**postings[term], kind: grown}
        return postings, self._held + sum(map(len, fresh.values()))

    def postings(self, session: Session, kind: Kind, term: str) -> Postings:
        """Where a term occurs in living rows of the kind, and how often."""
        known = self._postings.get(term)
        if known is None:
            known = self._load(session, term)
            if self._held > _MOST_POSTINGS:
                self._postings.clear()
                self._held = 0
            self._postings[term] = known
            self._held += sum(len(where) for where, _ in known.values())
        where, how_often = known.get(kind, _NOWHERE)
        if not self._statistics[kind][2]:
            return where, how_often
        live = self.rows["live"][where]
        return where[live], how_often[live]

    def counts(self, session: Session, kind: Kind, owners: Array, terms: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The words of each owner (0 of a negative number), and how often each term is among them."""
        place = self._places.get(kind)
        if place is None:
            living = np.flatnonzero((self.rows["kind"] == _KINDS[kind]) & self.rows["live"])
            place = np.full(self.top_owner + 2, -1, np.int64)  # the last stands for owners that are not known
            place[self.rows["owner"][living]] = living
            self._places[kind] = place
        places = place[np.where(owners <= self.top_owner, owners, -1)]
        counts = np.zeros((len(owners), len(terms)))
        for column, term in enumerate(terms):
            where, how_often = self.postings(session, kind, term)
            if len(where):
                at = np.minimum(np.searchsorted(where, places), len(where) - 1)
                counts[:, column] = np.where(where[at] == places, how_often[at], 0.0)
        return np.where(places >= 0, self.rows["length"][places], 0.0) if self.rows.count else np.zeros(len(owners)), counts

    def _load(self, session: Session, term: str) -> dict[Kind, Postings]:
        row = session.row("word_rows", term=token(term))
        listed = cast(str | None, row[0] if row else None)
        if not listed:
            return {}
        n, how_often = np.unique(np.fromstring(listed, dtype=np.int64, sep=","), return_counts=True)
        where = np.searchsorted(self.rows["n"], n)
        kinds = self.rows["kind"][where]
        return {
            kind: (where[kinds == code], how_often[kinds == code].astype(np.float64))
            for kind, code in _KINDS.items()
            if (kinds == code).any()
        }

    def scores(self, session: Session, kind: Kind, terms: Iterable[str]) -> tuple[Array, NDArray[np.float64]]:
        """Owners and their BM25 scores: those that hold a term, or if many do all of the kind, with 0 for no term."""
        owners, _ = self._of_kind(kind)
        found = [pair for term in dict.fromkeys(terms) if len((pair := self._weighted(session, kind, term))[0])]
        if sum(len(where) for where, _ in found) * _SPARSE < len(owners):
            touched = np.unique(np.concatenate([_NOWHERE[0], *(where for where, _ in found)]))
            places, owners = [np.searchsorted(touched, where) for where, _ in found], owners[touched]
        else:
            places = [where for where, _ in found]
        scores = np.zeros(len(owners))
        for place, (_, weights) in zip(places, found, strict=True):
            np.add.at(scores, place, weights)
        return owners, scores

    def _of_kind(self, kind: Kind) -> tuple[Array, Array]:
        """The owners of the rows of a kind, and for every row its place among those."""
        if kind not in self._kinds:
            mine = self.rows["kind"] == _KINDS[kind]
            self._kinds[kind] = self.rows["owner"][mine], np.cumsum(mine) - 1
        return self._kinds[kind]

    def _weighted(self, session: Session, kind: Kind, term: str) -> Postings:
        """Where among the rows of its kind a term occurs, and what it adds to the scores there; kept of terms found in many."""
        known = self._weights.get((kind, term))
        if known is None:
            rows, mean = self.statistics(kind)
            where, how_often = self.postings(session, kind, term)
            weights = bm25.rarity(rows, len(where)) * bm25.weight(how_often, self.rows["length"][where], mean)
            known = self._of_kind(kind)[1][where], weights
            if len(where) >= _COMMON:
                if len(self._weights) >= _WEIGHTS_KEPT:
                    self._weights.clear()
                self._weights[kind, term] = known
        return known


_NOWHERE: Postings = (np.empty(0, np.int64), np.empty(0, np.float64))


def _positions_of(rows: Columns, kinds: Array, owner: Array) -> NDArray[np.intp]:
    """Positions of living rows of these owners."""
    found: list[NDArray[np.intp]] = []
    for code in np.unique(kinds):
        mine = rows["kind"] == code
        fresh = owner[kinds == code]
        if fresh.min() <= rows["owner"][mine].max(initial=-1):
            found.append(np.flatnonzero(mine & rows["live"] & np.isin(rows["owner"], fresh)))
    return np.concatenate(found) if found else np.empty(0, np.intp)


# ------------------------------------------------------------------------------------------------ vectors


@dataclass(frozen=True)
class Arrays:
    """The vector indexes of all kinds, up to the row number `last`."""

    by_kind: Mapping[Kind, VectorIndex]
    last: int = 0

    def caught_up(self, session: Session) -> Arrays:
        """With the rows after the last known. Vectors of another length than the newest are of an earlier embedder: left out."""
        indexes, last = dict(self.by_kind), self.last
        while chunk := cast(list[_Vector], session.rows("rough_vectors", after=last, count=_LOADED_AT_ONCE)):
            last = chunk[-1][0]
            for kind in dict.fromkeys(row[1] for row in chunk):
                indexes[Kind(kind)] = _extended(indexes.get(Kind(kind)), [row for row in chunk if row[1] == kind])
        return self if last == self.last else Arrays(indexes, last)


def _extended(index: VectorIndex | None, rows: list[_Vector]) -> VectorIndex:
    dimension = len(rows[-1][5])
    n, _, owner, piece, scale, rough = zip(*rows, strict=True)
    if set(map(len, rough)) != {dimension}:
        n, _, owner, piece, scale, rough = zip(*(r for r in rows if len(r[5]) == dimension), strict=True)
    if index is None or index.dimension != dimension:
        index = VectorIndex(dimension)
    matrix = np.frombuffer(b"".join(rough), dtype=np.int8).reshape(len(rough), dimension)
    return index.extended(np.array(n), np.array(owner), np.array(piece), np.array(scale, np.float32), matrix)


# ------------------------------------------------------------------------------------------------ all together


Names = tuple[dict[int, str], dict[str, int]]


@dataclass(frozen=True)
class Derived:
    """Everything kept in memory as of one commit; parts that nothing has asked for yet are None.

    `names` are ids and row numbers seen so far, both ways, `labels` what filters ask of rows; a number never changes hands
    within an epoch, so commits share them.
    """

    change: int = 0
    epoch: int = 0
    spans: Mapping[Kind, Spans] | None = None
    lexicon: Lexicon | None = None
    arrays: Arrays | None = None
    sessions: SessionOrder | None = None
    names: Mapping[Kind, Names] = field(default_factory=lambda: {kind: ({}, {}) for kind in Kind})
    labels: Labels = field(default_factory=Labels)

    def at(self, session: Session, change: int, epoch: int) -> Derived:
        """As of another commit, not earlier than this one."""
        if epoch != self.epoch:
            return Derived(change, epoch)
        if change == self.change:
            return self
        return Derived(
            change,
            epoch,
            None if self.spans is None else {k: s.caught_up(session, k, self.change) for k, s in self.spans.items()},
            None if self.lexicon is None else self.lexicon.caught_up(session),
            None if self.arrays is None else self.arrays.caught_up(session),
            None if self.sessions is None else self.sessions.caught_up(session),
            self.names,
            self.labels,
        )

    def complete(self, session: Session, *, words: bool = False, vectors: bool = False, sessions: bool = False) -> Derived:
        """With spans, and with words, vectors or the order of sessions if asked."""
        whole: dict[str, Any] = {}
        if self.spans is None:
            whole["spans"] = {kind: Spans.empty().caught_up(session, kind, 0) for kind in Kind}
        if words and self.lexicon is None:
            whole["lexicon"] = Lexicon.empty().caught_up(session)
        if vectors and self.arrays is None:
            whole["arrays"] = Arrays({}).caught_up(session)
        if sessions and self.sessions is None:
            whole["sessions"] = SessionOrder().caught_up(session)
        return replace(self, **whole) if whole else self
