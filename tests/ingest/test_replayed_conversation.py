"""A conversation read through an endpoint once is had again without one: from its log, and from the answers recorded."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import graphmem
from graphmem.belief.audit import history_hash, state_hash
from graphmem.belief.ledger import Ledger
from graphmem.embed.hashing import HashingEmbedder
from graphmem.llm.endpoint import EndpointModel
from graphmem.llm.recorded import RecordedModel
from graphmem.memory import Memory
from graphmem.model import EpisodeRecord
from graphmem.opening import indexing
from graphmem.relations import DEFAULT_ONTOLOGY
from graphmem.stores.memory import MemoryStore
from graphmem.stores.sqlite import SqliteStore
from graphmem.testing import FixedClock, ScriptedModel
from graphmem.testing.endpoint import Request, ScriptedEndpoint

Row = dict[str, Any]
Said = Mapping[str, tuple[tuple[str, str, str, str], ...]]
EMBEDDER = HashingEmbedder(64)
AT_ONCE = 8
CITIES = ("Rome", "Oslo", "Lima", "Cairo", "Quito", "Delhi")
# who says what, and the facts that a model finds in it: source, relation, target, kind
CHAT: tuple[tuple[str, str, tuple[tuple[str, str, str, str], ...]], ...] = (
    ("Mira", "I started at Acme, the maker of rowing boats.", (("Mira", "WORKS_AT", "Acme", "holds"),)),
    ("Tom", "Acme! My old rowing club buys there.", (("Tom", "MEMBER_OF", "the Halvik rowing club", "holds"),)),
    *(("Mira", f"In my first year I flew to {city}.", (("Mira", "VISITED", city, "holds"),)) for city in CITIES),
    ("Tom", "The Halvik rowing club has a new boat.", (("Halvik rowing club", "OWNS", "a new boat", "holds"),)),
    ("Mira", "Boats bore me. I like trains.", (("Mira", "DISLIKES", "boats", "holds"), ("Mira", "LIKES", "trains", "holds"))),
    ("Mira", "Hello again!", ()),
    ("Mira", "I left Acme and joined Globex.", (("Mira", "WORKS_AT", "Acme", "ends"), ("Mira", "WORKS_AT", "Globex", "holds"))),
    ("Tom", "I quit the club, and I saw Rome.", (("Tom", "MEMBER_OF", "Halvik rowing club", "ends"), ("Tom", "VISITED", "Rome", "holds"))),
    ("Mira", "Now I like boats. And Lima, where I was again.", (("Mira", "LIKES", "boats", "holds"), ("Mira", "VISITED", "Lima", "holds"))),
    ("Mira", "Trains are not for me any longer.", (("Mira", "AVOIDS", "trains", "holds"),)),
)


def chat() -> tuple[list[Row], Said]:
    """The messages, a day apart, and what is in them."""
    began = datetime(2024, 3, 1, 9, tzinfo=UTC)
    rows = [
        {"actor": actor, "text": text, "reference_time": began + timedelta(days=n), "session": f"session {n // 5}", "key": f"{n}"}
        for n, (actor, text, _) in enumerate(CHAT)
    ]
    return rows, {text: facts for _, text, facts in CHAT}


def locomo(data: Path) -> tuple[list[Row], Said]:
    """The first conversation of LoCoMo, with the triples that a model found in its turns."""
    [sample] = [s for s in json.loads((data / "locomo" / "locomo_dev5.json").read_text("utf-8")) if s["sample_id"] == "conv-26"]
    talk, rows = sample["conversation"], []
    for number in (n for n in range(1, 60) if f"session_{n}" in talk):
        began = datetime.strptime(talk[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for n, turn in enumerate(talk[f"session_{number}"]):
            at = began + timedelta(seconds=30 * n)
            rows.append(
                {"actor": turn["speaker"], "text": turn["text"], "reference_time": at, "session": f"{number}", "key": turn["dia_id"]}
            )
    found: dict[str, list[tuple[str, str, str, str]]] = {}
    for line in (data / "locomo-llm-triples" / "conv-26.jsonl").read_text("utf-8").splitlines():
        triple = json.loads(line)
        found.setdefault(triple["turn_ids"][0], []).append((triple["entity_1"], triple["relation"], triple["entity_2"], "holds"))
    return rows, {row["text"]: tuple(found.get(row["key"], ())) for row in rows}


class Script:
    """A model's answers: what was said, who is meant by the same words, and that avoiding a thing contradicts all else about it."""

    def __init__(self, said: Said) -> None:
        self.said = said

    def __call__(self, request: Request) -> object:
        data = json.loads(request.user.partition("<data>")[2].partition("</data>")[0])
        return {"extract": self.extracted, "resolve": self.resolved, "judge": self.judged}[request.prompt](data)

    def extracted(self, data: Mapping[str, Any]) -> object:
        facts = self.said.get(data["text"], ())
        ends = dict.fromkeys(end for source, _, target, _ in facts for end in (source, target))
        rows = [{"source": s, "relation": r, "target": t, "text": f"{s} {r.lower()} {t}", "kind": kind} for s, r, t, kind in facts]
        return {"entities": [{"name": e, "type": "Person" if e in ("Mira", "Tom") else "Thing"} for e in ends], "facts": rows}

    def resolved(self, data: Mapping[str, Any]) -> object:
        bare = lambda name: name.casefold().removeprefix("the ")
        found = [(row, [c["id"] for c in row["candidates"] if bare(c["name"]) == bare(row["name"])]) for row in data["new"]]
        return {"matches": [{"new": row["new"], "existing": ids[0] if ids else None} for row, ids in found]}

    def judged(self, data: Mapping[str, Any]) -> object:
        rows = [(row["new"], row["candidates"] if " avoids " in row["text"] else []) for row in data["new"]]
        return {"judgements": [{"new": new, "duplicates": [], "contradicts": ended} for new, ended in rows]}


