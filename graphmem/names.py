"""Names as keys: when two spellings are the same name, in every script."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_SPACES = re.compile(r"\s+")
_TATWEEL = "\u0640"
_DIGITS = re.compile(r"\d+")
_EDGE = "\"'“”‘’«»„`´.,;:!?()[]{}<>…·"
MAX_NAME = 400


def clean(name: str) -> str:
    """The name as shown: invisible characters out, spaces single, no space at the ends."""
    if name.isascii() and name.isprintable():
        return " ".join(name.split())
    visible = "".join(
        c if unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co", "Cn") or c in ("\u200d", "\ufe0f") else (" " if c.isspace() else "")
        for c in name
    )
    return _SPACES.sub(" ", visible).strip()


@lru_cache(maxsize=16384)
def key(name: str) -> str:
    """What two spellings of one name share: NFKC, case folded, spaces single, edge punctuation and tatweel out.

    Never empty for a name that shows something: a name of symbols alone keeps them.

    >>> key("  ORION\\u00a0Labs. ") == key("orion labs"), key("C++") == key("C")
    (True, False)
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", clean(name)).casefold()).replace(_TATWEEL, "")
    folded = _SPACES.sub(" ", folded).strip()
    bare = folded.strip(_EDGE + " ")
    return bare or folded


def numbers(name: str) -> tuple[str, ...]:
    """The digit runs of a name, in order: names that differ in them are different names.

    >>> numbers("Phase 1") == numbers("Phase 2")
    False
    """
    return tuple(_DIGITS.findall(unicodedata.normalize("NFKC", name)))


def is_nameable(name: str) -> bool:
    """Whether this can be an entity's name: something visible that is more than punctuation, not over 400 characters."""
    shown = clean(name)
    if not shown or len(shown) > MAX_NAME:
        return False
    return any(unicodedata.category(c)[0] in "LNS" for c in shown)
