"""Slack's markup as people read it: names for ids, addresses with what they are called."""

from __future__ import annotations

import re
from collections.abc import Mapping

_TAG = re.compile(r"<([^<>\n]{1,4000})>")
_ESCAPES = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))


def plain(text: str, people: Mapping[str, str], channels: Mapping[str, str]) -> str:
    """The text with people and channels by name.

    >>> plain("<@U1>, see <https://example.org/a|the plan> &amp; <#C1>", {"U1": "Mira"}, {"C1": "general"})
    'Mira, see the plan (https://example.org/a) & #general'
    """

    def resolved(match: re.Match[str]) -> str:
        what, _, called = match[1].partition("|")
        if what.startswith("@"):
            return people.get(what[1:], called or what[1:])
        if what.startswith("#"):
            return "#" + (channels.get(what[1:]) or called or what[1:])
        if what.startswith("!"):
            return called or "@" + what[1:].partition("^")[0]
        address = what.removeprefix("mailto:")
        known = not called or called == address or address.partition("://")[2].rstrip("/") == called.rstrip("/")
        return address if known else f"{called} ({address})"

    said = _TAG.sub(resolved, text)
    for escape, character in _ESCAPES:
        said = said.replace(escape, character)
    return said
