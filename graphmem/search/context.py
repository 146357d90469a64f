"""What was found, as a text for a prompt: dated, cited, in order of time, within a budget of tokens."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo

from graphmem.interval import FIRST, in_zone
from graphmem.model import CommunityVersion, EntityVersion, Episode, FactVersion
from graphmem.search.hits import Hit
from graphmem.search.pieces import RECORDS, readable
from graphmem.search.tokens import count_tokens as default_count
from graphmem.shown import Record, Row, escaped

# A text's own lines are marked: none of them can be taken for a line of the memory.
_NEXT_LINE = "\n  | "
_CUT = " …"
_LEAST_CUT = 24


@dataclass(frozen=True, slots=True)
class Context(Record):
    """A text, the hits it shows (in the order shown), its tokens, and what its short citations stand for (episode ids)."""

    text: str
    items: tuple[Hit, ...] = ()
    tokens: int = 0
    citations: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<Context of {len(self.items)} items, {self.tokens} tokens>"

    def _repr_html_(self) -> str:
        return f"<pre>{escaped(self.text)}</pre>"

    def to_dict(self) -> dict[str, object]:
        """Plain JSON values."""
        return {"text": self.text, "tokens": self.tokens, "citations": dict(self.citations), "items": [dict(r) for r in self._rows()]}

    def _rows(self) -> Sequence[Row]:
        return [{"kind": h.kind.value, "id": h.id, "text": h.text, "score": h.score, "episodes": list(h.citations)} for h in self.items]


@dataclass(frozen=True, slots=True)
class Line:
    """A hit as a line: what stands before its own words, these, and what stands after. A cut shortens the words alone."""

    hit: Hit
    head: str
    words: str
    tail: str

    @property
    def text(self) -> str:
        return f"{self.head}{self.words}{self.tail}"


def context(
    hits: Sequence[Hit], *, max_tokens: int, now: datetime, zone: tzinfo = UTC, count_tokens: Callable[[str], int] = default_count
) -> Context:
    """The best of `hits` that fit into `max_tokens`, shown oldest first.

    Turns are verbatim, with speaker, date and days since; facts with their valid time, and marked where it is over or
    the fact is believed no more. Every line cites its episodes by short ids. A turn that alone is too long is cut and
    marked. `hits` come best first: what does not fit is left out from the end, shorter later ones may still fit.

    Never over budget by `count_tokens`, whose default counts rather too many than too few.
    """
    short = short_ids({i for hit in hits for i in hit.citations})
    title = titled(now, zone)
    budget = max_tokens - count_tokens(title)
    chosen: list[Line] = []
    for hit in hits:
        line = line_of(hit, short, now, zone)
        spent = sum(count_tokens(f"\n{kept.text}") for kept in chosen)
        fitting = fitted(line, budget - spent, count_tokens)
        if fitting is not None:
            chosen.append(fitting)
    # Counts of parts need not add up to that of the whole, with a counter of the caller's.
    while chosen and count_tokens(_assembled(title, chosen)) > max_tokens:
        chosen.pop()
    if not chosen:
        return Context("")
    text = _assembled(title, chosen)
    used = {i for line in chosen for i in line.hit.citations}
    return Context(text, tuple(line.hit for line in chronological(chosen)), count_tokens(text), {short[i]: i for i in sorted(used)})


def titled(now: datetime, zone: tzinfo) -> str:
    """The first line of every context."""
    return f"Known as of {in_zone(now, zone).date().isoformat()}:"


def _assembled(title: str, lines: Sequence[Line]) -> str:
    return "\n".join([title, *(line.text for line in chronological(lines))])


def chronological(lines: Sequence[Line]) -> list[Line]:
    """Entities and communities first, then by date (facts: start of valid time, unknown ones first), then by rank."""
    return sorted(lines, key=lambda line: (not isinstance(line.hit.item, EntityVersion | CommunityVersion), line.hit.dates[0] or FIRST))


def fitted(line: Line, budget: int, count_tokens: Callable[[str], int]) -> Line | None:
    """The line, or the longest beginning of it worth showing that fits, or None."""
    if count_tokens(f"\n{line.text}") <= budget:
        return line
    low, high = 0, len(line.words)
    while low < high:
        middle = (low + high + 1) // 2
        if count_tokens(f"\n{_shortened(line, middle).text}") <= budget:
            low = middle
        else:
            high = middle - 1
    cut = _shortened(line, low)
    return cut if isinstance(line.hit.item, Episode | CommunityVersion) and len(cut.words) >= _LEAST_CUT else None


def _shortened(line: Line, length: int) -> Line:
    kept = line.words[:length]
    at_word = kept.rpartition(" ")[0]
    return replace(line, words=(at_word if len(at_word) > length // 2 else kept).rstrip() + _CUT)


def line_of(hit: Hit, short: Mapping[str, str], now: datetime, zone: tzinfo) -> Line:
    """The hit as a line, cited by short ids."""
    cited = f" [{', '.join(short[i] for i in hit.citations)}]" if hit.citations else ""
    match hit.item:
        case Episode():
            said = hit.item.reference_time
            speaker = f"{hit.item.actor}: " if hit.item.actor else ""
            record = hit.item.kind in RECORDS
            words = "; ".join(_lines(readable(hit.item.kind, hit.text))) if record else _NEXT_LINE.join(_lines(hit.text))
            return Line(hit, f"- {in_zone(said, zone).date().isoformat()} ({_elapsed(said, now)}) {speaker}", words, cited)
        case FactVersion():
            return Line(hit, f"- {_period(hit.item, now, zone)}: ", oneline(hit.text), cited)
        case CommunityVersion():
            return Line(hit, "- ", oneline(hit.text), cited)
        case _:
            also = f", also called {', '.join(hit.item.aliases)}" if hit.item.aliases else ""
            return Line(hit, "- ", oneline(f"{hit.text}{also}"), cited)


def oneline(text: str) -> str:
    """Without line breaks: nothing in it can be taken for a line of the memory."""
    return " ".join(_lines(text))


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]


def _period(fact: FactVersion, now: datetime, zone: tzinfo) -> str:
    """ "since 2022 (870 days ago)", "2019 to 2021, ended 870 days ago", "until 2020, ended …", "at any time"."""
    start, end = fact.valid.start, fact.valid.end
    first = fact.start.shown(start, zone)
    last = fact.end.shown(end, zone, is_end=True)
    shown = f"{first} to {last}" if first and last else f"since {first}" if first else f"until {last}" if last else "at any time"
    if end is not None and end <= now:
        shown += f", ended {_elapsed(end, now)}"
    elif start is not None:
        shown += f" ({_elapsed(start, now)})"
    if fact.system.end is not None and fact.system.end <= now:
        shown += ", believed no more"
    return shown


def _elapsed(then: datetime, now: datetime) -> str:
    days = (now - then).days if then <= now else -((then - now).days)
    if days == 0:
        return "today" if then <= now else "within a day"
    return f"{days} day{'s' * (days != 1)} ago" if days > 0 else f"in {-days} day{'s' * (days != -1)}"


def short_ids(ids: Collection[str]) -> dict[str, str]:
    """Each id's shortest beginning, of at least nine characters, that no other of them has."""
    short: dict[str, str] = {}
    for i in ids:
        length = 9
        while length < len(i) and any(other != i and other.startswith(i[:length]) for other in ids):
            length += 1
        short[i] = i[:length]
    return short
