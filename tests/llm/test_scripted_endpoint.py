"""The endpoint for tests does what it is told, seen with nothing but sockets."""

from __future__ import annotations

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

import pytest

from graphmem.testing.endpoint import (
    Reply,
    ScriptedEndpoint,
    completion,
    cut,
    empty,
    failing,
    filtered,
    html,
    rate_limited,
    refused,
    truncated,
)


def post(endpoint: ScriptedEndpoint, path: str = "/chat/completions", **body: object) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of one request."""
    where = urlsplit(endpoint.base_url)
    connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=10)
    try:
        connection.request("POST", where.path + path, json.dumps(body), {"content-type": "application/json", "X-Asked": "yes"})
        answer = connection.getresponse()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
    finally:
        connection.close()


def test_replies_come_in_turn_then_the_function_answers() -> None:
    """And what was sent is kept."""
    with ScriptedEndpoint([failing(500, "first")], answer=lambda request: {"said": request.user}) as endpoint:
        endpoint.then(rate_limited("7"))
        assert post(endpoint)[0] == 500
        status, headers, _ = post(endpoint)
        assert (status, headers["retry-after"]) == (429, "7")
        status, _, body = post(endpoint, messages=[{"role": "system", "content": "s"}, {"role": "user", "content": "hello"}])
        assert status == 200
        assert json.loads(json.loads(body)["choices"][0]["message"]["content"]) == {"said": "hello"}
    last = endpoint.requests[-1]
    assert (last.path, last.system, last.user, last.format, last.prompt) == ("/v1/chat/completions", "s", "hello", "text", "")
    assert last.headers["x-asked"] == "yes"
    assert [r.at for r in endpoint.requests] == sorted(r.at for r in endpoint.requests)


@pytest.mark.parametrize(
    ("reply", "status", "holds"),
    [
        (completion("hi", usage=(5, 2)), 200, b'"prompt_tokens": 5'),
        (refused("no"), 200, b'"refusal": "no"'),
        (truncated("{"), 200, b'"finish_reason": "length"'),
        (filtered(), 200, b'"finish_reason": "content_filter"'),
        (failing(404, "gone", code="model_not_found"), 404, b'"code": "model_not_found"'),
        (rate_limited(), 429, b"rate_limit_exceeded"),
        (html(503), 503, b"<!doctype html>"),
        (empty(), 200, b""),
        (Reply("slow", delay=0.05), 200, b"slow"),
        (Reply("drip", drip=0.01), 200, b"drip"),
    ],
    ids=["completion", "refused", "truncated", "filtered", "failing", "rate", "html", "empty", "slow", "drip"],
)
def test_each_reply_goes_out_as_it_says(reply: Reply, status: int, holds: bytes) -> None:
    """Status and body."""
    with ScriptedEndpoint([reply]) as endpoint:
        got, _, body = post(endpoint)
    assert got == status
    assert holds in body


def test_a_reply_that_is_cut_promises_more_than_it_sends() -> None:
    """The client sees the connection close."""
    with ScriptedEndpoint([cut()]) as endpoint, pytest.raises(http.client.IncompleteRead):
        post(endpoint)


def test_a_format_that_it_does_not_take_is_refused_by_name() -> None:
    """With error 400."""
    with ScriptedEndpoint(formats=["json_object", "text"]) as endpoint:
        status, _, body = post(endpoint, response_format={"type": "json_schema", "json_schema": {"name": "n"}})
        assert (status, b"response_format" in body) == (400, True)
        assert post(endpoint, response_format={"type": "json_object"})[0] == 200
    assert [(r.format, r.prompt) for r in endpoint.requests] == [("json_schema", "n"), ("json_object", "")]


def test_embeddings_carry_their_index_and_come_backwards() -> None:
    """So that a client that trusts the order fails."""
    with ScriptedEndpoint(embed=lambda texts: [[float(len(t))] for t in texts]) as endpoint:
        _, _, body = post(endpoint, "/embeddings", input=["a", "bb"])
        rows: list[dict[str, Any]] = json.loads(body)["data"]
        assert [(r["index"], r["embedding"]) for r in rows] == [(1, [2.0]), (0, [1.0])]
        _, _, body = post(endpoint, "/embeddings", input="ccc", encoding_format="base64")
        assert json.loads(body)["data"][0]["embedding"] == "AABAQA=="


def test_other_paths_and_bodies_that_are_no_json_are_answered_too() -> None:
    """A server that falls over would hide the fault of the client."""
    with ScriptedEndpoint() as endpoint:
        assert post(endpoint, "/nothing")[0] == 404
        where = urlsplit(endpoint.base_url)
        connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=10)
        connection.request("POST", "/v1/chat/completions", "not json")
        assert connection.getresponse().status == 200
        connection.close()


def test_after_the_block_nobody_listens() -> None:
    """The port is free again."""
    with ScriptedEndpoint() as endpoint:
        post(endpoint)
    with pytest.raises(ConnectionRefusedError):
        post(endpoint)
