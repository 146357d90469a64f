"""The server on standard input and output, in a process of its own, with the SDK's client."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from served import ENVIRONMENT, SERVING

import graphmem
from graphmem import tools
from graphmem.tools import INSTRUCTIONS

Started = Callable[..., StdioServerParameters]
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


async def answer(client: Client, tool: str, **arguments: object) -> dict[str, Any]:
    """What a tool that works says."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    found: dict[str, Any] = json.loads(result.content[0].text)  # type: ignore[union-attr]
    return found


async def refusal(client: Client, tool: str, **arguments: object) -> str:
    """What a tool that refuses says."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return str(result.content[0].text)  # type: ignore[union-attr]


@pytest.mark.parametrize("era", ["auto", "legacy"])
def test_a_client_learns_which_tools_there_are(started: Started, era: str) -> None:
    """In either way that clients greet: with a description, a schema, and whether it only reads."""

    async def run() -> None:
        async with Client(started(), mode=era) as client:
            listed = (await client.list_tools()).tools
            assert [t.name for t in listed] == [t.name for t in tools.TOOLS]
            assert {t.name: t.input_schema for t in listed} == {t.name: t.schema for t in tools.TOOLS}
            assert {t.name for t in listed if not t.annotations.read_only_hint} == {t.name for t in tools.TOOLS if t.writes}
            assert client.instructions == INSTRUCTIONS

    asyncio.run(run())


def test_a_question_has_an_answer_for_every_point_on_both_axes(started: Started) -> None:
    """Told of Acme first and of Globex later: what is true, what was true, and what was believed."""

    async def run() -> None:
        async with Client(started()) as client:
            first = await answer(client, "add_episode", text="Mira works at Acme since 2020.", reference_time="2021-01-01")
            await answer(client, "add_episode", text="Mira works at Globex since 2023.", reference_time="2024-01-01")

            async def where(**point: str) -> str:
                found = await answer(client, "search", query="Where does Mira work?", kinds=["fact"], limit=1, **point)
                return str(found["hits"][0]["target"])

            known = first["created_at"]
            assert await where() == "Globex"
            assert await where(as_of_valid="2022-06-01") == "Acme"
            assert await where(as_of_valid="2023-06-01") == "Globex"
            assert await where(as_of_valid="2023-06-01", as_of_system=known) == "Acme"

    asyncio.run(run())


def test_what_one_client_forgets_the_next_can_restore(started: Started) -> None:
    """The file outlives the server; ids lead from one to the other."""

    async def forget() -> str:
        async with Client(started()) as client:
            episode = await answer(client, "add_episode", text="Mira works at Acme since 2020.")
            forgotten = await answer(client, "forget", episode=episode["id"])
            assert (await answer(client, "facts"))["facts"] == []
            return str(forgotten["id"])

    async def restore(operation: str) -> None:
        async with Client(started()) as client:
            await answer(client, "restore", operation=operation)
            assert [f["target"] for f in (await answer(client, "facts"))["facts"]] == ["Acme"]

    asyncio.run(restore(asyncio.run(forget())))


def test_mistakes_are_answers_of_tools_and_end_nothing(started: Started) -> None:
    """The text names argument, value and what is allowed; the next call works."""

    async def run() -> None:
        async with Client(started()) as client:
            assert await refusal(client, "search", query="x", limit=500) == "limit=500: must be an integer from 1 to 50"
            assert "as_of_system='soon': must be" in await refusal(client, "stats", as_of_system="soon")
            assert "must be among search" in await refusal(client, "dance")
            assert (await answer(client, "stats"))["episodes"] == 0

    asyncio.run(run())


def test_a_failure_inside_is_told_without_a_traceback(started: Started, tmp_path: Path) -> None:
    """The client gets one sentence, the log of the server the rest."""
    log = tmp_path / "log"

    async def run() -> None:
        from mcp.client.stdio import stdio_client

        with log.open("w") as errors:
            async with Client(stdio_client(started(), errlog=errors)) as client:
                said = await refusal(client, "add_episode", text="Please fail.")
                assert said == "add_episode failed inside graphmem; the server's log says why"
                assert (await answer(client, "stats"))["episodes"] == 0

    asyncio.run(run())
    assert "ZeroDivisionError" in log.read_text("utf-8")


def test_a_read_only_server_neither_lists_nor_runs_what_writes(started: Started) -> None:
    """Whatever the client calls."""

    async def run() -> None:
        async with Client(started()) as client:
            await answer(client, "add_episode", text="Mira works at Acme since 2020.")
        async with Client(started("read-only")) as client:
            listed = [t.name for t in (await client.list_tools()).tools]
            assert listed == [t.name for t in tools.TOOLS if not t.writes]
            assert "must be among" in await refusal(client, "add_episode", text="Hi.")
            assert (await answer(client, "stats"))["episodes"] == 1

    asyncio.run(run())


def test_two_servers_share_a_file(started: Started) -> None:
    """Each client has a server of its own; they write at the same time and see each other's facts."""

    async def tell(client: Client, who: str) -> None:
        for n in range(4):
            await answer(client, "add_episode", text=f"{who} works at Firm{n} since {2000 + n}.")

    async def run() -> None:
        async with Client(started()) as one, Client(started()) as other:
            await asyncio.gather(tell(one, "Mira"), tell(other, "Priya"))
            for client in (one, other):
                assert (await answer(client, "stats"))["episodes"] == 8
                assert [f["target"] for f in (await answer(client, "facts"))["facts"]] == ["Firm3", "Firm3"]

    asyncio.run(run())


