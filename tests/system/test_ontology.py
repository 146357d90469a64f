"""The ontology is part of the log: it stays with a group, and a change of it is recorded and believed from then on."""

from __future__ import annotations

import graphmem
from graphmem import Relation
from graphmem.embed.hashing import HashingEmbedder
from graphmem.stores.memory import MemoryStore
from graphmem.testing import FixedClock, ScriptedModel

JOBS = [
    {"source": "Mira", "relation": "works at", "target": "Acme", "valid_at": "2022"},
    {"source": "Mira", "relation": "works at", "target": "Globex", "valid_at": "2024"},
]


def targets(view: graphmem.View) -> list[str]:
    return sorted(fact.target for fact in view.facts("Mira", relation="WORKS_AT"))


def test_an_ontology_that_changes_refolds_everything_and_leaves_the_past_alone(tmp_path) -> None:
    """A single-valued relation becomes several-valued: both jobs hold from then on, and only one as believed before."""
    clock = FixedClock("2025-01-01T00:00Z")
    given = {"model": ScriptedModel({}), "embedder": HashingEmbedder(32), "clock": clock}
    with graphmem.open(tmp_path / "m.db", **given) as mem:
        mem.add_facts(JOBS)
        assert targets(mem) == ["Globex"]

    clock.advance(days=10)
    several = [Relation("WORKS_AT", synonyms=("WORKS_FOR",))]
    with graphmem.open(tmp_path / "m.db", ontology=several, **given) as mem:
        assert targets(mem) == ["Globex"]
        mem.add_facts([{"source": "Mira", "relation": "likes", "target": "jazz"}])

        assert targets(mem) == ["Acme", "Globex"]
        assert targets(mem.as_of(system="2025-01-05")) == ["Globex"]
        assert mem.verify() == []

    with graphmem.open(tmp_path / "m.db", **given) as mem:
        mem.add_facts([{"source": "Mira", "relation": "likes", "target": "opera"}])
        assert targets(mem) == ["Acme", "Globex"]


def test_each_group_keeps_its_own_ontology() -> None:
    """A relation declared for one handle's group says nothing about another group of the same store."""
    clock = FixedClock("2025-01-01T00:00Z")
    mem = graphmem.open(model=ScriptedModel({}), embedder=HashingEmbedder(32), clock=clock)
    assert isinstance(mem._scope.store, MemoryStore)
    mem.add_facts(JOBS, group="one")
    assert [f.target for f in mem.facts("Mira", relation="employed by", group="one")] == ["Globex"]
    assert mem.state_hash(group="one") != mem.state_hash(group="other")
