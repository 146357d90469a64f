"""A reranker behind an address: what is sent, what is read, and that nothing an answer holds can break a search."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import graphmem
from graphmem.errors import InvalidInput
from graphmem.rerank import EndpointReranker

KEY = "sk-very-secret-1234"
Answer = tuple[int, bytes | Callable[[BaseHTTPRequestHandler], None]]


@dataclass
class Server:
    """A `/rerank` endpoint that remembers what it was sent; `answer` says what it gives back."""

    url: str
    answer: Callable[[dict[str, object]], Answer]
    received: list[tuple[str, Mapping[str, str], dict[str, object]]] = field(default_factory=list)


def listening(server: Server) -> type[BaseHTTPRequestHandler]:
    """The handler for it."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.received.append((self.path, dict(self.headers), body))
            status, content = server.answer(body)
            if callable(content):
                content(self)
                return
            self.send_response(status)
            self.send_header("Location", f"{server.url}/elsewhere")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def do_GET(self) -> None:
            server.received.append((self.path, dict(self.headers), {}))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def results(rows: object) -> Answer:
    """A usual answer."""
    return 200, json.dumps({"id": "1", "results": rows}).encode()


def by_length(body: dict[str, object]) -> Answer:
    """Prefers short documents, best first, as servers send them; with more fields than are needed."""
    documents = body["documents"]
    assert isinstance(documents, list)
    rows = [{"index": i, "relevance_score": 1 / len(d), "document": {"text": d}} for i, d in enumerate(documents)]
    return results(sorted(rows, key=lambda row: -row["relevance_score"]))


@pytest.fixture
def server() -> Iterator[Server]:
    """An endpoint on this machine, on a free port."""
    made = Server("", by_length)
    http = ThreadingHTTPServer(("127.0.0.1", 0), listening(made))
    http.daemon_threads = True
    made.url = f"http://127.0.0.1:{http.server_address[1]}"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    http.shutdown()
    http.server_close()
    thread.join()


def test_question_and_texts_are_sent_and_the_scores_decide(town: graphmem.Memory, server: Server) -> None:
    """One POST with the model's name and the key; a path in the address is kept."""
    plain = town.search("red bicycles", limit=50)
    found = town.search("red bicycles", limit=50, rerank=EndpointReranker(f"{server.url}/v1/", "some-model", KEY))

    ((path, headers, body),) = server.received
    assert path == "/v1/rerank"
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert (body["model"], body["query"], body["top_n"]) == ("some-model", "red bicycles", len(plain))
    assert len(body["documents"]) == len(plain)  # type: ignore[arg-type]
    assert {hit.text for hit in plain if hit.kind != "entity"} <= set(body["documents"])  # type: ignore[call-overload]
    assert found.warnings == ()
    assert {h.id for h in found} == {h.id for h in plain}
    scores = [hit.score for hit in found]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == 1 / min(map(len, body["documents"]))  # type: ignore[call-overload]
    assert found[0].reasons[-1].leg == "some-model"


def test_without_a_key_none_is_sent(town: graphmem.Memory, server: Server) -> None:
    """A server in the own network may need none; an address that ends in /rerank is taken as it is."""
    town.search("red bicycles", rerank=EndpointReranker(f"{server.url}/api/rerank", "m"))

    ((path, headers, _),) = server.received
    assert path == "/api/rerank"
    assert "Authorization" not in headers


def test_any_text_can_be_sent(town: graphmem.Memory, server: Server) -> None:
    """Lone surrogates, NULs and very long questions: what is sent is valid JSON of bounded length."""
    town.add_message("Tom", "Acme sells \ud800 odd \x00 things " + "x" * 20_000)
    found = town.search("\ud800 odd " + "y" * 20_000, rerank=EndpointReranker(server.url, "m"))

    ((_, _, body),) = server.received
    assert [w.code for w in found.warnings] == ["long_query"]
    texts = [str(body["query"]), *body["documents"]]  # type: ignore[misc]
    assert max(map(len, texts)) == 8_000
    assert "".join(texts).encode("utf-8")


def endless(handler: BaseHTTPRequestHandler) -> None:
    """Sends more than anyone would read."""
    handler.send_response(200)
    handler.end_headers()
    try:
        for _ in range(400):
            handler.wfile.write(b" " * 65_536)
    except OSError:
        pass


def dripping(handler: BaseHTTPRequestHandler) -> None:
    """Sends a byte at a time, for a long time."""
    handler.send_response(200)
    handler.end_headers()
    try:
        for _ in range(200):
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(0.02)
    except OSError:
        pass


