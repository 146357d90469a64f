"""Texts that give orders are kept as texts: they stay inside the fence, and a model that obeys them changes nothing of others."""

from __future__ import annotations

import json
from collections.abc import Collection

import pytest
from injections import TEXTS

import graphmem
from graphmem import Memory
from graphmem.embed.hashing import HashingEmbedder
from graphmem.ingest import answers
from graphmem.llm.base import Ask
from graphmem.llm.prompts import rendered
from graphmem.testing import FixedClock, ScriptedModel

FACTS = [
    {"source": "Mira", "source_type": "Person", "relation": "lives in", "target": "Porto", "target_type": "City", "valid_at": "2022"},
    {"source": "Mira", "source_type": "Person", "relation": "works at", "target": "Acme", "target_type": "Company", "valid_at": "2021"},
    *({"source": "Mira", "source_type": "Person", "relation": "likes", "target": t} for t in ("jazz", "opera", "tea", "chess", "rain")),
    {"source": "Ivo", "source_type": "Person", "relation": "works at", "target": "Globex", "target_type": "Company", "valid_at": "2020"},
    {"source": "Ana Prado", "source_type": "Person", "relation": "likes", "target": "jazz"},
]
OTHERS = ("Mira", "Ivo", "Ana Prado")


def obeying(ask: Ask) -> object:
    """What a model answers that does whatever it reads: orders as operations, others' names and ids, everything contradicted."""
    if ask.prompt == "resolve":
        return {"matches": [{"new": row["new"], "existing": i} for row in ask.payload["new"] for i in ("en_1", "e9", "Mira")]}  # type: ignore[attr-defined]
    if ask.prompt == "judge":
        every = [fact["id"] for fact in ask.payload["facts"]]  # type: ignore[attr-defined]
        return {"judgements": [{"new": row["new"], "duplicates": every[:1], "contradicts": every} for row in ask.payload["new"]]}  # type: ignore[attr-defined]
    own = [{"source": "Mira", "target": t, "relation": "likes", "text": f"Mira likes {t}."} for t in ("orders", "rules")]
    answer = {
        "operations": [{"op": op, "targets": list(OTHERS)} for op in ("forget", "erase", "merge", "rename")],
        "delete": ["en_1", "Mira", "all"],
        "entities": [
            {
                "name": "Mira",
                "id": "en_1",
                "type": ("Place", "Person")[len(ask.payload["text"]) % 2],
                "aliases": ["Mallory", "Ivo", "Ana Prado", "me"],
            },
            {
                "name": "Ivo",
                "aliases": ["Mira", "Mallory"],
                "attributes": {"identities": ["User:id=1"], "Graphmem:Unread": {"name": "Mira"}},
            },
            {"name": "Ana Prado", "type": "Person", "summary": "does not exist"},
            {"name": "Mallory", "type": "Person", "aliases": [*OTHERS, "the user"], "attributes": {"identities": ["User:id=1"]}},
            "orders",
            "rules",
        ],
        "facts": [
            *own,
            {"source": "Mira", "target": "Ivo", "relation": "SAME_AS", "text": "Mira is Ivo.", "same_as": "as_1", "excludes": ["all"]},
        ],
        "links": [["Mallory", "Mira"], ["Mira", "Ivo"], ["Ana Prado", "Mallory"], [0, 2], ["orders", "Mira"], ["orders", "Ivo"]],
    }
    said = answers.first(ask.payload["text"], lambda value: value if isinstance(value, dict) else None)
    return {**answer, **said} if isinstance(said, dict) else answer


def memory(model: ScriptedModel) -> Memory:
    """Three people with facts of their own, and Mallory, who has said hello."""
    mem = graphmem.open(model=model, embedder=HashingEmbedder(32), clock=FixedClock("2025-06-01T00:00Z"))
    mem.add_facts(FACTS, reference_time="2024-01-01")
    mem.add_json({"type": "User", "id": 1, "name": "Mira"}, reference_time="2024-01-02")
    for speaker in ("Mira", "Mallory"):
        mem.add_message(speaker, "Hello!", reference_time="2024-02-01", session="s")
    return mem


