"""The server on standard input and output, for a client that starts it itself."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout

from graphmem.mcp.server import log_to_stderr, server
from graphmem.memory import Memory


def serve(memory: Memory, *, read_only: bool = False) -> None:
    """Serve one client until it closes standard input, or is gone. Nothing but the protocol is written to standard output.

    A write that has begun is finished. Raises `MissingExtra` with the line that installs what is missing.
    """
    log_to_stderr()
    served = server(memory, read_only=read_only)
    import anyio
    from mcp.server.stdio import stdio_server

    async def run() -> None:
        # What a library prints is kept from the protocol's stream, also what it leaves in a buffer until the end.
        async with stdio_server() as (incoming, outgoing):
            with redirect_stdout(sys.stderr):
                await served.run(incoming, outgoing, served.create_initialization_options())

    try:
        anyio.run(run)
    except* BrokenPipeError:
        pass  # a client that was killed reads no answers: it has left, as one that closes standard input has
