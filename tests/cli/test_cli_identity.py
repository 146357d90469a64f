"""The commands that tell a memory who is who, in this process."""

import json
from pathlib import Path
from typing import Any

import pytest
from terminal import Run

import graphmem

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


def test_pairs_that_may_be_one_are_listed_with_ids(run: Run, db: Path) -> None:
    """Best first, as a table or a document; a memory without any says so."""
    assert run("duplicates", "--db", db).out.strip() == "no two entities look like one"
    with graphmem.open(db) as memory:
        for name in ("Beatriz Nogueira", "Beatriz Nogueirra"):
            memory.add_facts([{"source": name, "relation": "wrote", "target": f"Book {name}", "source_type": "Person"}])
    [listed] = parsed(run("duplicates", "--db", db, "--limit", "1", "--json").out)["duplicates"]
    shown = run("duplicates", "--db", db, "--limit", "1").out
    assert sorted(listed["names"]) == ["Beatriz Nogueira", "Beatriz Nogueirra"]
    assert listed["reasons"][0].split()[0] in shown
    assert f"{listed['score']:.2f}" in shown
    assert run("merge", listed["entity"]["id"], listed["other"]["id"], "--db", db).code == 0
    assert "Beatriz" not in run("duplicates", "--db", db, "--min-score", "0.9").out
    assert run("duplicates", "--db", db, "--min-score", "7").code == 2
