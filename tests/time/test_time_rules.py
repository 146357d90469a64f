"""The finer rules of time, one by one: dates, decisions, the gate, the user's operations, citations and warnings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from graphmem.belief.fold import Folded, fold, fold_reading, units
from graphmem.belief.statements import read_log
from graphmem.errors import InvalidInput
from graphmem.interval import Interval
from graphmem.model import Assertion, AssertionKind, Citation, EpisodeRecord, LogEntry, Operation, OperationKind
from graphmem.ontology import Ontology, Relation
from graphmem.testing import ONTOLOGY, Oracle, Story, ended, fact, never, rows_of, unit

ACME = fact("Mira WORKS_AT Acme", since="2022")
GLOBEX = fact("Mira WORKS_AT Globex", since="2024-08")


def folded(log: Iterable[LogEntry], ontology: Ontology = ONTOLOGY) -> Folded:
    """Periods and warnings of a log."""
    return fold_reading(read_log(log, ontology))


def check(story: Story) -> None:
    """The story gives its rows in every order, from the fold and from the oracle."""
    for log in story.orders():
        periods, oracle = fold(log, story.ontology), Oracle(log, story.ontology)
        assert rows_of(periods) == story.rows
        for point in oracle.points:
            assert {p.key for p in periods if point in p.valid} == oracle.true_at(point), point


STARTS = [
    Story("undated mentions extend")
    .say("2022-05-01", "Mira LIKES jazz")
    .say("2021-05-01", "Mira LIKES jazz")
    .gives("Mira LIKES jazz [2021-05, ∞)"),
    Story("an earlier dated start extends")
    .say("2024-01-01", fact("Mira WORKS_AT Acme", since="2020"))
    .say("2024-02-01", fact("Mira WORKS_AT Acme", since="2018"))
    .gives("Mira WORKS_AT Acme [2018, ∞)"),
    Story("dates of three precisions become the finest")
    .say("2024-01-01", fact("Mira WORKS_AT Acme", since="2020"))
    .say("2024-01-02", fact("Mira WORKS_AT Acme", since="2020-05"))
    .say("2024-01-03", fact("Mira WORKS_AT Acme", since="2020-05-10"))
    .gives("Mira WORKS_AT Acme [2020-05-10, ∞)"),
    Story("the first instant of the next year is not inside a year")
    .say("2024-01-01", fact("Mira WORKS_AT Acme", since="2020"))
    .say("2024-01-02", fact("Mira WORKS_AT Acme", since="2021-01-01T00:00"))
    .gives("Mira WORKS_AT Acme [2020, ∞)"),
    Story("a year is cut by a day within")
    .say("2022-02-01", fact("Mira WORKS_AT Acme", since="2022"))
    .say("2022-06-01", fact("Mira WORKS_AT Globex", since="2022-05-20"))
    .gives("Mira WORKS_AT Acme [2022, 2022-05-20)", "Mira WORKS_AT Globex [2022-05-20, ∞)"),
    Story("two trips ahead are two trips")
    .say("2025-05-01", fact("Mira VISITS Oslo", since="2025-07", until="2025-07"))
    .say("2025-06-01", fact("Mira VISITS Oslo", since="2025-12", until="2025-12"))
    .gives("Mira VISITS Oslo [2025-07, 2025-08)", "Mira VISITS Oslo [2025-12, 2026)"),
    Story("an undated mention moves no plan")
    .say("2025-05-14", fact("Mira WORKS_AT Globex", since="2025-09"))
    .say("2025-06-01", "Mira WORKS_AT Globex")
    .gives("Mira WORKS_AT Globex [2025-06, ∞)"),
    Story("a later start moves no start that was no plan")
    .say("2024-01-01", fact("Mira WORKS_AT Acme", since="2023"))
    .say("2024-02-01", fact("Mira WORKS_AT Acme", since="2025"))
    .gives("Mira WORKS_AT Acme [2023, ∞)"),
    Story("void starts cut nothing, and their ends end nothing")
    .say("2023-01-01", fact("Mira WORKS_AT Initech", since="2019"))
    .say("2024-01-01", fact("Mira WORKS_AT Acme", since="2020", until="2021"))
    .say("2024-01-02", fact("Mira WORKS_AT Globex", since="2020"))
    .gives("Mira WORKS_AT Initech [2019, 2020)", "Mira WORKS_AT Globex [2020, ∞)"),
    Story("never").say("2024-01-01", ACME).say("2024-02-01", never("Mira WORKS_AT Acme")).gives(),
    Story("a denial voids only what was said before it")
    .say("2024-02-01", never("Mira WORKS_AT Acme"))
    .say("2024-03-01", ACME)
    .gives("Mira WORKS_AT Acme [2022, ∞)"),
    Story("denied twice")
    .say("2024-02-01", never("Mira WORKS_AT Acme"))
    .say("2024-03-01", ACME)
    .say("2024-06-01", never("Mira WORKS_AT Acme"))
    .gives(),
    Story("a voided second start leaves the first its end")
    .say("2024-03-01", fact("Mira WORKS_AT Acme", since="2020", until="2026", still=True))
    .say("2024-05-01", fact("Mira WORKS_AT Globex", since="2024-03"))
    .say("2024-06-01", "Mira WORKS_AT Acme")
    .gives("Mira WORKS_AT Acme [2020, 2024-03)", "Mira WORKS_AT Globex [2024-03, 2024-06)", "Mira WORKS_AT Acme [2024-06, 2027)"),
    Story("a thing has one owner at a time")
    .say("2024-01-01", fact("Mira OWNS Loft", since="2020"))
    .say("2024-02-01", fact("Tom OWNS Loft", since="2023"))
    .say("2024-03-01", fact("Mira OWNS Boat", since="2023"))
    .gives("Mira OWNS Loft [2020, 2023)", "Tom OWNS Loft [2023, ∞)", "Mira OWNS Boat [2023, ∞)"),
]

ENDS = [
    Story("no longer")
    .say("2022-03-01", "Mira LIKES jazz")
    .say("2024-06-10", ended("Mira LIKES jazz"))
    .gives("Mira LIKES jazz [2022-03, 2024-06-10)"),
    Story("a month that begins at the reference time holds it")
    .say("2023-01-01", fact("Mira WORKS_AT Acme", since="2020"))
    .say("2024-05-01", ended("Mira WORKS_AT Acme", "2024-05"))
    .gives("Mira WORKS_AT Acme [2020, 2024-05)"),
    Story("the date of an end may come as a start")
    .say("2023-01-01", fact("Mira WORKS_AT Acme", since="2020"))
    .say("2024-06-10", fact("Mira WORKS_AT Acme", since="2024-04", kind=AssertionKind.ENDS))
    .gives("Mira WORKS_AT Acme [2020, 2024-05)"),
    Story("an end that knows its start")
    .say("2024-05-20", fact("Mira WORKS_AT Acme", since="2019", until="2024-05", kind=AssertionKind.ENDS))
    .gives("Mira WORKS_AT Acme [2019, 2024-05-20)"),
    Story("an end in the future is no end yet")
    .say("2024-05-20", fact("Mira RENTS Loft", until="2024-12"))
    .gives("Mira RENTS Loft [2024-05-20, 2025)"),
    Story("of undated ends the earliest")
    .say("2020-01-01", "Mira LIKES jazz")
    .say("2023-01-01", ended("Mira LIKES jazz"))
    .say("2022-01-01", ended("Mira LIKES jazz"))
    .gives("Mira LIKES jazz [2020, 2022)"),
    Story("a lease ends early")
    .say("2023-01-10", fact("Mira RENTS Loft", since="2023", until="2026"))
    .say("2024-06-10", ended("Mira RENTS Loft", "2024-05"))
    .gives("Mira RENTS Loft [2023, 2024-06)"),
    Story("an end and a start at the same instant are one period")
    .say("2024-01-01", fact("Mira WORKS_AT Acme", since="2020", until="2021"))
    .say("2024-02-01", fact("Mira WORKS_AT Acme", since="2022", until="2022"))
    .gives("Mira WORKS_AT Acme [2020, 2023)"),
    Story("used to, while living elsewhere")
    .say("2024-03-01", "Mira LIVES_IN Lisbon")
    .say("2024-05-01", ended("Mira LIVES_IN Porto"))
    .gives("Mira LIVES_IN Porto [unknown, 2024-03)", "Mira LIVES_IN Lisbon [2024-03, ∞)"),
    Story("until then, and again now")
    .say("2025-01-10", fact("Mira WORKS_AT Acme", until="2019"), "Mira WORKS_AT Acme")
    .gives("Mira WORKS_AT Acme [unknown, 2020)", "Mira WORKS_AT Acme [2025-01-10, ∞)"),
    Story("an early end fills up to the start it touches")
    .say("2025-01-10", fact("Mira WORKS_AT Acme", until="2019"))
    .say("2025-01-11", fact("Mira WORKS_AT Acme", since="2020"))
    .gives("Mira WORKS_AT Acme [unknown, ∞)"),
    Story("two early ends share the time before")
    .say("2025-01-10", fact("Mira WORKS_AT Acme", until="2019"))
    .say("2025-01-11", fact("Mira WORKS_AT Globex", until="2015"))
    .gives("Mira WORKS_AT Globex [unknown, 2016)", "Mira WORKS_AT Acme [2016, 2020)"),
    Story("a cancelled plan of a former employer")
    .say("2021-01-01", fact("Mira WORKS_AT Globex", since="2018", until="2020"))
    .say("2025-05-14", fact("Mira WORKS_AT Globex", since="2025-09-01"))
    .say("2025-07-01", ended("Mira WORKS_AT Globex"))
    .gives("Mira WORKS_AT Globex [2018, 2021)"),
    Story("a cancellation opens nothing before it")
    .say("2020-01-01", fact("Mira WORKS_AT Globex", since="2018"))
    .say("2025-05-14", fact("Mira WORKS_AT Acme", since="2018"))
    .say("2025-05-15", fact("Mira WORKS_AT Globex", since="2025-09-01"))
    .say("2025-07-01", ended("Mira WORKS_AT Globex"))
    .gives("Mira WORKS_AT Acme [2018, ∞)"),
]

DECISIONS = [
    Story("a paraphrase judged the same")
    .say("2022-02-01", ACME)
    .say("2024-02-01", fact("Mira EMPLOYED_BY Acme", same_as="e1.0"))
    .gives("Mira WORKS_AT Acme [2022, ∞)"),
    Story("a paraphrase of a paraphrase")
    .say("2022-02-01", "Mira LIKES jazz")
    .say("2023-02-01", fact("Mira ENJOYS jazz", same_as="e1.0"))
    .say("2021-02-01", fact("Mira LOVES jazz", same_as="e2.0"))
    .gives("Mira LIKES jazz [2021-02, ∞)"),
    Story("the same of other entities does not count")
    .say("2022-02-01", "Mira LIKES jazz")
    .say("2023-02-01", fact("Mira ENJOYS opera", same_as="e1.0"))
    .gives("Mira LIKES jazz [2022-02, ∞)", "Mira ENJOYS opera [2023-02, ∞)"),
    Story("the rent is said again")
    .say("2023-01-01", fact("Mira RENTS Loft", text="900"))
    .say("2024-01-01", fact("Mira RENTS Loft", text="1,000", excludes=["e1.0"]))
    .say("2024-06-01", fact("Mira RENTS Loft", text="a thousand", same_as="e2.0"))
    .gives("Mira RENTS Loft [2023, 2024)", "Mira RENTS Loft [2024, ∞)"),
    Story("retired, across relations")
    .say("2020-01-01", fact("Mira WORKS_AT Acme", since="2010"))
    .say("2024-01-01", fact("Mira RETIRED_FROM Acme", since="2023-07", excludes=["e1.0"]))
    .gives("Mira WORKS_AT Acme [2010, 2023-07)", "Mira RETIRED_FROM Acme [2023-07, ∞)"),
    Story("the same two entities, the other way round")
    .say("2020-01-01", "Mira TEACHES Tom")
    .say("2024-01-01", fact("Tom TEACHES Mira", excludes=["e1.0"]))
    .gives("Mira TEACHES Tom [2020, 2024)", "Tom TEACHES Mira [2024, ∞)"),
    Story("the gate stops another relation to another target")
    .say("2020-01-01", "Mira WORKS_AT Quillon")
    .say("2021-01-01", fact("Mira OWNS_BUDGET_OF Canteen", excludes=["e1.0"]))
    .gives("Mira WORKS_AT Quillon [2020, ∞)", "Mira OWNS_BUDGET_OF Canteen [2021, ∞)"),
    Story("unknown and own ids decide nothing")
    .say("2020-01-01", fact("Mira LIKES jazz", excludes=["gone", "e1.0"], same_as="e1.0"))
    .say("2021-01-01", fact("Mira LIKES jazz", excludes=["gone"], same_as="gone"))
    .gives("Mira LIKES jazz [2020, ∞)"),
    Story("what repeats cannot contradict what it repeats")
    .say("2020-01-01", "Mira LIKES jazz")
    .say("2021-01-01", fact("Mira ENJOYS jazz", same_as="e1.0", excludes=["e1.0"]))
    .gives("Mira LIKES jazz [2020, ∞)"),
]

ACTS = [
    Story("ended by the user, whatever a text says")
    .say("2024-01-01", ACME)
    .do("end", "e1.0", at="2024-07-01")
    .say("2026-02-01", ended("Mira WORKS_AT Acme", "2025"))
    .gives("Mira WORKS_AT Acme [2022, 2024-07)"),
    Story("confirmed by the user")
    .say("2020-02-01", fact("Mira WORKS_AT Acme", since="2020"))
    .say("2021-02-01", fact("Mira WORKS_AT Globex", since="2021"))
    .do("confirm", "e1.0", at="2025")
    .gives("Mira WORKS_AT Acme [2020, 2021)", "Mira WORKS_AT Globex [2021, 2025)", "Mira WORKS_AT Acme [2025, ∞)"),
    Story("confirmed for a day ahead, which moves no plan")
    .say("2025-05-14", fact("Mira WORKS_AT Globex", since="2026-09"))
    .do("confirm", "e1.0", at="2026-12")
    .gives("Mira WORKS_AT Globex [2026-09, ∞)"),
    Story("an end of what is forgotten ends nothing else")
    .say("2022-02-01", ACME)
    .say("2024-02-01", "Mira WORKS_AT Acme")
    .do("end", "e1.0", at="2024-07-01")
    .do("forget", "e1")
    .gives("Mira WORKS_AT Acme [2024-02, ∞)"),
    Story("reopened by the user")
    .say("2023-01-01", fact("Mira WORKS_AT Acme", since="2020"))
    .say("2024-06-10", ended("Mira WORKS_AT Acme", "2024-05"))
    .do("correct", "e1.0", "e2.0", end=None)
    .gives("Mira WORKS_AT Acme [2020, ∞)"),
    Story("a start given for what only an end tells of")
    .say("2024-03-01", ended("Mira LIVES_IN Porto"))
    .do("correct", "e1.0", start="2019")
    .gives("Mira LIVES_IN Porto [2019, 2024-03)"),
    Story("the user's start wins over a later said equal one")
    .say("2024-01-01", ACME)
    .do("correct", "e1.0", start="2023")
    .say("2026-06-01", fact("Mira WORKS_AT Globex", since="2023"))
    .gives("Mira WORKS_AT Acme [2023, ∞)"),
    Story("the user's start keeps away from an earlier period")
    .say("2024-01-01", fact("Mira WORKS_AT Acme", since="2015", until="2016"))
    .say("2024-02-01", fact("Mira WORKS_AT Acme", since="2020"))
    .do("correct", "e2.0", start="2021")
    .gives("Mira WORKS_AT Acme [2015, 2017)", "Mira WORKS_AT Acme [2021, ∞)"),
    Story("the user's start keeps behind an excluding one")
    .say("2020-02-01", fact("Mira WORKS_AT Acme", since="2018"))
    .say("2021-02-01", fact("Mira WORKS_AT Globex", since="2020"))
    .say("2023-02-01", fact("Mira WORKS_AT Acme", since="2022"))
    .do("correct", "e3.0", start="2023")
    .gives("Mira WORKS_AT Acme [2018, 2020)", "Mira WORKS_AT Globex [2020, 2023)", "Mira WORKS_AT Acme [2023, ∞)"),
    Story("a finer date of a text does not weaken the user's start")
    .say("2024-01-01", ACME)
    .do("correct", "e1.0", start="2023")
    .say("2024-09-01", ACME)
    .say("2024-10-01", fact("Mira WORKS_AT Acme", since="2023-03"))
    .gives("Mira WORKS_AT Acme [2023-03, ∞)"),
    Story("of two starts given by the user the later said")
    .say("2024-01-01", ACME)
    .say("2024-02-01", ACME)
    .do("correct", "e1.0", start="2021")
    .do("correct", "e2.0", start="2023")
    .gives("Mira WORKS_AT Acme [2023, ∞)"),
    Story("an earlier start that the user gave later said stays")
    .say("2024-01-01", ACME)
    .say("2024-02-01", ACME)
    .do("correct", "e1.0", start="2023")
    .do("correct", "e2.0", start="2021")
    .gives("Mira WORKS_AT Acme [2021, ∞)"),
    Story("the target corrected")
    .say("2024-01-01", ACME)
    .do("correct", "e1.0", target="Globex")
    .say("2024-09-01", fact("Mira WORKS_AT Initech", since="2024"))
    .gives("Mira WORKS_AT Globex [2022, 2024)", "Mira WORKS_AT Initech [2024, ∞)"),
    Story("of two corrections the later")
    .say("2024-01-01", ACME)
    .do("correct", "e1.0", start="2023")
    .do("correct", "e1.0", start="2021")
    .gives("Mira WORKS_AT Acme [2021, ∞)"),
    Story("a correction outlives forgetting and restoring")
    .say("2022-02-01", ACME)
    .do("correct", "e1.0", start="2021")
    .do("forget", "e1")
    .do("restore", "o3")
    .gives("Mira WORKS_AT Acme [2021, ∞)"),
    Story("a restore restored").say("2022-02-01", ACME).do("forget", "e1").do("restore", "o2").do("restore", "o3").gives(),
    Story("one assertion forgotten").say("2022-02-01", ACME, "Mira LIKES jazz").do("forget", "e1.0").gives("Mira LIKES jazz [2022-02, ∞)"),
    Story("forgotten, then said again")
    .say("2022-02-01", "Mira LIKES jazz")
    .do("forget", "e1.0")
    .say("2024-02-01", "Mira LIKES jazz")
    .gives("Mira LIKES jazz [2024-02, ∞)"),
    Story("two people are one")
    .say("2020-02-01", fact("Bea WORKS_AT Acme", since="2020"))
    .say("2022-02-01", fact("Beatriz WORKS_AT Globex", since="2022"))
    .say("2022-03-01", links=[("Bea", "Beatriz")])
    .gives("Bea WORKS_AT Acme [2020, 2022)", "Bea WORKS_AT Globex [2022, ∞)"),
    Story("a link lives while its episode does")
    .say("2020-02-01", fact("Bea WORKS_AT Acme", since="2020"))
    .say("2022-02-01", fact("Beatriz WORKS_AT Globex", since="2022"))
    .say("2022-03-01", links=[("Bea", "Beatriz")])
    .do("forget", "e3")
    .gives("Bea WORKS_AT Acme [2020, ∞)", "Beatriz WORKS_AT Globex [2022, ∞)"),
    Story("a link barred by distinct")
    .say("2020-02-01", "Bea LIKES jazz", links=[("Bea", "Beatriz")])
    .say("2021-02-01", "Beatriz LIKES jazz")
    .do("distinct", "Beatriz", "Bea")
    .gives("Bea LIKES jazz [2020-02, ∞)", "Beatriz LIKES jazz [2021-02, ∞)"),
    Story("a merge makes a fact about itself")
    .say("2024-01-01", "Mira KNOWS Tallis", "Mira LIKES jazz")
    .do("merge", "Mira", "Tallis")
    .gives("Mira LIKES jazz [2024, ∞)"),
    Story("a split takes the ground from a judgement")
    .say("2019-01-01", "Jo LIKES jazz")
    .say("2022-01-01", fact("Jo DISLIKES jazz", excludes=["e1.0"]))
    .do("split", "Jo", "e2", entity="Jo2")
    .gives("Jo LIKES jazz [2019, ∞)", "Jo2 DISLIKES jazz [2022, ∞)"),
]

RULES = [*STARTS, *ENDS, *DECISIONS, *ACTS]


@pytest.mark.parametrize("story", RULES, ids=[story.title.replace(" ", "_") for story in RULES])
def test_a_rule_gives_its_rows(story: Story) -> None:
    """In every order of arrival, from the fold and from the oracle."""
    check(story)


# ------------------------------------------------------------------------------------------------ bounds, citations, warnings


def test_bounds_carry_the_precision_and_origin_of_their_dates() -> None:
    """A cut end takes those of the date that cuts it; open bounds are unknown."""
    log = Story("").say("2024-03-01", ACME).say("2024-09-01", GLOBEX).log()
    acme, globex = fold(log, ONTOLOGY)
    assert (acme.start.precision, acme.start.origin) == ("year", "stated")
    assert (acme.end.precision, acme.end.origin) == ("month", "stated")
    assert globex.end.origin == "unknown"


def test_a_start_seen_and_an_undated_end_are_of_origin_reference() -> None:
    """Both are exact to the instant."""
    log = Story("").say("2022-03-01", "Mira LIKES jazz").say("2024-06-10", ended("Mira LIKES jazz")).log()
    (jazz,) = fold(log, ONTOLOGY)
    assert [(b.precision, b.origin) for b in (jazz.start, jazz.end)] == [("instant", "reference")] * 2


def test_what_the_user_dates_is_of_origin_user() -> None:
    """A corrected start, an `end`."""
    log = Story("").say("2024-01-01", ACME).do("correct", "e1.0", start="2023").do("end", "e1.0", at="2024-07-01").log()
    (acme,) = fold(log, ONTOLOGY)
    assert [(b.precision, b.origin) for b in (acme.start, acme.end)] == [("year", "user"), ("instant", "user")]


def test_an_excluding_start_cuts_also_where_the_end_was_said_to_be() -> None:
    """An end counts only if it is earlier, so the bound is that of the start."""
    log = (
        Story("")
        .say("2024-01-01", fact("Mira WORKS_AT Acme", since="2018", until="2020"), fact("Mira WORKS_AT Globex", since="2021-01"))
        .log()
    )
    acme, _ = fold(log, ONTOLOGY)
    assert acme.end.precision == "month"


def test_joined_periods_end_as_the_last_of_them_does() -> None:
    """Two leases that touch."""
    leases = fact("Mira RENTS Loft", since="2020", until="2021"), fact("Mira RENTS Loft", since="2022", until="2022-05")
    (loft,) = fold(Story("").say("2024", *leases).log(), ONTOLOGY)
    assert loft.valid == Interval(unit("2020").first, unit("2022-06").first)
    assert (loft.start.precision, loft.end.precision) == ("year", "month")


def test_an_end_cites_the_stretch_it_fills_also_where_that_ends_earlier() -> None:
    """She lived in Porto before Lisbon, though told of it later."""
    log = Story("").say("2024-03-01", "Mira LIVES_IN Lisbon").say("2024-05-01", ended("Mira LIVES_IN Porto")).log()
    _, porto = fold(log, ONTOLOGY)
    assert porto.citations == (Citation("e2", "e2.0"),)
    assert (porto.end.precision, porto.end.origin) == ("instant", "reference")
    assert porto.valid.end == unit("2024-03").first


def test_a_filled_start_is_printed_as_exactly_as_the_end_it_follows() -> None:
    """It is known only from the fact before, so its origin is unknown."""
    log = (
        Story("")
        .say("2024-01-01", fact("Mira WORKS_AT Globex", since="2010", until="2014"), fact("Mira WORKS_AT Acme", until="2019"))
        .log()
    )
    acme, _ = fold(log, ONTOLOGY)
    assert acme.valid == Interval(unit("2015").first, unit("2020").first)
    assert (acme.start.precision, acme.start.origin) == ("year", "unknown")


def test_a_period_is_cited_by_the_statements_inside_it_in_the_order_they_were_said() -> None:
    """Starts, mentions, ends and the user's acts, the last under the episodes they were about."""
    story = Story("").say("2024-05-01", "Mira LIKES jazz").say("2024-01-01", fact("Mira LIKES jazz", since="2020"))
    log = story.do("confirm", "e2.0", "e1.0", at="2025").do("end", "e1.0", at="2026").log()
    (jazz,) = fold(log, ONTOLOGY)
    assert jazz.citations == (
        Citation("e2", "e2.0"),
        Citation("e1", "e1.0"),
        Citation("e2", "o3"),
        Citation("e1", "o3"),
        Citation("e1", "o4"),
    )


