"""Communities as of any point: what was there, what is computed, and what has changed between two instants."""

from __future__ import annotations

import asyncio
import random

import pytest
from circles import START, TRIANGLES, knows
from hypothesis import given, settings
from hypothesis import strategies as st

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.errors import InvalidInput, NotFound
from graphmem.memory import Memory
from graphmem.testing import FixedClock, ScriptedModel

FIRST, SECOND = "2024-01-01T12:00Z", "2024-01-02T12:00Z"


@pytest.fixture
def grown(mem: Memory, clock: FixedClock) -> Memory:
    """Two circles, built; a day later Zoe has gone over to the other one, and Eve and Fay have come."""
    mem.add_facts(knows(*TRIANGLES, valid_at="2023"))
    mem.build_communities()
    clock.advance(days=1)
    mem.add_facts([{"source": a, "relation": "knows", "target": b, "kind": "ends", "invalid_at": "2024-01-02"} for a, b in TRIANGLES[4:6]])
    mem.add_facts(knows(("Zoe", "Ada"), ("Zoe", "Ben"), ("Zoe", "Cleo"), ("Eve", "Fay"), valid_at="2024-01-02"))
    mem.build_communities()
    clock.advance(days=1)
    return mem


def test_a_past_instant_shows_what_was_there(grown: Memory) -> None:
    """Not what is known now of that time."""
    assert [[m.name for m in c.members] for c in grown.as_of(system=FIRST).communities()] == [["Ada", "Ben", "Cleo"], ["Xi", "Yan", "Zoe"]]
    assert [sorted(m.name for m in c.members) for c in grown.communities()] == [
        ["Ada", "Ben", "Cleo", "Zoe"],
        ["Eve", "Fay"],
        ["Xi", "Yan"],
    ]
    assert grown.as_of(system=FIRST).community_of("Zoe").name == "Xi, Yan, Zoe"
    assert grown.community_of("Zoe").id == grown.as_of(system=FIRST).community_of("Ada").id


def test_a_past_valid_time_is_computed_and_says_so(grown: Memory) -> None:
    """On the graph of that day, by the last build's recipe; communities that continue a stored one bear its id."""
    then = grown.as_of(valid="2023-06-01").communities()
    assert [sorted(m.name for m in c.members) for c in then] == [["Ada", "Ben", "Cleo"], ["Xi", "Yan", "Zoe"]]
    assert all(c.computed and c.system is None for c in then)
    assert "computed" in repr(then[0])
    assert then[0].id == grown.community_of("Ada").id
    assert grown.as_of(valid="2023-06-01", system=FIRST).community_of("Zoe").name == "Xi, Yan, Zoe"
    assert not any(c.computed for c in grown.as_of(system=FIRST).communities())


def test_where_no_fact_held_an_error_says_so(grown: Memory) -> None:
    """A valid time before every fact."""
    with pytest.raises(NotFound, match=r"no fact of 'main' held at 1900-01-01"):
        grown.as_of(valid="1900-01-01").communities()


def test_what_became_of_communities_is_told(grown: Memory) -> None:
    """Born, grew, shrank, who moved; nothing between two instants of one layer."""
    told = grown.community_changes(FIRST, SECOND)
    assert [c.name for c in told.born] == ["Eve, Fay"]
    assert [sorted(m.name for m in c.members) for c in told.grew] == [["Ada", "Ben", "Cleo", "Zoe"]]
    assert [sorted(m.name for m in c.members) for c in told.shrank] == [["Xi", "Yan"]]
    assert [(m.entity, m.left) for m in told.moved] == [("Zoe", "Xi, Yan, Zoe")]
    assert told.counts() == {"born": 1, "grew": 1, "shrank": 1, "moved": 1}
    assert repr(told) == "<Changes of communities on level 0, 2024-01-01 to 2024-01-02: 1 born, 1 grew, 1 shrank, 1 moved>"
    assert told.to_dict()["moved"] == [{"entity": "Zoe", "left": "Xi, Yan, Zoe", "joined": told.moved[0].joined}]
    assert not grown.community_changes(FIRST, "2024-01-01T13:00Z")
    assert grown.community_changes(FIRST).counts() == told.counts()


