"""Building communities: found and named outside the lock, in the graph of one moment; under it brought up to date and written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import count
from typing import NamedTuple

from graphmem.belief.ledger import Ledger
from graphmem.communities import layer
from graphmem.communities.growth import as_it_grows, recipe_wanted
from graphmem.communities.layer import WRITER, WRITTEN_FROM, Found
from graphmem.communities.recipe import Build, Recipe, Seen
from graphmem.communities.telling import MOST_FACTS
from graphmem.errors import AnswerUnusable, GraphmemError, InvalidInput, NotFound
from graphmem.ingest.asking import Memo, noting, run_together, total
from graphmem.ingest.copying import check_whole
from graphmem.ingest.kept import keep_texts, keep_usage
from graphmem.ingest.naming import MOST_FACTS as MOST_ASKED
from graphmem.ingest.naming import PROMPT, Named, Namer, Written, naming_flow, to_name
from graphmem.ingest.operating import Arrived, erased_since, is_in_log, once, settled_ontology, system_instant
from graphmem.llm.base import Answer, Ask, LanguageModel, prompts_of
from graphmem.model import AsOf, Head, Operation, OperationKind, Usage, community_text
from graphmem.progress import Progress
from graphmem.results import WriteResult
from graphmem.runtime import MICROSECOND, Clock, content_id
from graphmem.stores.base import Reader, Store, Writer

_BATCH = 32
_ROUNDS = 3

Asking = Callable[[Sequence[Ask], Memo], list[Answer]]


@dataclass
class _Steps:
    """Steps done, and how many there are: the layer's own, one for each community that is named by a model, and the writing."""

    report: Progress
    expected: int = layer.STEPS + 1
    known: bool = True
    done: int = 0

    def step(self, count: int = 1) -> None:
        """So many more are done."""
        if count:
            self.done += count
            self.report(self.done, self.expected if self.known else None)

    def expect(self, count: int) -> None:
        """So many more there are."""
        self.expected += count
        self.known = True


class _Found(NamedTuple):
    """The communities of a point, and what a model had written of those stored then, by the key of what from."""

    seen: Seen
    found: Found
    known: Mapping[str, Written]


@dataclass
class _Asked:
    """What a model was asked: its answers, the keys of the questions, and the earliest graph that these are from."""

    memo: Memo
    keys: set[str] = field(default_factory=set)
    since: Seen | None = None


