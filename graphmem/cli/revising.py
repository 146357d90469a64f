"""The commands that take back and put right."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from graphmem.cli.options import Narrow, Where
from graphmem.cli.writing import Author, Reason, report
from graphmem.errors import InvalidInput
from graphmem.ingest.correcting import worded

Fact = Annotated[str, typer.Argument(metavar="FACT", help="A uuid or id, as `graphmem facts --json` gives it.", show_default=False)]
When = Annotated[
    str | None, typer.Option("--at", metavar="TIME", help="An instant; a date is its first one.  [default: now]", show_default=False)
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would change.")]


def forget(
    where: Where,
    narrow: Narrow,
    episodes: Annotated[
        list[str] | None,
        typer.Argument(metavar="EPISODE", help="Ids of episodes, as `graphmem episodes` lists them.", show_default=False),
    ] = None,
    fact: Annotated[list[str] | None, typer.Option("--fact", metavar="ID", help="A fact, in whichever episodes; repeatable.")] = None,
    entity: Annotated[str | None, typer.Option("--entity", metavar="NAME", help="An entity with everything about it.")] = None,
    dry_run: DryRun = False,
    reason: Reason = None,
    author: Author = None,
) -> None:
    """Hide what was said and undo what it changed; the id printed first brings it back with `restore`.

    Episodes, facts, an entity, or what passes filters: by --session, --actor, --since and --until whole episodes, with
    --relation or --type what these say of such facts.

    Example: graphmem forget ep_bxdkdvsm2pgiidrnxurjnh3ohm --reason "a joke" --db team.db
    """
    from graphmem import Filters

    filters = narrow.filters(where.timezone)
    given = {"episode": episodes, "fact": fact, "entity": entity, "where": filters if filters != Filters() else None}
    chosen: dict[str, Any] = {name: value for name, value in given.items() if value}
    if len(chosen) != 1:
        raise InvalidInput("forget", sorted(chosen) or None, "needs either episodes, --fact, --entity, or filters such as --session")
    with where.open_one() as memory:
        result = memory.forget(**chosen, reason=reason, author=author, dry_run=dry_run)
    report(result, as_json=where.json)


def restore(
    operation: Annotated[str, typer.Argument(metavar="OPERATION", help="The id that `forget` printed.")],
    where: Where,
    dry_run: DryRun = False,
    reason: Reason = None,
    author: Author = None,
) -> None:
    """Undo a forget: the memory is as if it had never been done.

    Example: graphmem restore op_v7wcm52qiudtdi6lrhfmhyjupe --db team.db
    """
    with where.open_one() as memory:
        result = memory.restore(operation, reason=reason, author=author, dry_run=dry_run)
    report(result, as_json=where.json)


def undo(
    operation: Annotated[str, typer.Argument(metavar="OPERATION", help="The id that the operation printed.")],
    where: Where,
    dry_run: DryRun = False,
    reason: Reason = None,
    author: Author = None,
) -> None:
    """Take back a correction, a merge, or anything else that was done by hand; what came after it counts as before.

    Example: graphmem undo op_v7wcm52qiudtdi6lrhfmhyjupe --db team.db
    """
    with where.open_one() as memory:
        result = memory.undo(operation, reason=reason, author=author, dry_run=dry_run)
    report(result, as_json=where.json)


def correct(
    fact: Fact,
    where: Where,
    text: Annotated[str | None, typer.Option("--text", metavar="TEXT", help="The sentence.")] = None,
    valid_at: Annotated[str | None, typer.Option("--valid-at", metavar="DATE", help="When it began: a year, a month, a day.")] = None,
    invalid_at: Annotated[str | None, typer.Option("--invalid-at", metavar="DATE", help="When it ended, or none.")] = None,
    source: Annotated[str | None, typer.Option("--source", metavar="NAME", help="Whom it is about.")] = None,
    relation: Annotated[str | None, typer.Option("--relation", metavar="NAME", help="How they are related.")] = None,
    target: Annotated[str | None, typer.Option("--target", metavar="NAME", help="To whom or to what.")] = None,
    dry_run: DryRun = False,
    reason: Reason = None,
    author: Author = None,
) -> None:
    """Put a fact right; what is left out stays as it is.

    Example: graphmem correct 4e9a241f-2f85-826a-9690-e76a7eeb0b4a --valid-at 2023-05 --target "Globex" --db team.db
    """
    with where.open_one() as memory:
        result = memory.correct(
            fact,
            text=text,
            valid=worded(valid_at, invalid_at),
            source=source,
            relation=relation,
            target=target,
            reason=reason,
            author=author,
            dry_run=dry_run,
        )
    report(result, as_json=where.json)


def end(fact: Fact, where: Where, at: When = None, dry_run: DryRun = False, reason: Reason = None, author: Author = None) -> None:
    """Say that a fact does not hold any more.

    Example: graphmem end 4e9a241f-2f85-826a-9690-e76a7eeb0b4a --at 2025-07-01 --db team.db
    """
    with where.open_one() as memory:
        result = memory.end(fact, at, reason=reason, author=author, dry_run=dry_run)
    report(result, as_json=where.json)


def confirm(fact: Fact, where: Where, at: When = None, dry_run: DryRun = False, reason: Reason = None, author: Author = None) -> None:
    """Say that a fact holds: it runs on, or begins again where it had ended.

    Example: graphmem confirm 4e9a241f-2f85-826a-9690-e76a7eeb0b4a --db team.db
    """
    with where.open_one() as memory:
        result = memory.confirm(fact, at, reason=reason, author=author, dry_run=dry_run)
    report(result, as_json=where.json)
