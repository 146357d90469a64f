"""What an episode costs on a server: statements and round trips, whatever it says and however much is known."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest
from wire_between import Wire, wire

import graphmem
from graphmem.belief.audit import history_hash, state_hash
from graphmem.embed.hashing import HashingEmbedder
from graphmem.interval import Interval
from graphmem.llm.base import Ask
from graphmem.model import EntityVersion
from graphmem.runtime import content_id, content_uuid
from graphmem.search.words import indexed
from graphmem.stores.base import Kind, Store
from graphmem.testing import FixedClock, ScriptedModel

pytestmark = [pytest.mark.neo4j, pytest.mark.xdist_group("neo4j")]
EMBEDDER = HashingEmbedder(32)
MOST = 6


class Told(NamedTuple):
    """A message: what it does, who says it, the things and facts that a model finds in it."""

    does: str
    actor: str
    text: str
    things: tuple[str, ...]
    facts: tuple[tuple[int, str, int, dict[str, object]], ...] = ()


KINDS = {"Acme": "Organization", "Globex": "Organization", "Lisbon": "Place", "jazz": "Thing", "tea": "Thing"}
STORY = (
    Told("adds", "Mira", "I work at Acme since 2022.", ("Mira", "Acme"), ((0, "WORKS_AT", 1, {"valid_at": "2022"}),)),
    Told("adds another", "Mira", "I know Bob Tall.", ("Mira", "Bob Tall"), ((0, "KNOWS", 1, {}),)),
    Told("adds several", "Mira", "Bob Tall likes jazz and tea, and I live in Lisbon.", ("Mira", "Bob Tall", "jazz", "tea", "Lisbon"),
         ((1, "LIKES", 2, {}), (1, "LIKES", 3, {}), (0, "LIVES_IN", 4, {}))),
    Told("confirms", "Mira", "Still at Acme.", ("Mira", "Acme"), ((0, "WORKS_AT", 1, {"still": True}),)),
    Told("ends by another", "Mira", "I joined Globex.", ("Mira", "Globex"), ((0, "WORKS_AT", 1, {}),)),
    Told("ends", "Mira", "I left Globex.", ("Mira", "Globex"), ((0, "WORKS_AT", 1, {"kind": "ends"}),)),
    Told("corrects", "Mira", "Not since 2022 at Acme, since 2021.", ("Mira", "Acme"),
         ((0, "WORKS_AT", 1, {"kind": "denies", "valid_at": "2022"}), (0, "WORKS_AT", 1, {"valid_at": "2021"}))),
    Told("contradicts", "Mira", "Bob Tall dislikes jazz.", ("Bob Tall", "jazz"), ((0, "DISLIKES", 1, {}),)),
    Told("reaches", "Mira", "I married Tom Reed in 2010.", ("Mira", "Tom Reed"), ((0, "MARRIED_TO", 1, {"valid_at": "2010"}),)),
    Told("reaches", "Tom Reed", "I married Ana Pires in 2018.", ("Tom Reed", "Ana Pires"), ((0, "MARRIED_TO", 1, {"valid_at": "2018"}),)),
    Told("reaches", "Ana Pires", "I married Leo Voss in 2020.", ("Ana Pires", "Leo Voss"), ((0, "MARRIED_TO", 1, {"valid_at": "2020"}),)),
    Told("means by part of a name", "Mira", "Bob likes tea.", ("Bob", "tea"), ((0, "LIKES", 1, {}),)),
    Told("mentions", "Mira", "I had a long talk with Bob Tall.", ("Mira", "Bob Tall")),
    Told("says nothing", "Mira", "Thanks!", ()),
)  # fmt: skip
SAID = {told.text: told for told in STORY}


def finds(ask: Ask) -> dict[str, object]:
    """What the story's messages say."""
    told = SAID[str(ask.payload["text"])]
    return {
        "entities": [{"name": n, "type": KINDS.get(n, "Person")} for n in told.things],
        "facts": [
            {"source": s, "relation": r, "target": t, "text": f"{told.text} ({n})", **more} for n, (s, r, t, more) in enumerate(told.facts)
        ],
    }


@contextmanager
def memory(where: str, auth: tuple[str, str] | None = None, group: str = "main", *, local: bool = True) -> Iterator[graphmem.Memory]:
    """A memory whose model knows the story."""
    model = ScriptedModel({"extract": finds, "resolve": {"matches": []}, "judge": {"judgements": []}}, local=local)
    clock = FixedClock("2026-01-15T12:00:00Z")
    with graphmem.open(where, auth=auth, group=group, model=model, embedder=EMBEDDER, clock=clock) as opened:
        yield opened


