"""A context in tiers: the person asked about, topics, facts and turns, and what was said last, each with a share of one budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, tzinfo

from graphmem.search.context import Context, Line, chronological, fitted, line_of, short_ids, titled
from graphmem.search.hits import Hit
from graphmem.search.tokens import count_tokens as default_count

TIERS = {"profile": 0.25, "topics": 0.15, "facts": 0.4, "recent": 0.2}
"""What a context may be made of, in the order shown, and the share of the budget that each can count on."""
_LABELS = {"profile": "Who is asked about:", "topics": "Topics:", "facts": "Facts and turns:", "recent": "Said last:"}
# Who gets what others leave.
_FIRST_SERVED = ("facts", "recent", "profile", "topics")
_CITED = 3


def tiered(
    tiers: Mapping[str, Sequence[Hit]],
    *,
    max_tokens: int,
    now: datetime,
    zone: tzinfo = UTC,
    count_tokens: Callable[[str], int] = default_count,
) -> Context:
    """The best of each tier that fit into `max_tokens` together, under a label each; tiers without a line have none.

    A tier can count on its share (`TIERS`); what others leave goes to facts, to what was said last, then to the others. What
    stands in an earlier tier is not told again. Lines are as in `context`: within a tier oldest first, those without a date before.

    Never over budget by `count_tokens`, whose default counts rather too many than too few.
    """
    once = dict(_once(tiers))
    short = short_ids({i for hits in once.values() for hit in hits for i in hit.citations})
    title = titled(now, zone)
    left = max_tokens - count_tokens(title)
    shares = sum(TIERS[tier] for tier in once) or 1.0
    packing = {
        tier: _Packing(tier, [line_of(_cited(tier, hit), short, now, zone) for hit in hits], count_tokens) for tier, hits in once.items()
    }
    for tier, packed in packing.items():
        packed.fill(int(left * TIERS[tier] / shares))
    for tier in _FIRST_SERVED:
        if tier in packing:
            packing[tier].fill(left - sum(packed.spent for name, packed in packing.items() if name != tier))
    chosen = [packed for packed in packing.values() if packed.lines]
    # Counts of parts need not add up to that of the whole, with a counter of the caller's.
    while chosen and count_tokens(_assembled(title, chosen)) > max_tokens:
        chosen[-1].lines.pop()
        chosen = [packed for packed in chosen if packed.lines]
    if not chosen:
        return Context("")
    text = _assembled(title, chosen)
    items = tuple(line.hit for packed in chosen for line in chronological(packed.lines))
    used = {i for hit in items for i in hit.citations}
    return Context(text, items, count_tokens(text), {short[i]: i for i in sorted(used)})


class _Packing:
    """A tier on its way into the text."""

    def __init__(self, tier: str, waiting: Sequence[Line], count_tokens: Callable[[str], int]) -> None:
        self.label, self.lines, self.spent = _LABELS[tier], list[Line](), 0
        self._waiting, self._count = list(waiting), count_tokens

    def fill(self, budget: int) -> None:
        """Take what fits, the best first."""
        for line in list(self._waiting):
            label = 0 if self.lines else self._count(f"\n{self.label}")
            fitting = fitted(line, budget - self.spent - label, self._count)
            if fitting is not None:
                self.lines.append(fitting)
                self._waiting.remove(line)
                self.spent += label + self._count(f"\n{fitting.text}")


def _assembled(title: str, chosen: Sequence[_Packing]) -> str:
    return "\n".join([title, *(text for packed in chosen for text in (packed.label, *(line.text for line in chronological(packed.lines))))])


def _once(tiers: Mapping[str, Sequence[Hit]]) -> Iterator[tuple[str, list[Hit]]]:
    """In the order shown, each hit in the first of its tiers."""
    told: set[tuple[str, str]] = set()
    for tier in TIERS:
        fresh = [hit for hit in tiers.get(tier, ()) if (hit.kind.value, hit.id) not in told]
        told |= {(hit.kind.value, hit.id) for hit in fresh}
        if fresh:
            yield tier, fresh


def _cited(tier: str, hit: Hit) -> Hit:
    """A topic rests on many episodes: the first are cited."""
    return replace(hit, citations=hit.citations[:_CITED]) if tier == "topics" else hit
