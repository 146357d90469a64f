"""XML written as it comes: elements by name and attributes, everything escaped, nothing held."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TextIO
from xml.sax.saxutils import escape, quoteattr

from graphmem.export.plaintext import xml_text


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
        closing = "/>\n" if text is None else f">{escape(xml_text(text))}</{tag}>\n"
        self._out.write(f"<{tag}{_attributes(attributes)}{closing}")


def _attributes(attributes: Mapping[str, str | None]) -> str:
    return "".join(f" {name}={quoteattr(xml_text(value))}" for name, value in attributes.items() if value is not None)
