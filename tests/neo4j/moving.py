"""A memory to move, and what is asked of it before and after."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.llm.base import Ask
from graphmem.testing import FixedClock, ScriptedModel

FIRMS = ("Acme", "Globex", "Initech")


def extract(ask: Ask) -> dict[str, object]:
    """What the plain sentences of these tests say."""
    who, firm, year = str(ask.payload["text"]).rstrip(".").split()
    names = [{"name": who, "type": "Person"}, {"name": firm, "type": "Company"}]
    facts = [{"source": who, "relation": "WORKS_AT", "target": firm, "valid_at": year, "text": f"{who} works at {firm}"}]
    return {"entities": names, "facts": facts}


def opened(where: object, **reach: Any) -> graphmem.Memory:
    """A memory with a model whose answers are recorded."""
    model = ScriptedModel({"extract": extract, "resolve": {"matches": []}, "judge": {"judgements": []}}, local=False)
    clock = FixedClock("2026-01-15T12:00:00Z")
    return graphmem.open(where, model=model, embedder=HashingEmbedder(32), clock=clock, **reach)  # type: ignore[arg-type]


def told(where: Path, count: int = 18) -> Path:
    """A file of two groups with ended, forgotten and restored things, communities, and recorded answers."""
    with opened(where) as memory:
        rows = [
            {"text": f"Orr{n % 4} {FIRMS[n % 3]} {1990 + n * 17 % 30}.", "key": str(n), "reference_time": f"2025-01-{n + 1:02d}"}
            for n in range(count)
        ]
        memory.add_many(rows, progress=False)
        memory.add_many(rows[:3], group="other", progress=False)
        memory.forget(episode=memory.episodes()[3].id)
        memory.restore(memory.forget(episode=memory.episodes()[5].id))
        memory.build_communities()
        memory.add_many([{"text": f"Orr{n} Hooli {2000 + n}.", "key": f"h{n}"} for n in range(3)], progress=False)
        memory.build_communities()
    return where


def seen(memory: graphmem.Memory) -> list[object]:
    """Proof, counts, and what questions find at several points, in order."""
    views = (memory, memory.as_of(valid="2000-06-01"), memory.as_of(system="2026-01-15T12:00:00.000010Z"))
    found: list[object] = []
    for view in views:
        for query in ("Where does Orr1 work?", "Globex since 1995"):
            hits = view.search(query, limit=9, group=("main", "other"), history=True)
            found.append([(h.kind, h.id, [(r.leg, round(r.score, 5)) for r in h.reasons]) for h in hits])
        found += [
            [f.to_dict() for f in view.facts(history=True)],
            [e.to_dict() for e in view.entities()],
            view.counts(),
        ]
    found.append([c.to_dict() for c in memory.communities()])
    stats = {name: value for name, value in memory.stats().items() if name != "groups"}
    return [*found, stats, *(h(group=g) for g in ("main", "other") for h in (memory.state_hash, memory.history_hash))]
