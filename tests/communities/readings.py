"""What a reader of a chat would note down, made from the chat itself by one rule for every language.

The offline model finds no facts in Chinese, and a language model is no part of a test. So a message is read like this: whoever
speaks replies to the one who spoke last on that day, names people, and speaks of things; things that are named in one message go
with each other. A thing is what is quoted, a word in another script or with a capital or digit that begins no sentence, or what
stands alone between two marks, a word or two, if at least two messages have it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import combinations, groupby
from typing import Any

Message = dict[str, Any]
Row = dict[str, object]

_QUOTED = re.compile(r"[\"“「《]([^\"“”「」《》]{2,30})[\"”」》]")
_LATIN = re.compile(r"[A-Za-z][A-Za-z0-9.+-]*[A-Za-z0-9]")
_HAN = re.compile(r"[\u3400-\u9fff]")
_MARKS = re.compile(r"[^\w\s'’.+-]+|\.\s|\.$")
_START = re.compile(r"(?:^|[.!?:;。！？：；]\s*)[\"“]?$")
_MOST = 6  # things of one message


def read(chat: dict[str, Any]) -> Iterator[tuple[str, list[tuple[Message, list[Row]]]]]:
    """Day by day: the messages that tell of something, with the facts they tell."""
    people = {str(u["full_name"]) for u in chat["session_meta"]["user_details"].values()}
    known = {p.lower() for p in people}
    messages = chat["conversation_list"]
    things = [list(dict.fromkeys(t for t in _things(m["content"]) if t.lower() not in known)) for m in messages]
    often = Counter(thing for row in things for thing in row)
    for day, numbers in groupby(range(len(messages)), key=lambda n: str(messages[n]["create_time"])[:10]):
        told, last = [], None
        for n in numbers:
            message = messages[n]
            speaker = str(message["sender_name"])
            named = sorted(p for p in people - {speaker} if re.search(rf"(?<![A-Za-z]){p}(?![A-Za-z])", message["content"]))
            recurring = [t for t in things[n] if often[t] > 1][:_MOST]
            pairs = [(speaker, "replies to", last)] if last not in (None, speaker) else []
            pairs += [(speaker, "names", p) for p in named] + [(speaker, "speaks of", t) for t in recurring]
            pairs += [(a, "goes with", b) for a, b in combinations(recurring, 2)]
            if pairs:
                told.append((message, [{"source": a, "relation": r, "target": b, "text": f"{a} {r} {b}"} for a, r, b in pairs]))
            last = speaker
        yield day, told


def _things(text: str) -> list[str]:
    """As they are written, in order; a word of Latin letters in lower case."""
    found = [(m.start(), m[1].strip()) for m in _QUOTED.finditer(text)]
    is_han = _HAN.search(text) is not None
    for word in _LATIN.finditer(text):
        marked = re.search(r"[0-9]|.[A-Z]", word[0]) or (word[0][0].isupper() and not _START.search(text[: word.start()]))
        if is_han or marked:
            found.append((word.start(), word[0].lower()))
    place = 0
    for piece in _MARKS.split(text):
        at, alone = text.find(piece, place), piece.strip()
        place = at + len(piece)
        if (2 <= len(alone) <= 4 and len(_HAN.findall(alone)) == len(alone)) or re.fullmatch(r"[A-Za-z]{3,}(?: [A-Za-z]{3,})?", alone):
            found.append((at, alone.lower()))
    return [name for _, name in sorted(found)]
