"""A log folds again to the same memory without a model; another reading shows what it changes; a damaged log is refused."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest
from test_diff_properties import believed, instants, write

import graphmem
from graphmem.belief.audit import hashes
from graphmem.embed.hashing import HashingEmbedder
from graphmem.errors import InvalidInput, NotFound, StoreCorrupt
from graphmem.history.replaying import check_equal
from graphmem.llm.base import Ask
from graphmem.model import AsOf, Operation, OperationKind
from graphmem.stores.memory import MemoryStore
from graphmem.testing import FixedClock, ScriptedModel, random_history

EMBEDDER = HashingEmbedder(32)


def says(since: str | None, *more: str) -> Callable[[Ask], object]:
    """A model that finds where people work, with a date of its own, and whom they like."""

    def read(ask: Ask) -> object:
        text = str(ask.payload["text"])
        fact = {"source": 0, "target": 1, "relation": "WORKS_AT", "text": text, "valid_at": since}
        entities = [{"name": "Mira", "type": "Person"}, {"name": text.split()[-1].strip("."), "type": "Organization"}]
        likes = [{"source": 0, "target": 2 + n, "relation": "LIKES", "text": f"Mira likes {m}"} for n, m in enumerate(more)]
        return {"entities": [*entities, *({"name": m, "type": "Thing"} for m in more)], "facts": [fact, *likes]}

    return read


def model(since: str | None = None, *more: str) -> ScriptedModel:
    return ScriptedModel({"extract": says(since, *more), "resolve": {"matches": []}, "judge": {"judgements": []}}, local=False)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Two jobs of Mira, an episode that is forgotten, and a merge."""
    clock = FixedClock("2024-03-01T09:00Z")
    with graphmem.open(tmp_path / "a.db", model=model(), embedder=EMBEDDER, clock=clock) as memory:
        for place in ("Acme", "Globex", "Initech"):
            memory.add_message("Mira", f"I now work at {place}.")
            clock.advance(days=30)
        memory.forget(episode=memory.episodes(newest_first=True)[0], author="ana", reason="a joke")
        memory.add_facts(
            [{"source": "Bea", "relation": "likes", "target": "tea"}, {"source": "Beatriz", "relation": "likes", "target": "jam"}],
            key="likes",
        )
        memory.merge("Bea", "Beatriz")
    return tmp_path / "a.db"


def opened(path: Path | str, **more: Any) -> graphmem.Memory:
    return graphmem.open(path, **{"model": model(), "embedder": EMBEDDER, "clock": FixedClock("2025-01-01T09:00Z"), **more})


def damage_file(path: Path, statements: str) -> None:
    """Behind the memory's back; each statement changes something."""
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("PRAGMA foreign_keys = OFF")
        assert all(raw.execute(statement).rowcount for statement in statements.split(";"))
        raw.commit()


def test_a_log_folds_to_equal_hashes_without_a_model(path: Path) -> None:
    """In a new file: the same state, the same history, nothing asked."""
    asked = model()
    with opened(path, model=asked) as memory:
        told = memory.replay(path.with_name("b.db"))
        assert asked.asks == []
        assert told.state_hash == {"main": memory.state_hash()}
        assert told.history_hash == {"main": memory.history_hash()}
        assert (told.entries, told.diff, told.usage.calls) == (7, None, 0)
        assert "equal hashes" in repr(told)
    with opened(path.with_name("b.db")) as other:
        assert [other.state_hash(), other.history_hash()] == [told.state_hash["main"], told.history_hash["main"]]
        assert other.verify() == []
        assert other.diff(system=(None, "2024-06-15")).counts()
    json.dumps(told.to_dict())


def test_a_log_folds_into_an_open_memory(path: Path) -> None:
    """Also into scratch; the handle stays open."""
    with opened(path) as memory, opened(":memory:") as scratch:
        memory.replay(scratch)
        assert scratch.history_hash() == memory.history_hash()
        assert len(scratch.facts("Mira")) == 1


