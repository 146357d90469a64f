"""What reaches the terminal: JSON documents, complaints, and text that cannot act on the terminal."""

from __future__ import annotations

import json
import os
import shutil
import sys
import unicodedata
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rich.console import Console


WIDTH = 100
KEPT_FORMAT = ("\u200c", "\u200d", "\ufe0f")


def shown(text: str) -> str:
    """`text` without what could act on a terminal or reorder a line: control and direction characters, lone surrogates.

    Line breaks and tabs stay; so do the joiners that scripts and emoji need.

    >>> shown("a\\x1b[31mb\\u202ec")
    'a[31mbc'
    """
    return "".join(c for c in text if c in "\n\t" or c in KEPT_FORMAT or unicodedata.category(c) not in ("Cc", "Cf", "Cs"))


def line(text: str, limit: int = 200) -> str:
    """`text` shown on one line, cut to `limit` characters."""
    single = " ".join(shown(text.replace("\u2028", " ").replace("\u2029", " ")).split())
    return single if len(single) <= limit else single[: limit - 3].rstrip() + "..."


def document(value: object) -> None:
    """Print `value` as one JSON document, in ASCII: legal in every locale, harmless on every terminal."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=True, default=str))


def complain(message: str) -> None:
    """One line on stderr."""
    typer.echo(f"graphmem: {line(message, 1000)}", err=True)


def abandon_output() -> None:
    """The reader of stdout has gone: what is still to come, the interpreter's last flush too, goes nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def console(*, stderr: bool = False) -> Console:
    """A rich console that takes text as it is, and whose broken pipe ends the command as any other would."""
    from rich.console import Console

    class Plain(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    return Plain(
        file=sys.stderr if stderr else sys.stdout,
        width=shutil.get_terminal_size((WIDTH, 25)).columns,
        markup=False,
        emoji=False,
        highlight=False,
    )
