"""Names and summaries of communities without a model: from their most telling facts, which they cite."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from graphmem.communities.linked import Linked
from graphmem.model import AsOf, EntityVersion, FactMatch, FactVersion
from graphmem.search.words import STOP_WORDS, stem
from graphmem.stores.base import Reader

MOST_FACTS = 12
_NAMED = 3
_PHRASES = 4
_LONGEST_PHRASE = 3
_COMMON = 3  # a phrase of more communities tells none of them apart
_RELATIONS = 3
_SENTENCES = 3
_SENTENCE = 160
_READ_AT_ONCE = 2_000
_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Telling:
    """A name and a summary, and the fact versions (by uuid) they tell of; `central` are the entities named."""

    name: str
    summary: str
    facts: tuple[str, ...] = ()
    central: tuple[str, ...] = ()


def told(reader: Reader, group: str, at: AsOf, found: Linked, labels: Sequence[int]) -> list[Telling]:
    """What to call each community of one level, in the order of its labels.

    The facts that tell most of it are those between entities that are central in it, and cited by many episodes; from them come
    the entities in its name, the phrases, relations and stretch of time in its summary, and the sentences that are quoted.
    """
    chosen, weight = telling_facts(found, labels)
    facts: dict[str, FactVersion] = {}
    wanted = [uuid for of_one in chosen for uuid in of_one]
    for n in range(0, len(wanted), _READ_AT_ONCE):
        facts.update((v.uuid, v) for v in reader.facts([group], at, FactMatch(uuids=tuple(wanted[n : n + _READ_AT_ONCE]))))
    members: list[list[EntityVersion]] = [[] for _ in chosen]
    for node, label in zip(found.graph.nodes, labels, strict=True):
        members[label].append(found.entities[node])
    rows = [[facts[uuid] for uuid in of_one if uuid in facts] for of_one in chosen]
    common = Counter(phrase for row in rows for phrase in {p for p, _ in _phrases(row, ())})
    scene = _Scene(found.entities, weight, common)
    return [_telling(held, row, scene) for held, row in zip(members, rows, strict=True)]


def telling_facts(found: Linked, labels: Sequence[int]) -> tuple[list[list[str]], Mapping[str, float]]:
    """For each label the uuids of the facts inside that tell most, the best first, then by uuid; and how central each entity is in
    its community: by the episodes that its facts in there cite.
    """
    best: list[list[str]] = [[] for _ in range(max(labels, default=-1) + 1)]
    if not found.ties:
        return best, {}
    place = {node: n for n, node in enumerate(found.graph.nodes)}
    label = np.asarray(labels, np.int64)
    ends = np.array([(place[t.source], place[t.target]) for t in found.ties], np.int64)
    cited = np.array([max(t.citations, 1) for t in found.ties], np.float64)
    inside = np.flatnonzero(label[ends[:, 0]] == label[ends[:, 1]])
    central = np.bincount(ends[inside].reshape(-1), np.repeat(cited[inside], 2), len(label))
    score = central[ends[inside]].sum(axis=1) * np.sqrt(cited[inside])
    home = label[ends[inside, 0]]
    for n in np.lexsort((inside, -score, home)).tolist():  # ties come sorted by uuid
        row = best[home[n]]
        if len(row) < MOST_FACTS:
            row.append(found.ties[inside[n]].fact)
    return best, dict(zip(found.graph.nodes, central.tolist(), strict=True))


@dataclass(frozen=True)
class _Scene:
    """What is known beside a community's own facts: entities, how central each is, in how many communities a phrase occurs."""

    entities: Mapping[str, EntityVersion]
    weight: Mapping[str, float]
    common: Mapping[str, int]

    def rank(self, entity: str) -> tuple[float, str, str]:
        return -self.weight.get(entity, 0.0), self.entities[entity].name, entity


