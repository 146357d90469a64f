"""What can go wrong at an endpoint, told apart, each with its next step."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import pytest

from graphmem import errors
from graphmem.endpoint.faults import Trouble
from graphmem.endpoint.wire import _broken
from graphmem.errors import (
    AnswerUnusable,
    EndpointFailed,
    EndpointTimeout,
    EndpointUnreachable,
    ModelError,
    ModelUnavailable,
    RequestRejected,
)
from graphmem.testing.endpoint import Reply, completion, cut, empty, failing, filtered, html, rate_limited, refused, truncated

CONTEXT_WORDS = [
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 10000 tokens.",
    "the request exceeds the available context size. try increasing the context size",
    "Input is too long for requested model.",
    "prompt is too long: 250000 tokens > 200000 maximum",
    "Please reduce the length of the messages.",
]

TOLD = [
    (rate_limited(), "RateLimited", "wait a while"),
    (failing(402, "Payment required"), "RateLimited", "add credit"),
    (failing(401, "Incorrect API key provided"), "KeyRejected", "pass another api_key="),
    (failing(400, "API key not valid. Please pass a valid API key."), "KeyRejected", "pass another api_key="),
    (failing(403, "Your region is not supported"), "NotPermitted", "use a key that may"),
    (failing(404, "The model `some-model` does not exist", code="model_not_found"), "UnknownModel", "name one that it has"),
    (failing(404, "model 'some-model' not found, try pulling it first"), "UnknownModel", "name one that it has"),
    (failing(400, "some-model is not a valid model", code="model_not_found"), "UnknownModel", "name one that it has"),
    (html(404, "<h1>404 Not Found</h1>"), "RequestRejected", "usually ends with /v1"),
    (failing(404, "Not Found"), "RequestRejected", "usually ends with /v1"),
    (failing(400, "too much", code="context_length_exceeded"), "ContextTooLong", "longer context"),
    (failing(413, "Request Entity Too Large"), "ContextTooLong", "longer context"),
    (failing(400, "no"), "RequestRejected", "use another model or endpoint"),
    (failing(400, "flagged", code="content_filter"), "AnswerFiltered", "leave this text out"),
    (refused("I won't."), "AnswerRefused", "leave this text out"),
    (filtered(), "AnswerFiltered", "leave this text out"),
    (truncated(), "AnswerTruncated", "longer answers"),
    (failing(500, "out of memory"), "EndpointFailed", "try again later"),
    (failing(503, "overloaded"), "EndpointFailed", "try again later"),
    (html(), "EndpointFailed", "usually ends with /v1"),
    (Reply("[1, 2]"), "EndpointFailed", "usually ends with /v1"),
    (empty(), "EndpointFailed", "try again later"),
    (Reply("{}"), "EndpointFailed", "try again later"),
    (Reply('{"choices": []}'), "EndpointFailed", "try again later"),
    (Reply('{"choices": [{"message": null}]}'), "EndpointFailed", "try again later"),
    (completion("  "), "EndpointFailed", "another model"),
    (cut(), "EndpointFailed", "try again later"),
    (Reply('{"choices": [{"mess'), "EndpointFailed", "try again later"),
    (Reply("", 302, {"location": "http://elsewhere.example/v1"}), "RequestRejected", "pass it as base_url"),
    (Reply('{"error": {"message": "No credits", "code": 402}}'), "RateLimited", "add credit"),
    (Reply('{"error": {"message": "Upstream failed", "code": 502}}'), "EndpointFailed", "try again later"),
    *((failing(400, words), "ContextTooLong", "longer context") for words in CONTEXT_WORDS),
]


@pytest.mark.parametrize(("reply", "error", "step"), TOLD, ids=[f"{n} {row[1]}" for n, row in enumerate(TOLD)])
def test_each_trouble_is_an_error_of_its_own_with_a_next_step(kit: Any, reply: Reply, error: str, step: str) -> None:
    """The message begins with the model and its address."""
    endpoint = kit.serve(answer=lambda request: reply)
    with pytest.raises(ModelError) as raised:
        kit.model(endpoint, retries=1).answer([kit.ask()])
    assert type(raised.value).__name__ == error
    message = str(raised.value)
    assert message.startswith(f"openai:some-model at {endpoint.base_url} ")
    assert step in message
    assert "\n" not in message
    assert len(message) < 700


def test_the_endpoints_own_words_are_in_the_message(kit: Any) -> None:
    """On one line, cut, whatever shape the body has."""
    bodies = [
        '{"error": "spoken"}',
        '{"error": {"message": "spoken"}}',
        '{"detail": [{"msg": "spoken"}]}',
        '{"message": "spoken"}',
        '[{"error": {"message": "spoken"}}]',
    ]
    for body in bodies:
        with pytest.raises(RequestRejected, match="spoken"):
            kit.model(kit.serve(Reply(body, 400))).answer([kit.ask()])
    with pytest.raises(RequestRejected) as raised:
        kit.model(kit.serve(failing(400, "a\n\x1b[31m\u202e" + "long " * 9000))).answer([kit.ask()])
    assert len(str(raised.value)) < 600
    assert str(raised.value).isprintable()


@pytest.mark.parametrize(
    "body",
    [
        "[" * 100_000,
        '{"a":' * 50_000,
        '{"error": ' * 20_000,
        "\x00\xff",
        '{"error": {"message": {"message": []}}}',
        "null",
        "1e999",
        '{"choices": {"0": 1}}',
        '{"choices": [[[]]]}',
        '{"choices": [{"message": {"content": {"a": 1}}}]}',
    ],
)
@pytest.mark.parametrize("status", [200, 400, 429, 500])
def test_any_body_ends_in_an_error_of_ours(kit: Any, status: int, body: str) -> None:
    """Also what is nested too deep to be read."""
    with pytest.raises(ModelError):
        kit.model(kit.serve(answer=lambda request: Reply(body, status)), retries=0).answer([kit.ask()])


def test_a_redirect_is_told_and_not_followed(kit: Any) -> None:
    """Neither the text nor the key goes to the other address."""
    other = kit.serve()
    endpoint = kit.serve(Reply("", 307, {"location": f"{other.base_url}/chat/completions"}))
    with pytest.raises(RequestRejected, match=other.base_url):
        kit.model(endpoint).answer([kit.ask()])
    assert other.requests == []


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])


def test_a_port_where_nothing_listens_is_unreachable(kit: Any) -> None:
    """After all tries; the message asks whether the endpoint is running."""
    with pytest.raises(EndpointUnreachable, match="connection refused; check base_url, and whether the endpoint is running"):
        kit.model(f"http://127.0.0.1:{free_port()}/v1", retries=2).answer([kit.ask()])
    assert len(kit.waits) == 2


def test_a_host_that_does_not_exist_is_told_as_such(kit: Any) -> None:
    """A name that is reserved for never existing."""
    with pytest.raises(EndpointUnreachable, match="cannot be found"):
        kit.model("http://no-such-host.invalid/v1", retries=1).answer([kit.ask()])


@pytest.mark.parametrize(("number", "again"), [(socket.EAI_AGAIN, True), (socket.EAI_NONAME, False)])
def test_a_name_service_that_is_away_is_asked_again_a_name_that_does_not_exist_is_not(number: int, again: bool) -> None:
    """However deep the error of the socket lies."""
    error = RuntimeError("connection error")
    error.__cause__ = OSError("all attempts failed")
    error.__cause__.__context__ = socket.gaierror(number, "name")
    problem = _broken(error)
    assert (problem.trouble, problem.worth_retrying) == (Trouble.NO_HOST, again)


def test_an_endpoint_that_is_silent_for_too_long_is_a_timeout(kit: Any) -> None:
    """The message names the setting."""
    endpoint = kit.serve(answer=lambda request: completion(kit.nothing, delay=30))
    began = perf_counter()
    with pytest.raises(EndpointTimeout, match="GRAPHMEM_TIMEOUT"):
        kit.model(endpoint, timeout=0.2, retries=1).answer([kit.ask()])
    assert perf_counter() - began < 10
    assert len(endpoint.requests) == 2


def test_a_body_that_drips_is_a_timeout_too(kit: Any) -> None:
    """Each byte comes in time, the whole never would."""
    slow = Reply(completion(kit.nothing).body, drip=0.05)
    began = perf_counter()
    with pytest.raises(EndpointTimeout):
        kit.model(kit.serve(slow), timeout=0.4, retries=0).answer([kit.ask()])
    assert perf_counter() - began < 10


def test_an_answer_that_does_not_end_is_let_go(kit: Any) -> None:
    """Thirty-three million characters are no answer."""
    with pytest.raises(EndpointFailed, match="too large"):
        kit.model(kit.serve(Reply("{" + " " * (33 * 2**20)))).answer([kit.ask()])


@contextmanager
def raw_server(said: bytes) -> Iterator[str]:
    """A server that says these bytes to whoever connects, and hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(65536)
                    connection.sendall(said)

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        server.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 90\r\n\r\n{",
        b"HTTP/1.1 999 \r\n\r\n",
        b"\x15\x03\x01\x00\x02\x02",
    ],
)
def test_what_is_no_answer_of_http_is_an_error_of_ours(kit: Any, said: bytes) -> None:
    """Nothing, another protocol, half an answer."""
    with raw_server(said) as url, pytest.raises(ModelUnavailable):
        kit.model(url, retries=0).answer([kit.ask()])


