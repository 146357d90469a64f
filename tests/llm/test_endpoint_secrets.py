"""Where the key goes: to the address that was named, and nowhere else; nothing printed, logged or raised shows it."""

from __future__ import annotations

import json
import logging
import pickle
import traceback
from dataclasses import asdict
from pprint import pformat
from typing import Any

import pytest

import graphmem
from graphmem.embed.endpoint import EndpointEmbedder
from graphmem.embed.hashing import HashingEmbedder
from graphmem.endpoint.faults import RULES
from graphmem.errors import GraphmemError, InvalidInput, ModelError
from graphmem.settings import Secret, Settings
from graphmem.testing.endpoint import Reply, cut, empty, failing, html, rate_limited, refused

ECHOES = [
    lambda key: failing(401, f"Incorrect API key provided: {key}. You can find yours at example.com."),
    lambda key: failing(403, f"{key} may not do this"),
    lambda key: failing(404, f"model for {key} not found"),
    lambda key: failing(
        400,
        f"bad header Authorization: Bearer {key}",
    ),
    lambda key: failing(500, f"crashed at {key}"),
    lambda key: rate_limited("1", f"limit for {key}: try again in 1s"),
    lambda key: refused(f"I will not, {key}."),
    lambda key: html(200, f"<p>{key}"),
    lambda key: html(502, f"<p>{key}"),
    lambda key: Reply(f'{{"error": "{key}"}}'),
    lambda key: cut(),
    lambda key: empty(),
]


@pytest.mark.parametrize("echo", ECHOES, ids=range(len(ECHOES)))
def test_no_error_shows_the_key_though_the_endpoint_says_it(
    kit: Any, echo: Any, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither its message nor its traceback, neither what is logged at DEBUG by any library nor what is printed."""
    caplog.set_level(logging.DEBUG)
    endpoint = kit.serve(answer=lambda request: echo(kit.key))
    with pytest.raises(ModelError) as raised:
        kit.model(endpoint, retries=1).answer([kit.ask()])
    assert any(r.headers["authorization"] == f"Bearer {kit.key}" for r in endpoint.requests)
    shown = [str(raised.value), repr(raised.value), "".join(traceback.format_exception(raised.value)), caplog.text]
    shown += [str(r.__dict__) for r in caplog.records]
    shown += list(capsys.readouterr())
    assert [s for s in shown if kit.key in s] == []


def test_a_key_that_comes_back_in_a_header_is_hidden_too(kit: Any, caplog: pytest.LogCaptureFixture) -> None:
    """In what is raised and in our own log; the transport's log shows headers of answers at DEBUG, if somebody turns that on."""
    caplog.set_level(logging.DEBUG, logger="graphmem")
    endpoint = kit.serve(Reply("", 302, {"location": f"http://x.example/?key={kit.key}"}))
    with pytest.raises(ModelError, match=r"x\.example/\?key=\*\*\*") as raised:
        kit.model(endpoint).answer([kit.ask()])
    assert kit.key not in "".join(traceback.format_exception(raised.value)) + caplog.text


def test_an_error_holds_no_trail_of_the_errors_below_it(kit: Any) -> None:
    """Their messages are the endpoint's own words."""
    with pytest.raises(ModelError) as raised:
        kit.model(kit.serve(failing(401, kit.key))).answer([kit.ask()])
    assert raised.value.__cause__ is None
    assert raised.value.__context__ is None


def test_nothing_that_holds_the_key_shows_it(kit: Any) -> None:
    """Models, embedders, settings, in all ways of printing them."""
    model = kit.model("http://localhost:1/v1")
    embedder = EndpointEmbedder("e", base_url="http://localhost:1/v1", api_key=kit.key)
    settings = Settings.from_environment(
        {"GRAPHMEM_API_KEY": kit.key, "OPENAI_API_KEY": kit.key, "GRAPHMEM_PROXY": f"http://u:{kit.key}@p:1"}
    )
    for thing in (model, embedder, settings, Secret(kit.key)):
        shown = f"{thing} {thing!r} {pformat(thing)} {vars(thing) if hasattr(thing, '__dict__') else ''}"
        assert kit.key not in shown
    assert kit.key not in str(asdict(settings))
    assert (settings.api_key.reveal(), Secret(kit.key)) == (kit.key, Secret(kit.key))
    with pytest.raises((TypeError, AttributeError, pickle.PicklingError)):
        pickle.dumps(Secret(kit.key))
    with pytest.raises(TypeError):
        json.dumps(Secret(kit.key))


@pytest.mark.parametrize("key", ["sk-s3cret\n", "sk s3cret", "sk-s3cret\r\nx: y", "schlüssel-s3cret"])
def test_a_key_that_no_header_can_hold_is_refused_without_showing_it(kit: Any, key: str) -> None:
    """Space around it apart, which is what copying brings along."""
    if key.strip() == "sk-s3cret":
        assert kit.model(kit.serve(), api_key=key).answer([kit.ask()])
        return
    with pytest.raises(InvalidInput, match=r"^api_key='\*\*\*'") as raised:
        kit.model("http://localhost:1/v1", api_key=key)
    assert "s3cret" not in str(raised.value) + repr(vars(raised.value))


def test_without_a_key_none_is_sent(kit: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even one that lies in the environment."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-other")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "sk-other")
    endpoint = kit.serve()
    kit.model(endpoint, api_key=None).answer([kit.ask()])
    assert "authorization" not in endpoint.requests[0].headers