Adding = Callable[[Memory, list[Row]], int]


def one_by_one(memory: Memory, rows: list[Row]) -> int:
    """Adds each message as it comes; returns the calls that this took."""
    return sum(memory.add_message(row["actor"], row["text"], **_rest(row)).usage.calls for row in rows)


def at_once(memory: Memory, rows: list[Row]) -> int:
    """Imports all; returns the calls that this took."""
    return sum(result.usage.calls for result in memory.add_many(rows, progress=False))


def _rest(row: Row) -> Row:
    return {name: value for name, value in row.items() if name not in ("actor", "text")}


def played(model: object, rows: list[Row], add: Adding, day: int) -> tuple[str, int]:
    """The state that comes of it, and the calls: in a memory of its own, on another day than all others."""
    with graphmem.open(":memory:", model=model, embedder=EMBEDDER, clock=FixedClock(f"2026-01-{day:02}T12:00:00Z")) as memory:  # type: ignore[arg-type]
        calls = add(memory, rows)
        assert memory.verify() == []
        return memory.state_hash(), calls


def check_recordings(rows: list[Row], said: Said, folder: Path) -> None:
    """Recorded one by one, together and ahead, replayed one by one and together: one state, and nobody is asked again."""
    states = set()
    with ScriptedEndpoint(answer=Script(said)) as endpoint:
        model = EndpointModel("scripted", base_url=endpoint.base_url, max_concurrency=AT_ONCE)
        recorders: list[tuple[RecordedModel, Adding]] = [
            (RecordedModel(folder / "one by one.jsonl", model), one_by_one),
            (RecordedModel(folder / "together.jsonl", model), at_once),
            (
                RecordedModel(folder / "ahead.jsonl", EndpointModel("scripted", base_url=endpoint.base_url, max_concurrency=AT_ONCE)),
                at_once,
            ),
        ]
        for day, (recorder, add) in enumerate(recorders, 1):
            state, calls = played(recorder, rows, add, day)
            assert calls > 0
            states.add(state)
    for day, (recorded, add) in enumerate(((r.path, a) for r, _ in recorders for a in (one_by_one, at_once)), 10):
        state, calls = played(RecordedModel(recorded), rows, add, day)
        assert calls == 0
        states.add(state)
    assert len(states) == 1


