"""The table of tools in the documentation: `python tests/mcp/tool_table.py docs/mcp.md` writes it into the page."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from graphmem.tools import TOOLS

_TABLE = re.compile(r"(<!-- tools -->\n)(.*?)(<!-- /tools -->)", re.DOTALL)


def table() -> str:
    """A row a tool: what a model is told about it, and its own arguments, those it cannot do without in bold."""
    rows = ["| tool | for | arguments |", "|---|---|---|"]
    for tool in TOOLS:
        properties, required = tool.schema["properties"], tool.schema["required"]
        own = [n for n in properties if not n.startswith("as_of_")]  # type: ignore[attr-defined]
        shown = " ".join(f"**`{n}`**" if n in required else f"`{n}`" for n in own)  # type: ignore[operator]
        rows.append(f"| `{tool.name}`{', writes' if tool.writes else ''} | {tool.description} | {shown} |")
    return "\n".join(rows) + "\n"


def shown(page: str) -> str:
    """The table that the page has."""
    found = _TABLE.search(page)
    return found[2] if found else ""


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path(name)
        path.write_text(_TABLE.sub(lambda m: m[1] + table() + m[3], path.read_text("utf-8")), "utf-8")
