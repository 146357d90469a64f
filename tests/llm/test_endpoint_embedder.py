"""Vectors from an endpoint: in the order of the texts, of one length, and nothing wrong gets through."""

from __future__ import annotations

import base64
import json
import struct
from typing import Any

import numpy as np
import pytest

from graphmem.embed.base import embedded
from graphmem.embed.endpoint import EndpointEmbedder
from graphmem.embed.remembered import Remembered
from graphmem.errors import EmbedderError, InvalidInput, KeyRejected, ModelError
from graphmem.testing.endpoint import Reply, Request, empty, failing, html, rate_limited


def make(kit: Any, endpoint: Any, **how: Any) -> EndpointEmbedder:
    """An embedder behind the endpoint."""
    return EndpointEmbedder("e", base_url=endpoint.base_url, api_key=kit.key, waiting=kit.waiting, timeout=10, **how)


def rows(*vectors: object, indexes: list[object] | None = None) -> Reply:
    """A reply with these vectors."""
    data = [{"index": n if indexes is None else indexes[n], "embedding": v} for n, v in enumerate(vectors)]
    return Reply(json.dumps({"data": data}))


def test_vectors_come_in_the_order_of_the_texts_though_the_endpoint_sends_them_in_another(kit: Any) -> None:
    """Unit rows, float32; batches side by side."""
    endpoint = kit.serve(embed=lambda texts: [[float(len(t)), 1.0] for t in texts])
    texts = ["a" * n for n in range(1, 8)]
    found = make(kit, endpoint, batch=3).embed(texts)
    expected = np.array([[len(t), 1.0] for t in texts]) / np.linalg.norm([[len(t), 1.0] for t in texts], axis=1)[:, None]
    assert found.dtype == np.float32
    assert np.allclose(found, expected)
    assert sorted(len(r.body["input"]) for r in endpoint.requests) == [1, 3, 3]


def test_the_promise_of_an_embedder_is_kept(kit: Any) -> None:
    """As the engine checks it."""
    assert embedded(make(kit, kit.serve()), ["Porto", "Split"]).shape == (2, 16)


def test_base64_is_read_as_well(kit: Any) -> None:
    """Little-endian floats, as such endpoints send them."""
    packed = base64.b64encode(struct.pack("<3f", 3.0, 0.0, 4.0)).decode()
    assert np.allclose(make(kit, kit.serve(rows(packed))).embed(["a"]), [[0.6, 0.0, 0.8]])


def test_the_length_is_asked_once_and_only_when_needed(kit: Any) -> None:
    """Vectors that were asked for anyway tell it too."""
    endpoint = kit.serve()
    embedder = make(kit, endpoint)
    assert endpoint.requests == []
    assert (embedder.dimension, embedder.dimension, len(endpoint.requests)) == (16, 16, 1)
    other = make(kit, endpoint)
    other.embed(["Porto"])
    assert (other.dimension, len(endpoint.requests)) == (16, 2)
    assert make(kit, endpoint).embed([]).shape == (0, 16)


def test_remembering_asks_nobody_for_the_length_either(kit: Any) -> None:
    """Not before a vector is wanted, and one text goes out once."""
    endpoint = kit.serve()
    remembered = Remembered(make(kit, endpoint))
    assert endpoint.requests == []
    remembered.embed(["Porto", "Porto"])
    remembered.embed(["Porto"])
    assert [r.body["input"] for r in endpoint.requests] == [["Porto"]]
    assert remembered.dimension == 16


def test_a_length_that_is_given_is_asked_for(kit: Any) -> None:
    """Where the endpoint refuses to be asked, its own length must fit."""
    endpoint = kit.serve(failing(400, "This model does not support specifying dimensions."), embed=lambda texts: [[1.0] * 4 for _ in texts])
    embedder = make(kit, endpoint, dimension=4)
    embedder.embed(["a"])
    embedder.embed(["b"])
    assert [r.body.get("dimensions") for r in endpoint.requests] == [4, None, None]
    with pytest.raises(EmbedderError, match="length 4; expected 8"):
        make(kit, endpoint, dimension=8).embed(["a"])


