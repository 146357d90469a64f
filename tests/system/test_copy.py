"""A memory that moves: the same answers and the same proof at the other end, also after kills."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from reembedder import Turned
from worker import episodes, model, open_memory

import graphmem
from graphmem.cli import main
from graphmem.embed.hashing import HashingEmbedder
from graphmem.errors import EmbedderMismatch, InvalidInput, StoreCorrupt, StoreUnavailable, UnfinishedCopy
from graphmem.testing import FixedClock

QUESTIONS = ("Where does A0Orr work?", "Who works at AFirm7?", "worked since 1997", "Firm")
COPIER = Path(__file__).with_name("copier.py")
ROUNDS = [pytest.param(range(3), id="3 rounds"), pytest.param(range(3, 103), id="100 rounds", marks=pytest.mark.slow)]


def made(where: Path, count: int = 24) -> Path:
    """A memory of two groups with ended, forgotten and restored things, and recorded answers."""
    with open_memory(str(where), local=False) as memory:
        memory.add_many(episodes("A", count), progress=False)
        memory.add_many(episodes("B", 3), group="other", progress=False)
        memory.forget(episode=memory.episodes()[3].id)
        memory.restore(memory.forget(episode=memory.episodes()[5].id))
        memory.build_communities()
        memory.add_text(
            "A9Orr works at AFirm1 since 2021.\n\n" + "Nothing else is said here. " * 60, key="long", reference_time="2025-03-01"
        )
    return where


def seen(memory: graphmem.Memory) -> list[object]:
    """Proof and answers: hashes, counts, what questions find now and at other times, with scores and reasons."""
    views = (memory, memory.as_of(valid="2000-06-01"), memory.as_of(system="2026-01-15T12:00:00.000010Z"))
    groups = ("main", "other")
    found: list[object] = [
        view.search(q, limit=12, group=groups, history=h).to_dict() for view in views for q in QUESTIONS for h in (False, True)
    ]
    found = json.loads(json.dumps(found), parse_float=lambda digits: round(float(digits), 6))  # sums of float32 in another order
    found.append([c.to_dict() for c in memory.communities()])
    stats = {name: value for name, value in memory.stats().items() if name != "groups"}
    return [*found, stats, *(h(group=g) for g in groups for h in (memory.state_hash, memory.history_hash))]


def test_a_file_moves_to_another_and_back_into_an_open_memory(tmp_path: Path) -> None:
    """Nothing differs, nothing is embedded, and the copy can be written on like the original."""
    source, target = made(tmp_path / "a.db"), tmp_path / "b.db"
    done = graphmem.copy(source, target, progress=False)
    assert done.groups == ("main", "other")
    assert (done.resumed, done.items > 60) == (0, True)
    with open_memory(str(source)) as memory, open_memory(str(target)) as other, open_memory(":memory:") as scratch:
        graphmem.copy(other, scratch, progress=False)
        expected = seen(memory)
        for copy in (other, scratch):
            assert copy.verify() == []
            assert seen(copy) == expected
        for each in (memory, other, scratch):
            each.add_text("A9Orr works at AFirm2 since 2011.", key="later", reference_time="2025-04-01")
            each.forget(episode=each.episodes()[2].id)
        assert seen(memory) == seen(other) == seen(scratch)
        assert other.verify() == []


def test_communities_go_on_growing_in_the_copy(tmp_path: Path) -> None:
    """As they would in the original, to the same end."""
    people = [f"P{n}" for n in range(12)]
    rows = [{"source": a, "relation": "KNOWS", "target": b} for a, b in pairwise(people)]

    def opened(name: str, **options: object) -> graphmem.Memory:
        clock = FixedClock("2026-01-15T12:00:00Z")
        return graphmem.open(tmp_path / name, model=model(), embedder=HashingEmbedder(64), clock=clock, **options)  # type: ignore[arg-type]

    with opened("a.db", communities="incremental") as memory:
        memory.add_facts(rows)
    graphmem.copy(tmp_path / "a.db", tmp_path / "b.db", progress=False)
    ends = []
    for name in ("a.db", "b.db"):
        with opened(name) as memory:
            before = {c.id: c.members for c in memory.communities()}
            memory.add_facts([{"source": "New", "relation": "KNOWS", "target": "P3"}], key="later")
            ends.append((before, [c.to_dict() for c in memory.communities()], memory.history_hash()))
    assert ends[0] == ends[1]


def test_recorded_answers_come_along(tmp_path: Path) -> None:
    """A model that is asked the same again is not asked at all."""
    source, target = made(tmp_path / "a.db"), tmp_path / "b.db"
    graphmem.copy(source, target, progress=False)
    keys = []
    for where in (source, target):
        with open_memory(str(where)) as memory, memory._scope.store.read() as reader:
            keys.append(reader.answers("", 1000))  # type: ignore[attr-defined]
    assert keys[0] == keys[1] != []


def test_recorded_answers_of_the_others_come_with_the_next_copy(tmp_path: Path) -> None:
    """Also when the first group is there already."""
    source, target = made(tmp_path / "a.db"), tmp_path / "b.db"
    graphmem.copy(source, target, group="main", progress=False)
    graphmem.copy(source, target, progress=False)
    keys = []
    for where in (source, target):
        with open_memory(str(where)) as memory, memory._scope.store.read() as reader:
            keys.append(reader.answers("", 1000))  # type: ignore[attr-defined]
    assert keys[0] == keys[1] != []


def test_one_group_can_go_alone(tmp_path: Path) -> None:
    """The other is not there, and comes with the next copy."""
    source, target = made(tmp_path / "a.db"), tmp_path / "b.db"
    assert graphmem.copy(source, target, group="other", progress=False).groups == ("other",)
    with open_memory(str(target)) as memory:
        assert memory.stats()["groups"] == ["other"]
    graphmem.copy(source, target, progress=False)
    with open_memory(str(source)) as memory, open_memory(str(target)) as other:
        assert seen(memory) == seen(other)


def test_an_older_copy_is_brought_up_to_date(tmp_path: Path) -> None:
    """What the original was told since, and what that changed of what was there."""
    source, target = made(tmp_path / "a.db"), tmp_path / "b.db"
    graphmem.copy(source, target, progress=False)
    with open_memory(str(source)) as memory:
        memory.add_many(episodes("A", 30), progress=False)
        memory.forget(episode=memory.episodes()[7].id)
    done = graphmem.copy(source, target, progress=False)
    assert done.resumed > 0
    with open_memory(str(source)) as memory, open_memory(str(target)) as other:
        assert seen(memory) == seen(other)
        assert other.verify() == []


def test_a_line_that_was_changed_is_told_of_the_copy_as_well(tmp_path: Path) -> None:
    """It says what the original says, and has its digests: what was recorded is known of both."""
    source, target = made(tmp_path / "a.db"), tmp_path / "b.db"
    with closing(sqlite3.connect(source)) as raw:
        assert raw.execute("UPDATE episode SET source = 'elsewhere' WHERE seq = 4").rowcount > 0
        raw.commit()
    graphmem.copy(source, target, progress=False)
    with open_memory(str(source)) as memory, open_memory(str(target)) as other:
        assert seen(memory) == seen(other)
        assert [v.kind for v in other.verify()] == [v.kind for v in memory.verify()] == ["line"] * 2
        with pytest.raises(StoreCorrupt, match="changed at line 4: it is not what was recorded"):
            other.replay(tmp_path / "c.db", group="main", progress=False)


def test_a_copy_that_is_not_whole_is_refused(tmp_path: Path) -> None:
    """By the group that is not whole; searches and writes of a handle that was open before say so too."""

    class Stopped(Exception):
        pass

    def stop(done: int, total: int | None) -> None:
        if done > 20:
            raise Stopped

    source, target = made(tmp_path / "a.db"), tmp_path / "b.db"
    before, log = open_memory(str(target)), tmp_path / "a.jsonl"
    with open_memory(str(source)) as memory:
        memory.export(log, format="log")
    with pytest.raises(Stopped):
        graphmem.copy(source, target, progress=stop)
    with pytest.raises(UnfinishedCopy, match=r"'main'.*a\.db.*graphmem copy"):
        open_memory(str(target))
    for attempt in (
        lambda: before.search("Firm"),
        lambda: before.context("Firm"),
        lambda: before.load(log, progress=False),
        lambda: before.add_text("A9Orr works at AFirm2 since 2011."),
        lambda: graphmem.copy(target, tmp_path / "c.db", progress=False),
    ):
        with pytest.raises(UnfinishedCopy):
            attempt()
    before.close()
    graphmem.copy(source, target, progress=False)
    with open_memory(str(source)) as memory, open_memory(str(target)) as other:
        assert seen(memory) == seen(other)


def test_what_cannot_be_copied_is_said_before_anything_is_made(tmp_path: Path) -> None:
    """A source that is not there, a target that is the source or holds something else, another embedder, a group nobody knows."""
    source, target = made(tmp_path / "a.db"), tmp_path / "b.db"
    with pytest.raises(StoreUnavailable, match="no such memory"):
        graphmem.copy(tmp_path / "none.db", target)
    for one, other in ((":memory:", target), (source, ":memory:"), (source, source)):
        with pytest.raises(InvalidInput):
            graphmem.copy(one, other)
    with pytest.raises(InvalidInput, match="nobody"):
        graphmem.copy(source, tmp_path / "c.db", group="nobody", progress=False)
    with pytest.raises(InvalidInput, match="neither side"):
        graphmem.copy(source, target, auth=("neo4j", "secret"))
    assert not target.exists()
    with open_memory(str(target)) as memory:
        memory.add_text("Somebody else works at AFirm1 since 1999.", key="other")
        hashed = memory.state_hash()
    with pytest.raises(InvalidInput, match="holds another memory in group 'main'"):
        graphmem.copy(source, target, progress=False)
    with open_memory(str(target)) as memory:
        assert memory.state_hash() == hashed
    turned = tmp_path / "d.db"
    with graphmem.open(turned, model=model(), embedder=Turned(64), group="third", clock=FixedClock("2026-01-15T12:00:00Z")) as memory:
        memory.add_text("A9Orr works at AFirm2 since 2011.")
    with pytest.raises(EmbedderMismatch, match="turned/64"):
        graphmem.copy(source, turned, progress=False)


def test_nothing_to_copy_is_no_fault(tmp_path: Path) -> None:
    """An empty memory."""
    open_memory(str(tmp_path / "a.db")).close()
    assert graphmem.copy(tmp_path / "a.db", tmp_path / "b.db").groups == ()


def test_the_command_says_what_it_did(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Once in words, once as JSON; a target that holds something else is the caller's mistake."""
    source, target = made(tmp_path / "a.db"), tmp_path / "b.db"
    assert main(["copy", str(source), str(target), "--json"]) == 0
    done = json.loads(capsys.readouterr().out)
    assert (done["groups"], done["resumed"]) == (["main", "other"], 0)
    assert main(["copy", str(source), str(target), "--group", "main"]) == 0
    assert "by an earlier run; read back and compared" in capsys.readouterr().out
    with graphmem.open(tmp_path / "c.db", model=model(), embedder=HashingEmbedder(64)) as memory:
        memory.add_text("Somebody else works at AFirm1 since 1999.", key="other")
    assert main(["copy", str(source), str(tmp_path / "c.db")]) == 2
    assert "holds another memory" in capsys.readouterr().err


@pytest.mark.parametrize("rounds", ROUNDS)
def test_killed_at_any_point_it_goes_on_to_the_same_end(tmp_path: Path, rounds: range) -> None:
    """Kill -9, again and again until it is through: never taken for whole before it is."""
    source = made(tmp_path / "a.db")
    with open_memory(str(source)) as memory:
        expected = seen(memory)
    for seed in rounds:
        random, target = Random(seed), tmp_path / f"{seed}.db"
        for _ in range(12):
            process = subprocess.Popen([sys.executable, str(COPIER), str(source), str(target)], stdout=subprocess.PIPE, text=True)
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            for _ in range(random.randrange(30)):
                process.stdout.readline()
            time.sleep(random.random() * 0.02)
            process.kill()
            process.communicate(timeout=60)
            try:
                open_memory(str(target)).close()
            except UnfinishedCopy:
                continue
            if target.stat().st_size:
                break
        graphmem.copy(source, target, progress=False)
        with open_memory(str(target)) as memory:
            assert seen(memory) == expected
            assert memory.verify() == []
