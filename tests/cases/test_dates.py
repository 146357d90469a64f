"""Cases C01 to C07: what dates in model answers and reference times may and may not do."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import permutations
from zoneinfo import ZoneInfo

import pytest
from wire import Script, codes, contradicts_all, rows, says, short

from graphmem import Memory
from graphmem.errors import InvalidInput
from graphmem.interval import Origin, Precision
from graphmem.testing import FixedClock, ScriptedModel
from graphmem.tools import call

Open = Callable[..., Memory]
LISBON = "Since last week I have been renting in Lisbon."
REFERENCE = "2022-09-14T10:00:00Z"


def one_fact(open_memory: Open, reference: str, **fields: object) -> tuple[Memory, object]:
    """A memory with the one message, read as a fact with these fields; and the result of adding it."""
    model = ScriptedModel({"extract": says(("Mira", "LIVES_IN", "Lisbon", fields), types={"Mira": "Person"})})
    memory = open_memory(model=model)
    return memory, memory.add_message("Mira", LISBON, reference_time=reference)


def test_c01_a_fact_without_dates_starts_at_the_reference_time_and_never_at_the_wall_clock(open_memory: Open) -> None:
    """The prompt knows the reference time and not today; the undated fact is seen then, believed since now."""
    model = ScriptedModel({"extract": says(("Mira", "LIVES_IN", "Lisbon"))})
    memory = open_memory(model=model)
    memory.add_message("Mira", LISBON, reference_time=REFERENCE)
    [fact] = memory.facts("Mira")
    asked = json.dumps(dict(model.asked("extract")[0].payload))
    assert "2022-09-14" in asked
    assert "2026" not in asked
    assert fact.valid_at == datetime(2022, 9, 14, 10, tzinfo=UTC)
    assert fact.start.origin is Origin.REFERENCE
    assert fact.created_at == datetime(2026, 1, 15, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "raw",
    [
        "2023-13-45",
        "2024-02-30",
        "None",
        "",
        "soon",
        "0000-01-01",
        "10000-01-01",
        20220914,
        {"y": 2023},
        "2022-09-14T25:61:00Z",
        ["2022"],
        True,
        -5,
        1e300,
        "7,000 years ago",
        "in 12024",
        "44 BC",
        "9" * 400,
        "2022-09-14T10:00:00+99:00",
        "\x00",
        "\ud800",
    ],
    ids=lambda raw: ascii(raw)[:24],
)
def test_c02_an_impossible_date_counts_as_absent_and_is_told(open_memory: Open, raw: object) -> None:
    """The fact stays, dated as if the model had given no date, with one warning that holds what was given."""
    memory, result = one_fact(open_memory, REFERENCE, valid_at=raw)
    [fact] = memory.as_of(valid=REFERENCE).facts("Mira")
    assert fact.valid_at == datetime(2022, 9, 14, 10, tzinfo=UTC)
    assert fact.invalid_at is None
    assert codes(result) == ["bad_date"]
    told = result.warnings[0].raw
    assert str(told)[:80] in (str(raw)[:80], repr(raw)[:80])
    memory, result = one_fact(open_memory, REFERENCE, invalid_at=raw)
    [fact] = memory.facts("Mira")
    assert fact.invalid_at is None
    assert codes(result) == ["bad_date"]


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("2025-03-10", "2025-03-01"),
        ("2025-03-10T00:00:00Z", "2025-03-10T00:00:00Z"),
        ("2025-03-10T00:00:00Z", "2025-03-10T01:00:00+01:00"),
        ("2025-03", "2024"),
    ],
)
def test_c03_an_end_that_is_not_after_its_start_is_dropped(open_memory: Open, start: str, end: str) -> None:
    """The start is kept, the end is told; nothing holds before the start."""
    memory, result = one_fact(open_memory, "2025-06-01", valid_at=start, invalid_at=end)
    assert codes(result) == ["interval_conflict"]
    assert result.warnings[0].raw == end
    assert [f.invalid_at for f in memory.as_of(valid="2025-04-01").facts("Mira")] == [None]
    assert len(memory.as_of(valid="2025-02-20").facts("Mira")) == 0


@pytest.mark.parametrize("relation", ["LIVES_IN", "PREFERS"])
def test_c03_a_contradiction_told_later_of_an_earlier_time_ends_nothing_before_it_began(open_memory: Open, relation: str) -> None:
    """By rule or by judgement: the fact that began earlier ends where the later one begins."""
    script = Script()
    model = ScriptedModel({**script.questions(), "judge": contradicts_all})
    memory = open_memory(model=model)
    memory.add_message("Mira", script.on("A", says(("Mira", relation, "Lisbon", {"valid_at": "2025-06-01"}))), reference_time="2025-07-01")
    memory.add_message("Mira", script.on("B", says(("Mira", relation, "Porto", {"valid_at": "2025-05-01"}))), reference_time="2025-07-02")
    assert rows(memory, "Mira", relation) == [("Mira", "Porto", "2025-05-01", "2025-06-01"), ("Mira", "Lisbon", "2025-06-01", None)]


@pytest.mark.parametrize("zone", ["UTC", "America/Los_Angeles", "Asia/Tokyo"])
def test_c04_a_date_without_an_offset_is_read_in_the_zone_of_the_reference(
    open_memory: Open, monkeypatch: pytest.MonkeyPatch, zone: str
) -> None:
    """The zone of the process plays no part, and the prompt shows the offset."""
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    model = ScriptedModel({"extract": says(("Mira", "LIVES_IN", "Lisbon", {"valid_at": "2025-05-14T00:30:00"}))})
    memory = open_memory(model=model)
    memory.add_message("Mira", LISBON, reference_time="2025-05-14T00:30:00+09:00")
    [fact] = memory.facts("Mira")
    assert fact.valid_at == datetime(2025, 5, 13, 15, 30, tzinfo=UTC)
    assert "+09:00" in str(model.asked("extract")[0].payload["reference_time"])


def test_c04_a_reference_time_without_an_offset_is_read_in_the_memorys_zone_with_a_warning(open_memory: Open) -> None:
    """Told naive first and aware later, a contradiction compares the two without trouble."""
    script = Script()
    memory = open_memory(model=ScriptedModel({**script.questions(), "judge": contradicts_all}))
    first = memory.add_message("Mira", script.on("A", says(("Mira", "PREFERS", "tea"))), reference_time="2025-05-14T00:30:00")
    second = memory.add_message("Mira", script.on("B", says(("Mira", "PREFERS", "mate"))), reference_time="2025-05-15T00:30:00+09:00")
    assert codes(first) == ["naive_instant"]
    assert codes(second) == []
    assert rows(memory, "Mira") == [
        ("Mira", "tea", "2025-05-14T00:30:00Z", "2025-05-14T15:30:00Z"),
        ("Mira", "mate", "2025-05-14T15:30:00Z", None),
    ]


@pytest.mark.parametrize(("fold", "hour"), [(0, 5), (1, 6)])
def test_c04_an_hour_that_comes_twice_keeps_its_fold(open_memory: Open, fold: int, hour: int) -> None:
    """01:30 in New York on the night the clocks go back is two instants."""
    memory = open_memory(model=ScriptedModel({"extract": says(only=["Mira"])}))
    said = datetime(2025, 11, 2, 1, 30, tzinfo=ZoneInfo("America/New_York"), fold=fold)
    memory.add_message("Mira", "Clocks went back.", reference_time=said)
    [episode] = memory.episodes()
    assert episode.reference_time == datetime(2025, 11, 2, hour, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("raw", "first", "precision", "printed"),
    [
        ("2025", datetime(2025, 1, 1, tzinfo=UTC), Precision.YEAR, "since 2025"),
        ("2025-05", datetime(2025, 5, 1, tzinfo=UTC), Precision.MONTH, "since 2025-05"),
        ("2025-05-14", datetime(2025, 5, 14, tzinfo=UTC), Precision.DAY, "since 2025-05-14"),
    ],
)
@pytest.mark.parametrize("hours", [0, 9, -8, 12])
def test_c05_a_partial_date_is_the_first_instant_of_its_unit_and_keeps_its_precision(
    open_memory: Open, raw: str, first: datetime, precision: Precision, printed: str, hours: int
) -> None:
    """In the zone of the reference; printed as it was given, no day invented."""
    offset = f"{hours:+03d}:00"
    memory, _ = one_fact(open_memory, f"2025-06-01T10:00:00{offset}", valid_at=raw)
    [fact] = memory.facts("Mira")
    assert fact.valid_at is not None
    assert (fact.valid_at - first).total_seconds() == -hours * 3600
    assert fact.start.precision is precision
    assert fact.period == printed


def test_c05_a_day_without_a_year_is_the_nearest_past_one(open_memory: Open) -> None:
    """Said in January of a day in December: last year's."""
    memory, _ = one_fact(open_memory, "2025-01-05", valid_at="12-30")
    assert [short(f.valid_at) for f in memory.facts("Mira")] == ["2024-12-30"]


