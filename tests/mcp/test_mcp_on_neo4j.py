"""The tools and the server on a memory at an address: they say what they say of a file."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import serving
from mcp import Client, StdioServerParameters
from neo4j_servers import Place
from serving import open_memory

import graphmem
from graphmem import tools
from graphmem.testing import FixedClock

pytestmark = pytest.mark.neo4j
SERVING = str(serving.__file__)
ENVIRONMENT = {"PYTHONPATH": str(Path(graphmem.__file__).parents[1])}
GROUP = "g'\") DETACH DELETE n //"


def told(memory: graphmem.Memory) -> list[tuple[str, Any]]:
    """What every tool says, one after another, of the same story."""
    said: list[tuple[str, Any]] = []

    def call(tool: str, **arguments: object) -> dict[str, Any]:
        answer = tools.call(memory, tool, arguments)
        assert ("error" in answer) is (tool == "communities"), answer  # none were built
        said.append((tool, rounded(answer)))
        return answer

    first = call("add_episode", text="Mira works at Acme since 2020.", reference_time="2021-01-01")
    call("add_episode", text="Mira works at Globex since 2023.", reference_time="2024-01-01")
    call("add_facts", rows=[{"source": "Bob", "relation": "knows", "target": "Mira"}])
    for point in ({}, {"as_of_valid": "2022-06-01"}, {"as_of_valid": "2023-06-01", "as_of_system": first["created_at"]}):
        found = call("search", query="Where does Mira work?", kinds=["fact"], **point)
        call("facts", entity="Mira", **point)
    fact = found["hits"][0]["id"]
    for tool in ("entity", "timeline", "neighbours"):
        call(tool, **{"name" if tool == "entity" else "entity": "Mira"})
    call("context", query="Where does Mira work?")
    call("explain", item=fact, query="Where does Mira work?")
    call("why_not", query="Whom does Bob know?", item=fact)
    call("episodes", entity="Mira")
    call("episode", id=first["id"])
    call("communities")
    forgotten = call("forget", episode=first["id"], reason="asked to")
    call("facts", entity="Mira", as_of_valid="2022-06-01")
    call("restore", operation=forgotten["id"])
    call("facts", entity="Mira", as_of_valid="2022-06-01")
    (known,) = call("facts", entity="Bob")["facts"]
    corrected = call("correct_fact", fact=known["id"], target="Globex", reason="told so")
    (known,) = call("facts", entity="Bob")["facts"]
    call("end_fact", fact=known["id"], at="2026-02-01")
    call("facts", entity="Bob", history=True)
    call("restore", operation=corrected["id"])
    call("why", fact=fact)
    call("diff", since="2024-06-01")
    call("stats")
    assert {tool for tool, _ in said} == {tool.name for tool in tools.TOOLS}
    return said


def rounded(value: Any) -> Any:
    """The same with scores to a few digits: a server adds in another order."""
    if isinstance(value, dict):
        return {key: rounded(v) for key, v in value.items()}
    if isinstance(value, list):
        return [rounded(v) for v in value]
    return round(value, 4) if isinstance(value, float) else value


def test_every_tool_says_the_same_of_a_server(emptied: Place) -> None:
    """Told, asked at several points, forgotten and restored, in a group whose name looks like a statement."""
    clocks = [FixedClock("2026-01-15T12:00:00Z") for _ in range(2)]
    with (
        open_memory(emptied.uri, auth=emptied.auth, clock=clocks[0], group=GROUP) as server,
        open_memory(":memory:", clock=clocks[1], group=GROUP) as plain,
    ):
        for one, other in zip(told(server), told(plain), strict=True):
            assert one == other
        assert server.state_hash() == plain.state_hash()
        assert server.verify() == []


def test_what_one_client_tells_a_server_the_next_finds(emptied: Place) -> None:
    """Each has a process of the MCP server of its own; the address is theirs, who may enter is in the environment."""
    user, password = emptied.auth
    environment = {**ENVIRONMENT, "GRAPHMEM_NEO4J_USER": user, "GRAPHMEM_NEO4J_PASSWORD": password}
    started = StdioServerParameters(command=sys.executable, args=[SERVING, emptied.uri, "stdio"], env=environment)

    async def called(tool: str, **arguments: object) -> dict[str, Any]:
        async with Client(started) as client:
            result = await client.call_tool(tool, arguments)
            assert not result.is_error, result.content
            answer: dict[str, Any] = json.loads(result.content[0].text)  # type: ignore[union-attr]
            return answer

    asyncio.run(called("add_episode", text="Mira works at Acme since 2020.", reference_time="2021-01-01"))
    found = asyncio.run(called("search", query="Where does Mira work?", kinds=["fact"]))
    assert [hit["target"] for hit in found["hits"]] == ["Acme"]


@pytest.mark.local
def test_the_command_serves_a_memory_at_an_address(emptied: Place) -> None:
    """`graphmem mcp --db bolt://…`, with the local model and embedder."""
    user, password = emptied.auth
    environment = {**ENVIRONMENT, "GRAPHMEM_NEO4J_USER": user, "GRAPHMEM_NEO4J_PASSWORD": password}
    command = ["-m", "graphmem.cli", "mcp", "--db", emptied.uri, "--group", "harbor"]

    async def run() -> None:
        async with Client(StdioServerParameters(command=sys.executable, args=command, env=environment)) as client:
            for text, at in (("I live in Lisbon.", "2025-01-08"), ("I moved to Porto in March.", "2025-04-02")):
                added = await client.call_tool("add_episode", {"text": text, "actor": "Mira", "reference_time": at})
                assert not added.is_error, added.content
            for point, place in (({}, "Porto"), ({"as_of_valid": "2025-02-15"}, "Lisbon")):
                found = await client.call_tool("facts", {"entity": "Mira", **point})
                assert [f["target"] for f in json.loads(found.content[0].text)["facts"]] == [place]  # type: ignore[union-attr]

    asyncio.run(run())
