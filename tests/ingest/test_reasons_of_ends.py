"""The reason given for the end of a fact names the fact that took its place, not one that was said at the same time."""

from __future__ import annotations

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.testing import FixedClock


def reasons(*rows: dict[str, object]) -> dict[str, str]:
    """Text → reason of what the last rows end."""
    with graphmem.open(":memory:", embedder=HashingEmbedder(64), clock=FixedClock("2026-01-15T12:00Z"), model="offline") as memory:
        memory.add_facts([rows[0]], reference_time="2024-03-01")
        changes = memory.add_facts(list(rows[1:]), reference_time="2024-09-01").changes
        return {c.text: c.reason for c in changes if c.kind == "ended"}


def row(source: str, relation: str, target: str, **more: object) -> dict[str, object]:
    return {"source": source, "relation": relation, "target": target, "text": f"{source} {relation} {target}", **more}


def test_another_fact_of_the_same_person_that_begins_then_is_not_the_reason():
    """Whatever order they are said in."""
    likes, works = row("Mira", "likes", "jazz"), row("Mira", "works_at", "Globex")
    for said in ((likes, works), (works, likes)):
        found = reasons(row("Mira", "works_at", "Acme"), *said)
        assert found == {"Mira works_at Acme": "ends where another begins: Mira works_at Globex"}


def test_an_opposite_about_the_same_two_is_the_reason_before_another_liking():
    """What excludes the fact joins the same two."""
    opera, dislikes = row("Mira", "likes", "opera"), row("Mira", "dislikes", "jazz")
    for said in ((opera, dislikes), (dislikes, opera)):
        assert reasons(row("Mira", "likes", "jazz"), *said) == {"Mira likes jazz": "ends where another begins: Mira dislikes jazz"}


def test_a_statement_that_it_is_over_is_the_reason_where_nothing_takes_its_place():
    """A wedding of that day does not end a job."""
    over = row("Mira", "works_at", "Acme", kind="ends")
    found = reasons(row("Mira", "works_at", "Acme"), over, row("Mira", "married_to", "Tom"))
    assert found == {"Mira works_at Acme": "said to be over on 2024-09-01"}
