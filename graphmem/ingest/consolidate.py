"""Work for idle time, on what changed since the last time: profiles of entities, pairs that may be one, what finds no place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from graphmem.belief.fold import fold_reading
from graphmem.belief.slices import load_slice
from graphmem.errors import GraphmemError
from graphmem.export.selection import batched
from graphmem.ingest.asking import Memo, total
from graphmem.ingest.copying import check_whole
from graphmem.ingest.duplicates import Proposal, proposals
from graphmem.ingest.kept import keep_texts, keep_usage, kept_answer
from graphmem.ingest.operating import Arrived, erased_since, once, settled_ontology
from graphmem.ingest.profiles import PROMPT, facts_of, kept_profiles, looked_at, marker, profile_ask, profile_text
from graphmem.llm.base import Answer, Ask, LanguageModel, prompts_of
from graphmem.model import VALUE_TYPE, AsOf, EntityMatch, EntityVersion, Head, Usage, Warn
from graphmem.ontology import Ontology
from graphmem.results import shorten
from graphmem.shown import Record
from graphmem.stores.base import Reader, Store, Writer
from graphmem.stores.changes import Stretch

_BATCH = 100
_LOOKED_AT, _PROPOSED, _LIKELY = 400, 20, 0.5
_OPEN = frozenset({"single_valued", "no_room", "interval_conflict"})


@dataclass(frozen=True, slots=True)
class Written:
    """A profile: of whom, its text, what it cost."""

    entity: EntityVersion
    text: str
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True, repr=False)
class Contradiction(Record):
    """What was said and finds no place beside what else was said: the sentence left out, its episode, and why.

    `code` is that of the warning: "single_valued" (two at once of what takes one), "no_room" (an end before which nothing is
    free), "interval_conflict" (an end that is not after its start).
    """

    code: str
    text: str
    episode: str
    message: str

    def __repr__(self) -> str:
        return f"<{self.code} {shorten(self.text, 60)!r}: {self.message}>"

    def to_dict(self) -> dict[str, object]:
        """Plain JSON values."""
        return {"code": self.code, "text": self.text, "episode": self.episode, "message": self.message}


@dataclass(frozen=True, slots=True)
class Worked:
    """What was done: profiles written, how many are left for want of calls, pairs that may be one, contradictions that stay open."""

    profiles: tuple[Written, ...]
    left: int
    proposals: tuple[Proposal, ...]
    contradictions: tuple[Contradiction, ...]
    warnings: tuple[Warn, ...]
    usage: Usage


class Consolidator:
    """Does such work for a memory, within a budget of calls; every answer is kept before the next is asked for."""

    def __init__(self, store: Store, model: LanguageModel, memos: Callable[[], Memo]) -> None:
        self._store, self._model, self._memos = store, model, memos

    def work(self, group: str, at: AsOf, calls: int, interest: Mapping[str, int], report: Callable[[int, int], None]) -> Worked:
        """Write at most `calls` profiles, of those first that there is most `interest` in, then of those with most that is new."""
        with self._store.read() as reader:
            check_whole(reader, group)
            ontology, head = settled_ontology(reader, group), reader.head(group)
            changed = _changed(reader, group, reader.meta(looked_at(group)))
            contradictions = open_contradictions(reader, group, ontology, changed)
            likely = proposals(reader, group, ontology, at, _LOOKED_AT, _LIKELY) if changed else []
            pairs = [p for p in likely if p.one.id in changed or p.other.id in changed][:_PROPOSED]
            wanted: list[_Wanted] = []
            if self._writes:
                asked = Counter(interest)
                since = reader.meta(marker(group))
                new = _changed(reader, group, since)
                order = sorted(new.keys() | _called(reader, group, since), key=lambda e: (-asked[e], -new[e], e))
                wanted = list(_wanted_profiles(reader, group, order, at, self._model.name))
        profiles: list[Written] = []
        warnings: list[Warn] = []
        usage = Usage()
        some = wanted[:calls]
        for n, (written, spent) in enumerate(self._write(group, head, some), 1):
            usage += spent
            if isinstance(written, Warn):
                warnings.append(written)
            elif written is not None:
                profiles.append(written)
            report(n, len(some))
        left = len(wanted) - len(profiles) - len(warnings)
        self._settle(group, head, is_whole=self._writes and not left)
        return Worked(tuple(profiles), left, tuple(pairs), tuple(contradictions), tuple(warnings), usage)

    @property
    def _writes(self) -> bool:
        """Whether the model has an opinion on profiles."""
        prompts = prompts_of(self._model)
        return not self._model.local and (prompts is None or PROMPT in prompts)

    def _write(self, group: str, seen: Head, wanted: Sequence[_Wanted]) -> Iterator[tuple[Written | Warn | None, Usage]]:
        """Ask, as many side by side as the model takes. An answer that cannot be used is kept too: the same is not asked again.

        None is kept, and no more is asked, once something was erased since the facts were `seen`: it would come back with them.
        Raises `ModelError` where the model fails; what was yielded before stays.
        """
        memo = self._memos()
        for some in batched(wanted, max(1, getattr(self._model, "concurrency", 1))):
            try:
                answers = memo.ask([w.ask for w in some])
            except BaseException:
                if came := [w for w in some if memo.unkept([w.ask.key])]:
                    with suppress(GraphmemError):
                        self._kept(group, seen, came, memo)
                raise
            failure = next((a.failure for w, a in zip(some, answers, strict=True) if not memo.unkept([w.ask.key])), None)
            told, is_erased = self._kept(group, seen, some, memo)
            memo.settle([w.ask.key for w in some])
            yield from told
            if failure is not None:
                raise failure
            if is_erased:
                return

    def _kept(self, group: str, seen: Head, some: Sequence[_Wanted], memo: Memo) -> tuple[list[tuple[Written | Warn | None, Usage]], bool]:
        answers = [memo.answers[w.ask.key] for w in some]
        return once(self._store, group, partial(self._keep, group=group, seen=seen, some=some, answers=answers, memo=memo))

    def _keep(
        self, tx: Writer, group: str, seen: Head, some: Sequence[_Wanted], answers: Sequence[Answer], memo: Memo
    ) -> tuple[tuple[list[tuple[Written | Warn | None, Usage]], bool], Arrived]:
        """Keep the answers that there are, and what all cost; gives what was made of each, and whether something was erased."""
        told: list[tuple[Written | Warn | None, Usage]] = []
        is_erased = erased_since(tx, group, seen)
        new = [(w, answer) for w, answer in zip(some, answers, strict=True) if memo.unkept([w.ask.key])]
        for w, answer in new:
            spent = total(memo.charged([w.ask.key]))
            if is_erased:
                told.append((None, spent))
                continue
            keep_texts(tx, self._model.name, group, [(w.ask, answer)])
            text = profile_text(answer.value, w.ask) if answer.failure is None else None
            unreadable = Warn("unreadable", w.entity.name, "no profile can be read from the answer about it")
            told.append((unreadable if text is None else Written(w.entity, text, spent), spent))
        if tx.head(group).at is not None:
            keep_usage(tx, group, memo.charged([w.ask.key for w in some]))
        if not is_erased and tx.meta(marker(group)) is None:
            tx.put_meta(marker(group), "")
        return (told, is_erased), lambda reader: not is_erased and bool(new) and reader.answer(new[-1][0].ask.key) is not None

    def _settle(self, group: str, head: Head, *, is_whole: bool) -> None:
        """Note up to which instant the work is done; of what was erased since then all is to be looked at again."""
        if head.at is not None:
            once(self._store, group, partial(_noted, group=group, seen=head, until=head.at.isoformat(), is_whole=is_whole))


def _noted(tx: Writer, group: str, seen: Head, until: str, is_whole: bool) -> tuple[None, Arrived]:
    if not erased_since(tx, group, seen):
        for name in (looked_at(group), *([marker(group)] if is_whole else [])):
            tx.put_meta(name, until)
    return None, lambda _: False


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A profile to be written, and the question for it."""

    entity: EntityVersion
    ask: Ask


