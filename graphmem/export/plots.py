"""Pictures of a memory with matplotlib, right and legible in a paper: half-open periods, both axes labelled, open ends as arrows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING

from graphmem.communities.graph import Graph
from graphmem.communities.results import CommunityItem
from graphmem.errors import InvalidInput, MissingExtra
from graphmem.export.plaintext import xml_text
from graphmem.export.viewer.layout import at_home, grouped, positions
from graphmem.interval import FIRST, LAST, Interval, in_zone
from graphmem.model import EntityVersion, Episode
from graphmem.results import FactItem, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PLOT_LINE = "pip install 'graphmem[plot]'"
PALETTE = ("#4c78a8", "#f58518", "#54a24b", "#b279a2", "#e45756", "#72b7b2", "#c9a227", "#9d755d", "#6b7fd7", "#d67195")
_LONGEST = 42
_FADED = 0.35
_MOST_NAMES = 60
_SPANS = ((timedelta(days=120), "day"), (timedelta(days=900), "week"), (timedelta.max, "month"))


def axes(ax: Axes | None, width: float, height: float) -> Axes:
    """The axes given, or new ones of that size in inches."""
    try:
        from matplotlib import axes as known
        from matplotlib import pyplot
    except ImportError as error:
        raise MissingExtra(f"plots need matplotlib: {PLOT_LINE}") from error
    if ax is not None and not isinstance(ax, known.Axes):
        raise InvalidInput("ax", ax, "must be axes of matplotlib, or left out")
    if ax is not None:
        return ax
    made: Axes = pyplot.figure(figsize=(width, height), layout="constrained").add_subplot()
    return made


def timeline(facts: Sequence[FactItem], title: str, now: datetime, ax: Axes | None) -> Axes:
    """A bar for each fact over the time in which it holds, the earliest on top; what does not hold at `now` is faded."""
    rows = sorted(facts, key=lambda f: (f.valid_at is not None, f.valid_at or now, f.uuid))
    drawn = axes(ax, 8, 0.9 + 0.32 * max(len(rows), 1))
    first, last = _extent([f.valid for f in rows], now)
    shades = {relation: PALETTE[n % len(PALETTE)] for n, relation in enumerate(dict.fromkeys(f.relation for f in rows))}
    for row, fact in enumerate(rows):
        start, end = fact.valid_at or first, fact.invalid_at or last
        drawn.barh(row, end - start, left=start, height=0.6, color=shades[fact.relation], alpha=1 if now in fact.valid else _FADED)  # type: ignore[arg-type]
        for is_open, at, mark in ((fact.valid_at is None, start, "<"), (fact.invalid_at is None, end, ">")):
            if is_open:
                drawn.plot([at], [row], marker=mark, color=shades[fact.relation], clip_on=False, alpha=1 if now in fact.valid else _FADED)  # type: ignore[arg-type]
    drawn.axvline(now, color="0.4", linewidth=1, linestyle=":")  # type: ignore[arg-type]
    drawn.set_yticks(range(len(rows)), [_label(f.text) for f in rows])
    drawn.invert_yaxis()
    drawn.set_xlim(first, last)  # type: ignore[arg-type]
    drawn.set(xlabel="true in the world (valid time, UTC)", title=_label(title))
    return drawn


def two_axes(versions: Sequence[FactItem], title: str, now: datetime, ax: Axes | None) -> Axes:
    """Each version as the rectangle of when it holds (across) and when it was believed (up): a point is what was believed of a
    moment at a moment. `now` is marked on both.
    """
    drawn = axes(ax, 7, 4.6)
    from matplotlib.dates import date2num
    from matplotlib.patches import Rectangle

    (left, right), (low, high) = _extent([v.valid for v in versions], now), _extent([v.system for v in versions], now)
    shades = {text: PALETTE[n % len(PALETTE)] for n, text in enumerate(dict.fromkeys(v.text for v in versions))}
    told = set()
    for version in versions:
        x0, x1 = (date2num(m) for m in (version.valid_at or left, version.invalid_at or right))
        y0, y1 = (date2num(m) for m in (version.created_at or low, version.expired_at or high))
        label = None if version.text in told else _label(version.text)
        told.add(version.text)
        drawn.add_patch(Rectangle((x0, y0), x1 - x0, y1 - y0, facecolor=shades[version.text], alpha=0.75, edgecolor="white", label=label))
    drawn.axvline(now, color="0.4", linewidth=1, linestyle=":")  # type: ignore[arg-type]
    drawn.axhline(now, color="0.4", linewidth=1, linestyle=":")  # type: ignore[arg-type]
    drawn.set(xlabel="true in the world (valid time, UTC)", ylabel="believed (system time, UTC)", title=_label(title))
    drawn.xaxis_date()
    drawn.yaxis_date()
    drawn.set_xlim(left, right)  # type: ignore[arg-type]
    drawn.set_ylim(low, high)  # type: ignore[arg-type]
    drawn.tick_params("x", rotation=30)
    if told:
        drawn.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, fontsize="small")
    return drawn


def graph(entities: Iterable[EntityVersion], facts: Sequence[FactItem], homes: Mapping[str, CommunityItem], ax: Axes | None) -> Axes:
    """Entities as points, facts as arrows; the best connected are named. Colours are those of their communities: of the memory's
    own layer where there is one, with those of no community grey, else of these facts alone.
    """
    nodes = {e.id: e for e in entities}
    drawn = axes(ax, 9, 6)
    shape = Graph.of(((f.source_id, f.target_id, 1.0) for f in facts), nodes)
    near, degree = grouped(shape), shape.degrees()
    places, shades = positions(shape, near), at_home(shape, homes)[0] if homes else near
    at = {node: tuple(places[n]) for n, node in enumerate(shape.nodes)}
    for fact in facts:
        arrow = {"arrowstyle": "-|>", "color": "0.6", "shrinkA": 6, "shrinkB": 6, "connectionstyle": "arc3,rad=0.08"}
        drawn.annotate("", at[fact.target_id], at[fact.source_id], arrowprops=arrow)
    if len(shape.nodes):
        drawn.scatter(
            places[:, 0],
            places[:, 1],
            s=[30 + 12 * d for d in degree],
            c=[PALETTE[s % len(PALETTE)] if s >= 0 else "0.7" for s in shades],
            zorder=3,
        )
    ranked = sorted(range(len(shape.nodes)), key=lambda n: (-degree[n], shape.nodes[n]))
    for n in ranked[:_MOST_NAMES]:
        name = _label(nodes[shape.nodes[n]].name)
        drawn.annotate(name, places[n], (0, -11), textcoords="offset points", ha="center", va="top", fontsize=8)
    drawn.set_axis_off()
    drawn.margins(0.08)
    return drawn


def activity(episodes: Sequence[Episode], zone: tzinfo, ax: Axes | None) -> Axes:
    """Episodes a day, week or month, whichever is legible, stacked by who spoke; those who spoke least are one colour."""
    drawn = axes(ax, 9, 3.4)
    days = [in_zone(e.reference_time, zone).date() for e in episodes]
    unit = next(name for span, name in _SPANS if not days or max(days) - min(days) <= span)
    spoke = Counter(e.actor or "(nobody)" for e in episodes)
    shown = [actor for actor, _ in spoke.most_common(len(PALETTE) - 1)]
    counted: dict[str, Counter[date]] = {actor: Counter() for actor in (*shown, "others")}
    for day, episode in zip(days, episodes, strict=True):
        actor = episode.actor or "(nobody)"
        counted[actor if actor in shown else "others"][_first_of(day, unit)] += 1
    stops = sorted({stop for per in counted.values() for stop in per})
    below = [0] * len(stops)
    width = {"day": 0.9, "week": 6.0, "month": 26.0}[unit]
    for n, (actor, per) in enumerate(counted.items()):
        if per:
            heights = [per[stop] for stop in stops]
            drawn.bar(stops, heights, width, below, label=_label(actor), color=PALETTE[n % len(PALETTE)], align="edge")  # type: ignore[arg-type]
            below = [a + b for a, b in zip(below, heights, strict=True)]
    drawn.set(ylabel=f"episodes a {unit}", xlabel="said on")
    drawn.xaxis_date()
    if stops:
        drawn.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, fontsize="small")
    return drawn


def _first_of(day: date, unit: str) -> date:
    match unit:
        case "week":
            return day - timedelta(days=day.weekday())
        case "month":
            return day.replace(day=1)
    return day


def _extent(intervals: Sequence[Interval], now: datetime) -> tuple[datetime, datetime]:
    """From the first to the last known bound and now, with a margin for what is open."""
    known = [m for i in intervals for m in (i.start, i.end) if m is not None] + [now]
    margin = max((max(known) - min(known)) * 0.06, timedelta(days=1))
    first, last = min(known), max(known)
    far = LAST - timedelta(days=1)  # matplotlib rounds the last moment up to a year that it does not know
    return first - min(margin, first - FIRST), last + min(margin, max(far - last, timedelta(0)))


def _label(text: str) -> str:
    """Text that matplotlib draws as it is: one line, no formulas."""
    return shorten(xml_text(text), _LONGEST).replace("$", r"\$")
