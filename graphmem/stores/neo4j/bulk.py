"""Taking a memory from another store: whole batches of rows, a statement each, with all that was ever derived."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from graphmem.errors import StoreError
from graphmem.interval import Interval
from graphmem.model import CitationVersion, EpisodeRecord, FactVersion, Head
from graphmem.stores.codec import end_micros, safe_or_none, safe_text, start_micros
from graphmem.stores.histories import HALVES, EntityHistory, EpisodeHistory, FactHistory
from graphmem.stores.neo4j import rows
from graphmem.stores.neo4j.pending import decision_params, link_params
from graphmem.stores.neo4j.rows import NEVER, Params
from graphmem.stores.neo4j.writer import Neo4jWriter, key_params


class BulkWriter(Neo4jWriter):
    """A transaction that takes whole histories besides."""

    def load_episodes(self, group: str, episodes: Sequence[EpisodeHistory]) -> None:
        name, change = self._own(group), self._change
        self.flush()
        known = self.head(group).seq
        fresh = [h for h in episodes if h.record.seq > known]
        seen = [h for h in episodes if h.record.seq <= known]
        keys = {a: key_params(a, pair) for h in episodes for a, pair in h.keys.items()}
        decisions = [row for h in fresh for row in decision_params(h.record)]
        links = [row for h in fresh for row in link_params(h.record, change)]
        pieces = [row for h in episodes for row in _pieces(h.record.episode.id, h.vectors)]
        named = [row for h in episodes for row in _named(h, change)]
        counted = _Counted(rows.words_params(group, h.words)["words"] for h in episodes if h.words is not None)
        said = [
            {
                **rows.assertion_params(a, h.record.episode, change),
                **({k: v for k, v in keys[a.id].items() if k != "id"} if a.id in keys else {}),
            }
            for h in fresh
            for a in h.record.assertions
        ]
        content = {
            "episodes": [rows.episode_params(h.record.episode, h.record.search_text, change) | _visible(h, change) for h in fresh],
            "assertions": said,
            "decisions": decisions,
            "links": links,
            "mentions": [rows.mention_params(m, h.record.episode, change) for h in fresh for m in h.record.mentions],
            "seen": [{"id": safe_text(h.record.episode.id), **_visible(h, change)} for h in seen],
            "keys": [keys[a.id] for h in seen for a in h.record.assertions if a.id in keys],
            "visible": [_episodic(h.record) for h in episodes if _is_open(h)],
            "named": named,
            "mentioned": [row for h in episodes if _is_open(h) for row in _mentioned(h)],
            "words": counted.words,
            "pieces": pieces,
        }
        for h in fresh:
            named_by = len(decision_params(h.record))
            self._advance(h.record.seq, h.record.episode.created_at, links=len(h.record.links), decisions=named_by)
        head = {"seq": self._pending.seq, "at": self._pending.at}
        counters = {**counted.counters, "vectors": len(pieces), "links": len(links), "decisions": len(decisions)}
        done = self._send("load_episodes", name, content, counters, head=head)
        if done["named"] < len(named):
            raise StoreError(f"a mention of {sorted({m.mention.episode for h in episodes for m in h.mentions})[:9]} is not in the log")

    def load_entities(self, group: str, entities: Sequence[EntityHistory]) -> None:
        name = self._own(group)
        self.flush()
        made = [(h, [rows.entity_params(v, h.words, self._change) for v in h.versions]) for h in entities]
        last = [(h, params[-1]) for h, params in made if params]
        pieces = [row for h, _ in last for row in _pieces(h.id, h.vectors)]
        counted = _Counted(params["words"] for _, params in last)
        content = {
            "versions": [params["row"] for _, versions in made for params in versions],
            "shown": [
                {"row": _node(params, versions[0]["moment"]), "labels": params["labels"]}
                for _, versions in made
                if versions
                for params in versions[-1:]
            ],
            "words": counted.words,
            "pieces": pieces,
        }
        self._send("load_entities", name, content, {**counted.counters, "vectors": len(pieces)})

    def load_facts(self, group: str, facts: Sequence[FactHistory]) -> None:
        name, made = self._own(group), list[Params]()
        self.flush()
        edges: dict[str, list[str]] = defaultdict(list)
        for history in facts:
            for version, words, vector in zip(history.versions, history.words, history.vectors, strict=True):
                params = rows.fact_params(version, words, self._change)
                cited = list(dict.fromkeys(safe_text(c.episode) for c in history.citations if _stands_behind(c, version)))
                params["row"] |= {"episodes": cited, **({"gm_halves": rows.packed(vector)} if vector else {})}
                made.append({**params, "vector": floats(vector) if vector else None})
                if version.system.end is None:
                    for episode in cited:
                        edges[episode].append(safe_text(version.uuid))
        counted = _Counted(params["row"]["gm_words"] for params in made)
        content = {
            "facts": made,
            "citations": [rows.citation_params(c, group) | rows.system_params(c.system, self._change) for h in facts for c in h.citations],
            "words": counted.words,
            "edges": [{"episode": episode, "facts": uuids} for episode, uuids in edges.items()],
        }
        vectors = sum(params["vector"] is not None for params in made)
        self._send("load_facts", name, content, {**counted.counters, "vectors": vectors})

    def set_head(self, group: str, head: Head) -> None:
        self._own(group)
        self._advance(head.seq, head.at)

    def _send(self, statement: str, group: str, content: Mapping[str, Any], counters: Mapping[str, int], **more: Any) -> Mapping[str, Any]:
        self._held.clear()
        self._open.clear()
        params = {"group": group, "change": self._change, "counters": counters, "rows": content, **more}
        done = self._tx.write(statement, **params)[0]
        if done["vectors"] < counters["vectors"]:
            raise StoreError(f"{counters['vectors'] - done['vectors']} vectors of {group!r} found no owner")
        return done


class _Counted:
    """How many rows are indexed with how many words, and in how many rows each occurs."""

    def __init__(self, texts: Iterable[str]) -> None:
        listed = list(texts)
        found = Counter(token for text in listed for token in set(text.split(" ")) if token)
        self.words = [{"token": token, "rows": count} for token, count in sorted(found.items())]
        self.counters = {"rows": len(listed), "words": sum(len(text.split()) for text in listed)}


def _pieces(owner: str, vectors: Sequence[bytes]) -> list[Params]:
    return [{"owner": safe_text(owner), "piece": n, "halves": rows.packed(row), "vector": floats(row)} for n, row in enumerate(vectors)]


def floats(halves: bytes) -> list[float]:
    """The numbers of a vector, as the driver takes them."""
    floats: list[float] = np.frombuffer(halves, HALVES).astype(np.float32).tolist()
    return floats


def _is_open(history: EpisodeHistory) -> bool:
    return bool(history.shown) and history.shown[-1].end is None


def _visible(history: EpisodeHistory, change: int) -> Params:
    """When an episode was visible, as its node keeps it, and its words."""
    shown = [n for s in history.shown for n in _quadruple(s, change)]
    if history.words is None:
        return {"shown": shown}
    indexed = rows.words_params(history.record.episode.group, history.words)
    return {"shown": shown, "gm_words": indexed["words"], "gm_said": indexed["said"], "gm_scope": indexed["scope"]}


def _quadruple(system: Interval, change: int) -> tuple[int, int, int, int]:
    return start_micros(system.start), end_micros(system.end), change, NEVER if system.end is None else change


def _episodic(record: EpisodeRecord) -> Params:
    """The node that Graphiti's clients know."""
    episode = record.episode
    return {
        "uuid": safe_text(episode.id),
        "group_id": safe_text(episode.group),
        "name": rows.episode_name(episode),
        "source": "fact_triple" if episode.kind.value == "facts" else episode.kind.value,
        "source_description": safe_or_none(episode.source) or "",
        "content": safe_text(episode.body),
        "valid_at": rows.utc(episode.reference_time),
        "created_at": rows.utc(episode.created_at or episode.reference_time),
        "entity_edges": [],
    }


