"""The connection: one request through the `openai` package, to the address that was named and to no other."""

from __future__ import annotations

import asyncio
import importlib
import os
import socket
import ssl
import sys
import weakref
from collections.abc import AsyncIterator, Coroutine, Mapping
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from importlib.util import find_spec
from threading import Lock, Thread
from time import perf_counter
from typing import Any, Literal, TypeVar
from urllib.parse import urlsplit

from graphmem.endpoint.faults import Problem, Trouble
from graphmem.endpoint.slots import Call
from graphmem.errors import InvalidInput, MissingExtra
from graphmem.settings import Secret

PUBLIC_API = "https://api.openai.com/v1"
OPENAI_LINE = "pip install 'graphmem[openai]'"
_MOST_BYTES = 32 * 2**20
_SENT_HEADERS = frozenset({"host", "accept", "content-type", "content-length", "connection", "transfer-encoding"})
R = TypeVar("R")
Resource = Literal["chat", "embeddings"]
_PATHS: Mapping[Resource, str] = {"chat": "/chat/completions", "embeddings": "/embeddings"}


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back: a status, headers with names in lower case, and the body as text."""

    status: int
    headers: Mapping[str, str]
    body: str


def checked_url(base_url: str | None) -> str:
    """The address without a slash at its end; the public API of the `openai` package if none is given.

    Raises `InvalidInput`, which does not show what may hold a password.
    """
    allowed = "must be an address such as 'http://localhost:8080/v1', without a password, a query or a fragment; pass a key as api_key="
    if base_url is not None and not isinstance(base_url, str):
        raise InvalidInput("base_url", "***", allowed)
    given = (base_url or PUBLIC_API).strip().rstrip("/")
    try:
        parts = urlsplit(given)
        host, _ = parts.hostname, parts.port
        (host or "").encode("idna")
    except ValueError:
        raise InvalidInput("base_url", "***", allowed) from None
    shown = f"{parts.scheme}://{host}/***" if host else "***"
    plain = given.isprintable() and " " not in given and "\\" not in given
    if parts.scheme not in ("http", "https") or not host or "@" in parts.netloc or parts.query or parts.fragment or not plain:
        raise InvalidInput("base_url", shown, allowed)
    return given


def checked_key(api_key: str | Secret | None) -> Secret:
    """The key as a `Secret`; empty if none is given. Raises `InvalidInput` for a key that no header can hold."""
    key = _secret("api_key", api_key)
    if not all("!" <= c <= "~" for c in key.reveal()):
        raise InvalidInput("api_key", "***", "must be printable ASCII without spaces")
    return key


def _secret(argument: str, given: object) -> Secret:
    """A text or a `Secret` as that, empty for None; what it is otherwise is not shown, since it may hold a password."""
    if isinstance(given, Secret):
        return given
    if given is not None and not isinstance(given, str):
        raise InvalidInput(argument, "***", "must be a str or a Secret, or left out")
    return Secret((given or "").strip())


def checked_proxy(proxy: str | Secret | None) -> Secret:
    """The address of a proxy as a `Secret`, since it may hold a password; empty if none is given. Raises `InvalidInput`."""
    given = _secret("proxy", proxy)
    try:
        parts = urlsplit(given.reveal())
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        sound = False
    if given and not sound:
        raise InvalidInput("proxy", "***", "must be the address of an HTTP proxy, such as 'http://proxy.example.com:3128'")
    return given


class Wire:
    """Sends requests to one address. The connection is made when first used, and closed with the object.

    What the `openai` package takes from the environment has no effect: the address, the key, the organisation and extra
    headers are those given here, and proxies are followed only if `proxy` names one. Redirects are not followed.

    All requests of the process are carried by one thread, however many wait for an answer: a program with an event loop of
    its own is not held up by them.
    """

    def __init__(self, base_url: str | None, api_key: str | Secret | None, timeout: float, proxy: str | Secret | None) -> None:
        if find_spec("openai") is None:
            raise MissingExtra(f"a model endpoint needs the package openai: {OPENAI_LINE}")
        if not (isinstance(timeout, int | float) and not isinstance(timeout, bool) and 0 < timeout < float("inf")):
            raise InvalidInput("timeout", timeout, "must be seconds, a number above 0")
        self.base_url, self.key = checked_url(base_url), checked_key(api_key)
        self._timeout, self._proxy = float(timeout), checked_proxy(proxy)
        self._client: Any = None
        self._pid = 0
        self._flying: dict[Future[Any], Call] = {}
        self._lock = Lock()

    def send(self, resource: Resource, body: Mapping[str, object], call: Call) -> Reply | Problem:
        """One request of a call, once; what the network does wrong comes back as a `Problem`. An interrupt, `end` and `close`
        end the request.
        """
        future = _CARRIER.start(self._post(resource, body))
        self._flying[future] = call
        try:
            if call.is_set():
                future.cancel()
            return future.result()
        except CancelledError:
            return Problem(Trouble.CUT)
        except BaseException:
            future.cancel()
            raise
        finally:
            self._flying.pop(future, None)

    async def _post(self, resource: Resource, body: Mapping[str, object]) -> Reply | Problem:
        import openai

        client = self._connected()
        try:
            response = await client.post(_PATHS[resource], body=body, cast_to=_http().Response)
        except openai.APIStatusError as error:
            response = error.response
        except openai.APITimeoutError:
            return Problem(Trouble.TIMEOUT)
        except openai.APIConnectionError as error:
            return _broken(error)
        except _TooLarge:
            return Problem(Trouble.TOO_LARGE)
        return Reply(response.status_code, {k.lower(): v for k, v in response.headers.items()}, _text(response.content))

    def end(self, call: Call) -> None:
        """Ends the requests of a call that is set."""
        for future, owner in list(self._flying.items()):
            if owner is call:
                future.cancel()

    def close(self) -> None:
        """Closes the connection and ends what is under way; the next request makes a new one."""
        with self._lock:
            client, self._client = self._client, None
        for future in list(self._flying):
            future.cancel()
        if client is not None and self._pid == os.getpid():
            _CARRIER.start(client.close()).result()

    def _connected(self) -> Any:
        with self._lock:
            if self._client is None or self._pid != os.getpid():
                self._pid = os.getpid()
                self._client = _client(self.base_url, self.key, self._timeout, self._proxy)
                weakref.finalize(self, _dropped, self._client)
            return self._client


class _Carrier:
    """The thread that carries all requests of this process; it ends with the program. A process that was forked has its own."""

    def __init__(self) -> None:
        self._lock, self._pid = Lock(), 0
        self._loop: asyncio.AbstractEventLoop | None = None

    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop of that thread."""
        with self._lock:
            if self._loop is None or self._pid != os.getpid():
                self._loop, self._pid = asyncio.new_event_loop(), os.getpid()
                Thread(target=self._loop.run_forever, name="graphmem-wire", daemon=True).start()
            return self._loop

    def start(self, work: Coroutine[Any, Any, R]) -> Future[R]:
        """The work, begun."""
        return asyncio.run_coroutine_threadsafe(work, self.loop())


