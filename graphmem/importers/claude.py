"""Claude's export: conversations.json, where each conversation lists its messages, in blocks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from graphmem.errors import InvalidInput
from graphmem.importers.arrays import elements
from graphmem.importers.items import USER, Conversation, Item, Options, Times, ident, key_of, no_conversation, shows
from graphmem.importers.paths import path_to
from graphmem.importers.tree import Tree

ASSISTANT = "Claude (assistant)"
_UNSHOWN = re.compile(r"```\s*This block is not supported on your current device yet\.\s*```")
_BLOCKS = {
    "thinking": "thoughts of the assistant",
    "tool_use": "tool calls and their results",
    "tool_result": "tool calls and their results",
}


def items(tree: Tree, names: Sequence[str], options: Options, left_out: Counter[str]) -> Iterator[Item]:
    """The messages, a conversation after the other as the export has them."""
    found = 0
    for name in names:
        people = _people(tree, name)
        for n, value in enumerate(elements(tree.text(name), tree.place(name)), start=1):
            place = f"{tree.place(name)}: conversation {n}"
            if isinstance(value, dict) and isinstance(value.get("chat_messages"), list):
                account = value.get("account")
                owner = people.get(ident(account.get("uuid"))) if isinstance(account, dict) else None
                found += 1
                yield from _conversation(value, place, options, left_out, options.me or owner or USER)
            else:
                left_out["entries that are no conversation"] += 1
    if not found:
        raise no_conversation(tree.place(names[0]), "Claude")


def _people(tree: Tree, name: str) -> dict[str, str]:
    """Names by account, from the users.json beside the conversations; an export has it, a file alone has not."""
    beside = name.rpartition("/")[0] + "/users.json" if "/" in name else "users.json"
    if beside not in tree.names or tree.is_file:
        return {}
    try:
        users = [u for u in elements(tree.text(beside), tree.place(beside)) if isinstance(u, dict)]
    except InvalidInput:
        return {}
    return {ident(u.get("uuid")): u["full_name"] for u in users if isinstance(u.get("full_name"), str) and shows(u["full_name"])}


def _conversation(value: Mapping[str, object], place: str, options: Options, left_out: Counter[str], owner: str) -> Iterator[Item]:
    told = ident(value.get("uuid"), value.get("created_at"))
    title = value.get("name")
    shared = Conversation(f"{title} ({told[:8]})" if isinstance(title, str) and shows(title) else told or "Claude", f"claude/{told}")
    given: list[object] = value["chat_messages"]  # type: ignore[assignment]
    messages = [m for m in given if isinstance(m, dict)]
    left_out["messages that cannot be read"] += len(given) - len(messages)
    path = _path(messages, value.get("current_leaf_message_uuid"))
    times = Times(options, left_out, value.get("created_at"))
    for n, message in enumerate(messages, start=1):
        at = times.of(message.get("created_at"))
        text = _text(message, left_out).strip()
        sender = message.get("sender")
        if sender not in ("human", "user", "assistant"):
            left_out["messages that cannot be read"] += 1
        elif not shows(text):
            left_out["messages without text"] += 1
        elif path and ident(message.get("uuid")) not in path and not options.branches:
            left_out["messages of other branches"] += 1
        elif times.lost:
            left_out[Times.LOST] += 1
        else:
            actor = ASSISTANT if sender == "assistant" else owner
            key = key_of("claude", told, ident(message.get("uuid")) or f"{n}")
            yield shared.message(f"{place}, message {n}", actor, text, at, key)


def _path(messages: Sequence[Mapping[str, object]], leaf: object) -> set[str]:
    """The ids of the branch seen last; empty where the export says nothing of branches."""
    parents = {ident(m.get("uuid")): m.get("parent_message_uuid") for m in messages}
    if not messages or not any(p in parents for p in parents.values() if isinstance(p, str)):
        return set()
    return set(path_to(leaf, parents) or path_to(ident(messages[-1].get("uuid")), parents))


def _text(message: Mapping[str, object], left_out: Counter[str]) -> str:
    """The text blocks, or where there are none (older exports) the text."""
    for listed in ("attachments", "files"):
        found = message.get(listed)
        left_out["attachments"] += len(found) if isinstance(found, list) else 0
    content, said = message.get("content"), []
    for block in content if isinstance(content, list) else []:
        if not isinstance(block, dict):
            continue
        kind = ident(block.get("type"))
        if kind == "text" and isinstance(block.get("text"), str):
            said.append(block["text"])
        elif kind in _BLOCKS:
            left_out[_BLOCKS[kind]] += 1
    if said:
        return "\n\n".join(said)
    text = message.get("text")
    return _UNSHOWN.sub("", text) if isinstance(text, str) else ""
