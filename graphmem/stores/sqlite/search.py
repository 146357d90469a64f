"""Search by words and by vectors: filters first, then the best."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from heapq import nsmallest
from typing import cast

import numpy as np
from numpy.typing import NDArray

from graphmem.embed.base import Vectors
from graphmem.errors import EmbedderMismatch
from graphmem.model import AsOf, EntityMatch, Episode, EpisodeMatch, FactMatch, FactVersion
from graphmem.stores.base import Claim, Found, Kind, SearchFilter, Turn
from graphmem.stores.codec import raw_text
from graphmem.stores.columns import top, top_passing
from graphmem.stores.matching import episode_matches, fact_matches
from graphmem.stores.sqlite import rows
from graphmem.stores.sqlite.derived import Derived
from graphmem.stores.sqlite.expand import ExpandReads
from graphmem.stores.sqlite.labels import untold
from graphmem.stores.sqlite.recent import Recent
from graphmem.stores.sqlite.session import Session, Value, id_list, instants, row_list
from graphmem.stores.sqlite.sessions import within
from graphmem.stores.vectors import Mask, VectorIndex

Match = FactMatch | EntityMatch | EpisodeMatch
# How many more than asked for are scored again by exact vectors: int8 rounding moves a row by far less than so many places.
_RESCORED = 16
# Conditions that an index answers with few rows: worth asking before the scan instead of checking what it finds.
_SELECTIVE = ("uuids", "fact_ids", "entities", "sources", "targets", "ids", "names", "keys", "sessions")


@dataclass
class Shared:
    """The newest `Derived` of a store; readers of all threads start from it."""

    latest: Derived = field(default_factory=Derived)
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True)
class _Filter:
    """What may be found: a mask over owner numbers, and conditions still to be checked on what is found."""

    mask: Mask
    residual: Match | None


class SearchReads(ExpandReads):
    """The searching part of a reader."""

    def __init__(self, session: Session, shared: Shared) -> None:
        super().__init__(session)
        self._shared = shared
        self._base = shared.latest
        self._mine: Derived | None = None
        self._recent = Recent()

    def _committed(self) -> bool:
        """Whether this reader sees committed rows alone, so that what it loads may be shared."""
        return True

    def _snapshot(self) -> tuple[int, int]:
        return cast(tuple[int, int], self.session.row("state"))

    def _derived(self, *, words: bool = False, vectors: bool = False, sessions: bool = False) -> Derived:
        with self._shared.lock:
            known, committed = self._mine, self._committed()
            if known is None or not committed:
                change, epoch = self._snapshot()
                latest = self._shared.latest
                begun = known or (latest if (latest.change, latest.epoch) == (change, epoch) else self._base)
                known = begun.at(self.session, change, epoch)
            known = known.complete(self.session, words=words, vectors=vectors, sessions=sessions)
            # What a writer goes on to write has the number of what it has written, so this is still as of the commit before.
            self._mine = known if committed else replace(known, change=known.change - 1)
            if committed and known.change >= self._shared.latest.change:
                self._shared.latest = known
            return known

    # -- the two searches

    def text_search(
        self, kind: Kind, terms: Sequence[str], groups: Sequence[str], at: AsOf, limit: int, match: SearchFilter | None = None
    ) -> list[Found]:
        if not terms or limit <= 0:
            return []
        derived = self._derived(words=True)
        lexicon = derived.lexicon
        assert lexicon is not None
        allowed = self._filter(derived, kind, groups, at, match, lexicon.top_owner + 1)
        if allowed is None:
            return []
        owners, scores = lexicon.scores(self.session, kind, terms)
        mask, residual = allowed.mask, allowed.residual
        depth = limit if residual is None else max(256, 4 * limit)
        while True:
            chosen = top_passing(scores, depth, lambda places: mask[owners[places]] & (scores[places] > 0))
            found = self._ranked(kind, owners[chosen], scores[chosen], depth)
            found = self._checked(kind, found, groups, at, residual)
            if len(found) >= limit or len(chosen) < depth:
                return found[:limit]
            depth *= 4

    def _ranked(self, kind: Kind, owners: NDArray[np.int64], scores: NDArray[np.float64], depth: int) -> list[Found]:
        """The best `depth`, equal scores by id. Many may share the last place, so those are not sorted with the others."""
        ids = self._ids(kind, owners.tolist())
        last = float(np.partition(scores, len(scores) - depth)[len(scores) - depth]) if len(scores) > depth else -np.inf
        above = scores > last
        better = sorted((-score, ids[n]) for n, score in zip(owners[above].tolist(), scores[above].tolist(), strict=True))
        tied = nsmallest(depth - len(better), (ids[n] for n in owners[~above].tolist())) if len(better) < depth else []
        return [*(Found(i, -score) for score, i in better), *(Found(i, last) for i in tied)]

    def vector_search(
        self, kind: Kind, vector: Vectors, groups: Sequence[str], at: AsOf, limit: int, match: SearchFilter | None = None
    ) -> list[Found]:
        query, index = self._unit(vector), None
        if query is not None and limit > 0:
            index = self._index(kind, query)
        if query is None or index is None:
            return []
        allowed = self._filter(self._derived(vectors=True), kind, groups, at, match, index.top_owner + 1)
        if allowed is None:
            return []
        scores = self._recent.scan(kind, index, query, allowed.mask)
        depth = limit + _RESCORED
        while True:
            positions = index.nearest(query, allowed.mask, depth, scores)
            n, owners, pieces = index.named(positions)
            exact = self._scored(kind, n, query)
            best: dict[int, tuple[float, int]] = {}  # score and piece, negative
            for owner, pair in zip(owners.tolist(), zip(exact, (-pieces).tolist(), strict=True), strict=True):
                if owner not in best or pair > best[owner]:
                    best[owner] = pair
            if allowed.residual is None and len(best) > limit:
                floor, _ = sorted(best.values(), reverse=True)[limit - 1]
                best = {owner: pair for owner, pair in best.items() if pair[0] >= floor}
            ids = self._ids(kind, best)
            found = [Found(i, score, -piece) for _, i, score, piece in sorted([(-s, ids[o], s, p) for o, (s, p) in best.items()])]
            found = self._checked(kind, found, groups, at, allowed.residual)
            if len(found) >= limit or len(positions) < depth:
                return found[:limit]
            depth *= 4

    def similarities(self, kind: Kind, vector: Vectors, owners: Sequence[str]) -> dict[str, float]:
        query = self._unit(vector)
        index = self._index(kind, query) if query is not None else None
        if query is None or index is None or not owners:
            return {}
        known = self._owners(kind, owners)
        best = index.best(np.fromiter(known.values(), np.int64, len(known)), query, self._recent.scanned(kind, index, query))
        return {owner: best[n] for owner, n in known.items() if n in best}

    def _unit(self, vector: Vectors) -> Vectors | None:
        """The vector as one row of length 1; None for that of an empty text."""
        query = np.asarray(vector, dtype=np.float32).reshape(-1)
        length = np.float32(np.linalg.norm(query))
        return query / length if length else None

    def _index(self, kind: Kind, query: Vectors) -> VectorIndex | None:
        arrays = self._derived(vectors=True).arrays
        index = arrays.by_kind.get(kind) if arrays is not None else None
        if index is not None and index.dimension != len(query):
            raise EmbedderMismatch(f"the query has {len(query)} numbers, the stored {kind} vectors have {index.dimension}")
        return index

    def _scored(self, kind: Kind, n: NDArray[np.int64], query: Vectors) -> list[float]:
        """The exact scores of these row numbers, in their order."""
        known, numbers = self._recent.exact(kind, query), n.tolist()
        if unknown := [i for i in numbers if i not in known]:
            exact = self._exact(np.array(unknown, np.int64), len(query)) @ query
            known.update(zip(unknown, exact.tolist(), strict=True))
        return [known[i] for i in numbers]

    def _exact(self, n: NDArray[np.int64], dimension: int) -> Vectors:
        """The exact vectors of these row numbers, in their order."""
        found = cast(list[tuple[int, bytes]], self.session.rows("exact_vectors", rows=row_list(n.tolist())))
        halves = np.frombuffer(b"".join(h for _, h in found), dtype=np.float16).reshape(len(found), dimension)
        order = np.searchsorted(np.fromiter((i for i, _ in found), np.int64, len(found)), n)
        return halves[order].astype(np.float32)

    # -- what was found, read by row number

    def facts(self, groups: Sequence[str], at: AsOf, match: FactMatch | None = None, limit: int | None = None) -> list[FactVersion]:
        if match is None or match.uuids is None or not self._searched():
            return super().facts(groups, at, match, limit)
        passing = self._shown(Kind.FACT, groups, at, match.uuids)
        _, named = self._scope(groups)
        found = sorted(self.session.rows("facts_by_row", rows=row_list(passing)), key=rows.FACT_ORDER)
        versions = (rows.fact(r, named) for r in found)
        no_more = match == FactMatch(uuids=match.uuids)
        return [v for v in versions if no_more or fact_matches(v, match)][:limit]

    def claims(self, groups: Sequence[str], at: AsOf, facts: Sequence[str]) -> dict[str, Claim]:
        if not self._searched():
            read = super().facts(groups, at, FactMatch(uuids=tuple(facts)))
            return {v.uuid: Claim(v.uuid, v.relation, v.source, v.target, v.text, v.valid) for v in read}
        passing = self._shown(Kind.FACT, groups, at, facts)
        ids, _ = self._names(Kind.FACT)
        found = self.session.rows("claims_by_row", rows=row_list(passing))
        return {(i := ids[cast(int, row[0])]): rows.claim(i, row) for row in found}

    def episodes(
        self,
        groups: Sequence[str],
        at: AsOf,
        match: EpisodeMatch | None = None,
        limit: int | None = None,
        *,
        newest_first: bool = False,
        bodies: bool = True,
    ) -> list[Episode]:
        if match is None or match.entities is not None or newest_first or not self._searched():
            return super().episodes(groups, at, match, limit, newest_first=newest_first, bodies=bodies)
        if match.ids is not None:
            passing = self._shown(Kind.EPISODE, groups, at, match.ids)
        elif untold(match) is None:
            passing = self._told_episodes(groups, at, match, limit)
        else:
            return super().episodes(groups, at, match, limit, bodies=bodies)
        _, named = self._scope(groups)
        found = self.session.rows("episodes_by_row", rows=row_list(passing), bodies=int(bodies))
        read = (rows.episode(r, named[cast(int, r[2])]) for r in found)
        no_more = match == EpisodeMatch(ids=match.ids)
        return [e for e in read if no_more or episode_matches(e, match)][:limit]

    def turns(self, groups: Sequence[str], at: AsOf, episodes: Sequence[str]) -> dict[str, Turn]:
        if not self._searched():
            read = super().episodes(groups, at, EpisodeMatch(ids=tuple(episodes)))
            return {e.id: Turn(e.id, e.group, e.session, e.actor, e.zone, e.reference_time, e.body) for e in read}
        passing = self._shown(Kind.EPISODE, groups, at, episodes)
        _, named = self._scope(groups)
        ids, _ = self._names(Kind.EPISODE)
        found = self.session.rows("turns_by_row", rows=row_list(passing))
        return {(i := ids[cast(int, row[0])]): rows.turn(i, row, named) for row in found}

    def _told_episodes(self, groups: Sequence[str], at: AsOf, match: EpisodeMatch, limit: int | None) -> list[int]:
        """The row numbers of the first that pass, and of those told at the same moment as the last of them."""
        known = list(self._known_groups(groups).values())
        if not known:
            return []
        derived = self._derived()
        mask = self._recent.mask(derived, Kind.EPISODE, known, instants(at), 0)
        told = derived.labels.episodes(self.session, derived.change, match)
        shown = within(told["n"], mask)
        n, times = told["n"][shown], told["reference_time"][shown]
        if limit is not None and 0 < limit < len(n):
            n = n[times <= np.partition(times, limit - 1)[limit - 1]]
        return cast(list[int], n.tolist())

    def around(self, groups: Sequence[str], at: AsOf, episodes: Sequence[str]) -> dict[str, tuple[str | None, str | None]]:
        if not self._searched():
            return super().around(groups, at, episodes)
        order = self._derived(sessions=True).sessions
        assert order is not None
        known = list(self._known_groups(groups).values())
        asked = list(self._owners(Kind.EPISODE, episodes).values())
        found = order.around(asked, self._recent.mask(self._derived(), Kind.EPISODE, known, instants(at), 0)) if known and asked else {}
        numbers = {n for pair in found.values() for n in pair if n is not None}
        ids = self._ids(Kind.EPISODE, numbers | found.keys())
        return {ids[n]: (None if a is None else ids[a], None if b is None else ids[b]) for n, (a, b) in found.items()}

    def mentioned(self, groups: Sequence[str], at: AsOf, entities: Sequence[str], limit: int) -> list[tuple[str, str]]:
        if not self._searched():
            return super().mentioned(groups, at, entities, limit)
        order = self._derived(sessions=True).sessions
        assert order is not None
        grps, _ = self._scope(groups)
        found = cast(
            list[tuple[int, str, int]],
            self.session.rows("mention_rows", ids=id_list(entities), grps=grps, system=instants(at)["system"]),
        )
        episodes = np.fromiter((row[0] for row in found), np.int64, len(found))
        times = order.times[episodes]
        if len(found) > limit > 0:
            newest = top(times, limit)
            found, times = [found[i] for i in newest], times[newest]
        ids = self._ids(Kind.EPISODE, [row[0] for row in found])
        named = ((-said, ids[n], mention, rows.same_text(entity)) for (n, entity, mention), said in zip(found, times.tolist(), strict=True))
        return [(episode, entity) for _, episode, _, entity in sorted(named)[: max(limit, 0)]]

    def _searched(self) -> bool:
        """Whether this reader has what searches keep in memory at hand, which a plain read does not load."""
        return self._mine is not None and self._committed()

    def _shown(self, kind: Kind, groups: Sequence[str], at: AsOf, ids: Sequence[str]) -> list[int]:
        """The row numbers of those of `ids` that pass."""
        known = list(self._known_groups(groups).values())
        if not known:
            return []
        mask = self._recent.mask(self._derived(), kind, known, instants(at), 0)
        return [n for n in self._owners(kind, ids).values() if n < len(mask) and mask[n]]

    # -- filters

    def _filter(
        self, derived: Derived, kind: Kind, groups: Sequence[str], at: AsOf, match: SearchFilter | None, size: int
    ) -> _Filter | None:
        """None when nothing can pass."""
        assert derived.spans is not None
        known = list(self._known_groups(groups).values())
        if not known:
            return None
        wanted: Match | None = getattr(match, _FILTERS[kind]) if match is not None and kind in _FILTERS else None
        mask = self._recent.mask(derived, kind, known, instants(at), size)
        if match is not None and self._committed():
            mask = self._recent.narrowed(kind, mask, match, lambda: self._told(derived, kind, mask, match))
            wanted = untold(wanted) if wanted is not None else None
        if wanted is None or not any(getattr(wanted, name, None) is not None for name in _SELECTIVE):
            return _Filter(mask, wanted)
        owners = np.fromiter(self._owners(kind, self._passing(kind, groups, at, wanted)).values(), np.int64)
        narrow = np.zeros_like(mask)
        narrow[owners[owners < len(mask)]] = True
        return _Filter(narrow & mask, None)

    def _told(self, derived: Derived, kind: Kind, mask: Mask, match: SearchFilter) -> Mask:
        """The mask without the owners of which memory tells that they do not pass."""
        told = derived.labels.passing(self.session, derived.change, kind, match, len(mask))
        if kind is Kind.FACT and match.facts is not None and match.facts.valid_overlaps is not None:
            assert derived.spans is not None
            holding = derived.spans[kind].overlapping(match.facts.valid_overlaps, len(mask))
            told = holding if told is None else told & holding
        return mask if told is None else mask & told

    def _passing(self, kind: Kind, groups: Sequence[str], at: AsOf, match: Match) -> list[str]:
        if kind is Kind.FACT:
            return [v.uuid for v in self.facts(groups, at, cast(FactMatch, match))]
        if kind is Kind.ENTITY:
            return [v.id for v in self.entities(groups, at, cast(EntityMatch, match))]
        return [e.id for e in self.episodes(groups, at, cast(EpisodeMatch, match), bodies=False)]

    def _checked(self, kind: Kind, found: list[Found], groups: Sequence[str], at: AsOf, residual: Match | None) -> list[Found]:
        """What passes the conditions that the mask does not know."""
        if residual is None:
            return found
        ids = tuple(f.id for f in found)
        narrowed = replace(residual, uuids=ids) if isinstance(residual, FactMatch) else replace(residual, ids=ids)
        passing = set(self._passing(kind, groups, at, narrowed))
        return [f for f in found if f.id in passing]

    def _ids(self, kind: Kind, owners: Iterable[int]) -> dict[int, str]:
        ids, numbers = self._names(kind)
        unknown = [n for n in owners if n not in ids]
        if unknown:
            found = cast(list[tuple[int, str]], self.session.rows(f"ids_{kind.value}", rows=row_list(unknown)))
            ids.update((n, raw_text(i)) for n, i in found)
            numbers.update((ids[n], n) for n, _ in found)
        return ids

    def _owners(self, kind: Kind, ids: Sequence[str]) -> dict[str, int]:
        known, numbers = self._names(kind)
        owners = {i: n for i in ids if (n := numbers.get(i)) is not None}
        if len(owners) == len(ids):
            return owners
        if unknown := [i for i in ids if i not in owners]:
            found = cast(list[tuple[int, str]], self.session.rows(f"owners_{kind.value}", ids=id_list(unknown)))
            known.update((n, raw_text(i)) for n, i in found)
            numbers.update((known[n], n) for n, _ in found)
        return {i: numbers[i] for i in ids if i in numbers}

    def _names(self, kind: Kind) -> tuple[dict[int, str], dict[str, int]]:
        """Ids and row numbers known so far; of a writer none, since what it removes may leave a number to something else."""
        return self._derived().names[kind] if self._committed() else ({}, {})

    # -- what is indexed

    def sources(self, groups: Sequence[str], at: AsOf, facts: Sequence[str]) -> dict[str, tuple[str, ...]]:
        grps, _ = self._scope(groups)
        system = instants(at)["system"]
        if self._searched():
            return self._sources(self._owners(Kind.FACT, facts), grps, system)
        found = self.session.rows("sources", ids=id_list(facts), grps=grps, system=system)
        cited: dict[str, list[str]] = {}
        for uuid, episode in found:
            cited.setdefault(rows.same_text(uuid), []).append(rows.same_text(episode))
        return {uuid: tuple(episodes) for uuid, episodes in cited.items()}

    def _sources(self, facts: dict[str, int], grps: str, system: int) -> dict[str, tuple[str, ...]]:
        found = self.session.rows("sources_by_row", rows=row_list(facts.values()), grps=grps, system=system)
        cited: dict[Value, set[str]] = {}
        for n, episode in found:
            cited.setdefault(n, set()).add(rows.same_text(episode))
        return {uuid: tuple(sorted(cited[n])) for uuid, n in sorted(facts.items()) if n in cited}

    def vectors(self, kind: Kind, owners: Sequence[str]) -> dict[str, Vectors]:
        known = self._owners(kind, owners)
        pieces: dict[int, list[bytes]] = {}
        for owner, _, halves in cast(
            list[tuple[int, int, bytes]], self.session.rows("vectors_of", kind=kind.value, rows=row_list(known.values()))
        ):
            pieces.setdefault(owner, []).append(halves)
        return {
            o: np.stack([np.frombuffer(h, dtype=np.float16) for h in pieces[n]]).astype(np.float32) for o, n in known.items() if n in pieces
        }

    def vector_owners(self, group: str, *, staged: bool) -> list[tuple[Kind, str]]:
        found = self.session.rows("vector_owners", grp=self._group_row(group), staged=int(staged))
        return [(Kind(str(kind)), rows.same_text(owner)) for kind, owner in found]

    def words(self, kind: Kind, owners: Sequence[str]) -> dict[str, str]:
        known = self._owners(kind, owners)
        found = self.session.rows("words_of", kind=kind.value, rows=row_list(known.values()))
        texts = {owner: rows.same_text(text) for _, owner, text in found}
        return {o: texts[n] for o, n in known.items() if n in texts}

    def word_counts(self, kind: Kind, owners: Sequence[str], terms: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        lexicon = self._derived(words=True).lexicon
        assert lexicon is not None
        known = self._owners(kind, owners)
        return lexicon.counts(self.session, kind, np.array([known.get(o, -1) for o in owners], np.int64), terms)

    def word_statistics(self, kind: Kind, terms: Sequence[str]) -> tuple[int, float, dict[str, int]]:
        lexicon = self._derived(words=True).lexicon
        assert lexicon is not None
        indexed, mean = lexicon.statistics(kind)
        return indexed, mean, {t: len(lexicon.postings(self.session, kind, t)[0]) for t in terms}


_FILTERS: dict[Kind, str] = {Kind.FACT: "facts", Kind.ENTITY: "entities", Kind.EPISODE: "episodes"}
