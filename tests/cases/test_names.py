"""Cases C12 to C18: which names are one thing, which are not, and which are none."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from wire import Script, Unrelated, all_new, codes, rows, same_as_first, says

from graphmem import Memory
from graphmem.llm.prompts import rendered
from graphmem.testing import ScriptedModel

Open = Callable[..., Memory]

TWINS = [
    "Orion Labs",
    "orion labs",
    "ORION\u00a0LABS",
    "\uff2f\uff52\uff49\uff4f\uff4e\u3000\uff2c\uff41\uff42\uff53",
    "Orion\u200b Labs",
    "  Orion   Labs ",
    "Orion Labs.",
]
PAIRS = [("Zoe\u0308", "Zo\u00eb"), ("\ufb01nlay", "finlay"), ("Straße", "STRASSE"), ("ｶﾞﾙﾀﾞ", "ガルダ"), ("محمــد", "محمد")]


@pytest.mark.parametrize("spellings", [TWINS, *PAIRS], ids=lambda s: ascii(s[0]))
def test_c12_names_that_differ_in_form_only_are_one_without_asking(open_memory: Open, spellings: list[str]) -> None:
    """A1: The first spelling seen is the name, those that are not the same letters are aliases; no model is asked."""
    model = ScriptedModel({"extract": [says(only=[s], types={s: "Org"}) for s in spellings]})
    memory = open_memory(model=model, embedder=Unrelated())
    for number, _ in enumerate(spellings):
        memory.add_text(f"Report {number}.", reference_time="2025-01-01")
    [entity] = memory.entities()
    assert entity.name == spellings[0]
    assert model.asked("resolve") == []
    for spelling in spellings:
        assert memory.entity(spelling).id == entity.id
    assert len(memory.episodes(entity=spellings[-1])) == len(spellings)


@pytest.mark.parametrize("text", ["ミラは京都に住んでいます。", "米拉住在京都。", "ميرا تعيش في كيوتو."])
def test_c12_a_sentence_in_any_script_is_kept_byte_for_byte(open_memory: Open, text: str) -> None:
    """What the model gave is what is stored; the question holds the text as it was said, and asks for sentences in its language."""
    model = ScriptedModel({"extract": says(("ミラ", "LIVES_IN", "京都", {"text": text}))})
    memory = open_memory(model=model)
    memory.add_text(text, reference_time="2025-01-01")
    assert [f.text for f in memory.facts("ミラ")] == [text]
    assert model.asked("extract")[0].payload["text"] == text
    prompt = rendered(model.asked("extract")[0])
    assert text in prompt.user
    assert "in the language of the text" in prompt.system


DISTINCT = [
    "C", "C++", "C#", "KV-2210", "KV-2212", "Цех 7", "Склад 7", "京都, Japan", "奈良, Japan", "한도윤", "한도진", "🙂", "🙃",
    "Halvik Sr.", "Halvik Jr.",
]  # fmt: skip


@pytest.mark.parametrize("together", [True, False], ids=["one episode", "an episode each"])
@pytest.mark.parametrize("kind", ["Org", "Person", "Entity"])
def test_c13_names_that_only_look_alike_stay_apart(open_memory: Open, kind: str, together: bool) -> None:
    """Fifteen names, fifteen things, when the model knows none of them."""
    groups = [DISTINCT] if together else [[n] for n in DISTINCT]
    answers = [says(only=names, types=dict.fromkeys(names, kind)) for names in groups]
    memory = open_memory(model=ScriptedModel({"extract": answers, "resolve": all_new}))
    for number, _ in enumerate(groups):
        memory.add_text(f"Report {number}.", reference_time="2025-01-01")
    assert sorted(e.name for e in memory.entities()) == sorted(DISTINCT)
    for name in DISTINCT:
        assert memory.entity(name).name == name


def test_c14_an_exact_name_is_found_whatever_the_vectors_say(open_memory: Open) -> None:
    """Four episodes that name it, vectors that mean nothing: one thing, no question."""
    model = ScriptedModel({"extract": says(only=["QDRL"])})
    memory = open_memory(model=model, embedder=Unrelated())
    for number in range(4):
        memory.add_text(f"QDRL note {number}", reference_time="2025-01-01")
    assert [e.name for e in memory.entities()] == ["QDRL"]
    assert len(memory.episodes(entity="QDRL")) == 4
    assert model.asked("resolve") == []


def test_c16_a_nickname_becomes_another_name_and_is_known_from_then_on(open_memory: Open) -> None:
    """The name stays, the nickname finds it, and nobody is asked a second time."""
    people = {"Beatriz Nogueira": "Person", "Bea": "Person"}
    script = Script()
    model = ScriptedModel({"extract": script.extract, "resolve": same_as_first})
    memory = open_memory(model=model)
    memory.add_text(script.on("Beatriz Nogueira signed.", says(only=["Beatriz Nogueira"], types=people)), reference_time="2025-01-01")
    memory.add_text(script.on("Bea signed too.", says(only=["Bea"], types=people)), reference_time="2025-01-02")
    [entity] = memory.entities()
    assert (entity.name, entity.aliases) == ("Beatriz Nogueira", ("Bea",))
    assert len(model.asked("resolve")) == 1
    assert entity.id in [h.id for h in memory.search("Bea", kinds=["entity"])]
    memory.add_text(script.on("Bea again.", says(only=["Bea"], types=people)), reference_time="2025-01-03")
    assert len(model.asked("resolve")) == 1
    assert len(memory.episodes(entity="Beatriz Nogueira")) == 3


def test_c17_a_person_meant_by_a_pronoun_may_be_absent_from_the_text(open_memory: Open) -> None:
    """The question about the second message offers the person of the first; the fact joins him."""
    script = Script()
    model = ScriptedModel(script.questions())
    memory = open_memory(model=model)
    first = script.on("Tomas from the boatyard came by, he repairs hulls.", says(only=["Tomas"], types={"Tomas": "Person"}))
    second = script.on(
        "His sister Ivana keeps the accounts there.",
        says(("Tomas", "SIBLING_OF", "Ivana"), types={"Tomas": "Person", "Ivana": "Person"}),
    )
    memory.add_message("Mira", first, reference_time="2025-01-01T10:00Z", session="s")
    memory.add_message("Mira", second, reference_time="2025-01-01T10:01Z", session="s")
    known = model.asked("extract")[1].payload["known"]
    assert "Tomas" in [row["name"] for row in known]  # type: ignore[union-attr,index,call-overload]
    [fact] = memory.facts("Tomas")
    assert {fact.source, fact.target} == {"Tomas", "Ivana"}


@pytest.mark.parametrize("said", ["I", "me", "the user", "私", "أنا"])
def test_c17_a_first_person_is_the_speaker(open_memory: Open, said: str) -> None:
    """Whoever speaks; two speakers never become one."""
    memory = open_memory(model=ScriptedModel({"extract": says((said, "LIVES_IN", "Lisbon")), "resolve": all_new}))
    memory.add_message("Mira", "I live in Lisbon.", reference_time="2025-01-01")
    memory.add_message("Ivo", "So do I.", reference_time="2025-01-02")
    assert sorted(f.source for f in memory.facts("Lisbon")) == ["Ivo", "Mira"]
    assert sorted(e.name for e in memory.entities()) == ["Ivo", "Lisbon", "Mira"]


@pytest.mark.parametrize("said", ["He", "she", "it", "they", "someone", "彼", "هو", "он"])
def test_c17_a_third_person_without_a_referent_is_refused(open_memory: Open, said: str) -> None:
    """Never a thing of the graph; what hung on it is told."""
    memory = open_memory(model=ScriptedModel({"extract": says((said, "LIVES_IN", "Lisbon"))}))
    result = memory.add_message("Mira", "Lives in Lisbon.", reference_time="2025-01-01")
    assert sorted(e.name for e in memory.entities()) == ["Lisbon", "Mira"]
    assert codes(result) == ["pronoun", "bad_ref"]


def test_c17_a_first_person_in_a_text_without_a_speaker_is_nobody(open_memory: Open) -> None:
    """A document's "I" is refused."""
    memory = open_memory(model=ScriptedModel({"extract": says(("I", "LIVES_IN", "Lisbon"))}))
    assert codes(memory.add_text("I live in Lisbon.", reference_time="2025-01-01")) == ["pronoun", "bad_ref"]
    assert [e.name for e in memory.entities()] == ["Lisbon"]


