"""Names and summaries of communities without a model: from their most telling facts, which they cite."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from graphmem.communities.linked import Linked
from graphmem.interval import FIRST
from graphmem.model import AsOf, FactMatch, FactVersion
from graphmem.results import shorten
from graphmem.search.words import STOP_WORDS, stem
from graphmem.stores.base import Reader

MOST_FACTS = 8
_NAMED = 3
_PHRASES = 4
_LONGEST_PHRASE = 3
_COMMON = 3  # a phrase of more communities tells none of them apart
_RELATIONS = 3
_SENTENCES = 3
_SENTENCE = 160
_READ_AT_ONCE = 10_000
# Words that tell of no subject, besides the stop words.
_WEAK_WORDS = """
added adding already also always another any back began begun better big both btw came come coming day days done even ever every
feel feeling felt few finished first found gave get gets getting give given gives giving goes going gone good got great haha
hello hey keep kept last later like likes little lol long look looking looks lot made make makes making many month months more
most much need needs never new next now often okay old one only other out own put ready really recently same saw say says see
seeing seen since some soon started starting still take taken takes taking tell thank thanks thing things think thought time
times today told tomorrow took try trying two updated use used uses using want wants way week weeks well went while without work
working works wow yeah year years yep yes yesterday yet
"""
_WEAK = frozenset(_WEAK_WORDS.split())
_ENDED = re.compile(r"[.!?…。！？][\"'”’»」)\]]*$")
_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Telling:
    """A name and a summary, and the fact versions (by uuid) they tell of; `central` are the entities named without a model.

    `by` is the model that wrote them, `key` stands for what it wrote them from; None: they were made without one.
    """

    name: str
    summary: str
    facts: tuple[str, ...] = ()
    central: tuple[str, ...] = ()
    by: str | None = None
    key: str | None = None


class Known(NamedTuple):
    """What is told of a community already, and who its members are."""

    members: Set[str]
    telling: Telling


Rows = Sequence[Sequence[FactVersion]]
KnownBy = Mapping[tuple[int, tuple[str, ...]], Known]
"""By level and the facts it was told from."""
_Phrases = Mapping[str, tuple[int, str]]


class Material(NamedTuple):
    """What can be told of communities: of each level, for each label, the facts that tell most of it, the best first; how central
    each entity is in its own; and by label what is told already, of which no facts were read.
    """

    rows: Sequence[Rows]
    weights: Sequence[Mapping[str, float]]
    kept: Sequence[Mapping[int, Telling]]


def material(
    reader: Reader,
    group: str,
    at: AsOf,
    found: Linked,
    levels: Sequence[Sequence[int]],
    most: int = MOST_FACTS,
    known: KnownBy = MappingProxyType({}),
) -> Material:
    """Up to `most` facts for each community, none for one that is `known` with these facts and members.

    Those tell most of one that are between entities that are central in it, and cited by many episodes.
    """
    chosen = [_telling_facts(found, labels, most) for labels in levels]
    kept = [_kept(found, labels, rows, level, known) for level, (labels, (rows, _)) in enumerate(zip(levels, chosen, strict=True))]
    chosen = [([[] if n in of else row for n, row in enumerate(rows)], w) for (rows, w), of in zip(chosen, kept, strict=True)]
    wanted = sorted({uuid for rows, _ in chosen for row in rows for uuid in row})
    facts: dict[str, FactVersion] = {}
    for n in range(0, len(wanted), _READ_AT_ONCE):
        facts.update((v.uuid, v) for v in reader.facts([group], at, FactMatch(uuids=tuple(wanted[n : n + _READ_AT_ONCE]))))
    rows = [[[facts[u] for u in row if u in facts] for row in rows] for rows, _ in chosen]
    return Material(rows, [weight for _, weight in chosen], kept)


def _kept(found: Linked, labels: Sequence[int], rows: Sequence[Sequence[str]], level: int, known: KnownBy) -> dict[int, Telling]:
    if not known:
        return {}
    held = _members(found, labels, len(rows))
    was = {n: known[key] for n, row in enumerate(rows) if (key := (level, tuple(row))) in known}
    return {n: k.telling for n, k in was.items() if k.members == set(held[n])}


def _members(found: Linked, labels: Sequence[int], count: int) -> list[list[str]]:
    members: list[list[str]] = [[] for _ in range(count)]
    for node, label in zip(found.graph.nodes, labels, strict=True):
        members[label].append(node)
    return members


def told(found: Linked, levels: Sequence[Sequence[int]], of: Material) -> list[list[Telling]]:
    """What to call each community, level by level, in the order of the labels.

    From its most telling facts come the entities in its name, the phrases, relations and stretch of time in its summary, and the
    sentences that are quoted.
    """
    said: dict[tuple[str, ...], _Phrases] = {}
    levels_told = []
    for labels, rows, weight, kept in zip(levels, of.rows, of.weights, of.kept, strict=True):
        few = [row[:MOST_FACTS] for row in rows]
        phrases = []
        for row in few:
            key = tuple(f.uuid for f in row)
            if key not in said:
                said[key] = _phrases(row, found.names)
            phrases.append(said[key])
        fresh = _of_level(found, labels, few, phrases, weight)
        levels_told.append([kept.get(n, telling) for n, telling in enumerate(fresh)])
    return levels_told


def _of_level(found: Linked, labels: Sequence[int], rows: Rows, phrases: Sequence[_Phrases], weight: Mapping[str, float]) -> list[Telling]:
    members = _members(found, labels, len(rows))
    common = Counter(phrase for of_one in phrases for phrase in of_one)
    scene = _Scene(found.names, weight, common)
    return [_telling(held, row, said, scene) for held, row, said in zip(members, rows, phrases, strict=True)]


def _telling_facts(found: Linked, labels: Sequence[int], most: int) -> tuple[list[list[str]], Mapping[str, float]]:
    """For each label the uuids of the facts inside that tell most, the best first, then in order; and how central each entity is in
    its community: by the episodes that its facts in there cite.
    """
    best: list[list[str]] = [[] for _ in range(max(labels, default=-1) + 1)]
    if not found.facts:
        return best, {}
    label = np.asarray(labels, np.int64)
    inside = np.flatnonzero(label[found.ends[:, 0]] == label[found.ends[:, 1]])
    ends, cited = found.ends[inside], found.cited[inside]
    central = np.bincount(ends.reshape(-1), np.repeat(cited, 2), len(label))
    score = central[ends].sum(axis=1) * np.sqrt(cited)
    home = label[ends[:, 0]]
    order = np.lexsort((inside, -score, home))  # facts come in order
    ranked = home[order]
    place = np.arange(len(order)) - np.searchsorted(ranked, ranked)
    for n in order[place < most].tolist():
        best[home[n]].append(found.facts[inside[n]])
    return best, dict(zip(found.graph.nodes, central.tolist(), strict=True))


@lru_cache(maxsize=16_384)
def _subject(word: str) -> str:
    """The key of a word; "" for one that tells of no subject."""
    key = word.casefold()
    return "" if len(key) < 3 or key in STOP_WORDS or key in _WEAK or key.isdigit() else key


@dataclass(frozen=True, slots=True)
class _Scene:
    """What is known beside a community's own facts: names, how central each entity is, in how many communities a phrase recurs."""

    names: Mapping[str, str]
    weight: Mapping[str, float]
    common: Mapping[str, int]

    def rank(self, entity: str) -> tuple[float, str, str]:
        return -self.weight.get(entity, 0.0), self.names[entity], entity


