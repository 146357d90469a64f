"""Cases C19, C21, C22, C25 and lesson A40: what is made of answers of any shape, of refusals, and of a model that cannot be reached."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from wire import Script, codes, rows, same_as_first, says

from graphmem import Memory
from graphmem.endpoint.waiting import Waiting
from graphmem.errors import AnswerTruncated, AnswerUnusable, ModelError, ModelUnavailable, RateLimited
from graphmem.llm.base import Answer, Ask
from graphmem.llm.endpoint import EndpointModel
from graphmem.llm.recorded import RecordedModel
from graphmem.model import Usage
from graphmem.testing import ScriptedModel
from graphmem.testing.endpoint import (
    Reply,
    Request,
    ScriptedEndpoint,
    completion,
    empty,
    failing,
    filtered,
    rate_limited,
    refused,
    truncated,
)

Open = Callable[..., Memory]
SAID = says(("Mira", "KNOWS", "Ivo"), types={"Mira": "Person", "Ivo": "Person"})
PLAIN = json.dumps(SAID)


class Serving:
    """Endpoints that are closed at the end, models behind them, and the waits they would have made."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self.waits: list[float] = []

    def endpoint(self, *replies: Reply, **how: Any) -> ScriptedEndpoint:
        how.setdefault("answer", lambda request: SAID)
        return self._stack.enter_context(ScriptedEndpoint(replies, **how))

    def model(self, endpoint: ScriptedEndpoint, **how: Any) -> EndpointModel:
        waiting = Waiting(sleep=self.waits.append, jitter=lambda: 1.0)
        model = EndpointModel("some-model", base_url=endpoint.base_url, api_key="k", timeout=20.0, waiting=waiting, **how)
        self._stack.callback(model.close)
        return model


@pytest.fixture
def serving() -> Iterator[Serving]:
    """Endpoints of one test."""
    with ExitStack() as stack:
        yield Serving(stack)


def test_c19_a_fact_between_two_names_of_one_person_is_no_fact(open_memory: Open) -> None:
    """Whether the model says so, or the answer has one end twice; told either way, and the other facts stay."""
    script = Script()
    people = {"Mira Tallis": "Person", "M. Tallis": "Person"}
    memory = open_memory(model=ScriptedModel({"extract": script.extract, "resolve": same_as_first}))
    memory.add_text(script.on("A", says(only=["Mira Tallis"], types=people)), reference_time="2025-01-01")
    both = says(("Mira Tallis", "KNOWS", "M. Tallis"), ("M. Tallis", "LIKES", "tea"), types=people)
    result = memory.add_text(script.on("B", both), reference_time="2025-01-02")
    assert codes(result) == ["self_loop"]
    assert result.warnings[0].raw == "Mira Tallis KNOWS M. Tallis"
    once = {"entities": [{"name": "Ivo", "type": "Person"}], "facts": [{"source": 0, "target": 0, "relation": "KNOWS", "text": "himself"}]}
    assert codes(memory.add_text(script.on("C", once), reference_time="2025-01-03")) == ["self_loop"]
    assert rows(memory) == [("Mira Tallis", "tea", "2025-01-02", None)]
    assert sorted(e.name for e in memory.entities()) == ["Ivo", "Mira Tallis", "tea"]


RENAMED = {
    "extracted_entities": [{"entity_name": "Mira", "entity_type": "Person"}, {"entity_name": "Ivo", "entity_type": "Person"}],
    "edges": [{"source_entity": "Mira", "target_entity": "Ivo", "relation_type": "KNOWS", "fact": "Mira KNOWS Ivo"}],
}
SHAPES = {
    "fenced": f"```json\n{PLAIN}\n```",
    "prose": f"Sure {{here}} you are: {PLAIN} Anything else?",
    "reasoning": f'<think>{{"entities": []}}</think>{PLAIN}',
    "renamed": json.dumps(RENAMED),
    "result": json.dumps({"result": SAID}),
    "properties": json.dumps({"properties": SAID}),
    "string": json.dumps(PLAIN),
    "commas": PLAIN.replace("]", ",]").replace('"}', '",}'),
    "quotes": str(SAID),
    "mark": "\ufeff" + PLAIN,
    "two": PLAIN + json.dumps({"entities": [], "facts": []}),
}


def test_c21_every_shape_that_carries_the_fact_gives_one_graph(open_memory: Open) -> None:
    """Fences, prose, reasoning, other keys, wrappers, strings, loose JSON: equal hashes, one call, no warning."""
    hashes = set()
    for answer in (SAID, PLAIN, *SHAPES.values()):
        model = ScriptedModel({"extract": answer})
        memory = open_memory(model=model)
        result = memory.add_text("Mira knows Ivo.", reference_time="2025-01-01")
        assert (len(model.asks), codes(result)) == (1, [])
        hashes.add((memory.state_hash(), memory.history_hash()))
    assert len(hashes) == 1


