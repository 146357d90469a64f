"""What makes an episode a likely answer, as numbers: one row an episode, one column a feature, all between about 0 and 1.

Everything is computed from a `Candidates` table that was read in a few batches; nothing here reads the store.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from graphmem.dates import find_dates
from graphmem.instants import zone_of
from graphmem.interval import Interval
from graphmem.model import Episode
from graphmem.names import key
from graphmem.roles import Role, role_of
from graphmem.search.question import Question, has_date_word
from graphmem.stores.base import Turn

Column = NDArray[np.float64]

FEATURES = (
    "words",  # BM25 of the question
    "meaning",  # best piece by cosine with the question without the speakers' names
    "speaker",  # the question names one speaker, and this one speaks
    "people",  # not the assistant speaks, and the question is not about what the assistant said
    "assistant",  # the assistant speaks, and the question is about what it said
    "next",  # relevance of the next turn of the session
    "answers",  # relevance of the turn before, if that is a question
    "session",  # best relevance in the session
    "time",  # said, or speaking of a date, in a stretch of time that the question names
    "dated",  # the question asks when, and the turn has a date word
    "length",  # logarithm of the number of words
    "asks",  # the turn ends with a question mark
    "facts",  # best cosine of a fact that cites the turn with the question
    "graph",  # root of the mass of the entities mentioned that are within reach of those the question names
    "exact",  # pairs of neighbouring words, and numbers, in common with the question
    "type",  # the turn mentions an entity of the type asked for
    "type_meaning",  # type x meaning
)

K1, B = 1.2, 0.75
_DATES_READ = 120
_DATE_TEXT = 1500
_MAX_EVENT_DAYS = 40
_QUESTION_MARKS = ("?", "？", "؟")
_QUOTED = re.compile(r'"[^"\n]{2,60}"|“[^”\n]{2,60}”')


@dataclass(frozen=True, slots=True)
class Statistics:
    """Of the indexed episodes: how many, mean words, and in how many each term occurs."""

    rows: int
    mean_length: float
    frequency: Mapping[str, int]

    def weight(self, term: str) -> float:
        """Inverse document frequency, never negative."""
        n = self.frequency.get(term, 0)
        return math.log(1 + (max(self.rows, n) - n + 0.5) / (n + 0.5))


@dataclass(frozen=True, slots=True)
class Candidates:
    """Episodes that may answer, with what their features need.

    `lengths` is how many words each has, `counts` how often each of the question's terms is among them; `words` are those of
    rows that hold both words of one of the question's pairs, of others perhaps "". `cosines` are those of the best pieces with
    the question's `bare` text, -1 for rows without vectors. `before` and `after` are row numbers of the neighbouring turns of
    the session, -1 for none among the candidates. `facts` is the best cosine of each row's facts, `graph` its mass in the graph
    leg, `types` the entity types (lower case) it mentions.
    """

    turns: Sequence[Turn | Episode]
    lengths: Column
    counts: Column
    words: Sequence[str]
    cosines: Column
    before: NDArray[np.int64]
    after: NDArray[np.int64]
    facts: Column
    graph: Column
    types: Sequence[frozenset[str]]

    def __len__(self) -> int:
        return len(self.turns)


def relevance(candidates: Candidates, question: Question, statistics: Statistics) -> tuple[Column, Column, Column]:
    """BM25 of the whole question, best piece's cosine, and the sum of the two without the speakers' names; each 0 to 1."""
    every = question.every_term
    weights = weighted(candidates.lengths, candidates.counts, every, statistics)
    whole, bare = (weights @ np.array([terms.count(t) for t in every], dtype=np.float64) for terms in (question.terms, question.bare_terms))
    meaning = scaled(candidates.cosines)
    return scaled(whole), meaning, scaled(scaled(bare) + meaning)


def features(candidates: Candidates, question: Question, statistics: Statistics) -> Column:
    """The matrix, shape `(len(candidates), len(FEATURES))`."""
    n = len(candidates)
    by_words, meaning, relevant = relevance(candidates, question, statistics)
    roles = [role_of(e.actor) for e in candidates.turns]
    assistant = np.array([r is Role.ASSISTANT for r in roles], dtype=np.float64)
    ends_asking = np.array([e.body.rstrip().endswith(_QUESTION_MARKS) for e in candidates.turns], dtype=np.float64)
    typed = _typed(candidates, question)
    columns = {
        "words": by_words,
        "meaning": meaning,
        "speaker": _speaker(candidates, roles, question),
        "people": (1 - assistant) * (not question.asks_assistant),
        "assistant": assistant * question.asks_assistant,
        "next": _neighbour(relevant, candidates.after),
        "answers": _neighbour(relevant * ends_asking, candidates.before),
        "session": _session(candidates, relevant) if not (question.wants_several or question.wants_whole_story) else np.zeros(n),
        "time": _time(candidates, question, by_words + meaning) if question.windows else np.zeros(n),
        "dated": np.array([float(has_date_word(e.body)) for e in candidates.turns]) if question.asks_when else np.zeros(n),
        "length": np.array([math.log1p(e.body.count(" ") + 1) / 5 for e in candidates.turns]),
        "asks": ends_asking,
        "facts": scaled(np.maximum(candidates.facts, 0)),
        "graph": np.sqrt(scaled(candidates.graph)),
        "exact": _exact(candidates, question),
        "type": typed,
        "type_meaning": typed * meaning,
    }
    return np.stack([columns[name] for name in FEATURES], axis=1)


def scaled(values: Column) -> Column:
    """Shifted and stretched to 0 ... 1; all 0 where all are equal."""
    if not len(values):
        return values
    low, high = values.min(), values.max()
    return (values - low) / (high - low) if high > low else np.zeros_like(values)


def bm25(documents: Sequence[str], terms: Sequence[str], statistics: Statistics) -> Column:
    """Okapi BM25 of space-separated words, a row a document and a column a term, over the whole corpus's statistics."""
    return weighted(*counted(documents, terms), terms, statistics)


