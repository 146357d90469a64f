"""Who did what and what came of it, why a fact is believed, and how it came to be as it is."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from test_diff_properties import STORES, instants, view_of, write

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.errors import InvalidInput, NotFound
from graphmem.history.lines import Diff
from graphmem.model import AsOf
from graphmem.stores.memory import MemoryStore
from graphmem.testing import FixedClock, ScriptedModel, Story, ended, fact
from graphmem.view import View


def told(story: Story) -> View:
    store = MemoryStore()
    write(store, story.log())
    return view_of(store)


JOBS = (
    Story("jobs")
    .say("2024-03-01", fact("Mira WORKS_AT Acme", since="2022"))
    .say("2024-09-01", fact("Mira WORKS_AT Globex", since="2024-08"))
    .do("forget", "e2")
    .say("2024-10-01", ended("Mira WORKS_AT Acme", "2024-09"))
)


def test_operations_say_when_by_whom_on_what_and_what_changed() -> None:
    """Newest first; episodes only if they are asked for."""
    view = told(JOBS)
    (forgot,) = view.operations()
    assert (forgot.kind, forgot.targets, forgot.counts()) == ("forget", ("e2",), {"reopened": 1, "forgotten": 2})
    assert forgot.about == ("Mira WORKS_AT Globex",)
    everything = view.operations(episodes=True)
    assert [e.kind for e in everything] == ["episode", "forget", "episode", "episode"]
    assert everything[0].counts() == {"ended": 1}
    assert [e.seq for e in view.operations(episodes=True, limit=2)] == [4, 3]
    assert view.operations(kind="merge") == view.operations(since="2030-01-01")
    assert len(view.operations(until="2026-01-03T00:00Z")) == 0
    json.dumps(everything.to_dict())


def test_operations_of_an_unknown_kind_are_refused() -> None:
    """The message lists the kinds."""
    with pytest.raises(InvalidInput, match=r"party.*forget"):
        told(JOBS).operations(kind="party")
    with pytest.raises(InvalidInput, match=r"kind=5.*forget"):
        told(JOBS).operations(kind=5)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", STORES)
def test_the_newest_entries_are_the_first_of_all(name: str, tmp_path: Path) -> None:
    """Whatever their number, and however few of the log have to be read for them."""
    store = STORES[name](tmp_path)
    write(store, JOBS.log())
    view = view_of(store)
    everything = view.operations(episodes=True, limit=None)
    assert len(everything) == 4
    for limit in range(6):
        assert view.operations(episodes=True, limit=limit) == everything[:limit]
        assert view.operations(kind="episode", limit=limit) == [e for e in everything if e.kind == "episode"][:limit]
    store.close()


def test_why_tells_every_statement_with_its_state() -> None:
    """What counts, what is forgotten, and what later words made void."""
    view = told(JOBS)
    (acme,) = view.facts("Mira", history=True)
    why = view.why(acme)
    assert [(e.says, e.dates, e.state) for e in why.evidence] == [("holds", "since 2022", "counts"), ("ends", "until 2024-09", "counts")]
    assert [c.kind for c in why.changes] == ["added", "ended", "reopened", "ended"]
    globex = view.diff(system=("2026-01-02", "2026-01-03")).of("forgotten")[0]
    assert [(e.says, e.state) for e in view.why(globex).evidence] == [("holds", "forgotten")]
    assert [o.kind for o in view.why(globex).operations] == ["forget"]
    json.dumps(why.to_dict())
    assert "2024-09" in why._repr_html_()


def test_a_kind_of_change_that_there_is_none_of_is_named() -> None:
    """With those that there are."""
    with pytest.raises(InvalidInput, match=r"kinds=\['endet'\]: must be among added, "):
        Diff([], "system", None, FixedClock("2026-01-02T09:00Z").now()).of("ended", "endet")


def test_why_says_who_decided() -> None:
    """A contradiction by rule, a repeat by the model."""
    story = (
        Story("opinions")
        .say("2019-01-01", "Mira LIKES jazz")
        .say("2022-01-01", fact("Mira DISLIKES jazz", excludes=["e1.0"]))
        .say("2023-01-01", fact("Mira ENJOYS jazz", same_as="e1.0"))
    )
    view = told(story)
    by_text = {f.text: f for f in view.facts("Mira", history=True)}
    dislikes = view.why(by_text["Mira DISLIKES jazz"])
    assert dislikes.evidence[0].decisions == ("contradicts 'Mira LIKES jazz', decided by a rule",)
    again = view.why(by_text["Mira LIKES jazz"]).evidence[-1]
    assert again.decisions == ("repeats 'Mira LIKES jazz', decided by the model",)


def test_history_tells_every_step_and_draws_both_axes() -> None:
    """Of a fact, and of an entity with its facts; `plot` draws a rectangle a version."""
    view = told(JOBS)
    steps = view.history("Mira")
    days = [[(c.kind.value, c.text[14:]) for c in steps if c.at == at and c.item == "fact"] for at in instants(JOBS.log())]
    assert [sorted(day) for day in days] == [
        [("added", "Acme")],
        [("added", "Globex"), ("ended", "Acme")],
        [("forgotten", "Globex"), ("reopened", "Acme")],
        [("ended", "Acme")],
    ]
    assert len(steps.versions) == 5
    pytest.importorskip("matplotlib").use("Agg")
    assert len(steps.plot().patches) == 5
    assert list(steps.versions.to_pandas()["target"]).count("Globex") == 1
    assert str(steps.to_pandas()["was_invalid_at"].dtype) == "datetime64[us, UTC]"
    one = view.history(view.facts("Mira", history=True)[0])
    assert [c.kind.value for c in one] == ["added", "ended", "reopened", "ended"]


def test_history_stops_at_the_views_instant() -> None:
    """As of an earlier system time it is the history that was known then."""
    store = MemoryStore()
    write(store, JOBS.log())
    early = View(replace(view_of(store)._scope, at=AsOf(None, instants(JOBS.log())[1])))
    assert sorted(c.kind.value for c in early.history("Mira", relation="works_at")) == ["added", "added", "ended"]
    assert len(early.operations()) == 0


def test_what_is_not_there_is_named() -> None:
    """Unknown facts, entities, and things that are no fact."""
    view = told(JOBS)
    with pytest.raises(NotFound, match="no fact 'fact_nobody'"):
        view.why("fact_nobody")
    with pytest.raises(NotFound, match="Nobody"):
        view.history("Nobody")
    with pytest.raises(InvalidInput, match="must be a fact"):
        view.why(12)  # type: ignore[arg-type]


def test_an_entry_says_what_models_cost_for_it() -> None:
    """Of a model that is not local; calls and tokens of that episode alone."""
    model = ScriptedModel({"extract": {"entities": [], "facts": []}}, local=False)
    with graphmem.open(model=model, embedder=HashingEmbedder(), clock=FixedClock("2024-05-01T09:00Z")) as memory:
        result = memory.add_message("Mira", "I moved to Porto last week with my dog.")
        (entry,) = memory.operations(kind="episode")
        assert entry.usage == result.usage
        assert entry.usage.calls == 1


def test_the_past_tells_of_entities_by_the_names_they_had_then() -> None:
    """A name given later is in no answer of a view of before: not in reasons, differences, versions or operations."""
    clock = FixedClock("2024-03-01T09:00Z")
    mem = graphmem.open(model=ScriptedModel({}), embedder=HashingEmbedder(), clock=clock)
    mem.add_facts([{"source": "Mira", "relation": "works_at", "target": "Acme", "valid_at": "2022"}])
    (job,) = mem.facts()
    clock.advance(days=30)
    mem.rename("Mira", "Zelda")
    past = mem.as_of(system="2024-03-20")
    why, history = past.why(job), past.history("Mira")
    for item in (why.fact, why.changes[0].thing, history[0].thing, history.versions[0]):
        assert item.source == "Mira"
    assert past.operations(episodes=True)[0].changes[0].thing.source == "Mira"
    for diff in (mem.diff(system=(None, "2024-03-20")), mem.diff(valid=("2021", None), system="2024-03-20")):
        assert "Mira WORKS_AT" in repr(diff[0])
    assert mem.why(job).fact.source == mem.history(job)[0].thing.source == "Zelda"


def test_a_difference_of_valid_times_ends_at_the_valid_instant_of_its_view() -> None:
    """Where the second point is left out; what begins after it is not told."""
    view = told(JOBS)
    past = View(replace(view._scope, at=AsOf(instants(JOBS.log())[0].replace(year=2023), None)))
    open_end = past.diff(valid=("2021-01-01", None))
    assert open_end.until == past._scope.at.valid
    assert [line.kind for line in open_end] == ["added"]
    assert [line.kind for line in view.diff(valid=("2021-01-01", None))] == ["added", "ended"]


def test_who_turned_out_to_be_one_later_were_two_before() -> None:
    """What is asked of one of them at an earlier time is not told of the other, in no answer about change."""
    clock = FixedClock("2024-03-01T09:00Z")
    mem = graphmem.open(model=ScriptedModel({}), embedder=HashingEmbedder(), clock=clock)
    mem.add_facts([{"source": "Bea", "relation": "likes", "target": "jazz", "valid_at": "2022"}])
    mem.add_facts([{"source": "Beatriz", "relation": "lives_in", "target": "Porto", "valid_at": "2022"}])
    ids = {name: mem.entity(name).id for name in ("Bea", "Beatriz")}
    clock.advance(days=30)
    mem.merge("Bea", "Beatriz")
    clock.advance(days=30)
    past = mem.as_of(system="2024-03-20")
    for name, target in (("Bea", "jazz"), ("Beatriz", "Porto"), (ids["Bea"], "jazz"), (ids["Beatriz"], "Porto")):
        for lines in (
            past.history(name),
            mem.diff(system=(None, "2024-03-20"), entity=name),
            mem.diff(valid=("2021", "2023"), system="2024-03-20", entity=name),
        ):
            assert {line.thing.target for line in lines if line.item == "fact"} == {target}
        frame = mem.facts_frame(["2024-03-20", "2024-04-10"], entity=name)
        assert frame["target"].tolist()[:1] == [target]
        assert sorted(frame["target"].tolist()[1:]) == ["Porto", "jazz"]
    assert {line.thing.target for line in mem.history("Bea") if line.item == "fact"} == {"jazz", "Porto"}


def test_a_view_tells_of_no_change_after_its_point() -> None:
    """It is asked for by name: what it would leave out is not taken for nothing having changed."""
    clock = FixedClock("2024-03-01T09:00Z")
    mem = graphmem.open(model=ScriptedModel({}), embedder=HashingEmbedder(), clock=clock)
    mem.add_facts([{"source": "Mira", "relation": "works_at", "target": "Acme", "valid_at": "2022"}])
    clock.advance(days=30)
    mem.add_facts([{"source": "Mira", "relation": "works_at", "target": "Globex", "valid_at": "2024-02"}])
    past = mem.as_of(system="2024-03-20")
    for asked in ({"system": ("2024-03-10", "2024-04-10")}, {"valid": ("2022", "2025"), "system": "2024-04-10"}):
        with pytest.raises(InvalidInput, match=r"system=.*lies after 2024-03-20T00:00:00\+00:00"):
            past.diff(**asked)
    assert {line.thing.target for line in past.diff(system=(None, None)) if line.item == "fact"} == {"Acme"}


@pytest.mark.parametrize("wrong", [{"entity": 5}, {"relation": 5}, {"relation": [5]}])
def test_a_name_that_is_none_is_refused_by_its_argument(wrong: dict[str, Any]) -> None:
    """In every verb that takes it."""
    clock = FixedClock("2024-03-01T09:00Z")
    mem = graphmem.open(model=ScriptedModel({}), embedder=HashingEmbedder(), clock=clock)
    mem.add_facts([{"source": "Mira", "relation": "works_at", "target": "Acme", "valid_at": "2022"}])
    clock.advance(days=30)
    for ask in (lambda: mem.diff(system=(None, None), **wrong), lambda: mem.facts_frame(["2024-03-02"], **wrong)):
        with pytest.raises(InvalidInput, match=next(iter(wrong))):
            ask()


def test_instants_may_come_from_any_iterable() -> None:
    """A range of dates of pandas, for one."""
    clock = FixedClock("2024-03-01T09:00Z")
    mem = graphmem.open(model=ScriptedModel({}), embedder=HashingEmbedder(), clock=clock)
    mem.add_facts([{"source": "Mira", "relation": "works_at", "target": "Acme", "valid_at": "2022"}])
    clock.advance(days=30)
    days = (f"2024-03-{day:02}" for day in (2, 3))
    assert len(mem.facts_frame(days)) == 2


def moved() -> tuple[graphmem.Memory, FixedClock]:
    """A memory that learns of Globex and of Bea's new home a month after the rest, and that Bea is Beatriz a month after that."""
    clock = FixedClock("2024-03-01T09:00Z")
    mem = graphmem.open(model=ScriptedModel({}), embedder=HashingEmbedder(), clock=clock)
    mem.add_facts([{"source": "Mira", "relation": "works_at", "target": "Acme", "valid_at": "2022"}])
    mem.add_facts([{"source": "Bea", "relation": "likes", "target": "jazz", "valid_at": "2022"}])
    mem.add_facts([{"source": "Beatriz", "relation": "likes", "target": "jazz", "valid_at": "2023"}])
    clock.advance(days=30)
    mem.add_facts([{"source": "Mira", "relation": "works_at", "target": "Globex", "valid_at": "2024-02"}])
    clock.advance(days=30)
    mem.merge("Bea", "Beatriz")
    return mem, clock


