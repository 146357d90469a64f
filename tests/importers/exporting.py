"""Small exports, written by the tests as the services write them."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

from graphmem.importers import Item


def texts(items: list[Item]) -> list[tuple[object, object]]:
    """Who said what."""
    return [(i.row["actor"], i.row["text"]) for i in items]


def written(path: Path, value: object) -> Path:
    """A file: text as it is, anything else as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def zipped(path: Path, files: dict[str, object]) -> Path:
    """A zip of such files."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, value in files.items():
            made.writestr(name, value if isinstance(value, str) else json.dumps(value))
    return path


def node(ident: str, parent: str | None, role: str, text: object, at: float | None = 1704448920.5, **more: object) -> dict[str, object]:
    """A node of ChatGPT's tree; a text that is a dict is the whole content."""
    content = text if isinstance(text, dict) else {"content_type": "text", "parts": [text]}
    message = {"id": ident, "author": {"role": role}, "create_time": at, "content": content, "recipient": "all", "weight": 1.0, **more}
    return {"id": ident, "parent": parent, "children": [], "message": message}


def talk(*nodes: dict[str, object], current: str | None = None, **more: object) -> dict[str, object]:
    """A conversation with ChatGPT."""
    mapping = {"root": {"id": "root", "parent": None, "children": [], "message": None}, **{str(n["id"]): n for n in nodes}}
    told = {"title": "Moving", "create_time": 1704448900.0, "conversation_id": "c0ffee00-1", "mapping": mapping}
    return {**told, "current_node": current or nodes[-1]["id"], **more}


def said(ident: str, sender: str, text: object, at: str = "2024-01-05T10:02:00.250000Z", **more: object) -> dict[str, object]:
    """A message of Claude's list; a text that is a list is its blocks."""
    body = {"text": "", "content": text} if isinstance(text, list) else {"text": text, "content": []}
    return {"uuid": ident, "sender": sender, "created_at": at, "attachments": [], "files": [], **body, **more}


def chat(*messages: object, **more: object) -> dict[str, object]:
    """A conversation with Claude."""
    told = {"uuid": "facade00-1", "name": "Peanuts", "created_at": "2024-01-05T10:00:00Z", "account": {"uuid": "acc"}}
    return {**told, "chat_messages": list(messages), **more}


PEOPLE = [
    {"id": "U1", "name": "mira", "profile": {"real_name": "Mira Okafor", "display_name": "mira"}},
    {"id": "U2", "name": "danylo", "profile": {"real_name": "", "display_name": "Danylo K"}},
    {"id": "U3", "name": "lee1", "real_name": "Lee"},
    {"id": "U4", "name": "lee2", "real_name": "Lee"},
]
CHANNELS = [{"id": "C1", "name": "general", "members": ["U1", "U2"]}]


def slack(*messages: object, **more: object) -> dict[str, object]:
    """The files of a workspace whose one channel has these messages on one day."""
    return {"users.json": PEOPLE, "channels.json": CHANNELS, "general/2024-01-05.json": list(messages), **more}


def post(text: str, ts: str = "1704448920.000100", user: str = "U1", **more: object) -> dict[str, object]:
    """A message in Slack."""
    return {"type": "message", "user": user, "text": text, "ts": ts, **more}
