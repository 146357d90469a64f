"""The communities of the package's own sample chat: what a person would say belongs together."""

from __future__ import annotations

import pytest

import graphmem
from graphmem import samples
from graphmem.testing import FixedClock

pytestmark = pytest.mark.local


@pytest.fixture(scope="module")
def team() -> graphmem.Memory:
    """Half a year of the team, read by the offline model, as of the day after its last message."""
    mem = graphmem.open(":memory:", clock=FixedClock("2025-07-01T12:00:00Z"))
    mem.add_many(samples.episodes(), progress=False)
    mem.build_communities()
    return mem


def test_each_person_is_with_their_own(team: graphmem.Memory) -> None:
    """Homes, pets, instruments and boats are with those they belong to, and people who share nothing are apart."""
    together = {c.name: {m.name for m in c.members} for c in team.communities()}
    assert {"Jonas Lindqvist", "Malmö", "Biscuit", "cello", "peanuts"} <= together["Jonas Lindqvist, Malmö, Biscuit"]
    assert {"Danylo Kovalenko", "Warsaw", "Oksana"} <= together["Danylo Kovalenko, Warsaw, Oksana"]
    assert {"Lakeline", "Geneva"} <= team_of(team, "Lakeline")
    assert "Leeds" in team_of(team, "Priya Raman")
    assert "Tidewell" in team_of(team, "Ines Duarte")


def test_a_summary_says_what_holds(team: graphmem.Memory) -> None:
    """Central entities, main relations, a stretch of time, sentences; each from a fact that it cites, none that has ended."""
    danylo = team.community_of("Danylo Kovalenko")
    assert danylo.summary.startswith("Danylo Kovalenko, Warsaw, Oksana")
    assert "Mostly lives in" in danylo.summary
    assert "Warsaw" in danylo.summary
    assert "Lviv" not in danylo.summary
    holding = {f.uuid: f for f in team.facts()}
    for community in team.communities(level=None):
        assert community.facts
        assert set(community.facts) <= holding.keys()
        assert {holding[uuid].source for uuid in community.facts} <= {m.name for m in community.members}


def test_a_day_in_spring_is_computed(team: graphmem.Memory) -> None:
    """In March Danylo still lived in Lviv."""
    spring = team.as_of(valid="2025-03-15").community_of("Danylo Kovalenko")
    assert spring.computed
    assert "Lviv" in {m.name for m in spring.members}
    assert "Warsaw" not in {m.name for m in spring.members}


def team_of(team: graphmem.Memory, name: str) -> set[str]:
    """Who and what is together with this one."""
    return {m.name for m in team.community_of(name).members}


@pytest.mark.parametrize(
    "question",
    ["Summarise what we know about Mira Okafor", "What is the biggest concern of Priya?", "What were the main topics in March 2025?"],
)
def test_a_question_about_somebody_or_some_time_finds_what_it_would_without_communities(team: graphmem.Memory, question: str) -> None:
    """However many hits are asked for, and if a first name is all that is said of whoever speaks."""
    found = team.search(question, limit=50)
    assert found == team.search(question, limit=50, kinds=["fact", "entity", "episode"])
    assert "size" not in found.abstained
    assert "community" in {hit.kind for hit in team.search("What are the key areas?")}
