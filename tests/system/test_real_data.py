"""Chats, novels, payloads and logs as people have them, read offline: nothing breaks, and what is believed is what was said."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.testing import FixedClock

pytestmark = [pytest.mark.data, pytest.mark.local]

Row = dict[str, Any]


def locomo(data: Path) -> Iterator[Row]:
    """Two friends' messages over months, five pairs, each in a session of its own."""
    for sample in json.loads((data / "locomo" / "locomo_dev5.json").read_text(encoding="utf-8")):
        talk = sample["conversation"]
        for number in range(1, 60):
            if f"session_{number}" not in talk:
                continue
            began = datetime.strptime(talk[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
            for n, turn in enumerate(talk[f"session_{number}"]):
                session = f"{sample['sample_id']}/{number}"
                at = began + timedelta(seconds=30 * n)
                yield {"actor": turn["speaker"], "text": turn["text"] or "(a picture)", "reference_time": at, "session": session}


def team_chat(language: str) -> Callable[[Path], Iterator[Row]]:
    def rows(data: Path) -> Iterator[Row]:
        chat = json.loads((data / "group-chats" / f"team_chat_{language}.json").read_text(encoding="utf-8"))
        for message in chat["conversation_list"]:
            yield {
                "actor": message["sender_name"],
                "text": message["content"],
                "reference_time": message["create_time"],
                "session": "team",
                "key": message["message_id"],
            }

    return rows


def payloads(data: Path) -> Iterator[Row]:
    """Events of a code host as it sends them."""
    with gzip.open(data / "event-json" / "github_webhook_examples.json.gz", "rt", encoding="utf-8") as file:
        for event in json.load(file):
            for n, example in enumerate(event["examples"]):
                yield {"kind": "json", "value": example, "reference_time": "2024-01-01", "key": f"{event['name']}/{n}"}


def novel(data: Path) -> Iterator[Row]:
    """A whole book as one text."""
    text = (data / "text-episodes" / "wizard_of_oz.txt").read_text(encoding="utf-8")
    yield {"text": text, "reference_time": "1900-05-17", "source": "wizard_of_oz.txt"}


def agent_log(data: Path) -> Iterator[Row]:
    """A user's and an assistant's turns, in Chinese."""
    with gzip.open(data / "agent-sessions" / "hermes_session_2026-05-15.txt.gz", "rt", encoding="utf-8") as file:
        for number, line in enumerate(file.read().split("\n")):
            for n, turn in enumerate(t for turns in (json.loads(line) if line.strip() else ()) for t in turns):
                if turn["content"].strip():
                    yield {"actor": turn["role"], "text": turn["content"], "reference_time": turn["timestamp"], "key": f"{number}/{n}"}


SETS = {
    "locomo": locomo,
    "team chat in English": team_chat("en"),
    "team chat in Chinese": team_chat("zh"),
    "payloads": payloads,
    "novel": novel,
    "agent log": agent_log,
}


def check(folder: Path, rows: list[Row]) -> graphmem.Memory:
    """Everything is recorded, sound, and there again after the file is opened anew; recording it again changes nothing."""
    path, clock = folder / "real.db", FixedClock("2026-11-01T12:00Z")
    with graphmem.open(path, embedder=HashingEmbedder(64), clock=clock) as memory:
        results = memory.add_many(rows)
        assert len(results) == len(rows)
        assert memory.verify() == []
        before = memory.state_hash()
        assert not any(r.created for r in memory.add_many(rows[:50]))
    memory = graphmem.open(path, embedder=HashingEmbedder(64), clock=clock)
    assert memory.state_hash() == before
    return memory


@pytest.mark.parametrize("name", SETS)
def test_real_input_is_recorded_and_sound(name: str, data: Path, tmp_path: Path) -> None:
    """The first hundred and fifty items of each set."""
    rows = list(islice(SETS[name](data), 150))
    if name == "novel":
        rows[0]["text"] = rows[0]["text"][:40_000]
    with check(tmp_path, rows) as memory:
        assert memory.counts()["episodes"] == len({json.dumps(r, default=str) for r in rows})


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_whole_sets_are_recorded_and_sound(name: str, data: Path, tmp_path: Path) -> None:
    """Each set from end to end."""
    with check(tmp_path, list(SETS[name](data))) as memory:
        print(name, memory.stats())


def test_payloads_give_one_entity_for_each_real_thing(data: Path, tmp_path: Path) -> None:
    """What the payloads' global ids tell apart are different entities, what they hold to be one is one."""
    rows = list(payloads(data))
    real: dict[str, set[str]] = defaultdict(set)
    todo: list[object] = [r["value"] for r in rows]
    while todo:
        match todo.pop():
            case {"login": str(login), "node_id": str(identity)} as value:
                real[login].add(identity)
                todo += value.values()
            case dict() as value:
                todo += value.values()
            case list() as values:
                todo += values
    with check(tmp_path, rows) as memory:
        found = {login: len(memory.entities(login, type=("Person", "Organization", "Bot"))) for login in real}
        assert found == {login: len(ids) for login, ids in real.items()}
