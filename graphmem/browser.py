"""Neo4j Browser with graphmem's eyes: the style sheet, the guide and the saved queries, served to it from this machine.

Browser takes them by address (`:style`, `:play`) and as a zip of queries that is dropped on its page. `serving` is a server of
these files and of nothing else; `page` is the address that opens Browser with the guide, and `post_connect` what a database
may tell Browser to do when somebody connects.
"""

from __future__ import annotations

import html
import io
import json
import re
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources.abc import Traversable
from urllib.parse import SplitResult, quote, urlsplit

from graphmem.errors import InvalidInput
from graphmem.stores.neo4j.session import folder

__all__ = ["PORT", "contents", "page", "post_connect", "queries", "serving", "zipped"]

PORT = 8766
STYLE, GUIDE, INDEX, QUERIES = "graphmem.grass", "guide.html", "index.html", "queries.zip"
_PLACE = re.compile(r"\{\{(address|group|[a-z]+/[a-z_]+\.cypher)\}\}")
_HEADERS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Headers": "*",
    "Access-Control-Allow-Methods": "GET, HEAD, OPTIONS",
    "Access-Control-Allow-Private-Network": "true",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
}
_TYPES = {".html": "text/html; charset=utf-8", ".grass": "text/plain; charset=utf-8", ".zip": "application/zip"}
_SECONDS_TO_ASK = 10


def queries() -> dict[str, str]:
    """The saved queries in order: `folder/name.cypher` to text, whose first line is a comment that says what it shows.

    >>> queries()["look/now.cypher"].splitlines()[0]
    '// What is true now'
    """
    folders = sorted((f for f in (_files() / "queries").iterdir() if f.is_dir()), key=lambda f: f.name)
    found = {f"{f.name}/{q.name}": q for f in folders for q in f.iterdir() if q.name.endswith(".cypher")}
    return {name: found[name].read_text(encoding="utf-8") for name in sorted(found)}


def zipped() -> bytes:
    """The saved queries as the zip that Browser takes: each folder becomes one of its favourites. The same bytes each time."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as target:
        for name, text in queries().items():
            target.writestr(zipfile.ZipInfo(f"graphmem {name}"), text, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def contents(address: str, group: str = "main") -> dict[str, bytes]:
    """Every file that is served, by name: style, guide, zip, and a page about them; the pages name this address and group.

    >>> sorted(contents("http://localhost:8766"))
    ['graphmem.grass', 'guide.html', 'index.html', 'queries.zip']
    """
    saved = queries()
    values = {"address": address, "group": json.dumps(group)}  # a string of JSON is one of Cypher

    def place(found: re.Match[str]) -> str:
        name = found[1]
        return html.escape(values[name] if name in values else _statement(saved[name]))

    pages = {name: _PLACE.sub(place, (_files() / name).read_text(encoding="utf-8")).encode() for name in (GUIDE, INDEX)}
    return {**pages, STYLE: (_files() / STYLE).read_bytes(), QUERIES: zipped()}


@contextmanager
def serving(*, host: str = "127.0.0.1", port: int = PORT, group: str = "main") -> Iterator[str]:
    """Serve the files for as long as the block runs; gives their address, which names `localhost` because Browser trusts that name.

    Port 0 is any free one. Raises `InvalidInput` if the port is taken or the host is not this machine's.
    """
    try:
        server = _Server((host, port), _Handler)
    except (OSError, OverflowError) as error:
        raise InvalidInput("port", port, f"cannot be listened on at {host} ({error}); name another, or 0 for any free one") from error
    address = f"http://localhost:{server.server_address[1]}"
    server.files = contents(address, group)
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True)
    thread.start()
    try:
        yield address
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def page(server: str, address: str) -> str:
    """The address that opens Browser with the guide.

    `server` is Browser's own page (`http://…`), or the address of a database, whose host then serves Browser on Neo4j's usual
    port. Raises `InvalidInput` for anything else, and for an address that holds a password.

    >>> page("neo4j://localhost:7687", "http://localhost:8766")
    'http://localhost:7474/browser/?dbms=neo4j://localhost:7687&cmd=play&arg=http://localhost:8766/guide.html'
    """
    parts = _split(server)
    play = f"cmd=play&arg={address}/{GUIDE}"
    if parts.scheme in ("http", "https"):
        return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}/?{play}"
    host = parts.netloc.rpartition(":")[0] if parts.port is not None else parts.netloc
    root = f"https://{host}:7473" if "+" in parts.scheme else f"http://{host}:7474"
    return f"{root}/browser/?dbms={quote(server, safe=':/[]')}&{play}"


def post_connect(address: str) -> str:
    """What `browser.post_connect_cmd` of a server's settings says for these files: the style, and the guide.

    Browser then also leaves out relationships that a query did not ask for: between two entities there may be others, which
    have ended.

    >>> post_connect("http://localhost:8766").split("; ")[1]
    'style http://localhost:8766/graphmem.grass'
    """
    return f"config autoComplete: false; style {address}/{STYLE}; play {address}/{GUIDE}"


def _split(server: str) -> SplitResult:
    try:
        parts = urlsplit(server)
        usable = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        parts, usable = urlsplit(""), False
    if not usable or parts.scheme.partition("+")[0] not in ("neo4j", "bolt", "http", "https") or "@" in parts.netloc:
        shown = "***" if "@" in server else server
        raise InvalidInput("server", shown, "must be an address such as neo4j://localhost:7687 or http://localhost:7474/browser/")
    return parts


def _files() -> Traversable:
    return folder() / "browser"


def _statement(text: str) -> str:
    """A query without the comments at its head."""
    lines = text.strip().split("\n")
    return "\n".join(lines[next(n for n, line in enumerate(lines) if not line.startswith("//")) :])


class _Server(ThreadingHTTPServer):
    files: Mapping[str, bytes]


class _Handler(BaseHTTPRequestHandler):
    """Answers with a file by its exact name: no path of a request reaches the disk."""

    server: _Server
    server_version, sys_version = "graphmem", ""
    timeout = _SECONDS_TO_ASK

    def do_GET(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def do_OPTIONS(self) -> None:
        self.send_response(204)
        self.end_headers()

    def _answer(self) -> None:
        name = self.path.partition("?")[0].removeprefix("/") or INDEX
        body = self.server.files.get(name)
        self.send_response(404 if body is None else 200)
        self.send_header("Content-Type", _TYPES[name[name.rindex(".") :]] if body is not None else "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        if body is not None and self.command == "GET":
            self.wfile.write(body)

    def end_headers(self) -> None:
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the terminal belongs to the command."""
