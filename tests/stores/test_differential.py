"""The same random writes to the dictionary store and to SQLite give the same reads, at every instant on both axes."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem.interval import Interval
from graphmem.model import VALUE_TYPE, AsOf, EpisodeMatch, FactMatch, MentionVersion
from graphmem.stores.base import Kind, Reader, SearchFilter, Store, Writer
from graphmem.stores.changes import Stretch
from graphmem.stores.memory import MemoryStore
from graphmem.stores.sqlite import SqliteStore
from graphmem.testing.samples import add_episode, assertion, citation, day, entity, fact, key_of, record

ENTITIES = "abcdef"
WORDS = ("red", "blue", "c++", "北京", "x", "y")
GROUPS = ("g", "h")

Step = tuple[int, int, int, int, int]


def apply(store: Store, at: int, step: Step) -> None:
    """One write transaction at the instant `at`, of the kind the step's first number says."""
    what, one, two, three, four = step
    group = GROUPS[four % 2]
    with store.write(group) as writer:
        _WRITES[what % len(_WRITES)](writer, group, at, (one, two, three))


def _add(writer: Writer, group: str, at: int, numbers: tuple[int, int, int]) -> None:
    one, two, three = numbers
    source, target = group + ENTITIES[one % 6], group + ENTITIES[two % 6]
    said = assertion(f"{group}a{at}", f"{group}e{at}", source, target, same_as=f"{group}a{at - 1}" if three % 2 else None)
    version = fact(
        f"{group}u{at}",
        source,
        target,
        group=group,
        relation=f"r{three % 2}",
        valid=(None if one % 3 == 0 else two, 24 + three),
        system=(at, None),
    )
    words = " ".join(WORDS[i % 6] for i in range(one, one + 1 + three % 4))
    add_episode(
        writer, record(f"{group}e{at}", at, group=group, at=three, session=f"s{two % 2}", assertions=[said], entities=[source]), words
    )
    writer.set_keys(group, {said.id: key_of(version)})
    writer.add_facts([version], [words])
    writer.change_citations(group, [], [citation(version, f"{group}e{at}", said.id)], day(at))
    vectors = np.random.default_rng(at).normal(size=(2, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    writer.put_vectors(Kind.EPISODE, [f"{group}e{at}"] * 2, [0, 1], vectors)
    writer.put_vectors(Kind.FACT, [version.uuid], [0], vectors[:1])


def _end(writer: Writer, group: str, at: int, numbers: tuple[int, int, int]) -> None:
    found = writer.facts([group], AsOf())
    writer.end_versions("fact", [v.uuid for v in found[numbers[0] % 3 :: 3]], day(at))
    cited = writer.citations([group], AsOf())
    writer.change_citations(group, cited[numbers[1] % 3 :: 3], [], day(at))


def _rename(writer: Writer, group: str, at: int, numbers: tuple[int, int, int]) -> None:
    name = group + ENTITIES[numbers[0] % 6]
    current = [v for v in writer.entities([group], AsOf()) if v.id == name]
    writer.end_versions("entity", [v.uuid for v in current], day(at))
    kind = VALUE_TYPE if numbers[1] % 4 == 0 else "Entity"
    version = entity(f"{name}{at}", name, name=f"{name} {numbers[2]}", group=group, type=kind, aliases=(name,), system=(at, None))
    writer.add_entities([version], [f"{WORDS[numbers[2] % 6]} {name}"])


def _toggle(writer: Writer, group: str, at: int, numbers: tuple[int, int, int]) -> None:
    every = [e.episode.id for e in _records(writer, group)]
    shown = {e.id for e in writer.episodes([group], AsOf(), bodies=False)}
    chosen = every[numbers[0] % 2 :: 2]
    writer.hide_episodes(group, [e for e in chosen if e in shown], day(at))
    writer.show_episodes(group, [e for e in chosen if e not in shown], day(at), {})
    moved = writer.mentions([group], AsOf(), episodes=chosen)
    target = group + ENTITIES[numbers[1] % 6]
    writer.change_mentions(group, moved, [MentionVersion(m.mention, target, Interval(day(at))) for m in moved], day(at))


def _erase(writer: Writer, group: str, at: int, numbers: tuple[int, int, int]) -> None:
    every = [e.episode.id for e in _records(writer, group)]
    if every and numbers[0] % 4 == 0:
        writer.remove_episodes(group, [every[numbers[1] % len(every)]])


def _records(reader: Reader, group: str):  # type: ignore[no-untyped-def]
    return [e for e in reader.log(group) if hasattr(e, "episode")]


_WRITES: tuple[Callable[[Writer, str, int, tuple[int, int, int]], None], ...] = (_add, _add, _add, _end, _rename, _rename, _toggle, _erase)


def everything(reader: Reader, last: int) -> list[object]:
    """What the store says, at every instant, in order."""
    seen: list[object] = [reader.groups(), [reader.head(g) for g in GROUPS], [list(reader.log(g)) for g in GROUPS]]
    seen += [reader.assertions("g", entities=["ga", "gb"]), reader.assertions("g", deciding=["ga1", "ga2"]), reader.fact_versions("h")]
    seen += [reader.keys("g", slots=[("either", "r0", "ga"), ("source", "r1", "gb")]), reader.mention_records("g", ["ga", "gc"])]
    seen += [reader.entity_versions("g", ["ga", "gb"]), [reader.word_statistics(k, list(WORDS)) for k in Kind]]
    for stretch in (Stretch(), Stretch(day(1), day(last - 1)), Stretch(day(last // 2), None)):
        seen += [reader.facts_changed("g", stretch), reader.facts_changed("h", stretch, FactMatch(entities=("ha", "hb")))]
        seen += [
            reader.citations_changed("g", stretch),
            reader.entities_changed("g", stretch),
            reader.entities_changed("h", stretch, ["ha"]),
        ]
        seen += [reader.facts_turning("g", None, stretch), reader.facts_turning("h", day(last // 2), stretch, FactMatch(relations=("r0",)))]
    seen += [reader.entries_at("g", [day(n) for n in range(0, last, 2)])]
    for system in (None, *range(0, last + 1, max(1, last // 3))):
        for valid in (None, 10):
            at = AsOf(None if valid is None else day(valid), None if system is None else day(system))
            for groups in (("g",), GROUPS):
                seen += [reader.facts(groups, at), reader.facts(groups, at, FactMatch(entities=("ga",), relations=("r0",)), 2)]
                seen += [reader.neighbours(["ga", "hb"], groups, at, hops=3), reader.neighbours(["ga"], groups, at, hops=2, limit=3)]
                seen += [reader.text_search(k, ["red", "c++", "北京"], groups, at, 4) for k in Kind]
        seen += [reader.entities(GROUPS, at), reader.citations(GROUPS, at), reader.mentions(GROUPS, at), reader.counts(GROUPS, at)]
        seen += [reader.episodes(GROUPS, at), reader.episodes(("h",), at, EpisodeMatch(sessions=("s1",)), 2, newest_first=True)]
        seen += [reader.episodes(GROUPS, at, EpisodeMatch(entities=("ga",))), reader.around(GROUPS, at, [f"ge{n}" for n in range(last)])]
        given_filter = SearchFilter(facts=FactMatch(relations=("r0",)), episodes=EpisodeMatch(entities=("ga", "hb")))
        for kind in (Kind.FACT, Kind.EPISODE):
            found = reader.vector_search(kind, np.ones(8, np.float32), GROUPS, at, 5, given_filter)
            seen.append([replace(f, score=round(f.score, 4)) for f in found])
            seen.append(reader.text_search(kind, ["blue", "x"], GROUPS, at, 3, given_filter))
    return seen


STEPS = st.lists(st.tuples(*[st.integers(0, 23)] * 5), min_size=1, max_size=10)


@settings(max_examples=15, deadline=None)
@given(steps=STEPS)
def test_both_stores_say_the_same(steps: list[Step]) -> None:
    """Also with caches that were filled after every write, and after reopening the file."""
    memory = MemoryStore()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.db"
        sqlite = SqliteStore.open(path)
        for n, step in enumerate(steps, 1):
            apply(memory, n, step)
            apply(sqlite, n, step)
            with memory.read() as expected, sqlite.read() as found:
                for kind in Kind:
                    searched = [r.text_search(kind, ["red", "x"], GROUPS, AsOf(), 5) for r in (expected, found)]
                    assert searched[0] == searched[1]
        cold = SqliteStore.open(path)
        with memory.read() as expected, sqlite.read() as found, cold.read() as reopened:
            said = everything(expected, len(steps))
            assert everything(found, len(steps)) == said
            assert everything(reopened, len(steps)) == said
            assert [v for v in found.verify() if v.kind not in ("citation", "key")] == []
        sqlite.close()
        cold.close()
