"""Logs for tests: stories written by hand, and random histories with every kind of statement and operation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import permutations
from random import Random
from typing import TypeVar

from graphmem.interval import DateUnit, Origin
from graphmem.model import (
    Assertion,
    AssertionKind,
    Episode,
    EpisodeKind,
    EpisodeRecord,
    LogEntry,
    Mention,
    Operation,
    OperationKind,
    Period,
)
from graphmem.ontology import Ontology, Relation

ONTOLOGY = Ontology.of(
    Relation("WORKS_AT", one_target=True),
    Relation("EMPLOYS", inverse_of="WORKS_AT"),
    Relation("LIVES_IN", one_target=True),
    Relation("MARRIED_TO", one_target=True, symmetric=True),
    Relation("OWNS", one_source=True),
    Relation("KNOWS", symmetric=True),
    Relation("LIKES"),
    Relation("RENTS"),
)
"""The relations of stories and random histories; any other name is a several-valued relation."""

_T = TypeVar("_T")

FIRST_INSTANT = datetime(2026, 1, 1, tzinfo=UTC)
"""The system instant of a history's first entry; each later entry is a day later."""


def unit(text: str, origin: Origin = Origin.STATED) -> DateUnit:
    """The unit of time that an ISO date names, in UTC: a year, a month, a day, or (with a time) an instant.

    >>> unit("2024-05").last.isoformat()
    '2024-06-01T00:00:00+00:00'
    """
    if "T" in text:
        return DateUnit.at(datetime.fromisoformat(text).replace(tzinfo=UTC), origin)
    year, *rest = (int(part) for part in text.split("-"))
    return DateUnit.of(year, *rest, origin=origin)


def fact(
    triple: str,
    *,
    since: str | None = None,
    until: str | None = None,
    still: bool = False,
    same_as: str | None = None,
    excludes: Iterable[str] = (),
    text: str | None = None,
    kind: AssertionKind = AssertionKind.HOLDS,
) -> Assertion:
    """Something to say in a story: "Mira WORKS_AT Acme"; ids are given when it is said."""
    source, relation, target = triple.split()
    start, end = (unit(date) if date else None for date in (since, until))
    return Assertion("", "", 0, source, relation, target, text or triple, kind, start, end, still, same_as, tuple(excludes))


def ended(triple: str, on: str | None = None) -> Assertion:
    """Something that a story says is over, since `on` if given."""
    return fact(triple, until=on, kind=AssertionKind.ENDS)


def never(triple: str) -> Assertion:
    """Something that a story denies."""
    return fact(triple, kind=AssertionKind.DENIES)


class Story:
    """What is said and done, step by step, and which rows that gives. Every step counts: the ids of step 2 are "e2" for an
    episode, "e2.0", "e2.1" ... for its assertions, "o2" for an operation; entities are their names.

    >>> story = Story("a job").say("2024-03-01", fact("Mira WORKS_AT Acme", since="2022")).do("end", "e1.0", at="2024-05-01")
    >>> [type(entry).__name__ for entry in story.log()]
    ['EpisodeRecord', 'Operation']
    """

    def __init__(self, title: str, ontology: Ontology = ONTOLOGY) -> None:
        self.title = title
        self.ontology = ontology
        self.rows: tuple[str, ...] = ()
        self.any_order = True
        self._steps: list[LogEntry] = []
        self._erased: set[str] = set()

    def say(self, reference: str, *facts: Assertion | str, links: Iterable[tuple[str, str]] = ()) -> Story:
        """An episode with this reference time; plain strings are facts without dates."""
        episode = f"e{len(self._steps) + 1}"
        given = [fact(f) if isinstance(f, str) else f for f in facts]
        assertions = tuple(replace(f, id=f"{episode}.{i}", episode=episode, position=i) for i, f in enumerate(given))
        self._steps.append(_record(episode, unit(reference).first, assertions, links=tuple(links)))
        return self

    def do(self, kind: str, /, *targets: str, **values: object) -> Story:
        """An operation; dates are given as text, and those of `correct` are the user's. A split's new entity is `entity=`."""
        self.any_order = False
        origin = Origin.USER
        for name, value in values.items():
            if name == "at" and isinstance(value, str):
                values[name] = unit(value).first
            elif name in ("start", "end") and isinstance(value, str):
                values[name] = unit(value, origin)
        if kind == OperationKind.SPLIT:
            targets = (*targets, str(values["entity"]))
        self._steps.append(Operation(f"o{len(self._steps) + 1}", "main", OperationKind(kind), targets, values))
        return self

    def erase(self, episode: str) -> Story:
        """Take an episode out of the log, as erasing does; no step of its own."""
        self.any_order = False
        self._erased.add(episode)
        return self

    def gives(self, *rows: str, any_order: bool | None = None) -> Story:
        """The right rows, as `rows_of` prints them, in any order. Stories without operations give them in every order of arrival."""
        self.rows = tuple(sorted(rows))
        if any_order is not None:
            self.any_order = any_order
        return self

    def log(self) -> list[LogEntry]:
        """The log of the story as told."""
        return self._log(self._steps)

    def orders(self) -> Iterator[list[LogEntry]]:
        """The log in every order of arrival that must give the same rows."""
        for steps in permutations(self._steps) if self.any_order else [self._steps]:
            yield self._log(steps)

    def _log(self, steps: Iterable[LogEntry]) -> list[LogEntry]:
        placed = [_placed(step, seq) for seq, step in enumerate(steps, 1)]
        return [e for e in placed if not (isinstance(e, EpisodeRecord) and e.episode.id in self._erased)]


