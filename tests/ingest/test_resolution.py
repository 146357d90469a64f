"""Who is who: names against names, one question for what names leave open."""

from __future__ import annotations

import pytest

from graphmem.ingest.flow import Options
from graphmem.runtime import content_id

TWINS = [
    "Orion Labs",
    "orion labs",
    "ORION\u00a0LABS",
    "\uff2f\uff52\uff49\uff4f\uff4e\u3000\uff2c\uff41\uff42\uff53",
    "Orion\u200b Labs",
    "  Orion   Labs ",
    "Orion Labs.",
]
DISTINCT = [
    "C",
    "C++",
    "C#",
    "KV-2210",
    "KV-2212",
    "Цех 7",
    "Склад 7",
    "京都, Japan",
    "奈良, Japan",
    "한도윤",
    "한도진",
    "🙂",
    "🙃",
    "Halvik Sr.",
    "Halvik Jr.",
]


def codes(draft):
    return [w.code for w in draft.warnings]


def test_c12_spellings_of_one_name_are_one_entity_without_a_question(kit):
    """Case, width, spaces and invisible characters do not make another name."""
    bench = kit.Bench(extract=[kit.said((name, "Org")) for name in TWINS])
    for name in TWINS:
        bench.add(f"{name} grows")
    assert bench.names() == ["Orion Labs"]


@pytest.mark.parametrize("pair", [("Zoe\u0308", "Zoë"), ("ﬁnlay", "finlay"), ("Straße", "STRASSE"), ("ｶﾞﾙﾀﾞ", "ガルダ"), ("محمــد", "محمد")])
def test_c12_the_same_holds_in_every_script(kit, pair):
    """Composed and decomposed, ligatures, widths, tatweel."""
    bench = kit.Bench(extract=[kit.said(name) for name in pair])
    for name in pair:
        bench.add(name)
    assert len(bench.entities()) == 1


def test_c13_names_that_only_look_alike_stay_apart(kit):
    """Fifteen names, fifteen entities; the model says no to all."""
    bench = kit.Bench(
        extract=[kit.said((name, "Thing")) for name in DISTINCT], resolve=lambda ask: {"matches": [{"new": 0, "existing": None}]}
    )
    for name in DISTINCT:
        bench.add(f"about {name}")
    assert bench.names() == sorted(DISTINCT)


@pytest.mark.parametrize(
    "pair", [("Planning Committee Phase 1", "Planning Committee Phase 2"), ("Halvik Trading House Sr.", "Halvik Trading House Jr.")]
)
def test_long_names_that_differ_in_a_number_or_generation_are_not_merged(kit, pair):
    """Nor is the model asked about them for their spelling."""
    bench = kit.Bench(extract=[kit.said((name, "Org")) for name in pair])
    bench.embedder = None
    for name in pair:
        draft = bench.draft(bench.episode(name))
    assert draft.reasons[draft.mentions[0].entity] == "new"


def test_c14_an_exact_name_needs_no_vectors(kit):
    """Four episodes of one odd name are one entity, without a question."""
    bench = kit.Bench(extract=kit.said("QDRL"))
    for _ in range(4):
        bench.add("QDRL again")
    assert bench.names() == ["QDRL"]


def test_c16_a_nickname_becomes_another_name_and_is_known_from_then_on(kit):
    """The name stays; the second time nobody is asked."""
    full, short = kit.said(("Beatriz Nogueira", "Person")), kit.said(("Bea", "Person"))
    bench = kit.Bench(
        extract=[full, short, short],
        resolve=lambda ask: {"matches": [{"new": 0, "existing": ask.payload["new"][0]["candidates"][0]["id"]}]},
    )
    bench.add("Beatriz Nogueira sails")
    bench.add("Bea sails")
    bench.add("Bea sails again")
    (bea,) = bench.entities()
    assert (bea.name, bea.aliases) == ("Beatriz Nogueira", ("Bea",))
    assert bench.asked("resolve") == 1


def test_two_known_entities_of_one_name_are_asked_about(kit):
    """Never a silent pick: the model decides, or the likeliest is taken and told."""
    island, language = kit.said(("Java", "Island")), kit.said(("Java", "Language"))
    no, silence = {"matches": [{"new": 0, "existing": None}]}, {"matches": []}
    bench = kit.Bench(extract=[island, language, kit.said("Java"), kit.said("Java")], resolve=[no, silence, no])
    bench.add("Java is an island")
    bench.add("Java is a language")
    assert len(bench.entities()) == 2
    draft = bench.add("Java again")
    assert len(bench.model.asks[-1].payload["new"][0]["candidates"]) == 2
    assert codes(draft) == ["ambiguous_name"]
    assert next(e for e in bench.entities() if e.id == draft.mentions[0].entity).type == "Island"
    bench.add("another Java")
    assert len(bench.entities()) == 3


