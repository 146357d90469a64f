"""The server over HTTP: real sockets on 127.0.0.1, the SDK's client, and clients that mean no good."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from served import ENVIRONMENT, SERVING, Served

import graphmem
from graphmem import tools
from graphmem.errors import InvalidInput
from graphmem.mcp import http
from graphmem.mcp.http import Address

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@asynccontextmanager
async def connected(served: Served, mode: str = "auto") -> AsyncIterator[Client]:
    """A client that shows the token."""
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {served.token}"}) as carrier,
        Client(streamable_http_client(served.url, http_client=carrier), mode=mode) as client,
    ):
        yield client


async def answer(client: Client, tool: str, **arguments: object) -> dict[str, Any]:
    """What a tool that works says."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    found: dict[str, Any] = json.loads(result.content[0].text)  # type: ignore[union-attr]
    return found


def status(served: Served, method: str = "POST", path: str = "", **headers: str) -> int:
    """The status of one request with these headers."""
    with httpx2.Client() as client:
        return client.request(method, served.url + path, headers={**ACCEPT, **headers}, json=PING).status_code


@pytest.mark.parametrize("era", ["auto", "legacy"])
def test_a_client_with_the_token_is_served(served: Served, era: str) -> None:
    """In either way that clients greet: tools are listed and run, and mistakes are answers."""

    async def run() -> None:
        async with connected(served, era) as client:
            assert [t.name for t in (await client.list_tools()).tools] == [t.name for t in tools.TOOLS]
            await answer(client, "add_episode", text=f"Mira{era} works at Acme since 2020.")
            assert [f["target"] for f in (await answer(client, "facts", entity=f"Mira{era}"))["facts"]] == ["Acme"]
            wrong = await client.call_tool("facts", {"limit": 0})
            assert wrong.is_error
            assert wrong.content[0].text == "limit=0: must be an integer from 1 to 50"  # type: ignore[union-attr]

    asyncio.run(run())


def test_both_axes_are_asked_over_the_wire(served: Served) -> None:
    """What was true then, and what was believed then, differ."""

    async def run() -> None:
        async with connected(served) as client:
            first = await answer(client, "add_episode", text="Bo works at Acme since 2020.", reference_time="2021-01-01")
            await answer(client, "add_episode", text="Bo works at Globex since 2023.", reference_time="2024-01-01")
            for point, firm in (
                ({}, "Globex"),
                ({"as_of_valid": "2022-06-01"}, "Acme"),
                ({"as_of_valid": "2023-06-01"}, "Globex"),
                ({"as_of_valid": "2023-06-01", "as_of_system": first["created_at"]}, "Acme"),
            ):
                assert [f["target"] for f in (await answer(client, "entity", name="Bo", **point))["facts"]] == [firm], point

    asyncio.run(run())


def test_many_clients_write_and_read_at_once(served: Served) -> None:
    """Writes wait for each other, reads for nobody; all of them arrive."""

    async def visit(number: int) -> None:
        async with connected(served) as client:
            for n in range(3):
                await answer(client, "add_episode", text=f"Visitor{number} works at Firm{n} since {2000 + n}.")
                await answer(client, "search", query=f"Where does Visitor{number} work?")
            assert [f["target"] for f in (await answer(client, "facts", entity=f"Visitor{number}"))["facts"]] == ["Firm2"]

    async def run() -> None:
        await asyncio.gather(*(visit(number) for number in range(6)))

    asyncio.run(run())


def reading(served: Served) -> None:
    """Returns when the server's model has been asked to wait."""
    assert served.process.stderr is not None
    while served.process.stderr.readline() not in ("reading\n", ""):
        pass


def test_a_slow_write_holds_up_no_reader(served: Served, tmp_path: Path) -> None:
    """Calls run beside the loop that serves."""
    go = tmp_path / "go"

    async def run() -> None:
        async with connected(served) as writer, connected(served) as reader:
            writing = asyncio.create_task(answer(writer, "add_episode", text=f"Please wait for {go}"))
            await asyncio.to_thread(reading, served)
            await answer(reader, "stats")
            assert not writing.done()
            go.touch()
            assert (await writing)["created"]

    asyncio.run(run())


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Bearer"},
        {"Authorization": "Basic {token}"},
        {"Authorization": "{token}"},
        {"Authorization": "Bearer {token}x"},
        {"Authorization": "Bearer é"},
        {"X-Token": "{token}"},
    ],
)
def test_without_the_token_there_is_nothing_but_401(served: Served, headers: dict[str, str]) -> None:
    """On every path and for every method."""
    shown = {name: value.format(token=served.token).encode("latin-1") for name, value in headers.items()}

    assert status(served, **shown) == 401  # type: ignore[arg-type]
    for method, path in (("GET", ""), ("DELETE", ""), ("OPTIONS", ""), ("POST", "/../"), ("GET", "/other")):
        assert status(served, method, path, **shown) == 401  # type: ignore[arg-type]


