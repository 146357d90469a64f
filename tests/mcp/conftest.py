"""Memories for tools to act on, and servers in processes of their own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import StdioServerParameters
from served import ENVIRONMENT, SERVING, Served
from serving import open_memory

import graphmem
from graphmem import tools
from graphmem.testing import FixedClock

Call = Callable[..., dict[str, Any]]


@pytest.fixture
def memory(clock: FixedClock) -> Iterator[graphmem.Memory]:
    """A memory that is empty at first and sound at the end."""
    with open_memory(":memory:", clock=clock) as memory:
        yield memory
        assert memory.verify() == []


@pytest.fixture
def call(memory: graphmem.Memory) -> Call:
    """Calls a tool that is to work."""

    def call(tool: str, **arguments: object) -> dict[str, Any]:
        answer = tools.call(memory, tool, arguments)
        assert "error" not in answer, answer
        return answer

    return call


@pytest.fixture
def refused(memory: graphmem.Memory) -> Callable[..., str]:
    """Calls a tool that is to refuse, and gives its reason."""

    def call(tool: str, **arguments: object) -> str:
        answer = tools.call(memory, tool, arguments)
        assert list(answer) == ["error"]
        return str(answer["error"])

    return call


@pytest.fixture
def started(tmp_path: Path) -> Callable[..., StdioServerParameters]:
    """How a client starts a server on one and the same file."""

    def started(*mode: str) -> StdioServerParameters:
        return StdioServerParameters(
            command=sys.executable, args=[str(SERVING), str(tmp_path / "team.db"), "stdio", *mode], env=ENVIRONMENT
        )

    return started


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server over HTTP that the tests of a module share."""
    where = tmp_path_factory.mktemp("served") / "team.db"
    with subprocess.Popen([sys.executable, SERVING, where, "http"], stderr=subprocess.PIPE, text=True, env=ENVIRONMENT) as process:
        assert process.stderr is not None
        yield Served(process.stderr.readline().strip(), process.stderr.readline().strip(), process)
        process.terminate()
        process.communicate(timeout=20)
