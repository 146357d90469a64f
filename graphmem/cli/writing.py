"""The commands that write to a memory, and the demo."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphmem.cli.options import Where
from graphmem.cli.output import complain, console, document, line
from graphmem.errors import InvalidInput

if TYPE_CHECKING:
    from graphmem.results import WriteResult

Time = Annotated[str | None, typer.Option("--at", metavar="TIME", help="When it was said.  [default: now]", show_default=False)]
Session = Annotated[str | None, typer.Option("--session", metavar="NAME", help="The conversation or channel it belongs to.")]
Reason = Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Why; kept in the log.")]
Author = Annotated[str | None, typer.Option("--author", metavar="NAME", help="Who does this; kept in the log.")]
SHOWN_WARNINGS = 10


def demo(
    db: Annotated[
        Path | None,
        typer.Option("--db", metavar="PATH", help="A new file to keep the memory in.  [default: a temporary one]", show_default=False),
    ] = None,
) -> None:
    """Show in a minute what a memory can do, with half a year of a small team's invented chat.

    Example: graphmem demo --db team.db
    """
    from graphmem.cli.showing import show

    show(db)


def add(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What was said; - reads it from standard input.")],
    where: Where,
    actor: Annotated[str | None, typer.Option("--actor", metavar="NAME", help="Who said it; makes it a message.")] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            "--kind", metavar="KIND", help="message, text or json.  [default: message with --actor, else text]", show_default=False
        ),
    ] = None,
    at: Time = None,
    session: Session = None,
    source: Annotated[str | None, typer.Option("--source", metavar="NAME", help="Where it is from, for instance a file.")] = None,
    key: Annotated[str | None, typer.Option("--key", metavar="KEY", help="Its own id: the same key again changes nothing.")] = None,
    recorded_at: Annotated[
        str | None, typer.Option("--recorded-at", metavar="TIME", help="History: when the memory is to have learnt it.")
    ] = None,
) -> None:
    """Record one message, text or JSON value, and say what it changed.

    Example: graphmem add "I moved to Porto in March." --actor "Mira Okafor" --at 2025-04-02T10:03+01:00
    """
    chosen = kind or ("text" if actor is None else "message")
    if chosen not in ("message", "text", "json"):
        raise InvalidInput("--kind", kind, "must be message, text or json")
    if (chosen == "message") != (actor is not None):
        raise InvalidInput("--actor", actor, "a message needs the name of who said it; nothing else has one")
    said = _standard_input() if text == "-" else text
    shared: dict[str, Any] = {"reference_time": at, "session": session, "source": source, "key": key, "recorded_at": recorded_at}
    with where.open_one(new=True) as memory:
        if actor is not None:
            result = memory.add_message(actor, said, **shared)
        elif chosen == "json":
            result = memory.add_json(said, **shared)
        else:
            result = memory.add_text(said, **shared)
    report(result, as_json=where.json)


def ingest(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH",
            help="Files (.txt .md .json .jsonl), folders, chat exports (also zipped), or - for JSONL from standard input.",
        ),
    ],
    where: Where,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="TIME", help="When files were said.  [default: their time of change]", show_default=False),
    ] = None,
    session: Session = None,
    archive: Annotated[
        bool, typer.Option("--archive", help="In order of time, each recorded at its own time: then --system reads the past.")
    ] = False,
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="NAME",
            help="chatgpt, claude, slack, whatsapp, or files (no export).  [default: as the files show]",
            show_default=False,
        ),
    ] = None,
    dayfirst: Annotated[
        bool | None, typer.Option("--day-first/--month-first", help="What 3/4/2024 is in a WhatsApp chat.", show_default=False)
    ] = None,
    me: Annotated[
        str | None, typer.Option("--me", metavar="NAME", help="Who talks to ChatGPT or Claude.  [default: user]", show_default=False)
    ] = None,
    branches: Annotated[bool, typer.Option("--branches", help="Also what was edited or asked again in ChatGPT or Claude.")] = False,
) -> None:
    """Record files, folders and chat exports; run it again after a stop and it goes on where it was.

    Exports of ChatGPT, Claude, Slack and WhatsApp are known by what they hold, and read message by message. Otherwise,
    a .txt or .md file is a text, a .json file one JSON value. A line of a .jsonl file is an object with `text`, and as
    it has them `actor`, `reference_time` (or `at`), `session`, `source`, `kind`, `key` (or `id`). What is known already,
    by its file and `id`, or else by its file and content, changes nothing.

    Example: graphmem ingest notes/ chat.jsonl slack-export.zip --db team.db
    """
    from graphmem.cli import files
    from graphmem.importers import Options, in_order_of_time

    options = Options(format, where.timezone, dayfirst, me, branches)
    progress = False if where.json else None
    found = files.read(paths, files.Given(at, session), options, sys.stdin.buffer, progress)
    items = in_order_of_time(found.items, where.timezone) if archive else found.items
    with where.open_one(new=True) as memory, files.located(items):
        results = memory.add_many([i.row for i in items], progress=progress)
    changed = Counter(c.kind.value for r in results if r.created for c in r.changes)
    warnings = [(i.place, w) for i, r in zip(items, results, strict=True) if r.created for w in r.warnings]
    recorded = sum(r.created for r in results)
    if where.json:
        listed = [{"place": place, "code": w.code, "raw": str(w.raw), "message": w.message} for place, w in warnings]
        told = {"formats": list(found.formats), "left_out": dict(found.left_out)}
        document({"read": len(items), "recorded": recorded, **told, "changes": dict(changed), "warnings": listed})
        return
    typer.echo(f"{recorded} recorded, {len(items) - recorded} known already")
    if not items and not found.left_out:
        complain(f"nothing to record in {', '.join(paths)}: no text in it, or no {', '.join(files.SUFFIXES)} file")
    if found.left_out:
        typer.echo("left out: " + ", ".join(f"{what} ({n})" for what, n in found.left_out.items()))
    if "whatsapp" in found.formats and where.timezone == "UTC":
        typer.echo("WhatsApp names no time zone: its times were read in UTC; --timezone names another")
    if changed:
        typer.echo(", ".join(f"{n} {kind}" for kind, n in changed.items()))
    for place, w in warnings[:SHOWN_WARNINGS]:
        complain(f"{place}: {w.code}: {w.message or w.raw}")
    if len(warnings) > SHOWN_WARNINGS:
        complain(f"and {len(warnings) - SHOWN_WARNINGS} more warnings; --json lists them")


def resume(where: Where) -> None:
    """Read again what no answer of a model could be read about, and say what came of it.

    Example: graphmem resume --db team.db --model openai:NAME
    """
    with where.open_one() as memory:
        results = memory.resume(progress=False if where.json else None)
    if where.json:
        document([r.to_dict() for r in results])
        return
    read = sum(r.created for r in results)
    typer.echo(f"{read} read now, {len(results) - read} still not" if results else "nothing was left unread")
    for result in results:
        changed = ", ".join(f"{n} {kind}" for kind, n in result.counts().items()) if result.created else "still unread"
        typer.echo(f"{line(result.id)}  {changed}")
        for w in result.warnings:
            complain(f"{line(result.id)}: {w.code}: {w.message or w.raw}")


def reembed(where: Where) -> None:
    """Make every vector anew with another embedder; the memory answers with those it has until all are there.

    Stop it at any time: the same line goes on from there. All groups of the file are re-embedded.

    Example: graphmem reembed --db team.db --embedder sentence-transformers:all-MiniLM-L6-v2
    """
    import graphmem

    if where.group:
        raise InvalidInput("--group", where.group, "all groups of a file have vectors of one embedder; leave it out")
    done = graphmem.reembed(where.place, embedder=where.embedder, progress=False if where.json else None)
    if where.json:
        document(done.to_dict())
    elif done.before is None:
        typer.echo("the memory holds nothing yet")
    elif done.before == done.after:
        typer.echo(f"its vectors are of {line(done.after)} already")
    else:
        kept = f", {done.resumed} of them by an earlier run" if done.resumed else ""
        typer.echo(f"{done.items} items have vectors of {line(done.after)} now{kept}; before, of {line(done.before)}")


def report(result: WriteResult, *, as_json: bool) -> None:
    """Print what a write did, or would do."""
    if as_json:
        document(result.to_dict())
        return
    tried = not result.ids
    known = "" if result.created else "  known already, nothing changed"
    typer.echo("nothing is recorded; this would change:" if tried else line(result.id) + known)
    if (result.created or tried) and (result.changes or result.warnings):
        from graphmem.cli import render

        console().print(render.changes(result))


def _standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput("standard input", error.object[error.start : error.end], "must be UTF-8") from None
