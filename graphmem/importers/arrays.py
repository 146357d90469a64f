"""A JSON array of any length, one element at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from graphmem.errors import InvalidInput

MAX_ELEMENT = 1 << 27
_SPACE = " \t\r\n"
_NEAR_THE_END = 16
"""What is cut may be found wrong this far before the cut: `-Infinit`, `\\u12`."""
_NUMBER_GOES_ON = 3
"""A number that is cut may be read as a shorter one: `-1.5e-`."""
_CUT = re.compile(r"(t|tr|tru|f|fa|fal|fals|n|nu|nul|-|\\u?[0-9a-fA-F]{0,3})?\s*")


def elements(pieces: Iterable[str], place: str) -> Iterator[object]:
    """The elements of the array; any other value is the only one.

    Memory is what the largest element takes. Raises `InvalidInput` naming the place, the element and the character.
    """
    text = _Text(pieces, place)
    first = text.peek()
    if first == "":
        raise InvalidInput(place, "", "is empty; export it again")
    if first != "[":
        yield text.value()
        text.end()
        return
    text.skip()
    if text.peek() == "]":
        text.skip()
        text.end()
        return
    while True:
        yield text.value()
        following = text.peek()
        text.skip()
        if following == "]":
            text.end()
            return
        if following != ",":
            raise text.wrong("Expecting ',' delimiter" if following else "")


class _Text:
    """Text that arrives in pieces, and how far it has been read."""

    def __init__(self, pieces: Iterable[str], place: str) -> None:
        self._pieces, self._place = iter(pieces), place
        self._decode = json.JSONDecoder().raw_decode
        self._text, self._at, self._before = "", 0, 0
        self._ended, self._count = False, 0

    def peek(self) -> str:
        """The next character that is no space, or "" at the end."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in _SPACE:
                    return self._text[self._at]
                self._at += 1
            if self._ended:
                return ""
            self._fill()

    def skip(self) -> None:
        self._at += 1

    def end(self) -> None:
        if self.peek():
            raise self.wrong("Extra data")

    def value(self) -> object:
        """The value that begins here."""
        self._count += 1
        self.peek()
        while True:
            try:
                value, end = self._decode(self._text, self._at)
            except json.JSONDecodeError as error:
                open_string = error.msg.startswith("Unterminated string")
                if self._ended:
                    cut = open_string or _CUT.fullmatch(self._text, error.pos)
                    raise self.wrong("" if cut else error.msg, error.pos) from None
                if not open_string and error.pos < len(self._text) - _NEAR_THE_END:
                    raise self.wrong(error.msg, error.pos) from None
            except (ValueError, RecursionError) as error:
                raise self.wrong(str(error) or "nested too deeply") from None
            else:
                if end + _NUMBER_GOES_ON <= len(self._text) or self._ended:
                    self._at = end
                    return value
            if len(self._text) - self._at > MAX_ELEMENT:
                raise self.wrong(f"no end within {MAX_ELEMENT} characters")
            self._fill()

    def wrong(self, why: str, at: int | None = None) -> InvalidInput:
        """The error for what is read here; without a reason, the text ends too early."""
        at = min(self._at if at is None else at, len(self._text))
        where = f"at character {self._before + at}, in element {max(self._count, 1)}"
        said = f"must be JSON; {why} {where}" if why else f"must be whole JSON; it ends too early, {where}"
        return InvalidInput(self._place, self._text[at : at + 40], f"{said}; copy or export it again")

    def _fill(self) -> None:
        """As much again as is waiting, so that a long element is not decoded anew for every piece."""
        waiting = self._text[self._at :]
        self._before += self._at
        new, size = [waiting], 0
        while size <= len(waiting):
            piece = next(self._pieces, None)
            if piece is None:
                self._ended = True
                break
            new.append(piece)
            size += len(piece)
        self._text, self._at = "".join(new), 0
