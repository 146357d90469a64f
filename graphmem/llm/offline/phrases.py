"""Noun and verb phrases as names: what of a phrase is kept, and which phrases say too little to be an end of a fact."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from graphmem import names
from graphmem.llm.offline.claims import ORGANIZATION, PERSON, PLACE, VALUE, End
from graphmem.llm.offline.lexicon import lexicon, words
from graphmem.llm.offline.people import kin_word
from graphmem.llm.offline.scene import Scene

if TYPE_CHECKING:
    from spacy.tokens import Token

_CUT = frozenset(("relcl", "acl", "advcl", "appos", "parataxis", "preconj", "predet", "intj", "ccomp", "dep", "meta", "mark"))
_KEPT_PREPOSITIONS = frozenset(("of", "for", "in", "with", "about", "on", "from", "to", "between", "against", "at"))
_LOOSE_PREPOSITIONS = frozenset(
    ("besides", "despite", "like", "after", "before", "without", "because", "than", "except", "since", "until", "per", "plus", "while")
)
_POINTING = frozenset(("this", "that", "these", "those"))
_LEADING = re.compile(
    r"^(?:(?:a|an|the|some|this|that|these|those|such|all|any|another|quite|just|only|few|several|many|various|both|each|every|most|more|other|own|new|really|"
    r"very|super|pretty|so|also|even)\s+)+(?:of\s+(?:the|these|those)\s+)?",
    re.IGNORECASE,
)
_NAMED = frozenset((PERSON, PLACE, ORGANIZATION))
# Nouns that the tagger takes for verbs behind another noun ("charity run").
_VERBLIKE = frozenset(("run", "walk", "ride", "drive", "show", "hunt", "swap", "sale"))
MAX_WORDS = 9


class Phrases:
    """Turns tokens of a scene into names."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.cast = scene.cast

    # -------------------------------------------------------------------------------------------- noun phrases

    def noun_phrase(self, head: Token, *, bare: bool = False) -> str | None:
        """The name that a noun phrase gives, without what follows loosely (`bare`: also without "in" and "at"); None if it says nothing."""
        if head.pos_ == "PRON":
            return self.cast.meant(head)
        kept: list[Token] = []
        self._collect(head, head, kept, bare)
        doc, after = head.doc, head.i + 1
        if head in kept and after < len(doc) and doc[after].lower_ in _VERBLIKE and doc[after] not in kept:
            kept.append(doc[after])
        if any(t.lower_ == "each" and t.i + 1 < len(doc) and doc[t.i + 1].lower_ == "other" for t in kept):
            return None
        if any(t.lower_ in ("one", "ones") and t.pos_ in ("NOUN", "PRON") for t in kept):
            return None
        text = self._render(sorted(kept, key=lambda t: t.i))
        if text is None:
            return None
        text = _LEADING.sub("", text).strip(" ,.;:-–\"'*_/")
        if len(text) < 2 or len(text.split()) > MAX_WORDS or text.count("(") != text.count(")") or not names.is_nameable(text):
            return None
        return self.cast.aliases.get(text, text)

    def _collect(self, token: Token, top: Token, kept: list[Token], bare: bool) -> None:
        kept.append(token)
        for child in token.children:
            if not self._is_cut(child, token, top) and not (bare and child.dep_ == "prep" and child.lower_ != "of"):
                self._collect(child, top, kept, bare)

    def _is_cut(self, child: Token, parent: Token, top: Token) -> bool:
        dep = child.dep_
        if dep in _CUT or child.i in self.scene.dated:
            return True
        if dep in ("cc", "conj"):
            return bool(parent == top)
        if dep == "punct":
            return not (child.text in "-/'" and top.left_edge.i < child.i < top.i + 1) and child.text not in ("-", "/")
        if dep == "advmod" and child.i > parent.i:
            return True
        if dep == "npadvmod" and child.i > parent.i:
            return True
        if dep == "prep" and child.i and child.doc[child.i - 1].text == "-":
            return False  # "one-on-one"
        if dep == "prep":
            objects = [c for c in child.children if c.dep_ == "pobj"]
            if not objects or child.lower_ not in _KEPT_PREPOSITIONS or any(c.dep_ == "pcomp" for c in child.children):
                return True
            inner = objects[0]
            if inner.i in self.scene.dated or inner.ent_type_ in ("DATE", "TIME"):
                return True
            if inner.pos_ == "PRON" and self.cast.meant(inner) is None:
                return True
            return child.lower_ != "of" and (
                inner.lemma_.lower() in words("phrases", "vague") or any(c.lower_ in _POINTING for c in inner.children)
            )
        return False

    def _render(self, tokens: list[Token]) -> str | None:
        parts: list[str] = []
        for n, token in enumerate(tokens):
            following = tokens[n + 1] if n + 1 < len(tokens) else None
            gap = token.whitespace_ if following is not None and following.i == token.i + 1 else " "
            if token.dep_ == "poss" and token.pos_ in ("PRON", "DET"):
                owner = self.cast.meant(token)
                if owner is None:
                    return None
                parts.append(owner + "'s ")
            elif token.pos_ == "PRON" and token.tag_ == "PRP" and not (following is not None and following.text == "-"):
                meant = self.cast.meant(token)
                if meant is None:
                    return None
                parts.append(meant + gap)
            else:
                parts.append(token.text + gap)
        return re.sub(r"\s+", " ", "".join(parts)).strip()

    def is_telling(self, head: Token, *, pointing: bool = False) -> bool:
        """Whether a noun phrase says enough to be the target of a fact."""
        if head.pos_ == "PRON":
            return self.cast.meant(head) is not None and head.lower_ not in words("pronouns", "plural")
        if head.i in self.scene.dated or head.ent_type_ in ("DATE", "TIME") or head.pos_ not in ("NOUN", "PROPN", "X"):
            return False
        children = list(head.children)
        modified = any(c.dep_ in ("compound", "amod") for c in children)
        if (
            not pointing
            and any(c.lower_ in _POINTING and c.dep_ == "det" for c in children)
            and not any(c.dep_ == "compound" for c in children)
        ):
            return False
        if any(c.lower_ in ("no", "what", "which", "whatever", "how", "such", "same", "any") for c in children):
            return False
        if head.lemma_.lower() in words("phrases", "vague") or head.lower_ in words("phrases", "vague"):
            return (head.pos_ == "PROPN" and head.ent_type_ in ("ORG", "GPE", "EVENT", "WORK_OF_ART")) or (
                modified and any(c.dep_ == "compound" and c.pos_ in ("NOUN", "PROPN") for c in children)
            )
        return True

    def span(self, head: Token, name: str) -> tuple[int, int] | None:
        """Where the name stands verbatim in the phrase, in characters of the cleaned text."""
        left, right = head.left_edge.idx, head.right_edge.idx + len(head.right_edge.text)
        at = self.scene.text.find(name, left, right)
        return (at, at + len(name)) if at >= 0 else None

    def end(self, head: Token, kind: str) -> End | None:
        """The phrase as an end of a fact, of type `kind` unless it shows a narrower one."""
        name = self.noun_phrase(head, bare=head.pos_ == "PROPN" and kind in _NAMED)
        if name is None:
            return None
        name = name.replace("'s own ", "'s ")
        known = self.cast.person(name)
        if known is not None or head.pos_ == "PRON":
            return End(known or name, PERSON, span=self.span(head, name))
        known_as = self.cast.types.get(names.key(name))
        if known_as in (PLACE, ORGANIZATION, "Project") and kind != VALUE:
            kind = known_as
        elif (
            head.ent_type_ == "PERSON"
            and head.pos_ == "PROPN"
            and kind not in (VALUE, ORGANIZATION)
            and not (kind == PLACE and head.dep_ == "pobj")
        ):
            kind = PERSON
        elif (kin := kin_word(head)) is not None and any(c.dep_ == "poss" for c in head.children):
            kind = "Animal" if lexicon().kin[kin] == "HAS_PET" else PERSON
        elif head.ent_type_ == "GPE" and kind not in (VALUE, ORGANIZATION):
            kind = PLACE
        return End(name, kind, span=self.span(head, name))

    def owned(self, end: End, owner: End) -> End:
        """A common noun under its owner's name ("Melanie's car"); names and what has an owner stay."""
        if end.type == PERSON or not end.name.islower():
            return end
        return End(f"{owner.name}'s {end.name}", end.type, end.aliases)

    def ends(self, head: Token, kind: str, *, pointing: bool = False) -> list[End]:
        """The phrase and what is coordinated with it, each on its own; at most four. `pointing`: "this bowl" will do."""
        out: list[End] = []
        for token in self.coordinated(head):
            counted = _of_quantity(token)
            if self.is_telling(counted, pointing=pointing) and (end := self.end(counted, kind)):
                out.append(end)
        return out[:4]

    def coordinated(self, head: Token) -> list[Token]:
        """The head and the nouns joined to it by "and"."""
        out = [head]
        for token in out:
            out += [c for c in token.children if c.dep_ == "conj" and c.pos_ in ("NOUN", "PROPN")]
        return out

    # -------------------------------------------------------------------------------------------- verb phrases

    def verb_phrase(self, verb: Token, *, negated: bool = False) -> str | None:
        """ "move to Porto", "finish the report": a verb with its particle, object and first prepositional phrase."""
        if any(c.dep_ == "ccomp" or (c.dep_ == "neg" and not negated) for c in verb.children):
            return None
        objects = [c for c in verb.children if c.dep_ in ("dobj", "attr", "oprd")]
        parts = [verb.text.lower(), *(c.lower_ for c in verb.children if c.dep_ == "prt" or (c.lower_ == "together" and c.i == verb.i + 1))]
        if objects:
            head = objects[0]
            if head.pos_ == "PRON" or not self.is_telling(head) or (name := self.noun_phrase(head)) is None:
                return None
            parts.append(name)
            parts += [f"and {more}" for c in head.children if c.dep_ == "conj" and self.is_telling(c) and (more := self.noun_phrase(c))]
        state = None if objects else next((c for c in verb.children if c.dep_ == "acomp"), None)
        if state is not None:
            parts.append(state.text.lower())
        place = self._first_prepositional(verb)
        if place:
            parts.append(place)
        if not objects and not place and state is None and verb.tag_ != "VBG":
            return None
        text = " ".join(parts)
        return text if len(text.split()) <= 12 else None

    def _first_prepositional(self, verb: Token) -> str | None:
        for prep in verb.children:
            if prep.dep_ != "prep" or prep.lower_ in _LOOSE_PREPOSITIONS:
                continue
            for inner in prep.children:
                if inner.dep_ == "pobj" and inner.i not in self.scene.dated and inner.ent_type_ not in ("DATE", "TIME"):
                    if not self.is_telling(inner):
                        continue
                    name = self.noun_phrase(inner)
                    return f"{prep.lower_} {name}" if name and len(name) > 2 else None
        return None


def _of_quantity(head: Token) -> Token:
    """ "Lots of books" are books."""
    if head.lemma_.lower() in words("phrases", "quantities"):
        for prep in head.children:
            if prep.dep_ == "prep" and prep.lower_ == "of":
                return next((c for c in prep.children if c.dep_ == "pobj"), head)
    return head
