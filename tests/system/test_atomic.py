"""C35: whatever fails while an episode is written, nothing of it is kept, and the next try is as if nothing had happened."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from graphmem import Memory, opening
from graphmem.embed.base import Vectors
from graphmem.embed.hashing import HashingEmbedder
from graphmem.llm.base import Answer, Ask, LanguageModel
from graphmem.testing import FixedClock, ScriptedModel

Open = Callable[..., Memory]


class InjectedError(Exception):
    """The failure that is injected."""


class Fuse:
    """Counts calls, and blows at the one it is set to."""

    def __init__(self) -> None:
        self.calls, self.blows_at = 0, -1

    def tick(self) -> None:
        self.calls += 1
        if self.calls == self.blows_at:
            raise InjectedError(f"call {self.calls}")

    def set(self, at: int) -> None:
        self.calls, self.blows_at = 0, at


class Frail:
    """Every method of the reader or writer behind it burns the fuse first."""

    def __init__(self, behind: object, fuse: Fuse) -> None:
        self._behind, self._fuse = behind, fuse

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._behind, name)

        def call(*args: object, **more: object) -> object:
            self._fuse.tick()
            return method(*args, **more)

        return call


class FrailStore:
    """A store whose every verb may fail, the commit too."""

    def __init__(self, behind: Any, fuse: Fuse) -> None:
        self._behind, self._fuse, self.capabilities = behind, fuse, behind.capabilities

    @contextmanager
    def read(self) -> Iterator[Frail]:
        self._fuse.tick()
        with self._behind.read() as reader:
            yield Frail(reader, self._fuse)

    @contextmanager
    def write(self, group: str) -> Iterator[Frail]:
        self._fuse.tick()
        with self._behind.write(group) as writer:
            yield Frail(writer, self._fuse)
            self._fuse.tick()

    def close(self) -> None:
        self._behind.close()


class FrailModel:
    """A model that may fail to answer."""

    def __init__(self, behind: LanguageModel, fuse: Fuse) -> None:
        self._behind, self._fuse, self.name, self.local = behind, fuse, behind.name, behind.local

    def answer(self, asks: Sequence[Ask]) -> list[Answer]:
        self._fuse.tick()
        return self._behind.answer(asks)


class FrailEmbedder:
    """An embedder that may fail."""

    def __init__(self, fuse: Fuse) -> None:
        self._behind, self._fuse = HashingEmbedder(64), fuse
        self.name, self.dimension = self._behind.name, self._behind.dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        self._fuse.tick()
        return self._behind.embed(texts)


def says(*facts: tuple[str, str, str, str]) -> dict[str, Any]:
    """An extraction answer."""
    names = dict.fromkeys(end for f in facts for end in (f[0], f[2]))
    rows = [{"source": s, "relation": r, "target": t, "valid_at": at, "text": f"{s} {r} {t}"} for s, r, t, at in facts]
    return {"entities": [{"name": n, "type": "Person" if n[0] in "BM" else "Thing"} for n in names], "facts": rows}


SAID = {
    "first": says(("Beatriz Nogueira", "LIVES_IN", "Ghent", "2020"), ("Mira", "LIKES", "jazz", "2019")),
    "second": says(
        ("Bea", "LIVES_IN", "Porto", "2022"),
        ("Mira", "PREFERS", "opera", "2023"),
        ("Mira", "DISLIKES", "jazz", "2022"),
        ("Mira", "PREFERS", "tea", "2024"),
    ),
}
ASKED = {
    "extract": lambda ask: SAID[ask.payload["text"]],
    "resolve": lambda ask: {"matches": [{"new": r["new"], "existing": r["candidates"][0]["id"]} for r in ask.payload["new"]]},
    "judge": lambda ask: {"judgements": [{"new": r["new"], "contradicts": r["candidates"]} for r in ask.payload["new"]]},
}
Step = Callable[[Memory], object]
STEPS: dict[str, tuple[Step | None, Step]] = {
    "the first episode of all": (None, lambda m: m.add_message("Mira", "first", reference_time="2024-01-01")),
    "an episode that is resolved, judged and supersedes": (
        lambda m: m.add_message("Mira", "first", reference_time="2024-01-01"),
        lambda m: m.add_message("Mira", "second", reference_time="2025-01-01"),
    ),
    "facts": (
        lambda m: m.add_facts(
            [{"source": "Mira", "relation": "WORKS_AT", "target": "Acme", "valid_at": "2020"}], reference_time="2024-01-01"
        ),
        lambda m: m.add_facts(
            [{"source": "Mira", "relation": "WORKS_AT", "target": "Globex", "valid_at": "2022"}], reference_time="2025-01-01"
        ),
    ),
    "a forget": (
        lambda m: [m.add_message("Mira", t, reference_time=f"202{n}-01-01", key=t) for n, t in enumerate(SAID)],
        lambda m: m.forget(episode=m.episodes()[1]),
    ),
    "a restore": (
        lambda m: m.forget(episode=m.add_message("Mira", "first", reference_time="2024-01-01", key="x")),
        lambda m: m.add_message("Mira", "first", reference_time="2024-01-01", key="x"),
    ),
}


@pytest.mark.parametrize("local", [True, False], ids=["local model", "remote model"])
@pytest.mark.parametrize("step", STEPS)
def test_a_failure_at_any_call_leaves_nothing_and_the_next_try_is_clean(
    open_memory: Open, monkeypatch: pytest.MonkeyPatch, step: str, local: bool
) -> None:
    """Every call of store, model and embedder fails once; hashes of state and history stay, then equal a clean run's."""
    before, write = STEPS[step]
    fuse, real = Fuse(), opening._store

    def opened() -> Memory:
        model = FrailModel(ScriptedModel(ASKED, local=local), fuse)
        memory = open_memory(model=model, embedder=FrailEmbedder(fuse), clock=FixedClock("2026-01-15T12:00:00Z"))
        if before is not None:
            before(memory)
        return memory

    def proof(memory: Memory) -> tuple[str, str, dict[str, int]]:
        return memory.state_hash(), memory.history_hash(), memory.counts()

    clean = opened()
    write(clean)
    monkeypatch.setattr(opening, "_store", lambda where, reach: FrailStore(real(where, reach), fuse))
    memory = opened()
    untouched = proof(memory)
    failures = 0
    while True:
        fuse.set(failures + 1)
        try:
            write(memory)
            break
        except InjectedError:
            failures += 1
        fuse.set(-1)
        assert proof(memory) == untouched
        assert memory.verify() == []
    fuse.set(-1)
    assert failures > 10
    assert proof(memory) == proof(clean)