def _changed(reader: Reader, group: str, since: str | None) -> Counter[str]:
    """Entities with facts that began or ended to be believed after that instant, and how many."""
    changed: Counter[str] = Counter()
    for version in reader.facts_changed(group, Stretch(datetime.fromisoformat(since) if since else None)):
        changed.update((version.source, version.target))
    return changed


def _called(reader: Reader, group: str, since: str | None) -> set[str]:
    """Entities that got another name, type or attribute after that instant."""
    stretch = Stretch(datetime.fromisoformat(since) if since else None)
    return {version.id for version in reader.entities_changed(group, stretch)}


def _wanted_profiles(reader: Reader, group: str, entities: Sequence[str], at: AsOf, model: str) -> Iterator[_Wanted]:
    """Those of these entities whose facts at `at` have no profile yet, in the order given; read a batch at a time."""
    for some in batched(entities, _BATCH):
        known = {e.id: e for e in reader.entities([group], at, EntityMatch(ids=tuple(some))) if e.type != VALUE_TYPE}
        holding = facts_of(reader, [group], list(known.values()), at)
        asks = {e: ask for e in some if e in known and (ask := profile_ask(known[e], holding[e])) is not None}
        kept = kept_profiles(reader, list(asks.values()))
        for e, ask in asks.items():
            if ask.key not in kept or kept_answer(model, *kept[ask.key]) is None:
                yield _Wanted(known[e], ask)


def open_contradictions(reader: Reader, group: str, ontology: Ontology, entities: Iterable[str]) -> list[Contradiction]:
    """What was said of these entities and counts for nothing beside what else was said, by the episode's place in the log."""
    found: dict[tuple[str, str], Contradiction] = {}
    for some in batched(entities, _BATCH):
        seeds = reader.assertions(group, entities=some)
        if not seeds:
            continue
        piece = load_slice(reader, group, ontology, seeds)
        assert piece.reading is not None
        for warning in fold_reading(piece.reading).warnings:
            said = piece.assertions.get(str(warning.raw))
            if warning.code in _OPEN and said is not None:
                found[warning.code, said.id] = Contradiction(warning.code, said.text, said.episode, warning.message)
    order = {e.id: e.seq for e in reader.heads(group, sorted({c.episode for c in found.values()}))}
    return sorted(found.values(), key=lambda c: (order[c.episode], c.text))
