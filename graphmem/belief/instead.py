"""Episodes that take the place of another one, with the same words or with some of them erased: what they are called."""

from __future__ import annotations

from graphmem.runtime import content_id

INSTEAD_OF = "instead_of"
"""The attribute of such an episode: the id of the one whose place it takes."""


def id_again(group: str, episode: str) -> str:
    """The id of the episode that takes the place of one."""
    return content_id("ep", group, "again", episode)


def key_again(group: str, episode: str) -> str:
    """The idempotency key of the episode that takes the place of one."""
    return content_id("key", group, "again", episode)


def key_erased(group: str, seq: int, episode: str) -> str:
    """The idempotency key of an episode that an erase at this position of the log has redacted, and called so."""
    return content_id("key", group, "erased", seq, episode)