def test_a_view_knows_no_fact_that_was_recorded_after_its_point() -> None:
    """Neither as an item, a hit, a line, a uuid nor a fact id: of it there is no reason and no history."""
    mem, _ = moved()
    past = mem.as_of(system="2024-03-20")
    (job,) = mem.facts("Mira", relation="works at")
    (hit,) = mem.search("Globex", kinds=["fact"], limit=1)
    line = mem.diff(system=("2024-03-20", "2024-04-10")).of("added")[0]
    assert job.target == hit.item.target == line.thing.target == "Globex"
    for later in (job, hit, line, job.uuid, job.id):
        assert mem.why(later).fact == mem.history(later).versions[-1] == job
        for ask in (past.why, past.history):
            with pytest.raises(NotFound, match="until this point"):
                ask(later)


def test_a_later_version_of_a_known_fact_is_told_as_it_was_known() -> None:
    """That it ended was not known then."""
    mem, _ = moved()
    past = mem.as_of(system="2024-03-20")
    (acme,) = (f for f in mem.facts("Mira", history=True) if f.target == "Acme")
    assert acme.period == "2022 to 2024-01"
    for later in (acme, acme.uuid, acme.id):
        why = past.why(later)
        assert (why.fact.period, [c.kind for c in why.changes]) == ("since 2022", ["added"])
        assert [v.period for v in past.history(later).versions] == ["since 2022"]


