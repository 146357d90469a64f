"""Histories of a memory as the rows that a database keeps of them: for a copy over the wire, and for a script."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

import numpy as np

from graphmem.interval import Interval
from graphmem.model import CitationVersion, CommunityVersion, EpisodeRecord, FactVersion
from graphmem.stores.base import Kind, Reader
from graphmem.stores.codec import end_micros, safe_or_none, safe_text, start_micros
from graphmem.stores.histories import HALVES, EntityHistory, EpisodeHistory, FactHistory
from graphmem.stores.neo4j import rows
from graphmem.stores.neo4j.communities import community_params
from graphmem.stores.neo4j.pending import decision_params, link_params
from graphmem.stores.neo4j.rows import NEVER, Params
from graphmem.stores.neo4j.writer import key_params


class Loaded(NamedTuple):
    """Rows by what they are, the words of the rows that are indexed by words, and how many vectors are among them."""

    content: dict[str, list[Params]]
    words: list[str]
    vectors: int


def episode_rows(fresh: Sequence[EpisodeHistory], seen: Sequence[EpisodeHistory], change: int) -> Loaded:
    """Episodes with all that was derived from them; those `seen` are in the log already."""
    both = [*fresh, *seen]
    keys = {a: key_params(a, pair) for h in both for a, pair in h.keys.items()}
    pieces = [row for h in both for row in _pieces(h.record.episode.id, h.vectors)]
    said = [
        {
            **rows.assertion_params(a, h.record.episode, change),
            **({k: v for k, v in keys[a.id].items() if k != "id"} if a.id in keys else {}),
        }
        for h in fresh
        for a in h.record.assertions
    ]
    content = {
        "episodes": [rows.episode_params(h.record, change) | _visible(h, change) for h in fresh],
        "assertions": said,
        "decisions": [row for h in fresh for row in decision_params(h.record)],
        "links": [row for h in fresh for row in link_params(h.record, change)],
        "mentions": [rows.mention_params(m, h.record.episode, change) for h in fresh for m in h.record.mentions],
        "seen": [{"id": safe_text(h.record.episode.id), **_visible(h, change)} for h in seen],
        "keys": [keys[a.id] for h in seen for a in h.record.assertions if a.id in keys],
        "visible": [_episodic(h.record) for h in both if _is_open(h)],
        "named": [row for h in both for row in _named(h, change)],
        "mentioned": [row for h in both if _is_open(h) for row in _mentioned(h)],
        "pieces": pieces,
    }
    return Loaded(content, [rows.words_params(h.record.episode.group, h.words)["words"] for h in both if h.words is not None], len(pieces))


def entity_rows(entities: Sequence[EntityHistory], change: int) -> Loaded:
    """Entities with every version; `shown` is the node that tells the last."""
    made = [(h, [rows.entity_params(v, h.words, change) for v in h.versions]) for h in entities if h.versions]
    pieces = [row for h, _ in made for row in _pieces(h.id, h.vectors)]
    content = {
        "versions": [params["row"] for _, versions in made for params in versions],
        "shown": [{"row": _node(versions[-1], versions[0]["moment"]), "labels": versions[-1]["labels"]} for _, versions in made],
        "pieces": pieces,
    }
    return Loaded(content, [versions[-1]["words"] for _, versions in made], len(pieces))


def fact_rows(group: str, facts: Sequence[FactHistory], change: int) -> Loaded:
    """Facts with every version, and everything that ever cited them; `edges` are those that the nodes of episodes list."""
    made = list[Params]()
    edges: dict[str, list[str]] = defaultdict(list)
    for history in facts:
        for version, words, vector in zip(history.versions, history.words, history.vectors, strict=True):
            params = rows.fact_params(version, words, change)
            cited = list(dict.fromkeys(safe_text(c.episode) for c in history.citations if _stands_behind(c, version)))
            params["row"] |= {"episodes": cited, **({"gm_halves": rows.packed(vector)} if vector else {})}
            made.append({**params, "vector": floats(vector) if vector else None})
            if version.system.end is None:
                for episode in cited:
                    edges[episode].append(safe_text(version.uuid))
    content = {
        "facts": made,
        "citations": [rows.citation_params(c, group) | rows.system_params(c.system, change) for h in facts for c in h.citations],
        "edges": [{"episode": episode, "facts": uuids} for episode, uuids in edges.items()],
    }
    return Loaded(content, [params["row"]["gm_words"] for params in made], sum(params["vector"] is not None for params in made))


def community_rows(reader: Reader, group: str, versions: Sequence[CommunityVersion], change: int) -> Loaded:
    """Versions of communities with the words that they are found by; `pieces` are their vectors."""
    uuids = [v.uuid for v in versions]
    said, vectors = reader.words(Kind.COMMUNITY, uuids), reader.vectors(Kind.COMMUNITY, uuids)
    indexed = {uuid: rows.words_params(group, text) for uuid, text in said.items()}
    content = {
        "communities": [
            community_params(v, v.system, change)
            | ({f"gm_{name}": value for name, value in indexed[v.uuid].items()} if v.uuid in indexed else {})
            for v in versions
        ],
        "pieces": [row for uuid, found in vectors.items() for row in _pieces(uuid, [r.astype(HALVES).tobytes() for r in found])],
    }
    return Loaded(content, [params["words"] for params in indexed.values()], len(content["pieces"]))


class Counted:
    """How many rows are indexed with how many words, and in how many rows each word occurs."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._found: Counter[str] = Counter()
        self.counters = {"rows": 0, "words": 0}
        self.add(texts)

    def add(self, texts: Iterable[str]) -> None:
        """Count these texts, a row each."""
        for text in texts:
            self._found.update(set(text.split(" ")) - {""})
            self.counters["rows"] += 1
            self.counters["words"] += len(text.split())

    @property
    def rows(self) -> list[Params]:
        """Each word with its number of rows, in the order of words."""
        return [{"token": token, "rows": count} for token, count in sorted(self._found.items())]


def floats(halves: bytes) -> list[float]:
    """The numbers of a vector, as the driver takes them."""
    floats: list[float] = np.frombuffer(halves, HALVES).astype(np.float32).tolist()
    return floats


def _pieces(owner: str, vectors: Sequence[bytes]) -> list[Params]:
    return [{"owner": safe_text(owner), "piece": n, "halves": rows.packed(row), "vector": floats(row)} for n, row in enumerate(vectors)]


def _is_open(history: EpisodeHistory) -> bool:
    return bool(history.shown) and history.shown[-1].end is None


def _visible(history: EpisodeHistory, change: int) -> Params:
    """When an episode was visible, as its node keeps it, and its words."""
    shown = [n for s in history.shown for n in _quadruple(s, change)]
    always = _is_open(history) and len(history.shown) == 1
    visible = {"shown": shown, "gm_from": shown[0] if always else None, "gm_shown": change if always else None}
    if history.words is None:
        return visible
    indexed = rows.words_params(history.record.episode.group, history.words)
    return {**visible, "gm_words": indexed["words"], "gm_said": indexed["said"], "gm_scope": indexed["scope"]}


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
        **last["flat"],
        "gm_flat": list(last["flat"]),
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
