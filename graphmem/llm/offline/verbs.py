"""From clauses to claims: the relation map, plans, tastes, possessions, work and status."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from graphmem.llm.offline.claims import ORGANIZATION, PERSON, PLACE, VALUE, Claim, End
from graphmem.llm.offline.clauses import Clause
from graphmem.llm.offline.kin import given_name
from graphmem.llm.offline.lexicon import lexicon, words
from graphmem.llm.offline.making import LASTING, ClaimMaker
from graphmem.llm.offline.narrowing import Fit, narrowed
from graphmem.llm.offline.patterns import Pattern, meaning
from graphmem.llm.offline.people import kin_word

if TYPE_CHECKING:
    from spacy.tokens import Token

# What is believed of somebody who is told it ("you work at Acme").
OF_OTHERS = frozenset(("WORKS_AT", "LIVES_IN", "MARRIED_TO", "STUDIES_AT", "RESPONSIBLE_FOR"))
# What the noun of a relative clause or a gerund as a subject can show.
_OF_GAPS = frozenset(
    (
        *("MADE", "READ", "WATCHED", "ATTENDED", "BOUGHT", "RECEIVED", "VISITED", "ORGANIZED", "WON"),
        *("VOLUNTEERS_AT", "STUDIES_AT", "RUNS", "OWNS", "HAS_PET", "WORKED_ON", "WORKS_AT", "SEEKS", "MEMBER_OF"),
    )
)
_GOOD_TIMES = frozenset(("time", "blast", "fun", "experience", "day", "night", "evening"))
# Whose common nouns are one's own: two people's cars, gyms and shops are different ones.
_OWN_THINGS = frozenset(("OWNS", "BOUGHT", "FOUNDED", "RUNS", "MEMBER_OF", "WORKS_AT", "STUDIES_AT", "LOST"))


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
        if clause.must:
            return self._planned_thing(clause) if clause.who == "thing" and not clause.negated else []
        if clause.affect:
            return self._affect(clause, about_other)
        if clause.planned and clause.kind == "holds":
            return self._plan(clause, about_other)
        if clause.gap:
            return [c for c in self._mapped(clause, about_other) if c.relation in _OF_GAPS]
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
        if going or (
            when.start is not None
            and when.start.last > self.scene.turn.reference
            and when.role == "at"
            and self.scene.turn.reference - when.start.first <= timedelta(days=1)
        ):
            clause.planned = True

    def _plan(self, clause: Clause, about_other: bool) -> list[Claim]:
        when = self.maker.when(clause)
        if when.start is not None:
            settled = [c for c in self._mapped(clause, about_other) if c.relation in LASTING]
            if settled:
                return settled
        if clause.who != "person":
            return self._planned_thing(clause) if self.scene.turn.in_group else []
        if clause.lemma == "marry" and (married := self._special(clause, about_other)):
            return married
        verb = clause.verb
        work = self.scene.turn.in_group and clause.key.replace(" ", "_") in words("verbs", "work")
        gain = clause.lemma == "get" and self._is_gain(clause)
        if about_other or clause.lemma in ("be", "let", "know", "love", "like"):
            return []
        if not (work or gain) and clause.lemma in words("verbs", "chat") | words("verbs", "hollow") and not self._is_definite(clause):
            return []
        text = self.phrases.verb_phrase(verb)
        if text is None:
            return []
        if " " not in text and clause.lemma not in words("verbs", "activities"):
            return []
        base = re.sub(rf"^{re.escape(verb.text.lower())}\b", verb.lemma_.lower(), text)
        return self._one(self.maker.claim(clause, "PLANS", End(base, VALUE)))

    def _is_definite(self, clause: Clause) -> bool:
        """Whether a common verb has an object that makes it a plan of its own ("make two changes to the copy", "get stronger")."""
        direct = clause.direct
        if direct is None:
            return clause.lemma == "get" and any(c.dep_ == "acomp" and c.tag_ == "JJR" for c in clause.verb.children)
        if clause.lemma in words("verbs", "hollow") and clause.lemma not in (
            "have",
            "make",
            "check",
            "share",
            "put",
            "bring",
            "raise",
            "throw",
            "set",
        ):
            return bool(self._mapped(clause, False))
        telling = self.phrases.is_telling(direct) and direct.lemma_.lower() not in words("phrases", "plain")
        return telling and (direct.pos_ == "PROPN" or any(c.dep_ in ("amod", "compound", "nummod", "prep") for c in direct.children))

    def _is_gain(self, clause: Clause) -> bool:
        """Whether "get" is about a thing or an animal to have."""
        direct = clause.direct
        return direct is not None and (
            direct.lemma_.lower() in words("people", "belongings") or lexicon().kin.get(kin_word(direct) or "") == "HAS_PET"
        )

    def _planned_thing(self, clause: Clause) -> list[Claim]:
        if (
            clause.top.lemma_ in words("verbs", "plan")
            or clause.lemma in ("be", "help", "need", "make", "give", "bring")
            or (clause.lemma == "have" and not clause.must)
            or clause.who == "organization"
        ):
            return []
        relation = "MUST" if clause.must else "PLANNED"
        no, clause.negated = "not " if clause.negated else "", False
        if clause.passive:
            bare = " ".join((clause.verb.text.lower(), *clause.key.split()[1:]))
            phrase = self.phrases.verb_phrase(clause.verb) or bare
            return self._one(self.maker.claim(clause, relation, End(f"{no}be {phrase}", VALUE)))
        text = self.phrases.verb_phrase(clause.verb, negated=bool(no))
        return self._one(self.maker.claim(clause, relation, End(no + text, VALUE))) if text else []

    def _affect(self, clause: Clause, about_other: bool) -> list[Claim]:
        """ "love cooking Thai food", "need to fix the build"."""
        text = self.phrases.verb_phrase(clause.verb)
        if about_other or text is None:
            return []
        if clause.affect == "need" and clause.who == "thing" and self.scene.turn.in_group and not clause.negated and not clause.past:
            return self._one(self.maker.claim(clause, "NEEDS", End(text, VALUE)))
        if clause.who != "person":
            return []
        if clause.affect == "learn":
            return self._one(self.maker.claim(clause, "STUDIES", End(text, "Topic")))
        if clause.affect in ("suggest", "propose", "recommend"):
            proposed = self.scene.turn.in_group and not clause.negated and not clause.past
            return self._one(self.maker.claim(clause, "SUGGESTS", End(text, VALUE))) if proposed else []
        if clause.affect == "need":
            if clause.lemma in words("verbs", "work") and not clause.negated and self.scene.turn.in_group:
                return self._one(self.maker.claim(clause, "NEEDS", End(text, VALUE)))
            return []
        if clause.past and not clause.perfect:
            return []
        relation = "DISLIKES" if clause.affect in ("hate", "dislike") else "LIKES"
        verbs = [clause.verb, *(c for c in clause.verb.conjuncts if c.tag_ == clause.verb.tag_ and c.i > clause.verb.i)]
        out: list[Claim] = []
        for verb in verbs[:4]:
            told = self.phrases.verb_phrase(verb)
            if told and self._is_pastime(verb, told):
                out += self._one(self.maker.claim(clause, relation, End(told, "Topic")))
        return out

    def _is_pastime(self, verb: Token, told: str) -> bool:
        """Whether a verb phrase names something one can like doing, not merely "seeing this"."""
        lemma = verb.lemma_.lower()
        if lemma in words("verbs", "hollow") and lemma not in ("be", "make", "spend", "help", "share", "have", "read", "watch"):
            return False
        if " " not in told and any(c.dep_ in ("prep", "dobj", "advcl", "ccomp", "xcomp") for c in verb.children):
            return lemma in words("verbs", "activities")  # its complement says nothing ("escaping to that world")
        if lemma not in words("verbs", "chat"):
            return True
        direct = next((c for c in verb.children if c.dep_ == "dobj"), None)
        if direct is None:
            return " " in told
        plain = direct.lemma_.lower() in words("phrases", "plain") | words("phrases", "vague")
        return not plain and any(c.dep_ in ("amod", "compound", "prep", "poss") for c in (*direct.children, *verb.children))

    # -------------------------------------------------------------------------------------------- the map

    def _mapped(self, clause: Clause, about_other: bool) -> list[Claim]:
        out: list[Claim] = []
        direct = clause.direct
        keys = [clause.key]
        if direct is not None:
            keys.insert(0, f"{clause.key} {direct.lemma_.lower()}")
        if clause.key != clause.lemma:
            keys.append(clause.lemma)
        firm = clause.lemma in words("verbs", "of_firms")
        for preposition, token in clause.objects:
            pattern = next((p for k in keys if (p := meaning(clause.who, k, preposition))), None)
            if clause.guessed and firm:
                pattern = None
            if pattern is None and clause.guessed:
                pattern = next((p for k in keys if (p := meaning("organization", k, preposition))), None)
                if pattern is not None:
                    clause.subject = replace(clause.subject, type=ORGANIZATION)
            if (
                pattern is None
                and clause.who == "organization"
                and not firm
                and clause.subject.name.istitle()
                and len(clause.subject.name.split()) < 3
            ):
                pattern = next((p for k in keys if (p := meaning("person", k, preposition))), None)
                if pattern is not None:
                    clause.subject = replace(clause.subject, type=PERSON)
            if pattern is None or (clause.passive and not preposition) or (preposition == "by" and not clause.passive):
                continue
            if pattern.relation in ("MADE", "BOUGHT", "READ") and preposition == "" and token.dep_ == "dative":
                continue
            out += self._of_pattern(clause, pattern, token, about_other)
        if len(out) > 1 and any(c.relation == "WORKS_AT" and c.target.name.endswith("'s job") for c in out):
            out = [c for c in out if not c.target.name.endswith("'s job")]
        return [c for c in out if not _is_vague_end(c)]

    def _of_pattern(self, clause: Clause, pattern: Pattern, token: Token, about_other: bool) -> list[Claim]:
        if about_other and (pattern.relation not in OF_OTHERS or clause.planned):
            return []
        meant = narrowed(Fit(clause, pattern, token, self.scene))
        if meant is None or (pattern.number and not any(t.like_num for t in token.subtree)):
            return []
        relation, target = meant
        ends = self.phrases.ends(
            token,
            target,
            pointing=(clause.gap and relation in ("MADE", "BOUGHT", "READ") and self.maker.when(clause).start is not None)
            or (
                relation in ("MADE", "BOUGHT", "RECEIVED")
                and token.lemma_.lower() in words("people", "works") | words("people", "belongings")
            ),
        )
        if relation in _OWN_THINGS and clause.who == "person":
            ends = [self.phrases.owned(e, clause.subject) for e in ends]
        if (pattern.kind, clause.lemma) == ("ends", "do") and clause.verb.lower_ != "done":
            return []  # "doing well with the essay"
        kind = "ends" if pattern.kind == "ends" or (relation, clause.lemma) == ("WORKS_AT", "lose") else None
        if kind and clause.negated:
            return []
        if relation in ("KNOWS", "DATING", "MARRIED_TO"):
            ends = [e for e in ends if e.type == PERSON]
        if relation == "MARRIED_TO" and token.pos_ != "PROPN":
            return []  # "married the mayor's daughter": whoever is named later may be the same
        return [c for e in ends if (c := self.maker.claim(clause, relation, e, kind=kind)) is not None]

    # -------------------------------------------------------------------------------------------- single rules

    def _special(self, clause: Clause, about_other: bool) -> list[Claim]:
        direct = clause.direct
        if (
            clause.lemma == "feel"
            and clause.perfect
            and clause.verb.tag_ == "VBG"
            and clause.who == "person"
            and not (about_other or clause.negated)
        ):
            state = next((c for c in clause.verb.children if c.dep_ in ("acomp", "oprd")), None)
            if state is not None and state.pos_ in ("ADJ", "VERB"):
                return self._one(self.maker.claim(clause, "FEELS", End(state.text.lower(), VALUE)))
            return []
        if clause.lemma in words("verbs", "gladden") and (dear := self._dear(clause)):
            return dear
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
        if clause.lemma == "have" and clause.past and direct is not None and direct.lemma_ in _GOOD_TIMES:
            return self._pastime(clause, direct)
        if clause.lemma in ("have", "get") and direct is not None and not clause.passive:
            return self._possession(clause, direct, about_other)
        if clause.lemma in ("marry", "divorce") and all(
            t.i in self.scene.dated or not self.phrases.is_telling(t) for _, t in clause.objects
        ):
            return self._marriage(clause)
        if clause.lemma in ("adopt", "rescue", "buy") and direct is not None and lexicon().kin.get(kin_word(direct) or "") == "HAS_PET":
            return self._possession(clause, direct, about_other)
        return []

    def _dear(self, clause: Clause) -> list[Claim]:
        """ "Friendship means a lot to me", "art gives me joy": what is dear to the speaker."""
        top, actor = clause.top, self.cast.actor
        subject = next((c for c in top.children if c.dep_ == "nsubj"), None)
        if (
            subject is None
            or actor is None
            or (clause.who == "person" and not clause.guessed)
            or top.tag_ not in ("VBZ", "VBP")
            or clause.negated
            or clause.must
        ):
            return []
        own = [self.scene.doc[i] for i in self.scene.clause_tokens(top)]
        if not any(t.lower_ == "me" for t in own) or any(t.lower_ in ("your", "this", "that") for t in subject.subtree):
            return []
        if clause.lemma in ("mean", "bring", "give") and not any(t.lower_ in words("states", "joys") for t in own):
            return []
        helps = clause.lemma in ("help", "inspire", "motivate", "keep", "energize")
        relation = "VALUES" if clause.lemma == "mean" else "HELPED_BY" if helps else "LIKES"
        return [c for e in self.phrases.ends(subject, "Topic") if (c := self.maker.claim(clause, relation, e, source=End(actor, PERSON)))]

    def _pastime(self, clause: Clause, direct: Token) -> list[Claim]:
        """ "Had a great time at the pride event": where it was had."""
        places = [*clause.objects, *((c.lower_, t) for c in direct.children if c.dep_ == "prep" for t in c.children if t.dep_ == "pobj")]
        for preposition, token in places:
            lemma = token.lemma_.lower()
            if preposition in ("at", "on", "in") and self.phrases.is_telling(token):
                if lemma in words("people", "events") | words("people", "outings"):
                    own = f"{self.cast.actor}'s "
                    events = [replace(e, name=e.name.removeprefix(own)) for e in self.phrases.ends(token, "Event")]
                    return [c for e in events if (c := self.maker.claim(clause, "ATTENDED", e))]
                if token.pos_ == "PROPN" or lemma in words("people", "sites"):
                    return [c for e in self.phrases.ends(token, PLACE) if (c := self.maker.claim(clause, "VISITED", e))]
        return []

    def _marriage(self, clause: Clause) -> list[Claim]:
        """ "We are getting married", "Ana and I got married in 2018", "I am divorced"."""
        if clause.planned or any(c.lower_ == "getting" for c in clause.verb.children):
            return self._one(self.maker.claim(clause, "PLANS", End(f"get {clause.verb.text.lower()}", VALUE)))
        subject = next((c for c in clause.top.children if c.dep_ in ("nsubj", "nsubjpass")), None)
        if subject is not None and clause.lemma == "marry":
            couple = [e for t in (subject, *subject.conjuncts) if (e := self.phrases.end(t, PERSON)) is not None and e.type == PERSON]
            if len(couple) == 2:
                return self._one(self.maker.claim(clause, "MARRIED_TO", couple[1], source=couple[0]))
        return self._one(self.maker.claim(clause, "STATUS", End(clause.verb.text.lower(), VALUE)))

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
                if word and lexicon().kin[word] == relation and self.phrases.noun_phrase(noun):
                    own = f"{clause.subject.name}'s {noun.lower_}"
                    name = given_name(noun, noun) or (noun.text if noun.pos_ == "PROPN" else None)
                    out += self._one(self.maker.claim(clause, relation, End(name or own, kind, (own,) if name else ())))
            return out
        if lemma in ("love", "passion", "interest", "spot") and clause.lemma == "have" and not about_other:
            objects = [t for p in token.children if p.dep_ == "prep" and p.lower_ in ("for", "in") for t in p.children if t.dep_ == "pobj"]
            return [c for t in objects for e in self.phrases.ends(t, "Topic") if (c := self.maker.claim(clause, "LIKES", e))]
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
            belonging = self.phrases.owned(End(name, "Thing", span=self.phrases.span(token, name)), clause.subject)
            return self._one(self.maker.claim(clause, relation, belonging))
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
        # Being designed or built is a stage of what one works on, and no state of a chapel that the next deed ends.
        prepositions = {p for p, _ in clause.objects}
        done = (clause.past and not clause.perfect and self.scene.turn.kind == "text") or "by" in prepositions
        told = self.scene.turn.in_group or not done
        known = (
            (key in words("verbs", "status") and not (clause.lemma == "pass" and "through" in prepositions))
            or (clause.passive and clause.verb.lower_ == "done")
            or (clause.passive and told and key in words("verbs", "work") and not (clause.lemma == "set" and "in" in prepositions))
        )
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
        if (
            clause.who != "person"
            or about_other
            or clause.negated
            or not clause.past
            or clause.passive
            or clause.kind == "ends"
            or self.scene.turn.in_group
        ):
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
        busy = clause.lemma == "do" and any(c.dep_ == "compound" for c in direct.children)
        if not (busy or clause.key.replace(" ", "_") in words("verbs", "work")) or words("verbs", "once") & clause.adverbs:
            return []
        done = clause.past or clause.perfect
        if not done and not clause.progressive:
            return []
        relation = "WORKED_ON" if done else "WORKS_ON"
        return [c for e in self.phrases.ends(direct, "Thing") if (c := self.maker.claim(clause, relation, e))]


def _is_vague_end(claim: Claim) -> bool:
    """The end of a job that is neither named nor dated: told as news or months later, nobody can say."""
    undated = claim.start is None and claim.end is None
    return claim.relation == "WORKS_AT" and claim.kind == "ends" and undated and claim.target.name.endswith("'s job")
