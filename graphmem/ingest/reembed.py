"""Making every vector of a store anew with another embedder, while those in use still serve."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from graphmem.belief.ledger import Indexing
from graphmem.embed.base import Embedder, Vectors, embedder_meta
from graphmem.errors import EmbedderMismatch, StoreBusy
from graphmem.progress import Progress
from graphmem.shown import Record
from graphmem.stores.base import Kind, Reader
from graphmem.stores.staging import StagingReader, StagingStore, StagingWriter

BATCH = 64
_TOWARDS = "reembedding"
Owner = tuple[Kind, str]


@dataclass(frozen=True, slots=True)
class Reembedded(Record):
    """What re-embedding did: the embedders before and after, how many items have new vectors, and how many of them were
    made by an earlier run that was stopped. `before` is None, and nothing was to be done, where the memory holds nothing.
    """

    before: str | None
    after: str
    items: int = 0
    resumed: int = 0

    def __repr__(self) -> str:
        return f"<{self.items:,} items with vectors of {self.after!r}, before {self.before!r}, {self.resumed:,} from an earlier run>"

    def to_dict(self) -> dict[str, object]:
        """Plain JSON values."""
        return {"before": self.before, "after": self.after, "items": self.items, "resumed": self.resumed}


def reembed(store: StagingStore, embedder: Embedder, index: Indexing, report: Progress) -> Reembedded:
    """Give the store's items vectors of `embedder`, of which `index` makes use.

    New vectors are staged, a transaction a batch, and one transaction at the end puts them in the place of the old ones.
    A run that is stopped leaves the old vectors in use, and the next one with the same embedder goes on where it was.
    What other writers add meanwhile is included. Raises `StoreBusy` if another re-embedding takes over.
    """
    return _Reembedding(store, embedder, index).run(report)


def check_embedder(reader: Reader, embedder: Embedder) -> None:
    """Raise `EmbedderMismatch` if the memory has vectors of another embedder by now."""
    stored = reader.meta("embedder")
    if stored is not None and (name := json.loads(stored)["name"]) != embedder.name:
        raise EmbedderMismatch(f"this memory has vectors of {name!r} by now, not of {embedder.name!r}; open it again with that embedder")


class Checked:
    """An embedder that embeds nothing before a check has passed."""

    def __init__(self, embedder: Embedder, check: Callable[[], None]) -> None:
        self._embedder, self._check = embedder, check
        self.name, self.dimension = embedder.name, embedder.dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """As the embedder does. Raises what the check raises."""
        self._check()
        return self._embedder.embed(texts)


class _Finished(Exception):
    """Another process has come to the end of the same re-embedding."""


class _Reembedding:
    def __init__(self, store: StagingStore, embedder: Embedder, index: Indexing) -> None:
        self._store, self._index = store, index
        self._name, self._wanted = embedder.name, embedder_meta(embedder)

    def run(self, report: Progress) -> Reembedded:
        with self._store.read() as reader:
            stored, groups = reader.meta("embedder"), reader.groups()
        before = None if stored is None else str(json.loads(stored)["name"])
        if stored is None or not groups:
            return Reembedded(before, self._name)
        with self._store.write(groups[0]) as tx:
            if tx.meta("embedder") == self._wanted:
                # Naming the embedder in use gives up what was begun towards another one.
                self._settle(tx)
                return Reembedded(before, self._name)
            if tx.meta(_TOWARDS) != self._wanted:
                tx.drop_staged_vectors()
                tx.put_meta(_TOWARDS, self._wanted)
            resumed = done = sum(len(tx.vector_owners(g, staged=True)) for g in groups)
        try:
            done = self._round(done, report)
            while not self._exchanged(groups):
                done = self._round(done, report)
        except _Finished:
            pass
        return Reembedded(before, self._name, done, resumed)

    def _exchanged(self, groups: Sequence[str]) -> bool:
        """Put the new vectors in the place of the old ones, if they are all there."""
        with self._store.write(groups[0]) as tx:
            self._check(tx)
            if any(self._texts(tx, group, self._left(tx, group)) for group in tx.groups()):
                return False
            tx.use_staged_vectors()
            tx.put_meta("embedder", self._wanted)
            self._settle(tx)
            return True

    def _settle(self, tx: StagingWriter) -> None:
        """Nothing is under way any more."""
        if tx.meta(_TOWARDS):
            tx.drop_staged_vectors()
            tx.put_meta(_TOWARDS, "")

    def _check(self, tx: StagingWriter) -> None:
        if tx.meta("embedder") == self._wanted:
            raise _Finished
        if tx.meta(_TOWARDS) != self._wanted:
            raise StoreBusy(f"another process re-embeds this memory, or has done so; this one stops before {self._name} is in use")

    def _round(self, done: int, report: Progress) -> int:
        """Stage what is not staged yet; returns how many items are by now."""
        with self._store.read() as reader:
            left = {group: self._left(reader, group) for group in reader.groups()}
        total = done + sum(map(len, left.values()))
        report(done, total)
        for group, owners in left.items():
            for start in range(0, len(owners), BATCH):
                done += self._batch(group, owners[start : start + BATCH])
                report(done, total)
        return done

    def _left(self, reader: StagingReader, group: str) -> list[Owner]:
        return reader.vector_owners(group, staged=False)

    def _batch(self, group: str, owners: Sequence[Owner]) -> int:
        with self._store.read() as reader:
            texts = self._texts(reader, group, owners)
        if not texts:
            return 0
        vectors = self._index.embed([text for pieces in texts.values() for text in pieces])
        places = [(owner, piece) for owner, pieces in texts.items() for piece in range(len(pieces))]
        with self._store.write(group) as tx:
            self._check(tx)
            # What was renamed, merged or erased while it was embedded is left to the next round.
            now = self._texts(tx, group, owners)
            same = {owner for owner in texts if now.get(owner) == texts[owner]}
            for kind in Kind:
                rows = [row for row, (owner, _) in enumerate(places) if owner[0] is kind and owner in same]
                tx.stage_vectors(kind, [places[r][0][1] for r in rows], [places[r][1] for r in rows], vectors[rows])
        return len(same)

    def _texts(self, reader: StagingReader, group: str, owners: Sequence[Owner]) -> dict[Owner, list[str]]:
        """What of each owner is embedded, a text a piece; without those that have no text any more, which no search finds."""
        texts: dict[Owner, list[str]] = {}
        for kind, of_kind in groupby(owners, key=lambda owner: owner[0]):
            found = self._of_kind(reader, group, kind, [owner for _, owner in of_kind])
            texts.update(((kind, owner), pieces) for owner, pieces in found.items() if pieces)
        return texts

    def _of_kind(self, reader: StagingReader, group: str, kind: Kind, ids: list[str]) -> Mapping[str, list[str]]:
        match kind:
            case Kind.FACT:
                return {v.uuid: [v.text or v.relation] for v in reader.fact_versions(group, ids)}
            case Kind.ENTITY:
                # By (id, created_at), so that the last version of each is the one that stays.
                return {v.id: [v.name, *v.aliases] for v in reader.entity_versions(group, ids)}
            case Kind.COMMUNITY:
                return {v.uuid: [v.text] for v in reader.community_versions(group, ids)}
            case _:
                return {r.episode.id: list(self._index.episode_pieces(r)) for r in reader.records(group, ids)}
