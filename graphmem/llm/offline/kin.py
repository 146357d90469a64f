"""Relatives, animals, outings and roles named in passing: "my sister Ivana", "Tom's dog Rex", "Bea, my wife"."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from graphmem.llm.offline.claims import ORGANIZATION, PERSON, Claim, End
from graphmem.llm.offline.clauses import is_question
from graphmem.llm.offline.lexicon import lexicon, words
from graphmem.llm.offline.people import PLURAL, THIRD, kin_word
from graphmem.llm.offline.phrases import Phrases
from graphmem.llm.offline.scene import Scene

if TYPE_CHECKING:
    from spacy.tokens import Span, Token

# Without a name these say nothing that lasts ("my friend", "my coach").
_NEEDS_NAME = frozenset(
    (
        "FRIEND_OF",
        "COLLEAGUE_OF",
        "MENTORED_BY",
        "NEIGHBOR_OF",
        "MANAGED_BY",
        "ROOMMATE_OF",
        "COUSIN_OF",
        "IN_LAW_OF",
        "NIBLING_OF",
        "AUNT_OR_UNCLE_OF",
    )
)
_UNREAL = frozenset(("would", "could", "can", "will", "might", "if", "to", "should", "ca"))
_ITS = frozenset(("her", "his", "its"))
# Groups or none ("cork board"): only who joins one, or is in it, is a member.
_NOT_OF_PEOPLE = frozenset(("board", "program", "committee", "school", "college", "academy"))
# Whoever asks about somebody's child or dog takes for granted that there is one.
_PRESUPPOSED = frozenset(("PARENT_OF", "HAS_PET", "MARRIED_TO"))


def kin_claims(sentence: Span, scene: Scene, phrases: Phrases) -> list[Claim]:
    """The kinships a sentence shows; they and their names become known to the scene."""
    out: list[Claim] = []
    stranger = False
    for token in sentence:
        if token.dep_ in ("nsubj", "poss") and token.pos_ == "PROPN" and scene.cast.owner(token) is None:
            stranger = True  # "Zhi's father and her brother": "her" means Zhi, whoever that is, not somebody named before
        if token.dep_ != "poss" or token.head.pos_ not in ("NOUN", "PROPN") or (stranger and THIRD.fullmatch(token.text)):
            continue
        head = token.head
        if token.lower_ == "our" and (scene.turn.other is None or lexicon().kin.get(kin_word(head) or "") != "HAS_PET"):
            continue
        word_token = head if kin_word(head) else next((c for c in head.children if c.dep_ == "compound" and kin_word(c)), None)
        owner = scene.cast.owner(token)
        if owner is not None and token.pos_ == "PROPN":
            scene.cast.mention(owner)
        if word_token is None or owner is None:
            continue
        word = kin_word(word_token) or ""
        relation = lexicon().kin[word]
        if relation == "MARRIED_TO" and THIRD.fullmatch(token.text) and len(_named_before(token)) > 1:
            continue  # "Ana met Vera and her husband": whose?
        name = given_name(head, word_token)
        described = f"{owner}'s {word_token.lower_}"
        plural = word_token.tag_ in ("NNS", "NNPS")
        scene.cast.mention(name or described, PLURAL if plural and name is None else lexicon().gender.get(word))
        if name is None and (
            relation in _NEEDS_NAME
            or (plural and relation not in ("PARENT_OF", "HAS_PET"))
            or (is_question(sentence) and relation not in _PRESUPPOSED)
        ):
            continue
        if name is not None:
            scene.cast.aliases[described] = name
        kind = "Animal" if relation == "HAS_PET" else PERSON
        target = End(name or described, kind, (described,) if name else (), phrases.span(head, name) if name else None)
        text = f"{described} is {name}" if name else f"{owner} has {'' if plural else 'a '}{word_token.lower_}"
        out.append(Claim(End(owner, PERSON), relation, target, text, (head.left_edge.idx, head.right_edge.idx + len(head.right_edge.text))))
    return out


def _named_before(token: Token) -> set[str]:
    """The people that a sentence names before a word."""
    return {entity.text for entity in token.sent.ents if entity.label_ == PERSON.upper() and entity.end <= token.i}


def given_name(head: Token, word_token: Token) -> str | None:
    """The name that goes with a word for a relative or animal ("my sister Ivana", "a dog named Rex"), or None."""
    if word_token != head:
        return _full(head) if head.pos_ == "PROPN" else None
    for child in head.children:
        if child.dep_ in ("appos", "oprd", "nmod") and child.pos_ == "PROPN" and child.text[0].isupper():
            return _full(child)
        if child.dep_ == "acl" and child.lemma_ in ("name", "call"):
            for inner in child.children:
                if inner.dep_ in ("oprd", "dobj", "attr") and inner.text[0].isupper():
                    return _full(inner)
    if head.dep_ == "appos" and head.head.pos_ == "PROPN" and head.head.text[0].isupper():
        return _full(head.head)
    return None


def _full(token: Token) -> str:
    parts = [c.text for c in token.lefts if c.dep_ == "compound" and c.pos_ == "PROPN" and not kin_word(c)]
    return " ".join([*parts, token.text])


def naming_claims(sentence: Span, scene: Scene, phrases: Phrases) -> list[Claim]:
    """ "Her name is Coco", said after one's own puppy was spoken of."""
    out: list[Claim] = []
    for token in sentence:
        owned = token.lemma_ == "name" and token.dep_ == "nsubj" and any(c.dep_ == "poss" and c.lower_ in _ITS for c in token.children)
        noun = next((c for c in token.head.children if c.dep_ == "attr" and c.pos_ == "PROPN"), None) if owned else None
        if noun is None or scene.cast.actor is None:
            continue
        spoken = [scene.doc[: sentence.start].text, *(said.text for said in scene.turn.recent[-2:])]
        told = {w.strip(".,!?'\"").removesuffix("'s") for text in spoken for w in text.lower().split()}
        name = phrases.noun_phrase(noun)
        if name and any(lexicon().kin.get(w) == "HAS_PET" for w in told):
            span = (sentence.start_char, sentence.end_char)
            pet = End(name, "Animal", span=phrases.span(noun, name))
            out.append(Claim(End(scene.cast.actor, PERSON), "HAS_PET", pet, f"{scene.cast.actor}'s pet is called {name}", span))
    return out


