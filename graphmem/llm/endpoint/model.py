"""The adapter: asks out as chat completions, answers back, with what they cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from threading import Lock
from time import perf_counter

from graphmem.endpoint.endpoint import Endpoint, Stopped
from graphmem.endpoint.faults import Problem, Trouble
from graphmem.endpoint.slots import Call
from graphmem.endpoint.waiting import Waiting
from graphmem.endpoint.wire import Wire
from graphmem.errors import AnswerUnusable, InvalidInput
from graphmem.llm.base import Answer, Ask
from graphmem.llm.endpoint.dialect import Dialect
from graphmem.llm.endpoint.reply import Completion, holds_json, is_prose, read_completion, usage_of
from graphmem.llm.prompts import Prompt, rendered
from graphmem.model import Usage
from graphmem.settings import Secret

_MORE_TOKENS = 4
_MOST_TOKENS = 8_000  # more than that few models write
_MISSES = 2


class EndpointModel:
    """The model `name` of an OpenAI-compatible endpoint.

    `base_url` is its address up to `/v1` (None: the public OpenAI API), `api_key` is sent to it as a bearer token, to no
    other address. The asks of a call go out side by side, at most `max_concurrency` at once. A try may take `timeout`
    seconds; what may pass is tried `retries` times more, after as long as the endpoint asks (`waiting` says at most how
    long). `proxy` names a proxy; those of the environment are not followed.

    Answers are asked for by JSON schema; if the endpoint refuses that, as a JSON object, then as text. What it refuses is
    remembered by this object, once it has taken another format. An answer in prose is asked for once more in the next looser
    format: prose again is a refusal.

    >>> EndpointModel("some-model", base_url="http://localhost:8080/v1", api_key="sk-123")
    EndpointModel('some-model', base_url='http://localhost:8080/v1', api_key='***')
    """

    local = False

    def __init__(
        self,
        name: str,
        *,
        base_url: str | None = None,
        api_key: str | Secret | None = None,
        timeout: float = 60.0,
        retries: int = 4,
        max_concurrency: int = 8,
        proxy: str | Secret | None = None,
        waiting: Waiting | None = None,
    ) -> None:
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise InvalidInput("name", name, "must be the name of a model")
        self.name, self.concurrency = f"openai:{name}", max_concurrency
        self._model = name
        self._wire = Wire(base_url, api_key, timeout, proxy)
        self._endpoint = Endpoint(self.name, self._wire, retries, max_concurrency, waiting or Waiting())
        self._dialect, self._misses, self._lock = Dialect(), 0, Lock()

    def __repr__(self) -> str:
        return f"EndpointModel({self._model!r}, base_url={self._wire.base_url!r}, api_key={str(self._wire.key)!r})"

    def answer(self, asks: Sequence[Ask]) -> list[Answer]:
        """One answer per ask, in order: the text as it came, and what it cost with all its tries.

        An ask that fails where others are answered is an answer with its `failure`, and so is each of several that the model
        declines or whose answers are cut. Otherwise, if none is answered, raises that: a
        `ModelError` that says what went wrong and what to do, one of `KeyRejected`, `NotPermitted`, `UnknownModel`,
        `ContextTooLong`, `RequestRejected`, `RateLimited`, `EndpointTimeout`, `EndpointUnreachable`, `EndpointFailed`,
        `AnswerRefused`, `AnswerFiltered` and `AnswerTruncated`. What would fail for every ask stops those not yet sent.
        """
        return self.answer_each(asks, lambda ask, answer: None)

    def answer_each(self, asks: Sequence[Ask], answered: Callable[[Ask, Answer], None]) -> list[Answer]:
        """As `answer`; `answered` is called with each ask and its answer as it comes, in the thread that calls this: what came before
        an interrupt is not lost.
        """

        def done(place: int, result: tuple[Completion | Problem | None, Usage]) -> None:
            if isinstance(result[0], Completion):
                answered(asks[place], Answer(result[0].text, result[1]))

        found = self._endpoint.side_by_side(self._one, [rendered(ask) for ask in asks], done)
        problems = [f for f, _ in found if isinstance(f, Problem)]
        if not problems and any(f is None for f, _ in found):
            raise self._endpoint.closed()
        if not problems:
            return [Answer(f.text, usage) for f, usage in found if isinstance(f, Completion)]
        told = self._endpoint.error(next((p for p in problems if p.for_all), problems[0]))
        if not any(isinstance(f, Completion) for f, _ in found) and (len(found) == 1 or not isinstance(told, AnswerUnusable)):
            told.usage = sum((usage for _, usage in found), Usage())
            raise told
        return [
            Answer(f.text, usage) if isinstance(f, Completion) else Answer(None, usage, told if f is None else self._endpoint.error(f))
            for f, usage in found
        ]

    def close(self) -> None:
        """Closes the connection; the next ask makes a new one."""
        self._endpoint.close()

    def abandon(self, thread: int) -> None:
        """Ends the `answer` that a thread is waiting for, which raises `ModelUnavailable` there; those of other threads go on."""
        self._endpoint.abandon(thread)

    def _one(self, prompt: Prompt, stop: Call) -> tuple[Completion | Problem | None, Usage]:
        """The completion of a prompt or what went wrong, with its cost; None if another one's trouble left it unsent."""
        began = perf_counter()
        try:
            found, usage = self._asked(prompt, stop)
        except Stopped:
            return None, Usage()
        if isinstance(found, Problem) and found.for_all:
            stop.set()
        return found, replace(usage, seconds=perf_counter() - began)

    def _asked(self, prompt: Prompt, stop: Call) -> tuple[Completion | Problem, Usage]:
        """The completion of a prompt, in the strictest format that the endpoint takes; prose is asked about once more in a looser one."""
        spent: list[Usage] = []
        dialect, found = self._taken(prompt, stop, spent)
        if isinstance(found, Completion) and found.stopped is None:
            found = self._judged(prompt, dialect, found, stop, spent)
        if isinstance(found, Completion) and found.stopped is not None:
            found = self._endpoint.problem(found.stopped, found.said)
        return found, sum(spent, Usage())

    def _taken(self, prompt: Prompt, stop: Call, spent: list[Usage]) -> tuple[Dialect, Completion | Problem]:
        """What is said in the first dialect that the endpoint takes, which is remembered; again with more tokens if it is cut."""
        started = dialect = self._dialect
        tokens = prompt.max_tokens
        mute: Problem | None = None  # a failure that names no cause: the format may be it
        while True:
            found = self._once(prompt, dialect, tokens, stop, spent, None if mute is None else 0)
            if isinstance(found, Problem):
                other = dialect.without(found)
                if other is None and _is_mute(found):
                    other, mute = dialect.looser(), mute or found
                if other is None:
                    cut = tokens > prompt.max_tokens and found.trouble in (Trouble.REQUEST, Trouble.CONTEXT)
                    return dialect, Problem(Trouble.TRUNCATED) if cut else mute or found
                dialect = other
                continue
            if dialect != started:
                self._learn(dialect)  # not sooner: an endpoint that takes none of them is asked in the strictest again
            if found.stopped is not Trouble.TRUNCATED or not tokens == prompt.max_tokens < _MOST_TOKENS:
                return dialect, found
            tokens = min(_MORE_TOKENS * tokens, _MOST_TOKENS)

    def _judged(self, prompt: Prompt, dialect: Dialect, found: Completion, stop: Call, spent: list[Usage]) -> Completion:
        """What was said, if that may be JSON; else what is said in a looser format, and a refusal if that is prose again.

        A format that gives JSON where the stricter one did not is remembered when it happens again and again.
        """
        looser = dialect.plainer()
        if looser is None or not is_prose(found.text):
            self._count(missed=False)
            return found
        other = self._once(prompt, looser, prompt.max_tokens, stop, spent, 0)
        if isinstance(other, Problem):
            return found
        if other.stopped is None and holds_json(other.text):
            if self._count(missed=True):
                self._learn(looser)
                self._count(missed=False)
            return other
        return replace(found, stopped=Trouble.REFUSED, said=found.text) if is_prose(other.text) else found

    def _once(
        self, prompt: Prompt, dialect: Dialect, tokens: int, stop: Call, spent: list[Usage], retries: int | None
    ) -> Completion | Problem:
        """What the endpoint says in a dialect; its cost is added to `spent`."""

        def read(body: Mapping[str, object]) -> Completion | Problem:
            spent.append(usage_of(body))
            return read_completion(body)

        body, refuses = dialect.body(self._model, prompt, tokens), partial(_refuses, dialect)
        return self._endpoint.ask("chat", body, read, stop, settles=refuses, retries=retries)

    def _count(self, *, missed: bool) -> bool:
        """Count an ask that the strictest format missed; whether so many in a row did that it is no chance."""
        with self._lock:
            self._misses = self._misses + 1 if missed else 0
            return self._misses >= _MISSES

    def _learn(self, dialect: Dialect) -> None:
        with self._lock:
            self._dialect = self._dialect.joined(dialect)


def _refuses(dialect: Dialect, problem: Problem) -> bool:
    return dialect.without(problem) is not None


def _is_mute(problem: Problem) -> bool:
    """Whether the endpoint failed in a way that some show when they do not know a format: an error 500, or no words."""
    return problem.trouble is Trouble.EMPTY or (problem.trouble is Trouble.SERVER and problem.status == 500)
