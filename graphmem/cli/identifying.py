"""The commands that tell a memory who is who."""

from __future__ import annotations

from typing import Annotated

import typer

from graphmem.cli.options import Where
from graphmem.cli.output import console, document
from graphmem.cli.writing import Author, Reason, report

Entity = Annotated[str, typer.Argument(metavar="ENTITY", help="Its name, another name of it, or its id.", show_default=False)]
Other = Annotated[str, typer.Argument(metavar="OTHER", help="The other one, likewise.", show_default=False)]
Name = Annotated[str, typer.Argument(metavar="NAME", help="The name to give it.", show_default=False)]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would change.")]


def duplicates(
    where: Where,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="How many pairs at most.")] = 20,
    min_score: Annotated[float, typer.Option("--min-score", metavar="NUMBER", min=0, max=1, help="Only pairs that score so much.")] = 0.5,
) -> None:
    """List pairs of entities that may be one, the likeliest first, with reasons; nothing is merged.

    Example: graphmem duplicates --limit 10 --db team.db
    """
    with where.open_one() as memory:
        found = memory.duplicates(limit=limit, min_score=min_score)
    if where.json:
        document({"duplicates": found.to_dict()})
        return
    from graphmem.cli import render

    console().print(render.duplicates(found) if found else "no two entities look like one")


def merge(entity: Entity, other: Other, where: Where, dry_run: DryRun = False, reason: Reason = None, author: Author = None) -> None:
    """Make one entity of two, with the facts and names of both; the id printed first takes it back with `undo`.

    Example: graphmem merge "Bea" "Beatriz Nogueira" --reason "a nickname" --db team.db
    """
    with where.open_one() as memory:
        result = memory.merge(entity, other, reason=reason, author=author, dry_run=dry_run)
    report(result, as_json=where.json)


def split(
    entity: Entity,
    episodes: Annotated[list[str], typer.Argument(metavar="EPISODE", help="Ids, as `graphmem episodes` lists them.", show_default=False)],
    where: Where,
    dry_run: DryRun = False,
    reason: Reason = None,
    author: Author = None,
) -> None:
    """Take a new entity out of one: it has what these episodes say of it.

    Example: graphmem split "Alex" ep_bxdkdvsm2pgiidrnxurjnh3ohm --reason "another Alex" --db team.db
    """
    with where.open_one() as memory:
        result = memory.split(entity, episodes=episodes, reason=reason, author=author, dry_run=dry_run)
    report(result, as_json=where.json)


def distinct(entity: Entity, other: Other, where: Where, dry_run: DryRun = False, reason: Reason = None, author: Author = None) -> None:
    """Say that two are not one: nothing joins them from now on, and what was joined comes apart.

    Example: graphmem distinct "Java" "Java SE" --db team.db
    """
    with where.open_one() as memory:
        result = memory.distinct(entity, other, reason=reason, author=author, dry_run=dry_run)
    report(result, as_json=where.json)


def rename(entity: Entity, name: Name, where: Where, dry_run: DryRun = False, reason: Reason = None, author: Author = None) -> None:
    """Call an entity otherwise; what it was called before still finds it.

    Example: graphmem rename "Globex" "Globex International" --db team.db
    """
    with where.open_one() as memory:
        result = memory.rename(entity, name, reason=reason, author=author, dry_run=dry_run)
    report(result, as_json=where.json)


def alias(entity: Entity, name: Name, where: Where, dry_run: DryRun = False, reason: Reason = None, author: Author = None) -> None:
    """Give an entity one more name, for searches and for what is said from now on.

    Example: graphmem alias "Beatriz Nogueira" "Bea" --db team.db
    """
    with where.open_one() as memory:
        result = memory.alias(entity, name, reason=reason, author=author, dry_run=dry_run)
    report(result, as_json=where.json)