def test_the_scheme_may_be_written_in_any_case(served: Served) -> None:
    """As HTTP has it."""
    assert status(served, Authorization=f"bearer {served.token}") == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example:{port}", "127.0.0.1:1", "127.0.0.1", ""])
@pytest.mark.parametrize("version", ["2025-06-18", "2026-07-28"])
def test_a_name_that_is_not_this_machines_is_refused(served: Served, host: str, version: str) -> None:
    """A page whose name was made to point here sends its own name, with the right token even."""
    named = host.format(port=served.url.split(":")[2].partition("/")[0])
    headers = {"Authorization": f"Bearer {served.token}", "Host": named, "MCP-Protocol-Version": version}

    assert status(served, **headers) == 421


@pytest.mark.parametrize("origin", ["http://evil.example", "https://evil.example:443", "null", "http://127.0.0.1:1"])
def test_a_page_of_another_origin_is_refused(served: Served, origin: str) -> None:
    """Although it shows the right token."""
    assert status(served, Authorization=f"Bearer {served.token}", Origin=origin) == 403


def test_a_page_of_this_machine_is_served(served: Served) -> None:
    """By any of its names."""
    port = served.url.split(":")[2].partition("/")[0]
    for name in ("127.0.0.1", "localhost"):
        headers = {"Authorization": f"Bearer {served.token}", "Host": f"{name}:{port}", "Origin": f"http://{name}:{port}"}
        assert status(served, **headers) == 200


def test_a_body_without_end_is_refused(served: Served) -> None:
    """Before it is read."""
    with httpx2.Client() as client:
        headers = {**ACCEPT, "Authorization": f"Bearer {served.token}", "Content-Type": "application/json"}
        large = client.post(served.url, headers=headers, content=b"[" * (http.MOST_BODY + 1)).status_code
        deep = client.post(served.url, headers=headers, content=b"[" * 100_000).status_code

    assert (large, deep) == (413, 400)


def test_the_server_listens_to_this_machine_only(served: Served) -> None:
    """The address is 127.0.0.1, and the token was made."""
    assert served.url.startswith("http://127.0.0.1:")
    assert len(served.token) >= 40
    assert Address().host == "127.0.0.1"


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_other_machines_need_a_token_that_was_given(host: str) -> None:
    """A host that they reach is refused without one."""
    with pytest.raises(InvalidInput, match="is reached by other machines; give a token"):
        Address(host)

    assert Address(host, token="a token of one's own".replace(" ", "-")).host == host


@pytest.mark.parametrize("token", ["", "short", "with space in it here", "x" * 501, "ünïcödé-ünïcödé-ünïcödé"])
def test_a_token_that_cannot_be_one_is_refused_and_not_shown(token: str) -> None:
    """Short, or not fit for a header."""
    with pytest.raises(InvalidInput, match="16 to 500 visible ASCII") as caught:
        Address(token=token)

    assert not token or token not in str(caught.value)


def test_an_address_does_not_show_its_token() -> None:
    """Also where it is logged."""
    assert "secret" not in repr(Address(token="secret-secret-secret"))


def test_a_port_in_use_is_named(memory: graphmem.Memory) -> None:
    """One line that says which."""
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(InvalidInput, match=r"cannot be used on 127\.0\.0\.1"):
        http.serve(memory, Address(port=taken.getsockname()[1]), ready=lambda *_: None)


def test_the_server_stops_when_it_is_told_to(tmp_path: Path) -> None:
    """Also with a client that stays connected; a write that has begun is finished, and answered."""
    command = [sys.executable, SERVING, tmp_path / "team.db", "http"]
    go = tmp_path / "go"

    async def write_and_stop(served: Served) -> None:
        async with connected(served) as client:
            await client.list_tools()  # the client asks for them after its first call, when the server will be gone
            writing = asyncio.create_task(answer(client, "add_episode", text=f"Mira works at Acme since 2020. Please wait for {go}"))
            await asyncio.to_thread(reading, served)
            served.process.send_signal(signal.SIGTERM)
            go.touch()
            assert (await writing)["created"]

    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT) as process:
        assert process.stderr is not None
        asyncio.run(write_and_stop(Served(process.stderr.readline().strip(), process.stderr.readline().strip(), process)))
        assert process.wait(timeout=20) == -signal.SIGTERM
        assert "Traceback" not in process.stderr.read()
