"""4,271 dated facts of a public knowledge graph, told in any order: the right answer at any instant, one state."""

from __future__ import annotations

import csv
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest

from graphmem import Memory, Ontology
from graphmem.testing import FixedClock, ScriptedModel

Open = Callable[..., Memory]
ROWS_AN_EPISODE = 20
SHARES = [pytest.param(8, id="an eighth"), pytest.param(1, id="all", marks=pytest.mark.slow)]


def year(text: str) -> str | None:
    """A year of four digits, as ISO 8601 wants it."""
    return text.zfill(4) if text else None


def table(data: Path, share: int) -> list[dict[str, str | None]]:
    """The table's rows as facts; of the players, one in `share`."""
    path = data / "temporal-kg" / "yago15k_intervals.csv"
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    chosen = sorted({r["subject"] for r in rows})[::share]
    return [
        {
            "source": r["subject"],
            "relation": r["relation"],
            "target": r["object"],
            "valid_at": year(r["start_year"]),
            "invalid_at": year(r["end_year"]),
        }
        for r in rows
        if r["subject"] in set(chosen)
    ]


def first_of(text: str | None, later: int = 0) -> datetime | None:
    """The first instant of a year, or of one some years later."""
    return datetime(int(text) + later, 1, 1, tzinfo=UTC) if text else None


def holds(row: dict[str, str | None], at: datetime) -> bool:
    """By the table: from the first instant of the start year to the last of the end year; an end before its start does not count."""
    start, end = first_of(row["valid_at"]), first_of(row["invalid_at"], 1)
    assert start is not None
    return start <= at and (end is None or end <= start or at < end)


def told(memory: Memory, rows: list[dict[str, str | None]], order: Random | None) -> list[str]:
    """Tell the memory the rows, some an episode, episodes in random order; returns the codes of the warnings.

    A first episode names everybody, so that entity ids do not depend on the order that follows.
    """
    names = dict.fromkeys(str(r[end]) for r in rows for end in ("source", "target"))
    listed = [{"source": n, "relation": "LISTED_IN", "target": "the table of dated facts"} for n in names]
    memory.add_facts(listed, key="everybody", reference_time="2018-01-01")
    said = datetime(2018, 1, 2, tzinfo=UTC)
    episodes = [
        {"kind": "facts", "rows": rows[n : n + ROWS_AN_EPISODE], "key": f"rows {n}", "reference_time": said + timedelta(minutes=n)}
        for n in range(0, len(rows), ROWS_AN_EPISODE)
    ]
    if order is not None:
        order.shuffle(episodes)
    return [w.code for result in memory.add_many(episodes) for w in result.warnings]


@pytest.mark.data
@pytest.mark.parametrize("share", SHARES)
def test_dated_facts_told_in_any_order_are_right_at_any_instant(open_memory: Open, data: Path, share: int) -> None:
    """1,000 random questions, no difference from the table; three orders, one state; impossible ends are told."""
    rows = table(data, share)
    hashes, random = set(), Random(15)
    by_source: dict[str, list[dict[str, str | None]]] = {}
    for row in rows:
        by_source.setdefault(str(row["source"]), []).append(row)
    inverted = sum(bool(r["invalid_at"]) and str(r["invalid_at"]) < str(r["valid_at"]) for r in rows)
    for order in (None, Random(1), Random(2)):
        memory = open_memory(
            model=ScriptedModel({"resolve": {"matches": []}, "judge": {"judgements": []}}),
            clock=FixedClock("2026-01-15T12:00:00Z"),
            ontology=Ontology.of(),
        )
        assert sorted(told(memory, rows, order)) == ["interval_conflict"] * inverted
        hashes.add(memory.state_hash())
    differences = []
    for _ in range(1000):
        source = random.choice(list(by_source))
        row = random.choice(by_source[source])
        around = random.choice([first_of(row["valid_at"]), first_of(row["invalid_at"] or row["valid_at"], 1)])
        assert around is not None
        at = around + random.choice([timedelta(0), -timedelta(microseconds=1), timedelta(days=random.randrange(-4000, 4000))])
        wanted = sorted((str(r["relation"]), str(r["target"])) for r in by_source[source] if holds(r, at))
        found = sorted((f.relation, f.target) for f in memory.as_of(valid=at).facts(source=source) if f.relation != "LISTED_IN")
        if [(r.upper(), t) for r, t in wanted] != found:
            differences.append((source, at, wanted, found))
    assert differences == []
    assert len(hashes) == 1
