"""From an episode to the log: extract outside the lock, decide and commit inside it, all or nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from itertools import islice
from typing import TypeVar

from graphmem.belief.identity import active_operations
from graphmem.belief.ledger import Indexing, Ledger, Outcome
from graphmem.belief.slices import operations_on
from graphmem.embed.base import Embedder
from graphmem.errors import EmbedderMismatch, ModelError, NotFound, StaleInstant
from graphmem.ingest.before import Before
from graphmem.ingest.flow import Draft, Extraction, Options, decide_flow, extract_flow
from graphmem.llm.base import Answer, Ask, LanguageModel
from graphmem.model import AsOf, Change, ChangeKind, Episode, EpisodeMatch, EpisodeRecord, Head, Operation, OperationKind, Usage, Warn
from graphmem.ontology import Ontology
from graphmem.results import WriteResult
from graphmem.runtime import MICROSECOND, Clock, canonical_json, content_id
from graphmem.stores.base import Reader, Store, Writer

T = TypeVar("T")
Flow = Generator[list[Ask], list[Answer], T]
MAX_ROUNDS = 8
NOW = AsOf()


@dataclass(frozen=True)
class Incoming:
    """An episode on its way in, its own system instant if it brings one, and what was doubtful about its arguments."""

    episode: Episode
    recorded_at: datetime | None = None
    warnings: tuple[Warn, ...] = ()


class NeedsModel(Exception):
    """Raised under the write lock where a question has no answer yet: the lock is let go while the model is asked."""

    def __init__(self, asks: Sequence[Ask]) -> None:
        super().__init__(f"{len(asks)} questions")
        self.asks = tuple(asks)


class Memo:
    """Answers already had, and what the new ones cost."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self.answers: dict[str, Answer] = {}
        self.fresh: dict[str, tuple[Ask, Answer]] = {}
        self.usage = Usage()

    def unkept(self) -> list[tuple[Ask, Answer]]:
        """New answers, each handed out once: the transaction that takes them keeps them."""
        handed, self.fresh = list(self.fresh.values()), {}
        return handed

    def missing(self, asks: Iterable[Ask]) -> list[Ask]:
        """Those without an answer, each once."""
        return list({a.key: a for a in asks if a.key not in self.answers}.values())

    def ask(self, asks: Sequence[Ask]) -> list[Answer]:
        """An answer to each; the model is asked only what is new."""
        new = self.missing(asks)
        for ask, answer in zip(new, self._model.answer(new) if new else [], strict=True):
            self.answers[ask.key] = answer
            self.fresh[ask.key] = (ask, answer)
            self.usage += answer.usage
        return [self.answers[a.key] for a in asks]

    def ask_if_local(self, asks: Sequence[Ask]) -> list[Answer]:
        """As `ask`, but raises `NeedsModel` rather than wait on a network."""
        missing = self.missing(asks)
        if missing and not self._model.local:
            raise NeedsModel(missing)
        return self.ask(asks)


def run_together(flows: Sequence[Flow[T]], ask: Callable[[Sequence[Ask]], list[Answer]]) -> list[T]:
    """Run flows side by side: the questions of all of them that are open at once go to the model in one call."""
    results: dict[int, T] = {}
    waiting: dict[int, list[Ask]] = {}

    def step(index: int, answers: list[Answer] | None) -> None:
        try:
            waiting[index] = next(flows[index]) if answers is None else flows[index].send(answers)
        except StopIteration as done:
            results[index] = done.value

    for index in range(len(flows)):
        step(index, None)
    while waiting:
        batch, waiting = waiting, {}
        answers = iter(ask([a for asks in batch.values() for a in asks]))
        for index, asks in batch.items():
            step(index, list(islice(answers, len(asks))))
    return [results[i] for i in range(len(flows))]


