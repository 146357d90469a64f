"""The arguments of the tools: their types, their limits, and what a model is told about them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from graphmem.errors import InvalidInput

MOST_TEXT = 100_000
MOST_ROWS = 100
MOST_ITEMS = 50
SHOWN_MISTAKES = 5


def short(description: str) -> Any:
    """A name, an id or another short text that may be left out."""
    return Field(None, min_length=1, max_length=500, description=description)


def when(description: str) -> Any:
    """An instant, read as the memory reads instants."""
    return Field(None, min_length=1, max_length=50, description=description)


def switch(description: str) -> Any:
    """Off unless it is asked for."""
    return Field(False, description=description)


def at_most(most: int, default: int, what: str) -> Any:
    """How long a list may be."""
    return Field(default, ge=1, le=most, description=f"How many {what} at most.")


class Arguments(BaseModel):
    """What every tool refuses: arguments that it does not know."""

    model_config = ConfigDict(extra="forbid", coerce_numbers_to_str=True, hide_input_in_errors=True)


class Read(Arguments):
    """Every read may be of another point in time, on both axes."""

    as_of_valid: str | None = when("What was true in the world at this time: a date or an instant, ISO 8601. Left out: now.")
    as_of_system: str | None = when("What the memory believed at this time: a date or an instant, ISO 8601. Left out: now.")


# ------------------------------------------------------------------------------------------ reads


class Search(Read):
    query: str = Field(min_length=1, max_length=2000, description="A question or a few words.")
    kinds: list[Literal["fact", "entity", "episode", "community"]] | None = Field(
        None,
        min_length=1,
        max_length=4,
        description="What to look for. Left out: all, communities only for broad questions.",
    )
    limit: int = at_most(MOST_ITEMS, 10, "hits")
    depth: int = Field(1, ge=0, le=3, description="How many facts the search may cross from what the query names.")
    history: bool = switch("Also facts that hold at another time.")
    relation: str | None = short("Only facts of this relation, for instance lives_in.")
    type: str | None = short("Only entities of this type, and their facts.")
    actor: str | None = short("Only what this person said.")
    session: str | None = short("Only what was said in this conversation.")


class Context(Read):
    query: str = Field(min_length=1, max_length=2000, description="The question that the text is to help answer.")
    max_tokens: int = Field(800, ge=50, le=8000, description="The most tokens that the text may have.")
    scope: Literal["local", "global"] = Field("local", description="global: all of it.")
    tiers: list[Literal["profile", "topics", "facts", "recent"]] | None = Field(
        None,
        min_length=1,
        max_length=4,
        description="Parts, under labels.",
    )
    actor: str | None = short("Only what this person said.")
    session: str | None = short("Only what was said in this conversation.")


class Entity(Read):
    name: str = Field(min_length=1, max_length=500, description="A name, an alias or an id.")
    history: bool = switch("Also facts that hold at another time.")
    limit: int = at_most(MOST_ITEMS, 20, "facts")


class Facts(Read):
    entity: str | None = short("Either end of the facts: a name, an alias or an id.")
    source: str | None = short("Only facts from this entity.")
    target: str | None = short("Only facts to this entity.")
    relation: str | None = short("Only this relation, for instance works_at.")
    history: bool = switch("Also facts that hold at another time.")
    limit: int = at_most(MOST_ITEMS, 20, "facts")


class Timeline(Read):
    entity: str = Field(min_length=1, max_length=500, description="A name, an alias or an id.")
    relation: str | None = short("Only this relation, for instance lives_in.")
    newest_first: bool = switch("Latest events first.")
    limit: int = at_most(2 * MOST_ITEMS, 40, "events")


class Neighbours(Read):
    entity: str = Field(min_length=1, max_length=500, description="A name, an alias or an id.")
    hops: int = Field(1, ge=1, le=3, description="How many facts away.")
    limit: int = at_most(MOST_ITEMS, 20, "entities")


class Communities(Read):
    entity: str | None = short("Only the one that this entity belongs to: a name, an alias or an id.")
    level: int = Field(0, ge=0, le=8, description="0 is the coarsest; higher levels are finer.")
    limit: int = at_most(MOST_ITEMS, 10, "communities")


class Episodes(Read):
    entity: str | None = short("Only episodes that mention it: a name, an alias or an id.")
    actor: str | None = short("Only by this person.")
    session: str | None = short("Only of this conversation.")
    source: str | None = short("Only from this source, for instance a file.")
    since: str | None = when("Said at or after this time, ISO 8601.")
    until: str | None = when("Said before this time, ISO 8601.")
    oldest_first: bool = switch("In order of time; otherwise newest first.")
    limit: int = at_most(MOST_ITEMS, 10, "episodes")


class OneEpisode(Read):
    id: str = Field(min_length=1, max_length=100, description="The id of an episode, as citations and `episodes` give it.")
    offset: int = Field(0, ge=0, le=10_000_000, description="Where to go on in a long text, in characters.")


class Explain(Read):
    item: str = Field(min_length=1, max_length=500, description="The id that a result gives, or the name of a person or thing.")
    query: str | None = Field(None, min_length=1, max_length=2000, description="The search to explain it for; left out: the item alone.")


class WhyNot(Read):
    query: str = Field(min_length=1, max_length=2000, description="The search that did not give it.")
    item: str = Field(min_length=1, max_length=500, description="The id, or the name of a person or thing, that was expected.")
    limit: int = at_most(MOST_ITEMS, 10, "hits")
    history: bool = switch("The search also took facts that hold at another time.")
    relation: str | None = short("The search took only facts of this relation.")


class Diff(Read):
    since: str = Field(min_length=1, max_length=50, description="From this time, ISO 8601 ...")
    until: str | None = when("... to this time. Left out: now.")
    axis: Literal["system", "valid"] = Field("system", description="system: what the memory believed; valid: what was so in the world.")
    entity: str | None = short("Only what is about it: a name, an alias or an id.")
    relation: str | None = short("Only facts of this relation, for instance works_at.")
    session: str | None = short("Only what was said in this conversation.")
    limit: int = at_most(MOST_ITEMS, 20, "changes")


class Why(Read):
    fact: str = Field(min_length=1, max_length=100, description="The id of a fact, as results give it.")


class Stats(Read):
    pass


# ------------------------------------------------------------------------------------------ writes


class Told(Arguments):
    """What every new episode may say about itself."""

    reference_time: str | None = when("When it was said, ISO 8601; words like yesterday count from there. Left out: now.")
    source: str | None = short("Where it is from, for instance a file or an address.")
    key: str | None = short("Its own id: the same key again changes nothing.")


class AddEpisode(Told):
    kind: Literal["message", "text", "json"] | None = Field(
        None, description="message: what an actor said; text: a document or note; json: a record. Left out: as the others say."
    )
    text: str | None = Field(None, min_length=1, max_length=MOST_TEXT, description="The words, unchanged; or JSON as text.")
    value: dict[str, Any] | list[Any] | None = Field(None, description="The record itself, for kind json without text.")
    actor: str | None = short("Who said it; a message needs it.")
    session: str | None = short("The conversation or channel it belongs to.")


class Row(Arguments):
    source: Annotated[str, Field(min_length=1, max_length=400, description="Who or what the fact is about.")]
    relation: Annotated[str, Field(min_length=1, max_length=200, description="How they are related, for instance works_at.")]
    target: Annotated[str, Field(min_length=1, max_length=400, description="To whom or to what.")]
    text: str | None = Field(None, min_length=1, max_length=2000, description="The fact as a sentence.")
    kind: Literal["holds", "ends", "denies"] = Field("holds", description="ends: no longer true; denies: never was true.")
    valid_at: str | None = when("When it began to hold: a year, month, date or instant.")
    invalid_at: str | None = when("When it ceased to hold.")
    source_type: str | None = short("The source's type, for instance Person.")
    target_type: str | None = short("The target's type.")


class AddFacts(Told):
    rows: list[Row] = Field(min_length=1, max_length=MOST_ROWS, description="The facts.")


class Act(Arguments):
    """What every operation may say about itself."""

    reason: str | None = short("Why; kept in the log.")


class Forget(Act):
    episode: str | None = short("The id of an episode: all that it says.")
    fact: str | None = short("The id of a fact, in whichever episodes it was said.")
    entity: str | None = short("A name, an alias or an id: everything about that person or thing.")
    session: str | None = short("A conversation: all of its episodes.")


class Restore(Act):
    operation: str = Field(min_length=1, max_length=100, description="The id that forget, correct_fact or another operation gave.")


class CorrectFact(Act):
    fact: str = Field(min_length=1, max_length=100, description="The id of the fact, as a search gives it.")
    text: str | None = Field(None, min_length=1, max_length=2000, description="The sentence as it should be.")
    valid_at: str | None = when("When it began to hold: a year, month, date or instant.")
    invalid_at: str | None = when("When it ceased to hold; none: no end is known.")
    source: str | None = short("Whom or what it is about: a name, an alias or an id.")
    relation: str | None = short("How they are related, for instance works_at.")
    target: str | None = short("To whom or to what: a name, an alias or an id.")


class EndFact(Act):
    fact: str = Field(min_length=1, max_length=100, description="The id of the fact, as a search gives it.")
    at: str | None = when("Since when, ISO 8601; a date is its first instant. Left out: now.")


# ------------------------------------------------------------------------------------------ reading them

A = TypeVar("A", bound=Arguments)
_SUBJECT = re.compile(r"^(?:Input|String|List|Dictionary|Value) should ")


def read(kind: type[A], given: object) -> A:
    """`given` as arguments of that kind; raises `InvalidInput` that names what is wrong, its value and what is allowed.

    Null is the same as left out.
    """
    if not isinstance(given, Mapping):
        raise InvalidInput("arguments", _sayable(given), "must be an object")
    present = {str(name): value for name, value in given.items() if value is not None}
    try:
        return kind.model_validate(present)
    except ValidationError as error:
        mistakes = [_mistake(kind, present, e) for e in error.errors(include_url=False)[:SHOWN_MISTAKES]]
        first = mistakes[0]
        rest = "".join(f"; {mistake}" for mistake in mistakes[1:])
        raise InvalidInput(first.argument, first.value, first.allowed + rest) from None
    except (ValueError, RecursionError):  # Python writes no integer of more than some thousand digits
        raise InvalidInput("arguments", _sayable(given), "must hold numbers and lists of a bearable size") from None


def _mistake(kind: type[Arguments], given: object, error: ErrorDetails) -> InvalidInput:
    where, owner = "", kind
    for step in error["loc"]:
        if isinstance(given, list) and isinstance(step, int):
            where, given, owner = f"{where}[{step}]", given[step], Row
        elif isinstance(given, Mapping) and (step in given or error["type"] == "missing"):
            where, given = f"{where}.{str(step)[:100]}", given.get(step)
        # Where several types are allowed, pydantic adds the type it tried to the place.
    where, value = where.removeprefix("."), _sayable(given)
    if error["type"] == "missing":
        return InvalidInput(where, None, "is required")
    if error["type"] == "extra_forbidden":
        return InvalidInput(where, value, f"is not an argument; allowed are {', '.join(_own_first(owner))}")
    described = schema(kind)["properties"].get(where, {})  # type: ignore[attr-defined]
    if described.get("type") == "integer":
        return InvalidInput(where, value, f"must be an integer from {described['minimum']} to {described['maximum']}")
    return InvalidInput(where, value, _SUBJECT.sub("must ", error["msg"]))


def _sayable(value: object) -> object:
    """The value, if it has a `repr`: a list nested too deeply and an integer of thousands of digits have none."""
    try:
        repr(value)
    except (RecursionError, ValueError):
        return type(value).__name__
    return value


def schema(kind: type[Arguments]) -> dict[str, object]:
    """The JSON schema of the arguments, as plain as models read it best: no titles, no null beside a type."""
    whole = kind.model_json_schema()
    plain: dict[str, Any] = _plain(whole, whole.get("$defs", {}))
    properties = {name: plain["properties"][name] for name in _own_first(kind)}
    return {"type": "object", "properties": properties, "required": plain.get("required", []), "additionalProperties": False}


def _own_first(kind: type[Arguments]) -> list[str]:
    """The names of the arguments: what is special to the tool before what it shares with others."""
    own = kind.__annotations__
    return [*(n for n in kind.model_fields if n in own), *(n for n in kind.model_fields if n not in own)]


def _plain(node: Any, shared: Mapping[str, Any]) -> Any:
    if isinstance(node, list):
        return [_plain(n, shared) for n in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        node = {**shared[node["$ref"].rpartition("/")[2]], **{k: v for k, v in node.items() if k != "$ref"}}
    if isinstance(choices := node.get("anyOf"), list):
        kept = [c for c in choices if c != {"type": "null"}]
        node = {**{k: v for k, v in node.items() if k != "anyOf"}, **(kept[0] if len(kept) == 1 else {"anyOf": kept})}
    dropped = {"$defs", *(("title",) if isinstance(node.get("title"), str) else ())}
    if node.get("default", ...) is None:
        dropped.add("default")
    return {k: _plain(v, shared) for k, v in node.items() if k not in dropped}
