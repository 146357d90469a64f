"""What is read of a whole log without making whole rows says what whole rows say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.model import EpisodeRecord, LogEntry
from graphmem.stores.base import Reader
from graphmem.stores.bulk import BulkReads, reading
from graphmem.testing import FixedClock, ScriptedModel

GROUP = "main"


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


def headed(entry: LogEntry) -> LogEntry:
    return EpisodeRecord(entry.episode) if isinstance(entry, EpisodeRecord) else entry


def test_a_log_is_outlined_as_it_is(tmp_path: Path) -> None:
    """The same entries in the same order, episodes with their words and without what was found in them."""
    with told(tmp_path / "a.db") as memory, memory._scope.store.read() as reader:
        assert isinstance(reader, BulkReads)
        assert list(reader.outline(GROUP)) == [headed(e) for e in reader.log(GROUP)]
        assert list(reader.outline("nobody")) == []
        assert [replace(e.episode, body="") for e in reader.outline(GROUP) if isinstance(e, EpisodeRecord)] == reader.heads(
            GROUP, [e.episode.id for e in reader.log(GROUP) if isinstance(e, EpisodeRecord)]
        )


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
