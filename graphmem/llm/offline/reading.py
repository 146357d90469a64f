"""Reading one parsed turn: all rules, in order, and the loose clauses for search."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from graphmem import names
from graphmem.dates import FoundDate
from graphmem.interval import DateUnit
from graphmem.llm.offline.claims import PERSON, PLACE, Claim
from graphmem.llm.offline.clauses import Clause, ClauseReader
from graphmem.llm.offline.cleaning import Mapped
from graphmem.llm.offline.copulas import CopulaReader
from graphmem.llm.offline.corrections import corrected, is_correction
from graphmem.llm.offline.deeds import deed_claims, gladdening_claims
from graphmem.llm.offline.kin import kin_claims, naming_claims, outing_claims, possession_claims, promotion_claims, role_claims
from graphmem.llm.offline.lists import list_claims
from graphmem.llm.offline.making import ClaimMaker
from graphmem.llm.offline.people import earlier_people, named_people
from graphmem.llm.offline.phrases import Phrases
from graphmem.llm.offline.projects import freed_claims, handover_claims, metric_claims, request_claims, schedule_claims
from graphmem.llm.offline.reply import Reply
from graphmem.llm.offline.scene import Scene
from graphmem.llm.offline.scripts import capitalised_names, known_names, quoted_names
from graphmem.llm.offline.turn import Turn
from graphmem.llm.offline.verbs import VerbReader

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

MAX_CLAUSES = 12


class TurnReader:
    """Applies the rules to a parsed turn."""

    def __init__(self, doc: Doc, turn: Turn, before: list[str]) -> None:
        self.scene = Scene(doc, turn, before)
        self.phrases = Phrases(self.scene)
        self.maker = ClaimMaker(self.scene, self.phrases)
        self.clause_reader = ClauseReader(self.scene, self.phrases)
        self.verbs = VerbReader(self.maker)
        self.copulas = CopulaReader(self.maker)
        self.loose: list[str] = []

    def claims(self) -> list[Claim]:
        """Every claim of the turn, in order of the text."""
        out: list[Claim] = []
        carried: DateUnit | None = None
        coming = False
        for sentence, entities in _by_sentence(self.scene.doc):
            before = len(out)
            out += kin_claims(sentence, self.scene, self.phrases)
            out += naming_claims(sentence, self.scene, self.phrases)
            out += possession_claims(sentence, self.scene, self.phrases)
            out += outing_claims(sentence, self.scene, self.phrases)
            out += promotion_claims(sentence, self.scene)
            out += role_claims(sentence, self.scene, self.phrases)
            for clause in self.clause_reader.clauses(sentence):
                if coming and clause.progressive and not (clause.past or clause.perfect or self.scene.dates_of(clause.top)):
                    clause.planned = True
                found = self._read(clause)
                if carried is not None and clause.past:
                    found = [replace(c, start=carried) if c.start is None and c.end is None and c.kind == "holds" else c for c in found]
                out += found
                if clause.who == "person":
                    same = [c for c in found if c.source == clause.subject and c.relation not in ("MARRIED_TO", "DATING", "SIBLING_OF")]
                    out += [replace(c, source=end) for end in self.clause_reader.also(clause) for c in same]
                if not found and (clause.objects or len(self.scene.clause_tokens(clause.top)) > 3):
                    self.loose.append(self.maker.sentence(clause))
            out += gladdening_claims(sentence, self.maker)
            out += metric_claims(sentence, self.maker)
            out += request_claims(sentence, self.maker)
            for name in _new_people(entities, self.scene):
                self.scene.cast.mention(name)
            carried = self._carried(sentence) if len(out) == before else None
            coming = any(sentence.start <= tokens[0] < sentence.end and self._is_ahead(found) for found, tokens in self.scene.dates)
        return _each_once(out + list_claims(self.scene.doc, self.scene))

    def _is_ahead(self, found: FoundDate) -> bool:
        """Whether a date lies ahead, or is a stretch that does ("this weekend")."""
        unit = found.ahead or found.unit
        return unit.last > self.scene.turn.reference and self.scene.turn.reference - unit.first < timedelta(days=2)

    def _carried(self, sentence: Span) -> DateUnit | None:
        """ "Last weekend I did something new. I ran a race.": the date of a sentence that says nothing else."""
        dates = [f for f, tokens in self.scene.dates if sentence.start <= tokens[0] < sentence.end]
        if len(dates) != 1 or sentence.root.tag_ != "VBD" or dates[0].role != "at" or dates[0].unit.first > self.scene.turn.reference:
            return None
        return dates[0].unit

    def _read(self, clause: Clause) -> list[Claim]:
        for read in (schedule_claims, handover_claims):
            if found := read(clause, self.maker):
                return found
        if (clause.lemma in ("be", "become") and not clause.passive) or (
            clause.lemma in ("get", "stay", "remain") and any(c.dep_ == "acomp" for c in clause.verb.children)
        ):
            return freed_claims(self.copulas.claims(clause), clause, self.maker)
        return freed_claims(self.verbs.claims(clause), clause, self.maker) or deed_claims(clause, self.maker)


def _each_once(claims: list[Claim]) -> list[Claim]:
    """The claims without habits that are told as likings too: who likes playing chess plays it."""
    liked = {(names.key(c.source.name), names.key(c.target.name)) for c in claims if c.relation == "LIKES"}
    return [
        c
        for c in claims
        if c.relation not in ("DOES", "PLAYS")
        or not {(names.key(c.source.name), names.key(f"{w}{c.target.name}")) for w in ("", "playing ")} & liked
    ]


def _new_people(entities: list[Span], scene: Scene) -> list[str]:
    """The people that a sentence's entities name: known ones first."""
    found = []
    for entity in entities:
        if entity.label_ == "PERSON" and entity.root.pos_ == "PROPN":
            known = scene.cast.person(entity.text.removesuffix("'s").strip())
            if known:
                found.append(known)
    return found + [n for n in named_people(entities) if n not in found]


