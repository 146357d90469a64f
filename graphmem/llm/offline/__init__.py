"""Extraction without a language model: spaCy's English parser and a map from verbs to relations."""

from graphmem.llm.offline.model import OfflineModel

__all__ = ["OfflineModel"]
