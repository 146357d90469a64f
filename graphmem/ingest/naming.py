"""What a model calls communities: the finest from their facts, the others from what is told of their parts; a question for each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from graphmem import names
from graphmem.communities.layer import Found
from graphmem.communities.recipe import Text, members_key
from graphmem.communities.telling import Telling
from graphmem.ingest import answers
from graphmem.ingest.found import Flow, shown, values_of
from graphmem.llm.base import Ask
from graphmem.model import FactVersion, Warn
from graphmem.results import shorten
from graphmem.search.tokens import count_tokens

PROMPT = "community"
VERSION = 1
MOST_FACTS = 24
"""Facts that go into one question at most, the most telling first."""
TOKENS = 1_500
"""What the data of one question may count."""
_FOR_PARTS = 1_000
_SENTENCE = 400
_NAME, _SUMMARY = 100, 1_000
_FEWEST = 2  # what a single fact says, it says itself
_NAMES = ("name", "title", "label", "heading")
_SUMMARIES = ("summary", "description", "text", "abstract")


class Written(NamedTuple):
    """A name and a summary, and the model that wrote them."""

    name: str
    summary: str
    by: str


@dataclass
class Named:
    """What a model has written: texts for communities, and what was doubtful."""

    texts: list[Text] = field(default_factory=list)
    warnings: list[Warn] = field(default_factory=list)


@dataclass(frozen=True)
class Namer:
    """Who is asked, the model by name; what is `known` by the key of a question, and not asked again; what tokens are `count`ed by.

    `done` is told how many communities needed no asking.
    """

    model: str
    known: Mapping[str, Written]
    done: Callable[[int], None]
    count: Callable[[str], int] = count_tokens


def to_name(found: Found) -> int:
    """How many communities there is a question about, asked or answered before."""
    return sum(len(row) >= _FEWEST for rows in found.rows for row in rows)


def naming_flow(found: Found, namer: Namer) -> Flow[Named]:
    """Names and summaries for the communities found, level by level from the finest: a list of asks for each level.

    A community is told from its most telling facts; one that the next level splits, from what is told of its parts, and from its
    own facts. An answer that cannot be used leaves what is told without a model, and a warning.
    """
    return (yield from _Naming(found, namer, dict(namer.known)).flow())


@dataclass
class _Question:
    """What is asked about a community, and the fact versions behind it."""

    label: int
    ask: Ask
    facts: tuple[str, ...]


@dataclass
class _Naming:
    found: Found
    namer: Namer
    known: dict[str, Written]
    refused: set[str] = field(default_factory=set)
    out: Named = field(default_factory=Named)

    def flow(self) -> Flow[Named]:
        below: Sequence[Telling] = ()
        for level in reversed(range(len(self.found.levels))):
            questions = list(self._questions(level, below))
            asks = {q.ask.key: q.ask for q in questions if q.ask.key not in self.known and q.ask.key not in self.refused}
            self.namer.done(len(questions) - len(asks))
            if asks:
                values = yield from values_of(list(asks.values()))
                for ask, value in zip(asks.values(), values, strict=True):
                    self._read(ask, value, self.found.tellings[level][_label_of(questions, ask)].name)
            below = self._told(level, questions)
        return self.out

    def _questions(self, level: int, below: Sequence[Telling]) -> Iterator[_Question]:
        parts = self._parts(level)
        for label, facts in enumerate(self.found.rows[level]):
            if len(facts) < _FEWEST:
                continue
            inside = [below[p] for p in parts[label]] if len(parts[label]) > 1 else []
            yield self._question(level, label, facts, inside)

    def _parts(self, level: int) -> Mapping[int, Sequence[int]]:
        """Of each label, the labels of the next level inside, the largest first."""
        parts: dict[int, dict[int, None]] = defaultdict(dict)
        if level + 1 < len(self.found.levels):
            finer = self.found.levels[level + 1]
            for fine, coarse in sorted(set(zip(finer, self.found.levels[level], strict=True))):
                parts[coarse][fine] = None
        return defaultdict(tuple, {coarse: tuple(inside) for coarse, inside in parts.items()})

    def _question(self, level: int, label: int, facts: Sequence[FactVersion], parts: Sequence[Telling]) -> _Question:
        central = [shorten(self.found.graph.names[e]) for e in self.found.tellings[level][label].central]
        told = [{"name": p.name, "summary": p.summary} for p in parts]
        kept = self._fitting([f"{t['name']} {t['summary']}" for t in told], _FOR_PARTS)
        rows = [_row(f) for f in facts]
        room = TOKENS - sum(self.namer.count(f"{t['name']} {t['summary']}") for t in told[:kept])
        listed = self._fitting([" ".join(r.values()) for r in rows], room)
        payload = {"central": central, "parts": told[:kept], "facts": rows[:listed]}
        behind = [f.uuid for f in facts[:listed]] + [uuid for p in parts[:kept] for uuid in p.facts]
        return _Question(label, Ask(PROMPT, VERSION, payload), tuple(dict.fromkeys(behind)))

    def _fitting(self, texts: Sequence[str], budget: int) -> int:
        """How many of the texts fit, the first in any case."""
        for n, text in enumerate(texts):
            budget -= self.namer.count(text)
            if budget < 0:
                return max(n, 1)
        return len(texts)

    def _read(self, ask: Ask, value: object, offline: str) -> None:
        read = None if isinstance(value, Exception) else answers.first(value, _written)
        if isinstance(read, tuple):
            name, summary = read
            self.known[ask.key] = Written(name, summary, self.namer.model)
            return
        self.refused.add(ask.key)
        why = str(value) if isinstance(value, Exception) else "no JSON object with 'name' and 'summary' in the answer"
        raw = None if isinstance(value, Exception) else shown(value)
        self.out.warnings.append(Warn("unnamed", raw, f"{shorten(offline)!r} keeps what is told without a model: {why}"))

    def _told(self, level: int, questions: Sequence[_Question]) -> Sequence[Telling]:
        """What is told of each community of the level, by the model where it could be."""
        tellings = list(self.found.tellings[level])
        sets = self.found.sets(level)
        for question in questions:
            if (written := self.known.get(question.ask.key)) is None:
                continue
            name, summary, by = written
            self.out.texts.append(Text(level, members_key(sets[question.label]), name, summary, question.facts, by, question.ask.key))
            tellings[question.label] = replace(tellings[question.label], name=name, summary=summary, facts=question.facts)
        return tellings


def _label_of(questions: Sequence[_Question], ask: Ask) -> int:
    return next(q.label for q in questions if q.ask is ask)


def _row(fact: FactVersion) -> dict[str, str]:
    """A fact as the model is shown it: its sentence, since when and until when it holds as precisely as was said."""
    row = {
        "fact": shorten(fact.text or fact.relation, _SENTENCE),
        "from": fact.start.shown(fact.valid.start),
        "to": fact.end.shown(fact.valid.end, is_end=True),
    }
    return {name: value for name, value in row.items() if value}


def _written(value: object, depth: int = 0) -> tuple[str, str] | None:
    """Name and summary, fit to be shown, in an answer's JSON; wrappers come off."""
    rows = value if isinstance(value, list) else [value]
    for row in (r for r in rows[:9] if isinstance(r, Mapping)):
        name, summary = (_text(answers.field(row, keys), longest) for keys, longest in ((_NAMES, _NAME), (_SUMMARIES, _SUMMARY)))
        if name and summary and names.is_nameable(name):
            return name, summary
        if depth < 2:
            for inner in row.values():
                found = _written(inner, depth + 1) if isinstance(inner, Mapping | list) else None
                if found is not None:
                    return found
    return None


def _text(raw: object, longest: int) -> str:
    """A text on one line without signs that cannot be seen, cut; "" for what is none."""
    cleaned = names.clean(raw[: 20 * longest]) if isinstance(raw, str) else ""
    return shorten(cleaned, longest) if any(c.isalnum() for c in cleaned) else ""
