"""Preparing text for the parser: contractions spelled out, greetings and forms of address removed, positions kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from graphmem.llm.offline.lexicon import lexicon, words


class Mapped:
    """A text under change that knows, for each of its characters, where it came from."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._origin: list[int] | None = None

    def replace(self, pattern: re.Pattern[str], by: str | Callable[[re.Match[str]], str]) -> None:
        """Like `pattern.sub(by, text)`; what is put in counts as the first character it replaces."""
        matches = list(pattern.finditer(self.text))
        if not matches:
            return
        origin = self._origin if self._origin is not None else list(range(len(self.text)))
        parts: list[str] = []
        moved: list[int] = []
        last = 0
        for match in matches:
            put = match.expand(by) if isinstance(by, str) else by(match)
            parts += [self.text[last : match.start()], put]
            moved += origin[last : match.start()]
            moved += [origin[match.start()] if match.start() < len(origin) else len(origin)] * len(put)
            last = match.end()
        parts.append(self.text[last:])
        moved += origin[last:]
        self.text, self._origin = "".join(parts), moved

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Characters of the original text behind `[start, end)` of this one."""
        if self._origin is None:
            return start, end
        if not self._origin or end <= start:
            return 0, 0
        first, last = self._origin[min(start, len(self._origin) - 1)], self._origin[min(end, len(self._origin)) - 1]
        return first, max(first, last) + 1


# Most texts lack what most of these look for: the first part is what every match contains, or nothing.
_SPELLED = tuple(
    (needle, re.compile(pattern), by)
    for needle, pattern, by in (
        ("", "[\ud800-\udfff\x00-\x08\x0b-\x1f\x7f\u200b-\u200f\u2060\ufeff]", " "),
        ("", "[\u2028\u2029\x85]", "\n"),
        ("", "’", "'"),
        ("", "[“”]", '"'),
        ("", "[\U0001f000-\U0001faff\u2600-\u27bf\ufe0f]+", ""),
        ("", r"\b([Ii])'?m\b(?! not sure)", r"\1 am"),
        ("'re", r"\b([Ww]e|[Yy]ou|[Tt]hey)'re\b", r"\1 are"),
        ("'ve", r"\b(I|[Ww]e|[Yy]ou|[Tt]hey)'ve\b", r"\1 have"),
        ("'d", r"\b(I|[Ww]e|[Yy]ou|[Tt]hey|[Hh]e|[Ss]he)'d (?=(?:been|had)\b)", r"\1 had "),
        ("'d", r"\b(I|[Ww]e|[Yy]ou|[Tt]hey|[Hh]e|[Ss]he)'d\b", r"\1 would"),
        ("'ll", r"\b(I|[Ww]e|[Yy]ou|[Tt]hey|[Ii]t|[Hh]e|[Ss]he|[Tt]hat)'ll\b", r"\1 will"),
        ("'s", r"\b([Ii]t|[Hh]e|[Ss]he|[Tt]hat)'s (?=(?:been|got)\b)", r"\1 has "),
        ("'s", r"\b([Ii]t|[Hh]e|[Ss]he|[Tt]hat|[Tt]here|[Ww]hat|[Ww]ho)'s\b", r"\1 is"),
        ("onna", r"\b[Gg]onna\b", "going to"),
        ("otta", r"\b[Gg]otta\b", "have to"),
        ("anna", r"\b[Ww]anna\b", "want to"),
        ("", r"\b[Cc]an't\b|\b[Cc]annot\b", "can not"),
        ("on't", r"\b[Ww]on't\b", "will not"),
        ("n't", r"(?<=[a-z])n't\b", " not"),
        ("", r"\[[^\]\[\n]{1,300}\](?!\()", ""),
        ("w/ ", r"\bw/ ", "with "),
        ("", r" & ", " and "),
        ("", r"(?<=\w) (?:-|–|—) (?=\w)", ", "),
        ("", r"—", ", "),
        ("", r"(?m)^\s*(?:[-*•]|\d+[.)])\s+", ""),
        ("```", r"(?s)```.*?(?:```|\Z)", " "),
        ("", r"\*\*|__|`", ""),
        ("*", r"(?<!\S)\*(?=\S)|(?<=\S)\*(?=[\s.,;:!?)]|$)", ""),
        ("", r"(?i)(?<=\d),? (?:and )?not (?:on |in |at |by )?(?:the )?\d[\w ]{0,20}(?=[.!]|$)", ""),
        ("", r"(?i)(?<=[a-z]),? (?:and )?not (?:on |in |at |by )?(?:the )?\d[\w ]{0,20}(?=[.!]|$)", ""),
        ("", r"(?m)^\s{0,3}#{1,6}\s+", ""),
    )
)


def _any(items: Iterable[str]) -> str:
    return "|".join(re.escape(i) for i in sorted(items, key=len, reverse=True))


@lru_cache(maxsize=256)
def _opening(people: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Patterns of what stands before the sentence proper, and of a name called at its end."""
    called = _any({n for p in people for n in (p, p.split()[0])}) or "(?!)"
    chat = f"(?:{'|'.join(re.escape(p) for p in lexicon().phrases)}|{_any(words('chat', 'openers'))})"
    start = r"(?:(?<=[.!?…\n] )|(?<=[.!?…\n])|^)\s*"
    opener = rf"{chat}(?:(?:,? (?:so much|a lot|everyone|all|guys|team|folks|there))?,? (?:{called}))?\s*(?:[,!.:;]+|$)"
    vocative = rf"(?:{chat} )?@?(?:(?-i:{called}))\s*(?:[,!]+|:(?=\s))"
    leads = rf"(?:{_any(words('chat', 'leads'))})\b,?(?= \w)"
    before = re.compile(rf"{start}(?:(?:{opener}|{vocative})\s*)+(?:{leads}\s*)?|{start}{leads}\s*", re.IGNORECASE)
    after = re.compile(rf",\s*(?:{called})(?=\s*(?:[.!?]|$|\n))")
    return before, after


