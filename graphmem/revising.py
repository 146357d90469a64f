"""The part of a memory that takes back and puts right: forgetting, corrections by hand, and undoing either."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Protocol, TypedDict, Unpack, runtime_checkable

from graphmem.checks import check_known, flag
from graphmem.errors import InvalidInput
from graphmem.ingest import forgetting
from graphmem.ingest.behind import NamedFact, begun_by, behind, one_of
from graphmem.ingest.correcting import Correction, Valid
from graphmem.ingest.named import listed
from graphmem.ingest.operating import Act, Plan, undoing, without_effect
from graphmem.ingest.recorder import Recorder
from graphmem.instants import Instant, read_instant
from graphmem.logs import logged
from graphmem.model import EntityVersion, EpisodeMatch, OperationKind
from graphmem.results import EpisodeItem, FactItem, Hit, WriteResult
from graphmem.scope import Scope
from graphmem.search.hits import Filters
from graphmem.stores.base import Reader, Writer


class Acting(TypedDict, total=False):
    """What every operation may say about itself: why, by whom, in which group; `dry_run` only tells what would change."""

    reason: str | None
    author: str | None
    group: str | None
    dry_run: bool


@runtime_checkable
class Identified(Protocol):
    """Something with an id, for instance an `EntityView`."""

    @property
    def id(self) -> str: ...


AnEpisode = str | EpisodeItem | WriteResult
AFact = str | FactItem | Hit
AnEntity = str | Identified


def told_by(acting: Acting) -> tuple[str | None, str | None]:
    """Reason and author, with all that is said beside them checked: an argument nobody looks at may be the `dry_run` of an erase."""
    check_known(acting, Acting)
    flag("dry_run", acting.get("dry_run", False))
    for argument, value in (("reason", acting.get("reason")), ("author", acting.get("author"))):
        if value is not None and (not isinstance(value, str) or not value.strip()):
            raise InvalidInput(argument, value, "must be a str that is not blank, or left out")
    return acting.get("reason"), acting.get("author")


class Acts:
    """What the parts of a memory that record operations share."""

    _scope: Scope
    _recorder: Recorder

    def _group_of(self, group: str | None) -> str:
        raise NotImplementedError

    def _named(self, reader: Reader, groups: tuple[str, ...], name: str) -> list[EntityVersion]:
        raise NotImplementedError

    def _act(self, plan: Plan, acting: Acting) -> WriteResult:
        """Record what `plan` decides under the lock of the group; with `dry_run` only tell what it would change."""
        reason, author = told_by(acting)
        dry_run = acting.get("dry_run", False)
        return self._recorder.operator.act(self._group_of(acting.get("group")), plan, reason=reason, author=author, dry_run=dry_run)


class Revisions(Acts):
    """What a memory takes back and puts right."""

    @logged
    def forget(
        self,
        *,
        episode: AnEpisode | Iterable[AnEpisode] | None = None,
        fact: AFact | Iterable[AFact] | None = None,
        entity: AnEntity | None = None,
        session: str | None = None,
        where: Filters | None = None,
        **acting: Unpack[Acting],
    ) -> WriteResult:
        """Hide what was said and undo its consequences: what only it said is believed no more, what it ended is open again.

        Exactly one of: `episode`, one or several, by result, item or id; `fact`, one or several, by item, hit, uuid or fact id
        (a uuid means one period, a fact id all of them): the assertions behind it, in whichever episodes; `entity`, by name or
        id: its mentions and every assertion about it; `session`: its episodes; `where`: the episodes that pass its `sessions`,
        `actors`, `sources`, `reference` and `attributes`, or, with `types`, `relations` or `valid`, what these episodes say of
        the facts that pass. What is hidden is listed when it is recorded: the same said later is believed.

        Nothing is removed: reads as of an earlier system time still show it, and `restore` brings it back. `dry_run=True`
        records nothing and returns the changes that there would be.
        Raises `NotFound` for what is not there, `InvalidInput` for what is forgotten already and unless one thing is named.
        """
        name = self._group_of(acting.get("group"))
        given = {"episode": episode, "fact": fact, "entity": entity, "session": session, "where": where}
        named = [argument for argument, value in given.items() if value is not None]
        if len(named) != 1:
            raise InvalidInput("forget", named or None, f"needs exactly one of {', '.join(f'{a}=' for a in given)}")
        if episode is not None:
            return self._act(partial(forgetting.episodes, group=name, ids=_ids(episode)), acting)
        if fact is not None:
            return self._act(partial(forgetting.facts, group=name, named=[_fact(f) for f in _several(fact, str, FactItem, Hit)]), acting)
        if session is not None:
            if not isinstance(session, str):
                raise InvalidInput("session", session, "must be the name of a session")
            return self._act(partial(forgetting.matching, group=name, match=EpisodeMatch(sessions=(session,))), acting)
        if where is not None:
            if not isinstance(where, Filters):
                raise InvalidInput("where", where, "must be graphmem.Filters")
            return self._act(partial(forgetting.where, group=name, filters=self._scope.spelled(where, (name,))), acting)
        return self._act(lambda tx: forgetting.entity(tx, name, self._one_entity(tx, name, entity)), acting)

    @logged
    def restore(self, operation: str | WriteResult, **acting: Unpack[Acting]) -> WriteResult:
        """Bring back what a `forget` hid; beliefs are as if it had never been done, later episodes included.

        The log knows one way to take an operation back, under two names: this one, which fits a `forget`, and `undo`.
        """
        return self._undo(operation, acting)

    @logged
    def undo(self, operation: str | WriteResult, **acting: Unpack[Acting]) -> WriteResult:
        """Take back an operation, by result or id: `forget`, `correct`, `end`, `confirm`, `merge` and the like, or an `undo` itself.

        Beliefs are as if it had never been done; what was said and done since then counts as before. Only that operation is
        taken back: of two corrections of one field the other one counts again.
        Raises `NotFound` for an operation that is not one of the group, `InvalidInput` for one that is undone already, and for
        what cannot be undone.
        """
        return self._undo(operation, acting)

    def _undo(self, operation: str | WriteResult, acting: Acting) -> WriteResult:
        target = operation if isinstance(operation, str) else getattr(operation, "id", None)
        if not isinstance(target, str):
            raise InvalidInput("operation", operation, "must be the id of an operation, or its result")
        return self._act(partial(undoing, group=self._group_of(acting.get("group")), target=target), acting)

    # ------------------------------------------------------------------------------------------ corrections by hand

    @logged
    def correct(
        self,
        fact: AFact,
        *,
        text: str | None = None,
        valid: Valid | None = None,
        source: AnEntity | float | None = None,
        relation: str | None = None,
        target: AnEntity | float | None = None,
        **acting: Unpack[Acting],
    ) -> WriteResult:
        """Put a fact right: what was said of it counts as if it had been said so. What is left out stays.

        `fact` is an item, a hit, a uuid or the id of a fact with one period. `valid` is a start ("2023", "2023-05", a date or an
        instant), or a pair of start and end, in which `...` keeps what is there and None as end is "no end known". `source` and
        `target` are entities by name or id; an unknown name makes a new one. Where `source`, `relation` or `target` changes
        without a `text`, the sentence is the plain one, "Mira works at Acme".

        The correction acts on the assertions behind that version, listed when it is recorded. Its dates are the user's, which
        count more than what was or will be read from texts about the same period; see [History](history.md).
        Raises `NotFound` for an unknown fact, `InvalidInput` naming the argument; nothing is changed then.

        >>> import graphmem
        >>> from graphmem.embed.hashing import HashingEmbedder
        >>> from graphmem.testing import FixedClock, ScriptedModel
        >>> mem = graphmem.open(model=ScriptedModel({}), embedder=HashingEmbedder(), clock=FixedClock("2024-05-01T09:00Z"))
        >>> _ = mem.add_facts([{"source": "Mira", "relation": "works_at", "target": "Acme", "valid_at": "2022"}])
        >>> done = mem.correct(mem.facts("Mira")[0], valid="2023", target="Globex", author="Mira")
        >>> mem.facts("Mira")
        <1 facts: <Fact Mira WORKS_AT Globex (since 2023)>>
        >>> _ = mem.undo(done)
        >>> mem.facts("Mira")
        <1 facts: <Fact Mira WORKS_AT Acme (since 2022)>>
        """
        name, zone, now = self._group_of(acting.get("group")), self._scope.zone, self._scope.now()
        correction = Correction.checked(text, valid, (_entity(source), _entity(target)), relation, now, zone)
        named = _fact(fact)
        return self._act(lambda tx: correction.act(tx, name, one_of(behind(tx, name, named))), acting)

    @logged
    def end(self, fact: AFact, at: Instant | None = None, **acting: Unpack[Acting]) -> WriteResult:
        """Say that a fact does not hold any more from the instant `at` on, by default now; a bare date is its first instant.

        Counts more than ends that were or will be read from texts about the same period. `fact` as in `correct`; of several
        periods of a fact id, the last that begins before `at`. Raises `InvalidInput` if `at` is not after the fact begins.
        """
        return self._said(OperationKind.END, fact, at, acting)

    @logged
    def confirm(self, fact: AFact, at: Instant | None = None, **acting: Unpack[Acting]) -> WriteResult:
        """Say that a fact holds at the instant `at`, by default now, as an episode would that says so: it runs on, or begins again
        where it had ended before. `fact` and `at` as in `end`. Raises `InvalidInput` also if `at` lies in the future.
        """
        return self._said(OperationKind.CONFIRM, fact, at, acting)

    def _said(self, kind: OperationKind, fact: AFact, at: Instant | None, acting: Acting) -> WriteResult:
        """A statement of the user's about the fact that stands behind a version."""
        name, now, named = self._group_of(acting.get("group")), self._scope.now(), _fact(fact)
        instant, warning = (now, None) if at is None else read_instant(at, self._scope.zone, "at")
        if kind is OperationKind.CONFIRM and instant > now:
            raise InvalidInput("at", at, f"lies in the future; it is {now.isoformat()}")

        def plan(tx: Writer) -> Act:
            spoken = begun_by(behind(tx, name, named), instant).spoken
            return Act(kind, spoken, {"at": instant}, (warning,) if warning is not None else (), without_effect)

        return self._act(plan, acting)

    # ------------------------------------------------------------------------------------------ names

    def _one_entity(self, reader: Reader, group: str, entity: AnEntity | None) -> EntityVersion:
        name = _entity(entity)
        if not isinstance(name, str):
            raise InvalidInput("entity", entity, "must be the name or id of an entity, or the entity")
        found = self._named(reader, (group,), name)
        if len(found) > 1:
            raise InvalidInput("entity", name, f"several entities share the name; give one of the ids: {listed(found)}")
        return found[0]