def possession_claims(sentence: Span, scene: Scene, phrases: Phrases) -> list[Claim]:
    """What somebody has, told in passing: "my store", "your dance studio", "my church"."""
    out: list[Claim] = []
    owners = [t for t in sentence if t.dep_ == "poss" and t.lower_ in ("my", "your")]
    if not owners or scene.turn.in_group or is_question(sentence):
        return out
    for token in owners:
        head, owner = token.head, scene.cast.owner(token)
        lemma = head.lemma_.lower()
        modified = any(c.dep_ in ("compound", "amod") for c in head.children)
        if lemma in words("people", "belongings") or (lemma in words("people", "ventures") and lemma not in words("people", "groups")):
            relation, kind = "OWNS", "Thing"
        elif lemma in words("people", "groups") - _NOT_OF_PEOPLE and (modified or lemma in ("band", "gym", "choir", "orchestra")):
            relation, kind = "MEMBER_OF", ORGANIZATION
        else:
            continue
        name = phrases.noun_phrase(head, bare=True)
        name = name.removesuffix("'s") if name else None
        if owner is None or name is None or head.tag_ not in ("NN", "NNP") or _is_imagined(head):
            continue
        span = (head.left_edge.idx, head.idx + len(head.text))
        out.append(Claim(End(owner, PERSON), relation, End(name, kind, span=phrases.span(head, name)), f"{owner} has {name}", span))
    return out


def _is_imagined(noun: Token) -> bool:
    """Whether the noun stands in a wish, plan or supposition ("if I open my store")."""
    return any(
        (c.dep_ in ("aux", "mark") and c.lower_ in _UNREAL) or c.dep_ == "neg"
        for verb in noun.ancestors
        if verb.pos_ in ("VERB", "AUX")
        for c in verb.children
    ) or any(v.lemma_ in ("open", "start", "lose", "sell", "dream", "launch") for v in noun.ancestors)


