"""The commands that serve a memory to other programs."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Annotated

import typer

from graphmem.cli.options import Where
from graphmem.cli.output import complain
from graphmem.errors import InvalidInput


def mcp(
    where: Where,
    read_only: Annotated[bool, typer.Option("--read-only", help="Offer only the tools that read.")] = False,
    http: Annotated[bool, typer.Option("--http", help="Serve over HTTP; otherwise over standard input and output.")] = False,
    host: Annotated[str, typer.Option("--host", metavar="HOST", help="HTTP: where to listen; other machines need --token.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", metavar="N", min=0, max=65535, help="HTTP: the port; 0 is any free one.")] = 8765,
    token: Annotated[
        str | None,
        typer.Option(
            "--token",
            metavar="TOKEN",
            help="HTTP: what clients must show.  [env: GRAPHMEM_MCP_TOKEN; default: a new one, shown once]",
            show_default=False,
        ),
    ] = None,
    name: Annotated[
        list[str] | None, typer.Option("--name", metavar="HOST", help="HTTP: another name that clients may call; repeatable.")
    ] = None,
) -> None:
    """Serve the memory to an agent by the Model Context Protocol.

    Example: graphmem mcp --db team.db --read-only
    """
    if where.json:
        raise InvalidInput("--json", True, "a server has no document to print")
    if http:
        _over_http(where, host, port, token, name or [], read_only)
    else:
        _over_stdio(where, read_only)


def browser(
    db: Annotated[
        str, typer.Option("--db", metavar="ADDRESS", help="The server that holds the memory; Browser is looked for on its host.")
    ] = "neo4j://localhost:7687",
    neo4j: Annotated[
        str | None, typer.Option("--neo4j", metavar="URL", help="The page of Neo4j Browser, where it is another.", show_default=False)
    ] = None,
    group: Annotated[str, typer.Option("--group", metavar="NAME", help="The group that the guide shows.")] = "main",
    host: Annotated[str, typer.Option("--host", metavar="HOST", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", metavar="N", min=0, max=65535, help="The port; 0 is any free one.")] = 8766,
    no_open: Annotated[bool, typer.Option("--no-open", help="Only print the address; open no page.")] = False,
) -> None:
    """Show a memory on a Neo4j server in Neo4j Browser: a guide, a style and saved queries, served until Ctrl-C.

    Example: graphmem browser --db neo4j://localhost:7687
    """
    import threading
    import webbrowser

    from graphmem import browser as files

    files.page(neo4j or db, "")  # a wrong address is said before anything is served
    # An interrupt that comes while the lines are printed ends it as one that comes later does.
    with suppress(KeyboardInterrupt), files.serving(host=host, port=port, group=group) as address:
        page = files.page(neo4j or db, address)
        typer.echo(f"Neo4j Browser with the guide: {page}")
        typer.echo(f"style, guide and saved queries: {address}/")
        typer.echo("the same for everybody who connects, in the server's settings:")
        typer.echo(f"  browser.post_connect_cmd={files.post_connect(address)}")
        typer.echo("Ctrl-C ends it")
        if not no_open:
            webbrowser.open(page)
        threading.Event().wait()
    typer.echo("ended")


def _over_stdio(where: Where, read_only: bool) -> None:
    import signal

    from graphmem.mcp import stdio

    with where.open_one(new=not read_only) as memory:
        # Standard input is read in a thread that nothing can wake: an interrupt ends the process. Writes are whole or not at all.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if sys.stdin.isatty():
            complain("waiting for a client of the Model Context Protocol on standard input; Ctrl-C leaves")
        stdio.serve(memory, read_only=read_only)


def _over_http(where: Where, host: str, port: int, token: str | None, names: list[str], read_only: bool) -> None:
    import signal

    from graphmem.mcp import http
    from graphmem.settings import Settings

    given = token if token is not None else Settings.from_environment().mcp_token.reveal() or None
    address = http.Address(host, port, given, names)

    def ready(url: str, used: str) -> None:
        complain(f"serving {where.place} at {url}")
        if given is None:
            complain(f"clients need this token: {used}")

    with where.open_one(new=not read_only) as memory:
        # The server stops by itself and then raises the signal again, which would end the process with the memory open.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        http.serve(memory, address, ready=ready, read_only=read_only)
