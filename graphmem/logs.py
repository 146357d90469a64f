"""One line in the log for each thing that callers do: what, in which group, how much came of it, and how long it took.

INFO lines hold names of operations and groups, ids, counts, seconds and names of errors. What callers and their texts say
is in DEBUG lines alone. Nothing is printed unless the program that uses graphmem sets logging up.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from itertools import islice
from reprlib import Repr
from time import perf_counter
from typing import ParamSpec, TypeVar

from graphmem.communities.results import CommunityChanges
from graphmem.community import CommunityItem
from graphmem.ingest.copying import Copied
from graphmem.ingest.reembed import Reembedded
from graphmem.model import Usage
from graphmem.receipts import Receipt
from graphmem.results import EntityItem, EpisodeItem, Listing, WriteResult, WriteResults
from graphmem.search.context import Context
from graphmem.search.explained import Explanation, WhyNot

P = ParamSpec("P")
R = TypeVar("R")
Part = tuple[str, object]

_SECRET = ("api_key", "auth", "source_auth", "base_url")  # an address may hold a password
_LOGIN = re.compile(r"(?<=://)\S*@")
_MOST_GROUPS = 8
_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = 200

logging.getLogger("graphmem").addHandler(logging.NullHandler())


def logged(operation: Callable[P, R]) -> Callable[P, R]:
    """`operation` with a line at INFO when it ends, well or not, and its arguments at DEBUG when it begins.

    The logger is that of the operation's module: `graphmem.memory` for what writes, `graphmem.view` for what reads.
    """
    log, name = logging.getLogger(operation.__module__), operation.__name__

    @wraps(operation)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if not log.isEnabledFor(logging.INFO):
            return operation(*args, **kwargs)
        if log.isEnabledFor(logging.DEBUG):
            log.debug(
                "%s of %s",
                name,
                ", ".join([*map(_shown, args), *(f"{k}={'***' if k in _SECRET else _shown(v)}" for k, v in kwargs.items())]),
            )
        began = perf_counter()
        try:
            result = operation(*args, **kwargs)
        except BaseException as error:
            _tell(log, name, [*_groups(args, kwargs), ("failed", type(error).__name__)], perf_counter() - began)
            raise
        _tell(log, name, [*_groups(args, kwargs), *_counts(result)], perf_counter() - began)
        return result

    return call


def begun(module: str, operation: str, group: str, **counts: int | None) -> None:
    """A line for the beginning of what may take long."""
    log = logging.getLogger(module)
    if log.isEnabledFor(logging.INFO):
        _tell(log, operation, [("group", ascii(group)), ("begins", "yes"), *counts.items()])


def _tell(log: logging.Logger, operation: str, parts: list[Part], seconds: float | None = None) -> None:
    timed = parts if seconds is None else [*parts, ("seconds", f"{seconds:.3f}")]
    log.info("%s", " ".join([operation, *(f"{name}={value}" for name, value in timed if value is not None)]))


def _groups(args: tuple[object, ...], kwargs: Mapping[str, object]) -> Iterator[Part]:
    """The group of the call, else that of the memory or view it is called on; quoted, so that none can forge a line."""
    given = kwargs.get("group")
    if given is None:
        given = getattr(getattr(args[0] if args else None, "_scope", None), "groups", None)
    if given is not None:
        listed = given if isinstance(given, list | tuple) else (given,)
        yield "group", ",".join(ascii(g[:200]) if isinstance(g, str) else "?" for g in islice(listed, _MOST_GROUPS)) or "none"


def _counts(result: object) -> Iterator[Part]:
    """What came of it, in numbers and ids."""
    match result:
        case WriteResult():
            yield from (("id", result.id), *_written([result]))
        case WriteResults():
            yield "count", len(result)
            yield from _written(result) if result else ()
        case Listing() | list():
            yield "count", len(result)
        case Context():
            yield from (("count", len(result.items)), ("tokens", result.tokens))
        case Explanation():
            yield from (("id", result.id), ("rank", result.rank))
        case WhyNot():
            yield from (("id", result.id or None), ("reason", result.reason), ("rank", result.rank))
        case EntityItem() | EpisodeItem() | CommunityItem():
            yield "id", result.id
        case Reembedded() | Copied():
            yield from (("count", result.items), ("resumed", result.resumed))
        case CommunityChanges():
            yield from result.counts().items()
        case Receipt():
            yield from (("id", result.id), *result.counts().items())
        case dict():
            yield from ((name, count) for name, count in result.items() if isinstance(count, int))
        case str():
            yield "hash", result
        case _ if isinstance(item := getattr(result, "item", None), EntityItem):
            yield "id", item.id


def _written(results: Sequence[WriteResult]) -> Iterator[Part]:
    changes: Counter[str] = Counter()
    for result in results:
        changes.update(result.counts())
    yield from changes.items()
    yield "warnings", sum(len(r.warnings) for r in results)
    spent = sum((r.usage for r in results), Usage())
    if spent.calls:
        yield from (("calls", spent.calls), ("tokens_in", spent.input_tokens or None), ("tokens_out", spent.output_tokens or None))


def _shown(value: object) -> str:
    """The value in few characters, without a password in an address; also one whose own `repr` fails."""
    try:
        return _SHORT.repr(_LOGIN.sub("***@", value) if type(value) is str else value)
    except Exception:
        return f"<{type(value).__name__}>"
