"""Clauses with "be": jobs, relatives, tastes, states, deadlines and what things are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from graphmem.dates import unit_text
from graphmem.llm.offline.claims import ORGANIZATION, PERSON, PLACE, VALUE, Claim, End
from graphmem.llm.offline.clauses import Clause
from graphmem.llm.offline.lexicon import lexicon, words
from graphmem.llm.offline.making import ClaimMaker
from graphmem.llm.offline.people import kin_word

if TYPE_CHECKING:
    from spacy.tokens import Token

_WITH_PREPOSITION = {
    ("allergic", "to"): "ALLERGIC_TO",
    ("passionate", "about"): "INTERESTED_IN",
    ("interested", "in"): "INTERESTED_IN",
    ("responsible", "for"): "RESPONSIBLE_FOR",
    ("afraid", "of"): "FEARS",
    ("scared", "of"): "FEARS",
    ("good", "at"): "GOOD_AT",
    ("married", "to"): "MARRIED_TO",
    ("engaged", "to"): "ENGAGED_TO",
    ("done", "with"): "WORKS_ON",
    ("addicted", "to"): "LIKES",
    ("dependent", "on"): "DEPENDS_ON",
    ("blocked", "on"): "BLOCKED_BY",
    ("blocked", "by"): "BLOCKED_BY",
    ("stuck", "on"): "BLOCKED_BY",
    ("fluent", "in"): "SPEAKS",
}
_OF_NOUN = {
    "fan": "LIKES",
    "lover": "LIKES",
    "member": "MEMBER_OF",
    "part": "MEMBER_OF",
    "resident": "LIVES_IN",
    "citizen": "LIVES_IN",
    "owner": "RESPONSIBLE_FOR",
    "native": "FROM",
}
_TARGETS = {
    "MEMBER_OF": ORGANIZATION,
    "LIVES_IN": PLACE,
    "FROM": PLACE,
    "RESPONSIBLE_FOR": "Thing",
    "MARRIED_TO": PERSON,
    "ENGAGED_TO": PERSON,
    "WORKS_ON": "Project",
}
_LABELS = {"deadline": "DUE", "owner": "OWNED_BY", "status": "STATUS", "version": "VERSION", "name": "NAMED", "due date": "DUE"}


class CopulaReader:
    """Reads clauses whose verb is "be", "become" or "get" with an adjective."""

    def __init__(self, maker: ClaimMaker) -> None:
        self.maker = maker
        self.scene = maker.scene
        self.phrases = maker.phrases
        self.cast = maker.cast

    def claims(self, clause: Clause) -> list[Claim]:
        """What the clause says its subject is, as far as it lasts."""
        about_other = clause.who == "person" and clause.subject.name == self.cast.other
        out: list[Claim | None] = []
        if clause.must:
            return []
        for child in clause.verb.children:
            if child.dep_ == "attr" and child.pos_ in ("NOUN", "PROPN", "NUM"):
                out += self._attribute(clause, child, about_other)
            elif child.dep_ in ("acomp", "oprd") or (child.dep_ == "advmod" and child.lower_ in words("states", "adjectives")):
                out += self._adjective(clause, child, about_other)
            elif child.dep_ == "prep":
                out += self._prepositional(clause, child, about_other)
        if not any(out):
            out += self._goal(clause)
        if not any(out) and clause.who != "person":
            out += self._dated(clause)
        return [c for c in out if c is not None]

    def _attribute(self, clause: Clause, noun: Token, about_other: bool) -> list[Claim | None]:
        lemma = noun.lemma_.lower()
        owner = next((c for c in noun.children if c.dep_ == "poss"), None)
        kin = kin_word(noun)
        if clause.who == "person":
            if kin is not None and owner is not None:
                name = self.cast.owner(owner)
                relation = lexicon().kin[kin]
                self.cast.mention(clause.subject.name, lexicon().gender.get(kin))
                return [self.maker.claim(clause, relation, clause.subject, source=End(name, PERSON))] if name else []
            if about_other:
                return []
            if lemma in _OF_NOUN:
                relation = _OF_NOUN[lemma]
                return [
                    self.maker.claim(clause, relation, e)
                    for t in _objects(noun, ("of", "in"))
                    for e in self.phrases.ends(t, _TARGETS.get(relation, "Topic"))
                ]
            if (
                lemma in words("people", "jobs")
                and (text := self.phrases.noun_phrase(noun))
                and not any(t.lower_ in ("great", "good", "real", "amazing", "such") for t in noun.children)
            ):
                return [self.maker.claim(clause, "WORKS_AS", End(text, "Role", span=self.phrases.span(noun, text)))]
            return []
        return self._label(clause, noun)

    def _label(self, clause: Clause, noun: Token) -> list[Claim | None]:
        """ "The deadline is Friday", "my favorite book is X", "the owner of billing is Tom"."""
        subject = next((c for c in clause.top.children if c.dep_ == "nsubj"), None)
        if subject is None:
            return []
        owner = next((c for c in subject.children if c.dep_ == "poss"), None)
        person = self.cast.owner(owner) if owner is not None else None
        if person and any(c.lower_ in ("favorite", "favourite", "fave", "fav") for c in subject.children):
            source = End(person, PERSON)
            return [
                self.maker.claim(clause, f"FAVORITE_{subject.lemma_.upper()}", e, source=source) for e in self.phrases.ends(noun, "Topic")
            ]
        mine = next((self.cast.owner(c) for c in noun.children if c.dep_ == "poss"), None)
        if mine and mine != self.cast.other and noun.lemma_.lower() in words("states", "loves") and not clause.negated and not clause.past:
            return [self.maker.claim(clause, "LIKES", e, source=End(mine, PERSON)) for e in self.phrases.ends(subject, "Topic")]
        kin = kin_word(subject)
        if kin and person and noun.pos_ == "PROPN":
            return [self.maker.claim(clause, lexicon().kin[kin], e, source=End(person, PERSON)) for e in self.phrases.ends(noun, PERSON)]
        lemma = subject.lemma_.lower()
        if noun.i in self.scene.dated:
            return self._dated(clause)
        if lemma in words("states", "labels") and (text := self.phrases.noun_phrase(noun)) and self.phrases.is_telling(noun):
            relation = _LABELS.get(lemma, "VALUE")
            holder = next((e for t in _objects(subject, ("of", "for")) if (e := self.phrases.end(t, "Thing"))), None)
            if holder is not None or relation == "VALUE":
                kind = PERSON if relation == "OWNED_BY" else VALUE
                return [self.maker.claim(clause, relation, End(text, kind, span=self.phrases.span(noun, text)), source=holder)]
        return []

    def _goal(self, clause: Clause) -> list[Claim | None]:
        """ "My goal is to open a studio": a plan."""
        subject = next((c for c in clause.top.children if c.dep_ == "nsubj"), None)
        if subject is None or subject.lemma_.lower() not in ("goal", "plan", "dream", "aim", "ambition") or clause.past or clause.negated:
            return []
        owner = next((self.cast.owner(c) for c in subject.children if c.dep_ == "poss"), None)
        verb = next((c for c in clause.top.children if c.dep_ in ("xcomp", "ccomp", "advcl") and c.tag_ == "VB"), None)
        text = self.phrases.verb_phrase(verb) if verb is not None else None
        if owner is None or owner == self.cast.other or text is None or (verb is not None and verb.lemma_ in words("verbs", "hollow")):
            return []
        return [self.maker.claim(clause, "PLANS", End(text, VALUE), source=End(owner, PERSON))]

    def _dated(self, clause: Clause) -> list[Claim | None]:
        """ "The launch is on Friday", "the deadline for the report is 14 May"."""
        found = self.scene.dates_of(clause.top)
        if not found or clause.past or clause.perfect:
            return []
        subject = next((c for c in clause.top.children if c.dep_ == "nsubj"), None)
        if subject is None:
            return []
        lemma = subject.lemma_.lower()
        deadline = lemma in ("deadline", "date") or any(t.lower_ == "due" for t in clause.verb.children)
        if (
            not deadline
            and lemma not in words("people", "events") | words("states", "scheduled")
            and not any(c.dep_ == "compound" and c.lower_ in words("states", "scheduled") for c in subject.children)
        ):
            return []
        holder = (
            next((e for t in _objects(subject, ("of", "for")) if (e := self.phrases.end(t, "Thing"))), None)
            if lemma in ("deadline", "date")
            else None
        )
        unit = self.scene.coming(found[0])
        return [date_claim(self.maker, clause, "DUE" if deadline else "SCHEDULED_FOR", unit_text(unit, self.scene.turn.zone), holder)]

    def _adjective(self, clause: Clause, adjective: Token, about_other: bool) -> list[Claim | None]:
        lemma = adjective.lemma_.lower()
        if lemma == "due" and clause.who != "person":
            return self._dated(clause)
        for prep in adjective.children:
            relation = _WITH_PREPOSITION.get((lemma, prep.lower_)) if prep.dep_ == "prep" else None
            if relation is None:
                relation = _WITH_PREPOSITION.get((adjective.lower_, prep.lower_)) if prep.dep_ == "prep" else None
            if relation and not about_other:
                kind = "ends" if lemma == "done" else None
                return [
                    self.maker.claim(clause, relation, e, kind=kind)
                    for t in prep.children
                    if t.dep_ == "pobj"
                    for e in self.phrases.ends(t, _TARGETS.get(relation, "Topic"))
                ]
        if lemma in ("important", "special", "precious", "therapeutic", "calming") and any(
            p.dep_ == "prep" and p.lower_ in ("to", "for") and any(t.lower_ == "me" for t in p.children)
            for p in (*adjective.children, *clause.verb.children)
        ):
            subject = next((c for c in clause.top.children if c.dep_ == "nsubj" and c.pos_ != "PRON"), None)
            if (
                subject is None
                or self.cast.actor is None
                or clause.who == "person"
                or clause.past
                or any(t.lower_ == "your" for t in subject.subtree)
            ):
                return []
            speaker = End(self.cast.actor, PERSON)
            return [self.maker.claim(clause, "VALUES", e, source=speaker) for e in self.phrases.ends(subject, "Topic")]
        if clause.who == "person":
            if about_other or lemma not in words("people", "states") or clause.negated:
                return []
            state = self.maker.claim(clause, "STATUS", End(adjective.lower_, VALUE))
            if state is not None and clause.past and clause.lemma == "be" and adjective.lower_ not in ("married", "engaged"):
                return [replace(state, end=state.end or state.start)] if state.start is not None else []
            return [state]
        if adjective.lower_ in words("states", "adjectives") and not words("verbs", "once") & clause.adverbs:
            status = End(("not " if clause.negated else "") + adjective.lower_, VALUE)
            clause.negated = False
            return [self.maker.claim(clause, "STATUS", status)]
        return []

    def _prepositional(self, clause: Clause, prep: Token, about_other: bool) -> list[Claim | None]:
        out: list[Claim | None] = []
        word = prep.lower_
        for token in prep.children:
            if token.dep_ != "pobj":
                continue
            lemma = token.lemma_.lower()
            if token.i in self.scene.dated:
                if clause.who != "person" and word in ("on", "by", "in", "due"):
                    out += self._dated(clause)
            elif clause.who == "person":
                out += self._person_in(clause, word, token, about_other)
            elif word in ("at", "in") and any(t.like_num for t in token.subtree) and token.ent_type_ not in ("DATE", "TIME"):
                out += [self.maker.claim(clause, "VALUE", e) for e in self.phrases.ends(token, VALUE)]
            elif word in ("in", "on") and lemma in words("states", "located_in") and not clause.past:
                out += [self.maker.claim(clause, "LOCATED_IN", e) for e in self.phrases.ends(token, "Thing")]
            elif word in ("in", "under") and lemma in words("states", "stages") and (name := self.phrases.noun_phrase(token)):
                out.append(self.maker.claim(clause, "STATUS", End(f"{word} {name}", VALUE)))
        return out

    def _person_in(self, clause: Clause, word: str, token: Token, about_other: bool) -> list[Claim | None]:
        lemma = token.lemma_.lower()
        if word == "from" and token.pos_ == "PROPN":
            return [self.maker.claim(clause, "FROM", e) for e in self.phrases.ends(token, PLACE)]
        if word in ("in", "at") and token.ent_type_ in ("GPE", "LOC", "FAC"):
            relation = "VISITED" if clause.past or clause.perfect else "LOCATED_IN"
            return [self.maker.claim(clause, relation, e) for e in self.phrases.ends(token, PLACE)]
        if about_other:
            return []
        if word == "on" and lemma in words("states", "absences") and not clause.past and not clause.negated:
            return [self.maker.claim(clause, "STATUS", End(f"on {token.lower_}", VALUE))]
        if word == "in" and lemma in words("people", "groups") and token.pos_ == "NOUN":
            return [self.maker.claim(clause, "MEMBER_OF", e) for e in self.phrases.ends(token, ORGANIZATION)]
        if word == "into":
            return [self.maker.claim(clause, "LIKES", e) for e in self.phrases.ends(token, "Topic")]
        if word == "to" and clause.perfect and token.pos_ == "PROPN":
            return [self.maker.claim(clause, "VISITED", e) for e in self.phrases.ends(token, PLACE)]
        return []


def date_claim(maker: ClaimMaker, clause: Clause, relation: str, value: str, source: End | None = None) -> Claim:
    """A date as the value of a fact: the date says what, not since when."""
    kind = "denies" if clause.negated else "holds"
    return Claim(source or clause.subject, relation, End(value, VALUE), maker.sentence(clause), maker.span(clause), kind)


def _objects(noun: Token, prepositions: tuple[str, ...]) -> list[Token]:
    return [t for p in noun.children if p.dep_ == "prep" and p.lower_ in prepositions for t in p.children if t.dep_ == "pobj"]