def cut(handler: BaseHTTPRequestHandler) -> None:
    """Promises more than it sends."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"results"')


def silent(handler: BaseHTTPRequestHandler) -> None:
    """Hangs up."""
    handler.connection.close()


def rows(*, drop: int = 0, **changed: object) -> Callable[[dict[str, object]], Answer]:
    """An answer that is right but for its first row."""

    def answer(body: dict[str, object]) -> Answer:
        count = len(body["documents"])  # type: ignore[arg-type]
        found: list[dict[str, object]] = [{"index": i, "relevance_score": 0.5} for i in range(count)]
        found[0] |= changed
        return results(found[drop:])

    return answer


BAD: dict[str, Callable[[dict[str, object]], Answer]] = {
    "refused": lambda _: (401, f"no such key: {KEY}".encode()),
    "busy": lambda _: (429, b"later"),
    "down": lambda _: (500, b"<html>" * 1000),
    "redirect": lambda _: (302, b""),
    "redirect that keeps the method": lambda _: (307, b""),
    "nothing": lambda _: (200, b""),
    "not json": lambda _: (200, b"<html>"),
    "not utf-8": lambda _: (200, b"\xff\xfe{"),
    "deep": lambda _: (200, b"[" * 200_000),
    "a list": lambda _: (200, b"[]"),
    "a number": lambda _: (200, b"7"),
    "no results": lambda _: (200, b"{}"),
    "null": lambda _: results(None),
    "text": lambda _: results("abc"),
    "rows of text": lambda _: results(["a", "b"]),
    "unhashable index": rows(index=[0]),
    "empty": lambda _: results([]),
    "missing": rows(drop=1),
    "twice": rows(index=1),
    "outside": rows(index=10_000),
    "negative": rows(index=-1),
    "true": rows(index=False),
    "a float as index": rows(index=0.0),
    "text as index": rows(index="0"),
    "nan": rows(relevance_score=float("nan")),
    "infinite": rows(relevance_score=float("inf")),
    "huge": rows(relevance_score=10**400),
    "text as score": rows(relevance_score="0.5"),
    "no score": rows(relevance_score=None),
    "true as score": rows(relevance_score=True),
    "endless": lambda _: (200, endless),
    "cut": lambda _: (200, cut),
    "silent": lambda _: (200, silent),
}


@pytest.mark.parametrize("answer", BAD.values(), ids=BAD)
@pytest.mark.parametrize("store", ["memory"], indirect=True)
def test_a_bad_answer_keeps_the_order_before(
    town: graphmem.Memory, server: Server, answer: Callable[[dict[str, object]], Answer], caplog: pytest.LogCaptureFixture
) -> None:
    """A warning, no exception, no other address asked, and the key in neither warning nor log."""
    server.answer = answer
    with caplog.at_level(logging.DEBUG):
        found = town.search("red bicycles", limit=5, rerank=EndpointReranker(server.url, "m", KEY))

    assert [(h.id, h.score) for h in found] == [(h.id, h.score) for h in town.search("red bicycles", limit=5)]
    (warning,) = found.warnings
    assert warning.code == "rerank_failed"
    assert len(warning.message) < 500
    assert KEY not in warning.message + caplog.text
    assert len(server.received) == 1


@pytest.mark.parametrize("store", ["memory"], indirect=True)
def test_a_slow_answer_is_not_waited_for(town: graphmem.Memory, server: Server) -> None:
    """Also one that keeps sending: the time counts in all."""
    server.answer = lambda _: (200, dripping)
    began = time.perf_counter()
    found = town.search("red bicycles", rerank=EndpointReranker(server.url, "m", timeout=0.2))

    assert time.perf_counter() - began < 2
    assert [w.code for w in found.warnings] == ["rerank_failed"]


@pytest.mark.parametrize("store", ["memory"], indirect=True)
def test_an_address_where_nobody_listens_costs_a_warning(town: graphmem.Memory, server: Server) -> None:
    """The order before, and the address in the warning."""
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as closed:
        port = closed.server_address[1]
    found = town.search("red bicycles", rerank=EndpointReranker(f"http://127.0.0.1:{port}", "m", KEY))

    assert [h.id for h in found] == [h.id for h in town.search("red bicycles")]
    assert f"127.0.0.1:{port}" in found.warnings[0].message


@pytest.mark.parametrize(
    "address",
    [
        "ftp://example.com",
        "example.com",
        "",
        "http://",
        "http://example.com:port",
        f"https://me:{KEY}@example.com",
        f"https://example.com/v1?key={KEY}",
        f"https://example.com/#{KEY}",
        "https://exämple.com",
        "https://example.com/\r\nX: y",
        7,
    ],
)
def test_an_address_that_cannot_be_used_is_refused(address: str) -> None:
    """At once, and without repeating what may be a secret."""
    with pytest.raises(InvalidInput) as caught:
        EndpointReranker(address, "m")
    assert KEY not in str(caught.value)


def test_a_key_that_cannot_be_sent_is_refused_without_being_shown() -> None:
    """A line break would end the header; the message would end up in a log."""
    for key in (f"{KEY}\n", f"{KEY}\u00e9", " ", ""):
        with pytest.raises(InvalidInput) as caught:
            EndpointReranker("https://example.com", "m", key)
        assert KEY not in str(caught.value)


def test_the_key_is_not_shown() -> None:
    """Neither by repr nor by str, nor by what shows the attributes of any object."""
    reranker = EndpointReranker("https://example.com/v1", "m", KEY)

    assert KEY not in repr(reranker) + str(reranker) + repr(vars(reranker))
    assert "example.com" in repr(reranker)


def test_wrong_arguments_are_named() -> None:
    """A model needs a name, a wait an end."""
    with pytest.raises(InvalidInput, match="name="):
        EndpointReranker("https://example.com", " ")
    with pytest.raises(InvalidInput, match="timeout=0"):
        EndpointReranker("https://example.com", "m", timeout=0)
    for wrong in ({"timeout": "5"}, {"timeout": True}, {"api_key": 5}):
        with pytest.raises(InvalidInput, match=next(iter(wrong))):
            EndpointReranker("https://example.com", "m", **wrong)  # type: ignore[arg-type]
