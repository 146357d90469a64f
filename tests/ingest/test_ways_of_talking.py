"""How people talk: "my dad", "a bowl" and then "the bowl", "three years ago"."""

from __future__ import annotations

import pytest

from graphmem.model import Span


def test_what_two_people_call_mine_is_two_things(kit):
    """Each has a dad; the words are the same, the name that is kept says whose he is, and where he stands in the text."""
    bench = kit.Bench(
        extract=[
            kit.said(("Mira", "Person"), ("my dad", "Person"), facts=[kit.fact("Mira", "my dad", "RIDES_WITH")]),
            kit.said(("Tom", "Person"), ("My dad", "Person"), facts=[kit.fact("My dad", "Tom", "VISITED")]),
            kit.said(("Mira", "Person"), ("Mira's dad", "Person"), facts=[kit.fact("my dad", "Mira", "CALLED")]),
        ],
        judge={"judgements": []},
    )
    first = bench.add("I ride with my dad.", "Mira")
    bench.add("My dad came by.", "Tom")
    bench.add("Dad called, my dad I mean.", "Mira")
    assert bench.names() == ["Mira", "Mira's dad", "Tom", "Tom's dad"]
    assert [m.span for m in first.mentions if m.name == "Mira's dad"] == [Span(12, 18)]
    assert len(bench.facts()) == 3


@pytest.mark.parametrize("name", ["My Fair Lady", "Mysore", "Myra Tallis", "my"])
def test_a_name_that_only_begins_like_mine_is_kept(kit, name):
    """A title, a city, a person; and "my" alone is the speaker."""
    bench = kit.Bench(extract=kit.said(("Mira", "Person"), name, facts=[kit.fact("Mira", name, "LIKES")]))
    draft = bench.draft(bench.episode(f"I like {name}.", "Mira"))
    assert [m.name for m in draft.mentions] == (["Mira"] if name == "my" else ["Mira", name])


def test_in_a_text_of_nobody_mine_stays_as_it_is(kit):
    """Whose it is cannot be told."""
    bench = kit.Bench(extract=kit.said("my dad", "Acme", facts=[kit.fact(0, 1, "WORKS_AT")]))
    assert {m.name for m in bench.draft(bench.episode("my dad works at Acme")).mentions} == {"my dad", "Acme"}


def test_the_bowl_is_the_bowl_that_a_bowl_told_of(kit):
    """Within one text; both names lead to it from then on, and nobody is asked."""
    names = ("Mira", "Person"), "a painted bowl", "the painted bowl", "the Ballet", "Ballet"
    facts = [
        kit.fact("Mira", "a painted bowl", "OWNS"),
        kit.fact("Tom Ruiz", "the painted bowl", "MADE"),
        kit.fact("Mira", "Ballet", "LIKES"),
    ]
    bench = kit.Bench(extract=kit.said(*names, ("Tom Ruiz", "Person"), facts=facts))
    draft = bench.add("I have a painted bowl. Tom Ruiz made the painted bowl. I like the Ballet.", "Mira")
    assert bench.names() == ["Mira", "Tom Ruiz", "a painted bowl", "the Ballet"]
    assert draft.assertions[0].target == draft.assertions[1].target
    assert bench.asked("resolve") == 0


def test_the_parade_of_another_day_is_for_the_model_to_tell(kit):
    """Between texts an article may tell two things apart."""
    bench = kit.Bench(
        extract=[kit.said("a pride parade"), kit.said("the pride parade")], resolve={"matches": [{"new": 0, "existing": None}]}
    )
    bench.add("There was a pride parade.", "Mira")
    bench.add("I missed the pride parade.", "Mira")
    assert bench.asked("resolve") == 1
    assert bench.names() == ["Mira", "a pride parade", "the pride parade"]


@pytest.mark.parametrize(
    ("raw", "first", "last"),
    [
        pytest.param("three years ago", "2020-01-01", "2021-01-01", marks=pytest.mark.local),
        pytest.param("about two weeks ago", "2023-05-22", "2023-05-29", marks=pytest.mark.local),
        pytest.param("on 8 May 2023", "2023-05-08", "2023-05-09", marks=pytest.mark.local),
        ("since 2019", "2019-01-01", "2020-01-01"),
        ("in March", "2023-03-01", "2023-04-01"),
        pytest.param("for five years", "2018-01-01", "2019-01-01", marks=pytest.mark.local),
        pytest.param("in two weeks", "2023-06-19", "2023-06-26", marks=pytest.mark.local),
    ],
)
def test_a_date_as_it_was_said_is_read_whole(kit, raw, first, last):
    """Models give dates as they stand in the text, with the small words around them."""
    bench = kit.Bench(extract=kit.said("Mira", "Acme", facts=[kit.fact(0, 1, "WORKS_AT", valid_at=raw)]))
    draft = bench.draft(bench.episode("I told you.", "Mira", at="2023-06-09T12:00:00+00:00"))
    start = draft.assertions[0].start
    assert (start.first.date().isoformat(), start.last.date().isoformat()) == (first, last)
    assert draft.warnings == ()


@pytest.mark.parametrize(
    "raw", ["2019 or 2020", "from 2019 to 2021", "when she was three", "since age 17", "once in two years", "since", "before 2019"]
)
def test_a_phrase_that_says_more_than_a_date_is_none(kit, raw):
    """It counts as absent, and is told."""
    bench = kit.Bench(extract=kit.said("Mira", "Acme", facts=[kit.fact(0, 1, "WORKS_AT", valid_at=raw)]))
    draft = bench.draft(bench.episode("I told you.", "Mira", at="2023-06-09T12:00:00+00:00"))
    assert draft.assertions[0].start is None
    assert [w.code for w in draft.warnings] == ["bad_date"]


@pytest.mark.local
def test_for_so_long_is_no_end(kit):
    """It says when something began."""
    bench = kit.Bench(extract=kit.said("Mira", "Tom", facts=[kit.fact(0, 1, "DATING", invalid_at="for five years")]))
    draft = bench.draft(bench.episode("I told you.", "Mira", at="2023-06-09T12:00:00+00:00"))
    assert draft.assertions[0].end is None
