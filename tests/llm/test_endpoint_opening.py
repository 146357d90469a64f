"""Opening a memory on an endpoint: what is named is used, what is not named is not."""

from __future__ import annotations

import builtins
import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.endpoint.wire import PUBLIC_API
from graphmem.errors import EmbedderError, EmbedderMismatch, InvalidInput, KeyRejected, MissingExtra
from graphmem.opening import _reached
from graphmem.settings import Settings
from graphmem.testing import FixedClock
from graphmem.testing.endpoint import Request, failing, refused


def reads(request: Request) -> object:
    """Reads the sentences that these tests say."""
    if request.prompt == "extract":
        name, city = ("Mira", "Porto") if "Porto" in request.user else ("Ivo", "Split")
        fact = {"source": name, "target": city, "relation": "lives_in", "text": f"{name} lives in {city}.", "kind": "holds"}
        dates = {"valid_at": "2024-03", "invalid_at": None, "still": False}
        return {
            "entities": [{"name": name, "type": "Person", "aliases": []}, {"name": city, "type": "City", "aliases": []}],
            "facts": [{**fact, **dates}],
        }
    return {"matches": [], "judgements": []}


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of this machine counts."""
    for name in ("GRAPHMEM_MODEL", "GRAPHMEM_EMBEDDER", "GRAPHMEM_BASE_URL", "GRAPHMEM_API_KEY", "GRAPHMEM_TIMEOUT", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def test_a_message_becomes_entities_and_facts_through_an_endpoint(kit: Any) -> None:
    """Model and embedder behind one address; the store is sound, the cost is told, the same message costs nothing again."""
    endpoint = kit.serve(answer=reads)
    clock = FixedClock("2025-01-10T09:00Z")
    options = {"base_url": endpoint.base_url, "api_key": kit.key, "timeout": 10}
    with graphmem.open(model="openai:x", embedder="openai:e", clock=clock, **options) as memory:
        assert endpoint.requests == []
        result = memory.add_message("Mira", "I have lived in Porto since March 2024.", reference_time="2025-01-08")
        assert [e.name for e in memory.entities()] == ["Mira", "Porto"]
        [fact] = memory.facts("Mira")
        assert (fact.relation, fact.valid.start.date().isoformat()) == ("LIVES_IN", "2024-03-01")
        assert (result.usage.calls, result.usage.input_tokens, result.usage.output_tokens) == (1, 7, 3)
        assert memory.search("Where does Mira live?", kinds=["fact"])[0].text == "Mira lives in Porto."
        assert memory.verify() == []
        sent = len(endpoint.requests)
        memory.add_message("Mira", "I have lived in Porto since March 2024.", reference_time="2025-01-08")
        assert len(endpoint.requests) == sent
    assert {r.path for r in endpoint.requests} == {"/v1/chat/completions", "/v1/embeddings"}
    assert {r.headers["authorization"] for r in endpoint.requests} == {f"Bearer {kit.key}"}


def test_the_environment_may_name_model_address_key_and_timeout(kit: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the arguments would."""
    endpoint = kit.serve(answer=reads)
    for name, value in {
        "MODEL": "openai:x",
        "EMBEDDER": "openai:e",
        "BASE_URL": endpoint.base_url,
        "API_KEY": kit.key,
        "TIMEOUT": "10",
    }.items():
        monkeypatch.setenv(f"GRAPHMEM_{name}", value)
    with graphmem.open() as memory:
        memory.add_message("Ivo", "I live in Split.")
    assert endpoint.requests[0].headers["authorization"] == f"Bearer {kit.key}"


