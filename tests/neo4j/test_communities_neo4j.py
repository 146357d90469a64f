"""Communities on Neo4j: the same layers as in plain dictionaries, and what Graphiti's clients see of them."""

from __future__ import annotations

import random
from typing import Any

import pytest

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.testing import FixedClock, ScriptedModel

pytestmark = [pytest.mark.neo4j, pytest.mark.xdist_group("neo4j")]

PEOPLE = [f"P{n}" for n in range(12)]


def live(mem: graphmem.Memory, clock: FixedClock, seed: int) -> None:
    """Facts that come and end, an episode that is forgotten, builds in between."""
    rng = random.Random(seed)
    episodes = []
    for step in range(9):
        clock.advance(hours=1)
        pairs = [rng.sample(PEOPLE, 2) for _ in range(4)]
        kind = "ends" if step % 4 == 3 else "holds"
        rows = [{"source": a, "relation": "knows", "target": b, "text": f"{a} knows {b}", "kind": kind} for a, b in pairs]
        episodes.append(mem.add_facts(rows, key=str(step)))
        if step == 5:
            mem.forget(episode=episodes[1])
        if step % 2:
            clock.advance(hours=1)
            mem.build_communities(algorithm="louvain", resolution=(0.5, 3.0))


@pytest.mark.parametrize("communities", ["manual", "incremental"])
def test_both_stores_hold_the_same_layers(emptied: Any, communities: str) -> None:
    """Every version with its instants, as of every instant, and nothing that is inconsistent; built by hand, and grown."""
    one, other = FixedClock("2024-01-01T09:00Z"), FixedClock("2024-01-01T09:00Z")
    made: dict[str, Any] = {"model": ScriptedModel({}), "embedder": HashingEmbedder(), "communities": communities}
    plain = graphmem.open(clock=one, **made)
    with plain, graphmem.open(emptied.uri, auth=emptied.auth, clock=other, **made) as mem:
        live(plain, one, 3)
        live(mem, other, 3)
        assert mem.history_hash() == plain.history_hash()
        assert mem.verify() == []
        for hours in range(3, 13, 2):
            at = f"2024-01-01T{9 + hours}:30Z"
            shown = [[c.to_dict() for c in m.as_of(system=at).communities(level=None, min_size=1)] for m in (plain, mem)]
            assert shown[0] == shown[1]
        assert mem.community_of("P1").to_dict() == plain.community_of("P1").to_dict()


def test_graphitis_clients_see_the_layer_of_now(emptied: Any) -> None:
    """A node a community with a name, a summary and its members; those that are over are gone."""
    from neo4j import GraphDatabase

    clock = FixedClock("2024-01-01T09:00Z")
    with graphmem.open(emptied.uri, auth=emptied.auth, model=ScriptedModel({}), embedder=HashingEmbedder(), clock=clock) as mem:
        live(mem, clock, 5)
        expected = {c.id: (c.name, {m.id for m in c.members}) for c in mem.communities(level=None, min_size=1)}
        stored = {v.id: v.summary for v in _versions(mem)}
    with GraphDatabase.driver(emptied.uri, auth=emptied.auth) as driver, driver.session() as session:
        rows = session.run(
            "MATCH (c:Community {group_id: 'main'}) OPTIONAL MATCH (c)-[h:HAS_MEMBER]->(e:Entity) "
            "RETURN c AS community, collect(e.uuid) AS members, collect(h) AS ties"
        )
        seen = {}
        for row in rows:
            community = row["community"]
            assert set(community) == {"uuid", "group_id", "name", "summary", "created_at", "name_embedding"}
            assert all(set(h) == {"uuid", "group_id", "created_at"} for h in row["ties"])
            assert community["summary"] == stored[community["uuid"]]
            seen[community["uuid"]] = set(row["members"])
    assert seen == {c: members for c, (_, members) in expected.items()}


def _versions(mem: graphmem.Memory) -> list[Any]:
    with mem._scope.store.read() as reader:
        return [v for v in reader.community_history("main")[0] if v.system.end is None]
