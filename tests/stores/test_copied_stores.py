"""Whatever one store has been told, another one takes over with its history: every read gives the same at every instant."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from test_differential import STEPS, Step, apply, everything

from graphmem.errors import InvalidInput, StoreBusy, UnfinishedCopy
from graphmem.ingest import copying
from graphmem.stores.base import Kind, Store
from graphmem.stores.histories import HistoryStore, HistoryWriter, entity_histories, episode_histories, fact_histories
from graphmem.stores.memory import MemoryStore
from graphmem.stores.sqlite import SqliteStore
from graphmem.testing.samples import put, record, unit

STORY: list[Step] = [(n, n * 7 % 24, n * 5 % 24, n * 3 % 24, n % 3) for n in range(1, 40)]
BEGUN: list[Step] = [(0, 1, 2, 3, 0), (0, 2, 1, 4, 1)]


class Stopped(Exception):
    """Raised by a progress function, as Ctrl-C would be."""


def tell(store: Store, steps: list[Step]) -> None:
    """An episode in each group, the steps, vectors of an entity, and what is kept beside the log."""
    for n, step in enumerate((*BEGUN, *steps), 1):
        apply(store, n, step)
    with store.write("g") as writer:
        writer.put_answer("k1", {"facts": []}, {"episode": "ge1"})
        writer.put_answer("k2", [1, 2], {"episode": "he2"})
        writer.put_meta("usage:g", "{}")
        writer.put_meta("embedder", '{"dimension":8,"name":"some"}')
        for version in writer.entity_versions("g", ["ga", "gb"])[:1]:
            put(writer, Kind.ENTITY, version.id, unit(1, 2, 3, 4, 5, 6, 7, 8), unit(8, 7, 6, 5, 4, 3, 2, 1))


def copied(source: HistoryStore, target: HistoryStore, *groups: str) -> copying.Copied:
    """All groups, or those named, with nobody looking on."""
    return copying.copy(source, target, ("here", "there"), groups or None, lambda done, total: None)


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a small memory takes many of them."""
    monkeypatch.setattr(copying, "BATCH", 3)


@settings(max_examples=8, deadline=None)
@given(steps=STEPS)
def test_a_copy_reads_as_its_source(steps: list[Step]) -> None:
    """From memory to a file, to another file, and back, at every instant on both axes."""
    memory, again = MemoryStore(), MemoryStore()
    tell(memory, steps)
    with tempfile.TemporaryDirectory() as folder:
        file, other = (SqliteStore.open(Path(folder) / name) for name in ("a.db", "b.db"))
        for source, target in ((memory, file), (file, other), (other, again)):
            copied(source, target)
            with memory.read() as expected, target.read() as found:
                assert everything(found, len(steps) + 2) == everything(expected, len(steps) + 2)
                assert [v for v in found.verify() if v.kind not in ("citation", "key")] == []
                assert found.answers("", 9) == expected.answers("", 9)
                assert [found.meta(n) for n in ("usage:g", "embedder")] == [expected.meta(n) for n in ("usage:g", "embedder")]
        file.close()
        other.close()


def test_histories_are_whole(tmp_path: Path) -> None:
    """Also what is no longer believed, shown or held: each store gives the same, page by page."""
    memory, file = MemoryStore(), SqliteStore.open(tmp_path / "a.db")
    tell(memory, STORY)
    copied(memory, file)
    seen = []
    for store in (memory, file):
        with store.read() as reader:
            records = [e for e in reader.log("g") if hasattr(e, "episode")]
            entities = entity_histories(reader, "g", "", 2) + entity_histories(reader, "g", "gb", 99)
            seen.append((episode_histories(reader, "g", records), entities, fact_histories(reader, "g", "", 99), reader.extent("g")))
    assert seen[0] == seen[1]
    episodes, entities, facts, extent = seen[0]
    assert any(s.end is not None for e in episodes for s in e.shown)
    assert any(m.system.end is not None for e in episodes for m in e.mentions)
    assert any(len(e.versions) > 1 for e in entities)
    assert any(c.system.end is not None for f in facts for c in f.citations)
    assert extent == (len({e.id for e in entities}), len(facts))
    file.close()


def test_one_group_comes_alone(tmp_path: Path) -> None:
    """With the answers about its episodes; the other group stays away, and can follow."""
    memory, file = MemoryStore(), SqliteStore.open(tmp_path / "a.db")
    tell(memory, STORY)
    assert copied(memory, file, "h").groups == ("h",)
    with file.read() as reader:
        assert reader.groups() == ["h"]
        assert [key for key, _, _ in reader.answers("", 9)] == ["k2"]
    copied(memory, file)
    with memory.read() as expected, file.read() as found:
        assert everything(found, 40) == everything(expected, 40)
        assert [key for key, _, _ in found.answers("", 9)] == ["k1", "k2"]
    file.close()


def test_a_copy_that_is_stopped_anywhere_goes_on(tmp_path: Path) -> None:
    """Until it is whole every group says so; what was brought is not brought again; afterwards nothing is left to do."""
    memory = MemoryStore()
    tell(memory, STORY)
    file = SqliteStore.open(tmp_path / "a.db")
    stops, begun = 0, [0]

    def stop(done: int, total: int | None) -> None:
        nonlocal steps
        begun.append(done) if steps == 1 else None
        steps += 1
        if steps > 3 + stops and total is not None and done < total:
            raise Stopped

    while True:
        steps = 0
        try:
            copying.copy(memory, file, ("here", "there"), None, stop)
            break
        except Stopped:
            stops += 1
            with file.read() as reader:
                assert not (whole(reader, "g") and whole(reader, "h"))
    assert stops > 5
    assert begun == sorted(begun)
    done = copied(memory, file)
    assert done.resumed == done.items
    with memory.read() as expected, file.read() as found:
        assert everything(found, 40) == everything(expected, 40)
        assert whole(found, "g")
        assert whole(found, "h")
    file.close()


