"""A memory as Cypher source: the statements that make its groups in an empty database, with all that was ever derived.

Every row is merged on what tells it from others, and only into a group that the script itself began: run again, it changes
nothing; run again after it was stopped, it goes on; and what somebody else wrote it never touches.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from graphmem.interval import FIRST
from graphmem.model import EpisodeRecord, Head, Operation
from graphmem.runtime import canonical_json
from graphmem.statements import CYPHER, Statement
from graphmem.stores.codec import safe_text, to_micros_or_none
from graphmem.stores.histories import (
    BY_SCRIPT,
    HistoryReader,
    entity_histories,
    episode_histories,
    fact_histories,
    group_settings,
    unfinished,
)
from graphmem.stores.neo4j import rows
from graphmem.stores.neo4j.communities import member_params, shown_community
from graphmem.stores.neo4j.connect import migrations, schema
from graphmem.stores.neo4j.literals import literal
from graphmem.stores.neo4j.loading import Counted, Loaded, community_rows, entity_rows, episode_rows, fact_rows
from graphmem.stores.neo4j.pending import target_params
from graphmem.stores.neo4j.rows import Params, utc
from graphmem.stores.neo4j.session import named
from graphmem.stores.neo4j.tokens import index_key

_READ_AT_ONCE = 250
_ROWS, _CHARACTERS = 100, 200_000
_CHANGE = 1
_KINDS = ("episode", "entity", "fact", "community")
_COUNTED = ("links", "targets", "decisions", *(f"{kind}_vectors" for kind in _KINDS))
Told = Callable[[str, int], None]
"""Called with a kind of item and how many of it have gone out since the last call."""


def prologue() -> Iterator[str]:
    """The schema, where it is missing; what brings older rows to it is left to whoever opens the memory."""
    steps = [statement for step in (*migrations().values(), schema("vectors_plain")) for statement in step.values()]
    yield from (_filled(statement, {}) for statement in steps if "IF NOT EXISTS" in statement.text)
    yield _filled(named()["script_store"], {"version": max(migrations())})


def group_script(reader: HistoryReader, group: str, head: Head, told: Told) -> Iterator[str]:
    """The statements that make one group, whose log ends at `head`; `told` hears of its entries, entities and facts."""
    yield from _Script(reader, group, head, told).statements()


class _Script:
    def __init__(self, reader: HistoryReader, group: str, head: Head, told: Told) -> None:
        self._reader, self._group, self._head, self._told = reader, group, head, told
        self._words = {kind: Counted() for kind in _KINDS}
        self._counts: Counter[str] = Counter(dict.fromkeys(_COUNTED, 0))
        embedder = reader.meta("embedder")
        self._embedder = None if embedder is None else safe_text(embedder)
        seed = canonical_json([group, head.seq, None if head.at is None else head.at.isoformat(), embedder])
        self._common = {"group": safe_text(group), "script": hashlib.sha256(seed.encode()).hexdigest()[:32]}
        self._mark = index_key(unfinished(group))

    def statements(self) -> Iterator[str]:
        """From the first to what whoever runs them is told."""
        begun = {"version": max(migrations()), "mark": self._mark, "value": BY_SCRIPT, "embedder": self._embedder}
        yield _filled(named()["script_begin"], self._common | begun)
        yield from self._log()
        yield from self._entities()
        yield from self._facts()
        yield from self._communities()
        for kind, words in self._words.items():
            yield from self._merged("words", ({"kind": kind, **word} for word in words.rows))
        yield from self._merged("metas", self._settings())
        counted = {f"{kind}_{what}": n for kind, words in self._words.items() for what, n in words.counters.items()}
        state = {"seq": self._head.seq, "at": to_micros_or_none(self._head.at), "change": _CHANGE, **counted, **self._counts}
        yield _filled(named()["script_end"], self._common | {"mark": self._mark, "state": state})
        yield _filled(named()["script_told"], {"group": self._common["group"], "state": state})

    # ------------------------------------------------------------------------------------------ parts

    def _log(self) -> Iterator[str]:
        log = self._reader.log(self._group)
        while entries := list(islice(log, _READ_AT_ONCE)):
            episodes = [e for e in entries if isinstance(e, EpisodeRecord)]
            operations = [e for e in entries if isinstance(e, Operation)]
            targets = [row for o in operations for row in target_params(o)]
            loaded = episode_rows(episode_histories(self._reader, self._group, episodes), [], _CHANGE)
            self._counts.update(links=len(loaded.content["links"]), decisions=len(loaded.content["decisions"]), targets=len(targets))
            yield from self._loaded("episode", loaded)
            yield from self._merged("operations", (rows.operation_params(o, _CHANGE) for o in operations))
            yield from self._merged("targets", targets)
            self._told("entries", len(entries))

    def _entities(self) -> Iterator[str]:
        after = ""
        while found := entity_histories(self._reader, self._group, after, _READ_AT_ONCE):
            yield from self._loaded("entity", entity_rows(found, _CHANGE))
            self._told("entities", len(found))
            after = found[-1].id

    def _facts(self) -> Iterator[str]:
        after = ""
        while found := fact_histories(self._reader, self._group, after, _READ_AT_ONCE):
            yield from self._loaded("fact", loaded := fact_rows(self._group, found, _CHANGE))
            self._told("facts", len(loaded.content["facts"]))
            after = found[-1].id

    def _loaded(self, kind: str, loaded: Loaded) -> Iterator[str]:
        self._words[kind].add(loaded.words)
        self._counts[f"{kind}_vectors"] += loaded.vectors
        for what, listed in loaded.content.items():
            yield from self._merged(f"{kind}_pieces" if what == "pieces" else what, map(_spelled, listed))

    def _communities(self) -> Iterator[str]:
        versions, members = self._reader.community_history(self._group)
        now = [v for v in versions if v.system.end is None]
        begun = {v.id: v.system.start or FIRST for v in reversed(versions)}
        yield from self._merged("shown_communities", (shown_community(v, begun[v.id]) for v in now))
        for n in range(0, len(versions), _READ_AT_ONCE):
            yield from self._loaded("community", community_rows(self._reader, self._group, versions[n : n + _READ_AT_ONCE], _CHANGE))
        yield from self._merged("members", (member_params(m, self._group, m.system, _CHANGE) for m in members))
        inside = (
            {"community": safe_text(m.community), "entity": safe_text(m.entity), "created_at": utc(m.system.start)}
            for m in members
            if m.system.end is None
        )
        yield from self._merged("shown_members", inside)

    def _settings(self) -> Iterator[Params]:
        for name in group_settings(self._group):
            if (value := self._reader.meta(name)) is not None:
                yield {"name_index": index_key(name), "value": safe_text(value)}

    # ------------------------------------------------------------------------------------------ statements

    def _merged(self, name: str, listed: Iterable[Params]) -> Iterator[str]:
        """The statement of that name for some rows at a time."""
        batch, size = list[str](), 0
        for row in listed:
            batch.append(literal(row))
            size += len(batch[-1])
            if len(batch) == _ROWS or size >= _CHARACTERS:
                yield self._rows(name, batch)
                batch, size = [], 0
        if batch:
            yield self._rows(name, batch)

    def _rows(self, name: str, literals: Sequence[str]) -> str:
        listed = ",\n".join(literals)
        return _put(named()[f"script_{name}"], {**{k: literal(v) for k, v in self._common.items()}, "rows": f"[\n{listed}\n]"})


def _spelled(row: Params) -> Params:
    """A row whose vector is one text: a list of numbers would be planned number by number."""
    vector = row.get("vector")
    return row if vector is None else row | {"vector": " ".join([f"{number:.5g}" for number in vector])}


def _filled(statement: Statement, params: Mapping[str, object]) -> str:
    return _put(statement, {name: literal(value) for name, value in params.items()})


def _put(statement: Statement, literals: Mapping[str, str]) -> str:
    """The statement with literals in the place of its parameters, all at once: nothing in one is taken for another parameter."""
    return CYPHER.parameter.sub(lambda found: literals[found[1]], statement.text)
