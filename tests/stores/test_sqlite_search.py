"""What a SQLite reader answers in short, and what it keeps of one search for the next, agree with whole reads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from graphmem.model import AsOf, EpisodeMatch, FactMatch
from graphmem.stores.base import Kind, Lean
from graphmem.stores.sqlite import SqliteStore
from graphmem.testing.samples import GROUP, NOW, add_episode, add_facts, day, fact, ids, record


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore.open(tmp_path / "g.db")) as opened:
        yield opened


@pytest.mark.parametrize("searching", [False, True])
def test_turns_and_claims_are_those_of_whole_rows(store: SqliteStore, searching: bool) -> None:
    with store.write(GROUP) as writer:
        for n in range(1, 5):
            add_episode(writer, record(f"e{n}", n), words="x")
        add_facts(writer, fact("u1", "a", "b"), fact("u2", "b", "c\x00", valid=(2, 5)), fact("u3", "a", "c", system=(0, 3)))
    with store.write(GROUP) as writer:
        writer.hide_episodes(GROUP, ["e2"], day(8))
    with store.read() as reader:
        assert isinstance(reader, Lean)
        if searching:
            reader.text_search(Kind.EPISODE, ["x"], [GROUP], NOW, 9)
        asked, facts = ["e3", "zz", "e2", "e1"], ["u2", "zz", "u3", "u1"]
        for at in (NOW, AsOf(system=day(2)), AsOf(day(3), day(9)), AsOf(day(7))):
            whole = {e.id: e for e in reader.episodes([GROUP], at, EpisodeMatch(ids=tuple(asked)))}
            turns = reader.turns([GROUP], at, asked)
            assert turns.keys() == whole.keys()
            assert all(getattr(whole[i], name) == value for i, turn in turns.items() for name, value in turn._asdict().items())
            versions = {v.uuid: v for v in reader.facts([GROUP], at, FactMatch(uuids=tuple(facts)))}
            claims = reader.claims([GROUP], at, facts)
            assert claims.keys() == versions.keys()
            assert all(getattr(versions[i], name) == value for i, claim in claims.items() for name, value in claim._asdict().items())
        assert reader.turns([], NOW, asked) == reader.claims([], NOW, facts) == {}


def test_what_holds_is_told_anew_where_something_begins_or_ends(store: SqliteStore) -> None:
    def found(valid: int) -> list[str]:
        with store.read() as reader:
            return ids(reader.text_search(Kind.FACT, ["x"], [GROUP], AsOf(day(valid)), 9))

    with store.write(GROUP) as writer:
        versions = [fact("u1", "a", "b", valid=(2, 5)), fact("u2", "a", "c", valid=(4, None)), fact("u3", "a", "d", valid=(None, 7))]
        writer.add_facts(versions, ["x"] * 3)
    expected = {
        1: ["u3"],
        2: ["u1", "u3"],
        3: ["u1", "u3"],
        4: ["u1", "u2", "u3"],
        5: ["u2", "u3"],
        6: ["u2", "u3"],
        7: ["u2"],
        8: ["u2"],
    }
    for _ in range(2):
        for valid, uuids in (*expected.items(), *reversed(expected.items())):
            assert found(valid) == uuids
    with store.write(GROUP) as writer:
        writer.add_facts([fact("u4", "a", "e", valid=(6, 8), system=(1, None))], ["x"])
    assert found(6) == found(6) == ["u2", "u3", "u4"]
    assert found(7) == found(7) == ["u2", "u4"]
    assert found(8) == found(8) == ["u2"]
    with store.write(GROUP) as writer:
        writer.end_versions("fact", ["u2"], day(9))
    assert found(8) == found(8) == []