def rows_of(periods: Iterable[Period]) -> tuple[str, ...]:
    """Periods as stories print them, sorted: "Mira WORKS_AT Acme [2022, 2024-08)"; `∞` and `unknown` are open."""
    return tuple(
        sorted(f"{p.source} {p.key.relation} {p.target} [{_short(p.valid.start, 'unknown')}, {_short(p.valid.end, '∞')})" for p in periods)
    )


def _short(moment: datetime | None, open_: str) -> str:
    if moment is None:
        return open_
    if (moment.hour, moment.minute) != (0, 0):
        return moment.strftime("%Y-%m-%dT%H:%M")
    return moment.strftime("%Y" if (moment.month, moment.day) == (1, 1) else "%Y-%m" if moment.day == 1 else "%Y-%m-%d")


def _record(
    episode: str, reference: datetime, assertions: tuple[Assertion, ...], group: str = "main", links: tuple[tuple[str, str], ...] = ()
) -> EpisodeRecord:
    named = dict.fromkeys(entity for a in assertions for entity in (a.source, a.target))
    named |= dict.fromkeys(entity for link in links for entity in link)
    mentions = tuple(Mention(episode, i, entity, entity) for i, entity in enumerate(named))
    body = "\n".join(a.text for a in assertions) or episode
    return EpisodeRecord(Episode(episode, group, EpisodeKind.TEXT, body, reference, episode), assertions, mentions, links)


def _placed(entry: LogEntry, seq: int) -> LogEntry:
    """The entry at this position of a log, a day after the one before."""
    at = FIRST_INSTANT + timedelta(days=seq - 1)
    if isinstance(entry, Operation):
        return replace(entry, seq=seq, created_at=at)
    return replace(entry, episode=replace(entry.episode, seq=seq, created_at=at))


# ------------------------------------------------------------------------------------------------ random histories

_ENTITIES = tuple("abcde")
_KINDS = {AssertionKind.HOLDS: 8, AssertionKind.ENDS: 3, AssertionKind.DENIES: 1}
_RELATIONS = {"WORKS_AT": 5, "EMPLOYS": 1, "MARRIED_TO": 3, "OWNS": 2, "KNOWS": 1, "LIKES": 2, "RENTS": 1, "VISITS": 1}
_OPERATIONS = {
    OperationKind.FORGET: 5,
    OperationKind.RESTORE: 5,
    OperationKind.CORRECT: 4,
    OperationKind.END: 2,
    OperationKind.CONFIRM: 2,
    OperationKind.MERGE: 3,
    OperationKind.DISTINCT: 1,
    OperationKind.SPLIT: 1,
    OperationKind.RENAME: 1,
    OperationKind.ALIAS: 1,
}


def random_history(
    rng: Random, size: int, *, group: str = "main", acts: bool = True, links: bool = True, references: Iterable[datetime] = ()
) -> list[LogEntry]:
    """A log of `size` entries over few entities and few dates, so that everything meets everything; equal seeds give equal logs.

    System instants strictly increase. `acts` and `links` say whether operations and links of episodes occur;
    `references` are the reference times of the episodes in turn, else they are drawn too.

    >>> random_history(Random(7), 5) == random_history(Random(7), 5)
    True
    """
    writer = _Writer(rng, group, links)
    given = iter(references)
    for n in range(1, size + 1):
        operation = writer.operation(n) if acts and writer.assertions and rng.random() < 0.4 else None
        writer.log.append(_placed(operation or writer.episode(n, next(given, None)), n))
    return writer.log