def test_a_mention_between_periods_is_cited_by_its_own_period_alone() -> None:
    """Two stays at one place, each with its own source."""
    log = Story("").say("2020", "Mira LIVES_IN Lisbon").say("2021", "Mira LIVES_IN Porto").say("2022", "Mira LIVES_IN Lisbon").log()
    first, second, _ = fold(log, ONTOLOGY)
    assert (first.citations, second.citations) == ((Citation("e1", "e1.0"),), (Citation("e3", "e3.0"),))


def test_text_and_direction_come_from_the_first_start() -> None:
    """The earliest, and of equal ones the first said."""
    story = Story("").say("2019-02-01", fact("Ana MARRIED_TO Tom", since="2018", text="Ana is Tom's wife"))
    log = story.say("2019-01-01", fact("Tom MARRIED_TO Ana", since="2018", text="Tom is Ana's husband")).log()
    (marriage,) = fold(log, ONTOLOGY)
    assert (marriage.source, marriage.target, marriage.text) == ("Tom", "Ana", "Tom is Ana's husband")


def test_attributes_of_the_period_overlay_in_the_order_they_were_said() -> None:
    """Later said attributes win, whichever arrived first."""
    old = replace(fact("Mira WORKS_AT Acme", since="2020"), attributes={"role": "clerk", "floor": 3})
    new = replace(fact("Mira WORKS_AT Acme"), attributes={"role": "head"})
    for log in (Story("").say("2020", old).say("2024", new).log(), Story("").say("2024", new).say("2020", old).log()):
        (job,) = fold(log, ONTOLOGY)
        assert job.attributes == {"role": "head", "floor": 3}


