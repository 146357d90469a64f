"""What was erased is in no byte of a SQLite file, nor of those beside it; nor in anything that the dictionary store holds."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from marked import EMBEDDER, GROUP, Marked, Script, left, opened, remember, tell, word

from graphmem.memory import Memory
from graphmem.model import EpisodeRecord

Where = tuple[object, Callable[[Memory], bytes]]


@pytest.fixture(params=["memory", "sqlite"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Where:
    """Where a memory is, and all bytes that its store holds."""
    if request.param == "memory":
        return ":memory:", lambda mem: pickle.dumps(mem._scope.store._state)  # type: ignore[attr-defined]
    return tmp_path / "m.db", lambda mem: b"".join(p.read_bytes() for p in sorted(tmp_path.iterdir()))


@pytest.fixture
def marked() -> Marked:
    return Marked()


def halves(text: str) -> bytes:
    """The vector of a text, as it is kept."""
    return np.asarray(EMBEDDER.embed([text]), np.float32).astype(np.float16).tobytes()


def check(mem: Memory, raw: Callable[[Memory], bytes], marked: Marked) -> None:
    """Nothing of what goes is there, all of what stays; and nothing is broken."""
    assert left(raw(mem), marked.going) == []
    assert sorted(left(raw(mem), marked.staying)) == sorted(marked.staying)
    assert mem.verify() == []


def test_an_erased_episode_is_in_no_byte(where: Where, marked: Marked) -> None:
    """Body, speaker, session, source, key, attributes, names, facts, relations, types, words, vectors, recorded answers, communities
    that a model named, reasons and authors of operations on it, and others' reasons that quote it.
    """
    mem, episode = remember(where[0], Script(), marked)
    body = mem.episode(episode).text
    sentence = f"Nora {word('name')}: They call her {word('alias')}."
    vector = halves(sentence) if halves(sentence) in where[1](mem) else halves(f"{body}")
    assert vector in where[1](mem)
    assert sorted(left(where[1](mem), marked.going)) == sorted(marked.going)
    receipt = mem.erase(episode=episode, reason=f"Nora {word('name')} asked", author="Boris")
    assert receipt.cleaned
    assert (receipt.episodes, receipt.redacted) == (1, 0)
    check(mem, where[1], marked)
    assert vector not in where[1](mem)
    assert mem.erasures()[0].reason == "[erased] asked"
    mem.close()


def test_an_erased_entity_is_in_no_byte(where: Where, marked: Marked) -> None:
    """All names it has or had, by hand too, its facts and attributes; in texts that stay a mark stands for its names."""
    script = Script()
    mem, _ = remember(where[0], script, marked)
    names = {k: w for k, w in marked.going.items() if k in ("name", "alias", "new name", "alias by hand")}
    gone = {*names, "entity attribute", "fact attribute", "sentence", "relation", "reason of a rename", "author of a rename"}
    text = f"Yesterday NORA  {names['name'].upper()} and {names['alias']} sang; so did Nora {names['new name']}."
    key = f"id of Nora {names['name']}"
    kept = tell(mem, script, text, [], [{"name": "Boris"}], session=f"with {names['alias by hand']}", key=key)
    mem.forget(episode=mem.episodes()[-1].id, reason=f"said by {names['alias']}")
    receipt = mem.erase(entity=names["alias by hand"], author=f"Nora {names['name']}")
    assert receipt.cleaned
    assert receipt.episodes == 0
    assert receipt.redacted >= 2
    check(mem, where[1], Marked({k: w for k, w in marked.going.items() if k in gone}, {**marked.staying, "body that stays": word("body")}))
    with mem._scope.store.read() as reader:
        said = {e.episode.body: e.episode for e in reader.log(GROUP) if isinstance(e, EpisodeRecord)}
    changed = said["Yesterday [erased] and [erased] sang; so did [erased]."]
    assert (changed.session, changed.id != kept) == ("with [erased]", True)  # its old id would tell its words
    mem.close()


def test_an_entity_erased_with_its_episodes_is_in_no_byte(where: Where, marked: Marked) -> None:
    """`episodes="delete"`: nothing of the episode that speaks of it, nor of one that names it without being read so."""
    script = Script()
    mem, _ = remember(where[0], script, marked)
    tell(mem, script, f"{marked.goes('beside')} saw Nora {word('name')}.", [], [{"name": "Boris"}])
    receipt = mem.erase(entity=f"Nora {word('name')}", episodes="delete")
    assert (receipt.episodes, receipt.redacted) == (2, 0)
    check(mem, where[1], marked)
    mem.close()


def test_an_erased_fact_is_in_no_byte(where: Where, marked: Marked) -> None:
    """Its sentence, where it was read from, its attributes; the rest of the text stays."""
    script = Script()
    mem = opened(where[0], script)
    secret, plain = f"Ada owes Boris {marked.goes('sum')}.", f"Ada likes {marked.stays('taste')}."
    entities: list[dict[str, object]] = [{"name": "Ada"}, {"name": "Boris"}, {"name": marked.stays("taste")}]
    tell(
        mem,
        script,
        f"{secret} {plain}",
        [
            {"source": 0, "target": 1, "relation": "owes", "text": secret, "attributes": {"sum": word("sum")}},
            {"source": 0, "target": 2, "relation": "likes", "text": plain},
        ],
        entities,
    )
    mem.add_facts(
        [
            {"source": "Ada", "relation": "owes", "target": "Boris", "text": f"It was {marked.goes('row')}"},
            {"source": "Boris", "relation": "likes", "target": "jazz"},
        ]
    )
    fact = next(f for f in mem.facts() if f.relation == "OWES")
    receipt = mem.erase(fact=fact)
    assert (receipt.redacted, receipt.assertions, receipt.entities) == (2, 2, 0)
    check(mem, where[1], marked)
    assert {e.text for e in mem.episodes()} == {f"[erased] {plain}", '["[erased]",{"relation":"likes","source":"Boris","target":"jazz"}]'}
    assert sorted(f.relation for f in mem.facts()) == ["LIKES", "LIKES"]
    mem.close()


def test_an_erased_session_is_in_no_byte(where: Where, marked: Marked) -> None:
    """All its episodes, forgotten ones too, and its name."""
    script = Script()
    mem, _ = remember(where[0], script, marked)
    more = tell(mem, script, f"And {marked.goes('more')}.", [], [], session=f"chat {word('session')}")
    mem.forget(episode=more)
    assert mem.erase(session=f"chat {word('session')}").episodes == 2
    check(mem, where[1], marked)
    mem.close()


def test_an_erased_group_is_in_no_byte(where: Where, marked: Marked) -> None:
    """Its name, its log, its settings, what it has cost, its recorded answers; another group keeps everything."""
    script = Script()
    name = f"team {marked.goes('group')}"
    mem, _ = remember(where[0], script, marked, group=name)
    marked.going.update(marked.staying)
    marked.staying.clear()
    mem.add_facts([{"source": "Ada", "relation": "knows", "target": marked.stays("other group")}], group=GROUP)
    before = mem.history_hash(group=GROUP)
    receipt = mem.erase(group=name)
    assert receipt.cleaned
    assert receipt.episodes == 4
    check(mem, where[1], marked)
    assert mem.history_hash(group=GROUP) == before
    assert [(r.what, r.episodes) for r in mem.erasures(group=GROUP)] == [("group", 4)]
    assert mem.stats()["groups"] == [GROUP]
    mem.close()