class Builder:
    """Builds the layers of a store's groups. `memo` makes one for answers of `model`, for whose questions `ask` finds answers."""

    def __init__(self, store: Store, ledger: Ledger, clock: Clock, model: LanguageModel, memo: Callable[[], Memo], ask: Asking) -> None:
        self._store, self._ledger, self._clock = store, ledger, clock
        self._model, self._memo, self._ask = model, memo, ask

    def check_names(self, names: object) -> None:
        """Raises `InvalidInput` unless this is a way to make names, and the model can do it."""
        if names not in (None, "offline", "model"):
            raise InvalidInput("names", names, "must be 'model', 'offline', or left out to keep what a model has written")
        prompts = prompts_of(self._model)
        if names == "model" and prompts is not None and PROMPT not in prompts:
            raise InvalidInput("names", names, f"model {self._model.name!r} writes none; open the memory with model='openai:NAME'")

    def settle_growth(self, group: str, grows: bool) -> None:
        """Let the communities of a group that holds something grow with every episode from now on, or not."""
        with self._store.read() as reader:
            recipe = recipe_wanted(reader, group, grows)
        if recipe is not None:
            self.build(group, recipe, lambda done, total: None, following=True)

    def build(self, group: str, recipe: Recipe, report: Progress, *, names: str | None = None, following: bool = False) -> WriteResult:
        """Find communities, and record how and what was found as one entry of the log; `following` the last one at once, so that
        history can go on after it. `names` as in `communities.recipe.Build`. Other writers wait for the writing alone.
        """
        spent: dict[str, Usage] = {}
        while True:
            asked, steps = _Asked(self._memo()), _Steps(report, known=names != "model")
            try:
                made, named = self._prepared(group, recipe, following, steps, asked, names)
            except BaseException:
                self._save(group, asked, spent)
                raise
            self._warm(group, made.found, named)

            def work(
                tx: Writer, made: _Found = made, named: Named = named, asked: _Asked = asked, spent: dict[str, Usage] = spent
            ) -> tuple[WriteResult | None, Arrived]:
                check_whole(tx, group)
                if _is_erased(tx, group, asked.since):  # nothing that was found or answered may come back
                    return None, lambda _: False
                built = Build(as_it_grows(tx, group, recipe), made.seen, names, tuple(named.texts))
                operation = self._operation(tx, group, following, built)
                outcome = self._ledger.record(tx, operation, settled_ontology(tx, group), made.found)
                stages = self._keep(tx, group, asked, spent)
                warnings = (*outcome.warnings, *named.warnings)
                result = WriteResult(
                    (operation.id,), outcome.changes, warnings, total(stages), created_at=operation.created_at, stages=stages
                )
                return result, is_in_log(operation)

            result = once(self._store, group, work)
            if result is not None:
                steps.step()
                return result
            spent = _sum(spent, asked.memo.charged(asked.keys))

    def _operation(self, tx: Writer, group: str, following: bool, built: Build) -> Operation:
        head = tx.head(group)
        seq, kind = head.seq + 1, OperationKind.COMMUNITIES
        return Operation(content_id("op", group, seq, kind.value), group, kind, (), built.values(), seq, self._instant(head, following))

    def _prepared(
        self, group: str, recipe: Recipe, following: bool, steps: _Steps, asked: _Asked, names: str | None
    ) -> tuple[_Found, Named]:
        if names == "model":
            return self._named(group, recipe, following, steps, asked)
        made = self._found(group, recipe, following, steps, MOST_FACTS)
        asked.since = made.seen
        return made, Named()

    def _warm(self, group: str, found: Found, named: Named) -> None:
        """Embed what is going to be said of communities, and is not said yet, before the lock is taken."""
        said = [community_text(t.name, t.summary) for level in found.tellings for t in level]
        said += [community_text(t.name, t.summary) for t in named.texts]
        with self._store.read() as reader:
            stored = {v.text for v in reader.communities([group], AsOf())}
        self._ledger.warm([text for text in dict.fromkeys(said) if text not in stored])

    def _named(self, group: str, recipe: Recipe, following: bool, steps: _Steps, asked: _Asked) -> tuple[_Found, Named]:
        """The communities of the graph as it is now, and what the model calls them.

        Where somebody wrote while the model was asked they are found again, and it is asked about those that are new by that.
        """
        for round_ in count(1):
            made = self._found(group, recipe, following, steps, MOST_ASKED)
            asked.since = asked.since or made.seen
            steps.expect(to_name(made.found))
            before = len(asked.keys)
            flow = naming_flow(made.found, Namer(self._model.name, made.known, steps.step))
            (named,) = run_together([noting(flow, asked.keys)], partial(self._answers, memo=asked.memo, steps=steps))
            with self._store.read() as reader:
                is_current = reader.head(group).seq == made.seen.seq
            if is_current or len(asked.keys) == before or round_ == _ROUNDS:
                return made, named
            steps.expect(layer.STEPS)
        raise AssertionError("unreachable")

    def _found(self, group: str, recipe: Recipe, following: bool, steps: _Steps, most: int) -> _Found:
        """The communities of the graph as it is when this begins, which one that is, and what a model has written before."""
        with self._store.read() as reader:
            check_whole(reader, group)
            head = reader.head(group)
            if head.at is None:
                raise NotFound(f"group {group!r} holds nothing yet")
            seen = Seen(head.seq, self._instant(head, following), head.at)
            known = _known(reader, group) if most > MOST_FACTS else {}
            return _Found(seen, layer.found(reader, group, seen.at, recipe, steps.step, most), known)

    def _answers(self, asks: Sequence[Ask], memo: Memo, steps: _Steps) -> list[Answer]:
        """Answers in batches; where the model fails for other reasons than the question, the rest is not asked."""
        answers: list[Answer] = []
        for n in range(0, len(asks), _BATCH):
            batch = self._ask(asks[n : n + _BATCH], memo)
            answers += batch
            steps.step(len(batch))
            failed = next((a for a in batch if a.failure is not None and not isinstance(a.failure, AnswerUnusable)), None)
            if failed is not None:
                return answers + [Answer(None, failure=failed.failure)] * (len(asks) - len(answers))
        return answers

    def _keep(self, tx: Writer, group: str, asked: _Asked, spent: Mapping[str, Usage]) -> dict[str, Usage]:
        """Keep what was answered, and what that cost with what was `spent` before, which is returned."""
        stages = _sum(spent, asked.memo.charged(asked.keys))
        if not self._model.local:
            if not _is_erased(tx, group, asked.since):
                keep_texts(tx, self._model.name, group, asked.memo.unkept(asked.keys))
            keep_usage(tx, group, stages)
        return stages

    def _save(self, group: str, asked: _Asked, spent: Mapping[str, Usage]) -> None:
        """Keep what was answered for a build that comes to nothing: the next one goes on from there."""
        if spent or asked.memo.unkept(asked.keys) or asked.memo.charged(asked.keys):
            with suppress(GraphmemError), self._store.write(group) as tx:
                self._keep(tx, group, asked, spent)

    def _instant(self, head: Head, following: bool) -> datetime:
        return head.at + MICROSECOND if following and head.at is not None else system_instant(self._clock, head)


def _known(reader: Reader, group: str) -> dict[str, Written]:
    """What a model has written of the communities stored now, by the key of what from."""
    written = (v for v in reader.communities([group], AsOf()) if WRITER in v.attributes)
    return {str(v.attributes[WRITTEN_FROM]): Written(v.name, v.summary, str(v.attributes[WRITER])) for v in written}


def _is_erased(reader: Reader, group: str, seen: Seen | None) -> bool:
    """Whether something was erased since a graph was seen."""
    return seen is not None and erased_since(reader, group, Head(seen.seq, seen.system))


def _sum(one: Mapping[str, Usage], other: Mapping[str, Usage]) -> dict[str, Usage]:
    return {prompt: one.get(prompt, Usage()) + other.get(prompt, Usage()) for prompt in {**one, **other}}