def _telling(members: Sequence[EntityVersion], facts: Sequence[FactVersion], scene: _Scene) -> Telling:
    entities = scene.entities
    ends = {e for f in facts for e in (f.source, f.target)} or {e.id for e in members}
    central = sorted(ends, key=scene.rank)[:_NAMED]
    name = ", ".join(entities[e].name for e in central)
    if not facts:
        return Telling(name, "", central=tuple(central))
    parts = [
        _about(facts, scene),
        f"Mostly {_listed(_relations(facts))}",
        _stretch(facts),
        *dict.fromkeys(_sentence(f) for f in facts if f.text.strip()),
    ]
    quoted = [p for p in parts if p][: 3 + _SENTENCES]
    others = len(members) - len(central)
    head = f"{name} and {others} more" if others > 0 else name
    summary = ". ".join((head, *(p.rstrip(".") for p in quoted))) + "."
    return Telling(name, summary, tuple(f.uuid for f in facts), tuple(central))


def _about(facts: Sequence[FactVersion], scene: _Scene) -> str:
    """The phrases that recur in this community's facts and in few others."""
    known = {w for f in facts for e in (f.source, f.target) for w in _words(scene.entities[e].name)}
    told = {stem(w) for f in facts for w in f.relation.casefold().split("_")}  # the relations are listed by themselves
    counts: Counter[str] = Counter()
    shown: dict[str, str] = {}
    for phrase, as_written in _phrases(facts, known):
        if told.isdisjoint(map(stem, phrase.split(" "))):
            counts[phrase] += 1
            shown.setdefault(phrase, as_written)
    scored = sorted(
        (p for p in counts if counts[p] > 1 and scene.common.get(p, 0) <= _COMMON),
        key=lambda p: (-counts[p] * (1 + p.count(" ")) / (1 + scene.common.get(p, 0)) ** 0.5, p),
    )
    kept: list[str] = []
    for phrase in scored:
        if not any(phrase in other or other in phrase for other in kept):
            kept.append(phrase)
    return f"About {_listed([shown[p] for p in kept[:_PHRASES]])}" if kept else ""


def _phrases(facts: Sequence[FactVersion], known: Collection[str]) -> Iterator[tuple[str, str]]:
    """Runs of up to three words that are neither stop words nor `known`, each once a fact: as a key, and as written."""
    for fact in facts:
        seen: dict[str, str] = {}
        run: list[str] = []
        for word in [*_WORD.findall(fact.text), ""]:
            key = word.casefold()
            if word and key not in STOP_WORDS and key not in known and not key.isdigit() and len(key) > 2:
                run.append(word)
                continue
            for first in range(len(run)):
                for length in range(1, min(_LONGEST_PHRASE, len(run) - first) + 1):
                    phrase = " ".join(run[first : first + length])
                    seen.setdefault(phrase.casefold(), phrase)
            run = []
        yield from seen.items()


def _words(name: str) -> list[str]:
    return [w.casefold() for w in _WORD.findall(name)]


def _relations(facts: Sequence[FactVersion]) -> list[str]:
    counts = Counter(f.relation.replace("_", " ").casefold() for f in facts)
    return [r for r, _ in sorted(counts.items(), key=lambda c: (-c[1], c[0]))[:_RELATIONS]]


def _stretch(facts: Sequence[FactVersion]) -> str:
    """From the first beginning told to the last, as precisely as they were given."""
    begun = sorted((f.valid.start, f.start.shown(f.valid.start)) for f in facts if f.valid.start is not None)
    shown = [text for _, text in begun if text]
    if not shown:
        return ""
    return f"Since {shown[0]}" if shown[0] == shown[-1] else f"From {shown[0]} to {shown[-1]}"


def _sentence(fact: FactVersion) -> str:
    line = " ".join(fact.text.split())
    return line if len(line) <= _SENTENCE else line[: _SENTENCE - 1].rstrip() + "…"


def _listed(items: Sequence[str]) -> str:
    return ", ".join(items)
