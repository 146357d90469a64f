"""What of an episode is embedded and what is indexed: sentences as pieces, text with its date and speaker as words."""

from __future__ import annotations

import json
import re
from datetime import datetime

from graphmem.model import EpisodeKind
from graphmem.roles import Role, role_of
from graphmem.search.words import UNSPACED

_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December")
RECORDS = (EpisodeKind.JSON, EpisodeKind.FACTS)
MAX_WORDS = 60
MAX_PIECES = 12
MAX_DOCUMENT_PIECES = 400
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_SENTENCES = re.compile(r"(?<=[.!?])\s+|(?<=[。！？।؟])\s*|\s+(?=\[)")
_LINES = re.compile(rf"{_SENTENCES.pattern}|[\n\r\u2028\u2029]+")
_UNSPACED = re.compile(f"[{UNSPACED}]")


def pieces(text: str, actor: str | None = None, role: Role | None = None) -> list[str]:
    """The texts to embed for an episode, in order; at least one for a text that is not blank.

    A person's turn gives its sentences under the speaker's name; a user's turn its sentences and lines, short ones
    joined, code left out; an assistant's turn stays whole; a document is packed into stretches of at most 60 words.

    >>> pieces("We moved in March. The flat is small!", "Mira")
    ['Mira: We moved in March.', 'Mira: The flat is small!']
    """
    if not text.strip():
        return []
    role = role or role_of(actor)
    if role is Role.PERSON:
        found = [f"{actor}: {s}" for s in _cut(_SENTENCES.split(text)) if _size(s) >= 3][:MAX_PIECES]
        return found or [f"{actor}: {text}"]
    if role is Role.USER:
        found = [s for s in _joined(_cut(_LINES.split(_CODE.sub(" ", text)))) if _size(s) >= 3][:MAX_PIECES]
    elif role is Role.ASSISTANT:
        found = []
    else:
        found = _packed(_cut(_LINES.split(text)))[:MAX_DOCUMENT_PIECES]
    return found or [text]


def episode_words_text(text: str, actor: str | None, reference_time: datetime, role: Role | None = None) -> str:
    """The text whose words are indexed: a person's turn with its date and name, everything else as it is.

    >>> from datetime import UTC
    >>> episode_words_text("I moved.", "Mira", datetime(2023, 5, 7, tzinfo=UTC))
    '[7 May 2023] Mira: I moved.'
    """
    if (role or role_of(actor)) is not Role.PERSON:
        return text
    return f"[{reference_time.day} {_MONTHS[reference_time.month - 1]} {reference_time.year}] {actor}: {text}"


def readable(kind: EpisodeKind, body: str) -> str:
    """The body as people would read it: JSON as "path: value" lines, anything else (also broken JSON) verbatim.

    >>> readable(EpisodeKind.JSON, '{"order": {"id": 7, "items": ["tea", "milk"]}}')
    'order id: 7\\norder items: tea\\norder items: milk'
    """
    if kind not in RECORDS:
        return body
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return body
    return "\n".join(_leaves(value)) or body


def _leaves(value: object) -> list[str]:
    lines: list[str] = []
    todo: list[tuple[str, object]] = [("", value)]
    while todo:
        path, node = todo.pop()
        if isinstance(node, dict):
            todo.extend((f"{path} {name}".strip(), child) for name, child in reversed(node.items()))
        elif isinstance(node, list):
            todo.extend((path, child) for child in reversed(node))
        elif node is not None:
            lines.append(f"{path}: {node}" if path else str(node))
    return lines


def _size(text: str) -> int:
    """How many words; two characters of a script without spaces count as one."""
    return len(text.split()) + (0 if text.isascii() else len(_UNSPACED.findall(text)) // 2)


def _cut(sentences: list[str]) -> list[str]:
    """Without blanks; what is longer than `MAX_WORDS` is cut into stretches."""
    out: list[str] = []
    for sentence in sentences:
        parts = sentence.split()
        if len(parts) > MAX_WORDS:
            out.extend(" ".join(parts[i : i + MAX_WORDS]) for i in range(0, len(parts), MAX_WORDS))
        elif _size(sentence) > 2 * MAX_WORDS:
            out.extend(sentence[i : i + 2 * MAX_WORDS] for i in range(0, len(sentence), 2 * MAX_WORDS))
        elif parts:
            out.append(sentence.strip())
    return out


def _joined(sentences: list[str]) -> list[str]:
    """Sentences of fewer than four words joined to a neighbour."""
    out: list[str] = []
    for sentence in sentences:
        if out and (_size(sentence) < 4 or _size(out[-1]) < 4):
            out[-1] += f" {sentence}"
        else:
            out.append(sentence)
    return out


def _packed(sentences: list[str]) -> list[str]:
    """Neighbouring sentences together as long as they stay within `MAX_WORDS`."""
    out: list[str] = []
    for sentence in sentences:
        if out and _size(out[-1]) + _size(sentence) <= MAX_WORDS:
            out[-1] += f" {sentence}"
        else:
            out.append(sentence)
    return out