class Recorder:
    """Writes episodes and operations through the ledger, one transaction each."""

    def __init__(
        self, store: Store, model: LanguageModel, embedder: Embedder, indexing: Indexing, clock: Clock, ontology: Ontology
    ) -> None:
        self._store, self._model, self._embedder, self._clock = store, model, embedder, clock
        self._indexing, self._ledger, self._default = indexing, Ledger(indexing), ontology

    # ------------------------------------------------------------------------------------------ episodes

    def add_many(self, incoming: Iterable[Incoming], ontology: Ontology | None, options: Options, batch: int = 32) -> Iterator[WriteResult]:
        """Record episodes in order, a transaction each; the model reads `batch` of them at once, and they are embedded together.

        Yields each result once its episode is committed: what was yielded survives a crash. The same episode again
        changes nothing and calls no model; a forgotten one is restored.
        """
        stream = iter(incoming)
        while chunk := list(islice(stream, batch)):
            memo = Memo(self._model)
            with self._store.read() as reader:
                new = [i for i in chunk if reader.episode_by_key(i.episode.group, i.episode.key) is None]
                extractions = self._extract(reader, new, options, memo)
            read = {item.episode.key: e for item, e in zip(new, extractions, strict=True)}
            self._warm(new, extractions)
            for item in chunk:
                before = memo.usage
                result = self._commit(item, read.get(item.episode.key), ontology, options, memo)
                first = bool(new) and item is new[0]
                yield replace(result, usage=memo.usage if first else _spent(before, memo.usage))

    def _extract(self, reader: Reader, items: Sequence[Incoming], options: Options, memo: Memo) -> list[Extraction]:
        """What each episode says; an episode sees those before it in the batch as its recent ones."""
        episodes = [i.episode for i in items]
        memory = Before(reader, episodes)
        flows = [extract_flow(e, memory, options, pending=episodes[max(0, n - options.recent) : n]) for n, e in enumerate(episodes)]

        def ask(asks: Sequence[Ask]) -> list[Answer]:
            self._recall(reader, asks, memo)
            return memo.ask(asks)

        return run_together(flows, ask)

    def _recall(self, reader: Reader, asks: Sequence[Ask], memo: Memo) -> None:
        """Take answers that the store has recorded; a local model answers quicker than that."""
        if self._model.local:
            return
        for ask in memo.missing(asks):
            recorded = reader.answer(ask.key)
            if recorded is not None:
                memo.answers[ask.key] = Answer(recorded[0])

    def _warm(self, items: Sequence[Incoming], extractions: Sequence[Extraction]) -> None:
        """Embed all texts of a batch in one call, before the lock is taken."""
        texts: dict[str, None] = {}
        for item, extraction in zip(items, extractions, strict=True):
            record = EpisodeRecord(item.episode, search_text=extraction.clauses)
            texts.update((t, None) for t in self._indexing.episode_pieces(record))
            texts.update((e.name, None) for e in extraction.entities)
            texts.update((f.text, None) for f in extraction.facts if f.text)
        if texts:
            self._indexing.embed(list(texts))

    def _commit(
        self, item: Incoming, extraction: Extraction | None, ontology: Ontology | None, options: Options, memo: Memo
    ) -> WriteResult:
        """Decide and write under the lock; where the model must be asked, let go of the lock, ask, and start over."""
        group = item.episode.group
        for _ in range(MAX_ROUNDS):
            try:
                with self._store.write(group) as tx:
                    known = tx.episode_by_key(group, item.episode.key)
                    if known is not None:
                        return self._again(tx, known)
                    assert extraction is not None
                    return self._write(tx, item, extraction, ontology, options, memo)
            except NeedsModel as need:
                with self._store.read() as reader:
                    self._recall(reader, need.asks, memo)
                memo.ask(need.asks)
        raise ModelError(
            f"episode {item.episode.key!r}: other writers changed what it was to be compared with {MAX_ROUNDS} times; add it again"
        )

    def _write(
        self, tx: Writer, item: Incoming, extraction: Extraction, wanted: Ontology | None, options: Options, memo: Memo
    ) -> WriteResult:
        group = item.episode.group
        self._settle_embedder(tx)
        ontology = self._settle_ontology(tx, group, wanted, item.recorded_at)
        head = tx.head(group)
        at = self._instant(head, item.recorded_at)
        episode = replace(item.episode, seq=head.seq + 1, created_at=at)
        flow = decide_flow(episode, extraction, tx, ontology, options, self._embedder)
        draft: Draft = run_together([flow], memo.ask_if_local)[0]
        record = EpisodeRecord(episode, draft.assertions, draft.mentions, draft.links, draft.search_text)
        outcome = self._ledger.record(tx, record, ontology)
        if not self._model.local:
            for ask, answer in memo.unkept():
                note = {"model": self._model.name, "prompt": ask.prompt, "version": ask.version}
                tx.put_answer(ask.key, answer.value, note)
        warnings = (*item.warnings, *draft.warnings, *outcome.warnings)
        return WriteResult((episode.id,), _reasoned(outcome, draft), warnings, created_at=at)

    def _again(self, tx: Writer, known: EpisodeRecord) -> WriteResult:
        """The same episode again: nothing, or the restore of what hides it."""
        group, episode = known.episode.group, known.episode.id
        if tx.episodes([group], NOW, EpisodeMatch(ids=(episode,)), bodies=False):
            return WriteResult((episode,), (Change(ChangeKind.UNCHANGED, "episode", episode, ""),), created=False)
        operations: dict[str, Operation] = {}
        operations_on(tx, group, [episode], operations)
        hiding = [o.id for o in active_operations(operations.values()) if o.kind is OperationKind.FORGET]
        outcome, operation = self._operate(tx, group, OperationKind.RESTORE, tuple(hiding), "added again")
        return WriteResult((episode,), outcome.changes, outcome.warnings, created=False, created_at=operation.created_at)

    # ------------------------------------------------------------------------------------------ operations

    def operate(
        self, group: str, kind: OperationKind, targets: tuple[str, ...], reason: str | None = None, author: str | None = None
    ) -> WriteResult:
        """Record one operation with its consequences."""
        with self._store.write(group) as tx:
            outcome, operation = self._operate(tx, group, kind, targets, reason, author)
        return WriteResult((operation.id,), outcome.changes, outcome.warnings, created_at=operation.created_at)

    def _operate(
        self, tx: Writer, group: str, kind: OperationKind, targets: tuple[str, ...], reason: str | None = None, author: str | None = None
    ) -> tuple[Outcome, Operation]:
        head = tx.head(group)
        at = self._instant(head, None)
        identity = content_id("op", group, head.seq + 1, kind.value, list(targets))
        operation = Operation(identity, group, kind, targets, seq=head.seq + 1, created_at=at, author=author, reason=reason)
        ontology = self.stored_ontology(tx, group)
        if ontology is None:
            raise NotFound(f"group {group!r} holds nothing yet")
        return self._ledger.record(tx, operation, ontology), operation

    # ------------------------------------------------------------------------------------------ ontology

    def stored_ontology(self, reader: Reader, group: str) -> Ontology | None:
        """The ontology that the group's log is folded with; None before its first write."""
        stored = reader.meta(f"ontology:{group}")
        return _parsed(stored) if stored is not None else None

    def ontology(self, reader: Reader, group: str, wanted: Ontology | None = None) -> Ontology:
        """The ontology that the next write will use."""
        return wanted or self.stored_ontology(reader, group) or self._default

    def _settle_ontology(self, tx: Writer, group: str, wanted: Ontology | None, recorded_at: datetime | None) -> Ontology:
        """Record the ontology in the log before the first episode, and whenever the caller brings another one."""
        stored = tx.meta(f"ontology:{group}")
        if wanted is None and stored is not None:
            return _parsed(stored)
        chosen = wanted or self._default
        rows = canonical_json(chosen.to_json())
        if rows == stored:
            return chosen
        head = tx.head(group)
        before = (recorded_at or self._clock.now()) - MICROSECOND  # so that the episode itself gets its own instant
        at = before if head.at is None or before > head.at else self._instant(head, recorded_at)
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

    def _instant(self, head: Head, recorded_at: datetime | None) -> datetime:
        """The system instant of a write: the clock's, or the one that history brings; always later than the last one."""
        now = self._clock.now()
        if recorded_at is None:
            return now if head.at is None or now > head.at else head.at + MICROSECOND
        if recorded_at > now:
            raise StaleInstant(f"recorded_at={recorded_at.isoformat()} lies in the future; it is {now.isoformat()}")
        if head.at is not None and recorded_at <= head.at:
            raise StaleInstant(
                f"recorded_at={recorded_at.isoformat()} is not later than the last instant of this group, {head.at.isoformat()}; "
                "import history in order of its recording, or leave recorded_at out"
            )
        return recorded_at


def embedder_meta(embedder: Embedder) -> str:
    """An embedder's name and dimension as they are kept with the data."""
    return canonical_json({"name": embedder.name, "dimension": embedder.dimension})


@lru_cache(maxsize=64)
def _parsed(stored: str) -> Ontology:
    return Ontology.from_json(json.loads(stored))


def _spent(before: Usage, after: Usage) -> Usage:
    return Usage(
        after.calls - before.calls,
        after.input_tokens - before.input_tokens,
        after.output_tokens - before.output_tokens,
        after.seconds - before.seconds,
    )


def _reasoned(outcome: Outcome, draft: Draft) -> tuple[Change, ...]:
    """The changes; those without a reason get the one recorded with a decision of this episode about that sentence."""
    by_text = {a.text: draft.reasons[a.id] for a in draft.assertions if a.id in draft.reasons}
    return tuple(replace(c, reason=by_text[c.text]) if not c.reason and c.text in by_text else c for c in outcome.changes)
