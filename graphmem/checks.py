"""Arguments as callers give them: each check gives the value back, or raises `InvalidInput` that names it and says what is allowed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import TypeVar

from graphmem.errors import InvalidInput

T = TypeVar("T")
UNBOUNDED = 2**53
"""As many as there can be of anything: a larger bound is this one, which every store can count to."""


def flag(argument: str, value: object) -> bool:
    """`value`, True or False: "no" is neither.

    >>> flag("closed", True)
    True
    """
    if not isinstance(value, bool):
        raise InvalidInput(argument, value, "must be True or False")
    return value


def positive(argument: str, value: object) -> int:
    """`value`, an integer of 1 or more."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InvalidInput(argument, value, "must be an integer of 1 or more")
    return min(value, UNBOUNDED)


def natural(argument: str, value: object) -> int:
    """`value`, an integer of 0 or more."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise InvalidInput(argument, value, "must be an integer of 0 or more")
    return min(value, UNBOUNDED)


def most(limit: object) -> int | None:
    """`limit` of a listing, an integer of 0 or more; None: no limit."""
    return None if limit is None else natural("limit", limit)


def text(argument: str, value: object) -> str:
    """`value`, a str."""
    if not isinstance(value, str):
        raise InvalidInput(argument, value, "must be a str")
    return value


def texts(argument: str, value: object, allowed: str = "must be a str, or a list of them") -> tuple[str, ...]:
    """One str, or several, as a tuple.

    >>> texts("relations", "lives_in"), texts("relations", ["lives_in", "knows"])
    (('lives_in',), ('lives_in', 'knows'))
    """
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Iterable) and not isinstance(value, bytes | bytearray | Mapping):
        given = tuple(value)
        if all(isinstance(one, str) for one in given):
            return given
    raise InvalidInput(argument, value, allowed)


def texts_or_none(argument: str, value: object) -> tuple[str, ...] | None:
    """As `texts`; None where nothing is asked for."""
    return None if value is None else texts(argument, value)


def items(argument: str, value: Iterable[T], what: str) -> Iterable[T]:
    """`value`, several things that can be gone through; `what` they are, for the message."""
    if not isinstance(value, Iterable) or isinstance(value, str | bytes | bytearray | Mapping):
        raise InvalidInput(argument, value, f"must be a list of {what}")
    return value


def check_known(given: Mapping[str, object], declared: type) -> None:
    """Refuse keyword arguments that are none of those a `TypedDict` declares: nothing would look at them."""
    known = declared.__annotations__
    if unknown := sorted(set(given) - known.keys()):
        raise TypeError(f"unexpected keyword arguments {', '.join(unknown)}; there are {', '.join(known)}")


def path_of(argument: str, value: object) -> Path:
    """`value` as a path."""
    found = fspath(value) if isinstance(value, str | PathLike) else None
    if not isinstance(found, str):
        raise InvalidInput(argument, value, "must be a path, a str or a Path")
    return Path(found)
