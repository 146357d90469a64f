"""Languages and scripts: what the English parser may read, and names by rule where it may not."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from graphmem.llm.offline.lexicon import lexicon, words

_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_QUOTED = re.compile(r"[«“„「『《\"]([^«»“”„「」『』《》\"\n]{2,60})[»”“」』》\"]")
_UPPER, _LETTER = r"[\u0391-\u03a9\u0386-\u038f\u0400-\u042f]", r"[\u0370-\u03ff\u0400-\u04ff]"
_CAPITALISED = re.compile(rf"(?<!\w)({_UPPER}{_LETTER}+(?:[ -]{_UPPER}{_LETTER}+)*)")
_SENTENCE_START = re.compile(r"(?:^|[.!?…;:\n]\s*|[—–-]\s)[«“\"(]*$")


def is_english(text: str) -> bool:
    """Whether the parser may read this: mostly Latin letters, and common English words where there are enough words to tell.

    >>> is_english("I moved to Porto."), is_english("Я переехал в Порто."), is_english("Ich bin nach Porto gezogen und wohne dort.")
    (True, False, False)
    """
    found = _WORD.findall(text[:4000])
    if not found:
        return False
    latin = sum(1 for w in found if w.isascii() or "LATIN" in unicodedata.name(w[0], ""))
    if latin < 0.7 * len(found):
        return False
    common = sum(1 for w in found if w.lower() in words("chat", "english"))
    foreign = sum(1 for w in found if w.lower() in words("chat", "foreign"))
    if len(found) < 5:
        return foreign == 0 and all(w.isascii() or w[0].isupper() for w in found)
    if foreign == 0 and all(w.isascii() for w in found) and len(found) < 40 and common < 0.08 * len(found):
        return sum(1 for w in found if w.lower() in _vocabulary() or w.lower().removesuffix("s") in _vocabulary()) >= 0.15 * len(found)
    return foreign <= common and common >= 0.08 * len(found)


@cache
def _vocabulary() -> frozenset[str]:
    """Every English word that the lexicon has, for short notes without "the" and "is"."""
    lists = lexicon().lists
    return frozenset(
        w for section, named in lists.items() for name, found in named.items() for w in found if name != "foreign" and len(w) > 1
    )


def quoted_names(text: str) -> list[tuple[int, int]]:
    """Spans of short quoted names in any script."""
    return [m.span(1) for m in _QUOTED.finditer(text) if len(m[1].split()) <= 5 and m[1][-1] not in ".!?,;。！？，、…"]


def capitalised_names(text: str) -> list[tuple[int, int]]:
    """Spans of capitalised Cyrillic and Greek words inside a sentence; at its start only if it is seen inside one too."""
    spans = [m.span(1) for m in _CAPITALISED.finditer(text)]
    inside = [s for s in spans if not _SENTENCE_START.search(text[: s[0]])]
    seen = {text[a:b] for a, b in inside}
    return [s for s in spans if s in inside or text[slice(*s)] in seen]


def known_names(text: str, candidates: dict[str, str]) -> list[tuple[int, int, str]]:
    """Spans where a known name or alias (mapped to its name) stands as a word; also inside scripts without spaces."""
    if not candidates:
        return []
    out: list[tuple[int, int, str]] = []
    for alias, name in candidates.items():
        if len(alias) < 2 or alias not in text:
            continue
        pattern = re.escape(alias) if not alias[0].isascii() and _spaceless(alias) else rf"(?<!\w){re.escape(alias)}(?!\w)"
        out += [(*m.span(), name) for m in re.finditer(pattern, text)][:3]
    return out


def _spaceless(text: str) -> bool:
    return any("CJK" in n or "HIRAGANA" in n or "KATAKANA" in n or "THAI" in n for n in (unicodedata.name(c, "") for c in text[:4]))
