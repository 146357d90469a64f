"""Repeats and contradictions: rules, one question, and what is refused."""

from __future__ import annotations

import pytest

from graphmem.ingest.flow import Options


def codes(draft):
    return [w.code for w in draft.warnings]


def likes(kit, *things, relation="LIKES"):
    return kit.said(("Mira", "Person"), *things, facts=[kit.fact("Mira", t, relation, f"Mira {relation.lower()} {t}") for t in things])


def first_contradicts(*, everything=False):
    """A judge who says that the new fact contradicts the first candidate, or all of them."""

    def judge(ask):
        candidates = ask.payload["new"][0]["candidates"]
        return {"judgements": [{"new": 0, "duplicates": [], "contradicts": candidates if everything else candidates[:1]}]}

    return judge


def test_a_single_valued_relation_needs_no_judge(kit):
    """What excludes itself by the ontology is left to the fold."""
    answers = [kit.said(("Mira", "Person"), (org, "Company"), facts=[kit.fact(0, 1, "WORKS_AT")]) for org in ("Acme", "Globex")]
    bench = kit.Bench(extract=answers)
    bench.add("Mira works at Acme")
    draft = bench.add("Mira works at Globex")
    assert draft.assertions[0].excludes == ()
    assert [f.valid.end is None for f in bench.facts()] == [False, True]


def test_a_verbatim_repeat_asks_nobody(kit):
    """The same sentence again is the same fact."""
    bench = kit.Bench(extract=likes(kit, "jazz"))
    bench.add("Mira likes jazz")
    draft = bench.add("Mira likes jazz")
    assert (draft.assertions[0].same_as, draft.assertions[0].excludes) == (None, ())
    assert len(bench.facts()) == 1


def test_opposite_relations_contradict_by_rule(kit):
    """Likes and dislikes of one thing need no model; the earlier one ends."""
    bench = kit.Bench(extract=[likes(kit, "jazz"), likes(kit, "jazz", relation="DISLIKES")])
    one = bench.add("Mira likes jazz")
    other = bench.add("Mira dislikes jazz")
    assert other.assertions[0].excludes == (one.assertions[0].id,)
    assert other.reasons[other.assertions[0].id].startswith("rule")
    assert [(f.relation, f.valid.end is None) for f in bench.facts()] == [("LIKES", False), ("DISLIKES", True)]


def rent(kit, amount):
    return kit.said(("Mira", "Person"), "the Loft", facts=[kit.fact(0, 1, "RENTS", f"Mira rents the Loft for {amount}")])


def test_the_same_sentence_with_another_number_contradicts_by_rule(kit):
    """Rent 900, then 1,000: two stretches of one triple."""
    bench = kit.Bench(extract=[rent(kit, "900"), rent(kit, "1,000"), rent(kit, "1,000")])
    bench.add("for 900")
    bench.add("for 1,000")
    assert [(f.text[-5:], f.valid.end is None) for f in bench.facts()] == [("r 900", False), ("1,000", True)]
    draft = bench.add("for 1,000 again")
    assert draft.assertions[0].same_as is not None
    assert len(draft.assertions[0].excludes) == 1
    assert [(f.text[-5:], f.valid.end is None) for f in bench.facts()] == [("r 900", False), ("1,000", True)]


def test_two_contradicting_facts_of_one_episode_are_seen(kit):
    """The facts of an episode are compared with each other too."""
    both = kit.said(("Mira", "Person"), "jazz", facts=[kit.fact(0, 1, "LIKES"), kit.fact(0, 1, "DISLIKES")])
    bench = kit.Bench(extract=both)
    draft = bench.add("Mira liked jazz and now dislikes it")
    assert draft.assertions[1].excludes == (draft.assertions[0].id,)


def test_the_judge_sees_names_dates_and_status(kit):
    """One question holds the new fact and what it may contradict, ended facts too."""
    dated = kit.said(("Mira", "Person"), "jazz", facts=[kit.fact(0, 1, "LIKES", "Mira likes jazz", valid_at="2019", invalid_at="2020-05")])
    bench = kit.Bench(extract=[dated, likes(kit, "opera", "blues")], judge={"judgements": []})
    bench.add("Mira liked jazz")
    bench.add("Mira likes opera and blues")
    assert bench.asked("judge") == 1
    (known,) = bench.model.asks[-1].payload["facts"][:1]
    assert {k: known[k] for k in ("source", "target", "text", "valid_at", "invalid_at", "status")} == {
        "source": "Mira", "target": "jazz", "text": "Mira likes jazz", "valid_at": "2019", "invalid_at": "2020-05", "status": "ended",
    }  # fmt: skip
    assert [n["text"] for n in bench.model.asks[-1].payload["new"]] == ["Mira likes opera", "Mira likes blues"]


