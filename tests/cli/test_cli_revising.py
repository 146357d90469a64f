"""The commands that take back and put right, in this process."""

import json
from pathlib import Path
from typing import Any

import pytest
from terminal import Run

pytestmark = pytest.mark.local


def read(run: Run, *line: object) -> Any:
    """Stdout as the one JSON document it must be."""
    return json.loads(run(*line, "--json").out)


def test_a_fact_is_corrected_ended_confirmed_and_each_is_undone(run: Run, db: Path) -> None:
    """With the id that `facts` gives; every operation prints its own id first."""
    (home,) = read(run, "facts", "Mira", "--db", db)["facts"]
    done = run("correct", home["uuid"], "--valid-at", "2021", "--invalid-at", "2030", "--target", "Braga", "--author", "Mira", "--db", db)
    (now,) = read(run, "facts", "Mira", "--db", db)["facts"]
    assert (now["target"], now["valid_at"][:4], now["invalid_at"][:4]) == ("Braga", "2021", "2031")

    run("correct", now["id"], "--invalid-at", "none", "--db", db)
    run("end", now["uuid"], "--at", "2022-01-01", "--db", db)
    assert read(run, "facts", "Mira", "--db", db)["facts"] == []
    confirmed = read(run, "confirm", now["uuid"], "--at", "2025-05-01", "--db", db)
    assert [f["target"] for f in read(run, "facts", "Mira", "--db", db)["facts"]] == ["Braga"]
    assert run("undo", confirmed["ids"][0], "--db", db).code == 0
    assert run("undo", confirmed["ids"][0], "--db", db).code == 2
    assert run("undo", done.out.split()[0], "--db", db).code == 0
    assert run("verify", "--db", db).code == 0


def test_forget_takes_one_kind_of_thing(run: Run, db: Path) -> None:
    """A fact, an entity, or what passes filters; none or two of them is an error."""
    (home,) = read(run, "facts", "Mira", "--db", db)["facts"]
    assert run("forget", "--db", db).code == 2
    assert run("forget", "--entity", "Mira", "--fact", home["uuid"], "--db", db).code == 2
    done = read(run, "forget", "--fact", home["uuid"], "--db", db)
    assert home["uuid"] not in {f["uuid"] for f in read(run, "facts", "Mira", "--db", db)["facts"]}
    assert run("restore", done["ids"][0], "--db", db).code == 0
    assert read(run, "forget", "--relation", "lives in", "--db", db)["changes"]
    assert read(run, "facts", "--relation", "lives in", "--history", "--db", db)["facts"] == []
    read(run, "forget", "--entity", "Mira", "--db", db)
    assert run("entity", "Mira", "--db", db).code != 0


def test_a_dry_run_prints_the_consequences_and_records_nothing(run: Run, db: Path) -> None:
    """In words and as JSON."""
    before = read(run, "stats", "--db", db)["log"]
    tried = run("forget", "--since", "2025-01-01", "--dry-run", "--db", db)
    assert "would change" in tried.out
    assert "forgotten" in tried.out
    assert read(run, "forget", "--since", "2025-01-01", "--dry-run", "--db", db)["ids"] == []
    assert read(run, "stats", "--db", db)["log"] == before