def test_an_argument_goes_before_the_environment(kit: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Address and key."""
    other, endpoint = kit.serve(), kit.serve(answer=reads)
    monkeypatch.setenv("GRAPHMEM_BASE_URL", other.base_url)
    monkeypatch.setenv("GRAPHMEM_API_KEY", "sk-other")
    with graphmem.open(model="openai:x", embedder=HashingEmbedder(), base_url=endpoint.base_url, api_key=kit.key) as memory:
        memory.add_message("Ivo", "I live in Split.")
    assert other.requests == []
    assert endpoint.requests[0].headers["authorization"] == f"Bearer {kit.key}"


def test_without_an_address_it_is_the_public_api_whatever_the_openai_package_would_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen on the model itself; nothing is sent."""
    monkeypatch.setenv("OPENAI_BASE_URL", "http://elsewhere.example/v1")
    settings = Settings.from_environment({"OPENAI_API_KEY": "sk-openai", "OPENAI_BASE_URL": "http://elsewhere.example/v1"})
    base_url, key, _ = _reached(settings, {})
    from graphmem.llm.endpoint import EndpointModel

    assert repr(EndpointModel("x", base_url=base_url, api_key=key)) == f"EndpointModel('x', base_url='{PUBLIC_API}', api_key='***')"
    assert key.reveal() == "sk-openai"  # type: ignore[union-attr]


def test_the_key_of_the_public_api_goes_to_no_other_address(kit: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another provider would get it; GRAPHMEM_API_KEY is for whatever address is named."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai")
    endpoint = kit.serve(answer=reads)
    with graphmem.open(model="openai:x", embedder=HashingEmbedder(), base_url=endpoint.base_url) as memory:
        memory.add_message("Ivo", "I live in Split.")
    assert "authorization" not in endpoint.requests[0].headers
    monkeypatch.setenv("GRAPHMEM_API_KEY", kit.key)
    with graphmem.open(model="openai:x", embedder=HashingEmbedder(), base_url=endpoint.base_url) as memory:
        memory.add_message("Mira", "I live in Porto.")
    assert endpoint.requests[-1].headers["authorization"] == f"Bearer {kit.key}"


def test_the_public_api_without_a_key_is_told_when_opening() -> None:
    """With the two ways out."""
    with pytest.raises(InvalidInput, match="set OPENAI_API_KEY, or pass base_url="):
        graphmem.open(model="openai:x", embedder=HashingEmbedder())


@pytest.mark.parametrize("option", [{"base_url": "http://localhost:1/v1"}, {"api_key": "sk-1"}, {"timeout": 5.0}])
def test_an_argument_that_nothing_would_look_at_is_refused(option: dict[str, Any]) -> None:
    """A typing error in `model=` would otherwise send nothing and say nothing."""
    from graphmem.testing import ScriptedModel

    with pytest.raises(InvalidInput, match="neither is named"):
        graphmem.open(model=ScriptedModel({}), embedder=HashingEmbedder(), **option)


def test_an_argument_that_does_not_exist_is_a_type_error() -> None:
    """As for any function."""
    with pytest.raises(TypeError, match="unexpected keyword argument 'base_uri'"):
        graphmem.open(model="openai:x", base_uri="http://localhost:1/v1")  # type: ignore[call-arg]


@pytest.mark.parametrize("value", ["soon", "0", "-3", "nan"])
def test_a_timeout_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    """By its value."""
    monkeypatch.setenv("GRAPHMEM_TIMEOUT", value)
    with pytest.raises(InvalidInput, match="must be seconds, a number above 0"):
        graphmem.open(model="openai:x", embedder=HashingEmbedder(), base_url="http://localhost:1/v1")


@pytest.mark.parametrize("named", [{"model": "openai:"}, {"model": "openai:  "}, {"embedder": "openai:"}])
def test_a_model_without_a_name_is_refused(named: dict[str, Any]) -> None:
    """Before anything is opened."""
    given = {"model": "openai:x", "embedder": HashingEmbedder(), "base_url": "http://localhost:1/v1", **named}
    with pytest.raises(InvalidInput, match=r"^name="):
        graphmem.open(**given)


def test_without_the_package_the_line_that_installs_it_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """When opening, before a file is made."""
    real = importlib.util.find_spec
    monkeypatch.setattr("graphmem.endpoint.wire.find_spec", lambda name, *rest: None if name == "openai" else real(name, *rest))
    with pytest.raises(MissingExtra, match=r"pip install 'graphmem\[openai\]'"):
        graphmem.open(tmp_path / "a.db", model="openai:x", embedder=HashingEmbedder(), base_url="http://localhost:1/v1")
    assert not (tmp_path / "a.db").exists()


def test_the_package_is_not_loaded_before_it_is_needed(kit: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening takes no second."""
    asked: list[str] = []
    real = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", lambda name, *rest, **more: (asked.append(name), real(name, *rest, **more))[1])
    for name in [n for n in sys.modules if n.partition(".")[0] == "openai"]:
        monkeypatch.delitem(sys.modules, name)
    graphmem.open(model="openai:x", embedder=HashingEmbedder(), base_url="http://localhost:1/v1").close()
    assert [name for name in asked if name.partition(".")[0] == "openai"] == []


def test_a_file_says_how_long_its_vectors_are_so_that_opening_asks_nobody(kit: Any, tmp_path: Path) -> None:
    """The name of the model is what is compared; the address may have changed."""
    first = kit.serve(answer=reads)
    with graphmem.open(tmp_path / "a.db", model="openai:x", embedder="openai:e", base_url=first.base_url) as memory:
        memory.add_message("Mira", "I live in Porto.")
    moved = kit.serve(answer=reads)
    with graphmem.open(tmp_path / "a.db", model="openai:x", embedder="openai:e", base_url=moved.base_url) as memory:
        assert moved.requests == []
        assert memory.search("Mira", kinds=["fact"])[0].text == "Mira lives in Porto."
        assert memory.verify() == []
    with pytest.raises(EmbedderMismatch, match=r"'openai:e' \(dimension 16\), not 'openai:other'; open it"):
        graphmem.open(tmp_path / "a.db", model="openai:x", embedder="openai:other", base_url=moved.base_url)
    assert {r.path for r in moved.requests} == {"/v1/embeddings"}


def test_an_endpoint_whose_vectors_have_become_longer_is_told_and_not_mixed_in(kit: Any, tmp_path: Path) -> None:
    """The same name may stand for another model one day."""
    first = kit.serve(answer=reads)
    with graphmem.open(tmp_path / "a.db", model="openai:x", embedder="openai:e", base_url=first.base_url) as memory:
        memory.add_message("Mira", "I live in Porto.")
    changed = kit.serve(answer=reads, embed=lambda texts: [[1.0] * 24 for _ in texts])
    with graphmem.open(tmp_path / "a.db", model="openai:x", embedder="openai:e", base_url=changed.base_url) as memory:
        with pytest.raises(EmbedderError, match="length 24; expected 16"):
            memory.add_message("Ivo", "I live in Split.")
        assert [e.name for e in memory.entities()] == ["Mira", "Porto"]
        assert memory.verify() == []
    assert changed.requests[-1].body["dimensions"] == 16


def test_a_failing_endpoint_leaves_the_memory_as_it_was(kit: Any) -> None:
    """The episode can be added again later."""
    endpoint = kit.serve(failing(401, "no"), answer=reads)
    with graphmem.open(model="openai:x", embedder=HashingEmbedder(), base_url=endpoint.base_url) as memory:
        with pytest.raises(KeyRejected):
            memory.add_message("Mira", "I live in Porto.", reference_time="2025-01-08")
        assert (list(memory.entities()), list(memory.episodes())) == ([], [])
        assert memory.add_message("Mira", "I live in Porto.", reference_time="2025-01-08").created
        assert memory.verify() == []


def test_texts_that_the_model_declines_are_kept(kit: Any) -> None:
    """One, several at once, and all parts of a long one: each episode is there, with the warning `unreadable`."""
    endpoint = kit.serve(answer=lambda request: refused())
    with graphmem.open(model=kit.model(endpoint), embedder=HashingEmbedder()) as mem:
        one = mem.add_message("Mira", "I live in Porto.")
        many = mem.add_many([{"actor": "Mira", "text": f"Ana moved to city number {n}."} for n in range(3)], progress=False)
        long = mem.add_text("Ana moved to Porto in May. " * 400)
        for result in (one, *many, long):
            assert "unreadable" in {w.code for w in result.warnings}
        assert mem.counts()["episodes"] == 5
        assert mem.verify() == []
