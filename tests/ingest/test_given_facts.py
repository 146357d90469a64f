"""Rows of facts and JSON: read by rule, no model."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from graphmem.errors import InvalidInput
from graphmem.ingest.json_facts import check_json, extract_json
from graphmem.ingest.rows import read_rows
from graphmem.model import AssertionKind, EpisodeKind

ORDERS = {
    "orders": [
        {"id": f"A{i}", "buyer": {"name": name}, "total": 12.5, "note": None}
        for i, name in enumerate(("Ivo Lund", "Ana Prado", "Rosa Weil"), 1)
    ]
}


def codes(found):
    return [w.code for w in found.warnings]


# -- rows


def rows(kit, *given):
    return read_rows(given, kit.Bench().episode("[]", kind=EpisodeKind.FACTS, at="2025-01-05T00:00:00+00:00"))


def test_a_row_is_a_fact_with_a_plain_sentence(kit):
    """Dates are read, the sentence is made of the triple."""
    found = rows(kit, {"source": "Mira", "relation": "works_at", "target": "Acme", "valid_at": "2022", "attributes": {"role": "nurse"}})
    (made,) = found.facts
    assert (made.text, made.start.first.year, dict(made.attributes)) == ("Mira works at Acme", 2022, {"role": "nurse"})
    assert [e.name for e in found.entities] == ["Mira", "Acme"]


def test_an_object_and_a_number_as_target_will_do(kit):
    """Rows may be objects; a number is a value."""

    @dataclass
    class Row:
        source: str
        relation: str
        target: object
        kind: str = "ends"

    found = rows(kit, Row("Rent", "amounts_to", 900))
    assert found.facts[0].kind is AssertionKind.ENDS
    assert (found.entities[1].name, found.entities[1].type) == ("900", "Value")


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"source": "", "relation": "r", "target": "b"}, "rows[0].source"),
        ({"source": "a", "relation": "r"}, "rows[0].target"),
        ({"source": "a", "relation": "--", "target": "b"}, "rows[0].relation"),
        ({"source": "a", "relation": "r", "target": "A"}, "rows[0].target"),
        ({"source": "a", "relation": "r", "target": "b", "valid_at": "2024-02-30"}, "rows[0].valid_at='2024-02-30'"),
        ({"source": "a", "relation": "r", "target": "b", "kind": "maybe"}, "rows[0].kind='maybe'"),
        ({"source": "a", "relation": "r", "target": "b", "still": "yes"}, "rows[0].still"),
        ({"source": "a", "relation": "r", "target": "b", "attributes": [1]}, "rows[0].attributes"),
        ({"source": "a", "relation": "r", "target": "b", "txt": "x"}, "rows[0]=['txt']"),
        (7, "rows[0]=7"),
    ],
)
def test_a_wrong_row_is_named_with_its_field_and_value(kit, row, told):
    """Nothing is guessed for callers who pass rows."""
    with pytest.raises(InvalidInput) as error:
        rows(kit, row)
    assert str(error.value).startswith(told)


def test_c03_an_inverted_row_keeps_its_start(kit):
    """The end is dropped and told."""
    found = rows(kit, {"source": "a", "relation": "r", "target": "b", "valid_at": "2025-03-10", "invalid_at": "2025-03-01"})
    assert (found.facts[0].end, codes(found)) == (None, ["interval_conflict"])


def test_c29_attributes_keep_their_nested_values(kit):
    """Whatever Python value a row brings reaches the draft unchanged."""
    nested = {
        "meta": {"tags": ["x", None, 1]},
        "big": 2**70,
        "when": datetime(2024, 1, 1, tzinfo=UTC),
        "b": b"\x00\x01",
        "e": [],
        "none": None,
    }
    assert rows(kit, {"source": "a", "relation": "r", "target": "b", "attributes": nested}).facts[0].attributes == nested


def test_c28_rows_ask_no_model_even_where_names_are_doubtful(kit):
    """A first name, a contradiction: rules decide, nobody is asked."""
    bench = kit.Bench()
    given = [
        {"source": "Beatriz Nogueira", "source_type": "Person", "relation": "LIKES", "target": "jazz"},
        {"source": "Beatriz", "source_type": "Person", "relation": "LIKES", "target": "opera"},
    ]
    for row in given:
        bench.add(json.dumps([row]), kind=EpisodeKind.FACTS)
    assert bench.names() == ["Beatriz Nogueira", "jazz", "opera"]
    assert bench.model.asks == []


# -- JSON


def read(kit, value):
    return extract_json(kit.Bench().episode(check_json(value), kind=EpisodeKind.JSON))


def triples(found):
    return [(found.entities[f.source].name, f.relation, found.entities[f.target].name) for f in found.facts]


def test_c28_every_record_is_a_thing_and_its_path_is_in_the_sentence(kit):
    """Three orders, three buyers, no model."""
    bench = kit.Bench()
    draft = bench.add(json.dumps(ORDERS), kind=EpisodeKind.JSON)
    assert bench.names() == ["Ana Prado", "Ivo Lund", "Order A1", "Order A2", "Order A3", "Rosa Weil"]
    assert [a.relation for a in draft.assertions] == ["BUYER"] * 3
    assert [a.text.split("(")[1] for a in draft.assertions] == ["orders[0].buyer)", "orders[1].buyer)", "orders[2].buyer)"]
    assert any("total 12.5" in line for line in draft.search_text)
    assert bench.model.asks == []


@pytest.mark.parametrize("text", ["", "{", '{"a": }', "{'a': 1}", "[1,]", '{"a": 1} {"b": 2}', "[" * 100_000])
def test_c28_malformed_json_is_refused_before_anything(text):
    """The error says what is wrong."""
    with pytest.raises(InvalidInput, match=r"JSON|nested"):
        check_json(text)


@pytest.mark.parametrize("text", ["[]", "{}", "7", "null", '"word"', "NaN", '[{"name": "Ivo"}, [1, [2]], null]', '{"a": {"b": {"c": []}}}'])
def test_c28_every_json_value_is_read(kit, text):
    """Lists, numbers and words at the top are legal."""
    found = read(kit, text)
    assert [e.name for e in found.entities] == (["Ivo"] if "Ivo" in text else [])


def test_c28_a_key_that_stands_twice_is_told(kit):
    """The last one counts, the warning names the key."""
    found = read(kit, '{"name": "Ivo", "name": "Ivo Lund"}')
    assert [e.name for e in found.entities] == ["Ivo Lund"]
    assert [(w.code, w.raw) for w in found.warnings] == [("duplicate_key", "name")]


def test_a_state_holds_since_the_time_beside_it(kit):
    """`closed_at` beats `updated_at`."""
    found = read(
        kit,
        {
            "ticket": {
                "id": 7,
                "title": "Leak",
                "state": "closed",
                "updated_at": "2024-05-03T00:00:00Z",
                "closed_at": "2024-05-02T00:00:00Z",
            }
        },
    )
    assert triples(found) == [("Leak", "STATUS", "closed")]
    assert found.facts[0].start.first == datetime(2024, 5, 2, tzinfo=UTC)


def test_a_state_change_of_one_thing_ends_the_earlier_state(kit):
    """Two events about one ticket: open, then closed."""
    bench = kit.Bench()
    for state, day in (("open", "2024-05-01"), ("closed", "2024-05-03")):
        bench.add(
            json.dumps({"ticket": {"id": 7, "title": "Leak", "state": state, "updated_at": f"{day}T00:00:00Z"}}), kind=EpisodeKind.JSON
        )
    assert bench.names() == ["Leak", "closed", "open"]
    assert [(f.text.split()[2], f.valid.end is None) for f in bench.facts()] == [("open", False), ("closed", True)]


def test_equal_names_with_other_identities_are_other_things(kit):
    """Two repositories of one name stay two; the same id under another name stays one."""
    bench = kit.Bench()
    for row in ({"id": 1, "name": "Hello"}, {"id": 2, "name": "Hello"}, {"id": 1, "name": "Hello World"}):
        bench.add(json.dumps({"repository": row}), kind=EpisodeKind.JSON)
    assert bench.names() == ["Hello", "Hello"]


def test_an_identity_joins_the_thing_that_texts_know_by_its_name(kit):
    """A person known from talk is the one with that name in a record."""
    bench = kit.Bench(extract=kit.said(("Ivo Lund", "Person")))
    bench.add("Ivo Lund called")
    draft = bench.add(json.dumps({"user": {"id": 9, "name": "Ivo Lund", "login": "ivo"}}), kind=EpisodeKind.JSON)
    assert len(draft.links) == 1
    (ivo,) = bench.entities()
    assert {ivo.name, *ivo.aliases} == {"Ivo Lund", "ivo"}


def test_long_strings_stay_searchable(kit):
    """They are no attributes, but lines of text."""
    story = "once upon a time " * 100
    found = read(kit, {"page": {"id": 1, "title": "Tale", "body": story}})
    assert "body" not in found.entities[0].attributes
    assert story.strip() in found.clauses[0]


@pytest.mark.data
def test_real_event_payloads_give_one_entity_for_each_real_thing(kit, data: Path):
    """126 webhook payloads: the entities with an identity are exactly the things that have one, each once."""
    with gzip.open(data / "event-json" / "github_webhook_examples.json.gz") as file:
        events = [event for kind in json.load(file) for event in kind["examples"]]
    for event in events:
        found = read(kit, event)
        identities = [e.identity for e in found.entities if e.identity and e.identity.startswith("node_id=")]
        assert sorted(identities) == sorted(f"node_id={i}" for i in node_ids(event))
        assert not any("http" in e.name or e.name.startswith("MD") for e in found.entities)


def node_ids(value) -> set[str]:
    if isinstance(value, dict):
        own = {value["node_id"]} if value.get("node_id") else set()
        return own.union(*(node_ids(v) for k, v in value.items() if not k.startswith("_")))
    return set().union(*(node_ids(v) for v in value)) if isinstance(value, list) else set()
