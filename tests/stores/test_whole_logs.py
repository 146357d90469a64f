"""What is read of a whole log without making whole rows says what whole rows say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.entries import created_at
from graphmem.interval import DateUnit
from graphmem.model import Operation, OperationKind, Span
from graphmem.stores.base import Reader
from graphmem.stores.bulk import BulkReads, reading
from graphmem.stores.lines import digest_of
from graphmem.testing import FixedClock, ScriptedModel
from graphmem.testing.samples import GROUP, assertion, day, record


class Plain:
    """A reader that offers nothing beside what every reader does."""

    def __init__(self, reader: Reader) -> None:
        self.log, self.citations, self.mentions = reader.log, reader.citations, reader.mentions


def told(path: Path) -> graphmem.Memory:
    """Facts that a forget, a merge and a correction have changed, with names and dates that are hard to keep."""
    memory = graphmem.open(path, model=ScriptedModel(), embedder=HashingEmbedder(16), clock=FixedClock("2026-01-01T00:00Z"))
    for n, (source, target) in enumerate((("Mira", "Acme"), ("Bea \x00\ud800", "tea"), ("Beatriz", "jam"), ("Mira", "Globex"))):
        row = {"source": source, "relation": "works_at", "target": target, "valid_at": f"{2019 + n}"}
        memory.add_facts([row] if n else [row, {"source": source, "relation": "likes", "target": "salt"}])
    memory.merge("Bea \x00\ud800", "Beatriz")
    memory.forget(episode=memory.episodes()[3])
    return memory


def test_places_are_those_of_the_log(tmp_path: Path) -> None:
    """Positions and instants of episodes and operations in one order."""
    with told(tmp_path / "a.db") as memory, memory._scope.store.read() as reader:
        assert isinstance(reader, BulkReads)
        assert reader.places(GROUP) == [(e.seq, created_at(e)) for e in reader.log(GROUP)] == reading(Plain(reader)).places(GROUP)  # type: ignore[arg-type]
        assert reader.places("nobody") == []


def test_what_is_believed_now_is_that_of_whole_rows(tmp_path: Path) -> None:
    """Citations and mentions, by whom and of whom, from a store that offers them and from one that does not."""
    with told(tmp_path / "a.db") as memory, memory._scope.store.read() as reader:
        whole = reading(Plain(reader))  # type: ignore[arg-type]
        assert not isinstance(Plain(reader), BulkReads)
        for name in ("cited_now", "mentioned_now"):
            found = getattr(reading(reader), name)(GROUP)
            assert len(found) >= 3
            assert sorted(map(repr, found)) == sorted(map(repr, getattr(whole, name)(GROUP)))
            assert getattr(reading(reader), name)("nobody") == []


def test_the_digest_of_a_line_is_the_same_in_every_version() -> None:
    """Files hold it: a line that an older version wrote is held against it by this one."""
    said = replace(assertion("a1", "e1", "mira", "acme"), attributes={"n": 1}, start=DateUnit.of(2022, 5), span=Span(0, 4))
    spoken = replace(record("e1", 1, assertions=[said], entities=["mira"], links=(("mira", "m"),)), search_text=("loose",))
    done = Operation("o1", GROUP, OperationKind.END, ("a1",), {"at": day(1)}, 2, day(2), "ana", "why")
    assert [digest_of(spoken), digest_of(done)] == ["5d38c610a067d934019545edebb8fe07", "a25456d87166f64c1598a553db17419e"]
