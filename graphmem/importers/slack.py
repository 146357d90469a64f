"""Slack's export: lists of people and channels, and a folder a channel with a file of messages a day."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from graphmem.errors import InvalidInput
from graphmem.importers.arrays import elements
from graphmem.importers.items import Conversation, Item, Options, ident, key_of, shows
from graphmem.importers.markup import plain
from graphmem.importers.tree import Tree

CHANNEL_LISTS = ("channels.json", "groups.json", "mpims.json", "dms.json")
DAY = re.compile(r"(?:^|/)([^/]+)/\d{4}-\d\d-\d\d\.json$")
SAID = (None, "bot_message", "file_share", "me_message", "reply_broadcast", "slackbot_response", "thread_broadcast")
"""Subtypes that somebody said; the others tell who joined, what was renamed, pinned or deleted."""

_TS = re.compile(r"\d{1,11}(\.\d{1,6})?")
_DEEPEST = 12


@dataclass
class Workspace:
    """Who and what the ids stand for."""

    people: dict[str, str] = field(default_factory=lambda: {"USLACKBOT": "Slackbot"})
    channels: dict[str, str] = field(default_factory=dict)
    folders: dict[str, tuple[str, str]] = field(default_factory=dict)
    """The id and the name of the channel whose messages a folder holds."""


def items(tree: Tree, names: Sequence[str], options: Options, left_out: Counter[str]) -> Iterator[Item]:
    """The messages, a channel after the other, each oldest first; a thread is a session of its own."""
    space = _workspace(tree, names)
    seen: set[tuple[str, str]] = set()
    for name in names:
        match = DAY.search(name)
        if match is None:
            continue
        where = space.folders.get(match[1], (match[1], match[1]))
        for n, value in enumerate(elements(tree.text(name), tree.place(name)), start=1):
            place = f"{tree.place(name)}: message {n}"
            if not isinstance(value, dict) or not _TS.fullmatch(ident(value.get("ts"))):
                left_out["messages that cannot be read"] += 1
            elif (where[0], ident(value["ts"])) not in seen:
                seen.add((where[0], ident(value["ts"])))
                item = _message(value, place, where, space, options, left_out)
                if item is not None:
                    yield item


def _workspace(tree: Tree, names: Sequence[str]) -> Workspace:
    space = Workspace()
    listed = {n.rpartition("/")[2]: n for n in names if not DAY.search(n)}
    users = _listed(tree, listed.get("users.json"))
    called = Counter(_called(u) for u in users)
    for user in users:
        name, handle = _called(user), user.get("name")
        space.people[ident(user.get("id"))] = f"{name} ({handle})" if called[name] > 1 and isinstance(handle, str) else name
    for kind in CHANNEL_LISTS:
        for channel in _listed(tree, listed.get(kind)):
            told, given = ident(channel.get("id")), channel.get("name")
            members = channel.get("members")
            if isinstance(given, str) and shows(given) and kind != "mpims.json":
                name = given
            else:
                name = ", ".join(sorted(space.people.get(ident(m), ident(m)) for m in (members if isinstance(members, list) else [])[:20]))
            name = name or told
            space.channels[told] = name
            space.folders[given if isinstance(given, str) and kind != "dms.json" else told] = (told, name)
    return space


def _listed(tree: Tree, name: str | None) -> list[Mapping[str, object]]:
    return [] if name is None else [v for v in elements(tree.text(name), tree.place(name)) if isinstance(v, dict)]


def _called(user: Mapping[str, object]) -> str:
    """A person's full name, or else the one shown in Slack, or else the handle."""
    profile = user.get("profile")
    of_profile = profile if isinstance(profile, dict) else {}
    for name in (of_profile.get("real_name"), user.get("real_name"), of_profile.get("display_name"), user.get("name"), user.get("id")):
        if isinstance(name, str) and shows(name):
            return name
    return "unnamed"


def _message(
    value: Mapping[str, object], place: str, where: tuple[str, str], space: Workspace, options: Options, left_out: Counter[str]
) -> Item | None:
    channel = where[1]
    if value.get("type", "message") != "message" or value.get("subtype") not in SAID or value.get("hidden"):
        left_out["deleted messages" if value.get("subtype") == "tombstone" else "system messages"] += 1
        return None
    files = value.get("files")
    left_out["files"] += len(files) if isinstance(files, list) else 0
    text = plain(_text(value), space.people, space.channels).strip()
    if not shows(text):
        left_out["messages without text"] += 1
        return None
    ts, thread, edited = ident(value["ts"]), value.get("thread_ts"), value.get("edited")
    in_thread = isinstance(thread, str) and _TS.fullmatch(thread) and (thread != ts or value.get("reply_count") or value.get("replies"))
    changed = ident(edited.get("ts")) if isinstance(edited, dict) else ""
    key = key_of("slack", where[0], ts) + (key_of("@edited", changed) if changed else "")
    shared = Conversation(f"{channel}/{thread}" if in_thread else channel, f"slack/{channel}")
    return shared.message(place, _actor(value, space), text, _instant(ts, place, options), key)


def _instant(ts: str, place: str, options: Options) -> datetime:
    at = options.instant(float(ts))
    if at is None:
        raise InvalidInput(place, ts, "ts must be seconds since 1970; export it again")
    return at


def _actor(value: Mapping[str, object], space: Workspace) -> str:
    user, profile, bot = value.get("user"), value.get("user_profile"), value.get("bot_profile")
    if isinstance(user, str) and user in space.people:
        return space.people[user]
    names: list[object] = [
        profile.get("real_name") if isinstance(profile, dict) else None,
        profile.get("display_name") if isinstance(profile, dict) else None,
        value.get("username"),
        bot.get("name") if isinstance(bot, dict) else None,
        user,
        value.get("bot_id"),
    ]
    return next((n for n in names if isinstance(n, str) and shows(n)), "unnamed")


def _text(value: Mapping[str, object]) -> str:
    """The text; where a bot left it empty, what its blocks or attachments say. A preview of a link is nobody's words."""
    text = value.get("text")
    if isinstance(text, str) and shows(text):
        return text
    said = "\n".join(_inside(value.get("blocks")))
    if shows(said):
        return said
    attachments = value.get("attachments")
    parts: list[str] = []
    for attachment in attachments if isinstance(attachments, list) else []:
        if isinstance(attachment, dict) and not (attachment.get("from_url") or attachment.get("original_url")):
            told = [attachment.get(name) for name in ("pretext", "title", "text")]
            shown = [t for t in told if isinstance(t, str) and shows(t)]
            fallback = attachment.get("fallback")
            parts += shown or ([fallback] if isinstance(fallback, str) else [])
    return "\n".join(parts)


def _inside(blocks: object, depth: int = 0) -> Iterator[str]:
    """The texts of blocks, however they are nested."""
    if isinstance(blocks, list) and depth < _DEEPEST:
        for block in blocks:
            yield from _inside(block, depth + 1)
    elif isinstance(blocks, dict) and depth < _DEEPEST:
        if blocks.get("type") == "user" and isinstance(blocks.get("user_id"), str):
            yield f"<@{blocks['user_id']}>"
        text = blocks.get("text")
        if isinstance(text, str):
            yield text
        elif isinstance(text, dict):
            yield from _inside(text, depth + 1)
        for name in ("elements", "fields"):
            yield from _inside(blocks.get(name), depth + 1)
