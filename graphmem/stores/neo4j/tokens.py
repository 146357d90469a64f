"""Words as the full-text indexes keep them, and the queries that find them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from graphmem.stores.codec import safe_text

_LONGEST = 120
_MOST_TERMS = 500
_LONGEST_INDEXED = 500


def token(word: str) -> str:
    """The token of a word: itself, for the index splits at spaces and folds nothing; of a very long one a digest."""
    safe = safe_text(word)
    return safe if len(safe) <= _LONGEST else f"_h{hashlib.sha256(safe.encode()).hexdigest()}"


def tokens(words: str) -> str:
    """The tokens of space-separated words."""
    return " ".join(map(token, words.split()))


def query(terms: Iterable[str]) -> str:
    """A full-text query for rows with one of these words, each quoted; no sign in a word means anything."""
    return f"+gm_words:({' '.join(map(_quoted, list(terms)[:_MOST_TERMS]))})"


def scope(group: str) -> str:
    """The word that marks the rows of a group."""
    return "g" + hashlib.sha256(safe_text(group).encode()).hexdigest()[:24]


def prefix(group: str) -> str:
    """The part of a query that keeps to a group; it has no say in the score."""
    return f"+gm_scope:{scope(group)}^0 "


def index_key(text: str) -> str:
    """A text as an index can hold it: long ones end in a digest."""
    safe = safe_text(text)
    if len(safe) <= _LONGEST_INDEXED:
        return safe
    return f"{safe[:_LONGEST_INDEXED]}#{hashlib.sha256(safe.encode()).hexdigest()}"


def _quoted(word: str) -> str:
    return '"' + token(word).replace("\\", "\\\\").replace('"', '\\"') + '"'
