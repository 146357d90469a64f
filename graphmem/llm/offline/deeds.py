"""What people did or do and what things do, told by verbs that the map has no relation for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from graphmem.llm.offline.claims import PERSON, VALUE, Claim, End
from graphmem.llm.offline.clauses import Clause
from graphmem.llm.offline.lexicon import words
from graphmem.llm.offline.making import ClaimMaker

if TYPE_CHECKING:
    from spacy.tokens import Span, Token


def deed_claims(clause: Clause, maker: ClaimMaker) -> list[Claim]:
    """A deed or habit of a person, or the behaviour of a thing, as a phrase: "failed the aptitude test", "offers mentoring"."""
    if clause.kind == "ends" and clause.top.lemma_ in ("use", "used") and clause.who == "person":
        return _former(clause, maker)
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
    if clause.passive and maker.when(clause).start is not None:
        text = text or verb.text.lower()
    elif text is None or " " not in text:
        return []
    if text is None:
        return []
    done = clause.past and not (clause.perfect and verb.tag_ == "VBG")
    return _one(
        maker.claim(clause, "DID" if done else "DOES", End(("was " if clause.passive else "") + _plain(text, verb, keep=done), VALUE))
    )


def gladdening_claims(sentence: Span, maker: ClaimMaker) -> list[Claim]:
    """ "Painting helps me relax", "running is a great way to clear my mind": what an activity does for the speaker."""
    actor = maker.cast.actor
    out: list[Claim] = []
    if actor is None or sentence.text.rstrip().endswith("?") or not any(t.lower_ in ("me", "my") for t in sentence):
        return out
    for token in sentence:
        head = token.head
        if token.dep_ not in ("csubj", "nsubj") or head.tag_ not in ("VBZ", "VBP") or any(c.dep_ in ("neg", "aux") for c in head.children):
            continue
        gerund = token.tag_ == "VBG"
        relation = _gladdens(head, gerund)
        if relation is None or any(t.lower_ in ("your", "this", "that", "it") for t in token.subtree):
            continue
        name = _activity(token, maker) if gerund else None
        if not gerund and token.pos_ in ("NOUN", "PROPN") and maker.phrases.is_telling(token) and token.ent_type_ != "PERSON":
            name = maker.phrases.noun_phrase(token)
        if name:
            text = f"{actor}: {sentence.text.strip()}"
            out.append(Claim(End(actor, PERSON), relation, End(name, "Topic"), text, (sentence.start_char, sentence.end_char)))
    return out


def _activity(gerund: Token, maker: ClaimMaker) -> str | None:
    """What a gerund names, if it is an activity rather than "seeing this"."""
    lemma = gerund.lemma_.lower()
    if any(c.dep_ == "dobj" and c.pos_ == "PRON" for c in gerund.children) or lemma in words("verbs", "hollow"):
        return None
    text = maker.phrases.verb_phrase(gerund)
    if text is not None and " " in text:
        return None if lemma in words("verbs", "chat") else text
    return str(gerund.text.lower()) if lemma in words("verbs", "activities") else None


def _gladdens(verb: Token, gerund: bool) -> str | None:
    """What the verb says of its subject, if it says it of the speaker: a help, a joy, a good way to do something."""
    if verb.lemma_ == "be":
        way = next((c for c in verb.children if c.dep_ == "attr" and c.lemma_ == "way"), None)
        if way is None or not any(c.lower_ in ("great", "fun", "good", "nice", "perfect") for c in way.children):
            return None
        return "LIKES" if any(t.lower_ in ("my", "me") for t in way.subtree) else None
    if not gerund or verb.lemma_ not in words("verbs", "gladden") | {"make"} or not any(t.lower_ == "me" for t in verb.subtree):
        return None
    return "HELPED_BY" if verb.lemma_ in ("help", "keep", "motivate", "inspire", "energize") else "LIKES"


def _former(clause: Clause, maker: ClaimMaker) -> list[Claim]:
    """ "I used to go riding with my dad": a former habit, told as something done."""
    verb, text = clause.verb, maker.phrases.verb_phrase(clause.verb)
    if clause.subject.name == maker.cast.other or text is None or clause.affect or clause.lemma in words("verbs", "hollow"):
        return []
    inner = next((c for c in verb.children if c.dep_ == "xcomp" and c.tag_ == "VBG"), None)
    text = f"{verb.lemma_} {maker.phrases.verb_phrase(inner) or inner.text}" if inner is not None and " " not in text else text
    return _one(maker.claim(clause, "DID", End(f"used to {text}", VALUE), kind="holds"))


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
        if lemma in words("people", "consumables") or (lemma in words("people", "generic") and not _is_modified(direct)):
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
