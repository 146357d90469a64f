"""Running flows: their questions to the model, several flows at once, answers kept and their cost charged to who asked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import replace
from itertools import islice
from threading import get_ident
from typing import Generic

from graphmem.errors import AnswerUnusable, ModelError, ModelUnavailable
from graphmem.ingest.found import Flow, T
from graphmem.llm.base import Answer, Ask, LanguageModel
from graphmem.model import Usage

Waiting = Callable[[], AbstractContextManager[None]]
"""What is entered around a wait for a model's endpoint."""


NO_ANSWER = Answer(None)
"""Stands for an answer that is still to come: whoever asked does by rule what it would do without a model."""


class NeedsModel(Exception):
    """Raised under the write lock where `asks` have no answer yet: the lock is let go while the model is asked."""

    def __init__(self, asks: list[Ask]) -> None:
        super().__init__()
        self.asks = asks


class Cancellation:
    """Ends, from any thread, what is asked of a model in others: nobody wants to know any more."""

    def __init__(self) -> None:
        self._is_set = False
        self._asking: dict[int, LanguageModel] = {}

    @property
    def is_set(self) -> bool:
        """Whether `set` was called."""
        return self._is_set

    def set(self) -> None:
        """Let nothing more be asked, and end what is being asked where the model can end it."""
        self._is_set = True
        for thread, model in list(self._asking.items()):
            _end(model, thread)

    @contextmanager
    def asking(self, model: LanguageModel) -> Iterator[None]:
        """Around a call of a model, which is ended when this is set. Raises `ModelUnavailable` if it is set already."""
        self._asking[get_ident()] = model
        try:
            if self._is_set:
                raise ModelUnavailable("nobody waits for the answers any more; ask again")
            yield
        finally:
            self._asking.pop(get_ident(), None)


def _end(model: LanguageModel, thread: int) -> None:
    """End what a thread asks of a model, where it can be ended."""
    abandon = getattr(model, "abandon", None)
    if abandon is not None:
        abandon(thread)


CANCELLATION: ContextVar[Cancellation | None] = ContextVar("graphmem_cancellation", default=None)
"""What the caller of a long recording may end it by."""


class Memo:
    """Answers already had, failures among them, and what the new ones cost; each is had as soon as it comes."""

    def __init__(self, model: LanguageModel, waiting: Waiting = nullcontext, cancellation: Cancellation | None = None) -> None:
        self._model, self.waiting = model, waiting
        self._cancellation = cancellation or Cancellation()
        self.answers: dict[str, Answer] = {}
        self._fresh: dict[str, tuple[Ask, Answer]] = {}
        self._uncharged: dict[str, tuple[str, Usage]] = {}

    def unkept(self, keys: Iterable[str]) -> list[tuple[Ask, Answer]]:
        """New answers to these asks, until they are settled."""
        return [self._fresh[key] for key in list(keys) if key in self._fresh]

    def charged(self, keys: Iterable[str]) -> dict[str, Usage]:
        """What these asks cost, by prompt, until they are settled."""
        spent: dict[str, Usage] = defaultdict(Usage)
        for key in list(keys):
            prompt, usage = self._uncharged.get(key, ("", Usage()))
            if usage != Usage():
                spent[prompt] += usage
        return dict(spent)

    def settle(self, keys: Iterable[str]) -> None:
        """A transaction has kept the answers and charged their cost: each once."""
        for key in list(keys):
            self._fresh.pop(key, None)
            self._uncharged.pop(key, None)

    def missing(self, asks: Iterable[Ask]) -> list[Ask]:
        """Those without an answer, each once."""
        return list({a.key: a for a in asks if a.key not in self.answers}.values())

    def ask(self, asks: Sequence[Ask]) -> list[Answer]:
        """An answer to each, perhaps a failure; the model is asked only what is new."""
        if new := self.missing(asks):
            with nullcontext() if self._model.local else self.waiting():
                answers = self._answers(new)
            for ask, answer in zip(new, answers, strict=True):
                self._had(ask, answer)
        return [self.answers[a.key] for a in asks]

    def _came(self, ask: Ask, answer: Answer) -> None:
        self._had(ask, answer)
        if self._cancellation.is_set:  # just before the model was called, which that could not end
            _end(self._model, get_ident())

    def _had(self, ask: Ask, answer: Answer) -> None:
        self.answers[ask.key] = answer
        self._uncharged[ask.key] = ask.prompt, answer.usage
        if answer.failure is None or isinstance(answer.failure, AnswerUnusable):
            self._fresh[ask.key] = ask, answer

    def _answers(self, asks: Sequence[Ask]) -> list[Answer]:
        try:
            with self._cancellation.asking(self._model):
                each = getattr(self._model, "answer_each", None)
                return self._model.answer(asks) if each is None else list(each(asks, self._came))
        except ModelError as error:
            if isinstance(error, AnswerUnusable) and len(asks) > 1:  # which of them it is about is not said
                answers = [answer for ask in asks for answer in self._answers([ask])]
            else:  # each flow meets its failure in its turn: there may be others that need none of these answers
                answers = [Answer(None, failure=error) for _ in asks]
            return [replace(answers[0], usage=answers[0].usage + (error.usage or Usage())), *answers[1:]]

    def ask_if_local(self, asks: Sequence[Ask]) -> list[Answer]:
        """As `ask`, but raises `NeedsModel` rather than wait on a network."""
        if not self._model.local and (missing := self.missing(asks)):
            raise NeedsModel(missing)
        return self.ask(asks)

    def guess(self, asks: Sequence[Ask], open_asks: list[Ask]) -> list[Answer]:
        """What is known of the answers, and `NO_ANSWER` in the place of the others, whose asks are added to `open_asks`."""
        open_asks += self.missing(asks)
        return [self.answers.get(a.key, NO_ANSWER) for a in asks]


