"""What was known at each instant and nothing later; a leak that is planted is found."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from random import Random

import pytest
from walker import opened, walked

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
    rows = [("Acme", "2022", "2024-03-01", {}), ("Globex", "2024-08", "2024-09-01", {"role": "engineer", "level": 1})]
    for target, since, told, attributes in rows:
        opened.add_facts(
            [{**row("Mira", "works_at", target), "valid_at": since, "attributes": attributes}], reference_time=told, recorded_at=told
        )
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


NOON = pandas.Timestamp("2024-03-03T12:00Z")
CHANGED: dict[str, list[object]] = {
    "uuid": ["another"],
    "fact": ["fact_of_another"],
    "source": ["Globex", "Mirela", None],
    "relation": ["OWNS", None],
    "target": ["Acme", "Acme Corporation", "Initech"],
    "text": ["Mira runs Globex", ""],
    "valid_at": [NOON, pandas.NaT],
    "invalid_at": [NOON, pandas.Timestamp("2024-12-01T00:00Z")],
    "created_at": [NOON, pandas.Timestamp("2024-02-29T23:00Z"), pandas.NaT],
    "valid_at_precision": ["day"],
    "invalid_at_precision": ["month"],
    "valid_at_origin": ["user"],
    "invalid_at_origin": ["stated"],
    "source_id": ["en_of_another"],
    "target_id": ["en_of_another"],
    "episodes": [["ep_of_next_year"], [], None],
    "attributes": ['{"role":"founder"}', '{"role":"Engineer"}', '{"level":true,"role":"engineer"}', "", None],
}


@pytest.mark.parametrize(("column", "value"), [(c, v) for c, values in CHANGED.items() for v in values])
def test_a_value_that_was_changed_is_a_leak(memory: graphmem.Memory, column: str, value: object) -> None:
    """Whichever value of a row it is: the row and the column are named, and no other."""
    frame = memory.facts_frame(["2024-08-15", "2024-09-02"])
    frame.at[1, column] = value
    (found,) = memory.frame_leaks(frame)
    assert found.detail.startswith(f"row 1, at 2024-09-02T00:00:00+00:00: {column} is ")


def test_every_column_of_a_frame_is_checked(memory: graphmem.Memory) -> None:
    """A column that is added to the facts' table must be added to the proof."""
    assert {*CHANGED, "instant", "group"} == {*memory.facts_frame(["2024-08-15"]).columns}


def test_a_value_of_another_instant_is_a_leak(memory: graphmem.Memory) -> None:
    """The instants at which something was recorded, and every value of the same fact as it was believed later."""
    frame = memory.facts_frame(["2024-08-15", "2024-11-30T09:00Z"], holding=False, entity="Acme")
    earlier, later = frame.index
    told = [c for c in frame.columns if c not in ("instant", "uuid") and str(frame.at[earlier, c]) != str(frame.at[later, c])]
    assert told == ["target", "invalid_at", "created_at", "invalid_at_precision", "invalid_at_origin"]
    for column in told:
        changed = frame.copy()
        changed.at[earlier, column] = frame.at[later, column]
        assert [f"{column} is " in v.detail for v in memory.frame_leaks(changed)] == [True]


def test_a_row_before_its_time_is_a_leak(memory: graphmem.Memory) -> None:
    """Of an instant at which nothing of it was believed."""
    frame = memory.facts_frame(["2024-09-02"])
    frame.at[0, "instant"] = pandas.Timestamp("2024-07-01", tz="UTC")
    found = [v.detail.partition(": ")[2] for v in memory.frame_leaks(frame)]
    assert found == [
        f"uuid is {frame.at[0, 'uuid']!r}, which no version had that was believed then",
        "nobody had said then that 'Mira works at Globex' holds from 2024-08-01T00:00:00+00:00 to …",
    ]


def test_the_order_of_what_has_none_is_no_leak(memory: graphmem.Memory) -> None:
    """Of episodes, and of the keys of attributes."""
    frame = memory.facts_frame(["2024-11-30"])
    frame.at[0, "episodes"] = [*reversed(frame.at[0, "episodes"])]
    assert frame.at[0, "attributes"] == '{"level":1,"role":"engineer"}'
    frame.at[0, "attributes"] = '{"role": "engineer", "level": 1}'
    assert memory.frame_leaks(frame) == []


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


@pytest.mark.parametrize("value", ["2024-09-02", pandas.Timestamp("2024-09-02"), pandas.NaT])
def test_an_instant_that_is_none_is_refused(memory: graphmem.Memory, value: object) -> None:
    """As a file of text may hand it back: without its type, without its zone, or not at all."""
    frame = memory.facts_frame(["2024-08-15", "2024-09-02"])
    frame["instant"] = frame["instant"].astype(object)
    frame.at[1, "instant"] = value
    with pytest.raises(InvalidInput, match="instant of row 1 must be an instant with a zone"):
        memory.frame_leaks(frame)


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


@pytest.mark.parametrize("seed", range(20, 24))
def test_no_walk_leaks(seed: int) -> None:
    """What can be told to a memory and taken back through its own methods, erasing too; and changed values are leaks."""
    clock = FixedClock("2026-01-01T00:00Z")
    with opened(":memory:", clock) as memory:
        group = walked(memory, clock, seed, 40).group
        points = [entry.at for entry in memory.operations(episodes=True, limit=None, group=group)]
        frame = memory.facts_frame(points, holding=False, group=group)
        assert memory.frame_leaks(frame) == []
        rng = Random(seed)
        for column in CHANGED:
            n, m = rng.sample(range(len(frame)), 2)
            changed = frame.copy()
            changed.at[n, column] = frame.at[m, column]
            if str(frame.at[n, column]) != str(frame.at[m, column]):
                assert any(v.detail.startswith(f"row {n}, ") for v in memory.frame_leaks(changed)), column


def test_rows_of_a_group_that_the_memory_lacks_are_leaks(memory: graphmem.Memory) -> None:
    """Nothing was ever said in it; the other rows are as they were."""
    frame = memory.facts_frame(["2024-10-01"])
    frame.loc[0, "group"] = "elsewhere"
    assert {found.id for found in memory.frame_leaks(frame)} == {frame.loc[0, "uuid"]}