def requests(*asked: tuple[str, dict[str, object]]) -> bytes:
    """Lines as a client writes them, after the greeting."""
    lines: list[dict[str, object]] = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        *({"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {"name": t, "arguments": a}} for n, (t, a) in enumerate(asked, 1)),
    ]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def test_nothing_but_the_protocol_is_on_standard_output(tmp_path: Path) -> None:
    """What a library prints goes to standard error, and closing standard input ends the server with code 0."""
    command = [sys.executable, SERVING, tmp_path / "team.db"]
    environment = {**os.environ, **ENVIRONMENT, "PYTHONUNBUFFERED": ""}  # so that what is printed waits in a buffer until the end
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(requests(("add_episode", {"text": "Please print."}), ("stats", {})))
        process.stdin.flush()
        lines = [process.stdout.readline() for _ in range(3)]
        out, errors = process.communicate(timeout=20)

    assert out == b""
    assert {json.loads(line)["id"] for line in lines} == {0, 1, 2}
    assert b"printed by a library" in errors
    assert process.returncode == 0


def test_rubbish_on_standard_input_ends_nothing(tmp_path: Path) -> None:
    """Lines that are no messages, or too deep to be read, are passed over."""
    rubbish = b"\xff\xfe\n{}\n[]\nnull\n" + b"[" * 50_000 + b"\n" + b"x" * 100_000 + b"\n"
    command = [sys.executable, SERVING, tmp_path / "team.db"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(rubbish + requests(("stats", {})))
        process.stdin.flush()
        while True:
            said = json.loads(process.stdout.readline())
            if said.get("id") == 1:
                break
        process.communicate(timeout=20)

    assert json.loads(said["result"]["content"][0]["text"])["episodes"] == 0
    assert process.returncode == 0


def test_a_write_that_has_begun_is_finished_when_the_client_leaves(tmp_path: Path) -> None:
    """Closing standard input in the middle of a slow write loses nothing of it."""
    where, go = tmp_path / "team.db", tmp_path / "go"
    with subprocess.Popen(
        [sys.executable, SERVING, where], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(requests(("add_episode", {"text": f"Mira works at Acme since 2020. Please wait for {go}"})))
        process.stdin.flush()
        assert process.stderr.readline() == b"reading\n"
        process.stdin.close()
        go.touch()
        process.wait(timeout=20)

    assert process.returncode == 0
    from serving import open_memory

    with open_memory(str(where)) as memory:
        assert [f.target for f in memory.facts("Mira")] == ["Acme"]
        assert memory.verify() == []


def test_a_client_that_is_gone_is_no_error(tmp_path: Path) -> None:
    """Killed with an answer on its way: the server ends as it does when a client leaves in order."""
    with subprocess.Popen(
        [sys.executable, SERVING, tmp_path / "team.db"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(requests())
        process.stdin.flush()
        assert process.stdout.readline()
        process.stdout.close()
        process.stdin.write(b'{"jsonrpc": "2.0", "id": 9, "method": "ping"}\n')
        process.stdin.close()
        assert process.wait(timeout=20) == 0
        assert process.stderr.read() == b""


def test_without_the_sdk_the_line_that_installs_it_is_named(monkeypatch: pytest.MonkeyPatch, memory: graphmem.Memory) -> None:
    """As for every other part that is not installed."""
    from graphmem.errors import MissingExtra
    from graphmem.mcp import stdio

    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(MissingExtra, match=r"pip install 'graphmem\[mcp\]'"):
        stdio.serve(memory)
