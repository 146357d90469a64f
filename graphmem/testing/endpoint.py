"""An OpenAI-compatible endpoint on this machine that behaves as it is told, badly too: for tests of whatever talks to one."""

from __future__ import annotations

import base64
import json
import socket
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from time import perf_counter
from types import TracebackType
from typing import Any, Self

_FORMATS = ("json_schema", "json_object", "text")
_LONGEST_BODY = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Request:
    """What was sent: the path, headers with names in lower case, the body, and when, in seconds since the server began."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    at: float

    @property
    def system(self) -> str:
        """The system message."""
        return self._said("system")

    @property
    def user(self) -> str:
        """The last user message."""
        return self._said("user")

    @property
    def format(self) -> str:
        """The response format asked for: "json_schema", "json_object" or "text"."""
        return str((self.body.get("response_format") or {}).get("type", "text"))

    @property
    def prompt(self) -> str:
        """The name of the JSON schema asked for; empty without one."""
        return str(((self.body.get("response_format") or {}).get("json_schema") or {}).get("name", ""))

    def _said(self, role: str) -> str:
        said = [m.get("content", "") for m in self.body.get("messages", ()) if m.get("role") == role]
        return str(said[-1]) if said else ""


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of the server: status, headers and body as they go out, after `delay` seconds.

    `keep` sends that part of the body only and then cuts the connection, though the headers promise all of it; `drip` sends
    it a byte at a time with that many seconds between.
    """

    body: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": "application/json"})
    delay: float = 0.0
    keep: float = 1.0
    drip: float = 0.0


def completion(
    text: str, *, finish: str = "stop", refusal: str | None = None, delay: float = 0.0, usage: tuple[int, int] = (7, 3)
) -> Reply:
    """A chat completion that says `text` and counts `usage` tokens in and out."""
    message = {"role": "assistant", "content": text, "refusal": refusal}
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)},
    }
    return Reply(json.dumps(body), delay=delay)


def refused(reason: str = "I cannot help with that.") -> Reply:
    """A model that declines."""
    return completion("", refusal=reason)


def truncated(text: str = '{"entities": [') -> Reply:
    """An answer that ran out of tokens."""
    return completion(text, finish="length")


def filtered() -> Reply:
    """An answer that a content filter took."""
    return completion("", finish="content_filter")


def failing(status: int, message: str = "scripted failure", *, code: str | None = None, headers: Mapping[str, str] | None = None) -> Reply:
    """An error with the body that such endpoints send."""
    error = {"message": message, "type": "error", "param": None, "code": code}
    return Reply(json.dumps({"error": error}), status, {"content-type": "application/json", **(headers or {})})


def rate_limited(retry_after: str | None = None, message: str = "Rate limit reached.", *, header: str = "retry-after") -> Reply:
    """Error 429, with the wait that it asks for in a header, if any."""
    return failing(429, message, code="rate_limit_exceeded", headers={} if retry_after is None else {header: retry_after})


def html(status: int = 200, text: str = "<!doctype html><title>Sign in</title>") -> Reply:
    """A page instead of an answer."""
    return Reply(text, status, {"content-type": "text/html"})


def empty(status: int = 200) -> Reply:
    """No body at all."""
    return Reply("", status)


def cut(text: str = '{"entities": [], "facts": []}', keep: float = 0.5) -> Reply:
    """A completion that breaks off after a part of its body."""
    return Reply(completion(text).body, keep=keep)


Answering = Callable[[Request], object]


