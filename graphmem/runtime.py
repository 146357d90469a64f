"""The one clock, the one source of ids, and the one switch of the interpreter."""

from __future__ import annotations

import gc
import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import product
from json.encoder import encode_basestring
from typing import Protocol

MICROSECOND = timedelta(microseconds=1)


class Clock(Protocol):
    """Tells the system instant. Injected everywhere; nothing else asks the machine for the time."""

    def now(self) -> datetime:
        """The current instant, aware, in UTC."""
        ...


class SystemClock:
    """The machine's clock.

    >>> SystemClock().now().tzinfo
    datetime.timezone.utc
    """

    def now(self) -> datetime:
        return datetime.now(UTC)  # noqa: TID251 - the one place that may


class FixedClock:
    """A clock that stands still until it is told to move: for tests and reproducible examples.

    >>> clock = FixedClock("2026-01-15T12:00:00Z")
    >>> clock.advance(days=1)
    >>> clock.now().isoformat()
    '2026-01-16T12:00:00+00:00'
    """

    def __init__(self, instant: datetime | str) -> None:
        given = datetime.fromisoformat(instant) if isinstance(instant, str) else instant
        if given.tzinfo is None:
            raise ValueError(f"instant={instant!r}: a fixed clock needs an offset, for instance a trailing Z")
        self._now = given.astimezone(UTC)

    def now(self) -> datetime:
        return self._now

    def advance(self, **by: float) -> None:
        """Move by the keyword arguments of `datetime.timedelta` (days, hours, seconds ...)."""
        self._now += timedelta(**by)

    def set(self, instant: datetime) -> None:
        """Move to `instant`, backwards too."""
        self._now = instant.astimezone(UTC)


@contextmanager
def no_cycles_made() -> Iterator[None]:
    """Python's search for cycles put off to the end of the block, for short work that makes a great many values and no cycle.

    It would come again and again while the values grow in number, and find nothing. It is off for the whole process meanwhile.

    >>> with no_cycles_made():
    ...     gc.isenabled()
    False
    """
    if not gc.isenabled():  # another thread's block, or the caller's own choice
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


_CANONICAL = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))
# Ten bits at a time: several ids are made for every message, and the standard library's base32 takes bytes in Python.
_TEN_BITS = [a + b for a, b in product("abcdefghijklmnopqrstuvwxyz234567", repeat=2)]
_SHIFTS = range(120, -1, -10)


def canonical_json(value: object) -> str:
    """JSON with sorted keys and no spaces: equal values give equal strings."""
    return _CANONICAL.encode(value)


def digest(*parts: object) -> bytes:
    """SHA-256 of the canonical JSON of `parts`."""
    return _hashed(parts).digest()


def _hashed(parts: tuple[object, ...]) -> hashlib._Hash:
    plain = [encode_basestring(p) if type(p) is str else str(p) if type(p) is int else None for p in parts]
    # The same text; setting up an encoder costs more than the rest.
    text = canonical_json(parts) if None in plain else f"[{','.join(plain)}]"  # type: ignore[arg-type]
    return hashlib.sha256(text.encode("utf-8", "surrogatepass"))


def content_id(kind: str, *parts: object) -> str:
    """An id derived from content, so that the same log gives the same ids everywhere: `kind_` and 26 letters and digits.

    >>> content_id("ep", "main", "note-1") == content_id("ep", "main", "note-1")
    True
    """
    bits = int.from_bytes(digest(kind, *parts)[:17]) >> 6
    return f"{kind}_{''.join([_TEN_BITS[bits >> shift & 1023] for shift in _SHIFTS])}"


def content_uuid(*parts: object) -> str:
    """A UUID (version 8, RFC 9562) derived from content."""
    digits = _hashed(("uuid", *parts)).hexdigest()
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-8{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:32]}"
