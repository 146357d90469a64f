"""From clauses to claims: the relation map, plans, tastes, possessions, work and status."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from graphmem.llm.offline.claims import ORGANIZATION, PERSON, PLACE, VALUE, Claim, End
from graphmem.llm.offline.clauses import Clause
from graphmem.llm.offline.lexicon import lexicon, words
from graphmem.llm.offline.patterns import Pattern, meaning
from graphmem.llm.offline.people import kin_word
from graphmem.llm.offline.phrases import Phrases
from graphmem.llm.offline.scene import Scene, When

if TYPE_CHECKING:
    from spacy.tokens import Token

# Relations that last: what is said of them with a date ahead begins then, and denying them says something.
LASTING = frozenset(
    "LIVES_IN WORKS_AT WORKS_AS WORKS_IN STUDIES_AT STUDIES MEMBER_OF MARRIED_TO DATING OWNS RESPONSIBLE_FOR DEPENDS_ON BLOCKED_BY BLOCKS USES LIKES DISLIKES "
    "FROM SPEAKS HAS_CONDITION ALLERGIC_TO VOLUNTEERS_AT RUNS STATUS HAS_PET CHILD_OF PARENT_OF SIBLING_OF LOCATED_IN PART_OF KNOWS PLANS NEEDS".split()
)
# Things done, which an addressee is not told by "you".
OF_OTHERS = frozenset(("WORKS_AT", "LIVES_IN", "MARRIED_TO", "STUDIES_AT", "RESPONSIBLE_FOR"))


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
        when = self.when(clause)
        start, end = when.start, when.end
        if relation in ("PLANS", "NEEDS", "REQUESTS", "SUGGESTS"):
            start, end = None, end or start
        elif when.role == "by" and relation not in ("LIVES_IN", "WORKS_AT"):
            end = None
        if kind == "ends" and end is None:
            start, end = None, start
        elif kind == "ends" and when.role != "range":
            start = None
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

    def when(self, clause: Clause) -> When:
        """The clause's date, ahead or past as the tense has it."""
        ahead = clause.planned or not (clause.past or clause.perfect)
        return self.scene.when(clause.top, ahead=ahead, perfect=clause.perfect or clause.still)

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
            return re.sub(r"\s+", " ", f"{clause.subject.name} {said} {clause.top.text} {clause.objects[0][0]} {self.phrases.noun_phrase(head)}")
        own = self.scene.clause_tokens(clause.top)
        tokens = [self.scene.doc[i] for i in sorted(own)]
        tokens = [
            t
            for t in tokens
            if not (t.is_space or t.dep_ == "intj" or (t.dep_ in ("cc", "mark", "punct") and t.head == clause.top and t.i < clause.top.i))
        ]
        subject = next((c for c in clause.top.children if c.dep_ in ("nsubj", "nsubjpass")), None)
        parts = [] if subject is not None else [clause.subject.name + " "]
        for n, token in enumerate(tokens):
            following = tokens[n + 1].i if n + 1 < len(tokens) else -1
            gap = token.whitespace_ if following == token.i + 1 else " "
            parts.append(self._word(token, clause) + gap)
        text = re.sub(r"\s+", " ", "".join(parts))
        text = re.sub(r"\s+([,.!?;:])", r"\1", text).strip(" ,;:-!?.")
        text = re.sub(r"(?:,? (?:and|but|or|so|because))+$", "", text)
        return text[:1].upper() + text[1:]

    def _word(self, token: Token, clause: Clause) -> str:
        """A token as told from outside: names for pronouns, and the verb form that goes with them."""
        if token.pos_ == "PRON" or token.tag_ == "PRP$":
            person = self.cast.meant(token)
            if person and token.tag_ == "PRP$":
                return f"{person}'s"
            return person or token.text
        finite = token == clause.top or token.head == clause.top and token.dep_ in ("aux", "auxpass")
        if finite and token.tag_ in ("VBP", "VB") and clause.who == "person" and clause.subject.name in (self.cast.actor, self.cast.other):
            if token.dep_ in ("aux", "auxpass") or not any(c.dep_ == "aux" for c in token.children):
                return third_person(token.lower_)
        return token.text


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


