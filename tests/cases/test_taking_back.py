"""Cases C07, C10, C33 to C35, and faults of peers: what forgetting, correcting and undoing take back, and what they leave."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from graphmem import Memory
from graphmem.embed.hashing import HashingEmbedder
from graphmem.errors import NotFound
from graphmem.testing import FixedClock

Open = Callable[..., Memory]
HOMES = {"Ghent": "2023-02-01", "Porto": "2025-04-01", "Turin": "2024-06-01"}


def lives(memory: Memory) -> list[tuple[str, str | None]]:
    """Homes in order of time, each with the day on which it ends."""
    return [(f.target, f.invalid_at.date().isoformat() if f.invalid_at else None) for f in memory.facts("Dario", history=True)]


@pytest.mark.parametrize("order", list(permutations(HOMES)), ids=" ".join)
def test_c07_in_any_order_of_arrival_taking_one_home_back_leaves_the_same(order: tuple[str, ...], open_memory: Open) -> None:
    """Forgotten, and brought back; corrected, and undone."""
    memory = open_memory()
    said = {
        city: memory.add_facts([{"source": "Dario", "relation": "lives_in", "target": city, "valid_at": HOMES[city]}], key=city)
        for city in order
    }
    whole = [("Ghent", "2024-06-01"), ("Turin", "2025-04-01"), ("Porto", None)]
    assert lives(memory) == whole
    receipt = memory.forget(episode=said["Turin"])
    assert lives(memory) == [("Ghent", "2025-04-01"), ("Porto", None)]
    memory.restore(receipt)
    turin = next(f for f in memory.facts("Dario", history=True) if f.target == "Turin")
    fixed = memory.correct(turin, valid="2022-01-01")
    assert lives(memory) == [("Turin", "2023-02-01"), ("Ghent", "2025-04-01"), ("Porto", None)]
    memory.undo(fixed)
    assert lives(memory) == whole


def test_c10_what_was_ended_is_in_the_audit_with_its_reason_and_undone_by_its_id(open_memory: Open) -> None:
    """By the id that the list of operations gives."""
    memory = open_memory()
    memory.add_facts([{"source": "Mira", "relation": "works_at", "target": "Quillon", "valid_at": "2020"}])
    memory.end(memory.facts("Mira")[0], "2024-01-01", author="Tom", reason="she told me")
    assert list(memory.facts("Mira")) == []
    (entry,) = memory.operations(kind="end")
    assert (entry.by, entry.reason, entry.counts()) == ("Tom", "she told me", {"ended": 1})
    memory.undo(entry.id)
    assert [f.invalid_at for f in memory.facts("Mira")] == [None]


def test_c33_nothing_is_taken_back_across_groups(open_memory: Open, tmp_path: Path) -> None:
    """What is forgotten in one group leaves the other one byte for byte; its ids mean nothing there."""
    memory = open_memory()
    theirs = memory.add_facts([{"source": "Nadia", "relation": "rows_at", "target": "dawn"}], group="team a/b", key="k")
    mine = memory.add_facts([{"source": "Nadia", "relation": "grows", "target": "pears"}], key="k")
    before = Path(memory.export(tmp_path / "before.jsonl", group="team a/b").path).read_bytes()
    (fact,) = memory.facts(group="team a/b")
    receipt = memory.forget(entity="Nadia")
    for act in (
        lambda: memory.forget(episode=theirs),
        lambda: memory.correct(fact, text="x"),
        lambda: memory.end(fact),
        lambda: memory.undo(receipt, group="team a/b"),
        lambda: memory.forget(episode=mine, group="team a/b"),
    ):
        with pytest.raises(NotFound):
            act()
    assert Path(memory.export(tmp_path / "after.jsonl", group="team a/b").path).read_bytes() == before


def test_c34_a_batch_is_one_operation_and_its_words_are_nowhere_now(open_memory: Open, tmp_path: Path) -> None:
    """85 episodes with a marker: no fact, summary, community, search or export of now holds it."""
    memory = open_memory()
    rows = [{"source": "Rosa", "relation": "keeps", "target": f"marker ZQX-{n}"} for n in range(85)]
    memory.add_many([{"kind": "facts", "rows": [row], "session": "a"} for row in rows], progress=False)
    memory.add_facts([{"source": "Rosa", "relation": "repairs", "target": "clocks"}])
    memory.build_communities()
    done = memory.forget(session="a")

    assert len({c.id for c in done.changes if c.item == "episode"}) == 85
    assert memory.entity("Rosa").summary == "Rosa repairs clocks."
    for view in (memory.facts(history=True), memory.entities(), memory.communities(), memory.search("ZQX marker", history=True)):
        assert "ZQX" not in str(view.to_dict())
    assert "ZQX" not in Path(memory.export(tmp_path / "now.json", format="node-link").path).read_text("utf-8")


def test_c35_a_correction_that_fails_leaves_nothing_and_succeeds_when_done_again(open_memory: Open, clock: FixedClock) -> None:
    """The embedder fails at the new entity's name."""

    class Failing(HashingEmbedder):
        down = False

        def embed(self, texts: list[str]) -> np.ndarray:  # type: ignore[override]
            if self.down:
                raise ConnectionError("no embedder")
            return super().embed(texts)

    embedder = Failing(64)
    memory = open_memory(embedder=embedder)
    memory.add_facts([{"source": "Mira", "relation": "works_at", "target": "Acme", "valid_at": "2020"}])
    (fact,), history, log = memory.facts("Mira"), memory.history_hash(), memory.stats()["log"]
    embedder.down = True
    with pytest.raises(ConnectionError):
        memory.correct(fact, target="Globex")
    embedder.down = False
    assert (memory.history_hash(), memory.stats()["log"]) == (history, log)
    memory.correct(fact, target="Globex")
    assert [f.target for f in memory.facts("Mira")] == ["Globex"]


def test_episodes_of_a_batch_take_their_facts_with_them(open_memory: Open) -> None:
    """Recorded together, forgotten one by one: nothing stays behind, and nothing is cited that is not there."""
    memory = open_memory()
    rows = [{"source": "Rosa", "relation": "knows", "target": name} for name in ("Ana", "Ben", "Ana")]
    results = memory.add_many([{"kind": "facts", "rows": [row], "key": str(n)} for n, row in enumerate(rows)], progress=False)
    memory.forget(episode=results[0])
    assert {(f.target, f.episodes) for f in memory.facts("Rosa")} == {("Ana", results[2].ids), ("Ben", results[1].ids)}
    memory.forget(episode=results[1:])
    assert memory.counts() == {"episodes": 0, "entities": 0, "facts": 0, "mentions": 0}


def test_an_end_that_comes_true_again_is_not_lost(open_memory: Open) -> None:
    """Acme, Globex, then Acme confirmed by hand: Globex ends, and undoing that opens it again."""
    memory = open_memory()
    for firm, year in (("Acme", "2020"), ("Globex", "2021")):
        memory.add_facts([{"source": "Alice", "relation": "works_at", "target": firm, "valid_at": year}])
    acme = next(f for f in memory.facts("Alice", history=True) if f.target == "Acme")
    done = memory.confirm(acme, "2023-01-01")
    assert [(f.target, f.invalid_at is None) for f in memory.facts("Alice", history=True)] == [
        ("Acme", False),
        ("Globex", False),
        ("Acme", True),
    ]
    memory.undo(done)
    assert [f.target for f in memory.facts("Alice")] == ["Globex"]