def test_c10_a_judged_contradiction_that_passes_the_gate_ends_the_fact(kit):
    """Same relation and source: the earlier fact ends at the new start, and the reason is kept."""
    bench = kit.Bench(extract=[likes(kit, "jazz"), likes(kit, "opera")], judge=first_contradicts())
    one = bench.add("Mira likes jazz")
    other = bench.add("Mira likes opera instead")
    assert other.assertions[0].excludes == (one.assertions[0].id,)
    assert "model: contradicts Mira likes jazz" in other.reasons[other.assertions[0].id]
    assert [f.valid.end is None for f in bench.facts()] == [False, True]


def test_c10_unrelated_facts_are_never_offered_to_the_judge(kit):
    """Owning a budget says nothing about working somewhere: no question at all."""
    works = kit.said(("Mira", "Person"), ("Quillon", "Company"), facts=[kit.fact(0, 1, "WORKS_AT")])
    owns = kit.said(("Mira", "Person"), "Quillon canteen", facts=[kit.fact(0, 1, "OWNS_BUDGET_OF")])
    bench = kit.Bench(extract=[works, owns], resolve={"matches": []})
    bench.add("Mira works at Quillon")
    bench.add("Mira owns the budget of the Quillon canteen")
    assert bench.asked("judge") == 0
    assert all(f.valid.end is None for f in bench.facts())


def test_c10_a_contradiction_that_fails_the_gate_is_refused_with_both_ids(kit):
    """The judge names another fact of the question, which is about other things."""

    def judge(ask):
        wrong = next(f["id"] for f in ask.payload["facts"] if f["text"] == "Ivo likes tea")
        return {"judgements": [{"new": 0, "contradicts": [wrong]}]}

    two = kit.said(
        ("Mira", "Person"),
        ("Ivo", "Person"),
        "jazz",
        "tea",
        facts=[kit.fact(0, 2, "LIKES", "Mira likes jazz"), kit.fact(1, 3, "LIKES", "Ivo likes tea")],
    )
    more = kit.said(
        ("Mira", "Person"),
        ("Ivo", "Person"),
        "opera",
        "milk",
        facts=[kit.fact(0, 2, "LIKES", "Mira likes opera"), kit.fact(1, 3, "LIKES", "Ivo likes milk")],
    )
    bench = kit.Bench(extract=[two, more], judge=judge)
    bench.add("Mira likes jazz, Ivo tea")
    draft = bench.add("Mira likes opera, Ivo milk")
    assert codes(draft) == ["contradiction_refused"]
    assert draft.warnings[0].raw[0] == draft.assertions[0].id
    assert draft.assertions[0].excludes == ()


def test_c11_a_judge_who_names_more_than_three_facts_ends_none(kit):
    """The cap: nothing is recorded, and it says so."""
    bench = kit.Bench(extract=[likes(kit, "a1", "b1", "c1", "d1"), likes(kit, "opera")], judge=first_contradicts(everything=True))
    bench.add("Mira likes four things")
    draft = bench.add("Mira likes opera")
    assert draft.assertions[0].excludes == ()
    assert codes(draft) == ["contradiction_cap"]
    assert all(f.valid.end is None for f in bench.facts())


def test_c11_a_higher_cap_lets_them_pass(kit):
    """The cap is the caller's choice."""
    bench = kit.Bench(extract=[likes(kit, "a1", "b1", "c1", "d1"), likes(kit, "opera")], judge=first_contradicts(everything=True))
    bench.options = Options(contradiction_cap=10)
    bench.add("Mira likes four things")
    assert len(bench.add("Mira likes opera").assertions[0].excludes) == 4