def tell(memory: graphmem.Memory, told: Told, day: int, session: str | None) -> None:
    """One message of the story."""
    memory.add_message(told.actor, told.text, reference_time=f"2026-01-{day:02}", session=session)


def costs(memory: graphmem.Memory, session: str | None) -> dict[tuple[int, str], list[str]]:
    """Told, the statements that each message takes."""
    store: Any = memory._scope.store
    taken = {}
    for n, told in enumerate(STORY, 1):
        names: list[str] = []
        with store.trace(lambda statement: names.append(statement.name)):  # noqa: B023 (the block ends before the next one)
            tell(memory, told, n, session)
        taken[n, told.does] = names
    return taken


def crowd(store: Store, group: str, count: int) -> None:
    """So many people who are known already, also by the words that the story uses."""
    clock = FixedClock("2025-01-15T12:00:00Z").now()
    firsts = ("Mira", "Bob", "Tom", "Ana", "Leo", "Eve", "Kai", "Ida")
    with store.write(group) as tx:
        people = [
            EntityVersion(content_uuid("crowd", n), content_id("en", "crowd", n), group, name, "Person", (), {}, Interval(clock))
            for n in range(count)
            for name in (f"{firsts[n % len(firsts)]} Nobody{n}",)
        ]
        tx.add_entities(people, [indexed(p.name) for p in people])
        tx.put_vectors(Kind.ENTITY, [p.id for p in people], [0] * count, EMBEDDER.embed([p.name for p in people]))


@pytest.mark.parametrize("session", [None, "monday"])
def test_every_episode_takes_four_statements(emptied: Any, session: str | None) -> None:
    """What goes with the text; the lock, and who is meant; what decides its facts; the write. The very first sets the group up."""
    with memory(emptied.uri, emptied.auth) as on_server:
        taken = costs(on_server, session)
    first, *others = taken.values()
    assert len(first) <= MOST
    assert max(map(len, others)) == 4, {kind: names for kind, names in taken.items() if len(names) > 4}
    assert all(names[-1] == "commit" and sum("commit" in n for n in names) == 1 for names in others)


def test_answers_of_a_model_behind_a_network_are_looked_up_together(emptied: Any) -> None:
    """One statement more: what was answered before. What must be asked about once more is decided once more."""
    with memory(emptied.uri, emptied.auth, local=False) as on_server:
        taken = costs(on_server, None)
    for (n, does), names in taken.items():
        lookups = names.count("answers_by_key")
        assert "answer" not in names, does
        assert n == 1 or len(names) <= 2 + 3 * max(lookups, 1), (does, names)
    assert sum(names.count("answers_by_key") == 1 for names in taken.values()) > len(STORY) / 2


def test_as_many_statements_among_many_as_among_few(emptied: Any) -> None:
    """Where a hundred are known and where so many are that vectors are sought in the index."""
    taken = []
    for group, others in (("few", 100), ("many", 1_500)):
        with memory(emptied.uri, emptied.auth, group) as on_server:
            crowd(on_server._scope.store, group, others)
            taken.append({kind: len(names) for kind, names in costs(on_server, None).items()})
    assert taken[0] == taken[1]
    assert max(taken[1].values()) <= MOST


def test_what_is_told_beforehand_changes_nothing(emptied: Any) -> None:
    """The story has the same end as on a store that answers every read when it is asked."""
    with memory(emptied.uri, emptied.auth) as on_server, memory(":memory:") as plain:
        for opened in (on_server, plain):
            crowd(opened._scope.store, "main", 40)
            for n, told in enumerate(STORY, 1):
                tell(opened, told, n, "monday")
            opened.forget(episode=opened.episodes()[4].id)
            tell(opened, STORY[4], 20, "monday")
        with on_server._scope.store.read() as found, plain._scope.store.read() as expected:
            assert state_hash(found, "main") == state_hash(expected, "main")
            assert history_hash(found, "main") == history_hash(expected, "main")
            assert found.verify() == []


def test_an_episode_is_six_round_trips_on_the_wire(emptied: Any) -> None:
    """Counted between driver and server: the four statements, and one each to begin and to commit the transaction."""

    def trips(between: Wire, opened: graphmem.Memory, n: int) -> int:
        before = between.trips
        tell(opened, STORY[n], n + 1, None)
        return between.trips - before

    with wire(emptied.uri) as (between, near), memory(near, emptied.auth) as opened:
        taken = [trips(between, opened, n) for n in range(len(STORY))]
    assert max(taken[1:]) <= MOST, taken
