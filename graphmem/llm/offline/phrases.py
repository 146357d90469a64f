"""Noun and verb phrases as names: what of a phrase is kept, and which phrases say too little to be an end of a fact."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from graphmem import names
from graphmem.llm.offline.claims import ORGANIZATION, PERSON, PLACE, VALUE, End
from graphmem.llm.offline.lexicon import lexicon, words
from graphmem.llm.offline.people import kin_word
from graphmem.llm.offline.scene import Scene
from graphmem.llm.offline.titles import called, glued, title_of

if TYPE_CHECKING:
    from spacy.tokens import Token

_CUT = frozenset(("relcl", "acl", "advcl", "appos", "parataxis", "preconj", "predet", "intj", "ccomp", "dep", "meta", "mark"))
_KEPT_PREPOSITIONS = frozenset(("of", "for", "in", "with", "about", "on", "from", "to", "between", "against", "at"))
_LOOSE_PREPOSITIONS = frozenset(
    ("besides", "despite", "like", "after", "before", "without", "because", "than", "except", "since", "until", "per", "plus", "while")
)
_POINTING = frozenset(("this", "that", "these", "those"))
_LEADING = re.compile(
    r"^(?:(?:a|an|the|some|this|that|these|those|such|all|any|another|quite|just|only|few|several|many|various|both|each|every|most(?=\s+of)|more|other|own|new|really|"
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
        title = called(head) if self.scene.has_names and kin_word(head) is None else None
        title = title or (title_of(head, self.scene.text) if self.scene.has_quotes else None)
        if title is not None and title[0].isupper():
            return title if names.is_nameable(title) else None
        kept: list[Token] = []
        self._collect(head, head, kept, bare)
        kept += [t for t in glued(max(kept, key=lambda t: t.i)) if t not in kept]
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
        for child in _own_children(token):
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
        if head.i in self.scene.dated or head.ent_type_ in ("DATE", "TIME") or not _is_nounlike(head):
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
        if any(c.dep_ == "amod" and c.lower_ in words("phrases", "elsewhere") for c in children) and head.pos_ == "NOUN":
            return any(c.dep_ == "compound" for c in children)
        if (
            self.scene.has_quotes
            and head.pos_ == "NOUN"
            and (title := title_of(head, self.scene.text))
            and title.isalpha()
            and title.islower()
        ):
            return False  # so-called "trust"
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
        is_person = known is not None and (kind != ORGANIZATION or self.cast.is_certain(name))
        if is_person or head.pos_ == "PRON":
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
            if kind == PLACE and token != head and token.lower_.endswith("ing") and token.pos_ == "NOUN":
                continue  # "exploring the forest and hiking"
            counted = _of_quantity(token)
            if self.is_telling(counted, pointing=pointing) and (end := self.end(counted, kind)):
                shared = _shared_head(counted)
                kinds = _kinds(counted)
                if kinds:
                    out += [End(f"{kind.text} {counted.text}", end.type) for kind in kinds]
                else:
                    out.append(End(f"{end.name} {shared.text}", end.type) if shared is not None else end)
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
            if head.lemma_.lower() in ("responsibility", "charge", "ownership", "care", "part"):
                duty = self._duty(head, verb)
                if duty is None and " " not in name:
                    return None
                parts += [duty] if duty is not None else []
            parts += [f"and {more}" for c in head.children if c.dep_ == "conj" and self.is_telling(c) and (more := self.noun_phrase(c))]
        state = None if objects else next((c for c in verb.children if c.dep_ == "acomp"), None)
        if state is not None:
            parts.append(state.text.lower())
        place = None if len(parts) > 2 and parts[-1].startswith(("for ", "of ")) else self._first_prepositional(verb)
        if place:
            parts.append(place)
        if not objects and not place and state is None and verb.tag_ != "VBG":
            return None
        text = " ".join(parts)
        return text if len(text.split()) <= 12 else None

    def _duty(self, noun: Token, verb: Token) -> str | None:
        """What responsibility is taken for, or charge of."""
        for prep in (*noun.children, *verb.children):
            if prep.dep_ == "prep" and prep.lower_ in ("for", "of", "in"):
                for inner in prep.children:
                    told = self.verb_phrase(inner) if inner.dep_ == "pcomp" else self.noun_phrase(inner) if inner.dep_ == "pobj" else None
                    if told is not None:
                        return f"{prep.lower_} {told}"
        return None

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


def _is_nounlike(token: Token) -> bool:
    """A noun, also one taken for a verb ("audit logs")."""
    misread = token.pos_ == "VERB" and token.dep_ in ("dobj", "pobj") and any(c.dep_ in ("compound", "poss") for c in token.lefts)
    return misread or token.pos_ in ("NOUN", "PROPN", "X")


def _shared_head(token: Token) -> Token | None:
    """The noun that a bare word shares with what is coordinated with it: "movies" for "action" in "action and crime movies"."""
    following = next((c for c in token.children if c.dep_ == "conj" and c.pos_ in ("NOUN", "PROPN")), None)
    if following is None or token.tag_ not in ("NN", "JJ", "NNP") or any(c.dep_ not in ("cc", "conj", "punct") for c in token.children):
        return None
    while (more := next((c for c in following.children if c.dep_ == "conj"), None)) is not None:
        following = more
    if not any(c.dep_ in ("compound", "amod") for c in following.children):
        return None
    return following if _is_of_kinds(following, token) else None


def _kinds(noun: Token) -> list[Token]:
    """The coordinated words before a noun that each make a kind of it ("horror", "spy" for "horror and spy movies"), if that is all."""
    first = next((c for c in noun.lefts if c.dep_ in ("compound", "amod", "nmod") and any(k.dep_ == "conj" for k in c.children)), None)
    if first is None or any(c != first and c.dep_ not in ("punct", "cc") for c in noun.children) or not _is_of_kinds(noun, first):
        return []
    kinds = [first, *first.conjuncts]
    return kinds if all(not any(c.dep_ not in ("cc", "conj", "punct") for c in k.children) for k in kinds) else []


def _is_of_kinds(noun: Token, kind: Token) -> bool:
    """Whether the noun comes in kinds named by one word each: genres of movies, flavors."""
    lemma = noun.lemma_.lower()
    return lemma == "flavor" or (lemma in words("people", "genre_heads") and kind.lower_ in words("people", "genres"))


def _own_children(token: Token) -> list[Token]:
    """The children of a token; what follows the last of several coordinated nouns belongs to that one ("birds and cats with fur")."""
    out = list(token.children)
    first_joined = next((c.i for c in out if c.dep_ == "conj"), None)
    if first_joined is not None:
        return [c for c in out if not (c.dep_ == "prep" and c.i > first_joined)]
    if token.dep_ == "conj":
        first = token.head
        while first.dep_ == "conj":
            first = first.head
        out += [c for c in first.children if c.dep_ == "prep" and c.i > token.i]
    return out


def _of_quantity(head: Token) -> Token:
    """ "Lots of books" are books."""
    if head.lemma_.lower() in words("phrases", "quantities"):
        for prep in head.children:
            if prep.dep_ == "prep" and prep.lower_ == "of":
                return next((c for c in prep.children if c.dep_ == "pobj"), head)
    return head
