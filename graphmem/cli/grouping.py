"""The command that finds communities and shows them as a tree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from graphmem.cli.options import Point, Where
from graphmem.cli.output import complain, console, document, line
from graphmem.errors import InvalidInput

if TYPE_CHECKING:
    from rich.tree import Tree

    from graphmem.community import CommunityItem

_MEMBERS = 8


def communities(
    where: Where,
    point: Point,
    build: Annotated[bool, typer.Option("--build", help="Find them anew, from the facts that hold now.")] = False,
    algorithm: Annotated[
        str | None, typer.Option("--algorithm", metavar="NAME", help="With --build: leiden, louvain or label_propagation.")
    ] = None,
    resolution: Annotated[
        list[float] | None,
        typer.Option("--resolution", metavar="NUMBER", help="With --build: one a level, coarsest first; higher means smaller; repeatable."),
    ] = None,
    names: Annotated[
        str | None,
        typer.Option("--names", metavar="WAY", help="With --build: model (the one --model names writes them) or offline."),
    ] = None,
    min_size: Annotated[int, typer.Option("--min-size", metavar="N", min=1, help="Leave smaller ones out.")] = 2,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="How many of the coarsest to show at most.")] = 20,
) -> None:
    """Show which entities belong together, as a tree of levels; `--build` finds that first.

    Example: graphmem communities --build --db team.db
    """
    if not build and (algorithm is not None or resolution or names is not None):
        raise InvalidInput("--build", build, "is needed for --algorithm, --resolution and --names, which say how communities are found")
    if build and point.given:
        raise InvalidInput("--build", build, "finds the communities of now; leave out --valid, --system and --as-of")
    with where.open_one() if build else where.open() as memory:
        if build:
            from graphmem.communities.recipe import LEVELS

            levels = tuple(resolution) if resolution else LEVELS
            built = memory.build_communities(algorithm=algorithm, resolution=levels, names=names)
            for warning in built.warnings:
                complain(f"{warning.code}: {warning.message}")
        found = point.of(memory).communities(level=None, min_size=min_size, group=where.groups)
        below: dict[str | None, list[CommunityItem]] = defaultdict(list)
        for item in found:
            below[item.parent].append(item)
        if where.json:
            document({"communities": [_nested(item, below) for item in below[None][:limit]]})
            return
        from rich.tree import Tree

        screen = console()
        for item in below[None][:limit]:
            tree = Tree(_label(item))
            _grow(tree, item, below)
            screen.print(tree)
        if not found:
            screen.print("no communities: no fact holds")
        elif len(below[None]) > limit:
            screen.print(f"and {len(below[None]) - limit} more")


def _grow(tree: Tree, item: CommunityItem, below: Mapping[str | None, Sequence[CommunityItem]]) -> None:
    """Add what is below; a single one that holds all of it says nothing new, and is passed over."""
    parts = below.get(item.id, ())
    while len(parts) == 1 and parts[0].size == item.size:
        parts = below.get(parts[0].id, ())
    for part in parts:
        _grow(tree.add(_label(part)), part, below)


def _label(item: CommunityItem) -> str:
    """Size, name, and the members that the name does not say."""
    named = set(item.name.split(", "))
    others = [m.name for m in item.members if m.name not in named]
    told = ", ".join(others[:_MEMBERS]) + (" ..." if len(others) > _MEMBERS else "")
    head = f"{item.size} {item.name}" + (" (computed)" if item.computed else "")
    return line(f"{head}: {told}" if told else head)


def _nested(item: CommunityItem, below: Mapping[str | None, Sequence[CommunityItem]]) -> dict[str, object]:
    return {**item.to_dict(), "communities": [_nested(part, below) for part in below.get(item.id, ())]}
