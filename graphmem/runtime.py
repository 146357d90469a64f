"""The one clock and the one source of ids."""

from __future__ import annotations

import base64
import hashlib
import json
import uuid
from datetime import UTC, datetime, timedelta
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


_CANONICAL = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def canonical_json(value: object) -> str:
    """JSON with sorted keys and no spaces: equal values give equal strings."""
    return _CANONICAL.encode(value)


def digest(*parts: object) -> bytes:
    """SHA-256 of the canonical JSON of `parts`."""
    return hashlib.sha256(canonical_json(parts).encode("utf-8", "surrogatepass")).digest()


def content_id(kind: str, *parts: object) -> str:
    """An id derived from content, so that the same log gives the same ids everywhere: `kind_` and 26 letters and digits.

    >>> content_id("ep", "main", "note-1") == content_id("ep", "main", "note-1")
    True
    """
    return f"{kind}_{base64.b32encode(digest(kind, *parts))[:26].decode().lower()}"


def content_uuid(*parts: object) -> str:
    """A UUID (version 8, RFC 9562) derived from content."""
    raw = bytearray(digest("uuid", *parts)[:16])
    raw[6] = (raw[6] & 0x0F) | 0x80
    raw[8] = (raw[8] & 0x3F) | 0x80
    return str(uuid.UUID(bytes=bytes(raw)))
