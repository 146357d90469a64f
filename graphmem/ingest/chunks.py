"""Cutting a long text into pieces that a model can read, without losing or splitting a character."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from itertools import pairwise

_SENTENCE_END = re.compile(r"(?:[.!?][\"'”’)\]]*\s+|[。！？।؟]+[」』”]*\s*|\n\s*\n)")
_SPACE = re.compile(r"\s+")
_WORD_STEP = 200
_LONG_SENTENCE = 1_000
_JOINERS = frozenset("\u200d\ufe0e\ufe0f\u20e3")


def chunks(text: str, max_tokens: int, count_tokens: Callable[[str], int]) -> list[tuple[int, str]]:
    """The text as (offset, piece), in order; the pieces joined are the text. Cuts fall on sentence ends, else on spaces,
    else between characters, never inside one that is made of several code points.

    >>> chunks("One fish. Two fish.", 4, lambda text: len(text.split()) * 2)
    [(0, 'One fish. '), (10, 'Two fish.')]
    """
    if text and count_tokens(text) <= max_tokens:
        return [(0, text)]
    out: list[tuple[int, str]] = []
    start, size, end = 0, 0, 0
    for piece in _parts(text, max_tokens, count_tokens):
        tokens = count_tokens(piece)
        if size + tokens > max_tokens and end > start:
            out.append((start, text[start:end]))
            start, size = end, 0
        size += tokens
        end += len(piece)
    if end > start:
        out.append((start, text[start:end]))
    return out


def halved(text: str) -> tuple[str, str] | None:
    """The text in two, cut at the sentence end nearest to its middle, in a long text without one at the nearest space; None
    for a sentence, which is not worth cutting.

    >>> halved("One fish. Two fish. Red fish."), halved("One fish.")
    (('One fish. ', 'Two fish. Red fish.'), None)
    """
    for boundary in (_SENTENCE_END, _SPACE) if len(text) > _LONG_SENTENCE else (_SENTENCE_END,):
        cuts = [m.end() for m in boundary.finditer(text) if text[: m.end()].strip() and text[m.end() :].strip() and _may_cut(text, m.end())]
        if cuts:
            at = min(cuts, key=lambda cut: abs(cut - len(text) / 2))
            return text[:at], text[at:]
    return None


def _parts(text: str, max_tokens: int, count_tokens: Callable[[str], int]) -> Iterator[str]:
    """Sentences; of one over the budget, its words; of a word over the budget, stretches of characters."""
    for sentence in _split(text, _SENTENCE_END):
        if count_tokens(sentence) <= max_tokens:
            yield sentence
            continue
        for word in _split(sentence, _SPACE):
            if count_tokens(word) <= max_tokens:
                yield word
            else:
                yield from _stretches(word, max_tokens, count_tokens)


def _split(text: str, boundary: re.Pattern[str]) -> Iterator[str]:
    ends = [0, *(m.end() for m in boundary.finditer(text) if _may_cut(text, m.end())), len(text)]
    for start, end in pairwise(ends):
        if end > start:
            yield text[start:end]


def _stretches(word: str, max_tokens: int, count_tokens: Callable[[str], int]) -> Iterator[str]:
    step = _WORD_STEP
    while step > 1 and any(count_tokens(word[at : at + step]) > max_tokens for at in range(0, len(word), step)):
        step //= 2
    start = 0
    while start < len(word):
        end = min(start + step, len(word))
        while end < len(word) and not _may_cut(word, end):
            end += 1
        yield word[start:end]
        start = end


def _may_cut(text: str, at: int) -> bool:
    """Whether a character ends before `at`: what follows does not combine with what stands before."""
    if at <= 0 or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff":
        return False
    return not (
        before == "\u200d" or after in _JOINERS or "\U0001f3fb" <= after <= "\U0001f3ff" or unicodedata.category(after).startswith("M")
    )
