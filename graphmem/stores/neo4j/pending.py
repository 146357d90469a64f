"""What a transaction is going to write, gathered so that one statement can write it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from graphmem.model import EpisodeRecord, Operation
from graphmem.stores.base import Kind
from graphmem.stores.codec import safe_text, to_micros
from graphmem.stores.neo4j.rows import NEVER, Params, utc

CitationKey = tuple[str, int, str, str]
MentionKey = tuple[str, int, str]


@dataclass
class Pending:
    """The parameters of the statement `commit`, by what they say. All texts are as the store keeps them."""

    change: int
    seq: int = 0
    at: int | None = None
    episodes: dict[str, Params] = field(default_factory=dict)
    assertions: list[Params] = field(default_factory=list)
    decisions: list[Params] = field(default_factory=list)
    links: list[Params] = field(default_factory=list)
    operations: dict[str, Params] = field(default_factory=dict)
    targets: list[Params] = field(default_factory=list)
    mentions: list[Params] = field(default_factory=list)
    keys: dict[str, Params] = field(default_factory=dict)
    ended_facts: dict[str, Params] = field(default_factory=dict)
    facts: dict[str, Params] = field(default_factory=dict)
    ended_entities: dict[str, Params] = field(default_factory=dict)
    entities: dict[str, Params] = field(default_factory=dict)
    fresh_entities: set[str] = field(default_factory=set)
    ended_citations: dict[CitationKey, Params] = field(default_factory=dict)
    citations: dict[CitationKey, Params] = field(default_factory=dict)
    ended_mentions: dict[MentionKey, Params] = field(default_factory=dict)
    named: dict[MentionKey, Params] = field(default_factory=dict)
    hidden: dict[str, Params] = field(default_factory=dict)
    shown: dict[str, Params] = field(default_factory=dict)
    vectors: dict[tuple[Kind, str, int], Params] = field(default_factory=dict)
    copies: list[tuple[str, str]] = field(default_factory=list)
    answers: dict[str, Params] = field(default_factory=dict)
    metas: dict[str, Params] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Whether there is anything to write."""
        return any(getattr(self, name) for name in _CONTENTS)

    def params(self, group: str) -> dict[str, Any]:
        """Everything, as the statement takes it."""
        return {
            "group": group,
            "change": self.change,
            "open": NEVER,
            "head": {"seq": self.seq, "at": self.at},
            "counters": self._counters(),
            "rows": self._rows(),
        }

    def _rows(self) -> dict[str, list[Any]]:
        words = self._words()
        return {
            "words": [{"kind": kind, "token": token, "rows": rows} for (kind, token), rows in sorted(words.items())],
            "copies": [{"old": old, "new": new} for old, new in self.copies],
            "reworded": sorted({row["row"]["id"] for row in self.entities.values()}),
            "revectored": [{"kind": kind, "owner": owner} for kind, owner in sorted(self._revectored())],
            "fact_vectors": self._vectors(Kind.FACT),
            "entity_pieces": self._vectors(Kind.ENTITY),
            "episode_pieces": self._vectors(Kind.EPISODE),
            "seen_facts": sorted({key[0] for key in (*self.citations, *self.ended_citations)} | self._fact_ids()),
            "versioned": sorted(self._fact_ids()),
            "seen_episodes": sorted(self._seen_episodes()),
            **{name: list(_values(getattr(self, name))) for name in _LISTED},
        }

    def _vectors(self, kind: Kind) -> list[Params]:
        return [row for (k, _, _), row in self.vectors.items() if k is kind]

    def _revectored(self) -> set[tuple[str, str]]:
        return {(kind.value, owner) for kind, owner, _ in self.vectors} | {("fact", new) for _, new in self.copies}

    def _fact_ids(self) -> set[str]:
        return {row["row"]["gm_fact_id"] for row in self.facts.values()}

    def _seen_episodes(self) -> set[str]:
        named = {key[0] for key in (*self.named, *self.ended_mentions)}
        return named | {key[2] for key in (*self.citations, *self.ended_citations)} | self.shown.keys()

    def _texts(self) -> list[tuple[str, str]]:
        """Kind and words of the rows that get new ones; of an entity only the last count."""
        entities = {row["row"]["id"]: row["words"] for row in self.entities.values()}
        found = [("fact", row["row"]["gm_words"]) for row in self.facts.values()]
        found += [("entity", words) for words in entities.values()]
        return found + [("episode", row["words"]) for row in self.shown.values() if row["words"] is not None]

    def _words(self) -> Counter[tuple[str, str]]:
        return Counter((kind, token) for kind, words in self._texts() for token in set(words.split(" ")) if token)

    def _counters(self) -> dict[str, int]:
        counted: dict[str, int] = defaultdict(int)
        for kind, words in self._texts():
            counted[f"{kind}_rows"] += 1
            counted[f"{kind}_words"] += len(words.split())
        for kind, _, _ in self.vectors:
            counted[f"{kind.value}_vectors"] += 1
        counted["fact_vectors"] += len(self.copies)
        counted |= {"links": len(self.links), "targets": len(self.targets), "decisions": len(self.decisions)}
        names = [f"{kind.value}_{what}" for kind in Kind for what in ("rows", "words", "vectors")]
        return {name: counted[name] for name in (*names, "links", "targets", "decisions")}

    # -- ends of what is itself only pending

    def end(self, kind: str, uuid: str, at: datetime) -> None:
        """End a version: a pending one here, any other when it is written."""
        rows = self.facts if kind == "fact" else self.entities
        ended = self.ended_facts if kind == "fact" else self.ended_entities
        now = to_micros(at)
        if uuid not in rows:
            ended.setdefault(uuid, {"uuid": uuid, "at": now, "moment": utc(at)})
            return
        row = rows[uuid]["row"]
        if row["gm_ended"] != NEVER:
            return
        if row["gm_from"] < now:
            row.update(gm_to=now, gm_ended=self.change)
            if kind == "fact":
                row["expired_at"] = utc(at)
            return
        del rows[uuid]
        if kind == "fact":
            self.vectors = {key: v for key, v in self.vectors.items() if key[:2] != (Kind.FACT, uuid)}
            self.copies = [pair for pair in self.copies if uuid not in pair]


