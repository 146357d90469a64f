"""Who is meant: the speaker, the one addressed, people named before, and relatives without a name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from graphmem import names
from graphmem.llm.offline.claims import PERSON
from graphmem.llm.offline.lexicon import lexicon, words
from graphmem.llm.offline.turn import Turn

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

THIRD = re.compile(r"\b(?:he|him|his|she|her|hers)\b", re.IGNORECASE)
PLURAL = "p"
"""What stands for a gender with several people at once: only "they" means them."""
_NAME_LIKE = re.compile(r"^[^\W\d_][\w'’.-]*(?: [^\W\d_][\w'’.-]*){0,3}$")


def named_people(entities: Iterable[Span]) -> list[str]:
    """People that the parser's entities name, in order, without what is plainly none."""
    found = []
    for entity in entities:
        text = entity.text.removesuffix("'s").strip()
        if (
            entity.label_ == "PERSON"
            and text[:1].isupper()
            and entity.root.pos_ == "PROPN"
            and _NAME_LIKE.match(text)
            and not text.isupper()
        ):
            found.append(text)
    return found


def earlier_people(doc: Doc) -> list[str]:
    """Whom an earlier message names; also capitalised names that do something, as the recogniser misses many first names."""
    found = named_people(doc.ents)
    for token in doc:
        if (
            token.pos_ == "PROPN"
            and token.dep_ == "nsubj"
            and token.text.istitle()
            and token.ent_type_ in ("", "PERSON", "ORG")
            and token.head.pos_ == "VERB"
        ):
            found += [token.text] if token.text not in found else []
    return found


class Cast:
    """The people of one turn; grows as the text is read, so that a pronoun means the last one who fits."""

    def __init__(self, turn: Turn, before: list[str]) -> None:
        self.actor = turn.actor
        self.other = turn.other
        self.aliases: dict[str, str] = {}
        self._genders: dict[str, str | None] = {}
        self._order: list[str] = []
        self.types = {names.key(n): k.type for k in turn.known for n in (k.name, *k.aliases)}
        self._people = {names.key(p): p for p in turn.participants}
        for known in turn.known:
            if known.type == PERSON:
                for name in (known.name, *known.aliases):
                    self._people.setdefault(names.key(name), known.name)
        self._first = _first_names(self._people)
        self._certain = {*self._people, *self._first}
        for name in before:
            self.mention(name)

    def mention(self, name: str, gender: str | None = None) -> None:
        """Somebody is named (again)."""
        if self.types.get(names.key(name), PERSON) not in (PERSON, "Thing", "Entity"):
            return
        name = self.person(name) or name
        if name in self._order:
            self._order.remove(name)
        self._order.append(name)
        self._genders[name] = gender or self._genders.get(name)
        self._people.setdefault(names.key(name), name)

    def person(self, name: str) -> str | None:
        """The full name of a person known here under `name`, or None."""
        found = self._people.get(names.key(name))
        return found if found is not None or not name[:1].isupper() else self._first.get(names.key(name))

    def is_certain(self, name: str) -> bool:
        """Whether a name is that of a participant or of a person known before, not just of somebody the recogniser suspects."""
        return names.key(name) in self._certain

    def meant(self, token: Token) -> str | None:
        """Who a pronoun means, or None."""
        word = token.lower_
        if word in words("pronouns", "first") or word in words("pronouns", "plural"):
            return self.actor
        if word in words("pronouns", "second"):
            return self.other
        for gender, name in (("f", "she"), ("m", "he"), (PLURAL, "they")):
            if word in words("pronouns", name):
                return self._last(gender)
        return None

    def _last(self, gender: str) -> str | None:
        for name in reversed(self._order):
            shown = self._genders.get(name)
            if name not in (self.actor, self.other) and (shown == gender or (shown is None and gender != PLURAL)):
                self._genders[name] = gender
                return name
        return None

    def owner(self, token: Token) -> str | None:
        """Who a possessive ("my", "Tom's", "his") belongs to, or None."""
        if token.pos_ == "PRON" or token.lower_ in ("my", "your", "his", "her", "our"):
            return self.meant(token)
        name = token.text
        compounds = [c.text for c in token.lefts if c.dep_ == "compound" and c.pos_ == "PROPN"]
        full = " ".join([*compounds, name])
        return self.person(full) or self.person(name) or (full if token.ent_type_ == "PERSON" else None)


def _first_names(people: dict[str, str]) -> dict[str, str]:
    """Full names by first name, where only one has it."""
    bearers: dict[str, set[str]] = {}
    for full in set(people.values()):
        first, *more = full.split()
        if more:
            bearers.setdefault(names.key(first), set()).add(full)
    return {first: next(iter(full)) for first, full in bearers.items() if len(full) == 1}


def kin_word(token: Token) -> str | None:
    """The lemma of a word that says what somebody is to somebody, or None."""
    lemma = token.lemma_.lower()
    if lemma == "pig" and token.i and token.doc[token.i - 1].lower_ == "guinea":
        return "guinea"
    found = lemma if lemma in lexicon().kin else token.lower_ if token.lower_ in lexicon().kin else None
    if found is not None and lexicon().kin[found] == "HAS_PET" and any(t.lower_ in words("people", "toys") for t in token.lefts):
        return None  # "my stuffed dog"
    return found
