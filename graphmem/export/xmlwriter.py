"""XML written as it comes: elements by name and attributes, everything escaped, nothing held."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TextIO
from xml.sax.saxutils import escape, quoteattr

from graphmem.export.plaintext import xml_text

_MARKED = re.compile('[&<>"\t\n\r]|[^\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]')


class XmlWriter:
    """Writes elements to a text file."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        out.write('<?xml version="1.0" encoding="UTF-8"?>\n')

    @contextmanager
    def within(self, tag: str, attributes: Mapping[str, str | None] | None = None) -> Iterator[None]:
        """An element around what is written in the block; attributes that are None are left out."""
        self._out.write(f"<{tag}{_attributes(attributes or {})}>\n")
        yield
        self._out.write(f"</{tag}>\n")

    def element(self, tag: str, attributes: Mapping[str, str | None], text: str | None = None) -> None:
        """One element, with text or empty."""
        closing = "/>\n" if text is None else f">{_escaped(text)}</{tag}>\n"
        self._out.write(f"<{tag}{_attributes(attributes)}{closing}")


def _attributes(attributes: Mapping[str, str | None]) -> str:
    return "".join([f" {name}={_quoted(value)}" for name, value in attributes.items() if value is not None])


# Most values need no escaping; to see that costs a fraction of doing it.


def _escaped(text: str) -> str:
    return escape(xml_text(text)) if _MARKED.search(text) else text


def _quoted(value: str) -> str:
    return quoteattr(xml_text(value)) if _MARKED.search(value) else f'"{value}"'
