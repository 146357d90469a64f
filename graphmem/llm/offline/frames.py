"""Verbs that lead to another one, which carries the meaning: "had fun hiking", "ready to start", "thinking of moving"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphmem.llm.offline.lexicon import words

if TYPE_CHECKING:
    from spacy.tokens import Token


def is_liked_too(verb: Token) -> bool:
    """Whether the verb is one more of several things that somebody likes doing ("I love hiking or playing chess")."""
    top = verb
    while top.dep_ == "conj" and top.head.tag_ == verb.tag_:
        top = top.head
    return bool(top != verb and top.dep_ in ("xcomp", "ccomp") and top.head.lemma_.lower() in words("verbs", "affect"))


def complement(verb: Token) -> Token | None:
    """The verb that another one governs ("hope to move", "stop smoking")."""
    return next(
        (c for c in verb.children if c.dep_ in ("xcomp", "ccomp") and c.pos_ in ("VERB", "AUX") and c.tag_ in ("VB", "VBG", "VBN")), None
    )


def attitude_of(lemma: str, inner: Token) -> str:
    """The verb itself if it says that somebody likes, learns, needs or proposes to do something, else ""."""
    liked = lemma in words("verbs", "affect") and inner.tag_ in ("VBG", "VB")
    proposed = lemma in ("suggest", "propose", "recommend") and inner.tag_ == "VBG"
    return lemma if liked or proposed or (lemma in ("learn", "need") and inner.tag_ == "VB") else ""


def enjoyed(verb: Token) -> Token | None:
    """What a "great time" was had with: "had a blast hiking in the Alps", "spent the day painting", "been busy painting"."""
    inner = [c for c in verb.children if c.tag_ == "VBG" and c.dep_ in ("advcl", "xcomp", "acl")]
    for child in verb.children:
        fun = (
            child.dep_ == "dobj"
            and verb.lemma_ in ("have", "spend")
            and child.lemma_ in ("time", "blast", "fun", "day", "weekend", "morning", "afternoon", "experience", "night", "hour")
        )
        busy = child.dep_ == "acomp" and child.lower_ == "busy"
        if fun or busy:
            inner += [c for c in child.children if c.tag_ == "VBG" and c.dep_ in ("acl", "advcl", "xcomp")]
            return inner[0] if inner else None
    return None


def eager_for(verb: Token) -> Token | None:
    """ "I'm excited to start my new job": what somebody is ready or excited to do."""
    if verb.lemma_ != "be":
        return None
    for child in verb.children:
        if child.dep_ == "acomp" and child.lower_ in ("excited", "ready", "stoked", "thrilled", "determined", "set", "pumped", "about"):
            return next((c for c in child.children if c.dep_ == "xcomp" and c.tag_ == "VB"), None)
    return None


def worked_on(verb: Token) -> Token | None:
    """ "Working on supplementing the phrasing", "start by setting the budget": what is worked on or started with."""
    for prep in verb.children:
        if prep.dep_ == "prep" and (verb.lemma_, prep.lower_) in (
            ("work", "on"),
            ("start", "by"),
            ("focus", "on"),
            ("begin", "by"),
            ("start", "with"),
        ):
            return next((c for c in prep.children if c.dep_ == "pcomp" and c.tag_ == "VBG"), None)
    return None


def considered(verb: Token) -> Token | None:
    """ "Thinking of moving to Porto": what is thought of doing."""
    if verb.lemma_ not in ("think", "consider", "talk", "look"):
        return None
    for prep in verb.children:
        if prep.dep_ == "prep" and prep.lower_ in ("of", "about", "into"):
            return next((c for c in prep.children if c.dep_ == "pcomp" and c.tag_ == "VBG"), None)
    return None
