"""What a language model is to graphmem: named questions in, JSON answers out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from graphmem.errors import AnswerFiltered, AnswerRefused, AnswerTruncated, AnswerUnusable, ModelError
from graphmem.model import Usage
from graphmem.runtime import digest


@dataclass(frozen=True, slots=True)
class Ask:
    """A question: the prompt's name and version, and the data it is about (JSON values only).

    `context` names the parts of the payload that only help to understand the rest.
    """

    prompt: str
    version: int
    payload: Mapping[str, object] = field(hash=False)
    context: tuple[str, ...] = field(default=(), repr=False, compare=False)
    key: str = field(init=False, repr=False, compare=False)
    """Equal questions have equal keys: recordings are found by it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", digest(self.prompt, self.version, dict(self.payload)).hex())

    @property
    def subject(self) -> str:
        """Equal for questions about the same, whatever context goes with it."""
        about = {name: value for name, value in self.payload.items() if name not in self.context}
        return digest("subject", self.prompt, self.version, about).hex()


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: a JSON value, or raw text to be read tolerantly; and what it cost.

    `failure` says what went wrong with this ask where others of the same call were answered.
    """

    value: object
    usage: Usage = Usage()
    failure: ModelError | None = None


class LanguageModel(Protocol):
    """Answers questions. `name` is kept with what it answered; `local` models answer at once, without waiting on a network.

    A model that answers several asks side by side says how many in an attribute `concurrency`; with a method
    `answer_each(asks, answered)`, which calls `answered(ask, answer)` for each as it comes, nothing that came is lost when a call
    is interrupted. One that has an opinion on some
    prompts only names them in an attribute `prompts`: it is asked nothing else.
    """

    name: str
    local: bool

    def answer(self, asks: Sequence[Ask]) -> list[Answer]:
        """One answer per ask, in order. Raises `ModelError`."""
        ...


_UNUSABLE = {kind.__name__: kind for kind in (AnswerTruncated, AnswerFiltered, AnswerRefused, AnswerUnusable)}
_MESSAGE = 300


def failure_row(failure: ModelError) -> dict[str, str] | None:
    """An answer that cannot be used as a recording keeps it; None for other failures, which another try may mend."""
    kind = next((name for name, kind in _UNUSABLE.items() if isinstance(failure, kind)), None)
    return None if kind is None else {"kind": kind, "message": str(failure)[:_MESSAGE]}


def failure_of(row: object) -> ModelError | None:
    """The failure that `failure_row` wrote; None where the row is none.

    >>> failure_of(failure_row(AnswerTruncated("ran out of tokens")))
    AnswerTruncated('ran out of tokens')
    """
    if not isinstance(row, Mapping):
        return None
    return _UNUSABLE.get(str(row.get("kind")), AnswerUnusable)(str(row.get("message", "")))


def prompts_of(model: LanguageModel) -> frozenset[str] | None:
    """The prompts that a model has an opinion on; None: all."""
    prompts = getattr(model, "prompts", None)
    return None if prompts is None else frozenset(prompts)