def test_the_environment_of_the_openai_package_changes_nothing(kit: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its address, organisation, project and headers are not looked at, nor is anything told about this machine."""
    other = kit.serve()
    for name, value in {
        "OPENAI_BASE_URL": other.base_url,
        "OPENAI_API_KEY": "sk-other",
        "OPENAI_ORG_ID": "org-other",
        "OPENAI_PROJECT_ID": "proj-other",
        "OPENAI_CUSTOM_HEADERS": "Authorization: Bearer sk-other\nX-Other: other",
    }.items():
        monkeypatch.setenv(name, value)
    endpoint = kit.serve()
    kit.model(endpoint).answer([kit.ask()])
    assert other.requests == []
    [request] = endpoint.requests
    assert request.headers["authorization"] == f"Bearer {kit.key}"
    assert "other" not in str(request.headers)
    assert set(request.headers) <= {
        "host", "accept", "accept-encoding", "connection", "content-type", "content-length", "user-agent", "authorization",
    }  # fmt: skip
    assert request.headers["user-agent"] == "graphmem"


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_proxies_of_the_environment_are_not_followed(kit: Any, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Text for a server here would leave the machine; also a kind of proxy that cannot be used does no harm."""
    proxy = kit.serve()
    monkeypatch.setenv(name, proxy.base_url.removesuffix("/v1"))
    endpoint = kit.serve()
    kit.model(endpoint).answer([kit.ask()])
    monkeypatch.setenv(name, "socks5://127.0.0.1:1")
    kit.model(endpoint).answer([kit.ask("Ivo is here.")])
    assert (len(endpoint.requests), proxy.requests) == (2, [])


def test_a_proxy_that_is_named_is_used(kit: Any) -> None:
    """It gets the whole address."""
    proxy = kit.serve()
    kit.model("http://endpoint.invalid/v1", proxy=proxy.base_url.removesuffix("/v1")).answer([kit.ask()])
    assert proxy.requests[0].path == "http://endpoint.invalid/v1/chat/completions"


def test_a_key_in_the_environment_alone_sends_nothing(kit: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor do an address and a timeout: a model must be named."""
    endpoint = kit.serve()
    monkeypatch.setenv("OPENAI_API_KEY", kit.key)
    monkeypatch.setenv("GRAPHMEM_API_KEY", kit.key)
    monkeypatch.setenv("GRAPHMEM_BASE_URL", endpoint.base_url)
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
    from graphmem.testing import ScriptedModel

    with graphmem.open(model=ScriptedModel({"extract": {"entities": [], "facts": []}}), embedder=HashingEmbedder()) as memory:
        memory.add_message("Mira", "I live in Porto.")
        memory.search("Porto")
    assert endpoint.requests == []


def test_no_next_step_of_the_table_asks_to_show_a_key() -> None:
    """The steps are fixed text: nothing is formatted into them."""
    assert all("{" not in rule.then and "%" not in rule.then for rule in RULES.values())


def test_errors_of_arguments_do_not_show_the_key(kit: Any) -> None:
    """Also when it is given in the wrong place."""
    for model, options in (
        ("openai:x", {"base_url": kit.key}),
        ("offline", {"base_url": f"http://u:{kit.key}@x"}),
        ("offline", {"api_key": kit.key}),
    ):
        with pytest.raises(GraphmemError) as raised:
            graphmem.open(model=model, embedder=HashingEmbedder(), **options)  # type: ignore[arg-type]
        assert kit.key not in str(raised.value) + repr(vars(raised.value))