def test_an_end_before_its_start_is_dropped_with_a_warning() -> None:
    """The fact and its start are kept; equal instants count as inverted."""
    log = Story("").say("2025-04-01", fact("Mira RENTS Loft", since="2025-03-10", until="2025-03-01")).log()
    periods, warnings = folded(log)
    assert rows_of(periods) == ("Mira RENTS Loft [2025-03-10, ∞)",)
    assert [(w.code, w.raw) for w in warnings] == [("interval_conflict", "e1.0")]


def test_an_end_for_which_there_is_no_room_gives_a_warning() -> None:
    """All the time before it is taken by an earlier unbegun end and its successor."""
    story = (
        Story("").say("2024-01-01", fact("Mira WORKS_AT Acme", until="2019")).say("2024-02-01", fact("Mira WORKS_AT Globex", until="2019"))
    )
    periods, warnings = folded(story.log())
    assert rows_of(periods) == ("Mira WORKS_AT Globex [unknown, 2020)",)
    assert [(w.code, w.raw) for w in warnings] == [("no_room", "e1.0")]


def test_two_values_said_at_once_give_a_warning() -> None:
    """Not so a correction by a later episode."""
    _, warnings = folded(Story("").say("2024-01-01", "Mira WORKS_AT Acme", "Mira WORKS_AT Globex").log())
    assert [(w.code, w.raw) for w in warnings] == [("single_valued", "e1.0")]
    day = "2024-05-01"
    later = (
        Story("")
        .say("2024-05-01T10:00", fact("Mira WORKS_AT Acme", since=day))
        .say("2024-05-01T11:00", fact("Mira WORKS_AT Globex", since=day))
    )
    assert folded(later.log()).warnings == ()


