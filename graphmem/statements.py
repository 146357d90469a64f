"""Named statements in files: every SQL and Cypher text of graphmem, documented and checked when it is read.

A file holds statements one after another:

    -- name: facts_of
    -- Facts of one entity, newest first.
    -- params: entity, limit
    -- returns: uuid, text
    SELECT uuid, text FROM fact WHERE source = :entity LIMIT :limit

Comment lines begin with `--` (SQL) or `//` (Cypher); parameters are `:name` or `$name`. A statement whose declared and used
parameters differ, or whose name is taken, is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path


class StatementError(ValueError):
    """A statement file that breaks the rules; the message names file and statement."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A named statement: its text, what it is for, its parameters, and what it returns."""

    name: str
    text: str
    about: str
    params: tuple[str, ...]
    returns: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of what it returns: "id, at: since when; found: pairs" names id, at and found."""
        return tuple(name.strip() for part in self.returns.split(";") for name in part.partition(":")[0].split(",") if name.strip())


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a language writes comments and parameters, and what in it is neither."""

    comment: str
    parameter: re.Pattern[str]
    quoted: re.Pattern[str]


SQL = Dialect("--", re.compile(r"(?<![:\w]):([A-Za-z_]\w*)"), re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/", re.S))
CYPHER = Dialect(
    "//",
    re.compile(r"\$([A-Za-z_]\w*)"),
    re.compile(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|`[^`]*`|//[^\n]*|/\*.*?\*/", re.S),
)
DIALECTS: Mapping[str, Dialect] = {".sql": SQL, ".cypher": CYPHER}


def parse(source: str, dialect: Dialect = SQL, origin: str = "statements") -> dict[str, Statement]:
    """The statements of one file, by name, in order. Raises `StatementError`.

    >>> parse("-- name: one\\n-- params: n\\nSELECT :n")["one"].params
    ('n',)
    """
    found: dict[str, Statement] = {}
    for name, lines in _blocks(source, dialect.comment, origin):
        statement = _statement(name, lines, dialect, origin)
        if name in found:
            raise StatementError(f"{origin}: two statements are called {name!r}")
        found[name] = statement
    return found


def load(files: Iterable[Path | Traversable]) -> dict[str, Statement]:
    """The statements of several files together; the suffix tells the language. Raises `StatementError`."""
    found: dict[str, Statement] = {}
    for file in files:
        dialect = DIALECTS["." + file.name.rpartition(".")[2]]
        for name, statement in parse(file.read_text(encoding="utf-8"), dialect, file.name).items():
            if name in found:
                raise StatementError(f"{file.name}: {name!r} is also defined in another file")
            found[name] = statement
    return found


def _blocks(source: str, comment: str, origin: str) -> Iterator[tuple[str, list[str]]]:
    name, lines = "", list[str]()
    for line in source.splitlines():
        head = line.removeprefix(comment).strip() if line.startswith(comment) else ""
        if head.startswith("name:"):
            if name:
                yield name, lines
            name, lines = head.removeprefix("name:").strip(), []
            if not name.isidentifier():
                raise StatementError(f"{origin}: {name!r} is not a name")
        elif name:
            lines.append(line)
        elif line.strip() and not line.startswith(comment):
            raise StatementError(f"{origin}: text before the first name: {line.strip()!r:.60}")
    if name:
        yield name, lines


def _statement(name: str, lines: list[str], dialect: Dialect, origin: str) -> Statement:
    about: list[str] = []
    fields = {"params": "", "returns": ""}
    body = list(lines)
    while body and (not body[0].strip() or body[0].startswith(dialect.comment)):
        line = body.pop(0).removeprefix(dialect.comment).strip()
        label, colon, rest = line.partition(":")
        if colon and label in fields:
            fields[label] = rest.strip()
        elif line:
            about.append(line)
    text = "\n".join(body).strip().rstrip(";")
    if not text:
        raise StatementError(f"{origin}: {name} is empty")
    declared = tuple(p.strip() for p in fields["params"].split(",") if p.strip())
    used = set(dialect.parameter.findall(dialect.quoted.sub(" ", text)))
    if undeclared := sorted(used - set(declared)):
        raise StatementError(f"{origin}: {name} uses {undeclared} without declaring them under params")
    if unused := sorted(set(declared) - used):
        raise StatementError(f"{origin}: {name} declares {unused} but does not use them")
    return Statement(name, text, " ".join(about), declared, fields["returns"])