def cleaned(text: str, people: Iterable[str] = (), *, spoken: bool = False) -> Mapped:
    """`text` as the parser should see it, with positions; `spoken` puts in the "I" that messages leave out."""
    out = Mapped(text)
    for needle, pattern, by in _SPELLED:
        if needle in out.text:
            out.replace(pattern, by)
    before, after = _opening(tuple(sorted(set(people))))
    out.replace(after, "")
    out.replace(before, lambda m: " " if m.start() else "")
    out.replace(_FILLER, lambda m: " " if m.start() else "")
    out.replace(_LOWER_START, lambda m: m[0].upper())
    if spoken:
        for pattern, by in _LEFT_OUT:
            out.replace(pattern, by)
    out.replace(_BARE_END, _closed)
    return out


def _closed(match: re.Match[str]) -> str:
    """A full stop at the end of a line that is not merely wrapped."""
    text, at = match.string, match.end()
    rest = text[at : at + 80].lstrip(" \t")
    wrapped = rest.startswith("\n") and len(rest) > 1 and (rest[1].islower() or (at - text.rfind("\n", 0, at) > 60 and rest[1].isalnum()))
    return match[1] if wrapped else match[1] + "."


_FILLER = re.compile(
    r"(?:(?<=[.!?…] )|(?<=\n)|^)(?:"
    r"(?:(?:some|a|quick|small|little|big|good|bad|great|exciting|personal|happy|sad|minor|another|one|other|more)\s+){0,3}"
    r"(?:news|update|announcement|heads[- ]up|housekeeping|reminder|fyi|note|psa|confession|correction|change of plan)\b"
    r"[^.:!?,\n]{0,40}[:,.!]"
    r"|(?:for|to)\s+(?:whoever|anyone|those|everyone|everybody)\b[^.:!?,\n]{0,60}[:,]"
    r"|(?:whoever|anyone who|those who)\b[^.:!?,\n]{0,60}:)\s+",
    re.IGNORECASE,
)
_START = r"(?:(?<=[.!?…] )|(?<=\n)|^)"
_NOT_SUBJECT = r"(?![^.!?\n]*\b(?:is|was|are|were|has|can|could|will|would|feels?|helps?|makes?|means|takes?|made|gave|really)\b)"
_LEFT_OUT = (
    (re.compile(rf"{_START}(?:Just )?[Bb]een (?:busy )?(?=[a-z]+ing\b)", re.IGNORECASE), "I have been "),
    (re.compile(rf"{_START}Been (?=[a-z])", re.IGNORECASE), "I have been "),
    (re.compile(r"\b(have|has|I am) been busy (?=[a-z]+ing\b)"), r"\1 been "),
    (
        re.compile(
            rf"{_START}(?=(?:(?:currently|still|also) )?(?:looking for|looking into|working on|researching|planning|thinking (?:of|about)|"
            rf"hoping to|reading|learning|training for|preparing for|saving)\b{_NOT_SUBJECT})",
            re.IGNORECASE,
        ),
        "I am ",
    ),
)
_LOWER_START = re.compile(r"(?:(?<=[.!?…] )|(?<=\n)|^)\s*[a-z](?=[a-z]*[ '])")
_BARE_END = re.compile(r"([\w)\]'\"%])(?=[ \t]*(?:\n|$))")