def test_all_undecided_names_of_an_episode_go_into_one_question(kit):
    """Three people with known first names: one ask."""
    full = ["Ana Prado", "Ivo Lund", "Rosa Weil"]
    bench = kit.Bench(
        extract=[kit.said(*((n, "Person") for n in full)), kit.said(*((n.split()[0], "Person") for n in full))], resolve={"matches": []}
    )
    bench.add("They met")
    bench.add("They met again")
    assert bench.asked("resolve") == 1
    assert len(bench.model.asks[-1].payload["new"]) == 3


def test_c24_many_undecided_names_go_in_batches(kit):
    """Ninety names, thirty a question, all questions at once."""
    words = [f"{chr(65 + i % 26)}{chr(97 + i // 26)}lo" for i in range(90)]
    full, first = [(f"{w} Tallis", "Person") for w in words], [(w, "Person") for w in words]
    bench = kit.Bench(extract=[kit.said(*full), kit.said(*first)], resolve={"matches": []})
    bench.options = Options(batch=30)
    bench.add("All of them")
    draft = bench.add("All of them again")
    assert bench.asked("resolve") == 3
    assert len({m.entity for m in draft.mentions}) == 90
    assert len(bench.entities()) == 90


def test_a_bare_first_name_is_the_only_person_of_that_name_when_nobody_can_be_asked(kit):
    """A model that says nothing leaves it to the rule."""
    bench = kit.Bench(extract=[kit.said(("Beatriz Nogueira", "Person")), kit.said(("Beatriz", "Person"))], resolve={"matches": []})
    bench.add("Beatriz Nogueira sails")
    draft = bench.add("Beatriz sails")
    assert bench.names() == ["Beatriz Nogueira"]
    assert "first name" in draft.reasons[draft.mentions[0].entity]


def test_of_namesakes_the_one_who_takes_part_is_meant(kit):
    """Two Anas are known; one of them writes in this session."""
    both = kit.said(("Ana Prado", "Person"), ("Ana Weil", "Person"))
    bench = kit.Bench(extract=[both, kit.said(), kit.said(("Ana", "Person"))], resolve={"matches": []})
    bench.add("Ana Prado and Ana Weil met")
    bench.add("I am here now", "Ana Weil", session="s1")
    draft = bench.add("Ana is right", "Ivo", session="s1")
    weil = next(e for e in bench.entities() if e.name == "Ana Weil")
    assert draft.mentions[0].entity == weil.id


def test_of_namesakes_nobody_is_picked_when_none_takes_part(kit):
    """Two Anas are known, neither is here: a new Ana."""
    bench = kit.Bench(
        extract=[kit.said(("Ana Prado", "Person"), ("Ana Weil", "Person")), kit.said(("Ana", "Person"))], resolve={"matches": []}
    )
    bench.add("Ana Prado and Ana Weil met")
    bench.add("Ana is right")
    assert bench.names() == ["Ana", "Ana Prado", "Ana Weil"]


def test_c20_unknown_repeated_and_missing_answers_make_new_entities(kit):
    """The first answer counts; what is not said is new; all is told."""

    def resolve(ask):
        first = ask.payload["new"][0]["candidates"][0]["id"]
        return {
            "matches": [
                {"new": 0, "existing": first},
                {"new": 0, "existing": None},
                {"new": 1, "existing": "en_unknown"},
                {"new": 9, "existing": first},
            ]
        }

    full = [("Ana Prado", "Person"), ("Ivo Lund", "Person"), ("Rosa Weil", "Person")]
    short = [("A. Prado", "Person"), ("I. Lund", "Person"), ("R. Weil", "Person")]
    bench = kit.Bench(extract=[kit.said(*full), kit.said(*short)], resolve=resolve)
    bench.add("They met")
    draft = bench.add("They met again")
    assert bench.names() == ["Ana Prado", "I. Lund", "Ivo Lund", "R. Weil", "Rosa Weil"]
    assert codes(draft) == ["repeated_answer", "unknown_id", "bad_ref", "no_answer"]


def test_c19_two_names_of_one_entity_make_no_fact_between_them(kit):
    """The loop is dropped and told."""
    bench = kit.Bench(
        extract=[kit.said(("Mira Tallis", "Person")), kit.said(("Mira Tallis", "Person"), ("M. Tallis", "Person"), facts=[kit.fact(0, 1)])],
        resolve=lambda ask: {"matches": [{"new": 0, "existing": ask.payload["new"][0]["candidates"][0]["id"]}]},
    )
    bench.add("Mira Tallis rows")
    draft = bench.add("Mira Tallis, or M. Tallis")
    assert draft.assertions == ()
    assert codes(draft) == ["self_loop"]


def test_the_same_name_twice_in_an_episode_is_one_entity_of_the_more_specific_type(kit):
    """Types are adopted, aliases joined."""
    rows = [{"name": "Acme"}, {"name": "ACME", "type": "Company", "aliases": ["Acme Works", "my firm"]}]
    bench = kit.Bench(extract={"entities": rows, "facts": []})
    draft = bench.add("Acme, the company")
    (acme,) = bench.entities()
    assert (acme.name, acme.type, acme.aliases) == ("Acme", "Company", ("Acme Works",))
    assert codes(draft) == ["junk_alias"]


