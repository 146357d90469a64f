"""From an episode to the log: extract outside the lock, decide and commit inside it, all or nothing."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from threading import RLock

from graphmem.belief.identity import active_operations
from graphmem.belief.ledger import Indexing, Ledger, Outcome
from graphmem.belief.slices import operations_on
from graphmem.embed.base import Embedder, embedder_meta
from graphmem.errors import EmbedderMismatch, GraphmemError, ModelError, Overtaken
from graphmem.ingest.again import again, as_read, gains, key_again, unread
from graphmem.ingest.asking import CANCELLATION, Cancellation, Memo, NeedsModel, Together, Waiting, noting, run_together, total
from graphmem.ingest.before import Before, before_reading
from graphmem.ingest.building import Builder
from graphmem.ingest.consolidate import Consolidator
from graphmem.ingest.copying import check_whole
from graphmem.ingest.erasing import Eraser
from graphmem.ingest.flow import Draft, Extraction, Options, decide_flow, extract_flow
from graphmem.ingest.kept import forget_usage, keep_answers, keep_cost, kept_answer
from graphmem.ingest.operating import Act, Operator, parsed_ontology, stored_ontology, system_instant
from graphmem.ingest.readings import Incoming, Reading, Readings, Run, Source, Work
from graphmem.ingest.replaying import replay
from graphmem.ingest.resolve import sought
from graphmem.ingest.typed import conformed
from graphmem.llm.base import Answer, Ask, LanguageModel, prompts_of
from graphmem.model import (
    AsOf,
    Change,
    ChangeKind,
    EpisodeMatch,
    EpisodeRecord,
    LogEntry,
    Operation,
    OperationKind,
    Usage,
)
from graphmem.ontology import Ontology
from graphmem.results import WriteResult
from graphmem.runtime import MICROSECOND, Clock, canonical_json, content_id
from graphmem.stores.ahead import Names, ahead, begun
from graphmem.stores.base import Reader, Store, Writer

MAX_ROUNDS = 8
_AHEAD = 3  # batches that are read while one is written
_PATIENCE = 2  # rounds after which other threads wait until an episode is written
NOW = AsOf()


class _Rehearsed(Exception):
    """Ends a rehearsal, so that nothing of it is kept."""


class Recorder:
    """Writes episodes and operations through the ledger, one transaction each."""

    def __init__(
        self, store: Store, model: LanguageModel, embedder: Embedder, indexing: Indexing, clock: Clock, ontology: Ontology
    ) -> None:
        self._store, self._model, self._embedder, self._clock = store, model, embedder, clock
        self._indexing, self._ledger, self._default = indexing, Ledger(indexing), ontology
        self.operator = Operator(store, self._ledger, clock)
        self.eraser = Eraser(store, indexing, clock)
        memos = partial(Memo, model, lambda: self._waiting())
        self.builder = Builder(store, self._ledger, clock, model, memos, self._ask)
        self.consolidator = Consolidator(store, model, memos)
        # No question is about what an episode is found by.
        self._rehearsal = Ledger(replace(indexing, episode_words=lambda record: "", episode_pieces=lambda record: ()))
        self._waiting: Waiting = nullcontext
        self._turn = RLock()

    # ------------------------------------------------------------------------------------------ episodes

    def wait_through(self, waiting: Waiting) -> None:
        """Enter `waiting` around every wait for a model's endpoint."""
        self._waiting = waiting

    def add_many(
        self, incoming: Iterable[Incoming], ontology: Ontology | None, options: Options, batch: int = 32
    ) -> Generator[WriteResult, None, None]:
        """Record episodes in order, a transaction each; the model reads `batch` of them at once, and they are embedded together.

        Yields each result once its episode is committed: what was yielded survives a crash. The same episode again
        changes nothing and calls no model; a forgotten one is restored. Where the model fails for one episode, those before
        it are committed before its `ModelError` is raised. Ended by the caller's `CANCELLATION`, it raises `ModelUnavailable` where
        it would have had to ask.
        """
        options = replace(options, prompts=prompts_of(self._model))
        most = _AHEAD if self._is_side_by_side else 0
        cancellation = CANCELLATION.get() or Cancellation()
        begin = partial(self._reading, Source(incoming), ontology, options, batch, cancellation)
        readings = Readings(begin, most, self._waiting, cancellation)
        chunk: list[Work] = []
        try:
            while chunk := readings.next():
                while chunk:
                    result = self._commit(chunk)
                    del chunk[0]
                    yield result
        except BaseException:
            self._save([*chunk, *readings.abandoned()])
            raise

    @property
    def _is_side_by_side(self) -> bool:
        """Whether waiting for one answer costs as much as waiting for several."""
        return not self._model.local and getattr(self._model, "concurrency", 1) > 1

    def resume(self, group: str, ontology: Ontology | None, options: Options) -> tuple[int, Generator[WriteResult, None, None]]:
        """Read again what was not read; how many episodes there are, and their results as `add_many` yields them."""
        with self._store.read() as reader:
            left = unread(reader, group)
        return len(left), self.add_many([Incoming(again(e), instead_of=e) for e in left], ontology, options)

    def _save(self, unrecorded: Iterable[Work]) -> None:
        """Keep what a model has answered about episodes that are not recorded after all, for when they are added again; and what
        that cost, failures too.
        """
        if self._model.local:
            return
        with suppress(GraphmemError):
            for work in unrecorded:
                episode, memo = work.item.episode, work.run.memo
                answers, stages = memo.unkept(work.keys), memo.charged(work.keys)
                if work.item.instead_of is not None and not work.is_read:
                    answers = []  # kept, it would be found at the next try, which must ask
                if answers or stages:
                    with self._store.write(episode.group) as tx:
                        keep_answers(tx, self._model.name, episode, answers, stages, recorded=False)
                    memo.settle(work.keys)

    def _reading(
        self,
        source: Source,
        ontology: Ontology | None,
        options: Options,
        count: int,
        cancellation: Cancellation,
        before: Sequence[Work],
    ) -> Reading:
        """The reading of the next episodes, on the memory as it is now; an episode sees those before it as its recent ones."""
        run = Run(ontology, options, Memo(self._model, cancellation=cancellation))
        chunk = [Work(item, run) for item in source.take(count)]
        if not chunk:
            return Reading(chunk, lambda waiting: chunk)
        before = [work for work in before if work.new]  # the others are in the memory
        told = {(work.item.episode.group, work.item.episode.key) for work in before}
        with self._store.read() as reader:
            before_reading(reader, [w.item.episode for w in chunk], options)
            new: list[Work] = []
            for work in chunk:
                episode = work.item.episode
                if (episode.group, episode.key) not in told and reader.episode_by_key(episode.group, episode.key) is None:
                    told.add((episode.group, episode.key))
                    work.new = True
                    new.append(work)
            memory = Before(reader, [w.item.episode for w in new])
            ontologies = {g: self.ontology(reader, g, ontology) for g in {w.item.episode.group for w in new}}
            beside = max(options.recent, 1)
            line = [w.item.episode for w in (*before[-beside:], *new)]
            first = len(line) - len(new)
            flows = [
                noting(extract_flow(e, memory, options, line[max(0, n - beside) : n], ontologies[e.group]), new[n - first].keys)
                for n, e in enumerate(line[first:], first)
            ]
            together = Together(flows)

        def read(waiting: Waiting) -> list[Work]:
            run.memo.waiting = waiting
            for work, extraction in zip(new, together.finish(partial(self._ask, memo=run.memo)), strict=True):
                work.extraction = extraction
            if not cancellation.is_set:
                self._warm(new)
            run.memo.waiting = self._waiting
            return chunk

        return Reading(chunk, read)

    def _ask(self, asks: Sequence[Ask], memo: Memo) -> list[Answer]:
        """Answers that the store has recorded, else the model's; a local model answers quicker than the store finds them."""
        if not self._model.local and (missing := memo.missing(asks)):
            with self._store.read() as reader:
                if (told := ahead(reader)) is not None:
                    told.expect_answers([key for a in missing for key in ((a.key, a.subject) if a.context else (a.key,))])
                recorded = {a.key: reader.answer(a.key) or (reader.answer(a.subject) if a.context else None) for a in missing}
            kept = {key: kept_answer(self._model.name, *found) for key, found in recorded.items() if found is not None}
            memo.answers.update((key, answer) for key, answer in kept.items() if answer is not None)
        return memo.ask(asks)

    def _warm(self, chunk: Sequence[Work]) -> None:
        """Embed all texts of a chunk in one call, before the lock is taken."""
        texts: dict[str, None] = {}
        for work in chunk:
            if isinstance(extraction := work.extraction, Extraction):
                record = EpisodeRecord(work.item.episode, search_text=extraction.clauses)
                texts.update((t, None) for t in self._indexing.episode_pieces(record))
                texts.update((name, None) for e in extraction.entities for name in (e.name, *e.aliases))
                texts.update((f.text, None) for f in extraction.facts if f.text)
        if texts:
            self._indexing.embed(list(texts))

    def _commit(self, chunk: Sequence[Work]) -> WriteResult:
        """Decide and write the first of a chunk under the lock; where the model must be asked, let go of the lock and start over.

        What other writers change meanwhile may have to be asked about again. An episode that this has happened to keeps its
        turn while the model is asked, so that threads that speak of one thing all come to an end.
        """
        for _ in range(_PATIENCE):
            with self._in_turn():
                result = self._decided(chunk[0])
            if isinstance(result, WriteResult):
                return result
            self._ask_for(chunk, result)
        with self._in_turn():
            for _ in range(_PATIENCE, MAX_ROUNDS):
                result = self._decided(chunk[0])
                if isinstance(result, WriteResult):
                    return result
                self._ask_for(chunk, result)
        key = chunk[0].item.episode.key
        raise ModelError(f"episode {key!r}: other writers changed what it was to be compared with {MAX_ROUNDS} times; add it again")

    @contextmanager
    def _in_turn(self) -> Iterator[None]:
        """One thread at a time."""
        if not self._turn.acquire(blocking=False):
            with self._waiting():
                self._turn.acquire()
        try:
            yield
        finally:
            self._turn.release()

    def _decided(self, work: Work) -> WriteResult | list[Ask]:
        """The episode, written; or what the model must be asked first: nothing where the transaction was lost to another writer's."""
        group = work.item.episode.group
        try:
            with begun(self._store, group, partial(self._sought, work)) as tx:
                result = self._decided_in(tx, work)
        except NeedsModel as needed:
            return needed.asks
        except Overtaken:
            return []
        work.run.memo.settle(work.keys)
        return result

    def _decided_in(self, tx: Writer, work: Work) -> WriteResult:
        known = tx.episode_by_key(work.item.episode.group, work.item.episode.key)
        if known is not None:
            return self._charged(tx, work, self._again(tx, known))
        if isinstance(work.extraction, ModelError):
            raise work.extraction
        assert work.extraction is not None
        if not self._made_room(tx, work, work.extraction):
            return self._unchanged(tx, work, work.extraction)
        return self._write(tx, work, work.extraction)

    def _sought(self, work: Work) -> Names:
        """What deciding the episode asks of the memory first."""
        found = work.extraction if isinstance(work.extraction, Extraction) else Extraction()
        return sought(work.item.episode, found, work.run.options, self._embedder)

    def _ask_for(self, chunk: Sequence[Work], asks: Sequence[Ask]) -> None:
        """Ask what the first of a chunk needs, and beside it what the next ones will."""
        if len(chunk) > 1 and self._is_side_by_side:
            asks = [*asks, *self._rehearsed(chunk)]
        self._ask(asks, chunk[0].run.memo)

    def _rehearsed(self, chunk: Sequence[Work]) -> list[Ask]:
        """What the model will be asked about a chunk, as far as it can be told without its answers to that.

        Each episode is written on top of those before it, in a transaction of which nothing is kept. Where an answer is still to
        come, the episode is taken as it would be without one; if that turns out wrong, those after it ask again what it changes.
        """
        asks: list[Ask] = []
        group = chunk[0].item.episode.group
        with suppress(GraphmemError, _Rehearsed), self._store.write(group) as tx:
            for work in (work for work in chunk if work.item.episode.group == group):
                if isinstance(work.extraction, ModelError):
                    break
                if work.extraction is not None and self._made_room(tx, work, work.extraction):
                    self._rehearse(tx, work, work.extraction, asks)
            raise _Rehearsed
        return asks

    def _rehearse(self, tx: Writer, work: Work, extraction: Extraction, asks: list[Ask]) -> None:
        """Write an episode without its answers that are still to come; the first that it lacks are added to `asks`."""
        later: list[Ask] = []

        def ask(wanted: Sequence[Ask]) -> list[Answer]:
            return work.run.memo.guess(wanted, later if mine else mine)

        mine: list[Ask] = []
        if (told := ahead(tx)) is not None:
            told.expect(work.item.episode.group, self._sought(work))
        record, ontology, _ = self._drafted(tx, work, extraction, ask)
        self._rehearsal.record(tx, record, ontology)
        asks += mine

    def _write(self, tx: Writer, work: Work, extraction: Extraction) -> WriteResult:
        memo = work.run.memo
        record, ontology, draft = self._drafted(tx, work, extraction, memo.ask_if_local)
        episode = record.episode
        outcome = self._ledger.record(tx, record, ontology)
        stages = memo.charged(work.keys)
        if not self._model.local:
            keep_answers(tx, self._model.name, episode, memo.unkept(work.keys), stages, recorded=not extraction.unread)
            keep_cost(tx, episode, stages)
        warnings = (*work.item.warnings, *draft.warnings, *outcome.warnings)
        changes = _reasoned(outcome, draft)
        return WriteResult((episode.id,), changes, warnings, total(stages), stages=stages, created_at=episode.created_at)

    def _drafted(
        self, tx: Writer, work: Work, extraction: Extraction, ask: Callable[[Sequence[Ask]], list[Answer]]
    ) -> tuple[EpisodeRecord, Ontology, Draft]:
        """What the log is to hold of an episode, decided against what `tx` shows; the next write's ontology is settled on the way."""
        item, group = work.item, work.item.episode.group
        check_whole(tx, group)
        self._settle_embedder(tx)
        ontology = self._settle_ontology(tx, group, work.run.wanted, item.recorded_at)
        head = tx.head(group)
        at = system_instant(self._clock, head, item.recorded_at)
        episode = replace(as_read(item.episode, extraction.unread), seq=head.seq + 1, created_at=at)
        flow = decide_flow(episode, extraction, tx, ontology, work.run.options, self._embedder)
        draft: Draft = run_together([noting(flow, work.keys)], ask)[0]
        return EpisodeRecord(episode, draft.assertions, draft.mentions, draft.links, draft.search_text), ontology, draft

    def _made_room(self, tx: Writer, work: Work, extraction: Extraction) -> bool:
        """Forget the episode whose place this one takes, if any; False where there is nothing to gain by it, and where it is not what
        was read: something may have been erased from it.
        """
        earlier = work.item.instead_of
        if earlier is None:
            return True
        if earlier not in tx.episodes([earlier.group], NOW, EpisodeMatch(ids=(earlier.id,))):
            return False
        kept = conformed(extraction, self.ontology(tx, earlier.group, work.run.wanted), work.run.options.attribute_length)
        if not gains(kept, tx.records(earlier.group, [earlier.id])[0]):
            return False
        self.operator.record(tx, earlier.group, Act(OperationKind.FORGET, (earlier.id,)), "read again")
        return True

    def _unchanged(self, tx: Writer, work: Work, extraction: Extraction) -> WriteResult:
        """The episode that was read again stays as it is; what that cost is counted."""
        earlier = work.item.instead_of or work.item.episode
        stages = work.run.memo.charged(work.keys)
        keep_answers(tx, self._model.name, earlier, (), stages)
        same = Change(ChangeKind.UNCHANGED, "episode", earlier.id, "")
        return WriteResult((earlier.id,), (same,), extraction.warnings, total(stages), created=False, stages=stages)

    def _charged(self, tx: Writer, work: Work, result: WriteResult) -> WriteResult:
        """The result for an episode that another writer has recorded while it was read: what reading it has cost is counted."""
        stages = work.run.memo.charged(work.keys)
        if not stages:
            return result
        if not self._model.local:
            keep_answers(tx, self._model.name, work.item.episode, work.run.memo.unkept(work.keys), stages, recorded=False)
        return replace(result, usage=total(stages), stages=stages)

    def reset_usage(self, group: str) -> dict[str, Usage]:
        """What the group has cost so far; it is counted from nothing again."""
        with self._store.write(group) as tx:
            return forget_usage(tx, group)

    def _again(self, tx: Writer, known: EpisodeRecord) -> WriteResult:
        """The same episode again: nothing, or the restore of what hides it."""
        group, episode = known.episode.group, known.episode.id
        if tx.episodes([group], NOW, EpisodeMatch(ids=(episode,)), bodies=False):
            return WriteResult((episode,), (Change(ChangeKind.UNCHANGED, "episode", episode, ""),), created=False)
        if (later := tx.episode_by_key(group, key_again(known.episode))) is not None:
            return self._again(tx, later)
        operations: dict[str, Operation] = {}
        operations_on(tx, group, [episode], operations)
        hiding = [o.id for o in active_operations(operations.values()) if o.kind is OperationKind.FORGET]
        outcome, operation = self.operator.record(tx, group, Act(OperationKind.RESTORE, tuple(hiding)), "added again")
        return WriteResult((episode,), outcome.changes, outcome.warnings, created=False, created_at=operation.created_at)

    def replay(self, entries: Iterable[LogEntry], report: Callable[[int], None], mark: str = "") -> tuple[int, int]:
        """Record entries of a log as they are; see `replaying.replay`."""
        return replay(self._store, self._indexing, self._embedder, entries, report, mark)

    # ------------------------------------------------------------------------------------------ ontology

    def ontology(self, reader: Reader, group: str, wanted: Ontology | None = None) -> Ontology:
        """The ontology that the next write will use."""
        return wanted or stored_ontology(reader, group) or self._default

    def _settle_ontology(self, tx: Writer, group: str, wanted: Ontology | None, recorded_at: datetime | None) -> Ontology:
        """Record the ontology in the log before the first episode, and whenever the caller brings another one."""
        stored = tx.meta(f"ontology:{group}")
        if wanted is None and stored is not None:
            return parsed_ontology(stored)
        chosen = wanted or self._default
        rows = canonical_json(chosen.to_json())
        if rows == stored:
            return chosen
        head = tx.head(group)
        before = (recorded_at or self._clock.now()) - MICROSECOND  # so that the episode itself gets its own instant
        at = before if head.at is None or before > head.at else system_instant(self._clock, head, recorded_at)
        seq = head.seq + 1
        operation = Operation(
            content_id("op", group, seq, "ontology", rows), group, OperationKind.ONTOLOGY, (), {"relations": chosen.to_json()}, seq, at
        )
        tx.put_meta(f"ontology:{group}", rows)
        self._ledger.record(tx, operation, chosen)
        return chosen

    def _settle_embedder(self, tx: Writer) -> None:
        """Keep the embedder's name with the first vectors; refuse to mix another one's in."""
        stored, mine = tx.meta("embedder"), embedder_meta(self._embedder)
        if stored is None:
            tx.put_meta("embedder", mine)
        elif stored != mine:
            raise EmbedderMismatch(f"another writer made this memory with {stored}; this handle embeds with {mine}")


def _reasoned(outcome: Outcome, draft: Draft) -> tuple[Change, ...]:
    """The changes; those without a reason get the one recorded with a decision of this episode about that sentence."""
    by_text = {a.text: draft.reasons[a.id] for a in draft.assertions if a.id in draft.reasons}
    return tuple(replace(c, reason=by_text[c.text]) if not c.reason and c.text in by_text else c for c in outcome.changes)