_CARRIER = _Carrier()


def _dropped(client: Any) -> None:
    """Close the connection of a wire that nobody holds any more, without waiting for it."""
    _CARRIER.start(client.close())


class _TooLarge(Exception):
    """The body is larger than any answer."""


def _http() -> Any:
    """The HTTP package that this `openai` is built on: httpx, or httpx2 since its version 3."""
    import openai

    return importlib.import_module(openai.DefaultAsyncHttpxClient.__mro__[1].__module__.partition(".")[0])


def _client(base_url: str, key: Secret, timeout: float, proxy: Secret) -> Any:
    import openai

    http = _http()

    async def before(request: Any) -> None:
        for name in [n for n in request.headers if n.lower() not in _SENT_HEADERS]:
            del request.headers[name]
        request.headers["user-agent"] = "graphmem"
        request.headers["accept-encoding"] = "identity"
        if key:
            request.headers["authorization"] = f"Bearer {key.reveal()}"

    class Bounded(http.AsyncByteStream):  # type: ignore[misc, name-defined]
        def __init__(self, stream: Any) -> None:
            self._stream, self._until, self._left = stream, perf_counter() + timeout, _MOST_BYTES

        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for chunk in self._stream:
                self._left -= len(chunk)
                if self._left < 0:
                    raise _TooLarge
                if perf_counter() > self._until:
                    raise http.ReadTimeout("the body took too long")
                yield chunk

        async def aclose(self) -> None:
            await self._stream.aclose()

    async def after(response: Any) -> None:
        # the timeout of the transport is one of silence: a body that drips would never end
        response.stream = Bounded(response.stream)

    client = openai.AsyncOpenAI(
        base_url=base_url,
        api_key="set-by-the-hook",
        timeout=timeout,
        max_retries=0,
        http_client=openai.DefaultAsyncHttpxClient(
            timeout=timeout,
            follow_redirects=False,
            trust_env=False,
            proxy=proxy.reveal() or None,
            verify=_trusted(base_url, proxy),
            event_hooks={"request": [before], "response": [after]},
        ),
    )
    client.organization = client.project = None
    return client


def _trusted(base_url: str, proxy: Secret) -> ssl.SSLContext | bool:
    """The certificates to trust; those of the system, and on Linux those that SSL_CERT_FILE names, which OpenSSL looks at itself."""
    if not base_url.startswith("https:") and not proxy.reveal().startswith("https:"):
        return False  # nothing is encrypted, and reading all certificates takes longer than an answer
    return ssl.create_default_context() if sys.platform == "linux" else True


def _text(body: bytes) -> str:
    return body.decode("utf-8-sig", "replace")


def _broken(error: BaseException) -> Problem:
    """What broke a connection, from the chain of errors behind it."""
    chain: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and link not in chain:
        chain.append(link)
        link = link.__cause__ or link.__context__
    for link in chain:
        if isinstance(link, _TooLarge):
            return Problem(Trouble.TOO_LARGE)
        if isinstance(link, socket.gaierror):
            return Problem(Trouble.NO_HOST, final=link.errno not in (socket.EAI_AGAIN,))
        if isinstance(link, ssl.SSLCertVerificationError):
            return Problem(Trouble.CERTIFICATE)
        if isinstance(link, ConnectionRefusedError):
            return Problem(Trouble.UNREACHABLE, "connection refused")
    names = [type(link).__name__ for link in chain]
    if any(name in ("ConnectError", "ProxyError", "UnsupportedProtocol", "ConnectTimeout") for name in names):
        return Problem(Trouble.UNREACHABLE)
    return Problem(Trouble.CUT)
