"""Corrections: "Correction: it's 14 May, not 12", "sorry, I meant Globex": what was said before, with the new value in its place."""

from __future__ import annotations

import re
from dataclasses import replace

from graphmem import names
from graphmem.dates import FoundDate, find_dates, unit_text
from graphmem.llm.offline.claims import VALUE, Claim, End
from graphmem.llm.offline.turn import Turn
from graphmem.relations import DEFAULT_ONTOLOGY

_OPENERS = r"(?:correction|sorry|oops|actually|wait|no|nope|scratch that|my mistake|my bad|hang on)"
_CUE = re.compile(rf"^\W*{_OPENERS}\b|\bi mean(?:t)?\b|,? not [\w ]{{1,30}}[.!]*$|\bnot [\w ]+,? but\b", re.IGNORECASE)
_OPENING = rf"(?:^|[.:;,!]\s*)(?:(?:{_OPENERS}|but|i mean(?:t)?)\b[\s,:.!–-]*)*"
_SAYS = r"(?:(?:it|that)(?:'s| is| was| will be| should be)|should be|make (?:it|that)|i mean(?:t)?(?: to say)?|rather)\s+"
_END = r"\s*(?:[.!]|$)"
_FORMS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\bnot (?P<old>[^,.;!]{{1,40}}?),? but (?:rather )?(?P<new>[^,.;!]{{1,40}}){_END}",
        rf"{_SAYS}(?P<new>[^,.;!]{{1,40}}?),? (?:and )?not (?P<old>[^,.;!]{{1,40}}){_END}",
        rf"{_SAYS}(?P<new>[^,.;!]{{1,40}}){_END}",
        rf"{_OPENING}(?P<new>[^,.;!:]{{1,40}}), not (?P<old>[^,.;!]{{1,40}}){_END}",
        rf"^\W*(?:correction|sorry|oops|no|nope)[,:.!]+\s+(?P<new>[^,.;!?:]{{2,40}}){_END}",
    )
)
_LEADING = re.compile(r"^(?:(?:in|on|at|to|by|from|since|until|for|the|a|an|with)\s+)+", re.IGNORECASE)


def is_correction(text: str) -> bool:
    """Whether the text may correct what was said before."""
    return len(text) <= 300 and not text.rstrip().endswith("?") and bool(_CUE.search(text.replace("’", "'")))


def corrected(turn: Turn, said: list[Claim]) -> list[Claim]:
    """The claims of `said` (in order of telling) that the turn corrects: the old one denied, the new one in its place."""
    text = turn.text.replace("’", "'").strip()
    for form in _FORMS:
        match = form.search(text)
        if match is None:
            continue
        new, old = match["new"].strip(), (match.groupdict().get("old") or "").strip()
        span = (0, len(turn.text))
        dates = find_dates(f"in {_LEADING.sub('', new)}", turn.reference, turn.zone)
        claims = _redated(said, dates[0], old, turn) if dates else _renamed(said, _LEADING.sub("", new), _LEADING.sub("", old))
        if claims:
            return [replace(c, span=span, text=_told(c, dates[0].text if dates else new, old)) for c in claims]
    return []


def _told(claim: Claim, new: str, old: str) -> str:
    """The earlier sentence with what it should have said; a denial says so."""
    if claim.kind == "denies":
        return f"Not so: {claim.text}"
    if old and old in claim.text:
        return claim.text.replace(old, new, 1)
    return f"{claim.text} (corrected: {new})"


def _redated(said: list[Claim], new: FoundDate, old: str, turn: Turn) -> list[Claim]:
    dates = find_dates(f"in {_LEADING.sub('', old)}", turn.reference, turn.zone) if old else []
    days = {(u.first.month, u.first.day) for d in dates for u in (d.unit, d.ahead) if u is not None}
    for claim in reversed(said):
        if claim.relation in ("DUE", "SCHEDULED_FOR"):
            target = replace(claim.target, name=unit_text(new.ahead or new.unit, turn.zone), span=None)
            return [] if target.name == claim.target.name else [replace(claim, kind="denies"), replace(claim, kind="holds", target=target)]
        dated = claim.end if claim.kind == "ends" else claim.start
        if dated is None or (days and (dated.first.month, dated.first.day) not in days):
            continue
        unit = new.ahead if new.ahead is not None and dated.first > turn.reference else new.unit
        if claim.kind == "ends":
            return [replace(claim, start=None, end=unit)]
        if claim.kind == "holds":
            return [replace(claim, kind="denies", start=None, end=None), replace(claim, start=unit)]
    return []


def _renamed(said: list[Claim], new: str, old: str) -> list[Claim]:
    if not new or len(new.split()) > 4 or not (new[0].isupper() or new[0].isdigit()) or not names.is_nameable(new):
        return []
    for claim in reversed(said):
        named = bool(old) and names.key(claim.target.name) == names.key(old)
        single = not old and DEFAULT_ONTOLOGY.relation(claim.relation).one_target and claim.relation not in ("DUE", "SCHEDULED_FOR")
        if claim.kind == "holds" and (named or (single and (claim.target.type == VALUE) == new[0].isdigit())):
            return [replace(claim, kind="denies", start=None, end=None), replace(claim, target=End(new, claim.target.type))]
    return []
