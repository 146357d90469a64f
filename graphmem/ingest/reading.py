"""Reading an extraction answer tolerantly: item by item, and everything dropped or repaired is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timezone, tzinfo
from functools import lru_cache

from graphmem import names
from graphmem.errors import AnswerUnusable
from graphmem.ingest import answers
from graphmem.ingest.found import FoundEntity, FoundFact, shown
from graphmem.ingest.given import read_attributes
from graphmem.ingest.kinds import compatible, is_specific
from graphmem.ingest.similar import alike
from graphmem.ingest.wording import owned, said_date
from graphmem.instants import zone_of
from graphmem.interval import DateUnit, Origin
from graphmem.model import DEFAULT_TYPE, EMPTY, VALUE_TYPE, AssertionKind, Span, Warn
from graphmem.ontology import Ontology
from graphmem.relations import DEFAULT_ONTOLOGY
from graphmem.roles import Role, role_of

_ENTITIES = ("entities", "extracted_entities", "nodes", "extracted_nodes", "entity_list")
_FACTS = ("facts", "extracted_facts", "edges", "extracted_edges", "relations", "relationships", "triples", "triplets")
_NAME = ("name", "entity_name", "entity", "title", "label")
_TYPE = ("type", "entity_type", "kind", "category", "labels")
_SOURCE = (
    "source",
    "s",
    "src",
    "source_entity",
    "source_entity_name",
    "source_name",
    "source_id",
    "source_entity_id",
    "subject",
    "head",
    "from",
)
_TARGET = (
    "target",
    "t",
    "dst",
    "tgt",
    "target_entity",
    "target_entity_name",
    "target_name",
    "target_id",
    "target_entity_id",
    "object",
    "tail",
    "to",
)
_RELATION = ("relation", "rel", "relation_type", "relationship", "edge_type", "predicate", "type", "name")
_TEXT = ("text", "fact", "sentence", "statement", "description")
_START = ("valid_at", "valid_from", "start", "start_date", "from_date", "since")
_END = ("invalid_at", "valid_to", "valid_until", "end", "end_date", "until")
_LINKS = ("links", "same_entities", "coreferences")
_CLAUSES = ("clauses", "search_text")

_WORDS_FOR_ME = "i me my mine myself i'm 私 わたし 僕 俺 我 أنا انا я yo ich je eu io 나 저 मैं ben"
_WORDS_FOR_OTHERS = """he she it they him her them his hers its their theirs this that these those we us we're our ours you your yours
someone somebody anyone everyone everybody something anything one who which himself herself themselves itself
彼 彼女 他 她 它 他们 هو هي هم он она они él ella er sie il elle lui"""
_FIRST_PERSON = frozenset(_WORDS_FOR_ME.split())
_NO_ONE = frozenset(_WORDS_FOR_OTHERS.split())
_USER = frozenset(("the user", "user"))
_SPEAKER = frozenset(("the speaker", "speaker", "the author", "narrator"))
_JUNK = frozenset(("none", "null", "nil", "nan", "n/a", "undefined", "unknown", "unnamed"))
_KINDS = {
    "holds": AssertionKind.HOLDS, "hold": AssertionKind.HOLDS, "true": AssertionKind.HOLDS,
    "ends": AssertionKind.ENDS, "end": AssertionKind.ENDS, "ended": AssertionKind.ENDS,
    "denies": AssertionKind.DENIES, "deny": AssertionKind.DENIES, "denied": AssertionKind.DENIES, "negated": AssertionKind.DENIES,
}  # fmt: skip
RELATED = "RELATES_TO"
MAX_SENTENCE = 20_000
_MAX_RELATION = 100
_MOST = 2_000  # items of one list
_MOST_ALIASES = 20


@lru_cache(maxsize=256)
def episode_zone(name: str) -> tzinfo:
    """The zone an episode keeps by name: an IANA name, or an offset such as "+09:00"."""
    try:
        offset = datetime.strptime(name.removeprefix("UTC"), "%z").utcoffset()
    except ValueError:
        return zone_of(name)
    return timezone(offset) if offset else UTC


@dataclass(frozen=True, slots=True)
class Setting:
    """What an answer is read against: the piece of text and where it starts, its time and zone, who speaks, whom one may mean."""

    text: str
    reference: datetime
    zone: tzinfo
    actor: str | None = None
    known: tuple[tuple[str, str], ...] = ()
    offset: int = 0
    ontology: Ontology = DEFAULT_ONTOLOGY


@dataclass(frozen=True, slots=True)
class Piece:
    """What one answer says; positions refer to its own entities, spans to the whole episode.

    `unread` is where in the episode a text starts that no answer could be read about.
    """

    entities: tuple[FoundEntity, ...]
    facts: tuple[FoundFact, ...]
    clauses: tuple[str, ...] = ()
    links: tuple[tuple[int, int], ...] = ()
    warnings: tuple[Warn, ...] = ()
    unread: tuple[int, ...] = ()


def read_extraction(answer: object, setting: Setting) -> Piece:
    """What the answer says about the text. Raises `AnswerUnusable` when no part of it is a list of entities or facts."""
    shape = answers.first(answer, _shape)
    if not isinstance(shape, Mapping):
        raise AnswerUnusable(f"no JSON object with lists 'entities' and 'facts' in the answer {shown(answer, 80)!r}")
    return _Reading(setting).read(shape)


def read_dates(
    row: Mapping[str, object], reference: datetime, zone: tzinfo, origin: Origin, warnings: list[Warn]
) -> tuple[DateUnit | None, DateUnit | None]:
    """Start and end of a row. A date that cannot be read counts as absent, an end not after its start too; both are told."""
    units: list[DateUnit | None] = []
    for keys in (_START, _END):
        raw = answers.field(row, keys)
        unit = None if raw is None else said_date(raw, reference, zone, origin, is_end=keys is _END)
        if raw is not None and unit is None:
            warnings.append(Warn("bad_date", shown(raw), "not a date; the fact is kept without it"))
        units.append(unit)
    start, end = units
    if start is not None and end is not None and end.last <= start.first:
        raw_end = answers.field(row, _END)
        warnings.append(
            Warn("interval_conflict", shown(raw_end), f"ends not after its start {shown(answers.field(row, _START))}; the end is dropped")
        )
        end = None
    return start, end


def read_kind(raw: object) -> AssertionKind | None:
    """The kind that `raw` means; absent: holds; None for an unknown word."""
    if raw is None or raw is True:
        return AssertionKind.HOLDS
    return _KINDS.get(str(raw).strip().lower())


def is_true(raw: object) -> bool:
    """Whether a flag is set, also as a word or number."""
    return raw is True or raw == 1 or (isinstance(raw, str) and raw.strip().lower() in ("true", "yes", "1"))


def sentence(source: str, relation: str, target: str) -> str:
    """The plain sentence of a triple.

    >>> sentence("Mira", "WORKS_AT", "Acme")
    'Mira works at Acme'
    """
    return f"{source} {relation.replace('_', ' ').lower().strip()} {target}"


def _shape(value: object, depth: int = 0) -> Mapping[str, object] | None:
    """`value` as {"entities": [...], "facts": [...]}; wrappers come off, a bare list is one of entities or of facts."""
    if isinstance(value, list):
        rows = [row for row in value if isinstance(row, Mapping)]
        if rows and all(answers.field(row, _SOURCE) is not None and answers.field(row, _TARGET) is not None for row in rows):
            return {"entities": [], "facts": value}
        named = any(answers.field(row, _NAME) is not None for row in rows) or (value and all(isinstance(item, str) for item in value))
        return {"entities": value, "facts": None} if named else None
    if not isinstance(value, Mapping):
        return None
    entities, facts = answers.field(value, _ENTITIES), answers.field(value, _FACTS)
    if isinstance(entities, list) or isinstance(facts, list):
        return {**value, "entities": entities if isinstance(entities, list) else [], "facts": facts if isinstance(facts, list) else None}
    if depth < 3:
        for inner in value.values():
            found = _shape(inner, depth + 1) if isinstance(inner, Mapping) else None
            if found is not None:
                return found
    return None


class _Reading:
    """One pass over one answer."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.warnings: list[Warn] = []
        self.entities: list[FoundEntity] = []
        self.facts: list[FoundFact] = []
        self.positions: list[int | None] = []  # position in the answer → position among the kept
        self.by_key: dict[str, int] = {}

    def read(self, shape: Mapping[str, object]) -> Piece:
        for row in self._listed(shape["entities"]):
            self.positions.append(self._entity(row))
        facts = shape["facts"]
        if facts is None and self.entities:
            self._warn("no_facts", None, "the answer has no list of facts")
        for row in self._listed(facts):
            self._fact(row)
        clauses = tuple(c[:MAX_SENTENCE] for c in self._listed(answers.field(shape, _CLAUSES)) if isinstance(c, str) and c.strip())
        links = tuple(link for raw in self._listed(answers.field(shape, _LINKS)) if (link := self._link(raw)))
        return Piece(tuple(self.entities), tuple(self.facts), clauses, links, tuple(self.warnings))

    def _listed(self, raw: object) -> Sequence[object]:
        if not isinstance(raw, list):
            return ()
        if len(raw) > _MOST:
            self._warn("too_many", len(raw), f"only the first {_MOST} of a list are read")
        return raw[:_MOST]

    def _warn(self, code: str, raw: object, message: str) -> None:
        self.warnings.append(Warn(code, shown(raw), message))

    # -- entities

    def _entity(self, row: object) -> int | None:
        raw = answers.field(row, _NAME) if isinstance(row, Mapping) else row
        kind = self._type(row) if isinstance(row, Mapping) else DEFAULT_TYPE
        if kind == VALUE_TYPE and isinstance(raw, int | float) and not isinstance(raw, bool):
            raw = str(raw)
        name = self._name(raw)
        if name is None:
            return None
        if name == self.setting.actor and not is_specific(kind):
            kind = "Person"
        aliases: tuple[str, ...] = ()
        attributes: Mapping[str, object] = EMPTY
        span: Span | None = None
        if isinstance(row, Mapping):
            aliases = self._aliases(answers.field(row, ("aliases", "alias", "also_known_as")), name)
            attributes = read_attributes(answers.field(row, ("attributes", "properties")), self.warnings)
            span = self._span(answers.field(row, ("span",)), name)
        return self._keep(FoundEntity(name, kind, aliases, span or self._find(name) or self._find(str(raw)), attributes))

    def _type(self, row: Mapping[str, object]) -> str:
        raw = answers.field(row, _TYPE)
        if isinstance(raw, list):
            raw = next((label for label in raw if isinstance(label, str) and is_specific(label)), None)
        if isinstance(raw, str) and names.is_nameable(raw) and len(raw) <= 60:
            return names.clean(raw)
        if raw not in (None, ""):
            self._warn("bad_type", raw, f"not a type; {DEFAULT_TYPE} is used")
        return DEFAULT_TYPE

    def _name(self, raw: object) -> str | None:
        """The name to keep: first persons are the speaker, other pronouns and junk are refused."""
        if not isinstance(raw, str) or not names.is_nameable(raw) or names.key(raw) in _JUNK:
            self._warn("junk_name", raw, "not a name; refused")
            return None
        spelled = names.key(raw)
        if spelled in _FIRST_PERSON or (self.setting.actor and (spelled in _SPEAKER or self._is_me(spelled))):
            if self.setting.actor is None:
                self._warn("pronoun", raw, "nobody is known to speak; refused")
            return self.setting.actor
        if spelled in _NO_ONE:
            self._warn("pronoun", raw, "names nobody; refused")
            return None
        return owned(names.clean(raw), self.setting.actor)

    def _aliases(self, raw: object, name: str) -> tuple[str, ...]:
        kept: list[str] = []
        for alias in raw[:_MOST_ALIASES] if isinstance(raw, list) else [raw] if isinstance(raw, str) else []:
            if not isinstance(alias, str) or not names.is_nameable(alias) or not _is_proper(alias):
                self._warn("junk_alias", alias, f"not another name of {name}; dropped")
            elif self._is_speaker(alias) and not alike(name, alias):
                self._warn("alias_refused", alias, f"the speaker's name; {name} does not take it")
            elif names.key(alias) != names.key(name):
                kept.append(names.clean(alias))
        return tuple(dict.fromkeys(kept))

    def _is_me(self, spelled: str) -> bool:
        """Whether "the user" is who speaks: anybody but an assistant, to whom the user is the one it answers."""
        return spelled in _USER and role_of(self.setting.actor) is not Role.ASSISTANT

    def _is_speaker(self, name: str) -> bool:
        return self.setting.actor is not None and names.key(name) == names.key(self.setting.actor)

    def _keep(self, entity: FoundEntity) -> int:
        """The position of `entity`, joined with one of the same name where the types allow."""
        key = names.key(entity.name)
        at = self.by_key.get(key)
        if at is not None and compatible(self.entities[at].type, entity.type, self.setting.ontology):
            self.entities[at] = joined(self.entities[at], entity)
            return at
        self.entities.append(entity)
        self.by_key.setdefault(key, len(self.entities) - 1)
        return len(self.entities) - 1

    def _find(self, name: str) -> Span | None:
        start = self.setting.text.find(name)
        return Span(start + self.setting.offset, start + self.setting.offset + len(name)) if start >= 0 else None

    def _span(self, raw: object, name: str | None = None) -> Span | None:
        if not isinstance(raw, Sequence) or isinstance(raw, str) or len(raw) != 2:
            return None
        start, end = raw
        if not (isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= len(self.setting.text)):
            return None
        if name is not None and names.key(self.setting.text[start:end]) != names.key(name):
            return None
        return Span(start + self.setting.offset, end + self.setting.offset)

    # -- facts

    def _fact(self, row: object) -> None:
        if not isinstance(row, Mapping):
            self._warn("bad_fact", row, "not an object; dropped")
            return
        source, target = self._ref(answers.field(row, _SOURCE)), self._ref(answers.field(row, _TARGET))
        if source is None or target is None:
            ends = (answers.field(row, _SOURCE), answers.field(row, _TARGET))
            raw = ends[0] if source is None else ends[1]
            self._warn("bad_ref", raw, f"{shown(ends)!s:.80} does not name two found entities; the fact is dropped")
            return
        text, relation = answers.field(row, _TEXT), answers.field(row, _RELATION)
        text = text if isinstance(text, str) and text.strip() else None
        if text is not None and len(text) > MAX_SENTENCE:
            self._warn("long_text", text, f"a sentence of {len(text)} characters; cut to {MAX_SENTENCE}")
            text = text[:MAX_SENTENCE]
        relation = relation.strip() if isinstance(relation, str) and any(c.isalnum() for c in relation[:_MAX_RELATION]) else None
        if relation is not None and len(relation) > _MAX_RELATION:
            self._warn("long_relation", relation, f"cut to {_MAX_RELATION} characters")
            relation = relation[:_MAX_RELATION]
        if text is None and relation is None:
            self._warn("blank_fact", text, "neither a relation nor a sentence; dropped")
            return
        if source == target:
            self._warn("self_loop", text or relation, "relates a thing to itself; dropped")
            return
        if relation is None:
            self._warn("blank_relation", answers.field(row, _RELATION), f"{RELATED} is used")
        if text is None:
            self._warn("blank_fact", answers.field(row, _TEXT), "a plain sentence is used")
        relation = relation or RELATED
        kind = read_kind(answers.field(row, ("kind", "polarity")))
        if kind is None:
            self._warn("bad_kind", answers.field(row, ("kind", "polarity")), "taken as a fact that holds")
        origin = Origin.RESOLVED if is_true(answers.field(row, ("resolved",))) else Origin.STATED
        start, end = read_dates(row, self.setting.reference, self.setting.zone, origin, self.warnings)
        self.facts.append(
            FoundFact(
                source,
                target,
                relation,
                text or sentence(self.entities[source].name, relation, self.entities[target].name),
                kind or AssertionKind.HOLDS,
                start,
                end,
                is_true(answers.field(row, ("still",))),
                self._span(answers.field(row, ("span",))),
                read_attributes(answers.field(row, ("attributes", "properties")), self.warnings),
            )
        )

    def _ref(self, raw: object) -> int | None:
        """The entity meant by a name, or by a position given as a number or digits."""
        if isinstance(raw, str):
            if (at := self.by_key.get(names.key(owned(names.clean(raw), self.setting.actor)))) is not None:
                return at
            if not raw.strip().isdecimal():
                return self._named(raw)
        at = answers.whole(raw)
        return self.positions[at] if at is not None and 0 <= at < len(self.positions) else None

    def _named(self, raw: str) -> int | None:
        """An entity that is not listed but certain: an alias of a listed one, the speaker, or one offered as known."""
        key = names.key(raw)
        for at, entity in enumerate(self.entities):
            if any(names.key(alias) == key for alias in entity.aliases):
                return at
        if self.setting.actor and (key in _FIRST_PERSON or key in _SPEAKER or self._is_me(key) or key == names.key(self.setting.actor)):
            return self._keep(FoundEntity(self.setting.actor, "Person", span=self._find(self.setting.actor)))
        for name, kind in self.setting.known:
            if names.key(name) == key:
                return self._keep(FoundEntity(name, kind, span=self._find(name)))
        return None

    def _link(self, raw: object) -> tuple[int, int] | None:
        if isinstance(raw, list) and len(raw) == 2:
            one, other = self._ref(raw[0]), self._ref(raw[1])
            if one is not None and other is not None:
                return (one, other) if one != other else None
        self._warn("bad_ref", raw, "does not pair two found entities; dropped")
        return None


def joined(one: FoundEntity, other: FoundEntity) -> FoundEntity:
    """Two findings of one thing: the first name and span, the more specific type, all aliases, attributes overlaid."""
    spelled = {names.key(one.name)}
    aliases: list[str] = []
    for alias in (*one.aliases, other.name, *other.aliases):
        if names.key(alias) not in spelled:
            spelled.add(names.key(alias))
            aliases.append(alias)
    return replace(
        one,
        type=one.type if is_specific(one.type) else other.type,
        aliases=tuple(aliases),
        span=one.span or other.span,
        attributes={**one.attributes, **other.attributes} if other.attributes else one.attributes,
        identities=tuple(dict.fromkeys((*one.identities, *other.identities))),
    )


def _is_proper(alias: str) -> bool:
    """Whether an alias can be a name: "Bea" or "東京" can, "my sister" cannot."""
    head = names.key(alias).split(" ", 1)[0]
    if head in _FIRST_PERSON or head in _NO_ONE or head in ("a", "an", "the") or names.key(alias) in _JUNK:
        return False
    return any(c.isupper() or c.isdigit() or (c.isalpha() and not c.islower()) for c in alias)
