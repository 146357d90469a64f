"""Changes on the command line: what differs, why, since when, who did it; in colour only where somebody looks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from terminal import Run

pytestmark = pytest.mark.local


def test_a_difference_is_a_table_with_rule_and_words(run: Run, made: Path) -> None:
    """What ended, by which rule; entities are counted, and shown when asked for."""
    told = run("diff", "2025-03-15", "--db", made)

    assert told.code == 0
    assert "ended" in told.out
    assert "a single-valued relation: Porto" in told.out
    assert '"Mira moved' in told.out
    assert "left out; --entities shows them" in told.err
    assert "first named" in run("diff", "2025-03-15", "--entities", "--db", made).out
    assert run("diff", "2025-03-15", "--entity", "Bob", "--relation", "lives_in", "--db", made).out == "no change\n"


def test_a_difference_is_one_json_document(run: Run, made: Path) -> None:
    """With the points, the counts and every change."""
    told = json.loads(run("diff", "2025-03-15", "2025-06-01", "--relation", "lives in", "--json", "--db", made).out)

    assert (told["axis"], told["since"], told["until"]) == ("system", "2025-03-15T00:00:00+00:00", "2025-06-01T00:00:00+00:00")
    assert (told["counts"], told["more"]) == ({"added": 1, "ended": 1}, False)
    ended = told["changes"][1]
    assert (ended["before"]["invalid_at"], ended["after"]["invalid_at"]) == (None, "2025-03-01T00:00:00+00:00")
    assert ended["cause"]["quote"] == "Mira moved to Porto."


def test_the_world_between_two_times_is_told_as_believed_at_a_third(run: Run, made: Path) -> None:
    """`--axis valid`, and what the memory did not know yet is not in it."""
    assert "Porto" in run("diff", "2025-02-01", "2025-04-01", "--axis", "valid", "--db", made).out
    early = run("diff", "2025-02-01", "2025-04-01", "--axis", "valid", "--system", "2025-03-15", "--db", made)
    assert (early.code, early.out) == (0, "no change\n")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("2025-03-15", "2025-03-01"), "the second point must be after the first"),
        (("2025-03-15", "--axis", "both"), "must be system or valid"),
        (("2025-03-15", "--system", "2025-03-01"), "goes with --axis valid"),
        (("soon",), "must be a datetime or ISO 8601"),
        (("2024-01-01", "2024-02-01"), "the memory held nothing at that point"),
        (("2025-03-15", "--entity", "Nobody"), "no entity is called 'Nobody'"),
    ],
)
def test_what_cannot_be_compared_is_one_line_on_stderr(run: Run, made: Path, arguments: tuple[str, ...], complaint: str) -> None:
    """The value and what is allowed; nothing on stdout."""
    told = run("diff", *arguments, "--db", made)
    assert told.code != 0
    assert told.out == ""
    assert complaint in told.err
    assert told.err.count("\n") == 1


def test_colour_is_for_terminals_that_want_it(shell: Run, made: Path) -> None:
    """A pipe gets none, a terminal does, and NO_COLOR is respected."""
    line = ("diff", "2025-03-15", "--db", made)
    assert "\x1b[" not in shell(*line).out
    assert "\x1b[31m" in shell(*line, env={"FORCE_COLOR": "1", "TERM": "xterm-256color"}).out
    assert "\x1b[3" not in shell(*line, env={"FORCE_COLOR": "1", "TERM": "xterm-256color", "NO_COLOR": "1"}).out


def test_why_and_history_tell_of_a_fact_and_of_an_entity(run: Run, made: Path) -> None:
    """By name, by id; exit code 1 where nothing has it."""
    by_name = json.loads(run("why", "Mira", "--json", "--db", made).out)["facts"]
    assert [f["fact"]["target"] for f in by_name] == ["Porto"]
    told = run("why", by_name[0]["fact"]["uuid"], "--db", made)
    assert (told.code, "Mira moved to Porto." in told.out) == (0, True)
    listed = run("history", "Mira", "--relation", "lives_in", "--db", made).out
    assert listed.index("since 2021") < listed.index("ended")
    for command in ("why", "history"):
        missing = run(command, "Nobody", "--db", made)
        assert (missing.code, missing.out) == (1, "")


def test_operations_say_who_did_what(run: Run, db: Path) -> None:
    """With the reason and what changed; newest first."""
    episode = json.loads(run("episodes", "--json", "--newest", "--db", db).out)["episodes"][-1]["id"]
    assert run("forget", episode, "--reason", "wrong person", "--db", db).code == 0
    told = run("operations", "--kind", "forget", "--db", db)
    assert "wrong person" in told.out
    assert "forgotten" in told.out
    kinds = [o["kind"] for o in json.loads(run("operations", "--json", "--db", db).out)["operations"]]
    assert kinds == ["forget", "ontology"]
    assert "must be among" in run("operations", "--kind", "party", "--db", db).err


def test_a_log_is_replayed_into_a_new_file(run: Run, made: Path, tmp_path: Path) -> None:
    """It says that the two are equal; a second time the file is taken."""
    told = run("replay", tmp_path / "again.db", "--db", made)
    assert (told.code, told.err) == (0, "")
    assert "fold to the same state and history" in told.out
    assert "holds something of this group already" in run("replay", tmp_path / "again.db", "--db", made).err
    assert "name a new file" in run("replay", "--db", made).err


def test_another_reading_is_shown_as_a_difference(run: Run, made: Path) -> None:
    """With the model of this machine nothing differs from itself."""
    told = run("replay", "--reader", "offline", "--db", made)
    assert (told.code, told.out) == (0, "no difference\n")
    assert "3 episodes read with" in told.err
