"""The protocol's view of the tools: which there are, and how a call is answered."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

from graphmem import __version__
from graphmem.errors import MissingExtra
from graphmem.memory import Memory
from graphmem.tools import INSTRUCTIONS, Tool, call, offered

if TYPE_CHECKING:
    from mcp import types
    from mcp.server import Server
    from mcp.server.context import ServerRequestContext

INSTALL = "pip install 'graphmem[mcp]'"
READERS = 8
"""Reads that run at the same time; writes run one by one, as the store would have them anyway, without a thread each."""

_LOG = logging.getLogger(__name__)


def log_to_stderr() -> None:
    """What goes wrong inside is told on standard error, unless the program that serves has set logging up."""
    graphmem = logging.getLogger("graphmem")
    if not logging.getLogger().handlers and all(isinstance(h, logging.NullHandler) for h in graphmem.handlers):
        handler = logging.StreamHandler()
        handler.setLevel(logging.WARNING)
        graphmem.addHandler(handler)


def server(memory: Memory, *, read_only: bool = False) -> Server[Any]:
    """A server whose tools act on `memory`, in its group. Calls run in threads, and any number of clients may share it.

    Raises `MissingExtra` with the line that installs what is missing.
    """
    try:
        import anyio
        import anyio.to_thread
        from mcp import types
        from mcp.server import Server
    except ImportError as error:
        raise MissingExtra(f"the MCP server needs {error.name}: {INSTALL}") from error

    tools = {tool.name: tool for tool in offered(read_only=read_only)}
    reading, writing = anyio.CapacityLimiter(READERS), anyio.CapacityLimiter(1)

    async def list_tools(context: ServerRequestContext[Any], asked: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_described(tool) for tool in tools.values()])

    async def call_tool(context: ServerRequestContext[Any], asked: types.CallToolRequestParams) -> types.CallToolResult:
        limiter = writing if asked.name in tools and tools[asked.name].writes else reading
        answer = await anyio.to_thread.run_sync(_answer, memory, asked.name, asked.arguments, read_only, limiter=limiter)
        failed = answer.get("error")
        text = str(failed) if failed is not None else json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
        return types.CallToolResult(content=[types.TextContent(text=text)], is_error=failed is not None)

    return Server("graphmem", version=__version__, instructions=INSTRUCTIONS, on_list_tools=list_tools, on_call_tool=call_tool)


def _described(tool: Tool) -> types.Tool:
    from mcp import types

    hints = types.ToolAnnotations(
        read_only_hint=not tool.writes, destructive_hint=tool.name == "forget", idempotent_hint=not tool.writes, open_world_hint=False
    )
    return types.Tool(name=tool.name, description=tool.description, input_schema=tool.schema, annotations=hints)


def _answer(memory: Memory, name: str, arguments: dict[str, object] | None, read_only: bool) -> dict[str, object]:
    try:
        return call(memory, name, arguments or {}, read_only=read_only)
    except Exception:
        # A client gets no traceback; whoever runs the server does.
        _LOG.exception("the tool %s failed", name)
        return {"error": f"{name} failed inside graphmem; the server's log says why"}
