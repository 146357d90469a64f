"""Cases C24, C27 to C29: many things at once, long texts, records, nested values."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest
from wire import all_new, rows, says

import graphmem
from graphmem import Memory
from graphmem.embed.base import Vectors
from graphmem.embed.hashing import HashingEmbedder
from graphmem.errors import EmptyEpisode, EndpointFailed, InvalidInput
from graphmem.llm.base import Ask
from graphmem.search.tokens import count_tokens
from graphmem.testing import ScriptedModel

Open = Callable[..., Memory]


class Counting(HashingEmbedder):
    """Counts how often it is asked, and for how many texts."""

    def __init__(self) -> None:
        super().__init__(64)
        self.calls = self.texts = 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.calls, self.texts = self.calls + 1, self.texts + len(texts)
        return super().embed(texts)


def test_c24_five_hundred_things_of_one_episode_are_all_kept(open_memory: Open) -> None:
    """Repeats are one, questions and embeddings go in batches, and it takes seconds."""
    names = [f"Station {n:03d} {'abcdefgh'[n % 8]}" for n in range(500)]
    facts = [(names[n % 500], "CONNECTS_TO", names[(n * 7 + 1) % 500], {"text": f"a line of {names[n % 500]}"}) for n in range(700)]
    answer = says(*facts, *facts[:40])
    model, embedder = ScriptedModel({"extract": answer, "resolve": all_new}), Counting()
    memory = open_memory(model=model, embedder=embedder)
    began = time.process_time()
    result = memory.add_text("Five hundred stations.", reference_time="2025-01-01")
    assert time.process_time() - began < 10
    assert embedder.calls <= 5
    assert embedder.texts >= 1_000  # every station, every sentence
    assert memory.counts()["entities"] == 500
    assert len(memory.facts(history=True)) == len({(f[0], f[2]) for f in facts})
    assert len(model.asked("resolve")) <= math.ceil(500 / 30)
    assert result.warnings == ()


@pytest.mark.slow
def test_c24_a_search_among_fifty_thousand_facts_takes_a_quarter_of_a_second(tmp_path: Path) -> None:
    """In a file: of sixty questions the 95th percentile, in time of the processor; each finds the fact it asks for."""
    random = Random(1)
    with graphmem.open(tmp_path / "m.db", model=ScriptedModel(), embedder=HashingEmbedder(64)) as memory:
        for part in range(50):
            names = [(f"Station {part}s{n // 20}", f"Depot {part}d{n}") for n in range(1000)]
            rows = [{"source": s, "relation": "CONNECTS_TO", "target": t, "text": f"{s} connects to {t}"} for s, t in names]
            memory.add_facts(rows, reference_time="2025-01-01")
        took = []
        for _ in range(60):
            wanted = f"Depot {random.randrange(50)}d{random.randrange(1000)}"
            began = time.process_time()
            hits = memory.search(f"Which station connects to {wanted}?", kinds=["fact"])
            took.append(time.process_time() - began)
            assert wanted in [h.item.target for h in hits]
        assert sorted(took)[56] < 0.25


PARAGRAPH = "The ferry to {name} left at noon 🚢 with Zoe\u0308 and 👩\u200d🔬 aboard; nobody minded the rain. "
MODEL_LIMIT = 8000


def test_c27_a_very_long_text_is_one_episode_read_in_parts_that_fit(open_memory: Open) -> None:
    """400,000 characters: no part above the limit, none cut inside a character, nothing lost, every name found."""
    names = [f"Harbour{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(600)]
    text = "".join(PARAGRAPH.format(name=names[n % len(names)]) for n in range(4500))
    assert len(text) > 390_000

    def extract(ask: Ask) -> object:
        part = str(ask.payload["text"])
        assert count_tokens(json.dumps(dict(ask.payload), ensure_ascii=False)) <= MODEL_LIMIT
        assert part.encode()
        return says(only=[w for w in part.replace(".", " ").split() if w.startswith("Harbour")])

    model = ScriptedModel({"extract": extract, "resolve": all_new})
    memory = open_memory(model=model)
    result = memory.add_text(text, reference_time="2025-01-01", source="log.md")
    [episode] = memory.episodes()
    assert episode.text == text
    assert result.ids == (episode.id,)
    assert "".join(str(a.payload["text"]) for a in model.asked("extract")) == text
    assert len(model.asked("extract")) > 10
    assert {e.name for e in memory.entities()} == set(names)
    assert len(memory.episodes(entity=names[-1])) == 1


def test_c27_reading_on_after_a_failure_ends_as_if_there_had_been_none(open_memory: Open) -> None:
    """The model fails at the eleventh part of a long text: nothing is there, then all of it; progress is told once it is."""
    text = "".join(PARAGRAPH.format(name=f"Harbour{chr(97 + n // 26)}{chr(97 + n % 26)}") for n in range(600))
    fails = [10]

    def extract(ask: Ask) -> object:
        if fails and len(model.asked("extract")) > fails[0]:
            fails.clear()
            raise EndpointFailed("down")
        return says(only=[w for w in str(ask.payload["text"]).replace(".", " ").split() if w.startswith("Harbour")])

    model = ScriptedModel({"extract": extract, "resolve": all_new}, local=False)
    memory, clean = open_memory(model=model), open_memory(model=ScriptedModel({"extract": extract, "resolve": all_new}))
    rows, told = [{"text": text, "reference_time": "2025-01-01"}], []
    with pytest.raises(EndpointFailed):
        memory.add_many(rows, progress=lambda done, total: told.append((done, total)))
    assert memory.counts() == {"episodes": 0, "entities": 0, "facts": 0, "mentions": 0}
    memory.add_many(rows, progress=lambda done, total: told.append((done, total)))
    clean.add_many(rows)
    assert told == [(1, 1)]
    assert len(memory.entities()) == 600
    assert (memory.state_hash(), memory.history_hash()) == (clean.state_hash(), clean.history_hash())


@pytest.mark.parametrize("text", ["", "   ", "\n\t\u200b", "\x00"])
def test_c27_a_text_without_a_visible_character_is_refused_before_any_question(open_memory: Open, model: ScriptedModel, text: str) -> None:
    """A ValueError that names the argument; nothing is stored."""
    memory = open_memory()
    with pytest.raises(EmptyEpisode, match="text"):
        memory.add_text(text)
    with pytest.raises(ValueError):
        memory.add_message("Mira", text)
    assert model.asks == []
    assert len(memory.episodes()) == 0


def test_c27_one_word_of_fifty_thousand_characters_is_kept_whole(open_memory: Open) -> None:
    """There is no space to cut at; it is cut between characters for the model and stored as said."""
    word = "ab👩\u200d🔬e\u0301" * 8000
    model = ScriptedModel({"extract": says(only=["Mira"]), "resolve": all_new})
    memory = open_memory(model=model)
    memory.add_text(word, reference_time="2025-01-01")
    assert memory.episodes()[0].text == word
    parts = [str(a.payload["text"]) for a in model.asked("extract")]
    assert "".join(parts) == word
    assert not any(p.startswith(("\u200d", "\u0301")) for p in parts)


@pytest.mark.parametrize(
    "text", ["nul \x00 here", "lone \ud800 half", "\u202eright to left\u202c", "line\u2028separator", "x " * 10_000, "🙂" * 500]
)
def test_any_text_is_legal_and_comes_back_as_it_was(open_memory: Open, text: str) -> None:
    """As a message, a document, a name, a sentence and a session."""
    model = ScriptedModel({"extract": says(("Mira", "SAID", "hello", {"text": text}))})
    memory = open_memory(model=model)
    memory.add_message("Mira", text, reference_time="2025-01-01", session=text[:100], source=text[:100])
    memory.add_facts([{"source": "Ivo", "relation": "SAID", "target": "more", "text": text}], key=text[:100])
    memory.add_json({"note": text, "id": 7})
    assert memory.episodes(session=text[:100])[0].text == text
    assert [f.text for f in memory.facts("Ivo")] == [text]
    assert [f.text for f in memory.facts("Mira")] == [text]
    memory.search(text)
    memory.context(text)


ORDERS = {
    "orders": [
        {"id": "A1", "buyer": {"name": "Ivo Lund"}, "total": 12.5, "note": None},
        {"id": "A2", "buyer": {"name": "Mira Tallis"}, "total": 3, "note": "gift"},
        {"id": "A3", "buyer": {"name": "Ivo Lund"}, "total": 0, "note": ""},
    ]
}


@pytest.mark.parametrize("as_text", [True, False])
def test_c28_every_record_of_a_json_episode_is_read_without_a_model(open_memory: Open, as_text: bool) -> None:
    """Three orders, two buyers, each fact with its path; the scripted model foresees no question."""
    memory = open_memory()
    memory.add_json(json.dumps(ORDERS) if as_text else ORDERS, reference_time="2025-01-01")
    assert {"Ivo Lund", "Mira Tallis"} <= {e.name for e in memory.entities()}
    paths = " ".join(f.text for f in memory.facts())
    assert all(f"orders[{n}]" in paths for n in range(3))
    assert len(memory.facts("Ivo Lund")) == 2
    assert any(h.kind == "episode" for h in memory.search("gift"))


@pytest.mark.parametrize("text", ["{", "[1,]", "{'a': 1}", "nul", "", "{}{}", "\ufeff"])
def test_c28_text_that_is_not_json_is_refused_before_anything_is_written(open_memory: Open, text: str) -> None:
    """The error names the argument."""
    memory = open_memory()
    with pytest.raises(InvalidInput, match="value"):
        memory.add_json(text)
    assert memory.counts() == {"episodes": 0, "entities": 0, "facts": 0, "mentions": 0}


@pytest.mark.parametrize("value", [[], [1, 2], 7, "7", "null", None, True, {}, '{"a": 1, "a": 2}', [[[{"id": 1}]]], "1e400"])
def test_c28_any_json_value_can_be_an_episode(open_memory: Open, value: object) -> None:
    """Lists, numbers, nothing, and keys that stand twice."""
    memory = open_memory()
    result = memory.add_json(value, reference_time="2025-01-01")
    assert len(memory.episodes()) == 1
    assert [w.code for w in result.warnings] in ([], ["duplicate_key"])


def test_c28_facts_given_as_rows_cost_no_question(open_memory: Open, model: ScriptedModel) -> None:
    """The same content in rows: facts with dates and provenance, zero calls; objects do as well as dicts."""

    class Row:
        def __init__(self, **fields: Any) -> None:
            self.__dict__.update(fields)

    fields = {"source": "A1", "relation": "BUYER", "target": "Ivo Lund", "valid_at": "2025-01-01", "invalid_at": "2025-02"}
    one, other = open_memory(), open_memory()
    added = one.add_facts([fields], reference_time="2025-03-01")
    other.add_facts([Row(**fields)], reference_time="2025-03-01")
    assert rows(one) == rows(other) == [("A1", "Ivo Lund", "2025-01-01", "2025-03-01")]
    assert one.facts(history=True)[0].episodes == added.ids
    assert one.state_hash() == other.state_hash()
    assert model.asks == []


NESTED = {
    "meta": {"tags": ["x", None, 1]},
    "hist": [{"y": 2020}],
    "big": 2**70,
    "when": datetime(2025, 5, 14, 9, tzinfo=UTC),
    "b": b"\x00\x01",
    "e": [],
    "none": None,
    "deep": {"a": {"b": {"c": [1.5, True, "é🙂\x00"]}}},
}


@pytest.mark.parametrize("of", ["entity", "fact"])
def test_c29_nested_attributes_come_back_equal(open_memory: Open, of: str) -> None:
    """Lists, dicts, numbers of any size, instants, bytes; what is not a number becomes null."""
    answer = says(("Mira", "OWNS", "boat"))
    target = answer["entities"][0] if of == "entity" else answer["facts"][0]
    target["attributes"] = {**NESTED, "n": float("nan"), "inf": float("inf")}
    memory = open_memory(model=ScriptedModel({"extract": answer}))
    memory.add_text("Mira owns a boat.", reference_time="2025-01-01")
    item = memory.entity("Mira").item if of == "entity" else memory.facts("Mira")[0]
    assert dict(item.attributes) == {**NESTED, "n": None, "inf": None}
    json.dumps([memory.entities().to_dict(), memory.facts().to_dict()], default=str)
