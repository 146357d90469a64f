"""What one reader computed last, for the legs of a search that ask for it again."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from graphmem.embed.base import Vectors
from graphmem.stores.base import Kind, SearchFilter
from graphmem.stores.sqlite.derived import Derived, Spans
from graphmem.stores.vectors import Mask, VectorIndex

_MASKS_KEPT = 8


class Recent:
    """What a reader computed last: the legs of one search ask for the same points and with the same vector again."""

    def __init__(self) -> None:
        self._masks: dict[tuple[object, ...], tuple[Spans, Mask]] = {}
        self._narrowed: dict[Kind, tuple[Mask, SearchFilter, Mask]] = {}
        self._scans: dict[Kind, tuple[VectorIndex, bytes, Vectors]] = {}
        self._exact: dict[Kind, tuple[bytes, dict[int, float]]] = {}

    def mask(self, derived: Derived, kind: Kind, groups: list[int], at: Mapping[str, int], size: int) -> Mask:
        """As `Spans.passing`; not to be changed."""
        assert derived.spans is not None
        spans = derived.spans[kind]
        asked = (kind, *groups, *at.values())
        known = self._masks.get(asked)
        if known is None or known[0] is not spans or len(known[1]) < size:
            if len(self._masks) >= _MASKS_KEPT:
                self._masks.clear()
            known = self._masks[asked] = (spans, spans.passing(groups, at, size))
        return known[1]

    def narrowed(self, kind: Kind, mask: Mask, match: SearchFilter, narrow: Callable[[], Mask]) -> Mask:
        """The mask as `narrow` makes it of this one and this filter."""
        known = self._narrowed.get(kind)
        if known is None or known[0] is not mask or known[1] != match:
            known = self._narrowed[kind] = (mask, match, narrow())
        return known[2]

    def scanned(self, kind: Kind, index: VectorIndex, query: Vectors) -> Vectors | None:
        """The scores of `query` if it was the last to be scanned for."""
        known = self._scans.get(kind)
        return known[2] if known is not None and known[0] is index and known[1] == query.tobytes() else None

    def scan(self, kind: Kind, index: VectorIndex, query: Vectors, allowed: Mask) -> Vectors | None:
        """As `VectorIndex.scores`; None where nothing is known and gathering the few rows that pass costs less."""
        scores = self.scanned(kind, index, query)
        if scores is None and not index.few(allowed):
            scores = index.scores(query)
            self._scans[kind] = (index, query.tobytes(), scores)
        return scores

    def exact(self, kind: Kind, query: Vectors) -> dict[int, float]:
        """The exact scores of rows with this vector as far as they are known, to be added to."""
        asked = query.tobytes()
        if kind not in self._exact or self._exact[kind][0] != asked:
            self._exact[kind] = (asked, {})
        return self._exact[kind][1]
