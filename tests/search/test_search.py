"""Searching a small world: what is found, why, and what is kept out."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphmem.interval import Interval
from graphmem.model import AsOf, EntityVersion, Episode, FactVersion
from graphmem.search.features import FEATURES
from graphmem.search.hits import Filters, SearchResult
from graphmem.search.legs import Scope, named_entities
from graphmem.search.rank import trained_weights
from graphmem.search.searcher import KINDS
from graphmem.stores.base import Kind

if TYPE_CHECKING:
    from tests.search.conftest import World

NOW = datetime(2024, 7, 1, tzinfo=UTC)
EPISODES = (Kind.EPISODE,)
FACTS = (Kind.FACT,)
ENTITIES = (Kind.ENTITY,)


def texts(result: SearchResult) -> list[str]:
    return [hit.text for hit in result.hits]


def test_the_turn_that_answers_comes_first(town: World) -> None:
    """Words and meaning agree."""
    assert texts(town.search("Where did Mira move to?", kinds=EPISODES))[0].startswith("I moved to Lisbon")


def test_the_fact_that_answers_comes_first_with_its_episode(town: World) -> None:
    """A fact hit cites the episode that says it."""
    hit = town.search("where does Mira live?", kinds=FACTS).hits[0]
    assert hit.text == "Mira lives in Lisbon"
    assert hit.citations == ("ep_0001",)
    assert hit.dates[0] == datetime(2024, 3, 1, tzinfo=UTC)


def test_all_kinds_come_in_one_list_each_ranked_within_its_kind(town: World) -> None:
    """Facts first where ranks are equal, scores falling."""
    hits = town.search("where does Mira live?").hits
    assert [h.kind for h in hits[:2]] == [Kind.FACT, Kind.EPISODE]
    assert {h.kind for h in hits} == set(KINDS)
    assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)
    for kind in KINDS:
        assert [h.rank for h in hits if h.kind is kind] == list(range(1, sum(h.kind is kind for h in hits) + 1))


def test_a_fact_that_holds_no_more_is_found_in_history_alone(town: World) -> None:
    """The default read shows only what is true now."""
    now = texts(town.search("who works at Acme?", kinds=FACTS))
    ever = texts(town.search("who works at Acme?", kinds=FACTS, at=AsOf()))
    assert "Beatriz Nogueira works at Acme" not in now
    assert "Beatriz Nogueira works at Acme" in ever


def test_a_fact_is_found_as_of_the_time_it_held(town: World) -> None:
    """Valid time is asked inside the search."""
    assert "Beatriz Nogueira works at Acme" in texts(
        town.search("where does Bea work?", kinds=FACTS, at=AsOf(datetime(2020, 1, 1, tzinfo=UTC)))
    )


def test_an_alias_finds_the_entity_and_its_facts(town: World) -> None:
    """The nickname leads to the canonical name, and the graph leg to its facts."""
    result = town.search("Bea")
    assert result.hits[0].text == "Beatriz Nogueira (Person)"
    fact = next(h for h in result.hits if h.text == "Beatriz Nogueira works at Globex")
    assert any(r.leg == "graph" and r.path == ("Beatriz Nogueira", "Globex") for r in fact.reasons)


def test_hops_reach_episodes_that_share_no_word_with_the_question(town: World) -> None:
    """Mira knows Beatriz: at depth 1 the graph leg offers the turns that mention her, at depth 0 only those that mention Mira."""
    near = town.search("Mira", kinds=EPISODES, depth=0)
    far = town.search("Mira", kinds=EPISODES, depth=1)
    reached = {h.text: r.path for h in far.hits for r in h.reasons if r.leg == "graph"}
    assert "Before that she was at Acme for years." in reached
    assert reached["Before that she was at Acme for years."] == ("Mira", "Beatriz Nogueira")
    assert all(r.path == ("Mira",) for h in near.hits for r in h.reasons if r.leg == "graph")


def test_page_rank_weighs_what_is_reached(town: World) -> None:
    """The same candidates, other masses."""
    assert {h.id for h in town.search("Mira", pagerank=True).hits} == {h.id for h in town.search("Mira").hits}


def test_a_leg_that_has_nothing_to_offer_says_why(town: World) -> None:
    """No date, no known name."""
    abstained = town.search("zzz qqq", kinds=EPISODES).abstained
    assert abstained["time"] == "the question names no time"
    assert "names no known entity" in abstained["graph"]


def test_a_date_in_the_question_prefers_what_was_said_then(world: World) -> None:
    """It lifts turns of that time and filters nothing."""
    for month in range(1, 7):
        world.turn("We went to the lake again.", "Mira", at=datetime(2024, month, 10, tzinfo=UTC))
    hits = world.search("What did Mira do in April 2024?", kinds=EPISODES).hits
    assert isinstance(hits[0].item, Episode)
    assert hits[0].item.reference_time.month == 4
    assert len(hits) == 6


def test_the_answer_follows_the_question_it_answers(world: World) -> None:
    """A turn that shares no word with the query is found as the reply to one that does."""
    for n in range(30):
        world.turn(f"Something else entirely, number {n}.", "Jonas", session="s0")
    world.turn("What colour is your new bicycle?", "Jonas", session="s1")
    world.turn("Dark green, like the old one.", "Mira", session="s1")
    assert "Dark green, like the old one." in texts(world.search("colour of the new bicycle", kinds=EPISODES, limit=2))


def test_the_speaker_named_is_preferred(world: World) -> None:
    """Turns that name Mira are addressed to her; what she says of herself is hers."""
    for n in range(5):
        world.turn(f"Mira, tell me about the pottery class number {n}.", "Jonas")
    world.turn("The pottery class is on Mondays.", "Mira")
    assert texts(world.search("What about the pottery class of Mira?", kinds=EPISODES))[0] == "The pottery class is on Mondays."


def test_groups_are_isolated(world: World) -> None:
    """Nothing of another group, and nothing at all without one."""
    world.turn("Nadia grows pears", "Nadia", group="a")
    world.turn("Nadia rows at dawn", "Nadia", group="b")
    assert texts(world.search("Nadia", groups=("a",))) == ["Nadia grows pears"]
    assert set(texts(world.search("Nadia", groups=("a", "b")))) == {"Nadia grows pears", "Nadia rows at dawn"}
    assert world.search("Nadia", groups=()).hits == ()


@pytest.mark.parametrize("query", ["", "  \u2028 ", "\u200b"])
def test_an_empty_query_finds_nothing_that_crashes(town: World, query: str) -> None:
    """A blank query gives no hits and a warning; an invisible one at least no error."""
    result = town.search(query)
    assert result.hits == () or query == "\u200b"


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.text(alphabet=st.characters(), max_size=60))
def test_any_query_is_legal_and_its_result_reproducible(town: World, query: str) -> None:
    """Any text searches, twice alike."""
    assert town.search(query) == town.search(query)


def test_very_long_queries_are_cut_with_a_warning(town: World) -> None:
    """Ten thousand words still search."""
    result = town.search("Mira Lisbon " * 10_000)
    assert result.hits
    assert [w.code for w in result.warnings] == ["long_query"]


class TestFilters:
    """Every filter is applied before the limit."""

    def test_relations(self, town: World) -> None:
        """Only facts of that relation."""
        hits = town.search("Mira", kinds=FACTS, filters=Filters(relations=("KNOWS",))).hits
        assert {h.item.relation for h in hits if isinstance(h.item, FactVersion)} == {"KNOWS"}

    def test_types_of_entities_and_of_the_ends_of_facts(self, town: World) -> None:
        """Places, and facts about places."""
        places = town.search("Mira lives in Lisbon", kinds=ENTITIES, filters=Filters(types=("Place",))).hits
        assert {h.item.type for h in places if isinstance(h.item, EntityVersion)} == {"Place"}
        assert texts(town.search("Mira", kinds=FACTS, filters=Filters(types=("Place",)))) == ["Mira lives in Lisbon"]

    def test_valid_time(self, town: World) -> None:
        """Facts whose valid time overlaps the stretch asked for."""
        early = Interval(datetime(2019, 5, 1, tzinfo=UTC), datetime(2019, 6, 1, tzinfo=UTC))
        assert texts(town.search("Bea", kinds=FACTS, at=AsOf(), filters=Filters(valid=early))) == ["Beatriz Nogueira works at Acme"]

    def test_sessions_actors_and_reference_times(self, town: World) -> None:
        """Episodes of that session, said by that actor, at that time."""
        hits = town.search("Bea Acme Lisbon", kinds=EPISODES, filters=Filters(sessions=("s2",))).hits
        assert {h.item.session for h in hits if isinstance(h.item, Episode)} == {"s2"}
        hits = town.search("Bea Acme Lisbon", kinds=EPISODES, filters=Filters(actors=("Mira",))).hits
        assert {h.item.actor for h in hits if isinstance(h.item, Episode)} == {"Mira"}
        first = Interval(NOW - timedelta(days=1000), datetime(2024, 1, 1, 1, 30, tzinfo=UTC))
        assert len(town.search("Bea", kinds=EPISODES, filters=Filters(reference=first)).hits) == 1

    def test_facts_of_a_session_are_those_that_cite_it(self, town: World) -> None:
        """The filter on turns reaches facts through their citations."""
        assert set(texts(town.search("Mira Bea", kinds=FACTS, filters=Filters(sessions=("s1",))))) == {"Mira lives in Lisbon"}

    def test_attributes_are_found_however_rare_they_are(self, world: World) -> None:
        """One in a thousand passes: the search goes on until it is found."""
        for n in range(600):
            world.entity(f"Mira {n}", colour="red" if n == 599 else "blue")
        hits = world.search("Mira", kinds=ENTITIES, filters=Filters(attributes={"colour": "red"})).hits
        assert texts_of(hits) == ["Mira 599 (Person)"]


def texts_of(hits: object) -> list[str]:
    return [hit.text for hit in hits]  # type: ignore[attr-defined]


def test_values_are_no_hits(town: World) -> None:
    """A date that facts point at is no entity to show."""
    assert all("2023" not in t for t in texts(town.search("2023", kinds=ENTITIES)))


def test_the_longest_name_counts(world: World) -> None:
    """ "New York Times" is not the city; both are found where both stand."""
    for name in ("New York", "New York Times", "York"):
        world.entity(name, "Place")
    scope = Scope(world.read(), ("main",), AsOf(NOW))
    assert [e.name for e in named_entities(scope, "Who reads the New York Times in York?")] == ["New York Times", "York"]


def test_names_are_found_in_scripts_without_spaces(world: World) -> None:
    """A name inside a Chinese sentence."""
    world.entity("东京", "Place")
    assert [e.name for e in named_entities(Scope(world.read(), ("main",), AsOf(NOW)), "我住在东京吗")] == ["东京"]


def test_every_feature_has_a_trained_weight_and_is_shown(town: World) -> None:
    """A hit's score is its features times the weights."""
    hit = town.search("Where did Mira move to?", kinds=EPISODES).hits[0]
    assert set(hit.features) == set(FEATURES)
    assert hit.score == pytest.approx(sum(trained_weights()[name] * value for name, value in hit.features.items()))


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_a_smaller_limit_gives_the_beginning_of_a_larger_one(town: World, limit: int) -> None:
    """The order does not depend on how many are asked for."""
    assert [h.id for h in town.search("Mira", limit=limit).hits] == [h.id for h in town.search("Mira", limit=10).hits][:limit]


