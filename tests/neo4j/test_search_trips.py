"""A search on a server: three round trips whatever is asked and however large the memory, and the hits of the dictionary store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from test_server import Ticking, counted, store_of, tell
from test_together import replanned, scanned

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.model import AsOf
from graphmem.search.hits import Filters
from graphmem.statements import Statement
from graphmem.stores.base import Capability, Kind, Lean
from graphmem.stores.looking import Candidates, LooksAhead
from graphmem.stores.memory import MemoryStore
from graphmem.stores.neo4j import Neo4jStore, search
from graphmem.testing import ScriptedModel
from graphmem.testing.samples import GROUP, NOW, add_entities, add_episode, add_facts, entity, fact, record

pytestmark = [pytest.mark.neo4j, pytest.mark.xdist_group("neo4j")]
QUESTIONS = ("Where does Mira live?", "Who works at Acme?", "What was told in March 2025?", "lisbon porto", "Bob", "?")
WAYS: tuple[dict[str, Any], ...] = (
    {},
    {"depth": 2},
    {"depth": 0, "limit": 2},
    {"depth": 4, "kinds": ("fact", "entity")},
    {"kinds": ("episode",)},
    {"history": True},
    {"pagerank": True},
)


@pytest.fixture
def both(emptied: Any) -> Iterator[tuple[graphmem.Memory, graphmem.Memory]]:
    """A memory on the server and one of dictionaries, which were told the same."""
    model, embedder = ScriptedModel({"extract": {"entities": [], "facts": []}}), HashingEmbedder(64)
    server = graphmem.open(emptied.uri, auth=emptied.auth, model=model, embedder=embedder, clock=Ticking())
    plain = graphmem.open(model=model, embedder=embedder, clock=Ticking())
    for memory in (server, plain):
        tell(memory)
        for n in range(6):
            memory.add_message(
                "Mira" if n % 2 else "Bob", f"The school in Porto has {n} trees.", reference_time=f"2025-03-{n + 1:02}", session="s"
            )
    yield server, plain
    server.close()
    plain.close()


def told(hits: graphmem.Hits) -> list[object]:
    """All of the hits but scores, which are sums of numbers that were rounded in another order."""
    return [(h.kind, h.id, str(h.item), h.episodes, [(r.leg, r.rank, r.path) for r in h.reasons]) for h in hits]


def same(found: graphmem.Hits, expected: graphmem.Hits) -> bool:
    """Whether two searches found the same, with the same scores."""
    assert told(found) == told(expected)
    return np.allclose([h.score for h in found], [h.score for h in expected], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("asked", WAYS, ids=str)
def test_a_search_is_three_round_trips_and_finds_the_same(both: tuple[graphmem.Memory, graphmem.Memory], asked: dict[str, Any]) -> None:
    """Questions that name somebody, a time, nobody; whatever is asked for."""
    server, plain = both
    for question in QUESTIONS:
        with counted(store_of(server)) as trips:
            found = server.search(question, **asked)
        assert same(found, plain.search(question, **asked))
        assert trips.total() <= 3, trips


BROAD = ("What are the main topics?", "Summarise what Mira told.", "Give me an overview of lisbon and porto", "What is the team about?")


def test_communities_cost_no_round_trip_more(both: tuple[graphmem.Memory, graphmem.Memory]) -> None:
    """Broad and narrow questions, communities alone, as of now and of earlier; with and without a layer; the same is found."""
    server, plain = both
    ways: tuple[dict[str, Any], ...] = ({}, {"kinds": ("community",)}, {"limit": 30, "kinds": ("community", "fact")}, {"pagerank": True})
    for _ in ("before a layer is built", "after"):
        for asked in ways:
            for question in (*BROAD, QUESTIONS[0]):
                with counted(store_of(server)) as trips:
                    found = server.search(question, **asked)
                assert trips.total() <= 3, trips
                assert same(found, plain.search(question, **asked))
        for memory in both:
            memory.build_communities(algorithm="louvain")
    assert next(h.kind for h in server.search(BROAD[0])) == "community"
    texts = [[m.context(q, scope="global", max_tokens=n).text for q in BROAD for n in (60, 900)] for m in both]
    assert texts[0] == texts[1]
    tiers = ("profile", "topics", "facts", "recent")
    assert server.context("Where does Mira live?", tiers=tiers).text == plain.context("Where does Mira live?", tiers=tiers).text
    hit = server.search(BROAD[0])[0]
    assert str(server.explain(hit)).splitlines()[1:4] == str(plain.explain(plain.search(BROAD[0])[0])).splitlines()[1:4]


def test_the_nearest_communities_come_from_the_index_in_large_groups(
    both: tuple[graphmem.Memory, graphmem.Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same as by comparing all, now and as of an earlier layer, also after it has been built again."""
    server, plain = both
    for memory in both:
        memory.build_communities(algorithm="louvain")
        memory.add_facts([{"source": a, "relation": "knows", "target": b} for a, b in ("AB", "BC", "CA")])
        memory.build_communities(algorithm="louvain")
    for limit in ("_SCANNED", "_SCANNED_BESIDE_FILTER"):
        monkeypatch.setattr(search, limit, 0)
    at = plain.communities()[0].system
    assert at is not None
    assert at.start is not None
    for one, other in ((server, plain), *[(m.as_of(system=at.start) for m in both)]):
        assert [h.id for h in one.search("Lisbon", kinds=["community"])] == [h.id for h in other.search("Lisbon", kinds=["community"])]


