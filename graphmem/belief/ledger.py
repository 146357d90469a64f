"""The one writer of beliefs: appends to the log and brings the derived rows in line, as a difference at one instant."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

from graphmem import names
from graphmem.belief.changes import Difference, Moves, describe, describe_entities, describe_episode
from graphmem.belief.entities import EntityState, Hidden, entity_state, named_entities, names_given, namings
from graphmem.belief.fold import fact_id, fold_reading
from graphmem.belief.identity import active_operations, parted
from graphmem.belief.slices import Kin, Slice, deed_of, load_kin, load_slice, operations_on
from graphmem.belief.statements import NAMED
from graphmem.communities import growth, layer
from graphmem.communities.layer import Found
from graphmem.communities.recipe import Build
from graphmem.embed.base import Vectors
from graphmem.entries import group_of, recorded_at
from graphmem.interval import Interval
from graphmem.model import (
    AsOf,
    Assertion,
    Change,
    ChangeKind,
    CitationVersion,
    CommunityVersion,
    EntityMatch,
    EntityVersion,
    Episode,
    EpisodeMatch,
    EpisodeRecord,
    FactMatch,
    FactVersion,
    LogEntry,
    Mention,
    MentionVersion,
    Operation,
    OperationKind,
    Period,
    Warn,
)
from graphmem.ontology import Ontology
from graphmem.runtime import canonical_json, content_uuid
from graphmem.stores.base import Kind, Writer

NOW = AsOf()


@dataclass(frozen=True)
class Indexing:
    """How texts become searchable: words for the text index, pieces to embed for episodes, vectors for both."""

    words: Callable[[str], str]
    episode_words: Callable[[EpisodeRecord], str]
    episode_pieces: Callable[[EpisodeRecord], Sequence[str]]
    embed: Callable[[Sequence[str]], Vectors]


@dataclass(frozen=True)
class Outcome:
    """What a write did to beliefs."""

    changes: tuple[Change, ...] = ()
    warnings: tuple[Warn, ...] = ()

    def after(self, changes: Sequence[Change]) -> Outcome:
        """This outcome, with `changes` before its own."""
        if not changes:
            return self
        return Outcome((*changes, *self.changes), self.warnings)


@dataclass(frozen=True)
class Scope:
    """What an entry of the log may change."""

    assertions: tuple[Assertion, ...]
    episodes: tuple[str, ...] = ()
    entities: frozenset[str] = frozenset()


class Ledger:
    """Writes one entry of the log with its consequences, inside the caller's transaction."""

    def __init__(self, indexing: Indexing, *, tells: bool = True) -> None:
        """`tells`: whether outcomes say what has changed of facts and entities; nobody asks that of a log that is folded again."""
        self._index, self._tells = indexing, tells

    def warm(self, texts: Sequence[str]) -> None:
        """Embed texts that are about to be written, while nobody waits for a lock."""
        if texts:
            self._index.embed(texts)

    def record(self, tx: Writer, entry: LogEntry, ontology: Ontology, found: Found | None = None) -> Outcome:
        """Append `entry` (its `seq` and `created_at` set) and derive what is believed from then on; `found` as in `derive`."""
        if isinstance(entry, EpisodeRecord):
            tx.append_episode(entry)
        else:
            tx.append_operation(entry)
        return self.derive(tx, entry, ontology, found)

    def derive(self, tx: Writer, entry: LogEntry, ontology: Ontology, found: Found | None = None) -> Outcome:
        """Bring the derived rows in line with the log, whose last entry is `entry`.

        `found` are the communities that a build finds, where they were found already.
        """
        if isinstance(entry, EpisodeRecord):
            outcome = self._derive_episode(tx, entry, ontology)
            self._show(tx, [entry], recorded_at(entry))
            return outcome
        if entry.kind is OperationKind.COMMUNITIES:
            return self._derive_communities(tx, entry, found)
        return self._derive_operation(tx, entry, ontology)

    # ------------------------------------------------------------------------------------------ episodes

    def _derive_episode(self, tx: Writer, record: EpisodeRecord, ontology: Ontology) -> Outcome:
        episode, at = record.episode, recorded_at(record)
        if record.links:
            kin = load_kin(tx, episode.group, chain.from_iterable(record.links))
            joined = frozenset(kin.members)
            seeds = {a.id: a for a in tx.assertions(episode.group, entities=sorted(joined))}
        else:
            joined, seeds = frozenset(), {}
        seeds.update((a.id, a) for a in record.assertions)
        kin = load_kin(tx, episode.group, {m.entity for m in record.mentions} | joined)
        if joined:
            entities, shown = self._refold_entities(tx, record, kin, at)
        else:
            entities, shown = self._add_mentions(tx, record, kin, at)
        if not seeds:
            return Outcome(tuple(entities))
        piece = load_slice(tx, episode.group, ontology, list(seeds.values()), record, kin)
        return self._refold(tx, piece, at, record, shown).after(entities)

    def _show(self, tx: Writer, records: Sequence[EpisodeRecord], at: datetime) -> None:
        """Make episodes visible, indexed by words and by pieces."""
        group = records[0].episode.group
        tx.show_episodes(group, [r.episode.id for r in records], at, {r.episode.id: self._index.episode_words(r) for r in records})
        pieces = [(r.episode.id, n, text) for r in records for n, text in enumerate(self._index.episode_pieces(r))]
        known = tx.vectors(Kind.EPISODE, [r.episode.id for r in records]) if len(records) > 1 or not pieces else {}
        pieces = [p for p in pieces if p[0] not in known]
        if pieces:
            vectors = self._index.embed([text for _, _, text in pieces])
            tx.put_vectors(Kind.EPISODE, [owner for owner, _, _ in pieces], [n for _, n, _ in pieces], vectors)

    def _add_mentions(self, tx: Writer, record: EpisodeRecord, kin: Kin, at: datetime) -> tuple[list[Change], dict[str, str]]:
        """The usual case: the episode joins nobody to anybody, so new mentions only add to what is known."""
        group = record.episode.group
        by_entity: dict[str, list[Mention]] = defaultdict(list)
        for mention in record.mentions:
            by_entity[kin.identity.canonical(mention.entity)].append(mention)
        if not by_entity:
            return [], {}
        system = Interval(at)
        added = [MentionVersion(m, entity, system) for entity, rows in by_entity.items() for m in rows]
        tx.change_mentions(group, [], added, at)
        current = {e.id: e for e in tx.entities([group], NOW, EntityMatch(ids=tuple(by_entity)))}
        states: dict[str, EntityState | None] = {}
        acted = any(isinstance(entry, Operation) for entry in kin.entries)
        if acted and any(e not in current for e in by_entity):  # it was there before, and had perhaps been given a name
            return self._refold_entities(tx, record, kin, at)
        disputed = False
        for entity, rows in by_entity.items():
            state = EntityState.of(current[entity]) if entity in current else EntityState(names.clean(rows[0].name))
            disputed |= entity in current and any(state.differs(m) for m in rows)
            for mention in rows:
                state = state.seen(mention)
            states[entity] = state
        if disputed and acted:
            return self._refold_entities(tx, record, kin, at)
        if disputed:
            newest = tx.episodes([group], NOW, None, 1, newest_first=True, bodies=False)
            if newest and newest[0].reference_time > record.episode.reference_time:
                return self._refold_entities(tx, record, kin, at)
        return self._write_entities(tx, record, states, current, at)

    def _write_entities(
        self,
        tx: Writer,
        cause: LogEntry,
        states: Mapping[str, EntityState | None],
        current: Mapping[str, EntityVersion],
        at: datetime,
        moves: Moves | None = None,
    ) -> tuple[list[Change], dict[str, str]]:
        """End entity versions that changed, insert the new ones, index new names; returns who came, who went and who is called
        otherwise, and the name that each one has now.
        """
        group = group_of(cause)
        same = {i for i, v in current.items() if i in states and states[i] == EntityState.of(v)}
        ended = [v.uuid for i, v in current.items() if i in states and i not in same]
        moment, system = at.isoformat(), Interval(at)
        fresh = [
            EntityVersion(content_uuid("entity", i, moment), i, group, s.name, s.type, s.aliases, s.attributes, system)
            for i, s in states.items()
            if s is not None and i not in same
        ]
        moves = moves or Moves()
        changes = describe_entities(current, states, moves, deed_of(tx, group, cause)) if self._tells else []
        if ended:
            tx.end_versions("entity", ended, at)
        if fresh:
            tx.add_entities(fresh, [self._index.words(" ".join((v.name, *v.aliases))) for v in fresh])
        if gone := {i: moves.into.get(i) for i in current if i in states and states[i] is None}:
            layer.release(tx, group, gone, at)
        shown = {i: s.name for i, s in states.items() if s is not None}
        named = [
            (v.id, n, name) for v in fresh for n, name in enumerate((v.name, *v.aliases)) if not _known_name(current.get(v.id), n, name)
        ]
        if named:
            vectors = self._index.embed([name for _, _, name in named])
            tx.put_vectors(Kind.ENTITY, [i for i, _, _ in named], [n for _, n, _ in named], vectors)
        return changes, shown

    # ------------------------------------------------------------------------------------------ operations

    def _derive_operation(self, tx: Writer, operation: Operation, ontology: Ontology) -> Outcome:
        group, at = operation.group, recorded_at(operation)
        scope = self._scope(tx, operation)
        seen = self._visibility(tx, group, scope.episodes, at)
        kin = load_kin(tx, group, scope.entities)
        entities, shown = self._refold_entities(tx, operation, kin, at)
        changes = (*seen, *entities)
        if not scope.assertions:
            return Outcome(changes)
        return self._refold(tx, load_slice(tx, group, ontology, scope.assertions), at, operation, shown).after(changes)

    def _derive_communities(self, tx: Writer, operation: Operation, found: Found | None) -> Outcome:
        built = Build.of(operation.values)

        def since() -> set[str]:
            """The entities that were spoken of after what the build has seen."""
            named: set[str] = set()
            for entry in tx.log(operation.group, built.seen.seq) if operation.seq > built.seen.seq + 1 else ():
                if entry.seq >= operation.seq:
                    break
                if isinstance(entry, EpisodeRecord):
                    named.update(m.entity for m in entry.mentions)
                elif entry.kind is not OperationKind.COMMUNITIES:
                    scope = self._scope(tx, entry)
                    named |= scope.entities | {e for a in scope.assertions for e in (a.source, a.target)}
            return set(load_kin(tx, operation.group, named).members) if named else set()

        self._index_unindexed(tx, operation.group)
        changes = growth.build(tx, operation.group, recorded_at(operation), built, found, since, self._index_communities)
        return Outcome(changes)

    def _index_communities(self, tx: Writer, versions: Sequence[CommunityVersion]) -> None:
        """Names and summaries, by words and by one vector each."""
        texts = [v.text for v in versions]
        tx.index_communities(versions[0].group, {v.uuid: self._index.words(text) for v, text in zip(versions, texts, strict=True)})
        tx.put_vectors(Kind.COMMUNITY, [v.uuid for v in versions], [0] * len(versions), self._index.embed(texts))

    def _index_unindexed(self, tx: Writer, group: str) -> None:
        """What an earlier release built."""
        held = tx.communities([group], NOW)
        known = tx.words(Kind.COMMUNITY, [v.uuid for v in held])
        if missing := [v for v in held if v.uuid not in known]:
            self._index_communities(tx, missing)

    def _scope(self, tx: Writer, operation: Operation) -> Scope:
        """Everything the operation names, also through the operations it restores."""
        group = operation.group
        if operation.kind is OperationKind.ONTOLOGY:
            if operation.seq == 1:  # most groups get theirs before anything is said
                return Scope(())
            every = [e for e in tx.log(group) if isinstance(e, EpisodeRecord)]
            return Scope(tuple(a for e in every for a in e.assertions))
        operations, named, todo = {operation.id: operation}, set(operation.targets), list(operation.targets)
        while todo:
            more = [o for o in tx.operations(group, ids=todo) if o.id not in operations]
            operations.update((o.id, o) for o in more)
            todo = [t for o in more for t in o.targets]
            named |= set(todo)
        records = tx.records(group, sorted(named))
        assertions = {a.id: a for r in records for a in r.assertions}
        assertions.update((a.id, a) for a in tx.assertions(group, ids=sorted(named)))
        entities = {m.entity for r in records for m in r.mentions}
        linked = set(chain.from_iterable(link for r in records for link in r.links))
        for o in operations.values():
            if o.kind in (OperationKind.MERGE, OperationKind.DISTINCT):
                linked |= set(o.targets)
            elif o.kind is OperationKind.SPLIT:
                linked |= {*parted(o)[0], str(o.values["entity"])}
            elif o.kind in (OperationKind.RENAME, OperationKind.ALIAS):
                linked.add(o.targets[0])
            entities.update(named_entities(o))
        if assertions and operation.kind in (OperationKind.FORGET, OperationKind.RESTORE, OperationKind.CORRECT):
            ends = load_kin(tx, group, {end for a in assertions.values() for end in (a.source, a.target)}).members
            entities.update(e for o in tx.operations(group, targets=sorted({*assertions, *ends})) for e in named_entities(o))
        if linked:
            linked = load_kin(tx, group, linked).members
            assertions.update((a.id, a) for a in tx.assertions(group, entities=sorted(linked)))
        return Scope(tuple(assertions.values()), tuple(r.episode.id for r in records), frozenset(entities | linked))

    def _visibility(self, tx: Writer, group: str, episodes: Sequence[str], at: datetime) -> list[Change]:
        """Show or hide episodes as the forgets and restores of the log now say."""
        if not episodes:
            return []
        hidden = _hidden(tx, group, episodes)
        shown = {e.id for e in tx.episodes([group], NOW, _ids(episodes), bodies=False)}
        gone = [e for e in episodes if e in hidden and e in shown]
        back = [e for e in episodes if e not in hidden and e not in shown]
        changes: list[Change] = []
        if gone:
            changes += [describe_episode(ChangeKind.FORGOTTEN, e) for e in tx.episodes([group], NOW, _ids(gone))]
            tx.hide_episodes(group, gone, at)
        if back:
            records = tx.records(group, back)
            changes += [describe_episode(ChangeKind.RESTORED, r.episode) for r in records]
            self._show(tx, records, at)
        return changes

    def _refold_entities(self, tx: Writer, cause: LogEntry, kin: Kin, at: datetime) -> tuple[list[Change], dict[str, str]]:
        """Fold entities again from all their mentions: after a merge, a split, a forget, a restore."""
        if not kin.members:
            return [], {}
        group = group_of(cause)
        members = sorted(kin.members)
        mentions = tx.mention_records(group, members)
        hidden, named, heads = _shown(tx, group, kin, mentions)
        live: dict[str, list[Mention]] = defaultdict(list)
        for mention in filter(hidden.shows, mentions):
            live[kin.identity.canonical(kin.identity.at(mention.entity, mention.episode))].append(mention)
        wanted = {(m.episode, m.position): (m, entity) for entity, rows in live.items() for m in rows}
        for mention in named:
            live[kin.identity.canonical(mention.entity)].append(mention)
        for told in live.values() if named else ():
            told.sort(key=lambda m: heads[m.episode].seq)
        open_now = {(v.mention.episode, v.mention.position): v for v in tx.mentions([group], NOW, entities=members)}
        ended = [v for k, v in open_now.items() if k not in wanted or wanted[k][1] != v.entity]
        added = [MentionVersion(m, e, Interval(at)) for k, (m, e) in wanted.items() if k not in open_now or open_now[k].entity != e]
        if ended or added:
            tx.change_mentions(group, ended, added, at)
        given = names_given(kin.entries, kin.identity)
        current = {e.id: e for e in tx.entities([group], NOW, EntityMatch(ids=tuple(members)))}
        states = {e: entity_state(live.get(e, ()), heads, given.get(e, ())) for e in sorted({*members, *live})}
        moved = [(v.entity, wanted[k][1]) for k, v in sorted(open_now.items()) if k in wanted and wanted[k][1] != v.entity]
        return self._write_entities(tx, cause, states, current, at, Moves.of(moved))

    # ------------------------------------------------------------------------------------------ facts

    def _refold(self, tx: Writer, piece: Slice, at: datetime, cause: LogEntry, shown: Mapping[str, str]) -> Outcome:
        """Fold the slice, compare with what is believed, and write the difference; `shown` are names of entities."""
        assert piece.reading is not None
        group = piece.group
        now = piece.now()
        changed = {a: pair for a, pair in now.items() if a not in piece.was or piece.was[a] != (pair[0] if pair else None)}
        if changed:
            tx.set_keys(group, changed)
        folded = fold_reading(piece.reading)
        # A fact that no assertion spoke of before has neither versions nor citations.
        facts = tuple(sorted({f for f in piece.was.values() if f}))
        before = tx.facts([group], NOW, FactMatch(fact_ids=facts)) if facts else []
        wanted = [version_of(group, p, at) for p in folded.periods]
        ended, added = _difference(before, wanted)
        if ended:
            tx.end_versions("fact", [v.uuid for v in ended], at)
        if added:
            self._insert(tx, added, {(v.fact_id, v.text): v.uuid for v in before}, shown)
        uncited, cited = self._cite(tx, group, facts, folded.periods, at)
        growth.grow(tx, group, at, growth.Step(ended, wanted, cited), self._index_communities)
        own = {a.id for a in cause.assertions} if isinstance(cause, EpisodeRecord) else {cause.id}
        warnings = tuple(w for w in folded.warnings if w.raw in own)
        if not self._tells:
            return Outcome((), warnings)
        difference = Difference(ended, added, cited, wanted, piece.reading.identity, uncited)
        return Outcome(describe(difference, deed_of(tx, group, cause)), warnings)

    def _insert(
        self, tx: Writer, versions: Sequence[FactVersion], embedded: Mapping[tuple[str, str], str], shown: Mapping[str, str]
    ) -> None:
        """Insert fact versions with their words; a sentence that is `embedded` for its fact already keeps its vector."""
        others = tuple({e for v in versions for e in (v.source, v.target) if e not in shown})
        if others:
            shown = {**shown, **{e.id: e.name for e in tx.entities([versions[0].group], NOW, EntityMatch(ids=others))}}
        words = [
            self._index.words(" ".join((v.text, shown.get(v.source, ""), v.relation.replace("_", " "), shown.get(v.target, ""))))
            for v in versions
        ]
        tx.add_facts(versions, words)
        tx.copy_vectors(Kind.FACT, [(embedded[v.fact_id, v.text], v.uuid) for v in versions if (v.fact_id, v.text) in embedded])
        fresh = [v for v in versions if (v.fact_id, v.text) not in embedded]
        if fresh:
            vectors = self._index.embed([v.text or v.relation for v in fresh])
            tx.put_vectors(Kind.FACT, [v.uuid for v in fresh], [0] * len(fresh), vectors)

    def _cite(
        self, tx: Writer, group: str, facts: Sequence[str], periods: Sequence[Period], at: datetime
    ) -> tuple[list[CitationVersion], list[CitationVersion]]:
        """Bring citations in line; returns those ended and those added."""
        open_now = tx.citations([group], NOW, facts=facts) if facts else []
        have = {(c.fact_id, c.valid_at, c.episode, c.by): c for c in open_now}
        want = dict.fromkeys((fact_id(group, p.key), p.valid.start, c.episode, c.by) for p in periods for c in p.citations)
        ended = [c for k, c in have.items() if k not in want]
        system = Interval(at)
        added = [CitationVersion(*k, system) for k in want if k not in have]
        if ended or added:
            tx.change_citations(group, ended, added, at)
        return ended, added


