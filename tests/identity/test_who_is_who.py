"""Merging, splitting, keeping apart and naming entities, and undoing each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from graphmem import Memory
from graphmem.errors import GraphmemError, InvalidInput, NotFound
from graphmem.testing import FixedClock, ScriptedModel

Open = Callable[..., Memory]


def tell(memory: Memory, *facts: str, **more: Any) -> str:
    """An episode of facts, each "source relation target"; the id of the episode."""
    rows = [dict(zip(("source", "relation", "target"), fact.split(), strict=True)) for fact in facts]
    return memory.add_facts([{**row, **more} for row in rows]).id


def rows(memory: Any) -> list[str]:
    """What holds or held, sorted."""
    return sorted(f"{f.source} {f.relation} {f.target} {f.period}" for f in memory.facts(history=True))


def names_of(memory: Any) -> list[str]:
    return sorted(e.name for e in memory.entities())


@pytest.fixture
def mem(open_memory: Open, clock: FixedClock) -> Memory:
    """A memory that knows one city by two names."""
    memory = open_memory()
    tell(memory, "Mira lives_in Lisboa", valid_at="2018-05-01")
    clock.advance(days=1)
    tell(memory, "Mira lives_in Lisbon", valid_at="2020-05-01")
    clock.advance(days=1)
    return memory


def test_two_names_of_one_city_are_one_home_once_they_are_merged(mem: Memory) -> None:
    """Stories 31 and 32: merged, she has lived there since 2018; undone, she moved in 2020."""
    apart = ["Mira LIVES_IN Lisboa 2018-05-01 to 2020-04-30", "Mira LIVES_IN Lisbon since 2020-05-01"]
    assert rows(mem) == apart
    before = mem.state_hash()
    merged = mem.merge("Lisboa", "Lisbon", reason="one city", author="Ada")
    assert rows(mem) == ["Mira LIVES_IN Lisboa since 2018-05-01"]
    [fact] = mem.facts("Lisbon")
    assert len(fact.episodes) == 2
    assert mem.entity("Lisbon").name == "Lisboa"
    assert mem.entity("Lisbon").aliases == ("Lisbon",)
    assert [(c.kind.value, c.item, c.text) for c in merged.changes if c.item == "entity"] == [("merged", "entity", "Lisbon")]
    assert {c.kind.value for c in merged.changes if c.item == "fact"} == {"merged", "reopened"}
    mem.restore(merged)
    assert rows(mem) == apart
    assert mem.state_hash() == before


def test_a_merge_changes_no_past(mem: Memory, clock: FixedClock) -> None:
    """As of before it there were two, on both axes; now there is one, also about then."""
    before = clock.now()
    clock.advance(days=1)
    mem.merge("Lisboa", "Lisbon")
    then = mem.as_of(system=before)
    assert [n for n in names_of(then) if n.startswith("Lis")] == ["Lisboa", "Lisbon"]
    assert rows(then) == ["Mira LIVES_IN Lisboa 2018-05-01 to 2020-04-30", "Mira LIVES_IN Lisbon since 2020-05-01"]
    assert [f.target for f in mem.as_of(valid="2021-01-01", system=before).facts("Mira")] == ["Lisbon"]
    assert [f.target for f in mem.as_of(valid="2021-01-01").facts("Mira")] == ["Lisboa"]
    assert {h.item.name for h in then.search("Lisbon", kinds=["entity"])} >= {"Lisbon"}
    assert {h.item.name for h in mem.search("Lisbon", kinds=["entity"])} >= {"Lisboa"}
    assert "Lisbon" in mem.context("where does Mira live?").text


def test_facts_between_two_that_are_merged_end_and_doubles_become_one(mem: Memory) -> None:
    """C19 for a merge: no fact joins an entity with itself, others point at the one, none is there twice."""
    tell(mem, "Lisboa near Lisbon", "Lisboa near Sintra", "Lisbon near Sintra", "Ivo knows Lisbon")
    merged = mem.merge("Lisboa", "Lisbon")
    assert rows(mem) == [
        "Ivo KNOWS Lisboa since 2026-01-17",
        "Lisboa NEAR Sintra since 2026-01-17",
        "Mira LIVES_IN Lisboa since 2018-05-01",
    ]
    assert {c.reason for c in merged.changes if c.text == "Lisboa near Lisbon"} == {"both its ends are one entity now"}
    mem.restore(merged)
    assert "Lisboa NEAR Lisbon since 2026-01-17" in rows(mem)
    assert len(rows(mem)) == 6


def test_a_merged_entity_is_known_by_every_id_and_name(mem: Memory) -> None:
    """The id of the one that is no more leads to the one that is; the least id is that of both."""
    ids = [mem.entity(n).id for n in ("Lisboa", "Lisbon")]
    mem.merge(mem.entity("Lisboa"), mem.entity("Lisbon").item)
    assert mem.entity("Lisbon").id == mem.entity("Lisboa").id == min(ids)
    assert [mem.entity(i).id for i in ids] == [min(ids)] * 2
    assert len(mem.facts(max(ids))) == 1
    assert mem.rename(max(ids), "Lissabon").counts() == {"corrected": 1}


def test_what_is_said_after_a_merge_stays_with_the_name_it_is_said_under(mem: Memory) -> None:
    """While they are one it is said of that one; undone, each has what its own names were said with, as if never merged."""
    for memory_name in ("Lisbon", "Lisboa"):
        mem.alias(memory_name, f"{memory_name[:4]}X")
    merged = mem.merge("Lisboa", "Lisbon")
    tell(mem, "Ivo lives_in Lisbon", "Ana lives_in lisboa", "Eva lives_in LISBX")
    mem.add_facts([{"source": "LISBON", "relation": "near", "target": "Sintra"}])
    assert {f.target for n in ("Ivo", "Ana", "Eva") for f in mem.facts(n)} == {"Lisboa"}
    mem.restore(merged)
    assert [f.target for n in ("Ivo", "Ana") for f in mem.facts(n)] == ["Lisbon", "Lisboa"]
    assert [f.source for f in mem.facts("Sintra")] == ["Lisbon"]
    assert len(mem.episodes(entity="Lisbon")) == 3


def test_distinct_bars_a_merge_and_undoes_one(mem: Memory) -> None:
    """By names each means the one that was told by it; undone, the merge counts again."""
    mem.merge("Lisboa", "Lisbon")
    apart = mem.distinct("Lisboa", "Lisbon")
    assert [n for n in names_of(mem) if n.startswith("Lis")] == ["Lisboa", "Lisbon"]
    assert len(rows(mem)) == 2
    assert [(c.kind.value, c.text) for c in apart.changes if c.item == "entity"] == [("split", "Lisbon")]
    with pytest.raises(InvalidInput, match=f"distinct from Lisboa by operation {apart.id}; undo that first"):
        mem.merge("Lisboa", "Lisbon")
    mem.restore(apart)
    assert rows(mem) == ["Mira LIVES_IN Lisboa since 2018-05-01"]


def test_distinct_of_two_that_were_never_joined_only_bars(mem: Memory) -> None:
    """Nothing changes, and a merge is refused from then on, by whatever name."""
    before = mem.state_hash()
    assert mem.distinct("Lisbon", "Lisboa").changes == ()
    assert mem.state_hash() == before
    mem.alias("Lisbon", "Olisipo")
    with pytest.raises(InvalidInput, match="distinct"):
        mem.merge("Olisipo", "Lisboa")


def test_distinct_parts_what_a_text_has_joined(open_memory: Open) -> None:
    """The link of the episode stays in the log and counts again once that is undone."""
    said = {"entities": [{"name": "Bea", "type": "Person", "aliases": ["Beatriz Nogueira"]}], "facts": []}
    memory = open_memory(model=ScriptedModel({"extract": lambda ask: said, "resolve": {"matches": []}}))
    tell(memory, "Bea likes Jazz")
    tell(memory, "Beatriz lives_in Porto")
    memory.rename("Beatriz", "Beatriz Nogueira")
    result = memory.add_text("Bea is Beatriz Nogueira.", reference_time="2025-01-01")
    assert "merged" in result.counts()
    assert len(memory.facts("Bea")) == 2
    apart = memory.distinct("Bea", "Beatriz Nogueira")
    assert {"Bea", "Beatriz Nogueira"} <= set(names_of(memory))
    memory.restore(apart)
    assert len(memory.facts("Bea")) == 2


def test_a_split_gives_what_some_episodes_say_to_a_new_entity(open_memory: Open) -> None:
    """Mentions, names and facts; the same split gives the same id; undone, all is as before."""
    memory = open_memory()
    tell(memory, "Alex works_at Acme")
    other = tell(memory, "ALEX works_at Globex", "Alex likes Tea")
    tell(memory, "Alex likes Jazz")
    before, old = memory.state_hash(), memory.entity("Alex")
    taken = memory.split("Alex", episodes=memory.episode(other))
    new = next(c.id for c in taken.changes if c.kind.value == "split" and c.item == "entity")
    assert sorted(f.target for f in memory.facts(new)) == ["Globex", "Tea"]
    assert sorted(f.target for f in memory.facts(old.id)) == ["Acme", "Jazz"]
    assert (memory.entity(new).name, memory.entity(old.id).name) == ("ALEX", "Alex")
    assert [e.id for e in memory.episodes(entity=new)] == [other]
    with pytest.raises(InvalidInput, match=f"several entities share.*{new}"):
        memory.rename("Alex", "Alexander")
    memory.rename(new, "Alex Two")
    memory.restore(taken)
    assert memory.state_hash() == before
    again = memory.split("Alex", episodes=[other])
    assert new in {c.id for c in again.changes}
    assert memory.entity(new).name == "Alex Two"


def test_a_split_takes_episodes_out_of_what_was_merged(open_memory: Open) -> None:
    """Whichever of those merged the episodes know: all they say of it is the new one's."""
    memory = open_memory()
    tell(memory, "Bea likes Jazz")
    both = tell(memory, "Bea likes Tea", "Beatriz likes Rum")
    tell(memory, "Beatriz likes Opera")
    memory.merge("Bea", "Beatriz")
    taken = memory.split("Bea", episodes=both)
    new = next(c.id for c in taken.changes if c.kind.value == "split" and c.item == "entity")
    assert sorted(f.target for f in memory.facts(new)) == ["Rum", "Tea"]
    rest = next(e for e in memory.entities("Bea") if e.id != new)
    assert sorted(f.target for f in memory.facts(rest.id)) == ["Jazz", "Opera"]
    memory.merge(new, rest)
    assert len(memory.facts("Bea")) == 4


