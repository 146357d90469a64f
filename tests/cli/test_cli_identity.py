"""The commands that tell a memory who is who, in this process."""

import json
from pathlib import Path
from typing import Any

import pytest
from terminal import Run

pytestmark = pytest.mark.local


def parsed(out: str) -> Any:
    """Stdout as the one JSON document it must be."""
    return json.loads(out)


def people(run: Run, db: Path, name: str) -> list[str]:
    """The name of the entity that `name` means, and its other names."""
    found = parsed(run("entity", name, "--db", db, "--json").out)["entity"]
    return [found["name"], *found["aliases"]]


def test_a_merge_is_tried_done_and_taken_back(run: Run, db: Path) -> None:
    """--dry-run only tells; the id printed restores."""
    tried = run("merge", "Porto", "Lisbon", "--dry-run", "--db", db)
    assert (tried.code, tried.out.splitlines()[0]) == (0, "nothing is recorded; this would change:")
    assert "merged" in tried.out
    assert people(run, db, "Lisbon") == ["Lisbon"]

    merged = parsed(run("merge", "Porto", "Lisbon", "--reason", "a test", "--author", "Ada", "--db", db, "--json").out)
    assert "merged" in {c["kind"] for c in merged["changes"]}
    assert set(people(run, db, "Lisbon")) == {"Porto", "Lisbon"}

    assert run("restore", merged["ids"][0], "--db", db).code == 0
    assert people(run, db, "Lisbon") == ["Lisbon"]
    assert run("verify", "--db", db).code == 0


def test_names_and_who_is_distinct_are_told(run: Run, db: Path) -> None:
    """Each says what it changed; what cannot be is one line, and nothing changed."""
    assert "also called Tripeiro" in run("alias", "Porto", "Tripeiro", "--db", db).out
    assert "was called Porto" in run("rename", "Tripeiro", "Invicta", "--db", db).out
    assert set(people(run, db, "Porto")) == {"Invicta", "Porto", "Tripeiro"}
    assert run("distinct", "Porto", "Lisbon", "--db", db).code == 0
    refused = run("merge", "Porto", "Lisbon", "--db", db)
    assert (refused.code, refused.err.count("\n"), "distinct" in refused.err) == (2, 1, True)


def test_a_split_takes_episodes(run: Run, db: Path) -> None:
    """The ids that `episodes` lists; an episode that is not there is refused."""
    told = [e["id"] for e in parsed(run("episodes", "--entity", "Mira", "--db", db, "--json").out)["episodes"]]
    taken = parsed(run("split", "Mira", told[0], "--db", db, "--json").out)
    assert "split" in {c["kind"] for c in taken["changes"]}
    assert run("split", "Mira", "ep_x", "--db", db).code == 2
