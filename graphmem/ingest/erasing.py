"""Erasing: the log without what goes, every past instant folded again, and a receipt that says how much it was.

All of a group is derived anew in one transaction, by the rules that any log is replayed by. Vectors of texts that stay are
kept, so nothing is embedded again but what has changed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, cast

import numpy as np

from graphmem import names
from graphmem.belief.changes import Difference, describe
from graphmem.belief.deeds import Deed
from graphmem.belief.erasure import Erased, Target, without
from graphmem.belief.fold import fold
from graphmem.belief.identity import resolve_identity
from graphmem.belief.ledger import Indexing, Ledger, content_of, version_of
from graphmem.belief.redaction import Redactor
from graphmem.belief.slices import load_kin
from graphmem.belief.statements import NAMED
from graphmem.embed.base import Vectors
from graphmem.entries import recorded_at
from graphmem.errors import InvalidInput, NotFound
from graphmem.export.selection import batched
from graphmem.ingest.behind import about
from graphmem.ingest.copying import check_whole
from graphmem.ingest.found import IDENTITIES
from graphmem.ingest.kept import cost_key
from graphmem.ingest.operating import Arrived, is_in_log, once, parsed_ontology, settled_ontology, system_instant
from graphmem.ingest.profiles import marker
from graphmem.model import Change, EpisodeRecord, LogEntry, Operation, OperationKind
from graphmem.ontology import Ontology
from graphmem.receipts import COUNTS, Receipt
from graphmem.runtime import Clock, canonical_json, content_id
from graphmem.search.locate import versions_named
from graphmem.stores.base import Kind, Reader, Store, Writer
from graphmem.stores.histories import HistoryReader

ERASURES = "erasures"
"""The setting with the receipts of groups that were erased as a whole; a group that is gone has no log to keep them."""
_PAGE = 1_000


@dataclass(frozen=True)
class Wanted:
    """What somebody asks to erase: `what` it is, by which id or name; for a fact or an entity, whether whole episodes go with it."""

    what: str
    named: str
    deletes: bool = False


class Eraser:
    """Erases from a store."""

    def __init__(self, store: Store, indexing: Indexing, clock: Clock) -> None:
        self._store, self._indexing, self._clock = store, indexing, clock

    def consequences(self, group: str, wanted: Wanted) -> Receipt:
        """What erasing would do; nothing is changed."""
        begun = time.perf_counter()
        with self._store.read() as found:
            reader = cast(HistoryReader, found)
            log = list(reader.log(group))
            if wanted.what == "group":
                _check_there(log, group)
                return replace(_of_group(log, len(_answers(reader, group, None))), dry_run=True, seconds=time.perf_counter() - begun)
            target = _target(reader, group, log, wanted)
            erased = without(log, target, reader.head(group).seq + 1, fresh_ids=False)
            ontology = settled_ontology(reader, group)
            counts = _counts(erased, len(_answers(reader, group, erased)))
        changes = _changes(group, log, erased.entries, ontology)
        return Receipt(wanted.what, group=group, **counts, seconds=time.perf_counter() - begun, dry_run=True, changes=changes)

    def erase(self, group: str, wanted: Wanted, reason: str | None = None, author: str | None = None) -> Receipt:
        """Erase it, and clean the store's files."""
        begun = time.perf_counter()

        def work(tx: Writer) -> tuple[Receipt, Arrived]:
            if wanted.what != "group":
                operation = self._part(tx, group, wanted, reason, author, begun)
                return Receipt.of(operation), is_in_log(operation)
            receipt = self._group(tx, group, reason, author)
            return receipt, lambda reader: any(kept.id == receipt.id for kept in _whole_groups(reader))

        receipt = once(self._store, group, work)
        cleaned = self._store.clean()
        return replace(receipt, seconds=time.perf_counter() - begun, cleaned=cleaned)

    def erasures(self, group: str) -> list[Receipt]:
        """The receipts of the group, and of groups that were erased as a whole, by instant."""
        with self._store.read() as reader:
            found = [Receipt.of(o) for o in reader.operations(group) if o.kind is OperationKind.ERASE]
            found += _whole_groups(reader)
        return sorted(found, key=lambda r: str(r.at))

    def _group(self, tx: Writer, group: str, reason: str | None, author: str | None) -> Receipt:
        log = list(tx.log(group))
        _check_there(log, group)
        answers = _answers(cast(HistoryReader, tx), group, None)
        at = system_instant(self._clock, tx.head(group))
        found = _of_group(log, len(answers))
        kept = json.loads(tx.meta(ERASURES) or "[]")
        named, identity = Redactor([group]), content_id("op", "erased", at.isoformat(), len(kept))
        receipt = replace(found, id=identity, at=at, author=named.optional(author), reason=named.optional(reason))
        row = {"id": receipt.id, "at": at.isoformat(), "author": receipt.author, "reason": receipt.reason, **receipt.counts()}
        tx.put_meta(ERASURES, canonical_json([*kept, row]))
        tx.remove_episodes(group, (), answers)
        tx.remove_group(group)
        return receipt

    def _part(self, tx: Writer, group: str, wanted: Wanted, reason: str | None, author: str | None, begun: float) -> Operation:
        check_whole(tx, group)
        reader = cast(HistoryReader, tx)
        head, log = tx.head(group), list(tx.log(group))
        seq, at = head.seq + 1, system_instant(self._clock, head)
        target = _target(reader, group, log, wanted)
        erased = without(log, target, seq)
        answers = _answers(reader, group, erased)
        ledger = Ledger(replace(self._indexing, embed=_Remembering(self._indexing, reader, group, log).embed))
        ontology = settled_ontology(tx, group)
        _clear(tx, group, log, answers)
        _refold(tx, ledger, erased.entries, ontology)
        counts = _counts(erased, len(answers))
        operation = Operation(
            content_id("op", group, seq, OperationKind.ERASE.value),
            group,
            OperationKind.ERASE,
            (),
            {"what": wanted.what, **counts, "positions": list(erased.positions), "seconds": round(time.perf_counter() - begun, 3)},
            seq,
            at,
            erased.quotes.optional(author),
            erased.quotes.optional(reason),
        )
        ledger.record(tx, operation, ontology)
        return operation