def whole(reader: object, group: str) -> bool:
    """Whether nothing says that the group is only the beginning of a copy."""
    try:
        copying.check_whole(reader, group)  # type: ignore[arg-type]
    except UnfinishedCopy:
        return False
    return True


def test_what_the_source_was_told_meanwhile_comes_with_the_next_run(tmp_path: Path) -> None:
    """Also what it ended, hid or renamed of things that were copied already."""
    memory, file = MemoryStore(), SqliteStore.open(tmp_path / "a.db")
    tell(memory, STORY[:20])
    with pytest.raises(Stopped):
        copying.copy(memory, file, ("here", "there"), None, stop_at(30))
    for n, step in enumerate(STORY[20:], 23):
        apply(memory, n, step)
    copied(memory, file)
    for n, step in enumerate(STORY, 43):
        apply(memory, n, step)
    copied(memory, file)
    with memory.read() as expected, file.read() as found:
        assert everything(found, 82) == everything(expected, 82)
        assert [v for v in found.verify() if v.kind not in ("citation", "key")] == []
    file.close()


def test_new_answers_come_also_where_only_a_later_group_has_changed() -> None:
    """The first is whole already, and brings none."""
    memory, target = MemoryStore(), MemoryStore()
    tell(memory, STORY[:8])
    copied(memory, target)
    with memory.write("h") as writer:
        writer.append_episode(record("later", 99, group="h"))
        writer.put_answer("k3", [3], {"episode": "later"})
    copied(memory, target)
    with target.read() as reader:
        assert [key for key, _, _ in reader.answers("", 9)] == ["k1", "k2", "k3"]


@pytest.mark.parametrize("left", [0, 1], ids=["before", "in the middle"])
def test_a_copy_that_is_stopped_while_an_older_one_is_cleared_goes_on(left: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left of the older one is cleared first, and nothing is written beside it."""
    memory, file = MemoryStore(), SqliteStore.open(tmp_path / "a.db")
    tell(memory, STORY[:20])
    copied(memory, file)
    for n, step in enumerate(STORY[20:], 23):
        apply(memory, n, step)
    with file.write("g") as tx:
        kind: Any = type(tx)
    clear = kind.clear_some

    def some(writer: HistoryWriter, group: str, limit: int) -> bool:
        nonlocal left
        if not left:
            raise Stopped
        left -= 1
        clear(writer, group, limit)
        return True

    with monkeypatch.context() as patched:
        patched.setattr(kind, "clear_some", some)
        with pytest.raises(Stopped):
            copied(memory, file)
    with file.read() as reader:
        assert not whole(reader, "g")
    copied(memory, file)
    with memory.read() as expected, file.read() as found:
        assert everything(found, 41) == everything(expected, 41)
        assert whole(found, "g")
    file.close()


def stop_at(count: int) -> Callable[[int, int | None], None]:
    """Stops once so many items are done."""

    def progress(done: int, total: int | None) -> None:
        if done >= count:
            raise Stopped

    return progress


def test_a_target_that_holds_something_else_is_refused() -> None:
    """By group and entry, and left as it is; so is one that goes on after the source."""
    memory, other = MemoryStore(), MemoryStore()
    tell(memory, STORY[:8])
    with other.write("g") as writer:
        writer.append_episode(record("foreign", 1, group="g"))
    with pytest.raises(InvalidInput, match=r"'there'.* group 'g': entry 1 "):
        copied(memory, other)
    with other.read() as reader:
        assert [e.episode.id for e in reader.log("g")] == ["foreign"]
        assert whole(reader, "g")
    target = MemoryStore()
    copied(memory, target)
    with target.write("g") as writer:
        writer.append_episode(record("later", 99, group="g"))
    with pytest.raises(InvalidInput, match="entry 99 "):
        copied(memory, target)
    with pytest.raises(InvalidInput, match="'nobody'"):
        copied(memory, target, "nobody")


def test_two_copies_to_one_target_do_not_mix(tmp_path: Path) -> None:
    """The one that came later goes on; the other one says so and stops."""
    memory, file = MemoryStore(), SqliteStore.open(tmp_path / "a.db")
    tell(memory, STORY)

    def interrupted(done: int, total: int | None) -> None:
        if 0 < done < 20:
            copied(memory, file)

    with pytest.raises(StoreBusy, match="another copy"):
        copying.copy(memory, file, ("here", "there"), None, interrupted)
    with memory.read() as expected, file.read() as found:
        assert everything(found, 40) == everything(expected, 40)
    file.close()


def test_a_row_that_somebody_changed_meanwhile_is_found(tmp_path: Path) -> None:
    """What was written is read back: a copy that differs is never called whole."""
    memory, file = MemoryStore(), SqliteStore.open(tmp_path / "a.db")
    tell(memory, STORY)
    spoiled = False

    def spoil(done: int, total: int | None) -> None:
        nonlocal spoiled
        with file.read() as reader:
            ready = reader.extent("g")[1] > 3
        if ready and not spoiled:
            spoiled = True
            with file.write("g") as writer:
                change(writer)

    def change(writer: HistoryWriter) -> None:
        uuid = writer.fact_versions("g")[0].uuid
        put(writer, Kind.FACT, uuid, unit(1, 1, 1, 1, 1, 1, 1, 1))

    with pytest.raises(Exception, match="is not as it is in here"):
        copying.copy(memory, file, ("here", "there"), None, spoil)
    with file.read() as reader:
        assert not whole(reader, "g")
    file.close()