def test_a_view_knows_no_entity_that_was_recorded_after_its_point() -> None:
    """Also where it is given by its id: it is unknown then, and not one of which nothing changed."""
    mem, _ = moved()
    later, past = mem.entity("Globex").id, mem.as_of(system="2024-03-20")
    for ask in (
        lambda: past.history(later),
        lambda: past.history(mem.entity("Globex")),
        lambda: past.diff(system=("2024-03-01", "2024-03-10"), entity=later),
        lambda: past.diff(valid=("2021", "2023"), entity=later),
        lambda: past.facts_frame(["2024-03-10"], entity=later),
    ):
        with pytest.raises(NotFound, match="at this point"):
            ask()


def test_what_a_merge_brought_together_later_is_no_evidence_before() -> None:
    """A statement about Beatriz is one about Bea as of the merge, and not before."""
    mem, _ = moved()
    past = mem.as_of(system="2024-03-20")
    for name in ("Bea", "Beatriz"):
        before, now = (view.why(view.facts(name, relation="likes")[0]).evidence for view in (past, mem))
        assert [e.quote for e in before] == [f"{name} likes jazz"]
        assert {e.quote for e in now} == {"Bea likes jazz", "Beatriz likes jazz"}


def test_a_view_tells_of_no_community_after_its_point() -> None:
    """Changes of communities up to a later instant are asked of a view of that instant."""
    mem, clock = moved()
    mem.build_communities()
    built = clock.now()
    clock.advance(days=30)
    mem.build_communities()
    past = mem.as_of(system=built)
    with pytest.raises(InvalidInput, match=r"until=.*lies after .*the point of this view"):
        past.community_changes("2024-03-02", clock.now())


