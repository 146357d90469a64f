"""The command that moves a memory to another place."""

from __future__ import annotations

from typing import Annotated

import typer

from graphmem.cli.output import document, line

Group = Annotated[
    list[str] | None, typer.Option("--group", metavar="NAME", help="Only this group; repeatable.  [default: all]", show_default=False)
]


def copy(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A memory's file, or the address of a Neo4j server.")],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="Where it goes: a file, made if missing, or an address.")],
    group: Group = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")] = False,
) -> None:
    """Bring a memory to another place with its whole history: from a file to a Neo4j server, back, or to another file.

    Stop it at any time: the same line goes on from there, and a copy that is not whole yet is not opened. The same line later
    brings an older copy up to date. Nothing is embedded and no model is asked; what was written is read back and compared.

    Example: graphmem copy notes.db neo4j://localhost:7687
    """
    import graphmem

    done = graphmem.copy(source, target, group=group or None, progress=False if json else None)
    if json:
        document(done.to_dict())
    elif not done.groups:
        typer.echo(f"{line(done.source)} holds nothing yet")
    else:
        kept = f", {done.resumed} of them by an earlier run" if done.resumed else ""
        groups = ", ".join(map(line, done.groups))
        typer.echo(f"{done.items} items of {groups} are in {line(done.target)}{kept}; read back and compared, they are the same")