@pytest.mark.parametrize(
    "reply",
    [
        rows([1.0, 2.0]),
        rows([1.0, 2.0], [1.0, 2.0], [1.0, 2.0]),
        rows([1.0, 2.0], [1.0]),
        rows([1.0, 2.0], [0.0, 0.0]),
        rows([1.0, 2.0], [1e39, 0.0]),
        Reply('{"data": [{"index": 0, "embedding": [NaN, 1]}, {"index": 1, "embedding": [1, 1]}]}'),
        Reply('{"data": [{"index": 0, "embedding": [Infinity, 1]}, {"index": 1, "embedding": [1, 1]}]}'),
        rows([1.0, 2.0], ["a", "b"]),
        rows([1.0, 2.0], None),
        rows([], []),
        rows([1.0, 2.0], "not base64!"),
        rows([1.0, 2.0], base64.b64encode(b"abc").decode()),
        rows([1.0, 2.0], [1.0, 2.0], indexes=[0, 0]),
        rows([1.0, 2.0], [1.0, 2.0], indexes=[0, 7]),
        rows([1.0, 2.0], [1.0, 2.0], indexes=["0", "1"]),
        rows([1.0, 2.0], [[1.0], [2.0]]),
    ],
    ids=range(16),
)
def test_vectors_that_cannot_be_are_refused(kit: Any, reply: Reply) -> None:
    """Too few, too many, of two lengths, zero, not finite, no numbers, numbered wrongly: nothing wrong is stored."""
    with pytest.raises(EmbedderError, match=r"^openai:e gave"):
        make(kit, kit.serve(reply)).embed(["a", "b"])


@pytest.mark.parametrize(
    "reply", [html(), empty(), Reply("{}"), Reply('{"data": [1]}'), Reply('{"data": {}}'), failing(500), rate_limited()]
)
def test_an_endpoint_that_gives_no_vectors_is_an_error_of_ours(kit: Any, reply: Reply) -> None:
    """Of the tree of endpoint errors."""
    with pytest.raises(ModelError, match=r"^openai:e at http://"):
        make(kit, kit.serve(*[reply] * 9)).embed(["a"])


def test_what_may_pass_is_tried_again(kit: Any) -> None:
    """After as long as the endpoint asks."""
    make(kit, kit.serve(rate_limited("3"), failing(503))).embed(["a"])
    assert kit.waits == [3.75, 1.0]


def test_a_bad_key_is_not_tried_again_and_not_shown(kit: Any) -> None:
    """One request."""
    endpoint = kit.serve(failing(401, f"wrong: {kit.key}"))
    with pytest.raises(KeyRejected) as raised:
        make(kit, endpoint).embed(["a"])
    assert kit.key not in str(raised.value) + repr(make(kit, endpoint))
    assert len(endpoint.requests) == 1


def test_one_batch_that_fails_for_good_stops_those_that_have_not_begun(kit: Any) -> None:
    """Four are on their way at once; no other follows."""
    endpoint = kit.serve(*[failing(401, "no")] * 40)
    with pytest.raises(KeyRejected):
        make(kit, endpoint, batch=1).embed([f"text {n}" for n in range(40)])
    assert len(endpoint.requests) <= 4


def test_texts_that_are_too_long_are_cut_until_they_fit(kit: Any) -> None:
    """And later ones at once; blank and broken texts are sent as something that is taken."""

    def embed(request: Request) -> Reply | None:
        return failing(400, "maximum context length is 512 tokens") if max(map(len, request.body["input"])) > 2000 else None

    endpoint = kit.serve()
    plain = endpoint.reply
    endpoint.reply = lambda path, headers, body: embed(Request(path, headers, body, 0.0)) or plain(path, headers, body)
    embedder = make(kit, endpoint)
    assert embedder.embed(["x" * 9000, "", "\ud83d"]).shape == (3, 16)
    assert [len(t) for t in endpoint.requests[-1].body["input"]] == [2000, 1, 1]
    embedder.embed(["y" * 9000])
    assert [len(t) for t in endpoint.requests[-1].body["input"]] == [2000]


@pytest.mark.parametrize(("argument", "value"), [("dimension", 0), ("batch", 0)])
def test_arguments_that_cannot_be_are_refused_by_name(kit: Any, argument: str, value: int) -> None:
    """When the embedder is made."""
    with pytest.raises(InvalidInput, match=f"^{argument}="):
        make(kit, kit.serve(), **{argument: value})