class ScriptedEndpoint:
    """A server on 127.0.0.1 at a free port, for use in a `with` block; `base_url` is its address.

    Each request is answered by the next of `replies`; when they are used up, chats by `answer`, a function of the request
    whose result is sent as JSON (a `str` as it is, a `Reply` in full), and embeddings by `embed`, a function of the texts.
    `formats` are the response formats that it takes; others are refused with error 400. `requests` has all that was sent.

    >>> with ScriptedEndpoint(answer=lambda request: {"said": request.user}) as endpoint:
    ...     endpoint.base_url.startswith("http://127.0.0.1:")
    True
    """

    def __init__(
        self,
        replies: Sequence[Reply] = (),
        *,
        answer: Answering | None = None,
        embed: Callable[[Sequence[str]], Sequence[Sequence[float]]] | None = None,
        formats: Sequence[str] = _FORMATS,
        delay: float = 0.0,
    ) -> None:
        self.requests: list[Request] = []
        self.most_at_once = 0
        self._replies, self._answer, self._embed = list(replies), answer, embed
        self._formats, self._delay = tuple(formats), delay
        self._lock, self._now, self._began = Lock(), 0, perf_counter()
        self._closing = Event()
        self._server = _Server(self)

    @property
    def base_url(self) -> str:
        """The address to give as `base_url`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def then(self, *replies: Reply) -> None:
        """Adds replies to those still to be sent."""
        with self._lock:
            self._replies.extend(replies)

    def __enter__(self) -> Self:
        Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, name="scripted-endpoint", daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()

    def reply(self, path: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> Reply:
        """What the server sends for a request."""
        with self._lock:
            request = Request(path, headers, body, perf_counter() - self._began)
            self.requests.append(request)
            if self._replies:
                return self._replies.pop(0)
        if path.endswith("/embeddings"):
            return self._embedded(request)
        if not path.endswith("/chat/completions"):
            return failing(404, f"no route {path}")
        if request.format not in self._formats:
            return failing(400, f"response_format {request.format!r} is not supported", code="invalid_request_error")
        said = self._answer(request) if self._answer else {}
        if isinstance(said, Reply):
            return said
        return completion(said if isinstance(said, str) else json.dumps(said), delay=self._delay)

    def _embedded(self, request: Request) -> Reply:
        given = request.body.get("input", ())
        texts = [given] if isinstance(given, str) else list(given)
        vectors = self._embed(texts) if self._embed else [_spelled(text) for text in texts]
        encoded = request.body.get("encoding_format") == "base64"
        rows = [
            {
                "object": "embedding",
                "index": i,
                "embedding": base64.b64encode(struct.pack(f"<{len(v)}f", *v)).decode() if encoded else list(v),
            }
            for i, v in enumerate(vectors)
        ]
        # the order of the list is not that of the texts: `index` says it
        body = {
            "object": "list",
            "data": rows[::-1],
            "model": "scripted",
            "usage": {"prompt_tokens": len(texts), "total_tokens": len(texts)},
        }
        return Reply(json.dumps(body), delay=self._delay)

    def _begun(self, change: int) -> None:
        with self._lock:
            self._now += change
            self.most_at_once = max(self.most_at_once, self._now)


def _spelled(text: str) -> list[float]:
    """A vector from the letters of a text."""
    vector = [0.1] * 16
    for place, char in enumerate(text):
        vector[(ord(char) + place) % 16] += 1.0
    return vector


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, endpoint: ScriptedEndpoint) -> None:
        self.endpoint = endpoint
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that go away are part of the game."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server
    timeout = 30
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        length = min(int(self.headers.get("content-length") or 0), _LONGEST_BODY)
        try:
            body = json.loads(self.rfile.read(length) or b"{}")
        except ValueError:
            body = {}
        endpoint = self.server.endpoint
        endpoint._begun(1)
        try:
            headers = {name.lower(): value for name, value in self.headers.items()}
            reply = endpoint.reply(self.path, headers, body if isinstance(body, dict) else {})
            if reply.delay:
                endpoint._closing.wait(reply.delay)
        finally:
            endpoint._begun(-1)
        self._send(reply)

    def _send(self, reply: Reply) -> None:
        data = reply.body.encode()
        self.send_response_only(reply.status)  # without a date, which the reply may bring
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if reply.keep < 1.0:
            self.wfile.write(data[: int(len(data) * reply.keep)])
            self.wfile.flush()
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        for part in [data] if not reply.drip else [data[i : i + 1] for i in range(len(data))]:
            self.wfile.write(part)
            if reply.drip:
                self.wfile.flush()
                if self.server.endpoint._closing.wait(reply.drip):
                    return

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is printed."""
