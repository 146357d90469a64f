"""A language model that answers from a recording: real answers, replayed without a network."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from threading import Lock
from typing import BinaryIO

from graphmem.checks import path_of
from graphmem.errors import AnswerMissing, AnswerUnusable, InvalidInput
from graphmem.llm.base import Answer, Ask, LanguageModel, failure_of, failure_row
from graphmem.model import Usage

_HEADS = (b'{"key": "', b'{"failure": {')
"""How the lines begin."""


class RecordedModel:
    """Answers from a file of JSON lines, found by the ask's key; asks `model`, when given, for what is missing and records it.

    Without `model`, an ask that was never recorded raises `AnswerMissing`. A replayed answer costs no call, nor does one that
    the model refused or cut, which is recorded as that. It is asked every
    prompt, whatever `model` has an opinion on, so that a replay asks what was recorded.

    A last line that was being written when the process died is left out, and overwritten by what is recorded next. Raises
    `InvalidInput` for a path that cannot be read or written, and for a line that is no recorded answer.
    """

    def __init__(self, path: str | Path, model: LanguageModel | None = None) -> None:
        self.path, self._model = path_of("path", path), model
        self.name = model.name if model else f"recorded:{self.path.name}"
        self.local = model is None or model.local
        self.concurrency: int = getattr(model, "concurrency", 1)
        self._writing = Lock()
        self._answers: dict[str, Answer] = {}
        self._subjects: dict[str, str] = {}
        self._open_end: tuple[int, int] | None = None
        """How much to keep of a file whose last line has no end, and its size."""
        self._load()

    def answer(self, asks: Sequence[Ask]) -> list[Answer]:
        """One answer per ask, in order; new ones are on disk before this returns, or as they come where `model` hands them out."""
        return self.answer_each(asks, lambda ask, answer: None)

    def answer_each(self, asks: Sequence[Ask], answered: Callable[[Ask, Answer], None]) -> list[Answer]:
        """As `answer`; `answered` is called with each new ask and its answer as it comes, where `model` hands them out."""

        def came(ask: Ask, answer: Answer) -> None:
            self._record([ask], {ask.key: answer})
            answered(ask, answer)

        known = {ask.key: self._known(ask) for ask in asks}
        missing = list({ask.key: ask for ask in asks if known[ask.key] is None}.values())
        fresh: dict[str, Answer] = {}
        if missing:
            if self._model is None:
                ask = missing[0]
                raise AnswerMissing(
                    f"{self.path} has no answer to {ask.prompt!r} version {ask.version} (key {ask.key[:12]}); "
                    "record it with RecordedModel(path, model=...)"
                )
            fresh = {ask.key: answer for ask, answer in zip(missing, _answers(self._model, missing, came), strict=True)}
            self._record(missing, fresh)
        return [fresh.pop(a.key) if a.key in fresh and a.key in self._answers else self._again(a, known[a.key], fresh) for a in asks]

    def abandon(self, thread: int) -> None:
        """Ends what `model` is asked by a thread, where it can be ended."""
        abandon = getattr(self._model, "abandon", None)
        if abandon is not None:
            abandon(thread)

    def _again(self, ask: Ask, known: str | None, fresh: Mapping[str, Answer]) -> Answer:
        """What is recorded, which costs nothing; else the failure that was not."""
        return fresh[ask.key] if ask.key in fresh else self._answers[known or ask.key]

    def _known(self, ask: Ask) -> str | None:
        """The key of what was recorded for it: with the same context, else about the same."""
        return ask.key if ask.key in self._answers else self._subjects.get(ask.subject) if ask.context else None

    def _load(self) -> None:
        try:
            raw = self.path.read_bytes()
        except FileNotFoundError:
            return
        except (OSError, ValueError) as error:
            raise InvalidInput("path", str(self.path), f"cannot be read ({_why(error)})") from error
        *lines, last = raw.split(b"\n")
        for number, line in enumerate(lines, 1):
            self._read(line, number)
        if not last:
            return
        keep = len(raw)
        try:
            self._read(last, len(lines) + 1)
        except InvalidInput:
            begun = last.removeprefix(BOM_UTF8)
            if not any(begun.startswith(head) or head.startswith(begun) for head in _HEADS):
                raise  # no line that was being written: the file is something else
            keep -= len(last)
        self._open_end = keep, len(raw)

    def _read(self, line: bytes, number: int) -> None:
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            if not text.strip():
                return
            row = json.loads(text)
            self._answers.setdefault(row["key"], Answer(row["value"], failure=failure_of(row.get("failure"))))
            if "subject" in row:
                self._subjects.setdefault(row["subject"], row["key"])
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise InvalidInput("path", f"{self.path}:{number}", f"is not a recorded answer: {error}") from error

    def _record(self, asks: Sequence[Ask], answers: dict[str, Answer]) -> None:
        try:
            self._write(asks, answers)
        except OSError as error:
            raise InvalidInput("path", str(self.path), f"cannot be written ({_why(error)})") from error

    def _write(self, asks: Sequence[Ask], answers: dict[str, Answer]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._writing, self.path.open("ab") as lines:
            self._close_end(lines)
            for ask in asks:
                if ask.key in self._answers:
                    continue
                answer = answers[ask.key]
                usage: Usage = answer.usage
                row = {"key": ask.key, "prompt": ask.prompt, "version": ask.version, "value": answer.value, "usage": asdict(usage)}
                if answer.failure is not None:
                    failure = failure_row(answer.failure)
                    if failure is None:
                        continue
                    row["failure"] = failure
                if ask.context:
                    row["subject"] = ask.subject
                    self._subjects.setdefault(ask.subject, ask.key)
                lines.write(json.dumps(row, sort_keys=True).encode("ascii") + b"\n")
                self._answers[ask.key] = Answer(answer.value, failure=answer.failure)

    def _close_end(self, lines: BinaryIO) -> None:
        """So that what is written begins a line; a file that others wrote to meanwhile is left as they left it."""
        if self._open_end is not None and self._open_end[1] == lines.tell():
            keep, size = self._open_end
            lines.truncate(keep)
            if keep == size:
                lines.write(b"\n")
        self._open_end = None


def _why(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)


def _answers(model: LanguageModel, asks: Sequence[Ask], came: Callable[[Ask, Answer], None]) -> list[Answer]:
    """What the model answers; where it raises that the answer to one question cannot be used, that is its answer."""
    try:
        each = getattr(model, "answer_each", None)
        return model.answer(asks) if each is None else list(each(asks, came))
    except AnswerUnusable as error:
        if len(asks) == 1:
            return [Answer(None, error.usage or Usage(), error)]
        first, *others = [answer for ask in asks for answer in _answers(model, [ask], came)]
        return [replace(first, usage=first.usage + (error.usage or Usage())), *others]