def counted(documents: Sequence[str], terms: Sequence[str]) -> tuple[Column, Column]:
    """How many words each document has, and how often each term is among them."""
    counts = np.zeros((len(documents), len(terms)))
    columns = list(enumerate(terms))
    for row, document in enumerate(documents):
        if likely := [(column, term) for column, term in columns if term in document]:
            held = document.split(" ")
            for column, term in likely:
                counts[row, column] = held.count(term)
    return np.array([d.count(" ") + 1.0 for d in documents]), counts


def weighted(lengths: Column, counts: Column, terms: Sequence[str], statistics: Statistics) -> Column:
    """BM25 of words that were counted."""
    if not counts.size:
        return counts
    norms = K1 * (1 - B + B * lengths / max(statistics.mean_length, 1e-9))
    rarity = np.array([statistics.weight(term) for term in terms])
    return np.asarray(rarity * counts * (K1 + 1) / (counts + norms[:, None]))


def in_pairs(counts: Column, question: Question) -> NDArray[np.intp]:
    """Rows that hold both words of a pair of neighbouring words of the question."""
    column = {term: place for place, term in enumerate(question.every_term)}
    held = [(counts[:, column[a]] > 0) & (counts[:, column[b]] > (a == b)) for a, b in itertools.pairwise(question.bare_terms)]
    return np.flatnonzero(np.logical_or.reduce(held)) if held else np.empty(0, np.intp)


def _neighbour(values: Column, rows: NDArray[np.int64]) -> Column:
    return np.where(rows >= 0, values[rows], 0.0)


def _speaker(candidates: Candidates, roles: Sequence[Role], question: Question) -> Column:
    if len(question.speakers) != 1:
        return np.zeros(len(candidates))
    named = key(question.speakers[0])
    theirs = {actor for actor in {e.actor for e in candidates.turns} if actor is not None and key(actor) == named}
    return np.array([float(role is Role.PERSON and e.actor in theirs) for e, role in zip(candidates.turns, roles, strict=True)])


def _session(candidates: Candidates, relevant: Column) -> Column:
    """The best relevance in each row's session, as a share of the best of all; an episode without a session is its own."""
    names: dict[tuple[str, str], int] = {}
    rows = np.array([names.setdefault((e.group, e.session or e.id), len(names)) for e in candidates.turns])
    best = np.zeros(len(names))
    np.maximum.at(best, rows, relevant)
    return np.asarray(best[rows] / max(float(best.max(initial=0.0)), 1e-9))


def _time(candidates: Candidates, question: Question, order: Column) -> Column:
    """Half for being said in a window of the question, half for naming a date that overlaps one (read for the best rows)."""
    said = np.array([float(any(e.reference_time in w for w in question.windows)) for e in candidates.turns])
    about = np.zeros(len(candidates))
    for row in np.argsort(-order, kind="stable")[:_DATES_READ]:
        episode = candidates.turns[row]
        text = episode.body[:_DATE_TEXT]
        if has_date_word(text) or re.search(r"\d", text):
            about[row] = float(any(w.overlaps(d) for d in dates_said(text, episode.reference_time, episode.zone) for w in question.windows))
    return (said + about) / 2


def dates_said(text: str, reference: datetime, zone: str) -> list[Interval]:
    """The stretches of time of up to 40 days that `text` names."""
    found = []
    for date in find_dates(text, reference, zone_of(zone)):
        last = date.until.last if date.until is not None else date.unit.last
        if date.unit.first < last and (last - date.unit.first).days < _MAX_EVENT_DAYS:
            found.append(Interval(date.unit.first, last))
    return found


def _exact(candidates: Candidates, question: Question) -> Column:
    """Half for up to three pairs of neighbouring words in common, half for the share of the question's numbers."""
    pairs = {f" {a} {b} " for a, b in itertools.pairwise(question.bare_terms)}
    score = np.zeros(len(candidates))
    for row, text in enumerate(candidates.words):
        if text:
            padded = f" {text} "
            score[row] = 0.5 * min(len([p for p in pairs if p in padded]), 3) / 3
    if question.numbers:
        numbers = [place for place, term in enumerate(question.every_term) if term in question.numbers]
        score += 0.5 * np.count_nonzero(candidates.counts[:, numbers], axis=1) / len(numbers)
    return score


def _typed(candidates: Candidates, question: Question) -> Column:
    wanted = question.answer_types
    if not wanted:
        return np.zeros(len(candidates))
    quoted = "work" in wanted
    return np.array(
        [
            float(bool(wanted & types) or (quoted and _QUOTED.search(e.body[:_DATE_TEXT]) is not None))
            for e, types in zip(candidates.turns, candidates.types, strict=True)
        ]
    )
