"""The commands that read a memory. What they need beyond the standard library is imported when they run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from graphmem.cli.options import Narrow, Point, Where
from graphmem.cli.output import complain, console, document, line
from graphmem.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from graphmem.model import Violation, Warn
    from graphmem.view import View

T = TypeVar("T")

Query = Annotated[str, typer.Argument(metavar="QUERY", help="A question or a few words.")]
Name = Annotated[str | None, typer.Argument(metavar="ENTITY", help="A name, alias or id; everything without one.", show_default=False)]
Relations = Annotated[list[str] | None, typer.Option("--relation", metavar="NAME", help="Only this relation; repeatable.")]
Shown = Annotated[int, typer.Option("--limit", metavar="N", min=1, help="How many to show at most.")]
Rerank = Annotated[
    list[str] | None,
    typer.Option(
        "--rerank", metavar="NAME", help="Look again: mmr, node_distance:ENTITY, episode_mentions, cross_encoder:NAME; repeatable."
    ),
]
Kinds = Annotated[
    str | None,
    typer.Option(
        "--kinds",
        metavar="LIST",
        help="What to find, of fact, entity, episode and community, with commas between; without it the first three, and for "
        "a question about all of it communities.",
        show_default=False,
    ),
]
Depth = Annotated[int, typer.Option("--depth", metavar="N", min=0, help="How many facts the graph search may cross.")]


def search(
    query: Query,
    where: Where,
    point: Point,
    narrow: Narrow,
    limit: Shown = 10,
    depth: Depth = 1,
    kinds: Kinds = None,
    history: Annotated[bool, typer.Option("--history", help="Also facts that hold at another time.")] = False,
    rerank: Rerank = None,
    explain: Annotated[bool, typer.Option("--explain", help="Say of each why it was found and what it rests on.")] = False,
) -> None:
    """Find facts, entities, episodes and communities that answer a question, best first.

    Example: graphmem search "where does Mira live?" --kinds fact --valid 2024-08-15
    """
    with where.open() as memory:
        view = point.of(memory)
        found = view.search(
            query,
            limit=limit,
            depth=depth,
            kinds=_kinds(kinds),
            filters=narrow.filters(where.timezone),
            history=history,
            rerank=rerank,
            group=where.groups,
        )
        told = [view.explain(hit) for hit in found] if explain else []
        if where.json:
            hits = found.to_dict()
            for hit, explanation in zip(hits, told, strict=False):
                hit["explanation"] = explanation.to_dict()
            document({"query": query, "hits": hits, "warnings": [_warning(w) for w in found.warnings]})
            return
        from graphmem.cli import render
        from graphmem.instants import zone_of

        episodes = render.cited(view, [i for h in found for i in h.episodes], where.groups)
        for warning in found.warnings:
            complain(f"{warning.code}: {warning.message or warning.raw}")
        if not found:
            _note_before(view, point, where.groups)
        screen = console()
        screen.print(render.hits(found, episodes, zone_of(where.timezone)) if found else "nothing found")
        for explanation in told:
            screen.print()
            screen.print(render.lines(explanation.lines()))


def why_not(
    query: Query,
    item: Annotated[str, typer.Argument(metavar="ITEM", help="An id, a uuid or the name of an entity.")],
    where: Where,
    point: Point,
    narrow: Narrow,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="How many hits the search may give.")] = 10,
    depth: Depth = 1,
    kinds: Kinds = None,
    history: Annotated[bool, typer.Option("--history", help="Also facts that hold at another time.")] = False,
    rerank: Rerank = None,
) -> None:
    """Say what keeps an item out of a search, the first cause first; exit code 1 if there is no such item.

    Example: graphmem why-not "where does Mira live?" Lisbon --valid 2024-08-15
    """
    with where.open() as memory:
        told = point.of(memory).why_not(
            query,
            item,
            limit=limit,
            depth=depth,
            kinds=_kinds(kinds),
            filters=narrow.filters(where.timezone),
            history=history,
            rerank=rerank,
            group=where.groups,
        )
    if where.json:
        document(told.to_dict())
    else:
        from graphmem.cli import render

        console().print(render.lines(told.lines()))
    if told.reason == "unknown":
        raise typer.Exit(1)


def context(
    query: Query,
    where: Where,
    point: Point,
    narrow: Narrow,
    tokens: Annotated[int, typer.Option("--tokens", metavar="N", min=1, help="The most tokens that the text may have.")] = 800,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="How many hits to choose from.")] = 30,
    depth: Depth = 1,
    scope: Annotated[
        str, typer.Option("--scope", metavar="NAME", help="local: what answers the question; global: all of the memory, by topic.")
    ] = "local",
    tiers: Annotated[
        str | None,
        typer.Option(
            "--tiers",
            metavar="LIST",
            help="Parts under labels, of profile, topics, facts and recent, with commas between.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Print a text for a prompt: what the memory knows about a question, dated and cited, within a budget of tokens.

    Example: graphmem context "who owns the importer?" --tokens 400
    """
    with where.open() as memory:
        view = point.of(memory)
        made = view.context(
            query,
            max_tokens=tokens,
            limit=limit,
            depth=depth,
            filters=narrow.filters(where.timezone),
            scope=scope,
            tiers=None if tiers is None else _listed("--tiers", tiers, "must name profile, topics, facts or recent, with commas between"),
            group=where.groups,
        )
        if not made.text:
            _note_before(view, point, where.groups)
    if where.json:
        document({"query": query, "text": made.text, "tokens": made.tokens, "citations": dict(made.citations)})
        return
    from graphmem.cli.output import shown

    typer.echo(shown(made.text) or "nothing found")


