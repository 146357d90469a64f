"""Tries after a failure: how many, after how long, and for what."""

from __future__ import annotations

from collections import Counter
from itertools import count
from typing import Any

import pytest

from graphmem.endpoint.faults import RULES, Trouble
from graphmem.errors import EndpointFailed, ModelError, RateLimited, RequestRejected
from graphmem.testing.endpoint import Reply, Request, cut, empty, failing, html, rate_limited


@pytest.mark.parametrize(
    ("reply", "seconds"),
    [
        (rate_limited("2"), 2.0),
        (rate_limited("1.5"), 1.5),
        (rate_limited("250", header="retry-after-ms"), 0.25),
        (rate_limited(message="Rate limit reached. Please try again in 1.2s."), 1.2),
        (rate_limited(message="Please retry after 3 seconds."), 3.0),
        (rate_limited(message="Please try again in 120ms."), 0.12),
        (rate_limited(message="Please try again in 1m2s."), 60.0),
        (rate_limited("Thu, 15 Jan 2026 12:00:20 GMT"), 20.0),
        (rate_limited("Thu, 15 Jan 2026 11:00:00 GMT"), 0.0),
        (rate_limited("86400"), 60.0),
        (failing(503, headers={"retry-after": "4"}), 4.0),
    ],
    ids=["seconds", "part", "ms", "text", "after", "text ms", "capped", "date", "past", "day", "503"],
)
def test_the_endpoint_says_how_long_to_wait(kit: Any, reply: Reply, seconds: float) -> None:
    """In seconds, as a date, in words; chance adds a quarter at most; never longer than the longest wait, which is a minute. Dates
    count from the clock here.
    """
    reply = Reply(reply.body, reply.status, {**reply.headers, "date": "Thu, 15 Jan 2026 12:00:00 GMT"})
    endpoint = kit.serve(reply)
    kit.model(endpoint).answer([kit.ask()])
    assert kit.waits == [pytest.approx(min(seconds * 1.25, 60.0))]


def test_a_date_counts_from_the_clock_of_the_endpoint(kit: Any) -> None:
    """A clock here that is years off does not matter."""
    reply = rate_limited("Fri, 01 Jan 2027 00:00:09 GMT")
    endpoint = kit.serve(Reply(reply.body, 429, {**reply.headers, "date": "Fri, 01 Jan 2027 00:00:00 GMT"}))
    kit.model(endpoint).answer([kit.ask()])
    assert kit.waits == [9.0 * 1.25]


@pytest.mark.parametrize("value", ["soon", "-5", "nan", "inf", "Thu, 99 Jan 2026", ""])
def test_a_wait_that_cannot_be_read_is_made_as_if_none_was_asked(kit: Any, value: str) -> None:
    """Half a second the first time."""
    kit.model(kit.serve(rate_limited(value))).answer([kit.ask()])
    assert kit.waits == [0.5]


def test_without_a_word_waits_double(kit: Any) -> None:
    """With the jitter at its highest."""
    endpoint = kit.serve(*[rate_limited()] * 4)
    kit.model(endpoint, retries=4).answer([kit.ask()])
    assert kit.waits == [0.5, 1.0, 2.0, 4.0]
    assert len(endpoint.requests) == 5


def test_tries_come_to_an_end(kit: Any) -> None:
    """The error says how many there were; no wait after the last."""
    endpoint = kit.serve(*[rate_limited("1", "Slow down, please.")] * 9)
    with pytest.raises(RateLimited, match=r"\(HTTP 429\) after 3 tries: Slow down, please\.; wait a while"):
        kit.model(endpoint, retries=2).answer([kit.ask()])
    assert (len(endpoint.requests), kit.waits) == (3, [1.25, 1.25])


@pytest.mark.parametrize(
    "reply",
    [
        failing(500),
        failing(502),
        failing(503),
        failing(504),
        failing(529),
        failing(408),
        failing(409),
        html(503),
        empty(),
        cut(),
        empty(502),
    ],
    ids=["500", "502", "503", "504", "529", "408", "409", "html 503", "empty", "cut", "empty 502"],
)
def test_what_may_pass_is_tried_again(kit: Any, reply: Reply) -> None:
    """Errors of the server, nothing, half an answer."""
    endpoint = kit.serve(reply)
    kit.model(endpoint).answer([kit.ask()])
    assert len(endpoint.requests) == 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 410, 413, 418, 422])
def test_what_will_not_pass_is_not_tried_again(kit: Any, status: int) -> None:
    """One request."""
    endpoint = kit.serve(failing(status, "no"))
    with pytest.raises(RequestRejected):
        kit.model(endpoint).answer([kit.ask()])
    assert (len(endpoint.requests), kit.waits) == (1, [])


def test_an_endpoint_that_says_not_to_try_again_is_believed(kit: Any) -> None:
    """By its header `x-should-retry`."""
    endpoint = kit.serve(failing(503, "down for a week", headers={"x-should-retry": "false"}))
    with pytest.raises(EndpointFailed, match="down for a week"):
        kit.model(endpoint).answer([kit.ask()])
    assert len(endpoint.requests) == 1