def own_rows(pending: Pending, name: str, params: Mapping[str, Any]) -> list[Params] | None:
    """The rows that a read would find in addition once `pending` is written; None where that cannot be told from `pending` alone."""
    found = _OWN.get(name)
    return None if found is None else found(pending, set(params["ids"]))


def _heads(pending: Pending, wanted: set[str]) -> list[Params]:
    return [{"episode": _headed(row)} for i, row in pending.episodes.items() if i in wanted]


def _headed(episode: Params) -> Params:
    return {name: value for name, value in episode.items() if name != "body"}


def _said(pending: Pending, wanted: Callable[[Params], bool]) -> list[Params]:
    heads = {i: _headed(row) for i, row in pending.episodes.items()}
    return [{"assertion": row, "head": heads[row["episode"]]} for row in pending.assertions if wanted(row)]


def _deciding(pending: Pending, wanted: set[str]) -> list[Params]:
    deciding = {row["assertion"] for row in pending.decisions if row["named"] in wanted}
    return _said(pending, lambda row: row["id"] in deciding) if deciding else []


def _by_entity(pending: Pending, wanted: set[str]) -> list[Params] | None:
    return None if pending.keys else _said(pending, lambda row: row["source"] in wanted or row["target"] in wanted)


_OWN: dict[str, Callable[[Pending, set[str]], list[Params] | None]] = {
    "episode_heads": _heads,
    "assertions_by_id": lambda pending, wanted: _said(pending, lambda row: row["id"] in wanted),
    "assertions_by_deciding": _deciding,
    "assertions_by_entity": _by_entity,
    "links_of": lambda pending, wanted: [row for row in pending.links if row["one"] in wanted or row["other"] in wanted],
    "mention_records": lambda pending, wanted: [{"mention": row} for row in pending.mentions if row["entity"] in wanted],
}
_LISTED = (
    "episodes",
    "assertions",
    "decisions",
    "links",
    "operations",
    "targets",
    "mentions",
    "keys",
    "ended_facts",
    "facts",
    "ended_entities",
    "entities",
    "ended_citations",
    "citations",
    "ended_mentions",
    "named",
    "hidden",
    "shown",
    "answers",
    "metas",
)
_CONTENTS = (*_LISTED, "vectors", "copies")


def _values(held: Mapping[object, Params] | list[Params]) -> list[Params]:
    return list(held.values()) if isinstance(held, Mapping) else held


def close(row: Params, now: int, change: int) -> bool:
    """End a pending row at `now`; False when nothing is left of it."""
    if row["gm_from"] >= now:
        return False
    row.update(gm_to=now, gm_ended=change)
    return True


def decision_params(record: EpisodeRecord) -> list[Params]:
    """Which assertions those of an episode name."""
    named = {(i, a.id) for a in record.assertions for i in a.decided}
    group = safe_text(record.episode.group)
    return [{"group_id": group, "named": safe_text(i), "assertion": safe_text(a)} for i, a in sorted(named)]


def link_params(record: EpisodeRecord, change: int) -> list[Params]:
    """The properties of the nodes of an episode's links."""
    episode = record.episode
    return [
        {
            "group_id": safe_text(episode.group),
            "episode": safe_text(episode.id),
            "seq": episode.seq,
            "position": position,
            "one": safe_text(one),
            "other": safe_text(other),
            "gm_added": change,
        }
        for position, (one, other) in enumerate(record.links)
    ]


def target_params(operation: Operation) -> list[Params]:
    """What an operation acts on."""
    group, named = safe_text(operation.group), safe_text(operation.id)
    return [{"group_id": group, "target": safe_text(t), "operation": named} for t in dict.fromkeys(operation.targets)]