def entity(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name, an alias or an id.")],
    where: Where,
    point: Point,
    limit: Shown = 50,
    history: Annotated[bool, typer.Option("--history", help="Also facts that hold at another time.")] = False,
) -> None:
    """Show an entity: what it is, its facts, and the entities around it; exit code 1 if there is none of that name.

    Example: graphmem entity "Mira Okafor" --history
    """
    with where.open() as memory:
        view = point.of(memory)
        try:
            found = view.entity(name, group=where.groups)
        except NotFound as error:
            complain(str(error))
            raise typer.Exit(1) from None
        items, more = _cut(found.facts(history=history, limit=limit + 1), limit)
        around = found.neighbours(limit=limit)
        if where.json:
            document({"entity": found.to_dict(), "facts": [f.to_dict() for f in items], "more": more, "neighbours": around.to_dict()})
            return
        from graphmem.cli import render
        from graphmem.instants import zone_of

        screen = console()
        screen.print(render.entity_head(found.item))
        if items:
            screen.print()
            screen.print(
                render.facts(items, render.cited(view, [i for f in items for i in f.episodes], where.groups), zone_of(where.timezone))
            )
            _note_more(more, limit)
        if around:
            screen.print()
            screen.print(f"Around it: {', '.join(line(e.name, 60) for e in around)}", soft_wrap=False)


def facts(
    where: Where,
    point: Point,
    entity: Name = None,
    relation: Relations = None,
    source: Annotated[str | None, typer.Option("--source", metavar="NAME", help="Only facts from this entity.")] = None,
    target: Annotated[str | None, typer.Option("--target", metavar="NAME", help="Only facts to this entity.")] = None,
    history: Annotated[bool, typer.Option("--history", help="Also facts that hold at another time.")] = False,
    limit: Shown = 100,
) -> None:
    """List facts that hold, by when they began.

    Example: graphmem facts "Mira Okafor" --relation lives_in --history --system 2025-03-20
    """
    with where.open() as memory:
        view = point.of(memory)
        listed = view.facts(
            entity, relation=relation or None, source=source, target=target, history=history, limit=limit + 1, group=where.groups
        )
        items, more = _cut(listed, limit)
        if where.json:
            document({"facts": [f.to_dict() for f in items], "more": more})
            return
        from graphmem.cli import render
        from graphmem.instants import zone_of

        episodes = render.cited(view, [i for f in items for i in f.episodes], where.groups)
        console().print(render.facts(items, episodes, zone_of(where.timezone)) if items else "no facts")
        _note_more(more, limit)


def timeline(
    where: Where,
    point: Point,
    entity: Name = None,
    relation: Relations = None,
    limit: Shown = 100,
) -> None:
    """List what began and what ended, in order of time.

    Example: graphmem timeline "Mira Okafor" --relation lives_in
    """
    with where.open() as memory:
        view = point.of(memory)
        entries, more = _cut(view.timeline(entity, relation=relation or None, limit=limit + 1, group=where.groups), limit)
        if where.json:
            document({"events": [e.to_dict() for e in entries], "more": more})
            return
        from graphmem.cli import render
        from graphmem.instants import zone_of

        episodes = render.cited(view, [i for e in entries for i in e.fact.episodes], where.groups)
        console().print(render.timeline(entries, episodes, zone_of(where.timezone)) if entries else "no events")
        _note_more(more, limit)


