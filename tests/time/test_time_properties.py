"""What holds of every history: the fold is the oracle, order does not matter, and what is undone was never done."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import combinations, pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem.belief.fold import fold, fold_reading, units
from graphmem.belief.identity import resolve_identity
from graphmem.belief.statements import read_log
from graphmem.entries import created_at
from graphmem.model import EpisodeRecord, LogEntry, Operation, OperationKind, Period
from graphmem.testing import ONTOLOGY, Oracle, random_history

seeds = st.integers(0, 2**32)
sizes = st.integers(1, 12)
usual = settings(max_examples=300, deadline=None)


def assert_fold_is_oracle(log: list[LogEntry]) -> None:
    """The two agree at every instant at which anything may change."""
    periods, oracle = fold(log, ONTOLOGY), Oracle(log, ONTOLOGY)
    assert {bound for p in periods for bound in (p.valid.start, p.valid.end)} - {None} <= set(oracle.points)
    for point in oracle.points:
        assert {p.key for p in periods if point in p.valid} == oracle.true_at(point), point


def assert_invariants(log: list[LogEntry], periods: list[Period]) -> None:
    """Periods of a fact neither overlap nor touch, excluding facts never hold together, and live episodes stand behind all."""
    oracle = Oracle(log, ONTOLOGY)
    for one, other in combinations(periods, 2):
        if one.key == other.key:
            assert one.valid.end is not None
            assert other.valid.start is not None
            assert one.valid.end < other.valid.start
        elif oracle.exclude(one.key, other.key):
            assert not one.valid.overlaps(other.valid)
    recorded = {e.episode.id for e in log if isinstance(e, EpisodeRecord)}
    for period in periods:
        assert period.citations
        assert len(set(period.citations)) == len(period.citations)
        assert {citation.episode for citation in period.citations} <= recorded
        assert period.key.source != period.key.target
        assert {period.source, period.target} == {period.key.source, period.key.target}


@usual
@given(seeds, sizes)
def test_the_fold_gives_what_the_oracle_says(seed: int, size: int) -> None:
    """Random histories of all kinds of statements and operations, at every point."""
    assert_fold_is_oracle(random_history(Random(seed), size))


@usual
@given(seeds, sizes)
def test_periods_keep_their_invariants(seed: int, size: int) -> None:
    """At every past instant of the history."""
    log = random_history(Random(seed), size)
    assert_invariants(log, fold(log, ONTOLOGY))


@usual
@given(seeds, st.integers(2, 8))
def test_the_order_of_arrival_does_not_matter(seed: int, size: int) -> None:
    """The same episodes in another order, then the same operations: the same periods, citations and all."""
    rng = Random(seed)
    days = rng.sample(range(500), size)
    log = random_history(rng, size, references=[datetime(2020, 1, 1, tzinfo=UTC) + timedelta(days=day) for day in days])
    episodes = [e for e in log if isinstance(e, EpisodeRecord)]
    operations = [e for e in log if isinstance(e, Operation) and e.kind is not OperationKind.DISTINCT]
    first = fold(renumbered([*episodes, *operations]), ONTOLOGY)
    for _ in range(3):
        rng.shuffle(episodes)
        assert fold(renumbered([*episodes, *operations]), ONTOLOGY) == first


def renumbered(entries: list[LogEntry]) -> list[LogEntry]:
    """The entries as a log in this order."""
    start = datetime(2026, 1, 1, tzinfo=UTC)
    out: list[LogEntry] = []
    for seq, entry in enumerate(entries, 1):
        at = start + timedelta(days=seq)
        if isinstance(entry, Operation):
            out.append(replace(entry, seq=seq, created_at=at))
        else:
            out.append(replace(entry, episode=replace(entry.episode, seq=seq, created_at=at)))
    return out


@usual
@given(seeds, st.integers(2, 10))
def test_a_restored_forget_leaves_no_trace(seed: int, size: int) -> None:
    """Forget anything at any time, restore it at the end: as the log without both."""
    rng = Random(seed)
    log = random_history(rng, size)
    at = rng.randrange(1, len(log) + 1)
    known = [e for e in log[:at] if isinstance(e, EpisodeRecord)]
    targets = [rng.choice(known).episode.id, rng.choice([a.id for e in known for a in e.assertions])]
    forget = Operation("forget!", "main", OperationKind.FORGET, tuple(targets))
    restore = Operation("restore!", "main", OperationKind.RESTORE, ("forget!",))
    with_both = renumbered([*log[:at], forget, *log[at:], restore])
    without = [e for e in with_both if not (isinstance(e, Operation) and e.id in ("forget!", "restore!"))]
    assert fold(with_both, ONTOLOGY) == fold(without, ONTOLOGY)


@usual
@given(seeds, sizes)
def test_folding_reads_and_changes_nothing(seed: int, size: int) -> None:
    """The same reading folds to the same periods again, and unit by unit to the same as at once."""
    reading = read_log(random_history(Random(seed), size), ONTOLOGY)
    whole = fold_reading(reading).periods
    assert fold_reading(reading).periods == whole
    parts = [period for unit in units(reading) for period in fold_reading(reading, unit[:1]).periods]
    assert sorted(parts, key=repr) == sorted(whole, key=repr)


@usual
@given(seeds, sizes)
def test_a_slice_of_the_log_folds_to_its_part_of_the_whole(seed: int, size: int) -> None:
    """Only the assertions of one unit, those their decisions name, and the whole log's identity."""
    rng = Random(seed)
    log = random_history(rng, size)
    reading, identity = read_log(log, ONTOLOGY), resolve_identity(log)
    parts = list(units(reading))
    if not parts:
        return
    unit = set(rng.choice(parts))
    assertions = {a.id: a for e in log if isinstance(e, EpisodeRecord) for a in e.assertions}
    wanted = [i for i in assertions if reading.key_of(i) in unit]
    for i in wanted:
        named = (assertions[i].same_as, *assertions[i].excludes)
        wanted += [n for n in named if n in assertions and n not in wanted]
    part = [replace(e, assertions=tuple(a for a in e.assertions if a.id in wanted)) if isinstance(e, EpisodeRecord) else e for e in log]
    folded = fold_reading(read_log(part, ONTOLOGY, identity), unit).periods
    assert [p for p in folded if p.key in unit] == [p for p in fold_reading(reading).periods if p.key in unit]