@pytest.mark.parametrize("answer", ['[{"name": "Mira"}, {"name": "Ivo"}]', '["Mira", "Ivo"]'])
def test_c21_a_bare_list_has_the_names_and_tells_that_facts_are_missing(open_memory: Open, answer: str) -> None:
    """No second call."""
    model = ScriptedModel({"extract": [answer]})
    memory = open_memory(model=model)
    assert codes(memory.add_text("Mira knows Ivo.", reference_time="2025-01-01")) == ["no_facts"]
    assert sorted(e.name for e in memory.entities()) == ["Ivo", "Mira"]


@pytest.mark.parametrize("bad", ["{}", '{"$defs": {}, "properties": {"entities": {"type": "array"}}}', '{"entities": 7}'])
def test_c22_an_unusable_answer_is_mended_by_one_more_question(open_memory: Open, serving: Serving, bad: str) -> None:
    """Over the wire: two requests, the second with the first answer and what is wrong with it; their cost is the result's."""
    endpoint = serving.endpoint(completion(bad, usage=(11, 5)), completion(PLAIN, usage=(13, 6)))
    memory = open_memory(model=serving.model(endpoint))
    result = memory.add_text("Mira knows Ivo.", reference_time="2025-01-01")
    assert codes(result) == ["repaired"]
    assert rows(memory) == [("Mira", "Ivo", "2025-01-01", None)]
    assert len(endpoint.requests) == 2
    assert "entities" in endpoint.requests[1].user
    assert "could not be read" in endpoint.requests[1].user + endpoint.requests[1].system
    assert (result.usage.calls, result.usage.input_tokens, result.usage.output_tokens) == (2, 24, 11)


def test_c22_a_second_unusable_answer_leaves_the_text_and_nothing_else(open_memory: Open, serving: Serving) -> None:
    """No third request; the episode is found by its words, and what it holds is told as unread."""
    endpoint = serving.endpoint(completion("{}"), completion("{}"), completion(PLAIN))
    memory = open_memory(model=serving.model(endpoint))
    result = memory.add_text("Mira knows Ivo.", reference_time="2025-01-01")
    assert codes(result) == ["unreadable"]
    assert len(endpoint.requests) == 2
    assert memory.counts() == {"episodes": 1, "entities": 0, "facts": 0, "mentions": 0}
    assert [h.id for h in memory.search("who knows Ivo", kinds=["episode"])] == [result.id]


def test_c22_an_empty_answer_is_asked_for_again(open_memory: Open, serving: Serving) -> None:
    """A body or a message without a word is no answer yet."""
    endpoint = serving.endpoint(completion(""), empty(), completion(PLAIN))
    memory = open_memory(model=serving.model(endpoint))
    assert codes(memory.add_text("Mira knows Ivo.", reference_time="2025-01-01")) == []
    assert rows(memory) == [("Mira", "Ivo", "2025-01-01", None)]
    assert len(endpoint.requests) == 3


@pytest.mark.parametrize(
    ("replies", "requests"),
    [([refused()], 1), ([filtered()], 1), ([truncated(), truncated()], 2), ([completion('{"entities": [{"na', finish="length")] * 2, 2)],
    ids=["refused", "filtered", "cut", "cut in a string"],
)
def test_c22_a_refusal_or_a_cut_answer_about_one_sentence_is_not_asked_about_again(
    open_memory: Open, serving: Serving, replies: list[Reply], requests: int
) -> None:
    """What is cut is asked for once more with more tokens, and never read as if it were whole; the text is kept."""
    endpoint = serving.endpoint(*replies)
    memory = open_memory(model=serving.model(endpoint))
    result = memory.add_message("Dario", "Mira knows Ivo.", reference_time="2025-01-01")
    assert codes(result) == ["unreadable"]
    assert len(endpoint.requests) == requests
    assert [e.name for e in memory.entities()] == ["Dario"]
    assert memory.episodes()[0].text == "Mira knows Ivo."


@pytest.mark.parametrize("said", ["I cannot help with that.", '{"entities": [{"name": "Mi'], ids=["prose", "cut without a word"])
def test_c22_a_refusal_in_prose_costs_two_questions_and_nothing_later(open_memory: Open, serving: Serving, said: str) -> None:
    """So does an answer that breaks off: the text is kept, and the next one is asked about by schema."""
    endpoint = serving.endpoint(answer=lambda request: said if "weapon" in told(request) else SAID)
    memory = open_memory(model=serving.model(endpoint))
    result = memory.add_text("Mira has a weapon.", reference_time="2025-01-01")
    assert (codes(result), result.usage.calls, len(endpoint.requests)) == (["unreadable"], 2, 2)
    assert codes(memory.add_text("Mira knows Ivo.", reference_time="2025-01-02")) == []
    assert [r.format for r in endpoint.requests[2:]] == ["json_schema"]