class _Writer:
    """Draws entries that refer to what was written before."""

    def __init__(self, rng: Random, group: str, links: bool) -> None:
        self.rng, self.group, self.links = rng, group, links
        self.log: list[LogEntry] = []
        self.assertions: list[Assertion] = []
        self.entities = list(_ENTITIES)

    def pick(self, weights: dict[_T, int]) -> _T:
        return self.rng.choices(list(weights), list(weights.values()))[0]

    def month(self) -> tuple[int, int]:
        return divmod(2020 * 12 + self.rng.randrange(18), 12)

    def moment(self) -> datetime:
        year, month = self.month()
        return datetime(year, month + 1, self.rng.choice((1, 1, 15)), tzinfo=UTC)

    def date(self, origin: Origin = Origin.STATED) -> DateUnit:
        """A year, month, day or instant of a year and a half."""
        year, month = self.month()
        match self.rng.randrange(6):
            case 0:
                return DateUnit.of(year, origin=origin)
            case 1 | 2 | 3:
                return DateUnit.of(year, month + 1, origin=origin)
            case 4:
                return DateUnit.of(year, month + 1, self.rng.choice((1, 15)), origin=origin)
            case _:
                return DateUnit.at(self.moment(), origin)

    def episode(self, n: int, reference: datetime | None) -> EpisodeRecord:
        episode = f"e{n}"
        told = [self.assertion(episode, i) for i in range(self.rng.choice((1, 1, 1, 2, 3)))]
        links = (self.two_entities(),) if self.links and self.rng.random() < 0.12 else ()
        return _record(episode, reference or self.moment(), tuple(told), self.group, links)

    def two_entities(self) -> tuple[str, str]:
        one, other = self.rng.sample(_ENTITIES, 2)
        return one, other

    def assertion(self, episode: str, position: int) -> Assertion:
        rng, chance = self.rng, self.rng.random
        kind = self.pick(_KINDS)
        source, target = self.two_entities()
        start = self.date() if chance() < (0.15 if kind is AssertionKind.ENDS else 0.6) else None
        end = self.date() if chance() < 0.35 else None
        name = f"{episode}.{position}"
        drawn = Assertion(
            name,
            episode,
            position,
            source,
            self.pick(_RELATIONS),
            target,
            name,
            kind,
            start,
            end,
            chance() < 0.25,
            attributes={rng.choice("xyz"): name},
        )
        drawn = self.decided(drawn) if self.assertions else drawn
        self.assertions.append(drawn)
        return drawn

    def decided(self, drawn: Assertion) -> Assertion:
        """With decisions about earlier assertions, some of which pass the gate."""
        chance = self.rng.random
        if chance() < 0.15:
            twin = self.rng.choice(self.assertions)
            drawn = replace(drawn, same_as=twin.id)
            if chance() < 0.6:
                drawn = replace(drawn, source=twin.source, target=twin.target)
        if chance() < 0.4:
            rivals = self.some(self.assertions)
            first = rivals[0]
            drawn = replace(drawn, excludes=tuple(rival.id for rival in rivals))
            if chance() < 0.5 and first.source != drawn.target:
                drawn = replace(drawn, source=first.source, relation=first.relation)
            if chance() < 0.5 and first.target != drawn.source:
                drawn = replace(drawn, target=first.target)
        return drawn

    def some(self, population: list[_T]) -> list[_T]:
        return self.rng.sample(population, min(len(population), self.rng.choice((1, 1, 2))))

    def operation(self, n: int) -> Operation | None:
        kind = self.pick(_OPERATIONS)
        episodes = [entry.episode.id for entry in self.log if isinstance(entry, EpisodeRecord)]
        earlier = [entry.id for entry in self.log if isinstance(entry, Operation)]
        targets = [assertion.id for assertion in self.some(self.assertions)]
        values: dict[str, object] = {}
        match kind:
            case OperationKind.FORGET if self.rng.random() < 0.6:
                targets = self.some(episodes)
            case OperationKind.RESTORE:
                targets = self.some(earlier) if earlier else []
            case OperationKind.CORRECT:
                values = self.correction()
            case OperationKind.END | OperationKind.CONFIRM:
                values = {"at": self.moment()}
            case OperationKind.MERGE | OperationKind.DISTINCT:
                targets = self.rng.sample(self.entities, 2)
            case OperationKind.SPLIT:
                taken = self.some(self.entities)
                targets, values = [*taken, *self.some(episodes), f"f{n}"], {"entity": f"f{n}", "of": len(taken)}
                self.entities.append(f"f{n}")
            case OperationKind.RENAME | OperationKind.ALIAS:
                targets, values = [self.rng.choice(self.entities)], {"name": f"name {n}"}
            case _:
                pass
        return Operation(f"o{n}", self.group, kind, tuple(targets), values) if targets else None

    def correction(self) -> dict[str, object]:
        chance = self.rng.random
        drawn: dict[str, tuple[float, object]] = {
            "start": (0.5, self.date(Origin.USER)),
            "end": (0.35, self.date(Origin.USER) if chance() < 0.7 else None),
            "target": (0.25, self.rng.choice(_ENTITIES)),
            "text": (0.1, "corrected"),
            "kind": (0.1, self.pick(_KINDS)),
        }
        return {name: value for name, (likely, value) in drawn.items() if chance() < likely}