def _named(history: EpisodeHistory, change: int) -> list[Params]:
    group = safe_text(history.record.episode.group)
    return [
        {
            "episode": safe_text(m.mention.episode),
            "position": m.mention.position,
            "moment": rows.utc(m.system.start or history.record.episode.reference_time),
            "row": {"group_id": group, "entity": safe_text(m.entity), **rows.system_params(m.system, change)},
        }
        for m in history.mentions
    ]


def _mentioned(history: EpisodeHistory) -> list[Params]:
    entities = dict.fromkeys(m.entity for m in history.mentions if m.system.end is None)
    return [{"episode": safe_text(history.record.episode.id), "entity": safe_text(e)} for e in entities]


def _node(last: Params, began: datetime) -> Params:
    """The node that Graphiti's clients know shows an entity's last version."""
    row = last["row"]
    return {
        "uuid": row["id"],
        "name": row["name"],
        "created_at": began,
        "labels": last["labels"],
        "gm_labels": last["labels"],
        "gm_aliases": row["aliases"],
        "gm_attributes": row["attributes"],
        "gm_words": last["words"],
        "gm_said": last["said"],
        "gm_scope": last["scope"],
    }


def _stands_behind(citation: CitationVersion, version: FactVersion) -> bool:
    """Whether a version was cited so when it was last believed."""
    if citation.valid_at != version.valid.start:
        return False
    end = end_micros(version.system.end)
    return start_micros(citation.system.start) < end <= end_micros(citation.system.end)
