"""A small world in a store: people, places, facts with dates, and the turns they come from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from graphmem.embed.hashing import HashingEmbedder
from graphmem.interval import Interval
from graphmem.model import (
    AsOf,
    CitationVersion,
    EntityVersion,
    Episode,
    EpisodeKind,
    EpisodeRecord,
    FactVersion,
    Mention,
    MentionVersion,
    Span,
)
from graphmem.search.hits import SearchResult
from graphmem.search.pieces import episode_words_text, pieces
from graphmem.search.searcher import Request, search
from graphmem.search.words import indexed
from graphmem.stores.base import Kind, Reader, Store
from graphmem.stores.memory import MemoryStore

START = datetime(2024, 1, 1, tzinfo=UTC)
NOW = datetime(2024, 7, 1, tzinfo=UTC)


@dataclass
class World:
    """Writes turns, entities and facts into a store, one transaction each, and searches it."""

    store: Store = field(default_factory=MemoryStore)
    embedder: HashingEmbedder = field(default_factory=HashingEmbedder)
    seq: int = 0

    def turn(self, body: str, actor: str | None = "Mira", *, mentions: Sequence[str] = (), group: str = "main", **fields: Any) -> str:
        """Add an episode that mentions these entities; gives its id."""
        self.seq += 1
        at = fields.pop("at", START + timedelta(hours=self.seq))
        assert isinstance(at, datetime)
        episode = Episode(
            f"ep_{self.seq:04d}", group, EpisodeKind.MESSAGE, body, at, f"key {self.seq}", self.seq, self._instant(), actor, **fields
        )
        said = tuple(
            Mention(episode.id, n, entity, entity, span=Span(max(body.find(entity), 0), max(body.find(entity), 0) + len(entity)))
            for n, entity in enumerate(mentions)
        )
        parts = pieces(body, actor)
        with self.store.write(group) as writer:
            writer.append_episode(EpisodeRecord(episode, mentions=said))
            writer.show_episodes(group, [episode.id], self._instant(), {episode.id: indexed(episode_words_text(body, actor, at))})
            writer.change_mentions(group, [], [MentionVersion(m, m.entity, Interval(self._instant())) for m in said], self._instant())
            writer.put_vectors(Kind.EPISODE, [episode.id] * len(parts), list(range(len(parts))), self.embedder.embed(parts))
        return episode.id

    def entity(self, name: str, kind: str = "Person", aliases: tuple[str, ...] = (), *, group: str = "main", **attributes: object) -> str:
        """Add an entity whose id is its name."""
        version = EntityVersion(f"v {group} {name}", name, group, name, kind, aliases, attributes, Interval(START))
        with self.store.write(group) as writer:
            writer.add_entities([version], [indexed(" ".join((name, *aliases)))])
            writer.put_vectors(Kind.ENTITY, [name], [0], self.embedder.embed([name]))
        return name

    def fact(
        self, source: str, relation: str, target: str, *, valid: Interval | None = None, cites: str | None = None, **fields: Any
    ) -> str:
        """Add a fact that an episode says; gives its version uuid."""
        self.seq += 1
        text = str(fields.pop("text", f"{source} {relation.replace('_', ' ').lower()} {target}"))
        version = FactVersion(
            f"fact {self.seq:04d}",
            f"id {self.seq:04d}",
            "main",
            relation,
            source,
            target,
            text,
            valid or Interval(START),
            Interval(START),
            **fields,
        )
        with self.store.write("main") as writer:
            writer.add_facts([version], [indexed(text)])
            writer.put_vectors(Kind.FACT, [version.uuid], [0], self.embedder.embed([text]))
            if cites is not None:
                cited = CitationVersion(version.fact_id, version.valid.start, cites, f"by {self.seq}")
                writer.change_citations("main", [], [cited], self._instant())
        return version.uuid

    def _instant(self) -> datetime:
        return START + timedelta(minutes=self.seq)

    def read(self) -> Reader:
        """A reader of what is there now."""
        with self.store.read() as reader:
            return reader

    def search(self, query: str, *, groups: tuple[str, ...] = ("main",), at: AsOf | None = None, **fields: Any) -> SearchResult:
        """Search as of `NOW` unless said otherwise."""
        with self.store.read() as reader:
            return search(reader, self.embedder, Request(query, groups, at or AsOf(NOW), NOW, **fields))


@pytest.fixture
def new_world() -> Callable[[], World]:
    """Makes empty worlds."""
    return World


@pytest.fixture
def world() -> World:
    """An empty world."""
    return World()


@pytest.fixture
def town(world: World) -> World:
    """People who moved, worked and met, with the turns that say so."""
    for name, kind, aliases in (
        ("Mira", "Person", ()),
        ("Beatriz Nogueira", "Person", ("Bea",)),
        ("Jonas", "Person", ()),
        ("Acme", "Organization", ()),
        ("Globex", "Organization", ()),
        ("Porto", "Place", ()),
        ("Lisbon", "Place", ()),
        ("2023", "Value", ()),
    ):
        world.entity(name, kind, aliases)
    moved = world.turn("I moved to Lisbon in March, the flat is small.", "Mira", mentions=["Mira", "Lisbon"], session="s1")
    world.turn("How do you like the new city?", "Jonas", mentions=["Jonas"], session="s1")
    world.turn("It rains less than in Porto.", "Mira", mentions=["Mira", "Porto"], session="s1")
    works = world.turn("Bea started at Globex in August.", "Jonas", mentions=["Beatriz Nogueira", "Globex", "Jonas"], session="s2")
    old = world.turn("Before that she was at Acme for years.", "Jonas", mentions=["Beatriz Nogueira", "Acme", "Jonas"], session="s2")
    world.turn("We grow pears and plums behind the house.", "Mira", mentions=["Mira"], session="s3")
    world.fact("Mira", "LIVES_IN", "Lisbon", cites=moved, valid=Interval(datetime(2024, 3, 1, tzinfo=UTC)))
    world.fact("Beatriz Nogueira", "WORKS_AT", "Globex", cites=works, valid=Interval(datetime(2023, 8, 1, tzinfo=UTC)))
    world.fact(
        "Beatriz Nogueira",
        "WORKS_AT",
        "Acme",
        cites=old,
        valid=Interval(datetime(2019, 1, 1, tzinfo=UTC), datetime(2023, 8, 1, tzinfo=UTC)),
    )
    world.fact("Mira", "KNOWS", "Beatriz Nogueira", cites=works)
    return world