@pytest.mark.slow
@settings(max_examples=20_000, deadline=None)
@given(seeds, st.integers(1, 20))
def test_the_fold_gives_what_the_oracle_says_in_long_runs(seed: int, size: int) -> None:
    """Longer histories, many of them, at every past instant."""
    log = random_history(Random(seed), size)
    assert_invariants(log, fold(log, ONTOLOGY))
    for n in range(1, len(log) + 1):
        assert_fold_is_oracle(log[:n])


def test_histories_hold_every_kind_of_entry() -> None:
    """The generator draws every statement, decision and operation, and its instants strictly increase."""
    logs = [random_history(Random(seed), 12) for seed in range(60)]
    kinds = {e.kind for log in logs for e in log if isinstance(e, Operation)}
    assert kinds == set(OperationKind) - {OperationKind.ERASE, OperationKind.ERASED, OperationKind.ONTOLOGY, OperationKind.COMMUNITIES}
    told = [a for log in logs for e in log if isinstance(e, EpisodeRecord) for a in e.assertions]
    assert {a.kind for a in told} == {"holds", "ends", "denies"}
    assert all(any(getattr(a, name) for a in told) for name in ("same_as", "excludes", "still", "start", "end", "attributes"))
    for log in logs:
        instants = [created_at(e) for e in log]
        assert all(a is not None and b is not None and a < b for a, b in pairwise(instants))
