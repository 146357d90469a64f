"""What `explain` and `why_not` give back: why an item was found, and what kept one out. Bounded, however long the texts are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import Enum

from graphmem.shown import Record, Row, escaped

SHOWN = 160
Lines = list[tuple[str, str]]


def cut(text: str, limit: int = SHOWN) -> str:
    """`text` on one line, at most `limit` characters."""
    line = " ".join(text[: 8 * limit].split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def shown_instant(moment: datetime | None) -> str:
    """An instant for people, in UTC, to the minute; a bare date where it is a midnight; "…" for an open bound."""
    if moment is None:
        return "…"
    day = moment.date().isoformat()
    return day if moment.time() == moment.min.time() else f"{day} {moment:%H:%M}"


def shown_interval(start: datetime | None, end: datetime | None) -> str:
    """Both bounds; the second is not included."""
    return f"{shown_instant(start)} to {shown_instant(end)}"


@dataclass(frozen=True, slots=True)
class LegRank:
    """What one leg said of an item: its rank there (1 is best) and raw score, or why it has none."""

    leg: str
    rank: int | None = None
    score: float | None = None
    note: str = ""

    def __str__(self) -> str:
        place = "-" if self.rank is None else f"rank {self.rank}"
        raw = "" if self.score is None else f", score {self.score:.2f}"
        return f"{place}{raw}{f' ({self.note})' if self.note else ''}"


@dataclass(frozen=True, slots=True)
class Feature:
    """One feature of an episode, its trained weight, and the product of the two, which is its part of the score."""

    name: str
    value: float
    weight: float

    @property
    def part(self) -> float:
        return self.value * self.weight


@dataclass(frozen=True, slots=True)
class Step:
    """One hop of the graph: a fact crossed from one entity to another, `forward` if from its source to its target."""

    start: str
    relation: str
    end: str
    forward: bool
    hop: int
    fact: str

    def __str__(self) -> str:
        relation = cut(self.relation, 60)
        return f"-{relation}-> {cut(self.end, 60)}" if self.forward else f"<-{relation}- {cut(self.end, 60)}"


@dataclass(frozen=True, slots=True)
class Path:
    """How the graph reached an item: the seed, how the question led to it ("name", "meaning"), and the facts crossed."""

    seed: str
    by: str
    steps: tuple[Step, ...] = ()

    def __str__(self) -> str:
        seed = f"{cut(self.seed, 60)} ({'named in the question' if self.by == 'name' else 'close to it in meaning'})"
        return " ".join([seed, *map(str, self.steps)])


@dataclass(frozen=True, slots=True)
class Cited:
    """A place that an item rests on: the episode, who said it when, the sentence, and its characters `[start, end)` in the body."""

    episode: str
    text: str
    actor: str | None = None
    said: datetime | None = None
    span: tuple[int, int] | None = None
    by: str = ""

    def __str__(self) -> str:
        who = f"{cut(self.actor, 60)}, " if self.actor else ""
        when = f"{shown_instant(self.said)}: " if self.said else ""
        place = f" characters {self.span[0]}-{self.span[1]}" if self.span else ""
        return f"{who}{when}{cut(self.text)!r} [{self.episode}{place}]"


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether an item counts at the point read, and why.

    `code` is "current", "not_yet_known", "not_yet_true", "superseded", "ended", "corrected", "merged" or "forgotten"; `because` is
    the sentence behind that, `by` the id of the fact, assertion or operation. `axis` is "valid" or "system" where it does not count.
    """

    code: str
    text: str
    because: Cited | None = None
    by: str = ""
    axis: str = ""

    @property
    def current(self) -> bool:
        return self.code == "current"

    def __str__(self) -> str:
        return f"{self.text}{f'; {self.because}' if self.because else ''}"


@dataclass(frozen=True, slots=True)
class Dates:
    """Both axes of a fact; of an entity the system axis; of an episode when it was said and recorded. None: open or unknown."""

    valid_at: datetime | None = None
    invalid_at: datetime | None = None
    created_at: datetime | None = None
    expired_at: datetime | None = None
    said: datetime | None = None

    def lines(self, kind: str) -> Lines:
        found = [("holds", shown_interval(self.valid_at, self.invalid_at))] if kind == "fact" else []
        if self.said is not None:
            found.append(("said", shown_instant(self.said)))
        return [*found, ("believed", shown_interval(self.created_at, self.expired_at))]


class _Told(Record):
    """Shared: the same lines as text, as a table and as plain values."""

    __slots__ = ()

    def lines(self) -> Lines:
        raise NotImplementedError

    def __str__(self) -> str:
        head, *rest = self.lines()
        width = max((len(name) for name, _ in rest), default=0)
        return "\n".join([f"{head[0]} {head[1]}".rstrip(), *(f"  {name:<{width}}  {text}" for name, text in rest)])

    def _repr_html_(self) -> str:
        head, *rest = self.lines()
        body = "".join(f"<tr><th>{escaped(name)}</th><td>{escaped(text)}</td></tr>" for name, text in rest)
        return f"<table><caption>{escaped(f'{head[0]} {head[1]}')}</caption><tbody>{body}</tbody></table>"

    def _rows(self) -> Sequence[Row]:
        return [{"part": name, "text": text} for name, text in self.lines()]

    def to_dict(self) -> dict[str, object]:
        """Plain JSON values."""
        plain = _plain(asdict(self))  # type: ignore[call-overload]
        assert isinstance(plain, dict)
        return plain