def test_history_is_told_of_whatever_stands_for_an_entity() -> None:
    """An item, what `entity` gives, an id, a name, a hit, or a line of a difference, of one that is gone, too."""
    mem, clock = moved()
    asked = mem.history("Mira")
    (line,) = (c for c in mem.diff(system=(None, None)) if c.item == "entity" and c.text.startswith("Mira"))
    (hit,) = mem.search("Mira", kinds=["entity"], limit=1)
    for mira in (mem.entity("Mira"), mem.entity("Mira").item, mem.entity("Mira").id, hit, line):
        told = mem.history(mira)
        assert (list(told), told.versions, repr(told)) == (list(asked), asked.versions, repr(asked))
        assert {c.item for c in mem.history(mira, relation="works at")} == {"fact"}
    clock.advance(days=30)
    mem.forget(entity="Mira")
    (line,) = (c for c in mem.diff(system=("2024-05-20", None)).of("forgotten") if c.item == "entity" and c.text.startswith("Mira"))
    gone = mem.history(line)
    assert (gone[-1].kind, gone[-1].id) == ("forgotten", line.id)
    assert "Mira" in repr(gone)


def test_history_of_what_is_neither_a_fact_nor_an_entity_says_what_may_be_given() -> None:
    """The argument by its name, and what it takes."""
    mem, _ = moved()
    for wrong in (5, None, mem.episodes()[0], [mem.facts()[0]]):
        with pytest.raises(InvalidInput, match=r"^of=.*must be a fact or an entity, .*the name of an entity"):
            mem.history(wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match=r"^fact=.*must be a fact, a hit"):
        mem.why(mem.entity("Mira"))  # type: ignore[arg-type]


