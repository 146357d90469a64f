"""Merged entities in communities, searches, pictures of the graph and tools: as of now they are one, as of before they are two."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory, tools
from graphmem.testing import FixedClock

Open = Callable[..., Memory]
CIRCLES = (("Ada", "Ben"), ("Ben", "Cleo"), ("Cleo", "Ada"), ("Xi", "Yan"), ("Yan", "Zoe"), ("Zoe", "Xi"))


def knows(memory: Memory, *pairs: tuple[str, str]) -> None:
    memory.add_facts([{"source": a, "relation": "knows", "target": b} for a, b in pairs])


def members(view: Any, **asked: Any) -> list[list[str]]:
    return sorted(sorted(m.name for m in c.members) for c in view.communities(min_size=1, **asked))


@pytest.mark.parametrize("other", ["Cleo", "Zoe"])
def test_a_merged_entity_leaves_its_community_and_the_other_stays_in_one(open_memory: Open, clock: FixedClock, other: str) -> None:
    """Whichever id is that of both: who came after the build takes the place of the one it was merged with."""
    memory = open_memory()
    knows(memory, *CIRCLES)
    memory.build_communities(algorithm="louvain")
    clock.advance(days=1)
    before = clock.now()
    clock.advance(days=1)
    for name in ("Nell", "Nora", "Nick"):
        knows(memory, (name, "Pim"))
        memory.rename(name, f"{other} {name}")
        merged = memory.merge(other, f"{other} {name}")
        circle = next(c for c in members(memory) if "Ben" in c or "Yan" in c) if other == "Cleo" else members(memory)[-1]
        assert len(circle) == 3
        assert any(n.startswith(other) for c in members(memory) for n in c)
        assert len({n for c in members(memory) for n in c}) == 6
        assert members(memory.as_of(system=before)) == [["Ada", "Ben", "Cleo"], ["Xi", "Yan", "Zoe"]]
        memory.restore(merged)
    assert memory.verify() == []


def test_communities_that_grow_follow_merges_and_splits(open_memory: Open, clock: FixedClock) -> None:
    """At every step each entity with a fact has one place on every level, and nobody who is gone has one."""
    memory = open_memory(communities="incremental")
    knows(memory, *CIRCLES)
    for step in (
        lambda: memory.merge("Ada", "Xi"),
        lambda: knows(memory, ("Ada", "Wim")),
        lambda: memory.split("Ada", episodes=memory.episodes(entity="Ada")[:1]),
        lambda: memory.distinct("Ben", "Yan"),
        lambda: memory.merge("Wim", "Yan"),
    ):
        clock.advance(hours=1)
        step()
        assert memory.verify() == []
        placed = [m.id for c in memory.communities(min_size=1) for m in c.members]
        bound = {e for f in memory.facts() for e in (f.source_id, f.target_id)}
        assert len(placed) == len(set(placed))
        assert bound <= set(placed)


def test_searches_graphs_and_tools_show_one_now_and_two_before(open_memory: Open, clock: FixedClock, tmp_path: Path) -> None:
    """Hits, context, an exported graph, networkx, the tools of an agent."""
    memory = open_memory()
    memory.add_facts([{"source": "Bea", "relation": "plays", "target": "Cello"}], reference_time="2024-01-01")
    memory.add_facts([{"source": "Beatriz Nogueira", "relation": "lives_in", "target": "Porto"}], reference_time="2024-02-01")
    clock.advance(days=1)
    before = clock.now()
    clock.advance(days=1)
    merged = memory.merge("Beatriz Nogueira", "Bea")
    old, now = memory.as_of(system=before), memory

    def people(view: Any) -> set[str]:
        return {h.item.name for h in view.search("Beatriz Bea", kinds=["entity"]) if h.item.name.startswith("Bea")}

    assert (people(old), people(now)) == ({"Bea", "Beatriz Nogueira"}, {"Bea"})
    assert (len(old.to_networkx()), len(now.to_networkx())) == (4, 3)
    for view, count in ((old, 4), (now, 3)):
        view.export(tmp_path / f"{count}.json")
        assert len(json.loads((tmp_path / f"{count}.json").read_text("utf-8"))["nodes"]) == count
    found = tools.call(memory, "entity", {"name": "Beatriz Nogueira"})
    assert (found["name"], len(found["facts"])) == ("Bea", 2)
    then = tools.call(memory, "entity", {"name": "Beatriz Nogueira", "as_of_system": before.isoformat()})
    assert (then["name"], len(then["facts"])) == ("Beatriz Nogueira", 1)
    assert "Porto" in memory.context("what of Bea?").text
    here = {f.uuid for f in now.facts()}
    [gone] = [f for f in old.facts() if f.uuid not in here]
    [obstacle] = memory.why_not(gone.text, gone.uuid).obstacles
    assert obstacle.code == "believed_no_more"
    assert "merge" in obstacle.text
    assert memory.diff(system=(before, clock.now())).of("merged")
    assert memory.undo(merged).counts()["restored"] >= 1
    assert people(memory) == {"Bea", "Beatriz Nogueira"}