@dataclass(frozen=True, slots=True)
class Explanation(_Told):
    """Why an item was found by a search, and what it rests on. Without a query: what it rests on alone.

    `rank` is its place in the result, `rank_before` its place before reranking. `legs` are in the order in which they are
    asked. `features` are an episode's, the largest part of the score first. `path` is how the graph reached it. `citations` are
    the first of `cited` in all.
    """

    kind: str
    id: str
    text: str
    standing: Standing
    dates: Dates
    query: str | None = None
    rank: int | None = None
    score: float | None = None
    rank_before: int | None = None
    legs: tuple[LegRank, ...] = ()
    features: tuple[Feature, ...] = ()
    path: Path | None = None
    citations: tuple[Cited, ...] = ()
    cited: int = 0
    filters: tuple[str, ...] = ()

    def __repr__(self) -> str:
        place = f" rank {self.rank}" if self.rank is not None else ""
        return f"<Explanation of {self.kind} {cut(self.text, 50)!r}:{place} {self.standing.code}>"

    def lines(self) -> Lines:
        """Name and text of each part, the item first."""
        found: Lines = [(self.kind, cut(self.text))]
        if self.query is not None:
            found.append(("asked", repr(cut(self.query))))
            moved = f"; before reranking {self.rank_before}" if self.rank_before is not None else ""
            place = f"rank {self.rank}, score {self.score:.3f}" if self.rank is not None and self.score is not None else "not in the result"
            found.append(("found", place + moved))
        found += [(f"by {leg.leg}", str(leg)) for leg in self.legs]
        if self.path is not None:
            found.append(("path", cut(str(self.path), 400)))
        found += [(f"+ {f.name}", f"{f.part:+.2f} = {f.value:.2f} x {f.weight:g}") for f in self.features]
        found += [("passes", text) for text in self.filters]
        found += self.dates.lines(self.kind)
        found.append(("now" if self.standing.current else "but", str(self.standing)))
        found += [("rests on", str(c)) for c in self.citations]
        if self.cited > len(self.citations):
            found.append(("rests on", f"{self.cited - len(self.citations)} more"))
        return found

    def to_dict(self) -> dict[str, object]:
        """Plain JSON values."""
        return {**_Told.to_dict(self), "current": self.standing.current}


@dataclass(frozen=True, slots=True)
class Obstacle:
    """One thing that kept an item out: a stable code, a sentence, and the values behind it.

    "no_leg", "rank" and "reranked" have values `rank` and `limit`: asked with that limit, the search finds it at that rank. Both are
    None where no limit that was tried finds it.
    """

    code: str
    text: str
    values: dict[str, object] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class WhyNot(_Told):
    """What kept an item out of a search, the first cause first; where it is in the result, `rank` says at which place.

    `reason` is the code of the first cause: "unknown", "other_group", "not_yet_known", "forgotten", "believed_no_more",
    "not_true_then", "value", "small", "kind", "filter", "empty_query", "no_leg", "nested", "rank", "reranked"; "found" where
    nothing kept it out.
    `ahead` are hits that stand before it, the best ones first.
    """

    query: str
    item: str
    kind: str = ""
    id: str = ""
    rank: int | None = None
    obstacles: tuple[Obstacle, ...] = ()
    legs: tuple[LegRank, ...] = ()
    ahead: tuple[str, ...] = ()

    @property
    def found(self) -> bool:
        return self.rank is not None

    @property
    def reason(self) -> str:
        return "found" if self.found else self.obstacles[0].code

    def __repr__(self) -> str:
        return f"<WhyNot {cut(self.item, 50)!r}: {f'found at rank {self.rank}' if self.found else self.reason}>"

    def lines(self) -> Lines:
        """Name and text of each part, the item first."""
        what = f"{self.kind} {cut(self.item)!r}".strip()
        found: Lines = [("in the result:" if self.found else "not in the result:", what), ("asked", repr(cut(self.query)))]
        if self.rank is not None:
            found.append(("found", f"rank {self.rank}"))
        found += [(o.code.replace("_", " "), cut(o.text, 400)) for o in self.obstacles]
        found += [(f"by {leg.leg}", str(leg)) for leg in self.legs]
        found += [("before it", text) for text in self.ahead]
        return found

    def to_dict(self) -> dict[str, object]:
        """Plain JSON values."""
        return {**_Told.to_dict(self), "found": self.found, "reason": self.reason}


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, str):
        return cut(value, 400) if len(value) > 400 else value
    return value if value is None or isinstance(value, (bool, int, float)) else cut(repr(value))


def listed(items: Sequence[str], most: int = 5) -> str:
    """The first `most`, and how many more."""
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(cut(i, 60) for i in items[:most]) + more