def episodes(
    where: Where,
    point: Point,
    entity: Annotated[str | None, typer.Option("--entity", metavar="NAME", help="Only episodes that mention it.")] = None,
    session: Annotated[str | None, typer.Option("--session", metavar="NAME", help="Only of this session.")] = None,
    actor: Annotated[str | None, typer.Option("--actor", metavar="NAME", help="Only by this person.")] = None,
    source: Annotated[str | None, typer.Option("--source", metavar="NAME", help="Only from this source.")] = None,
    since: Annotated[str | None, typer.Option("--since", metavar="TIME", help="Said at or after this time.")] = None,
    until: Annotated[str | None, typer.Option("--until", metavar="TIME", help="Said before this time.")] = None,
    newest: Annotated[bool, typer.Option("--newest", help="Newest first.")] = False,
    limit: Shown = 100,
) -> None:
    """List what was said, in order of time, with the ids that `forget` takes.

    Example: graphmem episodes --actor "Mira Okafor" --since 2025-04-01
    """
    with where.open() as memory:
        listed = point.of(memory).episodes(
            entity=entity,
            session=session,
            actor=actor,
            source=source,
            since=since,
            until=until,
            newest_first=newest,
            limit=limit + 1,
            group=where.groups,
        )
    items, more = _cut(listed, limit)
    if where.json:
        document({"episodes": [e.to_dict() for e in items], "more": more})
        return
    from graphmem.cli import render
    from graphmem.instants import zone_of

    console().print(render.episode_list(items, zone_of(where.timezone)) if items else "no episodes")
    _note_more(more, limit)


def stats(where: Where, point: Point) -> None:
    """Count what the memory holds.

    Example: graphmem stats --db team.db --system 2025-03-01
    """
    with where.open() as memory:
        several = point.given or len(where.groups) > 1
        counted: dict[str, object] = dict(point.of(memory).counts(group=where.groups)) if several else memory.stats()
    if where.json:
        document(counted)
        return
    from graphmem.cli import render

    console().print(
        render.pairs(
            [
                render.Row("file" if isinstance(where.place, Path) else "server", where.place),
                *(render.Row(k, v) for k, v in counted.items()),
            ]
        )
    )


def verify(where: Where) -> None:
    """Check the file and everything it says against its own log; exit code 1 if something is broken.

    Example: graphmem verify --db team.db
    """
    with where.open() as memory:
        found = memory.verify()
    if where.json:
        document({"violations": [_violation(v) for v in found]})
    elif not found:
        typer.echo("all is well: the graph is what its log says")
    else:
        for v in found:
            typer.echo(f"{v.kind}: {line(v.id)}: {line(v.detail, 400)}")
        complain(f"{len(found)} violations; keep a copy of {where.place} before writing to it again")
    if found:
        raise typer.Exit(1)


def _kinds(listed: str | None) -> tuple[str, ...] | None:
    """What --kinds names."""
    return None if listed is None else _listed("--kinds", listed, "must name fact, entity, episode or community, with commas between")


def _listed(option: str, given: str, allowed: str) -> tuple[str, ...]:
    found = tuple(k.strip() for k in given.split(",") if k.strip())
    if not found:
        raise InvalidInput(option, given, allowed)
    return found


def _note_before(view: View, point: Point, groups: tuple[str, ...]) -> None:
    """Why nothing can be found at a system time before the first record."""
    if point.believed is not None and not view.counts(group=groups)["episodes"]:
        complain(f"the memory had recorded nothing by {point.believed}; `ingest --archive` and `add --recorded-at` record history")


def _cut(items: Sequence[T], limit: int) -> tuple[list[T], bool]:
    """The first `limit`, and whether there are more."""
    return list(items[:limit]), len(items) > limit


def _note_more(more: bool, limit: int) -> None:
    if more:
        complain(f"there are more than {limit}; --limit shows them")


def _warning(warning: Warn) -> dict[str, object]:
    return {"code": warning.code, "raw": str(warning.raw), "message": warning.message}


def _violation(violation: Violation) -> dict[str, str]:
    return {"kind": violation.kind, "id": violation.id, "detail": violation.detail}