def test_a_new_name_is_shown_and_the_old_one_still_finds(mem: Memory) -> None:
    """In reads, searches and later texts; the last rename counts; undone, the one before does."""
    first = mem.rename("Lisbon", "City of Seven Hills", reason="poetry")
    assert [(c.kind.value, c.text, c.reason) for c in first.changes] == [("corrected", "City of Seven Hills", "was called Lisbon")]
    second = mem.rename("Lisbon", "Olisipo")
    assert (mem.entity("Lisbon").name, mem.entity("Lisbon").aliases) == ("Olisipo", ("Lisbon",))
    assert [f.target for f in mem.facts("Mira")] == ["Olisipo"]
    assert "Olisipo" in {h.item.name for h in mem.search("Olisipo", kinds=["entity"])}
    assert "Olisipo" in {h.item.name for h in mem.search("Lisbon", kinds=["entity"])}
    assert any(h.item.target == "Olisipo" for h in mem.search("who lives in Olisipo?", kinds=["fact"]))
    mem.restore(second)
    assert mem.entity("Lisbon").name == "City of Seven Hills"
    mem.restore(first)
    assert (mem.entity("Lisbon").name, mem.entity("Lisbon").aliases) == ("Lisbon", ())


def test_another_name_counts_in_later_texts_until_it_is_undone(mem: Memory) -> None:
    """What is said of it then is said of this entity; taken away, the next text means somebody new."""
    given = mem.alias("Lisbon", "Lx")
    assert [(c.kind.value, c.reason) for c in given.changes] == [("extended", "also called Lx")]
    tell(mem, "Ivo lives_in LX")
    assert [f.target for f in mem.facts("Ivo")] == ["Lisbon"]
    assert [h.item.name for h in mem.search("lx", kinds=["entity"], limit=1)] == ["Lisbon"]
    tell(mem, "Ana lives_in Lisbon")
    again = mem.alias("Lisbon", "lx")
    assert again.changes == ()
    taken = mem.restore(given)
    assert taken.changes == (), "it is said in a text, and by another alias"
    mem.alias("Lisboa", "Ulissipo")
    undone = mem.restore(mem.alias("Lisbon", "Felicitas"))
    assert [c.reason for c in undone.changes] == ["no longer called Felicitas"]
    tell(mem, "Eva lives_in Felicitas")
    assert "Felicitas" in names_of(mem)


