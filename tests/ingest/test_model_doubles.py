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


@pytest.mark.parametrize("written", [1, 12, 60, -1])
def test_a_recording_that_was_being_written_when_the_process_died_goes_on(tmp_path, written):
    """The line that is not whole is asked for again, and what is recorded next takes its place."""
    path = tmp_path / "run.jsonl"
    source = ScriptedModel({"extract": "said", "judge": "judged"})
    RecordedModel(path, source).answer([ASK, OTHER])
    first, second, _ = path.read_bytes().split(b"\n")
    path.write_bytes(first + b"\n" + second[:written])
    assert [a.value for a in RecordedModel(path, source).answer([ASK, OTHER])] == ["said", "judged"]
    assert len(source.asks) == 3
    assert path.read_bytes() == first + b"\n" + second + b"\n"
    assert [a.value for a in RecordedModel(path).answer([ASK, OTHER])] == ["said", "judged"]


def test_a_last_line_without_its_end_is_whole_and_written_on_from(tmp_path):
    """As an editor leaves it."""
    path = tmp_path / "run.jsonl"
    source = ScriptedModel({"extract": "said", "judge": "judged"})
    RecordedModel(path, source).answer([ASK])
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().rstrip(b"\n"))
    RecordedModel(path, source).answer([ASK, OTHER])
    assert [a.value for a in RecordedModel(path).answer([ASK, OTHER])] == ["said", "judged"]
    assert len(source.asks) == 2


@pytest.mark.parametrize("content", [b"not a recording", b"\xff\xfe\x00", b'{"a": 1', b"[" * 100_000, b'{"key": "\xff", "value": 1}\n'])
def test_a_file_that_is_no_recording_is_refused_and_left_as_it_is(tmp_path, content):
    """Whatever its bytes are."""
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match=r"notes\.txt:1"):
        RecordedModel(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize("path", [None, 5, "", "."])
def test_a_path_that_cannot_be_read_is_refused_by_name(path):
    """A folder, or no path at all."""
    with pytest.raises(InvalidInput, match=r"^path="):
        RecordedModel(path)


def test_a_path_that_cannot_be_written_is_refused_by_name(tmp_path):
    """When there is something to record."""
    model = RecordedModel(tmp_path / "runs" / "run.jsonl", ScriptedModel({"extract": "said"}))
    (tmp_path / "runs").write_text("a file", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"^path="):
        model.answer([ASK])


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
