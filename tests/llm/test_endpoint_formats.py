"""How the shape of an answer is asked for: by schema, as an object, as text; what an endpoint refuses is remembered."""

from __future__ import annotations

import json
from typing import Any

import pytest

from graphmem.errors import AnswerRefused, AnswerTruncated, ContextTooLong, EndpointFailed
from graphmem.llm.endpoint.dialect import Dialect, Format
from graphmem.testing.endpoint import Request, completion, empty, failing, truncated


def formats(endpoint: Any) -> list[str]:
    """The formats that were asked for, in order."""
    return [r.format for r in endpoint.requests]


def test_a_schema_is_asked_for_first(kit: Any) -> None:
    """Strict, under the name of the prompt."""
    endpoint = kit.serve()
    kit.model(endpoint).answer([kit.ask()])
    sent = endpoint.requests[0].body["response_format"]
    assert (sent["type"], sent["json_schema"]["name"], sent["json_schema"]["strict"]) == ("json_schema", "extract", True)


def test_an_endpoint_without_schemas_is_asked_for_an_object_and_told_the_schema_in_words(kit: Any) -> None:
    """Later calls start there."""
    endpoint = kit.serve(formats=["json_object", "text"])
    model = kit.model(endpoint)
    model.answer([kit.ask()])
    assert formats(endpoint) == ["json_schema", "json_schema", "json_object"]
    assert '"required": ["entities", "facts"]' in endpoint.requests[-1].system
    assert "JSON" in endpoint.requests[-1].system
    model.answer([kit.ask("Ivo is here.")])
    assert formats(endpoint)[3:] == ["json_object"]
    assert kit.waits == []


def test_an_endpoint_that_knows_text_only_is_asked_for_text(kit: Any) -> None:
    """And later calls start there; another object starts anew."""
    endpoint = kit.serve(formats=["text"])
    model = kit.model(endpoint)
    model.answer([kit.ask()])
    model.answer([kit.ask("Ivo is here.")])
    assert formats(endpoint) == ["json_schema", "json_schema", "json_object", "text", "text"]
    assert "response_format" not in endpoint.requests[-1].body
    kit.model(endpoint).answer([kit.ask()])
    assert formats(endpoint)[5] == "json_schema"


def test_bounds_that_an_endpoint_does_not_take_are_left_out_of_the_schema(kit: Any) -> None:
    """The rest of the schema stays."""

    def answer(request: Request) -> object:
        if "maxLength" in json.dumps(request.body.get("response_format")):
            return failing(400, "Invalid schema for response_format 'extract': 'maxLength' is not permitted.")
        return {"entities": [], "facts": []}

    endpoint = kit.serve(answer=answer)
    kit.model(endpoint).answer([kit.ask()])
    assert formats(endpoint) == ["json_schema", "json_schema"]
    schema = endpoint.requests[1].body["response_format"]["json_schema"]["schema"]
    assert "maxItems" not in json.dumps(schema)
    assert schema["properties"]["entities"]["items"]["properties"]["name"] == {"type": "string"}


@pytest.mark.parametrize("status", [400, 404, 422, 500])
def test_a_refusal_by_name_counts_whatever_its_status(kit: Any, status: int) -> None:
    """No wait, no second try with the same format."""
    endpoint = kit.serve(*[failing(status, "Unsupported: response_format json_schema")] * 2)
    kit.model(endpoint).answer([kit.ask()])
    assert formats(endpoint) == ["json_schema", "json_schema", "json_object"]
    assert kit.waits == []


def test_an_endpoint_that_fails_without_words_at_a_schema_is_asked_without_one(kit: Any) -> None:
    """After the tries are used up; what helped is remembered."""

    def answer(request: Request) -> object:
        return failing(500, "Internal Server Error") if request.format == "json_schema" else {"entities": [], "facts": []}

    endpoint = kit.serve(answer=answer)
    model = kit.model(endpoint, retries=1)
    model.answer([kit.ask()])
    assert formats(endpoint) == ["json_schema", "json_schema", "json_schema", "json_object"]
    model.answer([kit.ask("Ivo is here.")])
    assert formats(endpoint)[4:] == ["json_object"]


