"""`graphmem mcp`: what it refuses at once, and, with the local model, what it serves."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from served import ROOT

from graphmem.cli import main
from graphmem.settings import Settings

TOKEN = "a-token-for-this-test"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["--http", "--host", "0.0.0.0"], "host='0.0.0.0': is reached by other machines; give a token"),
        (["--http", "--token", "short"], "token='***': must be 16 to 500 visible ASCII characters"),
        (["--http", "--port", "70000"], "--port"),
        (["--json"], "--json=True: a server has no document to print"),
    ],
)
def test_a_wrong_line_ends_before_anything_is_served(
    line: list[str], said: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Exit code 2 and one line; no memory is made."""
    where = tmp_path / "team.db"

    assert main(["mcp", "--db", str(where), *line]) == 2
    out, errors = capsys.readouterr()
    assert said in errors
    assert (out, errors.count("\n"), where.exists()) == ("", 1, False)


def test_a_reader_needs_a_memory_that_is_there(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A mistyped path is not an empty memory."""
    assert main(["mcp", "--db", str(tmp_path / "typo.db"), "--http", "--read-only"]) == 3
    assert "no such memory" in capsys.readouterr().err


@pytest.mark.local
def test_a_made_token_is_shown_once(tmp_path: Path) -> None:
    """On standard error, with the address, and another one each time."""
    shown = []
    for _ in range(2):
        command = [sys.executable, "-m", "graphmem.cli", "mcp", "--db", str(tmp_path / "team.db"), "--http", "--port", "0"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "GRAPHMEM_MCP_TOKEN": ""}
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as process:
            assert process.stderr is not None
            first, second = process.stderr.readline(), process.stderr.readline()
            assert httpx2.post(first.split()[-1]).status_code == 401
            process.terminate()
            out, rest = process.communicate(timeout=30)
        assert (process.returncode, out, rest) == (0, "", "")
        assert "at http://127.0.0.1:" in first
        assert second.startswith("graphmem: clients need this token: ")
        shown.append(second.split()[-1])
    assert len(set(shown)) == 2
    assert all(len(token) >= 40 for token in shown)


def test_the_token_of_the_environment_is_not_shown() -> None:
    """Wherever settings are printed."""
    settings = Settings.from_environment({"GRAPHMEM_MCP_TOKEN": TOKEN})

    assert settings.mcp_token.reveal() == TOKEN
    assert TOKEN not in repr(settings)


@pytest.mark.local
def test_the_command_serves_a_client_that_starts_it(tmp_path: Path) -> None:
    """With the local model and embedder: what a message says is found, and what was true before."""
    command = ["-m", "graphmem.cli", "mcp", "--db", str(tmp_path / "team.db"), "--group", "harbor"]

    async def run() -> None:
        async with Client(StdioServerParameters(command=sys.executable, args=command, env={"PYTHONPATH": str(ROOT)})) as client:
            for text, at in (("I live in Lisbon.", "2025-01-08"), ("I moved to Porto in March.", "2025-04-02")):
                added = await client.call_tool("add_episode", {"text": text, "actor": "Mira", "reference_time": at})
                assert not added.is_error, added.content
            for point, place in (({}, "Porto"), ({"as_of_valid": "2025-02-15"}, "Lisbon")):
                found = await client.call_tool("facts", {"entity": "Mira", **point})
                assert [f["target"] for f in json.loads(found.content[0].text)["facts"]] == [place]  # type: ignore[union-attr]

    asyncio.run(run())


@pytest.mark.local
@pytest.mark.parametrize(("stop", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_the_command_serves_over_http_until_it_is_stopped(tmp_path: Path, stop: signal.Signals, code: int) -> None:
    """A given token is not printed; at the end the file is closed, with nothing beside it."""
    where = tmp_path / "team.db"
    command = [sys.executable, "-m", "graphmem.cli", "mcp", "--db", str(where), "--http", "--port", "0"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "GRAPHMEM_MCP_TOKEN": TOKEN}

    async def run(url: str) -> None:
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}) as carrier,
            Client(streamable_http_client(url, http_client=carrier)) as client,
        ):
            await client.list_tools()
            added = await client.call_tool("add_facts", {"rows": [{"source": "Mira", "relation": "lives_in", "target": "Porto"}]})
            assert not added.is_error, added.content

    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        first = process.stderr.readline()
        asyncio.run(run(first.split()[-1]))
        process.send_signal(stop)
        out, errors = process.communicate(timeout=30)

    assert (process.returncode, out) == (code, "")
    assert TOKEN not in first + errors
    assert "Traceback" not in errors
    assert [p.name for p in tmp_path.iterdir()] == ["team.db"]


@pytest.mark.local
def test_an_interrupt_ends_a_server_that_waits_for_standard_input(tmp_path: Path) -> None:
    """At once, although a thread is reading."""
    command = [sys.executable, "-m", "graphmem.cli", "mcp", "--db", str(tmp_path / "team.db")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}) + "\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 1
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=10) == -signal.SIGINT