def test_names_that_others_have_are_told(mem: Memory) -> None:
    """It is allowed, since two may have one name; the warning says who has it."""
    [warning] = mem.alias("Lisbon", "Mira").warnings
    assert (warning.code, warning.raw) == ("name_taken", "Mira")
    assert sorted(e.id for e in mem.entities("Mira") if e.name == "Mira")[0] in warning.message
    assert [w.code for w in mem.rename("Lisboa", "lisbon").warnings] == ["name_taken"]
    tell(mem, "Porto near Braga")
    tell(mem, "Ana knows Eva", source_type="Person", target_type="City")
    assert [w.code for w in mem.merge("Ana", "Eva").warnings] == ["types_differ"]


def test_a_dry_run_tells_what_would_change_and_changes_nothing(mem: Memory) -> None:
    """The same changes as the act itself, and no entry in the log."""
    tell(mem, "Lisboa near Lisbon")
    before, history, length = mem.state_hash(), mem.history_hash(), mem.stats()["log"]
    tried = mem.merge("Lisboa", "Lisbon", dry_run=True)
    split = mem.split("Mira", episodes=mem.episodes(entity="Mira")[0], dry_run=True)
    assert (mem.state_hash(), mem.history_hash(), mem.stats()["log"]) == (before, history, length)
    assert (tried.ids, split.ids, tried.created) == ((), (), False)
    shown = [(c.kind, c.text, c.reason) for c in tried.changes]
    assert shown == [(c.kind, c.text, c.reason) for c in mem.merge("Lisboa", "Lisbon").changes]
    assert split.counts()["split"] == 2


