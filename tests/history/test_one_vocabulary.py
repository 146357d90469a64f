"""A change is called alike wherever it is told: in the result of the write, in differences, histories, reasons and operations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime
from random import Random

import pytest

import graphmem
from graphmem.embed.hashing import HashingEmbedder
from graphmem.errors import InvalidInput, NotFound
from graphmem.history.lines import Line
from graphmem.memory import Memory
from graphmem.results import FactItem, WriteResult
from graphmem.runtime import MICROSECOND
from graphmem.testing import ONTOLOGY, FixedClock, ScriptedModel
from graphmem.testing.walks import Walk

Act = Callable[[Memory], WriteResult]
START = "2026-01-01T00:00:00Z"


def job(mem: Memory) -> FactItem:
    return mem.facts(relation="works at", history=True)[0]


ACTS: dict[str, Act] = {
    "forget": lambda mem: mem.forget(episode=mem.episodes()[0]),
    "forget who is who": lambda mem: mem.forget(episode=mem.episodes(newest_first=True)[0]),
    "forget a fact": lambda mem: mem.forget(fact=mem.facts("Bea", relation="lives in")[0]),
    "forget an entity": lambda mem: mem.forget(entity="Bea"),
    "correct dates": lambda mem: mem.correct(job(mem), valid="2023-05"),
    "correct words": lambda mem: mem.correct(job(mem), text="Bea has her desk at Acme"),
    "correct ends": lambda mem: mem.correct(job(mem), target="Globex"),
    "end": lambda mem: mem.end(job(mem), "2025-06-01"),
    "confirm": lambda mem: mem.confirm(mem.facts("Beatriz", relation="lives in", history=True)[0], "2025-12-01"),
    "merge": lambda mem: mem.merge("Bea", "Beatriz"),
    "split": lambda mem: mem.split("Bea", episodes=[mem.episodes()[0]]),
    "distinct": lambda mem: mem.distinct("Tom", "Thomas"),
    "rename": lambda mem: mem.rename("Bea", "Zelda"),
    "alias": lambda mem: mem.alias("Bea", "Zelda"),
}


def told() -> tuple[Memory, FixedClock]:
    """Homes, jobs and likings of people of whom some may be one; Tom and Thomas are one by hand, Ana and Ana Prado by a text."""
    clock = FixedClock(START)
    answer = {"entities": [{"name": "Ana Prado", "type": "Entity", "aliases": ["Ana"]}], "facts": []}
    mem = graphmem.open(model=ScriptedModel({"extract": answer}), embedder=HashingEmbedder(), clock=clock)
    rows = [
        ("Bea", "works_at", "Acme", "2022", None),
        ("Bea", "lives_in", "Porto", "2022", None),
        ("Beatriz", "lives_in", "Rome", "2023", "2024"),
        ("Bea", "knows", "Beatriz", "2022", None),
        ("Bea", "likes", "jazz", "2022", None),
        ("Beatriz", "likes", "jazz", "2023", None),
        ("Beatriz", "likes", "opera", "2023", None),
        ("Tom", "likes", "chess", "2023", None),
        ("Thomas", "likes", "tea", "2023", None),
        ("Ana", "likes", "chess", "2023", None),
        ("Ana Prado", "likes", "chess", "2023", None),
        ("Ana Prado", "likes", "tea", "2023", None),
        ("Ana Prado", "knows", "Ana", "2023", None),
    ]
    for source, relation, target, since, until in rows:
        clock.advance(hours=1)
        mem.add_facts([{"source": source, "relation": relation, "target": target, "valid_at": since, "invalid_at": until}])
    mem.merge("Tom", "Thomas")
    clock.advance(hours=1)
    check(mem, mem.add_text("Ana Prado is called Ana"))
    assert mem.entity("Ana").id == mem.entity("Ana Prado").id
    clock.advance(hours=1)
    return mem, clock


def named(lines: Iterable[Line]) -> Counter[tuple[str, str, str]]:
    """What is told of, and how it is called."""
    return Counter((c.item, c.thing.uuid if isinstance(c.thing, FactItem) else c.id, c.kind.value) for c in lines if c.kind != "confirmed")


def check(mem: Memory, done: WriteResult, group: str | None = None) -> None:
    """What a result tells of facts and entities is told with the same words wherever else it is told."""
    (entry,) = mem.operations(limit=1, episodes=True, group=group)
    assert entry.id == done.id
    at: datetime = entry.at
    changes = named(entry.changes)
    assert named(mem.diff(system=(at - MICROSECOND, at), group=group)) == changes
    kinds: dict[tuple[str, str], set[str]] = {}
    for c in done.changes:
        if c.item in ("fact", "entity") and c.kind != "confirmed":
            kinds.setdefault((c.item, c.id), set()).add(c.kind.value)
    called = {(item, thing): kind for item, thing, kind in changes}
    for thing, of_thing in kinds.items():
        if thing in called or thing[0] == "fact":  # values are told by their facts alone
            assert called[thing] in of_thing
    assert {thing for thing in called if thing[0] == "fact"} == {thing for thing in kinds if thing[0] == "fact"}
    for line in (c for c in entry.changes if isinstance(c.thing, FactItem)):
        for lines in (mem.why(line.thing, group=group).changes, mem.history(line.thing, group=group)):
            (again,) = (c for c in lines if c.at == at and isinstance(c.thing, FactItem) and c.thing.uuid == line.thing.uuid)
            assert (again.kind, again.rule) == (line.kind, line.rule)


@pytest.mark.parametrize("name", ACTS)
def test_an_act_undone_and_done_again_is_called_alike_everywhere(name: str) -> None:
    """Done, undone, done again, and so on; to do it again is called what to do it was, and to undo it again what to undo it was."""
    mem, clock = told()
    done = [ACTS[name](mem)]
    check(mem, done[-1])
    for _ in range(4):
        clock.advance(hours=1)
        done.append(mem.undo(done[-1]))
        check(mem, done[-1])
    calls = [Counter((c.kind, c.item, c.text) for c in d.changes) for d in done]
    assert calls[0] == calls[2] == calls[4]
    assert calls[1] == calls[3]
    assert all(calls)


class Checked(Walk):
    """A walk of which every operation is checked."""

    def do(self, method: str, *args: object, **named: object) -> WriteResult | None:
        done = super().do(method, *args, **named)
        if done is not None:
            check(self.memory, done, self.group)
        return done


@pytest.mark.parametrize("seed", range(8))
def test_every_change_of_a_random_walk_is_called_alike_everywhere(seed: int) -> None:
    """Random statements and operations, and what undoes them and does them again."""
    clock, rng = FixedClock(START), Random(seed)
    with graphmem.open(model=ScriptedModel({}), embedder=HashingEmbedder(dimension=32), ontology=ONTOLOGY, clock=clock) as mem:
        walk = Checked(mem, clock, rng)
        for _ in range(40):
            walk.step()
            if rng.random() < 0.3 and (acts := mem.operations(limit=4)):
                try:
                    check(mem, mem.undo(rng.choice(list(acts)).id))
                except (InvalidInput, NotFound):
                    continue
