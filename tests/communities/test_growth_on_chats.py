"""Communities that grow over real chats, day by day, beside those found anew."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from measures import grown
from readings import read

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.testing import FixedClock, ScriptedModel

pytestmark = pytest.mark.data
CLOCK = "2026-01-01T00:00Z"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_grown_layer_keeps_up_day_by_day(language: str, data: Path) -> None:
    """After each of a hundred days: modularity at least .95 of a rebuild's, and as near to it as two rebuild seeds are, by mean."""
    mem = graphmem.open(model=ScriptedModel({}), embedder=HashingEmbedder(), clock=FixedClock(CLOCK), communities="incremental")
    days, facts = 0, 0
    for _, told in read(_chat(language, data)):
        for message, rows in told:
            mem.add_facts(rows, key=message["message_id"], reference_time=message["create_time"])
            facts += len(rows)
        if told:
            days += 1
            _keeps_up(mem)
    assert days > 90
    assert facts > 8 * days
    assert mem.verify() == []


@pytest.mark.local
def test_a_layer_of_facts_found_offline_keeps_up(data: Path) -> None:
    """The same with the few facts that the offline model finds in English."""
    mem = graphmem.open(":memory:", clock=FixedClock(CLOCK), communities="incremental")
    days = 0
    for _, messages in groupby(_chat("en", data)["conversation_list"], key=lambda m: str(m["create_time"])[:10]):
        mem.add_many([_row(m) for m in messages], progress=False)
        if mem.counts()["facts"]:
            days += 1
            _keeps_up(mem)
    assert days > 20
    assert mem.verify() == []


def _keeps_up(mem: graphmem.Memory) -> None:
    told = grown(mem)
    assert told.modularity >= 0.95 * told.rebuilt, told
    assert told.agreement >= told.between_seeds - 1e-9, told


def _chat(language: str, data: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((data / "group-chats" / f"team_chat_{language}.json").read_text("utf-8"))
    return read


def _row(message: dict[str, Any]) -> dict[str, object]:
    told = {"actor": message["sender_name"], "text": message["content"], "reference_time": message["create_time"]}
    return {**told, "session": "team", "key": message["message_id"]}
