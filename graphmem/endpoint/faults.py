"""What can go wrong at an endpoint: how each trouble is told, what to do next, and whether it is worth another try."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from graphmem import errors
from graphmem.errors import ModelError

_DETAIL = 300
_TEXT = 20_000


class Trouble(StrEnum):
    """The troubles that are told apart."""

    NO_HOST = "no_host"
    UNREACHABLE = "unreachable"
    CERTIFICATE = "certificate"
    CUT = "cut"
    TIMEOUT = "timeout"
    RATE = "rate"
    QUOTA = "quota"
    BUSY = "busy"
    SERVER = "server"
    EMPTY = "empty"
    NOT_JSON = "not_json"
    TOO_LARGE = "too_large"
    KEY = "key"
    PERMISSION = "permission"
    MODEL = "model"
    PATH = "path"
    REDIRECT = "redirect"
    CONTEXT = "context"
    REQUEST = "request"
    REFUSED = "refused"
    FILTERED = "filtered"
    TRUNCATED = "truncated"


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the table."""

    error: type[ModelError]
    retry: bool
    what: str
    then: str
    for_all: bool = False
    """Whether every other request to the endpoint would meet it too."""


_ADDRESS = "check base_url, and whether the endpoint is running; behind a proxy, name it in GRAPHMEM_PROXY"
RULES: Mapping[Trouble, Rule] = {
    Trouble.NO_HOST: Rule(errors.EndpointUnreachable, True, "cannot be found", "check the host in base_url and the network", for_all=True),
    Trouble.UNREACHABLE: Rule(errors.EndpointUnreachable, True, "cannot be reached", _ADDRESS, for_all=True),
    Trouble.CERTIFICATE: Rule(
        errors.EndpointUnreachable,
        False,
        "has a certificate that is not trusted",
        "check base_url, or name its authority in SSL_CERT_FILE",
        for_all=True,
    ),
    Trouble.CUT: Rule(errors.EndpointFailed, True, "broke off in the middle", "try again later"),
    Trouble.TIMEOUT: Rule(errors.EndpointTimeout, True, "did not answer in time", "raise timeout= (GRAPHMEM_TIMEOUT), or try again later"),
    Trouble.RATE: Rule(errors.RateLimited, True, "limits the rate", "wait a while, or lower max_concurrency"),
    Trouble.QUOTA: Rule(errors.RateLimited, False, "has no quota left for this account", "add credit at the provider", for_all=True),
    Trouble.BUSY: Rule(errors.EndpointFailed, True, "is busy", "try again later"),
    Trouble.SERVER: Rule(errors.EndpointFailed, True, "failed", "try again later, or look at the endpoint's own log"),
    Trouble.EMPTY: Rule(errors.EndpointFailed, True, "gave an empty answer", "try again later, or use another model"),
    Trouble.NOT_JSON: Rule(
        errors.EndpointFailed, False, "gave a page instead of an answer", "check base_url: it usually ends with /v1", for_all=True
    ),
    Trouble.TOO_LARGE: Rule(errors.EndpointFailed, False, "gave an answer too large to be one", "check base_url"),
    Trouble.KEY: Rule(errors.KeyRejected, False, "does not accept the key", "pass another api_key=, or set GRAPHMEM_API_KEY", for_all=True),
    Trouble.PERMISSION: Rule(errors.NotPermitted, False, "does not permit this", "use a key that may use this model", for_all=True),
    Trouble.MODEL: Rule(errors.UnknownModel, False, "has no such model", "name one that it has", for_all=True),
    Trouble.PATH: Rule(
        errors.RequestRejected, False, "has nothing at this address", "check base_url: it usually ends with /v1", for_all=True
    ),
    Trouble.REDIRECT: Rule(
        errors.RequestRejected, False, "sends to another address", "if that one is meant, pass it as base_url", for_all=True
    ),
    Trouble.CONTEXT: Rule(errors.ContextTooLong, False, "cannot take a text of this length", "use a model with a longer context"),
    Trouble.REQUEST: Rule(errors.RequestRejected, False, "does not take the request", "use another model or endpoint"),
    Trouble.REFUSED: Rule(errors.AnswerRefused, False, "refused to answer", "leave this text out, or use another model"),
    Trouble.FILTERED: Rule(errors.AnswerFiltered, False, "filtered the text or the answer", "leave this text out, or use another model"),
    Trouble.TRUNCATED: Rule(
        errors.AnswerTruncated, False, "ran out of tokens in its answer, also with more of them", "use a model with longer answers"
    ),
}


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that went wrong: which trouble, the endpoint's own words, and how long it asks to wait."""

    trouble: Trouble
    detail: str = ""
    status: int | None = None
    wait: float | None = None
    text: str = ""
    """The body, cut, in lower case, for those who look for what it names."""
    final: bool = False
    """The endpoint says that another try is of no use."""
    tries: int = 1

    @property
    def worth_retrying(self) -> bool:
        """Whether the same request may fare better later."""
        return RULES[self.trouble].retry and not self.final

    @property
    def limits_rate(self) -> bool:
        """Whether it passes once fewer requests are sent: the endpoint says so, or for how long to send none."""
        return self.worth_retrying and (self.trouble is Trouble.RATE or self.wait is not None)

    @property
    def for_all(self) -> bool:
        """Whether every other request to the endpoint would meet it too."""
        return RULES[self.trouble].for_all

    def error(self, who: str) -> ModelError:
        """The error to raise: who, what, the endpoint's own words, what to do next."""
        rule = RULES[self.trouble]
        status = f" (HTTP {self.status})" if self.status is not None and self.status >= 300 else ""
        often = f" after {self.tries} tries" if self.tries > 1 else ""
        said = f": {self.detail}" if self.detail else ""
        return rule.error(f"{who} {rule.what}{status}{often}{said}; {rule.then}")