# ------------------------------------------------------------------------------------------------ readings and units


def test_an_assertion_of_a_self_loop_speaks_of_no_fact() -> None:
    """Nor does an unknown one."""
    reading = read_log(Story("").say("2024", "Mira KNOWS Mira").log(), ONTOLOGY)
    assert reading.key_of("e1.0") is None
    assert reading.key_of("unknown") is None
    assert reading.keys == set()


def test_units_are_facts_connected_by_exclusion() -> None:
    """By a slot, by a judgement, and through one another."""
    story = (
        Story("")
        .say("2020", "Mira WORKS_AT Acme", "Mira WORKS_AT Globex", "Mira LIKES jazz")
        .say("2021", fact("Mira LEFT Acme", excludes=["e1.0"]))
    )
    reading = read_log(story.log(), ONTOLOGY)
    assert [[(key.relation, key.target) for key in unit] for unit in units(reading)] == [
        [("LEFT", "Acme"), ("WORKS_AT", "Acme"), ("WORKS_AT", "Globex")],
        [("LIKES", "jazz")],
    ]
    acme = reading.key_of("e1.0")
    assert acme is not None
    assert {key.target for key in reading.conflicts(acme)} == {"Globex", "Acme"}
    assert [len(unit) for unit in units(reading, [acme])] == [3]


