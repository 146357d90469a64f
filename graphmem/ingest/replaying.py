"""Writing a log down again as it was: entries with their own positions and instants, folded without a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace as with_
from functools import cache
from itertools import groupby

from graphmem import names
from graphmem.belief.ledger import Indexing, Ledger
from graphmem.belief.working import WorkingSet
from graphmem.embed.base import Embedder, Vectors, embedder_meta
from graphmem.entries import group_of
from graphmem.errors import InvalidInput
from graphmem.ingest.copying import batches, check_whole, is_replay
from graphmem.ingest.operating import stored_ontology
from graphmem.model import EpisodeRecord, LogEntry, Operation, OperationKind
from graphmem.ontology import Ontology
from graphmem.runtime import canonical_json, no_cycles_made
from graphmem.stores.base import Store, Writer
from graphmem.stores.histories import unfinished

BATCH = 500


def replay(
    store: Store, indexing: Indexing, embedder: Embedder, entries: Iterable[LogEntry], report: Callable[[int], None], mark: str = ""
) -> tuple[int, int]:
    """Record entries, some in each transaction; those that the store has already are passed over. Returns how many there are,
    and how many were new.

    `mark` is written with the first entries of a group, as its setting `unfinished`, for whoever has begun this to take away.
    Raises `InvalidInput` where a group holds something else than the beginning of its log, `UnfinishedCopy` for one that is the
    beginning of something else.
    """
    done = new = 0
    for group, of_group in groupby(entries, key=group_of):
        for batch in batches(of_group, BATCH):
            together = _embedded_together(indexing, batch)
            with store.write(group) as tx, no_cycles_made():
                goes_on = bool(mark) and is_replay(tx.meta(unfinished(group)))
                if not goes_on:
                    check_whole(tx, group)
                fresh = _fresh(tx, group, batch)
                if fresh:
                    if mark and not goes_on:
                        tx.put_meta(unfinished(group), mark)
                    if tx.meta("embedder") is None:
                        tx.put_meta("embedder", embedder_meta(embedder))
                    _record(tx, Ledger(together, tells=False), group, fresh)
            done, new = done + len(batch), new + len(fresh)
            report(done)
    return done, new


def _fresh(tx: Writer, group: str, batch: Sequence[LogEntry]) -> Sequence[LogEntry]:
    """The entries that go on where the log ends; those before are there."""
    last = tx.head(group).seq
    known = [e for e in batch if e.seq <= last]
    records = tx.records(group, [e.episode.id for e in known if isinstance(e, EpisodeRecord)])
    operations = tx.operations(group, ids=[e.id for e in known if isinstance(e, Operation)])
    there: list[LogEntry] = [*records, *operations]
    held = {e.seq: e for e in there}
    for entry in known:
        if held.get(entry.seq) != entry:
            raise InvalidInput("group", group, f"holds something else at position {entry.seq} of its log; load into an empty memory")
    fresh = batch[len(known) :]
    for seq, entry in enumerate(fresh, last + 1):
        if entry.seq != seq:
            raise InvalidInput("group", group, f"its log ends at {seq - 1} and the file goes on at {entry.seq}; entries are missing")
    return fresh


def _record(tx: Writer, ledger: Ledger, group: str, entries: Sequence[LogEntry]) -> None:
    """Fold entries, those that only add to what is known with their rows in memory."""
    for is_plain, run in groupby(entries, key=_is_plain):
        listed = list(run)
        for entry in listed if not is_plain else ():
            if isinstance(entry, Operation) and entry.kind is OperationKind.ONTOLOGY:
                tx.put_meta(f"ontology:{group}", canonical_json(entry.values["relations"]))
            ledger.record(tx, entry, _ontology(tx, group))
        if is_plain:
            working, ontology = WorkingSet(tx, group), _ontology(tx, group)
            working.read_ahead([e for e in listed if isinstance(e, EpisodeRecord)], ontology)
            for entry in listed:
                ledger.record(working.writer, entry, ontology)
            working.settle()


def _is_plain(entry: LogEntry) -> bool:
    """Whether an entry is an episode that joins nobody to anybody."""
    return isinstance(entry, EpisodeRecord) and not entry.links


def _ontology(tx: Writer, group: str) -> Ontology:
    kept = stored_ontology(tx, group)
    if kept is None:
        raise InvalidInput("group", group, "its log does not begin with an ontology; it was not written by graphmem")
    return kept


def _embedded_together(indexing: Indexing, entries: Sequence[LogEntry]) -> Indexing:
    """With what these entries bring to be embedded known, by one call."""
    pieces = {r.episode.id: indexing.episode_pieces(r) for r in entries if isinstance(r, EpisodeRecord)}
    texts: dict[str, None] = {}
    for record in (e for e in entries if isinstance(e, EpisodeRecord)):
        texts.update(dict.fromkeys(pieces[record.episode.id]))
        texts.update((names.clean(m.name), None) for m in record.mentions)
        texts.update((a.text or a.relation, None) for a in record.assertions)
    vectors, places = indexing.embed(list(texts)), {text: n for n, text in enumerate(texts)}

    def embed(wanted: Sequence[str]) -> Vectors:
        found = [places[text] for text in wanted if text in places]
        return vectors[found] if len(found) == len(wanted) else indexing.embed(wanted)

    def episode_pieces(record: EpisodeRecord) -> Sequence[str]:
        known = pieces.get(record.episode.id)
        return indexing.episode_pieces(record) if known is None else known  # one of another batch is restored

    return with_(indexing, embed=embed, episode_pieces=episode_pieces, words=cache(indexing.words))