_CONTEXT = re.compile(
    r"context[ _-]?(length|window|size)|maximum context|exceed_context|too many (input )?tokens|"
    r"(prompt|input|request|text)[^.]{0,40} too (long|large)|string_above_max_length|"
    r"(reduce|shorten) (the |your )?(length|prompt|input|message)"
)
_FILTER = re.compile(r"content[ _](filter|policy|management)|responsibleai")
_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|billing|out of credits|insufficient (credits|balance)")
_NO_MODEL = re.compile(r"model_not_found|unknown model|invalid model|model[^.]{0,120}(not found|not exist|not available|not supported)")
_NO_KEY = re.compile(r"invalid_api_key|api key not valid|incorrect api key|invalid api key|missing api key")


def of_status(status: int, body: str, wait: float | None = None, final: bool = False) -> Problem:
    """What an HTTP status and its body mean.

    >>> of_status(429, '{"error": {"message": "slow down"}}').trouble.value
    'rate'
    """
    parsed = _parsed(body)
    text = body[:_TEXT].lower()
    return Problem(_trouble(status, text, parsed is not None), _words(parsed), status, wait, text, final)


def of_error_body(error: object, wait: float | None = None) -> Problem:
    """What an error means that came with status 200."""
    code = error.get("code") if isinstance(error, Mapping) else None
    status = code if isinstance(code, int) and 400 <= code < 600 else 500
    return of_status(status, json.dumps({"error": error}), wait)


def _trouble(status: int, text: str, is_json: bool) -> Trouble:
    if status < 400:
        return Trouble.REDIRECT
    if status == 402 or (status in (403, 429) and _QUOTA.search(text)):
        return Trouble.QUOTA
    if status == 403 and _FILTER.search(text):
        return Trouble.FILTERED
    plain = {401: Trouble.KEY, 403: Trouble.PERMISSION, 408: Trouble.BUSY, 409: Trouble.BUSY, 425: Trouble.BUSY, 429: Trouble.RATE}
    if status in plain:
        return plain[status]
    if status == 413 or (status in (400, 422, 500) and _CONTEXT.search(text)):
        return Trouble.CONTEXT
    if status >= 500:
        return Trouble.SERVER
    if _FILTER.search(text):
        return Trouble.FILTERED
    if _NO_KEY.search(text):
        return Trouble.KEY
    if _NO_MODEL.search(text) or (status == 404 and is_json and "model" in text):
        return Trouble.MODEL
    return Trouble.PATH if status in (404, 405) else Trouble.REQUEST


def _parsed(body: str) -> object | None:
    try:
        parsed: object = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return parsed


def _words(parsed: object) -> str:
    """The sentence of an error body, whichever of the usual places it stands in."""
    for _ in range(3):
        if isinstance(parsed, list) and parsed:
            parsed = parsed[0]
        if not isinstance(parsed, Mapping):
            break
        parsed = next((parsed[k] for k in ("error", "message", "msg", "detail") if parsed.get(k)), "")
    return parsed if isinstance(parsed, str) else ""


def clean(text: str, secret: str, limit: int = _DETAIL) -> str:
    """Text of an endpoint as a message may show it: without the secret, on one line, cut.

    >>> clean("Bad key sk-123\\n\\x1b[31m!", "sk-123")
    'Bad key *** [31m!'
    """
    if secret:
        text = text.replace(secret, "***")
    line = " ".join("".join(c if c.isprintable() else " " for c in text[: limit * 4]).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
