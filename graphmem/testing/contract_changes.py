"""The store contract: what began and what ended, by when."""

from __future__ import annotations

from collections.abc import Sequence

from graphmem.interval import Interval
from graphmem.model import FactMatch, Operation, OperationKind
from graphmem.stores.base import Store
from graphmem.stores.changes import Stretch
from graphmem.testing.samples import GROUP, add_entities, add_episode, add_facts, citation, day, entity, fact, record

EVER = Stretch()


def between(first: int, last: int) -> Stretch:
    """After one day and up to another."""
    return Stretch(day(first), day(last))


class ChangeContract:
    """A stretch holds its last instant and not its first: it tells two states apart."""

    def test_versions_are_found_by_when_they_began_or_ended(self, store: Store) -> None:
        """Those that began before and still are believed, and those that did neither inside, are not."""
        with store.write(GROUP) as writer:
            add_facts(
                writer, fact("u1", "a", "b", system=(1, 4)), fact("u2", "a", "c", system=(4, None)), fact("u3", "d", "e", system=(2, 3))
            )
        cases: dict[Stretch, Sequence[str]] = {
            EVER: ("u1", "u3", "u2"),
            between(0, 1): ("u1",),
            between(1, 2): ("u3",),
            between(1, 3): ("u3",),
            between(3, 4): ("u1", "u2"),
            between(4, 9): (),
            Stretch(None, day(1)): ("u1",),
            Stretch(day(2), None): ("u1", "u3", "u2"),
        }
        with store.read() as reader:
            for stretch, expected in cases.items():
                assert [v.uuid for v in reader.facts_changed(GROUP, stretch)] == list(expected), stretch
            assert reader.facts_changed("zz", EVER) == []
            assert [v.system for v in reader.facts_changed(GROUP, between(3, 4))] == [Interval(day(1), day(4)), Interval(day(4))]

    def test_changed_facts_pass_every_condition(self, store: Store) -> None:
        """By entity at either end, by fact, by relation; an empty tuple matches nothing."""
        with store.write(GROUP) as writer:
            add_facts(writer, fact("u1", "a", "b"), fact("u2", "b", "c", relation="likes"), fact("u3", "c", "a", system=(7, None)))
        cases = {
            FactMatch(entities=("a",)): ["u1", "u3"],
            FactMatch(entities=("a", "b"), relations=("likes",)): ["u2"],
            FactMatch(relations=("knows",)): ["u1", "u3"],
            FactMatch(fact_ids=("fact-u2", "fact-u3")): ["u2", "u3"],
            FactMatch(fact_ids=("fact-u2", "fact-u3"), entities=("a",)): ["u3"],
            FactMatch(sources=("b",)): ["u2"],
            FactMatch(entities=()): [],
            FactMatch(relations=()): [],
        }
        with store.read() as reader:
            for match, expected in cases.items():
                assert [v.uuid for v in reader.facts_changed(GROUP, EVER, match)] == expected, match
            assert [v.uuid for v in reader.facts_changed(GROUP, between(0, 9), FactMatch(entities=("a",)))] == ["u3"]

    def test_facts_turn_where_their_valid_time_starts_or_ends(self, store: Store) -> None:
        """As believed at an instant; an open end turns nowhere."""
        with store.write(GROUP) as writer:
            add_facts(
                writer,
                fact("u1", "a", "b", valid=(10, 20)),
                fact("u2", "a", "c", valid=(None, 15), relation="likes"),
                fact("u3", "d", "e", valid=(15, None), system=(3, 5)),
                fact("u4", "d", "f"),
            )
        with store.read() as reader:
            assert [v.uuid for v in reader.facts_turning(GROUP, None, EVER)] == ["u2", "u1"]
            assert [v.uuid for v in reader.facts_turning(GROUP, day(4), between(10, 15))] == ["u2", "u3"]
            assert [v.uuid for v in reader.facts_turning(GROUP, day(4), between(9, 10))] == ["u1"]
            assert [v.uuid for v in reader.facts_turning(GROUP, None, EVER, FactMatch(entities=("a",), relations=("likes",)))] == ["u2"]
            assert reader.facts_turning("zz", None, EVER) == []

    def test_citations_and_entities_are_found_likewise(self, store: Store) -> None:
        """Each with the system time it has now."""
        version = fact("u1", "a", "b", system=(1, None))
        first, second = citation(version, "e1", "a1"), citation(version, "e2", "a2")
        with store.write(GROUP) as writer:
            add_episode(writer, record("e1", 1))
            add_facts(writer, version)
            add_entities(writer, entity("v1", "a", system=(1, None)), entity("v3", "b", system=(1, None)))
            writer.change_citations(GROUP, [], [first], day(1))
        with store.write(GROUP) as writer:
            add_episode(writer, record("e2", 2))
            writer.end_versions("entity", ["v1"], day(2))
            add_entities(writer, entity("v2", "a", system=(2, None)))
            writer.change_citations(GROUP, [first], [second], day(2))
        with store.read() as reader:
            assert [(c.by, c.system) for c in reader.citations_changed(GROUP, between(1, 2))] == [
                ("a1", Interval(day(1), day(2))),
                ("a2", Interval(day(2))),
            ]
            assert [c.by for c in reader.citations_changed(GROUP, between(0, 1))] == ["a1"]
            assert [c.by for c in reader.citations_changed(GROUP, EVER, ["fact-u1", "zz"])] == ["a1", "a2"]
            assert reader.citations_changed(GROUP, EVER, []) == reader.citations_changed(GROUP, between(2, 9), ["fact-u1"]) == []
            assert [v.uuid for v in reader.entities_changed(GROUP, between(1, 2))] == ["v1", "v2"]
            assert [v.uuid for v in reader.entities_changed(GROUP, EVER, ["a"])] == ["v1", "v2"]
            assert reader.entities_changed(GROUP, between(1, 2), ["b"]) == reader.entities_changed(GROUP, EVER, []) == []
            assert [v.uuid for v in reader.entities_changed(GROUP, between(0, 1))] == ["v1", "v3"]
            assert reader.citations_changed(GROUP, between(2, 9)) == []
            assert reader.entities_changed("zz", EVER) == []

    def test_entries_of_the_log_are_found_by_their_instant(self, store: Store) -> None:
        """Episodes whole, operations, by seq; instants at which nothing was written find nothing."""
        forget = Operation("o2", GROUP, OperationKind.FORGET, ("e1",), seq=2, created_at=day(2), author="ana", reason="wrong")
        with store.write(GROUP) as writer:
            add_episode(writer, record("e1", 1, body="hello", entities=["x"]))
            writer.append_operation(forget)
            add_episode(writer, record("e3", 3))
        with store.read() as reader:
            assert reader.entries_at(GROUP, [day(3), day(2), day(9)]) == [forget, *reader.records(GROUP, ["e3"])]
            assert reader.entries_at(GROUP, [day(1)]) == reader.records(GROUP, ["e1"])
            assert reader.entries_at(GROUP, []) == reader.entries_at("zz", [day(1)]) == []
