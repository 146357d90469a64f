"""Whether a read of a transaction could see what is only gathered: if not, it need not be written yet."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from graphmem.stores.base import Kind
from graphmem.stores.neo4j.pending import Pending

Check = Callable[[Pending, Mapping[str, Any]], bool]


def affects(pending: Pending, name: str, params: Mapping[str, Any]) -> bool:
    """Whether the statement, run with these parameters, could answer otherwise once `pending` is written; if in doubt, yes."""
    check = _CHECKS.get(name)
    return bool(pending) if check is None else check(pending, params)


def _shares(one: Collection[str], other: Collection[str] | None) -> bool:
    return bool(one) and not set(one).isdisjoint(other or ())


def _entities(pending: Pending, params: Mapping[str, Any]) -> bool:
    """By id: those whose version is replaced are among the new ones, unless an entity ends for good."""
    changed = {row["row"]["id"] for row in pending.entities.values()}
    return len(pending.ended_entities) > len(changed) or _shares(changed, params["ids"])


def _assertions_by_entity(pending: Pending, params: Mapping[str, Any]) -> bool:
    named = {row[end] for row in pending.assertions for end in ("source", "target")}
    return bool(pending.keys) or _shares(named, params["ids"])


def _beliefs(pending: Pending, _: Mapping[str, Any]) -> bool:
    said = pending.assertions or pending.decisions or pending.links or pending.targets or pending.keys
    return bool(said) or any(check(pending, _) for check in (_facts, _entities_at_all, _citations))


def _facts(pending: Pending, _: Mapping[str, Any]) -> bool:
    return bool(pending.facts or pending.ended_facts)


def _entities_at_all(pending: Pending, _: Mapping[str, Any]) -> bool:
    return bool(pending.entities or pending.ended_entities)


def _mentions(pending: Pending, _: Mapping[str, Any]) -> bool:
    return bool(pending.named or pending.ended_mentions)


def _episodes(pending: Pending, _: Mapping[str, Any]) -> bool:
    return bool(pending.shown or pending.hidden)


def _citations(pending: Pending, _: Mapping[str, Any]) -> bool:
    return bool(pending.citations or pending.ended_citations)


def _none(_: Pending, __: Mapping[str, Any]) -> bool:
    """What is never gathered."""
    return False


def _vectors(kind: Kind) -> Check:
    def check(pending: Pending, params: Mapping[str, Any]) -> bool:
        owners = {owner for k, owner, _ in pending.vectors if k is kind} | (
            {new for _, new in pending.copies} if kind is Kind.FACT else set()
        )
        return _shares(owners, params["ids"])

    return check


_CHECKS: dict[str, Check] = {
    "state": lambda pending, params: False,  # what the writer itself has set, it knows
    "group_names": lambda pending, params: bool(pending.episodes or pending.operations),
    "answer": lambda pending, params: params["key_index"] in pending.answers,
    "statistics": lambda pending, params: bool(pending.facts or pending.entities or pending.shown or pending.ended_facts),
    "links_of": lambda pending, params: bool(pending.links),
    "operations_all": lambda pending, params: bool(pending.operations),
    "operations_named": lambda pending, params: bool(pending.operations),
    "episode_id_by_key": lambda pending, params: bool(pending.episodes),
    "log_page": lambda pending, params: bool(pending.episodes),
    "records": lambda pending, params: _shares(pending.episodes, params["ids"]),
    "episode_heads": lambda pending, params: _shares(pending.episodes, params["ids"]),
    "mention_records": lambda pending, params: bool(pending.mentions),
    "assertions_by_id": lambda pending, params: _shares([row["id"] for row in pending.assertions], params["ids"]),
    "assertions_by_episode": lambda pending, params: _shares(pending.episodes, params["ids"]),
    "assertions_by_fact": lambda pending, params: bool(pending.keys),
    "assertions_by_entity": _assertions_by_entity,
    "assertions_by_deciding": lambda pending, params: _shares([row["named"] for row in pending.decisions], params["ids"]),
    "keys_by_fact": lambda pending, params: bool(pending.keys),
    "keys_by_slot": lambda pending, params: bool(pending.keys),
    "fact_ids": lambda pending, params: _shares(pending.keys, params["ids"]),
    "facts_in_groups": _facts,
    "facts_by_uuid": _facts,
    "facts_by_fact_id": _facts,
    "facts_by_source": _facts,
    "facts_by_target": _facts,
    "facts_by_entity": _facts,
    "facts_by_relation": _facts,
    "citations_all": _citations,
    "citations_by_fact": _citations,
    "citations_by_episode": _citations,
    "entities_in_groups": _entities_at_all,
    "entities_by_name": _entities_at_all,
    "entities_by_id": _entities,
    "entities_ever": _entities_at_all,
    "mentions_all": _mentions,
    "mentions_by_episode": _mentions,
    "mentions_by_entity": _mentions,
    "beliefs_around": _beliefs,
    "text_entity": _entities_at_all,
    "scan_entity": _entities_at_all,
    "near_entity": _entities_at_all,
    "fetched_entity": _entities_at_all,
    "episodes_in_order": _episodes,
    "episodes_newest_first": _episodes,
    "episodes_by_session": _episodes,
    "episodes_by_key": _episodes,
    "episodes_by_id": _episodes,
    "vectors_fact": _vectors(Kind.FACT),
    "vectors_entity": _vectors(Kind.ENTITY),
    "vectors_episode": _vectors(Kind.EPISODE),
    "words_community": _none,
    "vectors_community": _none,
    "text_community": _none,
    "scan_community": _none,
    "near_community": _none,
    "fetched_community": _none,
}