PEOPLE = ["Ana", "Bela", "Cleo", "Dina"]
DIARY = "Mira met Ana in Porto. Mira met Bela in Porto. Mira met Cleo in Porto. Mira met Dina in Porto."


def in_part(most: int) -> Callable[[Request], object]:
    """An endpoint whose answer is cut, in the middle of what looks like more, if it is to tell of more than `most` meetings."""

    def answer(request: Request) -> object:
        if request.prompt != "extract":
            return {"matches": [], "judgements": []}
        text = told(request)
        met = [name for name in PEOPLE if f"met {name}" in text]
        said = says(*(("Mira", "MET", name) for name in met), types=dict.fromkeys(["Mira", *PEOPLE], "Person"))
        return said if len(met) <= most else truncated(json.dumps(says(("Mira", "MET", "Nobody")))[:-2])

    return answer


def told(request: Request) -> str:
    """The text that a request asks about."""
    return str(json.loads(request.user.partition("<data>")[2].partition("</data>")[0])["text"])


def test_c22_a_cut_answer_has_the_text_read_in_halves(open_memory: Open, serving: Serving) -> None:
    """Once with more tokens, then each half, cut at a sentence end: one episode, one Mira, every meeting where it stands."""
    endpoint = serving.endpoint(answer=in_part(2))
    memory = open_memory(model=serving.model(endpoint))
    result = memory.add_text(DIARY, reference_time="2025-01-01")
    assert [told(r) for r in endpoint.requests] == [DIARY, DIARY, DIARY[:47], DIARY[47:]]
    assert [r.body["max_tokens"] for r in endpoint.requests[:2]] == [1188, 4752]
    assert codes(result) == ["cut_answer"]
    assert sorted((f.target, f.episodes) for f in memory.facts("Mira")) == [(name, (result.id,)) for name in PEOPLE]
    assert sorted(e.name for e in memory.entities()) == [*PEOPLE, "Mira"]
    with memory._scope.store.read() as reader:
        (record,) = reader.records("main", [result.id])
    spans = {m.name: m.span for m in record.mentions}
    assert {name: DIARY[s.start : s.end] for name, s in spans.items() if s} == {name: name for name in ["Mira", *PEOPLE]}
    assert memory.verify() == []


def test_c22_halves_are_halved_again_down_to_a_sentence(open_memory: Open) -> None:
    """And what is cut even so is told as unread, while the others are kept."""
    model = ScriptedModel({"extract": _cut_unless_short})
    memory = open_memory(model=model)
    result = memory.add_text(DIARY, reference_time="2025-01-01")
    assert sorted(codes(result)) == ["cut_answer", "cut_answer", "cut_answer", "unreadable"]
    assert sorted(f.target for f in memory.facts("Mira")) == ["Ana", "Bela", "Dina"]
    assert len(model.asks) == result.usage.calls == 7
    assert [w.message.partition(";")[0] for w in result.warnings if w.code == "unreadable"] == [
        "no answer about the text from character 47 can be read"
    ]


def _cut_unless_short(ask: Ask) -> object:
    text = str(ask.payload["text"])
    if text.count(".") > 1 or "Cleo" in text:
        return Answer(None, Usage(1), AnswerTruncated("ran out of tokens"))
    return says(("Mira", "MET", next(name for name in PEOPLE if name in text)))


def test_c22_a_model_that_is_always_cut_is_asked_a_bounded_number_of_times(open_memory: Open) -> None:
    """Fifteen questions at most for a part of any length, and the text is kept."""
    model = ScriptedModel({"extract": lambda ask: Answer(None, failure=AnswerTruncated("ran out of tokens"))})
    memory = open_memory(model=model)
    result = memory.add_text(DIARY * 20, reference_time="2025-01-01")
    assert len(model.asks) == 15
    assert codes(result).count("unreadable") == 8
    assert memory.counts()["facts"] == 0
    assert memory.episode(result.id).text == DIARY * 20


def test_c22_what_was_read_in_halves_is_replayed_without_a_question(open_memory: Open, serving: Serving, tmp_path: Path) -> None:
    """From a recording, and from what the memory itself keeps: a cut answer is kept as one that was cut."""
    endpoint = serving.endpoint(answer=in_part(1))
    recording = tmp_path / "answers.jsonl"
    first = open_memory(model=RecordedModel(recording, serving.model(endpoint)))
    first.add_text(DIARY, reference_time="2025-01-01")
    asked = len(endpoint.requests)
    again = open_memory(model=RecordedModel(recording))
    assert again.add_text(DIARY, reference_time="2025-01-01").usage.calls == 0
    assert again.state_hash() == first.state_hash()
    other = first.add_text(DIARY, reference_time="2025-01-01", group="other")
    assert (other.usage.calls, codes(other)) == (0, ["cut_answer"] * 3)
    assert len(endpoint.requests) == asked


