"""Taking words out of texts: names and sentences become a mark, and places in a text move along."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TypeVar, cast

from graphmem import names
from graphmem.model import EMPTY, Assertion, Episode, EpisodeKind, EpisodeRecord, Mention, Span
from graphmem.runtime import canonical_json

MARK = "[erased]"
"""What stands in the place of what was erased."""

Stretch = tuple[int, int]
_RECORDS = (EpisodeKind.JSON, EpisodeKind.FACTS)
_IDS = re.compile(r"(?:ep|en|as|op|fact|comm|key)_[a-z2-7]{26}")
_OWN = frozenset(("identities", "graphmem:unread", "instead_of", "unread", "tries"))
_COUNTS = frozenset(("unread", "tries"))
_SPACED = re.compile(r"[A-Za-z0-9\u00aa-\u058f\u0590-\u0dff\u10a0-\u10ff\u1e00-\u1fff]")
_LETTER, _NO_LETTER = r"(?<![^\W_])", r"(?![^\W_])"
T = TypeVar("T", Assertion, Mention)


class Redactor:
    """Finds phrases in texts: whole words, in any case and with any spaces between them, the longest first.

    >>> Redactor(["Mira", "Mira Okafor"]).text("MIRA  Okafor's cat saw a miracle")
    "[erased]'s cat saw a miracle"
    """

    def __init__(self, phrases: Iterable[str]) -> None:
        shown = sorted({names.clean(p) for p in phrases} - {""}, key=lambda p: (-len(p), p))
        self._phrases = tuple(shown)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile("|".join(map(_phrase, self._phrases)), re.IGNORECASE)

    def stretches(self, text: str) -> list[Stretch]:
        """Where the phrases are."""
        return [m.span() for m in self._pattern.finditer(text)] if self._phrases and text else []

    def text(self, text: str) -> str:
        """The text with a mark in the place of each; an id is no text."""
        return self._pattern.sub(MARK, text) if self._phrases and text and not _IDS.fullmatch(text) else text

    def optional(self, text: str | None) -> str | None:
        """As `text`; None for none."""
        return None if text is None else self.text(text)

    def value(self, value: object) -> object:
        """A nested value with every text in it done, keys too, and every number that is a phrase."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return MARK if self.text(str(value)) == MARK else value
        if isinstance(value, Mapping):
            return {k if k in _OWN else self.text(str(k)): v if k in _COUNTS else self.value(v) for k, v in value.items()}
        if isinstance(value, tuple):
            return tuple(self.value(v) for v in value)
        return [self.value(v) for v in value] if isinstance(value, list) else value

    def mapping(self, values: Mapping[str, object]) -> Mapping[str, object]:
        """As `value`."""
        return cast(Mapping[str, object], self.value(values)) if values else EMPTY

    def record(self, record: EpisodeRecord) -> EpisodeRecord:
        """An episode with all that the log keeps of it; places in its text move along."""
        episode = record.episode
        in_json = _in_json(episode.body, self.value) if episode.kind in _RECORDS else None
        body, moves = (
            cut(episode.body, self.stretches(episode.body)) if in_json is None else (in_json, _kept if in_json == episode.body else _lost)
        )
        return EpisodeRecord(
            replace(
                episode,
                body=body,
                actor=self.optional(episode.actor),
                session=self.optional(episode.session),
                source=self.optional(episode.source),
                key=self.text(episode.key),
                attributes=self.mapping(episode.attributes),
            ),
            tuple(replace(_moved(a, moves), text=self.text(a.text), attributes=self.mapping(a.attributes)) for a in record.assertions),
            tuple(replace(_moved(m, moves), name=self.text(m.name), attributes=self.mapping(m.attributes)) for m in record.mentions),
            record.links,
            tuple(self.text(clause) for clause in record.search_text),
        )


