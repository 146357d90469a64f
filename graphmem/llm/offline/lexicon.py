"""The word lists of the offline extractor, read once from its data file."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources

Words = frozenset[str]


@dataclass(frozen=True)
class Lexicon:
    """Sets of words by section and name, and what each kinship word means."""

    lists: dict[str, dict[str, Words]]
    kin: dict[str, str]
    gender: dict[str, str]
    phrases: tuple[str, ...]

    def words(self, section: str, name: str) -> Words:
        """The words of a list; raises KeyError for one that is not there."""
        return self.lists[section][name]


@cache
def lexicon() -> Lexicon:
    """The word lists."""
    raw = tomllib.loads(resources.files(__package__).joinpath("data/lexicon.toml").read_text(encoding="utf-8"))
    kin: dict[str, str] = {}
    gender: dict[str, str] = {}
    for relation, words in raw.pop("kin").items():
        for entry in words.split():
            word, _, shown = entry.partition(":")
            kin[word] = relation
            if shown:
                gender[word] = shown
    phrases = tuple(p.strip() for p in raw["chat"].pop("phrases").split("|"))
    lists = {section: {name: frozenset(words.split()) for name, words in entries.items()} for section, entries in raw.items()}
    return Lexicon(lists, kin, gender, phrases)


def words(section: str, name: str) -> Words:
    """A list of the lexicon."""
    return lexicon().words(section, name)