def test_a_used_up_quota_is_not_waited_for(kit: Any) -> None:
    """It is an error 429 as well, but no wait helps."""
    endpoint = kit.serve(failing(429, "You exceeded your current quota.", code="insufficient_quota"))
    with pytest.raises(RateLimited, match="add credit"):
        kit.model(endpoint).answer([kit.ask()])
    assert len(endpoint.requests) == 1


def test_every_trouble_has_its_row_in_the_table() -> None:
    """With an error of its own tree and a next step."""
    assert set(RULES) == set(Trouble)
    assert all(issubclass(rule.error, ModelError) and rule.what and rule.then for rule in RULES.values())
    assert {t for t, rule in RULES.items() if rule.retry} == {
        Trouble.NO_HOST, Trouble.UNREACHABLE, Trouble.CUT, Trouble.TIMEOUT, Trouble.RATE, Trouble.BUSY, Trouble.SERVER, Trouble.EMPTY,
    }  # fmt: skip


def test_waits_are_real_unless_injected(kit: Any) -> None:
    """A fifth of a second, seen by the server."""
    endpoint = kit.serve(rate_limited("0.2"))
    kit.model(endpoint, waiting=None).answer([kit.ask()])
    first, second = (r.at for r in endpoint.requests)
    assert 0.19 < second - first < 5


def test_of_twenty_asks_the_limited_one_waits_and_the_hopeless_one_fails_alone(kit: Any) -> None:
    """The seventh is refused twice, the twelfth always, until nothing else is answered any more; never more than four are on their
    way.
    """
    refused: Counter[str] = Counter()

    def answer(request: Request) -> object:
        which = "seventh" if "Number 7." in request.user else "twelfth" if "Number 12." in request.user else ""
        refused[which] += 1
        return rate_limited("2") if which == "twelfth" or (which == "seventh" and refused[which] <= 2) else {"entities": [], "facts": []}

    endpoint = kit.serve(answer=answer, delay=0.01)
    answers = kit.model(endpoint, max_concurrency=4, retries=3).answer([kit.ask(f"Number {n}.") for n in range(1, 21)])
    assert [n for n, a in enumerate(answers, 1) if a.failure is not None] == [12]
    assert isinstance(answers[11].failure, RateLimited)
    assert kit.waits == [2.5] * (2 + refused["twelfth"] - 1)
    assert endpoint.most_at_once <= 4
    assert (refused["seventh"], len(endpoint.requests)) == (3, 18 + 3 + refused["twelfth"])


def test_a_rate_limit_slows_many_requests_down_and_fails_none(kit: Any) -> None:
    """Each fourth is answered: as long as something is, no request gives up, though some are refused oftener than they have tries."""
    numbers, refused = count(1), Counter[str]()

    def answer(request: Request) -> object:
        if next(numbers) % 4 == 0:
            return {"entities": [], "facts": []}
        refused[request.user] += 1
        return rate_limited("2")

    endpoint = kit.serve(answer=answer)
    answers = kit.model(endpoint, retries=3).answer([kit.ask(f"Number {n}.") for n in range(24)])
    assert [a.failure for a in answers] == [None] * 24
    assert len(endpoint.requests) == 24 * 4
    assert max(refused.values()) > 3


def test_an_endpoint_that_only_limits_the_rate_fails_soon(kit: Any) -> None:
    """The tries are those of the call, not of each of its requests: a long call makes as many long waits as a short one."""
    endpoint = kit.serve(answer=lambda request: rate_limited("2"))
    with pytest.raises(RateLimited, match="limits the rate"):
        kit.model(endpoint, max_concurrency=1, retries=4).answer([kit.ask(f"Number {n}.") for n in range(24)])
    assert kit.waits == [2.5, 2.5, 2.5, 2.5]
    assert len(endpoint.requests) == 5 + 23


def test_a_wait_that_was_too_short_is_followed_by_a_longer_one(kit: Any) -> None:
    """An endpoint that says "now" each time is not asked again at once each time."""
    kit.model(kit.serve(*[rate_limited("0")] * 4)).answer([kit.ask()])
    assert kit.waits == [0.0, 0.5, 1.0, 2.0]


def test_a_request_is_refused_only_so_often_while_others_are_answered(kit: Any) -> None:
    """Ten times for each try that it has; then it fails, though the others go on."""
    refused: list[float] = []

    def answer(request: Request) -> object:
        if "Number 0." not in request.user:
            return {"entities": [], "facts": []}
        refused.append(request.at)
        return rate_limited()

    model = kit.model(kit.serve(answer=answer), max_concurrency=2, retries=1)
    answers = model.answer([kit.ask(f"Number {n}.") for n in range(200)])
    assert [n for n, a in enumerate(answers) if a.failure is not None] == [0]
    assert 2 <= len(refused) <= 11