def test_c05_a_day_as_start_and_end_is_that_whole_day(open_memory: Open) -> None:
    """An end is the first instant after its unit."""
    memory, result = one_fact(open_memory, "2025-06-01", valid_at="2025-03-10", invalid_at="2025-03-10")
    assert codes(result) == []
    assert rows(memory) == [("Mira", "Lisbon", "2025-03-10", "2025-03-11")]
    [fact] = memory.facts(history=True)
    assert fact.period == "2025-03-10"


@pytest.mark.local
def test_c05_a_weekday_in_words_is_the_nearest_past_one(open_memory: Open) -> None:
    """Last Friday, said on a Wednesday."""
    memory, _ = one_fact(open_memory, "2025-05-14", valid_at="last Friday")
    assert [short(f.valid_at) for f in memory.facts("Mira")] == ["2025-05-09"]


@pytest.mark.parametrize("relation", ["WORKS_AT", "ADVISES"])
def test_c06_what_will_begin_does_not_end_what_is_still_true(open_memory: Open, relation: str) -> None:
    """By rule or by judgement, the present job ends when the next one begins, not when that is told."""
    clock = FixedClock("2025-05-20T12:00:00Z")
    script = Script()
    memory = open_memory(model=ScriptedModel({**script.questions(), "judge": contradicts_all}), clock=clock)
    memory.add_message("Mira", script.on("A", says(("Mira", relation, "Brightpeak"))), reference_time="2025-01-10")
    text = "Mira starts at Quillon on 1 September 2025."
    memory.add_message(
        "Mira", script.on(text, says(("Mira", relation, "Quillon", {"valid_at": "2025-09-01"}))), reference_time="2025-05-14"
    )

    def now(view: object) -> list[str]:
        return [f.target for f in view.facts("Mira")]  # type: ignore[attr-defined]

    assert now(memory) == ["Brightpeak"]
    assert now(memory.as_of(valid="2025-06-01")) == ["Brightpeak"]
    assert now(memory.as_of(valid="2025-09-01")) == ["Quillon"]
    assert [f.invalid_at for f in memory.facts("Mira")] == [datetime(2025, 9, 1, tzinfo=UTC)]
    assert [h.item.target for h in memory.search("Mira Quillon", kinds=["fact"])] == ["Brightpeak"]


