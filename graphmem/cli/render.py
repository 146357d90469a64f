"""Items of a memory as tables for people. Every text of an episode goes through `shown`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from graphmem.cli.output import line, shown
from graphmem.errors import NotFound
from graphmem.interval import Interval, Origin, Precision, in_zone, printed
from graphmem.model import Bound, Episode
from graphmem.results import Duplicate, EntityItem, EpisodeItem, FactItem, Hit, TimelineEntry, WriteResult

if TYPE_CHECKING:
    from graphmem.view import View

Episodes = Mapping[str, EpisodeItem]


def day(moment: datetime, zone: tzinfo) -> str:
    """The date in `zone`, with the time of day where it is not midnight."""
    local = in_zone(moment, zone)
    return f"{local:%Y-%m-%d}" if local.time().replace(microsecond=0) == local.min.time() else f"{local:%Y-%m-%d %H:%M}"


def bound(moment: datetime | None, known: Bound, zone: tzinfo, *, is_end: bool = False) -> str:
    """A start or end as precisely as it was given; "" for an open one.

    One that is only the time at which something was said is a day: its minute says nothing about the world.
    """
    if moment is None or known.precision is not Precision.INSTANT:
        return printed(moment, known.precision, zone, is_end=is_end)
    return f"{in_zone(moment, zone):%Y-%m-%d}" if known.origin is Origin.REFERENCE else day(moment, zone)


def period(valid: Interval, start: Bound, end: Bound, zone: tzinfo) -> str:
    """A valid time for people: "since 2022-01", "2019 to 2021", "until 2020", "at any time"."""
    first, last = bound(valid.start, start, zone), bound(valid.end, end, zone, is_end=True)
    if first and last:
        return first if first == last else f"{first} to {last}"
    return f"since {first}" if first else f"until {last}" if last else "at any time"


def wording(fact: FactItem, *, of: str | None = None) -> str:
    """A fact in plain words, whatever its sentence is: "Mira Okafor lives in Porto"; under her name `of`, "lives in Porto"."""
    said = f"{fact.relation.replace('_', ' ').lower()} {fact.target}"
    return line(said if fact.source == of else f"{fact.source} {said}")


def holds(fact: FactItem, zone: tzinfo) -> str:
    """When a fact holds; see `period`."""
    return period(fact.valid, fact.start, fact.end, zone)


def cited(view: View, ids: Iterable[str], groups: tuple[str, ...]) -> dict[str, EpisodeItem]:
    """The episodes of these ids that can be seen from here."""
    found: dict[str, EpisodeItem] = {}
    for cited_id in dict.fromkeys(ids):
        try:
            found[cited_id] = view.episode(cited_id, group=groups)
        except NotFound:  # an operation stands behind it, or its episode is forgotten
            continue
    return found


def said(ids: Sequence[str], episodes: Episodes, zone: tzinfo) -> str:
    """Who said it and when: "Mira, 2025-04-02 (+2)"; the first of several."""
    known = sorted((episodes[i] for i in ids if i in episodes), key=lambda e: e.reference_time)
    if not known:
        return ""
    more = f" (+{len(known) - 1})" if len(known) > 1 else ""
    return f"{speaker(known[0].episode)}, {in_zone(known[0].reference_time, zone):%Y-%m-%d}{more}"


def speaker(episode: Episode) -> str:
    """Who said an episode, or what it is from."""
    return line(episode.actor or episode.source or episode.kind.value, 60)


def grid(*columns: str, title: str | None = None) -> Table:
    """A table with only a line under its head."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left", title_style="bold", show_edge=False)
    for name in columns:
        table.add_column(name, overflow="fold", no_wrap=name in ("when", "kind", "id", "event", "#"))
    return table


def facts(items: Sequence[FactItem], episodes: Episodes, zone: tzinfo) -> Table:
    """When each holds, who and what, the sentence, who said it."""
    table = grid("holds", "fact", "in words", "said by")
    for f in items:
        triple = Text.assemble(line(f.source, 60), " ", (line(f.relation, 60), "cyan"), " ", line(f.target, 60))
        table.add_row(Text(holds(f, zone)), triple, Text(line(f.text)), Text(said(f.episodes, episodes, zone)))
    return table


