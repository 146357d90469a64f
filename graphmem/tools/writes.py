"""The tools that write: one method of the memory each, in its own group alone."""

from __future__ import annotations

from graphmem.errors import InvalidInput
from graphmem.ingest.correcting import worded
from graphmem.memory import Memory
from graphmem.tools import arguments as a
from graphmem.tools.compact import Json, size, written


def add_episode(memory: Memory, given: a.AddEpisode) -> Json:
    kind = given.kind or ("message" if given.actor is not None else "json" if given.value is not None else "text")
    if (kind == "message") != (given.actor is not None):
        raise InvalidInput("actor", given.actor, "a message needs the name of who said it; nothing else has one")
    told = {"reference_time": given.reference_time, "session": given.session, "source": given.source, "key": given.key}
    if kind == "json":
        return written(memory.add_json(_record(given), **told))
    if given.value is not None:
        raise InvalidInput("value", given.value, f"is for kind json; the words of a {kind} are its text")
    if given.text is None:
        raise InvalidInput("text", None, f"is required for kind {kind}")
    if given.actor is not None:
        return written(memory.add_message(given.actor, given.text, **told))
    return written(memory.add_text(given.text, **told))


def _record(given: a.AddEpisode) -> object:
    if (given.value is None) == (given.text is None):
        raise InvalidInput("value", given.value, "kind json needs either value or text, and not both")
    if given.value is None:
        return given.text
    try:
        length = size(given.value)
    except (RecursionError, ValueError) as error:
        raise InvalidInput("value", "…", f"must be a value that JSON can hold: {error}") from None
    if length > a.MOST_TEXT:
        raise InvalidInput("value", f"{length} characters", f"must have at most {a.MOST_TEXT} characters as JSON")
    return given.value


def add_facts(memory: Memory, given: a.AddFacts) -> Json:
    rows = [row.model_dump(exclude_none=True) for row in given.rows]
    return written(memory.add_facts(rows, reference_time=given.reference_time, source=given.source, key=given.key))


def forget(memory: Memory, given: a.Forget) -> Json:
    return written(memory.forget(episode=given.episode, fact=given.fact, entity=given.entity, session=given.session, reason=given.reason))


def restore(memory: Memory, given: a.Restore) -> Json:
    return written(memory.undo(given.operation, reason=given.reason))


def correct_fact(memory: Memory, given: a.CorrectFact) -> Json:
    return written(
        memory.correct(
            given.fact,
            text=given.text,
            valid=worded(given.valid_at, given.invalid_at),
            source=given.source,
            relation=given.relation,
            target=given.target,
            reason=given.reason,
        )
    )


def end_fact(memory: Memory, given: a.EndFact) -> Json:
    return written(memory.end(given.fact, given.at, reason=given.reason))