def without_sentences(record: EpisodeRecord, gone: Sequence[Assertion]) -> tuple[EpisodeRecord, set[str]]:
    """An episode whose text has a mark where it makes these claims, all of it where they cannot be found in it; and the claims
    that were read from the same words, by id. Mentions read from those words go, unless an end of a claim that stays needs them.
    """
    episode = record.episode
    lost = {a.id for a in gone}
    if episode.kind is EpisodeKind.FACTS and (body := _without_rows(episode, gone)) is not None:
        stretches: list[Stretch] = []
    else:
        stretches = _places(record, gone)
        lost |= {a.id for a in record.assertions if a.span and any(a.span.start < e and s < a.span.end for s, e in stretches)}
        body, _ = cut(episode.body, stretches)
    _, moved = cut(episode.body, stretches)
    said = [names.key(a.text) for a in record.assertions if a.id in lost]
    kept = tuple(a for a in record.assertions if a.id not in lost)
    ends = {end for a in kept for end in (a.source, a.target)}
    speaker = names.key(episode.actor) if episode.actor else None
    mentions = tuple(
        m for m in record.mentions if m.entity in ends or names.key(m.name) == speaker or (m.span is not None and moved(m.span) is not None)
    )
    clauses = () if stretches == [(0, len(episode.body))] else record.search_text
    return EpisodeRecord(
        replace(episode, body=body),
        tuple(_moved(a, moved) for a in kept),
        tuple(_moved(m, moved) for m in mentions),
        record.links,
        tuple(c for c in clauses if not any(s in names.key(c) or names.key(c) in s for s in said if s)),
    ), lost


def cut(text: str, stretches: Sequence[Stretch]) -> tuple[str, Callable[[Span], Span | None]]:
    """The text with a mark for each stretch (touching ones share it), and where a span of it is then; None for one that is gone."""
    joined: list[list[int]] = []
    for start, end in sorted(stretches):
        if joined and start <= joined[-1][1]:
            joined[-1][1] = max(joined[-1][1], end)
        else:
            joined.append([start, end])
    out, before = [], 0
    for start, end in joined:
        out += [text[before:start], MARK]
        before = end
    out.append(text[before:])

    def place(at: int, *, is_end: bool) -> int:
        shift = 0
        for start, end in joined:
            if at >= end:
                shift += len(MARK) - (end - start)
            elif at > start or (at == start and not is_end):
                return start + shift + (len(MARK) if is_end else 0)
        return at + shift

    def moved(span: Span) -> Span | None:
        if any(start <= span.start and span.end <= end for start, end in joined):
            return None
        return Span(place(span.start, is_end=False), place(span.end, is_end=True))

    return "".join(out), moved


def _kept(span: Span) -> Span | None:
    return span


def _lost(span: Span) -> Span | None:
    return None


def _phrase(phrase: str) -> str:
    words = r"\s+".join(map(re.escape, phrase.split()))
    before = _LETTER if _SPACED.match(phrase[0]) else ""
    return f"{before}{words}{_NO_LETTER if _SPACED.match(phrase[-1]) else ''}"


def _moved(item: T, moved: Callable[[Span], Span | None]) -> T:
    return item if item.span is None else replace(item, span=moved(item.span))


def _in_json(body: str, change: Callable[[object], object]) -> str | None:
    """JSON with its values changed; None for text that is none."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    changed = change(value)
    return body if changed == value else canonical_json(changed)


def _without_rows(episode: Episode, gone: Sequence[Assertion]) -> str | None:
    """The rows of facts without those of these claims; None where they are not to be told."""
    rows = json.loads(episode.body)
    if not isinstance(rows, list) or any(a.position >= len(rows) for a in gone):
        return None
    lost = {a.position for a in gone}
    return canonical_json([MARK if n in lost else row for n, row in enumerate(rows)])


def _places(record: EpisodeRecord, gone: Sequence[Assertion]) -> list[Stretch]:
    """Where an episode makes these claims: where each was read, else where its sentence stands, else everywhere."""
    body, found = record.episode.body, list[Stretch]()
    for assertion in gone:
        if assertion.span is not None:
            found.append((assertion.span.start, assertion.span.end))
        elif places := Redactor([assertion.text]).stretches(body):
            found += places
        else:
            return [(0, len(body))]
    return found
