"""The command that removes for good."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from graphmem.cli.options import Where
from graphmem.cli.output import complain, document, line
from graphmem.cli.writing import Author, Reason
from graphmem.errors import InvalidInput

if TYPE_CHECKING:
    from graphmem.receipts import Receipt

_SHOWN_CHANGES = 20


def erase(
    where: Where,
    episode: Annotated[str | None, typer.Option("--episode", metavar="ID", help="An episode, as `graphmem episodes` lists it.")] = None,
    fact: Annotated[str | None, typer.Option("--fact", metavar="ID", help="A fact: its id or that of a version of it.")] = None,
    entity: Annotated[
        str | None, typer.Option("--entity", metavar="NAME", help="An entity with all its names: one of them, or its id.")
    ] = None,
    session: Annotated[str | None, typer.Option("--session", metavar="NAME", help="All episodes of a session.")] = None,
    whole_group: Annotated[bool, typer.Option("--whole-group", help="Everything in the group that --group names.")] = False,
    delete: Annotated[
        bool, typer.Option("--delete", help="Of a fact or an entity: also the episodes that speak of it, instead of marks in their texts.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Erase without asking.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    reason: Reason = None,
    author: Author = None,
) -> None:
    """Remove for good: from the file, from the past, from all that was made of it. It cannot be undone.

    Says what would go, and asks; where nobody can be asked nothing is erased without --yes.

    Example: graphmem erase --entity "Mira Okafor" --reason "she asked for it" --db team.db
    """
    named = {"episode": episode, "fact": fact, "entity": entity, "session": session}
    given = {what: name for what, name in named.items() if name is not None}
    if len(given) + whole_group != 1:
        raise InvalidInput(
            "erase",
            [*given, *(["whole-group"] if whole_group else [])],
            "name one of --episode, --fact, --entity, --session, --whole-group",
        )
    if whole_group and not where.group:
        raise InvalidInput("--group", None, "name the group that is to go")
    group, episodes = where.groups[0], "delete" if delete else "redact"
    with where.open_one() as memory:
        if not yes:
            _report(memory.erase(**given, group=group, episodes=episodes, dry_run=True), as_json=where.json)
            if dry_run or not _agreed(where.json):
                return
        receipt = memory.erase(**given, group=group, episodes=episodes, reason=reason, author=author, dry_run=dry_run)
    _report(receipt, as_json=where.json)


def _agreed(as_json: bool) -> bool:
    """Whether somebody says yes; nobody can where this is no terminal."""
    if as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InvalidInput("--yes", False, "nothing was erased: there is nobody to ask; --yes erases, --dry-run only says what would go")
    if typer.confirm("Erase it for good?", default=False):
        return True
    typer.echo("nothing was erased")
    return False


def _report(receipt: Receipt, *, as_json: bool) -> None:
    if as_json:
        document(receipt.to_dict())
        return
    verb = "would be" if receipt.dry_run else "were"
    for name, count in receipt.counts().items():
        typer.echo(f"{count:>7,} {_LINES[name].format(verb=verb)}")
    for change in receipt.changes[:_SHOWN_CHANGES]:
        typer.echo(f"        {change.kind.value}: {line(change.text)}")
    if len(receipt.changes) > _SHOWN_CHANGES:
        typer.echo(f"        and {len(receipt.changes) - _SHOWN_CHANGES:,} more changes")
    if receipt.dry_run:
        return
    typer.echo(f"erased in {receipt.seconds:.1f} s; receipt {line(receipt.id or '')}")
    if not receipt.cleaned:
        complain("somebody reads the file: what was erased is in no row, but its old bytes go only when it is opened again")


_LINES = {
    "episodes": "episodes {verb} removed",
    "redacted": "episodes {verb} changed",
    "assertions": "claims {verb} removed",
    "entities": "entities {verb} removed",
    "operations": "operations {verb} emptied or changed",
    "answers": "recorded answers of a model {verb} removed",
}
