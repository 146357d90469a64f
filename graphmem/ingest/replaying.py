"""Writing a log down again as it was: entries with their own positions and instants, folded without a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from graphmem import names
from graphmem.belief.ledger import Indexing, Ledger
from graphmem.embed.base import Embedder, embedder_meta
from graphmem.errors import InvalidInput
from graphmem.export.selection import batched
from graphmem.ingest.copying import check_whole
from graphmem.ingest.operating import parsed_ontology
from graphmem.model import EpisodeRecord, LogEntry, Operation, OperationKind
from graphmem.runtime import canonical_json
from graphmem.stores.base import Store, Writer

_BATCH = 100


def replay(
    store: Store, indexing: Indexing, embedder: Embedder, entries: Iterable[LogEntry], report: Callable[[int], None]
) -> tuple[int, int]:
    """Record entries, some in each transaction; those that the store has already are passed over. Returns how many there are,
    and how many were new.

    Raises `InvalidInput` where a group holds something else than the beginning of its log, `UnfinishedCopy` for one that is the
    beginning of a copy.
    """
    done = new = 0
    ledger = Ledger(indexing)
    for group, of_group in groupby(entries, key=_group):
        for batch in batched(of_group, _BATCH):
            _embed_together(indexing, batch)
            with store.write(group) as tx:
                check_whole(tx, group)
                new += sum(_recorded(tx, ledger, embedder, group, entry) for entry in batch)
            done += len(batch)
            report(done)
    return done, new


def _embed_together(indexing: Indexing, entries: Sequence[LogEntry]) -> None:
    """What these entries bring to be embedded, in one call; an embedder remembers what it was asked last."""
    texts: dict[str, None] = {}
    for record in (e for e in entries if isinstance(e, EpisodeRecord)):
        texts.update(dict.fromkeys(indexing.episode_pieces(record)))
        texts.update((names.clean(m.name), None) for m in record.mentions)
        texts.update((a.text or a.relation, None) for a in record.assertions)
    if texts:
        indexing.embed(list(texts))


def _recorded(tx: Writer, ledger: Ledger, embedder: Embedder, group: str, entry: LogEntry) -> bool:
    """Record one entry unless it is there; whether it was new."""
    head = tx.head(group)
    if entry.seq <= head.seq:
        if not _is_there(tx, group, entry):
            raise InvalidInput("group", group, f"holds something else at position {entry.seq} of its log; load into an empty memory")
        return False
    if entry.seq != head.seq + 1:
        raise InvalidInput("group", group, f"its log ends at {head.seq} and the file goes on at {entry.seq}; entries are missing")
    if head.seq == 0:
        _settle_embedder(tx, embedder)
    if isinstance(entry, Operation) and entry.kind is OperationKind.ONTOLOGY:
        tx.put_meta(f"ontology:{group}", canonical_json(entry.values["relations"]))
    kept = tx.meta(f"ontology:{group}")
    if kept is None:
        raise InvalidInput("group", group, "its log does not begin with an ontology; it was not written by graphmem")
    ledger.record(tx, entry, parsed_ontology(kept))
    return True


def _is_there(tx: Writer, group: str, entry: LogEntry) -> bool:
    if isinstance(entry, EpisodeRecord):
        return tx.records(group, [entry.episode.id]) == [entry]
    return list(tx.operations(group, ids=[entry.id])) == [entry]


def _settle_embedder(tx: Writer, embedder: Embedder) -> None:
    if tx.meta("embedder") is None:
        tx.put_meta("embedder", embedder_meta(embedder))


def _group(entry: LogEntry) -> str:
    return entry.episode.group if isinstance(entry, EpisodeRecord) else entry.group
