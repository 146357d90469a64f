"""Messages that say nothing cost no question; in doubt, and in answer to a question, the model is asked."""

from __future__ import annotations

import pytest

from graphmem.ingest.smalltalk import is_question, says_nothing

NOTHING = (
    "Hey!", "hello there 👋", "Thanks so much!! 🙏🙏", "😂😂😂", "...", "!?", "Good night, Ivo!", "Hi Caroline 😊", "haha lol",
    "Bye bye.", "Guten Morgen!", "Vielen Dank 😊", "Salut !", "Merci beaucoup.", "¡Hola!", "¡Muchas gracias!", "Olá, bom dia",
    "Obrigada!", "Grazie mille!", "Dank je wel", "Tack så mycket!", "Dzień dobry", "Teşekkürler!", "Привет!",
    "Большое спасибо!", "Дякую 🙂", "السلام عليكم", "شكراً جزيلاً!", "नमस्ते", "धन्यवाद!", "你好！", "谢谢你～", "こんにちは。",
    "ありがとうございます！", "안녕하세요!", "감사합니다", "תודה רבה", "Ευχαριστώ!",
)  # fmt: skip
SHORT_ANSWERS = (
    "Yes.", "no", "Ok 👍", "👍", "Sure, sounds good!", "Ja, genau.", "Non.", "Sí, claro", "Sim!", "Да", "Ні", "نعم", "हाँ",
    "是的", "はい", "네", "❌",
)  # fmt: skip
SOMETHING = (
    "Hey, I moved to Porto.", "Thanks for the bike!", "Hi, this is Zoe.", "5", "Monday", "Porto!", "Ivo", "Caroline",
    "Merci pour le vélo", "Danke, Acme", "Hola, soy Ana", "谢谢你的自行车", "私はミラです", "Hi 5", "👋 at Acme",
    "Yes, at Acme.", "Not any more", "Ya no", "Nicht mehr", "Hello Kitty is my cat",
)  # fmt: skip


@pytest.mark.parametrize("text", NOTHING)
def test_greetings_thanks_and_signs_say_nothing(text: str) -> None:
    """In answer to a question neither, but for signs that mean yes or no."""
    assert says_nothing(text, False, ("Caroline Weil", "Ivo"))
    assert says_nothing(text, True, ("Caroline Weil", "Ivo"))


@pytest.mark.parametrize("text", SHORT_ANSWERS)
def test_a_short_answer_says_something_only_after_a_question(text: str) -> None:
    """ "Yes." by itself is nothing."""
    assert says_nothing(text, False)
    assert not says_nothing(text, True)


@pytest.mark.parametrize("text", SOMETHING)
def test_a_name_a_number_or_any_other_word_says_something(text: str) -> None:
    """Also the name of somebody present, by itself."""
    assert not says_nothing(text, False, ("Caroline Weil", "Ivo"))
    assert not says_nothing(text, True, ("Caroline Weil", "Ivo"))


@pytest.mark.parametrize(
    "text",
    ["Are you at Acme?", "¿Vives en Porto?", "هل تعيش في بورتو؟", "你住在波尔图吗", "ポルトに住んでいますか。", "Ζεις στο Πόρτο\u037e"],
)
def test_questions_are_known_by_their_sign_or_their_last_word(text: str) -> None:
    """In several scripts."""
    assert is_question(text)
    assert not is_question("I live in Porto.")


def test_a_greeting_costs_no_call_and_its_speaker_is_known(kit) -> None:
    """The model has no answer to give, and is not asked."""
    bench = kit.Bench(extract=[])
    for text in ("Hey!", "谢谢!", "🎉"):
        draft = bench.add(text, "Mira", session="s")
        assert (draft.assertions, draft.warnings) == ((), ())
    assert bench.model.asks == []
    assert bench.names() == ["Mira"]


def test_a_yes_to_a_question_is_asked_about(kit) -> None:
    """The model sees the question."""
    bench = kit.Bench(extract=kit.said())
    bench.add("Do you still work at Acme?", "Ivo", session="s")
    bench.add("Yes.", "Mira", session="s")
    assert [a.payload["text"] for a in bench.model.asks] == ["Do you still work at Acme?", "Yes."]
    assert bench.model.asks[1].payload["recent"][0]["text"] == "Do you still work at Acme?"
    bench.add("Yes.", "Mira", session="s")
    bench.add("Yes.", "Mira", session="another")
    assert bench.asked("extract") == 2


def test_a_question_too_long_to_be_shown_is_a_question(kit) -> None:
    """The budget of tokens decides what goes along, not whether the model is asked."""
    bench = kit.Bench(extract=kit.said())
    bench.add("Well, " * 2_000 + "do you work at Acme?", "Ivo", session="s")
    asked = bench.asked("extract")
    bench.add("Yes.", "Mira", session="s")
    assert bench.asked("extract") == asked + 1
    assert bench.model.asks[-1].payload["recent"] == []
