"""Parts of speech by table: the rules of spaCy's attribute ruler, looked up by what a token is instead of tried on every token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.pipeline import AttributeRuler
    from spacy.tokens import Doc

_FEATURES = ("LOWER", "TAG", "DEP", "IS_SPACE")
_Match = tuple[int, int, int, int]


def hasten(nlp: Language) -> None:
    """Let the pipeline's attribute ruler find its matches by table: what it sets stays the same."""
    from spacy.pipeline import AttributeRuler

    for _, pipe in nlp.pipeline:
        if isinstance(pipe, AttributeRuler):
            pipe.match = RuleTable(pipe).match


class RuleTable:
    """The rules of an attribute ruler. Those about one token are tried once for each kind of token: its tag, its role, and its
    word where a rule names it.
    """

    def __init__(self, ruler: AttributeRuler) -> None:
        from spacy.matcher import Matcher

        self._strings = ruler.vocab.strings
        self._single, self._other = Matcher(ruler.vocab), Matcher(ruler.vocab)
        named: set[str] = set()
        for number, rule in enumerate(ruler.patterns):
            patterns: Sequence[Sequence[Mapping[str, object]]] = rule["patterns"]
            words = [_words(pattern) for pattern in patterns]
            single = all(w is not None for w in words)
            named.update(*(w for w in words if w and single))
            (self._single if single else self._other).add(str(number), list(patterns))
        self._named = frozenset(self._strings.add(word) for word in named)
        self._table: dict[tuple[int, ...], list[tuple[int, int]]] = {}

    def match(self, doc: Doc) -> list[_Match]:
        """As the ruler's own `match`: rule, its key, first token and the one after the last, in order of the rules."""
        found = [(int(self._strings[key]), key, start, end) for key, start, end in self._other(doc, allow_missing=True)]
        for at, (word, *kind) in enumerate(doc.to_array(_FEATURES).tolist()):
            token = (word if word in self._named else 0, *kind)
            rules = self._table.get(token)
            if rules is None:
                matches = self._single(doc[at : at + 1], allow_missing=True)
                rules = self._table[token] = [(int(self._strings[key]), key) for key, _, _ in matches]
            found += [(number, key, at, at + 1) for number, key in rules]
        found.sort()
        return found


def _words(pattern: Sequence[Mapping[str, object]]) -> set[str] | None:
    """The words that a pattern of one token names; None for a pattern that the kind of a token does not decide."""
    if len(pattern) != 1 or not pattern[0].keys() <= set(_FEATURES):
        return None
    match pattern[0].get("LOWER"):
        case None:
            return set()
        case str(word):
            return {word}
        case {"IN": [*words], **more} | {"NOT_IN": [*words], **more} if not more:
            return {str(w) for w in words}
    return None
