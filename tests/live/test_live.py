"""A real model, and a real embedder: GRAPHMEM_LIVE_MODEL=NAME OPENAI_API_KEY=... make test-live

GRAPHMEM_LIVE_EMBEDDER names the embedder; without it vectors are made here. GRAPHMEM_BASE_URL and GRAPHMEM_API_KEY are those
of another endpoint than the public one. A run costs about a dozen small calls. What is asked leaves no doubt for a person; what
a model makes of harder questions is measured, not tested.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import graphmem
from graphmem.embed.endpoint import EndpointEmbedder
from graphmem.embed.hashing import HashingEmbedder
from graphmem.ingest import answers
from graphmem.llm.base import Ask
from graphmem.llm.endpoint import EndpointModel
from graphmem.llm.prompts import rendered
from graphmem.model import Warn
from graphmem.testing import FixedClock

pytestmark = pytest.mark.live

MODEL, EMBEDDER = os.environ.get("GRAPHMEM_LIVE_MODEL", ""), os.environ.get("GRAPHMEM_LIVE_EMBEDDER", "")
BASE_URL = os.environ.get("GRAPHMEM_BASE_URL") or None
KEY = os.environ.get("GRAPHMEM_API_KEY") or (None if BASE_URL else os.environ.get("OPENAI_API_KEY"))
ROWS = [
    ("Mira", "I live in Lisbon, and I work as an engineer at Tidewell.", "2025-01-08T09:00Z"),
    ("Mira", "I moved to Porto in March.", "2025-04-02T09:00Z"),
    ("Danylo", "Mira has a dog. It is called Biscuit.", "2025-04-03T09:00Z"),
]


@pytest.fixture
def model() -> Iterator[EndpointModel]:
    """The model under test."""
    if not MODEL:
        pytest.skip("GRAPHMEM_LIVE_MODEL names no model")
    opened = EndpointModel(MODEL, base_url=BASE_URL, api_key=KEY)
    yield opened
    opened.close()


@pytest.fixture
def embedder() -> Iterator[EndpointEmbedder]:
    """The embedder under test."""
    if not EMBEDDER:
        pytest.skip("GRAPHMEM_LIVE_EMBEDDER names no embedder")
    opened = EndpointEmbedder(EMBEDDER, base_url=BASE_URL, api_key=KEY)
    yield opened
    opened.close()


def asked(model: EndpointModel, ask: Ask, rows: str) -> list[dict[str, object]]:
    """The rows of the answer, which must be JSON of the schema that was sent, and cost something."""
    [answer] = model.answer([ask])
    assert answer.failure is None
    assert (answer.usage.calls, answer.usage.input_tokens > 0, answer.usage.output_tokens > 0) == (1, True, True)
    found = answers.first(answer.value, lambda value: value if isinstance(value, dict) else None)
    assert isinstance(found, dict)
    assert set(rendered(ask).schema["required"]) <= set(found)  # type: ignore[call-overload]
    return found[rows]  # type: ignore[no-any-return]


def test_three_messages_become_dated_facts(model: EndpointModel, tmp_path: Path) -> None:
    """A move ends what was before; both can be read; the store is sound, and the same again costs nothing."""
    path, clock = tmp_path / "live.db", FixedClock("2025-05-01T12:00Z")
    with graphmem.open(path, model=model, embedder=HashingEmbedder(), clock=clock) as memory:
        results = [memory.add_message(actor, text, reference_time=at, session="team") for actor, text, at in ROWS]
        warned: list[Warn] = [w for r in results for w in r.warnings]
        now = {f.target for f in memory.facts("Mira", relation="lives in")}
        before = {f.target for f in memory.as_of(valid="2025-02-01").facts("Mira", relation="lives in")}
        said = " ".join(f.text for f in memory.facts())

        assert [w for w in warned if w.code in ("unreadable", "no_facts")] == []
        assert all(r.usage.calls >= 1 and r.usage.input_tokens > 0 for r in results)
        assert (now, before) == ({"Porto"}, {"Lisbon"})
        assert "Tidewell" in said
        assert "Biscuit" in said
        assert memory.entity("Biscuit").episodes()[0].actor == "Danylo"
        assert "Porto" in str(memory.context("Where does Mira live?", max_tokens=400))
        assert memory.add_message(*ROWS[1][:2], reference_time=ROWS[1][2], session="team").usage.calls == 0
        assert memory.verify() == []


def test_it_says_who_is_meant(model: EndpointModel) -> None:
    """Of two who are known, the one whom the text describes; of a stranger, nobody."""
    known = [{"id": "e1", "name": "Mira Okafor", "type": "Person"}, {"id": "e2", "name": "Mira Station", "type": "Place"}]
    text = "Mira Okafor wrote the report. Mira is proud of it. Bartholomew has not read it."
    new = [
        {"new": 0, "name": "Mira", "type": "Person", "candidates": known},
        {"new": 1, "name": "Bartholomew", "type": "Person", "candidates": known},
    ]
    rows = asked(model, Ask("resolve", 1, {"text": text, "speaker": "Danylo", "new": new}), "matches")

    assert {row["new"]: row["existing"] for row in rows} == {0: "e1", 1: None}


def test_it_says_what_repeats_and_what_contradicts(model: EndpointModel) -> None:
    """The same in other words, and the opposite."""
    rent = {"source": "Mira", "relation": "RENTS", "target": "the Loft", "valid_at": "2023", "status": "current"}
    dog = {"source": "Mira", "relation": "HAS_PET", "target": "Biscuit", "valid_at": "2024", "status": "current"}
    facts = [
        {"id": "f1", **rent, "text": "Mira rents the Loft for 900 euros a month."},
        {"id": "f2", **dog, "text": "Mira has a dog called Biscuit."},
    ]
    claims = ["Mira pays 1,000 euros a month for the Loft, no longer 900.", "Biscuit is Mira's dog."]
    new = [
        {"new": 0, **rent, "valid_at": "2025", "text": claims[0], "kind": "holds", "candidates": ["f1"]},
        {"new": 1, **dog, "valid_at": "2025", "text": claims[1], "kind": "holds", "candidates": ["f2"]},
    ]
    payload = {"reference_time": "2025-04-02T09:00:00+00:00", "facts": facts, "new": new}
    rows = asked(model, Ask("judge", 1, payload), "judgements")
    said = {row["new"]: (row["duplicates"], row["contradicts"]) for row in rows}

    assert said[0] == ([], ["f1"])
    assert said[1] == (["f2"], [])


def test_what_means_the_same_is_close(embedder: EndpointEmbedder) -> None:
    """Unit vectors of one length, the same for the same text; a paraphrase is closer than another subject."""
    texts = ["Mira lives in Porto.", "The home where Mira lives is in Porto.", "The invoice is overdue since Tuesday."]
    found = embedder.embed(texts)

    assert found.shape == (3, embedder.dimension)
    assert np.allclose(np.linalg.norm(found, axis=1), 1.0, atol=1e-5)
    assert found[0] @ found[1] > found[0] @ found[2] + 0.1
    assert np.allclose(embedder.embed(texts[:1])[0], found[0], atol=1e-2)


def test_a_memory_with_both_finds_by_meaning(model: EndpointModel, embedder: EndpointEmbedder, tmp_path: Path) -> None:
    """Through a file that is closed and opened again."""
    options = {"model": model, "embedder": embedder, "clock": FixedClock("2025-05-01T12:00Z")}
    with graphmem.open(tmp_path / "live.db", **options) as memory:  # type: ignore[arg-type]
        memory.add_many([{"actor": actor, "text": text, "reference_time": at} for actor, text, at in ROWS], progress=False)
    with graphmem.open(tmp_path / "live.db", **options) as memory:  # type: ignore[arg-type]
        found = memory.search("Which city is Mira's home?", kinds=["fact"], limit=5)

        assert any("Porto" in hit.text for hit in found)
        assert any(reason.leg == "vector" for hit in found for reason in hit.reasons)
        assert memory.verify() == []
