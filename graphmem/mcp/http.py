"""The server over HTTP, for clients of this machine that know the token."""

from __future__ import annotations

import hmac
import re
import secrets
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from graphmem.errors import InvalidInput
from graphmem.mcp.server import log_to_stderr, server
from graphmem.memory import Memory

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

PATH = "/mcp"
MOST_BODY = 2 * 1024 * 1024
MOST_AT_ONCE = 64
"""Requests served or waiting at the same time; further ones are told to try again."""
SECONDS_TO_STOP = 5

_TOKEN = re.compile(r"[\x21-\x7e]{16,500}")
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True)
class Address:
    """Where to listen, the token that clients must show, and by which other names they may call this machine.

    Without a token one is made. Port 0 is any free one. Raises `InvalidInput` for a host that other machines reach
    unless a token was given, and for a token that is easy to guess.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    token: str | None = field(default=None, repr=False)
    names: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.token is not None and not _TOKEN.fullmatch(self.token):
            raise InvalidInput("token", "***", "must be 16 to 500 visible ASCII characters without spaces")
        if self.token is None and not ip_address(self._resolved()[1]).is_loopback:
            raise InvalidInput("host", self.host, "is reached by other machines; give a token too, or leave it at 127.0.0.1")

    def _resolved(self) -> tuple[socket.AddressFamily, str]:
        try:
            family, _, _, _, address = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        except (OSError, UnicodeError, OverflowError) as error:
            raise InvalidInput("host", self.host, f"must be an address of this machine: {error}") from error
        return family, str(address[0])

    def listening(self) -> socket.socket:
        """A socket on which clients can already wait."""
        family, host = self._resolved()
        listener = socket.socket(family, socket.SOCK_STREAM)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((host, self.port))
            listener.listen(MOST_AT_ONCE)
        except OSError as error:
            listener.close()
            raise InvalidInput("port", self.port, f"cannot be used on {self.host}: {error.strerror or error}") from error
        return listener


def serve(memory: Memory, address: Address, *, ready: Callable[[str, str], None], read_only: bool = False) -> None:
    """Serve until the process is told to stop. `ready(url, token)` is called once, when clients can connect.

    A request without the token gets 401, one that names another host 421, one from a page of another origin 403.
    A write that has begun is finished. Raises `MissingExtra` with the line that installs what is missing.
    """
    log_to_stderr()
    served = server(memory, read_only=read_only)
    import uvicorn
    from mcp.server.transport_security import TransportSecuritySettings

    listener = address.listening()
    with listener:
        token = address.token or secrets.token_urlsafe(32)
        port = listener.getsockname()[1]
        shown = f"[{address.host}]" if ":" in address.host else address.host
        hosts = [f"{name}:{port}" for name in (*_LOOPBACK, shown)] + [n for name in address.names for n in (name, f"{name}:{port}")]
        app = served.streamable_http_app(
            streamable_http_path=PATH,
            json_response=True,
            stateless_http=True,
            max_request_body_size=MOST_BODY,
            transport_security=TransportSecuritySettings(
                allowed_hosts=hosts, allowed_origins=[f"{scheme}://{h}" for h in hosts for scheme in ("http", "https")]
            ),
        )
        config = uvicorn.Config(
            Guard(app, token),
            log_config=None,
            access_log=False,
            server_header=False,
            limit_concurrency=MOST_AT_ONCE,
            timeout_graceful_shutdown=SECONDS_TO_STOP,
        )
        ready(f"http://{shown}:{port}{PATH}", token)
        uvicorn.Server(config).run(sockets=[listener])


class Guard:
    """Lets through what carries the token, and answers 401 to everything else."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._token = app, token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or (scope["type"] == "http" and self._knows(scope["headers"])):
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            from starlette.responses import JSONResponse

            refusal = JSONResponse({"error": "a bearer token is needed"}, 401, {"WWW-Authenticate": "Bearer"})
            await refusal(scope, receive, send)

    def _knows(self, headers: Sequence[tuple[bytes, bytes]]) -> bool:
        given: list[Any] = [value for name, value in headers if name == b"authorization"]
        if len(given) != 1:
            return False
        scheme, _, token = given[0].partition(b" ")
        return scheme.lower() == b"bearer" and hmac.compare_digest(token.strip(), self._token)
