"""A parsed turn: the document, its people and its dates."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from graphmem.dates import FoundDate, find_dates
from graphmem.interval import DateUnit
from graphmem.llm.offline.people import Cast
from graphmem.llm.offline.turn import Turn

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_ROUND = re.compile(r"[^\W\d]+(?:[ -][^\W\d]+)*?\s*(?:to|through|thru|till?|until|-|–|and)\s*[^\W\d]+(?:[ -][^\W\d]+)*")
_OPEN_BRACKET = re.compile(r"\([^()]*$")
_EVERY = re.compile(r"\b(?:every|each)\s+$", re.IGNORECASE)
_A_CAREER = timedelta(days=40 * 365)
_A_YEAR = timedelta(days=366)
_OR = re.compile(r",? or (?:in |on |by )?(\w+)")
_OTHER_CLAUSE = frozenset(("conj", "ccomp", "advcl", "relcl", "acl", "parataxis", "dep"))


@dataclass(frozen=True, slots=True)
class When:
    """What a clause's date says: a start, an end, or both."""

    start: DateUnit | None = None
    end: DateUnit | None = None
    role: str = ""


class Scene:
    """One turn as the rules see it."""

    def __init__(self, doc: Doc, turn: Turn, before: list[str]) -> None:
        self.doc = doc
        self.text: str = doc.text  # spaCy builds it anew every time
        self.has_quotes = '"' in self.text
        self.has_names = "called " in self.text or "named " in self.text or "titled " in self.text
        self.turn = turn
        self.cast = Cast(turn, before)
        self.dates: list[tuple[FoundDate, list[int]]] = []
        self.dated: set[int] = set()
        self._date_at: dict[int, int] = {}
        for found in find_dates(self.text, turn.reference, turn.zone):
            span = doc.char_span(found.start, found.end, alignment_mode="expand")
            if span is not None and not _EVERY.search(self.text, 0, found.start):
                self.dates.append((found, [t.i for t in span]))
                self.dated.update(t.i for t in span)
                self._date_at.update(dict.fromkeys((t.i for t in span), len(self.dates) - 1))

    @cached_property
    def is_narrative(self) -> bool:
        """Whether a text that nobody says to anybody tells of years past: what it does not date happened then, not now."""
        return self.turn.kind == "text" and any(self.is_long_ago(found.until or found.unit) for found, _ in self.dates)

    def is_long_ago(self, unit: DateUnit) -> bool:
        """Whether a unit of time was over more than a year before the text was told."""
        return self.turn.reference - unit.last > _A_YEAR

    def clause_tokens(self, verb: Token) -> set[int]:
        """Tokens of the verb's own clause: no subordinate or coordinated one."""
        out: set[int] = set()
        stack = [verb]
        while stack:
            token = stack.pop()
            out.add(token.i)
            stack += [c for c in token.children if not (c.dep_ in _OTHER_CLAUSE and c.pos_ in ("VERB", "AUX"))]
        return out

    def dates_of(self, verb: Token) -> list[FoundDate]:
        """The dates of the verb's own clause that are about the verb, not inside its subject."""
        own = self.clause_tokens(verb)
        out = []
        for number in sorted({self._date_at[i] for i in own if i in self._date_at}):
            found, tokens = self.dates[number]
            top = next((self.doc[i] for i in tokens if self.doc[i].head.i not in tokens), self.doc[tokens[0]])
            holder = top.head.head if top.head.dep_ == "prep" else top.head
            if any(a.dep_ == "pcomp" and a.pos_ == "VERB" and verb.is_ancestor(a) for a in top.ancestors):
                continue  # "after studying there from 1953 to 1957, she worked …"
            if holder.dep_ in ("nsubj", "nsubjpass", "poss", "compound") and holder.i not in tokens:
                continue
            out.append(found)
        beside = [found for found in out if _OPEN_BRACKET.search(self.text, 0, found.start)]
        lives = [f for f in beside if f.until is not None and f.until.last - f.unit.first > _A_CAREER]
        # One of several dates in brackets is that of the name before it, and "(1845-1915)" is when somebody lived.
        return [found for found in out if found not in (beside if len(beside) > 1 else lives)]

    def coming(self, found: FoundDate) -> DateUnit:
        """The unit a deadline means: the coming one, but one just past rather than one almost a year ahead."""
        if found.ahead is None:
            return found.unit
        past, ahead = self.turn.reference - found.unit.first, found.ahead.first - self.turn.reference
        return found.unit if past < timedelta(days=45) and ahead > timedelta(days=300) else found.ahead

    def alternative(self, verb: Token) -> DateUnit | None:
        """The later of two coming dates of which it will be one ("in July or August"), or None."""
        for found in self.dates_of(verb):
            other = _OR.match(self.text, found.end)
            said = other[1] if other else ""
            name = found.text.replace("this", "next", 1) if said == "next" else f"in {said}"
            named = find_dates(name, self.turn.reference, self.turn.zone) if said else []
            if named:
                return self.coming(named[0])
        return None

    def is_repeated(self, verb: Token) -> bool:
        """Whether the verb's stretch of days or months comes round every week or year ("Monday to Friday", "mid-May to October")."""
        return any(found.until is not None and _ROUND.fullmatch(found.text) for found in self.dates_of(verb))

    def when(self, verb: Token, *, ahead: bool, perfect: bool = False) -> When:
        """The clause's date in the direction its tense gives; `perfect` makes "for five years" a beginning."""
        for found in self.dates_of(verb):
            unit = self.coming(found) if ahead else found.unit
            if not ahead and unit.first > self.turn.reference:
                continue  # "died three years later": than what was told before, not than now
            if found.until is not None:
                return When(unit, found.until, "range")
            match found.role:
                case "until":
                    return When(None, unit, "until")
                case "for":
                    if perfect:
                        return When(unit, None, "since")
                case "by":
                    return When(None, self.coming(found), "by")
                case role:
                    return When(unit, None, role)
        return When()
