"""The order of episodes in their sessions, as searches keep it in memory."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np
from numpy.typing import NDArray

from graphmem.stores.sqlite.session import Session
from graphmem.stores.vectors import Mask

_MOST_INSERTED = 500
_COLUMNS = ("n", "session", "reference_time", "seq")

Neighbours = tuple[int | None, int | None]


@dataclass(frozen=True)
class SessionOrder:
    """Episodes that have a session, by session, reference time and place in the log, up to the row number `last`.

    An episode's row never changes. `_known` numbers the sessions of each group; an epoch's commits share it.
    """

    rows: NDArray[np.int64] = field(default_factory=lambda: np.empty((len(_COLUMNS), 0), np.int64))
    last: int = 0
    times: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, np.int64))
    _known: dict[tuple[int, str], int] = field(default_factory=dict)
    _places: list[NDArray[np.int64]] = field(default_factory=list, compare=False, repr=False)
    _shown: list[tuple[Mask, NDArray[np.intp]]] = field(default_factory=list, compare=False, repr=False)

    def caught_up(self, session: Session) -> SessionOrder:
        """With the episodes after the last known."""
        found = cast(list[tuple[int, int, str | None, int, int]], session.rows("episode_places", after=self.last))
        if not found:
            return self
        number = self._known.setdefault
        places = [(n, number((grp, name), len(self._known)), at, seq) for n, grp, name, at, seq in found if name is not None]
        times = np.concatenate((self.times, np.zeros(found[-1][0] - self.last, np.int64)))
        times[[row[0] for row in found]] = [row[3] for row in found]
        return SessionOrder(self._with(places), found[-1][0], times, self._known)

    def _with(self, places: Sequence[tuple[int, int, int, int]]) -> NDArray[np.int64]:
        if not places:
            return self.rows
        fresh = np.array(sorted(places, key=lambda place: place[1:]), np.int64).T
        if len(places) > _MOST_INSERTED:
            both = np.concatenate((self.rows, fresh), axis=1)
            return both[:, np.lexsort(both[:0:-1])]
        _, sessions, times, seqs = self.rows
        before = range(self.rows.shape[1])
        where = [bisect_left(before, tuple(p), key=lambda i: (sessions[i], times[i], seqs[i])) for p in fresh[1:].T.tolist()]
        return np.insert(self.rows, where, fresh, axis=1)

    def around(self, episodes: Sequence[int], shown: Mask) -> dict[int, Neighbours]:
        """The episodes just before and after in the session, of those `shown` (a mask over row numbers) that have one."""
        n, sessions = self.rows[0], self.rows[1]
        if not len(n):
            return {}
        visible = self._visible(shown)
        asked = np.array(episodes, np.int64)
        asked = asked[within(asked, shown)]
        place = self._place()
        at = place[asked[asked < len(place)]]
        at = at[at >= 0]
        rank = np.searchsorted(visible, at)
        sides: list[list[int | None]] = []
        for step in (-1, 1):
            there = rank + step
            other = visible[np.clip(there, 0, len(visible) - 1)]
            same = (there >= 0) & (there < len(visible)) & (sessions[other] == sessions[at])
            sides.append([i if s else None for i, s in zip(n[other].tolist(), same.tolist(), strict=True)])
        return dict(zip(n[at].tolist(), zip(*sides, strict=True), strict=True))

    def _visible(self, shown: Mask) -> NDArray[np.intp]:
        """Which places are shown; of the last mask kept, since most searches ask with the same one."""
        for mask, visible in self._shown:
            if mask is shown:
                return visible
        visible = np.flatnonzero(within(self.rows[0], shown))
        self._shown[:] = [(shown, visible)]
        return visible

    def _place(self) -> NDArray[np.int64]:
        """Where each row number stands, -1 for none."""
        if not self._places:
            place = np.full(int(self.rows[0].max()) + 1, -1, np.int64)
            place[self.rows[0]] = np.arange(self.rows.shape[1])
            self._places.append(place)
        return self._places[0]


def within(n: NDArray[np.int64], mask: Mask) -> Mask:
    """Which of the row numbers are in the mask."""
    if n.max(initial=-1) < len(mask):
        return mask[n]
    inside = n < len(mask)
    inside[inside] = mask[n[inside]]
    return inside
