"""A language model that answers from a script: the test double for people who test against graphmem."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from graphmem.errors import AnswerMissing
from graphmem.llm.base import Answer, Ask
from graphmem.model import Usage

Script = Callable[[Ask], object] | Sequence[object] | Mapping[str, object] | str
"""Per prompt: a list (its answers, in turn), a function of the ask, or one value that answers every ask."""


class ScriptedModel:
    """Answers each prompt by its name from `script` and keeps every ask in `asks`.

    A list is used up in order, a callable is called with the ask, anything else answers every time. An ask that the script
    does not foresee raises `AnswerMissing` with the prompt's name; an exception in a list is raised in its turn. `prompts` names
    those that it is to be asked at all; without it, all.

    >>> model = ScriptedModel({"extract": [{"entities": [{"name": "Mira"}], "facts": []}]})
    >>> model.answer([Ask("extract", 1, {"text": "Mira is here."})])[0].value["entities"][0]["name"]
    'Mira'
    >>> model.done()
    """

    def __init__(
        self,
        script: Mapping[str, Script] | None = None,
        *,
        name: str = "scripted",
        local: bool = True,
        prompts: Iterable[str] | None = None,
    ) -> None:
        self.name, self.local = name, local
        self.prompts = None if prompts is None else frozenset(prompts)
        self.asks: list[Ask] = []
        self._script = dict(script or {})
        self._used: dict[str, int] = {}

    def answer(self, asks: Sequence[Ask]) -> list[Answer]:
        """One scripted answer per ask, in order; each counts as one call."""
        return [self._one(ask) for ask in asks]

    def asked(self, prompt: str) -> list[Ask]:
        """The asks of this prompt so far, in order."""
        return [ask for ask in self.asks if ask.prompt == prompt]

    def done(self) -> None:
        """Raises `AssertionError` when a list has answers that nothing asked for."""
        for prompt, answers in self._script.items():
            left = len(answers) - self._used.get(prompt, 0) if isinstance(answers, list | tuple) else 0
            if left:
                raise AssertionError(f"{left} scripted answer(s) to {prompt!r} were never asked for")

    def _one(self, ask: Ask) -> Answer:
        self.asks.append(ask)
        if ask.prompt not in self._script:
            raise AnswerMissing(f"the script has no answers to the prompt {ask.prompt!r}; it has {sorted(self._script)}")
        script = self._script[ask.prompt]
        if callable(script):
            value = script(ask)
        elif isinstance(script, list | tuple):
            used = self._used.get(ask.prompt, 0)
            if used >= len(script):
                raise AnswerMissing(f"the script has {len(script)} answer(s) to the prompt {ask.prompt!r}, and this is ask {used + 1}")
            self._used[ask.prompt] = used + 1
            value = script[used]
        else:
            value = script
        if isinstance(value, BaseException):
            raise value
        return value if isinstance(value, Answer) else Answer(value, Usage(calls=1))
