"""Corrections by hand: what they act on, what they count for beside what texts say, and that each is taken back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphmem
from graphmem.errors import InvalidInput, NotFound
from graphmem.interval import Interval, Origin, Precision
from graphmem.results import FactItem, WriteResult
from graphmem.testing import FixedClock, unit

OpenMemory = Callable[..., graphmem.Memory]


@pytest.fixture
def mem(open_memory: OpenMemory) -> graphmem.Memory:
    return open_memory()


def told(memory: graphmem.Memory, source: str, relation: str, target: str, said: str = "2024-01-01", **row: Any) -> WriteResult:
    """An episode of one fact, said on that day."""
    return memory.add_facts([{"source": source, "relation": relation, "target": target, **row}], reference_time=said)


def rows(memory: graphmem.View) -> list[str]:
    """All periods in order of time: "Acme 2020 to 2021"."""
    return [f"{f.target} {f.period}" for f in memory.facts(history=True)]


def only(memory: graphmem.View) -> FactItem:
    (fact,) = memory.facts(history=True)
    return fact


# ------------------------------------------------------------------------------------------------ fields


@pytest.mark.parametrize(
    ("fields", "row"),
    [
        ({"valid": "2023"}, "Acme 2023 to 2024"),
        ({"valid": "2023-05"}, "Acme 2023-05 to 2024"),
        ({"valid": unit("2023").first}, "Acme 2023-01-01T00:00:00+00:00 to 2024"),
        ({"valid": 2023}, "Acme 2023 to 2024"),
        ({"valid": ("2021", "2022-06")}, "Acme 2021 to 2022-06"),
        ({"valid": (..., "2025")}, "Acme 2020 to 2025"),
        ({"valid": (..., None)}, "Acme since 2020"),
        ({"valid": ("2021", None)}, "Acme since 2021"),
        ({"valid": Interval(unit("2021").first, None)}, "Acme since 2021-01-01T00:00:00+00:00"),
        ({"target": "Globex"}, "Globex 2020 to 2024"),
        ({"target": "Globex", "valid": ("2021", None)}, "Globex since 2021"),
    ],
)
def test_what_is_given_is_corrected_and_the_rest_stays(fields: dict[str, Any], row: str, mem: graphmem.Memory) -> None:
    """And an undo brings back what was there, to the byte."""
    told(mem, "Mira", "works_at", "Acme", valid_at="2020", invalid_at="2024")
    before = mem.state_hash()
    done = mem.correct(only(mem), author="Mira", reason="I know better", **fields)

    assert rows(mem) == [row]
    assert done.warnings == ()
    mem.undo(done)
    assert mem.state_hash() == before


def test_the_sentence_is_the_plain_one_where_the_ends_change_and_the_given_one_where_it_is_given(mem: graphmem.Memory) -> None:
    """A sentence about somebody else would be wrong."""
    told(mem, "Mira", "works_at", "Acme", text="Mira has a desk at Acme.")
    assert mem.correct(only(mem), target="Globex") is not None
    assert only(mem).text == "Mira works at Globex"
    mem.correct(only(mem), relation="visits")
    assert only(mem).text == "Mira visits Globex"
    mem.correct(only(mem), source="Tom", text="Tom looks in at Globex.")
    assert (only(mem).source, only(mem).text) == ("Tom", "Tom looks in at Globex.")
    mem.correct(only(mem), text="Tom comes by.")
    assert (only(mem).relation, only(mem).text) == ("VISITS", "Tom comes by.")


@pytest.mark.parametrize(
    ("fields", "argument"),
    [
        ({}, "correct"),
        ({"text": " "}, "text"),
        ({"relation": "?!"}, "relation"),
        ({"target": "…"}, "target"),
        ({"target": True}, "target"),
        ({"target": "Mira"}, "target"),
        ({"source": "Acme"}, "source"),
        ({"valid": "soon"}, "valid"),
        ({"valid": "2023-13-45"}, "valid"),
        ({"valid": (..., ...)}, "valid"),
        ({"valid": (None, "2024")}, "valid"),
        ({"valid": Interval(None, unit("2024").first)}, "valid"),
        ({"valid": ("2024", "2023")}, "valid"),
        ({"valid": (..., "2019")}, "valid"),
    ],
)
def test_what_cannot_be_is_refused_by_name_and_nothing_is_changed(fields: dict[str, Any], argument: str, mem: graphmem.Memory) -> None:
    """Before anything is written."""
    told(mem, "Mira", "works_at", "Acme", valid_at="2020")
    log, state = mem.stats()["log"], mem.state_hash()
    with pytest.raises(InvalidInput) as caught:
        mem.correct(only(mem), **fields)
    assert caught.value.argument == argument
    assert (mem.stats()["log"], mem.state_hash()) == (log, state)


def test_what_is_corrected_of_merged_entities_stays_with_whom_it_was_said_of(mem: graphmem.Memory) -> None:
    """An undo of the merge leaves each its own facts, as corrected."""
    told(mem, "Bea", "likes", "Jazz")
    told(mem, "Beatriz", "lives_in", "Porto")
    merged = mem.merge("Bea", "Beatriz")
    mem.correct(mem.facts("Jazz")[0], target="Opera")
    mem.correct(mem.facts("Porto")[0], target="Lisbon")
    mem.undo(merged)
    assert {(f.source, f.target) for f in mem.facts()} == {("Bea", "Opera"), ("Beatriz", "Lisbon")}


@pytest.mark.parametrize("meant", ["Bea", "Beatriz"])
@pytest.mark.parametrize("by_id", [False, True])
def test_a_correction_names_the_one_of_those_merged_that_is_meant(meant: str, by_id: bool, mem: graphmem.Memory) -> None:
    """And stays with that one when the merge is undone, which leaves it no name of the other."""
    told(mem, "Bea", "likes", "Jazz")
    told(mem, "Beatriz", "lives_in", "Porto")
    told(mem, "Tom", "likes", "Opera")
    given = mem.entity(meant).id if by_id else meant
    merged = mem.merge("Bea", "Beatriz")
    mem.correct(mem.facts("Opera")[0], source=given)
    whole = mem.entity("Bea")
    assert [(f.source_id, f.text) for f in mem.facts("Opera")] == [(whole.id, f"{meant} likes Opera")]
    with pytest.raises(InvalidInput, match="another thing than the other end"):
        mem.correct(mem.facts("Opera")[0], target="Beatriz" if meant == "Bea" else "Bea")
    mem.undo(merged)
    assert [f.source for f in mem.facts("Opera")] == [meant]
    assert [mem.entity(name).aliases for name in ("Bea", "Beatriz")] == [(), ()]
    assert mem.verify() == []


def test_an_end_may_be_named_by_the_id_of_one_that_was_merged(mem: graphmem.Memory) -> None:
    """It means the whole now; an error about a source names the source."""
    told(mem, "Tom", "likes", "Jazz")
    told(mem, "Bea", "likes", "Opera")
    told(mem, "Beatriz", "lives_in", "Porto")
    ids = [mem.entity(name).id for name in ("Bea", "Beatriz")]
    mem.merge(*ids)
    for entity in ids:
        mem.undo(mem.correct(mem.facts("Jazz")[0], source=entity))
        with pytest.raises(InvalidInput) as caught:
            mem.correct(mem.facts("Opera")[0], source="!?")
        assert caught.value.argument == "source"


def test_a_name_that_several_have_needs_an_id(mem: graphmem.Memory) -> None:
    """The error lists them; an unknown id is no name."""
    told(mem, "Mira", "works_at", "Acme")
    told(mem, "Tom", "likes", "Mercury")
    mem.split("Mercury", episodes=[told(mem, "Tom", "knows", "Mercury")])
    one, other = mem.entities("Mercury")
    with pytest.raises(InvalidInput, match="several entities share the name"):
        mem.correct(mem.facts("Mira")[0], target="Mercury")
    with pytest.raises(NotFound, match="no entity has the id"):
        mem.correct(mem.facts("Mira")[0], target="en_aaaaaaaaaaaaaaaaaaaaaaaaaa")
    mem.correct(mem.facts("Mira")[0], target=other.id)
    assert mem.facts("Mira")[0].target_id == other.id != one.id


def test_a_fact_id_of_several_periods_needs_a_uuid(mem: graphmem.Memory) -> None:
    """The error lists the periods with their uuids."""
    for firm, year in (("Acme", "2020"), ("Globex", "2021"), ("Acme", "2023")):
        told(mem, "Mira", "works_at", firm, valid_at=year)
    first, second = (f for f in mem.facts(history=True) if f.target == "Acme")
    with pytest.raises(InvalidInput, match=rf"several periods.*{first.uuid} \(2020\), {second.uuid} \(2023\)"):
        mem.correct(first.id, valid="2019")
    mem.correct(first.uuid, valid="2019")
    assert rows(mem) == ["Acme 2019 to 2020", "Globex 2021 to 2022", "Acme since 2023"]


def test_what_was_corrected_is_one_line_that_says_what_it_was(mem: graphmem.Memory) -> None:
    """Where the fact becomes another one, too; undone, it is restored."""
    told(mem, "Mira", "works_at", "Acme", valid_at="2020")
    told(mem, "Tom", "works_at", "Globex", valid_at="2020")
    done = mem.correct(mem.facts("Mira")[0], target="Globex", reason="misheard")
    assert [(c.kind, c.item, c.text, c.reason) for c in done.changes] == [
        ("corrected", "fact", "Mira works at Globex", "was: Mira works at Acme; misheard")
    ]
    assert [(c.kind, c.text, c.reason) for c in mem.undo(done).changes] == [("restored", "Mira works at Acme", "was: Mira works at Globex")]


# ------------------------------------------------------------------------------------------------ directions


@pytest.mark.parametrize(("said", "new"), [(("Acme", "employs", "Mira"), "Globex"), (("Mira", "married_to", "Acme"), "Globex")])
def test_a_fact_said_the_other_way_round_keeps_its_other_end(said: tuple[str, str, str], new: str, mem: graphmem.Memory) -> None:
    """Of an inverse or a symmetric relation, told in both directions."""
    told(mem, *said, valid_at="2020")
    told(mem, *(said if said[1] == "employs" else said[::-1]), "2024-02-01")
    if said[1] == "employs":
        told(mem, "Mira", "works_at", "Acme", "2024-03-01")
    end = "target" if only(mem).target == "Acme" else "source"
    mem.correct(only(mem), **{end: new})
    assert {only(mem).source, only(mem).target} == {"Mira", "Globex"}
    assert mem.facts("Acme", history=True) == mem.facts("Acme", history=True)[:0]


def test_a_value_is_corrected_to_a_value(mem: graphmem.Memory) -> None:
    """To the same one that a text would mean by it."""
    told(mem, "The report", "due_on", "12 May", target_type="Value")
    mem.correct(only(mem), target="13 May")
    told(mem, "The talk", "due_on", "13 MAY", target_type="Value")
    (report,), (talk,) = mem.facts("The report"), mem.facts("The talk")
    assert report.target_id == talk.target_id
    mem.correct(mem.facts("The talk")[0], target=7)
    assert [e.type for e in mem.entities("7", type="Value")] == ["Value"]


# ------------------------------------------------------------------------------------------------ entities that are new


def test_an_entity_that_only_a_correction_names_lives_as_long_as_that(mem: graphmem.Memory) -> None:
    """Its type is that of the end it stands for; who forgets what was corrected forgets it too."""
    said = told(mem, "Mira", "works_at", "Acme", target_type="Company")
    done = mem.correct(only(mem), target="Globex")
    assert [(e.name, e.type) for e in mem.entities() if e.name == "Globex"] == [("Globex", "Company")]
    assert mem.search("Globex", kinds=("entity",))[0].id == only(mem).target_id

    forgotten = mem.forget(episode=said)
    assert mem.entities() == mem.entities()[:0]
    mem.restore(forgotten)
    hidden = mem.forget(fact=only(mem))
    assert {e.name for e in mem.entities()} == {"Mira", "Acme"}
    mem.restore(hidden)
    mem.undo(done)
    assert {e.name for e in mem.entities()} == {"Mira", "Acme"}
    assert {e.name for e in mem.as_of(system=done.created_at).entities()} == {"Mira", "Acme", "Globex"}


def test_an_entity_of_a_correction_goes_where_a_later_one_names_another(mem: graphmem.Memory) -> None:
    """It comes back with the undo of that, and is not kept from being forgotten by what was corrected away."""
    told(mem, "Mira", "works_at", "Acme")
    mem.correct(only(mem), target="Globex")
    later = mem.correct(only(mem), target="Initech")
    assert {e.name for e in mem.entities()} == {"Mira", "Acme", "Initech"}
    mem.undo(later)
    assert {e.name for e in mem.entities()} == {"Mira", "Acme", "Globex"}
    mem.undo(mem.correct(only(mem), target="Acme"))
    mem.forget(entity="Globex")
    assert {e.name for e in mem.entities()} == {"Mira", "Acme"}
    assert mem.verify() == []


def test_a_text_that_names_it_later_means_the_same_one(mem: graphmem.Memory) -> None:
    """And keeps it when the correction is undone."""
    told(mem, "Mira", "works_at", "Acme")
    done = mem.correct(only(mem), target="Globex")
    told(mem, "Tom", "works_at", "Globex", "2024-02-01")
    assert {f.source for f in mem.facts("Globex")} == {"Mira", "Tom"}
    mem.undo(done)
    assert {f.source for f in mem.facts("Globex")} == {"Tom"}
    assert [e.name for e in mem.entities("Globex")] == ["Globex"]


def test_a_known_entity_is_there_while_a_correction_speaks_of_it(mem: graphmem.Memory) -> None:
    """Also when the only episode that mentions it is forgotten, or the entity itself."""
    told(mem, "Mira", "works_at", "Acme")
    other = told(mem, "Tom", "works_at", "Globex")
    mem.correct(mem.facts("Mira")[0], target=mem.entity("Globex"))
    mem.forget(episode=other)
    assert [f"{f.source} {f.target}" for f in mem.facts()] == ["Mira Globex"]
    forgotten = mem.forget(entity="Globex")
    assert ({e.name for e in mem.entities()}, list(mem.facts())) == ({"Mira", "Acme"}, [])
    mem.undo(forgotten)
    assert [f"{f.source} {f.target}" for f in mem.facts()] == ["Mira Globex"]


# ------------------------------------------------------------------------------------------------ beside what texts say


def test_a_corrected_start_counts_more_than_what_is_said_later(mem: graphmem.Memory) -> None:
    """Acme since 2022, corrected to 2023, since 2022 again: since 2023."""
    told(mem, "Mira", "works_at", "Acme", valid_at="2022")
    mem.correct(only(mem), valid="2023")
    told(mem, "Mira", "works_at", "Acme", "2024-06-01", valid_at="2022")
    assert rows(mem) == ["Acme since 2023"]
    assert (only(mem).start.origin, only(mem).start.precision) == (Origin.USER, Precision.YEAR)


def test_of_two_corrections_of_a_field_the_later_counts_and_undone_the_earlier(mem: graphmem.Memory) -> None:
    """Only that operation is taken back."""
    told(mem, "Mira", "works_at", "Acme", valid_at="2022")
    first = mem.correct(only(mem), valid="2021")
    second = mem.correct(only(mem), valid="2020", text="Mira is with Acme.")
    mem.undo(second)
    assert (rows(mem), only(mem).text) == (["Acme since 2021"], "Mira works at Acme")
    mem.undo(first)
    assert rows(mem) == ["Acme since 2022"]


def test_a_correction_acts_on_what_stood_behind_it_and_not_on_what_comes(mem: graphmem.Memory) -> None:
    """A later episode that says the wrong name again is an episode of its own."""
    told(mem, "Mira", "lives_in", "Porto", valid_at="2022")
    mem.correct(only(mem), target="Lisbon")
    told(mem, "Mira", "lives_in", "Porto", "2024-06-01", valid_at="2024-05")
    assert rows(mem) == ["Lisbon 2022 to 2024-04", "Porto since 2024-05"]


def test_an_end_taken_away_opens_the_fact_and_one_that_stays_is_told(mem: graphmem.Memory) -> None:
    """The statement that it ended is hidden with its date; what another fact ends goes on ending it."""
    told(mem, "Mira", "works_at", "Acme", valid_at="2020")
    told(mem, "Mira", "works_at", "Acme", "2024-05-20", kind="ends", invalid_at="2024-05")
    done = mem.correct(only(mem), valid=(..., None))
    assert (rows(mem), done.counts()) == (["Acme since 2020"], {"reopened": 1})

    told(mem, "Mira", "works_at", "Globex", valid_at="2022")
    acme = next(f for f in mem.facts(history=True) if f.target == "Acme")
    again = mem.correct(acme, valid=(..., None))
    assert [w.code for w in again.warnings] == ["no_effect"]
    assert rows(mem) == ["Acme 2020 to 2021", "Globex since 2022"]


# ------------------------------------------------------------------------------------------------ ended and confirmed


def test_an_end_by_hand_counts_more_than_those_that_are_read(mem: graphmem.Memory) -> None:
    """Told before or after it."""
    told(mem, "Mira", "works_at", "Acme", valid_at="2020")
    done = mem.end(only(mem), "2023-07-01", author="Mira")
    told(mem, "Mira", "works_at", "Acme", "2024-05-20", kind="ends", invalid_at="2022")
    assert [f.invalid_at for f in mem.facts(history=True)] == [unit("2023-07").first]
    mem.undo(done)
    assert rows(mem) == ["Acme 2020 to 2022"]


def test_a_fact_is_ended_and_confirmed_now_unless_a_time_is_given(mem: graphmem.Memory, clock: FixedClock) -> None:
    """An end in the future is a plan; nothing can be confirmed there."""
    told(mem, "Mira", "works_at", "Acme", valid_at="2020")
    done = mem.end(only(mem))
    assert only(mem).invalid_at == clock.now()
    mem.undo(done)
    mem.end(only(mem), "2030-01-01")
    assert mem.facts("Mira")[0].invalid_at == unit("2030").first
    with pytest.raises(InvalidInput, match="lies in the future"):
        mem.confirm(only(mem), "2029-01-01")


def test_a_fact_that_is_confirmed_runs_on_or_begins_again(mem: graphmem.Memory) -> None:
    """Within its period it is cited once more; after its end there is another period, seen then."""
    said = told(mem, "Mira", "works_at", "Acme", valid_at="2020", invalid_at="2022")
    assert mem.confirm(only(mem), "2021-06-01").counts() == {"confirmed": 1}
    done = mem.confirm(only(mem), "2023-06-01")
    first, second = mem.facts(history=True)
    assert (first.period, second.period, second.start.origin) == ("2020 to 2022", "since 2023-06-01", Origin.REFERENCE)
    assert second.episodes == (said.id,)
    for act in (lambda: mem.forget(fact=second), lambda: mem.correct(second, valid="2023")):
        with pytest.raises(InvalidInput, match=rf"by hand alone; undo\('{done.id}'\)"):
            act()
    mem.end(second, "2023-09-01")
    assert [f.invalid_at for f in mem.facts(history=True)] == [unit("2022").last, unit("2023-09").first]
    mem.undo(done)
    assert rows(mem)[0].startswith("Acme 2020 to 2023-09-01")  # the end said last by hand closes what began before it


def test_a_statement_by_hand_is_about_a_time_after_the_fact_began(mem: graphmem.Memory) -> None:
    """`at` is given as any instant is; one without an offset is told."""
    told(mem, "Mira", "works_at", "Acme", valid_at="2020")
    for act in (mem.end, mem.confirm):
        with pytest.raises(InvalidInput, match="must be after the fact begins"):
            act(only(mem), "2020-01-01")
    with pytest.raises(InvalidInput, match="at='soon'"):
        mem.end(only(mem), "soon")
    assert [w.code for w in mem.end(only(mem), "2023-07-01T12:00").warnings] == ["naive_instant"]


def test_of_several_periods_an_end_is_that_of_the_last_begun(mem: graphmem.Memory) -> None:
    """Where the fact is named by its id."""
    for firm, year in (("Acme", "2020"), ("Globex", "2021"), ("Acme", "2023")):
        told(mem, "Mira", "works_at", firm, valid_at=year)
    acme = next(f for f in mem.facts(history=True) if f.target == "Acme")
    mem.end(acme.id, "2023-07-01")
    assert rows(mem) == ["Acme 2020", "Globex 2021 to 2022", "Acme 2023 to 2023-07-01T00:00:00+00:00"]


# ------------------------------------------------------------------------------------------------ who and why


def test_operations_are_kept_with_author_and_reason_and_take_no_model(mem: graphmem.Memory) -> None:
    """In the log, from which the same beliefs are folded elsewhere."""
    told(mem, "Mira", "works_at", "Acme", valid_at="2020")
    done = mem.correct(only(mem), target="Globex", author="Mira", reason="misheard")
    with mem._scope.store.read() as reader:
        (operation,) = reader.operations("main", ids=[done.id])
    assert (operation.kind, operation.author, operation.reason) == ("correct", "Mira", "misheard")
    assert operation.created_at == done.created_at


def test_a_log_with_corrections_is_loaded_elsewhere(mem: graphmem.Memory, open_memory: OpenMemory, tmp_path: Any) -> None:
    """Equal state and history; new entities have the same ids."""
    told(mem, "Mira", "works_at", "Acme", valid_at="2020")
    done = mem.correct(only(mem), target="Globex", valid="2021")
    mem.end(only(mem), "2023-01-01")
    mem.undo(done)
    mem.undo(mem.undo(mem.forget(entity="Mira")))
    other = open_memory("other")
    other.load(mem.export(tmp_path / "log.jsonl").path)
    assert (other.state_hash(), other.history_hash()) == (mem.state_hash(), mem.history_hash())


def test_a_dry_run_of_a_correction_tells_its_changes(mem: graphmem.Memory) -> None:
    """And embeds and writes nothing."""
    told(mem, "Mira", "works_at", "Acme", valid_at="2020")
    history = mem.history_hash()
    tried = mem.correct(only(mem), target="Globex", dry_run=True)
    assert mem.history_hash() == history
    assert mem.correct(only(mem), target="Globex").changes == tried.changes
