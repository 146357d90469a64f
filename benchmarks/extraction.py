"""`python -m benchmarks.extraction`: how much the offline extractor finds in real chat, and how much of it is right.

    python -m benchmarks.extraction                       facts a message, and the share judged right so far
    python -m benchmarks.extraction sample 40 --seed 7    40 messages with their facts, numbered, to be judged by a reader

Reads LoCoMo and the English team chat from the folder that GRAPHMEM_DATA names (or `--data`); no text is written anywhere.
Judgements lie in benchmarks/labels/*.jsonl, a line each: {"id": message, "n": number of the fact in it, "right": true or false}.
Right is a fact that is correct and worth remembering. A message counts if it has at least six words and does not only ask.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks.datasets import data_folder, locomo
from graphmem.llm.base import Ask
from graphmem.llm.offline import OfflineModel

LABELS = Path(__file__).resolve().parent / "labels"
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+")
_CAPTION = re.compile(r" \[shares [^\]]*\]$")
RECENT = 4


@dataclass(frozen=True, slots=True)
class Message:
    """A message as the extractor is asked about it: its id in the set, which set, its text, and the payload."""

    id: str
    source: str
    text: str
    payload: dict[str, object]


def tells(text: str) -> bool:
    """Whether a message counts: at least six words, and not only questions."""
    sentences = [s for s in _SENTENCE_END.split(text.strip()) if s]
    return len(text.split()) >= 6 and not all(s.rstrip().endswith("?") for s in sentences)


def messages(folder: Path) -> Iterator[Message]:
    """All messages that count, of both sets, in order."""
    for conversation in locomo(folder):
        turns = [(f"{conversation.name} {t.key}", t.actor, _CAPTION.sub("", t.text), t.at, t.session) for t in conversation.turns]
        yield from _asked("locomo", turns)
    chat = json.loads((folder / "group-chats" / "team_chat_en.json").read_text("utf-8"))
    rows = [
        (f"team {n}", m["sender_name"], str(m["content"]), datetime.fromisoformat(m["create_time"]), "")
        for n, m in enumerate(chat["conversation_list"])
    ]
    yield from _asked("team", rows)


def _asked(source: str, rows: Sequence[tuple[str, str, str, datetime, str]]) -> Iterator[Message]:
    people = sorted({actor for _, actor, *_ in rows})
    for n, (key, actor, text, at, session) in enumerate(rows):
        before = [r for r in rows[max(0, n - RECENT) : n] if r[4] == session]
        recent = [{"actor": a, "text": t, "reference_time": d.isoformat()} for _, a, t, d, _ in before]
        payload: dict[str, object] = {
            "kind": "message",
            "text": text,
            "reference_time": at.isoformat(),
            "zone": "UTC",
            "actor": actor,
            "participants": people,
            "recent": recent,
            "known": [],
            "offset": 0,
        }
        if tells(text):
            yield Message(key, source, text, payload)


def facts(model: OfflineModel, asked: Sequence[Message]) -> list[list[str]]:
    """The facts of each message, as a reader judges them."""
    return [_shown(a.value) for a in model.answer([Ask("extract", 1, m.payload) for m in asked])]


def _shown(value: Any) -> list[str]:
    name = [e["name"] for e in value["entities"]]
    return [
        f"{name[f['source']]} {'' if f['kind'] == 'holds' else f['kind'].upper() + ' '}{f['relation']} {name[f['target']]}"
        f" [{f['valid_at'] or ''}..{f['invalid_at'] or ''}] {f['text']}"
        for f in value["facts"]
    ]


def judged() -> Iterator[str]:
    """The share right by file of judgements; facts are named by their place in a message, so a file speaks of one version of the rules."""
    for path in sorted(LABELS.glob("*.jsonl")):
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        for source, mine in (
            ("locomo", [r for r in rows if r["id"].startswith("conv")]),
            ("team", [r for r in rows if r["id"].startswith("team")]),
        ):
            right = sum(bool(r["right"]) for r in mine)
            yield f"{path.stem}, {source}: {right} of {len(mine)} judged facts right ({right / len(mine):.0%})"


def main() -> None:
    """Prints a sample to judge, or the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("what", nargs="?", choices=("figures", "sample"), default="figures")
    parser.add_argument("count", nargs="?", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", type=Path)
    given = parser.parse_args()
    everything = list(messages(given.data or data_folder()))
    if given.what == "sample":
        drawn = random.Random(given.seed)
        half = given.count // 2
        chosen = [m for s in ("locomo", "team") for m in drawn.sample([m for m in everything if m.source == s], half)]
        for message, found in zip(chosen, facts(OfflineModel(), chosen), strict=True):
            print(f"\n{message.id} {message.payload['actor']} {str(message.payload['reference_time'])[:10]}: {message.text}")
            for n, fact in enumerate(found):
                print(f"  {n}. {fact}")
        return
    found_in = facts(OfflineModel(), everything)
    for source in ("locomo", "team"):
        counts = [len(f) for m, f in zip(everything, found_in, strict=True) if m.source == source]
        print(f"{source}: {len(counts)} messages, {sum(counts) / len(counts):.3f} facts a message")
    print(*judged(), sep="\n")


if __name__ == "__main__":
    main()