def test_c18_junk_is_no_name_and_is_never_embedded(open_memory: Open) -> None:
    """A10: Ten refusals with reasons, one person; nothing blank reaches the embedder."""
    junk: list[object] = [None, "", "   ", "\u200b", 42, ["x"], "...", "None", "\ud800", "y" * 5000]
    named = [{"name": n, "type": "Person"} for n in junk]
    answer = {
        "entities": [*named[:8], {"type": "Person"}, named[9], {"name": "Ivo", "type": "Person"}],
        "facts": [
            {"source": 0, "target": 10, "relation": "KNOWS", "text": "a"},
            {"source": 10, "target": 10, "relation": "KNOWS", "text": "b"},
        ],
    }
    embedder = Unrelated()
    memory = open_memory(model=ScriptedModel({"extract": answer}), embedder=embedder)
    result = memory.add_text("Ivo.", reference_time="2025-01-01")
    assert [e.name for e in memory.entities()] == ["Ivo"]
    assert codes(result).count("junk_name") == 10
    assert sorted(set(codes(result)) - {"junk_name"}) == ["bad_ref", "self_loop"]
    assert all(w.message for w in result.warnings)
    assert len(memory.facts(history=True)) == 0
    assert all(t.strip(" \u200b") for t in embedder.texts)


