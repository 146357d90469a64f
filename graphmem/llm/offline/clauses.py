"""Clauses: who does what, whether it is said to be so, and whether it holds, ends, is planned or is still true.

What is asked, wished, supposed, quoted or told as somebody's opinion gives no clause.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from graphmem.llm.offline.claims import ORGANIZATION, PERSON, End
from graphmem.llm.offline.frames import attitude_of, complement, considered, eager_for, enjoyed, is_liked_too, worked_on
from graphmem.llm.offline.lexicon import words
from graphmem.llm.offline.phrases import Phrases
from graphmem.llm.offline.scene import Scene

if TYPE_CHECKING:
    from spacy.tokens import Span, Token

_CONDITIONS = frozenset(("if", "whether", "unless", "when", "until", "once", "how", "why", "where", "whenever", "like", "as"))
_SUBORDINATE = frozenset(("ccomp", "conj", "advcl", "xcomp", "parataxis"))
_PARTICLES = frozenset(("down", "out", "over", "back", "away", "through", "off", "up"))
_DOUBTS = frozenset(("maybe", "perhaps", "possibly", "hopefully", "almost", "nearly"))
_OVER = frozenset(("anymore", "longer"))
_UNSPOKEN = frozenset(("csubj", "pcomp", "relcl"))
_NO_CLAUSE = frozenset(("aux", "auxpass", "xcomp", "relcl", "acl", "csubj", "pcomp", "amod", "compound"))


@dataclass(slots=True)
class Clause:
    """One statement. `verb` carries the meaning, `top` the tense; `key` is the verb with its particle."""

    verb: Token
    top: Token
    subject: End
    who: str  # person, thing or organization
    key: str
    passive: bool = False
    negated: bool = False
    kind: str = "holds"
    still: bool = False
    planned: bool = False
    past: bool = False
    perfect: bool = False
    progressive: bool = False
    affect: str = ""
    guessed: bool = False
    gap: bool = False
    must: bool = False
    tried: bool = False
    adverbs: frozenset[str] = frozenset()
    objects: list[tuple[str, Token]] = field(default_factory=list)

    @property
    def lemma(self) -> str:
        return str(self.verb.lemma_).lower()

    @property
    def direct(self) -> Token | None:
        """The direct object, if there is one."""
        return next((t for p, t in self.objects if not p), None)


def is_question(sentence: Span) -> bool:
    """Whether the sentence asks, proposes or wishes rather than states."""
    text = str(sentence.text).strip()
    if text.endswith("?"):
        return True
    first = text[:24].lower()
    return first.startswith(
        ("let's", "let us", "hope", "here's hoping", "good luck", "have a ", "take care", "imagine", "what if", "if only", "wish ")
    )


class ClauseReader:
    """Finds the clauses of one scene."""

    def __init__(self, scene: Scene, phrases: Phrases) -> None:
        self.scene = scene
        self.phrases = phrases
        self.cast = scene.cast
        self._elided: set[int] = set()

    def clauses(self, sentence: Span) -> list[Clause]:
        """The statements of a sentence, in order."""
        if is_question(sentence):
            return []
        if sentence[0].lower_ in words("verbs", "reported") and sentence[0].pos_ == "ADJ":
            return []  # "Glad you made it"
        quoted = _quoted(sentence)
        found = []
        for token in sentence:
            if token.pos_ == "PROPN" and token.dep_ == "nsubj" and (named := self._person_named(token)):
                self.cast.mention(named)
            if token.dep_ in _UNSPOKEN and (clause := self._unspoken(token, sentence)) is not None:
                found.append(clause)
            if token.pos_ not in ("VERB", "AUX") or token.dep_ in _NO_CLAUSE or is_liked_too(token):
                continue
            if any(a <= token.idx < b for a, b in quoted) or self._is_supposed(token):
                continue
            clause = self._clause(token, sentence)
            if clause is not None:
                found.append(clause)
        return found

    def _unspoken(self, token: Token, sentence: Span) -> Clause | None:
        """A clause that is told as part of another: "after losing my job", "the bowl I made"."""
        if token.dep_ == "csubj" or (token.dep_ == "pcomp" and token.head.lower_ in ("after", "since")):
            return self._deed(token, sentence)
        return self._gap(token) if token.dep_ == "relcl" else None

    def _person_named(self, token: Token) -> str | None:
        """The person that a proper noun names, known or recognised as one."""
        full = self.phrases.noun_phrase(token, bare=True)
        if full is None:
            return None
        return self.cast.person(full) or (full if token.ent_type_ == "PERSON" and token.text.istitle() else None)

    # -------------------------------------------------------------------------------------------- filters

    def _is_supposed(self, verb: Token) -> bool:
        """Under a condition, a question word, somebody's saying or wishing."""
        token = verb
        while True:
            if any(c.lower_ == "that" and c.dep_ == "mark" and c.i and c.doc[c.i - 1].lower_ == "now" for c in token.children):
                return False
            if any(c.dep_ in ("mark", "advmod") and c.lower_ in _CONDITIONS and c.i < token.i and c.lower_ != "as" for c in token.children):
                return True
            if any(c.dep_ == "mark" and c.lower_ in ("after", "before") for c in token.children) and _is_present(token):
                return True  # "after I'm done": not yet
            if token.dep_ == "mark" or token.dep_ not in _SUBORDINATE or token.head == token:
                return token.dep_ in ("relcl", "acl", "pcomp", "csubj") and token != verb
            head = token.head
            if token.dep_ == "ccomp" and head.lemma_.lower() in words("verbs", "reported") and not _is_beside(token, head):
                return True
            if token.dep_ == "advcl" and verb.tag_ in ("VB", "VBG", "VBP") and not any(c.dep_ == "nsubj" for c in token.children):
                return True
            token = head

    # -------------------------------------------------------------------------------------------- one clause

    def _clause(self, top: Token, sentence: Span) -> Clause | None:
        auxiliaries = _auxiliaries(top)
        if auxiliaries & words("verbs", "wishes") - ({"should"} if self.scene.turn.in_group else set()) or (
            auxiliaries & {"can", "could"} and top.lemma_ != "wait"
        ):
            return None
        if top.dep_ in ("ccomp", "advcl") and top.tag_ == "VB" and any(c.tag_ == "TO" for c in top.children):
            return None  # "arranged for Ana to marry Tom"
        if _has_open_condition(top, auxiliaries):
            return None
        subject = self._subject(top, sentence)
        if subject is None:
            return None
        end, who = subject
        guessed = who == "name"
        clause = Clause(
            verb=top,
            top=top,
            subject=end,
            who="person" if guessed else who,
            key="",
            guessed=guessed,
            passive=any(c.dep_ in ("nsubjpass", "auxpass") for c in top.children),
            negated=_is_negated(top),
            planned="will" in auxiliaries or "'ll" in auxiliaries or "shall" in auxiliaries,
            past=top.tag_ == "VBD"
            or "did" in auxiliaries
            or "was" in auxiliaries
            or "were" in auxiliaries
            or "got" in auxiliaries
            or (top.tag_ == "VBN" and bool(auxiliaries & {"have", "has", "had", "'ve"})),
            perfect=bool(auxiliaries & {"have", "has", "'ve"}) and top.tag_ in ("VBN", "VBG"),
            progressive=top.tag_ == "VBG",
            must=bool(auxiliaries & {"must", "should"}) and self.scene.turn.in_group,
        )
        if not self._descend(clause):
            return None
        self._finish(clause)
        return None if clause.adverbs & _DOUBTS else clause

    def _gap(self, verb: Token) -> Clause | None:
        """ "The bowl I made": a relative clause whose object is the noun it belongs to."""
        subject = next((c for c in verb.children if c.dep_ == "nsubj"), None)
        head = verb.head
        if (
            subject is None
            or head.pos_ not in ("NOUN", "PROPN")
            or (
                verb.tag_ not in ("VBD", "VBN")
                and not (verb.tag_ == "VBP" and verb.lemma_ in ("volunteer", "work", "teach", "study", "own", "run"))
            )
            or _is_negated(verb)
            or self._is_supposed(head)
        ):
            return None
        if any(c.dep_ in ("dobj", "ccomp", "xcomp") and c.tag_ not in ("WDT", "WP") for c in verb.children) or _auxiliaries(verb) & (
            words("verbs", "wishes") | {"can", "will"}
        ):
            return None
        name = self.cast.meant(subject) if subject.pos_ == "PRON" else self.cast.person(subject.text)
        if name is None or subject.tag_ in ("WDT", "WP"):
            return None
        free = next(
            (
                c.lower_
                for c in verb.children
                if c.dep_ == "prep" and not any(k.dep_ == "pobj" and k.tag_ not in ("WDT", "WP") for k in c.children)
            ),
            "",
        )
        clause = Clause(
            verb=verb, top=verb, subject=End(name, PERSON), who="person", key=verb.lemma_.lower(), past=verb.tag_ != "VBP", gap=True
        )
        clause.objects.append((free, head))
        return clause

    def _deed(self, verb: Token, sentence: Span) -> Clause | None:
        """ "Losing my job was tough": what the speaker did, as the subject of how it was."""
        own = {t.lower_ for t in sentence}
        if self.cast.actor is None or verb.tag_ != "VBG" or not own & {"my", "me", "i"} or own & {"would", "could", "can", "might", "will"}:
            return None
        past = verb.head.tag_ == "VBD" or verb.dep_ == "pcomp"
        if not past and not _auxiliaries(verb.head) & {"have", "has"}:
            return None
        clause = Clause(verb=verb, top=verb, subject=End(self.cast.actor, PERSON), who="person", key="", past=True, gap=True)
        self._finish(clause)
        return clause

    def _descend(self, clause: Clause) -> bool:
        """From "plan to", "used to", "love" or "stop" to the verb that carries the meaning; False: says nothing lasting."""
        for _ in range(3):
            verb = clause.verb
            lemma = verb.lemma_.lower()
            if (pastime := enjoyed(verb)) is not None:
                clause.verb = pastime
                continue
            if (eager := eager_for(verb)) is not None:
                clause.planned, clause.verb = not clause.past, eager
                return not clause.past and not clause.negated
            inner = complement(verb)
            if inner is None and self._descend_aside(clause):
                continue
            if inner is None or any(
                c.dep_ in ("nsubj", "dobj") and c.i < inner.i for c in [*inner.children, *(c for c in verb.children if c.dep_ == "dobj")]
            ):
                return inner is None or lemma not in words("verbs", "affect")
            if attitude := attitude_of(lemma, inner):
                clause.affect, clause.verb = attitude, inner
                return True
            if lemma == "be" or (lemma == "go" and inner.tag_ == "VBN"):
                return bool(inner.tag_ != "VB")
            if not self._framed(clause, lemma, inner):
                return False
            clause.verb = inner
            clause.negated = clause.negated or _is_negated(inner)
            clause.passive = any(c.dep_ == "auxpass" for c in inner.children)
        return True

    def _descend_aside(self, clause: Clause) -> bool:
        """To a verb behind a preposition ("working on supplementing", "thinking of moving"); False where there is none."""
        if (inner := worked_on(clause.verb)) is not None:
            clause.verb = inner
            return True
        if clause.progressive and (inner := considered(clause.verb)) is not None:
            clause.planned, clause.verb = True, inner
            return True
        return False

    def _framed(self, clause: Clause, lemma: str, inner: Token) -> bool:
        """What a verb says of the one it governs: that it is planned, over, going on or done; False: nothing that lasts."""
        verb, tag = clause.verb, inner.tag_
        if lemma in ("use", "used") and tag == "VB" and verb.tag_ in ("VBD", "VBN") and not clause.passive:
            clause.kind, clause.past = "ends", True
        elif lemma == "go" and verb.tag_ == "VBG" and tag == "VB":
            clause.planned = not clause.past
            return not clause.past
        elif lemma == "wait" and clause.negated and tag == "VB" and "can" in _auxiliaries(verb):
            clause.planned, clause.negated = True, False
        elif lemma in words("verbs", "plan") and tag == "VB":
            if clause.past and lemma not in ("decide", "arrange"):
                return False
            clause.planned = True
        elif lemma in words("verbs", "stop"):
            clause.kind = "ends"
        elif lemma in ("keep", "continue") and clause.planned:
            return False
        elif lemma in words("verbs", "begin") or (lemma == "get" and tag in ("VB", "VBG")):
            return True
        elif lemma == "try" and tag in ("VBG", "VB"):
            clause.tried = True
            return clause.planned or clause.progressive
        elif lemma in words("verbs", "done"):
            clause.past = clause.past or verb.tag_ in ("VBD", "VBN")
        elif lemma == "go" and tag == "VBG":
            clause.progressive = clause.progressive or clause.perfect
        elif lemma in ("consider", "contemplate") and tag == "VBG" and clause.progressive and not clause.past:
            clause.planned = True
        else:
            return lemma == "help" and clause.past and tag == "VB"
        return True

    def _finish(self, clause: Clause) -> None:
        verb, top = clause.verb, clause.top
        own = [self.scene.doc[i] for i in self.scene.clause_tokens(top)]
        clause.adverbs = frozenset(t.lower_ for t in own if t.pos_ in ("ADV", "ADJ", "SCONJ") or t.dep_ in ("advmod", "neg"))
        clause.still = "still" in clause.adverbs and not clause.negated
        if _OVER & clause.adverbs and (clause.negated or any(t.lower_ == "no" for t in own)):
            clause.kind, clause.negated = "ends", False
        particle = next(
            (c.lower_ for c in verb.children if c.dep_ == "prt" or (c.dep_ == "advmod" and c.lower_ in _PARTICLES and c.i == verb.i + 1)),
            "",
        )
        clause.key = f"{verb.lemma_.lower()} {particle}".strip()
        for child in verb.children:
            if child.dep_ in ("dobj", "attr", "oprd", "dative") and child.pos_ != "ADP":
                clause.objects.append(("", child))
            elif child.dep_ == "advcl" and child.pos_ == "NOUN" and any(c.lower_ == "as" for c in child.children):
                clause.objects.append(("as", child))
            elif child.dep_ in ("prep", "agent"):
                # "from Lisbon to Porto": the second one is the verb's too, whatever it hangs on in the tree
                chained = [inner for inner in child.children if inner.dep_ == "prep" and (child.lower_, inner.lower_) == ("from", "to")]
                clause.objects += [(p.lower_, inner) for p in (child, *chained) for inner in p.children if inner.dep_ == "pobj"]
        direct = clause.direct
        if direct is not None and direct.lemma_.lower() in words("phrases", "light"):
            clause.objects += [
                (c.lower_, inner) for c in direct.children if c.dep_ == "prep" for inner in c.children if inner.dep_ == "pobj"
            ]

    # -------------------------------------------------------------------------------------------- subjects

    def _subject(self, verb: Token, sentence: Span) -> tuple[End, str] | None:
        token = _subject_token(verb)
        if token is None:
            return self._elided_speaker(verb, sentence)
        if token.dep_ == "expl" or any(
            c.dep_ == "det" and c.lower_ in ("no", "this", "that", "these", "those", "any", "every")
            for c in token.children
            if c.pos_ != "PROPN"
        ):
            return None
        if token.pos_ == "PRON" or token.lower_ in words("pronouns", "first"):
            name = self.cast.meant(token)
            return (End(name, PERSON), "person") if name else None
        return self._named_subject(token, verb)

    def _named_subject(self, token: Token, verb: Token) -> tuple[End, str] | None:
        end = self.phrases.end(token, "Thing")
        if end is None or (token.i + 1 < verb.i and token.nbor().text == ":"):
            return None  # "Trial feedback: a line was merged": a heading is no subject
        if end.type in (PERSON, "Animal"):
            return (end, "person") if end.type == PERSON else (end, "thing")
        if (
            token.pos_ == "PROPN"
            and (token.ent_type_ in ("PERSON", "") or (token.ent_type_ in ("GPE", "NORP") and verb.pos_ == "VERB"))
            and token.text.istitle()
            and len(end.name.split()) <= 2
            and not any(c.dep_ in ("det", "amod") for c in token.children)
            and _acts_like_a_person(verb)
        ):
            return End(end.name, PERSON, span=end.span), "name"
        if token.ent_type_ == "ORG" and token.pos_ == "PROPN" and not end.name.isupper():
            return End(end.name, ORGANIZATION, span=end.span), "organization"
        if token.pos_ not in ("NOUN", "PROPN") or not self.phrases.is_telling(token) or token.lemma_.lower() in words("people", "jobs"):
            return None
        if (
            verb.tag_ in ("VB", "VBP")
            and token.tag_ in ("NN", "NNP")
            and not _auxiliaries(verb)
            and not any(c.dep_ == "conj" for c in token.children)
        ):
            return None  # "Test results show": a singular noun with a bare verb is a wrong parse
        return end, "thing"

    def also(self, clause: Clause) -> list[End]:
        """Further people who do the same: "my colleagues and I", "Ana and Tom"."""
        subject = next((c for c in clause.top.children if c.dep_ in ("nsubj", "nsubjpass")), None)
        if subject is None or clause.gap:
            return []
        ends = [self.phrases.end(t, PERSON) for t in subject.conjuncts]
        return [e for e in ends if e is not None and e.type == PERSON and e.name != clause.subject.name]

    def _elided_speaker(self, verb: Token, sentence: Span) -> tuple[End, str] | None:
        """ "Just finished the report": the speaker; an imperative has no subject."""
        if self.cast.actor is None or self.scene.turn.kind == "text":
            return None
        leading = all(t.dep_ in ("aux", "advmod", "auxpass", "punct", "intj", "cc", "npadvmod") for t in sentence if t.i < verb.i)
        continued = verb.dep_ == "conj" and verb.head.i in self._elided and verb.tag_ == verb.head.tag_
        if not continued and not (leading and verb.dep_ == "ROOT"):
            return None
        if verb.pos_ != "VERB" or verb.tag_ not in ("VBD", "VBN", "VBG"):
            return None
        if verb.tag_ == "VBG" and not any(t.dep_ in ("aux", "advmod") and t.i < verb.i for t in verb.children):
            return None
        if verb.lemma_.lower() in words("verbs", "unspoken"):
            return None
        self._elided.add(verb.i)
        return End(self.cast.actor, PERSON), "person"


