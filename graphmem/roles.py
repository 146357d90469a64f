"""Who speaks in an episode: a person, the user of an assistant, the assistant, or nobody."""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache

_USERS = frozenset({"user", "human"})
_ASSISTANTS = frozenset({"assistant", "system", "tool", "function", "ai", "bot", "model", "chatgpt"})


class Role(StrEnum):
    """Who speaks in an episode: a named person, the user of an assistant, the assistant, or nobody (a document)."""

    PERSON = "person"
    USER = "user"
    ASSISTANT = "assistant"
    NOBODY = "nobody"


@lru_cache(maxsize=4096)
def role_of(actor: str | None) -> Role:
    """The role that an episode's actor has.

    >>> role_of("Mira"), role_of("user"), role_of(None)
    (<Role.PERSON: 'person'>, <Role.USER: 'user'>, <Role.NOBODY: 'nobody'>)
    """
    if actor is None or not actor.strip():
        return Role.NOBODY
    name = actor.strip().casefold()
    if name in _USERS:
        return Role.USER
    return Role.ASSISTANT if name in _ASSISTANTS or name.endswith("(assistant)") else Role.PERSON