# ------------------------------------------------------------------------------------------------ what is meant


def _target(reader: HistoryReader, group: str, log: Sequence[LogEntry], wanted: Wanted) -> Target:
    """What is to go, by all its ids. Raises `NotFound` where there is no such thing."""
    records = [e for e in log if isinstance(e, EpisodeRecord)]
    match wanted.what:
        case "episode":
            if found := {r.episode.id for r in records if r.episode.id == wanted.named}:
                return Target(episodes=found)
        case "session":
            if found := {r.episode.id for r in records if r.episode.session == wanted.named}:
                return Target(episodes=found)
        case "fact":
            if found := _claims(reader, group, records, wanted.named):
                return Target(assertions=found, deletes=wanted.deletes)
        case _:
            if entities := _entities(log, records, wanted.named):
                return _of_entities(reader, group, entities, wanted.deletes)
    raise NotFound(f"no {wanted.what} {wanted.named!r} in group {group!r}, now or at any time before; nothing was erased")


def _check_there(log: Sequence[LogEntry], group: str) -> None:
    if not log:
        raise NotFound(f"group {group!r} holds nothing; nothing was erased")


def _claims(reader: HistoryReader, group: str, records: Sequence[EpisodeRecord], named: str) -> set[str]:
    """The assertions behind a fact, by its id or that of one of its versions; also of one that they speak of no more."""
    facts = {v.fact_id for v in versions_named(reader, group, named)} | {named}
    found = {a.id for a in reader.assertions(group, facts=sorted(facts))}
    cited = {c.by for c in reader.citations_ever(group, sorted(facts))}
    acted = reader.operations(group, ids=sorted(cited)) if cited else []
    known = {a.id for r in records for a in r.assertions}
    return found | ((cited | {t for o in acted for t in o.targets}) & known)


