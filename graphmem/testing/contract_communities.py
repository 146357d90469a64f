"""The store contract: communities at a point, who is in them, and facts as edges."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from graphmem.errors import StoreError
from graphmem.interval import Interval
from graphmem.model import AsOf, CommunityMatch, CommunityVersion, EntityMatch, MemberVersion, Ties
from graphmem.stores.base import Kind, SearchFilter, Store, Writer
from graphmem.testing.samples import (
    GROUP,
    NOW,
    add_entities,
    add_episode,
    add_facts,
    citation,
    day,
    entity,
    fact,
    ids,
    raising,
    record,
    unit,
)

PEOPLE = ("ada", "ben", "cleo")


class CommunityContract:
    """Communities carry system intervals; they are written in the caller's transaction."""

    def test_a_community_is_read_as_it_was_written(self, store: Store) -> None:
        """Any text is legal; it comes back with the instant it was written at."""
        odd = "O'Neil \\u0000 \ud800 東京 \x00 \"}) DETACH DELETE n //"
        named = community("u1", "c1", name=odd)
        whole = replace(named, summary=odd, facts=("f1", odd), parent=odd, attributes={"of": [1, odd, None]})
        with store.write(GROUP) as writer:
            writer.change_communities(GROUP, [], [whole, community("u2", "c0", level=1)], day(1))
        with store.read() as reader:
            found = reader.communities([GROUP], NOW)
            assert [(v.level, v.id) for v in found] == [(0, "c1"), (1, "c0")]
            assert found[0] == replace(whole, system=Interval(day(1)))
            assert found[1].attributes == {}
            assert (found[1].parent, found[1].facts) == (None, ())

    def test_versions_are_believed_half_open(self, store: Store) -> None:
        """Earlier instants see the earlier version; one that never lasted is gone."""
        with store.write(GROUP) as writer:
            writer.change_communities(GROUP, [], [community("u1", "c1", name="old")], day(1))
        with store.write(GROUP) as writer:
            writer.change_communities(GROUP, ["u1"], [community("u2", "c1", name="new"), community("u3", "c2")], day(3))
            writer.change_communities(GROUP, ["u3", "nobody"], [], day(3))
        with store.read() as reader:
            named = {n: [v.name for v in reader.communities([GROUP], AsOf(system=day(n)))] for n in (0, 1, 2, 3, 9)}
            assert named == {0: [], 1: ["old"], 2: ["old"], 3: ["new"], 9: ["new"]}
            versions, members = reader.community_history(GROUP)
            assert [(v.uuid, v.system) for v in versions] == [("u1", Interval(day(1), day(3))), ("u2", Interval(day(3)))]
            assert members == []

    def test_every_condition_on_communities_must_hold(self, store: Store) -> None:
        """By id, by level, by both; an empty tuple matches nothing."""
        with store.write(GROUP) as writer:
            writer.change_communities(GROUP, [], [community(f"u{n}", f"c{n}", level=n) for n in range(3)], day(1))
        cases = {
            CommunityMatch(): ["c0", "c1", "c2"],
            CommunityMatch(levels=(0, 2)): ["c0", "c2"],
            CommunityMatch(ids=("c2", "c1", "c9")): ["c1", "c2"],
            CommunityMatch(ids=("c2", "c1"), levels=(1,)): ["c1"],
            CommunityMatch(ids=()): [],
            CommunityMatch(levels=()): [],
        }
        with store.read() as reader:
            for match, expected in cases.items():
                assert [v.id for v in reader.communities([GROUP], NOW, match)] == expected

    def test_a_member_moves_from_its_instant_on(self, store: Store) -> None:
        """Half-open as all versions; by community, by entity, by level."""
        with store.write(GROUP) as writer:
            people(writer)
            writer.change_communities(GROUP, [], [community("u1", "c1"), community("u2", "c2"), community("u3", "c3", level=1)], day(1))
            writer.change_members(GROUP, [], [member("c1", e) for e in PEOPLE] + [member("c3", "ada", 1)], day(1))
        with store.write(GROUP) as writer:
            moved = writer.members([GROUP], NOW, entities=["ben", "cleo"], level=0)
            writer.change_members(GROUP, moved, [member("c2", "ben")], day(4))
        with store.read() as reader:
            before, after = ([shown(m) for m in reader.members([GROUP], AsOf(system=day(n)))] for n in (3, 4))
            assert before == [("c1", 0, "ada"), ("c1", 0, "ben"), ("c1", 0, "cleo"), ("c3", 1, "ada")]
            assert after == [("c1", 0, "ada"), ("c2", 0, "ben"), ("c3", 1, "ada")]
            assert [shown(m) for m in reader.members([GROUP], NOW, entities=["ada"])] == [("c1", 0, "ada"), ("c3", 1, "ada")]
            assert [shown(m) for m in reader.members([GROUP], NOW, entities=["ada"], level=1)] == [("c3", 1, "ada")]
            assert [shown(m) for m in reader.members([GROUP], NOW, communities=["c2", "c9"])] == [("c2", 0, "ben")]
            assert reader.members([GROUP], NOW, communities=["c2"], entities=["ada"]) == []
            assert reader.members([GROUP], NOW, entities=[]) == []
            ever = [(shown(m), m.system) for m in reader.community_history(GROUP)[1] if m.entity == "ben"]
            assert ever == [(("c1", 0, "ben"), Interval(day(1), day(4))), (("c2", 0, "ben"), Interval(day(4)))]

    def test_a_membership_that_never_lasted_is_gone(self, store: Store) -> None:
        """Ended at the instant it began, it leaves nothing, and the entity is free again."""
        with store.write(GROUP) as writer:
            people(writer)
            writer.change_communities(GROUP, [], [community("u1", "c1"), community("u2", "c2")], day(1))
            writer.change_members(GROUP, [], [member("c1", "ada")], day(1))
            writer.change_members(GROUP, [member("c1", "ada")], [member("c2", "ada")], day(1))
        with store.read() as reader:
            assert [shown(m) for m in reader.community_history(GROUP)[1]] == [("c2", 0, "ada")]

    def test_a_member_needs_its_entity(self, store: Store) -> None:
        """An entity that the group never had cannot be a member."""
        with raising(StoreError), store.write(GROUP) as writer:
            writer.change_communities(GROUP, [], [community("u1", "c1")], day(1))
            writer.change_members(GROUP, [], [member("c1", "nobody")], day(1))
        with store.read() as reader:
            assert reader.communities([GROUP], NOW) == []

    def test_communities_of_groups_never_mix(self, store: Store) -> None:
        """One group's do not show in another; `()` finds nothing; a transaction writes to its own."""
        for group in ("a", "b"):
            with store.write(group) as writer:
                add_entities(writer, entity(f"v{group}", f"x{group}", group=group))
                writer.change_communities(group, [], [community(f"u{group}", f"c{group}", group=group)], day(1))
                writer.change_members(group, [], [member(f"c{group}", f"x{group}")], day(1))
        with store.read() as reader:
            for groups in ((), ("a",), ("b", "a"), ("a", "a"), ("zz",)):
                known = sorted({g for g in groups if g in "ab"})
                assert [v.id for v in reader.communities(groups, NOW)] == [f"c{g}" for g in known]
                assert [m.entity for m in reader.members(groups, NOW)] == [f"x{g}" for g in known]
                assert [m.entity for m in reader.members(groups, NOW, entities=["xa", "xb"])] == [f"x{g}" for g in known]
            assert [v.group for v in reader.community_history("a")[0]] == ["a"]
            assert reader.community_history("zz") == ([], [])
        with raising(StoreError), store.write("a") as writer:
            writer.change_communities("b", [], [community("u9", "c9", group="b")], day(2))

    def test_ties_are_the_facts_that_pass(self, store: Store) -> None:
        """Each with its start and the episodes it cites, each counted once, at the point on both axes; 1 where none is."""
        with store.write(GROUP) as writer:
            people(writer)
            for n in (1, 2):
                add_episode(writer, record(f"e{n}", n))
            first = fact("u1", "ada", "ben", valid=(5, 20))
            add_facts(writer, first, fact("u2", "ben", "cleo", system=(3, None)), fact("u3", "cleo", "ada", valid=(30, None)))
            cited = [citation(first, episode, by) for episode, by in (("e1", "a1"), ("e1", "a2"), ("e2", "a3"))]
            writer.change_citations(GROUP, [], cited, day(2))
        with store.read() as reader:
            cases = {
                AsOf(day(6)): [("u1", "ada", "ben", day(5), 2), ("u2", "ben", "cleo", None, 1)],
                AsOf(day(6), day(1)): [("u1", "ada", "ben", day(5), 1)],
                AsOf(day(20)): [("u2", "ben", "cleo", None, 1)],
            }
            for at, expected in cases.items():
                assert sorted(zip(*reader.ties(GROUP, at), strict=True)) == expected
                assert sorted(zip(*reader.ties(GROUP, at, PEOPLE), strict=True)) == expected
            assert sorted(reader.ties(GROUP, AsOf()).facts) == ["u1", "u2", "u3"]
            assert sorted(reader.ties(GROUP, AsOf(), ["ada", "cleo"]).facts) == ["u1", "u2", "u3"]
            assert sorted(reader.ties(GROUP, AsOf(day(6)), ["ada"]).facts) == ["u1"]
        with store.write("large") as writer:
            add_entities(writer, entity("vx", "x", group="large"), entity("vy", "y", group="large"))
            add_facts(writer, *(fact(f"l{n}", "x", "y", group="large") for n in range(20)))
        with store.read() as reader:
            assert sorted(zip(*reader.ties(GROUP, AsOf(day(6))), strict=True)) == cases[AsOf(day(6))]  # as one of many
            assert reader.ties(GROUP, AsOf(), []) == reader.ties("zz", AsOf()) == Ties.of()

    def test_sizes_are_of_the_instant_and_the_largest_come_first(self, store: Store) -> None:
        """By group, of some communities, of a level, at most so many; equal sizes by id."""
        with store.write(GROUP) as writer:
            people(writer)
            named = [community("u1", "c1"), community("u2", "c2"), community("u3", "c3", level=1), community("u4", "c4")]
            writer.change_communities(GROUP, [], named, day(1))
            writer.change_members(GROUP, [], [member("c2", "ada"), member("c1", "ben"), member("c3", "ada", 1)], day(1))
            writer.change_members(GROUP, [], [member("c3", "ben", 1)], day(2))
            writer.change_members(GROUP, [], [member("c2", "cleo")], day(3))
        with store.read() as reader:
            assert reader.community_sizes([GROUP], NOW) == [("c2", 2), ("c3", 2), ("c1", 1)]
            assert reader.community_sizes([GROUP], NOW, level=0) == [("c2", 2), ("c1", 1)]
            assert reader.community_sizes([GROUP], NOW, level=0, limit=1) == [("c2", 2)]
            assert reader.community_sizes([GROUP], AsOf(system=day(2)), level=0) == [("c1", 1), ("c2", 1)]
            assert reader.community_sizes([GROUP], NOW, communities=["c3", "c1", "c4", "c9", "c1"]) == [("c3", 2), ("c1", 1)]
            assert reader.community_sizes([GROUP], NOW, communities=["c3"], level=0) == []
            for empty in (reader.community_sizes([], NOW), reader.community_sizes(["zz"], NOW)):
                assert empty == []
            assert reader.community_sizes([GROUP], NOW, communities=[]) == []

    def test_a_version_is_found_by_words_and_vector_while_it_is_believed(self, store: Store) -> None:
        """At every instant the one believed then, of the groups asked; other filters than attributes do not concern it."""
        with store.write(GROUP) as writer:
            writer.change_communities(GROUP, [], [community("u1", "c1"), community("u2", "c2")], day(1))
            writer.index_communities(GROUP, {"u1": "red fish", "u2": "blue fish fish"})
            writer.put_vectors(Kind.COMMUNITY, ["u1", "u2"], [0, 0], np.concatenate([unit(1, 0), unit(0, 1)]))
        with store.write(GROUP) as writer:
            writer.change_communities(GROUP, ["u1"], [community("u3", "c1", name="new")], day(3))
            writer.index_communities(GROUP, {"u3": "green bird"})
            writer.put_vectors(Kind.COMMUNITY, ["u3"], [0], unit(1, 1))
        with store.write("other") as writer:
            writer.change_communities("other", [], [community("u9", "c9", group="other")], day(1))
            writer.index_communities("other", {"u9": "fish"})
        with store.read() as reader:

            def found(terms: list[str], at: AsOf = NOW, groups: tuple[str, ...] = (GROUP,), **filters: object) -> list[str]:
                return ids(reader.text_search(Kind.COMMUNITY, terms, groups, at, 9, SearchFilter(**filters)))  # type: ignore[arg-type]

            assert found(["fish"]) == ["u2"]
            assert found(["fish", "red"], AsOf(system=day(2))) == ["u1", "u2"]
            assert (found(["fish"], AsOf(system=day(0))), found(["fish"], groups=())) == ([], [])
            assert found(["fish"], groups=("other",)) == ["u9"]
            assert found(["bird"], AsOf(day(2))) == ["u3"]
            assert found(["bird"], entities=EntityMatch(types=("Person",)), ends=("Person",)) == ["u3"]
            assert found(["bird"], attributes={"colour": "green"}) == []
            near = reader.vector_search(Kind.COMMUNITY, unit(1, 0)[0], [GROUP], NOW, 9)
            assert ids(near) == ["u3", "u2"]
            assert ids(reader.vector_search(Kind.COMMUNITY, unit(1, 0)[0], [GROUP], AsOf(system=day(2)), 1)) == ["u1"]
            assert reader.vector_search(Kind.COMMUNITY, unit(1, 0)[0], ["other"], NOW, 9) == []
            assert reader.words(Kind.COMMUNITY, ["u1", "u3", "zz"]) == {"u1": "red fish", "u3": "green bird"}
            assert reader.word_statistics(Kind.COMMUNITY, ["fish"]) == (4, 2.0, {"fish": 3})
            assert reader.similarities(Kind.COMMUNITY, unit(0, 1)[0], ["u2", "zz"])["u2"] > 0.99
            assert [v.uuid for v in reader.communities([GROUP], NOW, CommunityMatch(uuids=("u1", "u3", "u9", "zz")))] == ["u3"]
            assert reader.communities([GROUP], NOW, CommunityMatch(uuids=("u3",), levels=(1,))) == []

    def test_a_version_that_never_lasted_leaves_no_index_rows(self, store: Store) -> None:
        """Words that are given again replace those before; a row needs its owner."""
        with store.write(GROUP) as writer:
            writer.change_communities(GROUP, [], [community("u1", "c1"), community("u2", "c2")], day(1))
            writer.index_communities(GROUP, {"u1": "red fish", "u2": "red"})
            writer.index_communities(GROUP, {"u2": "blue blue"})
            writer.put_vectors(Kind.COMMUNITY, ["u1"], [0], unit(1, 0))
            writer.change_communities(GROUP, ["u1"], [community("u1", "c1", name="again"), community("u3", "c3")], day(1))
            writer.index_communities(GROUP, {"u3": "green"})
        with raising(StoreError), store.write(GROUP) as writer:
            writer.index_communities(GROUP, {"nobody": "red"})
        with store.read() as reader:
            assert reader.text_search(Kind.COMMUNITY, ["red", "fish"], [GROUP], NOW, 9) == []
            assert ids(reader.text_search(Kind.COMMUNITY, ["blue", "green"], [GROUP], NOW, 9)) == ["u2", "u3"]
            assert reader.vectors(Kind.COMMUNITY, ["u1", "u2", "u3"]) == {}
            assert reader.word_statistics(Kind.COMMUNITY, ["red"]) == (2, 1.5, {"red": 0})

    def test_clearing_removes_communities(self, store: Store) -> None:
        """They are derived: they go with the other versions of the group, and of no other."""
        for group in ("a", "b"):
            with store.write(group) as writer:
                add_entities(writer, entity(f"v{group}", f"x{group}", group=group))
                writer.change_communities(group, [], [community(f"u{group}", f"c{group}", group=group)], day(1))
                writer.change_members(group, [], [member(f"c{group}", f"x{group}")], day(1))
                writer.index_communities(group, {f"u{group}": "fish"})
                writer.put_vectors(Kind.COMMUNITY, [f"u{group}"], [0], unit(1, 0))
        with store.write("a") as writer:
            writer.clear_derived("a")
        with store.read() as reader:
            assert reader.community_history("a") == ([], [])
            assert [m.entity for m in reader.members(["a", "b"], NOW)] == ["xb"]
            assert ids(reader.text_search(Kind.COMMUNITY, ["fish"], ["a", "b"], NOW, 9)) == ["ub"]
            assert ids(reader.vector_search(Kind.COMMUNITY, unit(1, 0)[0], ["a", "b"], NOW, 9)) == ["ub"]


def community(uuid: str, id: str, *, group: str = GROUP, level: int = 0, name: str = "") -> CommunityVersion:
    """A community; the store sets when it is believed."""
    return CommunityVersion(uuid, id, group, level, name or id, "", Interval())


def member(community: str, entity: str, level: int = 0) -> MemberVersion:
    """A membership; the store sets when it is believed."""
    return MemberVersion(community, level, entity)


def people(writer: Writer) -> None:
    """Three entities."""
    add_entities(writer, *(entity(f"v-{e}", e) for e in PEOPLE))


def shown(member: MemberVersion) -> tuple[str, int, str]:
    """A membership without its interval."""
    return member.community, member.level, member.entity
