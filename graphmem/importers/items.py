"""What importers give: episodes, each with the place it is from, and how they are to be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from functools import lru_cache

from graphmem.errors import InvalidInput
from graphmem.instants import Instant, read_instant, zone_of
from graphmem.names import clean
from graphmem.runtime import MICROSECOND, digest

USER = "user"
MAX_LABEL = 200
MAX_ID = 120


@dataclass(frozen=True)
class Item:
    """An episode as `Memory.add_many` takes it, and the place it is from: a file, and where in it."""

    place: str
    row: Mapping[str, object]


@dataclass(frozen=True)
class Options:
    """How exports are read. `me` is the name of whoever talks to an assistant, where the export does not say it."""

    format: str | None = None
    timezone: str = "UTC"
    dayfirst: bool | None = None
    me: str | None = None
    branches: bool = False

    @property
    def zone(self) -> tzinfo:
        return zone_of(self.timezone)

    def instant(self, value: object) -> datetime | None:
        """Seconds since 1970, or ISO 8601, on the clocks of the zone; None for what is neither."""
        try:
            if isinstance(value, str):
                read = datetime.fromisoformat(value.strip())
                return (read if read.tzinfo is not None else read.replace(tzinfo=UTC)).astimezone(self.zone)
            if isinstance(value, int | float) and not isinstance(value, bool):
                return datetime.fromtimestamp(value, UTC).astimezone(self.zone)
        except (ValueError, OverflowError, OSError):
            return None
        return None


@dataclass(frozen=True)
class Conversation:
    """What the messages of one conversation share."""

    session: str
    source: str

    def message(self, place: str, actor: str, text: str, at: datetime | None, key: str) -> Item:
        """A message of it as an episode."""
        row: dict[str, object] = {"kind": "message", "actor": label(actor), "text": text, "session": label(self.session)}
        row |= {"source": label(self.source), "key": key}
        return Item(place, row if at is None else {**row, "reference_time": at})


class Times:
    """When the messages of one conversation were said: one without a time of its own, with the one before, or its conversation.

    Each that cannot be read is counted in `left_out`.
    """

    LOST = "messages whose time cannot be read"

    def __init__(self, options: Options, left_out: Counter[str], began: object) -> None:
        self._options, self._left_out = options, left_out
        self._at: datetime | None = None
        self._unread = False
        self.of(began)

    def of(self, given: object) -> datetime | None:
        """The time of the next message; None where none is known."""
        at = self._options.instant(given)
        if at is None and given is not None:
            self._unread = True
            self._left_out["times that cannot be read"] += 1
        self._at = at or self._at
        return self._at

    @property
    def lost(self) -> bool:
        """Whether the time of that message is given, and cannot be read: one without a time is another matter."""
        return self._at is None and self._unread


def no_conversation(place: str, service: str) -> InvalidInput:
    """The error for files in which nothing is a conversation: they are empty, or another service's."""
    return InvalidInput(place, None, f"holds no conversation of {service}; leave out --format or name another, or export it again")


@lru_cache(maxsize=4096)
def label(text: str) -> str:
    """A name, title or address on one line, cut to a length at which it is still one; "unnamed" if nothing of it shows."""
    shown = clean(text[: 4 * MAX_LABEL])
    return shown if 0 < len(shown) <= MAX_LABEL else f"{shown[: MAX_LABEL - 1]}…" if shown else "unnamed"


def ident(*values: object) -> str:
    """The first of these that can be an id, as text; "" if none can."""
    return next((str(v) for v in values if isinstance(v, str | int | float) and v != ""), "")


def key_of(*parts: str) -> str:
    """A key of the source's own ids; one that is too long to be an id is known by its digest."""
    return "/".join(p if len(p) <= MAX_ID else digest(p).hex()[:32] for p in parts)


def shows(text: str) -> bool:
    """Whether there is a visible character in it: what has none is no episode."""
    return bool(clean(text))


def in_order_of_time(items: Sequence[Item], timezone: str = "UTC") -> list[Item]:
    """By reference time, each recorded at that instant, or a microsecond after the one before where that is not later.

    Raises `InvalidInput` naming the place of an episode that has no time.
    """
    zone = zone_of(timezone)
    timed: list[tuple[datetime, Item]] = []
    for item in items:
        if item.row.get("reference_time") is None:
            raise InvalidInput(f"{item.place}: reference_time", None, "an archive needs the time of every episode")
        given: Instant = item.row["reference_time"]  # type: ignore[assignment]
        timed.append((read_instant(given, zone, f"{item.place}: reference_time")[0], item))
    timed.sort(key=lambda pair: pair[0])
    ordered: list[Item] = []
    last: datetime | None = None
    for instant, item in timed:
        last = instant if last is None or instant > last else last + MICROSECOND
        ordered.append(replace(item, row={**item.row, "recorded_at": last}))
    return ordered
