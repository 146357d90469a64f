"""The store contract: versions at a point on both axes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from graphmem.errors import StoreError
from graphmem.interval import Interval
from graphmem.model import (
    AsOf,
    EntityMatch,
    EpisodeMatch,
    FactMatch,
    MentionVersion,
)
from graphmem.stores.base import Kind, Store
from graphmem.testing.samples import (
    GROUP,
    NOW,
    add_entities,
    add_episode,
    add_facts,
    assertion,
    citation,
    day,
    entity,
    fact,
    ids,
    key_of,
    put,
    raising,
    record,
    unit,
    uuids,
)

MICROSECOND = timedelta(microseconds=1)


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

    def test_versions_of_every_time_are_found_by_uuid_and_by_fact_id(self, store: Store) -> None:
        """Also those believed no more; of this group alone."""
        old, new, far = fact("old", "a", "b", system=(1, 2)), fact("new", "a", "b", system=(2, None)), fact("far", "a", "c")
        with store.write(GROUP) as writer:
            add_facts(writer, old, new, far)
        with store.read() as reader:
            assert reader.fact_versions(GROUP, ["new", "old", "none", "old"]) == [old, new]
            assert reader.fact_versions(GROUP, facts=[old.fact_id, "none"]) == [v for v in (old, new, far) if v.fact_id == old.fact_id]
            assert reader.fact_versions(GROUP, []) == reader.fact_versions(GROUP, facts=[]) == []
            assert (reader.count_fact_versions(GROUP), reader.count_fact_versions("other")) == (3, 0)
            assert reader.fact_versions("other", ["new"]) == reader.fact_versions("other", facts=[old.fact_id]) == []

    def test_ending_a_version_closes_it(self, store: Store) -> None:
        """Earlier instants still believe it; a version that never lasted is gone."""
        with store.write(GROUP) as writer:
            add_facts(writer, fact("u1", "a", "b", system=(1, None)), fact("u2", "a", "c", system=(2, None)))
            add_entities(writer, entity("v1", "a", system=(1, None)))
            writer.end_versions("fact", ["u1", "u2"], day(2))
            writer.end_versions("entity", ["v1"], day(3))
        with store.read() as reader:
            assert uuids(reader) == []
            assert uuids(reader, AsOf(system=day(1))) == ["u1"]
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
            assert reader.records("a", ["eb"]) == []
            assert reader.groups() == ["a", "b"]

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
            cited = {n: reader.sources([GROUP], AsOf(system=day(n)), ["u1", "zz"]) for n in range(4)}
            assert cited == {0: {}, 1: {"u1": ("e1",)}, 2: {"u1": ("e1", "e2")}, 3: {"u1": ("e2",)}}
            assert reader.sources([], NOW, ["u1"]) == {}

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
            assert set(reader.counts(["a"], NOW).values()) == {0}
            assert reader.fact_versions("a") == []
            assert len(list(reader.log("a"))) == 1
            assert reader.keys("a", facts=["fact-ua"]) == {}
            assert reader.vectors(Kind.FACT, ["ua", "ub"]).keys() == {"ub"}
            assert ids(reader.text_search(Kind.FACT, ["x"], ["a", "b"], NOW, 5)) == ["ub"]
            assert ids(reader.vector_search(Kind.FACT, unit(1, 2)[0], ["a", "b"], NOW, 5)) == ["ub"]
        with store.write("a") as writer:
            add_facts(writer, fact("ua", "x", "y", group="a"))
        with store.read() as reader:
            assert ids(reader.text_search(Kind.FACT, ["x"], ["a", "b"], NOW, 5)) == ["ua", "ub"]


def _passing(store: Store, at: AsOf) -> list[str]:
    with store.read() as reader:
        return uuids(reader, at)
