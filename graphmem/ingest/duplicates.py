"""Entities that may be one: found through indexes of names and vectors, weighed by names, neighbours and company, best first.

No two entities are compared that share nothing: blocks are of equal names, words, initials and first names, of rare trigrams
(prefix filtering, as in Bayardo, Ma and Srikant, "Scaling up all pairs similarity search", 2007), sorted neighbours where a
block is large (Hernández and Stolfo, "The merge/purge problem", 1995), and cells of nearby vectors (an inverted file, as in Sivic
and Zisserman, "Video Google", 2003).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import log

import numpy as np
from rapidfuzz import fuzz

from graphmem import names
from graphmem.belief.slices import load_kin
from graphmem.embed.base import Vectors
from graphmem.ingest.found import IDENTITIES, same_thing
from graphmem.ingest.identities import barred
from graphmem.ingest.kinds import compatible, is_person, is_specific
from graphmem.ingest.similar import Likeness, first_word, likeness, spelled_words
from graphmem.model import VALUE_TYPE, AsOf, EntityVersion, FactMatch
from graphmem.ontology import Ontology
from graphmem.search.words import STOP_WORDS
from graphmem.stores.base import Kind, Reader

NOW = AsOf()
Pair = tuple[int, int]

_BLOCK = 24
"""Blocks of more entities are compared with their neighbours in alphabetical order alone."""
_BESIDE = 3
_NAMES = 6
_SIGNATURE = 0.35
_NEAR = 0.8
_WEIGHED = 400
_AT_LEAST = 10


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
    """How alike two entities are by their names alone."""

    score: float
    reason: str
    is_part: bool = False


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
    trigrams = [_trigrams(e) for e in known]
    rare = Counter(gram for grams in trigrams for gram in grams)
    firsts = {first_word(k) for e in known for k in e.keys}
    for at, entity in enumerate(known):
        marks = {f"w {w}" for words in entity.words.values() for w in words if w not in STOP_WORDS and len(w) > 1}
        marks |= {f"c {''.join(words)}" for words in entity.words.values()}
        marks |= {f"i {mark}" for key, words in entity.words.items() for mark in _initials(entity.keys[key], words)}
        if is_person(entity.version.type):
            marks |= {f"f {short}" for key in entity.keys for short in _shortened(first_word(key)) if short in firsts}
        grams = sorted(trigrams[at], key=lambda g: (rare[g], g))
        marks |= {f"t {g}" for g in grams[: int(_SIGNATURE * len(grams)) + 1] if rare[g] <= _BLOCK}
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


def _trigrams(entity: _Entity) -> set[str]:
    """The trigrams of an entity's names, without spaces and signs."""
    spelled = {f"^{''.join(words)}$" for words in entity.words.values()}
    return {s[n : n + 3] for s in spelled for n in range(len(s) - 2)}


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
            told = _alike(one, ours, other, theirs)
            if told is not None and (best is None or told.score > best.score):
                best = told
    return None if best is not None and best.is_part and _are_others(one, other) else best


def _are_others(one: _Entity, other: _Entity) -> bool:
    """Whether the fullest names of two entities rule out that they are one: "Jonas Weber" and "Jonas Lindqvist", both "Jonas"."""
    ours, theirs = (_fullest(e) for e in (one, other))
    if min(len(ours), len(theirs)) < 2:
        return False
    return not (set(ours) <= set(theirs) or set(theirs) <= set(ours) or _may_be_shortened(ours, theirs))


def _fullest(entity: _Entity) -> tuple[str, ...]:
    """The words of the name that says most; an address is no name."""
    spelled = [words for key, words in entity.words.items() if "@" not in key and "/" not in key]
    return max(spelled, key=lambda words: (len(words), sum(map(len, words))), default=())


