"""What the log keeps of a model: its answers, for when the same is asked again, and what a group has cost."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from graphmem.errors import InvalidInput
from graphmem.ingest.found import shown
from graphmem.llm.base import Answer, Ask, failure_of, failure_row
from graphmem.model import Episode, Usage
from graphmem.runtime import canonical_json
from graphmem.stores.base import Reader, Writer
from graphmem.stores.codec import encode


def kept_answer(model: str, value: object, note: Mapping[str, object]) -> Answer | None:
    """A kept answer; what another model refused or cut says nothing of `model`."""
    failure = failure_of(note.get("failure"))
    return Answer(value, failure=failure) if failure is None or note.get("model") == model else None


def keep_answers(
    tx: Writer, model: str, episode: Episode, answers: Sequence[tuple[Ask, Answer]], stages: Mapping[str, Usage], recorded: bool = True
) -> None:
    """The model's answers for the log, and what the group has cost so far.

    Those about an episode that is not recorded are found again by their subject: what goes with it may be another by then.
    """
    for ask, answer in answers:
        _keep(tx, model, ask, answer, ask.key if recorded or not ask.context else ask.subject, {"episode": episode.id})
    keep_usage(tx, episode.group, stages)


def keep_texts(tx: Writer, model: str, group: str, answers: Sequence[tuple[Ask, Answer]]) -> None:
    """The model's answers about some facts of a group, as its note says."""
    for ask, answer in answers:
        _keep(tx, model, ask, answer, ask.key, {"group": group})


def _keep(tx: Writer, model: str, ask: Ask, answer: Answer, key: str, about: Mapping[str, object]) -> None:
    note: dict[str, object] = {"model": model, "prompt": ask.prompt, "version": ask.version, **about}
    if answer.failure is not None:
        note["failure"] = failure_row(answer.failure)
    tx.put_answer(key, _storable(answer.value), note)


def keep_usage(tx: Writer, group: str, stages: Mapping[str, Usage]) -> None:
    """Add to what the group has cost."""
    if stages:
        spent = read_usage(tx.meta(_usage(group)))
        for prompt, usage in stages.items():
            spent[prompt] = spent.get(prompt, Usage()) + usage
        tx.put_meta(_usage(group), canonical_json({prompt: asdict(usage) for prompt, usage in spent.items()}))


def keep_cost(tx: Writer, episode: Episode, stages: Mapping[str, Usage]) -> None:
    """What reading this episode has cost; nothing where no model was paid."""
    if stages:
        spent = sum(stages.values(), Usage())
        tx.put_answer(cost_key(episode.id), asdict(spent), {"episode": episode.id})


def cost_key(episode: str) -> str:
    """Under which key it is kept."""
    return f"usage:{episode}"


def cost_of(reader: Reader, episode: str) -> Usage:
    """What reading an episode has cost, as `keep_cost` kept it."""
    kept = reader.answer(cost_key(episode))
    return Usage(**kept[0]) if kept is not None and isinstance(kept[0], dict) else Usage()


def read_usage(kept: str | None) -> dict[str, Usage]:
    """What a group has cost by prompt, as the store keeps it."""
    return {prompt: Usage(**usage) for prompt, usage in json.loads(kept or "{}").items()}


def forget_usage(tx: Writer, group: str) -> dict[str, Usage]:
    """What the group has cost so far; it is counted from nothing again."""
    spent = read_usage(tx.meta(_usage(group)))
    if spent:
        tx.put_meta(_usage(group), canonical_json({}))
    return spent


def _usage(group: str) -> str:
    return f"usage:{group}"


def _storable(value: object) -> object:
    """An answer as the store can keep it: one that is nested too deeply as what a warning would show of it."""
    try:
        encode(value)
    except InvalidInput:
        return shown(value, 20_000)
    return value
