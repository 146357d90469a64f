"""What a language model is to graphmem: named questions in, JSON answers out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from graphmem.model import Usage
from graphmem.runtime import digest


@dataclass(frozen=True, slots=True)
class Ask:
    """A question: the prompt's name and version, and the data it is about (JSON values only)."""

    prompt: str
    version: int
    payload: Mapping[str, object] = field(hash=False)
    key: str = field(init=False, repr=False, compare=False)
    """Equal questions have equal keys: recordings are found by it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", digest(self.prompt, self.version, dict(self.payload)).hex())


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: a JSON value, or raw text to be read tolerantly; and what it cost."""

    value: object
    usage: Usage = Usage()


class LanguageModel(Protocol):
    """Answers questions. `name` is kept with what it answered; `local` models answer at once, without waiting on a network."""

    name: str
    local: bool

    def answer(self, asks: Sequence[Ask]) -> list[Answer]:
        """One answer per ask, in order. Raises `ModelError`."""
        ...