WRONG: dict[str, tuple[type[GraphmemError], str, Callable[[Memory], object]]] = {
    "merge with itself": (InvalidInput, "already", lambda m: m.merge("Mira", m.entity("Mira"))),
    "an unknown name": (NotFound, "'Nobody' in group 'main'", lambda m: m.merge("Mira", "Nobody")),
    "an unknown id": (NotFound, "en_x", lambda m: m.rename("en_x", "X")),
    "no name": (InvalidInput, "other=7", lambda m: m.merge("Mira", 7)),
    "nothing": (InvalidInput, "entity=''", lambda m: m.alias("", "X")),
    "another group": (InvalidInput, "is of group 'other', not of 'main'", lambda m: m.merge("Mira", m.entity("Ivo", group="other"))),
    "a value": (InvalidInput, "is a value", lambda m: m.merge("Mira", "42")),
    "a shared name": (InvalidInput, "several entities share", lambda m: m.distinct("Twin", "Mira")),
    "one that never was two": (InvalidInput, "from the beginning", lambda m: m.distinct("Mira", "mira")),
    "a hidden episode": (NotFound, "ep_x", lambda m: m.split("Mira", episodes=["ep_x"])),
    "no episodes": (InvalidInput, "episodes=", lambda m: m.split("Mira", episodes=[])),
    "not episodes": (InvalidInput, "episodes=7", lambda m: m.split("Mira", episodes=7)),
    "an episode about others": (InvalidInput, "do not mention", lambda m: m.split("Ada", episodes=[m.episodes()[0].id])),
    "all its episodes": (InvalidInput, "are all that mention", lambda m: m.split("Mira", episodes=m.episodes(entity="Mira"))),
    "a blank name": (InvalidInput, "name=", lambda m: m.rename("Mira", " ... ")),
    "a name that is none": (InvalidInput, "name=None", lambda m: m.alias("Mira", None)),
    "a name too long": (InvalidInput, "400", lambda m: m.alias("Mira", "x" * 401)),
}  # fmt: skip


def test_what_cannot_be_is_a_clear_error_and_changes_nothing(mem: Memory) -> None:
    """Nobody, somebody else's, a value, the same twice, episodes that say nothing of it."""
    mem.add_facts([{"source": "Ivo", "relation": "knows", "target": "Ulla"}], group="other")
    mem.add_facts([{"source": "Ada", "relation": "aged", "target": "42", "target_type": "Value"}])
    tell(mem, "Twin likes Jazz", source_type="Person")
    tell(mem, "Twin likes Opera")
    mem.split("Twin", episodes=mem.episodes(entity="Twin")[0])
    before = (mem.state_hash(), mem.history_hash(), mem.stats()["log"])
    for name, (error, told, act) in WRONG.items():
        with pytest.raises(error) as raised:
            act(mem)
        assert told in str(raised.value), name
        assert (mem.state_hash(), mem.history_hash(), mem.stats()["log"]) == before, name


def test_a_split_that_was_said_of_two_merged_lists_whom_distinct_can_part(open_memory: Open) -> None:
    """A name that several of those merged have does not say which is meant."""
    memory = open_memory()
    for n in range(2):
        tell(memory, f"Bea likes Jazz{n}")
    first = memory.split("Bea", episodes=memory.episodes(entity="Bea")[0])
    twin = next(c.id for c in first.changes if c.item == "entity")
    rest = next(e.id for e in memory.entities("Bea") if e.id != twin)
    memory.merge(twin, rest)
    with pytest.raises(InvalidInput, match=f"two of the ids: .*({twin}|{rest})"):
        memory.distinct("Bea", "bea")
    memory.distinct(twin, rest)
    assert len(memory.entities("Bea")) == 2


def test_a_log_with_every_act_is_replayed_to_equal_hashes(mem: Memory, open_memory: Open, tmp_path: Any) -> None:
    """Written to a file and loaded into another memory."""
    merged = mem.merge("Lisboa", "Lisbon")
    mem.alias("Lisboa", "Lx")
    mem.rename("Lx", "Olisipo")
    tell(mem, "Ivo lives_in LX", "Ivo knows Mira")
    mem.split("Mira", episodes=mem.episodes(entity="Mira")[:1])
    mem.restore(merged)
    mem.export(tmp_path / "log.jsonl", format="log")
    other = open_memory("beside.db")
    other.load(tmp_path / "log.jsonl")
    assert (other.state_hash(), other.history_hash()) == (mem.state_hash(), mem.history_hash())