def test_another_reading_shows_how_the_two_graphs_differ(path: Path) -> None:
    """Facts that only one has, and dates that differ, with the words behind them; forgotten episodes are not read."""
    with opened(path) as memory:
        before = memory.state_hash()
        told = memory.replay(model=model("2024-02-15", "tea"))
        assert told.usage.calls >= 2
        assert told.left_out == {"forget": 1, "merge": 1}
        assert told.diff is not None
        assert sorted((line.kind.value, line.text, line.rule) for line in told.diff) == [
            ("added", "Beatriz likes jam", "only the second reading has it"),
            ("added", "Mira likes tea", "only the second reading has it"),
            ("corrected", "Beatriz likes jam", "only the first reading has it"),
            ("corrected", "I now work at Acme.", "only the first reading has it"),
            ("extended", "I now work at Globex.", "from 2024-03-31 in the first, from 2024-02-15 in the second"),
        ]
        assert all(line.cause is not None and line.cause.quote for line in told.diff)
        assert not any("Initech" in line.text for line in told.diff)
        assert memory.state_hash() == before
        assert "two readings" in repr(told.diff)


def test_another_reading_can_be_kept(path: Path) -> None:
    """In a file of its own, at the instants of the episodes."""
    with opened(path) as memory:
        told = memory.replay(path.with_name("c.db"), model=model("2020"))
    with opened(path.with_name("c.db")) as other:
        assert {"main": other.state_hash()} == told.state_hash
        assert {f.valid.start.year for f in other.facts("Mira", history=True) if f.valid.start} == {2020}
        assert other.as_of(system="2024-03-15").counts()["episodes"] == 1