def test_what_ended_a_fact_is_nothing_that_was_recorded_after_the_point_read() -> None:
    """An act of a later day, or words of one, that say the same end."""
    clock = FixedClock("2024-06-01T09:00Z")
    mem = graphmem.open(model=ScriptedModel({}), embedder=HashingEmbedder(), clock=clock)
    mem.add_facts([{"source": "Mira", "relation": "works_at", "target": "Acme", "valid_at": "2022"}])
    mem.add_facts([{"source": "Mira", "relation": "lives_in", "target": "Porto", "valid_at": "2022", "invalid_at": "2024-02"}])
    first = mem.end(mem.facts("Mira", relation="works at")[0], "2024-05-01")
    point = clock.now()
    clock.advance(days=30)
    later = mem.end(mem.facts("Mira", relation="works at", history=True)[0], "2024-05-01")
    mem.add_facts([{"source": "Mira", "relation": "lives_in", "target": "Porto", "kind": "ends", "invalid_at": "2024-02"}])
    for view, by in ((mem.as_of(system=point + timedelta(days=1)), first), (mem, later)):
        job, home = (view.facts("Mira", relation=r, history=True)[0] for r in ("works at", "lives in"))
        assert by.id in str(view.explain(job).standing)
        last = {e.assertion for e in view.why(home).evidence}
        assert view.explain(home).standing.by in last
