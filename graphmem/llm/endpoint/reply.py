"""Reading a chat completion: the text of the answer, how it ended, what it cost."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from graphmem.endpoint.faults import Problem, Trouble
from graphmem.model import Usage

_LONGEST = 400_000
_THOUGHT_ENDS = ("</think>", "</thinking>", "</reasoning>")


@dataclass(frozen=True, slots=True)
class Completion:
    """An answer as it came; `stopped` is a trouble if that is how it ended."""

    text: str
    stopped: Trouble | None = None
    said: str = ""


def read_completion(body: Mapping[str, object]) -> Completion | Problem:
    """What a completion says. A body without a message, or with an empty one, is a problem that another try may mend."""
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(choice, Mapping) or not isinstance(message, Mapping):
        return Problem(Trouble.EMPTY)
    text = _text(message.get("content"))[:_LONGEST]
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal.strip():
        return Completion(text, Trouble.REFUSED, refusal)
    match choice.get("finish_reason"):
        case "content_filter":
            return Completion(text, Trouble.FILTERED)
        case "length" if not holds_json(text):
            return Completion(text, Trouble.TRUNCATED)
    return Completion(text) if text.strip() else Problem(Trouble.EMPTY)


def holds_json(text: str) -> bool:
    """Whether a text is, or has at its end or inside a fence, a JSON object or list that is whole.

    >>> holds_json('Sure! ```json\\n{"a": 1}\\n```'), holds_json('{"a": 1'), holds_json("I would rather not.")
    (True, False, False)
    """
    text, start = _opened(text)
    if start is None:
        return False
    try:
        json.JSONDecoder(strict=False).raw_decode(text, start)
    except (ValueError, RecursionError):
        return False
    return True


def is_prose(text: str) -> bool:
    """Whether a text has not even the beginning of a JSON object or list.

    >>> is_prose("I would rather not."), is_prose('{"a": 1')
    (True, False)
    """
    return _opened(text)[1] is None


def _opened(text: str) -> tuple[str, int | None]:
    """The text after the model's thoughts, and where the first object or list of it begins."""
    for mark in _THOUGHT_ENDS:
        text = text.rpartition(mark)[2]
    return text, min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=None)


def _text(content: object) -> str:
    """The text of a message, which may come in parts; halves of surrogate pairs are replaced, since no file can hold them."""
    if isinstance(content, list):
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    if not isinstance(content, str):
        return ""
    return content.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def usage_of(body: Mapping[str, object]) -> Usage:
    """One call, and the tokens that the endpoint counted for it; 0 where it says nothing."""
    given = body.get("usage")
    usage = given if isinstance(given, Mapping) else {}
    return Usage(1, _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")))


def _count(number: object) -> int:
    return number if isinstance(number, int) and not isinstance(number, bool) and 0 <= number < 2**40 else 0
