"""Which new assertions repeat or contradict what is known: rules first, then one question for what they leave open."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rapidfuzz import fuzz

from graphmem.belief.fold import fact_id
from graphmem.ingest import answers
from graphmem.ingest.extract import local_time
from graphmem.ingest.found import Flow, Options, is_asked, shown, values_of
from graphmem.ingest.reading import episode_zone
from graphmem.interval import printed
from graphmem.llm.base import Ask
from graphmem.model import AsOf, Assertion, AssertionKind, EntityMatch, Episode, FactKey, FactMatch, FactVersion, Warn
from graphmem.ontology import Ontology
from graphmem.stores.ahead import Beliefs, ahead
from graphmem.stores.base import Reader

VERSION = 1
_NOW = AsOf()
_READ = 500
_CANDIDATES = 12
_BATCH = 40
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*(?!\d*(?:st|nd|rd|th)\b)")  # "the 17th member" is no value that changed
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_DAY = re.compile(rf"\b\d{{4}}-\d\d(?:-\d\d)?\b|\b\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}\b|\b{_MONTH}\s+\d{{1,2}}\b", re.IGNORECASE)
_NOT_WORD = re.compile(r"\W+")
_OPPOSITES = (
    ("LIKES", "DISLIKES"), ("LOVES", "HATES"), ("LIKES", "HATES"), ("LOVES", "DISLIKES"), ("SUPPORTS", "OPPOSES"), ("ACCEPTS", "REJECTS"),
    ("TRUSTS", "DISTRUSTS"), ("AGREES_WITH", "DISAGREES_WITH"), ("ALLOWS", "FORBIDS"), ("ENABLES", "DISABLES"), ("INCLUDES", "EXCLUDES"),
)  # fmt: skip
_JUDGEMENTS = ("judgements", "judgments", "results", "facts")


@dataclass(frozen=True, slots=True)
class Judged:
    """The assertions with their decisions, the reason for each decided one, and what was refused."""

    assertions: tuple[Assertion, ...]
    reasons: Mapping[str, str]
    warnings: tuple[Warn, ...] = ()


@dataclass(frozen=True, slots=True)
class _Known:
    """A fact one may repeat or contradict: a version shown (or an earlier assertion of the episode) and what is behind it."""

    id: str
    key: FactKey
    text: str
    first: str
    behind: tuple[str, ...]
    valid: tuple[str, str]
    status: str
    excludes: tuple[str, ...] = ()

    @property
    def rank(self) -> tuple[object, ...]:
        """Its place among facts that are as likely. The id of a version depends on the clock, which a replay has not."""
        return self.text, self.valid, self.first


@dataclass(slots=True)
class _Decision:
    same_as: str | None = None
    excludes: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)

    def contradicts(self, ids: Iterable[str], why: str) -> None:
        self.excludes.extend(i for i in ids if i not in self.excludes)
        self.reasons.append(why)


def decider(later: Assertion, earlier: Assertion, ontology: Ontology) -> str:
    """Who decided that `later` repeats or contradicts `earlier`: "a rule", if one does so without being asked, else "the model"."""
    one, other = (ontology.triple(a.relation, a.source, a.target) for a in (later, earlier))
    if earlier.id in later.excludes:
        by_rule = (one[0], other[0]) in _opposite(ontology) and one[1:] == other[1:]
        return "a rule" if by_rule or (one == other and differ_in_a_number_only(later.text, earlier.text)) else "the model"
    return "a rule" if one == other else "the model"


def _opposite(ontology: Ontology) -> set[tuple[str, str]]:
    """Pairs of relations of which one is the contrary of the other, both ways round, as the ontology calls them."""
    named = ((ontology.canonical(a)[0], ontology.canonical(b)[0]) for a, b in _OPPOSITES)
    return {pair for x, y in named if x != y for pair in ((x, y), (y, x))}


def judge_flow(
    episode: Episode, assertions: Sequence[Assertion], entity_names: Mapping[str, str], reader: Reader, ontology: Ontology, options: Options
) -> Flow[Judged]:
    """Decides `same_as` and `excludes` of the new assertions; at most one list of asks.

    `entity_names` gives the names that the episode uses. Facts that only one can hold at a time need no decision.
    """
    if not assertions:
        return Judged((), {})
    work = _Judging(episode, ontology, options)
    asked = _asked_for(assertions, ontology, work.is_asked)
    if (told := ahead(reader)) is not None:
        told.expect(episode.group, _around(assertions, entity_names, episode.group, ontology, asked))
    for version, first, behind, excludes in _facts_around(asked, episode, reader):
        work.add_version(version, first, behind, excludes)
    for assertion in assertions:
        work.by_rule(assertion)
        work.add_assertion(assertion)
    if work.open:
        shown_names = {**_names_of(work.ends() - entity_names.keys(), episode.group, reader), **entity_names}
        batches = [work.open[i : i + _BATCH] for i in range(0, len(work.open), _BATCH)]
        replies = yield from values_of([work.ask(batch, shown_names) for batch in batches])
        for batch, reply in zip(batches, replies, strict=True):
            work.answered(batch, reply)
    return work.judged(assertions)


def _names_of(entities: Collection[str], group: str, reader: Reader) -> dict[str, str]:
    if not entities:
        return {}
    return {e.id: e.name for e in reader.entities((group,), _NOW, EntityMatch(ids=tuple(sorted(entities))))}


def _asked_for(assertions: Sequence[Assertion], ontology: Ontology, asked: bool) -> list[FactMatch]:
    """Which facts the new assertions may speak of: those with the same two ends, and others of a source where the model is asked."""
    triples = [ontology.triple(a.relation, a.source, a.target) for a in assertions]
    ends = tuple(sorted({end for _, source, target in triples for end in (source, target)}))
    matches = [FactMatch(sources=ends, targets=ends)]
    several = [t for t in triples if not ontology.slots(FactKey(*t))] if asked else []
    for either_end in (False, True):
        of_that = [t for t in several if ontology.relation(t[0]).symmetric is either_end]
        if of_that:
            sources, relations = tuple(sorted({t[1] for t in of_that})), tuple(sorted({t[0] for t in of_that}))
            end = FactMatch(entities=sources) if either_end else FactMatch(sources=sources)
            matches.append(replace(end, relations=relations))
    return matches


def _around(
    assertions: Sequence[Assertion], entities: Collection[str], group: str, ontology: Ontology, matches: Sequence[FactMatch]
) -> Beliefs:
    """What is going to be read, here and when the assertions are folded with what is known."""
    keys = {FactKey(*ontology.triple(a.relation, a.source, a.target)) for a in assertions}
    slots = dict.fromkeys(slot for key in sorted(keys) for slot in ontology.slots(key))
    return Beliefs(tuple(entities), [fact_id(group, key) for key in sorted(keys)], tuple(slots), matches, _READ)


def _facts_around(
    matches: Sequence[FactMatch], episode: Episode, reader: Reader
) -> list[tuple[FactVersion, str, tuple[str, ...], tuple[str, ...]]]:
    """Versions that the new assertions may speak of, ended ones too: with the first assertion of the fact, those behind the
    version, and what these exclude.
    """
    group = (episode.group,)
    versions = list({v.uuid: v for match in matches for v in reader.facts(group, _NOW, match, _READ)}.values())
    ids = sorted({v.fact_id for v in versions})
    if not ids:
        return []
    spoken = {a.id: a for a in reader.assertions(episode.group, facts=ids)}
    fact_of = reader.fact_ids(episode.group, list(spoken))
    first: dict[str, str] = {}
    for assertion in spoken:
        first.setdefault(fact_of.get(assertion) or "", assertion)
    behind: dict[tuple[str, object], list[str]] = {}
    for citation in reader.citations(group, _NOW, facts=ids):
        if citation.by in spoken:
            behind.setdefault((citation.fact_id, citation.valid_at), []).append(citation.by)
    out = []
    for version in versions:
        if version.fact_id in first:
            cited = tuple(behind.get((version.fact_id, version.valid.start), [first[version.fact_id]]))
            excludes = tuple(dict.fromkeys(e for by in cited for e in spoken[by].excludes))
            out.append((version, first[version.fact_id], cited, excludes))
    return out


def _plain(text: str) -> str:
    return _NOT_WORD.sub(" ", text.casefold()).strip()


def _without_numbers(text: str) -> str:
    return _plain(_NUMBER.sub(" # ", text).replace("#", "0"))


def differ_in_a_number_only(one: str, other: str) -> bool:
    """Whether two sentences are equal but for their numbers; a date is no number, as the facts' dates say what it does.

    >>> differ_in_a_number_only("The rent is 900.", "The rent is 1,000"), differ_in_a_number_only("Rent is 900", "Rent is 900.")
    (True, False)
    >>> differ_in_a_number_only("Ana is the 3rd member", "Ana is the 12th member")
    False
    >>> differ_in_a_number_only("Ana joins Acme on 1 July", "Ana joins Acme on 14 July")
    False
    """
    ours, theirs = ([n.replace(",", "") for n in _NUMBER.findall(_DAY.sub(" ", text).rstrip(".,"))] for text in (one, other))
    return ours != theirs and len(ours) == len(theirs) and _without_numbers(one) == _without_numbers(other)


class _Judging:
    """The state of judging one episode."""

    def __init__(self, episode: Episode, ontology: Ontology, options: Options) -> None:
        self.episode, self.ontology, self.options = episode, ontology, options
        self.is_asked = is_asked("judge", episode, options)
        self.known: dict[str, _Known] = {}
        self.around: dict[object, dict[str, _Known]] = {}  # by the two ends, and by relation and source: what passes the gate
        self.decisions: dict[str, _Decision] = {}
        self.open: list[tuple[Assertion, list[_Known]]] = []
        self.contradicted: dict[str, list[_Known]] = {}
        self.warnings: list[Warn] = []
        self.opposite = _opposite(ontology)

    # -- what is known

    def add_version(self, version: FactVersion, first: str, behind: tuple[str, ...], excludes: tuple[str, ...]) -> None:
        zone, now = episode_zone(self.episode.zone), self.episode.reference_time
        start = version.start.shown(version.valid.start, zone)
        end = version.end.shown(version.valid.end, zone, is_end=True)
        status = (
            "current" if now in version.valid else "planned" if version.valid.start is not None and version.valid.start > now else "ended"
        )
        key = FactKey(*self.ontology.triple(version.relation, version.source, version.target))
        self._add(_Known(version.uuid, key, version.text, first, behind, (start, end), status, excludes))

    def add_assertion(self, assertion: Assertion) -> None:
        """An earlier assertion of the same episode counts like a known fact."""
        if assertion.kind is AssertionKind.HOLDS:
            decision = self.decisions.get(assertion.id, _Decision())
            first = decision.same_as or assertion.id
            known = _Known(
                assertion.id,
                self._key(assertion),
                assertion.text,
                first,
                (assertion.id,),
                self._dates(assertion),
                "new",
                tuple(decision.excludes),
            )
            self._add(known)

    def _add(self, known: _Known) -> None:
        self.known[known.id] = known
        for place in self._places(known.key):
            self.around.setdefault(place, {})[known.id] = known

    def _places(self, key: FactKey) -> list[object]:
        places: list[object] = [frozenset((key.source, key.target)), (key.relation, key.source)]
        if self.ontology.relation(key.relation).symmetric:
            places.append((key.relation, key.target))
        return places

    def _near(self, key: FactKey) -> list[_Known]:
        near: dict[str, _Known] = {}
        for place in self._places(key):
            near.update(self.around.get(place, {}))
        return list(near.values())

    def _key(self, assertion: Assertion) -> FactKey:
        return FactKey(*self.ontology.triple(assertion.relation, assertion.source, assertion.target))

    def _dates(self, a: Assertion) -> tuple[str, str]:
        zone = episode_zone(self.episode.zone)
        start = printed(a.start.first, a.start.precision, zone) if a.start else ""
        return start, printed(a.end.last, a.end.precision, zone, is_end=True) if a.end else ""

    # -- rules

    def by_rule(self, assertion: Assertion) -> None:
        """Repeats and contradictions that need no model; what they leave open is kept for the question."""
        key = self._key(assertion)
        decision = self.decisions.setdefault(assertion.id, _Decision())
        near = self._near(key)
        same = [k for k in near if k.key == key]
        repeated = max(
            (k for k in same if not differ_in_a_number_only(assertion.text, k.text)),
            key=lambda k: (_plain(k.text) == _plain(assertion.text), fuzz.ratio(k.text, assertion.text), k.rank),
            default=None,
        )
        if repeated is not None:
            self._repeats(decision, repeated, same)
        if assertion.kind is not AssertionKind.HOLDS:
            return
        for other in same:
            if repeated is None and differ_in_a_number_only(assertion.text, other.text):
                decision.contradicts(other.behind, f"rule: the same sentence with another number: {other.text}")
        for other in near:
            if (key.relation, other.key.relation) in self.opposite and (key.source, key.target) == (other.key.source, other.key.target):
                decision.contradicts(other.behind, f"rule: {key.relation} against {other.key.relation}")
        if not self.is_asked:
            return
        candidates = self._candidates(assertion, key, near, set(decision.excludes))
        verbatim = repeated is not None and _plain(repeated.text) == _plain(assertion.text)
        # What one text says twice is no reason to ask: its own facts only go along with those of the memory.
        if not verbatim and any(k.status != "new" for k in candidates):
            self.open.append((assertion, candidates))

    def _repeats(self, decision: _Decision, known: _Known, same: Sequence[_Known]) -> None:
        """A repeat stands for the fact it repeats: for its variant, where there are several, and with its exclusions."""
        if len({k.first for k in same}) > 1:
            decision.same_as = known.first
            decision.reasons.append(f"rule: repeats {known.text}")
        if known.excludes:
            decision.contradicts(known.excludes, f"rule: repeats {known.text}, and what it contradicts")

    def _candidates(self, assertion: Assertion, key: FactKey, near: Sequence[_Known], decided: set[str]) -> list[_Known]:
        slots = set(self.ontology.slots(key))
        open_to = [
            k
            for k in near
            if self.ontology.gate(key, k.key)
            and not slots & set(self.ontology.slots(k.key))
            and not decided & set(k.behind)
            and k.text != assertion.text
        ]
        open_to.sort(key=lambda k: (k.key != key, -fuzz.token_set_ratio(k.text, assertion.text), k.rank))
        return open_to[:_CANDIDATES]

    # -- the question

    def ends(self) -> set[str]:
        """The entities that the facts in question join."""
        return {end for _, candidates in self.open for k in candidates for end in (k.key.source, k.key.target)}

    def ask(self, batch: Sequence[tuple[Assertion, list[_Known]]], entity_names: Mapping[str, str]) -> Ask:
        new, offered = [], _offered(batch)
        short = {k.id: name for name, k in offered.items()}
        for number, (assertion, candidates) in enumerate(batch):
            start, end = self._dates(assertion)
            row = self._row(self._key(assertion), assertion.text, start, end, entity_names)
            new.append({"new": number, **row, "kind": str(assertion.kind), "candidates": [short[k.id] for k in candidates]})
        facts = [{"id": name, **self._row(k.key, k.text, *k.valid, entity_names), "status": k.status} for name, k in offered.items()]
        return Ask("judge", VERSION, {"reference_time": local_time(self.episode), "new": new, "facts": facts})

    def _row(self, key: FactKey, text: str, start: str, end: str, entity_names: Mapping[str, str]) -> dict[str, object]:
        return {
            "source": entity_names.get(key.source, key.source),
            "relation": key.relation,
            "target": entity_names.get(key.target, key.target),
            "text": text,
            "valid_at": start or None,
            "invalid_at": end or None,
        }

    def answered(self, batch: Sequence[tuple[Assertion, list[_Known]]], value: object) -> None:
        """Takes the first judgement of each new fact; ids that name no fact are told."""
        rows = answers.first(value, _judgement_rows)
        if rows is None and value is not None:
            self.warnings.append(Warn("unreadable", shown(value), "no answer about repeats and contradictions can be read"))
        seen: set[int] = set()
        offered = _offered(batch)
        for row in rows[: 10 * len(batch)] if isinstance(rows, list) else []:
            raw = answers.field(row, ("new", "id", "index"), 0 if len(batch) == 1 else None) if isinstance(row, Mapping) else None
            number = answers.whole(raw)
            if number is None or not 0 <= number < len(batch) or number in seen:
                self.warnings.append(Warn("bad_ref", shown(row), "judges no fact that was asked about, or one a second time"))
                continue
            seen.add(number)
            assertion = batch[number][0]
            duplicates = self._named(assertion, offered, answers.field(row, ("duplicates", "duplicate_facts")))
            contradicts = self._named(assertion, offered, answers.field(row, ("contradicts", "contradictions", "contradicted_facts")))
            self._duplicates(assertion, duplicates)
            told = {k.id for k in duplicates}
            passed = [k for k in contradicts if k.id not in told and self._passes(assertion, k)]
            if passed:
                self.contradicted[assertion.id] = passed

    def _named(self, assertion: Assertion, offered: Mapping[str, _Known], raw: object) -> list[_Known]:
        named: dict[str, _Known] = {}
        for item in raw[: 2 * len(offered) + 10] if isinstance(raw, list) else [] if raw is None else [raw]:
            known = offered.get(item.strip()) if isinstance(item, str) else None
            if known is None or known.id == assertion.id:
                self.warnings.append(Warn("unknown_id", shown(item), "not a fact that was offered; ignored"))
            else:
                named[known.id] = known
        return list(named.values())

    def _duplicates(self, assertion: Assertion, duplicates: Sequence[_Known]) -> None:
        key, decision = self._key(assertion), self.decisions[assertion.id]
        for known in duplicates:
            if {key.source, key.target} != {known.key.source, known.key.target}:
                self.warnings.append(Warn("duplicate_refused", [assertion.id, known.id], "a repeat joins the same two things; ignored"))
            elif decision.same_as is None:
                decision.same_as = known.first
                decision.reasons.append(f"model: repeats {known.text}")
                if known.excludes:
                    decision.contradicts(known.excludes, f"rule: repeats {known.text}, and what it contradicts")

    def _passes(self, assertion: Assertion, known: _Known) -> bool:
        passes = self.ontology.gate(self._key(assertion), known.key)
        if not passes:
            self.warnings.append(
                Warn(
                    "contradiction_refused",
                    [assertion.id, known.id],
                    f"{assertion.text!r:.60} cannot contradict {known.text!r:.60}: other things",
                )
            )
        return passes

    # -- the result

    def judged(self, assertions: Sequence[Assertion]) -> Judged:
        named = {k.id for all_named in self.contradicted.values() for k in all_named}
        if len(named) > self.options.contradiction_cap:
            message = (
                f"the model says that {len(named)} facts are contradicted, more than {self.options.contradiction_cap}: none is recorded"
            )
            self.warnings.append(Warn("contradiction_cap", sorted(named), message))
        else:
            for decided_id, contradicted in self.contradicted.items():
                for known in contradicted:
                    self.decisions[decided_id].contradicts(known.behind, f"model: contradicts {known.text}")
        decided: list[Assertion] = []
        for assertion in assertions:
            decision = self.decisions[assertion.id]
            same_as = decision.same_as if decision.same_as != assertion.id else None
            excludes = tuple(e for e in decision.excludes if e not in (assertion.id, same_as))
            decided.append(replace(assertion, same_as=same_as, excludes=excludes))
        reasons = {i: "; ".join(dict.fromkeys(d.reasons)) for i, d in self.decisions.items() if d.reasons}
        return Judged(tuple(decided), reasons, tuple(self.warnings))


def _offered(batch: Sequence[tuple[Assertion, list[_Known]]]) -> dict[str, _Known]:
    """The facts that a question shows, under short names: a model copies "f2" without a slip."""
    facts = {k.id: k for _, candidates in batch for k in candidates}
    return {f"f{n}": k for n, k in enumerate(facts.values(), 1)}


def _judgement_rows(value: object) -> list[object] | None:
    """The rows of an answer; the flat form of one judgement is a row."""
    if isinstance(value, list):
        return value
    if not isinstance(value, Mapping):
        return None
    rows = answers.field(value, _JUDGEMENTS)
    if isinstance(rows, list):
        return rows
    flat = any(answers.field(value, (name,)) is not None for name in ("duplicates", "contradicts", "duplicate_facts", "contradicted_facts"))
    return [value] if flat else None