@pytest.mark.parametrize("group", [["main", "other"], []])
def test_changes_are_those_of_one_group(grown: Memory, group: list[str]) -> None:
    """Several, or none, are refused, not cut to the first."""
    with pytest.raises(InvalidInput, match="must be one group"):
        grown.community_changes(FIRST, SECOND, group=group)  # type: ignore[arg-type]
    assert grown.community_changes(FIRST, SECOND, group=["main"]).born  # type: ignore[arg-type]


def test_a_split_and_a_merger_are_told(mem: Memory, clock: FixedClock) -> None:
    """By the ids of those they came from and went into."""
    mem.add_facts(knows(*TRIANGLES))
    mem.build_communities()
    clock.advance(days=1)
    mem.build_communities(resolution=0.01)
    clock.advance(days=1)
    mem.build_communities()
    joined = mem.community_changes(FIRST, SECOND)
    parted = mem.community_changes(SECOND, "2024-01-03T12:00Z")
    ((into, came),) = joined.merged.items()
    assert (len(came), [c.size for c in joined.died]) == (2, [3])
    ((was, pieces),) = parted.split.items()
    assert was == into
    assert sorted(c.size for c in pieces) == [3, 3]


def test_bad_instants_are_named(grown: Memory) -> None:
    """Before the first build, in the wrong order, of no level."""
    with pytest.raises(NotFound, match="had been built at 2020"):
        grown.community_changes("2020-01-01")
    with pytest.raises(InvalidInput, match="must be after since"):
        grown.community_changes(SECOND, FIRST)
    with pytest.raises(InvalidInput, match="level=4"):
        grown.community_changes(FIRST, SECOND, level=4)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_an_as_of_read_equals_the_one_noted_then(seed: int) -> None:
    """Whatever was written, ended, forgotten and rebuilt afterwards; at every instant every entity with a fact had one community."""
    rng = random.Random(seed)
    clock = FixedClock(START)
    people = [f"P{n}" for n in range(9)]
    noted = {}
    with graphmem.open(model=ScriptedModel({}), embedder=HashingEmbedder(), clock=clock) as mem:
        episodes = []
        for step in range(8):
            clock.advance(hours=1)
            pairs = [tuple(rng.sample(people, 2)) for _ in range(rng.randint(1, 4))]
            match rng.choice(("add", "add", "end", "forget")) if episodes else "add":
                case "add":
                    episodes.append(mem.add_facts(knows(*pairs), key=str(step)))
                case "end":
                    mem.add_facts([{"source": a, "relation": "knows", "target": b, "kind": "ends"} for a, b in pairs], key=str(step))
                case "forget":
                    mem.forget(episode=episodes.pop(rng.randrange(len(episodes))))
            clock.advance(hours=1)
            if rng.random() < 0.6 or not noted:
                mem.build_communities(resolution=rng.choice((1.0, (1.0, 2.0), (0.5, 4.0))), algorithm="louvain")
                placed = [m.id for c in mem.communities(min_size=1) for m in c.members] if mem.facts() else []
                assert sorted(placed) == sorted({e for f in mem.facts() for e in (f.source_id, f.target_id)})
            clock.advance(hours=1)
            noted[clock.now()] = shown(mem)
            assert mem.verify() == []
        for instant, then in noted.items():
            assert shown(mem.as_of(system=instant)) == then


def shown(view: graphmem.View) -> object:
    """Everything that a read gives of the layer."""
    try:
        return [c.to_dict() for c in view.communities(level=None, min_size=1)]
    except NotFound:
        return None


def test_the_async_memory_mirrors_communities() -> None:
    """The same calls, awaited."""

    async def run() -> None:
        async with graphmem.AsyncMemory.open(model=ScriptedModel({}), embedder=HashingEmbedder(), clock=FixedClock(START)) as mem:
            await mem.add_facts(knows(*TRIANGLES))
            await mem.build_communities()
            assert len(await mem.communities()) == 2
            assert (await mem.community_of("Ada")).size == 3

    asyncio.run(run())
