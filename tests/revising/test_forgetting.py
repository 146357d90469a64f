"""Forgetting by episode, fact, entity, session and filter; what it takes with it, what it leaves, and that it comes back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphmem
from graphmem import Filters
from graphmem.errors import InvalidInput, NotFound
from graphmem.interval import Interval
from graphmem.testing import FixedClock

OpenMemory = Callable[..., graphmem.Memory]


def told(
    memory: graphmem.Memory, source: str, relation: str, target: str, said: str = "2024-01-01", **row: Any
) -> graphmem.results.WriteResult:
    """An episode of one fact, said on that day."""
    more = {k: row.pop(k) for k in ("session", "actor") if k in row}
    rows = [{"source": source, "relation": relation, "target": target, **row}]
    return memory.add_many([{"kind": "facts", "rows": rows, "reference_time": said, **more}], progress=False)[0]


def triples(memory: graphmem.View, **asked: Any) -> set[str]:
    return {f"{f.source} {f.relation} {f.target}" for f in memory.facts(history=True, **asked)}


@pytest.fixture
def mem(open_memory: OpenMemory) -> graphmem.Memory:
    return open_memory()


# ------------------------------------------------------------------------------------------------ episodes


def test_several_episodes_are_one_operation_at_one_instant(mem: graphmem.Memory) -> None:
    """And one restore brings all of them back."""
    results = [told(mem, "Mira", "likes", food) for food in ("olives", "figs", "dates")]
    before = mem.state_hash()
    done = mem.forget(episode=[results[0], results[1].id, mem.episode(results[2].id)])

    assert done.counts() == {"forgotten": 3 + 4 + 3}  # episodes, entities, facts
    assert triples(mem) == set()
    assert {f.expired_at for f in mem.as_of(system=results[2].created_at).facts(history=True)} == {done.created_at}
    assert mem.restore(done).counts() == {"restored": 10}
    assert mem.state_hash() == before


def test_an_episode_without_facts_is_told_to_be_gone(mem: graphmem.Memory) -> None:
    """A result without a change would say that nothing happened."""
    said = mem.add_facts([{"source": "Mira", "relation": "likes", "target": "figs"}])
    again = mem.add_facts([{"source": "Mira", "relation": "likes", "target": "figs"}], key="again")
    done = mem.forget(episode=again)

    assert [(c.kind, c.item, c.id) for c in done.changes] == [("forgotten", "episode", again.id)]
    assert [e.id for e in mem.episodes()] == [said.id]


def test_what_is_forgotten_cannot_be_forgotten_again(mem: graphmem.Memory) -> None:
    """The error names the operation that did it; nothing is changed, of the others in the list neither."""
    one, other = told(mem, "Mira", "likes", "figs"), told(mem, "Mira", "likes", "dates")
    done = mem.forget(episode=one)
    log = mem.stats()["log"]
    with pytest.raises(InvalidInput, match=rf"forgotten already, by {done.id}; restore\('{done.id}'\)"):
        mem.forget(episode=[other, one])
    with pytest.raises(NotFound, match="'ep_nowhere'"):
        mem.forget(episode=["ep_nowhere", other.id])
    with pytest.raises(InvalidInput, match="is empty"):
        mem.forget(episode=[])
    assert (triples(mem), mem.stats()["log"]) == ({"Mira LIKES dates"}, log)


def test_forgetting_needs_exactly_one_thing(mem: graphmem.Memory) -> None:
    """Neither none nor two."""
    told(mem, "Mira", "likes", "figs", session="a")
    for given in ({}, {"session": "a", "entity": "Mira"}):
        with pytest.raises(InvalidInput, match="exactly one of episode=, fact=, entity=, session=, where="):
            mem.forget(**given)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="reason=' '"):
        mem.forget(session="a", reason=" ")


# ------------------------------------------------------------------------------------------------ facts


def test_a_forgotten_fact_is_gone_from_every_episode_and_what_it_ended_is_open_again(mem: graphmem.Memory) -> None:
    """Its episodes stay, with what else they say."""
    told(mem, "Mira", "works_at", "Acme", valid_at="2020")
    mem.add_facts(
        [{"source": "Mira", "relation": r, "target": t, "valid_at": "2022"} for r, t in (("works_at", "Globex"), ("likes", "figs"))]
    )
    told(mem, "Mira", "works_at", "Globex", "2024-02-01", valid_at="2022")
    (globex,) = mem.facts("Globex")
    done = mem.forget(fact=globex, author="Mira", reason="never was there")

    assert triples(mem) == {"Mira WORKS_AT Acme", "Mira LIKES figs"}
    assert done.counts() == {"reopened": 1, "forgotten": 1}
    assert len(mem.episodes()) == 3
    assert mem.restore(done).counts() == {"ended": 1, "restored": 1}


@pytest.mark.parametrize("by", ["item", "hit", "uuid", "id", "former uuid", "former item"])
def test_a_fact_is_named_by_whatever_is_at_hand(by: str, mem: graphmem.Memory, clock: FixedClock) -> None:
    """Also by a version that is believed no more: it rests on the same assertion."""
    told(mem, "Mira", "works_at", "Acme", valid_at="2020")
    (first,) = mem.facts("Mira")
    clock.advance(days=1)
    told(mem, "Mira", "works_at", "Globex", valid_at="2022")
    now = next(f for f in mem.facts(history=True) if f.target == "Acme")
    hit = mem.search("Acme", kinds=("fact",), history=True)[0] if by == "hit" else None
    fact = {"item": now, "hit": hit, "uuid": now.uuid, "id": now.id, "former uuid": first.uuid, "former item": first}[by]
    mem.forget(fact=fact)

    assert triples(mem) == {"Mira WORKS_AT Globex"}
    with pytest.raises(InvalidInput, match="is forgotten already, by op_"):
        mem.forget(fact=fact if by != "hit" else now)


def test_a_uuid_means_one_period_and_an_id_all(mem: graphmem.Memory) -> None:
    """Acme, Globex, Acme again."""
    for firm, year in (("Acme", "2020"), ("Globex", "2021"), ("Acme", "2023")):
        told(mem, "Mira", "works_at", firm, valid_at=year)
    first, second = (f for f in mem.facts(history=True) if f.target == "Acme")
    mem.undo(mem.forget(fact=second.uuid))
    mem.forget(fact=second.uuid, author="Tom")
    assert [f.period for f in mem.facts(history=True)] == ["2020", "since 2021"]
    mem.forget(fact=first.id)
    assert [f.target for f in mem.facts(history=True)] == ["Globex"]


def test_a_fact_that_is_said_later_is_believed(mem: graphmem.Memory) -> None:
    """What is hidden is listed when it is recorded."""
    told(mem, "Mira", "likes", "figs")
    mem.forget(fact=mem.facts("Mira")[0])
    told(mem, "Mira", "likes", "figs", "2024-06-01")
    assert [(f.target, f.valid_at.date().isoformat()) for f in mem.facts()] == [("figs", "2024-06-01")]


def test_what_was_said_elsewhere_meanwhile_is_told(mem: graphmem.Memory, clock: FixedClock) -> None:
    """Somebody looked at a version, somebody else said more: only what stood behind that version goes, and a warning says so."""
    told(mem, "Mira", "works_at", "Acme", valid_at="2022")
    (seen,) = mem.facts("Mira")
    clock.advance(days=1)
    told(mem, "Mira", "works_at", "Acme", valid_at="2021")
    done = mem.forget(fact=seen)

    assert [(w.code, w.raw) for w in done.warnings] == [("still_believed", "Mira works at Acme")]
    assert [f.period for f in mem.facts("Mira")] == ["since 2021"]


def test_an_unknown_fact_is_an_error_that_names_it(mem: graphmem.Memory) -> None:
    """As is one of another group, and what is no fact."""
    told(mem, "Mira", "likes", "figs")
    (fact,) = mem.facts()
    with pytest.raises(NotFound, match="'nothing'"):
        mem.forget(fact="nothing")
    mem.add_facts([{"source": "Tom", "relation": "likes", "target": "figs"}], group="other")
    with pytest.raises(NotFound, match=fact.uuid):
        mem.forget(fact=fact, group="other")
    with pytest.raises(InvalidInput, match="must be a fact, its uuid or its id"):
        mem.forget(fact=7)  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------ entities


def test_a_forgotten_entity_has_no_name_no_mention_and_no_fact(mem: graphmem.Memory) -> None:
    """Whom its facts also joined stays where an episode mentions them."""
    told(mem, "Mira", "works_at", "Acme", valid_at="2020")
    told(mem, "Acme", "based_in", "Porto")
    told(mem, "Tom", "works_at", "Acme", valid_at="2020")
    before = mem.state_hash()
    done = mem.forget(entity="Acme")

    assert {e.name for e in mem.entities()} == {"Mira", "Porto", "Tom"}
    assert triples(mem) == set()
    assert len(mem.episodes()) == 3
    assert mem.episodes(entity="Mira")
    with pytest.raises(NotFound, match="'Acme'"):
        mem.forget(entity="Acme")
    mem.restore(done)
    assert mem.state_hash() == before


def test_a_forgotten_entity_that_is_named_again_is_there_with_that_alone(mem: graphmem.Memory) -> None:
    """Nothing that was forgotten comes with it."""
    told(mem, "Mira", "works_at", "Acme", valid_at="2020")
    mem.forget(entity=mem.entity("Mira"))
    told(mem, "Mira", "likes", "figs")
    assert triples(mem, entity="Mira") == {"Mira LIKES figs"}
    assert len(mem.episodes(entity="Mira")) == 1


def test_what_was_forgotten_before_its_entity_does_not_come_back_without_it(mem: graphmem.Memory) -> None:
    """A fact, an episode, then the entity: undoing the first two brings nothing about the third."""
    first, second = told(mem, "Mira", "works_at", "Acme"), told(mem, "Mira", "likes", "figs")
    fact, episode = mem.forget(fact=mem.facts("Acme")[0]), mem.forget(episode=second)
    mem.forget(entity="Mira")
    mem.undo(fact)
    mem.undo(episode)

    assert {e.name for e in mem.entities()} == {"Acme", "figs"}
    assert {e.id for e in mem.episodes()} == {first.id, second.id}


def test_merged_names_are_forgotten_as_the_one_they_are(mem: graphmem.Memory) -> None:
    """Also after the merge is undone."""
    told(mem, "Bea", "likes", "figs")
    told(mem, "Beatriz", "lives_in", "Porto")
    merge = mem.merge("Bea", "Beatriz")
    mem.forget(entity="Beatriz")
    assert {e.name for e in mem.entities()} == {"figs", "Porto"}
    mem.undo(merge)
    assert {e.name for e in mem.entities()} == {"figs", "Porto"}


def test_a_forgotten_mention_counts_while_its_episode_speaks_of_whom_it_was_merged_into(mem: graphmem.Memory) -> None:
    """And no longer: forgetting what the episode says of that one takes the mention away again."""
    rows = [{"source": "Ada", "relation": "likes", "target": "Dolores"}, {"source": "Bea", "relation": "knows", "target": "Chidi"}]
    mem.add_facts(rows)
    back = mem.undo(mem.forget(entity="Bea"))
    told(mem, "Bea", "likes", "figs")
    told(mem, "Dolores", "likes", "olives")
    mem.undo(back)
    mem.merge("Dolores", "Bea")
    done = mem.forget(fact=mem.facts("Ada")[0])
    assert mem.verify() == []
    mem.undo(done)
    assert mem.verify() == []


def test_what_an_entity_that_was_split_off_is_said_to_be_to_itself_goes_with_it(mem: graphmem.Memory) -> None:
    """Two are made one and split off together: what joined them is no fact, and no fact leads to it."""
    first = told(mem, "Bea", "likes", "Beatriz")
    told(mem, "Bea", "likes", "figs")
    mem.merge("Bea", "Beatriz")
    mem.split("Bea", episodes=first.id)
    before = mem.state_hash()
    (apart,) = (e for e in mem.entities("Bea") if first.id in {x.id for x in mem.episodes(entity=e.id)})
    done = mem.forget(entity=apart)
    assert apart.id not in {e.id for e in mem.entities()}
    assert triples(mem) == {"Bea LIKES figs"}
    mem.undo(done)
    assert mem.state_hash() == before


def test_what_was_corrected_to_join_an_entity_to_itself_goes_with_it(mem: graphmem.Memory) -> None:
    """Nothing that was recorded of it names the entity but the correction."""
    told(mem, "Mira", "likes", "Tom")
    told(mem, "Bea", "likes", "figs")
    told(mem, "Beatriz", "likes", "figs")
    mem.correct(mem.facts("Mira")[0], source="Bea", target="Beatriz")
    mem.merge("Bea", "Beatriz")
    mem.forget(entity="Bea")
    assert {e.name for e in mem.entities()} == {"Mira", "Tom", "figs"}
    mem.undo(mem.operations(kind="correct")[0].id)
    assert triples(mem) == set()


# ------------------------------------------------------------------------------------------------ sessions and filters


def test_a_session_is_forgotten_whole(mem: graphmem.Memory) -> None:
    """And another one stays."""
    for session, food in (("a", "figs"), ("a", "dates"), ("b", "olives")):
        told(mem, "Mira", "likes", food, session=session)
    mem.forget(session="a")
    assert triples(mem) == {"Mira LIKES olives"}
    with pytest.raises(NotFound, match="no visible episode"):
        mem.forget(session="a")


@pytest.mark.parametrize(
    ("where", "left"),
    [
        (Filters(sessions=("a",)), {"Mira LIKES olives"}),
        (Filters(reference=Interval(None, None)), set()),
        (Filters(relations=("likes",)), {"Mira WORKS_AT Acme"}),
        (Filters(relations=("likes",), sessions=("b",)), {"Mira LIKES figs", "Mira WORKS_AT Acme"}),
        (Filters(types=("Company",)), {"Mira LIKES figs", "Mira LIKES olives"}),
        (Filters(valid=Interval(None, graphmem.testing.unit("2021").first)), {"Mira LIKES figs", "Mira LIKES olives"}),
        (Filters(attributes={"sure": True}), {"Mira LIKES figs", "Mira WORKS_AT Acme"}),
    ],
)
def test_filters_say_which_episodes_or_which_facts(where: Filters, left: set[str], mem: graphmem.Memory) -> None:
    """Conditions of episodes alone: episodes; with conditions of facts: what these episodes say of the facts that pass."""
    told(mem, "Mira", "works_at", "Acme", session="a", valid_at="2020", target_type="Company")
    told(mem, "Mira", "likes", "figs", "2024-01-01", session="a")
    told(mem, "Mira", "likes", "olives", "2024-01-02", session="b")
    if where.attributes:
        rows = [{"source": "Mira", "relation": "likes", "target": "olives"}]
        mem.forget(session="b")
        mem.add_many([{"kind": "facts", "rows": rows, "attributes": {"sure": True}, "session": "c"}], progress=False)
    before = mem.state_hash()
    done = mem.forget(where=where)
    assert triples(mem) == left
    mem.restore(done)
    assert mem.state_hash() == before


def test_a_filter_must_ask_for_something_that_is_there(mem: graphmem.Memory) -> None:
    """Everything is never meant by leaving everything out."""
    told(mem, "Mira", "likes", "figs")
    with pytest.raises(InvalidInput, match="must ask for something"):
        mem.forget(where=Filters())
    for where in (Filters(relations=("works_at",)), Filters(sessions=("x",))):
        with pytest.raises(NotFound):
            mem.forget(where=where)
    assert triples(mem) == {"Mira LIKES figs"}


# ------------------------------------------------------------------------------------------------ trying it first


def test_a_dry_run_tells_what_would_change_and_changes_nothing(mem: graphmem.Memory) -> None:
    """The same lines as the act itself."""
    told(mem, "Mira", "works_at", "Acme", valid_at="2020")
    later = told(mem, "Mira", "works_at", "Globex", valid_at="2022")
    before, history = mem.stats()["log"], mem.history_hash()
    tried = mem.forget(episode=later, dry_run=True)

    assert (tried.ids, tried.created, repr(tried)) == ((), False, "<dry run: 3 forgotten, 1 reopened>")
    assert (mem.stats()["log"], mem.history_hash()) == (before, history)
    with pytest.raises(NotFound, match="a dry run"):
        mem.restore(tried)
    assert mem.forget(episode=later).changes == tried.changes


# ------------------------------------------------------------------------------------------------ undoing


def test_an_undone_operation_cannot_be_undone_again(mem: graphmem.Memory) -> None:
    """Its undo can, and does it again."""
    said = told(mem, "Mira", "likes", "figs")
    done = mem.forget(episode=said)
    back = mem.restore(done)
    log = mem.stats()["log"]
    for undo in (mem.undo, mem.restore):
        with pytest.raises(InvalidInput, match=rf"is undone already, by {back.id}; undo\('{back.id}'\) does it again"):
            undo(done)
    assert mem.stats()["log"] == log
    mem.undo(back)
    assert triples(mem) == set()
    assert mem.undo(done).counts()["restored"] == 4


def test_only_operations_that_can_be_undone_are(mem: graphmem.Memory) -> None:
    """Not an unknown id, an episode, an ontology, a build of communities."""
    said = told(mem, "Mira", "likes", "figs")
    built = mem.build_communities()
    for wrong in ("op_nothing", said):
        with pytest.raises(NotFound, match="no operation"):
            mem.undo(wrong)
    with mem._scope.store.read() as reader:
        ontology = reader.operations("main")[0].id
    for operation, why in ((ontology, "open the memory with the ontology"), (built.id, "build_communities")):
        with pytest.raises(InvalidInput, match=why):
            mem.undo(operation)
    with pytest.raises(InvalidInput, match="must be the id of an operation"):
        mem.undo(7)  # type: ignore[arg-type]
