"""JSON out of whatever a language model wrote around it."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache

_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT_TAIL = re.compile(r"\A.*</(?:think|thinking|reasoning)>", re.DOTALL | re.IGNORECASE)
_TRAILING_COMMA = re.compile(r",(?=\s*[}\]])")
_LONGEST_KEY = 200
_MOST_KEYS = 500  # of a row; one with more is looked up by exact names only
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LOOSE_LIMIT = 200_000
_FAILURES = 20  # openings that open nothing, after which an answer holds no JSON: each costs a pass over the rest
_DECODER = json.JSONDecoder(strict=False)


def values(answer: object) -> Iterator[object]:
    """The JSON objects and lists of an answer, in the order they stand there; JSON inside a JSON string is read once more.

    Reasoning between think tags is left out; code fences and prose around do not matter; trailing commas and single quotes
    are forgiven.

    >>> list(values('<think>{"a": 0}</think> Sure: ```json\\n{"a": 1,}\\n```'))
    [{'a': 1}]
    """
    if isinstance(answer, Mapping | list):
        yield answer
    elif isinstance(answer, str):
        text = _THOUGHT_TAIL.sub("", _THOUGHT.sub("", answer.replace("\ufeff", ""))).strip()
        if text.startswith('"'):
            try:
                inner = json.loads(text, strict=False)
            except (ValueError, RecursionError):
                inner = None
            if isinstance(inner, str) and inner != answer:
                yield from values(inner)
                return
        yield from _inside(text)


def first(answer: object, usable: Callable[[object], object | None]) -> object | None:
    """The first JSON value of `answer` that `usable` turns into something other than None."""
    for value in values(answer):
        found = usable(value)
        if found is not None:
            return found
    return None


def field(row: Mapping[str, object], names: Iterable[str], default: object = None) -> object:
    """The value under the first of `names` that `row` has, spellings like "validAt" and "valid-at" being one.

    >>> field({"validAt": "2022"}, ("valid_at",))
    '2022'
    """
    for name in names:
        if name in row:
            return row[name]
    if len(row) > _MOST_KEYS:
        return default
    plain = {plain_key(key): value for key, value in row.items()}
    for name in names:
        if name in plain:
            return plain[name]
    return default


def whole(raw: object) -> int | None:
    """A whole number, also one written as text or with ".0"; None for anything else.

    >>> whole("3"), whole(3.0), whole(True), whole("3.5")
    (3, 3, None, None)
    """
    if isinstance(raw, bool):
        return None
    if isinstance(raw, str):
        text = raw.strip().removesuffix(".0")
        return int(text) if text.isdecimal() and len(text) < 9 else None
    if isinstance(raw, float):
        return int(raw) if raw.is_integer() and abs(raw) < 10**9 else None
    return raw if isinstance(raw, int) else None


def plain_key(key: object) -> str:
    """A key in lower case with underscores."""
    return _plain(str(key)[:_LONGEST_KEY])


@lru_cache(maxsize=1024)
def _plain(key: str) -> str:
    return _CAMEL.sub("_", key).replace("-", "_").replace(" ", "_").lower()


def _inside(text: str) -> Iterator[object]:
    position, failures = 0, 0
    while failures < _FAILURES and (start := _next_open(text, position)) is not None:
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            loose = _loose(text, start)
            value, end = loose if loose else (None, start + 1)
        if value is None:
            failures += 1
        else:
            yield value
        position = max(end, start + 1)


def _next_open(text: str, position: int) -> int | None:
    found = [at for at in (text.find("{", position), text.find("[", position)) if at >= 0]
    return min(found, default=None)


def _loose(text: str, start: int) -> tuple[object, int] | None:
    """The value that opens at `start`, read with trailing commas and single quotes forgiven, and where it ends."""
    end = _closing(text, start)
    if end is None or end - start > _LOOSE_LIMIT:
        return None
    piece = text[start:end]
    try:
        return json.loads(_TRAILING_COMMA.sub("", piece), strict=False), end
    except (ValueError, RecursionError):
        pass
    try:
        value = ast.literal_eval(
            re.sub(r"\b(null|true|false)\b", lambda m: {"null": "None", "true": "True", "false": "False"}[m[0]], piece)
        )
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None
    return (value, end) if isinstance(value, dict | list) else None


def _closing(text: str, start: int) -> int | None:
    """Just after the bracket that closes the one at `start`, brackets inside quotes left out."""
    depth, quote, position = 0, "", start
    while position < len(text):
        char = text[position]
        if quote:
            if char == "\\":
                position += 1
            elif char == quote:
                quote = ""
        elif char == '"' or (char == "'" and text[position - 1] in "{[:, \n"):
            quote = char
        elif char in "{[":
            depth += 1
        elif char in "}]":
            depth -= 1
            if depth == 0:
                return position + 1
        position += 1
    return None