FRIENDS = [f"Friend{chr(97 + n)}" for n in range(20)]
TWENTY = [
    {"actor": "Mira", "text": f"Note {n:02d}: I met {friend}.", "reference_time": f"2025-01-{n + 1:02d}"}
    for n, friend in enumerate(FRIENDS)
]


def met(request: Request) -> dict[str, Any]:
    """What the endpoint says about a note; nobody is known again and nothing is contradicted."""
    if request.prompt != "extract":
        return {"matches": [], "judgements": []}
    number = int(request.user.rpartition("Note ")[2][:2])
    return says(("Mira", "MET", FRIENDS[number]), types={"Mira": "Person"})


def about(request: Request, number: int) -> bool:
    """Whether a request asks about that note, which is the last one it shows."""
    return request.user.rpartition("Note ")[2].startswith(f"{number:02d}")


def test_c25_a_limited_endpoint_is_waited_for_and_the_rest_goes_on_later(open_memory: Open, serving: Serving) -> None:
    """The seventh of twenty waits twice, at least as long as it is told; at the twelfth the import stops with the reason, once nothing
    else is answered any more; what came before is kept, and run again it goes on from there: the end is that of a run without trouble.
    """
    limited, healed = {"seventh": 2, "twelfth": 0}, False

    def answer(request: Request) -> object:
        if request.prompt != "extract":
            return met(request)
        if about(request, 6) and limited["seventh"]:
            limited["seventh"] -= 1
            return rate_limited("2")
        if about(request, 11) and not healed:
            limited["twelfth"] += 1
            return rate_limited("2")
        return met(request)

    endpoint = serving.endpoint(answer=answer, delay=0.002)
    memory = open_memory(model=serving.model(endpoint, max_concurrency=4, retries=2))
    with pytest.raises(RateLimited):
        memory.add_many(TWENTY)
    assert serving.waits == [2.5] * (2 + limited["twelfth"] - 1)
    assert endpoint.most_at_once <= 4
    assert [e.text[:7] for e in memory.episodes()] == [f"Note {n:02d}" for n in range(11)]
    healed = True
    results = memory.add_many(TWENTY)
    assert [r.created for r in results] == [False] * 11 + [True] * 9
    clean = open_memory(model=serving.model(serving.endpoint(answer=met)))
    clean.add_many(TWENTY)
    assert memory.state_hash() == clean.state_hash()
    assert memory.counts()["episodes"] == 20


@pytest.mark.parametrize("wrong", [failing(500), failing(401), failing(404), failing(400)], ids=["500", "401", "404", "400"])
def test_c25_a_model_that_fails_leaves_the_memory_as_it_was(open_memory: Open, serving: Serving, wrong: Reply) -> None:
    """Nothing of the episode is there, and once the endpoint answers, adding it again is as if nothing had happened."""
    memory = open_memory(model=serving.model(serving.endpoint(answer=lambda request: wrong), retries=0))
    other = open_memory(model=serving.model(serving.endpoint()))
    for name in ("Mira", "Ivo"):
        memory.add_facts([{"source": name, "relation": "LIVES_IN", "target": "Porto"}], reference_time="2025-01-01")
        other.add_facts([{"source": name, "relation": "LIVES_IN", "target": "Porto"}], reference_time="2025-01-01")
    before = memory.state_hash(), memory.history_hash()
    for _ in range(2):
        with pytest.raises(ModelError, match="some-model"):
            memory.add_text("Mira knows Ivo.", reference_time="2025-02-01")
    assert (memory.state_hash(), memory.history_hash()) == before
    assert memory.counts()["episodes"] == 2


def test_a40_limits_and_refusals_are_different_errors_and_answers_are_cleaned(open_memory: Open, serving: Serving) -> None:
    """One may pass, the other will not; an empty reply is asked for again, a fence and hidden characters do no harm."""
    assert issubclass(RateLimited, ModelUnavailable)
    assert not issubclass(RateLimited, AnswerUnusable)
    hidden = PLAIN.replace("Ivo", "I\u200bvo\u2060").replace(" KNOWS ", "\u00a0KNOWS ")
    endpoint = serving.endpoint(rate_limited("1"), empty(), completion(f"\ufeff```json\n{hidden}\n```"))
    memory = open_memory(model=serving.model(endpoint))
    assert codes(memory.add_text("Mira knows Ivo.", reference_time="2025-01-01")) == []
    assert sorted(e.name for e in memory.entities()) == ["Ivo", "Mira"]
    assert serving.waits[0] == 1.25
    assert len(endpoint.requests) == 3
