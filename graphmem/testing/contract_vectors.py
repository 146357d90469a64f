"""The contract of stores that can be re-embedded: vectors of another embedder, beside those in use until they take their place."""

from __future__ import annotations

import numpy as np

from graphmem.errors import StoreError
from graphmem.model import AsOf
from graphmem.stores.base import Kind
from graphmem.stores.staging import StagingStore
from graphmem.testing.contract_communities import community
from graphmem.testing.samples import (
    GROUP,
    NOW,
    add_entities,
    add_episode,
    add_facts,
    day,
    entity,
    fact,
    ids,
    put,
    raising,
    record,
    unit,
)


class VectorContract:
    """Staged vectors; used as `StoreContract` is."""

    def test_staged_vectors_are_seen_by_no_search(self, store: StagingStore) -> None:
        """What is in use stays in use, and the owners that are still to do are known."""
        with store.write(GROUP) as writer:
            add_facts(writer, fact("u1", "a", "b"), fact("u2", "a", "c"))
            for uuid in ("u1", "u2"):
                put(writer, Kind.FACT, uuid, unit(1, 0))
        with store.write(GROUP) as writer:
            writer.stage_vectors(Kind.FACT, ["u1"], [0], unit(0, 1, 0, 0))
            assert writer.vector_owners(GROUP, staged=True) == [(Kind.FACT, "u1")]
        with store.read() as reader:
            assert reader.vector_owners(GROUP, staged=False) == [(Kind.FACT, "u2")]
            assert reader.vectors(Kind.FACT, ["u1"])["u1"].tolist() == [[1.0, 0.0]]
            assert ids(reader.vector_search(Kind.FACT, unit(1, 0)[0], [GROUP], NOW, 5)) == ["u1", "u2"]

    def test_staged_vectors_take_the_place_of_all(self, store: StagingStore) -> None:
        """In every group, of every kind, of another length; what has none staged has none then; and again."""
        with store.write("other") as writer:
            add_facts(writer, fact("v1", "a", "b", group="other"))
            put(writer, Kind.FACT, "v1", unit(1, 0))
            writer.stage_vectors(Kind.FACT, ["v1"], [0], unit(0, 0, 1))
        with store.write(GROUP) as writer:
            add_entities(writer, entity("x1", "a"))
            add_episode(writer, record("e1", 1))
            add_facts(writer, fact("u1", "a", "b"), fact("u2", "a", "c"))
            put(writer, Kind.ENTITY, "a", unit(1, 0))
            put(writer, Kind.EPISODE, "e1", unit(1, 0), unit(0, 1), unit(1, 1))
            put(writer, Kind.FACT, "u1", unit(1, 0))
            put(writer, Kind.FACT, "u2", unit(1, 0))
        with store.read() as reader:
            assert len(reader.vector_search(Kind.FACT, unit(1, 0)[0], [GROUP, "other"], NOW, 5)) == 3
            assert reader.vector_owners(GROUP, staged=False) == [
                (Kind.ENTITY, "a"),
                (Kind.EPISODE, "e1"),
                (Kind.FACT, "u1"),
                (Kind.FACT, "u2"),
            ]
        with store.write(GROUP) as writer:
            writer.stage_vectors(Kind.ENTITY, ["a"], [0], unit(0, 1, 0))
            writer.stage_vectors(Kind.EPISODE, ["e1", "e1"], [0, 1], np.concatenate([unit(0, 1, 0), unit(0, 0, 1)]))
            writer.stage_vectors(Kind.FACT, ["u1"], [0], unit(0, 1, 1))
            writer.use_staged_vectors()
        query = unit(0, 0, 1)[0]
        with store.read() as reader:
            assert ids(reader.vector_search(Kind.FACT, query, [GROUP, "other"], NOW, 5)) == ["v1", "u1"]
            assert [(f.id, f.piece) for f in reader.vector_search(Kind.EPISODE, query, [GROUP], NOW, 5)] == [("e1", 1)]
            assert reader.vectors(Kind.EPISODE, ["e1"])["e1"].shape == (2, 3)
            assert reader.vectors(Kind.ENTITY, ["a"])["a"].tolist() == [[0.0, 1.0, 0.0]]
            assert reader.vectors(Kind.FACT, ["u2"]) == {}
            for group in (GROUP, "other"):
                assert reader.vector_owners(group, staged=True) == []
        with store.write(GROUP) as writer:
            put(writer, Kind.FACT, "u2", unit(0, 0, 1))
        with store.read() as reader:
            assert ids(reader.vector_search(Kind.FACT, query, [GROUP], NOW, 5)) == ["u2", "u1"]

    def test_vectors_of_communities_are_exchanged_like_others(self, store: StagingStore) -> None:
        """Of versions that are over too; a version that goes takes along what is staged for it."""
        with store.write(GROUP) as writer:
            writer.change_communities(GROUP, [], [community("u1", "c1"), community("u2", "c2")], day(1))
        with store.write(GROUP) as writer:
            writer.change_communities(GROUP, ["u1"], [community("u3", "c1"), community("u4", "c4")], day(2))
            for uuid in ("u1", "u2", "u4"):
                put(writer, Kind.COMMUNITY, uuid, unit(1, 0))
            writer.stage_vectors(Kind.COMMUNITY, ["u1", "u4"], [0, 0], np.concatenate([unit(0, 1, 0), unit(0, 0, 1)]))
            writer.change_communities(GROUP, ["u4"], [], day(2))
            assert writer.vector_owners(GROUP, staged=True) == [(Kind.COMMUNITY, "u1")]
            assert writer.vector_owners(GROUP, staged=False) == [(Kind.COMMUNITY, "u2")]
            assert [v.uuid for v in writer.community_versions(GROUP, ["u2", "zz", "u1"])] == ["u1", "u2"]
            writer.use_staged_vectors()
        with store.read() as reader:
            assert reader.vectors(Kind.COMMUNITY, ["u1", "u2", "u4"])["u1"].tolist() == [[0.0, 1.0, 0.0]]
            assert ids(reader.vector_search(Kind.COMMUNITY, unit(0, 1, 0)[0], [GROUP], AsOf(system=day(1)), 5)) == ["u1"]
            assert reader.vector_search(Kind.COMMUNITY, unit(0, 1, 0)[0], [GROUP], NOW, 5) == []
            assert reader.community_versions("other", ["u1"]) == []

    def test_an_exchange_that_fails_leaves_everything_as_it_was(self, store: StagingStore) -> None:
        """As any transaction."""
        with store.write(GROUP) as writer:
            add_facts(writer, fact("u1", "a", "b"))
            put(writer, Kind.FACT, "u1", unit(1, 0))
            writer.stage_vectors(Kind.FACT, ["u1"], [0], unit(0, 1, 0))
        with raising(StoreError), store.write(GROUP) as writer:
            writer.use_staged_vectors()
            put(writer, Kind.FACT, "nobody", unit(0, 1, 0))
        with store.read() as reader:
            assert ids(reader.vector_search(Kind.FACT, unit(1, 0)[0], [GROUP], NOW, 5)) == ["u1"]
            assert reader.vector_owners(GROUP, staged=True) == [(Kind.FACT, "u1")]

    def test_what_changes_an_owner_drops_what_is_staged_for_it(self, store: StagingStore) -> None:
        """A new text, a copy, a removal: what was staged is of something else, and is to be made again."""
        with store.write(GROUP) as writer:
            add_entities(writer, entity("x1", "a"))
            add_episode(writer, record("e1", 1))
            add_facts(writer, fact("u1", "a", "b"), fact("u2", "a", "c"), fact("u3", "a", "d", system=(1, None)))
            put(writer, Kind.ENTITY, "a", unit(1, 0))
            put(writer, Kind.EPISODE, "e1", unit(1, 0))
            for uuid in ("u1", "u2", "u3"):
                put(writer, Kind.FACT, uuid, unit(1, 0))
                writer.stage_vectors(Kind.FACT, [uuid], [0], unit(0, 1))
            writer.stage_vectors(Kind.ENTITY, ["a"], [0], unit(0, 1))
            writer.stage_vectors(Kind.EPISODE, ["e1"], [0], unit(0, 1))
        with store.write(GROUP) as writer:
            writer.put_vectors(Kind.ENTITY, ["a"], [1], unit(1, 1))
            writer.copy_vectors(Kind.FACT, [("u1", "u2")])
            writer.end_versions("fact", ["u3"], day(1))
            writer.remove_episodes(GROUP, ["e1"])
        with store.read() as reader:
            assert reader.vector_owners(GROUP, staged=True) == [(Kind.FACT, "u1")]
            assert reader.vector_owners(GROUP, staged=False) == [(Kind.ENTITY, "a"), (Kind.FACT, "u2")]
        with store.write(GROUP) as writer:
            writer.clear_derived(GROUP)
            assert writer.vector_owners(GROUP, staged=True) == writer.vector_owners(GROUP, staged=False) == []

    def test_staging_again_replaces_and_dropping_forgets(self, store: StagingStore) -> None:
        """All pieces of the owner; and in every group."""
        for group in (GROUP, "other"):
            with store.write(group) as writer:
                add_facts(writer, fact(f"u {group}", "a", "b", group=group))
                put(writer, Kind.FACT, f"u {group}", unit(1, 0))
                writer.stage_vectors(Kind.FACT, [f"u {group}"] * 2, [0, 1], np.concatenate([unit(0, 1), unit(1, 1)]))
        with store.write(GROUP) as writer:
            writer.stage_vectors(Kind.FACT, [f"u {GROUP}"], [0], unit(1, 1))
            writer.stage_vectors(Kind.FACT, [], [], np.zeros((0, 2), np.float32))
        with store.write("other") as writer:
            writer.use_staged_vectors()
            assert writer.vectors(Kind.FACT, [f"u {GROUP}"])[f"u {GROUP}"].shape == (1, 2)
            writer.stage_vectors(Kind.FACT, ["u other"], [0], unit(0, 1))
        with store.write(GROUP) as writer:
            writer.drop_staged_vectors()
        with store.read() as reader:
            assert reader.vector_owners("other", staged=True) == []
            assert reader.vector_owners("nobody", staged=False) == []

    def test_a_staged_vector_needs_its_owner(self, store: StagingStore) -> None:
        """As one in use."""
        for kind in Kind:
            with raising(StoreError), store.write(GROUP) as writer:
                writer.stage_vectors(kind, ["nobody"], [0], unit(1, 0))
