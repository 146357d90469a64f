"""All of a memory as a text for a prompt: its communities, the biggest and most relevant first, each with dated and cited facts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from itertools import zip_longest

from graphmem.model import CommunityVersion
from graphmem.search.context import Context, Line, chronological, fitted, line_of, oneline, short_ids, titled
from graphmem.search.hits import Hit
from graphmem.search.tokens import count_tokens as default_count

# Of the budget, topics themselves have a half, and each of them a quarter at most: the rest is for what they rest on.
_ALL_HEADS, _ONE_HEAD = 2, 4
_OTHERS = re.compile(r"^ and \d+ more\b")
_QUOTED = 159


@dataclass(frozen=True, slots=True)
class Topic:
    """A community with the facts that it tells of and that hold, the most telling first; `size` is how many belong to it."""

    hit: Hit
    size: int
    facts: tuple[Hit, ...] = ()


def overview(
    topics: Sequence[Topic],
    *,
    max_tokens: int,
    now: datetime,
    zone: tzinfo = UTC,
    count_tokens: Callable[[str], int] = default_count,
) -> Context:
    """As many of `topics` as fit into `max_tokens`, in their order: names, what they are about, and dated facts under each.

    First topics get a line, in half of the budget, then one after another a fact each, as long as there is room; what is left goes
    to further topics. So a small budget shows several topics, not one of them whole. What a fact's own line says is left out of
    its topic's. Facts stand oldest first, and what two of them say in the same words is told once.

    Never over budget by `count_tokens`, whose default counts rather too many than too few.
    """
    short = short_ids({i for topic in topics for fact in topic.facts for i in fact.citations})
    title = titled(now, zone)
    room = _Room(max_tokens - count_tokens(title), count_tokens)
    told = [_Told(topic) for topic in topics]
    room.keep = room.left // _ALL_HEADS
    for topic in told:
        topic.head = room.fitted(_head(topic.topic), max_tokens // _ONE_HEAD)
    room.keep = 0
    begun = [topic for topic in told if topic.head is not None]
    said: set[str] = set()
    for one_round in zip_longest(*(topic.topic.facts for topic in begun)):
        for topic, fact in zip(begun, one_round, strict=True):
            if fact is None or fact.text in said:
                continue
            if (line := room.fitted(_under(line_of(fact, short, now, zone)))) is not None:
                topic.facts.append(line)
                said.add(fact.text)
    for topic in told:
        topic.head = topic.head or room.fitted(_head(topic.topic), max_tokens // _ONE_HEAD)
    if told and all(topic.head is None for topic in told):
        told[0].head = room.fitted(_head(told[0].topic))  # a budget too small for several topics has one
    shown = [topic for topic in told if topic.head is not None]
    # Counts of parts need not add up to that of the whole, with a counter of the caller's.
    while shown and count_tokens(_assembled(title, shown)) > max_tokens:
        if shown[-1].facts:
            shown[-1].facts.pop()
        else:
            shown.pop()
    if not shown:
        return Context("")
    text = _assembled(title, shown)
    items = tuple(line.hit for topic in shown for line in topic.lines)
    used = {i for topic in shown for line in topic.facts for i in line.hit.citations}
    return Context(text, items, count_tokens(text), {short[i]: i for i in sorted(used)})


class _Room:
    """What is left of a budget; `keep` of it are not to be touched yet."""

    def __init__(self, left: int, count_tokens: Callable[[str], int]) -> None:
        self.left, self.keep, self._count = left, 0, count_tokens

    def fitted(self, line: Line, most: int | None = None) -> Line | None:
        """The line as far as it fits, which is then taken; None if it does not."""
        free = self.left - self.keep
        found = fitted(line, free if most is None else min(free, most), self._count)
        self.left -= 0 if found is None else self._count(f"\n{found.text}")
        return found


class _Told:
    """A topic on its way into the text."""

    def __init__(self, topic: Topic) -> None:
        self.topic = topic
        self.head: Line | None = None
        self.facts: list[Line] = []

    @property
    def lines(self) -> list[Line]:
        return [] if self.head is None else [self.head, *chronological(self.facts)]


def _assembled(title: str, shown: Sequence[_Told]) -> str:
    return "\n".join([title, *(line.text for topic in shown for line in topic.lines)])


def _head(topic: Topic) -> Line:
    """Name, size, and what is said besides the facts."""
    item = topic.hit.item
    assert isinstance(item, CommunityVersion)
    about = item.summary
    for fact in topic.facts:
        said = fact.text.strip().rstrip(".")
        for quoted in (said, f"{said[:_QUOTED].rstrip()}…"):
            about = about.replace(f". {quoted}.", ".")
    if about.startswith(item.name):
        about = _OTHERS.sub("", about[len(item.name) :]).lstrip(". ")
    head = f"- {oneline(item.name)} ({topic.size} members)"
    return Line(topic.hit, f"{head}: " if oneline(about) else head, oneline(about), "")


def _under(line: Line) -> Line:
    """The line of a fact, indented under its topic."""
    return replace(line, head=f"  {line.head}")
