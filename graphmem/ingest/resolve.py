"""Which known entity a found one is: by exact name, by rule, by one question for the undecided, else a new one."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from graphmem import names
from graphmem.embed.base import Embedder, embedded
from graphmem.ingest import answers
from graphmem.ingest.extract import described
from graphmem.ingest.found import IDENTITIES, Extraction, Flow, FoundEntity, Options, is_asked, same_thing, shown, values_of
from graphmem.ingest.kinds import compatible, declared_apart, family, is_person
from graphmem.ingest.similar import Likeness, alike, first_word, is_one_word, likeness, may_be_nickname
from graphmem.llm.base import Ask
from graphmem.model import VALUE_TYPE, AsOf, EntityMatch, EntityVersion, Episode, Warn
from graphmem.ontology import Ontology
from graphmem.runtime import content_id
from graphmem.search.words import words
from graphmem.stores.ahead import Names, Sought
from graphmem.stores.base import Kind, Reader

VERSION = 1
AMBIGUOUS = "the likeliest of several of that name"
_NOW = AsOf()
_LOOKED_AT = 10
_MAX_CONTEXT = 1_000
_MATCHES = ("matches", "resolutions", "entity_resolutions", "entities")


@dataclass(frozen=True, slots=True)
class Resolution:
    """The entity id of each found entity, in their order, with the reason for each; ids that this text says are one; aliases
    that are not taken, each with the position of its entity.
    """

    ids: tuple[str, ...]
    reasons: tuple[str, ...]
    links: tuple[tuple[str, str], ...] = ()
    warnings: tuple[Warn, ...] = ()
    known: Mapping[str, EntityVersion] = field(default_factory=dict)
    refused: frozenset[tuple[int, str]] = frozenset()


@dataclass(slots=True)
class _Open:
    """A found entity that rules leave undecided: whom it may be, and whom it is if the model does not say."""

    at: int
    candidates: list[EntityVersion]
    fallback: EntityVersion | None = None
    why: str = ""


def resolve_flow(
    episode: Episode,
    extraction: Extraction,
    reader: Reader,
    options: Options,
    embedder: Embedder | None,
    ontology: Ontology,
) -> Flow[Resolution]:
    """Decides every found entity; at most one list of asks, of `options.batch` names each."""
    work = _Resolving(episode, extraction, reader, options, ontology)
    for at in range(len(extraction.entities)):
        work.by_name(at)
    for at in work.undecided():
        work.by_likeness(at)
    if not is_asked("resolve", episode, options):
        work.answered(work.open, None)
        return work.resolution()
    if embedder is not None:
        work.by_vector(embedder)
    if work.open:
        batches = [work.open[i : i + options.batch] for i in range(0, len(work.open), options.batch)]
        replies = yield from values_of([work.ask(batch) for batch in batches])
        for batch, reply in zip(batches, replies, strict=True):
            work.answered(batch, reply)
    return work.resolution()


def sought(episode: Episode, extraction: Extraction, options: Options, embedder: Embedder | None) -> Names:
    """What deciding the found entities is going to ask of the memory."""
    found = [e for e in extraction.entities if e.type != VALUE_TYPE]
    asked = embedder is not None and is_asked("resolve", episode, options)
    vectors = embedded(embedder, [e.name for e in found]) if embedder is not None and asked else [None] * len(found)
    things = [Sought((e.name, *e.aliases), words(e.name), vector) for e, vector in zip(found, vectors, strict=True)]
    return Names(_spelled(found), things, _LOOKED_AT, (episode.key,))


def _spelled(found: Iterable[FoundEntity]) -> tuple[str, ...]:
    """All names of things that are no values."""
    return tuple(sorted({n for e in found if e.type != VALUE_TYPE for n in (e.name, *e.aliases)}))


def value_key(name: str) -> str:
    """The canonical form by which values are one: like a name's key, but with its outer signs ("-5" is not "5").

    >>> value_key(" 12  May ") == value_key("12 may"), value_key(".5") == value_key("5")
    (True, False)
    """
    return " ".join(unicodedata.normalize("NFKC", names.clean(name)).casefold().split())


class _Resolving:
    """The state of one episode's resolution."""

    def __init__(self, episode: Episode, extraction: Extraction, reader: Reader, options: Options, ontology: Ontology) -> None:
        self.episode, self.extraction, self.reader, self.options = episode, extraction, reader, options
        self.ontology = ontology
        self.found = extraction.entities
        self.ids: list[str | None] = [None] * len(self.found)
        self.reasons: list[str] = [""] * len(self.found)
        self.links: list[tuple[str, str]] = []
        self.exact: list[tuple[str, str]] = []
        self.warnings: list[Warn] = []
        self.open: list[_Open] = []
        self.known: dict[str, EntityVersion] = {}
        self.people = {names.key(name) for name in extraction.participants}
        self.index = self._index()

    def _index(self) -> dict[str, list[EntityVersion]]:
        """Known entities by the keys of the names found, in one read."""
        wanted = _spelled(self.found)
        index: dict[str, list[EntityVersion]] = {}
        if wanted:
            for entity in self.reader.entities((self.episode.group,), _NOW, EntityMatch(names=wanted)):
                if entity.type != VALUE_TYPE:
                    for key in {names.key(n) for n in (entity.name, *entity.aliases)}:
                        index.setdefault(key, []).append(entity)
        return index

    def undecided(self) -> list[int]:
        """Positions without an id and without candidates yet."""
        asked = {o.at for o in self.open}
        return [at for at, known in enumerate(self.ids) if known is None and at not in asked]

    def _fits(self, known: EntityVersion, found: FoundEntity) -> bool:
        return compatible(known.type, found.type, self.ontology)

    def decide(self, at: int, entity: EntityVersion, why: str) -> None:
        self.ids[at], self.reasons[at] = entity.id, why
        self.known[entity.id] = entity

    # -- by exact name

    def by_name(self, at: int) -> None:
        found = self.found[at]
        if found.type == VALUE_TYPE:
            self.ids[at], self.reasons[at] = content_id("en", self.episode.group, "value", value_key(found.name)), "the same value"
            return
        named = self.index.get(names.key(found.name), [])
        if found.identity is not None:
            self._by_identity(at, named)
            return
        fitting = [e for e in named if self._fits(e, found)]
        aliased = self._aliased(found)
        if self._speaks(at):  # and so is nobody else who is known
            aliased = [e for e in aliased if any(alike(found.name, name) for name in (e.name, *e.aliases))]
        if len(fitting) == 1:
            self.decide(at, fitting[0], "same name")
            self._link(fitting[0], aliased)
        elif fitting:
            self.open.append(_Open(at, fitting, self._likeliest(found, fitting), AMBIGUOUS))
        elif named and (apart := [e for e in named if not declared_apart(e.type, found.type, self.ontology)]):
            self.open.append(_Open(at, apart))
        elif len(aliased) == 1:
            self.decide(at, aliased[0], "known by another name of it")
        elif aliased:
            self.open.append(_Open(at, aliased))

    def _speaks(self, at: int) -> bool:
        return at == self.extraction.actor or names.key(self.found[at].name) in self.people

    def _link(self, known: EntityVersion, others: Sequence[EntityVersion]) -> None:
        """Link a known entity with others that the text gives its name to."""
        self.known |= {e.id: e for e in others}
        self.links.extend((known.id, e.id) for e in others if e.id != known.id)

    def _by_identity(self, at: int, named: list[EntityVersion]) -> None:
        """An exact identity is its own id; one known thing of that name without another identity is the same thing."""
        found = self.found[at]
        entity = content_id("en", self.episode.group, "identity", found.identity)
        self.ids[at], self.reasons[at] = entity, "same identity"
        fitting = [e for e in named if self._fits(e, found) and _one_thing(e, found)]
        if len(fitting) == 1 and fitting[0].id != entity:
            self.exact.append((entity, fitting[0].id))

    def _likeliest(self, found: FoundEntity, fitting: Sequence[EntityVersion]) -> EntityVersion:
        """Of several known ones of that name: the one of the same type, else one who takes part, else the first known."""

        def rank(entity: EntityVersion) -> tuple[bool, bool, object, str]:
            takes_part = any(names.key(n) in self.people for n in (entity.name, *entity.aliases))
            return entity.type.casefold() != found.type.casefold(), not takes_part, entity.system.start, entity.id

        return min(fitting, key=rank)

    def _aliased(self, found: FoundEntity) -> list[EntityVersion]:
        """The known entities that the found one's other names mean; a name of several means none."""
        meant: dict[str, EntityVersion] = {}
        for alias in found.aliases:
            fitting = [e for e in self.index.get(names.key(alias), []) if self._fits(e, found)]
            if len(fitting) == 1:
                meant[fitting[0].id] = fitting[0]
        return list(meant.values())

    # -- by spelling

    def by_likeness(self, at: int) -> None:
        found = self.found[at]
        near = [e for e in self._near(found.name) if self._fits(e, found)]
        alike = {e.id: max(likeness(found.name, found.type, n, e.type) for n in (e.name, *e.aliases)) for e in near}
        same = [e for e in near if alike[e.id] is Likeness.SAME]
        if len(same) == 1:
            self.decide(at, same[0], "same name but for its spelling")
            return
        candidates = same or [e for e in near if alike[e.id] is Likeness.WORTH_ASKING]
        if candidates:
            fallback, why = self._first_name(at, candidates) if is_person(found.type) else (None, "")
            self.open.append(_Open(at, candidates, fallback, why))

    def _near(self, name: str) -> list[EntityVersion]:
        group = (self.episode.group,)
        terms = list(dict.fromkeys(words(name)))
        hits = self.reader.text_search(Kind.ENTITY, terms, group, _NOW, _LOOKED_AT) if terms else []
        return self._entities(hit.id for hit in hits)

    def _entities(self, ids: Iterable[str]) -> list[EntityVersion]:
        wanted = list(dict.fromkeys(ids))
        if not wanted:
            return []
        by_id = {e.id: e for e in self.reader.entities((self.episode.group,), _NOW, EntityMatch(ids=tuple(wanted)))}
        return [by_id[i] for i in wanted if i in by_id and by_id[i].type != VALUE_TYPE]

    def _first_name(self, at: int, candidates: Sequence[EntityVersion]) -> tuple[EntityVersion | None, str]:
        """Whom a bare first name means when nobody can be asked: the only person of that first name, or the only one of
        several who takes part in the session. A speaker's own name means nobody else.
        """
        found = self.found[at]
        if at == self.extraction.actor or names.key(found.name) in self.people or not is_one_word(found.name):
            return None, ""
        first = names.key(found.name)
        namesakes = [e for e in candidates if family(e.type) == "person" and first_word(e.name) == first and not is_one_word(e.name)]
        if len(namesakes) == 1:
            return namesakes[0], "the only person of that first name"
        present = [e for e in namesakes if any(names.key(n) in self.people for n in (e.name, *e.aliases))]
        return (present[0], "the one of that first name who takes part") if len(present) == 1 else (None, "")

    # -- by vector

    def by_vector(self, embedder: Embedder) -> None:
        left = self.undecided()
        if not left:
            return
        vectors = embedded(embedder, [self.found[at].name for at in left])
        group = (self.episode.group,)
        for at, vector in zip(left, vectors, strict=True):
            scores = {hit.id: hit.score for hit in self.reader.vector_search(Kind.ENTITY, vector, group, _NOW, _LOOKED_AT)}
            near = [e for e in self._entities(scores) if self._is_near(self.found[at], e, scores[e.id])]
            if near:
                self.open.append(_Open(at, near))

    def _is_near(self, found: FoundEntity, known: EntityVersion, score: float) -> bool:
        people = is_person(found.type) and is_person(known.type)
        if score < self.options.similar and not (people and may_be_nickname(found.name, known.name)):
            return False
        return self._fits(known, found) and names.numbers(known.name) == names.numbers(found.name)

    # -- by asking

    def ask(self, batch: Sequence[_Open]) -> Ask:
        new = []
        for number, item in enumerate(batch):
            found = self.found[item.at]
            candidates = [{**described(e), "id": f"e{n}"} for n, e in enumerate(item.candidates, 1)]
            new.append({"new": number, "name": found.name, "type": found.type, "candidates": candidates})
        return Ask("resolve", VERSION, {"text": self.episode.body[:_MAX_CONTEXT], "speaker": self.episode.actor, "new": new})

    def answered(self, batch: Sequence[_Open], value: object) -> None:
        """Takes the first answer about each name; what it leaves open falls back to the rule, else is new."""
        rows = answers.first(value, _match_rows)
        if rows is None and value is not None:
            self.warnings.append(Warn("unreadable", shown(value), "no answer about who is meant can be read"))
        rows = rows[: 10 * len(batch)] if isinstance(rows, list) else []
        said: dict[int, EntityVersion | None] = {}
        for row in rows:
            self._take(row, batch, said)
        for number, item in enumerate(batch):
            if number in said:
                match = said[number]
                if match is not None:
                    self.decide(item.at, match, "the model says it is the same")
            elif item.fallback is not None:
                self.decide(item.at, item.fallback, item.why)
                if item.why == AMBIGUOUS:
                    message = f"{len(item.candidates)} known ones have that name, and nobody says which is meant; the likeliest is taken"
                    self.warnings.append(Warn("ambiguous_name", self.found[item.at].name, message))
            elif rows:
                self.warnings.append(Warn("no_answer", self.found[item.at].name, "the model does not say who this is; taken as new"))

    def _take(self, row: object, batch: Sequence[_Open], said: dict[int, EntityVersion | None]) -> None:
        number = answers.whole(answers.field(row, ("new", "id", "index"))) if isinstance(row, Mapping) else None
        if number is None or not 0 <= number < len(batch):
            self.warnings.append(Warn("bad_ref", shown(row), "answers about no name that was asked"))
            return
        if number in said:
            self.warnings.append(Warn("repeated_answer", shown(row), "the first answer counts"))
            return
        existing = answers.field(row, ("existing", "match", "existing_id", "duplicate_of")) if isinstance(row, Mapping) else None
        offered = {f"e{n}": e for n, e in enumerate(batch[number].candidates, 1)}
        said[number] = offered.get(existing.strip()) if isinstance(existing, str) else None
        if existing not in (None, "", "null", "none", "new") and said[number] is None:
            self.warnings.append(
                Warn("unknown_id", shown(existing), f"not an entity that was offered; {self.found[batch[number].at].name} is taken as new")
            )

    # -- the result

    def _allowed(self, links: Iterable[tuple[str, str]], ids: Sequence[str]) -> tuple[tuple[str, str], ...]:
        """The links that a text alone may make: none that gives one who is known or speaks to somebody of another name, be it by
        way of others.
        """
        fixed = self.known.keys() | {ids[at] for at in range(len(ids)) if self._speaks(at)}
        called = {**dict(zip(ids, (e.name for e in self.found), strict=True)), **{e.id: e.name for e in self.known.values()}}
        joined: dict[str, set[str]] = {}
        allowed: list[tuple[str, str]] = []
        for one, other in links:
            ours, theirs = joined.setdefault(one, {one}), joined.setdefault(other, {other})
            pairs = sorted((called[a], called[b]) for a in ours for b in theirs if a != b and (a in fixed or b in fixed))
            unlike = next((pair for pair in pairs if not alike(*pair)), None)
            if unlike is not None:
                self.warnings.append(Warn("link_refused", list(unlike), "their names are not alike; a text alone does not make them one"))
                continue
            allowed.append((one, other))
            both = ours | theirs
            joined.update((member, both) for member in both)
        return tuple(allowed)

    def _refused(self, ids: Sequence[str], links: Collection[tuple[str, str]]) -> set[tuple[int, str]]:
        """Aliases (position, name) that are the name of somebody else who is known or speaks, and not alike: nobody takes them."""
        refused: set[tuple[int, str]] = set()
        for at, found in enumerate(self.found):
            for alias in () if found.identities else found.aliases:
                known = [e.id for e in self.index.get(names.key(alias), []) if e.id != ids[at]]
                known = [e for e in known if (ids[at], e) not in links and (e, ids[at]) not in links]
                others = known or (names.key(alias) in self.people and names.key(found.name) not in self.people)
                if others and not alike(found.name, alias):
                    refused.add((at, alias))
                    self.warnings.append(Warn("alias_refused", alias, f"somebody else's name; {found.name} does not take it"))
        return refused

    def resolution(self) -> Resolution:
        """Ids for all; the new ones derive from the episode and the position of their first mention."""
        ids: list[str] = []
        for at, known in enumerate(self.ids):
            ids.append(known or content_id("en", self.episode.group, self.episode.id, at))
            self.reasons[at] = self.reasons[at] or "new"
        said = [(ids[one], ids[other]) for one, other in self.extraction.links if ids[one] != ids[other]]
        links = tuple(dict.fromkeys((*self.exact, *self._allowed(dict.fromkeys((*self.links, *said)), ids))))
        refused = self._refused(ids, links) if is_asked("extract", self.episode, self.options) else set()
        return Resolution(tuple(ids), tuple(self.reasons), links, tuple(self.warnings), self.known, frozenset(refused))


def _match_rows(value: object) -> list[object] | None:
    if isinstance(value, list):
        return value
    rows = answers.field(value, _MATCHES) if isinstance(value, Mapping) else None
    return rows if isinstance(rows, list) else None


def _one_thing(known: EntityVersion, found: FoundEntity) -> bool:
    """Whether a known thing of that name is the one found: it has no identity, or the best one that both have is the same."""
    theirs = known.attributes.get(IDENTITIES)
    return not isinstance(theirs, (list, tuple)) or same_thing(found.identities, [str(i) for i in theirs]) is True


def identified(entity: FoundEntity) -> Mapping[str, object]:
    """The attributes to keep with a mention: those found, and the exact identities."""
    if not entity.identities:
        return entity.attributes
    return {**entity.attributes, IDENTITIES: list(entity.identities)}
