"""Entities that may be one: found through indexes of names and vectors, weighed by names, neighbours and company, best first.

No two entities are compared that share nothing: blocks are of words, initials and first names, and of names with a letter left
out, which finds all that are a slip apart (Garbe, "SymSpell", 2012); of a large block those that stand close to each other in
alphabetical order (Hernández and Stolfo, "The merge/purge problem", 1995); and cells of nearby vectors (an inverted file, as in
Sivic and Zisserman, "Video Google", 2003).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from graphmem import names
from graphmem.belief.slices import load_kin
from graphmem.embed.base import Vectors
from graphmem.ingest.found import IDENTITIES, same_thing
from graphmem.ingest.identities import barred
from graphmem.ingest.kinds import compatible, family, is_person, is_specific
from graphmem.ingest.similar import Likeness, first_word, likeness, spelled_words, symbols
from graphmem.model import VALUE_TYPE, AsOf, EntityVersion, FactMatch
from graphmem.ontology import Ontology
from graphmem.search.words import words as stemmed
from graphmem.stores.base import Kind, Reader

NOW = AsOf()
Pair = tuple[int, int]

_BLOCK = 24
"""Blocks of more entities are compared with their neighbours in alphabetical order alone."""
_BESIDE = 3
_NAMES = 6
_MOST_LETTERS = 40
_NEAR = 0.8
_WEIGHED = 400
_OF_ONE = 0.2  # "Jon's studio" and "Jon's dance studio": few have two
_COUNTING_WORDS = "one two three four five six seven eight nine ten first second third fourth fifth sixth seventh eighth ninth tenth"
_COUNTING = frozenset(_COUNTING_WORDS.split())
_OWNER = re.compile(r"(.+?)(?:['’]s|s['’])\s+(\S.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Proposal:
    """Two entities that may be one, how likely (0 to 1), and what speaks for it and against it."""

    one: EntityVersion
    other: EntityVersion
    score: float
    reasons: tuple[str, ...]


@dataclass(slots=True)
class _Entity:
    """What is compared of an entity: its names as shown, as keys, and as words."""

    version: EntityVersion
    keys: dict[str, str] = field(default_factory=dict)
    words: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, version: EntityVersion) -> _Entity:
        keys = {names.key(n): n for n in reversed((version.name, *version.aliases[: _NAMES - 1]))}
        return cls(version, keys, {k: spelled_words(k) for k in keys})


@dataclass(frozen=True, slots=True)
class _Named:
    """How alike two entities are by their names alone: `is_part` where others may be alike in that way, `is_guess` by meaning."""

    score: float
    reason: str
    is_part: bool = False
    is_guess: bool = False


def proposals(reader: Reader, group: str, ontology: Ontology, at: AsOf, limit: int, min_score: float) -> list[Proposal]:
    """The likeliest pairs of a group, best first; ties by id. Neighbours are those of facts that hold `at`."""
    known = [_Entity.of(e) for e in reader.entities([group], NOW) if e.type != VALUE_TYPE]
    vectors = reader.vectors(Kind.ENTITY, [e.version.id for e in known])
    near = _near(known, vectors)
    apart = _apart(reader, group)
    found: dict[Pair, _Named] = {}
    for pair in {*_blocks(known), *near}:
        one, other = known[pair[0]], known[pair[1]]
        if frozenset((one.version.id, other.version.id)) in apart or not _may_be_one(one.version, other.version, ontology):
            continue
        told = _by_name(one, other) or _by_meaning(one, other, near.get(pair, 0.0))
        if told is not None:
            found[pair] = told
    weighed = _weigh(reader, group, at, known, found, max(_WEIGHED, 4 * limit))
    weighed.sort(key=lambda p: (-p.score, p.one.id, p.other.id))
    return [p for p in weighed if p.score >= min_score][:limit]


def _apart(reader: Reader, group: str) -> set[frozenset[str]]:
    """Pairs of entities that are said to be distinct."""
    pairs = barred(reader.operations(group))
    identity = load_kin(reader, group, {e for pair in pairs for e in pair}).identity
    return {frozenset(map(identity.canonical, pair)) for pair in pairs}


def _may_be_one(one: EntityVersion, other: EntityVersion, ontology: Ontology) -> bool:
    """Whether types and exact identities let two entities be one."""
    ours, theirs = (v.attributes.get(IDENTITIES) for v in (one, other))
    if (
        isinstance(ours, (list, tuple))
        and isinstance(theirs, (list, tuple))
        and same_thing(list(map(str, ours)), list(map(str, theirs))) is False
    ):
        return False
    return compatible(one.type, other.type, ontology)


# ------------------------------------------------------------------------------------------------ candidates


def _blocks(known: Sequence[_Entity]) -> set[Pair]:
    """Pairs that share an index entry."""
    index: dict[str, list[int]] = defaultdict(list)
    firsts = {first_word(k) for e in known for k in e.keys}
    for at, entity in enumerate(known):
        marks = {f"w {stem}" for shown in entity.keys.values() for stem in stemmed(shown)}
        marks |= {f"d {spelled}" for words in entity.words.values() for spelled in _slips("".join(words))}
        marks |= {f"i {mark}" for key, words in entity.words.items() for mark in _initials(entity.keys[key], words)}
        if is_person(entity.version.type):
            marks |= {f"f {short}" for key in entity.keys for short in _shortened(first_word(key)) if short in firsts}
        for mark in marks:
            index[mark].append(at)
    return {pair for block in index.values() for pair in _pairs(block, known)}


def _pairs(block: Sequence[int], known: Sequence[_Entity]) -> Iterator[Pair]:
    """All pairs of a small block; of a large one those that stand close to each other in alphabetical order."""
    if len(block) <= _BLOCK:
        yield from combinations(sorted(block), 2)
        return
    order = sorted(block, key=lambda at: (next(iter(known[at].keys)), at))
    for n, one in enumerate(order):
        for other in order[n + 1 : n + 1 + _BESIDE]:
            yield min(one, other), max(one, other)


def _slips(spelled: str) -> Iterator[str]:
    """A name without spaces and signs, and what is left of it without one of its letters."""
    yield spelled
    if 5 <= len(spelled) <= _MOST_LETTERS:
        yield from (spelled[:n] + spelled[n + 1 :] for n in range(len(spelled)))


def _initials(shown: str, words: tuple[str, ...]) -> Iterator[str]:
    """What may stand for a name of several words, or be such a mark itself: "NYC" for "New York City"."""
    if len(words) > 2:
        yield "".join(w[0] for w in words)
    elif len(words) == 1 and shown.isupper() and 2 < len(words[0]) < 7:
        yield words[0]


def _shortened(word: str) -> Iterator[str]:
    """A first name and what it may be shortened to, of three letters or more."""
    return (word[:n] for n in range(3, len(word) + 1))


def _near(known: Sequence[_Entity], vectors: Mapping[str, Vectors]) -> dict[Pair, float]:
    """Pairs whose names mean nearly the same, with the cosine: compared within the cells of an inverted file."""
    owners = [at for at, e in enumerate(known) if e.version.id in vectors]
    if len(owners) < 2:
        return {}
    rows = np.stack([np.asarray(vectors[known[at].version.id][0], dtype=np.float32) for at in owners])
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    cells = max(1, int(len(owners) ** 0.5) // 2)
    centres = rows[:: max(1, len(owners) // cells)]
    nearest = np.argsort(-(rows @ centres.T), axis=1, kind="stable")[:, : min(2, len(centres))]
    found: dict[Pair, float] = {}
    for cell in range(len(centres)):
        members = np.flatnonzero((nearest == cell).any(axis=1))
        cosines = rows[members] @ rows[members].T
        for one, other in np.argwhere(np.triu(cosines >= _NEAR, 1)).tolist():
            found[owners[members[one]], owners[members[other]]] = float(cosines[one, other])
    return found


# ------------------------------------------------------------------------------------------------ names


def _by_name(one: _Entity, other: _Entity) -> _Named | None:
    """The best that any two of their names say; None if all are different names."""
    best: _Named | None = None
    for ours in one.keys:
        for theirs in other.keys:
            if ours == theirs:
                return _Named(1.0, "the same name")
            if _numbers(ours) != _numbers(theirs):
                continue
            told = _alike((one.keys[ours], one.version.type), (other.keys[theirs], other.version.type))
            if told is not None and (best is None or told.score > best.score):
                best = told
    return None if best is not None and best.is_part and _are_others(one, other) else best


def _numbers(name: str) -> tuple[str, ...]:
    """The numbers of a name, in digits and in words."""
    return (*names.numbers(name), *(w for w in spelled_words(names.key(name)) if w in _COUNTING))


def _are_others(one: _Entity, other: _Entity) -> bool:
    """Whether the fullest names of two entities rule out that they are one: "Jonas Weber" and "Jonas Lindqvist", both "Jonas"."""
    ours, theirs = (_fullest(e) for e in (one, other))
    if min(len(ours), len(theirs)) < 2:
        return False
    return not (set(ours) <= set(theirs) or set(theirs) <= set(ours) or _is_shortened(ours, theirs))


def _fullest(entity: _Entity) -> tuple[str, ...]:
    """The words of the name that says most; an address is no name."""
    spelled = [words for key, words in entity.words.items() if "@" not in key and "/" not in key]
    return max(spelled, key=lambda words: (len(words), sum(map(len, words))), default=())


def _alike(one: tuple[str, str], other: tuple[str, str]) -> _Named | None:
    """What two names (as shown, with types) say; of "Mira's dog" the owner must be the same, and "dog" is compared."""
    (our_owner, ours), (their_owner, theirs) = _owned(one[0]), _owned(other[0])
    if our_owner and their_owner:
        owners = spelled_words(names.key(our_owner)), spelled_words(names.key(their_owner))
        if owners[0] != owners[1] and not _is_shortened(*owners):
            return None
        told = _compared(ours, one[1], theirs, other[1])
        return replace(told, score=told.score + _OF_ONE) if told is not None and told.is_part else told
    told = _compared(ours, one[1], theirs, other[1])
    if told is None or not (our_owner or their_owner):
        return told
    return _Named(0.6 * told.score, "one name is the other and an owner", is_part=True)


def _owned(name: str) -> tuple[str, str]:
    """The owner that a name tells, else nothing, and the rest of it."""
    found = _OWNER.match(name)
    return (found[1], found[2]) if found else ("", name)


def _compared(one: str, our_type: str, other: str, their_type: str) -> _Named | None:
    ours, theirs = names.key(one), names.key(other)
    our_words, their_words = spelled_words(ours), spelled_words(theirs)
    if symbols(ours) != symbols(theirs):
        return None
    if ours == theirs:
        return _Named(0.9, "the same name")
    found = likeness(one, our_type, other, their_type)
    people = "person" in (family(our_type), family(their_type)) and is_person(our_type) and is_person(their_type)
    proper = _are_proper(one, other)
    least = 4 if people or (proper and len(our_words) > 1) else 7
    if found is Likeness.SAME:
        return _Named(0.95, "the same name but for its spelling")
    if sorted(our_words) == sorted(their_words) and our_words:
        return _Named(0.9, "the same words in another order")
    if not people and (stems := stemmed(one)) and stems == stemmed(other):
        return _Named(0.8, "the same words in another form")
    if found is Likeness.WORTH_ASKING and (set(our_words) < set(their_words) or set(their_words) < set(our_words)):
        return _part(*sorted((one, other), key=len))
    if proper and _is_shortened(our_words, their_words):
        return _Named(0.7, "one name may be short for the other", is_part=True)
    if {*_initials(one, our_words)} & {*_initials(other, their_words)} and 1 in (len(our_words), len(their_words)):
        return _Named(0.6, "one name is the initials of the other")
    if found is Likeness.WORTH_ASKING and (proper or not people) and _is_misspelt(our_words, their_words, least):
        return _Named(0.75 * fuzz.ratio(ours, theirs) / 100, "the names are spelled nearly alike")
    return None


def _part(short: str, long: str) -> _Named:
    """One name within another: of proper names it may be the same; "hit rate" and "effective hit rate" hardly are."""
    share = len("".join(spelled_words(names.key(short)))) / max(1, len("".join(spelled_words(names.key(long)))))
    return _Named((0.5 if _are_proper(short, long) else 0.2) + 0.3 * share, "one name is a part of the other", is_part=True)


def _are_proper(*shown: str) -> bool:
    """Whether all words of the names begin with a capital, or are of a script that has none."""
    return not any(word[0].islower() for name in shown for word in spelled_words(name))


def _is_shortened(ours: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    """Whether word for word one begins the other: "Mel" for "Melanie Ortiz", "Jonas L" for "Jonas Lindqvist"."""
    pairs = [sorted(pair, key=len) for pair in zip(ours, theirs, strict=False)]
    if not pairs or ours == theirs or len(pairs[0][0]) < 3 or abs(len(ours) - len(theirs)) > 1:
        return False
    return all(long.startswith(short) for short, long in pairs)


def _is_misspelt(ours: tuple[str, ...], theirs: tuple[str, ...], least: int) -> bool:
    """Whether the words that differ are long, begin alike and are a slip or two apart: "hiking" and "biking" are two words."""
    differing = [(a, b) for a, b in zip(ours, theirs, strict=False) if a != b]
    if len(ours) != len(theirs):
        return False
    return all(min(len(a), len(b)) >= least and a[0] == b[0] and Levenshtein.distance(a, b, score_cutoff=2) <= 2 for a, b in differing)


def _by_meaning(one: _Entity, other: _Entity, cosine: float) -> _Named | None:
    """Names of another spelling that mean nearly the same."""
    ours, theirs = one.version.name, other.version.name
    if cosine < _NEAR or _numbers(ours) != _numbers(theirs) or names.key(_owned(ours)[0]) != names.key(_owned(theirs)[0]):
        return None
    return _Named(0.5 * cosine, f"the names mean nearly the same ({cosine:.2f})", is_guess=True)


# ------------------------------------------------------------------------------------------------ evidence


def _weigh(reader: Reader, group: str, at: AsOf, known: Sequence[_Entity], found: Mapping[Pair, _Named], most: int) -> list[Proposal]:
    """The best pairs by name, with what their facts and episodes say."""
    parts = Counter(member for pair, told in found.items() if told.is_part for member in pair)
    best = sorted(found, key=lambda p: (-found[p].score, known[p[0]].version.id, known[p[1]].version.id))[:most]
    ids = sorted({known[member].version.id for pair in best for member in pair})
    neighbours: dict[str, set[str]] = defaultdict(set)
    for fact in reader.facts([group], at, FactMatch(entities=tuple(ids))) if ids else ():
        neighbours[fact.source].add(fact.target)
        neighbours[fact.target].add(fact.source)
    episodes: dict[str, set[str]] = defaultdict(set)
    for mention in reader.mentions([group], NOW, entities=ids) if ids else ():
        episodes[mention.entity].add(mention.mention.episode)
    called = {e.version.id: names.key(e.version.name) for e in known}
    weighed = []
    for one, other in best:
        told, a, b = found[one, other], known[one].version, known[other].version
        score, reasons = told.score, [told.reason]
        owners = {names.key(_owned(v.name)[0]) for v in (a, b)}
        if told.is_part and (rivals := max(parts[one], parts[other])) > 1:
            score *= 0.8
            reasons.append(f"{rivals} names are alike in that way")
        common = {n for n in neighbours[a.id] & neighbours[b.id] if called.get(n) not in owners}
        if common:
            score += (1 - score) * min(0.6, sum(2 / (1 + len(neighbours[n])) for n in common))
            reasons.append(f"{len(common)} neighbours in common")
        if b.id in neighbours[a.id]:
            score *= 0.5
            reasons.append("but a fact joins them")
        if together := len(episodes[a.id] & episodes[b.id]):
            score *= 1 - 0.5 * together / min(len(episodes[a.id]), len(episodes[b.id]))
            reasons.append(f"but {together} episodes name both")
        if is_specific(a.type) and a.type == b.type and not told.is_guess:
            score += (1 - score) * 0.1
        weighed.append(Proposal(*_in_order(a, b), round(score, 3), tuple(reasons)))
    return weighed


def _in_order(one: EntityVersion, other: EntityVersion) -> tuple[EntityVersion, EntityVersion]:
    """The longer name first, which is mostly the better one."""
    first, second = sorted((one, other), key=lambda e: (-len(e.name), e.id))
    return first, second