def _telling(members: Sequence[str], facts: Sequence[FactVersion], phrases: _Phrases, scene: _Scene) -> Telling:
    ends = {e for f in facts for e in (f.source, f.target)} or set(members)
    central = sorted(ends, key=scene.rank)[:_NAMED]
    name = ", ".join(scene.names[e] for e in central)
    if not facts:
        return Telling(name, "", central=tuple(central))
    others = len(members) - len(central)
    parts = [
        f"{name} and {others} more" if others > 0 else name,
        _about(phrases, scene.common),
        f"Mostly {', '.join(_relations(facts))}",
        _stretch(facts),
        *_sentences(facts),
    ]
    summary = " ".join(p if _ENDED.search(p) else f"{p}." for p in parts if p)
    return Telling(name, summary, tuple(f.uuid for f in facts), tuple(central))


def _sentences(facts: Sequence[FactVersion]) -> list[str]:
    """The first few, each once."""
    told: dict[str, None] = {}
    for fact in facts:
        if fact.text.strip():
            told[shorten(fact.text, _SENTENCE)] = None
        if len(told) == _SENTENCES:
            break
    return list(told)


def _phrases(facts: Sequence[FactVersion], names: Mapping[str, str]) -> _Phrases:
    """Runs of up to three words that recur in the sentences: as a key → how often, and as written. A single word has to recur twice.

    Words of names and of relations are left out: these are told anyway.
    """
    words = [_WORD.findall(f.text) for f in facts]
    counts = Counter(chain.from_iterable(set(map(_subject, row)) for row in words))
    again = {w for w, n in counts.items() if n > 1 and w}
    for e in {e for f in facts for e in (f.source, f.target)} if again else ():
        again.difference_update(_words(names[e]))
    if again:
        told = {w for f in facts for w in _stems(f.relation)}
        again = {w for w in again if stem(w) not in told}
    if not again:
        return {}
    found: Counter[str] = Counter()
    written: dict[str, str] = {}
    for row in words:
        of_one: dict[str, str] = {}
        run: list[tuple[str, str]] = []
        for word in (*row, ""):  # any other word parts two runs
            if (key := _subject(word)) in again:
                run.append((key, word))
                continue
            for first in range(len(run)):
                for last in range(first + 1, min(first + _LONGEST_PHRASE, len(run)) + 1):
                    of_one.setdefault(" ".join(k for k, _ in run[first:last]), " ".join(w for _, w in run[first:last]))
            run = []
        found.update(of_one.keys())
        written = {**of_one, **written}
    return {p: (n, written[p]) for p, n in found.items() if n > (1 if " " in p or written[p][:1].isupper() else 2)}


