"""The store contract: the log, transactions and erasure."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import timedelta, timezone

from graphmem.errors import StoreError
from graphmem.interval import DateUnit, Origin
from graphmem.model import (
    AsOf,
    EntityMatch,
    EpisodeRecord,
    FactKey,
    FactMatch,
    FactVersion,
    Head,
    Mention,
    Operation,
    OperationKind,
)
from graphmem.stores.base import Kind, Store
from graphmem.stores.lines import digest_of, is_as_recorded
from graphmem.testing.samples import (
    GROUP,
    NOW,
    add_entities,
    add_episode,
    add_facts,
    assertion,
    day,
    entity,
    fact,
    ids,
    put,
    raising,
    record,
    unit,
    uuids,
)

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

    def test_every_line_has_a_digest_that_tells_whether_it_was_changed(self, store: Store) -> None:
        """Also after a store has kept it and whatever its text; one that an entry comes with stays, so that a copy hides no change."""
        odd = {"set": {"b", "a"}, "not": float("nan"), "raw": b"\xff"}
        said = replace(assertion("a1", "e1", "mira", "acme"), attributes=odd, text="\ud800\x00")
        there = timezone(timedelta(hours=9))
        made = record("e1", 1, body="".join(HOSTILE), assertions=[said], entities=["mira", "acme"], links=(("mira", "m"),))
        given = replace(made, episode=replace(made.episode, reference_time=made.episode.reference_time.astimezone(there)))
        acts = Operation("o1", GROUP, OperationKind.CORRECT, ("a1",), {"start": DateUnit.of(2020), "end": None}, 2, day(2), "me", "why")
        with store.write(GROUP) as writer:
            writer.append_episode(given)
            writer.append_operation(acts)
            writer.append_episode(replace(record("e2", 3), digest="of something else"))
            writer.append_operation(replace(acts, id="o2", seq=4, created_at=day(4), digest="as well"))
        with store.read() as reader:
            kept = list(reader.log(GROUP))
            assert [e.digest for e in kept] == [digest_of(given), digest_of(acts), "of something else", "as well"]
            assert [is_as_recorded(e) for e in kept] == [True, True, False, False]
            assert reader.operations(GROUP, ids=["o2"])[0].digest == "as well"

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
            assert writer.keys(GROUP, facts=["f1", "f2"]) == {"f1": key}

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
            _in_thread(store, fact("u2", "mira", "globex"))
            assert uuids(before) == ["u1"]
            with store.read() as after:
                assert ids(after.text_search(Kind.FACT, ["mira"], [GROUP], NOW, 5)) == ["u1", "u2"]
            assert ids(before.text_search(Kind.FACT, ["mira"], [GROUP], NOW, 5)) == ["u1"]

    def test_threads_write_one_after_another(self, store: Store) -> None:
        """Concurrent writers all succeed, and none is lost."""
        threads = [threading.Thread(target=_commit, args=(store, *(fact(f"u{n}-{i}", "a", "b") for i in range(5)))) for n in range(4)]
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
            assert reader.assertions(GROUP, ids=["a1"]) == []
            assert reader.keys(GROUP, facts=["f1"]) == {}
            assert reader.text_search(Kind.EPISODE, ["secret"], [GROUP], AsOf(system=day(1)), 5) == []
            assert reader.vectors(Kind.EPISODE, ["e1"]) == {}
            assert reader.words(Kind.EPISODE, ["e1"]) == {}
            assert reader.mentions([GROUP], AsOf(system=day(1))) == []
            assert reader.links(GROUP, ["p"]) == []
            assert reader.answer("k1") is None
            assert reader.head(GROUP).seq == 2

    def test_erased_operations_are_found_by_nothing(self, store: Store) -> None:
        """Neither by id nor by what they acted on; another one on the same target stays, and so does the head."""
        with store.write(GROUP) as writer:
            add_episode(writer, record("e1", 1), words="open")
            for seq, name in enumerate(("o1", "o2"), 2):
                writer.append_operation(
                    Operation(name, GROUP, OperationKind.FORGET, ("e1",), seq=seq, created_at=day(seq), reason=f"secret {name}")
                )
        with store.write(GROUP) as writer:
            writer.remove_operations(GROUP, ["o1"])
        with store.read() as reader:
            assert [o.id for o in reader.operations(GROUP)] == ["o2"]
            assert [o.id for o in reader.operations(GROUP, targets=["e1"])] == ["o2"]
            assert reader.operations(GROUP, ids=["o1"]) == []
            assert reader.head(GROUP).seq == 3
        assert store.clean()

    def test_a_log_can_be_written_again_where_it_was_erased(self, store: Store) -> None:
        """An episode takes the place of an erased one, under its position and key; the head stays where the log had come."""
        with store.write(GROUP) as writer:
            add_episode(writer, record("e1", 1, body="secret"), words="secret")
            add_episode(writer, record("e2", 2), words="open")
        with store.write(GROUP) as writer:
            writer.clear_derived(GROUP)
            writer.remove_episodes(GROUP, ["e1", "e2"])
            add_episode(writer, record("e1", 1, body="open"), words="open")
            add_episode(writer, record("e2", 2), words="open")
        with store.read() as reader:
            assert [e.episode.body for e in reader.records(GROUP, ["e1"])] == ["open"]
            assert [e.seq for e in reader.log(GROUP)] == [1, 2]
            assert reader.head(GROUP).seq == 2
            assert reader.text_search(Kind.EPISODE, ["secret"], [GROUP], NOW, 5) == []
            assert ids(reader.text_search(Kind.EPISODE, ["open"], [GROUP], NOW, 5)) == ["e1", "e2"]

    def test_an_erased_group_was_never_there(self, store: Store) -> None:
        """Its log, head, name and settings go; another group, whose name ends alike, keeps everything, and it can begin anew."""
        other = f"another:{GROUP}"
        for n, group in enumerate((GROUP, other)):
            with store.write(group) as writer:
                said = assertion(f"a{n}", f"e{n}", "mira", "acme")
                links = ((f"p{n}", f"q{n}"),)
                add_episode(writer, record(f"e{n}", 1, group=group, assertions=[said], entities=[f"m{n}"], links=links), words="secret")
                writer.set_keys(group, {f"a{n}": (f"f{n}", FactKey("knows", "mira", "acme"))})
                put(writer, Kind.EPISODE, f"e{n}", unit(1, 0))
                writer.append_operation(Operation(f"o{n}", group, OperationKind.FORGET, (f"e{n}",), seq=2, created_at=day(2)))
                writer.put_meta(f"usage:{group}", "{}")
        with store.write(GROUP) as writer:
            writer.remove_group(GROUP)
        with store.read() as reader:
            assert reader.groups() == [other]
            assert (reader.head(GROUP), list(reader.log(GROUP)), reader.operations(GROUP)) == (Head(), [], [])
            assert (reader.meta(f"usage:{GROUP}"), reader.meta(f"usage:{other}")) == (None, "{}")
            assert ids(reader.text_search(Kind.EPISODE, ["secret"], [GROUP, other], NOW, 5)) == ["e1"]
            assert reader.head(other).seq == 2
        with store.write(GROUP) as writer:
            add_episode(writer, record("e9", 1), words="anew")
        with store.read() as reader:
            assert sorted(reader.groups()) == sorted((GROUP, other))
            assert [e.seq for e in reader.log(GROUP)] == [1]


def _commit(store: Store, *versions: FactVersion) -> None:
    for version in versions:
        with store.write(GROUP) as writer:
            add_facts(writer, version)


def _in_thread(store: Store, *versions: FactVersion) -> None:
    thread = threading.Thread(target=_commit, args=(store, *versions))
    thread.start()
    thread.join()