def _entities(log: Sequence[LogEntry], records: Sequence[EpisodeRecord], named: str) -> frozenset[str]:
    """All ids of the entity of that id or name, now or at any time; raises `InvalidInput` where the name is that of several."""
    identity = resolve_identity(log)
    called: dict[str, set[str]] = {}
    for record in records:
        for mention in record.mentions:
            entity = identity.canonical(identity.at(mention.entity, record.episode.id))
            called.setdefault(entity, set()).add(names.key(mention.name))
    for operation in log:
        if isinstance(operation, Operation) and isinstance(name := operation.values.get("name"), str) and operation.targets:
            called.setdefault(identity.canonical(operation.targets[0]), set()).add(names.key(name))
        if isinstance(operation, Operation) and isinstance(told := operation.values.get(NAMED), Mapping):
            for entity, row in told.items():
                called.setdefault(identity.canonical(entity), set()).add(names.key(str(row["name"])))
    if identity.canonical(named) in called:
        return identity.members(named)
    several = sorted(e for e, keys in called.items() if names.key(named) in keys)
    if len(several) > 1:
        raise InvalidInput("entity", named, f"several entities have or had that name; give one of the ids: {', '.join(several)}")
    return identity.members(several[0]) if several else frozenset()


def _of_entities(reader: HistoryReader, group: str, entities: frozenset[str], deletes: bool) -> Target:
    called = [m.name for m in reader.mention_records(group, sorted(entities))]
    for version in reader.entity_versions(group, sorted(entities)):
        called += [version.name, *version.aliases]
        called += _identities(version.attributes)
    kin = load_kin(reader, group, entities)
    claims = {a.id for a in about(reader, group, kin, kin.identity.canonical(min(entities)))}
    return Target(assertions=claims, entities=entities, names=tuple(dict.fromkeys(called)), deletes=deletes)


def _identities(attributes: Mapping[str, object]) -> Iterator[str]:
    """The exact identities in an entity's attributes that are as telling as a name: logins and addresses, no numbers."""
    found = attributes.get(IDENTITIES)
    for identity in found if isinstance(found, (list, tuple)) else ():
        value = str(identity).partition("=")[2]
        if len(value) > 3 and any(c.isalpha() for c in value):
            yield value


# ------------------------------------------------------------------------------------------------ what it does


def _answers(reader: HistoryReader, group: str, erased: Erased | None) -> list[str]:
    """Recorded answers about episodes of the group from the first on that changes, which may have seen what goes (None: about all),
    those about its communities, and those about episodes that are in no log. What an episode that stays has cost stays.
    """
    first = 0 if erased is None else erased.first or 0
    left = {e.episode.id for e in erased.entries if isinstance(e, EpisodeRecord)} if erased is not None else set()
    others = [g for g in reader.groups() if g != group]
    found: list[str] = []
    page = reader.answers("", _PAGE)
    while page:
        wanted = sorted({str(note["episode"]) for _, _, note in page if "episode" in note})
        ours = {e.id: e.seq for e in reader.heads(group, wanted)}
        theirs = {e.id for g in others for e in reader.heads(g, wanted)}
        for key, _, note in page:
            episode = str(note.get("episode"))
            stays = ours[episode] < first if episode in ours else episode in theirs or note.get("group", group) != group
            stays |= key == cost_key(episode) and episode in left
            found += [] if stays else [key]
        page = reader.answers(page[-1][0], _PAGE)
    return found


def _clear(tx: Writer, group: str, log: Sequence[LogEntry], answers: Sequence[str]) -> None:
    """Remove the whole log and all that is derived from it; the head stays."""
    tx.clear_derived(group)
    tx.remove_episodes(group, [e.episode.id for e in log if isinstance(e, EpisodeRecord)], answers)
    tx.remove_operations(group, [e.id for e in log if isinstance(e, Operation)])
    if tx.meta(f"communities:{group}") is not None:
        tx.put_meta(f"communities:{group}", "null")
    if tx.meta(marker(group)) is not None:  # profiles go with the answers: all of them are to be written again
        tx.put_meta(marker(group), "")


