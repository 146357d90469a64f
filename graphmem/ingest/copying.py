"""A memory moved to another store: its log, what was derived from it with its history, its vectors, answers and settings.

Rows are copied as they are, batch by batch, a transaction each, and then read back and compared with where they came from:
equal rows have equal hashes, now and at every past instant. A mark that is written with each batch says how far a group has
come, so that a copy that was stopped goes on from there and is not taken for a whole one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import zip_longest
from typing import TypeVar

from graphmem.errors import EmbedderMismatch, InvalidInput, StoreBusy, StoreError, UnfinishedCopy
from graphmem.ingest.profiles import idle_settings
from graphmem.model import CommunityVersion, EpisodeRecord, Head, LogEntry, MemberVersion, Operation
from graphmem.progress import Progress
from graphmem.runtime import canonical_json
from graphmem.shown import Record
from graphmem.stores.base import Capability, Kind, Reader
from graphmem.stores.codec import to_micros
from graphmem.stores.histories import (
    BY_SCRIPT,
    HALVES,
    EntityHistory,
    EpisodeHistory,
    FactHistory,
    HistoryReader,
    HistoryStore,
    HistoryWriter,
    as_rows,
    entity_histories,
    episode_histories,
    fact_histories,
    group_settings,
    unfinished,
)

BATCH = 1_000
CHARACTERS = 4_000_000
INSTANTS = 100
_ROUNDS = 5
_PARTS = ("episodes", "answers", "entities", "facts", "communities")
_CLEARING = "clearing"
_REPLAYED = "replayed"
Item = TypeVar("Item", EntityHistory, FactHistory)


@dataclass(frozen=True, slots=True)
class Copied(Record):
    """What a copy did: the groups that the target has whole now, how many items they hold (entries of the log, entities, facts),
    and how many of these an earlier run had brought.
    """

    source: str
    target: str
    groups: tuple[str, ...] = ()
    items: int = 0
    resumed: int = 0

    def __repr__(self) -> str:
        return f"<{self.items:,} items of {', '.join(self.groups)} in {self.target!r}, {self.resumed:,} from an earlier run>"

    def to_dict(self) -> dict[str, object]:
        """Plain JSON values."""
        return {
            "source": self.source,
            "target": self.target,
            "groups": list(self.groups),
            "items": self.items,
            "resumed": self.resumed,
        }


@dataclass(frozen=True, slots=True)
class _Mark:
    """How far the copy of a group has come: the end of the source's log, the part at work, what of it was written last."""

    source: str
    seq: int
    at: str | None
    part: str = _PARTS[0]
    after: str = ""

    @classmethod
    def of(cls, source: str, head: Head) -> _Mark:
        return cls(source, head.seq, None if head.at is None else head.at.isoformat())

    def of_same(self, other: _Mark) -> bool:
        return (self.seq, self.at) == (other.seq, other.at)

    def done(self, part: str) -> bool:
        return self.part in _PARTS and _PARTS.index(self.part) > _PARTS.index(part)

    def to_json(self) -> str:
        return canonical_json([self.source, self.seq, self.at, self.part, self.after])


def check_whole(reader: Reader, group: str) -> None:
    """Raise `UnfinishedCopy` if the group is still being copied here, or its copying was stopped."""
    kept = reader.meta(unfinished(group))
    if kept == BY_SCRIPT:
        raise UnfinishedCopy(f"group {group!r} is the beginning of what a script makes; run the script again, to its end")
    if kept:
        mark = _Mark(*json.loads(kept))
        made = "replay" if mark.part == _REPLAYED else "copy"
        raise UnfinishedCopy(
            f"group {group!r} is the beginning of a {made} of {mark.source} that has not come to its end; "
            f"the same `graphmem {made}` again goes on where it stopped"
        )


def replay_begun(source: str) -> str:
    """What the setting `unfinished` says while the log of a memory is folded into another one; a copy would begin anew."""
    return replace(_Mark.of(source, Head()), part=_REPLAYED).to_json()


def is_replay(begun: str | None) -> bool:
    """Whether the setting `unfinished` says that a group is the beginning of a replay, of whichever memory."""
    return bool(begun) and begun != BY_SCRIPT and _Mark(*json.loads(begun or "")).part == _REPLAYED


def copy(source: HistoryStore, target: HistoryStore, names: tuple[str, str], groups: Sequence[str] | None, report: Progress) -> Copied:
    """Bring the groups of `source` (None: all) to `target`; `names` are what the two are called in messages.

    Raises `InvalidInput` for a group that is not there or a target that holds something else, `EmbedderMismatch` for one
    with vectors of another embedder, `UnfinishedCopy` for a source that is not whole itself, `StoreBusy` where somebody
    else writes to either, and `StoreError` if what was written reads back otherwise.
    """
    return _Copying(source, target, names, report).run(groups)


