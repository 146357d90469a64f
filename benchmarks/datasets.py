"""Readers of public conversation sets, as they lie in the data folder: conversations, their questions, and the evidence.

Nothing is downloaded or kept. `data_folder()` is the folder that `GRAPHMEM_DATA` names.
"""

from __future__ import annotations

import gzip
import json
import lzma
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

_DIALOGUE_ID = re.compile(r"D:?(\d+):(\d+)")
_GENERATOR_MARK = re.compile(r"\s*->->\s*[\d,\s]*$")


@dataclass(frozen=True, slots=True)
class Turn:
    """One message: its key in the set, who said what, in which session, when."""

    key: str
    text: str
    actor: str
    session: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the instant it is asked, its category, and the keys of the turns that hold the answer."""

    text: str
    at: datetime
    category: str
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns in order and the questions about them."""

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


def data_folder() -> Path:
    """The folder that the environment variable GRAPHMEM_DATA names; raises SystemExit with a sentence if it is missing."""
    folder = os.environ.get("GRAPHMEM_DATA")
    if not folder or not Path(folder).is_dir():
        raise SystemExit("set GRAPHMEM_DATA to the folder that holds the data sets (locomo/, longmemeval/, beam/)")
    return Path(folder)


def locomo(folder: Path, categories: frozenset[int] = frozenset({1, 2, 3, 4})) -> Iterator[Conversation]:
    """LoCoMo: long chats of two named people. Evidence ids that the audit found wrong are replaced by its right ones."""
    corrected = _locomo_corrections(folder)
    names = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
    for number, sample in enumerate(json.loads((folder / "locomo" / "locomo_dev5.json").read_text("utf-8"))):
        turns = tuple(_locomo_turns(sample["conversation"]))
        known = {t.key for t in turns}
        asked_at = max(t.at for t in turns)
        questions = []
        for row, entry in enumerate(sample["qa"]):
            if entry["category"] not in categories:
                continue
            raw = corrected.get((sample["sample_id"], number, row), entry.get("evidence") or [])
            evidence = {f"D{int(a)}:{int(b)}" for text in raw for a, b in _DIALOGUE_ID.findall(str(text))} & known
            if evidence:
                questions.append(Question(entry["question"], asked_at, names[entry["category"]], frozenset(evidence)))
        yield Conversation(sample["sample_id"], turns, tuple(questions))


def _locomo_corrections(folder: Path) -> dict[tuple[str, int, int], list[str]]:
    """(sample id, its place in the full set of ten, question's place) → evidence; places are given for the full set."""
    places = {"conv-26": 0, "conv-30": 1, "conv-41": 2, "conv-42": 3, "conv-43": 4}
    names = {place: name for name, place in places.items()}
    path = folder / "locomo-audit" / "errors_dev5.json"
    found = {}
    for entry in json.loads(path.read_text("utf-8")) if path.exists() else []:
        place, row = (int(n) for n in re.findall(r"\d+", entry["question_id"]))
        if entry["correct_evidence"]:
            found[(names[place], place, row)] = entry["correct_evidence"]
    return found


def _locomo_turns(conversation: Mapping[str, Any]) -> Iterator[Turn]:
    for number in range(1, 100):
        if f"session_{number}" not in conversation:
            continue
        begun = datetime.strptime(conversation[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for place, turn in enumerate(conversation[f"session_{number}"]):
            caption = f" [shares {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            yield Turn(turn["dia_id"], turn["text"] + caption, turn["speaker"], f"session {number}", begun + timedelta(seconds=30 * place))


def longmemeval(folder: Path, *, part: str = "oracle") -> Iterator[Conversation]:
    """LongMemEval: chats with an assistant, one question a conversation; unanswerable questions are left out.

    `part` "oracle" has the evidence sessions alone, "s" whole histories of about 500 turns (a third of this sample).
    """
    name = "longmemeval_oracle_dev.jsonl.gz" if part == "oracle" else "longmemeval_s_sample_1of3.jsonl.xz"
    for entry in _json_lines(folder / "longmemeval" / name):
        turns, evidence = [], set()
        for place, (session, date) in enumerate(zip(entry["haystack_sessions"], entry["haystack_dates"], strict=True)):
            begun = _longmemeval_date(date)
            for number, message in enumerate(session):
                key = f"{place}:{number}"
                turns.append(Turn(key, message["content"], message["role"], f"session {place}", begun + timedelta(seconds=30 * number)))
                if message.get("has_answer"):
                    evidence.add(key)
        if evidence and not entry["question_id"].endswith("_abs"):
            question = Question(entry["question"], _longmemeval_date(entry["question_date"]), entry["question_type"], frozenset(evidence))
            yield Conversation(entry["question_id"], tuple(t for t in turns if t.text.strip()), (question,))


def _longmemeval_date(text: str) -> datetime:
    return datetime.strptime(re.sub(r"\(\w+\) ", "", text), "%Y/%m/%d %H:%M").replace(tzinfo=UTC)


def longmemeval_pooled(folder: Path, questions: int = 22) -> Iterator[Conversation]:
    """The evidence sessions of so many questions in one history of about 500 turns: as hard as the whole histories of "s"."""
    single = longmemeval(folder)
    while part := list(islice(single, questions)):
        turns = [replace(t, key=f"{n} {t.key}", session=f"{n} {t.session}") for n, c in enumerate(part) for t in c.turns]
        asked = [replace(q, evidence=frozenset(f"{n} {key}" for key in q.evidence)) for n, c in enumerate(part) for q in c.questions]
        yield Conversation(f"{part[0].name} and {len(part) - 1} more", tuple(turns), tuple(asked))


def beam(folder: Path) -> Iterator[Conversation]:
    """BEAM, 100K tier: long project chats with an assistant; questions that name their evidence."""
    for entry in _json_lines(folder / "beam" / "beam_100k_chats_01-10.jsonl.gz"):
        turns: list[Turn] = []
        begun = datetime(2024, 1, 1, tzinfo=UTC)
        for batch in entry["chat"]:
            for message in (m for exchange in batch["turns"] for m in exchange):
                if message.get("time_anchor"):
                    begun = datetime.strptime(message["time_anchor"], "%B-%d-%Y").replace(tzinfo=UTC)
                text = _GENERATOR_MARK.sub("", message["content"])
                at = begun + timedelta(seconds=30 * len(turns))
                turns.append(Turn(str(message["id"]), text, message["role"], f"batch {batch['batch_number']}", at))
        known = {t.key for t in turns}
        asked_at = max(t.at for t in turns) + timedelta(days=1)
        questions = [
            Question(q["question"], asked_at, ability, frozenset(evidence))
            for ability, entries in entry["probing_questions"].items()
            for q in entries
            if (evidence := set(_ids(q.get("source_chat_ids"))) & known)
        ]
        yield Conversation(f"chat {entry['chat_id']}", tuple(turns), tuple(questions))


def _ids(value: object) -> Iterator[str]:
    """Every id in a number, a list, or a mapping of lists."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from _ids(inner)
    elif value is not None:
        yield str(value)


def _json_lines(path: Path) -> Iterator[dict[str, Any]]:
    unpack = lzma.open if path.suffix == ".xz" else gzip.open
    with unpack(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


SETS: Mapping[str, Callable[[Path], Iterator[Conversation]]] = {
    "locomo": locomo,
    "longmemeval": longmemeval,
    "longmemeval-s": lambda folder: longmemeval(folder, part="s"),
    "longmemeval-pooled": longmemeval_pooled,
    "beam": beam,
}