def _refold(tx: Writer, ledger: Ledger, entries: Iterable[LogEntry], ontology: Ontology) -> None:
    """Record the entries one after another, each with the ontology of its time; `ontology` where the log names none."""
    for entry in entries:
        if isinstance(entry, Operation) and entry.kind is OperationKind.ONTOLOGY:
            ontology = parsed_ontology(canonical_json(entry.values["relations"]))
        ledger.record(tx, entry, ontology)


class _Remembering:
    """Gives texts the vectors that the store has of them already."""

    def __init__(self, indexing: Indexing, reader: HistoryReader, group: str, log: Sequence[LogEntry]) -> None:
        self._embed = indexing.embed
        self._known: dict[str, Vectors] = {}
        for facts in batched(reader.scan_facts(group), _PAGE):
            self._keep(reader, Kind.FACT, {v.uuid: [v.text or v.relation] for v in facts})
        for records in batched((e for e in log if isinstance(e, EpisodeRecord)), _PAGE):
            self._keep(reader, Kind.EPISODE, {r.episode.id: list(indexing.episode_pieces(r)) for r in records})
        after = ""
        while ids := reader.entity_ids(group, after, _PAGE):
            last = {v.id: v for v in reader.entity_versions(group, ids)}
            self._keep(reader, Kind.ENTITY, {i: [v.name, *v.aliases] for i, v in last.items()})
            after = ids[-1]

    def _keep(self, reader: HistoryReader, kind: Kind, texts: Mapping[str, Sequence[str]]) -> None:
        held = reader.vectors(kind, list(texts))
        for owner, rows in held.items():
            if len(rows) == len(texts[owner]):
                self._known.update(zip(texts[owner], rows, strict=True))

    def embed(self, texts: Sequence[str]) -> Vectors:
        """As an embedder."""
        new = [t for t in dict.fromkeys(texts) if t not in self._known]
        if new:
            self._known.update(zip(new, self._embed(new), strict=True))
        return np.stack([self._known[t] for t in texts]) if texts else self._embed(texts)


# ------------------------------------------------------------------------------------------------ what is told


def _counts(erased: Erased, answers: int) -> dict[str, Any]:
    return {name: getattr(erased, name) for name in COUNTS if name != "answers"} | {"answers": answers}


def _of_group(log: Sequence[LogEntry], answers: int) -> Receipt:
    records = [e for e in log if isinstance(e, EpisodeRecord)]
    return Receipt(
        "group",
        episodes=len(records),
        assertions=sum(len(r.assertions) for r in records),
        entities=len({m.entity for r in records for m in r.mentions}),
        operations=len(log) - len(records),
        answers=answers,
    )


def _changes(group: str, before: Sequence[LogEntry], after: Sequence[LogEntry], ontology: Ontology) -> tuple[Change, ...]:
    """What the difference of two logs does to beliefs."""
    at = recorded_at(before[-1])
    was, now = ({content_of(v): v for v in (version_of(group, p, at) for p in fold(log, ontology))} for log in (before, after))
    ended = [v for c, v in was.items() if c not in now]
    added = [v for c, v in now.items() if c not in was]
    return describe(Difference(ended, added, [], list(now.values())), Deed.of(Operation("", group, OperationKind.ERASE, ()), {}))


def _whole_groups(reader: Reader) -> list[Receipt]:
    return [_kept_receipt(row) for row in json.loads(reader.meta(ERASURES) or "[]")]


def _kept_receipt(row: Mapping[str, Any]) -> Receipt:
    counts: dict[str, Any] = {name: int(row.get(name, 0)) for name in COUNTS}
    return Receipt("group", row["id"], datetime.fromisoformat(row["at"]), **counts, author=row["author"], reason=row["reason"])