def test_a_cycle_of_repeats_is_read_all_the_same() -> None:
    """Decisions that name each other, as no judge would record them."""
    log = Story("").say("2020", fact("Mira LIKES jazz", same_as="e2.0")).say("2021", fact("Mira LOVES jazz", same_as="e1.0")).log()
    assert {key.relation for key in read_log(log, ONTOLOGY).keys} == {"LIKES", "LOVES"}


def test_reference_times_of_any_zone_count_as_instants() -> None:
    """A naive one is rejected."""
    told = datetime.fromisoformat("2024-05-01T01:00:00+02:00")
    (record,) = Story("").say("2024", "Mira LIKES jazz").log()
    assert isinstance(record, EpisodeRecord)
    (period,) = fold([replace(record, episode=replace(record.episode, reference_time=told))], ONTOLOGY)
    assert period.valid.start == datetime(2024, 4, 30, 23, tzinfo=UTC)
    with pytest.raises(InvalidInput, match="needs an offset"):
        fold([replace(record, episode=replace(record.episode, reference_time=datetime(2024, 5, 1)))], ONTOLOGY)


def test_operations_without_their_instant_are_rejected() -> None:
    """The log sets `created_at`; `end` needs its `at`."""
    log = Story("").say("2024", ACME).log()
    operation = Operation("o", "main", OperationKind.END, ("e1.0",), {"at": datetime(2024, 1, 1, tzinfo=UTC)}, seq=2)
    with pytest.raises(InvalidInput, match="created_at"):
        fold([*log, operation], ONTOLOGY)
    with pytest.raises(InvalidInput, match="at="):
        fold([*log, replace(operation, created_at=datetime(2026, 1, 1, tzinfo=UTC), values={})], ONTOLOGY)