def _several(given: object, *single: type) -> Sequence[object]:
    """What was given, as several; raises `InvalidInput` for none."""
    if isinstance(given, single) or not isinstance(given, Iterable):
        return [given]
    several = list(given)
    if not several:
        raise InvalidInput("forget", given, "needs at least one; the list is empty")
    return several


def _ids(given: AnEpisode | Iterable[AnEpisode]) -> tuple[str, ...]:
    ids: dict[str, None] = {}
    for one in _several(given, str, EpisodeItem, WriteResult):
        found = (
            (one,)
            if isinstance(one, str)
            else one.ids
            if isinstance(one, WriteResult)
            else (one.id,)
            if isinstance(one, EpisodeItem)
            else ()
        )
        if not found:
            raise InvalidInput("episode", one, "must be the id of an episode, an episode, or the result of adding it")
        ids.update(dict.fromkeys(found))
    return tuple(ids)


def _fact(given: object) -> NamedFact:
    item = given.item if isinstance(given, Hit) else given
    if isinstance(item, FactItem):
        return NamedFact(item.uuid, item.system.start)
    if isinstance(item, str):
        return NamedFact(item)
    raise InvalidInput("fact", given, "must be a fact, its uuid or its id")


def _entity(given: object) -> str | int | float | None:
    """What names an entity: text, a number, or the id of something that has one."""
    if given is None or isinstance(given, str | int | float):
        return given
    if isinstance(given, Identified) and not isinstance(given, FactItem | WriteResult | EpisodeItem):
        return given.id
    raise InvalidInput("entity", given, "must be the name or id of an entity, or the entity")