class _Copying:
    def __init__(self, source: HistoryStore, target: HistoryStore, names: tuple[str, str], report: Progress) -> None:
        self._source, self._target, self._report = source, target, report
        self._from, self._to = names
        self._done = self._total = self._resumed = 0
        self._every_answer = False
        self._mark: _Mark | None = None

    def run(self, wanted: Sequence[str] | None) -> Copied:
        with self._source.read() as reader:
            known = reader.groups()
            groups = known if wanted is None else list(dict.fromkeys(wanted))
            if unknown := [g for g in groups if g not in known]:
                raise InvalidInput("group", unknown[0], f"is not in {self._from}, which has {', '.join(map(repr, known)) or 'no group'}")
            for group in groups:
                check_whole(reader, group)
            sizes = [reader.head(g).seq + sum(reader.extent(g)) for g in groups]
            self._total = 2 * sum(sizes)  # written, then read back
            self._claim(reader, groups)
        self._report(0, self._total)
        self._every_answer = wanted is None
        for group in groups:
            self._group(group, only_its_own=wanted is not None)
        self._report(self._total, self._total)
        return Copied(self._from, self._to, tuple(groups), self._done // 2, self._resumed)

    # ------------------------------------------------------------------------------------------ before

    def _claim(self, reader: HistoryReader, groups: Sequence[str]) -> None:
        """Check what the target holds, and mark every group as not whole yet, before anything is written."""
        embedder = reader.meta("embedder")
        with self._target.read() as there:
            held = there.meta("embedder")
            if held is not None and embedder is not None and held != embedder:
                raise EmbedderMismatch(
                    f"{self._to} has vectors of {json.loads(held)['name']!r}, {self._from} of {json.loads(embedder)['name']!r}; "
                    "re-embed one of them first (`graphmem reembed`)"
                )
            heads = {g: self._checked(reader, there, g) for g in groups}
            whole = {g for g in groups if heads[g] == reader.head(g) and not there.meta(unfinished(g))}
        if not groups or len(whole) == len(groups):
            return
        with self._target.write(groups[0]) as tx:
            if embedder is not None and tx.meta("embedder") is None:
                tx.put_meta("embedder", embedder)
            for group in groups:
                if group not in whole and not tx.meta(unfinished(group)):
                    tx.put_meta(unfinished(group), replace(_Mark.of(self._from, Head()), part="begun").to_json())

    def _checked(self, reader: HistoryReader, there: HistoryReader, group: str) -> Head:
        """How far the target's log has come; it must be the beginning of the source's."""
        if there.meta(unfinished(group)) == BY_SCRIPT:
            check_whole(there, group)
        head = there.head(group)
        if not head.seq:
            return head
        for ours, theirs in zip_longest(reader.log(group), there.log(group)):
            if theirs is None:
                break
            if ours != theirs:
                raise InvalidInput(
                    "target",
                    self._to,
                    f"holds another memory in group {group!r}: entry {theirs.seq} of its log is not that of {self._from}; "
                    "name an empty target, or copy another group",
                )
        return head

    # ------------------------------------------------------------------------------------------ one group

    def _group(self, group: str, *, only_its_own: bool) -> None:
        before = self._done, self._resumed
        for _ in range(_ROUNDS):
            self._done, self._resumed = before
            with self._source.read() as reader:
                head = reader.head(group)
                if begun := self._begin(reader, group, head):
                    self._entries(reader, group)
                    if self._every_answer or only_its_own:
                        self._answers(reader, group, only_its_own=only_its_own)
                    self._items(reader, group, "entities", entity_histories, lambda tx, found: tx.load_entities(group, found))
                    self._items(reader, group, "facts", fact_histories, lambda tx, found: tx.load_facts(group, found))
                    self._communities(reader, group)
                difference = self._difference(reader, group)
                if self._still(group, head):
                    if difference is not None:
                        raise StoreError(difference)
                    self._finish(reader, group)
                    self._every_answer = self._every_answer and not begun
                    return
        raise StoreBusy(f"{self._from} is written to all the time; copy it when nobody writes to group {group!r}")

    def _still(self, group: str, head: Head) -> bool:
        """Whether what was read is of one moment: a snapshot is, else nobody may have written meanwhile."""
        if Capability.SNAPSHOT_READS in self._source.capabilities:
            return True
        with self._source.read() as reader:
            return reader.head(group) == head

    def _begin(self, reader: HistoryReader, group: str, head: Head) -> bool:
        """Where to go on; False if the group is whole already. What an older state of the source left is cleared."""
        wanted = _Mark.of(self._from, head)
        with self._target.write(group) as tx:
            kept, known = _read_mark(tx, group), tx.head(group)
            if kept is None and known == head:
                self._mark = None
                self._step(sum(reader.extent(group)) + head.seq, before=True)
                return False
            if kept is not None and kept.of_same(wanted):
                self._mark = kept
            else:
                self._mark = replace(wanted, part=_CLEARING) if known.seq else wanted
                tx.put_meta(unfinished(group), self._mark.to_json())
        if self._mark.part == _CLEARING:
            self._clear(group)
            self._write(group, _PARTS[0], "", lambda tx: None)
        return True

    def _clear(self, group: str) -> None:
        more = True
        while more:
            with self._target.write(group) as tx:
                self._own(tx, group)
                more = tx.clear_some(group, BATCH)

    def _own(self, tx: HistoryWriter, group: str) -> None:
        """Nobody else may be at the same copy."""
        if _read_mark(tx, group) != self._mark:
            raise StoreBusy(f"another copy writes to group {group!r} of {self._to}; this one stops")

    def _write(self, group: str, part: str, after: str, load: Callable[[HistoryWriter], None]) -> None:
        """One batch, with the mark that says so."""
        assert self._mark is not None
        mark = replace(self._mark, part=part, after=after)
        with self._target.write(group) as tx:
            self._own(tx, group)
            load(tx)
            tx.put_meta(unfinished(group), mark.to_json())
        self._mark = mark

    def _after(self, part: str) -> str | None:
        """What was written last of a part; None if all of it was."""
        assert self._mark is not None
        if self._mark.part == part:
            return self._mark.after
        return None if self._mark.done(part) else ""

    def _step(self, count: int, *, before: bool = False) -> None:
        self._done += count
        self._resumed += count if before else 0
        self._report(self._done, self._total)

    # ------------------------------------------------------------------------------------------ parts

    def _entries(self, reader: HistoryReader, group: str) -> None:
        after = self._after("episodes")
        last = reader.head(group).seq
        begun = last if after is None else int(after or 0)
        self._step(begun, before=True)
        if after is None:
            return
        for entries in batches(reader.log(group, begun), BATCH):
            histories = episode_histories(reader, group, [e for e in entries if isinstance(e, EpisodeRecord)])

            def load(tx: HistoryWriter, entries: Sequence[LogEntry] = entries, histories: Sequence[EpisodeHistory] = histories) -> None:
                known = tx.head(group).seq
                tx.load_episodes(group, histories)
                for entry in entries:
                    if isinstance(entry, Operation) and entry.seq > known:
                        tx.append_operation(entry)

            self._write(group, "episodes", str(entries[-1].seq), load)
            self._step(entries[-1].seq - begun)
            begun = entries[-1].seq
        self._step(last - begun)

    def _answers(self, reader: HistoryReader, group: str, *, only_its_own: bool) -> None:
        """Recorded answers: all, or those about episodes and communities of this group."""
        after = self._after("answers")
        while after is not None:
            page = reader.answers(after, BATCH)
            if not page:
                return
            chosen = page
            if only_its_own:
                named = [str(note.get("episode")) for _, _, note in page]
                ours = {e.id for e in reader.heads(group, named)}
                chosen = [row for row, episode in zip(page, named, strict=True) if episode in ours or row[2].get("group") == group]

            def load(tx: HistoryWriter, chosen: Sequence[tuple[str, object, object]] = chosen) -> None:
                for key, value, note in chosen:
                    tx.put_answer(key, value, note)  # type: ignore[arg-type]

            after = page[-1][0]
            self._write(group, "answers", after, load)

    def _items(
        self,
        reader: HistoryReader,
        group: str,
        part: str,
        read: Callable[[HistoryReader, str, str, int], list[Item]],
        load: Callable[[HistoryWriter, list[Item]], None],
    ) -> None:
        total = reader.extent(group)[_PARTS.index(part) - _PARTS.index("entities")]
        after, written = self._after(part), 0
        if after is None:
            self._step(total, before=True)
            return
        if after:
            with self._target.read() as there:
                written = there.extent(group)[_PARTS.index(part) - _PARTS.index("entities")]
            self._step(written, before=True)
        found = read(reader, group, after, BATCH)
        while found:
            after = found[-1].id
            self._write(group, part, after, partial(_given, load, found))
            self._step(len(found))
            found = read(reader, group, after, BATCH)

    def _communities(self, reader: HistoryReader, group: str) -> None:
        """Their versions and members, as they came and went: some instants in each transaction."""
        after = int(self._after("communities") or 0)
        versions, members = reader.community_history(group)
        spans = [v.system for v in versions] + [m.system for m in members]
        turns = sorted({t for span in spans for t in (span.start, span.end) if t is not None})
        left = [t for t in turns if to_micros(t) > after]
        for start in range(0, len(left), INSTANTS):
            some = left[start : start + INSTANTS]
            index = _index(reader, [v for v in versions if v.system.start in some])
            self._write(group, "communities", str(to_micros(some[-1])), partial(_turned, group, versions, members, some, index))

    # ------------------------------------------------------------------------------------------ after

    def _difference(self, reader: HistoryReader, group: str) -> str | None:
        """Read back everything; the first that is not as it is in the source, in words."""
        with self._target.read() as there:
            for what, one, other in self._side_by_side(reader, there, group):
                if one != other:
                    return (
                        f"{self._to}: {what} of group {group!r} is not as it is in {self._from}; did somebody else write to it? "
                        "Copy to an empty target, and report this if it happens again"
                    )
        return None

    def _side_by_side(self, reader: HistoryReader, there: HistoryReader, group: str) -> Iterator[tuple[str, object, object]]:
        """Everything in the source and in the target, with its name."""
        seq = 0
        for ours, theirs in zip_longest(batches(reader.log(group), BATCH), batches(there.log(group), BATCH)):
            yield "the log", ours, theirs
            records = [e for e in ours or () if isinstance(e, EpisodeRecord)]
            mine, copied = (episode_histories(r, group, records) for r in (reader, there))
            yield from ((a.record.episode.id, a, b) for a, b in zip(mine, copied, strict=True))
            self._step((ours or theirs)[-1].seq - seq)
            seq = (ours or theirs)[-1].seq
        ours_of, theirs_of = reader.community_history(group), there.community_history(group)
        yield "a community", ours_of, theirs_of
        yield "a community's index", _index(reader, ours_of[0]), _index(there, theirs_of[0])
        yield from self._pages(reader, there, group, entity_histories)
        yield from self._pages(reader, there, group, fact_histories)

    def _pages(
        self, reader: HistoryReader, there: HistoryReader, group: str, read: Callable[[HistoryReader, str, str, int], list[Item]]
    ) -> Iterator[tuple[str, object, object]]:
        after: str | None = ""
        while after is not None:
            mine, copied = read(reader, group, after, BATCH), read(there, group, after, BATCH)
            yield from ((str((a or b).id), a, b) for a, b in zip_longest(mine, copied))
            self._step(len(mine))
            after = mine[-1].id if mine else None

    def _finish(self, reader: HistoryReader, group: str) -> None:
        """Settings last: from here on the group is whole."""
        if self._mark is None:
            return
        with self._target.write(group) as tx:
            self._own(tx, group)
            for name in (*group_settings(group), *idle_settings(group)):
                if (value := reader.meta(name)) is not None:
                    tx.put_meta(name, value)
            tx.set_head(group, reader.head(group))
            tx.put_meta(unfinished(group), "")


def _given(load: Callable[[HistoryWriter, list[Item]], None], found: list[Item], tx: HistoryWriter) -> None:
    load(tx, found)


_Index = tuple[dict[str, str], dict[str, bytes]]


def _index(reader: Reader, versions: Sequence[CommunityVersion]) -> _Index:
    """The words and the vector of each version, as far as there are any."""
    uuids = [v.uuid for v in versions]
    vectors = reader.vectors(Kind.COMMUNITY, uuids)
    return reader.words(Kind.COMMUNITY, uuids), {uuid: rows[0].astype(HALVES).tobytes() for uuid, rows in vectors.items()}


def _turned(
    group: str,
    versions: list[CommunityVersion],
    members: list[MemberVersion],
    instants: Sequence[datetime],
    index: _Index,
    tx: HistoryWriter,
) -> None:
    """What ended and what began at each of these instants, with its index rows."""
    words, vectors = index
    for at in instants:
        begun = [v for v in versions if v.system.start == at]
        ended = [v.uuid for v in versions if v.system.end == at]
        if begun or ended:
            tx.change_communities(group, ended, begun, at)
        if found := {v.uuid: words[v.uuid] for v in begun if v.uuid in words}:
            tx.index_communities(group, found)
        if kept := [v.uuid for v in begun if v.uuid in vectors]:
            tx.put_vectors(Kind.COMMUNITY, kept, [0] * len(kept), as_rows([vectors[uuid] for uuid in kept]))
        joined = [m for m in members if m.system.start == at]
        left = [m for m in members if m.system.end == at]
        if joined or left:
            tx.change_members(group, left, joined, at)


def _read_mark(reader: Reader, group: str) -> _Mark | None:
    kept = reader.meta(unfinished(group))
    return _Mark(*json.loads(kept)) if kept else None


def batches(log: Iterable[LogEntry], most: int) -> Iterator[list[LogEntry]]:
    """Entries in batches that are bounded in number and in text."""
    batch, size = list[LogEntry](), 0
    for entry in log:
        batch.append(entry)
        size += len(entry.episode.body) if isinstance(entry, EpisodeRecord) else 0
        if len(batch) >= most or size >= CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
