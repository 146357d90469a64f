"""The commands that tell of change: what differs between two times, why a fact is believed, its history, and who did what."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphmem.cli.options import Point, Where
from graphmem.cli.output import complain, console, document, line
from graphmem.errors import InvalidInput, NotFound
from graphmem.instants import zone_of

if TYPE_CHECKING:
    from datetime import tzinfo

    from rich.table import Table
    from rich.text import Text

    from graphmem.history.lines import Cause, Line
    from graphmem.view import View

STYLES = {
    "added": "green",
    "restored": "green",
    "confirmed": "cyan",
    "extended": "cyan",
    "merged": "magenta",
    "split": "magenta",
    "corrected": "yellow",
    "reopened": "yellow",
    "ended": "red",
    "forgotten": "red",
    "erased": "red",
}
_NO_STYLE = ""
Since = Annotated[str, typer.Argument(metavar="FROM", help="What was believed, or true, at this time (2025-06-01) ...")]
Until = Annotated[str | None, typer.Argument(metavar="TO", help="... against this time; now without one.", show_default=False)]
Most = Annotated[int, typer.Option("--limit", metavar="N", min=1, help="How many to show at most.")]


def diff(
    since: Since,
    where: Where,
    until: Until = None,
    axis: Annotated[str, typer.Option("--axis", metavar="NAME", help="system: what the memory believed; valid: what was true.")] = "system",
    system: Annotated[str | None, typer.Option("--system", metavar="TIME", help="With --axis valid: as believed at this time.")] = None,
    entity: Annotated[str | None, typer.Option("--entity", metavar="NAME", help="Only what is about it.")] = None,
    relation: Annotated[list[str] | None, typer.Option("--relation", metavar="NAME", help="Only this relation; repeatable.")] = None,
    session: Annotated[str | None, typer.Option("--session", metavar="NAME", help="Only what was said in this session.")] = None,
    entities: Annotated[bool, typer.Option("--entities", help="Also who and what is new, gone, or called otherwise.")] = False,
    limit: Most = 200,
) -> None:
    """Tell what changed between two times, each line with the rule that led to it and the words or the act behind it.

    Example: graphmem diff 2025-06-02 2025-06-09 --entity "Mira Okafor"
    """
    if axis not in ("system", "valid"):
        raise InvalidInput("--axis", axis, "must be system or valid")
    if axis == "system" and system is not None:
        raise InvalidInput("--system", system, "goes with --axis valid; the two times are system times already")
    with where.open() as memory:
        points = {axis: (since, until)} | ({"system": system} if system is not None else {})
        found = memory.diff(**points, entity=entity, relation=relation or None, session=session, group=where.groups)
        lines = [c for c in found if entities or c.item == "fact"]
    if where.json:
        kept = found.where(lambda c: entities or c.item == "fact")[:limit]
        document({**kept.to_document(), "more": len(lines) > limit})
        return
    screen = console()
    screen.print(_changes(lines[:limit], zone_of(where.timezone)) if lines else "no change")
    _more(len(lines), limit)
    hidden = len(found) - len(lines)
    if hidden:
        complain(f"{hidden} changes of entities are left out; --entities shows them")


def why(
    fact: Annotated[str, typer.Argument(metavar="FACT", help="The uuid or id of a fact, or the name of an entity for each of its facts.")],
    where: Where,
    point: Point,
    relation: Annotated[list[str] | None, typer.Option("--relation", metavar="NAME", help="Of an entity only this; repeatable.")] = None,
) -> None:
    """Tell why a fact is believed: who said what, what was decided, how it changed, and who touched it.

    Example: graphmem why "Danylo Kovalenko" --relation lives_in
    """
    from graphmem.search.locate import is_fact_id

    with where.open() as memory:
        view = point.of(memory)
        try:
            ids = [fact] if is_fact_id(fact) else [f.uuid for f in view.facts(fact, relation=relation or None, group=where.groups)]
            told = [view.why(i, group=where.groups) for i in ids]
        except NotFound as error:
            complain(str(error))
            raise typer.Exit(1) from None
    if where.json:
        document({"facts": [w.to_dict() for w in told]})
        return
    from rich.text import Text

    from graphmem.cli import render

    screen, zone = console(), zone_of(where.timezone)
    for w in told:
        screen.print(Text.assemble((line(w.fact.text), "bold"), f"  ({render.holds(w.fact, zone)})"))
        said = render.grid("said", "by", "says", "words", "")
        for e in w.evidence:
            style = "" if e.state == "counts" else "dim"
            words = Text(line(e.quote), style)
            for decision in e.decisions:
                words.append(f"\n{line(decision)}", "yellow")
            says = " ".join((e.says, e.dates)).strip()
            said.add_row(Text(render.day(e.said_at, zone)), Text(line(e.by or "", 40)), Text(says), words, Text(e.state, style))
        screen.print(said)
        screen.print(_changes(w.changes, zone))
        for o in w.operations:
            screen.print(Text(f"{render.day(o.at, zone)} {o.kind} by {line(o.by or 'somebody', 60)} {line(o.reason)}", "magenta"))
    if not told:
        screen.print("no facts")


def history(
    of: Annotated[str, typer.Argument(metavar="NAME", help="The name or id of an entity, or the uuid or id of a fact.")],
    where: Where,
    point: Point,
    relation: Annotated[list[str] | None, typer.Option("--relation", metavar="NAME", help="Of an entity only this; repeatable.")] = None,
    limit: Most = 200,
) -> None:
    """Tell every change of a fact, or of an entity and its facts, oldest first.

    Example: graphmem history "Jonas Lindqvist" --relation works_at
    """
    with where.open() as memory:
        try:
            found = point.of(memory).history(of, relation=relation or None, group=where.groups)
        except NotFound as error:
            complain(str(error))
            raise typer.Exit(1) from None
    if where.json:
        document({"changes": found[:limit].to_dict(), "versions": found.versions.to_dict(), "more": len(found) > limit})
        return
    console().print(_changes(found[:limit], zone_of(where.timezone)) if found else "no change")
    _more(len(found), limit)


def operations(
    where: Where,
    point: Point,
    kind: Annotated[list[str] | None, typer.Option("--kind", metavar="NAME", help="Only this kind, as forget; repeatable.")] = None,
    since: Annotated[str | None, typer.Option("--since", metavar="TIME", help="Done at or after this time.")] = None,
    until: Annotated[str | None, typer.Option("--until", metavar="TIME", help="Done before this time.")] = None,
    episodes: Annotated[bool, typer.Option("--episodes", help="Also what was said.")] = False,
    limit: Most = 50,
) -> None:
    """List what was done to the memory, newest first: when, by whom, why, and what changed.

    Example: graphmem operations --kind forget --kind restore
    """
    with where.open() as memory:
        view: View = point.of(memory)
        found = view.operations(kind=kind or None, since=since, until=until, episodes=episodes, limit=limit + 1, group=where.groups)
    if where.json:
        document({"operations": found[:limit].to_dict(), "more": len(found) > limit})
        return
    from rich.text import Text

    from graphmem.cli import render

    zone = zone_of(where.timezone)
    table = render.grid("when", "what", "by", "on", "changed", "id")
    for e in found[:limit]:
        changed = ", ".join(f"{n} {word}" for word, n in e.counts().items())
        on = Text(line("; ".join(e.about)))
        if e.reason:
            on.append(f"\n{line(e.reason)}", "yellow")
        table.add_row(Text(render.day(e.at, zone)), Text(e.kind, "cyan"), Text(line(e.by or "", 40)), on, Text(changed), Text(e.id, "dim"))
    console().print(table if found else "no operations")
    _more(len(found), limit)


def replay(
    where: Where,
    into: Annotated[
        Path | None, typer.Argument(metavar="PATH", help="The new file; with --reader it may be left out.", show_default=False)
    ] = None,
    reader: Annotated[
        str | None, typer.Option("--reader", metavar="NAME", help="Read the episodes again with this model, and show what differs.")
    ] = None,
    limit: Most = 200,
) -> None:
    """Fold the log again into a new file, without a model, to equal hashes; or read its episodes again with another model.

    Example: graphmem replay copy.db --db team.db
    """
    with where.open() as memory:
        told = memory.replay(into, model=reader, group=where.groups)
    if where.json:
        document(told.to_dict())
        return
    if told.diff is None:
        typer.echo(f"{told.entries} entries of {', '.join(map(line, told.groups))} fold to the same state and history in {told.where}")
        return
    screen = console()
    screen.print(_changes(told.diff[:limit], zone_of(where.timezone)) if told.diff else "no difference")
    _more(len(told.diff), limit)
    left = ", ".join(f"{n} {kind}" for kind, n in told.left_out.items())
    complain(f"{told.entries} episodes read with {told.usage.calls} calls" + (f"; not carried over: {left}" if left else ""))


def _changes(lines: Sequence[Line], zone: tzinfo) -> Table:
    """When, what, of what, by which rule, and because of what."""
    from rich.text import Text

    from graphmem.cli import render

    table = render.grid("when", "change", "what", "why")
    for c in lines:
        what = Text(line(c.text))
        if when := c.when:
            what.append(f"\n{when}", "dim")
        why = Text(line(c.rule, 400))
        if c.cause is not None:
            why.append("\n").append(_because(c.cause, zone))
        table.add_row(Text(render.day(c.at, zone)), Text(c.kind.value, STYLES.get(c.kind.value, _NO_STYLE)), what, why)
    return table


def _because(cause: Cause, zone: tzinfo) -> Text:
    from rich.text import Text

    from graphmem.cli import render

    if cause.said_at is None:
        done = f"{cause.kind} by {line(cause.by, 60)}" if cause.by else cause.kind
        return Text(done + (f": {line(cause.reason)}" if cause.reason else ""), "dim")
    who = f"{line(cause.by, 60)}, " if cause.by else ""
    return Text(f'{who}{render.day(cause.said_at, zone)}: "{line(cause.quote, 160)}"', "dim")


def _more(found: int, limit: int) -> None:
    if found > limit:
        complain(f"there are more than {limit}; --limit shows them")