def test_a_text_that_gives_two_known_names_to_one_thing_links_them(kit):
    """ "Bea is Beatriz": both are known as two, this text says they are one."""
    apart = kit.said(("Bea", "Person"), ("Beatriz Nogueira", "Person"))
    together = {"entities": [{"name": "Beatriz Nogueira", "type": "Person", "aliases": ["Bea"]}], "facts": []}
    bench = kit.Bench(extract=[apart, together])
    bench.add("Bea met Beatriz Nogueira")
    draft = bench.add("Beatriz Nogueira is called Bea")
    assert len(draft.links) == 1
    assert bench.names() in (["Bea"], ["Beatriz Nogueira"])


def test_long_names_with_one_letter_missing_are_one_company(kit):
    """A misspelt long name needs no model; a company's legal form neither."""
    spelled = ["Halvik Rowing Association", "Halvik Rowing Asociation", "Halvik Rowing Association Ltd."]
    bench = kit.Bench(extract=[kit.said((name, "Company")) for name in spelled])
    for name in spelled:
        bench.add(name)
    assert bench.names() == ["Halvik Rowing Association"]


def test_a_value_is_itself_everywhere(kit):
    """Values are matched by their form alone, and never asked about."""
    bench = kit.Bench(extract=[kit.said("Rent", {"name": 900, "type": "Value"}), kit.said("Fee", ("900", "Value"), ("-900", "Value"))])
    bench.add("The rent is 900")
    draft = bench.add("The fee is 900, not -900")
    assert draft.mentions[1].entity == content_id("en", "main", "value", "900")
    assert bench.names() == ["-900", "900", "Fee", "Rent"]


def test_the_same_snapshot_and_answers_give_the_same_draft(kit):
    """Deciding twice changes nothing: it may be done again under the lock."""
    bench = kit.Bench(
        extract=[kit.said(("Ana Prado", "Person"))] + [kit.said(("Ana", "Person"), "Ivo", facts=[kit.fact(0, 1)])] * 2,
        resolve={"matches": []},
    )
    bench.add("Ana Prado")
    episode = bench.episode("Ana knows Ivo")
    assert bench.draft(episode) == bench.draft(episode)


def test_a_text_does_not_make_one_of_two_known_things_with_other_names(kit):
    """Neither by an alias nor by a pair, nor by way of a third name; a user's merge does that."""
    apart = kit.said(("Mira", "Person"), ("Ivo", "Person"))
    alias = {"entities": [{"name": "Mira", "type": "Person", "aliases": ["Ivo"]}], "facts": []}
    pair = {**kit.said(("Mira", "Person"), ("Ivo", "Person")), "links": [["Mira", "Ivo"]]}
    third = {**kit.said(("Mira", "Person"), ("Ivo", "Person"), "Zed"), "links": [["Zed", "Mira"], ["Zed", "Ivo"]]}
    bench = kit.Bench(extract=[apart, alias, pair, third])
    bench.add("Mira met Ivo")
    for refused in (["link_refused", "alias_refused"], ["link_refused"], ["link_refused", "link_refused"]):
        draft = bench.add("Mira and Ivo are one")
        assert (draft.links, codes(draft)) == ((), refused)
    assert sorted((e.name, e.aliases) for e in bench.entities()) == [("Ivo", ()), ("Mira", ()), ("Zed", ())]


def test_a_speaker_is_nobody_else(kit):
    """Whoever says to be Mira stays who they are, and Mira does not take their name; a nickname of one's own is fine."""
    claims = {"entities": [{"name": "Mallory", "aliases": ["Mira"]}, {"name": "Mira", "aliases": ["Mallory"]}], "facts": []}
    longer = {"entities": [{"name": "Bea", "type": "Person", "aliases": ["Beatriz"]}], "facts": []}
    bench = kit.Bench(extract=[kit.said(("Mira", "Person"), ("Beatriz", "Person")), claims, longer])
    bench.add("Mira met Beatriz")
    assert "alias_refused" in codes(bench.add("I am Mira", "Mallory"))
    bench.add("I am Beatriz", "Bea")
    assert sorted((e.name, e.aliases) for e in bench.entities()) == [("Beatriz", ("Bea",)), ("Mallory", ()), ("Mira", ())]


def test_another_name_of_a_known_thing_is_learnt_from_a_text(kit):
    """Of somebody who neither speaks nor is known under it."""
    slim = {"entities": [{"name": "Slim", "type": "Person", "aliases": ["Rodrigo"]}], "facts": []}
    bench = kit.Bench(extract=[kit.said(("Rodrigo", "Person")), slim])
    bench.add("Rodrigo is here")
    bench.add("Slim, that is Rodrigo, is here", "Mira")
    assert bench.names() == ["Mira", "Rodrigo"]
