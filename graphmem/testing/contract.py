"""The store contract as tests: what every store must do, for those who write one.

Subclass `StoreContract` in a test module that gives a fixture `store`, an empty store:

    class TestMyStore(StoreContract):
        @pytest.fixture
        def store(self):
            with checked(MyStore()) as store:
                yield store
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import numpy as np

from graphmem.errors import GraphmemError, StoreError
from graphmem.interval import DateUnit, Interval, Origin
from graphmem.model import (
    VALUE_TYPE,
    AsOf,
    EntityMatch,
    EpisodeMatch,
    EpisodeRecord,
    FactKey,
    FactMatch,
    Head,
    Mention,
    MentionVersion,
    Operation,
    OperationKind,
)
from graphmem.stores.base import Found, Kind, Reader, SearchFilter, Store
from graphmem.testing.samples import (
    GROUP,
    add_entities,
    add_episode,
    add_facts,
    assertion,
    citation,
    day,
    entity,
    fact,
    key_of,
    put,
    record,
    unit,
)

S = TypeVar("S", bound=Store)
NOW = AsOf()
HOSTILE = (
    "\x00",
    "a\x00b",
    "\ud800",
    "x\udfff\ud800y",
    "\x1a0000",
    "\u202eabc\u202c",
    "👩‍👩‍👧",
    "\u2028",
    "'; DROP TABLE fact; --",
    '"NEAR(',
    "مرحبا",
    "ſt",
)
MICROSECOND = timedelta(microseconds=1)


@contextmanager
def checked(store: S) -> Iterator[S]:
    """The store for one test: consistent at the end, then closed."""
    try:
        yield store
        with store.read() as reader:
            assert reader.verify() == []
    finally:
        store.close()


@contextmanager
def raising(error: type[GraphmemError]) -> Iterator[None]:
    """Fails unless the block raises `error`."""
    try:
        yield
    except error:
        return
    raise AssertionError(f"{error.__name__} was not raised")


def uuids(reader: Reader, at: AsOf = NOW, match: FactMatch | None = None, groups: Sequence[str] = (GROUP,)) -> list[str]:
    """The fact versions that pass, by uuid."""
    return [v.uuid for v in reader.facts(groups, at, match)]


def ids(found: Sequence[Found]) -> list[str]:
    """What was found, in order."""
    return [f.id for f in found]


class LogContract:
    """The log and what is read of it."""

    def test_an_episode_comes_back_whole(self, store: Store) -> None:
        """Every field of episode, assertions, mentions and links, decisions and dates included."""
        said = replace(
            assertion("a1", "e1", "mira", "acme", same_as="a0", excludes=("b", "c")),
            start=DateUnit.of(2022, 5),
            end=DateUnit.of(2024, origin=Origin.USER),
            still=True,
            attributes={"deep": [{"n": None, "big": 2**80, "raw": b"\x00\xff", "when": day(3)}]},
        )
        given = replace(record("e1", 1, assertions=[said], entities=["mira", "acme"], links=(("mira", "m"),)), search_text=("loose", ""))
        with store.write(GROUP) as writer:
            writer.append_episode(given)
        with store.read() as reader:
            assert reader.records(GROUP, ["e1", "unknown"]) == [given]
            assert list(reader.log(GROUP)) == [given]
            assert reader.episode_by_key(GROUP, "key-e1") == given
            assert reader.heads(GROUP, ["e1"]) == [replace(given.episode, body="")]
            assert reader.head(GROUP) == Head(1, day(1))

    def test_any_text_is_kept(self, store: Store) -> None:
        """NUL, lone surrogates, escapes, right-to-left marks and quotes are text like any other."""
        for n, text in enumerate(HOSTILE, 1):
            said = replace(assertion(f"a{n}", f"e{n}", text, f"{text}."), text=text)
            made = record(f"e{n}", n, body=text, session=text, assertions=[said], entities=[text])
            given = replace(made, episode=replace(made.episode, attributes={text: text}), search_text=(text,))
            version = replace(fact(f"u{n}", text, f"{text}."), text=text, relation=text)
            with store.write(GROUP) as writer:
                add_episode(writer, given, words=text)
                writer.add_facts([version], [text])
                add_entities(writer, entity(f"v{n}", text, name=f"n{text}", aliases=(text,)))
                writer.put_answer(text, {text: text}, {"prompt": text})
                writer.put_meta(text, text)
            with store.read() as reader:
                assert reader.records(GROUP, [f"e{n}"]) == [given]
                assert reader.facts([GROUP], NOW, FactMatch(uuids=(f"u{n}",))) == [version]
                assert reader.entities([GROUP], NOW, EntityMatch(ids=(text,)))[0].aliases == (text,)
                assert reader.answer(text) == ({text: text}, {"prompt": text})
                assert reader.meta(text) == text
                assert reader.words(Kind.FACT, [f"u{n}"]) == {f"u{n}": text}
                terms = text.split()
                assert (f"u{n}" in ids(reader.text_search(Kind.FACT, terms, [GROUP], NOW, 50))) == bool(terms)

    def test_the_log_holds_episodes_and_operations_in_order(self, store: Store) -> None:
        """Entries come by position, whatever they are; `after` leaves out the first ones."""
        operation = Operation(
            "o1", GROUP, OperationKind.CORRECT, ("a1", "e1"), {"start": DateUnit.of(2020), "end": None}, 2, day(2), "me", "why"
        )
        with store.write(GROUP) as writer:
            writer.append_episode(record("e1", 1))
            writer.append_operation(operation)
            writer.append_episode(record("e2", 3))
        with store.read() as reader:
            assert [e.seq for e in reader.log(GROUP)] == [1, 2, 3]
            assert [e.seq for e in reader.log(GROUP, after=1)] == [2, 3]
            assert reader.operations(GROUP) == [operation]
            assert reader.operations(GROUP, targets=["a1"]) == reader.operations(GROUP, ids=["o1"]) == [operation]
            assert reader.operations(GROUP, targets=["zz"]) == []
            assert reader.head(GROUP) == Head(3, day(3))
            assert reader.head("other") == Head()
            assert reader.groups() == [GROUP]

    def test_assertions_are_found_five_ways(self, store: Store) -> None:
        """By id, by fact, by episode, by entity and by the decisions that name them; in said order."""
        first = record("e1", 1, assertions=[assertion("a1", "e1", "mira", "acme"), assertion("a2", "e1", "bob", "mira", position=1)])
        second = record("e2", 2, assertions=[assertion("a3", "e2", "mira", "globex", same_as="a1", excludes=("a2",))])
        with store.write(GROUP) as writer:
            writer.append_episode(second)
            writer.append_episode(first)
            writer.set_keys(GROUP, {"a1": ("f1", FactKey("knows", "mira", "acme")), "a3": None})
        with store.read() as reader:
            assert [a.id for a in reader.assertions(GROUP, ids=["a3", "a1"])] == ["a1", "a3"]
            assert [a.id for a in reader.assertions(GROUP, facts=["f1"])] == ["a1"]
            assert [a.id for a in reader.assertions(GROUP, episodes=["e1"])] == ["a1", "a2"]
            assert [a.id for a in reader.assertions(GROUP, entities=["mira"])] == ["a1", "a2", "a3"]
            assert [a.id for a in reader.assertions(GROUP, deciding=["a2"])] == ["a3"]
            assert [a.id for a in reader.assertions(GROUP, deciding=["a1"])] == ["a3"]
            assert reader.fact_ids(GROUP, ["a1", "a2", "a3"]) == {"a1": "f1", "a3": None}
            assert reader.assertions("other", ids=["a1"]) == []

    def test_keys_are_found_by_fact_and_by_slot(self, store: Store) -> None:
        """A slot is a relation with an entity at its source, its target or either end."""
        key, other = FactKey("lives_in", "mira", "porto"), FactKey("knows", "bob", "mira", "v")
        with store.write(GROUP) as writer:
            writer.append_episode(record("e1", 1, assertions=[assertion(f"a{i}", "e1", "x", "y", position=i) for i in range(3)]))
            writer.set_keys(GROUP, {"a0": ("f1", key), "a1": ("f1", key), "a2": ("f2", other)})
        with store.read() as reader:
            assert reader.keys(GROUP, facts=["f1", "f9"]) == {"f1": key}
            assert reader.keys(GROUP, slots=[("source", "lives_in", "mira")]) == {"f1": key}
            assert reader.keys(GROUP, slots=[("target", "lives_in", "mira")]) == {}
            assert reader.keys(GROUP, slots=[("either", "knows", "mira"), ("either", "lives_in", "porto")]) == {"f1": key, "f2": other}
        with store.write(GROUP) as writer:
            writer.set_keys(GROUP, {"a2": ("f1", key)})
            assert reader_keys(writer) == {"f1": key}

    def test_links_and_mentions_of_the_log(self, store: Store) -> None:
        """Both are found by the entities recorded, forgotten or not."""
        with store.write(GROUP) as writer:
            writer.append_episode(record("e1", 1, entities=["mira", "bea"], links=(("bea", "beatriz"), ("x", "y"))))
        with store.read() as reader:
            assert reader.links(GROUP, ["beatriz"]) == [("e1", "bea", "beatriz")]
            assert reader.mention_records(GROUP, ["bea"]) == [Mention("e1", 1, "bea", "Bea")]

    def test_a_failed_transaction_leaves_nothing(self, store: Store) -> None:
        """An exception inside takes back log, versions, indexes, settings and answers."""
        try:
            with store.write(GROUP) as writer:
                add_episode(writer, record("e1", 1, entities=["mira"]))
                add_facts(writer, fact("u1", "mira", "acme"))
                writer.put_meta("m", "1")
                writer.put_answer("k", 1, {})
                assert ids(writer.text_search(Kind.FACT, ["mira"], [GROUP], NOW, 5)) == ["u1"]
                raise KeyboardInterrupt
        except KeyboardInterrupt:
            pass
        with store.read() as reader:
            assert (reader.head(GROUP), reader.meta("m"), reader.answer("k"), reader.groups()) == (Head(), None, None, [])
            assert sum(reader.counts([GROUP], NOW).values()) == 0
            assert reader.text_search(Kind.FACT, ["mira"], [GROUP], NOW, 5) == []

    def test_the_same_episode_twice_is_refused(self, store: Store) -> None:
        """Idempotency is the engine's; a store that is told to append twice says so and stays as it was."""
        with store.write(GROUP) as writer:
            writer.append_episode(record("e1", 1))
        with raising(StoreError), store.write(GROUP) as writer:
            writer.append_episode(record("e1", 2))
        with store.read() as reader:
            assert reader.head(GROUP).seq == 1

    def test_a_reader_keeps_its_snapshot(self, store: Store) -> None:
        """What is committed while a reader is open does not show in it, in lists or in searches."""
        with store.write(GROUP) as writer:
            add_facts(writer, fact("u1", "mira", "acme"))
        with store.read() as before:
            assert uuids(before) == ["u1"]
            _in_thread(lambda: _commit(store, fact("u2", "mira", "globex")))
            assert uuids(before) == ["u1"]
            with store.read() as after:
                assert ids(after.text_search(Kind.FACT, ["mira"], [GROUP], NOW, 5)) == ["u1", "u2"]
            assert ids(before.text_search(Kind.FACT, ["mira"], [GROUP], NOW, 5)) == ["u1"]

    def test_threads_write_one_after_another(self, store: Store) -> None:
        """Concurrent writers all succeed, and none is lost."""
        threads = [
            threading.Thread(target=lambda n=n: [_commit(store, fact(f"u{n}-{i}", "a", "b")) for i in range(5)])  # type: ignore[misc]
            for n in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with store.read() as reader:
            assert len(uuids(reader)) == 20

    def test_erasing_an_episode_leaves_no_copy(self, store: Store) -> None:
        """Episode, assertions, mentions, words, vectors, citations and answers go; the head stays."""
        said = assertion("a1", "e1", "mira", "acme")
        with store.write(GROUP) as writer:
            add_episode(writer, record("e1", 1, assertions=[said], entities=["mira"], links=(("p", "q"),)), words="secret")
            add_episode(writer, record("e2", 2), words="open")
            writer.set_keys(GROUP, {"a1": ("f1", FactKey("knows", "mira", "acme"))})
            put(writer, Kind.EPISODE, "e1", unit(1, 0))
            writer.put_answer("k1", "secret", {})
            writer.remove_episodes(GROUP, ["e1"], answers=["k1"])
        with store.read() as reader:
            assert [r.episode.id for r in reader.log(GROUP) if isinstance(r, EpisodeRecord)] == ["e2"]
            assert reader.assertions(GROUP, ids=["a1"]) == [] and reader.keys(GROUP, facts=["f1"]) == {}
            assert reader.text_search(Kind.EPISODE, ["secret"], [GROUP], AsOf(system=day(1)), 5) == []
            assert reader.vectors(Kind.EPISODE, ["e1"]) == {} and reader.words(Kind.EPISODE, ["e1"]) == {}
            assert reader.mentions([GROUP], AsOf(system=day(1))) == [] and reader.links(GROUP, ["p"]) == []
            assert reader.answer("k1") is None and reader.head(GROUP).seq == 2


class GraphContract:
    """Versions at a point on both axes."""

    def test_boundaries_are_half_open_on_both_axes(self, store: Store) -> None:
        """A start belongs to its interval, an end does not; one microsecond decides."""
        with store.write(GROUP) as writer:
            add_facts(writer, fact("u1", "a", "b", valid=(10, 20), system=(3, 5)))
        passing = {
            (valid, system)
            for valid in (day(10) - MICROSECOND, day(10), day(20) - MICROSECOND, day(20))
            for system in (day(3) - MICROSECOND, day(3), day(5) - MICROSECOND, day(5))
            for _ in _passing(store, AsOf(valid, system))
        }
        assert passing == {(v, s) for v in (day(10), day(20) - MICROSECOND) for s in (day(3), day(5) - MICROSECOND)}

    def test_open_ends_reach_the_edges_of_time(self, store: Store) -> None:
        """An unknown start lies before, an unknown end after every instant that can be written."""
        first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
        edge = replace(fact("u2", "a", "b"), valid=Interval(first, last))
        with store.write(GROUP) as writer:
            add_facts(writer, fact("u1", "a", "b"), edge)
        with store.read() as reader:
            assert uuids(reader, AsOf(first)) == ["u1", "u2"]
            assert uuids(reader, AsOf(last)) == ["u1"]
            assert reader.facts([GROUP], NOW, FactMatch(uuids=("u2",))) == [edge]

    def test_without_a_system_instant_only_open_versions_pass(self, store: Store) -> None:
        """The last instant is now, whatever the clock says."""
        with store.write(GROUP) as writer:
            add_facts(writer, fact("old", "a", "b", system=(1, 4)), fact("new", "a", "b", system=(4, None)))
        with store.read() as reader:
            assert uuids(reader) == ["new"]
            assert uuids(reader, AsOf(system=day(3))) == ["old"]
            assert uuids(reader, AsOf(system=day(0))) == []
            assert [v.uuid for v in reader.fact_versions(GROUP)] == ["old", "new"]

    def test_ending_a_version_closes_it(self, store: Store) -> None:
        """Earlier instants still believe it; a version that never lasted is gone."""
        with store.write(GROUP) as writer:
            add_facts(writer, fact("u1", "a", "b", system=(1, None)), fact("u2", "a", "c", system=(2, None)))
            add_entities(writer, entity("v1", "a", system=(1, None)))
            writer.end_versions("fact", ["u1", "u2"], day(2))
            writer.end_versions("entity", ["v1"], day(3))
        with store.read() as reader:
            assert uuids(reader) == [] and uuids(reader, AsOf(system=day(1))) == ["u1"]
            assert [v.uuid for v in reader.fact_versions(GROUP)] == ["u1"]
            assert reader.entities([GROUP], NOW) == []
            assert [v.system for v in reader.entity_versions(GROUP, ["a"])] == [Interval(day(1), day(3))]
            assert reader.text_search(Kind.FACT, ["c"], [GROUP], AsOf(system=day(2)), 5) == []

    def test_facts_come_by_valid_start_then_age_then_uuid(self, store: Store) -> None:
        """An unknown start comes first; a limit takes from the front."""
        with store.write(GROUP) as writer:
            add_facts(
                writer,
                fact("u4", "a", "b", valid=(5, None), system=(2, None)),
                fact("u3", "a", "b", valid=(5, None), system=(2, None)),
                fact("u2", "a", "b", valid=(5, None), system=(1, None)),
                fact("u1", "a", "b"),
            )
        with store.read() as reader:
            assert uuids(reader) == ["u1", "u2", "u3", "u4"]
            assert [v.uuid for v in reader.facts([GROUP], NOW, limit=2)] == ["u1", "u2"]
            assert [v.uuid for v in reader.facts([GROUP], NOW, FactMatch(valid_overlaps=Interval(None, day(5))), limit=9)] == ["u1"]

    def test_every_condition_of_a_match_must_hold(self, store: Store) -> None:
        """Conditions are joined by "and", their values by "or"; an empty tuple matches nothing."""
        with store.write(GROUP) as writer:
            add_facts(writer, fact("u1", "a", "b"), fact("u2", "b", "c", relation="likes"), fact("u3", "c", "a", valid=(5, 6)))
        cases = {
            FactMatch(uuids=("u1", "u3")): {"u1", "u3"},
            FactMatch(fact_ids=("fact-u2",)): {"u2"},
            FactMatch(entities=("a",)): {"u1", "u3"},
            FactMatch(entities=("a", "b", "c"), relations=("likes",)): {"u2"},
            FactMatch(sources=("a", "b"), targets=("c",)): {"u2"},
            FactMatch(relations=("knows",), valid_overlaps=Interval(day(6), None)): {"u1"},
            FactMatch(uuids=()): set(),
            FactMatch(uuids=("u1",), relations=()): set(),
        }
        with store.read() as reader:
            for match, expected in cases.items():
                assert set(uuids(reader, match=match)) == expected

    def test_groups_never_mix(self, store: Store) -> None:
        """Rows of one group do not show in another; several are read by naming them; `()` finds nothing."""
        for group in ("a", "b"):
            with store.write(group) as writer:
                add_episode(writer, record(f"e{group}", 1, group=group, entities=["x"]))
                add_facts(writer, fact(f"u{group}", f"x{group}", f"y{group}", group=group))
                add_entities(writer, entity(f"v{group}", f"x{group}", group=group, name="x"))
                put(writer, Kind.FACT, f"u{group}", unit(1, 1))
        with store.read() as reader:
            for groups in ((), ("a",), ("b", "a"), ("a", "a"), ("zz",)):
                known = sorted({g for g in groups if g in "ab"})
                assert uuids(reader, groups=groups) == [f"u{g}" for g in known]
                assert ids(reader.vector_search(Kind.FACT, unit(1, 1)[0], groups, NOW, 9)) == [f"u{g}" for g in known]
                assert ids(reader.text_search(Kind.FACT, ["knows"], groups, NOW, 9)) == [f"u{g}" for g in known]
                assert [e.id for e in reader.episodes(groups, NOW)] == [f"e{g}" for g in known]
                assert [m.mention.episode for m in reader.mentions(groups, NOW)] == [f"e{g}" for g in known]
                assert len(reader.entities(groups, NOW, EntityMatch(names=("X",)))) == len(known)
                assert reader.counts(groups, NOW)["facts"] == len(known)
            assert reader.neighbours(["xa"], (), NOW, hops=2) == []
            assert reader.records("a", ["eb"]) == [] and reader.groups() == ["a", "b"]

    def test_a_transaction_writes_to_its_own_group(self, store: Store) -> None:
        """Another group's lock is not held, so another group's rows are refused."""
        with raising(StoreError), store.write("a") as writer:
            writer.append_episode(record("e1", 1, group="b"))

    def test_entities_are_found_by_any_name(self, store: Store) -> None:
        """Names are compared by their key, canonical and alias alike, as of the instant asked."""
        with store.write(GROUP) as writer:
            add_entities(writer, entity("v1", "m", name="Mira", aliases=("Dr. Mira Óx",), system=(1, None)))
            writer.end_versions("entity", ["v1"], day(2))
            add_entities(writer, entity("v2", "m", name="Mira Óx", type="Person", system=(2, None)), entity("v3", "z", name="zoe"))
        with store.read() as reader:
            assert [v.uuid for v in reader.entities([GROUP], NOW, EntityMatch(names=("mira  óx.", "ZOE")))] == ["v2", "v3"]
            assert reader.entities([GROUP], NOW, EntityMatch(names=("dr. mira óx",))) == []
            assert [v.uuid for v in reader.entities([GROUP], AsOf(system=day(1)), EntityMatch(names=("dr. mira óx",)))] == ["v1"]
            assert [v.uuid for v in reader.entities([GROUP], NOW, EntityMatch(types=("Person",), ids=("m", "z")))] == ["v2"]
            assert [v.uuid for v in reader.entity_versions(GROUP, ["m"])] == ["v1", "v2"]

    def test_citations_have_their_own_system_time(self, store: Store) -> None:
        """A later citation shows from its own instant on, without a version of the fact."""
        version = fact("u1", "a", "b", valid=(1, None), system=(1, None))
        first, second = citation(version, "e1", "a1"), citation(version, "e2", "a2")
        with store.write(GROUP) as writer:
            add_episode(writer, record("e1", 1))
            add_facts(writer, version)
            writer.change_citations(GROUP, [], [first], day(1))
        with store.write(GROUP) as writer:
            add_episode(writer, record("e2", 2))
            writer.change_citations(GROUP, [], [second], day(2))
        with store.write(GROUP) as writer:
            writer.change_citations(GROUP, [first], [], day(3))
        with store.read() as reader:
            seen = {n: [c.by for c in reader.citations([GROUP], AsOf(system=day(n)), facts=["fact-u1"])] for n in range(4)}
            assert seen == {0: [], 1: ["a1"], 2: ["a1", "a2"], 3: ["a2"]}
            assert reader.citations([GROUP], NOW, episodes=["e2"]) == [replace(second, system=Interval(day(2)))]

    def test_hidden_episodes_stay_visible_in_the_past(self, store: Store) -> None:
        """Hide closes the visible interval, show opens another; searches agree."""
        with store.write(GROUP) as writer:
            add_episode(writer, record("e1", 1), words="hello")
            put(writer, Kind.EPISODE, "e1", unit(1, 0))
        with store.write(GROUP) as writer:
            writer.hide_episodes(GROUP, ["e1"], day(3))
        with store.write(GROUP) as writer:
            writer.show_episodes(GROUP, ["e1"], day(5), {})
            writer.show_episodes(GROUP, ["e1"], day(6), {})
        with store.read() as reader:
            for n, visible in ((0, 0), (1, 1), (2, 1), (3, 0), (4, 0), (5, 1), (9, 1)):
                at = AsOf(system=day(n))
                assert len(reader.episodes([GROUP], at)) == visible
                assert len(reader.text_search(Kind.EPISODE, ["hello"], [GROUP], at, 5)) == visible
                assert len(reader.vector_search(Kind.EPISODE, unit(1, 0)[0], [GROUP], at, 5)) == visible
                assert reader.counts([GROUP], at)["episodes"] == visible

    def test_episodes_come_by_reference_time(self, store: Store) -> None:
        """Oldest first or newest first, filtered before the limit, with or without bodies."""
        with store.write(GROUP) as writer:
            for n, (at, session) in enumerate(((7, "s"), (3, "t"), (5, "s"), (5, "s")), 1):
                add_episode(writer, record(f"e{n}", n, at=at, session=session, body=f"b{n}", entities=["x"] if n == 1 else []))
        with store.read() as reader:
            assert [e.id for e in reader.episodes([GROUP], NOW)] == ["e2", "e3", "e4", "e1"]
            assert [e.id for e in reader.episodes([GROUP], NOW, limit=2, newest_first=True)] == ["e1", "e4"]
            in_session = EpisodeMatch(sessions=("s",), reference=Interval(day(4), day(7)))
            assert [(e.id, e.body) for e in reader.episodes([GROUP], NOW, in_session, 1, bodies=False)] == [("e3", "")]
            assert [e.id for e in reader.episodes([GROUP], NOW, EpisodeMatch(entities=("x",), keys=("key-e1", "key-e2")))] == ["e1"]
            assert reader.around([GROUP], NOW, ["e4", "e2"]) == {"e4": ("e3", "e1"), "e2": (None, None)}

    def test_mentions_come_newest_first_under_their_canonical_entity(self, store: Store) -> None:
        """A merge moves a mention to another entity from its instant on."""
        with store.write(GROUP) as writer:
            add_episode(writer, record("e1", 1, entities=["bea"]))
            add_episode(writer, record("e2", 2, entities=["beatriz", "porto"]))
        with store.write(GROUP) as writer:
            moved = writer.mentions([GROUP], NOW, entities=["bea"])
            writer.change_mentions(GROUP, moved, [MentionVersion(moved[0].mention, "beatriz", Interval(day(3)))], day(3))
        with store.read() as reader:
            assert [m.mention.episode for m in reader.mentions([GROUP], NOW, entities=["beatriz"])] == ["e2", "e1"]
            assert [m.mention.episode for m in reader.mentions([GROUP], AsOf(system=day(2)), entities=["beatriz"])] == ["e2"]
            assert [m.entity for m in reader.mentions([GROUP], NOW, limit=2)] == ["beatriz", "porto"]
            assert [m.entity for m in reader.mentions([GROUP], NOW, episodes=["e1"])] == ["beatriz"]
            assert reader.mentions([GROUP], NOW, episodes=["e1"], entities=["porto"]) == []

    def test_clearing_leaves_the_log_alone(self, store: Store) -> None:
        """Versions, keys and indexes of the group go; other groups and the log stay."""
        for group in ("a", "b"):
            with store.write(group) as writer:
                add_episode(writer, record(f"e{group}", 1, group=group, assertions=[assertion(f"a{group}", f"e{group}", "x", "y")]))
                version = fact(f"u{group}", "x", "y", group=group)
                add_facts(writer, version)
                add_entities(writer, entity(f"v{group}", f"x{group}", group=group))
                writer.set_keys(group, {f"a{group}": key_of(version)})
                put(writer, Kind.FACT, f"u{group}", unit(1, 2))
        with store.write("a") as writer:
            writer.clear_derived("a")
        with store.read() as reader:
            assert set(reader.counts(["a"], NOW).values()) == {0} and reader.fact_versions("a") == []
            assert len(list(reader.log("a"))) == 1 and reader.keys("a", facts=["fact-ua"]) == {}
            assert reader.vectors(Kind.FACT, ["ua", "ub"]).keys() == {"ub"}
            assert ids(reader.text_search(Kind.FACT, ["x"], ["a", "b"], NOW, 5)) == ["ub"]
            assert ids(reader.vector_search(Kind.FACT, unit(1, 2)[0], ["a", "b"], NOW, 5)) == ["ub"]
        with store.write("a") as writer:
            add_facts(writer, fact("ua", "x", "y", group="a"))
        with store.read() as reader:
            assert ids(reader.text_search(Kind.FACT, ["x"], ["a", "b"], NOW, 5)) == ["ua", "ub"]


class SearchContract:
    """Text, vectors and expansion."""

    def test_rare_words_count_more_and_ties_go_by_id(self, store: Store) -> None:
        """BM25, best first; equal scores by id; no terms, nothing."""
        texts = {"u3": "red fish", "u1": "red bird", "u2": "red bird", "u4": "blue bird bird", "u5": ""}
        with store.write(GROUP) as writer:
            writer.add_facts([fact(u, "a", "b") for u in texts], list(texts.values()))
        with store.read() as reader:
            assert ids(reader.text_search(Kind.FACT, ["fish", "red"], [GROUP], NOW, 9)) == ["u3", "u1", "u2"]
            assert ids(reader.text_search(Kind.FACT, ["bird"], [GROUP], NOW, 2)) == ["u4", "u1"]
            assert reader.text_search(Kind.FACT, [], [GROUP], NOW, 9) == reader.text_search(Kind.FACT, ["none"], [GROUP], NOW, 9) == []
            assert reader.word_statistics(Kind.FACT, ["red", "bird", "none"]) == (5, 9 / 5, {"red": 3, "bird": 3, "none": 0})
            assert reader.words(Kind.FACT, ["u4", "u9"]) == {"u4": "blue bird bird"}

    def test_words_are_compared_as_given(self, store: Store) -> None:
        """The store neither splits nor folds: case, accents and signs tell words apart."""
        words = ["café", "cafe", "c++", "c", "C", "北京", "京", "_632b2b", "x" * 3000, "x" * 2999]
        with store.write(GROUP) as writer:
            writer.add_facts([fact(f"u{i}", "a", "b") for i in range(len(words))], words)
        with store.read() as reader:
            for i, word in enumerate(words):
                assert ids(reader.text_search(Kind.FACT, [word], [GROUP], NOW, 9)) == [f"u{i}"]

    def test_new_words_of_an_entity_replace_the_old(self, store: Store) -> None:
        """The index holds what the entity is called now."""
        with store.write(GROUP) as writer:
            writer.add_entities([entity("v1", "m", system=(1, None))], ["mira old"])
        with store.read() as reader:
            assert ids(reader.text_search(Kind.ENTITY, ["old"], [GROUP], NOW, 5)) == ["m"]
        with store.write(GROUP) as writer:
            writer.end_versions("entity", ["v1"], day(2))
            writer.add_entities([entity("v2", "m", system=(2, None))], ["mira new"])
        with store.read() as reader:
            assert reader.text_search(Kind.ENTITY, ["old"], [GROUP], NOW, 5) == []
            assert ids(reader.text_search(Kind.ENTITY, ["new"], [GROUP], AsOf(system=day(1)), 5)) == ["m"]
            assert reader.word_statistics(Kind.ENTITY, ["mira"]) == (1, 2.0, {"mira": 1})

    def test_filters_come_before_the_limit(self, store: Store) -> None:
        """The one row that passes is found, however many better ones do not."""
        with store.write(GROUP) as writer:
            add_facts(
                writer, *(fact(f"x{i:03}", "a", "b", valid=(1, 2)) for i in range(300)), fact("u", "a", "c", valid=(3, 4), relation="r")
            )
            for i in range(300):
                put(writer, Kind.FACT, f"x{i:03}", unit(1, 0))
            put(writer, Kind.FACT, "u", unit(1, 3))
        for at, match in ((AsOf(day(3)), None), (NOW, FactMatch(relations=("r",))), (NOW, FactMatch(targets=("c",)))):
            with store.read() as reader:
                given = SearchFilter(facts=match)
                assert ids(reader.text_search(Kind.FACT, ["a"], [GROUP], at, 1, given)) == ["u"]
                assert ids(reader.vector_search(Kind.FACT, unit(1, 0)[0], [GROUP], at, 1, given)) == ["u"]

    def test_the_best_piece_of_an_episode_counts(self, store: Store) -> None:
        """One row per owner, with the piece that matched; a replaced piece no longer matches."""
        with store.write(GROUP) as writer:
            add_episode(writer, record("e1", 1))
            add_episode(writer, record("e2", 2))
            put(writer, Kind.EPISODE, "e1", unit(0, 1, 0), unit(1, 0, 0))
            put(writer, Kind.EPISODE, "e2", unit(0.9, 0.1, 0))
        query = unit(1, 0, 0)[0]
        with store.read() as reader:
            found = reader.vector_search(Kind.EPISODE, query, [GROUP], NOW, 5)
            assert [(f.id, f.piece) for f in found] == [("e1", 1), ("e2", 0)]
            assert abs(found[0].score - 1.0) < 1e-3
            assert reader.vectors(Kind.EPISODE, ["e1", "zz"])["e1"].shape == (2, 3)
        with store.write(GROUP) as writer:
            writer.put_vectors(Kind.EPISODE, ["e1"], [1], unit(0, 0, 1))
        with store.read() as reader:
            assert ids(reader.vector_search(Kind.EPISODE, query, [GROUP], NOW, 5)) == ["e2", "e1"]

    def test_nearest_are_exact(self, store: Store) -> None:
        """Order and scores are those of the full product, to half precision."""
        rows = np.random.default_rng(7).normal(size=(400, 32)).astype(np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        with store.write(GROUP) as writer:
            add_facts(writer, *(fact(f"u{i:03}", "a", "b") for i in range(400)))
            writer.put_vectors(Kind.FACT, [f"u{i:03}" for i in range(400)], [0] * 400, rows)
        halves = rows.astype(np.float16).astype(np.float32)
        with store.read() as reader:
            for query in rows[:5]:
                scores = halves @ query
                expected = [f"u{i:03}" for i in np.argsort(-scores)[:20]]
                found = reader.vector_search(Kind.FACT, query, [GROUP], NOW, 20)
                assert ids(found) == expected
                assert np.allclose([f.score for f in found], np.sort(scores)[::-1][:20], atol=1e-3)

    def test_copied_vectors_equal_their_originals(self, store: Store) -> None:
        """A new version of an unchanged text keeps its vector."""
        with store.write(GROUP) as writer:
            add_facts(writer, fact("u1", "a", "b"), fact("u2", "a", "b"))
            put(writer, Kind.FACT, "u1", unit(1, 2))
            writer.copy_vectors(Kind.FACT, [("u1", "u2"), ("none", "u2")])
        with store.read() as reader:
            held = reader.vectors(Kind.FACT, ["u1", "u2"])
            assert np.array_equal(held["u1"], held["u2"])

    def test_a_vector_needs_its_owner(self, store: Store) -> None:
        """Nothing is indexed that could not be found."""
        for kind in Kind:
            with raising(StoreError), store.write(GROUP) as writer:
                put(writer, kind, "nobody", unit(1, 0))

    def test_expansion_is_breadth_first_and_crosses_no_value(self, store: Store) -> None:
        """Newest valid start first, then uuid; values are reached, seeds are crossed."""
        with store.write(GROUP) as writer:
            add_entities(writer, *(entity(f"v{e}", e) for e in "abcde"), entity("vv", "v", type=VALUE_TYPE))
            add_facts(
                writer,
                fact("u1", "a", "b", valid=(1, None)),
                fact("u2", "c", "a", valid=(2, None)),
                fact("u3", "a", "v"),
                fact("u4", "v", "d"),
                fact("u5", "b", "e", valid=(1, 3)),
            )
        with store.read() as reader:
            reached = reader.neighbours(["a"], [GROUP], NOW, hops=3)
            assert [(h.entity, h.hop, h.fact, h.previous) for h in reached] == [
                ("a", 0, None, None),
                ("c", 1, "u2", "a"),
                ("b", 1, "u1", "a"),
                ("v", 1, "u3", "a"),
                ("e", 2, "u5", "b"),
            ]
            assert reader.neighbours(["a"], [GROUP], NOW, hops=3, limit=3) == reached[:3]
            assert [h.entity for h in reader.neighbours(["v"], [GROUP], NOW, hops=1)] == ["v", "a", "d"]
            assert [h.entity for h in reader.neighbours(["a"], [GROUP], AsOf(day(3)), hops=3)] == ["a", "c", "b", "v"]
            matched = reader.neighbours(["a"], [GROUP], NOW, hops=2, limit=9, match=FactMatch(uuids=("u1", "u5")))
            assert [h.entity for h in matched] == ["a", "b", "e"]
            assert [h.entity for h in reader.neighbours(["a", "zz", "a"], [GROUP], NOW, hops=0)] == ["a", "zz"]

    def test_hubs_do_not_hide_what_lies_behind_them(self, store: Store) -> None:
        """A limit gives the beginning of the full expansion, also where entities share many facts."""
        with store.write(GROUP) as writer:
            add_facts(
                writer,
                *(fact(f"u{i:03}", "hub", f"n{i % 7}", valid=(i % 50, None)) for i in range(400)),
                *(fact(f"w{i:03}", f"n{i % 7}", f"m{i}", valid=(i, None)) for i in range(60)),
            )
        with store.read() as reader:
            whole = reader.neighbours(["hub"], [GROUP], NOW, hops=2)
            assert len(whole) == 1 + 7 + 60
            for limit in (1, 2, 5, 8, 9, 30, 100):
                assert reader.neighbours(["hub"], [GROUP], NOW, hops=2, limit=limit) == whole[:limit]


class StoreContract(LogContract, GraphContract, SearchContract):
    """Everything a store must do."""


def reader_keys(reader: Reader) -> dict[str, FactKey]:
    """Keys of the two facts that the key test uses."""
    return reader.keys(GROUP, facts=["f1", "f2"])


def _passing(store: Store, at: AsOf) -> list[str]:
    with store.read() as reader:
        return uuids(reader, at)


def _commit(store: Store, *versions: object) -> None:
    with store.write(GROUP) as writer:
        add_facts(writer, *versions)  # type: ignore[arg-type]


def _in_thread(work: object) -> None:
    thread = threading.Thread(target=work)  # type: ignore[arg-type]
    thread.start()
    thread.join()