def test_c20_positions_that_point_nowhere_lose_their_fact_and_nothing_else(open_memory: Open) -> None:
    """A13: Numbers, digits and names are references; the rest is told."""
    ends = [(0, 1), (0, 7), (-1, 1), ("0", "1"), (None, 1), (1.0, 0), ("Mira", "Ivo")]
    answer = {
        "entities": [{"name": "Mira", "type": "Person"}, {"name": "Ivo", "type": "Person"}],
        "facts": [{"source": s, "target": t, "relation": "MENTORS", "text": "a mentor"} for s, t in ends],
    }
    memory = open_memory(model=ScriptedModel({"extract": answer}))
    result = memory.add_text("Mira and Ivo mentor each other.", reference_time="2025-01-01")
    assert sorted(rows(memory)) == [("Ivo", "Mira", "2025-01-01", None), ("Mira", "Ivo", "2025-01-01", None)]
    assert codes(result) == ["bad_ref"] * 3


def test_c20_answers_about_unknown_or_repeated_names_link_nothing_wrong(open_memory: Open) -> None:
    """A6: An id that was not offered is nobody, the first of two answers counts, no answer means new."""
    people = dict.fromkeys(["Beatriz Nogueira", "Bea", "Tomas Lund", "Tomas"], "Person")
    script = Script()

    def resolve(ask: object) -> object:
        rows = ask.payload["new"]  # type: ignore[attr-defined]
        existing = rows[0]["candidates"][0]["id"]
        return {
            "matches": [
                {"new": 0, "existing": "en_nobody"},
                {"new": 0, "existing": existing},
                {"new": 17, "existing": existing},
                {"new": None, "existing": existing},
                "junk",
            ]
        }

    memory = open_memory(model=ScriptedModel({"extract": script.extract, "resolve": resolve}))
    memory.add_text(script.on("A", says(only=["Beatriz Nogueira", "Tomas Lund"], types=people)), reference_time="2025-01-01")
    result = memory.add_text(script.on("B", says(only=["Bea"], types=people)), reference_time="2025-01-02")
    assert sorted(e.name for e in memory.entities()) == ["Bea", "Beatriz Nogueira", "Tomas Lund"]
    assert codes(result) == ["unknown_id", "repeated_answer", "bad_ref", "bad_ref", "bad_ref"]
