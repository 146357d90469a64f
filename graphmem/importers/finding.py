"""Which exports are in a file, a folder or a zip: told by what the files hold, not by what the whole is called."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from graphmem.errors import InvalidInput
from graphmem.importers import chatgpt, claude, slack, whatsapp
from graphmem.importers.items import Item, Options
from graphmem.importers.tree import Tree

Importer = Callable[[Tree, Sequence[str], Options, Counter[str]], Iterator[Item]]
IMPORTERS: dict[str, Importer] = {
    "chatgpt": chatgpt.items,
    "claude": claude.items,
    "slack": slack.items,
    "whatsapp": whatsapp.items,
}
_CONVERSATIONS = re.compile(r"(?:^|/)conversations(?:[-_]\d+)?\.json$")


@dataclass(frozen=True)
class Export:
    """One export: its format, the files to read, and those that belong to it."""

    format: str
    names: tuple[str, ...]
    claimed: frozenset[str]


def exports(tree: Tree, format: str | None) -> list[Export]:
    """The exports in there; with a format, the files are taken for that one. Empty where there is none."""
    if format is not None:
        return _named(tree, format)
    found = list(_slack(tree))
    free = [n for n in tree.names if not any(n in e.claimed for e in found)]
    by_folder: dict[tuple[str, str], list[str]] = {}
    for name in free:
        if name.lower().endswith(".json") and (tree.is_file or _CONVERSATIONS.search(name)):
            kind = _kind_of_json(tree.head(name))
            if kind is not None:
                by_folder.setdefault((name.rpartition("/")[0], kind), []).append(name)
    for (folder, kind), names in by_folder.items():
        beside = frozenset(n for n in free if n.endswith(".json") and n.rpartition("/")[0] == folder)
        found.append(Export(kind, tuple(names), beside.union(names)))
    for name in free:
        if name.lower().endswith(".txt") and whatsapp.looks_like_a_chat(tree.head(name)):
            found.append(Export("whatsapp", (name,), frozenset([name])))
    return found


def _named(tree: Tree, format: str) -> list[Export]:
    if format == "slack":
        names = tuple(n for n in tree.names if n.endswith(".json"))
        days = any(slack.DAY.search(n) for n in names)
        return [Export(format, names, frozenset(names))] if days else []
    ending = ".txt" if format == "whatsapp" else ".json"
    names = tuple(n for n in tree.names if tree.is_file or n.lower().endswith(ending))
    if format != "whatsapp" and not tree.is_file:
        names = tuple(n for n in names if _CONVERSATIONS.search(n))
    return [Export(format, names, frozenset(names))] if names else []


def _slack(tree: Tree) -> Iterator[Export]:
    """Folders that list channels and have folders of days."""
    roots = {n.rpartition("/")[0] for n in tree.names if n.rpartition("/")[2] in slack.CHANNEL_LISTS}
    for root in sorted(roots):
        inside = [n for n in tree.names if n.endswith(".json") and _is_under(n, root)]
        depth = root.count("/") + 1 if root else 0
        names = tuple(n for n in inside if n.count("/") - depth == (1 if slack.DAY.search(n) else 0))
        if any(slack.DAY.search(n) for n in names):
            yield Export("slack", names, frozenset(inside))


def _is_under(name: str, folder: str) -> bool:
    return not folder or name.startswith(f"{folder}/")


def _kind_of_json(head: str) -> str | None:
    """The format of a JSON file that begins like this; the beginning of one that is cut off says it too."""
    if head.lstrip()[:1] not in ("[", "{"):
        return None
    if re.search(r'"chat_messages"\s*:\s*\[', head):
        return "claude"
    if re.search(r'"mapping"\s*:\s*\{', head) and re.search(r'"(?:children|parent|current_node)"\s*:', head):
        return "chatgpt"
    return None


_WANTED = {
    None: "export of ChatGPT, Claude, Slack or WhatsApp",
    "chatgpt": "conversations.json",
    "claude": "conversations.json",
    "slack": "CHANNEL/YYYY-MM-DD.json",
    "whatsapp": ".txt file",
}


def none_found(tree: Tree, format: str | None) -> InvalidInput:
    """The error for what holds no export."""
    if format == "slack" and tree.is_file:
        return InvalidInput("PATH", str(tree.path), "a Slack export is a folder or a zip with a folder a channel; give that")
    other = "name its --format" if format is None else "leave out --format"
    allowed = f"holds no {_WANTED[format]}; {other}, or give the folder or file that holds the messages"
    return InvalidInput("PATH", str(tree.path), allowed)
