"""Answers that a model might give, spoiled: cut, nested, of wrong types, huge, hostile. The same seed gives the same ones."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from random import Random

PEOPLE = ("Mira", "Ivo", "Ana Prado", "Acme", "Porto", "I", "東京", "Бо")
JUNK: tuple[object, ...] = (
    None, True, False, 0, -1, 7, 10**40, 1.5, float("nan"), float("inf"), "", " ", "\x00", "\ud800", "null", "None", "0", "-3", "1e9",
    "2024-02-30", "soon", "2019", "he", "</data>", "\u202eevil", "x" * 30_000, [], {}, [[]], [None], {"": None}, [{"a": [1, {"b": 2}]}],
    {"$ref": "#"}, {"id": "en_x"}, ["Mira"] * 300, {"name": {"name": {"name": "Mira"}}}, {str(n): n for n in range(700)},
)  # fmt: skip


def good(random: Random, prompt: str) -> dict[str, object]:
    """An answer as it should be."""
    if prompt == "resolve":
        return {"matches": [{"new": n, "existing": random.choice(("e1", "e2", None))} for n in range(2)]}
    if prompt == "judge":
        rows = [{"new": n, "duplicates": [], "contradicts": random.sample(("f1", "f2", "f3"), 1)} for n in range(2)]
        return {"judgements": rows}
    named = random.sample(PEOPLE, 3)
    entities = [
        {
            "name": n,
            "type": random.choice(("Person", "Place", "Value", "Thing")),
            "aliases": [],
            "attributes": {"built": "1998", "flags": ["PT"]},
        }
        for n in named
    ]
    relations = ("works_at", "lives_in", "likes", "dislikes", "knows", "due")
    facts = [
        {
            "source": named[0],
            "target": named[n],
            "relation": random.choice(relations),
            "text": f"{named[0]} and {named[n]}",
            "kind": random.choice(("holds", "holds", "holds", "holds", "ends", "denies")),
            "valid_at": random.choice((None, "2020", "2021-05", "2030")),
            "invalid_at": random.choice((None, "2022")),
            "still": random.random() < 0.3,
        }
        for n in (1, 2)
    ]
    return {"entities": entities, "facts": facts, "links": [named[:2]], "clauses": ["so it goes"]}


def mutant(random: Random, prompt: str) -> object:
    """A spoiled answer: one to three mutations one after another."""
    value: object = good(random, prompt)
    for _ in range(random.randint(1, 3)):
        value = random.choice(MUTATIONS)(random, value)
    return value


def _spots(value: object) -> list[tuple[object, object]]:
    """Every place inside a value: the container and the key or position."""
    found: list[tuple[object, object]] = []
    todo = [value]
    while todo and len(found) < 300:
        item = todo.pop()
        inner = list(item.items()) if isinstance(item, dict) else list(enumerate(item)) if isinstance(item, list) else []
        found += [(item, key) for key, _ in inner]
        todo += [part for _, part in inner]
    return found


def _changed(change: Callable[[Random, object, object], None]) -> Callable[[Random, object], object]:
    """A mutation of one place inside a value."""

    def mutation(random: Random, value: object) -> object:
        try:
            value = copy.deepcopy(value)
        except (RecursionError, TypeError):
            return value
        spots = _spots(value)
        if spots:
            change(random, *random.choice(spots))
        return value

    return mutation


@_changed
def _wrong_type(random: Random, container: object, key: object) -> None:
    container[key] = random.choice(JUNK)  # type: ignore[index]


@_changed
def _gone(random: Random, container: object, key: object) -> None:
    del container[key]  # type: ignore[attr-defined]


@_changed
def _as_text(random: Random, container: object, key: object) -> None:
    container[key] = json.dumps(container[key], default=str)  # type: ignore[index]


@_changed
def _renamed(random: Random, container: object, key: object) -> None:
    if isinstance(container, dict):
        name = random.choice(
            (str(key).title(), str(key).replace("_", "-"), "id", "name", "source", "identities", "graphmem:unread", "attributes", "\u202e")
        )
        container[name] = container.pop(key)


@_changed
def _repeated(random: Random, container: object, key: object) -> None:
    if isinstance(container, list):
        container.extend([container[key]] * random.choice((1, 5, 3_000)))  # type: ignore[call-overload]


@_changed
def _nested(random: Random, container: object, key: object) -> None:
    for _ in range(random.choice((1, 30, 400))):
        container[key] = random.choice(([container[key]], {"value": container[key]}))  # type: ignore[index]


@_changed
def _more_keys(random: Random, container: object, key: object) -> None:
    if isinstance(container, dict):
        container |= {"operations": [{"op": "forget", "episode": "all"}], "attributes": {"identities": ["User:id=1"], "a": {"b": [1]}}}


def _wrapped(random: Random, value: object) -> object:
    return random.choice(({"answer": value}, {"result": {"data": value}}, [value], {"response": [value]}, {"entities": value}))


def _list_alone(random: Random, value: object) -> object:
    lists = [v for v in value.values() if isinstance(v, list)] if isinstance(value, dict) else []
    return random.choice(lists) if lists else value


def _cut(random: Random, value: object) -> object:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text[: random.randint(0, len(text))]


def _talked_around(random: Random, value: object) -> object:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    shapes = (
        "```json\n{}\n```",
        "<think>{{'a': 1}}</think>{}",
        "Sure! Here: {} Anything else?",
        "{}{}",
        "<think>{}",
        "'{}'",
        "\ufeff{}\x00",
    )
    return random.choice(shapes).replace("{}", text)


def _python_like(random: Random, value: object) -> object:
    return value if isinstance(value, str) else repr(value)[:50_000]


def _other(random: Random, value: object) -> object:
    return random.choice((*JUNK, "I cannot help with that.", "{" * 5_000, "[" * 5_000, object(), b"{}", {1, 2}, (), {None: None}))


MUTATIONS: tuple[Callable[[Random, object], object], ...] = (
    *(_wrong_type, _gone, _as_text, _renamed, _repeated, _nested, _more_keys) * 2,
    _wrapped, _list_alone, _cut, _talked_around, _python_like, _other,
)  # fmt: skip