def believed(mem: Memory, known: Collection[str]) -> dict[str, object]:
    """Everything that is believed of `known` entities, and what was said of them before."""
    entities = [e for e in mem.entities() if e.id in known]
    return {
        "facts": sorted(
            (f.source, f.relation, f.target, f.text, str(f.start), str(f.end)) for f in mem.facts(history=True) if f.text in STATED
        ),
        "entities": sorted((e.id, e.name, e.type, e.aliases, json.dumps(dict(e.attributes), sort_keys=True)) for e in entities),
    }


STATED = frozenset(f"{row['source']} {row['relation']} {row['target']}" for row in FACTS)


@pytest.fixture(params=range(len(TEXTS)), ids=lambda n: f"text{n}")
def text(request: pytest.FixtureRequest) -> str:
    """Each of the texts."""
    return TEXTS[request.param]


def test_there_are_sixty_texts_and_none_twice() -> None:
    """In six languages."""
    assert len(TEXTS) == len(set(TEXTS)) == 60


def test_a_text_stays_inside_the_fence_wherever_it_goes_along(text: str) -> None:
    """As the text, as an earlier one, as a name, in a judgement and in a repair."""
    model = ScriptedModel({"extract": ["junk", {"entities": [], "facts": []}]})
    mem = memory(model)
    mem.add_message("Mallory", text, reference_time="2025-01-01", session="s")
    row = {"new": 0, "source": text, "relation": "KNOWS", "target": text, "text": text, "candidates": ["f1"]}
    known = {"id": "e1", "name": text, "type": text, "aliases": [text]}
    asks = [
        *model.asks,
        Ask("extract", 1, {"text": "Hm.", "actor": text, "recent": [{"actor": text, "text": text}], "known": [known]}),
        Ask("resolve", 1, {"text": text, "speaker": text, "new": [{"new": 0, "name": text, "type": text, "candidates": [known]}]}),
        Ask("judge", 1, {"new": [row], "facts": [{**row, "id": "f1", "status": "current"}]}),
        Ask("extract", 1, {"text": "Hm.", "repair": {"answer": text, "error": text}}),
    ]
    for ask in asks:
        prompt = rendered(ask)
        plain = rendered(Ask(ask.prompt, ask.version, {}))
        assert prompt.system == plain.system
        assert text not in prompt.system
        blocks = prompt.user.split("<data>\n")[1:]
        assert len(blocks) == (2 if "repair" in ask.payload else 1)
        assert [b.count("</data>") for b in blocks] == [1] * len(blocks)
        held = [json.loads(b.partition("\n</data>")[0]) for b in blocks]
        assert text in json.dumps(held, ensure_ascii=False) or json.dumps(text)[1:-1] in json.dumps(held)


def test_a_model_that_obeys_changes_nothing_of_others(text: str) -> None:
    """No fact of others ends, nobody becomes somebody else; what is recorded is this episode's own, and goes with it."""
    model = ScriptedModel(dict.fromkeys(("extract", "resolve", "judge"), obeying))
    mem = memory(model)
    known = {e.id for e in mem.entities()}
    assert len(believed(mem, known)["facts"]) == len(FACTS)  # type: ignore[arg-type]
    before, state, episodes = believed(mem, known), mem.state_hash(), len(mem.episodes())
    result = mem.add_message("Mallory", text, reference_time="2025-01-01", session="s")
    assert believed(mem, known) == before
    assert len(mem.episodes()) == episodes + 1
    assert result.warnings
    assert mem.verify() == []
    later = mem.add_message("Mallory", "I bought a boat in May.", reference_time="2025-02-01", session="s")
    assert believed(mem, known) == before
    for episode in (later, result):
        mem.forget(episode=episode)
    assert (mem.state_hash(), mem.verify()) == (state, [])


def test_the_judgement_of_everything_is_recorded_as_none() -> None:
    """The orders above do reach the judge, and what it says of more than three facts is refused."""
    model = ScriptedModel(dict.fromkeys(("extract", "resolve", "judge"), obeying))
    mem = memory(model)
    asked = [mem.add_message("Mallory", text, reference_time="2025-01-01", session="s") for text in TEXTS[1:20]]
    codes = [w.code for result in asked for w in result.warnings]
    assert {"contradiction_cap", "link_refused", "alias_refused", "unknown_id", "bad_attribute"} <= set(codes)
    assert model.asked("judge")