def test_what_is_asked_together_starts_from_indexes_too(both: tuple[graphmem.Memory, graphmem.Memory]) -> None:
    """No statement of a search reads all facts, entities or episodes."""
    store = store_of(both[0])
    made: list[Statement] = []
    with store.trace(made.append):
        both[0].search("Where does Mira live?", pagerank=True, depth=2)
        both[0].build_communities(algorithm="louvain")
        made.clear()
        both[0].search("Where does Mira live?", pagerank=True, depth=2)
        both[0].search(BROAD[0])
    with store._connection.session() as session:
        replanned(session)
        assert [scanned(session, statement) for statement in made] == [[]] * 6


def test_as_of_and_context_take_as_many(both: tuple[graphmem.Memory, graphmem.Memory]) -> None:
    """Other points in time, a text for a prompt."""
    server, plain = both
    with counted(store_of(server)) as trips:
        past = server.as_of(valid="2022-06-01").search("Where does Mira live?")
    assert trips.total() <= 3
    assert [h.id for h in past] == [h.id for h in plain.as_of(valid="2022-06-01").search("Where does Mira live?")]
    with counted(store_of(server)) as trips:
        text = server.context("Where does Mira live?")
    assert trips.total() <= 3
    assert str(text) == str(plain.context("Where does Mira live?"))


def test_filters_hold_on_a_server(both: tuple[graphmem.Memory, graphmem.Memory]) -> None:
    """The same passes."""
    server, plain = both
    for filters in (Filters(relations=("LIVES_IN",)), Filters(sessions=("s",)), Filters(actors=("Bob",)), Filters(types=("Person",))):
        for question in QUESTIONS[:3]:
            assert same(server.search(question, filters=filters), plain.search(question, filters=filters))


def test_an_explanation_says_how_vectors_were_searched(
    both: tuple[graphmem.Memory, graphmem.Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All compared in a small group; by the index in others, which filters inside where the server can."""
    server, plain = both
    hit = server.search("Where does Mira live?", kinds=("episode",))[0]
    assert "every vector compared" in str(server.explain(hit))
    assert "vector" not in [leg.note for leg in plain.explain(plain.search("Where does Mira live?")[0]).legs]
    for limit in ("_SCANNED", "_SCANNED_BESIDE_FILTER"):
        monkeypatch.setattr(search, limit, 0)
    filtered = Capability.FILTERED_VECTOR_INDEX in store_of(server).capabilities
    assert f"vector index, filtered {'inside' if filtered else 'afterwards'}" in str(server.explain(hit))


def test_what_was_told_ahead_changes_no_answer(opened: Neo4jStore) -> None:
    """Verbs answer as a reader does that was told nothing, also where what is asked is another thing."""
    memory = MemoryStore()
    for store in (memory, opened):
        with store.write(GROUP) as writer:
            add_entities(writer, *(entity(f"{i}1", i) for i in ("mira", "bob", "acme")))
            for n, source in enumerate(("mira", "bob"), 1):
                add_episode(writer, record(f"e{n}", n, session="s", entities=[source]), words="red x red")
                add_facts(writer, fact(f"u{n}", source, "acme"))
    vector = np.ones(4, np.float32)
    look = Candidates(
        (GROUP,),
        NOW,
        vector,
        vector,
        facts=["u1", "none"],
        crossed=[],
        entities=["mira"],
        told=["acme"],
        holding=NOW,
        episodes=["e1"],
        near=["u2"],
        masses={"mira": 1.0},
        mentions=9,
        mentioned=9,
        closest=["e1"],
        types=True,
    )
    with opened.read() as reader, memory.read() as plain:
        assert isinstance(reader, LooksAhead)
        assert isinstance(reader, Lean)
        reader.expect_candidates(look)
        for at in (NOW, AsOf()):
            for ids in (["u1"], ["u2", "u1", "none"], ["none"]):
                assert reader.sources([GROUP], at, ids) == plain.sources([GROUP], at, ids)
                assert set(reader.claims([GROUP], at, ids)) == {i for i in ids if i != "none"}
            for ids in (["e1"], ["e2", "e3", "e1"]):
                assert reader.around([GROUP], at, ids) == plain.around([GROUP], at, ids)
                assert reader.words(Kind.EPISODE, ids) == plain.words(Kind.EPISODE, ids)
                assert reader.mentions([GROUP], at, episodes=ids) == plain.mentions([GROUP], at, episodes=ids)
                assert [t.body for t in reader.turns([GROUP], at, ids).values()] == [
                    e.body for e in plain.episodes([GROUP], at) if e.id in ids
                ]
        assert reader.facts([], NOW) == []


def test_a_search_takes_no_more_trips_in_a_larger_memory(both: tuple[graphmem.Memory, graphmem.Memory]) -> None:
    """The first as the last, also right after somebody wrote."""
    server, _ = both
    taken = []
    for n in range(3):
        server.add_facts([{"source": f"P{n}", "relation": "likes", "target": f"T{n}"}], reference_time="2025-09-01")
        with counted(store_of(server)) as trips:
            server.search("What does P1 like?")
        taken.append(trips.total())
    assert taken == [3, 3, 3]