def _difference(before: Sequence[FactVersion], wanted: Sequence[FactVersion]) -> tuple[list[FactVersion], list[FactVersion]]:
    """Which versions end, and which begin."""
    if not before:
        return [], list(wanted)
    now, then = {content_of(v) for v in wanted}, {content_of(v) for v in before}
    return [v for v in before if content_of(v) not in now], [v for v in wanted if content_of(v) not in then]


def version_of(group: str, period: Period, at: datetime) -> FactVersion:
    """A period as a version believed from `at` on."""
    identity = fact_id(group, period.key)
    start = period.valid.start
    return FactVersion(
        uuid=content_uuid("fact", identity, start.isoformat() if start else "", at.isoformat()),
        fact_id=identity,
        group=group,
        relation=period.key.relation,
        source=period.source,
        target=period.target,
        text=period.text,
        valid=period.valid,
        system=Interval(at),
        start=period.start,
        end=period.end,
        attributes=period.attributes,
    )


def content_of(version: FactVersion) -> tuple[object, ...]:
    """What makes two versions the same belief."""
    attributes = canonical_json(_jsonable(version.attributes)) if version.attributes else ""
    return (version.fact_id, version.source, version.target, version.text, version.valid, version.start, version.end, attributes)


def _jsonable(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(k): _jsonable(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_jsonable(v) for v in value]
    return value if value is None or isinstance(value, (str, int, float, bool)) else repr(value)


def _known_name(version: EntityVersion | None, position: int, name: str) -> bool:
    """Whether this name was embedded at this position already."""
    names = (version.name, *version.aliases) if version is not None else ()
    return position < len(names) and names[position] == name


def _shown(tx: Writer, group: str, kin: Kin, mentions: Sequence[Mention]) -> tuple[Hidden, list[Mention], dict[str, Episode]]:
    """What is forgotten of these mentions, what corrections say of the same entities, and the episodes of both."""
    operations = {o.id: o for o in kin.entries if isinstance(o, Operation)}
    corrected = sorted({t for o in operations.values() if NAMED in o.values for t in o.targets})
    assertions = {a.id: a for a in tx.assertions(group, ids=corrected)} if corrected else {}
    episodes = sorted({m.episode for m in mentions})
    listed = Hidden(operations.values(), kin.identity).mentions
    if speaking := sorted({m.episode for m in mentions if (m.episode, m.position) in listed}):
        assertions.update((a.id, a) for a in tx.assertions(group, episodes=speaking))
    operations_on(tx, group, [*episodes, *assertions, *sorted({a.episode for a in assertions.values()})], operations)
    active = active_operations(operations.values())
    hidden = Hidden(active, kin.identity).reading(assertions.values())
    named, own = namings(active, assertions, hidden)
    return hidden, [m for m in named if m.entity in kin.members], {e.id: e for e in tx.heads(group, episodes)} | own


def _hidden(tx: Writer, group: str, episodes: Sequence[str]) -> set[str]:
    """Which of these episodes are forgotten now."""
    operations: dict[str, Operation] = {}
    operations_on(tx, group, episodes, operations)
    active = active_operations(sorted(operations.values(), key=lambda o: o.seq))
    return {t for o in active if o.kind is OperationKind.FORGET for t in o.targets}.intersection(episodes)


def _ids(episodes: Sequence[str]) -> EpisodeMatch:
    return EpisodeMatch(ids=tuple(episodes))
