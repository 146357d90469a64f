"""The command for when nobody waits."""

from __future__ import annotations

from typing import Annotated

import typer

from graphmem.cli.options import Where
from graphmem.cli.output import complain, document, line


def consolidate(
    where: Where,
    calls: Annotated[int, typer.Option("--calls", metavar="N", min=0, help="Calls of the model at most; offline there are none.")] = 20,
) -> None:
    """Look again at what changed since the last time: profiles by a model, pairs that may be one, what finds no place.

    Example: graphmem consolidate --db team.db --model openai:NAME --calls 50
    """
    with where.open_one() as memory:
        done = memory.consolidate(calls=calls, progress=False if where.json else None)
    if where.json:
        document(done.to_dict())
        return
    for profile in done.profiles:
        typer.echo(f"profile  {line(profile.name, 60)}: {line(profile.summary)}")
    for pair in done.duplicates:
        reasons = line("; ".join(pair.reasons))
        typer.echo(f"duplicate  {pair.score:.2f}  {line(pair.entity.name, 60)} ~ {line(pair.other.name, 60)}: {reasons}")
    for open_one in done.contradictions:
        typer.echo(f"{open_one.code}  {line(open_one.text)}  [{line(open_one.episode)}]")
    for warning in done.warnings:
        complain(f"{line(str(warning.raw))}: {warning.message}")
    left = f"; {done.left} are left for the next time" if done.left else ""
    typer.echo(
        f"{len(done.profiles)} profiles, {len(done.duplicates)} possible duplicates, {len(done.contradictions)} contradictions{left}"
    )
