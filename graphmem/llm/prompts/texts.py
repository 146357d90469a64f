"""The words of the prompts, kept in files beside this one: a first line with the version, then the text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

_PLACE = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True, slots=True)
class Words:
    """One file: its version and its text with places like `{{relations}}`."""

    version: int
    text: str

    def filled(self, values: Mapping[str, str]) -> str:
        """The text with its places filled, all in one pass: a place inside a value stays as it is.

        >>> Words(1, "{{a}} and {{b}}").filled({"a": "{{b}}", "b": "c"})
        '{{b}} and c'
        """
        return _PLACE.sub(lambda place: values[place[1]], self.text)


@lru_cache(maxsize=16)
def words(name: str) -> Words:
    """The file `name`.md of this folder."""
    first, _, text = files(__package__).joinpath(f"{name}.md").read_text(encoding="utf-8").partition("\n")
    return Words(int(first.removeprefix("version ")), text.strip())
