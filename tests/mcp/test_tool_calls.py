"""The tools, called directly: what they find, when, and what they change."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import graphmem
from graphmem import tools
from graphmem.testing import FixedClock

Call = Callable[..., dict[str, Any]]


@pytest.fixture
def told(memory: graphmem.Memory, clock: FixedClock) -> None:
    """Told on 1 March 2024 that Mira works at Acme since 2022, and on 1 September that she joined Globex in August."""
    clock.set(clock.now().replace(year=2024, month=3, day=1, hour=9))
    memory.add_facts([row("Acme", "2022")], key="first")
    clock.set(clock.now().replace(month=9))
    memory.add_facts([row("Globex", "2024-08")], key="second")
    clock.set(clock.now().replace(year=2025, month=1))


def row(firm: str, since: str) -> dict[str, object]:
    return {"source": "Mira", "relation": "works_at", "target": firm, "valid_at": since, "text": f"Mira works at {firm}"}


POINTS = [
    ({}, "Globex"),
    ({"as_of_valid": "2024-06-01"}, "Acme"),
    ({"as_of_valid": "2024-08-15"}, "Globex"),
    ({"as_of_valid": "2024-08-15", "as_of_system": "2024-06-01"}, "Acme"),
    ({"as_of_system": "2024-06-01"}, "Acme"),
]


@pytest.mark.usefixtures("told")
@pytest.mark.parametrize(("point", "firm"), POINTS)
def test_every_read_answers_for_the_point_asked(call: Call, point: dict[str, object], firm: str) -> None:
    """Search, context, entity, facts, neighbours: each on both axes, with the answer that was true, or believed, there."""
    [found] = call("search", query="Where does Mira work?", kinds=["fact"], **point)["hits"]
    [listed] = call("facts", entity="Mira", **point)["facts"]

    assert found["target"] == listed["target"] == firm
    assert f"Mira works at {firm}" in call("context", query="Where does Mira work?", **point)["text"]
    assert [f["target"] for f in call("entity", name="Mira", **point)["facts"]] == [firm]
    assert [e["name"] for e in call("neighbours", entity="Mira", **point)["entities"]] == [firm]


@pytest.mark.usefixtures("told")
def test_changes_are_told_with_rule_and_words(call: Call, refused: Callable[..., str]) -> None:
    """Between two times on either axis, small enough to hand back; and why one fact is believed."""
    told = call("diff", since="2024-06-01", relation="works at")
    assert told["counts"] == {"added": 1, "ended": 1}
    [added, ended] = told["changes"]
    assert ended["rule"] == "a single-valued relation: Globex from 2024-08 ends Acme"
    assert ended["cause"]["words"] == "Mira works at Globex"
    assert call("diff", since="2024-07-01", until="2024-09-01", axis="valid", entity="Mira")["counts"] == {"added": 1, "ended": 1}
    assert call("diff", since="2024-06-01", limit=1)["more"]
    assert "after the first" in refused("diff", since="2024-06-01", until="2024-01-01")
    why = call("why", fact=added["id"])
    assert [e["state"] for e in why["evidence"]] == ["counts"]
    assert [c["change"] for c in why["changes"]] == ["added"]
    assert "no fact" in refused("why", fact="fact_unknown")


@pytest.mark.usefixtures("told")
def test_communities_are_told_for_the_point_asked(call: Call, memory: graphmem.Memory, refused: Callable[..., str]) -> None:
    """Who belongs with whom now, and at a time in the world; before a build it is said how to make one."""
    assert "build_communities" in refused("communities")
    memory.build_communities()

    [now] = call("communities")["communities"]
    [then] = call("communities", as_of_valid="2024-06-01", entity="Mira")["communities"]
    assert (sorted(now["members"]), sorted(then["members"])) == (["Globex", "Mira"], ["Acme", "Mira"])
    assert "Globex" in now["summary"]
    assert then["computed"] is True
    assert "level" in refused("communities", level=5)


@pytest.mark.usefixtures("told")
def test_what_was_not_yet_told_is_not_there(call: Call) -> None:
    """Timeline, episodes and stats as of a system time hold what was known then."""
    earlier = {"as_of_system": "2024-06-01"}

    assert [(e["event"], e["fact"]["target"]) for e in call("timeline", entity="Mira", **earlier)["events"]] == [("begins", "Acme")]
    assert [(e["at"][:7], e["event"], e["fact"]["target"]) for e in call("timeline", entity="Mira")["events"]] == [
        ("2022-01", "begins", "Acme"),
        ("2024-08", "ends", "Acme"),
        ("2024-08", "begins", "Globex"),
    ]
    assert [len(call("episodes", **point)["episodes"]) for point in (earlier, {})] == [1, 2]
    assert [call("stats", **point)["episodes"] for point in (earlier, {})] == [1, 2]


@pytest.mark.usefixtures("told")
def test_a_result_is_explained_and_a_missing_one_too(call: Call) -> None:
    """Why it was found and what ended it; what kept it out: the time, a filter, or that there is no such thing."""
    [found] = call("search", query="Where does Mira work?", kinds=["fact"])["hits"]
    told = call("explain", item=found["id"], query="Where does Mira work?")
    [ended] = [f for f in call("facts", entity="Mira", history=True)["facts"] if f["target"] == "Acme"]

    assert (told["id"], told["rank"], told["current"]) == (found["id"], 1, True)
    assert {"asked", "found", "rests on"} <= {line["what"] for line in told["told"]}
    assert call("explain", item=ended["id"])["current"] is False
    assert call("explain", item=ended["id"], as_of_valid="2023")["current"] is True

    kept_out = call("why_not", query="Where does Mira work?", item=ended["id"])
    assert (kept_out["found"], kept_out["reason"]) == (False, "not_true_then")
    assert call("why_not", query="Where does Mira work?", item=ended["id"], history=True, limit=50)["found"] is True
    assert call("why_not", query="Where does Mira work?", item=found["id"], relation="lives in")["reason"] == "filter"
    assert call("why_not", query="Where does Mira work?", item=found["id"], relation="works at")["found"] is True


def test_explanations_tell_nothing_of_other_groups(memory: graphmem.Memory) -> None:
    """What is there is not told from what is nowhere."""
    other = memory.add_facts([row("Acme", "2022")], group="secret group")
    [fact] = memory.facts("Mira", group="secret group")
    for item in (other.id, fact.uuid, "Mira", "Nobody"):
        for answer in (tools.call(memory, "explain", {"item": item}), tools.call(memory, "why_not", {"query": "Mira", "item": item})):
            assert list(answer) == ["error"]
            assert "secret" not in str(answer)
            assert str(answer["error"]).startswith("nothing has the id or name")


@pytest.mark.usefixtures("told")
def test_a_fact_names_its_dates_and_the_episode_that_says_it(call: Call) -> None:
    """The id in a citation opens the words behind it."""
    [fact] = call("facts", entity="Mira")["facts"]

    assert (fact["when"], fact["valid_at"], fact["created_at"][:10]) == ("since 2024-08", "2024-08-01T00:00:00Z", "2024-09-01")
    assert "invalid_at" not in fact
    said = call("episode", id=fact["episodes"][0])
    assert said["kind"] == "facts"
    assert "Globex" in said["text"]


@pytest.mark.usefixtures("told")
def test_history_shows_what_held_before(call: Call) -> None:
    """Each with the end it has."""
    ends = {f["target"]: f.get("invalid_at") for f in call("facts", entity="Mira", history=True)["facts"]}

    assert ends == {"Acme": "2024-08-01T00:00:00Z", "Globex": None}


def test_messages_texts_and_records_are_remembered(call: Call, memory: graphmem.Memory) -> None:
    """The kind is what was given, or what the other arguments say."""
    message = call("add_episode", text="Hi there.", actor="Mira", session="general", reference_time="2025-05-01")
    text = call("add_episode", text="Mira works at Acme since 2020.", source="note.md")
    record = call("add_episode", value={"id": "T-1", "title": "Login loops", "status": "open"})
    written = call("add_episode", kind="json", text='{"id": "T-2", "title": "Search hangs", "status": "open"}')

    kinds = {e["id"]: e["kind"] for e in call("episodes")["episodes"]}
    assert [kinds[w["id"]] for w in (message, text, record, written)] == ["message", "text", "json", "json"]
    assert text["counts"] == {"added": 2}
    assert [f["source"] for f in call("facts", relation="status")["facts"]] == ["Login loops", "Search hangs"]
    assert memory.episode(message["id"]).session == "general"


def test_the_same_key_again_changes_nothing(call: Call) -> None:
    """And says so."""
    first = call("add_episode", text="Mira works at Acme since 2020.", key="note")
    again = call("add_episode", text="Mira works at Acme since 2020.", key="note")

    assert (first["created"], again["created"], again["id"]) == (True, False, first["id"])


def test_what_is_forgotten_can_be_restored(call: Call) -> None:
    """The episode, and with it what only it said."""
    call("add_episode", text="Mira works at Acme since 2020.")
    later = call("add_episode", text="Mira works at Globex since 2022.")

    def works_at() -> list[str]:
        return [f["target"] for f in call("facts", entity="Mira")["facts"]]

    forgotten = call("forget", episode=later["id"], reason="a joke")
    assert works_at() == ["Acme"]
    call("restore", operation=forgotten["id"])
    assert works_at() == ["Globex"]


def test_a_tool_stays_in_its_group(memory: graphmem.Memory, call: Call, refused: Callable[..., str]) -> None:
    """An episode of another group cannot be read, forgotten or brought back, also by who knows its id."""
    theirs = memory.add_text("Ada works at Initech since 2020.", group="ada")
    call("add_episode", text="Mira works at Acme since 2020.")

    assert "no episode" in refused("episode", id=theirs.id)
    assert "no visible episode" in refused("forget", episode=theirs.id)
    gone = memory.forget(episode=theirs, group="ada")
    assert "no operation" in refused("restore", operation=gone.id)
    for shown in (call("search", query="Ada Initech"), call("episodes"), call("stats")):
        assert "ada" not in json.dumps(shown).casefold()


def test_arguments_may_come_as_the_text_a_model_wrote(memory: graphmem.Memory) -> None:
    """Null is left out; no text at all is no arguments."""
    assert tools.call(memory, "search", '{"query": "Mira", "limit": null}') == {"hits": []}
    assert tools.call(memory, "stats", "")["episodes"] == 0


def test_a_reader_has_no_tool_that_writes(memory: graphmem.Memory) -> None:
    """Neither listed nor run."""
    names = [t.name for t in tools.offered(read_only=True)]

    assert not {"add_episode", "add_facts", "forget", "correct_fact", "end_fact", "restore"} & set(names)
    assert "must be among" in str(tools.call(memory, "add_episode", {"text": "Hi."}, read_only=True)["error"])
    assert memory.counts()["episodes"] == 0


def test_long_lists_and_texts_are_cut_and_say_so(call: Call, memory: graphmem.Memory) -> None:
    """A result is of bounded size; what was left out can be asked for."""
    body = "\n".join(f"Line {n} of a long report about nothing." for n in range(1500))
    long = memory.add_text(body)
    memory.add_many([{"text": f"Note {n}: " + "x" * 1200} for n in range(60)])

    listing = call("episodes", limit=50)
    assert len(json.dumps(listing)) < 41_000
    assert listing["more"] is True
    parts, offset = [], 0
    while offset is not None:
        part = call("episode", id=long.id, offset=offset)
        parts.append(part["text"])
        offset = part.get("next_offset")
    assert len(parts) > 1
    assert "".join(parts) == body


def test_text_that_utf8_cannot_hold_is_shown_without_what_it_lacks(call: Call, memory: graphmem.Memory) -> None:
    """Half of a character is kept in the memory and marked in what is sent; so is a part of a long text that ends in one."""
    said = memory.add_message("M\ud800ra", "half \ud800 a pair", session="s\udfff", source="\ud800.txt")
    for shown in (call("episode", id=said.id), call("search", query="half a pair"), call("episodes")):
        assert b"half ? a pair" in json.dumps(shown, ensure_ascii=False).encode("utf-8")


def test_an_entity_with_endless_attributes_is_small(call: Call, memory: graphmem.Memory) -> None:
    """Deep, long and many: each is cut."""
    deep: object = "end"
    for _ in range(30):
        deep = [deep] * 3 if not isinstance(deep, list) else [deep]
    row = {"source": "Mira", "relation": "knows", "target": "Bo", "attributes": {"deep": deep, "long": "y" * 5000, "huge": 10**900}}
    memory.add_facts([{**row, "source_type": "Person"}])
    memory.add_json({"id": "R1", "name": "Router", **{f"field_{n}": "z" * 290 for n in range(200)}})

    assert len(json.dumps(call("entity", name="Router"))) < 12_000
    assert len(json.dumps(call("search", query="Mira knows Bo"))) < 12_000


def test_a_fact_is_corrected_and_ended_by_the_id_that_a_result_gives(memory: graphmem.Memory, call: Call) -> None:
    """Each is undone by the id that it gave."""
    memory.add_facts([{"source": "Mira", "relation": "works_at", "target": "Acme", "valid_at": "2020"}])
    (fact,) = call("facts", entity="Mira")["facts"]
    corrected = call("correct_fact", fact=fact["id"], target="Globex", valid_at="2021", invalid_at="none", reason="I was told so")
    (now,) = call("facts", entity="Mira")["facts"]
    assert (now["target"], now["when"]) == ("Globex", "since 2021")
    call("end_fact", fact=now["id"], at="2022-01-01")
    assert call("facts", entity="Mira")["facts"] == []
    call("restore", operation=corrected["id"])
    assert {f["target"] for f in call("facts", entity="Mira", history=True)["facts"]} == {"Acme"}
    call("forget", entity="Mira")
    assert [e["name"] for e in call("search", query="Mira", kinds=["entity"])["hits"]] == ["Acme"]
