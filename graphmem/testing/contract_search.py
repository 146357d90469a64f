"""The store contract: text, vectors and expansion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from graphmem.errors import StoreError
from graphmem.interval import Interval
from graphmem.model import (
    VALUE_TYPE,
    AsOf,
    EpisodeMatch,
    FactMatch,
)
from graphmem.stores.base import Kind, Lean, Reader, SearchFilter, Store, Writer
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
    put,
    raising,
    record,
    unit,
)


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

    def test_a_writer_finds_what_it_has_written_so_far(self, store: Store) -> None:
        """Step by step, by words and by vectors, as a reader will; and once it has failed, nobody finds any of it."""
        colours = {"e1": ("red apple", unit(1, 0, 0)), "e2": ("green apple", unit(0.9, 0.1, 0)), "e3": ("apple tree", unit(0, 1, 0))}

        def found(reader: Reader, word: str) -> tuple[list[str], list[str]]:
            by_word = reader.text_search(Kind.ENTITY, [word], [GROUP], NOW, 9)
            return sorted(ids(by_word)), ids(reader.vector_search(Kind.ENTITY, unit(1, 0, 0)[0], [GROUP], NOW, 9))

        def write(writer: Writer) -> Iterator[tuple[list[str], list[str]]]:
            for n, (owner, (name, vector)) in enumerate(colours.items(), 1):
                add_entities(writer, entity(f"v{n}", owner, name=name, system=(n, None)))
                put(writer, Kind.ENTITY, owner, vector)
                yield found(writer, "apple")
            writer.end_versions("entity", ["v1"], day(4))
            add_entities(writer, entity("v4", "e1", name="red pear", system=(4, None)))
            put(writer, Kind.ENTITY, "e1", unit(0, 0, 1))
            yield found(writer, "apple")

        with store.write(GROUP) as writer:
            add_entities(writer, entity("v0", "e0", name="old apple"))
            put(writer, Kind.ENTITY, "e0", unit(0.95, 0.05, 0))
        seen: list[tuple[list[str], list[str]]] = []
        try:
            with store.write(GROUP) as writer:
                seen.extend(write(writer))
                raise KeyboardInterrupt
        except KeyboardInterrupt:
            pass
        assert seen == [
            (["e0", "e1"], ["e1", "e0"]),
            (["e0", "e1", "e2"], ["e1", "e0", "e2"]),
            (["e0", "e1", "e2", "e3"], ["e1", "e0", "e2", "e3"]),
            (["e0", "e2", "e3"], ["e0", "e2", "e1", "e3"]),
        ]
        with store.read() as reader:
            assert found(reader, "apple") == (["e0"], ["e0"])
        with store.write(GROUP) as writer:
            add_entities(writer, entity("v9", "e9", name="plum"))
            put(writer, Kind.ENTITY, "e9", unit(0.5, 0.5, 0))
            assert found(writer, "plum") == (["e9"], ["e0", "e9"])
        with store.read() as reader:
            assert found(reader, "plum") == (["e9"], ["e0", "e9"])
            assert found(reader, "pear")[0] == []
        with store.write(GROUP) as writer:
            assert list(write(writer))[-1] == (["e0", "e2", "e3"], ["e0", "e2", "e9", "e1", "e3"])
        with store.read() as reader:
            assert found(reader, "apple") == (["e0", "e2", "e3"], ["e0", "e2", "e9", "e1", "e3"])

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

    def test_conditions_a_store_may_apply_hide_nothing_that_passes(self, store: Store) -> None:
        """Facts by the episodes they cite and by the type of their ends, items by attributes; later changes count."""
        red = {"colour": "red", "parts": [1]}
        with store.write(GROUP) as writer:
            for n, (actor, session) in enumerate((("Mira", "s"), ("Jonas", "s"), ("Mira", "t")), 1):
                said = record(f"e{n}", n, session=session)
                told = replace(said.episode, actor=actor, attributes=red if n == 2 else {})
                add_episode(writer, replace(said, episode=told), words="a")
            add_entities(writer, replace(entity("va", "a", type="Person"), attributes=red), entity("vb", "b"))
            known = [fact("u1", "a", "b"), replace(fact("u2", "b", "c"), attributes=red), fact("u3", "b", "b")]
            add_facts(writer, *known)
            writer.change_citations(GROUP, [], [citation(f, f"e{n}", f"a{n}") for n, f in enumerate(known, 1)], day(3))

        def given(kind: Kind, match: SearchFilter) -> set[str]:
            with store.read() as reader:
                return set(ids(reader.text_search(kind, ["a", "b", "c"], [GROUP], NOW, 9, match)))

        for attributes in (red, {"colour": "red"}, {"parts": [1]}):
            assert "u2" in given(Kind.FACT, SearchFilter(attributes=attributes))
            assert "a" in given(Kind.ENTITY, SearchFilter(attributes=attributes))
            assert "e2" in given(Kind.EPISODE, SearchFilter(attributes=attributes))
        assert "u1" in given(Kind.FACT, SearchFilter(ends=("Person",)))
        assert {"u1", "u2"} <= given(Kind.FACT, SearchFilter(cited=EpisodeMatch(sessions=("s",))))
        assert {"u1", "u3"} <= given(Kind.FACT, SearchFilter(cited=EpisodeMatch(actors=("Mira",))))
        with store.write(GROUP) as writer:
            writer.end_versions("entity", ["vb"], day(4))
            writer.add_entities([entity("vb2", "b", type="Person", system=(4, None))], ["b"])
            writer.change_citations(GROUP, [], [citation(known[2], "e2", "a4")], day(4))
            add_facts(writer, replace(fact("u4", "c", "d"), attributes=red))
        assert {"u1", "u2", "u3"} <= given(Kind.FACT, SearchFilter(ends=("Person",)))
        assert {"u1", "u2", "u3"} <= given(Kind.FACT, SearchFilter(cited=EpisodeMatch(sessions=("s",))))
        assert {"u2", "u4"} <= given(Kind.FACT, SearchFilter(attributes={"colour": "red"}))

    def test_counts_are_those_of_whole_rows(self, store: Store) -> None:
        """What a reader answers in short agrees with the rows themselves, with and without a search before."""
        with store.write(GROUP) as writer:
            for n, told in enumerate((3, 9, 5, 5, 1), 1):
                add_episode(writer, record(f"e{n}", n, at=told, entities=["b", "a", "c"][: n % 3 + 1]), words=f"x y x{' z' * n}")
        with store.write(GROUP) as writer:
            writer.hide_episodes(GROUP, ["e2"], day(8))
        for searching in (False, True):
            with store.read() as reader:
                if not isinstance(reader, Lean):
                    return
                if searching:
                    reader.text_search(Kind.EPISODE, ["x"], [GROUP], NOW, 9)
                lengths, counts = reader.word_counts(Kind.EPISODE, ["e3", "zz", "e1"], ["z", "x", "none"])
                assert lengths.tolist() == [6, 0, 4]
                assert counts.tolist() == [[3, 2, 0], [0, 0, 0], [1, 2, 0]]
                for at in (NOW, AsOf(system=day(2))):
                    whole = [(m.mention.episode, m.entity) for m in reader.mentions([GROUP], at, entities=["a", "b", "zz"])]
                    for limit in range(9):
                        assert reader.mentioned([GROUP], at, ["a", "b", "zz"], limit) == whole[:limit]
                assert reader.mentioned([], NOW, ["a"], 9) == []

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
            near = reader.similarities(Kind.EPISODE, 2 * query, ["e2", "e1", "zz"])
            assert near.keys() == {"e1", "e2"}
            assert all(abs(near[f.id] - f.score) < 1e-2 for f in found)
        with store.write(GROUP) as writer:
            writer.put_vectors(Kind.EPISODE, ["e1"], [1], unit(0, 0, 1))
        with store.read() as reader:
            assert ids(reader.vector_search(Kind.EPISODE, query, [GROUP], NOW, 5)) == ["e2", "e1"]
            assert reader.similarities(Kind.EPISODE, query, ["e1"])["e1"] < 1e-2
            assert reader.similarities(Kind.EPISODE, query, []) == {}

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

    def test_a_search_changes_nothing_of_what_is_read_after_it(self, store: Store) -> None:
        """Found items and their surroundings read alike with and without a search before, by group and at every instant."""
        for group in (GROUP, "other"):
            with store.write(group) as writer:
                for n, (said, session) in enumerate(((7, "s"), (3, "t"), (5, "s"), (5, "s"), (1, None), (6, "s")), 1):
                    add_episode(writer, record(f"{group}-e{n}", n, group=group, at=said, session=session), words="hello")
                known = fact(f"{group}-u1", "a", "b", valid=(2, 6), system=(1, 4), group=group)
                again = fact(f"{group}-u2", "a", "b", valid=(2, None), system=(4, None), group=group)
                add_facts(writer, known, again)
                writer.change_citations(group, [], [citation(known, f"{group}-e2", "a1")], day(1))
            with store.write(group) as writer:
                writer.hide_episodes(group, [f"{group}-e4"], day(8))
        episodes, facts = (
            [f"{group}-{i}" for group in (GROUP, "other") for i in row] for row in (("e1", "e3", "e4", "e5", "e6"), ("u1", "u2"))
        )

        def seen(groups: list[str], at: AsOf, searching: bool) -> tuple[object, ...]:
            with store.read() as reader:
                if searching:
                    reader.text_search(Kind.EPISODE, ["hello"], groups, at, 9)
                reference = EpisodeMatch(ids=tuple(episodes), reference=Interval(day(5), None))
                return (
                    reader.around(groups, at, [*episodes, "zz"]),
                    reader.episodes(groups, at, EpisodeMatch(ids=(*episodes, "zz"))),
                    reader.episodes(groups, at, reference, 2, bodies=False),
                    reader.facts(groups, at, FactMatch(uuids=(*facts, "zz"))),
                    reader.facts(groups, at, FactMatch(uuids=tuple(facts), targets=("c",))),
                    reader.sources(groups, at, [*facts, "zz"]),
                )

        for groups in ([GROUP], ["other"], ["other", GROUP], ["none"], []):
            for system in (*range(10), None):
                for valid in (None, day(1), day(5)):
                    at = AsOf(valid, None if system is None else day(system))
                    assert seen(groups, at, True) == seen(groups, at, False)
        around = seen([GROUP], NOW, True)[0]
        assert around == {"main-e1": ("main-e6", None), "main-e3": (None, "main-e6"), "main-e6": ("main-e3", "main-e1")}

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