def timeline(entries: Sequence[TimelineEntry], episodes: Episodes, zone: tzinfo) -> Table:
    """What began and ended, in order."""
    table = grid("when", "event", "fact", "said by")
    for e in entries:
        known = e.fact.start if e.event == "begins" else e.fact.end
        at = bound(e.at, known, zone, is_end=e.event == "ends") or "unknown"
        style = "green" if e.event == "begins" else "yellow"
        triple = f"{line(e.fact.source, 60)} {line(e.fact.relation, 60)} {line(e.fact.target, 60)}"
        table.add_row(Text(at), Text(e.event, style), Text(triple), Text(said(e.fact.episodes, episodes, zone)))
    return table


def episode_list(items: Sequence[EpisodeItem], zone: tzinfo) -> Table:
    """When, who, what was said, and the id to forget it by."""
    table = grid("when", "who", "said", "id")
    for e in items:
        table.add_row(Text(day(e.reference_time, zone)), Text(speaker(e.episode)), Text(line(e.text)), Text(e.id, "dim"))
    return table


def hits(found: Sequence[Hit], episodes: Episodes, zone: tzinfo) -> Table:
    """Hits, best first: what, when, and who said it."""
    table = grid("#", "kind", "found", "holds, or said", "by")
    for n, hit in enumerate(found, start=1):
        match hit.item:
            case FactItem() as fact:
                when, by = holds(fact, zone), said(hit.episodes, episodes, zone)
            case EpisodeItem() as episode:
                when, by = day(episode.reference_time, zone), speaker(episode.episode)
            case _:
                when, by = "", ""
        table.add_row(Text(str(n)), Text(hit.kind, "cyan"), Text(line(hit.text)), Text(when), Text(by))
    return table


def changes(result: WriteResult) -> Table:
    """What a write changed, with the reasons; then its warnings."""
    table = grid("change", "what", "why")
    for c in result.changes:
        table.add_row(Text(c.kind.value, "green"), Text(line(f"{c.item}: {c.text}")), Text(line(c.reason)))
    for w in result.warnings:
        table.add_row(Text("warning", "yellow"), Text(line(f"{w.code}: {w.raw}")), Text(line(w.message)))
    return table


def duplicates(found: Sequence[Duplicate]) -> Table:
    """Pairs that may be one, with their ids, and what speaks for and against it."""
    table = grid("score", "one", "other", "why")
    for pair in found:
        one, other = (Text.assemble(line(e.name, 60), (f" {e.id}", "dim")) for e in (pair.entity, pair.other))
        table.add_row(Text(f"{pair.score:.2f}", "cyan"), one, other, Text(line("; ".join(pair.reasons))))
    return table


def entity_head(item: EntityItem) -> Text:
    """Name, type, other names, attributes, summary."""
    head = Text.assemble((line(item.name), "bold"), f"  ({line(item.type)})")
    if item.aliases:
        head.append("\nalso: " + ", ".join(line(a, 60) for a in item.aliases))
    for name, value in item.attributes.items():
        head.append(f"\n{line(str(name), 60)}: {line(str(value))}")
    if item.summary:
        head.append(f"\n{shown(item.summary)}")
    return head


def lines(parts: Sequence[tuple[str, str]]) -> Table:
    """What is told of an item: itself, then its parts by name."""
    (kind, text), *rest = parts
    table = _two_columns()
    table.add_row(Text(line(kind), "cyan"), Text(line(text, 400), "bold"))
    for name, value in rest:
        table.add_row(Text(f"  {line(name)}"), Text(line(value, 600)))
    return table


def _two_columns() -> Table:
    """For names and values; an id that is longer than the line goes on below, so that it can be copied whole."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    return table


@dataclass(frozen=True)
class Row:
    """A name and its value, for a list of both."""

    name: str
    value: object


def pairs(rows: Iterable[Row]) -> Table:
    """Names and values side by side."""
    table = _two_columns()
    for row in rows:
        value = ", ".join(map(str, row.value)) if isinstance(row.value, (list, tuple)) else str(row.value)
        table.add_row(Text(line(row.name), "cyan"), Text(line(value, 400)))
    return table
