"""Words as the full-text index keeps them: any word becomes one token that its tokenizer neither splits nor folds."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

_FOREIGN = re.compile("[^a-z0-9\x80-\ud7ff\ue000-\U0010ffff]")
_LONGEST = 200


@lru_cache(maxsize=1 << 15)
def token(word: str) -> str:
    """The token of a word: itself if it has only a-z, 0-9 and characters beyond ASCII, else its bytes in hex after "_".

    >>> token("café"), token("c++")
    ('café', '_632b2b')
    """
    if not word or _FOREIGN.search(word):
        raw = word.encode("utf-8", "surrogatepass")
        return f"_{raw.hex()}" if len(raw) <= _LONGEST else _digest(raw)
    return word if len(word) <= _LONGEST else _digest(word.encode("utf-8"))


def tokens(words: str) -> str:
    """The tokens of space-separated words."""
    return " ".join(map(token, words.split()))


def _digest(raw: bytes) -> str:
    return f"_h{hashlib.sha256(raw).hexdigest()}"