def test_https_to_a_server_without_it_is_unreachable(kit: Any) -> None:
    """And not an error of the ssl module."""
    with raw_server(b"HTTP/1.1 400 Bad Request\r\n\r\n") as url, pytest.raises(ModelUnavailable):
        kit.model(url.replace("http:", "https:"), retries=0).answer([kit.ask()])


def test_the_tree_says_whose_move_it_is() -> None:
    """What may pass later, what the caller must change, what the model would not do."""
    for later in ("EndpointUnreachable", "EndpointTimeout", "EndpointFailed", "RateLimited"):
        assert issubclass(getattr(errors, later), ModelUnavailable)
    for change in ("KeyRejected", "NotPermitted", "UnknownModel", "ContextTooLong"):
        assert issubclass(getattr(errors, change), RequestRejected)
        assert not issubclass(getattr(errors, change), ModelUnavailable)
    for answer in ("AnswerRefused", "AnswerFiltered", "AnswerTruncated"):
        assert issubclass(getattr(errors, answer), AnswerUnusable)


def test_a_failed_ask_leaves_the_model_usable(kit: Any) -> None:
    """The next one is answered."""
    model = kit.model(kit.serve(failing(401, "no")))
    with pytest.raises(ModelError):
        model.answer([kit.ask()])
    assert json.loads(str(model.answer([kit.ask()])[0].value)) == {"entities": [], "facts": []}