def test_an_endpoint_that_only_fails_is_told_as_failing_and_nothing_is_remembered(kit: Any) -> None:
    """The format was not the cause."""
    endpoint = kit.serve(answer=lambda request: failing(500, "out of memory"))
    model = kit.model(endpoint, retries=2)
    with pytest.raises(EndpointFailed, match="out of memory"):
        model.answer([kit.ask()])
    asked = len(endpoint.requests)
    assert asked == 6
    with pytest.raises(EndpointFailed, match="after 3 tries"):
        model.answer([kit.ask()])
    assert formats(endpoint)[asked] == "json_schema"


def test_an_answer_without_json_is_asked_for_again_in_another_format(kit: Any) -> None:
    """Once is chance; from the second time on later calls start with the other format. All calls are counted."""
    endpoint = kit.serve(answer=lambda r: "I would say Mira." if r.format == "json_schema" else {"entities": [], "facts": []})
    model = kit.model(endpoint)
    for text in ("Mira is here.", "Ivo is here."):
        [answer] = model.answer([kit.ask(text)])
        assert json.loads(str(answer.value)) == {"entities": [], "facts": []}
        assert answer.usage.calls == 2
    model.answer([kit.ask("Ana is here.")])
    assert formats(endpoint) == ["json_schema", "json_object", "json_schema", "json_object", "json_object"]


def test_one_odd_answer_changes_nothing_for_later(kit: Any) -> None:
    """The next call starts with the strictest format again."""
    endpoint = kit.serve(completion("Well."))
    model = kit.model(endpoint)
    model.answer([kit.ask()])
    model.answer([kit.ask("Ivo is here.")])
    assert formats(endpoint) == ["json_schema", "json_object", "json_schema"]


def test_prose_in_two_formats_is_a_refusal_and_changes_nothing_for_later(kit: Any) -> None:
    """However often it happens: the format was not the cause. Two calls, both counted."""
    endpoint = kit.serve(answer=lambda r: "I cannot help with that." if "weapon" in r.user else {"entities": [], "facts": []})
    model = kit.model(endpoint)
    for _ in range(3):
        with pytest.raises(AnswerRefused, match=r"I cannot help with that") as told:
            model.answer([kit.ask("Tell me of the weapon.")])
        assert told.value.usage.calls == 2
    model.answer([kit.ask()])
    assert formats(endpoint) == ["json_schema", "json_object"] * 3 + ["json_schema"]


def test_prose_stays_what_was_said_where_an_endpoint_takes_no_other_format(kit: Any) -> None:
    """Its refusal of the other format is neither told nor remembered."""
    endpoint = kit.serve(answer=lambda r: "I cannot." if "weapon" in r.user else {"entities": [], "facts": []}, formats=["json_schema"])
    model = kit.model(endpoint)
    [answer] = model.answer([kit.ask("Tell me of the weapon.")])
    assert (answer.value, answer.usage.calls) == ("I cannot.", 1)
    model.answer([kit.ask()])
    assert formats(endpoint) == ["json_schema", "json_object", "json_schema"]


def test_an_endpoint_that_was_down_for_a_while_is_asked_in_its_only_format_again(kit: Any) -> None:
    """What it refused while it failed is not remembered: nothing came of it."""
    down = iter([True] * 2)
    refusal = failing(400, "response_format json_object is not supported")

    def answer(request: Request) -> object:
        if request.format != "json_schema":
            return refusal
        return failing(500, "Internal Server Error") if next(down, False) else {"entities": [], "facts": []}

    endpoint = kit.serve(answer=answer)
    model = kit.model(endpoint, retries=0)
    with pytest.raises(EndpointFailed):
        model.answer([kit.ask()])
    model.answer([kit.ask()])
    assert formats(endpoint)[-1] == "json_schema"


def test_text_in_which_json_only_begins_is_handed_on_as_it_is(kit: Any) -> None:
    """Whether it can be used is for the engine to say, which asks for a repair: another format would not help."""
    endpoint = kit.serve(answer=lambda request: '{"entities": [{"name": "Mi')
    [answer] = kit.model(endpoint).answer([kit.ask()])
    assert answer.value == '{"entities": [{"name": "Mi'
    assert answer.usage.calls == 1


