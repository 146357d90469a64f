"""ChatGPT's export: conversations.json, where each conversation is a tree of messages and says which leaf was seen last."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from graphmem.importers.arrays import elements
from graphmem.importers.items import USER, Conversation, Item, Options, Times, ident, key_of, no_conversation, shows
from graphmem.importers.paths import path_to
from graphmem.importers.tree import Tree

ASSISTANT = "ChatGPT"
_CITATION = re.compile("\ue200[^\ue200\ue201]{0,2000}\ue201|【[\\d:]{1,20}†[^【】]{0,200}】")
_THOUGHTS = ("thoughts", "reasoning_recap")
_SETTINGS = ("user_editable_context", "model_editable_context")


def items(tree: Tree, names: Sequence[str], options: Options, left_out: Counter[str]) -> Iterator[Item]:
    """The messages that people saw, a conversation after the other as the export has them."""
    found = 0
    for name in names:
        for n, value in enumerate(elements(tree.text(name), tree.place(name)), start=1):
            place = f"{tree.place(name)}: conversation {n}"
            if isinstance(value, dict) and isinstance(value.get("mapping"), dict):
                found += 1
                yield from _conversation(value, place, options, left_out)
            else:
                left_out["entries that are no conversation"] += 1
    if not found:
        raise no_conversation(tree.place(names[0]), ASSISTANT)


def _conversation(value: Mapping[str, object], place: str, options: Options, left_out: Counter[str]) -> Iterator[Item]:
    nodes: dict[str, Mapping[str, object]] = {
        i: n
        for i, n in value["mapping"].items()  # type: ignore[attr-defined]
        if isinstance(n, dict)
    }
    told = ident(value.get("conversation_id"), value.get("id"), value.get("create_time"))
    title = value.get("title")
    shared = Conversation(f"{title} ({told[:8]})" if isinstance(title, str) and shows(title) else told or "ChatGPT", f"chatgpt/{told}")
    parents = {i: n.get("parent") for i, n in nodes.items()}
    path = path_to(value.get("current_node"), parents) or path_to(_latest(nodes), parents)
    shown = set(path)
    others = [i for i in nodes if i not in shown]
    times = Times(options, left_out, value.get("create_time"))
    for node in [*path, *others]:
        reason, actor, text = _read(nodes[node].get("message"), options)
        at = times.of(_time(nodes[node]))
        if reason is None and node not in shown and not options.branches:
            reason = "messages of other branches"
        if reason is None and times.lost:
            reason = Times.LOST
        if reason is None:
            yield shared.message(f"{place}, message {node}"[:400], actor, text, at, key_of("chatgpt", told, node))
        elif reason:
            left_out[reason] += 1


def _latest(nodes: Mapping[str, Mapping[str, object]]) -> str | None:
    """The last node of an export that does not say which one was seen last."""
    times = {i: _number(_time(n)) for i, n in nodes.items()}
    return max(reversed(list(nodes)), key=lambda i: times[i], default=None)


def _number(time: object) -> float:
    return time if isinstance(time, int | float) else 0.0


def _time(node: Mapping[str, object]) -> object:
    message = node.get("message")
    return message.get("create_time") if isinstance(message, dict) else None


def _read(message: object, options: Options) -> tuple[str | None, str, str]:
    """Why a message is left out ("": it is nothing to count), or None; who said it; what."""
    if message is None:
        return "", "", ""
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(message, dict) or not isinstance(content, dict):
        return "messages that cannot be read", "", ""
    author, metadata = message.get("author"), message.get("metadata")
    role = author.get("role") if isinstance(author, dict) else None
    kind = content.get("content_type")
    hidden = isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation")
    if role not in ("user", "assistant"):
        return ("tool messages" if role == "tool" else "system messages"), "", ""
    if hidden or message.get("weight") == 0 or kind in _SETTINGS:
        return "hidden messages", "", ""
    if kind in _THOUGHTS or message.get("channel") == "analysis":
        return "thoughts of the assistant", "", ""
    if message.get("recipient") not in (None, "all"):
        return "tool messages", "", ""
    text = _CITATION.sub("", _text(content)).strip()
    if not shows(text):
        return "messages without text", "", ""
    return None, ASSISTANT if role == "assistant" else options.me or USER, text


def _text(content: Mapping[str, object]) -> str:
    """What was typed or spoken; images and files have nothing to read."""
    parts = content.get("parts")
    if not isinstance(parts, list):
        text = content.get("text")
        return text if isinstance(text, str) else ""
    said = [p.get("text") if isinstance(p, dict) and p.get("content_type") == "audio_transcription" else p for p in parts]
    return "\n\n".join(p for p in said if isinstance(p, str) and p.strip())