DAMAGE = {
    "a line is missing": ("DELETE FROM episode WHERE seq = 3", r"lacks line 3"),
    "the last line is missing": ("DELETE FROM operation WHERE seq = 7", r"lacks line 7: it ends after line 6 of 7"),
    "the last two lines are missing": ("DELETE FROM operation WHERE seq = 7; DELETE FROM episode WHERE seq = 6", r"lacks line 6"),
    "the end was moved back": ("UPDATE grp SET seq = 5", r"changed at line 6: it was said to end before it"),
    "the last instant was changed": ("UPDATE operation SET created_at = created_at + 1 WHERE seq = 7", r"changed at line 7: its instant"),
    "the instant of the end was changed": ("UPDATE grp SET at = at + 1", r"changed at line 7: its instant"),
    "words were changed": ("UPDATE episode SET body = 'I now work at Umbrella.' WHERE seq = 3", r"changed at line 3: it is not what"),
    "an instant was changed": (
        "UPDATE episode SET created_at = created_at - 99999999999999 WHERE seq = 3",
        r"changed at line 3: its instant",
    ),
    "a statement was changed": ("UPDATE assertion SET text = 'Mira owns Globex' WHERE text LIKE '%Globex%'", r"changed at line 3"),
    "a statement is missing": ("DELETE FROM assertion WHERE text LIKE '%Globex%'", r"changed at line 3"),
    "what was forgotten was changed": ("UPDATE operation SET targets = '[]' WHERE seq = 5", r"changed at line 5"),
    "an operation was made another": ("UPDATE operation SET kind = 'distinct' WHERE seq = 7", r"changed at line 7"),
    "a name was changed": ("UPDATE mention SET name = 'Tess' WHERE name = 'Beatriz'", r"changed at line 6"),
    "a later spelling was changed": ("UPDATE mention SET name = 'Mirabel' WHERE name = 'Mira' AND episode = 2", r"changed at line 3"),
    "a type was changed": ("UPDATE mention SET type = 'Place' WHERE name = 'Globex'", r"changed at line 3"),
    "an instant was moved on": ("UPDATE episode SET created_at = created_at + 1000 WHERE seq = 3", r"changed at line 3"),
    "an instant was moved back": ("UPDATE operation SET created_at = created_at - 1000 WHERE seq = 5", r"changed at line 5"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_log_is_refused_naming_the_line(path: Path, damage: str) -> None:
    """Behind the memory's back, in the file."""
    statement, complaint = DAMAGE[damage]
    damage_file(path, statement)
    with opened(path) as memory, pytest.raises(StoreCorrupt, match=complaint):
        memory.replay(path.with_name("b.db"))


OTHERWISE = {  # every column of a line, but those by which rows find each other and that `DAMAGE` has
    "episode": {
        **dict.fromkeys(("key", "actor", "session", "source", "zone", "body"), "coalesce({}, '') || 'x'"),
        "kind": "'text'",
        "reference_time": "reference_time + 1",
        "attributes": "'{\"a\":1}'",
        "search_text": "'[\"x\"]'",
    },
    "assertion": {
        **dict.fromkeys(("source", "relation", "target", "text", "same_as"), "coalesce({}, '') || 'x'"),
        **dict.fromkeys(("span_start", "span_end"), "1, span_start = 2, span_end = 9"),
        "position": "position + 1",
        "kind": "'denies'",
        "start_unit": '\'{"$unit":[0,86400000000,"day","stated"]}\'',
        "end_unit": '\'{"$unit":[0,86400000000,"day","stated"]}\'',
        "still": "1",
        "excludes": "'[\"x\"]'",
        "attributes": "'{\"a\":1}'",
    },
    "mention": {
        **dict.fromkeys(("entity", "name", "type"), "{} || 'x'"),
        **dict.fromkeys(("span_start", "span_end"), "1, span_start = 2, span_end = 9"),
        "position": "position + 7",
        "attributes": "'{\"a\":1}'",
    },
    "operation": {
        **dict.fromkeys(("author", "reason"), "{} || 'x'"),
        "kind": "'restore'",
        "targets": "'[\"x\"]'",
        "arguments": "'{\"a\":1}'",
    },
}
LINES = {"episode": (3, "seq = 3"), "assertion": (3, "episode = 2"), "mention": (3, "episode = 2"), "operation": (5, "seq = 5")}


@pytest.mark.parametrize(("table", "column"), [(t, c) for t, columns in OTHERWISE.items() for c in columns])
def test_a_change_of_any_field_of_a_line_is_told_by_replay_and_verify(path: Path, table: str, column: str) -> None:
    """Of an episode, of what was found in it, of an operation: also of what nothing believed hangs on."""
    line, where = LINES[table]
    value = OTHERWISE[table][column].replace("{}", column)
    damage_file(path, " ".join(("UPDATE", table, "SET", column, "=", value, "WHERE", where)))
    with opened(path) as memory:
        with pytest.raises(StoreCorrupt, match=f"changed at line {line}: it is not what was recorded"):
            memory.replay(path.with_name("b.db"))
        assert [v.detail for v in memory.verify() if v.kind == "line"] == [
            f"line {line} of the log of group 'main' is not what was recorded"
        ]


def test_every_column_of_a_line_was_changed(path: Path) -> None:
    """A column that comes later is tried as well."""
    with closing(sqlite3.connect(path)) as raw:
        for table, columns in OTHERWISE.items():
            held = {c[1] for c in raw.execute(f"PRAGMA table_info({table})")}
            assert held - {"n", "grp", "seq", "id", "episode", "created_at", "digest"} == set(columns), table


def test_a_line_that_was_recorded_before_digests_is_told_by_what_it_folds_to(path: Path) -> None:
    """It has none to be held against."""
    damage_file(path, "UPDATE episode SET digest = NULL; UPDATE operation SET digest = NULL, author = 'eve'")
    with opened(path) as memory, opened(":memory:") as other:
        assert memory.replay(other).state_hash == {"main": memory.state_hash()}
        assert [e.by for e in other.operations(kind="forget")] == ["eve"]
    damage_file(path, "UPDATE assertion SET text = 'Mira owns Globex' WHERE text LIKE '%Globex%'")
    with opened(path) as memory, pytest.raises(StoreCorrupt, match="changed at line 3 or before it"):
        memory.replay(path.with_name("b.db"))


@pytest.mark.parametrize("seed", range(24))
def test_the_line_that_is_named_is_the_first_that_led_elsewhere(seed: int) -> None:
    """Two logs that differ in a statement or an operation: before that line the same was believed, from it on something else."""
    rng = Random(seed)
    log = random_history(rng, 12)
    n, entry = rng.choice([(n, e) for n, e in enumerate(log) if isinstance(e, Operation) or e.assertions])
    changed = replace(entry, targets=()) if isinstance(entry, Operation) else replace(entry, assertions=entry.assertions[1:])
    if isinstance(entry, Operation) and entry.kind is not OperationKind.FORGET:
        changed = replace(entry, kind=OperationKind.RESTORE, targets=(), values={})
    here, there = MemoryStore(), MemoryStore()
    write(here, log)
    write(there, [*log[:n], changed, *log[n + 1 :]])
    parted = [e.seq for e, at in zip(log, instants(log), strict=True) if held(here, at) != held(there, at)]
    with here.read() as one, there.read() as other:
        if hashes(one, "main") == hashes(other, "main"):
            return
        with pytest.raises(StoreCorrupt, match=f"changed at line {parted[0]} or before it"):
            check_equal(one, other, "main")
    assert parted[0] >= entry.seq


def held(store: MemoryStore, system: datetime) -> object:
    """What is believed at a system instant, and what it rests on."""
    with store.read() as reader:
        cited = {(c.fact_id, c.valid_at, c.episode, c.by) for c in reader.citations(["main"], AsOf(None, system))}
    return believed(store, system), cited


def test_an_erased_entry_leaves_its_place(path: Path) -> None:
    """A log of which something was erased is whole, and folds to equal hashes."""
    with opened(path) as memory, opened(":memory:") as other:
        memory.erase(episode=memory.episodes()[0], author="ana")
        assert memory.replay(other).state_hash == {"main": memory.state_hash()}
        assert "erased" in {entry.kind for entry in other.operations()}
        assert other.diff(system=(None, "2024-03-15")).counts() == {}


@pytest.mark.parametrize("what", ["entity", "fact", "twice", "forgotten"])
def test_a_log_with_redacted_words_is_whole(path: Path, what: str) -> None:
    """An entity, a fact, one after the other, or of an episode that is forgotten: what stays folds to equal hashes, as does what comes."""
    with opened(path) as memory, opened(":memory:") as other:
        if what == "fact":
            memory.erase(fact=memory.facts("Mira")[0])
        elif what == "forgotten":
            memory.erase(entity="Initech")
        else:
            memory.erase(entity="Acme")
        if what == "twice":
            memory.erase(entity="Mira")
            memory.add_message("Tom", "I now work at Acme.")
        told = memory.replay(other)
        assert (told.state_hash, told.history_hash) == ({"main": memory.state_hash()}, {"main": memory.history_hash()})


def test_words_changed_after_an_erase_are_still_noticed(path: Path) -> None:
    """Only those that were redacted are not those recorded."""
    with opened(path) as memory:
        memory.erase(entity="Initech")
        memory.add_message("Mira", "I now work at Umbrella.")
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("UPDATE episode SET body = 'I now work at Hooli.' WHERE body LIKE '%Umbrella%'").rowcount == 1
        raw.commit()
    with opened(path) as memory, pytest.raises(StoreCorrupt, match=r"changed at line 9: it is not what was recorded"):
        memory.replay(path.with_name("b.db"))


def test_what_cannot_be_replayed_is_refused(path: Path) -> None:
    """No target, itself, a target that holds something, a group that holds nothing."""
    with opened(path) as memory, opened(":memory:") as other:
        with pytest.raises(InvalidInput, match="name a new file"):
            memory.replay()
        with pytest.raises(InvalidInput, match="is this memory itself"):
            memory.replay(memory)
        with pytest.raises(NotFound, match="'empty' holds nothing"):
            memory.replay(path.with_name("b.db"), group="empty")
        with pytest.raises(InvalidInput, match="names no group"):
            memory.replay(path.with_name("b.db"), group=())
        other.add_facts([{"source": "A", "relation": "knows", "target": "B"}])
        with pytest.raises(InvalidInput, match="holds something of this group already"):
            memory.replay(other)
        assert memory.verify() == []


def test_a_replay_that_is_refused_begins_no_file(path: Path) -> None:
    """Neither for a group that holds nothing nor for what is no place."""
    with opened(path) as memory:
        into = path.with_name("again.db")
        with pytest.raises(NotFound, match="nobody"):
            memory.replay(into, group="nobody")
        assert not into.exists()
        with pytest.raises(InvalidInput, match=r"into=5: must be a new file or an open memory"):
            memory.replay(5)  # type: ignore[arg-type]


def test_the_shape_of_a_speakers_name_does_not_make_another_episode() -> None:
    """The same message under a name with odd spaces is the same episode, and its line counts as recorded."""
    with opened(":memory:") as memory, opened(":memory:") as other:
        first = memory.add_message("Mira  O", "I now work at Acme.", reference_time="2024-01-01")
        assert memory.add_message(" Mira O", "I now work at Acme.", reference_time="2024-01-01").id == first.id
        memory.replay(other)
        assert other.state_hash() == memory.state_hash()
