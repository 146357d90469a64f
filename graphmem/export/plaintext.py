"""Text of episodes in formats that do not take every character."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from graphmem.stores.codec import encode_mapping

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
MILLISECOND = timedelta(milliseconds=1)


def xml_text(text: str) -> str:
    """`text` without the characters that no XML document may hold: control characters and lone surrogates."""
    return _NOT_XML.sub("", text)


def stamp(moment: datetime | None) -> str:
    """An instant as ISO 8601 in UTC; "" for none."""
    return "" if moment is None else moment.astimezone(UTC).isoformat()


def attributes_text(attributes: Mapping[str, object]) -> str:
    """Attributes as one line of ASCII JSON; "" for none."""
    return encode_mapping(attributes) if attributes else ""