@pytest.mark.parametrize("raw", ["9999-12-31T23:59:59+00:00", "0001-01-01T00:00:00+14:00", "9999", "0001", "9999-12-31", "9999-12"])
def test_c06_the_first_and_last_instants_of_the_calendar_overflow_nowhere(open_memory: Open, raw: str) -> None:
    """As start or as end, in any zone, such a date is kept or told, and never an error."""
    for reference in ("2025-05-14", "2025-05-14T00:00:00+14:00", "2025-05-14T00:00:00-12:00"):
        for field in ("valid_at", "invalid_at"):
            memory, result = one_fact(open_memory, reference, **{field: raw})
            assert len(memory.facts("Mira", history=True)) == 1
            assert {w.code for w in result.warnings} <= {"bad_date", "interval_conflict"}
            assert memory.timeline("Mira").to_dict()


@pytest.mark.parametrize("timezone", ["UTC", "Asia/Tokyo", "America/Los_Angeles"])
@pytest.mark.parametrize("said", ["0001-01-01T00:00:00+14:00", "0001-01-01", "9999-12-31T23:59:59+00:00", "9999-12-31T23:59:59-23:59"])
def test_c06_a_reference_time_at_the_edge_of_the_calendar_overflows_nowhere(open_memory: Open, said: str, timezone: str) -> None:
    """Whatever kind of episode has it, and wherever it is shown: the calendar's own edge stands where a zone's clock would pass it."""
    memory = open_memory(model="offline", timezone=timezone)
    memory.add_message("Mira", "I moved to Porto yesterday. Next week I fly to Rome.", reference_time=said)
    memory.add_text("Ivo has lived in Rome since last year.", reference_time=said)
    memory.add_json({"name": "Ana", "city": "Split"}, reference_time=said)
    memory.add_facts([{"source": "Ana", "relation": "KNOWS", "target": "Ivo"}], reference_time=said)
    memory.add_many([{"actor": "Ana", "text": "I live in Split.", "reference_time": said}])
    shown = [memory.facts(history=True), memory.episodes(), memory.context("Where does Ana live?"), memory.timeline("Ana")]
    assert all(str(one) for one in shown)
    assert {e.reference_time.year for e in memory.episodes()} <= {1, 9998, 9999}
    assert "reference_time" not in str(call(memory, "add_episode", {"actor": "Ana", "text": "I like tea.", "reference_time": said}))
    assert memory.verify() == []


def test_c06_what_is_recorded_at_the_first_instant_is_refused_by_name(open_memory: Open) -> None:
    """What the memory knows of its relations is recorded before; an instant later there is room for it."""
    memory = open_memory(model=ScriptedModel({"extract": says()}))
    with pytest.raises(InvalidInput, match=r"^recorded_at="):
        memory.add_text("Mira is here.", recorded_at="0001-01-01T00:00:00+14:00")
    memory.add_text("Mira is here.", recorded_at="0001-01-01T00:00:01Z")
    assert memory.verify() == []


@pytest.mark.parametrize("relation", ["LIVES_IN", "PREFERS"])
def test_c07_any_order_of_arrival_gives_the_same_valid_time(open_memory: Open, relation: str) -> None:
    """By rule or by a judge that lets every new fact contradict all others: six orders, one graph."""
    told = [("Ghent", "2023-02-01", "2023-03-01"), ("Turin", "2024-06-01", "2024-07-01"), ("Porto", "2025-04-01", "2025-05-01")]
    for order in permutations(told):
        script = Script()
        memory = open_memory(model=ScriptedModel({**script.questions(), "judge": contradicts_all}))
        for place, start, reference in order:
            text = script.on(f"In {place}.", says(("Dario", relation, place, {"valid_at": start})))
            memory.add_message("Dario", text, reference_time=reference)
        assert rows(memory, "Dario", relation) == [
            ("Dario", "Ghent", "2023-02-01", "2024-06-01"),
            ("Dario", "Turin", "2024-06-01", "2025-04-01"),
            ("Dario", "Porto", "2025-04-01", None),
        ]
