"""Reading what a model says about an episode: names, references, dates, shapes."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from graphmem.errors import AnswerRefused
from graphmem.ingest.flow import Options
from graphmem.interval import Precision
from graphmem.llm.base import Answer
from graphmem.model import AssertionKind

TEXT = "Since last week I have been renting in Lisbon."


def codes(draft):
    return [w.code for w in draft.warnings]


def test_c01_the_question_holds_the_episodes_time_and_never_the_clocks(kit):
    """A back-filled text is read against its own time."""
    bench = kit.Bench(extract=kit.said(("Mira", "Person"), ("Lisbon", "City"), facts=[kit.fact(0, 1, "LIVES_IN")]))
    draft = bench.draft(bench.episode(TEXT, "Mira", at="2022-09-14T10:00:00+00:00"))
    payload = json.dumps(dict(bench.model.asks[0].payload))
    assert "2022-09-14T10:00:00+00:00" in payload
    assert "2026" not in payload
    assert draft.assertions[0].start is None


@pytest.mark.parametrize(
    "raw", ["2023-13-45", "2024-02-30", "None", "", "soon", "0000-01-01", "10000-01-01", 20220914, {"y": 2023}, "2022-09-14T25:61:00Z"]
)
def test_c02_an_impossible_date_counts_as_absent_and_is_told(kit, raw):
    """The fact is kept, the date is not, the warning holds the raw value."""
    bench = kit.Bench(extract=kit.said("Mira", "Lisbon", facts=[kit.fact(0, 1, "LIVES_IN", valid_at=raw)]))
    draft = bench.draft(bench.episode(TEXT, "Mira", at="2022-09-14T10:00:00+00:00"))
    assert draft.assertions[0].start is None
    assert codes(draft) == ["bad_date"]
    assert str(draft.warnings[0].raw) == str(raw)


@pytest.mark.parametrize(("start", "end"), [("2025-03-10", "2025-03-01"), ("2025-03-10T00:00:00Z", "2025-03-10T00:00:00Z")])
def test_c03_an_end_not_after_its_start_is_dropped(kit, start, end):
    """The start stays, the conflict is told."""
    bench = kit.Bench(extract=kit.said("Mira", "Lisbon", facts=[kit.fact(0, 1, valid_at=start, invalid_at=end)]))
    draft = bench.draft(bench.episode(TEXT, "Mira"))
    assert draft.assertions[0].start.first == datetime(2025, 3, 10, tzinfo=UTC)
    assert draft.assertions[0].end is None
    assert codes(draft) == ["interval_conflict"]


def test_c04_a_date_without_an_offset_is_read_in_the_zone_of_the_episode(kit):
    """The zone of the machine plays no part, and the question shows the offset."""
    bench = kit.Bench(extract=kit.said("Mira", "Lisbon", facts=[kit.fact(0, 1, valid_at="2025-05-14T00:30:00")]))
    draft = bench.draft(bench.episode(TEXT, "Mira", at="2025-05-14T00:30:00+09:00", zone="+09:00"))
    assert draft.assertions[0].start.first == datetime(2025, 5, 13, 15, 30, tzinfo=UTC)
    assert bench.model.asks[0].payload["reference_time"] == "2025-05-14T00:30:00+09:00"


@pytest.mark.parametrize(
    ("raw", "first", "precision"),
    [("2025", "2025-01-01", Precision.YEAR), ("2025-05", "2025-05-01", Precision.MONTH), ("2025-05-14", "2025-05-14", Precision.DAY)],
)
def test_c05_a_partial_date_keeps_its_precision(kit, raw, first, precision):
    """No day is invented."""
    bench = kit.Bench(extract=kit.said("Mira", "Lisbon", facts=[kit.fact(0, 1, valid_at=raw)]))
    start = bench.draft(bench.episode(TEXT, "Mira")).assertions[0].start
    assert (start.first.date().isoformat(), start.precision) == (first, precision)


def test_c05_one_day_as_start_and_end_is_that_whole_day(kit):
    """Both bounds name the same unit: it runs from its first instant to the first one after it."""
    bench = kit.Bench(extract=kit.said("Mira", "Lisbon", facts=[kit.fact(0, 1, valid_at="2025-03-10", invalid_at="2025-03-10")]))
    made = bench.draft(bench.episode(TEXT, "Mira")).assertions[0]
    assert (made.start.first.day, made.end.last.day) == (10, 11)


def test_c05_a_date_without_a_year_is_the_nearest_past_one(kit):
    """December told in January was last year."""
    bench = kit.Bench(extract=kit.said("Mira", "Acme", facts=[kit.fact(0, 1, "SIGNED", valid_at="12-30")]))
    draft = bench.draft(bench.episode("We signed on December 30", at="2025-01-05T00:00:00+00:00"))
    assert draft.assertions[0].start.first.date().isoformat() == "2024-12-30"


@pytest.mark.parametrize("raw", ["9999-12-31T23:59:59+00:00", "0001-01-01T00:00:00+14:00"])
def test_c06_the_edges_of_the_calendar_do_not_overflow(kit, raw):
    """The first and last days that Python knows are read or told, never raised."""
    bench = kit.Bench(extract=kit.said("Mira", "Quillon", facts=[kit.fact(0, 1, valid_at=raw)]))
    assert len(bench.draft(bench.episode(TEXT, "Mira")).assertions) == 1


def test_c17_the_first_person_is_the_speaker_and_other_pronouns_name_nobody(kit):
    """ "I" is Mira; "He" without a referent never becomes a node."""
    words = ["I", "me", "the user", "私", "أنا", "He", "it"]
    bench = kit.Bench(extract=kit.said(*words, "Ivo", facts=[kit.fact("I", "Ivo"), kit.fact("He", "Ivo")]))
    draft = bench.add("I met Ivo.", "Mira")
    assert bench.names() == ["Ivo", "Mira"]
    assert [a.text for a in draft.assertions] == ["I KNOWS Ivo"]
    assert codes(draft) == ["pronoun", "pronoun", "bad_ref"]


def test_c17_a_known_name_that_the_text_does_not_hold_is_kept(kit):
    """The second episode is offered Tomas as known and may speak of him."""
    first = kit.said(("Tomas", "Person"), facts=[])
    second = kit.said(("Tomas", "Person"), ("Ivana", "Person"), facts=[kit.fact("Tomas", "Ivana", "SIBLING_OF")])
    bench = kit.Bench(extract=[first, second])
    bench.add("Tomas from the boatyard came by, he repairs hulls.", "Mira")
    draft = bench.add("His sister Ivana keeps the accounts there.", "Mira")
    assert "Tomas" in [k["name"] for k in bench.model.asks[1].payload["known"]]
    assert bench.model.asks[1].payload["recent"][0]["text"].startswith("Tomas from")
    assert len(draft.assertions) == 1
    assert bench.names() == ["Ivana", "Mira", "Tomas"]


def test_c17_the_i_of_two_speakers_is_two_people(kit):
    """First persons never merge across speakers."""
    bench = kit.Bench(extract=kit.said("I", "Ivo", facts=[kit.fact("I", "Ivo")]))
    bench.add("I know Ivo.", "Mira")
    bench.add("I know Ivo.", "Dario")
    assert bench.names() == ["Dario", "Ivo", "Mira"]


def test_c18_junk_names_are_refused_each_with_a_reason(kit):
    """Ten names that are none, and one that is."""
    junk = [{"name": n} for n in (None, "", "   ", "\u200b", 42, ["x"], "...", "None")] + [{"type": "Person"}, {"name": "x" * 5000}]
    bench = kit.Bench(extract={"entities": [*junk, {"name": "Ivo"}], "facts": [kit.fact(0, 10), kit.fact(10, 10)]})
    draft = bench.add("Ivo was here.")
    assert bench.names() == ["Ivo"]
    assert draft.assertions == ()
    assert codes(draft).count("junk_name") == 10
    assert codes(draft)[10:] == ["bad_ref", "self_loop"]
    assert all(w.message for w in draft.warnings)


def test_c20_references_are_read_as_positions_or_names(kit):
    """Digits, floats and names count; what names nothing is dropped and told."""
    pairs = [(0, 1), (0, 7), (-1, 1), ("0", "1"), (None, 1), (1.0, 0), ("Mira", "Ivo")]
    bench = kit.Bench(extract=kit.said("Mira", "Ivo", facts=[kit.fact(s, t, text="They know each other") for s, t in pairs]))
    draft = bench.draft(bench.episode("They know each other"))
    mira, ivo = (m.entity for m in draft.mentions)
    assert [(a.source, a.target) for a in draft.assertions] == [(mira, ivo), (ivo, mira)]
    assert codes(draft) == ["bad_ref", "bad_ref", "bad_ref"]


CONTENT = {
    "entities": [{"name": "Mira"}, {"name": "Ivo"}],
    "facts": [{"source": 0, "target": 1, "relation": "KNOWS", "text": "Mira knows Ivo"}],
}
PLAIN = json.dumps(CONTENT)
RENAMED = {
    "extracted_entities": [{"entity_name": "Mira"}, {"entity_name": "Ivo"}],
    "edges": [{"source_entity": "Mira", "target_entity": "Ivo", "relation_type": "KNOWS", "fact": "Mira knows Ivo"}],
}
SHAPES = {
    "object": CONTENT,
    "plain": PLAIN,
    "fenced": f"```json\n{PLAIN}\n```",
    "prose around": f"Sure {{here}} it is: {PLAIN} Anything else?",
    "reasoning before": f'<think>{{"entities": []}}</think>{PLAIN}',
    "renamed": json.dumps(RENAMED),
    "wrapped": json.dumps({"result": CONTENT}),
    "wrapped in properties": json.dumps({"properties": CONTENT}),
    "a string": json.dumps(PLAIN),
    "trailing commas": PLAIN.replace("]", ",]").replace('"}', '",}'),
    "single quotes": str(CONTENT),
    "byte order mark": "\ufeff" + PLAIN,
    "two objects": PLAIN + json.dumps({"entities": [], "facts": []}),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_c21_every_shape_of_an_answer_gives_the_same_graph(kit, shape):
    """What is around the JSON, and how its keys are spelled, does not matter."""
    bench = kit.Bench(extract=SHAPES[shape])
    draft = bench.draft(bench.episode("Mira knows Ivo"))
    assert [m.name for m in draft.mentions] == ["Mira", "Ivo"]
    assert [(a.relation, a.text) for a in draft.assertions] == [("KNOWS", "Mira knows Ivo")]
    assert bench.asked("extract") == 1


@pytest.mark.parametrize("answer", [[{"name": "Mira"}, {"name": "Ivo"}], ["Mira", "Ivo"], '[{"name": "Mira"}, {"name": "Ivo"}]'])
def test_c21_a_bare_list_gives_the_entities_and_says_that_facts_are_missing(kit, answer):
    """The names are kept; the missing facts are a warning, not another call."""
    bench = kit.Bench(extract=lambda ask: answer)
    draft = bench.draft(bench.episode("Mira knows Ivo"))
    assert [m.name for m in draft.mentions] == ["Mira", "Ivo"]
    assert codes(draft) == ["no_facts"]
    assert bench.asked("extract") == 1


@pytest.mark.parametrize("bad", ["{}", "", '{"$defs": {}, "properties": {"entities": {"type": "array"}}}', "I cannot help with that."])
def test_c22_an_unusable_answer_is_asked_for_once_more(kit, bad):
    """The second question shows what was wrong with the first answer."""
    bench = kit.Bench(extract=[bad, PLAIN])
    draft = bench.draft(bench.episode("Mira knows Ivo"))
    assert len(draft.assertions) == 1
    repair = bench.model.asks[1].payload["repair"]
    assert repair["answer"] == bad
    assert "entities" in repair["error"]
    bench.model.done()


def test_c22_after_a_second_unusable_answer_the_episode_is_kept_with_what_is_certain(kit):
    """No third call is made; the speaker is known, the rest is told."""
    bench = kit.Bench(extract=lambda ask: '{"entities": [{"na')
    draft = bench.add("Mira knows Ivo", "Dario")
    assert bench.asked("extract") == 2
    assert (codes(draft), draft.warnings[0].raw) == (["unreadable"], '{"entities": [{"na')
    assert (bench.names(), draft.assertions) == (["Dario"], ())


def test_c22_a_refusal_is_no_answer_and_is_not_asked_again(kit):
    """Refused, filtered or cut: the episode is kept, names and facts of others are as they were."""
    refused = Answer(None, failure=AnswerRefused("the model declines"))
    known = kit.said(("Mira Tallis", "Person"), "tea", facts=[kit.fact("Mira Tallis", "tea", "LIKES")])
    near = kit.said(("Mira Talis", "Person"), "coffee", facts=[kit.fact("Mira Talis", "coffee", "LIKES")])
    bench = kit.Bench(extract=[known, refused, near, known], resolve=refused, judge=refused)
    bench.add("Mira Tallis likes tea")
    assert codes(bench.add("Something that the model does not like", "Ivo")) == ["unreadable"]
    assert codes(bench.add("Mira Talis likes coffee")) == ["unreadable"]
    assert codes(bench.add("Mira Tallis likes tea again")) == []
    assert bench.names() == ["Ivo", "Mira Talis", "Mira Tallis", "coffee", "tea"]
    assert bench.asked("extract") == 4


def test_c22_one_repair_an_episode(kit):
    """Of a long text with two unreadable answers, one is asked for again; the other pieces count."""
    replies = iter(["junk", kit.said("Ada"), "junk", kit.said("Bo")])
    bench = kit.Bench(extract=lambda ask: kit.said("Mira") if "repair" in ask.payload else next(replies))
    bench.options = Options(chunk_tokens=20)
    draft = bench.add("First there is Mira here now. Then there is Ada here now. Then there is Ivo here now. Then there is Bo here now.")
    assert [a.payload["offset"] for a in bench.model.asks if "repair" in a.payload] == [0]
    assert sorted(codes(draft)) == ["repaired", "unreadable"]
    assert bench.names() == ["Ada", "Bo", "Mira"]


def test_a_fact_of_another_kind_keeps_it(kit):
    """Ends and denials, and the word "still", are read."""
    rows = [
        kit.fact(0, 1, kind="ends"),
        kit.fact(0, 1, "LEFT", kind="denies"),
        kit.fact(0, 1, "RENTS", still=True),
        kit.fact(0, 1, "X", kind="?"),
    ]
    bench = kit.Bench(extract=kit.said("Mira", "Acme", facts=rows))
    draft = bench.draft(bench.episode("Mira left Acme"))
    assert [a.kind for a in draft.assertions] == [AssertionKind.ENDS, AssertionKind.DENIES, AssertionKind.HOLDS, AssertionKind.HOLDS]
    assert [a.still for a in draft.assertions] == [False, False, True, False]
    assert codes(draft) == ["bad_kind"]


def test_facts_in_every_language_are_kept_letter_for_letter(kit):
    """Sentences are stored as the model gave them."""
    texts = ["ミラは東京に住んでいる", "米拉住在东京", "ميرا تعيش في طوكيو", "nul \x00 and \ud800"]
    bench = kit.Bench(extract=kit.said("Mira", "東京", facts=[kit.fact(0, 1, text=t) for t in texts]))
    draft = bench.draft(bench.episode("東京"))
    assert [a.text for a in draft.assertions] == texts


def test_mentions_know_where_the_name_stands(kit):
    """The span is found where the model gives none or a wrong one."""
    rows = [{"name": "Mira", "span": [0, 4]}, {"name": "Ivo", "span": [0, 3]}, {"name": "Rosa"}]
    bench = kit.Bench(extract={"entities": rows, "facts": []})
    draft = bench.draft(bench.episode("Mira knows Ivo"))
    assert [m.span for m in draft.mentions] == [(0, 4), (11, 14), None]


@pytest.mark.parametrize(("actor", "who"), [("Mira", "Mira"), ("user", "user"), ("assistant", "user")])
def test_the_user_is_who_speaks_but_not_an_assistant(kit, actor, who):
    """ "The user lives in Lisbon", found in an assistant's answer, is about the one it answers."""
    bench = kit.Bench(extract=kit.said(("user", "Person"), ("Lisbon", "City"), facts=[kit.fact(0, 1, "LIVES_IN")]))
    draft = bench.draft(bench.episode("Lisbon, where you live, is sunny.", actor))
    [fact] = draft.assertions
    assert {m.name for m in draft.mentions if m.entity == fact.source} == {who}
