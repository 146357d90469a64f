"""The page about the tools says what they are."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path

import tool_table

import graphmem
from graphmem.cli.serving import mcp

PAGE = (Path(graphmem.__file__).parents[1] / "docs" / "mcp.md").read_text("utf-8")


def test_the_table_lists_the_tools_there_are() -> None:
    """As `python tests/mcp/tool_table.py docs/mcp.md` writes it."""
    assert tool_table.shown(PAGE) == tool_table.table()


def test_the_options_of_the_page_are_those_of_the_command() -> None:
    """No option of its own is missing, and none is made up."""
    own = {f"--{name.replace('_', '-')}" for name in inspect.signature(mcp).parameters if name != "where"}
    shared = {"--db", "--group", "--timezone", "--model", "--embedder"}

    assert set(re.findall(r"--[a-z][a-z-]+", PAGE)) == own | shared


def test_the_configurations_are_json() -> None:
    """They can be copied as they are."""
    blocks = re.findall(r"^```json\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)

    assert [set(json.loads(block)) for block in blocks] == [{"mcpServers"}] * 2
