"""The rows around some entries of a log, held in memory while these are folded: read in bulk before, written in bulk after.

A `WorkingSet` stands in front of a transaction. It answers what recording an episode asks, from what it has read ahead and from
what it has gathered itself; what it has not read it asks the transaction for, key by key. Anything else that is asked or
written, a merge, a search, a layer of communities, goes to the transaction itself, once what was gathered is written.
So a reader of it sees at every moment what a reader of the transaction would, had each row been written at once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Generic, TypeVar, cast

from graphmem import names
from graphmem.belief.fold import fact_id
from graphmem.belief.gathered import Gathered
from graphmem.embed.base import Vectors
from graphmem.interval import FIRST
from graphmem.model import (
    AsOf,
    Assertion,
    CitationVersion,
    EntityMatch,
    EntityVersion,
    Episode,
    EpisodeMatch,
    EpisodeRecord,
    FactKey,
    FactMatch,
    FactVersion,
    Head,
    MentionVersion,
    Operation,
)
from graphmem.ontology import Ontology
from graphmem.stores.base import Kind, Writer
from graphmem.stores.codec import decode_mapping, encode_mapping

NOW = AsOf()
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
_Slot = tuple[str, str, str]


class Held(Generic[K, V]):
    """Rows by key: those that the store has, and those that it will have.

    >>> held = Held[str, int](lambda keys: [("a", 1)])
    >>> held.of("a").append(2)
    >>> held.rows(["a", "b"])
    [1, 2]
    """

    def __init__(self, fetch: Callable[[list[K]], Iterable[tuple[K, V]]]) -> None:
        self._fetch = fetch
        self._rows: dict[K, list[V]] = {}

    def expect(self, keys: Iterable[K]) -> None:
        """Read the rows of those keys that are not held."""
        fresh: dict[K, list[V]] = {key: [] for key in keys if key not in self._rows}
        if fresh:
            for key, row in self._fetch(list(fresh)):
                if key in fresh:
                    fresh[key].append(row)
            self._rows.update(fresh)

    def of(self, key: K) -> list[V]:
        """The rows of a key, to be changed as the store will be."""
        try:
            return self._rows[key]
        except KeyError:
            self.expect([key])
            return self._rows[key]

    def rows(self, keys: Iterable[K]) -> list[V]:
        """The rows of all these keys."""
        wanted, held = dict.fromkeys(keys), self._rows
        if not wanted.keys() <= held.keys():
            self.expect(wanted)
        return [row for key in wanted for row in held[key]]

    def put(self, key: K, rows: list[V]) -> None:
        """All rows of a key."""
        self._rows[key] = rows

    def __contains__(self, key: K) -> bool:
        return key in self._rows


class WorkingSet:
    """A writer of one group in front of another one, whose transaction it belongs to."""

    def __init__(self, tx: Writer, group: str) -> None:
        self._tx, self._group = tx, group
        self._forget()

    @property
    def writer(self) -> Writer:
        """This, as the writer that it is."""
        return cast(Writer, self)

    def _forget(self) -> None:
        """Know nothing, and have nothing to write."""
        tx, group = self._tx, self._group
        self._gathered = Gathered()
        self._keyed: dict[str, str] = {}  # of held versions: uuid → the key they are held by
        self._fact_vectors: dict[str, Any] = {}
        self._newest: list[Episode] | None = None
        self._entities = Held[str, EntityVersion](self._fetch_entities)
        self._believed = Held[str, FactVersion](self._fetch_believed)
        self._cited = Held[str, CitationVersion](lambda f: ((c.fact_id, c) for c in tx.citations([group], NOW, facts=f)))
        self._heads = Held[str, Episode](lambda ids: ((e.id, e) for e in tx.heads(group, ids)))
        self._spoken = Held[str, str | None](lambda ids: tx.fact_ids(group, ids).items())
        self._assertions = Held[str, Assertion](lambda ids: ((a.id, a) for a in tx.assertions(group, ids=ids)))
        self._told = Held[str, Assertion](self._fetch_told)
        self._deciding = Held[str, Assertion](lambda ids: ((named, a) for a in tx.assertions(group, deciding=ids) for named in a.decided))
        self._keys = Held[str, FactKey](lambda facts: {**tx.keys(group, facts=facts), **self._gathered_keys()}.items())
        self._slots = Held[_Slot, tuple[str, FactKey]](self._fetch_slots)
        self._links = Held[str, tuple[str, str, str]](lambda e: ((end, row) for row in tx.links(group, e) for end in row[1:]))
        self._operations = Held[str, Operation](lambda t: ((n, o) for o in tx.operations(group, targets=t) for n in o.targets))

    def settle(self) -> None:
        """Write what is gathered, and hold nothing any more."""
        gathered = self._gathered
        self._forget()
        gathered.write(self._tx, self._group)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Everything that is not held here: the transaction's own, once it has what was gathered."""
        if name.startswith("_"):
            raise AttributeError(name)

        def settled(*args: Any, **more: Any) -> Any:
            self.settle()
            return getattr(self._tx, name)(*args, **more)

        return settled

    # ------------------------------------------------------------------------------------------ reading ahead

    def read_ahead(self, records: Sequence[EpisodeRecord], ontology: Ontology) -> None:
        """Read what recording these episodes will ask for, as far as it can be told from them and from what is read."""
        said = [a for r in records for a in r.assertions]
        named = {m.entity for r in records for m in r.mentions} | {end for a in said for end in (a.source, a.target)}
        self._entities.expect(named)
        self._links.expect(named)
        keys = {FactKey(*ontology.triple(a.relation, a.source, a.target)) for a in said if a.source != a.target}
        slots = {slot for key in keys for slot in ontology.slots(key)}
        facts = {fact_id(self._group, key) for key in keys} | {fact for fact, _ in self._slots.rows(slots)}
        known = self._told.rows(facts)
        self._assertions.expect({i for a in said for i in a.decided})
        self._heads.expect({a.episode for a in known})
        self._deciding.expect([a.id for a in (*known, *said)])
        about = {*named, *(i for a in (*known, *said) for i in (a.id, a.episode)), *(r.episode.id for r in records)}
        self._operations.expect(about)
        self._believed.expect(facts)
        self._cited.expect(facts)

    def _fetch_entities(self, ids: list[str]) -> Iterator[tuple[str, EntityVersion]]:
        for version in self._tx.entities([self._group], NOW, EntityMatch(ids=tuple(ids))):
            self._keyed[version.uuid] = version.id
            yield version.id, version

    def _fetch_believed(self, facts: list[str]) -> Iterator[tuple[str, FactVersion]]:
        for version in self._tx.facts([self._group], NOW, FactMatch(fact_ids=tuple(facts))):
            self._keyed[version.uuid] = version.fact_id
            yield version.fact_id, version

    def _fetch_told(self, facts: list[str]) -> Iterator[tuple[str, Assertion]]:
        found = self._tx.assertions(self._group, facts=facts)
        spoken = self._tx.fact_ids(self._group, [a.id for a in found])
        for assertion in found:
            fact = spoken[assertion.id]
            assert fact is not None
            self._assertions.put(assertion.id, [assertion])
            self._spoken.put(assertion.id, [fact])
            yield fact, assertion

    def _fetch_slots(self, slots: list[_Slot]) -> Iterator[tuple[_Slot, tuple[str, FactKey]]]:
        for fact, key in {**self._tx.keys(self._group, slots=slots), **self._gathered_keys()}.items():
            for slot in _slots_of(key):
                yield slot, (fact, key)

    def _gathered_keys(self) -> dict[str, FactKey]:
        return dict(pair for pair in self._gathered.keys.values() if pair is not None)

    # ------------------------------------------------------------------------------------------ what is read

    def head(self, group: str) -> Head:
        """As `Reader.head`."""
        if not self._gathered.records:
            return self._tx.head(group)
        last = next(reversed(self._gathered.records.values())).episode
        return Head(last.seq, last.created_at)

    def meta(self, name: str) -> str | None:
        """As `Reader.meta`."""
        return self._tx.meta(name)

    def heads(self, group: str, episodes: Sequence[str]) -> list[Episode]:
        """As `Reader.heads`."""
        return sorted(self._heads.rows(episodes), key=lambda e: e.seq)

    def operations(self, group: str, *, ids: Sequence[str] | None = None, targets: Sequence[str] | None = None) -> list[Operation]:
        """As `Reader.operations`."""
        if ids is not None or targets is None:
            self.settle()
            return self._tx.operations(group, ids=ids, targets=targets)
        return sorted({o.id: o for o in self._operations.rows(targets)}.values(), key=lambda o: o.seq)

    def links(self, group: str, entities: Sequence[str]) -> list[tuple[str, str, str]]:
        """As `Reader.links`; none is gathered."""
        return self._tx.links(group, entities) if self._links.rows(entities) else []

    def assertions(
        self,
        group: str,
        *,
        ids: Sequence[str] | None = None,
        facts: Sequence[str] | None = None,
        episodes: Sequence[str] | None = None,
        entities: Sequence[str] | None = None,
        deciding: Sequence[str] | None = None,
    ) -> list[Assertion]:
        """As `Reader.assertions`."""
        for held, keys in ((self._assertions, ids), (self._told, facts), (self._deciding, deciding)):
            if keys is not None:
                found = {a.id: a for a in held.rows(keys)}.values()
                if len(found) < 2:
                    return list(found)
                told = {e.id: e.seq for e in self._heads.rows(a.episode for a in found)}
                return sorted(found, key=lambda a: (told[a.episode], a.position))
        self.settle()
        return self._tx.assertions(group, episodes=episodes, entities=entities)

    def keys(self, group: str, *, facts: Sequence[str] | None = None, slots: Sequence[_Slot] | None = None) -> dict[str, FactKey]:
        """As `Reader.keys`."""
        found = {f: key for f in facts or () for key in self._keys.of(f)}
        return found | dict(self._slots.rows(slots or ()))

    def fact_ids(self, group: str, assertions: Sequence[str]) -> dict[str, str | None]:
        """As `Reader.fact_ids`."""
        self._spoken.expect(assertions)
        return {a: fact for a in assertions for fact in self._spoken.of(a)}

    def entities(self, groups: Sequence[str], at: AsOf, match: EntityMatch | None = None, limit: int | None = None) -> list[EntityVersion]:
        """As `Reader.entities`; by their ids alone as they are held."""
        if match is None or match.ids is None or at != NOW or limit is not None or match != EntityMatch(ids=match.ids):
            self.settle()
            return self._tx.entities(groups, at, match, limit)
        return sorted(self._entities.rows(match.ids), key=lambda v: (names.key(v.name), v.id))

    def facts(self, groups: Sequence[str], at: AsOf, match: FactMatch | None = None, limit: int | None = None) -> list[FactVersion]:
        """As `Reader.facts`; by fact ids alone as they are held."""
        if match is None or match.fact_ids is None or at != NOW or limit is not None or match != FactMatch(fact_ids=match.fact_ids):
            self.settle()
            return self._tx.facts(groups, at, match, limit)
        return sorted(self._believed.rows(match.fact_ids), key=_in_time)

    def citations(
        self, groups: Sequence[str], at: AsOf, *, facts: Sequence[str] | None = None, episodes: Sequence[str] | None = None
    ) -> list[CitationVersion]:
        """As `Reader.citations`."""
        if facts is None or at != NOW:
            self.settle()
            return self._tx.citations(groups, at, facts=facts, episodes=episodes)
        return sorted(self._cited.rows(facts), key=lambda c: (c.fact_id, c.valid_at or FIRST, c.episode, c.by))

    def episodes(
        self,
        groups: Sequence[str],
        at: AsOf,
        match: EpisodeMatch | None = None,
        limit: int | None = None,
        *,
        newest_first: bool = False,
        bodies: bool = True,
    ) -> list[Episode]:
        """As `Reader.episodes`; the newest one without its body is held."""
        if at != NOW or match is not None or limit != 1 or not newest_first or bodies:
            self.settle()
            return self._tx.episodes(groups, at, match, limit, newest_first=newest_first, bodies=bodies)
        if self._newest is None:
            self._newest = self._tx.episodes(groups, at, None, 1, newest_first=True, bodies=False)
        shown = [e for i in self._gathered.shown for e in self._heads.of(i)]
        return sorted([*self._newest, *shown], key=lambda e: (e.reference_time, e.seq))[-1:]

    def vectors(self, kind: Kind, owners: Sequence[str]) -> dict[str, Vectors]:
        """As `Reader.vectors`; an episode that is only gathered has none before it is shown."""
        if kind is Kind.EPISODE and all(o in self._gathered.records for o in owners) and not self._gathered.vectors.get(kind):
            return {}
        self.settle()
        return self._tx.vectors(kind, owners)

    # ------------------------------------------------------------------------------------------ what is written

    def append_episode(self, record: EpisodeRecord) -> None:
        """As `Writer.append_episode`; one with links goes to the store at once."""
        if record.links:
            self.settle()
            self._tx.append_episode(record)
            return
        episode = record.episode
        self._gathered.records[episode.id] = record
        self._heads.put(episode.id, [replace(episode, body="")])
        for assertion in record.assertions:
            self._assertions.put(assertion.id, [assertion])
            self._spoken.put(assertion.id, [])
            for named in assertion.decided:
                self._deciding.of(named).append(assertion)

    def set_keys(self, group: str, keys: Mapping[str, tuple[str, FactKey] | None]) -> None:
        """As `Writer.set_keys`; what spoke of another fact goes to the store at once."""
        if self._spoken.rows(keys):
            self.settle()
            self._tx.set_keys(group, keys)
            return
        for assertion, pair in keys.items():
            self._spoken.put(assertion, [None if pair is None else pair[0]])
            if pair is not None:
                self._told.of(pair[0]).extend(self._assertions.of(assertion))
                self._key(*pair)
        self._gathered.keys.update(keys)

    def _key(self, fact: str, key: FactKey) -> None:
        """Add a key to those that are held; those that will be are read with what is gathered."""
        if fact in self._keys and not self._keys.of(fact):
            self._keys.of(fact).append(key)
        for slot in _slots_of(key):
            if slot in self._slots and (fact, key) not in self._slots.of(slot):
                self._slots.of(slot).append((fact, key))

    def end_versions(self, kind: str, uuids: Sequence[str], at: datetime) -> None:
        """As `Writer.end_versions`."""
        if any(uuid not in self._keyed for uuid in uuids):
            self.settle()
            self._tx.end_versions(kind, uuids, at)
            return
        held: Held[str, Any] = self._believed if kind == "fact" else self._entities
        for uuid in uuids:
            key = self._keyed.pop(uuid)
            held.put(key, [v for v in held.of(key) if v.uuid != uuid])
        self._gathered.ended.append((kind, uuids, at))

    def add_facts(self, versions: Sequence[FactVersion], words: Sequence[str]) -> None:
        """As `Writer.add_facts`."""
        for version in versions:
            self._believed.of(version.fact_id).append(_as_kept(version))
            self._keyed[version.uuid] = version.fact_id
        self._gathered.facts += versions
        self._gathered.fact_words += words

    def add_entities(self, versions: Sequence[EntityVersion], words: Sequence[str]) -> None:
        """As `Writer.add_entities`."""
        for version in versions:
            self._entities.of(version.id).append(_as_kept(version))
            self._keyed[version.uuid] = version.id
        self._gathered.entities += versions
        self._gathered.entity_words += words

    def change_citations(self, group: str, ended: Sequence[CitationVersion], added: Sequence[CitationVersion], at: datetime) -> None:
        """As `Writer.change_citations`."""
        gone = {_cited(c) for c in ended}
        for fact in {c.fact_id for c in ended}:
            self._cited.put(fact, [c for c in self._cited.of(fact) if _cited(c) not in gone])
        for citation in added:
            self._cited.of(citation.fact_id).append(citation)
        self._gathered.citations.append((at, ended, added))

    def change_mentions(self, group: str, ended: Sequence[MentionVersion], added: Sequence[MentionVersion], at: datetime) -> None:
        """As `Writer.change_mentions`; where some end, the store's at once."""
        if ended:
            self.settle()
            self._tx.change_mentions(group, ended, added, at)
        else:
            self._gathered.mentions.append((at, added))

    def show_episodes(self, group: str, episodes: Sequence[str], at: datetime, words: Mapping[str, str]) -> None:
        """As `Writer.show_episodes`."""
        self._gathered.shown.update(dict.fromkeys(episodes, at))
        self._gathered.episode_words.update(words)

    def put_vectors(self, kind: Kind, owners: Sequence[str], pieces: Sequence[int], vectors: Vectors) -> None:
        """As `Writer.put_vectors`."""
        if len(owners):
            self._gathered.vectors[kind].append((owners, pieces, vectors))
            if kind is Kind.FACT:
                self._fact_vectors.update(zip(owners, vectors, strict=True))

    def copy_vectors(self, kind: Kind, pairs: Iterable[tuple[str, str]]) -> None:
        """As `Writer.copy_vectors`."""
        pairs = list(pairs)
        if kind is not Kind.FACT:
            self.settle()
            self._tx.copy_vectors(kind, pairs)
            return
        for old, new in pairs:
            if old in self._fact_vectors:
                self.put_vectors(kind, [new], [0], self._fact_vectors[old][None])
            else:
                self._gathered.copies[new] = self._gathered.copies.get(old, old)  # itself perhaps only a copy to be


_Version = TypeVar("_Version", FactVersion, EntityVersion)


def _as_kept(version: _Version) -> _Version:
    """A version as a store gives it back."""
    return replace(version, attributes=decode_mapping(encode_mapping(version.attributes))) if version.attributes else version


def _slots_of(key: FactKey) -> tuple[_Slot, ...]:
    """The slots, of an ontology that has such, in which a fact of this key would be found."""
    one, other = (key.relation, key.source), (key.relation, key.target)
    return (("source", *one), ("target", *other), ("either", *one), ("either", *other))


def _cited(citation: CitationVersion) -> tuple[object, ...]:
    return (citation.fact_id, citation.valid_at, citation.episode, citation.by)


def _in_time(version: FactVersion) -> tuple[bool, datetime, datetime, str]:
    start = version.valid.start
    return (start is not None, start or FIRST, version.system.start or FIRST, version.uuid)
