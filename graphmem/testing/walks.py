"""Random walks: everything that can be told to a memory and taken back again, compared with the oracle at any point of both axes.

Every write goes through a public method, so that what a walk finds is what callers would find. `MOVES` are what a step may be;
add to it what a memory can do besides.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random
from typing import Any

from graphmem.belief.audit import verify_group
from graphmem.belief.fold import fact_id
from graphmem.entries import recorded_at
from graphmem.errors import InvalidInput, NotFound
from graphmem.interval import Interval
from graphmem.memory import Memory
from graphmem.model import ChangeKind, EpisodeRecord, LogEntry, OperationKind
from graphmem.ontology import Ontology
from graphmem.results import EntityItem, FactItem, WriteResult
from graphmem.runtime import FixedClock
from graphmem.search.hits import Filters
from graphmem.testing.histories import ONTOLOGY
from graphmem.testing.oracle import Oracle

PEOPLE = ("Ada", "Boris", "Chidi", "Dolores", "Emeka")
RELATIONS = ("WORKS_AT", "WORKS_AT", "WORKS_AT", "EMPLOYS", "MARRIED_TO", "MARRIED_TO", "OWNS", "KNOWS", "LIKES", "DISLIKES", "VISITS")
SESSIONS = ("monday", "tuesday", "friday")


@dataclass
class Walk:
    """One group of a memory on its way through random steps. What was done is in the memory: a walk can go on in another process.

    `refused` counts the calls that raised `InvalidInput` or `NotFound`, after which nothing may be changed.
    """

    memory: Memory
    clock: FixedClock
    rng: Random
    group: str = "main"
    ontology: Ontology = ONTOLOGY
    steps: int = 0
    refused: int = 0
    seen: list[FactItem] = field(default_factory=list)

    def step(self) -> str:
        """Do something; returns what it was."""
        self.clock.advance(hours=self.rng.choice((0, 0, 1, 30, 300)))
        move = self.rng.choices(list(MOVES), [weight for weight, _ in MOVES.values()])[0] if self.steps else "add"
        self.steps += 1
        try:
            MOVES[move][1](self)
        except NotFound:  # nobody is known
            assert not self.memory.entities(group=self.group)
        if self.rng.random() < 0.2:
            self.seen = [*self.seen[-20:], *self.memory.facts(history=True, group=self.group)[:3]]
        return move

    def do(self, method: str, *args: object, **named: object) -> WriteResult | None:
        """Call a method that records an operation, sometimes tried first without recording it; None if it was refused."""
        call: Callable[..., WriteResult] = getattr(self.memory, method)
        head = self.head()
        try:
            tried = call(*args, **named, group=self.group, dry_run=True) if self.rng.random() < 0.25 else None
            if tried is not None:
                assert self.head() == head, f"a dry run of {method} wrote something"
            done = call(*args, **named, group=self.group)
        except (InvalidInput, NotFound):
            assert self.head() == head, f"{method} was refused and wrote something"
            self.refused += 1
            return None
        assert tried is None or (tried.changes, tried.warnings) == (done.changes, done.warnings), f"a dry run of {method} said otherwise"
        return done

    # -- what is there

    def head(self) -> int:
        """The last position of the log."""
        with self.memory._scope.store.read() as reader:
            return reader.head(self.group).seq

    def log(self) -> list[LogEntry]:
        """All that was recorded."""
        with self.memory._scope.store.read() as reader:
            return list(reader.log(self.group))

    def some_fact(self) -> FactItem | str | None:
        """A fact believed now or formerly, as an item, by uuid, or by its id."""
        known = self.memory.facts(history=True, group=self.group)
        pool = self.seen if self.seen and self.rng.random() < 0.3 else list(known)
        if not pool:
            return None
        item = self.rng.choice(pool)
        return self.rng.choice((item, item, item.uuid, item.id))

    def some_episodes(self, most: int = 2) -> list[str]:
        """Ids of visible episodes."""
        known = [e.id for e in self.memory.episodes(group=self.group)]
        return self.rng.sample(known, min(len(known), self.rng.randint(1, most))) if known else []

    def some_entity(self) -> EntityItem:
        """An entity believed now; raises `NotFound` in a memory without any."""
        known = self.memory.entities(summarise=False, group=self.group)
        if not known:
            raise NotFound("nobody is known")
        return self.rng.choice(list(known))

    def as_given(self, entity: EntityItem) -> EntityItem | str:
        """The entity, its id, or its name, which others may have."""
        return self.rng.choice((entity, entity.id, entity.name))

    # -- what to say

    def moment(self) -> datetime:
        """The first or the middle of one of eighteen months."""
        year, month = divmod(2020 * 12 + self.rng.randrange(18), 12)
        return datetime(year, month + 1, self.rng.choice((1, 1, 15)), tzinfo=UTC)

    def date(self) -> str:
        """A year, a month, a day or an instant."""
        moment = self.moment()
        return self.rng.choice((moment.strftime("%Y"), *[moment.strftime("%Y-%m")] * 3, moment.strftime("%Y-%m-%d"), moment.isoformat()))

    def row(self) -> dict[str, object]:
        """A fact to tell, with a few dates."""
        chance = self.rng.random
        source, target = self.rng.sample(PEOPLE, 2)
        kind = self.rng.choices(("holds", "ends", "denies"), (8, 3, 1))[0]
        row: dict[str, object] = {"source": source, "relation": self.rng.choice(RELATIONS), "target": target, "kind": kind}
        if chance() < (0.15 if kind == "ends" else 0.6):
            row["valid_at"] = self.date()
        if chance() < 0.35:
            row["invalid_at"] = self.date()
        return {**row, "still": chance() < 0.25}

    # -- what must be so

    def check(self, points: int = 4) -> None:
        """Every invariant now; and at a random past instant the facts that the oracle says hold, at a few valid instants."""
        log = self.log()
        with self.memory._scope.store.read() as reader:
            assert not (wrong := list(verify_group(reader, self.group, self.ontology))), wrong[:5]
        known = self.rng.randint(1, len(log))
        oracle = Oracle(log[:known], self.ontology)
        system = recorded_at(log[known - 1])
        for v in self.rng.sample(oracle.points, min(points, len(oracle.points))):
            wanted = {fact_id(self.group, key) for key in oracle.true_at(v)}
            found = {f.id for f in self.memory.as_of(valid=v, system=system).facts(group=self.group)}
            assert found == wanted, f"at {v}, as believed at {system} (entry {known} of {len(log)})"


# ------------------------------------------------------------------------------------------------ moves


def add(walk: Walk) -> None:
    """Tell one to three facts."""
    rows = [walk.row() for _ in range(walk.rng.choice((1, 1, 1, 2, 3)))]
    walk.memory.add_many(
        [
            {
                "kind": "facts",
                "rows": rows,
                "reference_time": walk.moment(),
                "session": walk.rng.choice(SESSIONS),
                "key": f"step {walk.head()}",
            }
        ],
        group=walk.group,
        progress=False,
    )


def add_again(walk: Walk) -> None:
    """An episode that is there, visible or not."""
    record = walk.rng.choice([e for e in walk.log() if isinstance(e, EpisodeRecord)])
    _, key = json.loads(record.episode.key)
    walk.memory.add_facts([walk.row()], key=key, group=walk.group)
    assert record.episode.id in {e.id for e in walk.memory.episodes(group=walk.group)}


def forget_episodes(walk: Walk) -> None:
    """Nothing cites them any more."""
    if chosen := walk.some_episodes():
        walk.do("forget", episode=chosen)
        assert not any({*f.episodes} & {*chosen} for f in walk.memory.facts(history=True, group=walk.group))


def forget_fact(walk: Walk) -> None:
    """A version that is believed now is gone, unless a warning says what keeps it."""
    fact = walk.some_fact()
    if fact is None:
        return
    done = walk.do("forget", fact=fact)
    if done is not None and not done.warnings and isinstance(fact, FactItem) and fact.expired_at is None:
        left = walk.memory.facts(history=True, group=walk.group)
        assert not any(f.uuid == fact.uuid for f in left)


def forget_entity(walk: Walk) -> None:
    """Nobody has the name, and no fact is about it."""
    person = walk.rng.choice(PEOPLE)
    known = walk.memory.entities(person, group=walk.group)
    if walk.do("forget", entity=person) is not None and len(known) == 1:
        gone = known[0].id
        assert all(e.id != gone for e in walk.memory.entities(group=walk.group))
        assert not any(gone in (f.source_id, f.target_id) for f in walk.memory.facts(history=True, group=walk.group))


def forget_where(walk: Walk) -> None:
    """By session, or by conditions of facts and episodes."""
    session = walk.rng.choice(SESSIONS)
    if walk.rng.random() < 0.4:
        if walk.do("forget", session=session) is not None:
            assert not walk.memory.episodes(session=session, group=walk.group)
        return
    since = walk.moment()
    told = {"sessions": (session,)} if walk.rng.random() < 0.5 else {"reference": Interval(since, None)}
    walk.do("forget", where=Filters(relations=(walk.rng.choice(RELATIONS),), **told))


def correct(walk: Walk) -> None:
    """One or several fields of a fact."""
    fact, rng = walk.some_fact(), walk.rng
    if fact is None:
        return
    fields: dict[str, Any] = {}
    if rng.random() < 0.6:
        end = rng.choice((..., ..., None, walk.date()))
        fields["valid"] = rng.choice((walk.date(), (walk.date(), end), (..., walk.date()), (..., None)))
    if rng.random() < 0.3:
        fields[rng.choice(("source", "target"))] = rng.choice((*PEOPLE, "Farah"))
    if rng.random() < 0.1:
        fields["relation"] = rng.choice(RELATIONS)
    if rng.random() < 0.1 or not fields:
        fields["text"] = "as it should have been said"
    walk.do("correct", fact, **fields)


def end(walk: Walk) -> None:
    """By hand."""
    if (fact := walk.some_fact()) is not None:
        walk.do("end", fact, walk.moment())


def confirm(walk: Walk) -> None:
    """By hand."""
    if (fact := walk.some_fact()) is not None:
        walk.do("confirm", fact, walk.moment())


def undo(walk: Walk) -> None:
    """Any operation; the same again is refused."""
    done = [e for e in walk.log() if not isinstance(e, EpisodeRecord) and e.kind is not OperationKind.ONTOLOGY]
    if not done:
        return
    chosen = walk.rng.choice(done[-6:])
    if walk.do(walk.rng.choice(("undo", "restore")), chosen.id) is not None:
        assert walk.do("undo", chosen.id) is None


def forget_and_restore(walk: Walk) -> None:
    """Leaves what is believed as it was."""
    if chosen := walk.some_episodes(4):
        before = walk.memory.state_hash(group=walk.group)
        done = walk.do("forget", episode=chosen)
        assert done is not None
        walk.do("restore", done)
        assert walk.memory.state_hash(group=walk.group) == before


def merge(walk: Walk) -> None:
    """Both ids mean one entity then."""
    one, other = walk.some_entity(), walk.some_entity()
    if walk.do("merge", walk.as_given(one), other) is not None:
        assert walk.memory.entity(one.id, group=walk.group).id == walk.memory.entity(other.id, group=walk.group).id


def split(walk: Walk) -> None:
    """The new one has what the episodes say, and nothing else."""
    one = walk.some_entity()
    told = [e.id for e in walk.memory.episodes(entity=one.id, group=walk.group)]
    chosen = walk.rng.sample(told, min(len(told), walk.rng.choice((1, 1, 2))))
    if (done := walk.do("split", walk.as_given(one), episodes=chosen)) is not None:
        (new,) = (c.id for c in done.changes if (c.kind, c.item) == (ChangeKind.SPLIT, "entity"))
        assert {e.id for e in walk.memory.episodes(entity=new, group=walk.group)} == {*chosen}
        assert {e.id for e in walk.memory.episodes(entity=one.id, group=walk.group)} == {*told} - {*chosen}


def distinct(walk: Walk) -> None:
    """By ids or by names, which may mean one entity: a merge of the two is refused then."""
    one, other = walk.some_entity(), walk.some_entity()
    names = [walk.rng.choice((e.name, *e.aliases)) for e in (one, walk.rng.choice((one, other)))]
    by_id = walk.rng.random() < 0.5
    if walk.do("distinct", *((one, other) if by_id else names)) is not None and by_id:
        assert walk.memory.entity(one.id, group=walk.group).id != walk.memory.entity(other.id, group=walk.group).id
        assert walk.do("merge", one.id, other.id) is None


def name(walk: Walk) -> None:
    """A name or another name, perhaps one that somebody else has; it finds the entity then."""
    one, given = walk.some_entity(), walk.rng.choice((*PEOPLE, "Gita", "Hugo"))
    if walk.do(walk.rng.choice(("rename", "alias")), walk.as_given(one), given) is not None:
        assert one.id in {e.id for e in walk.memory.entities(given, group=walk.group)}


MOVES: dict[str, tuple[int, Callable[[Walk], None]]] = {
    "add": (14, add),
    "add again": (1, add_again),
    "forget episodes": (3, forget_episodes),
    "forget a fact": (3, forget_fact),
    "forget an entity": (1, forget_entity),
    "forget where": (1, forget_where),
    "correct": (6, correct),
    "end": (3, end),
    "confirm": (3, confirm),
    "undo": (6, undo),
    "forget and restore": (1, forget_and_restore),
    "merge": (3, merge),
    "split": (2, split),
    "distinct": (1, distinct),
    "name": (2, name),
}
"""What a step may be: how often, and what it does."""