def outing_claims(sentence: Span, scene: Scene, phrases: Phrases) -> list[Claim]:
    """Events that somebody had, told as a noun: "our camping trip last year", "my trip to England"."""
    out: list[Claim] = []
    owners = [t for t in sentence if t.dep_ == "poss" and t.lower_ in ("my", "our")]
    if not owners or scene.cast.actor is None or is_question(sentence):
        return out
    for token in owners:
        head = token.head
        if head.lemma_.lower() not in words("people", "outings") | words("people", "events") or head.lemma_.lower() in (
            "class",
            "date",
            "session",
            "game",
        ):
            continue
        inside = {t.i for t in head.subtree}
        dates = [f for f, tokens in scene.dates if tokens[0] in inside or tokens[0] == head.right_edge.i + 1]
        abroad = any(p.dep_ == "prep" and any(c.pos_ == "PROPN" for c in p.children) for p in head.children)
        if not dates and not abroad:
            continue
        unit = dates[0].unit if dates else None
        ahead = unit is not None and unit.first > scene.turn.reference
        name = phrases.noun_phrase(head)
        if name is None or ahead or (not dates and sentence.root.tag_ != "VBD"):
            continue
        shown = name.removeprefix(f"{scene.cast.actor}'s ")
        span = (head.left_edge.idx, head.right_edge.idx + len(head.right_edge.text))
        text = f"{scene.cast.actor}'s {shown}" + (f" {dates[0].text}" if dates else "")
        out.append(Claim(End(scene.cast.actor, PERSON), "ATTENDED", End(shown, "Event"), text, span, start=unit))
    return out


_PROMOTED = re.compile(
    r"promoted to (?:the |an? )?(?P<role>[A-Za-z][\w -]{2,40}?)"
    r"(?= (?:in|on|at|last|this|and|after|for|as|yesterday|today|now|by)\b|[.,;!?]|$)"
)


def promotion_claims(sentence: Span, scene: Scene) -> list[Claim]:
    """ "I was promoted to team lead in May": the role, which the parser often takes for a verb."""
    match = _PROMOTED.search(sentence.text)
    verb = next((t for t in sentence if t.lower_ == "promoted"), None)
    subject = next((c for c in verb.children if c.dep_ == "nsubjpass"), None) if verb is not None else None
    if match is None or verb is None or subject is None or is_question(sentence):
        return []
    name = scene.cast.meant(subject) or scene.cast.person(subject.text) or (subject.text if subject.ent_type_ == "PERSON" else None)
    if name is None or any(c.dep_ == "neg" or c.lower_ in _UNREAL for c in verb.children):
        return []
    dates = [f for f, tokens in scene.dates if sentence.start <= tokens[0] < sentence.end]
    start = dates[0].unit if dates and dates[0].role == "at" else None
    span = (sentence.start_char, sentence.end_char)
    return [Claim(End(name, PERSON), "WORKS_AS", End(match["role"], "Role"), f"{name} was {match[0]}", span, start=start)]


def role_claims(sentence: Span, scene: Scene, phrases: Phrases) -> list[Claim]:
    """Roles in apposition: "Mira Tallis, the CEO of Brightpeak,"."""
    out: list[Claim] = []
    for token in sentence:
        if token.dep_ != "appos" or token.lower_ not in words("people", "jobs") or token.head.pos_ != "PROPN":
            continue
        name = phrases.noun_phrase(token.head, bare=True)
        role = phrases.noun_phrase(token, bare=True)
        if name is None or role is None or token.head.ent_type_ in ("GPE", "LOC", "DATE"):
            continue
        person = End(scene.cast.person(name) or name, PERSON, span=phrases.span(token.head, name))
        span = (token.head.left_edge.idx, token.right_edge.idx + len(token.right_edge.text))
        text = f"{person.name} is {scene.doc[token.left_edge.i : token.right_edge.i + 1].text.strip(' ,')}"
        out.append(Claim(person, "WORKS_AS", End(token.text, "Role"), text, span))
        for prep in token.children:
            for inner in prep.children if prep.dep_ == "prep" and prep.lower_ in ("of", "at", "for") else ():
                if inner.pos_ == "PROPN" and (employer := phrases.end(inner, ORGANIZATION)):
                    out.append(Claim(person, "WORKS_AT", employer, text, span))
        scene.cast.mention(person.name)
    return out
