"""Words as text search knows them: the same for what is indexed and for what is asked.

Every script is served: Latin words as English stems without accents, scripts written without spaces as overlapping
pairs of characters, identifiers ("C++", "KV-2210", "mira@acme.org") whole and by their parts, emoji as they are.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

import Stemmer

_STOP = """a an the and or but if then of to in on at for from by with about into over after before as is are was were be been being am
do does did doing done have has had having i you he she it we they me him her us them my your his its our their this that these
those what which who whom whose when where why how not no so than too very can could will would shall should may might must just
there here s t ll ve"""
STOP_WORDS = frozenset(_STOP.split())
# Stop words that are names when capitalised inside a sentence: the month, the man, the country, the department.
_NAMES = frozenset({"May", "Will", "US", "IT"})
_LONGEST = 100

# Written without spaces between words: Thai, Lao, Myanmar, Khmer, kana, Han, Hangul.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)
_MARKS = "".join(c for c in map(chr, range(0x370, 0x3040)) if unicodedata.category(c) in ("Mn", "Mc") and not re.match(f"[{UNSPACED}]", c))
_ACCENTS = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670\u0640\u00ad\u200b-\u200f\ufe00-\ufe0f]"
)
_LETTERS = rf"(?:[^\W_{UNSPACED}]|[{_MARKS}])+"
_WHOLE = re.compile(
    rf"(?P<unspaced>[{UNSPACED}]+)"
    rf"|(?P<word>{_LETTERS}(?:[-_.@&+]{_LETTERS})*[+#]*)"
    "|(?P<emoji>[\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001f3fa\U0001f400-\U0001faff])"
)
_PART = re.compile(_LETTERS)
_CLITIC = re.compile(
    r"\b(?:ca|wo|sha|do|did|does|is|was|are|were|have|has|had|could|would|should|must|might|need)n't\b|(?<=\w)'(?:s|d|ll|m|re|ve)\b",
    re.IGNORECASE,
)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_PLAIN = str.maketrans({"\u2019": "'", "\u02bc": "'", "\u2010": "-", "\u2011": "-"})
_LATIN = re.compile(r"[a-z][a-z0-9]*")
_SENTENCE_END = frozenset(".!?:\n")

_local = threading.local()  # a Stemmer must not be shared between threads


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The English stem of a lower-case word; other scripts come back as they are."""
    if not _LATIN.fullmatch(word):
        return word
    if not hasattr(_local, "stemmer"):
        _local.stemmer = Stemmer.Stemmer("english")
    return str(_local.stemmer.stemWord(word))


def words(text: str) -> list[str]:
    """The words of `text` in order, repeats kept; none holds white space. Never raises; stop words alone give [].

    >>> words("Mira's C++ course in Malmö, see KV-2210")
    ['mira', 'c++', 'c', 'cours', 'malmo', 'see', 'kv-2210', 'kv', '2210']
    >>> words("東京に住む")
    ['東京', '京に', 'に住', '住む']
    """
    plain = _plain(text)
    out: list[str] = []
    for chunk in plain.split():
        found = _in_chunk(chunk) if len(chunk) <= _LONGEST else _in_chunk.__wrapped__(chunk)
        if found is None:
            return _with_names(plain)
        out += found
    return out


@lru_cache(maxsize=1 << 16)
def _in_chunk(chunk: str) -> tuple[str, ...] | None:
    """The words of text without white space, which no word holds; None where what stands before it tells whether one is a name."""
    out: list[str] = []
    for match in _WHOLE.finditer(chunk):
        if match[0] in _NAMES:
            return None
        out.extend(_in_match(match))
    return tuple(out)


def _with_names(plain: str) -> list[str]:
    """The words of a text in which one is spelled as a name."""
    out: list[str] = []
    for match in _WHOLE.finditer(plain):
        if match[0] in _NAMES and _inside_sentence(plain, match.start()):
            out.append(stem(match[0].lower()))
        else:
            out.extend(_in_match(match))
    return out


def _in_match(match: re.Match[str]) -> Iterable[str]:
    token = match[0]
    if match.lastgroup == "unspaced":
        return (token[i : i + 2] for i in range(max(len(token) - 1, 1)))
    return (token,) if match.lastgroup == "emoji" else _parts(token.casefold())


def indexed(text: str) -> str:
    """The words of `text` as one space-separated string, as stores index it."""
    return " ".join(words(text))


def _plain(text: str) -> str:
    """Without accents, clitics, invisible characters; case kept, because names show in it."""
    if text.isascii():
        plain = text
    else:
        plain = _ACCENTS.sub("", unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).translate(_PLAIN)))
        plain = unicodedata.normalize("NFC", plain)
    if "'" in plain:
        plain = _CLITIC.sub(" ", plain)
    return _THOUSANDS.sub("", plain) if "," in plain else plain


@lru_cache(maxsize=1 << 16)
def _parts(token: str) -> tuple[str, ...]:
    """A word's stem; for an identifier, the whole and then the stems of its parts."""
    if token.isalnum():
        return () if token in STOP_WORDS else (stem(token[:_LONGEST]),)
    parts = tuple(stem(p[:_LONGEST]) for p in _PART.findall(token) if p not in STOP_WORDS)
    return parts if parts == (token,) else (token[:_LONGEST], *parts)


def _inside_sentence(text: str, start: int) -> bool:
    before = text[:start].rstrip(" \t\"'([")
    return bool(before) and before[-1] not in _SENTENCE_END
