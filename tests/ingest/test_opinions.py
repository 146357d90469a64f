"""A model is asked only what it has an opinion on."""

from __future__ import annotations

from collections.abc import Iterable

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.llm.base import Ask, prompts_of
from graphmem.llm.recorded import RecordedModel
from graphmem.llm.scripted import ScriptedModel
from graphmem.runtime import FixedClock

TEXTS = ("Beatriz Nogueira likes jazz", "Beatriz likes old jazz", "Bea sails", "Mira likes opera", "Mira likes jazz", "Ana likes jazz")
NOTHING = {"resolve": {"matches": []}, "judge": {"judgements": []}}


def said(ask: Ask) -> object:
    """ "Mira likes opera": two names and a fact between them."""
    name, likes, what = str(ask.payload["text"]).partition(" likes ")
    if not likes:
        return {"entities": [{"name": name.split()[0], "type": "Person"}]}
    fact = {"source": 0, "target": 1, "relation": "LIKES", "text": ask.payload["text"]}
    return {"entities": [{"name": name, "type": "Person"}, {"name": what}], "facts": [fact]}


def remembered(model: ScriptedModel | RecordedModel) -> tuple[str, list[str], list[tuple[str, ...]]]:
    """The state after all texts, what is believed, and the codes of each text's warnings."""
    memory = graphmem.open(model=model, embedder=HashingEmbedder(), clock=FixedClock("2025-05-01T09:00Z"))
    results = [memory.add_text(text, reference_time=f"2025-01-{day:02}") for day, text in enumerate(TEXTS, 1)]
    return memory.state_hash(), [str(f) for f in memory.facts()], [tuple(w.code for w in r.warnings) for r in results]


def test_a_model_without_an_opinion_is_not_asked_and_decides_as_one_that_says_nothing():
    """Neither who is meant nor what contradicts what; the rules decide alike."""
    silent, without = ScriptedModel({"extract": said, **NOTHING}), ScriptedModel({"extract": said}, prompts=["extract"])
    assert remembered(silent) == remembered(without)
    assert {ask.prompt for ask in silent.asks} == {"extract", "resolve", "judge"}
    assert {ask.prompt for ask in without.asks} == {"extract"}


def test_only_the_named_prompts_are_asked():
    """One of two may be left out."""
    model = ScriptedModel({"extract": said, **NOTHING}, prompts=["extract", "judge"])
    remembered(model)
    assert {ask.prompt for ask in model.asks} == {"extract", "judge"}


def test_a_recording_holds_the_answers_to_every_prompt(tmp_path):
    """So that its replay, which knows nothing of the model's opinions, finds them all."""
    path = tmp_path / "answers.jsonl"
    told = remembered(RecordedModel(path, ScriptedModel({"extract": said, **NOTHING}, prompts=["extract"])))
    assert remembered(RecordedModel(path)) == told


def test_a_model_that_names_no_prompts_answers_all():
    """Also one of somebody else's that lacks the attribute."""

    class Mine:
        name, local = "mine", True

        def answer(self, asks: Iterable[Ask]) -> list[object]:
            return []

    assert prompts_of(Mine()) is None  # type: ignore[arg-type]
    assert prompts_of(ScriptedModel()) is None
    assert prompts_of(ScriptedModel(prompts=["extract"])) == {"extract"}
