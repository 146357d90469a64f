"""Whatever a model answers and whatever a text holds: nothing is raised but what is promised."""

from __future__ import annotations

import contextlib
import json
import time
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mutants import mutant

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.errors import InvalidInput
from graphmem.ingest import answers
from graphmem.ingest.json_facts import check_json
from graphmem.llm.base import Ask
from graphmem.model import EpisodeKind
from graphmem.testing import FixedClock, ScriptedModel

KEYS = (
    "name",
    "type",
    "aliases",
    "source",
    "target",
    "relation",
    "text",
    "valid_at",
    "span",
    "kind",
    "new",
    "existing",
    "duplicates",
    "contradicts",
    "id",
)
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.sampled_from(["Mira", "Ivo", "I", "2024", "0", "ends"])
)
VALUES = st.recursive(
    LEAVES, lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.sampled_from(KEYS), inner, max_size=5)), max_leaves=12
)
LISTS = st.lists(VALUES, max_size=5)
QUIET = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@QUIET
@given(st.dictionaries(st.sampled_from(("entities", "facts", "links", "clauses")), LISTS), LISTS, LISTS, st.text(min_size=1, max_size=40))
def test_no_answer_breaks_an_episode(kit, extracted, matches, judgements, body):
    """Every claim of the draft joins two mentioned entities; every entity has a name; every drop has a reason."""
    bench = kit.Bench(extract=lambda ask: extracted, resolve={"matches": matches}, judge={"judgements": judgements})
    for _ in range(2):
        draft = bench.add(body, "Mira")
        mentioned = {m.entity for m in draft.mentions}
        assert all({a.source, a.target} <= mentioned and a.source != a.target and a.text.strip() for a in draft.assertions)
        assert all(m.name.strip() for m in draft.mentions)
        assert all(w.code and w.message for w in draft.warnings)


@QUIET
@given(st.text())
def test_any_text_is_read_as_an_answer_or_not(text):
    """No text raises."""
    list(answers.values(text))


@QUIET
@given(st.text(alphabet="{}[]\",':\\ n1", max_size=60))
def test_broken_json_is_read_as_an_answer_or_not(text):
    """Nor does text that looks like JSON."""
    list(answers.values(text))


def test_a_long_answer_of_brackets_takes_no_time():
    """Reading is not quadratic in what cannot be read."""
    before = time.process_time()
    for text in ("{" * 20_000, "[1," * 20_000, '{"a": "' + "x" * 100_000, "{'a': [" * 5_000):
        list(answers.values(text))
    assert time.process_time() - before < 5


@QUIET
@given(VALUES)
def test_any_json_value_is_an_episode(kit, value):
    """Whatever JSON holds is read without a model and can be written."""
    with contextlib.suppress(InvalidInput):
        draft = kit.Bench().add(check_json(json.dumps(value)), kind=EpisodeKind.JSON)
        assert all(a.source != a.target for a in draft.assertions)


def test_c24_five_hundred_entities_and_seven_hundred_facts_take_seconds(kit):
    """All are kept, in few questions."""
    names = [f"Thing{chr(65 + i % 26)}{chr(97 + i // 26)}" for i in range(500)]
    rows = [{"name": n, "type": "Gadget"} for n in names] + [{"name": n.upper()} for n in names[:40]]
    facts = [kit.fact(i % 500, (i * 7 + 1) % 500, "TOUCHES", f"fact number {i}") for i in range(700) if i % 500 != (i * 7 + 1) % 500]
    bench = kit.Bench(extract={"entities": rows, "facts": facts}, resolve={"matches": []}, judge={"judgements": []})
    before = time.process_time()
    draft = bench.add("Many things")
    again = bench.add("Many things again")
    assert time.process_time() - before < 15
    assert len(bench.entities()) == 500
    assert len(draft.assertions) == len(again.assertions) == len(facts)
    assert bench.asked("resolve") == 0


A_MEMORY = 50  # episodes
TYPED = {"types": {"Person": {"built": "int"}, "Place": {"flags": "list[str]"}}, "relations": [{"name": "LIKES"}, {"name": "WORKS_AT"}]}


def spoiled(seeds: range, where: Path | str, local: bool, ontology: object) -> None:
    """Episodes whose every answer is a mutant: each is kept and found, costs one repair at most, and breaks nothing."""
    random = Random(seeds.start)
    model = ScriptedModel({p: lambda ask: mutant(random, ask.prompt) for p in ("extract", "resolve", "judge")}, local=local)
    given = {"model": model, "embedder": HashingEmbedder(16), "clock": FixedClock("2025-06-01T00:00Z")}
    with graphmem.open(where, ontology=ontology, **given) as mem:  # type: ignore[arg-type]
        mem.add_facts(
            [{"source": "Mira", "relation": "works at", "target": "Acme"}, {"source": "Ivo", "relation": "likes", "target": "Porto"}]
        )
        for seed in seeds:
            random.seed(seed)
            before = len(model.asks)
            result = mem.add_message("Mira", f"I met Ivo and Ana Prado in Porto, {seed}.", reference_time=f"20{10 + seed % 15}-01-01")
            asked: list[Ask] = model.asks[before:]
            assert result.created
            assert sum("repair" in a.payload for a in asked) <= 1
            assert len(asked) <= 4
            for warning in result.warnings:
                assert warning.code
                assert warning.message
                assert len(json.dumps(warning.raw)) < 2_000
        assert len(mem.episodes(actor="Mira")) == len(seeds)
        assert len(mem.search(f"Who met in Porto, {seeds[7]}?", kinds=["episode"], limit=5)) == 5
        assert mem.verify() == []


@pytest.mark.parametrize("start", range(0, 300, A_MEMORY))
def test_spoiled_answers_lose_nothing_and_break_nothing(start: int, tmp_path: Path) -> None:
    """In memory and in a file, where answers of a model that is not local are kept as well; with types, open and closed."""
    local = start % 100 == 0
    ontology = (None, TYPED, {**TYPED, "closed": True})[start // A_MEMORY % 3]
    spoiled(range(start, start + A_MEMORY), ":memory:" if local else tmp_path / "m.db", local, ontology)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(300, 2_000, A_MEMORY))
def test_many_spoiled_answers_lose_nothing_and_break_nothing(start: int, tmp_path: Path) -> None:
    """The same, 1,700 times more."""
    local = start % 100 == 0
    ontology = (None, TYPED, {**TYPED, "closed": True})[start // A_MEMORY % 3]
    spoiled(range(start, start + A_MEMORY), ":memory:" if local else tmp_path / "m.db", local, ontology)
