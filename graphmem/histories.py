"""The part of a view that tells of change: what differs between two points, why a fact is believed, who did what, what was known when."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from graphmem.belief.slices import load_kin
from graphmem.checks import flag, most, text, texts, texts_or_none
from graphmem.entries import created_at
from graphmem.errors import InvalidInput, NotFound
from graphmem.history.audit import ENTRY_COLUMNS, Entry, History, Why, entries, history, why
from graphmem.history.diffs import Wanted, system_lines, valid_lines
from graphmem.history.frames import as_pandas, facts_table, leaks, rows_at
from graphmem.history.lines import Diff, Line, line_order
from graphmem.history.story import names_of
from graphmem.instants import Instant, read_instant, read_stretch
from graphmem.interval import FIRST, Interval
from graphmem.logs import logged
from graphmem.model import (
    AsOf,
    EntityMatch,
    EntityVersion,
    EpisodeRecord,
    FactMatch,
    FactVersion,
    LogEntry,
    OperationKind,
    Violation,
)
from graphmem.results import EntityItem, FactItem, HasItem, Hit, Listing
from graphmem.scope import Group, Scope
from graphmem.search.locate import Named, is_fact_id, locate
from graphmem.stores.base import Kind, Reader
from graphmem.stores.changes import Stretch

Point = Instant | tuple[Instant | None, Instant | None]
"""An instant, or two of them: from the one to the other."""


class Histories:
    """What every view can tell of change."""

    _scope: Scope

    def _named(self, reader: Reader, groups: tuple[str, ...], name: str) -> list[EntityVersion]:
        raise NotImplementedError

    @logged
    def diff(
        self,
        *,
        system: Point | None = None,
        valid: Point | None = None,
        entity: str | None = None,
        relation: str | Sequence[str] | None = None,
        session: str | Sequence[str] | None = None,
        group: Group = None,
    ) -> Diff:
        """What changed between two points of one axis, each line with the rule or decision that led to it, and its cause.

        `system=(a, b)`: what the memory believed at `b` and not at `a`, or otherwise; changes that were undone in between are not
        told. With a `valid` instant besides, only facts that held or hold then. `valid=(a, b)`: what began and what ended in
        the world after `a` and up to `b`, as believed at the `system` instant (by default the view's own); a fact that began and
        ended in between has two lines. Either end may be None: from the beginning, and up to the view's own point.

        `entity` (name or id, as of either point, with those that were one with it then) keeps what is about it, `relation` the
        facts of that relation or these, `session` what an episode of that session or these led to. Lines come by instant, facts before
        entities, then in the order of the vocabulary, by text and id.

        Raises `InvalidInput` unless exactly one axis has two points, where the second is not after the first, and for a system
        instant after the view's own; `NotFound` for an unknown entity, and where the memory holds nothing until the second point.

        >>> import graphmem
        >>> from graphmem.embed.hashing import HashingEmbedder
        >>> from graphmem.testing import FixedClock, ScriptedModel
        >>> clock = FixedClock("2024-03-01T09:00Z")
        >>> mem = graphmem.open(model=ScriptedModel({}), embedder=HashingEmbedder(), clock=clock)
        >>> _ = mem.add_facts([{"source": "Mira", "relation": "works_at", "target": "Acme", "valid_at": "2022"}])
        >>> clock.advance(days=184)
        >>> _ = mem.add_facts([{"source": "Mira", "relation": "works_at", "target": "Globex", "valid_at": "2024-08"}])
        >>> for line in mem.diff(system=("2024-06-01", None), relation="works at"):
        ...     print(line)
        <added Mira WORKS_AT Globex (since 2024-08): said to hold since 2024-08>
        <ended Mira WORKS_AT Acme (since 2022, now 2022 to 2024-07): a single-valued relation: Globex from 2024-08 ends Acme>
        """
        groups, point = self._scope.reads(group), self._scope.point()
        sessions = texts_or_none("session", session)
        pairs = [isinstance(given, tuple | list) for given in (system, valid)]
        if sum(pairs) != 1:
            raise InvalidInput("system", system, "give system=(a, b) or valid=(a, b), one of them as two points")
        axis, given, own = ("system", system, point.system) if pairs[0] else ("valid", valid, point.valid)
        since, until = self._two(axis, given, own or self._scope.now())
        other = self._instant("valid" if pairs[0] else "system", valid if pairs[0] else system)
        believed = until if pairs[0] else other or point.system
        points = (believed, since) if pairs[0] and since is not None else (believed,)
        stretch = Stretch(since, until)
        with self._scope.store.read() as reader:
            wanted = Wanted(
                self._either(reader, groups, entity, points) if entity is not None else None,
                self._scope.relation_names(reader, groups, relation),
            )
            lines: list[Line] = []
            for name in groups:
                ontology = self._scope.ontology(reader, name)
                if pairs[0]:
                    lines += system_lines(reader, name, ontology, stretch, wanted)
                else:
                    lines += valid_lines(reader, name, ontology, stretch, believed, wanted)
            if not lines:
                _require_something(reader, groups, believed)
        if pairs[0] and other is not None:
            lines = [line for line in lines if _holds(line, other)]
        if sessions is not None:
            lines = [line for line in lines if _of_session(line, sessions)]
        lines.sort(key=line_order)
        return Diff(lines, axis, since, until, other if pairs[0] else believed)

    # ------------------------------------------------------------------------------------------ audit

    @logged
    def why(self, fact: str | FactItem | Hit | Line, *, group: Group = None) -> Why:
        """Why a fact is believed: every statement about it with its words, dates and decisions (and who decided: a rule or the
        model), every change of it on both axes with its cause, and the operations that touched it.

        `fact` is an item, a hit, a line of a difference, a uuid or a fact id, believed now or not. Statements come as they were
        said, changes as they were made, operations as they were done, all until the view's system instant; of a version that is
        of a later one, the version of the fact that was known then.
        Raises `NotFound` if no such fact was known until then, `InvalidInput` for what is no fact.
        """
        groups, system = self._scope.reads(group), self._scope.point().system
        named = _thing(fact)
        if not isinstance(named, str | FactItem):
            raise InvalidInput("fact", fact, "must be a fact, a hit or a line about one, a uuid or a fact id")
        with self._scope.store.read() as reader:
            version = self._version(reader, groups, named)
            return why(reader, self._scope.ontology(reader, version.group), version, system)

    @logged
    def history(
        self,
        of: str | FactItem | EntityItem | HasItem | Hit | Line,
        *,
        relation: str | Sequence[str] | None = None,
        group: Group = None,
    ) -> History:
        """Every change of a fact, or of an entity and its facts, oldest first, with rule and cause; `plot()` draws the versions on
        both axes.

        `of` is a fact (an item, a uuid or a fact id), an entity (an item, what `entity()` gives, an id or a name), or a hit or a
        line of a difference that is about one of these; `relation` narrows an entity's facts.
        Until the view's system instant. Raises `NotFound` if nothing of that name was known until then, `InvalidInput` for what
        is neither a fact nor an entity.
        """
        groups, system = self._scope.reads(group), self._scope.point().system
        stretch, thing = Stretch(None, system), _thing(of)
        if not isinstance(thing, str | FactItem | EntityItem):
            raise InvalidInput("of", of, "must be a fact or an entity, a hit or a line about one, an id, a uuid, or the name of an entity")
        with self._scope.store.read() as reader:
            if isinstance(thing, FactItem) or (isinstance(thing, str) and is_fact_id(thing)):
                version = self._version(reader, groups, thing)
                match, people, title = FactMatch(fact_ids=(version.fact_id,)), tuple[str, ...](), version.text
                groups = (version.group,)
            else:
                name = thing.id if isinstance(thing, EntityItem) else thing
                people = self._either(reader, groups, name, (system,))
                match = FactMatch(entities=people, relations=self._scope.relation_names(reader, groups, relation))
                title = name if name not in people else self._called(reader, groups, name)
                people = people if relation is None else ()
            lines: list[Line] = []
            versions: list[FactItem] = []
            for name in groups:
                found = history(reader, self._scope.ontology(reader, name), name, match, people, stretch)
                lines, versions = lines + found[0], versions + found[1]
        return History(lines, versions, title, self._scope.point().valid or self._scope.now())

    @logged
    def operations(
        self,
        *,
        kind: str | Sequence[str] | None = None,
        since: Instant | None = None,
        until: Instant | None = None,
        episodes: bool = False,
        limit: int | None = 50,
        group: Group = None,
    ) -> Listing[Entry]:
        """What was done to the memory, newest first: when, by whom, why, on what, and what changed; at most `limit` entries.

        `kind` keeps those of that kind or these, as "forget" or "merge"; `since` and `until` those of [since, until) of system time.
        With `episodes` what was said is listed too, as entries of kind "episode", with what models cost for each.
        Raises `InvalidInput` for a kind that there is not.
        """
        kinds, limit, all_kinds = _kinds(kind), most(limit), flag("episodes", episodes)
        stretch, system = read_stretch(since, until, self._scope.zone), self._scope.point().system
        listed: list[Entry] = []
        with self._scope.store.read() as reader:
            for name in self._scope.reads(group):
                # Positions have no gap: where every entry passes, the newest are those of the last positions.
                all_pass = not kinds and stretch is None and system is None
                after = max(reader.head(name).seq - limit, 0) if limit is not None and all_pass else 0
                log: list[LogEntry] = list(reader.log(name, after)) if all_kinds or "episode" in kinds else list(reader.operations(name))
                chosen = [e for e in log if _passes(e, kinds, stretch, system)][-limit if limit is not None else 0 :]
                listed += entries(reader, self._scope.ontology(reader, name), name, chosen, system)
        listed.sort(key=lambda e: (e.at, e.group, e.seq), reverse=True)
        return Listing(listed[:limit], "entries", ENTRY_COLUMNS)

    # ------------------------------------------------------------------------------------------ what was known when

    @logged
    def facts_frame(
        self,
        at: Sequence[Instant],
        *,
        holding: bool = True,
        entity: str | None = None,
        relation: str | Sequence[str] | None = None,
        arrow: bool = False,
        group: Group = None,
    ) -> Any:
        """What was known at each of these instants and nothing later: a row for each instant and each fact version that was
        believed then and, if `holding`, held then; a `pandas.DataFrame`, or with `arrow` a `pyarrow.Table`.

        `entity` (name or id) keeps the facts of whoever that was at the instant. The columns are those of the facts' table, with
        `instant` and without the end of belief, which nobody knew. Names, dates and episodes are those known at the instant. An
        instant counts on both axes; the memory must have recorded something until then, so history is imported with `recorded_at`.
        Rows come in the order of the instants given, then by valid start.
        `frame_leaks` proves that nothing later is in it.

        Raises `InvalidInput` for no instants and for one that lies in the future, `NotFound` for one before the first entry of
        the log and for an unknown entity.
        """
        groups, as_table = self._scope.reads(group), flag("arrow", arrow)
        instants = [read_instant(moment, self._scope.zone, f"at[{n}]")[0] for n, moment in enumerate(_several(at))]
        with self._scope.store.read() as reader:
            heads = [self._scope.now(), *(h for g in groups if (h := reader.head(g).at) is not None)]
            last = self._scope.point().system or max(heads)
            for n, moment in enumerate(instants):
                if moment > last:
                    raise InvalidInput(f"at[{n}]", moment, f"lies after {last.isoformat()}, the last instant that is known")
            _require_something(reader, groups, min(instants))
            match = FactMatch(relations=self._scope.relation_names(reader, groups, relation))
            who = None if entity is None else self._each(reader, groups, entity, instants)
            matches = [match] * len(instants) if who is None else [replace(match, entities=tuple(sorted(ids))) for ids in who]
            found = facts_table(rows_at(reader, groups, zip(instants, matches, strict=True), holding=flag("holding", holding)))
        return found if as_table else as_pandas(found)

    @logged
    def frame_leaks(self, frame: Any) -> list[Violation]:
        """Every value of a frame of `facts_frame` that is not what was known at its row's instant, row by row, with what was known
        instead; an empty list proves that there is none. Rows that are left out, or there twice, are no leak.

        The log up to each instant is folded again, and every value is held against it; only `uuid` and `created_at`, of which a log
        says nothing, must be those of a version that the memory believed then. So its time grows with the log and with the number
        of instants between which something was recorded. Raises `InvalidInput` for what is no such frame.
        """
        with self._scope.store.read() as reader:
            return list(leaks(reader, lambda group: self._scope.ontology(reader, group), frame))

    def _version(self, reader: Reader, groups: Sequence[str], fact: FactItem | str) -> FactVersion:
        """The fact version that an item or an id names, the last one of a fact id, as far as it is known at the view's point."""
        if isinstance(fact, str) and (known := self._known(reader, groups, fact)):
            return known[-1]
        named = Named(fact.uuid, Kind.FACT, fact.system.start) if isinstance(fact, FactItem) else Named(fact, Kind.FACT)
        target = locate(reader, named, groups, self._scope.point())
        if target is not None and isinstance(target.item, FactVersion) and target.group in groups:
            version, system = target.item, self._scope.point().system
            if system is None or (version.system.start or FIRST) <= system:
                return version
            known = self._known(reader, (version.group,), version.fact_id)
            of_start = [v for v in known if v.valid.start == version.valid.start]
            if known:
                return (of_start or known)[-1]
        raise NotFound(f"no fact {named.name!r} was believed in {', '.join(groups)} until this point; `facts()` lists them")

    def _known(self, reader: Reader, groups: Sequence[str], fact: str) -> list[FactVersion]:
        """The versions of a fact id believed until the view's point, the last one last, in the first group that has any."""
        stretch = Stretch(None, self._scope.point().system)
        found = (reader.facts_changed(name, stretch, FactMatch(fact_ids=(fact,))) for name in groups)
        return next((versions for versions in found if versions), [])

    def _called(self, reader: Reader, groups: Sequence[str], entity: str) -> str:
        """What an entity is called at the view's point; its id if no group knows it."""
        system = self._scope.point().system
        names = (names_of(reader, name, [entity], system).get(entity) for name in groups)
        return next((name for name in names if name is not None), entity)

    # ------------------------------------------------------------------------------------------ reading arguments

    def _two(self, axis: str, given: object, now: datetime) -> tuple[datetime | None, datetime]:
        if not isinstance(given, tuple | list) or len(given) != 2:
            raise InvalidInput(axis, given, "must be two points, for instance ('2024-04-01', '2024-05-01')")
        since, until = (self._instant(axis, moment) for moment in given)
        until = now if until is None else until
        if since is not None and until <= since:
            raise InvalidInput(axis, given, "the second point must be after the first")
        return since, until

    def _instant(self, argument: str, given: object) -> datetime | None:
        """An instant as given; one of system time is not after that of the view, which knows of nothing later."""
        if given is None:
            return None
        moment, own = read_instant(given, self._scope.zone, argument)[0], self._scope.at.system  # type: ignore[arg-type]
        if argument == "system" and own is not None and moment > own:
            raise InvalidInput(argument, given, f"lies after {own.isoformat()}, the point of this view; ask one of a later point")
        return moment

    def _either(self, reader: Reader, groups: tuple[str, ...], name: str, points: Sequence[datetime | None]) -> tuple[str, ...]:
        """The ids of an entity at any of these system instants; see `_each`."""
        return tuple(sorted(set().union(*self._each(reader, groups, name, points))))

    def _each(self, reader: Reader, groups: tuple[str, ...], name: str, points: Sequence[datetime | None]) -> list[set[str]]:
        """For each of these system instants (None: now) the ids of an entity by its id or name, and of those that were one with it
        then; by the name that it has at another of them where it had none of that name yet.
        """
        text("entity", name)
        own = self._scope.point().system
        versions = (v for g in groups for v in reader.entity_versions(g, [name]))
        by_id = {v.id for v in versions if own is None or (v.system.start or FIRST) <= own}
        called = [{e.id for e in reader.entities(groups, AsOf(None, at), EntityMatch(names=(name,)))} for at in points]
        known = by_id.union(*called) or {e.id for e in self._named(reader, groups, name)}
        kin = [load_kin(reader, g, known) for g in groups]
        found: list[set[str]] = []
        for at, then in zip(points, called, strict=True):
            who = [k.identity_at(at) for k in kin]
            found.append({member for identity in who for e in (by_id | then or known) for member in identity.members(e)})
        return found


def _thing(given: object) -> object:
    """The fact or entity that a line, a hit or a view of an entity is about; anything else as it was given."""
    if isinstance(given, Line):
        return given.thing
    item = getattr(given, "item", None)
    return item if isinstance(item, FactItem | EntityItem) else given


def _require_something(reader: Reader, groups: Sequence[str], system: datetime | None) -> None:
    """Raises `NotFound` if nothing was recorded until that instant."""
    first = [at for g in groups if (at := first_instant(reader, g)) is not None]
    if not first or (system is not None and system < min(first)):
        when = f"; the first entry of its log is of {min(first).isoformat()}" if first else ""
        raise NotFound(f"{', '.join(groups) or 'no group'}: the memory held nothing at that point{when}")


def first_instant(reader: Reader, group: str) -> datetime | None:
    """The system instant of the first entry of a group's log; None for an empty one."""
    entry = next(iter(reader.log(group)), None)
    if entry is None:
        return None
    return created_at(entry)


def _several(at: object) -> Sequence[Instant]:
    instants = [] if isinstance(at, str) or not isinstance(at, Iterable) else list(at)
    if not instants:
        raise InvalidInput("at", at, "must be a list of at least one instant, for instance ['2024-04-01', '2024-05-01']")
    return instants


def _kinds(kind: str | Sequence[str] | None) -> frozenset[str]:
    known = [*OperationKind, "episode"]
    allowed = f"must be among {', '.join(known)}, one or several"
    asked = frozenset(() if kind is None else texts("kind", kind, allowed))
    if unknown := sorted(asked - {*known}):
        raise InvalidInput("kind", unknown[0], allowed)
    return asked


def _passes(entry: LogEntry, kinds: frozenset[str], stretch: Interval | None, system: datetime | None) -> bool:
    at = created_at(entry)
    kind = "episode" if isinstance(entry, EpisodeRecord) else entry.kind.value
    if at is None or (system is not None and at > system) or (stretch is not None and at not in stretch):
        return False
    return kind in kinds if kinds else True


def _holds(line: Line, valid: datetime) -> bool:
    return any(isinstance(i, FactItem) and valid in i.valid for i in (line.before, line.after))


def _of_session(line: Line, sessions: Sequence[str]) -> bool:
    return any(step.cause is not None and step.cause.session in sessions for step in (line, *line.steps))