def _by_sentence(doc: Doc) -> Iterator[tuple[Span, list[Span]]]:
    """The sentences with their entities; asking each sentence for its own would read the whole document every time."""
    entities = list(doc.ents)
    at = 0
    for sentence in doc.sents:
        first = at
        while at < len(entities) and entities[at].start < sentence.end:
            at += 1
        yield sentence, entities[first:at]


def read_english(doc: Doc, turn: Turn, mapped: Mapped, before: list[tuple[Turn, Doc]]) -> dict[str, object]:
    """The reply for a turn that the parser can read; `before` are the earlier messages it may point back to."""
    reader = TurnReader(doc, turn, [name for _, earlier in before for name in earlier_people(earlier)])
    reply = Reply(turn, mapped)
    if turn.actor:
        reply.add(turn.actor, PERSON)
    claims = reader.claims()
    if is_correction(turn.text):
        said = [claim for earlier, parsed in before for claim in TurnReader(parsed, earlier, []).claims()]
        claims = [*corrected(turn, said or claims), *claims]
    for claim in claims:
        reply.claim(claim)
    for name in named_people(doc.ents):
        if len(name) > 1 and not re.search(r"\d", name):
            # The recogniser takes many a company of one word for a person: without another sign it stays open what it is.
            cast = reader.scene.cast
            reply.add(cast.person(name) or name, PERSON if " " in name or cast.is_certain(name) else "Thing")
    for entity in doc.ents:
        if _is_place_name(entity):
            located = entity.root.dep_ == "pobj" and entity.root.head.lower_ in ("in", "to", "from", "near", "at")
            reply.add(entity.text.removeprefix("the ").strip(), PLACE if located else "Thing")
    _add_known(reply, turn)
    reply.clauses += reader.loose[:MAX_CLAUSES]
    return reply.value()


def _is_place_name(entity: Span) -> bool:
    """Whether what the recogniser takes for a place is a name at all, no interjection or heading."""
    text, sentence = entity.text, entity.root.sent
    alone = all(t.is_punct or t.is_space or entity.start <= t.i < entity.end for t in sentence)
    named = entity.label_ == "GPE" and entity.root.pos_ == "PROPN" and text[0].isupper() and len(text) > 2
    return named and not alone and not re.search(r"(\w)\1\1", text)


def read_other(turn: Turn) -> dict[str, object]:
    """The reply for a turn in another language: who speaks and who or what is named, no facts."""
    reply = Reply(turn)
    if turn.actor:
        reply.add(turn.actor, PERSON)
    _add_known(reply, turn)
    for start, end in (*quoted_names(turn.text), *capitalised_names(turn.text)):
        reply.add(turn.text[start:end], "Thing", span=(start, end))
    return reply.value()


def _add_known(reply: Reply, turn: Turn) -> None:
    """Participants and known entities that the text names."""
    types = {k.name: k.type for k in turn.known}
    candidates = {alias: k.name for k in turn.known if k.type != "Value" for alias in (k.name, *k.aliases)}
    candidates |= {p: p for p in turn.participants}
    for start, end, name in sorted(known_names(turn.text, candidates)):
        reply.add(name, PERSON if name in turn.participants else types.get(name, "Thing"), span=(start, end))
