"""What people did or do and what things do, told by verbs that the map has no relation for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from graphmem.llm.offline.claims import VALUE, Claim, End
from graphmem.llm.offline.clauses import Clause
from graphmem.llm.offline.lexicon import words
from graphmem.llm.offline.making import ClaimMaker

if TYPE_CHECKING:
    from spacy.tokens import Token


def deed_claims(clause: Clause, maker: ClaimMaker) -> list[Claim]:
    """A deed or habit of a person, or the behaviour of a thing, as a phrase: "failed the aptitude test", "offers mentoring"."""
    if clause.negated or clause.affect or clause.kind != "holds" or clause.planned or clause.gap:
        return []
    if clause.who == "person":
        return _of_person(clause, maker)
    return _of_thing(clause, maker)


def _of_person(clause: Clause, maker: ClaimMaker) -> list[Claim]:
    if clause.subject.name == maker.cast.other or (clause.lemma in words("verbs", "hollow") and clause.key != "help out"):
        return []
    verb = clause.verb
    if clause.top.tag_ == "VB" or (clause.top.dep_ in ("conj", "ccomp", "advcl") and _is_infinitive(clause.top)):
        return []
    if clause.passive:
        if clause.lemma not in words("verbs", "befall") or not clause.past:
            return []
    elif not _is_concrete(clause, maker):
        return []
    habit = clause.top.tag_ in ("VBP", "VBZ") and not clause.perfect and not clause.progressive
    if habit and not clause.objects:
        return []
    text = maker.phrases.verb_phrase(verb)
    if text is None or " " not in text:
        return []
    done = clause.past and not (clause.perfect and verb.tag_ == "VBG")
    return _one(maker.claim(clause, "DID" if done else "DOES", End(_plain(text, verb, keep=done), VALUE)))


def _is_infinitive(verb: Token) -> bool:
    """Whether the verb goes on from an infinitive or says what ought to be ("to relax and improve", "it's important we support")."""
    head = verb.head
    if verb.dep_ == "conj":
        return head.tag_ == "VB" or any(c.dep_ == "aux" and c.lower_ == "to" for c in head.children)
    return verb.tag_ == "VBP" and any(c.dep_ == "acomp" for c in head.children)


def _is_concrete(clause: Clause, maker: ClaimMaker) -> bool:
    """Whether what is done has an object, or a place, that says something of its own."""
    direct = clause.direct
    if direct is not None:
        lemma = direct.lemma_.lower()
        if lemma in words("phrases", "plain") or not maker.phrases.is_telling(direct):
            return False
        if clause.lemma == "get" or (clause.lemma == "find" and not _is_modified(direct)):
            return lemma in words("people", "gains")
        return _is_modified(direct) or not (clause.lemma in words("verbs", "chat") or clause.lemma in words("verbs", "stop"))
    if clause.lemma in words("verbs", "chat"):
        return False
    return any(p in ("at", "in", "on", "to", "for", "with") and maker.phrases.is_telling(t) and _is_modified(t) for p, t in clause.objects)


def _is_modified(noun: Token) -> bool:
    return noun.pos_ == "PROPN" or any(
        c.dep_ in ("amod", "compound", "nummod") or (c.dep_ == "prep" and c.lower_ == "of") for c in noun.children
    )


def _of_thing(clause: Clause, maker: ClaimMaker) -> list[Claim]:
    """ "The log panel shows phone numbers", "the importer runs on Kubernetes": what a thing of a project does."""
    top = clause.top
    if clause.who != "thing" or not maker.scene.turn.in_group or top.tag_ not in ("VBZ", "VBP") or clause.progressive:
        return []
    if clause.lemma in words("verbs", "hollow") or clause.lemma in (
        "be",
        "have",
        "get",
        "need",
        "help",
        "make",
        "look",
        "feel",
        "go",
        "come",
    ):
        return []
    text = maker.phrases.verb_phrase(clause.verb)
    if text is None or " " not in text:
        return []
    return _one(maker.claim(clause, "DOES", End(_plain(text, clause.verb, keep=False), VALUE)))


def _plain(text: str, verb: Token, *, keep: bool) -> str:
    """The phrase with a plain verb; a participle stays (its lemma is often wrong)."""
    return text if keep or verb.tag_ == "VBG" else re.sub(rf"^{re.escape(verb.text.lower())}\b", verb.lemma_.lower(), text)


def _one(claim: Claim | None) -> list[Claim]:
    return [claim] if claim is not None else []
