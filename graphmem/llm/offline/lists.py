"""Lists without a verb: "Pre-launch risks: data updates, compliance, long-tail queries"."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from graphmem import names
from graphmem.llm.offline.claims import VALUE, Claim, End
from graphmem.llm.offline.lexicon import words
from graphmem.llm.offline.scene import Scene

if TYPE_CHECKING:
    from spacy.tokens import Doc

_LABELLED = re.compile(
    r"(?:(?<=[.!?;] )|(?<=\n)|^)(?P<label>[A-Z\"][^:.!?\n]{3,60}?):\s+(?P<items>[^:\n]{3,240}?)(?=\.(?:\s|$)|;(?:\s|$)|\n|$|[!?])"
)
_NUMBERED = re.compile(
    r"(?:(?<=[.!?;] )|(?<=\n)|^)(?P<label>[A-Z\"][^:.!?\n]{3,60}?):\s+(?P<items>1[.)] [^:\n]{3,400}?)(?=\.(?:\s|$)|\n|$)"
)
_BETWEEN = re.compile(r"\s*(?:[,;+/]\s+|→\s*)(?:and\s+)?|\s+and\s+|\s+\+\s+|\s*[;,]?\s*(?<![\w.])\d[.)](?!\d)\s*")
_OUTER = re.compile(r"^(?:(?:with|by|the|a|an|our|and|two|three|four|some)\s+)+", re.IGNORECASE)
_NO_ITEM = re.compile(
    r"\b(?:i|we|you|he|she|they|it|is|are|was|were|will|has|have|can|must|should|need|if|when|then|to|not|no|please|all)\b", re.IGNORECASE
)
_LABEL_TAIL = re.compile(r"\s+(?:are|is|include|includes|remain|confirmation|list|preparation|as follows|below|now)$", re.IGNORECASE)
_METRIC = re.compile(r"[=≥≤<>≈]|\d\s?(?:%|ms|s|x|GB|MB|KB|kg|km|hours?|days?|QPS|rps)(?!\w)")
_ANNOUNCED = re.compile(r"^(?:\d+|two|three|four|five|six)\s+\w+s$", re.IGNORECASE)
_FINITE = frozenset(("VB", "VBP", "VBZ", "VBD", "MD"))
MAX_ITEMS = 5


def list_claims(doc: Doc, scene: Scene) -> list[Claim]:
    """What a labelled list of a group's message holds, item by item; nothing if an item is a sentence or the label says nothing."""
    if not scene.turn.in_group or ":" not in doc.text:
        return []
    out: list[Claim] = []
    for match in (*_LABELLED.finditer(doc.text), *_NUMBERED.finditer(doc.text)):
        label = _OUTER.sub("", _LABEL_TAIL.sub("", match["label"].strip(' "'))).strip()
        parts = [i for i in _BETWEEN.split(match["items"]) if i.strip(' ".')]
        items = [_OUTER.sub("", i).strip(" .") for i in parts if not _ANNOUNCED.match(i.strip())]
        if not _is_label(label) or not len(items) >= 2 or not all(_is_item(i) for i in items):
            continue
        if _METRIC.search(match["items"]) or not _is_nominal(doc, *match.span("label")):
            continue
        sentence = f"{label}: {match['items'].strip()}"
        out += [Claim(End(label, "Thing"), "INCLUDES", End(item, VALUE), sentence, match.span()) for item in items[:MAX_ITEMS]]
    return out


def _is_label(label: str) -> bool:
    told = label.lower().split()
    if not told or len(told) > 6 or _NO_ITEM.search(label) or not names.is_nameable(label):
        return False
    return len(told) > 1 or told[0] in words("states", "list_labels")


def _is_nominal(doc: Doc, start: int, end: int) -> bool:
    """Whether a heading names something rather than telling or asking for it ("look at three items")."""
    tokens = doc.char_span(start, end, alignment_mode="expand")
    if tokens is None or tokens[0].lower_ in words("verbs", "orders"):
        return False
    return not any(t.pos_ in ("VERB", "AUX") and t.tag_ in _FINITE for t in tokens)


def _is_item(item: str) -> bool:
    return (
        1 <= len(item.split()) <= 6
        and len(item) > 2
        and not _NO_ITEM.search(item)
        and names.is_nameable(item)
        and item.count("(") == item.count(")")
        and item.count('"') % 2 == 0
    )