def test_a_text_that_is_too_long_is_no_matter_of_the_format(kit: Any) -> None:
    """Though the endpoint counts the schema too, and says so."""
    words = "maximum context length is 8192 tokens; you sent 9000 in the messages and 120 in the response_format"
    endpoint = kit.serve(failing(400, words))
    with pytest.raises(ContextTooLong):
        kit.model(endpoint).answer([kit.ask()])
    assert len(endpoint.requests) == 1


def test_the_name_of_the_length_is_learned(kit: Any) -> None:
    """Newer models want `max_completion_tokens`, and no temperature."""

    def answer(request: Request) -> object:
        if "max_tokens" in request.body:
            return failing(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", code="unsupported_parameter")
        if "temperature" in request.body:
            return failing(400, "Unsupported value: 'temperature' does not support 0.", code="unsupported_value")
        return {"entities": [], "facts": []}

    endpoint = kit.serve(answer=answer)
    model = kit.model(endpoint)
    model.answer([kit.ask()])
    model.answer([kit.ask("Ivo is here.")])
    assert len(endpoint.requests) == 4
    assert endpoint.requests[2].body["max_completion_tokens"] == endpoint.requests[0].body["max_tokens"]
    assert formats(endpoint) == ["json_schema"] * 4


def test_what_asks_side_by_side_learn_is_learned_once(kit: Any) -> None:
    """Eight refusals at once lead one step down, not eight."""
    endpoint = kit.serve(formats=["json_object", "text"], delay=0.02)
    model = kit.model(endpoint)
    model.answer([kit.ask(f"Number {n}.") for n in range(8)])
    model.answer([kit.ask("Ivo is here.")])
    assert formats(endpoint)[-1] == "json_object"


def test_what_one_thread_learns_late_does_not_undo_what_another_has_learned() -> None:
    """Of two, the looser format; both names; no temperature if either has none."""
    late = Dialect(Format.PLAIN_SCHEMA, temperature=False)
    known = Dialect(Format.TEXT, tokens="max_completion_tokens")
    both = Dialect(Format.TEXT, "max_completion_tokens", False)
    assert known.joined(late) == late.joined(known) == both


def test_a_cut_answer_is_asked_for_once_more_with_more_tokens(kit: Any) -> None:
    """Both calls are counted."""
    endpoint = kit.serve(truncated())
    [answer] = kit.model(endpoint).answer([kit.ask()])
    first, second = (r.body["max_tokens"] for r in endpoint.requests)
    assert second > first
    assert answer.usage.calls == 2
    assert json.loads(str(answer.value)) == {"entities": [], "facts": []}


def test_an_answer_that_is_cut_again_is_an_error(kit: Any) -> None:
    """There is no third try."""
    endpoint = kit.serve(truncated(), truncated())
    with pytest.raises(AnswerTruncated, match="ran out of tokens"):
        kit.model(endpoint).answer([kit.ask()])
    assert len(endpoint.requests) == 2


def test_a_cut_answer_that_had_all_tokens_is_not_asked_for_again(kit: Any) -> None:
    """About a text so long that its answer may take the most already."""
    endpoint = kit.serve(truncated())
    with pytest.raises(AnswerTruncated):
        kit.model(endpoint).answer([kit.ask("Mira lives in Porto. " * 200)])
    assert [r.body["max_tokens"] for r in endpoint.requests] == [8000]


def test_a_model_that_cannot_write_more_tokens_is_told_as_cut(kit: Any) -> None:
    """Not as a request that is wrong: the first one was taken."""
    endpoint = kit.serve(truncated(), failing(400, "max_tokens is too large: 8000. This model supports at most 4096."))
    with pytest.raises(AnswerTruncated):
        kit.model(endpoint).answer([kit.ask()])


def test_an_answer_that_is_whole_though_the_endpoint_says_cut_is_taken(kit: Any) -> None:
    """The JSON ends."""
    endpoint = kit.serve(truncated('{"entities": [], "facts": []}'))
    kit.model(endpoint).answer([kit.ask()])
    assert len(endpoint.requests) == 1


def test_an_empty_body_may_be_the_formats_fault_too(kit: Any) -> None:
    """Some endpoints say nothing where they do not know a format."""
    endpoint = kit.serve(answer=lambda r: empty() if r.format == "json_schema" else {"entities": [], "facts": []})
    kit.model(endpoint, retries=0).answer([kit.ask()])
    assert formats(endpoint) == ["json_schema", "json_schema", "json_object"]
