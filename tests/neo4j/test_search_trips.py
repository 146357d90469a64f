"""A search on a server: three round trips whatever is asked and however large the memory, and the hits of the dictionary store."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from test_schema import run
from test_server import Ticking, counted, store_of, tell
from test_together import planned, replanned, scanned

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.interval import Interval
from graphmem.model import AsOf, EpisodeMatch
from graphmem.ontology import Relation
from graphmem.search.hits import Filters
from graphmem.search.legs import POOLS
from graphmem.statements import Statement
from graphmem.stores.base import Capability, Kind, Lean, SearchFilter
from graphmem.stores.looking import Candidates, LooksAhead
from graphmem.stores.memory import MemoryStore
from graphmem.stores.neo4j import Neo4jStore, search
from graphmem.stores.neo4j.graph import WHOLE_SESSION
from graphmem.testing import ScriptedModel
from graphmem.testing.samples import GROUP, NOW, add_entities, add_episode, add_facts, day, entity, fact, record

pytestmark = [pytest.mark.neo4j, pytest.mark.xdist_group("neo4j")]
QUESTIONS = ("Where does Mira live?", "Who works at Acme?", "What was told in March 2025?", "lisbon porto", "Bob", "?")
WAYS: tuple[dict[str, Any], ...] = (
    {},
    {"depth": 0, "limit": 2},
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


@pytest.mark.parametrize("questions", [pytest.param(1, id="some questions"), pytest.param(4, id="all questions", marks=pytest.mark.slow)])
def test_communities_cost_no_round_trip_more(both: tuple[graphmem.Memory, graphmem.Memory], questions: int) -> None:
    """Broad and narrow questions, communities alone and with facts; with and without a layer; the same is found."""
    server, plain = both
    ways: tuple[dict[str, Any], ...] = ({}, {"kinds": ("community",)}, {"limit": 30, "kinds": ("community", "fact")}, {"pagerank": True})
    for _ in ("before a layer is built", "after"):
        for asked in ways:
            for question in (*BROAD[:questions], QUESTIONS[0]):
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
        assert [scanned(planned(session, statement)) for statement in made] == [[]] * 6


def test_a_context_takes_as_many(both: tuple[graphmem.Memory, graphmem.Memory]) -> None:
    """A text for a prompt."""
    server, plain = both
    with counted(store_of(server)) as trips:
        text = server.context("Where does Mira live?")
    assert trips.total() <= 3
    assert str(text) == str(plain.context("Where does Mira live?"))


EVERY_KIND = ("fact", "entity", "episode", "community")
FILTERS = {
    "a relation, spelled otherwise": Filters(relations=("lives in",)),
    "a type": Filters(types=("person", "Thing")),
    "a session": Filters(sessions=("s",)),
    "nobody": Filters(actors=("nobody",)),
    "a source": Filters(sources=("chat",)),
    "a month": Filters(reference=Interval(datetime(2025, 3, 1, tzinfo=UTC), datetime(2025, 4, 1, tzinfo=UTC))),
    "a valid time": Filters(valid=Interval(datetime(2021, 1, 1, tzinfo=UTC), datetime(2022, 6, 1, tzinfo=UTC))),
    "a value": Filters(attributes={"colour": "red"}),
    "all": Filters(relations=("LIVES_IN",), types=("Thing",), actors=("Bob",), valid=Interval(None, datetime(2026, 1, 1, tzinfo=UTC))),
}


def points(memory: graphmem.Memory) -> list[graphmem.View]:
    """Now, and other points on each axis."""
    written = sorted(e.episode.created_at for e in memory.episodes() if e.episode.created_at is not None)
    return [memory, memory.as_of(valid="2022-06-01"), memory.as_of(system=written[3]), memory.as_of(valid="2022-06-01", system=written[5])]


@pytest.mark.parametrize(
    "by", ["the index", *(pytest.param(way, marks=pytest.mark.slow) for way in ("comparing", "the index, then comparing"))]
)
def test_no_filter_and_no_point_in_time_takes_a_fourth(
    both: tuple[graphmem.Memory, graphmem.Memory], monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    """All kinds, two hops, each filter, both axes, however vectors are searched; the same passes."""
    server, plain = both
    if by != "comparing":
        for limit in ("_SCANNED", "_SCANNED_BESIDE_FILTER"):
            monkeypatch.setattr(search, limit, 0)
    if by == "the index, then comparing":
        for kind in Kind:
            monkeypatch.setitem(POOLS, kind, 4)
        for name, value in {"_VECTOR_DEPTH": 2, "_NARROWED": 1, "_ENOUGH_MORE": 9_999}.items():
            monkeypatch.setattr(search, name, value)
    for view, expected in zip(points(server), points(plain), strict=True):
        with counted(store_of(server)) as trips:
            found = view.search("Where does Mira live?", kinds=EVERY_KIND, depth=2, limit=4)
        assert same(found, expected.search("Where does Mira live?", kinds=EVERY_KIND, depth=2, limit=4))
        assert trips.total() <= 3, trips
    for name, filters in FILTERS.items():
        with counted(store_of(server)) as trips:
            found = server.search("Where does Mira live?", filters=filters, limit=4)
        assert same(found, plain.search("Where does Mira live?", filters=filters, limit=4)), name
        assert trips.total() <= 3, (name, trips)


def test_what_has_one_score_is_read_at_once(opened: Neo4jStore) -> None:
    """As many rows as the exact scores may need, in one statement."""
    memory = MemoryStore()
    for store in (memory, opened):
        with store.write(GROUP) as writer:
            add_entities(writer, entity("a1", "a"), entity("b1", "b"))
            add_facts(writer, *(fact(f"u{n:03}", "a", "b") for n in range(200)))
    with opened.read() as reader, memory.read() as plain, counted(opened) as trips:
        assert reader.text_search(Kind.FACT, ["knows"], [GROUP], NOW, 5) == plain.text_search(Kind.FACT, ["knows"], [GROUP], NOW, 5)
        assert trips == {"state": 1, "text_fact": 1}


def test_an_ontology_that_was_changed_elsewhere_is_seen(both: tuple[graphmem.Memory, graphmem.Memory], emptied: Any) -> None:
    """Filters are spelled as the group has it when the search is made, whatever the handle saw before."""
    server, _ = both
    asked: dict[str, Any] = {"kinds": ("fact",), "filters": Filters(relations=("sleeps in",))}
    assert list(server.search("Where does Mira live?", **asked)) == []
    ontology = [Relation("LIVES_IN", one_target=True, synonyms=("SLEEPS_IN",))]
    with graphmem.open(
        emptied.uri, auth=emptied.auth, model=ScriptedModel({}), embedder=HashingEmbedder(64), clock=Ticking(), ontology=ontology
    ) as other:
        other.add_facts([{"source": "Bob", "relation": "LIVES_IN", "target": "Faro"}], reference_time="2025-09-02")
    assert {h.item.relation for h in server.search("Where does Mira live?", **asked)} == {"LIVES_IN"}
    with counted(store_of(server)) as trips:
        server.search("Where does Mira live?", **asked)
    assert trips.total() <= 3


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
        SearchFilter(),
        vector,
        vector,
        facts=["u1", "none"],
        crossed=[],
        entities=["mira"],
        shown=(["acme"], 1),
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


def test_neighbours_are_the_same_however_a_session_is_read(opened: Neo4jStore, emptied: Any) -> None:
    """A short one as a whole, a long one turn by turn; and whether episodes say that nobody ever forgot them, or did not know yet."""
    memory = MemoryStore()
    of_session = {"short": [f"s{n}" for n in range(12)], "long": [f"l{n}" for n in range(WHOLE_SESSION + 2)]}
    said = [record(i, n, session=s) for n, (s, i) in enumerate(((s, i) for s, some in of_session.items() for i in some), 1)]
    told, hidden, back = day(len(said)), day(200), day(300)
    for store in (memory, opened):
        with store.write(GROUP) as writer:
            for one in said:
                add_episode(writer, one)
        with store.write(GROUP) as writer:
            writer.hide_episodes(GROUP, ["s3", "s7", "l3", "l9"], hidden)
        with store.write(GROUP) as writer:
            writer.show_episodes(GROUP, ["s7", "l9"], back, {})

    def agree() -> None:
        with opened.read() as reader, memory.read() as plain:
            for at in (AsOf(), AsOf(None, told), AsOf(None, hidden), AsOf(None, back)):
                for ids in (*of_session.values(), ["s4", "l4"], ["s3", "l3"], []):
                    named = EpisodeMatch(ids=tuple(ids))
                    assert reader.around([GROUP], at, ids) == plain.around([GROUP], at, ids)
                    assert reader.episodes([GROUP], at, named) == plain.episodes([GROUP], at, named)

    def steady() -> list[str]:
        return [row["id"] for row in run(emptied, "MATCH (n:GraphmemEpisode) WHERE n.gm_from IS NOT NULL RETURN n.id AS id ORDER BY n.seq")]

    agree()
    never = [i for some in of_session.values() for i in some if i not in ("s3", "s7", "l3", "l9")]
    assert steady() == never
    run(emptied, "MATCH (n:GraphmemEpisode) REMOVE n.gm_from, n.gm_shown")
    agree()
    run(emptied, "MATCH (s:GraphmemStore) SET s.schema = 8")
    Neo4jStore.open(emptied.uri, emptied.auth).close()
    assert steady() == never
    agree()


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
