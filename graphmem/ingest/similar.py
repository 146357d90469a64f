"""When two names are one name misspelt, one name shortened, or only look alike."""

from __future__ import annotations

import re
import unicodedata
from enum import IntEnum
from functools import lru_cache

from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from graphmem import names
from graphmem.ingest.kinds import family, is_person

_LEGAL_FORMS = "inc incorporated ltd limited llc gmbh corp corporation co company plc sa ag bv srl oy ab kk"
_LEGAL = frozenset(_LEGAL_FORMS.split())
_GENERATIONS = frozenset(("sr", "jr", "snr", "jnr", "senior", "junior", "ii", "iii", "iv"))
_NO_LETTER = re.compile(r"[\W_]+")
_LONG_NAME = 12
_LONG_WORD = 7
_ASK_RATIO = 82.0


class Likeness(IntEnum):
    """How alike two names are."""

    DIFFERENT = 0
    WORTH_ASKING = 1
    SAME = 2


def likeness(one: str, one_type: str, other: str, other_type: str) -> Likeness:
    """How alike two names of compatible types are, by their spelling alone.

    Same: they differ in spaces and hyphens only, in a company's legal form that one leaves out, or in one letter of a long
    word of a long name that is no person's. Names with other numbers, symbols or generations (Sr., Jr.) are different.

    >>> likeness("Halvik Rowing Association", "Org", "Halvik Rowing Asociation", "Org").name
    'SAME'
    >>> likeness("Steering Committee 2023", "Org", "Steering Committee 2024", "Org").name
    'DIFFERENT'
    """
    ours, theirs = names.key(one), names.key(other)
    if ours == theirs:
        return Likeness.SAME
    our_words, their_words = spelled_words(ours), spelled_words(theirs)
    if names.numbers(ours) != names.numbers(theirs) or symbols(ours) != symbols(theirs):
        return Likeness.DIFFERENT
    if set(our_words) & _GENERATIONS != set(their_words) & _GENERATIONS:
        return Likeness.DIFFERENT
    if "".join(our_words) == "".join(their_words) and len(ours) >= _LONG_WORD:
        return Likeness.SAME
    if _one_legal_form(our_words, their_words) and "person" not in (family(one_type), family(other_type)):
        return Likeness.SAME
    if is_person(one_type) and is_person(other_type):
        return Likeness.WORTH_ASKING if _may_be_short_for(our_words, their_words) or _close(ours, theirs) else Likeness.DIFFERENT
    if min(len(ours), len(theirs)) >= _LONG_NAME and _one_letter_off(our_words, their_words):
        return Likeness.SAME
    contained = set(our_words) < set(their_words) or set(their_words) < set(our_words)
    return Likeness.WORTH_ASKING if contained or _close(ours, theirs) else Likeness.DIFFERENT


def first_word(name: str) -> str:
    """The key of a name's first word."""
    return next(iter(spelled_words(names.key(name))), "")


def is_one_word(name: str) -> bool:
    """Whether a name is a single word, as a bare first name is."""
    return len(spelled_words(names.key(name))) == 1


def may_be_nickname(one: str, other: str) -> bool:
    """Whether one name's first word begins the other's: "Bea" for "Beatriz Nogueira"."""
    short, long = sorted((first_word(one), first_word(other)), key=len)
    return len(short) >= 3 and long.startswith(short)


def alike(one: str, other: str) -> bool:
    """Whether two names may be of one thing: nearly the same, one a part of the other, or a nickname."""
    return likeness(one, "Thing", other, "Thing") is not Likeness.DIFFERENT or may_be_nickname(one, other)


@lru_cache(maxsize=16384)
def spelled_words(key: str) -> tuple[str, ...]:
    """The words of a name's key, without points and other signs."""
    key = key.replace(".", "")
    if key.isascii():
        return tuple(_NO_LETTER.sub(" ", key).split())
    return tuple("".join(c if c.isalnum() or unicodedata.category(c).startswith("M") else " " for c in key).split())


def symbols(key: str) -> list[str]:
    """The signs that make two names different ones, as in "C++" and "C#", sorted."""
    return sorted(c for c in key if unicodedata.category(c)[0] == "S" or c in "#/&@%*")


def _close(ours: str, theirs: str) -> bool:
    return min(len(ours), len(theirs)) >= 5 and fuzz.ratio(ours, theirs) >= _ASK_RATIO


def _one_legal_form(ours: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    """Whether one name is the other and a legal form ("Acme", "Acme Ltd.")."""
    short, long = sorted((ours, theirs), key=len)
    return len(short) < len(long) and bool(short) and long[: len(short)] == short and set(long[len(short) :]) <= _LEGAL


def _one_letter_off(ours: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    if len(ours) != len(theirs):
        return False
    differing = [(a, b) for a, b in zip(ours, theirs, strict=True) if a != b]
    if len(differing) != 1:
        return False
    a, b = differing[0]
    return min(len(a), len(b)) >= _LONG_WORD and a[0] == b[0] and not (a.isdigit() or b.isdigit()) and Levenshtein.distance(a, b) == 1


def _may_be_short_for(ours: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    """Whether one person's name may stand for the other: "M. Tallis" or "Mira" for "Mira Tallis"."""
    short, long = sorted((ours, theirs), key=len)
    if not short or short == long:
        return False
    if set(short) <= set(long):
        return True
    return len(short) == len(long) and all(
        a == b or ((len(a) == 1 or len(b) == 1) and a[0] == b[0]) for a, b in zip(short, long, strict=True)
    )
