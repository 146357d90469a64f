"""What was known at each instant and nothing later; a leak that is planted is found."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from random import Random

import pytest

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.errors import InvalidInput, NotFound
from graphmem.stores.memory import MemoryStore
from graphmem.testing import FixedClock, ScriptedModel, random_history

pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")


def row(source: str, relation: str, target: str) -> dict[str, object]:
    return {"source": source, "relation": relation, "target": target}


@pytest.fixture
def memory():
    """An archive imported in November: where Mira worked, told in March and in September, and a name given afterwards."""
    opened = graphmem.open(model=ScriptedModel({}), embedder=HashingEmbedder(), clock=FixedClock("2024-11-30T09:00Z"))
    rows = [("Acme", "2022", "2024-03-01"), ("Globex", "2024-08", "2024-09-01")]
    for target, since, told in rows:
        opened.add_facts([{**row("Mira", "works_at", target), "valid_at": since}], reference_time=told, recorded_at=told)
    opened.add_facts([row("Mira", "works_at", "Globex")], recorded_at="2024-10-01")
    opened.rename("Acme", "Acme Corporation")
    return opened


def test_a_frame_tells_what_each_instant_knew(memory: graphmem.Memory) -> None:
    """Before September nobody knew that Mira had left; names and episodes are those known then."""
    frame = memory.facts_frame(["2024-08-15", "2024-09-02", "2024-11-30T09:00Z"])
    assert list(zip(frame["instant"].dt.strftime("%m-%d"), frame["target"], frame["episodes"].map(len), strict=True)) == [
        ("08-15", "Acme", 1),
        ("09-02", "Globex", 1),
        ("11-30", "Globex", 2),
    ]
    assert frame["invalid_at"].isna().all()
    assert "expired_at" not in frame.columns
    assert str(frame["valid_at"].dtype) == "datetime64[us, UTC]"
    assert memory.frame_leaks(frame) == []
    everything = memory.facts_frame(["2024-08-15", "2024-11-30"], holding=False)
    assert list(everything["target"]) == ["Acme", "Acme", "Globex"]
    assert memory.frame_leaks(everything) == []


def test_a_frame_of_arrow_is_the_same(memory: graphmem.Memory) -> None:
    """Instants are timestamps in UTC; it is checked likewise."""
    table = memory.facts_frame(["2024-08-15", "2024-09-02"], arrow=True)
    assert table.num_rows == 2
    assert str(table.schema.field("instant").type) == "timestamp[us, tz=UTC]"
    assert memory.frame_leaks(table) == []
    narrow = memory.facts_frame(["2024-08-15", "2024-09-02"], entity="Globex", relation="works at")
    assert list(narrow["target"]) == ["Globex"]


@pytest.mark.parametrize(
    ("column", "value", "complaint"),
    [
        ("instant", pandas.Timestamp("2024-07-01", tz="UTC"), "when nothing was recorded yet"),
        ("created_at", pandas.Timestamp("2024-09-03", tz="UTC"), "when nothing was recorded yet"),
        ("invalid_at", pandas.Timestamp("2024-12-01", tz="UTC"), "nobody had said then"),
        ("text", "Mira runs Globex", "nobody had said then"),
        ("episodes", ["ep_of_next_year"], "which it did not rest on then"),
        ("target", "Acme Corporation", "was called 'Globex' then"),
    ],
)
def test_a_planted_leak_is_found(memory: graphmem.Memory, column: str, value: object, complaint: str) -> None:
    """Whatever of a row was not known at its instant: the row is named, and what is wrong with it."""
    frame = memory.facts_frame(["2024-08-15", "2024-09-02"])
    frame.at[1, column] = value
    found = memory.frame_leaks(frame)
    assert found
    assert all(v.detail.startswith("row 1, ") for v in found)
    assert any(complaint in v.detail for v in found)


def test_todays_knowledge_under_an_earlier_instant_is_a_leak(memory: graphmem.Memory) -> None:
    """The usual mistake: the rows of now, filtered by valid time."""
    frame = memory.facts_frame(["2024-11-30"], holding=False)
    frame["instant"] = pandas.Timestamp("2024-08-15", tz="UTC")
    assert len(memory.frame_leaks(frame)) >= 2


@pytest.mark.parametrize(
    ("at", "error", "complaint"),
    [
        ([], InvalidInput, "at least one instant"),
        ("2024-08-15", InvalidInput, "must be a list"),
        (["2025-01-01"], InvalidInput, "lies after"),
        (["soon"], InvalidInput, r"at\[0\]"),
        (["2024-08-15", "2020-01-01"], NotFound, "the first entry of its log is of 2024-02-29"),
    ],
)
def test_instants_that_nobody_can_know_of_are_refused(memory: graphmem.Memory, at: object, error: type, complaint: str) -> None:
    """None, the future, and what lies before the first record."""
    with pytest.raises(error, match=complaint):
        memory.facts_frame(at)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="must be what facts_frame gave"):
        memory.frame_leaks([1, 2])


@pytest.mark.parametrize("seed", range(12))
def test_no_random_history_leaks(seed: int) -> None:
    """Every instant of a history with every kind of statement and operation."""
    from test_diff_properties import instants, view_of, write

    rng = Random(seed)
    store, log = MemoryStore(), random_history(rng, rng.randint(3, 12))
    write(store, log)
    view = view_of(store)
    points: list[datetime] = instants(log)
    assert view.frame_leaks(view.facts_frame(points, holding=False)) == []


ACTS: dict[str, Callable[[graphmem.Memory], object]] = {
    "a correction that names somebody new": lambda m: m.correct(m.facts("Mira")[0], target="Initech"),
    "a correction to a value": lambda m: m.correct(m.facts("Mira")[0], target=7),
    "a correction away from who was new": lambda m: [m.correct(m.facts("Mira")[0], target=t) for t in ("Initech", "Hooli")],
    "a rename": lambda m: m.rename("Mira", "Mira Silva"),
    "an alias, then a fact under it": lambda m: [m.alias("Mira", "Mimi"), m.add_facts([row("Mimi", "likes", "tea")])],
    "a merge": lambda m: m.merge("Globex", "Acme"),
    "a split": lambda m: m.split("Mira", episodes=[m.episodes()[0].id]),
    "two that come apart": lambda m: [m.merge("Globex", "Acme"), m.distinct("Globex", "Acme")],
    "a forgotten entity": lambda m: m.forget(entity="Globex"),
    "a forgotten beginning": lambda m: m.forget(episode=m.episodes()[0]),
    "an erased entity": lambda m: m.erase(entity="Globex"),
    "an erased episode": lambda m: m.erase(episode=m.episodes()[0]),
    "a name that UTF-8 cannot write": lambda m: m.rename("Globex", "Glo\ud800bex"),
    "a name that looks like nothing": lambda m: m.rename("Globex", "NaT"),
}


@pytest.mark.parametrize("act", ACTS)
def test_no_act_on_names_leaks(memory: graphmem.Memory, act: str) -> None:
    """Whatever gives entities their names: nothing leaks before the act, after it, and after it is taken back."""
    ACTS[act](memory)
    done = memory.operations()[0]
    if done.kind != "erase":
        memory.undo(done.id)
    points = [entry.at for entry in reversed(memory.operations(episodes=True))]
    for arrow in (False, True):
        assert memory.frame_leaks(memory.facts_frame(points, holding=False, arrow=arrow)) == []


def test_rows_of_a_group_that_the_memory_lacks_are_leaks(memory: graphmem.Memory) -> None:
    """Nothing was ever said in it; the other rows are as they were."""
    frame = memory.facts_frame(["2024-10-01"])
    frame.loc[0, "group"] = "elsewhere"
    assert {found.id for found in memory.frame_leaks(frame)} == {frame.loc[0, "uuid"]}
