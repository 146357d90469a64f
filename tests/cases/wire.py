"""Answers as a language model would send them, and an embedder whose vectors mean nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from graphmem import Memory
from graphmem.embed.base import Vectors
from graphmem.llm.base import Ask
from graphmem.runtime import digest

Fact = tuple[Any, ...]


def says(*facts: Fact, types: Mapping[str, str] | None = None, only: Sequence[str] = ()) -> dict[str, Any]:
    """An extraction answer: facts as (source, relation, target) or with a dict of further fields; `only` are bare entities."""
    types = types or {}
    names = list(dict.fromkeys([*(end for f in facts for end in (f[0], f[2])), *only]))
    rows = []
    for source, relation, target, *more in facts:
        row = {"source": names.index(source), "relation": relation, "target": names.index(target)}
        rows.append({**row, "text": f"{source} {relation} {target}", **(more[0] if more else {})})
    return {"entities": [{"name": n, "type": types.get(n, "Entity")} for n in names], "facts": rows}


class Script:
    """Answers for a scripted model: an extraction by the text asked about; nobody is known again; nothing contradicts."""

    def __init__(self, **said: dict[str, Any]) -> None:
        self.said: dict[str, object] = dict(said)

    def on(self, text: str, answer: object) -> str:
        """The answer about `text`; returns the text."""
        self.said[text] = answer
        return text

    def extract(self, ask: Ask) -> object:
        return self.said[str(ask.payload["text"])]

    def questions(self) -> dict[str, object]:
        """For `ScriptedModel`."""
        return {"extract": self.extract, "resolve": all_new, "judge": nothing}


def all_new(ask: Ask) -> dict[str, Any]:
    """Nobody asked about is known."""
    return {"matches": [{"new": row["new"], "existing": None} for row in new_rows(ask)]}


def same_as_first(ask: Ask) -> dict[str, Any]:
    """Everybody asked about is the first candidate."""
    return {"matches": [{"new": row["new"], "existing": row["candidates"][0]["id"]} for row in new_rows(ask)]}


def nothing(ask: Ask) -> dict[str, Any]:
    """Nothing repeats or contradicts anything."""
    return {"judgements": [{"new": row["new"], "duplicates": [], "contradicts": []} for row in new_rows(ask)]}


def contradicts_all(ask: Ask) -> dict[str, Any]:
    """Every new fact contradicts all it was compared with."""
    return {"judgements": [{"new": row["new"], "duplicates": [], "contradicts": row["candidates"]} for row in new_rows(ask)]}


def new_rows(ask: Ask) -> list[dict[str, Any]]:
    """The rows a question is about."""
    rows = ask.payload["new"]
    assert isinstance(rows, list)
    return rows


class Unrelated:
    """An embedder that gives every text its own direction: nothing is near anything else."""

    def __init__(self, dimension: int = 64, name: str = "unrelated") -> None:
        self.name, self.dimension = name, dimension
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        rows = [np.random.default_rng(list(digest(t))).standard_normal(self.dimension) for t in texts]
        vectors = np.asarray(rows, dtype=np.float32).reshape(len(texts), self.dimension)
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def rows(memory: Memory, entity: str | None = None, relation: str | None = None) -> list[tuple[str, str, str | None, str | None]]:
    """Facts of all valid times: (source, target, start, end), dates short where they are whole days."""
    return [(f.source, f.target, short(f.valid_at), short(f.invalid_at)) for f in memory.facts(entity, relation=relation, history=True)]


def short(moment: Any) -> str | None:
    """An instant as short as it goes."""
    if moment is None:
        return None
    return moment.date().isoformat() if moment.time().isoformat() == "00:00:00" else moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def codes(result: Any) -> list[str]:
    """The codes of a result's warnings."""
    return [w.code for w in result.warnings]