class VerbReader:
    """Reads clauses with a full verb."""

    def __init__(self, maker: ClaimMaker) -> None:
        self.maker = maker
        self.scene = maker.scene
        self.phrases = maker.phrases
        self.cast = maker.cast

    def claims(self, clause: Clause) -> list[Claim]:
        """What a clause says, as far as the map understands it."""
        self._notice_plan(clause)
        about_other = clause.who == "person" and clause.subject.name == self.cast.other
        if clause.affect:
            return self._affect(clause, about_other)
        if clause.planned and clause.kind == "holds":
            return self._plan(clause, about_other)
        if clause.gap:
            return [c for c in self._mapped(clause, about_other) if c.relation in _GAPS]
        for read in (self._special, self._status, self._mapped, self._work, self._activity, self._event):
            if found := read(clause, about_other):
                return found
        return []

    def _one(self, claim: Claim | None) -> list[Claim]:
        return [claim] if claim is not None else []

    # -------------------------------------------------------------------------------------------- plans and tastes

    def _notice_plan(self, clause: Clause) -> None:
        """ "I'm moving to Porto (next month)" is a plan, also without "will"."""
        if clause.past or clause.perfect or clause.planned or clause.kind != "holds" or not clause.progressive:
            return
        when = self.maker.when(clause)
        going = clause.lemma in ("move", "relocate") or (clause.lemma == "go" and any(p == "to" for p, _ in clause.objects))
        if going or (when.start is not None and when.start.last > self.scene.turn.reference and when.role == "at" and not when.start.first < self.scene.turn.reference - timedelta(days=1)):
            clause.planned = True

    def _plan(self, clause: Clause, about_other: bool) -> list[Claim]:
        when = self.maker.when(clause)
        if when.start is not None:
            settled = [c for c in self._mapped(clause, about_other) if c.relation in LASTING]
            if settled:
                return settled
        if clause.who != "person":
            return self._planned_thing(clause)
        if clause.lemma == "marry" and (married := self._special(clause, about_other)):
            return married
        verb = clause.verb
        if about_other or (clause.lemma in words("verbs", "chat") and not self._mapped(clause, about_other)):
            return []
        if clause.lemma in ("be", "have", "get", "let", "know", "love", "like"):
            return []
        text = self.phrases.verb_phrase(verb)
        if text is None:
            return []
        if " " not in text and clause.lemma not in words("verbs", "activities"):
            return []
        base = re.sub(rf"^{re.escape(verb.text.lower())}\b", verb.lemma_.lower(), text)
        return self._one(self.maker.claim(clause, "PLANS", End(base, VALUE)))

    def _planned_thing(self, clause: Clause) -> list[Claim]:
        if clause.lemma in ("be", "have", "help", "need", "make", "give", "bring") or clause.who == "organization":
            return []
        if clause.passive:
            return self._one(self.maker.claim(clause, "PLANNED", End(f"be {clause.verb.text.lower()}", VALUE)))
        text = self.phrases.verb_phrase(clause.verb)
        return self._one(self.maker.claim(clause, "PLANNED", End(text, VALUE))) if text else []

    def _affect(self, clause: Clause, about_other: bool) -> list[Claim]:
        """ "love cooking Thai food", "need to fix the build"."""
        text = self.phrases.verb_phrase(clause.verb)
        if about_other or text is None or clause.who != "person":
            return []
        if clause.affect == "learn":
            return self._one(self.maker.claim(clause, "STUDIES", End(text, "Topic")))
        if clause.affect == "need":
            if clause.lemma in words("verbs", "work") and not clause.negated and self.scene.turn.in_group:
                return self._one(self.maker.claim(clause, "NEEDS", End(text, VALUE)))
            return []
        if clause.lemma in words("verbs", "chat") or (clause.past and not clause.perfect):
            return []
        relation = "DISLIKES" if clause.affect in ("hate", "dislike") else "LIKES"
        return self._one(self.maker.claim(clause, relation, End(text, "Topic")))

    # -------------------------------------------------------------------------------------------- the map

    def _mapped(self, clause: Clause, about_other: bool) -> list[Claim]:
        out: list[Claim] = []
        direct = clause.direct
        keys = [clause.key]
        if direct is not None:
            keys.insert(0, f"{clause.key} {direct.lemma_.lower()}")
        if clause.key != clause.lemma:
            keys.append(clause.lemma)
        for preposition, token in clause.objects:
            pattern = next((p for k in keys if (p := meaning(clause.who, k, preposition))), None)
            if pattern is None and clause.guessed:
                pattern = next((p for k in keys if (p := meaning("organization", k, preposition))), None)
                if pattern is not None:
                    clause.subject = replace(clause.subject, type=ORGANIZATION)
            if pattern is None or (clause.passive and not preposition) or (preposition == "by" and not clause.passive):
                continue
            if pattern.relation in ("MADE", "BOUGHT", "READ") and preposition == "" and token.dep_ == "dative":
                continue
            out += self._of_pattern(clause, pattern, token, about_other)
        if len(out) > 1 and any(c.relation == "WORKS_AT" and c.target.name.endswith("'s job") for c in out):
            out = [c for c in out if not c.target.name.endswith("'s job")]
        return out

    def _of_pattern(self, clause: Clause, pattern: Pattern, token: Token, about_other: bool) -> list[Claim]:
        if about_other and (pattern.relation not in OF_OTHERS or clause.planned):
            return []
        relation, target = self._narrowed(clause, pattern, token)
        if not relation or (pattern.number and not any(t.like_num for t in token.subtree)):
            return []
        ends = self.phrases.ends(token, target, pointing=relation in ("MADE", "BOUGHT", "RECEIVED") and token.lemma_.lower() in words("people", "works") | words("people", "belongings"))
        kind = "ends" if pattern.kind == "ends" or (relation, clause.lemma) == ("WORKS_AT", "lose") else None
        if kind and clause.negated:
            return []
        if relation in ("WORKS_WITH", "KNOWS", "DATING", "MARRIED_TO"):
            ends = [e for e in ends if e.type == PERSON or token.pos_ == "PROPN" and relation == "WORKS_WITH"]
        return [c for e in ends if (c := self.maker.claim(clause, relation, e, kind=kind)) is not None]

    def _narrowed(self, clause: Clause, pattern: Pattern, token: Token) -> tuple[str, str]:
        """The relation and target type, by what the object is; ("", "") if the object does not fit."""
        relation, target = pattern.relation, pattern.target
        lemma = token.lemma_.lower()
        proper = token.pos_ == "PROPN"
        kin = kin_word(token)
        match relation:
            case "LIVES_IN" | "FROM" | "HEADQUARTERED_IN":
                fits = (
                    proper
                    or token.ent_type_ in ("GPE", "LOC")
                    or lemma in words("people", "belongings") | {"city", "town", "village", "country", "countryside", "suburb"}
                )
                return (relation, target) if fits else ("", "")
            case "VISITED":
                if lemma in words("people", "events"):
                    return "ATTENDED", "Event"
                if (
                    kin
                    or lemma in ("bed", "sleep", "school", "work", "store", "gym")
                    or (
                        not proper
                        and token.ent_type_ not in ("GPE", "LOC", "FAC")
                        and not any(c.dep_ in ("compound", "amod") for c in token.children)
                        and lemma not in words("people", "sites")
                    )
                ):
                    return "", ""
                return relation, target
            case "WORKS_AT" | "ACQUIRED":
                if lemma == "home" or (lemma == "job" and clause.lemma != "quit") or (clause.key == "quit" and not proper):
                    return "", ""
                if token.ent_type_ in ("DATE", "TIME") or clause.key in ("start", "begin") and not proper:
                    return "", ""
            case "MEMBER_OF":
                if clause.lemma == "leave" and not (proper or lemma in words("people", "groups")):
                    return "", ""
                if clause.lemma == "leave" and token.ent_type_ in ("GPE", "LOC"):
                    return "LIVES_IN", PLACE
                if clause.lemma == "leave" and proper and self.cast.person(token.text) is None:
                    return "WORKS_AT", ORGANIZATION
                if clause.lemma == "join" and proper and token.ent_type_ not in ("PERSON", "GPE"):
                    return "WORKS_AT", ORGANIZATION
                if clause.lemma == "join" and lemma in ("call", "meeting", "conversation", "discussion") or token.ent_type_ == "PERSON":
                    return "", ""
                if lemma in words("people", "events"):
                    return "ATTENDED", "Event"
            case "OWNS":
                if (
                    clause.lemma == "own"
                    and lemma not in words("people", "belongings")
                    and (self.scene.turn.in_group or self.scene.turn.kind == "text")
                ):
                    return "RESPONSIBLE_FOR", "Thing"
                if kin and lexicon().kin[kin] == "HAS_PET":
                    return "HAS_PET", "Animal"
                if kin or (clause.lemma == "adopt" and lemma not in words("people", "belongings") and not proper):
                    return "", ""
            case "STUDIES":
                if lemma in ("class", "course", "lesson", "workshop") and not any(c.dep_ in ("compound", "amod") for c in token.children):
                    return "", ""
            case "FOUNDED":
                if clause.lemma in ("open", "launch", "start") and not (
                    proper or lemma in words("people", "belongings") | words("people", "groups") | words("people", "ventures")
                ):
                    return "", ""
            case "RUNS":
                if lemma not in words("people", "belongings") | words("people", "groups") | words("people", "ventures") and not proper:
                    return ("ATTENDED", "Event") if lemma in ("marathon", "race", "triathlon") else ("", "")
            case "MADE":
                if lemma in ("wish", "sense", "effort", "decision", "sure") or (clause.lemma == "finish" and not (lemma in words("people", "works") or any(c.dep_ == "poss" for c in token.children))):
                    return "", ""
                if self.scene.turn.in_group and clause.lemma in words("verbs", "work"):
                    return "", ""
                if clause.progressive and not clause.past:
                    return "WORKS_ON", "Project"
                if clause.top.tag_ in ("VBP", "VBZ") and not clause.perfect:
                    return "", ""
            case "RECEIVED" | "BOUGHT" | "WATCHED" | "READ" | "WON" | "ORGANIZED" | "ATTENDED" | "DONATED_TO":
                if clause.top.tag_ in ("VBP", "VBZ") and not clause.perfect:
                    return "", ""
                if (
                    relation == "ATTENDED"
                    and clause.lemma in ("perform", "celebrate")
                    and not (proper or lemma in words("people", "events"))
                ):
                    return "", ""
                if relation == "RECEIVED" and kin:
                    return "", ""
            case "RUNS_FOR":
                return (relation, target) if lemma in ("office", "mayor", "president", "council", "board", "seat", "senate", "governor") else ("", "")
            case "DOES" | "STARTED" | "TRIED" | "LOST" | "RAISED" | "GAVE":
                return self._narrowed_open(clause, relation, token)
            case "SEEKS":
                if clause.past or lemma in ("forward",) or not self.phrases.is_telling(token):
                    return "", ""
            case "KNOWS":
                return (relation, target) if proper and not self.scene.turn.in_group else ("", "")
            case "PLAYS":
                if lemma in ("role", "part") or clause.past and not proper:
                    return "", ""
            case "WORKS_ON":
                if not self.scene.turn.in_group and not (proper or any(c.dep_ in ("compound", "amod", "poss") for c in token.children)):
                    return "", ""
            case "MEETS" | "LIKES" | "DISLIKES" | "INTERESTED_IN":
                if token.pos_ == "PRON":
                    return "", ""
                if relation == "LIKES" and (
                    clause.past or clause.progressive or any(c.tag_ == "PRP$" and c.lower_ == "your" for c in token.children)
                ):
                    return "", ""
        return relation, target

    def _narrowed_open(self, clause: Clause, relation: str, token: Token) -> tuple[str, str]:
        """Verbs that say something only of some objects."""
        lemma = token.lemma_.lower()
        modified = token.pos_ == "PROPN" or any(c.dep_ in ("compound", "amod", "poss") for c in token.children)
        happened = clause.past or clause.perfect
        if self.scene.turn.in_group or not happened and not clause.progressive:
            return "", ""
        match relation:
            case "DOES":
                fits = modified and lemma not in ("job", "thing", "research", "work") and clause.key != "do well"
                return (("DID" if clause.past else "DOES"), "Topic") if fits else ("", "")
            case "STARTED":
                if lemma in words("people", "ventures") or lemma in words("people", "groups"):
                    return ("FOUNDED", ORGANIZATION) if lemma in words("people", "ventures") else ("MEMBER_OF", ORGANIZATION)
                return (relation, "Thing") if modified and lemma not in ("day", "conversation") else ("", "")
            case "TRIED":
                return (relation, "Topic") if modified and happened else ("", "")
            case "LOST":
                if lemma == "job":
                    return "WORKS_AT", ORGANIZATION
                return (relation, "Thing") if happened and (kin_word(token) or lemma in words("people", "belongings")) else ("", "")
            case "RAISED":
                return (relation, VALUE) if lemma in ("money", "fund", "dollar") or any(t.like_num for t in token.subtree) else ("", "")
            case _:
                return (relation, VALUE) if lemma in ("speech", "talk", "presentation", "lecture", "sermon", "keynote") else ("", "")

    # -------------------------------------------------------------------------------------------- single rules

    def _special(self, clause: Clause, about_other: bool) -> list[Claim]:
        direct = clause.direct
        if clause.lemma in ("die", "pass away") or clause.key == "pass away":
            if clause.subject.name in (self.cast.actor, self.cast.other) or clause.negated:
                return []
            return self._one(self.maker.claim(clause, "STATUS", End("died", VALUE))) if clause.who == "person" else []
        if clause.who != "person":
            return []
        if clause.lemma in ("injure", "hurt", "sprain", "twist", "break", "tear") and direct is not None and clause.past:
            if direct.lemma_.lower() in words("people", "body") and (name := self.phrases.noun_phrase(direct)):
                return self._one(self.maker.claim(clause, "HAS_CONDITION", End(f"{clause.verb.text.lower()} {name}", VALUE)))
            return []
        if clause.lemma in ("have", "get") and direct is not None and not clause.passive:
            return self._possession(clause, direct, about_other)
        if clause.lemma == "marry" and not clause.objects:
            if clause.planned:
                return self._one(self.maker.claim(clause, "PLANS", End("get married", VALUE)))
            return self._one(self.maker.claim(clause, "STATUS", End("married", VALUE))) if clause.past else []
        if clause.lemma in ("adopt",) and direct is not None and (kin := kin_word(direct)) and lexicon().kin[kin] == "HAS_PET":
            return [c for e in self.phrases.ends(direct, "Animal") if (c := self.maker.claim(clause, "HAS_PET", e))]
        return []

    def _possession(self, clause: Clause, token: Token, about_other: bool) -> list[Claim]:
        lemma = token.lemma_.lower()
        light = self._mapped_light(clause, about_other)
        if light:
            return light
        if token.pos_ == "PRON" or (name := self.phrases.noun_phrase(token)) is None:
            return []
        kin = kin_word(token)
        if kin is not None:
            relation = lexicon().kin[kin]
            if relation in ("FRIEND_OF", "MENTORED_BY", "MANAGED_BY", "COLLEAGUE_OF") or about_other:
                return []
            kind = "Animal" if relation == "HAS_PET" else PERSON
            out = []
            for noun in self.phrases.coordinated(token):
                word = kin_word(noun)
                called = self.phrases.noun_phrase(noun)
                if word and called and lexicon().kin[word] == relation:
                    owned = called if noun.pos_ == "PROPN" else f"{clause.subject.name}'s {called}"
                    out += self._one(self.maker.claim(clause, relation, End(owned, kind)))
            return out
        if lemma in words("people", "conditions"):
            return self._one(self.maker.claim(clause, "HAS_CONDITION", End(name, VALUE)))
        if lemma in words("people", "events"):
            when = self.maker.when(clause)
            if when.start is not None and when.start.first > self.scene.turn.reference and not about_other:
                return self._one(self.maker.claim(clause, "PLANS", End(f"attend {name}", VALUE)))
            if not clause.past or not self.phrases.is_telling(token):
                return []
            return self._one(self.maker.claim(clause, "ATTENDED", End(name, "Event", span=self.phrases.span(token, name))))
        if about_other or not self.phrases.is_telling(token):
            return []
        if lemma in words("people", "belongings") and not (clause.perfect and clause.lemma == "have"):
            relation = "BOUGHT" if clause.lemma == "get" and clause.past else "OWNS"
            return self._one(self.maker.claim(clause, relation, End(name, "Thing", span=self.phrases.span(token, name))))
        return []

    def _mapped_light(self, clause: Clause, about_other: bool) -> list[Claim]:
        """ "got a job at Acme": the object with its own preposition."""
        direct = clause.direct
        if direct is None or direct.lemma_.lower() not in words("phrases", "light"):
            return []
        return self._mapped(clause, about_other)

    def _status(self, clause: Clause, about_other: bool) -> list[Claim]:
        """ "The release has been approved", "gRPC has been rolled out", "the deal fell through"."""
        if clause.key == "fall through" and clause.who == "thing":
            return self._fell_through(clause)
        if clause.who == "person" or clause.direct is not None or words("verbs", "once") & clause.adverbs:
            return []
        key = clause.key.replace(" ", "_")
        finished = clause.passive or clause.top.tag_ in ("VBD", "VBN")
        known = key in words("verbs", "status") or (clause.passive and key in words("verbs", "work"))
        if not known or not finished or (clause.lemma in ("block", "acquire") and any(p in ("by", "on") for p, _ in clause.objects)):
            return []
        text = clause.verb.text.lower() + (f" {clause.key.split()[1]}" if " " in clause.key else "")
        place = next(
            (
                f" {p} {name}"
                for p, t in clause.objects
                if p in ("to", "in", "into", "with")
                and t.i not in self.scene.dated
                and self.phrases.is_telling(t)
                and (name := self.phrases.noun_phrase(t))
            ),
            "",
        )
        status = End(("not " if clause.negated else "") + text + (place if len(place.split()) < 6 else ""), VALUE)
        clause.negated = False
        return self._one(self.maker.claim(clause, "STATUS", status))

    def _activity(self, clause: Clause, about_other: bool) -> list[Claim]:
        """ "I've been running a lot", "we went camping in the mountains"."""
        if clause.who != "person" or about_other or clause.negated or clause.direct is not None or self.scene.turn.in_group:
            return []
        verb = clause.verb
        if clause.lemma not in words("verbs", "activities") or verb.tag_ == "VB" or clause.kind == "ends":
            return []
        place = self.phrases.verb_phrase(verb) if clause.objects else None
        gerund = verb.text.lower() if verb.tag_ == "VBG" else None
        if gerund is not None:
            return self._one(self.maker.claim(clause, "DID" if clause.past else "DOES", End(place or gerund, "Topic")))
        if clause.past and place is not None:
            return self._one(self.maker.claim(clause, "DID", End(place, "Topic")))
        return []

    def _event(self, clause: Clause, about_other: bool) -> list[Claim]:
        """Whatever a person did on a day that is told: "last week we roasted marshmallows"."""
        if clause.who != "person" or about_other or clause.negated or not clause.past or clause.passive or clause.kind == "ends" or self.scene.turn.in_group:
            return []
        when = self.maker.when(clause)
        if when.start is None or when.role != "at" or clause.lemma in words("verbs", "no_event"):
            return []
        text = self.phrases.verb_phrase(clause.verb)
        if text is None or " " not in text:
            return []
        return self._one(self.maker.claim(clause, "DID", End(text, VALUE)))

    def _fell_through(self, clause: Clause) -> list[Claim]:
        """ "The job at Globex fell through" ends what was said to begin; anything else that falls through has that status."""
        subject = next((c for c in clause.top.children if c.dep_ == "nsubj"), None)
        if subject is not None and self.cast.actor and subject.lemma_.lower() in ("job", "offer", "position", "move", "contract"):
            for prep in subject.children:
                relation, kind = ("LIVES_IN", PLACE) if prep.lower_ == "to" else ("WORKS_AT", ORGANIZATION)
                for token in prep.children if prep.dep_ == "prep" else ():
                    if token.pos_ == "PROPN" and (end := self.phrases.end(token, kind)):
                        return self._one(self.maker.claim(clause, relation, end, kind="ends", source=End(self.cast.actor, PERSON)))
        return self._one(self.maker.claim(clause, "STATUS", End("fell through", VALUE)))

    def _work(self, clause: Clause, about_other: bool) -> list[Claim]:
        """What was done, in a group that works together."""
        direct = clause.direct
        if clause.who != "person" or about_other or direct is None or clause.passive or clause.negated or not self.scene.turn.in_group:
            return []
        if clause.key.replace(" ", "_") not in words("verbs", "work") or words("verbs", "once") & clause.adverbs:
            return []
        done = clause.past or clause.perfect
        if not done and not clause.progressive:
            return []
        relation = "WORKED_ON" if done else "WORKS_ON"
        return [c for e in self.phrases.ends(direct, "Thing") if (c := self.maker.claim(clause, relation, e))]


_GAPS = frozenset(("MADE", "READ", "WATCHED", "ATTENDED", "BOUGHT", "RECEIVED", "VISITED", "ORGANIZED", "WON", "HAS_PET", "WORKED_ON", "WORKS_AT", "SEEKS", "MEMBER_OF"))
