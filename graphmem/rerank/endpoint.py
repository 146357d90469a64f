"""A reranker behind an HTTP address, as Cohere, Jina, vLLM and others serve it."""

from __future__ import annotations

import http.client
import json
import math
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from graphmem.errors import AnswerUnusable, InvalidInput, ModelUnavailable
from graphmem.rerank.asked import Asked
from graphmem.rerank.base import readable
from graphmem.search.hits import Hit
from graphmem.settings import Secret

_MOST_BYTES = 8_000_000
_CHUNK = 65_536


class EndpointReranker:
    """Scores of the model `name` at `base_url`: one POST a search to `base_url/rerank`.

    Sent are the question and the texts of the hits, each to its first 8,000 characters: `{model, query, documents, top_n}`.
    Expected is `{"results": [{"index": 0, "relevance_score": 0.9}, ...]}` with every document once. `api_key` is sent as a
    bearer token, to this address alone: redirects are not followed. After `timeout` seconds the search goes on without.

    >>> EndpointReranker("https://api.example.com/v1", "some-reranker", api_key="secret")
    EndpointReranker('https://api.example.com/v1', 'some-reranker')
    """

    def __init__(self, base_url: str, name: str, api_key: str | None = None, *, timeout: float = 10.0) -> None:
        self._url = _address(base_url)
        if not isinstance(name, str) or not name.strip():
            raise InvalidInput("name", name, "must be the name of a model")
        if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not timeout > 0:
            raise InvalidInput("timeout", timeout, "must be more than 0 seconds")
        if api_key is not None and not (isinstance(api_key, str) and api_key.isascii() and api_key.isprintable() and api_key.strip()):
            # Without the value: an error message ends up in logs.
            raise InvalidInput("api_key", "...", "must be printable ASCII")
        self.name, self._base_url, self._timeout = name, base_url, timeout
        self._api_key = None if api_key is None else Secret(api_key)

    def __repr__(self) -> str:
        return f"EndpointReranker({self._base_url!r}, {self.name!r})"

    def scores(self, asked: Asked, hits: Sequence[Hit]) -> list[float]:
        """The relevance scores. Raises `ModelUnavailable` or `AnswerUnusable`."""
        documents = [readable(hit.text) for hit in hits]
        payload = {"model": self.name, "query": readable(asked.query), "documents": documents, "top_n": len(documents)}
        return _scores(self._post(json.dumps(payload).encode("ascii")), len(documents))

    def _post(self, body: bytes) -> bytes:
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "graphmem"}
        if self._api_key is not None:
            headers["Authorization"] = f"Bearer {self._api_key.reveal()}"
        request = urllib.request.Request(self._url, data=body, headers=headers, method="POST")
        deadline = time.monotonic() + self._timeout
        try:
            with urllib.request.build_opener(_Stay).open(request, timeout=self._timeout) as response:
                return _read(response, deadline)
        except urllib.error.HTTPError as error:
            # The server's own words are left out: they may repeat what was sent, the key too.
            with error:
                raise ModelUnavailable(f"{self._base_url} answered with HTTP status {error.code}") from None
        except urllib.error.URLError as error:
            raise ModelUnavailable(f"{self._base_url} cannot be reached: {str(error.reason)[:200]}") from error
        except (OSError, http.client.HTTPException) as error:
            raise ModelUnavailable(f"{self._base_url} cannot be reached: {type(error).__name__}") from error


class _Stay(urllib.request.HTTPRedirectHandler):
    """Does not follow redirects, which would carry the key to another address."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _address(base_url: str) -> str:
    """Where to post to."""
    try:
        parts = urlsplit(base_url)
        _ = parts.port
    except (ValueError, AttributeError, TypeError):
        raise InvalidInput("base_url", "...", "is not an address") from None
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise InvalidInput("base_url", f"{parts.scheme}://...", "must have no user, query or fragment; a key goes to api_key")
    if parts.scheme not in ("http", "https") or not parts.hostname or not (base_url.isascii() and base_url.isprintable()):
        raise InvalidInput("base_url", base_url, "must be an http or https address, for instance 'https://api.example.com/v1'")
    bare = base_url.rstrip("/")
    return bare if bare.endswith("/rerank") else f"{bare}/rerank"


def _read(response: http.client.HTTPResponse, deadline: float) -> bytes:
    """The body; neither endless nor endlessly slow."""
    chunks: list[bytes] = []
    size = 0
    while chunk := response.read1(_CHUNK):
        chunks.append(chunk)
        size += len(chunk)
        if size > _MOST_BYTES:
            raise AnswerUnusable(f"the answer has more than {_MOST_BYTES} bytes")
        if time.monotonic() > deadline:
            raise TimeoutError
    return b"".join(chunks)


def _scores(body: bytes, count: int) -> list[float]:
    """The scores by document; raises `AnswerUnusable` unless there is one finite number for each, and nothing else."""
    try:
        rows = json.loads(body)["results"]
        found = {row["index"]: row["relevance_score"] for row in rows}
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise AnswerUnusable("the answer is not a list of results with index and relevance_score") from error
    indexes = [i for i in found if isinstance(i, int) and not isinstance(i, bool)]
    if len(rows) != count or sorted(indexes) != list(range(count)):
        raise AnswerUnusable(f"the answer does not name each of {count} documents once")
    return [_number(found[i]) for i in range(count)]


def _number(value: object) -> float:
    try:
        number = float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else math.nan
    except OverflowError:
        number = math.nan
    if not math.isfinite(number):
        raise AnswerUnusable("a relevance_score is not a finite number")
    return number
