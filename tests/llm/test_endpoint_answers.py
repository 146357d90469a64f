"""Answers of an endpoint: in order, side by side, with what they cost."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from graphmem.errors import InvalidInput, KeyRejected, ModelError, RateLimited
from graphmem.llm.base import Ask
from graphmem.testing.endpoint import Reply, Request, completion, failing, rate_limited


def test_an_answer_is_the_text_as_it_came_with_its_cost(kit: Any) -> None:
    """Fences and prose around the JSON stay: the engine reads tolerantly."""
    said = 'Sure: ```json\n{"entities": [], "facts": []}\n```'
    endpoint = kit.serve(completion(said, usage=(120, 34)))
    [answer] = kit.model(endpoint).answer([kit.ask()])
    assert answer.value == said
    assert (answer.usage.calls, answer.usage.input_tokens, answer.usage.output_tokens) == (1, 120, 34)
    assert 0 < answer.usage.seconds < 10


def test_a_request_holds_the_prompt_its_schema_and_its_length(kit: Any) -> None:
    """And goes to `/chat/completions` below the address."""
    endpoint = kit.serve()
    kit.model(endpoint).answer([kit.ask("Ivo lives in Split.")])
    [request] = endpoint.requests
    assert request.path == "/v1/chat/completions"
    assert request.body["model"] == "some-model"
    assert request.body["temperature"] == 0
    assert request.body["max_tokens"] > 0
    assert "Ivo lives in Split." in request.user
    assert request.format == "json_schema"
    assert request.prompt == "extract"
    assert request.body["response_format"]["json_schema"]["schema"]["required"] == ["entities", "facts"]


def test_answers_come_in_the_order_of_the_asks_however_long_each_takes(kit: Any) -> None:
    """The first ask is answered last."""
    texts = [f"Number {n} is here." for n in range(6)]

    def answer(request: Request) -> object:
        n = texts.index(kit.asked_about(request, texts))
        return completion(json.dumps({"entities": [{"name": str(n)}], "facts": []}), delay=0.2 if n == 0 else 0.0)

    answers = kit.model(kit.serve(answer=answer)).answer([kit.ask(t) for t in texts])
    assert [json.loads(str(a.value))["entities"][0]["name"] for a in answers] == [str(n) for n in range(6)]


def test_asks_of_one_call_go_out_side_by_side_but_no_more_than_allowed(kit: Any) -> None:
    """Nine asks, three at once: seen by the server, not by the clock."""
    endpoint = kit.serve(delay=0.1)
    kit.model(endpoint, max_concurrency=3).answer([kit.ask(f"Number {n}.") for n in range(9)])
    assert endpoint.most_at_once == 3
    assert kit.model(endpoint, max_concurrency=3).concurrency == 3
    assert len(endpoint.requests) == 9


def test_threads_that_share_a_model_share_its_limit(kit: Any) -> None:
    """Three threads with four asks each, two at once over all."""
    endpoint = kit.serve(delay=0.03)
    model = kit.model(endpoint, max_concurrency=2)
    with ThreadPoolExecutor(3) as threads:
        list(threads.map(lambda t: model.answer([kit.ask(f"Number {t} {n}.") for n in range(4)]), range(3)))
    assert (endpoint.most_at_once, len(endpoint.requests)) == (2, 12)


def test_only_tries_that_were_answered_count_as_calls(kit: Any) -> None:
    """A refusal for the rate or an error of the server costs nothing."""
    endpoint = kit.serve(rate_limited("1"), failing(503), completion(kit.nothing, usage=(9, 4)))
    [answer] = kit.model(endpoint).answer([kit.ask()])
    assert (answer.usage.calls, answer.usage.input_tokens, answer.usage.output_tokens) == (1, 9, 4)


def test_no_ask_sends_nothing(kit: Any) -> None:
    """An empty list has an empty answer."""
    endpoint = kit.serve()
    assert kit.model(endpoint).answer([]) == []
    assert endpoint.requests == []


def test_one_that_fails_for_good_stops_those_that_have_not_begun(kit: Any) -> None:
    """Twenty asks, one at once, the first refused."""
    endpoint = kit.serve(answer=lambda request: failing(401, "no"))
    with pytest.raises(KeyRejected):
        kit.model(endpoint, max_concurrency=1).answer([kit.ask(f"Number {n}.") for n in range(20)])
    assert len(endpoint.requests) == 1


def test_an_ask_that_fails_does_not_take_the_others_with_it(kit: Any) -> None:
    """Its answer says why; asked alone, it is an error."""

    def answer(request: Request) -> object:
        return rate_limited("1", "not this one") if "Number 2." in request.user else {"entities": [], "facts": []}

    model = kit.model(kit.serve(answer=answer), retries=1)
    answers = model.answer([kit.ask(f"Number {n}.") for n in range(4)])
    assert [type(a.failure) for a in answers] == [type(None), type(None), RateLimited, type(None)]
    assert [a.value is None for a in answers] == [False, False, True, False]
    assert "not this one" in str(answers[2].failure)
    with pytest.raises(RateLimited):
        model.answer([kit.ask("Number 2.")])


def test_what_was_answered_before_the_key_was_withdrawn_is_kept(kit: Any) -> None:
    """Those not yet sent stay unsent and say the same reason."""
    endpoint = kit.serve(completion(kit.nothing), failing(401, "expired"), failing(401, "expired"))
    answers = kit.model(endpoint, max_concurrency=1).answer([kit.ask(f"Number {n}.") for n in range(5)])
    assert [type(a.failure).__name__ for a in answers] == ["NoneType", *["KeyRejected"] * 4]
    assert len(endpoint.requests) == 2


def test_a_prompt_that_has_no_words_is_told_before_anything_is_sent(kit: Any) -> None:
    """By its name."""
    endpoint = kit.serve()
    with pytest.raises(ModelError, match="no-such-prompt"):
        kit.model(endpoint).answer([kit.ask(), Ask("no-such-prompt", 1, {})])
    assert endpoint.requests == []


def test_content_in_parts_and_broken_characters_are_read(kit: Any) -> None:
    """Parts are joined; half a surrogate pair, which no file can hold, is replaced."""
    body = json.loads(completion("x").body)
    body["choices"][0]["message"]["content"] = [
        {"type": "text", "text": '{"entities": [{"name": "\ud83d'},
        {"type": "text", "text": '"}]}'},
    ]
    [answer] = kit.model(kit.serve(Reply(json.dumps(body)))).answer([kit.ask()])
    assert answer.value == '{"entities": [{"name": "\ufffd"}]}'


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": "many", "completion_tokens": -3}, [], {"prompt_tokens": True}])
def test_a_count_that_is_none_counts_as_zero(kit: Any, usage: object) -> None:
    """A call is counted all the same."""
    body = {**json.loads(completion(kit.nothing).body), "usage": usage}
    [answer] = kit.model(kit.serve(Reply(json.dumps(body)))).answer([kit.ask()])
    assert (answer.usage.calls, answer.usage.input_tokens, answer.usage.output_tokens) == (1, 0, 0)


@pytest.mark.parametrize(
    ("argument", "value"),
    [("timeout", 0), ("timeout", -1.0), ("timeout", float("nan")), ("retries", -1), ("max_concurrency", 0), ("proxy", "not a proxy")],
)
def test_arguments_that_cannot_be_are_refused_by_name(kit: Any, argument: str, value: object) -> None:
    """When the model is made, not when it is first used."""
    with pytest.raises(InvalidInput, match=f"^{argument}="):
        kit.model("http://localhost:1/v1", **{argument: value})


@pytest.mark.parametrize(
    "url",
    [
        "localhost:8080",
        "ftp://x/v1",
        "http://",
        "http://u:p@x/v1",
        "http://x/v1?key=s3cret",
        "http://x/#s3cret",
        "sk-s3cret",
        "http://[",
        "http://a..b/v1",
        "http://" + "a" * 300,
        "http://localhost:99999",
    ],
)
def test_an_address_that_is_none_is_refused_without_showing_what_may_be_a_secret(kit: Any, url: str) -> None:
    """Passwords belong in `api_key`."""
    with pytest.raises(InvalidInput, match=r"^base_url=") as error:
        kit.model(url)
    assert "s3cret" not in str(error.value)
    assert "u:p" not in str(error.value)