def _subject_token(verb: Token) -> Token | None:
    for child in verb.children:
        if child.dep_ in ("nsubj", "nsubjpass", "expl"):
            return child
    if verb.dep_ in ("conj", "xcomp") and verb.head.pos_ in ("VERB", "AUX"):
        return _subject_token(verb.head)
    return None


def _acts_like_a_person(verb: Token) -> bool:
    return str(verb.pos_) == "VERB" or str(verb.lemma_) == "be"


def _auxiliaries(verb: Token) -> set[str]:
    own = {c.lower_ for c in verb.children if c.dep_ in ("aux", "auxpass")}
    if verb.dep_ == "conj" and not own and not any(c.dep_ == "nsubj" for c in verb.children) and verb.head.pos_ in ("VERB", "AUX"):
        return {c.lower_ for c in verb.head.children if c.dep_ in ("aux", "auxpass")}
    return own


def _is_present(verb: Token) -> bool:
    return any(t.tag_ in ("VBP", "VBZ") for t in (verb, *(c for c in verb.children if c.dep_ in ("aux", "auxpass"))))


def _is_negated(verb: Token) -> bool:
    return any(c.dep_ == "neg" or c.lower_ in ("never", "hardly", "neither", "nor") for c in verb.children)


def _has_open_condition(verb: Token, auxiliaries: set[str]) -> bool:
    for child in verb.children:
        if child.dep_ == "advcl":
            marks = {c.lower_ for c in child.children if c.dep_ in ("mark", "advmod")}
            if marks & {"if", "unless"} or (
                marks & {"when", "once", "whenever"} and (verb.tag_ in ("VB", "VBP", "VBZ") or "will" in auxiliaries)
            ):
                return True
    return False


def _is_beside(verb: Token, head: Token) -> bool:
    """Whether a clause merely stands before another ("the page is online, the tests look good"), told by nobody."""
    return verb.i < head.i and any(c.dep_ == "nsubj" and c.pos_ == "NOUN" and c.i > verb.i for c in head.children)


def _quoted(sentence: Span) -> list[tuple[int, int]]:
    """Stretches between double quotation marks that hold a clause rather than a title."""
    marks = [t.idx for t in sentence if t.text in ('"', "``", "''")]
    return [(a, b) for a, b in zip(marks[::2], marks[1::2], strict=False)]