def check_log(rows: list[Row], said: Said, folder: Path) -> None:
    """The file opened anew, and its log folded into fresh stores, with nobody to ask: the same state and the same history."""
    path = folder / "memory.db"
    with ScriptedEndpoint(answer=Script(said)) as endpoint:
        model = EndpointModel("scripted", base_url=endpoint.base_url)
        with graphmem.open(path, model=model, embedder=EMBEDDER) as memory:
            one_by_one(memory, rows)
            before = memory.state_hash(), memory.history_hash()
    nobody = ScriptedModel({})
    with graphmem.open(path, model=nobody, embedder=EMBEDDER) as memory:
        assert memory.verify() == []
        assert (memory.state_hash(), memory.history_hash()) == before
        assert [r.created for r in memory.add_many(rows, progress=False)] == [False] * len(rows)
    assert nobody.asks == []
    store = SqliteStore.open(path)
    with store.read() as reader:
        log = list(reader.log("main"))
    store.close()
    assert sum(isinstance(entry, EpisodeRecord) for entry in log) == len(rows)
    for fresh in (MemoryStore(), SqliteStore.open(folder / "folded.db")):
        ledger = Ledger(indexing(EMBEDDER))
        for entry in log:
            with fresh.write("main") as tx:
                ledger.record(tx, entry, DEFAULT_ONTOLOGY)
        with fresh.read() as reader:
            assert (state_hash(reader, "main"), history_hash(reader, "main")) == before
        fresh.close()


@pytest.fixture(params=["a short chat", pytest.param("conv-26", marks=[pytest.mark.data, pytest.mark.slow])])
def conversation(request: pytest.FixtureRequest) -> tuple[list[Row], Said]:
    """Messages and what a model finds in them."""
    return chat() if request.param == "a short chat" else locomo(request.getfixturevalue("data"))


def test_a_recorded_conversation_is_replayed_without_its_model(conversation: tuple[list[Row], Said], tmp_path: Path) -> None:
    """However it was recorded and however it is replayed, on whatever day."""
    check_recordings(*conversation, tmp_path)


def test_the_log_of_a_conversation_needs_no_model(conversation: tuple[list[Row], Said], tmp_path: Path) -> None:
    """State and history follow from the log alone."""
    check_log(*conversation, tmp_path)


def test_the_short_chat_asks_everything_that_a_replay_must_find(tmp_path: Path) -> None:
    """Its messages end facts, repeat some, mean known things by other names, and leave facts of equal likeness to judge."""
    rows, said = chat()
    with ScriptedEndpoint(answer=Script(said)) as endpoint:
        model = EndpointModel("scripted", base_url=endpoint.base_url)
        with graphmem.open(tmp_path / "memory.db", model=model, embedder=EMBEDDER) as memory:
            one_by_one(memory, rows)
            ended = {f.text for f in memory.facts(history=True)} - {f.text for f in memory.facts()}
            assert memory.entity("Halvik rowing club").name == "the Halvik rowing club"
    assert ended == {
        "Mira works_at Acme",
        "Tom member_of the Halvik rowing club",
        "Mira dislikes boats",
        "Mira likes trains",
    }
    asked = [request.prompt for request in endpoint.requests]
    assert {"extract", "resolve", "judge"} == set(asked)
    assert asked.count("extract") == len(rows) - 1  # nothing about "Hello again!"
    candidates = [len(r["candidates"]) for q in endpoint.requests if q.prompt == "judge" for r in _data(q)["new"]]
    assert max(candidates) >= 4


def _data(request: Request) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(request.user.partition("<data>")[2].partition("</data>")[0])
    return found
