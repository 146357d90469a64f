"""Names that the parser cuts: quoted titles, names with signs inside ("CS:GO"), and what something is called."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_QUOTED = re.compile(r'"([^"\n]{2,60})"')
_GLUE = frozenset((":", ".", "/", "&", "-", "+"))
_INSIDE = frozenset(("of", "the", "and", "in", "for", "to", "a", "on", "&", ":", "-", "'s"))
MAX_TITLE = 8


def title_of(token: Token, text: str) -> str | None:
    """The title in quotation marks that holds the token, whole, without a mark that belongs to the sentence; None outside one."""
    for match in _QUOTED.finditer(text):
        if match.start(1) <= token.idx < match.end(1):
            title = match[1].strip(" ,.;")
            return title if title and len(title.split()) <= MAX_TITLE else None
    return None


def glued(token: Token) -> list[Token]:
    """The tokens that go on from this one without a space ("CS" is followed by ":" and "GO")."""
    doc, out, at = token.doc, [], token.i
    while at + 2 < len(doc) and not doc[at].whitespace_ and doc[at + 1].text in _GLUE and not doc[at + 1].whitespace_:
        if not doc[at + 2].text[0].isalnum():
            break
        out += [doc[at + 1], doc[at + 2]]
        at += 2
    return out


def called(noun: Token) -> str | None:
    """What something is called: "a fantasy game called Starfall"; None where that is not said."""
    for verb in noun.children:
        if verb.dep_ in ("acl", "relcl") and verb.lower_ in ("called", "named", "titled", "entitled"):
            return _name_after(verb.doc, verb.i + 1)
    return None


def _name_after(doc: Doc, at: int) -> str | None:
    """The quoted string or the run of capitalised words that begins at a token."""
    if at >= len(doc):
        return None
    if doc[at].text == '"':
        match = _QUOTED.match(doc.text, doc[at].idx)
        return match[1].strip(" ,.;") if match else None
    last = at - 1
    for token in doc[at : at + MAX_TITLE]:
        if token.text[0].isupper() or token.text[0].isdigit():
            last = token.i
        elif token.lower_ not in _INSIDE:
            break
    return str(doc[at : last + 1].text) if last >= at else None
