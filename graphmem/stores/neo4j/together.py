"""Several named statements as one: one round trip, with the rows of each told apart.

The text is put together from the texts of named statements alone, each in a subquery of its own, so its shape repeats and
the server keeps its plan. A statement may take a parameter from what an earlier one of them found (`Part`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from graphmem.statements import CYPHER, Statement

_CYPHER_25 = "CYPHER 25\n"
_PARAMETER = re.compile(f"{CYPHER.quoted.pattern}|{CYPHER.parameter.pattern}", re.S)


@dataclass(frozen=True, slots=True)
class Ask:
    """A named statement with its parameters, each a value or a `Part`."""

    name: str
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Part:
    """A parameter that an earlier ask finds: the list in a column of its only row, for each of (ask, column) given, in order.

    `given` is a list known beforehand, which comes first. Where the statement has subqueries in round brackets, the
    parameter must stand outside of them.
    """

    found: tuple[tuple[int, str], ...]
    given: Sequence[Any] = ()


def moved(ask: Ask, by: int) -> Ask:
    """The ask when `by` others come before those it was made beside."""
    return Ask(
        ask.name,
        {
            name: Part(tuple((n + by, column) for n, column in value.found), value.given) if isinstance(value, Part) else value
            for name, value in ask.params.items()
        },
    )


# By parameter, where its parts come from; None: it is only given.
_Sources = tuple[tuple[str, tuple[tuple[int, str], ...] | None], ...]


def composed(asks: Sequence[Ask], known: Mapping[str, Statement]) -> tuple[Statement, dict[str, Any]]:
    """One statement that runs these, and its parameters; a column `rN` of it holds the rows of the Nth as lists of columns."""
    shape, params = [], {}
    for number, ask in enumerate(asks):
        sources: list[tuple[str, tuple[tuple[int, str], ...] | None]] = []
        for param in known[ask.name].params:
            value = ask.params[param]
            sources.append((param, value.found if isinstance(value, Part) else None))
            params[f"r{number}_{param}"] = list(value.given) if isinstance(value, Part) else value
        shape.append((known[ask.name], tuple(sources)))
    return _statement(tuple(shape)), params


def rows_of(asks: Sequence[Ask], known: Mapping[str, Statement], row: Mapping[str, Any]) -> list[list[Mapping[str, Any]]]:
    """The rows of each ask, as its statement alone would give them."""
    return [[dict(zip(known[ask.name].columns, values, strict=True)) for values in row[f"r{n}"]] for n, ask in enumerate(asks)]


@lru_cache(maxsize=256)
def _statement(shape: tuple[tuple[Statement, _Sources], ...]) -> Statement:
    parts = []
    for number, (statement, sources) in enumerate(shape):
        taken = {f"r{ask}" for _, found in sources if found is not None for ask, _ in found}
        spelled = {param: _spelled(number, param, found, shape) for param, found in sources}
        text = _PARAMETER.sub(lambda m, to=spelled: to[m[1]] if m[1] else m[0], statement.text.removeprefix(_CYPHER_25))  # type: ignore[misc]
        scope = ", ".join(sorted(taken))
        parts.append(f"CALL ({scope}) {{\nCALL ({scope}) {{\n{text}\n}}\nRETURN collect([{', '.join(statement.columns)}]) AS r{number}\n}}")
    language = _CYPHER_25 if any(s.text.startswith(_CYPHER_25) for s, _ in shape) else ""
    names = [f"r{number}" for number in range(len(shape))]
    return Statement(
        name="+".join(s.name for s, _ in shape),
        text=f"{language}{chr(10).join(parts)}\nRETURN {', '.join(names)}",
        about="; ".join(s.about for s, _ in shape),
        params=tuple(f"r{n}_{param}" for n, (_, sources) in enumerate(shape) for param, _ in sources),
        returns=", ".join(names),
    )


def _spelled(number: int, param: str, found: tuple[tuple[int, str], ...] | None, shape: tuple[tuple[Statement, _Sources], ...]) -> str:
    given = f"$r{number}_{param}"
    if found is None:
        return given
    lists = [f"r{ask}[0][{shape[ask][0].columns.index(column)}]" for ask, column in found]
    return f"({' + '.join([given, *lists])})"