@pytest.mark.parametrize("junk", ["f999", -1, None, 3.5, {"id": 1}])
def test_c11_ids_that_name_no_fact_are_told_and_ignored(kit, junk):
    """The rest of the answer counts."""

    def judge(ask):
        return {"duplicates": [], "contradicts": [junk, ask.payload["new"][0]["candidates"][0]]}

    bench = kit.Bench(extract=[likes(kit, "jazz"), likes(kit, "opera")], judge=judge)
    bench.add("Mira likes jazz")
    draft = bench.add("Mira likes opera")
    assert codes(draft) == ["unknown_id"]
    assert len(draft.assertions[0].excludes) == 1


def test_c11_a_duplicate_beats_a_contradiction(kit):
    """A fact named as both is repeated, not contradicted."""

    def judge(ask):
        (known,) = ask.payload["new"][0]["candidates"]
        return {"judgements": [{"new": 0, "duplicates": [known], "contradicts": [known]}]}

    one = kit.said("Mira", "Ivo", facts=[kit.fact(0, 1, "KNOWS", "Mira knows Ivo")])
    other = kit.said("Mira", "Ivo", facts=[kit.fact(0, 1, "ACQUAINTED_WITH", "Mira is acquainted with Ivo")])
    bench = kit.Bench(extract=[one, other], judge=judge)
    first = bench.add("Mira knows Ivo")
    draft = bench.add("Mira is acquainted with Ivo")
    assert draft.assertions[0].same_as == first.assertions[0].id
    assert draft.assertions[0].excludes == ()
    assert len(bench.facts()) == 1


def test_a_duplicate_of_other_things_is_refused(kit):
    """A repeat joins the same two entities."""

    def judge(ask):
        return {"judgements": [{"new": 0, "duplicates": ask.payload["new"][0]["candidates"]}]}

    bench = kit.Bench(extract=[likes(kit, "jazz"), likes(kit, "opera")], judge=judge)
    bench.add("Mira likes jazz")
    draft = bench.add("Mira likes opera")
    assert draft.assertions[0].same_as is None
    assert codes(draft) == ["duplicate_refused"]


@pytest.mark.parametrize("answer", ["", "no idea", "{}", '{"judgements": null}', [[]], {"judgements": [1, None, {"new": 7}]}])
def test_an_unreadable_judgement_decides_nothing(kit, answer):
    """Nothing is ended by noise."""
    bench = kit.Bench(extract=[likes(kit, "jazz"), likes(kit, "opera")], judge=lambda ask: answer)
    bench.add("Mira likes jazz")
    draft = bench.add("Mira likes opera")
    assert (draft.assertions[0].same_as, draft.assertions[0].excludes) == (None, ())


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)])
def test_c07_the_order_of_arrival_does_not_matter(kit, order):
    """Three homes, judged to contradict each other, in every order."""
    homes = [("Ghent", "2023-02-01"), ("Turin", "2024-06-01"), ("Porto", "2025-04-01")]
    answers = [
        kit.said(("Dario", "Person"), (h, "City"), facts=[kit.fact(0, 1, "LIVES_IN", f"Dario lives in {h}", valid_at=d)]) for h, d in homes
    ]
    bench = kit.Bench(extract=[answers[i] for i in order], judge=first_contradicts(everything=True))
    for i in order:
        bench.add(f"Dario lives in {homes[i][0]}")
    spans = [(f.text.split()[-1], str(f.valid.start.date()), f.valid.end and str(f.valid.end.date())) for f in bench.facts()]
    assert spans == [("Ghent", "2023-02-01", "2024-06-01"), ("Turin", "2024-06-01", "2025-04-01"), ("Porto", "2025-04-01", None)]


def test_a_fact_against_its_declared_direction_is_told_and_kept(kit):
    """A company does not work at a person; nothing is turned around silently."""
    bench = kit.Bench(extract=kit.said(("Acme", "Company"), ("Mira", "Person"), facts=[kit.fact(0, 1, "works at")]))
    draft = bench.draft(bench.episode("Acme works at Mira"))
    assert draft.assertions[0].relation == "WORKS_AT"
    assert codes(draft) == ["wrong_direction"]


def test_i9_an_ordinary_episode_costs_three_calls_at_most(kit):
    """One to extract, one to resolve, one to judge."""
    bench = kit.Bench(extract=[likes(kit, "jazz"), likes(kit, "jazz club", "opera")], resolve={"matches": []}, judge={"judgements": []})
    bench.add("Mira likes jazz")
    before = len(bench.model.asks)
    bench.add("Mira likes the jazz club and opera")
    assert len(bench.model.asks) - before <= 3
