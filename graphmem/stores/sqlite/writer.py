"""Writes: one transaction's changes to the log, the versions and the indexes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import cast

import numpy as np

from graphmem.embed.base import Vectors
from graphmem.errors import StoreError
from graphmem.model import (
    CitationVersion,
    CommunityVersion,
    EntityVersion,
    EpisodeRecord,
    FactKey,
    FactVersion,
    Head,
    MemberVersion,
    MentionVersion,
    Operation,
)
from graphmem.stores.base import Kind
from graphmem.stores.codec import OPEN_END, encode, encode_mapping, raw_text, safe_text, start_micros, to_micros
from graphmem.stores.matching import name_keys
from graphmem.stores.sqlite import communities, rows
from graphmem.stores.sqlite.cleaning import CLEANING
from graphmem.stores.sqlite.kept import Kept, ordered
from graphmem.stores.sqlite.reader import SqliteReader
from graphmem.stores.sqlite.search import Shared
from graphmem.stores.sqlite.session import Session, id_list, row_list
from graphmem.stores.sqlite.tokens import tokens
from graphmem.stores.vectors import quantised

_CLEARED = ("facts", "keys", "citations", "communities", "members", "names", "entity_versions", "entities", "mentions", "visible")
_INDEXED = ((Kind.FACT, "facts"), (Kind.ENTITY, "entities"), (Kind.EPISODE, "episodes"), (Kind.COMMUNITY, "communities"))
_ERASED = ("keys", "decisions", "assertions", "links", "mention_versions", "mentions", "visible", "episodes")


class SqliteWriter(SqliteReader):
    """A transaction that holds the file's write lock."""

    def __init__(self, session: Session, shared: Shared, group: str) -> None:
        super().__init__(session, shared)
        self._name = group
        self._row: int | None = None
        self._change: int | None = None
        self._new_epoch = False
        self._forget_rows()
        # Only while a memory is re-embedded are there staged vectors, which then have to follow what changes.
        self._staging: bool | None = None

    @property
    def erased(self) -> bool:
        """Whether content was removed, which should not stay in free pages."""
        return self._new_epoch

    @property
    def commit(self) -> int | None:
        """The number of this commit, once something is written."""
        return self._change

    def _committed(self) -> bool:
        return self._change is None

    def _begin(self, group: str) -> int:
        """The row number of this transaction's group; counts the commit when it first writes."""
        if group != self._name:
            raise StoreError(f"group {group!r} is not the one this transaction writes to ({self._name!r})")
        if self._row is None:
            self._changed()
            if not self._group_row(group):
                self.session.run("add_group", name=safe_text(group))
            self._row = self._group_row(group)
        return self._row

    def _changed(self) -> int:
        """The number of this commit."""
        if self._change is None:
            self._change = self._snapshot()[0] + 1
            self.session.run("advance_change")
            self._state = None
        return self._change

    def _removed(self) -> None:
        self._forget_rows()
        self._mine = None
        if not self._new_epoch:
            self._new_epoch = True
            self.session.run("advance_epoch")
            self._state = None

    # -- row numbers

    def _forget_rows(self) -> None:
        self._numbers: dict[Kind, dict[str, int]] = {kind: {} for kind in Kind}
        # Rows of this transaction that nothing is indexed for yet, so that nothing is to be replaced.
        self._wordless: set[tuple[Kind, int]] = set()
        self._vectorless: set[tuple[Kind, int]] = set()

    def _owners(self, kind: Kind, ids: Sequence[str]) -> dict[str, int]:
        """As a reader's; a row keeps its number until rows are removed."""
        known = self._numbers[kind]
        known.update(super()._owners(kind, [i for i in ids if i not in known]))
        return {i: known[i] for i in ids if i in known}

    def _insert(self, kind: Kind, statement: str, ids: Sequence[str], params: Sequence[rows.Values]) -> None:
        """Insert rows that words and vectors will belong to."""
        numbers = self.session.inserted(statement, params)
        self._numbers[kind].update(zip(ids, numbers, strict=True))
        fresh = [(kind, n) for n in numbers]
        self._wordless.update(fresh)
        self._vectorless.update(fresh)

    # -- the log

    def append_episode(self, record: EpisodeRecord) -> None:
        self.append_episodes([record])

    def append_episodes(self, records: Sequence[EpisodeRecord]) -> None:
        if not records:
            return
        grp = max(self._begin(group) for group in {r.episode.group for r in records})
        ids = [r.episode.id for r in records]
        self._insert(Kind.EPISODE, "add_episode", ids, [rows.episode_params(r, grp) for r in records])
        placed = [(self._numbers[Kind.EPISODE][r.episode.id], r) for r in records]
        self.session.many("add_assertion", [rows.assertion_params(a, n) for n, r in placed for a in r.assertions])
        decided = [(named, a.id) for r in records for a in r.assertions for named in a.decided]
        self.session.many("add_decision", [(safe_text(i), safe_text(a)) for i, a in decided])
        self.session.many("add_mention", [rows.mention_params(m, n) for n, r in placed for m in r.mentions])
        links = [(n, i, safe_text(one), safe_text(other)) for n, r in placed for i, (one, other) in enumerate(r.links)]
        self.session.many("add_link", links)
        instants = [r.episode.created_at for r in records if r.episode.created_at is not None]
        self._advance(grp, max(r.episode.seq for r in records), max(instants, default=None))

    def append_operation(self, operation: Operation) -> None:
        grp = self._begin(operation.group)
        (n,) = self.session.inserted("add_operation", [rows.operation_params(operation, grp)])
        self.session.many("add_operation_target", [(safe_text(t), n) for t in operation.targets])
        self._advance(grp, operation.seq, operation.created_at)

    def _advance(self, grp: int, seq: int, at: datetime | None) -> None:
        known = self.head(self._name)
        self.session.run("advance_head", grp=grp, seq=seq, at=None if at is None else to_micros(at))
        later = known.at if at is None or (known.at is not None and at <= known.at) else at
        self.kept.heads[grp] = Head(max(seq, known.seq), later)

    # -- keys and versions

    def set_keys(self, group: str, keys: Mapping[str, tuple[str, FactKey] | None]) -> None:
        grp = self._begin(group)
        self.session.many("set_key", [_key_params(assertion, grp, pair) for assertion, pair in keys.items()])

    def end_versions(self, kind: str, uuids: Sequence[str], at: datetime) -> None:
        self._begin(self._name)
        if kind == "entity":
            self.kept.end_entities(uuids)
        what, ids = ("facts" if kind == "fact" else "entities"), id_list(uuids)
        self.session.run(f"end_{what}", ids=ids, at=to_micros(at), open_end=OPEN_END, changed=self._changed())
        unborn = cast(list[tuple[int, str]], self.session.rows(f"unborn_{what}", ids=ids))
        if not unborn:
            return
        gone = row_list(n for n, _ in unborn)
        if kind == "fact":
            self._unindex(Kind.FACT, [n for n, _ in unborn])
        else:
            self.session.run("drop_entity_names", rows=gone)
        self.session.run(f"drop_{what}", rows=gone)
        self._removed()

    def add_facts(self, versions: Sequence[FactVersion], words: Sequence[str]) -> None:
        if not versions:
            return
        facts = [rows.fact_params(v, self._begin(v.group), self._changed()) for v in versions]
        self._insert(Kind.FACT, "add_fact", [v.uuid for v in versions], facts)
        self._put_words(Kind.FACT, dict(zip((v.uuid for v in versions), words, strict=True)))

    def add_entities(self, versions: Sequence[EntityVersion], words: Sequence[str]) -> None:
        if not versions:
            return
        groups = {v.id: self._begin(v.group) for v in versions}
        known = self._owners(Kind.ENTITY, list(groups))
        new = [i for i in groups if i not in known]
        self._insert(Kind.ENTITY, "add_entity", new, [(safe_text(i), groups[i]) for i in new])
        owners = self._owners(Kind.ENTITY, list(groups))
        params = [rows.entity_params(v, owners[v.id], groups[v.id], self._changed()) for v in versions]
        numbers = self.session.inserted("add_entity_version", params)
        self.kept.keep(ordered(v) for v in versions if v.system.end is None)
        keys = [(safe_text(k), n) for v, n in zip(versions, numbers, strict=True) for k in sorted(name_keys(v))]
        self.session.many("add_entity_name", keys)
        self._put_words(Kind.ENTITY, dict(zip((v.id for v in versions), words, strict=True)))

    def change_citations(self, group: str, ended: Sequence[CitationVersion], added: Sequence[CitationVersion], at: datetime) -> None:
        grp, now = self._begin(group), to_micros(at)
        closed = [(now, *citation_params(c), grp, OPEN_END) for c in ended]
        if closed:
            self.session.many("end_citation", closed)
            self.session.run("drop_unborn_citations", ids=id_list({c.fact_id for c in ended}))
        self.open_citations(group, [(at, added)])

    def open_citations(self, group: str, added: Iterable[tuple[datetime, Sequence[CitationVersion]]]) -> None:
        grp = self._begin(group)
        opened: list[rows.Values] = []
        for at, citations in added:
            now = to_micros(at)
            opened += [(grp, *citation_params(c), now, OPEN_END) for c in citations]
        self.session.many("add_citation", opened)

    def change_mentions(self, group: str, ended: Sequence[MentionVersion], added: Sequence[MentionVersion], at: datetime) -> None:
        self._begin(group)
        closed = [(to_micros(at), *mention_place(m), safe_text(m.entity), OPEN_END) for m in ended]
        if closed:
            self.session.many("end_mention_version", closed)
            self.session.run("drop_unborn_mentions", ids=id_list({m.mention.episode for m in ended}))
        self.open_mentions(group, [(at, added)])

    def open_mentions(self, group: str, added: Iterable[tuple[datetime, Sequence[MentionVersion]]]) -> None:
        grp = self._begin(group)
        opened: list[rows.Values] = []
        for at, mentions in added:
            now = to_micros(at)
            opened += [(grp, safe_text(m.entity), now, OPEN_END, *mention_place(m)) for m in mentions]
        if self.session.many("add_mention_version", opened) < len(opened):
            raise StoreError(f"a mention of {sorted({str(row[-1]) for row in opened})} is not in the log")

    def show_episodes(self, group: str, episodes: Sequence[str], at: datetime, words: Mapping[str, str]) -> None:
        self.open_episodes(group, dict.fromkeys(episodes, at), words)

    def open_episodes(self, group: str, shown: Mapping[str, datetime], words: Mapping[str, str]) -> None:
        grp, changed = self._begin(group), self._changed()
        if missing := shown.keys() - self._owners(Kind.EPISODE, list(shown)).keys():
            raise StoreError(f"episodes {sorted(missing)} are not in the log of {group!r}")
        opened = [(to_micros(at), OPEN_END, changed, safe_text(e), grp, OPEN_END) for e, at in shown.items()]
        self.session.many("show_episode", opened)
        self._put_words(Kind.EPISODE, {e: words[e] for e in shown if e in words})

    def hide_episodes(self, group: str, episodes: Sequence[str], at: datetime) -> None:
        grp, ids = self._begin(group), id_list(episodes)
        self.session.run("hide_episodes", ids=ids, grp=grp, at=to_micros(at), open_end=OPEN_END, changed=self._changed())
        if self.session.run("drop_unborn_visible", ids=ids):
            self._removed()

    # -- communities

    def change_communities(self, group: str, ended: Sequence[str], added: Sequence[CommunityVersion], at: datetime) -> None:
        grp, changed = self._begin(group), self._changed()
        if ended:
            self.session.run("end_communities", ids=id_list(ended), at=to_micros(at), open_end=OPEN_END, changed=changed)
            self._drop_unborn_communities(ended)
        if added:
            params = [communities.community_params(v, grp, at, changed) for v in added]
            self._insert(Kind.COMMUNITY, "add_community", [v.uuid for v in added], params)

    def _drop_unborn_communities(self, uuids: Sequence[str]) -> None:
        """Those of which nothing is left began in this transaction: no cache outside of it has seen them."""
        unborn = cast(list[tuple[int, str]], self.session.rows("unborn_communities", ids=id_list(uuids)))
        if unborn:
            self._unindex(Kind.COMMUNITY, [n for n, _ in unborn])
            self.session.run("drop_communities", rows=row_list(n for n, _ in unborn))
            for _, uuid in unborn:
                self._numbers[Kind.COMMUNITY].pop(rows.same_text(uuid), None)
            self._mine = None

    def index_communities(self, group: str, words: Mapping[str, str]) -> None:
        self._begin(group)
        known = self._owners(Kind.COMMUNITY, list(words))
        if missing := [uuid for uuid in words if uuid not in known]:
            raise StoreError(f"an index row needs its owner: there is no community {missing[0]} in {group!r}")
        self._put_words(Kind.COMMUNITY, words)

    def change_members(self, group: str, ended: Sequence[MemberVersion], added: Sequence[MemberVersion], at: datetime) -> None:
        owners = self._owners(Kind.ENTITY, list(dict.fromkeys(m.entity for m in (*ended, *added))))
        communities.change_members(self.session, self._begin(group), owners, ended, added, at)

    # -- indexes

    def _put_words(self, kind: Kind, words: Mapping[str, str]) -> None:
        if not words:
            return
        owners = self._owners(kind, list(words))
        self._drop_words(kind, [n for n in owners.values() if (kind, n) not in self._wordless])
        self._wordless.difference_update((kind, n) for n in owners.values())
        kept = [(kind.value, owners[owner], len(text.split()), safe_text(text)) for owner, text in words.items()]
        numbers = self.session.inserted("add_words", kept)
        self.session.many("add_word_index", [(n, tokens(t)) for n, t in zip(numbers, words.values(), strict=True)])

    def _drop_words(self, kind: Kind, owners: Sequence[int]) -> None:
        if not owners:
            return
        old = cast(list[tuple[int, int, str]], self.session.rows("words_of", kind=kind.value, rows=row_list(owners)))
        if old:
            self.session.many("drop_word_index", [(n, tokens(raw_text(text))) for n, _, text in old])
            self.session.run("drop_words", rows=row_list(n for n, _, _ in old))

    def put_vectors(self, kind: Kind, owners: Sequence[str], pieces: Sequence[int], vectors: Vectors) -> None:
        if not owners:
            return
        last = self._last(kind, owners, pieces)
        replaced = [[owner, piece] for owner, piece in last if (kind, owner) not in self._vectorless]
        if replaced:
            self._drop_vectors(self.session.rows("old_vectors", kind=kind.value, pairs=encode(replaced)))
        self._vectorless.difference_update((kind, owner) for owner, _ in last)
        self._unstage(kind, {owner for owner, _ in last})
        scanned, exact = _vector_params(kind, list(last), np.asarray(vectors)[list(last.values())])
        numbers = self.session.inserted("add_vector", scanned)
        self.session.many("add_exact_vector", list(zip(numbers, exact, strict=True)))

    def _last(self, kind: Kind, owners: Sequence[str], pieces: Sequence[int]) -> dict[tuple[int, int], int]:
        """Owner, by row number, and piece → which of the vectors is kept: of several for one piece the last."""
        self._begin(self._name)
        known = self._owners(kind, list(dict.fromkeys(owners)))
        if missing := [o for o in owners if o not in known]:
            raise StoreError(f"a vector needs its owner: there is no {kind} {missing[0]} in {self._name!r}")
        return {(known[o], int(p)): i for i, (o, p) in enumerate(zip(owners, pieces, strict=True))}

    def _drop_vectors(self, old: Sequence[Sequence[object]]) -> None:
        if old:
            gone = row_list(cast(int, n) for (n,) in old)
            self.session.run("drop_vectors", rows=gone)
            self.session.run("drop_exact_vectors", rows=gone)

    def copy_vectors(self, kind: Kind, pairs: Iterable[tuple[str, str]]) -> None:
        wanted = list(pairs)
        if not wanted:
            return
        held = self.vectors(kind, [old for old, _ in wanted])
        copies = [(new, piece, row) for old, new in wanted if old in held for piece, row in enumerate(held[old])]
        if copies:
            self.put_vectors(kind, [c[0] for c in copies], [c[1] for c in copies], np.stack([c[2] for c in copies]))

    # -- vectors of another embedder

    def stage_vectors(self, kind: Kind, owners: Sequence[str], pieces: Sequence[int], vectors: Vectors) -> None:
        if not owners:
            return
        last = self._last(kind, owners, pieces)
        self._staging = True
        self._unstage(kind, {owner for owner, _ in last})
        scanned, exact = _vector_params(kind, list(last), np.asarray(vectors)[list(last.values())])
        self.session.many("add_staged_vector", [(*row, halves) for row, halves in zip(scanned, exact, strict=True)])

    def use_staged_vectors(self) -> None:
        self._begin(self._name)
        for statement in ("clear_vectors", "clear_exact_vectors", "use_staged_vectors", "use_staged_exact_vectors"):
            self.session.run(statement)
        self.drop_staged_vectors()
        self._removed()

    def drop_staged_vectors(self) -> None:
        self._begin(self._name)
        self.session.run("clear_staged_vectors")
        self._staging = False

    def _unstage(self, kind: Kind, owners: Iterable[int]) -> None:
        if self._staging is None:
            self._staging = bool(self.session.row("staging"))
        if self._staging:
            self.session.run("drop_staged_vectors", kind=kind.value, rows=row_list(owners))

    def _unindex(self, kind: Kind, owners: Sequence[int]) -> None:
        self._unstage(kind, owners)
        self._drop_words(kind, owners)
        self._drop_vectors(self.session.rows("vector_rows_of", kind=kind.value, rows=row_list(owners)))

    # -- beside the log

    def put_answer(self, key: str, value: object, note: Mapping[str, object]) -> None:
        self._changed()
        self.session.run("put_answer", key=safe_text(key), value=encode(value), note=encode_mapping(note))

    def put_meta(self, name: str, value: str) -> None:
        self._changed()
        self.session.run("put_meta", name=safe_text(name), value=safe_text(value))
        self.kept.meta[name] = value

    # -- removal

    def clear_derived(self, group: str) -> None:
        grp = self._begin(group)
        for kind, what in _INDEXED:
            self._unindex(kind, [cast(int, n) for (n,) in self.session.rows(f"rows_of_{what}", grp=grp)])
        self.kept.forget_entities()
        for what in _CLEARED:
            self.session.run(f"clear_{what}", grp=grp)
        self._removed()

    def remove_episodes(self, group: str, episodes: Sequence[str], answers: Sequence[str] = ()) -> None:
        self._begin(group)
        known = self._owners(Kind.EPISODE, episodes)
        gone = row_list(known.values())
        self._unindex(Kind.EPISODE, list(known.values()))
        for what in _ERASED:
            self.session.run(f"erase_{what}", rows=gone)
        self.session.run("erase_citations", ids=id_list(episodes))
        self.session.run("drop_answers", keys=id_list(answers))
        self.session.run("merge_word_index")
        self._removed()
        self._note_cleaning()

    def remove_operations(self, group: str, operations: Sequence[str]) -> None:
        self._begin(group)
        for what in ("operation_targets", "operations"):
            self.session.run(f"erase_{what}", ids=id_list(operations))
        self._removed()
        self._note_cleaning()

    def remove_group(self, group: str) -> None:
        grp = self._begin(group)
        self.clear_derived(group)
        gone = row_list(cast(int, n) for (n,) in self.session.rows("rows_of_episodes", grp=grp))
        for what in _ERASED:
            self.session.run(f"erase_{what}", rows=gone)
        for what in ("operation_targets", "operations", "group"):
            self.session.run(f"erase_{what}_of", grp=grp)
        self.session.run("erase_meta_of", name=safe_text(group))
        self.session.run("merge_word_index")
        self._row = None
        self.kept = Kept(self.kept.change)
        self._removed()
        self._note_cleaning()

    def _note_cleaning(self) -> None:
        """The file is to be written anew before it is rid of what was erased, by whoever opens it next if not by this process."""
        self.session.run("put_meta", name=CLEANING, value="due")


def _key_params(assertion: str, grp: int, pair: tuple[str, FactKey] | None) -> rows.Values:
    if pair is None:
        return (safe_text(assertion), grp, None, None, None, None, None)
    return (safe_text(assertion), grp, safe_text(pair[0]), *map(safe_text, pair[1]))


def _vector_params(kind: Kind, places: Sequence[tuple[int, int]], vectors: Vectors) -> tuple[list[rows.Values], list[bytes]]:
    """Vectors of these owners and pieces as they are scanned, and their exact copies."""
    exact = vectors.astype(np.float32).astype(np.float16)
    rough, scales = quantised(exact.astype(np.float32))
    scanned: list[rows.Values] = [
        (kind.value, owner, piece, scale, row.tobytes()) for (owner, piece), scale, row in zip(places, scales.tolist(), rough, strict=True)
    ]
    return scanned, [row.tobytes() for row in exact]


def citation_params(citation: CitationVersion) -> rows.Values:
    """What tells a citation from every other of its group."""
    return (safe_text(citation.fact_id), start_micros(citation.valid_at), safe_text(citation.episode), safe_text(citation.by))


def mention_place(version: MentionVersion) -> rows.Values:
    """Where the log has it."""
    return (version.mention.position, safe_text(version.mention.episode))
