"""Models for tests: from a script, from a recording."""

from __future__ import annotations

import pytest

from graphmem.errors import AnswerMissing, AnswerRefused, InvalidInput, ModelUnavailable
from graphmem.ingest.asking import Memo, run_together
from graphmem.llm.base import Answer, Ask
from graphmem.llm.recorded import RecordedModel
from graphmem.llm.scripted import ScriptedModel
from graphmem.model import Usage

ASK, OTHER = Ask("extract", 1, {"text": "a \ud800"}), Ask("judge", 1, {"text": "b"})


def test_a_script_answers_by_prompt_in_turn_by_function_or_always():
    """Lists are used up, functions are called, other values stay."""
    model = ScriptedModel({"extract": ["one", "two"], "judge": lambda ask: ask.payload["text"], "resolve": {"matches": []}})
    values = [a.value for a in model.answer([ASK, OTHER, ASK, Ask("resolve", 1, {}), Ask("resolve", 1, {"x": 1})])]
    assert values == ["one", "b", "two", {"matches": []}, {"matches": []}]
    assert len(model.asked("extract")) == 2


def test_an_ask_that_the_script_does_not_foresee_names_the_prompt():
    """Also one too many."""
    with pytest.raises(AnswerMissing, match="'extract'"):
        ScriptedModel().answer([ASK])
    model = ScriptedModel({"extract": ["one"]})
    model.answer([ASK])
    with pytest.raises(AnswerMissing, match="ask 2"):
        model.answer([ASK])


def test_answers_that_nothing_asked_for_are_found_out():
    """`done` is for the end of a test."""
    model = ScriptedModel({"extract": ["one", "two"]})
    model.answer([ASK])
    with pytest.raises(AssertionError, match="1 scripted"):
        model.done()


def test_a_scripted_exception_is_raised_in_its_turn():
    """Failures can be rehearsed."""
    model = ScriptedModel({"extract": [ModelUnavailable("down"), "up"]})
    with pytest.raises(ModelUnavailable):
        model.answer([ASK])
    assert model.answer([ASK])[0].value == "up"


def test_a_recording_replays_without_its_model(tmp_path):
    """The second run asks nobody, and a repeated ask is recorded once."""
    path = tmp_path / "answers" / "run.jsonl"
    source = ScriptedModel({"extract": lambda ask: {"said": "\ud800 你好"}, "judge": {"judgements": []}})
    RecordedModel(path, source).answer([ASK, OTHER, ASK])
    assert len(source.asks) == 2
    replay = RecordedModel(path)
    assert [a.value for a in replay.answer([OTHER, ASK])] == [{"judgements": []}, {"said": "\ud800 你好"}]
    assert replay.answer([ASK])[0].usage.calls == 0


def test_a_missing_recording_says_how_to_record(tmp_path):
    """The message names prompt and call."""
    with pytest.raises(AnswerMissing, match=r"'extract'.*RecordedModel\(path, model="):
        RecordedModel(tmp_path / "none.jsonl").answer([ASK])


def test_a_damaged_recording_names_its_line(tmp_path):
    """Not silently skipped."""
    path = tmp_path / "bad.jsonl"
    path.write_text('{"key": "a", "value": 1}\nnot json\n', encoding="utf-8")
    with pytest.raises(InvalidInput, match=":2"):
        RecordedModel(path)


def test_a_flow_asks_equal_questions_once_and_remembers():
    """Answers go into the memo and are not asked for again."""

    def flow():
        first = yield [ASK, ASK, OTHER]
        second = yield [OTHER]
        return [a.value for a in first + second]

    memo = Memo(ScriptedModel({"extract": ["one"], "judge": ["two"]}))
    memo.answers[OTHER.key] = Answer("known")
    assert run_together([flow(), flow()], memo.ask) == [["one", "one", "known", "known"]] * 2
    assert run_together([flow()], memo.ask) == [["one", "one", "known", "known"]]


def test_a_recording_counts_what_an_answer_that_was_of_no_use_has_cost(tmp_path):
    """Also where it is not said to which of several questions it was, and each is asked alone."""

    class Strict:
        name, local = "strict", False

        def answer(self, asks):
            if len(asks) > 1:
                error = AnswerRefused("the model declines one of these")
                error.usage = Usage(2, 20, 2)
                raise error
            return [Answer("said", Usage(1, 10, 1)) for _ in asks]

    answers = RecordedModel(tmp_path / "answers.jsonl", Strict()).answer([ASK, OTHER])
    assert sum((a.usage for a in answers), Usage()) == Usage(4, 40, 4)
