"""Random tellings and acts on who is who, through the public methods, against the oracle at points of both axes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

import pytest

from graphmem import Memory
from graphmem.belief.fold import fact_id
from graphmem.entries import created_at
from graphmem.errors import InvalidInput, NotFound
from graphmem.results import WriteResult
from graphmem.testing import FixedClock, Oracle

Open = Callable[..., Memory]
PEOPLE = ("Mira", "Mira Okafor", "MIRA", "Bea", "Ivo", "Beatriz")
PLACES = ("Lisboa", "Lisbon", "Porto")
RELATIONS = {"lives_in": PLACES, "married_to": PEOPLE, "knows": PEOPLE, "likes": PLACES}


@dataclass
class Teller:
    """Draws steps and takes them: tellings, and acts on those that the memory knows."""

    memory: Memory
    clock: FixedClock
    rng: Random
    acts: list[WriteResult] = field(default_factory=list)
    refused: int = 0

    def step(self) -> None:
        self.clock.advance(hours=1)
        if self.rng.random() < 0.5 or not self.memory.entities(summarise=False):
            self.tell()
            return
        before = self.memory.state_hash()
        try:
            done = self.act()
        except (InvalidInput, NotFound):
            assert self.memory.state_hash() == before, "an error changes nothing"
            self.refused += 1
        else:
            self.acts.append(done)

    def tell(self) -> None:
        rng, rows = self.rng, []
        for _ in range(rng.choice((1, 1, 2))):
            relation = rng.choice(list(RELATIONS))
            source = rng.choice(PEOPLE)
            target = rng.choice([t for t in RELATIONS[relation] if t.casefold() != source.casefold()])
            row = {"source": source, "relation": relation, "target": target, "kind": rng.choice(("holds", "holds", "holds", "ends"))}
            rows.append({**row, "valid_at": f"{rng.randint(2018, 2021)}-0{rng.randint(1, 9)}"} if rng.random() < 0.7 else row)
        self.memory.add_facts(rows, reference_time=f"{rng.randint(2018, 2022)}-0{rng.randint(1, 9)}-15")

    def act(self) -> WriteResult:
        rng, memory = self.rng, self.memory
        known = memory.entities(summarise=False)
        one, other = rng.choice(known), rng.choice(known)
        who = rng.choice((one, one.id, one.name))
        match rng.choice(("merge", "merge", "split", "distinct", "rename", "alias", "restore", "forget")):
            case "merge":
                return self.tried(lambda dry: memory.merge(who, other, dry_run=dry))
            case "split":
                told = memory.episodes(entity=one.id)
                some = rng.sample(list(told), min(len(told), rng.choice((1, 1, 2))))
                return self.tried(lambda dry: memory.split(who, episodes=some, dry_run=dry))
            case "distinct":
                names = [rng.choice((e.name, *e.aliases)) for e in (one, rng.choice((one, other)))]
                return memory.distinct(*names)
            case "rename":
                return memory.rename(who, rng.choice((*PEOPLE, *PLACES, "Somebody")))
            case "alias":
                return memory.alias(who, rng.choice((*PEOPLE, "Somebody", "Nick")))
            case "restore" if self.acts:
                return memory.restore(rng.choice(self.acts))
            case _:
                return memory.forget(episode=rng.choice(list(memory.episodes())))

    def tried(self, act: Callable[[bool], WriteResult]) -> WriteResult:
        """An act whose dry run said what it does."""
        before = self.memory.state_hash()
        foretold = act(True)
        assert self.memory.state_hash() == before
        done = act(False)
        assert [(c.kind, c.item, c.text, c.reason) for c in foretold.changes] == [(c.kind, c.item, c.text, c.reason) for c in done.changes]
        return done

    def compare(self, points: int) -> None:
        """What holds at points of both axes is what the oracle says of the log up to then."""
        with self.memory._scope.store.read() as reader:
            log = list(reader.log("main"))
            ontology = self.memory._scope.ontology(reader, "main")
        for _ in range(points):
            length = self.rng.randint(2, len(log))
            oracle = Oracle(log[:length], ontology)
            v = self.rng.choice(oracle.points)
            view = self.memory.as_of(valid=v, system=created_at(log[length - 1]))
            assert {f.id for f in view.facts()} == {fact_id("main", key) for key in oracle.true_at(v)}, (length, v)


def play(memory: Memory, clock: FixedClock, seed: int, steps: int, points: int) -> Teller:
    teller = Teller(memory, clock, Random(seed))
    for _ in range(steps):
        teller.step()
    teller.compare(points)
    return teller


@pytest.mark.parametrize("seed", range(12))
def test_random_acts_are_what_the_oracle_says_at_every_point(seed: int, open_memory: Open, clock: FixedClock) -> None:
    """On each store; what is refused changes nothing, what is tried comes true, and the memory is sound (checked at the end)."""
    play(open_memory(), clock, seed, 25, 20)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 140))
def test_many_random_acts_are_what_the_oracle_says_at_every_point(seed: int, open_memory: Open, clock: FixedClock) -> None:
    """The same, longer and more often."""
    play(open_memory(), clock, seed, 60, 60)


@pytest.mark.parametrize("seed", range(40, 46))
def test_all_acts_undone_leave_what_was_told(seed: int, open_memory: Open, clock: FixedClock) -> None:
    """One after the other, the last first: facts and names as if nothing had been done by hand, tellings that came after apart."""
    memory = open_memory()
    teller = Teller(memory, clock, Random(seed))
    for _ in range(8):
        teller.tell()
    before = memory.state_hash()
    for _ in range(12):
        clock.advance(hours=1)
        try:
            teller.acts.append(teller.act())
        except (InvalidInput, NotFound):
            continue
    assert len(teller.acts) > 3
    for done in reversed(teller.acts):
        memory.restore(done)
    assert memory.state_hash() == before