def _about(phrases: _Phrases, common: Mapping[str, int]) -> str:
    """The phrases that recur in this community's facts and in few others."""

    def rank(phrase: str) -> tuple[float, str]:
        return -phrases[phrase][0] * (1 + phrase.count(" ")) / common[phrase] ** 0.5, phrase

    kept: list[str] = []
    for phrase in sorted((p for p in phrases if common[p] <= _COMMON), key=rank):
        if not any(phrase in other or other in phrase for other in kept):
            kept.append(phrase)
    return f"About {', '.join(phrases[p][1] for p in kept[:_PHRASES])}" if kept else ""


@lru_cache(maxsize=16_384)
def _words(name: str) -> tuple[str, ...]:
    return tuple(w.casefold() for w in _WORD.findall(name))


@lru_cache(maxsize=1_024)
def _stems(relation: str) -> tuple[str, ...]:
    return tuple(stem(w) for w in relation.casefold().split("_"))


def _relations(facts: Sequence[FactVersion]) -> list[str]:
    counts = Counter(f.relation.replace("_", " ").casefold() for f in facts)
    return [r for r, _ in sorted(counts.items(), key=lambda c: (-c[1], c[0]))[:_RELATIONS]]


def _stretch(facts: Sequence[FactVersion]) -> str:
    """From the first beginning told to the last, as precisely as they were given, to the day."""
    begun = [f for f in facts if f.valid.start is not None]
    if not begun:
        return ""
    ends = (min(begun, key=_begins), max(begun, key=_begins))
    first, last = (f.start.shown(f.valid.start).partition("T")[0] for f in ends)
    return f"Since {first}" if first == last else f"From {first} to {last}"


def _begins(fact: FactVersion) -> tuple[datetime, str]:
    return fact.valid.start or FIRST, fact.uuid