def test_a_declared_relation_may_take_several_values() -> None:
    """Two jobs at once, with an ontology that allows them."""
    several = Ontology.of(Relation("WORKS_AT"))
    periods, warnings = folded(Story("").say("2024", "Mira WORKS_AT Acme", "Mira WORKS_AT Globex").log(), several)
    assert len(periods) == 2
    assert warnings == ()


def test_every_field_that_a_correction_names_is_replaced() -> None:
    """Text, kind and relation as well as dates."""
    story = Story("").say("2024-01-01", "Mira LIKES jazz").do("correct", "e1.0", relation="LOVES", text="Mira loves jazz")
    (period,) = fold(story.log(), ONTOLOGY)
    assert (period.key.relation, period.text) == ("LOVES", "Mira loves jazz")
    assert fold(story.do("correct", "e1.0", kind=AssertionKind.DENIES).log(), ONTOLOGY) == []


def test_any_text_is_legal_text() -> None:
    """NUL, lone surrogates, right-to-left, U+2028: carried through."""
    strange = "a\x00b\ud800\u202e\u2028🙂"
    told: Assertion = replace(fact("Mira LIKES jazz"), source=strange, target="t", text=strange)
    (period,) = fold(Story("").say("2024", told).log(), ONTOLOGY)
    assert (period.source, period.text) == (strange, strange)
