"""Project talk: dates that things are set or moved to, work handed over, requests, and measured values."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from graphmem.dates import unit_text
from graphmem.llm.offline.claims import PERSON, VALUE, Claim, End
from graphmem.llm.offline.clauses import Clause
from graphmem.llm.offline.copulas import date_claim
from graphmem.llm.offline.lexicon import words
from graphmem.llm.offline.making import ClaimMaker
from graphmem.llm.offline.scene import When

if TYPE_CHECKING:
    from spacy.tokens import Span, Token

_ARTICLE = re.compile(r"\s(?:the|a|an)\s", re.IGNORECASE)
_SET_PREPOSITIONS = frozenset(("to", "for", "until", "till", "on", "by"))
_EMPTY_SUBJECTS = frozenset(("deadline", "date", "timeline", "delivery date", "due date", "launch date", "release date"))


def schedule_claims(clause: Clause, maker: ClaimMaker) -> list[Claim]:
    """ "The deadline moved to June 3", "we pushed the release to 20 June", "the demo is scheduled for Friday"."""
    if clause.lemma not in words("verbs", "set_date") or clause.kind != "holds":
        return []
    thing = clause.direct if clause.who == "person" else None
    if clause.who == "person" and (thing is None or clause.passive):
        return []
    for found in maker.scene.dates_of(clause.top) + [
        d
        for d, tokens in maker.scene.dates
        if thing is not None and any(maker.scene.doc[i].is_ancestor(thing) or thing.is_ancestor(maker.scene.doc[i]) for i in tokens)
    ]:
        before = maker.scene.text[: found.start].split()[-2:]
        if not any(w.lower() in _SET_PREPOSITIONS for w in before):
            continue
        head = thing if thing is not None else next((c for c in clause.top.children if c.dep_ in ("nsubj", "nsubjpass")), None)
        if head is None or (thing is not None and not maker.phrases.is_telling(thing)):
            return []
        source = _holder(head, maker) or (maker.phrases.end(head, "Thing") if thing is not None else clause.subject)
        if source is None:
            return []
        noun = head.lemma_.lower()
        scheduled = words("people", "events") | words("states", "scheduled")
        if clause.lemma == "plan" and thing is not None and not (maker.scene.turn.in_group and noun in scheduled):
            return []  # "plan my meals for the week", "plan a trip to Oslo this month"
        booked = clause.lemma in ("schedule", "book") and noun not in _EMPTY_SUBJECTS
        meeting = noun in words("people", "events") | words("states", "meetings")
        relation = "SCHEDULED_FOR" if booked or meeting else "DUE"
        value = unit_text(found.until or maker.scene.coming(found), maker.scene.turn.zone)
        return [date_claim(maker, clause, relation, value, source)]
    return []


def _holder(noun: Token, maker: ClaimMaker) -> End | None:
    """What a "deadline for the report" is the deadline of."""
    if noun.lemma_.lower() not in _EMPTY_SUBJECTS:
        return None
    for prep in noun.children:
        if prep.dep_ == "prep" and prep.lower_ in ("for", "of"):
            for inner in prep.children:
                if inner.dep_ == "pobj" and (end := maker.phrases.end(inner, "Thing")):
                    return end
    return None


def handover_claims(clause: Clause, maker: ClaimMaker) -> list[Claim]:
    """ "Tom takes over billing from Ana", "Ana handed billing over to Tom": the one starts, the other ends."""
    if clause.who != "person" or clause.negated or clause.direct is None:
        return []
    taken = clause.key == "take over" or (clause.key == "take" and "over" in clause.adverbs)
    given = clause.key in ("hand over", "hand off", "pass on") or (clause.lemma == "hand" and {"over", "off"} & clause.adverbs)
    if not taken and not given:
        return []
    matters = maker.phrases.ends(clause.direct, "Thing")
    direct_preps = [(c.lower_, t) for c in clause.direct.children if c.dep_ == "prep" for t in c.children if t.dep_ == "pobj"]
    wanted = "from" if taken else "to"
    partner = next((e for p, t in [*clause.objects, *direct_preps] if p == wanted and (e := maker.phrases.end(t, PERSON))), None)
    if partner is not None and partner.type != PERSON:
        partner = End(partner.name, PERSON, span=partner.span)
    out: list[Claim | None] = []
    for matter in matters:
        if partner is not None and matter.name.endswith(f" {wanted} {partner.name}"):
            matter = End(matter.name.removesuffix(f" {wanted} {partner.name}"), matter.type)
        new, old = (clause.subject, partner) if taken else (partner, clause.subject)
        if old is not None:
            out.append(maker.claim(clause, "RESPONSIBLE_FOR", matter, kind="ends", source=old))
        if new is not None:
            out.append(maker.claim(clause, "RESPONSIBLE_FOR", matter, source=new))
    return [c for c in out if c is not None]


def freed_claims(claims: list[Claim], clause: Clause, maker: ClaimMaker) -> list[Claim]:
    """ "The archive is back, so the model is no longer blocked": what is over is the block by the archive, if that is told."""
    out: list[Claim] = []
    for claim in claims:
        over = claim.relation == "STATUS" and (
            (claim.kind == "ends" and claim.target.name in ("blocked", "stuck"))
            or (claim.kind == "holds" and claim.target.name == "unblocked")
        )
        blocker = _resolved(clause, maker) if over else None
        out.append(
            replace(claim, relation="BLOCKED_BY", target=blocker, kind="ends", end=claim.end or claim.start, start=None)
            if blocker
            else claim
        )
    return out


def _resolved(clause: Clause, maker: ClaimMaker) -> End | None:
    """The thing that the sentence says is back, fixed or done."""
    for token in clause.top.sent:
        if token.lower_ not in words("states", "resolved"):
            continue
        verb = token if any(c.dep_ in ("nsubj", "nsubjpass") for c in token.children) else token.head
        subject = next((c for c in verb.children if c.dep_ in ("nsubj", "nsubjpass") and c.pos_ != "PRON"), None)
        if verb != clause.top and subject is not None and (end := maker.phrases.end(subject, "Thing")) and end.name != clause.subject.name:
            full = _blockers_told(end.name, maker) or {
                k.name for k in maker.scene.turn.known if k.name.lower().endswith(f" {end.name.lower()}")
            }
            return End(full.pop(), end.type) if len(full) == 1 else end
    return None


def _blockers_told(noun: str, maker: ClaimMaker) -> set[str]:
    """What recent messages call the blocker that is now told by its noun alone ("the archive" for "the weather archive")."""
    form = re.compile(
        rf"\b(?:blocked|held up|stuck) (?:by|on) (?:the |a |an |our )?(?P<name>(?:[\w-]+ ){{0,3}}{re.escape(noun)})\b", re.IGNORECASE
    )
    return {match["name"] for said in maker.scene.turn.recent for match in form.finditer(said.text)}


_REQUEST = re.compile(
    r"^\W*(?:(?:please|then|first|also|and|so|next|finally|just|ok|okay|@\w+)[, ]+)*"
    r"(?P<what>(?P<verb>[A-Za-z]+(?:-[a-z]+)?) (?:[^.;:!?\n]|\.(?=\d)){6,110})",
    re.IGNORECASE,
)
_STATES = re.compile(
    r"\b(?:i|i'm|we|you|he|she|they|is|are|was|were|has|have been|will|if|when|because|but|should|must|can)\b", re.IGNORECASE
)


def request_claims(sentence: Span, maker: ClaimMaker) -> list[Claim]:
    """What a member of a group asks for ("please add a retry to the importer")."""
    turn = maker.scene.turn
    if not turn.in_group or turn.actor is None or sentence.text.rstrip().endswith("?"):
        return []
    match = _REQUEST.match(sentence.text)
    if (
        match is None
        or sentence.text[match.end() :].startswith(":")
        or match["verb"].lower() not in words("verbs", "work") | words("verbs", "orders")
    ):
        return []
    what = re.split(r",\s+(?=(?:and|but|so|then|which|with|to|please|as)\b)|\s+-\s+|, ", match["what"])[0].strip()
    verb = sentence.doc.char_span(sentence.start_char + match.start("verb"), sentence.start_char + match.end("verb"))
    told = what.split()
    if (
        verb is None
        or verb.root.tag_ in ("VBD", "VBN", "VBG", "VBZ", "NNS", "RB", "JJ")
        or not 3 <= len(told) <= 14
        or _STATES.search(what)
    ):
        return []
    following = verb.root.doc[verb.end] if verb.end < len(verb.root.doc) else None
    if following is not None and following.text == '"' and following.i + 1 < len(sentence.doc):
        following = following.nbor()
    if following is None or (following.pos_ in ("VERB", "AUX", "PUNCT") and following.tag_ not in ("VBG", "VB")):
        return []
    plain = _ARTICLE.sub(" ", what[0].lower() + what[1:])
    text = re.sub(r"\bmy\b", f"{turn.actor}'s", re.sub(r"\bme\b", turn.actor, plain))
    dates = maker.scene.dates_of(sentence.root)
    by_then = bool(dates) and dates[0].start < sentence.start_char + match.end("what")
    when = maker.scene.when(sentence.root, ahead=True) if by_then else When()
    span = (sentence.start_char, sentence.end_char)
    told_by = f"{turn.actor} requests: {sentence.text.strip()}"
    return [Claim(End(turn.actor, PERSON), "REQUESTS", End(text, VALUE), told_by, span, end=when.end or when.start)]


# ---------------------------------------------------------------------------------------------------- measured values

_NAME = r"(?P<n>[A-Za-z][\w@/-]*(?: [\w@/-]+){0,6}?)"
_NUMBER = r"[+-]?\d+(?:[.,]\d+)*(?:\s?(?:%|ms|s|x|GB|MB|KB|kg|km|days?|hours?|k|QPS|rps|cm)\b|%)?"
_CHANGED = r"(?:reduc|chang|increas|rais|lower|adjust|dropp?|improv|cut|went|go|decreas|upgrad|rose|rise|fell|grew)\w*"
_FROM_TO = re.compile(rf"\b{_CHANGED}(?: back)?(?: (?P<n>[\w@/ -]{{2,40}}?))? from (?P<a>\S+?) to (?P<v>{_NUMBER})", re.IGNORECASE)
_IS = (
    r"(?: (?:is|was|are|has|have|now|currently|at|reached|remains|hit|spiked to|dropped to|rose to|of|below|above|is at|stays? at"
    r"|(?:was |has been |been )?(?:reduced|increased|improved|lowered|raised|down|up|back|risen|fallen) to))*"
)
_MEASURE = re.compile(
    rf"(?:(?<=[:;,.(\n])|^|(?<=\band )|(?<=\bto ))\s*(?:[-–•]\s+)?{_NAME}"
    rf"{_IS}\s?(?P<o>≥|≤|>=|<=|=|<|>|:|≈|~|(?<=\s))\s?(?P<v>{_NUMBER})(?=[\s,;.)(]|$)"
)
_TRIMMED = re.compile(
    r"^(?:(?:\w+ing (?:in|to)|the|a|an|our|and|with|final|set|keep|add|that|its|to|by|while|ensure|ensuring|achieve|target|targeting"
    r"|keeping|reach)\s+)+|(?:\s+(?:at|to|is|from|of|by|be|are|was|has|been|currently|now|up|down|around|about|roughly))+$",
    re.IGNORECASE,
)
# "The latency here is stable at P95": the thing and how it is measured.
_STATED_AT = re.compile(
    r"^(?P<thing>.+?)(?: here| there| now)? (?:is|are|was|were|stays?|remains?) [a-z]+ at (?P<metric>\S+)$", re.IGNORECASE
)
# What is wanted is no measured value.
_WANTED = re.compile(r"\b(?:goals?|targets?|aim(?:s|ing)?|objectives?)\b", re.IGNORECASE)
_BAD_NAME = re.compile(
    r"\b(?:is|are|was|were|has|have|be|been|\w+ing (?:in|to|from)|here|there|i|we|you|he|she|they|when|if|then|by|only|about|than|after"
    r"|before|until|from|reduced|increased|decreased|improved|dropped|under|over|the|reset)\b",
    re.IGNORECASE,
)

# Alone these name no one thing: the size of this brush is not that of the next.
_OF_MANY = frozenset(("size", "timeout", "version", "limit", "delay"))


def metric_claims(sentence: Span, maker: ClaimMaker) -> list[Claim]:
    """Measured and targeted values: "P95 latency ≤ 1.4s", "threshold changed from 0.7 to 0.6"."""
    text = sentence.text
    if not any(c.isdigit() for c in text) or text.rstrip().endswith("?"):
        return []
    out: list[Claim] = []
    taken: list[tuple[int, int]] = []
    for match in _FROM_TO.finditer(text):
        name = match["n"] or re.split(r"[,;:.] ", text[: match.start()])[-1]
        if claim := _measured(name, "VALUE", match["v"], match.span("v"), sentence):
            taken.append(match.span())
            out.append(claim)
    for match in _MEASURE.finditer(text):
        if any(match.start() < b and a < match.end() for a, b in taken):
            continue
        bound = match["o"] if match["o"] in ("≥", "≤", ">=", "<=", "<", ">") else _bound(match)
        value = f"{bound} {match['v']}".strip()
        wanted = bound or _WANTED.search(text, 0, match.start("v"))
        if claim := _measured(match["n"], "TARGET" if wanted else "VALUE", value, match.span("v"), sentence):
            out.append(claim)
    return out


def _bound(match: re.Match[str]) -> str:
    """ "Below" and "above" between the name and the number are bounds too."""
    between = match.string[match.end("n") : match.start("v")].lower()
    return "<" if "below" in between else ">" if "above" in between else ""


def _measured(name: str, relation: str, value: str, at: tuple[int, int], sentence: Span) -> Claim | None:
    if name.rstrip().endswith(" by"):
        return None
    stated = _STATED_AT.match(name.strip())
    shown = _TRIMMED.sub("", f"{stated['thing']} {stated['metric']}" if stated else name.strip()).strip()
    told = {w.lower().rstrip("s") for w in re.split(r"[\s/@-]+", shown)}
    if not (told & words("states", "metrics")) or _BAD_NAME.search(shown) or len(shown.split()) > 7 or not shown:
        return None
    if shown.lower() in _OF_MANY:
        return None
    span = (sentence.start_char, sentence.end_char)
    target = End(value.strip(), VALUE, span=(sentence.start_char + at[0], sentence.start_char + at[1]))
    return Claim(End(shown, "Thing"), relation, target, sentence.text.strip(), span)