def test_in_a_crowd_hops_bring_up_a_fact_that_words_and_meaning_do_not(world: World) -> None:
    """The fact names neither the question's words nor its person; the graph knows that Mira's sister is Ulla."""
    for n in range(150):
        world.entity(f"Guest {n}")
        world.fact(f"Guest {n}", "PAINTED", f"Wall {n}")
    for name in ("Mira", "Ulla", "Bergen"):
        world.entity(name)
    world.fact("Mira", "SISTER_OF", "Ulla")
    world.fact("Ulla", "LIVES_IN", "Bergen")
    query = "Where did the sister of Mira go?"
    assert "Ulla lives in Bergen" in texts(world.search(query, kinds=FACTS, limit=3, depth=2))
    assert "Ulla lives in Bergen" not in texts(world.search(query, kinds=FACTS, limit=3, depth=0))


def test_the_graph_prefers_the_relation_asked_for(world: World) -> None:
    """Of an entity's facts, the graph leg puts those first that share words with the question, be it in the relation alone."""
    for name, kind in (("Jonas Lindqvist", "Person"), ("Vestergaard", "Organization"), ("Malmö", "Place")):
        world.entity(name, kind)
    world.fact("Jonas Lindqvist", "LIVES_IN", "Malmö", valid=Interval(datetime(2024, 2, 1, tzinfo=UTC)))
    world.fact("Jonas Lindqvist", "WORKS_AT", "Vestergaard", text="Jonas Lindqvist is on the staff of Vestergaard")
    hits = world.search("Where does Jonas Lindqvist work?", kinds=FACTS).hits
    by_graph = {r.rank: h.item.relation for h in hits for r in h.reasons if r.leg == "graph" and isinstance(h.item, FactVersion)}
    assert by_graph == {1: "WORKS_AT", 2: "LIVES_IN"}
