"""Building claims from clauses: dates, polarity, and the sentence as told from outside."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from graphmem.llm.offline.claims import Claim, End
from graphmem.llm.offline.clauses import Clause
from graphmem.llm.offline.lexicon import words
from graphmem.llm.offline.phrases import Phrases
from graphmem.llm.offline.scene import Scene, When
from graphmem.relations import DEFAULT_ONTOLOGY

if TYPE_CHECKING:
    from spacy.tokens import Token

# Relations that last: what is said of them with a date ahead begins then, and denying them says something.
LASTING = frozenset(
    (
        *("LIVES_IN", "FROM", "WORKS_AT", "WORKS_AS", "WORKS_IN", "STUDIES_AT", "STUDIES", "MEMBER_OF", "VOLUNTEERS_AT", "RUNS", "SPEAKS"),
        *("MARRIED_TO", "DATING", "KNOWS", "CHILD_OF", "PARENT_OF", "SIBLING_OF", "HAS_PET", "OWNS", "LIKES", "DISLIKES"),
        *(
            "HAS_CONDITION",
            "ALLERGIC_TO",
            "RESPONSIBLE_FOR",
            "DEPENDS_ON",
            "BLOCKED_BY",
            "BLOCKS",
            "USES",
            "STATUS",
            "LOCATED_IN",
            "PART_OF",
        ),
        *("LOCATED_IN", "PART_OF", "PLANS", "NEEDS"),
    )
)
# What one can have one of at a time: a new one ends the one before, so none begins at an unknown time of the past.
_EXCLUSIVE = frozenset(relation for relation in DEFAULT_ONTOLOGY.relations if DEFAULT_ONTOLOGY.relation(relation).one_target)
# "I worked there", "was married to": it may have begun and ended long ago.
_LASTING_VERBS = frozenset(("live", "reside", "work", "serve", "teach", "be", "base", "employ", "intern"))
# "I was married in 2019": then it began.
_BEGUN = frozenset(("MARRIED_TO", "ENGAGED_TO"))
# What a plan's or request's date says is by when, not since when.
_TOWARDS = frozenset(("PLANS", "PLANNED", "MUST", "NEEDS", "REQUESTS"))


_FILLER = re.compile(r"^(?:(?:so|and|but|also|then|well|now|because|that|oh|ok|okay|plus|anyway|yes|no)\b[ ,]+)+", re.IGNORECASE)
_TRAILING = re.compile(r"(?:,? (?:and|but|or|so|because)|, so\b[^,]*)+$")


class ClaimMaker:
    """Builds claims of one scene: dates, polarity and the sentence."""

    def __init__(self, scene: Scene, phrases: Phrases) -> None:
        self.scene = scene
        self.phrases = phrases
        self.cast = scene.cast

    def claim(self, clause: Clause, relation: str, target: End, *, kind: str | None = None, source: End | None = None) -> Claim | None:
        """What the clause says of its subject; None for a denial of what does not last."""
        kind = kind or clause.kind
        if clause.negated and kind == "holds":
            if relation not in LASTING:
                return None
            kind = "denies"
        if clause.tried and kind == "ends":
            return None  # "trying to move from Ghent"
        if relation in _EXCLUSIVE and self._is_lecture(clause, source):
            return None
        when = self.when(clause)
        start, end = when.start, when.end
        if relation in _TOWARDS:
            start, end = None, self.scene.alternative(clause.top) or end or start
            if end is not None and end.last < self.scene.turn.reference:
                end = None  # when it was decided, not by when it is done
        elif when.role == "by" and relation not in ("LIVES_IN", "WORKS_AT"):
            end = None
        if kind == "ends" and end is None:
            start, end = None, start
        elif kind == "ends" and when.role != "range":
            start = None
        if kind != "denies" and clause.past and not clause.perfect and relation in _EXCLUSIVE:
            if start is None and end is None and (self.scene.is_narrative or (kind == "holds" and _lasted(clause))):
                return None
            if kind == "holds" and when.role == "at" and start is not None and _lasted(clause) and relation not in _BEGUN:
                end = start if self.scene.is_long_ago(start) and len(self.scene.dates_of(clause.top)) == 1 else end
        return Claim(
            source or clause.subject,
            relation,
            target,
            self.sentence(clause),
            self.span(clause),
            kind,
            start,
            end,
            clause.still and kind == "holds",
        )

    def _is_lecture(self, clause: Clause, source: End | None) -> bool:
        """Whether an assistant speaks of things of a kind ("normalization is sufficient here"), not of one that is in a state."""
        turn = self.scene.turn
        if turn.kind != "message" or turn.actor is not None or clause.who != "thing" or source is not None:
            return False
        subject = next((c for c in clause.top.children if c.dep_ in ("nsubj", "nsubjpass")), None)
        if subject is None or subject.pos_ == "PROPN":
            return False
        return not any(c.dep_ in ("det", "poss") and c.lower_ not in ("a", "an") for c in subject.children)

    def when(self, clause: Clause) -> When:
        """The clause's date, ahead or past as the tense has it."""
        ahead = clause.planned or not (clause.past or clause.perfect)
        when = self.scene.when(clause.top, ahead=ahead, perfect=clause.perfect or clause.still)
        again = when.role == "range" and ahead and clause.who != "person" and self.scene.is_repeated(clause.top)
        return When() if again else when

    def span(self, clause: Clause) -> tuple[int, int]:
        """The clause's characters in the cleaned text."""
        tokens = sorted(self.scene.clause_tokens(clause.top))
        first, last = self.scene.doc[tokens[0]], self.scene.doc[tokens[-1]]
        return first.idx, last.idx + len(last.text)

    def sentence(self, clause: Clause) -> str:
        """The clause as a sentence of its own: people by name, also where the subject stands in another clause."""
        if clause.gap:
            if not clause.objects or clause.verb.dep_ == "csubj":
                return f"{clause.subject.name}: {clause.top.doc[clause.top.left_edge.i : clause.top.right_edge.i + 1].text}"
            head = clause.objects[0][1]
            said = " ".join(t.text for t in clause.top.children if t.dep_ in ("aux", "prt", "advmod") and t.i < clause.top.i)
            return re.sub(
                r"\s+", " ", f"{clause.subject.name} {said} {clause.top.text} {clause.objects[0][0]} {self.phrases.noun_phrase(head)}"
            )
        own = self.scene.clause_tokens(clause.top) | self.scene.clause_tokens(clause.verb)
        tokens = [self.scene.doc[i] for i in sorted(own)]
        tokens = [
            t
            for t in tokens
            if not (t.is_space or t.dep_ == "intj" or (t.dep_ in ("cc", "mark", "punct") and t.head == clause.top and t.i < clause.top.i))
        ]
        subject = next((c for c in clause.top.children if c.dep_ in ("nsubj", "nsubjpass")), None)
        left_out = "will " if clause.planned and clause.top.tag_ == "VB" and not any(c.dep_ == "aux" for c in clause.top.children) else ""
        parts = [] if subject is not None else [f"{clause.subject.name} {left_out}"]
        for n, token in enumerate(tokens):
            following = tokens[n + 1].i if n + 1 < len(tokens) else -1
            gap = token.whitespace_ if following == token.i + 1 else " "
            parts.append(self._word(token, clause) + gap)
        text = re.sub(r"\s+", " ", "".join(parts))
        text = re.sub(r"\s+([,.!?;:])", r"\1", text).strip(" ,;:-!?.")
        text = _TRAILING.sub("", _FILLER.sub("", text))
        return text[:1].upper() + text[1:] if text.split(" ")[0].islower() else text

    def _word(self, token: Token, clause: Clause) -> str:
        """A token as told from outside: names for pronouns, and the verb form that goes with them."""
        if token.pos_ == "PRON" or token.tag_ == "PRP$":
            person = self.cast.meant(token)
            if person and token.tag_ == "PRP$":
                return f"{person}'s"
            return person or str(token.text)
        if token.text.istitle() and (full := self._full_name(token)):
            return full
        finite = token == clause.top or (token.head == clause.top and token.dep_ in ("aux", "auxpass"))
        if finite and token.tag_ in ("VBP", "VB") and clause.who == "person" and clause.subject.name in (self.cast.actor, self.cast.other):
            if clause.planned and token.tag_ == "VB":
                return str(token.text)
            if token.dep_ in ("aux", "auxpass") or not any(c.dep_ == "aux" for c in token.children):
                return third_person(token.lower_)
        return str(token.text)

    def _full_name(self, token: Token) -> str | None:
        """The full name of a person named by the first name alone."""
        doc = token.doc
        beside = [doc[i] for i in (token.i - 1, token.i + 1) if 0 <= i < len(doc)]
        return None if any(t.pos_ == "PROPN" for t in beside) else self.cast.person(token.text)


def _lasted(clause: Clause) -> bool:
    """Whether the clause tells what somebody did for some time ("lived", "was married"), not what began ("moved", "got married").

    Of things, what was is told because it counts: "the page was down", "the rent was 900".
    """
    was = any(c.lower_ in ("was", "were") for c in clause.top.children)
    began = clause.top.lemma_.lower() in words("verbs", "begin")
    lasting = clause.lemma in _LASTING_VERBS or (clause.lemma == "marry" and was)
    return clause.lemma in ("locate", "situate") or (clause.who != "thing" and lasting and not began)


def third_person(verb: str) -> str:
    """The form of a present verb that goes with a name ("have" -> "has").

    >>> [third_person(v) for v in ("am", "have", "do", "study", "watch", "live", "will")]
    ['is', 'has', 'does', 'studies', 'watches', 'lives', 'will']
    """
    known = {"am": "is", "are": "is", "'m": "is", "'re": "is", "have": "has", "'ve": "has", "do": "does", "were": "was", "go": "goes"}
    if verb in known:
        return known[verb]
    if verb in ("will", "would", "shall", "should", "can", "could", "may", "might", "must", "to", "'ll", "'d", "be"):
        return verb
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("s", "sh", "ch", "x", "z")) else "s")