def _alike(one: _Entity, ours: str, other: _Entity, theirs: str) -> _Named | None:
    if names.numbers(ours) != names.numbers(theirs):
        return None
    if ours == theirs:
        return _Named(1.0, "the same name")
    kinds = one.version.type, other.version.type
    found = likeness(one.keys[ours], kinds[0], other.keys[theirs], kinds[1])
    if found is Likeness.SAME:
        return _Named(0.95, "the same name but for its spelling")
    our_words, their_words = one.words[ours], other.words[theirs]
    if found is Likeness.WORTH_ASKING:
        if sorted(our_words) == sorted(their_words):
            return _Named(0.9, "the same words in another order")
        if set(our_words) < set(their_words) or set(their_words) < set(our_words):
            return _part(*sorted((one.keys[ours], other.keys[theirs]), key=len))
        if _may_be_shortened(our_words, their_words):
            return _Named(0.75, "one name may be short for the other", is_part=True)
        if any(len(a) == 1 or len(b) == 1 for a, b in zip(our_words, their_words, strict=False) if a != b):
            return None
        return _Named(0.75 * fuzz.ratio(ours, theirs) / 100, "the names are spelled nearly alike")
    if {*_initials(one.keys[ours], our_words)} & {*_initials(other.keys[theirs], their_words)} and 1 in (len(our_words), len(their_words)):
        return _Named(0.6, "one name is the initials of the other")
    if all(map(is_person, kinds)) and _may_be_shortened(our_words, their_words):
        return _Named(0.55, "one name may be short for the other", is_part=True)
    return None


def _part(short: str, long: str) -> _Named:
    """One name within another; where what is left is no name, the longer one is mostly something else: "Porto office"."""
    within = spelled_words(names.key(short))
    left = [w for w in spelled_words(long) if names.key(w) not in within]
    share = sum(map(len, within)) / max(1, len("".join(spelled_words(long))))
    named = all(w[0].isupper() or not w[0].isalpha() or w[0].upper() == w[0].lower() for w in left)
    return _Named((0.5 if named else 0.25) + 0.3 * share, "one name is a part of the other", is_part=True)


def _may_be_shortened(ours: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    """Whether word for word one begins the other: "Mel" for "Melanie Ortiz", "Jonas L" for "Jonas Lindqvist"."""
    pairs = [sorted(pair, key=len) for pair in zip(ours, theirs, strict=False)]
    if not pairs or (pairs[0][0] != pairs[0][1] and len(pairs[0][0]) < 3 and len(ours) + len(theirs) < 4):
        return False
    return all(long.startswith(short) for short, long in pairs) and (ours != theirs)


def _by_meaning(one: _Entity, other: _Entity, cosine: float) -> _Named | None:
    """Names of another spelling that mean nearly the same."""
    if cosine < _NEAR or names.numbers(one.version.name) != names.numbers(other.version.name):
        return None
    return _Named(0.5 * cosine, f"the names mean nearly the same ({cosine:.2f})")


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
    weighed = []
    for one, other in best:
        told, a, b = found[one, other], known[one].version, known[other].version
        score, reasons = told.score, [told.reason]
        if told.is_part and (rivals := max(parts[one], parts[other])) > 1:
            score *= 0.8
            reasons.append(f"{rivals} names are alike in that way")
        shared = sum(1 / log(_AT_LEAST + len(neighbours[n])) for n in neighbours[a.id] & neighbours[b.id])
        if shared:
            score += (1 - score) * min(0.6, 0.4 * shared)
            reasons.append(f"{len(neighbours[a.id] & neighbours[b.id])} neighbours in common")
        if b.id in neighbours[a.id]:
            score *= 0.5
            reasons.append("but a fact joins them")
        if together := len(episodes[a.id] & episodes[b.id]):
            score *= 0.7
            reasons.append(f"but {together} episodes name both")
        if is_specific(a.type) and a.type == b.type:
            score += (1 - score) * 0.1
        weighed.append(Proposal(*_in_order(a, b), round(score, 3), tuple(reasons)))
    return weighed


def _in_order(one: EntityVersion, other: EntityVersion) -> tuple[EntityVersion, EntityVersion]:
    """The longer name first, which is mostly the better one."""
    first, second = sorted((one, other), key=lambda e: (-len(e.name), e.id))
    return first, second