class Together(Generic[T]):
    """Flows run side by side: the questions of all of them that are open at once go to the model in one call.

    Making one runs each flow up to its first questions.
    """

    def __init__(self, flows: Sequence[Flow[T]]) -> None:
        self._flows = flows
        self._ended: dict[int, T | ModelError] = {}
        self._open: dict[int, list[Ask]] = {}
        for index in range(len(flows)):
            self._step(index, None)

    def finish(self, ask: Callable[[Sequence[Ask]], list[Answer]]) -> list[T | ModelError]:
        """What each flow returned, or the `ModelError` that ended it. A failed answer is raised inside its flow, unless it is
        an answer that cannot be used: what that means is for the flow to say.
        """
        while self._open:
            batch, self._open = self._open, {}
            answers = iter(ask([a for asks in batch.values() for a in asks]))
            for index, asks in batch.items():
                self._step(index, list(islice(answers, len(asks))))
        return [self._ended[i] for i in range(len(self._flows))]

    def _step(self, index: int, answers: list[Answer] | None) -> None:
        flow = self._flows[index]
        try:
            self._open[index] = next(flow) if answers is None else _sent(flow, answers)
        except StopIteration as done:
            self._ended[index] = done.value
        except ModelError as error:
            self._ended[index] = error


def run_together(flows: Sequence[Flow[T]], ask: Callable[[Sequence[Ask]], list[Answer]]) -> list[T]:
    """What each flow returned, run side by side; raises the first `ModelError` that ended one."""
    results: list[T] = []
    for result in Together(flows).finish(ask):
        if isinstance(result, ModelError):
            raise result
        results.append(result)
    return results


def _sent(flow: Flow[T], answers: list[Answer]) -> list[Ask]:
    for answer in answers:
        if answer.failure is not None and not isinstance(answer.failure, AnswerUnusable):
            return flow.throw(answer.failure)
    return flow.send(answers)


def noting(flow: Flow[T], keys: set[str]) -> Flow[T]:
    """`flow`, with the keys of what it asks added to `keys`."""
    try:
        asks = next(flow)
        while True:
            keys.update(ask.key for ask in asks)
            try:
                answers = yield asks
            except ModelError as failure:
                asks = flow.throw(failure)
            else:
                asks = flow.send(answers)
    except StopIteration as done:
        result: T = done.value
        return result


def total(stages: Mapping[str, Usage]) -> Usage:
    """What all stages cost together."""
    return sum(stages.values(), Usage())
