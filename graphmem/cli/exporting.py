"""The commands that take a memory elsewhere and bring a log back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from graphmem.cli.options import Point, Where
from graphmem.cli.output import document, line


def export(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="The file or folder to write; the suffix says the format.")],
    where: Where,
    point: Point,
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="NAME",
            help="graphml, gexf, cytoscape, dot, node-link, csv, parquet, markdown, html, cypher or log.  [default: by the suffix]",
            show_default=False,
        ),
    ] = None,
    entity: Annotated[str | None, typer.Option("--entity", metavar="NAME", help="Stay around this entity.")] = None,
    hops: Annotated[
        int | None, typer.Option("--hops", metavar="N", help="How many facts away from it.  [default: 1]", show_default=False)
    ] = None,
    relation: Annotated[list[str] | None, typer.Option("--relation", metavar="NAME", help="Only facts of this relation.")] = None,
    since: Annotated[str | None, typer.Option("--since", metavar="TIME", help="Only facts that hold at or after it.")] = None,
    until: Annotated[str | None, typer.Option("--until", metavar="TIME", help="Only facts that hold before it.")] = None,
    include: Annotated[
        str | None,
        typer.Option(
            "--include",
            metavar="WHICH",
            help="history (all valid times), holding, or versions (all ever believed).  [default: history; versions where beliefs play]",
            show_default=False,
        ),
    ] = None,
    axis: Annotated[
        str | None,
        typer.Option("--axis", metavar="AXIS", help="What a GEXF timeline plays: valid or system.  [default: valid]", show_default=False),
    ] = None,
    table: Annotated[
        str | None,
        typer.Option("--table", metavar="NAME", help="What one CSV or Parquet file holds.  [default: facts]", show_default=False),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is there.")] = False,
) -> None:
    """Write a file for Gephi, yEd, Cytoscape, Graphviz, networkx, pandas or Obsidian, or the log itself.

    Example: graphmem export team.gexf --entity "Mira Okafor" --hops 2
    """
    cutting: dict[str, Any] = {"entity": entity, "hops": hops, "relation": relation, "since": since, "until": until, "include": include}
    asked = {name: value for name, value in cutting.items() if value is not None}
    with where.open() as memory:
        done = point.of(memory).export(path, format=format, overwrite=overwrite, axis=axis, table=table, group=where.groups, **asked)
    document(done.to_dict()) if where.json else typer.echo(line(repr(done)[1:-1], 2_000))


def load(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A log that `graphmem export --format log` wrote.")],
    where: Where,
) -> None:
    """Record a log's file as it was, with its own instants and without a model.

    Example: graphmem load team.jsonl --db copy.db
    """
    with where.open_one(new=True) as memory:
        done = memory.load(path)
    document(done.to_dict()) if where.json else typer.echo(line(repr(done)[1:-1], 2_000))
